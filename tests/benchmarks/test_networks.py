"""Networks with independent answers: McPhee's circuit, the DC motor, a ladder filter, one network under many trees."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import cotree
from cotree.graph import Tree, sample_tree, select_tree
from formulation.mna import GROUND, Mna, Part, Wave, model_of, worst_difference

# McPhee 1996, fig. 1: an edge a->b has its minus node at a and its plus node at b; f is the datum.
VALUES = {"L1": 0.3, "L2": 0.7, "R3": 2.0, "R4": 5.0, "R5": 1.5, "C6": 0.04}
ENDS = {
    "L1": ("b", "a"),
    "L2": ("d", "e"),
    "R3": ("b", "c"),
    "R4": ("b", "e"),
    "R5": ("e", GROUND),
    "C6": ("d", "c"),
    "V7": ("a", GROUND),
}
MCPHEE = [
    Part(name[0], name, nodes, VALUES.get(name, Wave(10.0, 7.0, -0.6))) for name, nodes in ENDS.items()
]  # fmt: skip


def test_mcphee_network_equals_nodal_analysis_to_1e8() -> None:
    start = {"L1.current": 0.4, "L2.current": -0.2, "C6.voltage": 3.0}
    model = model_of(MCPHEE, L1=0.4, C6=3.0)
    sol = model.simulate(t_end=2.0, points=41, rtol=1e-12, atol=1e-13)
    witness = Mna(MCPHEE)
    start = {name: float(sol[name][0]) for name in sol.states}
    exact = witness.solve(sol.t, start, witness.outputs)
    assert sol["L1.current"][0] == 0.4
    assert sol["C6.voltage"][0] == 3.0
    assert worst_difference(sol, exact) < 1e-8
    np.testing.assert_allclose(sol["L1.current"], exact["L1.current"], rtol=0, atol=1e-8)


def test_mcphee_network_in_the_papers_tree() -> None:
    """His tree L1 L2 R3 R4 R5 is not normal: the source and the capacitor are chords, the inductors branches."""
    model = model_of(MCPHEE)
    papers = Tree(model.graph(), ["L1", "L2", "R3", "R4", "R5"])
    options = {"t_end": 2.0, "points": 21, "rtol": 1e-12, "atol": 1e-13}
    sol, normal = model.simulate(tree=papers, **options), model.simulate(**options)
    for name in normal:
        np.testing.assert_allclose(sol[name], normal[name], rtol=0, atol=1e-9, err_msg=name)


def dc_motor() -> cotree.Model:
    m = cotree.Model("DC motor")
    m.add(cotree.VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(cotree.Resistor("R", ("in", "a"), resistance=1.0))
    m.add(cotree.Inductor("L", ("a", "b"), inductance=0.5))
    m.add(cotree.RotationalEMF("K", ("b", "ground"), ("shaft", "ground"), constant=0.01))
    m.add(cotree.rotational.Inertia("J", ("shaft", "ground"), inertia=0.01))
    m.add(cotree.rotational.Damper("b_", ("shaft", "ground"), damping=0.1))
    return m


def test_dc_motor_of_the_benchmarks() -> None:
    m = dc_motor()
    system = m.linearise(inputs=["V.voltage"], outputs=["shaft.angular_velocity"])
    np.testing.assert_allclose(np.sort(system.poles().real), [-9.9974992, -2.0025008], rtol=0, atol=1e-7)
    np.testing.assert_array_equal(system.poles().imag, 0.0)
    sol = m.simulate(t_end=20.0, times=[0.0, 1.0, 20.0], rtol=1e-10, atol=1e-12)
    assert sol["shaft.angular_velocity"][1] == pytest.approx(0.0830371112, abs=1e-7)
    assert sol["shaft.angular_velocity"][2] == pytest.approx(0.0999001, abs=1e-7)
    gain = system.D - system.C @ np.linalg.solve(system.A, system.B)
    assert gain[0, 0] == pytest.approx(0.01 / (0.1 * 1.0 + 0.01**2), rel=1e-12)


def test_dc_motor_by_hand_at_every_time() -> None:
    """i' = (1 - R i - K w) / L, w' = (K i - b w) / J, and the angle is the integral of w."""
    A = np.array([[-1 / 0.5, -0.01 / 0.5, 0], [0.01 / 0.01, -0.1 / 0.01, 0], [0, 1, 0]])
    block = np.zeros((4, 4))
    block[:3, :3], block[0, 3] = A, 1 / 0.5
    sol = dc_motor().simulate(t_end=3.0, points=31, rtol=1e-10, atol=1e-12)
    exact = np.array([expm(block * t)[:3, 3] for t in sol.t]).T
    np.testing.assert_allclose(sol["L.current"], exact[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["shaft.angular_velocity"], exact[1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["shaft.angle"], exact[2], rtol=0, atol=1e-8)


# Butterworth, order 5, both terminations 1 ohm, cut-off 1 rad/s: g_k = 2 sin((2k - 1) pi / 10).
G = [2 * np.sin((2 * k - 1) * np.pi / 10) for k in range(1, 6)]


def ladder(omega: float = 1.0) -> cotree.Model:
    m = cotree.Model("Butterworth 5", parameters={"w": omega})
    m.add(cotree.VoltageSource("V", ("in", "ground"), voltage="sin(w*t)"))
    m.add(cotree.Resistor("RS", ("in", "a"), resistance=1.0))
    m.add(cotree.Capacitor("C1", ("a", "ground"), capacitance=G[0]))
    m.add(cotree.Inductor("L2", ("a", "b"), inductance=G[1]))
    m.add(cotree.Capacitor("C3", ("b", "ground"), capacitance=G[2]))
    m.add(cotree.Inductor("L4", ("b", "out"), inductance=G[3]))
    m.add(cotree.Capacitor("C5", ("out", "ground"), capacitance=G[4]))
    m.add(cotree.Resistor("RL", ("out", "ground"), resistance=1.0))
    return m


def butterworth(s: complex) -> complex:
    """H(s) = 1/2 over the product of (s - exp(j pi (2k + 4) / 10)), the poles on the left half of the unit circle."""
    return 0.5 / np.prod([s - np.exp(1j * np.pi * (2 * k + 4) / 10) for k in range(1, 6)])


def test_ladder_filter_has_the_butterworth_response() -> None:
    system = ladder().linearise(inputs=["V.voltage"], outputs=["out.voltage"])
    omega = np.logspace(-2, 2, 60)
    response = system.frequency_response(omega)[:, 0, 0]
    exact = np.array([butterworth(1j * w) for w in omega])
    np.testing.assert_allclose(response, exact, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(np.abs(response), 0.5 / np.sqrt(1 + omega**10), rtol=1e-9)
    poles = np.exp(1j * np.pi * np.array([6, 8, 10, 12, 14]) / 10)
    for pole in poles:
        assert np.min(np.abs(system.poles() - pole)) < 1e-9


@pytest.mark.parametrize("omega", [0.5, 1.0, 1.6])
def test_ladder_filter_in_steady_oscillation(omega: float) -> None:
    """After 120 s the slowest mode, exp(-0.309 t), is below 1e-16."""
    times = np.concatenate([[0.0], np.linspace(120.0, 130.0, 21)])
    sol = ladder(omega).simulate(t_end=130.0, times=times, rtol=1e-10, atol=1e-12)
    exact = np.imag(butterworth(1j * omega) * np.exp(1j * omega * times[1:]))
    np.testing.assert_allclose(sol["out.voltage"][1:], exact, rtol=0, atol=1e-8)


BRIDGE = [
    Part("V", "V", ("a", GROUND), Wave(5.0, 3.0, 0.4)),
    Part("I", "I", ("c", "b"), Wave(0.8, 2.0, 0.0)),
    Part("R", "R1", ("a", "b"), 2.0),
    Part("R", "R2", ("a", "c"), 3.0),
    Part("L", "L1", ("b", "d"), 0.6),
    Part("C", "C1", ("c", "d"), 0.2),
    Part("R", "R3", ("d", GROUND), 1.2),
    Part("C", "C2", ("b", GROUND), 0.5),
    Part("L", "L2", ("c", GROUND), 0.9),
    Part("C", "C3", ("b", "c"), 0.3),
]


def many_trees(model: cotree.Model) -> dict[str, Tree]:
    graph = model.graph()
    trees = {
        "normal": model.tree(),
        "source and capacitors as chords": select_tree(graph, "normal", into_cotree=["V", "C1", "C2", "C3"]),
        "inductors as branches": select_tree(graph, "normal", into_tree=["L1", "L2"]),
        "all wrong": select_tree(graph, lambda edge: -int(edge.role)),
        "current source as branch": select_tree(graph, "normal", into_tree=["I"], into_cotree=["V"]),
    }
    return trees | {f"sample {seed}": sample_tree(graph, seed) for seed in range(4)}


def test_many_trees_give_the_same_currents_to_1e9() -> None:
    model = model_of(BRIDGE)
    trees = many_trees(model)
    assert len({tree.branches for tree in trees.values()}) >= 5
    assert "V" in trees["source and capacitors as chords"].chords
    assert "L1" in trees["inductors as branches"].branches
    runs = {
        label: model.simulate(t_end=3.0, points=31, rtol=1e-12, atol=1e-13, tree=tree) for label, tree in trees.items()
    }
    witness = Mna(BRIDGE)
    first = runs["normal"]
    exact = witness.solve(first.t, {name: float(first[name][0]) for name in first.states}, witness.outputs)
    for label, sol in runs.items():
        assert sol.states == first.states
        for name in first.names:
            np.testing.assert_allclose(sol[name], first[name], rtol=0, atol=1e-9, err_msg=f"{label}: {name}")
        assert worst_difference(sol, exact) < 1e-8, label


def test_many_trees_give_the_same_linearisation() -> None:
    model = model_of(BRIDGE)
    # C1, C2, C3 have no loop of their own here and V is not in one, so no output holds a rate of a source.
    systems = [model.linearise(tree=tree) for tree in many_trees(model).values()]
    for system in systems[1:]:
        for part in "ABCD":
            np.testing.assert_allclose(getattr(system, part), getattr(systems[0], part), rtol=0, atol=1e-9)
