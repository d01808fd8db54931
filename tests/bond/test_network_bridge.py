"""Networks as bond graphs and back: the same motion, against modified nodal analysis and hand-written matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given

import cotree
import cotree.bond as bond
from _cases import long_ones, random_cases
from bond.random_graphs import Plain, plain_graphs
from bond.test_simplify import response, solvable
from cotree import FormulationError, Model, SolveError
from cotree.bond.from_network import network_bond_graph
from cotree.bond.to_network import bond_graph_network
from formulation.mna import GROUND, Mna, Part, Wave, model_of, worst_difference
from formulation.random_networks import coupled_networks, one_port_networks

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW = random_cases(7, 20)
FEWER = random_cases(6, 12)
TIGHT = {"rtol": 1e-12, "atol": 1e-14}


def exactly_as(solution: cotree.Solution, witness: Mna) -> None:
    """The run of a bond graph is the exact solution of nodal analysis from the same start."""
    start = {
        f"{name.partition('.')[0]}.{'current' if name.endswith('momentum') else 'voltage'}": 0.0
        for name in solution.states
    }
    start = {name.replace(".c1", ".primary").replace(".c2", ".secondary"): 0.0 for name in start}
    start = {name: float(solution[name][0]) for name in start}
    assert worst_difference(solution, witness.solve(solution.t, start, witness.outputs)) < 1e-8


# -- the examples ------------------------------------------------------------------------------------------------------

RUNS = {
    # name: end of the run, so that all of the motion is in it
    "mcphee_network": 1.0, "dc_motor": 3.0, "ladder_filter": 5e-3, "house_wall": 1e5, "quarter_car": 1.0,
    "water_hammer": 0.1, "sallen_key": 1e-3,
}  # fmt: skip


@pytest.mark.parametrize("simplified", [False, True])
@pytest.mark.parametrize("name", long_ones(RUNS, ("water_hammer",)))
def test_examples_move_as_their_networks(name: str, simplified: bool) -> None:
    network = cotree.load(EXAMPLES / f"{name}.yaml")
    graph = network_bond_graph(network, simplified=simplified)
    options = {"t_end": RUNS[name], "points": 21, "rtol": 1e-12, "atol": 1e-18}
    ours, exact = graph.simulate(**options), network.simulate(**options)
    assert len(graph.equations().u) == len(network.equations().u)
    checked = 0
    for each in exact:
        if each not in ours:  # a node that was left out, an integral, or a power of a pseudo-bond
            kind = each.rpartition(".")[2]
            assert simplified or kind in ("displacement", "angle") or (kind == "power" and name == "house_wall"), each
            continue
        np.testing.assert_allclose(ours[each], exact[each], rtol=0, atol=1e-8 * max(1.0, np.abs(exact[each]).max()))
        checked += 1
    assert checked > 2 * len(network.components)


@pytest.mark.parametrize("name", [*(name for name in RUNS if name != "sallen_key"), "rectifier"])
def test_examples_come_back_as_the_networks_they_were(name: str) -> None:
    """Component for component, with the same nodes and values; expressions and start values included."""
    network = cotree.load(EXAMPLES / f"{name}.yaml")
    again = bond_graph_network(network_bond_graph(network))
    before, after = network.to_data()["components"], again.to_data()["components"]
    datums = dict.fromkeys(network.datums, "ground")
    for component, data in before.items():
        nodes = {key: [datums.get(n, n) for n in value] for key, value in data.items() if isinstance(value, list)}
        assert after[component] == {**data, **nodes}
    assert before.keys() == after.keys()
    assert again.to_data().get("parameters") == network.to_data().get("parameters")


def test_rectifier_conducts_as_its_network() -> None:
    network = cotree.load(EXAMPLES / "rectifier.yaml")
    options = {"t_end": 0.03, "points": 31, "rtol": 1e-10, "atol": 1e-12}
    ours, exact = network_bond_graph(network).simulate(**options), network.simulate(**options)
    for each in exact:
        scale = max(1.0, np.abs(exact[each]).max())
        np.testing.assert_allclose(ours[each], exact[each], rtol=0, atol=1e-7 * scale, err_msg=each)  # stiff diodes


# -- against nodal analysis --------------------------------------------------------------------------------------------

MCPHEE = [
    Part("L", "L1", ("b", "a"), 0.3), Part("L", "L2", ("d", "e"), 0.7), Part("R", "R3", ("b", "c"), 2.0),
    Part("R", "R4", ("b", "e"), 5.0), Part("R", "R5", ("e", GROUND), 1.5), Part("C", "C6", ("d", "c"), 0.04),
    Part("V", "V7", ("a", GROUND), Wave(10.0, 7.0, -0.6)),
]  # fmt: skip


@pytest.mark.parametrize("simplified", [False, True])
def test_mcphee_network_equals_nodal_analysis(simplified: bool) -> None:
    graph = network_bond_graph(model_of(MCPHEE, L1=0.4, C6=3.0), simplified)
    sol = graph.simulate(t_end=2.0, points=41, **TIGHT)
    assert sol["L1.current"][0] == pytest.approx(0.4, abs=1e-15)
    assert sol["C6.voltage"][0] == pytest.approx(3.0, abs=1e-15)
    exactly_as(sol, Mna(MCPHEE))


def test_dc_motor_by_hand() -> None:
    graph = network_bond_graph(cotree.load(EXAMPLES / "dc_motor.yaml"), simplified=True)
    exact = np.linalg.eigvals([[-1 / 0.5, -0.01 / 0.5], [0.01 / 0.01, -0.1 / 0.01]])
    np.testing.assert_allclose(np.sort(graph.linearise().poles().real), np.sort(exact), rtol=1e-12)
    kinds = sorted(c.kind for c in graph.components.values() if not isinstance(c, bond.Bond))
    electrical = [f"bond.electrical.{k}" for k in ("dc_motor", "inductor", "resistor", "voltage_source")]
    assert kinds == ["bond.1", *electrical, *(f"bond.rotational.{k}" for k in ("inertia", "node", "rotary_damper"))]


def test_butterworth_ladder() -> None:
    g = [2 * np.sin((2 * k - 1) * np.pi / 10) for k in range(1, 6)]
    m = Model("ladder")
    m.add(cotree.VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(cotree.Resistor("RS", ("in", "a"), resistance=1.0))
    m.add(cotree.Capacitor("C1", ("a", "ground"), capacitance=g[0]))
    m.add(cotree.Inductor("L2", ("a", "b"), inductance=g[1]))
    m.add(cotree.Capacitor("C3", ("b", "ground"), capacitance=g[2]))
    m.add(cotree.Inductor("L4", ("b", "out"), inductance=g[3]))
    m.add(cotree.Capacitor("C5", ("out", "ground"), capacitance=g[4]))
    m.add(cotree.Resistor("RL", ("out", "ground"), resistance=1.0))
    system = network_bond_graph(m).linearise(inputs=["V.effort"], outputs=["out.voltage"])
    omega = np.logspace(-1, 1, 21)
    np.testing.assert_allclose(
        np.abs(system.frequency_response(omega)[:, 0, 0]), 0.5 / np.sqrt(1 + omega**10), rtol=1e-9
    )


def transfers(graph: Model, witness: Mna) -> None:
    names = list(witness.outputs)
    inputs = [f"{part.name}.{'effort' if part.kind == 'V' else 'flow'}" for part in witness.sources]
    while names:
        try:
            system = graph.linearise(inputs=inputs, outputs=names)
            break
        except SolveError as error:  # an output that holds the rate of a source: it must grow with frequency
            out = next(name for name in names if error.found.startswith(f"{name} "))
            far = [np.abs(witness.transfer([out], w)).max() for w in (1e4, 1e5)]
            assert far[1] / far[0] > 5, (out, error)  # noqa: PT017
            names.remove(out)
    else:
        return
    poles = witness.poles()
    assert len(system.states) == len(poles)
    for omega in (0.31, 1.27, 6.1):
        assume(all(abs(1j * omega - pole) > 1e-3 for pole in poles))
        exact = witness.transfer(system.outputs, omega)
        ours = system.frequency_response([omega])[0]
        np.testing.assert_allclose(ours, exact, rtol=1e-8, atol=1e-8 * max(1.0, np.abs(exact).max(initial=0.0)))


@FEW
@given(one_port_networks())
def test_random_networks_as_bond_graphs(parts: list[Part]) -> None:
    transfers(network_bond_graph(model_of(parts)), Mna(parts))


@FEWER
@given(one_port_networks())
def test_random_networks_as_simplified_bond_graphs(parts: list[Part]) -> None:
    transfers(network_bond_graph(model_of(parts), simplified=True), Mna(parts))


@FEWER
@given(one_port_networks())
def test_random_networks_in_time(parts: list[Part]) -> None:
    witness = Mna(parts)
    assume(all(abs(1j * part.value.omega - pole) > 1e-2 for part in witness.sources for pole in witness.poles()))
    sol = network_bond_graph(model_of(parts)).simulate(t_end=1.5, points=4, **TIGHT)
    exactly_as(sol, witness)
    assert sol.energy().error < 1e-7


def regular(witness: Mna) -> bool:
    """Whether the pencil is regular with index at most 2, clearly."""
    well = all(np.linalg.cond(1j * w * witness.E + witness.K) < 1e8 for w in (0.77, 2.9))
    return well and witness.growth() <= 1


@FEW
@given(coupled_networks())
def test_networks_with_transformers_gyrators_and_coupled_windings(parts: list[Part]) -> None:
    witness = Mna(parts)
    assume(regular(witness))
    transfers(network_bond_graph(model_of(parts)), witness)


@FEWER
@given(coupled_networks())
def test_coupled_networks_and_back(parts: list[Part]) -> None:
    """Every network comes back with the same components between the same nodes."""
    network = model_of(parts)
    try:
        again = bond_graph_network(network_bond_graph(network))
    except FormulationError:
        assume(False)
    before, after = network.to_data()["components"], again.to_data()["components"]
    same = {name for name, data in before.items() if after.get(name) == data}
    # What has both ends at one node, or hangs in the air, comes back with the extra source that closes it.
    extra = {node for name in after.keys() - before.keys() for node in after[name].get("nodes", ())}
    for name in before.keys() - same:
        assert extra & {node for value in before[name].values() if isinstance(value, list) for node in value}


# -- bond graphs as networks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["electrical", "translational", "rotational"])
def test_random_bond_graphs_as_networks(domain: str) -> None:
    """Any scalar graph without gyrators between velocities answers as a network as its pencil says."""
    count = 0

    @random_cases(6, 16)
    @given(plain_graphs(loops=True))
    def check(plain: Plain) -> None:
        nonlocal count
        assume(solvable(plain) and (domain == "electrical" or not plain.of("GY")))
        network = bond_graph_network(plain.model(), domain)
        try:
            network.equations()
        except FormulationError as error:  # networks refuse an index above 2 and ideal parts in conflict
            assert any(words in str(error) for words in ("index above 2", "nothing new", "fixes already"))  # noqa: PT017
            return
        network_answers(network, plain, domain)
        count += 1

    check()
    assert count > 5


NETWORK_NAMES = {
    "electrical": ("voltage", "current"),
    "translational": ("force", "velocity"),
    "rotational": ("torque", "angular_velocity"),
}


def network_answers(network: Model, plain: Plain, domain: str) -> None:
    """Efforts and flows of storages and dissipators; only a mass may count both the other way, from the datum."""
    inputs = [f"{n}.{NETWORK_NAMES[domain][0 if n in plain.of('Se') else 1]}" for n in plain.of("Se", "Sf")]
    names = [(n, what) for n in plain.of("I", "C", "R") for what in (0, 1)]
    outputs = [f"{n}.{NETWORK_NAMES[domain][what]}" for n, what in names]
    while outputs:
        try:
            system = network.linearise(inputs=inputs, outputs=outputs)
            break
        except SolveError as error:
            k = next(k for k, name in enumerate(outputs) if error.found.startswith(f"{name} "))
            del outputs[k], names[k]
    else:
        return
    omegas = (0.37, 2.3)
    exact = [response(plain, omega) for omega in omegas]
    wanted = np.array([[at[f"{n}.{('effort', 'flow')[what]}"] for n, what in names] for at in exact])
    got = system.frequency_response(omegas)
    masses = plain.of("I") if domain != "electrical" else []
    for mass in masses:
        rows = [k for k, (n, _) in enumerate(names) if n == mass]
        if rows and np.abs(got[:, rows] + wanted[:, rows]).max() < np.abs(got[:, rows] - wanted[:, rows]).max():
            wanted[:, rows] *= -1
    np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def mixed() -> Model:
    """A motor that lifts a mass and drives a cylinder, from plain TF and GY."""
    m = Model("mixed", parameters={"K": 0.5})
    for part in (
        bond.Se("V", effort="2*sin(3*t)", domain="electrical"), bond.Junction1("i"), bond.R("R", conductance=0.5),
        bond.I("L", inertia=0.3, momentum=0.06), bond.GY("motor", modulus="K"),
        bond.Junction1("shaft", domain="rotational"),
        bond.I("J", inertia=0.02, initial_flow=1.0), bond.TF("drum", modulus=0.4),
        bond.Junction1("rope", domain="translational"), bond.I("m", inertia=1.5),
        bond.C("k", compliance=0.02, displacement=0.01),
        bond.TF("cylinder", modulus=0.1), bond.Junction0("p", domain="hydraulic"), bond.R("leak", resistance=3),
        bond.C("oil", stiffness=20, initial_effort=2.0),
    ):  # fmt: skip
        m.add(part)
    for ends in (
        ("V", "i"), ("i", "R"), ("i", "L"), ("i", "motor"), ("motor", "shaft"), ("shaft", "J"), ("shaft", "drum"),
        ("drum", "rope"), ("rope", "m"), ("k", "rope"), ("rope", "cylinder"), ("cylinder", "p"), ("p", "leak"),
        ("p", "oil"),
    ):  # fmt: skip
        m.connect(*ends)
    return m


def test_a_graph_of_four_domains_as_a_network() -> None:
    """L i' = v - R i - K w, and the mass at the rope with the inertia behind its drum, by hand."""
    graph, network = mixed(), bond_graph_network(mixed())
    kinds = {name: c.kind for name, c in network.components.items()}
    assert kinds["motor"] == "rotational_emf"
    assert kinds["drum"] == "wheel"
    assert kinds["cylinder"] == "piston"
    options = {"t_end": 2.0, "points": 21, "rtol": 1e-11, "atol": 1e-13}
    a, b = graph.simulate(**options), network.simulate(**options)
    # i, w, force of the spring on the rope, pressure; w and the rope's velocity 0.4 w are one freedom
    M = 0.02 + 0.4**2 * 1.5
    A = np.array([
        [-2 / 0.3, -0.5 / 0.3, 0, 0],
        [0.5 / M, 0, 0.4 / M, -0.04 / M],
        [0, -0.4 / 0.02, 0, 0],
        [0, 0.04 * 20, 0, -20 / 3],
    ])  # fmt: skip
    poles = np.sort_complex(np.linalg.eigvals(A))
    for model in (graph, network):
        system = model.linearise(outputs=["L.current"] if model is network else ["L.flow"])
        np.testing.assert_allclose(np.sort_complex(system.poles()), poles, rtol=1e-9)
    for one, other, sign in (
        ("L.flow", "L.current", 1), ("J.flow", "J.angular_velocity", 1), ("m.flow", "m.velocity", 1),
        ("oil.effort", "oil.pressure", 1), ("k.effort", "k.force", 1), ("k.flow", "k.velocity", 1),
    ):  # fmt: skip
        np.testing.assert_allclose(b[other], sign * a[one], rtol=0, atol=1e-8, err_msg=one)
    assert b["L.current"][0] == pytest.approx(0.2)
    assert b["oil.pressure"][0] == pytest.approx(2.0)


def test_masks_are_taken_apart_and_their_values_become_parameters() -> None:
    inside = bond.Graph("low pass", ports={"in": "i", "out": "v"}, parameters={"R": None, "tau": 0.5})
    for part in (
        bond.Junction1("i"),
        bond.R("r", resistance="R"),
        bond.Junction0("v"),
        bond.C("c", compliance="tau/R"),
    ):
        inside.add(part)
    for ends in (("i", "r"), ("i", "v"), ("v", "c")):
        inside.connect(*ends)
    m = Model("two", parameters={"R0": 2.0})
    for part in (
        bond.Se("V", effort=1, domain="electrical"), bond.Mask("A", graph=inside, values_of={"R": "R0"}),
        bond.Mask("B", graph=inside, values_of={"R": "3*R0", "tau": 0.2}), bond.R("load", resistance=7),
    ):  # fmt: skip
        m.add(part)
    for ends in (("V", "A.in"), ("A.out", "B.in"), ("B.out", "load")):
        m.connect(*ends)
    network = bond_graph_network(m)
    assert {"A_r", "A_c", "B_r", "B_c", "load", "V"} == set(network.components)
    for R0 in (2.0, 5.0):
        a, b = (
            each.simulate(t_end=1.0, points=5, rtol=1e-11, atol=1e-13, parameters={"R0": R0}) for each in (m, network)
        )
        np.testing.assert_allclose(b["B_c.voltage"], a["B.c.effort"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(b["A_r.current"], a["A.r.flow"], rtol=0, atol=1e-9)


def test_a_mass_between_two_points_hangs_on_a_lever() -> None:
    """An inerter: an I on the 0 junction between two velocities."""
    m = Model("inerter")
    for part in (
        bond.Se("F", effort="cos(2*t)", domain="translational"), bond.Junction1("a"), bond.I("m1", inertia=2),
        bond.Junction0("z"), bond.I("b", inertia=0.5), bond.Junction1("c"), bond.I("m2", inertia=3),
        bond.C("k", stiffness=7),
    ):  # fmt: skip
        m.add(part)
    for ends in (("F", "a"), ("a", "m1"), ("a", "z"), ("z", "b"), ("z", "c"), ("c", "m2"), ("c", "k")):
        m.connect(*ends)
    M, K = np.array([[2.5, -0.5], [-0.5, 3.5]]), np.diag([0.0, 7.0])
    exact = np.linalg.solve(K - M * 4, [1.0, 0.0]) * 2j  # velocities at 2 rad/s
    network = bond_graph_network(m)
    assert sorted(c.kind for c in network.components.values()).count("translational.lever") == 1
    system = network.linearise(inputs=["F.force"], outputs=["a.velocity", "c.velocity"])
    np.testing.assert_allclose(system.frequency_response([2.0])[0][:, 0], exact, rtol=1e-9)


def test_simplified_graphs_answer_the_same() -> None:
    turned = [Part("L", "L1", ("a", "b"), 0.3), *MCPHEE[1:]]  # so that current flows on through node a
    graph = network_bond_graph(model_of(turned))
    small = graph.simplified()
    assert len(small.components) < len(graph.components)
    options = {"t_end": 1.0, "points": 5, **TIGHT}
    a, b = graph.simulate(**options), small.simulate(**options)
    for name in b:
        if name in a and not name.startswith("b"):
            np.testing.assert_allclose(b[name], a[name], rtol=0, atol=1e-9, err_msg=name)


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("dc_motor", {"shaft.angle"}),
        ("quarter_car", {"body.displacement", "wheel.displacement", "patch.displacement"}),
        ("house_wall", {f"{part}.power" for part in (
            "brick", "brick_mass", "heating", "outside", "plaster", "plaster_mass", "room_air", "surface", "wool")}),
        ("ladder_filter", set()),
    ],
)  # fmt: skip
def test_results_that_a_bond_graph_does_not_carry_over(name: str, lost: set[str]) -> None:
    """Sums over time at nodes, and powers of pseudo-bonds, as the page on the method says; nothing else."""
    network = cotree.load(EXAMPLES / f"{name}.yaml")
    short = {"t_end": RUNS[name] * 1e-3, "points": 3}
    ours, whole = network_bond_graph(network).simulate(**short), network.simulate(**short)
    assert set(whole) - set(ours) == lost


def test_a_sensor_gives_the_sum_over_time_that_is_not_carried_over() -> None:
    network = cotree.load(EXAMPLES / "dc_motor.yaml")
    graph = network_bond_graph(network)
    graph.add(bond.Sensor("turned", of="shaft", measures="displacement"))
    options = {"t_end": 0.5, "points": 11, "rtol": 1e-10, "atol": 1e-12}
    ours, exact = graph.simulate(**options)["turned.value"], network.simulate(**options)["shaft.angle"]
    assert np.abs(exact).max() > 1e-3
    np.testing.assert_allclose(ours, exact, rtol=1e-7, atol=1e-9)
