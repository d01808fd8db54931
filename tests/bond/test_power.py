"""Power is never made nor lost in a junction structure: random graphs of scalars and vectors, masks, and energy audits.

At every instant of runs from random states the efforts and flows of all bonds are taken from the results alone: what
enters a junction, TF, GY, gyristor, split or mask through its ports adds up to zero, or to what its elements take.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import cotree
import cotree.bond as bond
from _cases import cases, random_cases
from bond.random_graphs import Plain, plain_graphs
from bond.test_simplify import solvable
from cotree import FormulationError, Model
from cotree.bond.opening import open_graph
from cotree.bond.structure import BondStructure, component_names
from formulation.mna import model_of
from formulation.random_networks import coupled_networks

FEW = random_cases(6, 16)
PASSING = ("0", "1", "TF", "GY", "GR", "Split")
ONE_PORTS = ("I", "C", "R", "Se", "Sf", "GR")
RUN = {"t_end": 0.4, "points": 5, "rtol": 1e-10, "atol": 1e-12}


def power(sol: cotree.Solution, name: str, width: int) -> np.ndarray:
    """e . f of a bond or an element over time."""
    what = (component_names(f"{name}.{each}", width) for each in ("effort", "flow"))
    efforts, flows = (np.array([sol[each] for each in names]) for names in what)
    return np.asarray((efforts * flows).sum(axis=0))


def taken(sol: cotree.Solution, structure: BondStructure, name: str) -> np.ndarray:
    """The power that enters an element; the flow of a source counts along its bond."""
    (line,) = structure.around[name]
    leaves = structure.vertices[name].letter in ("Se", "Sf") and line.tail[0] == name
    return -power(sol, name, line.width) if leaves else power(sol, name, line.width)


def check_balance(structure: BondStructure, sol: cotree.Solution) -> int:
    """Every vertex that only passes power on keeps it; returns how many there are."""
    lines = {line.name: power(sol, line.name, line.width) for line in structure.lines.values()}
    scale = max(1.0, *(float(np.abs(each).max()) for each in lines.values()))
    checked = 0
    for vertex in structure.vertices.values():
        if vertex.letter not in PASSING:
            continue
        around = structure.around[vertex.name]
        total = sum(
            lines[line.name] * ((line.head[0] == vertex.name) - (line.tail[0] == vertex.name)) for line in around
        )
        np.testing.assert_allclose(total, 0.0, rtol=0, atol=1e-9 * scale, err_msg=f"{vertex.shown} {vertex.name}")
        checked += 1
    every = sum(taken(sol, structure, v.name) for v in structure.vertices.values() if v.letter in ONE_PORTS)
    np.testing.assert_allclose(every, 0.0, rtol=0, atol=1e-9 * scale, err_msg="all elements together")
    return checked


def audited(sol: cotree.Solution) -> bool:
    """Whether the energy balance closes, relative to the energy that is in it, or to 1 mJ where there is less."""
    audit = sol.energy()
    return float(np.abs(audit.closure).max()) < 1e-7 * max(audit.scale, 1e-3)


def runs(model: Model, seed: int) -> cotree.Solution:
    """A run from random states, or an example that does not count where the graph has no unique motion."""
    random = np.random.default_rng(seed)
    try:
        states = set(model.equations().u.names)
    except FormulationError:
        assume(False)
    started = Model(model.name)
    for name, part in model.components.items():
        start = {bond.I: "momentum", bond.C: "displacement"}.get(type(part), "")
        own = [each for each in states if each == f"{name}.{start}" or each.startswith(f"{name}.{start}.")]
        if start and len(own) == (part.own_width() or 1):
            values = np.round(random.uniform(-1, 1, len(own)), 3).tolist()
            part = dataclasses.replace(part, **{start: values if len(own) > 1 else values[0]})
        started.add(part)
    return started.simulate(**RUN)


# -- scalar graphs -----------------------------------------------------------------------------------------------------


@FEW
@given(plain_graphs(loops=True), st.integers(0, 10**6))
def test_scalar_graphs(plain: Plain, seed: int) -> None:
    assume(solvable(plain))
    model = plain.model()
    sol = runs(model, seed)
    assert check_balance(open_graph(model), sol) > 0
    assert audited(sol)


@FEW
@given(coupled_networks())
def test_networks_as_bond_graphs(parts: list) -> None:
    from bond.test_network_bridge import regular
    from formulation.mna import Mna

    assume(regular(Mna(parts)))
    graph = model_of(parts).to_bond_graph()
    check_balance(open_graph(graph), runs(graph, 0))


# -- multibonds --------------------------------------------------------------------------------------------------------


@st.composite
def multibond_graphs(draw: st.DrawFn) -> Model:
    """Junctions of widths 1 to 3 in a tree, joined by TF, MTF, GY and MGY with full matrices, and split to scalars."""
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    model = Model("vectors")

    def matrix(rows: int, columns: int) -> list[list[float]]:
        return np.round(random.uniform(-1, 1, (rows, columns)), 3).tolist()

    def spd(n: int) -> list[list[float]]:
        root = random.uniform(-1, 1, (n, n))
        return np.round(root @ root.T + np.eye(n), 3).tolist()

    def add(part: bond.Bond) -> str:
        return model.add(part).name

    def join(one: str, other: str) -> None:
        model.connect(*((one, other) if draw(st.booleans()) else (other, one)))

    def cubic(n: int) -> list[str] | str:
        return [f"q.{c} + q.{c}**3" for c in labels(n)] if n > 1 else "q + q**3"

    def hang(at: str, n: int, name: str, letter: str) -> None:
        start = np.round(random.uniform(-1, 1, n), 3).tolist()
        made = {
            "I": lambda: bond.I(name, inertia=spd(n)),
            "C": lambda: bond.C(name, stiffness=spd(n)),
            "C nonlinear": lambda: bond.C(name, effort=cubic(n)),
            "R": lambda: bond.R(name, resistance=spd(n)),
            "Se": lambda: bond.Se(name, effort=[f"{x}*cos(2*t)" for x in start] if n > 1 else f"{start[0]}*cos(2*t)"),
            "MGR": lambda: bond.MGR(name, modulus=[f"{at}_I.momentum.{c}" for c in "xyz"]),
        }  # fmt: skip
        join(at, add(made[letter]()))

    def labels(n: int) -> Iterable[str]:
        return "xyz" if n == 3 else [f"c{k + 1}" for k in range(n)]

    widths = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 3)))]
    for k, n in enumerate(widths):
        j = add(draw(st.sampled_from([bond.Junction0, bond.Junction1]))(f"j{k}", width=n))
        hang(j, n, f"{j}_I", "I")
        letters = ["C", "C nonlinear", "R", "Se"] + (["MGR"] if n == 3 else [])
        for letter in draw(st.lists(st.sampled_from(letters), min_size=1, max_size=3, unique=True)):
            hang(j, n, f"{j}_{letter.replace(' ', '_')}", letter)
        if n > 1 and draw(st.booleans()):
            split = add(bond.Split(f"{j}_split", parts=(1,) * n))
            model.connect(j, f"{split}.whole", width=n)
            for i in range(n):
                join(f"{split}.{i + 1}", add(bond.R(f"{split}_R{i}", resistance=1.0 + i)))
        if k:
            other = draw(st.integers(0, k - 1))
            kind = draw(st.sampled_from([bond.TF, bond.GY, bond.MTF, bond.MGY]))
            modulus: object = matrix(n, widths[other])
            if kind in (bond.MTF, bond.MGY):
                angle = "j0_I.momentum" + (f".{next(iter(labels(widths[0])))}" if widths[0] > 1 else "")
                modulus = [[f"{x}*cos({angle} + t)" for x in row] for row in modulus]
            name = add(kind(f"link{k}", modulus=modulus))
            model.connect(f"j{other}", f"{name}.1", width=widths[other]) if draw(st.booleans()) else model.connect(
                f"{name}.1", f"j{other}", width=widths[other]
            )
            model.connect(f"{name}.2", f"j{k}", width=n) if draw(st.booleans()) else model.connect(
                f"j{k}", f"{name}.2", width=n
            )
    return model


def test_multibonds_with_full_matrices() -> None:
    count = 0

    @random_cases(8, 24)
    @given(multibond_graphs(), st.integers(0, 10**6))
    def check(model: Model, seed: int) -> None:
        nonlocal count
        sol = runs(model, seed)
        check_balance(open_graph(model), sol)
        assert audited(sol)
        count += 1

    check()
    assert count > cases(4, 12)


# -- masks -------------------------------------------------------------------------------------------------------------


def motor() -> bond.Graph:
    """A motor with a gear that changes with the angle, as a mask inside a mask."""
    core = bond.Graph("core", ports={"supply": "i", "shaft": "w"}, parameters={"K": None})
    for part in (
        bond.Junction1("i"), bond.R("R", resistance=1.0), bond.I("L", inertia=0.2), bond.GY("gy", modulus="K"),
        bond.Junction1("w"), bond.I("J", inertia=0.1, initial_flow=2.0),
    ):  # fmt: skip
        core.add(part)
    for ends in (("i", "R"), ("i", "L"), ("i", "gy"), ("gy", "w"), ("w", "J")):
        core.connect(*ends)
    outer = bond.Graph("drive", ports={"plug": "core.supply", "rope": "drum.2"}, parameters={"K": 0.5})
    outer.add(bond.Mask("core", graph=core, values_of={"K": "K"}))
    outer.add(bond.Sensor("angle", of="core.w", measures="displacement"))
    outer.add(bond.MTF("drum", modulus="0.3 + 0.1*sin(angle.value)"))
    outer.connect("core.shaft", "drum.1")
    return outer


def inside(sol: cotree.Solution, structure: BondStructure, mask: str) -> np.ndarray:
    """What the elements of a mask take."""
    own = [v for v in structure.vertices.values() if v.name.startswith(f"{mask}.") and v.letter in ONE_PORTS]
    return np.asarray(sum(taken(sol, structure, v.name) for v in own))


def through_ports(sol: cotree.Solution, structure: BondStructure, mask: str) -> np.ndarray:
    """What enters a mask through bonds from outside."""
    total = np.zeros_like(sol.t)
    for line in structure.lines.values():
        ends = [end[0].startswith(f"{mask}.") for end in (line.tail, line.head)]
        if ends[0] != ends[1]:
            total = total + (1 if ends[1] else -1) * power(sol, line.name, line.width)
    return total


@pytest.mark.parametrize("K", [0.3, 0.8])
def test_masks_take_what_their_elements_take(K: float) -> None:
    m = Model("masks")
    for part in (
        bond.Se("V", effort="3*cos(t)"), bond.Mask("A", graph=motor(), values_of={"K": K}),
        bond.Junction1("rope"), bond.I("m", inertia=2.0), bond.C("k", stiffness=5),
        bond.Mask("B", graph=motor()), bond.R("brake", resistance=0.7),
    ):  # fmt: skip
        m.add(part)
    for ends in (
        ("V", "A.plug"),
        ("A.rope", "rope"),
        ("rope", "m"),
        ("rope", "k"),
        ("rope", "B.plug"),
        ("B.rope", "brake"),
    ):
        m.connect(*ends)
    sol = m.simulate(t_end=2.0, points=21, rtol=1e-10, atol=1e-12)
    structure = open_graph(m)
    assert check_balance(structure, sol) == 9
    for mask in ("A", "B", "A.core", "B.core"):
        own = inside(sol, structure, mask)
        assert np.abs(own).max() > 1e-3
        np.testing.assert_allclose(through_ports(sol, structure, mask), own, rtol=0, atol=1e-9)
    assert sol.energy().error < 1e-8


# -- energy over time --------------------------------------------------------------------------------------------------


def test_a_lossless_machine_keeps_its_energy() -> None:
    """Two resonators coupled by a gyrator and a transformer: nothing leaves, and the sum stays what it was."""
    m = Model("lossless")
    for part in (
        bond.I("L", inertia=0.7, momentum=1.0), bond.Junction1("a"), bond.GY("G", modulus=1.3), bond.Junction1("b"),
        bond.C("C", compliance=0.4), bond.TF("T", modulus=2.5), bond.C("D", effort="q + q**3", displacement=0.5),
        bond.I("J", inertia=1.1),
    ):  # fmt: skip
        m.add(part)
    for ends in (("a", "L"), ("C", "a"), ("a", "G"), ("G", "b"), ("b", "J"), ("b", "T"), ("T", "D")):
        m.connect(*ends)
    sol = m.simulate(t_end=10.0, points=41, rtol=1e-12, atol=1e-13)
    stored = sol["L.momentum"] ** 2 / 1.4 + sol["C.displacement"] ** 2 / 0.8 + sol["J.momentum"] ** 2 / 2.2
    stored = stored + sol["D.displacement"] ** 2 / 2 + sol["D.displacement"] ** 4 / 4
    np.testing.assert_allclose(stored, stored[0], rtol=1e-8)
    np.testing.assert_allclose(sol.energy().stored, stored, rtol=1e-9)


def test_what_a_source_gives_is_stored_or_lost() -> None:
    """Half of the energy that charges a capacitor is lost, whatever the resistance: C V^2 / 2 = 0.2 J."""
    for R in (0.5, 3.0):
        m = Model("RC")
        for part in (
            bond.Se("V", effort=2.0),
            bond.Junction1("j"),
            bond.R("R", resistance=R),
            bond.C("C", compliance=0.1),
        ):
            m.add(part)
        for ends in (("V", "j"), ("j", "R"), ("j", "C")):
            m.connect(*ends)
        audit = m.simulate(t_end=40 * R * 0.1, points=3, rtol=1e-10, atol=1e-13).energy()
        assert audit.supplied[-1] == pytest.approx(0.4, rel=1e-8)
        assert audit.dissipated[-1] == pytest.approx(0.2, rel=1e-7)
        assert audit.stored[-1] == pytest.approx(0.2, rel=1e-8)
