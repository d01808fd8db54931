"""Models and graphs that the pictures are tried on."""

from __future__ import annotations

import random

import cotree as ct
from cotree.graph import LinearGraph
from cotree.model import Edge, Role


def network(name: str = "McPhee 1996, fig. 2") -> ct.Model:
    """The network of McPhee 1996, fig. 2."""
    m = ct.Model(name, datum="f")
    m.add(ct.Inductor("L1", ("b", "a"), inductance=0.5))
    m.add(ct.Inductor("L2", ("d", "e"), inductance=0.2))
    m.add(ct.Resistor("R3", ("b", "c"), resistance=10))
    m.add(ct.Resistor("R4", ("b", "e"), resistance=20))
    m.add(ct.Resistor("R5", ("e", "f"), resistance=5))
    m.add(ct.Capacitor("C6", ("d", "c"), capacitance=1e-3))
    m.add(ct.VoltageSource("V7", ("a", "f"), voltage="10*sin(2*pi*5*t)"))
    return m


def motor() -> ct.Model:
    """A DC motor: two domains, long names, a step and parameters."""
    m = ct.Model("DC motor", parameters={"K": 0.05, "J": "2*1e-4"})
    m.add(ct.VoltageSource("V", ("p", "ground"), voltage="24*step(t - 0.01)"))
    m.add(ct.Resistor("Ra", ("p", "q"), resistance=0.5))
    m.add(ct.Inductor("La", ("q", "s"), inductance=1.5e-3))
    m.add(ct.RotationalEMF("emf", electrical=("s", "ground"), rotational=("shaft", "ground"), constant="K"))
    m.add(ct.rotational.Inertia("rotor", ("shaft", "ground"), inertia="J", initial=3.0))
    m.add(ct.rotational.Spring("coupling", ("shaft", "load"), stiffness=20))
    m.add(ct.rotational.Inertia("fan", ("load", "ground"), inertia=4e-4))
    m.add(ct.rotational.Damper("air", ("load", "ground"), damping=2e-3))
    return m


def ladder(sections: int) -> ct.Model:
    """A chain of resistors with a capacitor at each node."""
    m = ct.Model("ladder")
    m.add(ct.VoltageSource("V", ("n0", "ground"), voltage=1.0))
    for k in range(sections):
        m.add(ct.Resistor(f"R{k}", (f"n{k}", f"n{k + 1}"), resistance=1.0))
        m.add(ct.Capacitor(f"C{k}", (f"n{k + 1}", "ground"), capacitance=1e-3))
    return m


def bundle() -> LinearGraph:
    """Parallel, antiparallel and looped edges, in two parts."""
    rows = [
        ("p1", "a", "b"), ("p2", "a", "b"), ("anti", "b", "a"), ("loop", "b", "b"), ("loop2", "b", "b"),
        ("x", "c", "a"), ("y", "u", "w"),
    ]  # fmt: skip
    return LinearGraph([Edge(name, tail, head) for name, tail, head in rows], ("c", "u"))


def random_graph(nodes: int, edges: int, seed: int = 1) -> LinearGraph:
    """A connected graph of edges of all roles."""
    rng = random.Random(seed)
    pairs = [(rng.randrange(max(0, k - 3), k), k) for k in range(1, nodes)]
    while len(pairs) < edges:
        a, b = rng.randrange(nodes), rng.randrange(nodes)
        if a != b and abs(a - b) < 5:
            pairs.append((a, b))
    roles = [rng.choice(list(Role)) for _ in pairs]
    return LinearGraph(
        [
            Edge(f"E{k}", str(a), str(b), role.kind, role=role)
            for k, ((a, b), role) in enumerate(zip(pairs, roles, strict=True))
        ],
        "0",
    )
