"""Equations in state form: against random graphs written down with numpy, SciPy integrations and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from scipy.linalg import expm
from scipy.optimize import brentq

import cotree as ct
import cotree.bond as b
from _cases import random_cases
from bond._graphs import graph, last, oscillator, reference, state_form
from bond.random_graphs import Plain, degree, descriptor, plain_graphs
from cotree.solve.simulate import simulate

QUICK = random_cases(60, 60)


def transfer(graph: Plain, s: complex) -> np.ndarray:
    """Efforts and flows of all bonds for unit sources; a source sets the variable of its bond."""
    e, a, drive = descriptor(graph)
    for k, name in enumerate(graph.of("Se", "Sf")):
        if graph.vertices[name][0] == "Sf":
            head = next(ends[1] for _, *ends in graph.bonds if name in ends)
            drive[:, k] *= 1.0 if head == name else -1.0
    return np.linalg.solve(s * e - a, drive)


@QUICK
@given(plain_graphs(loops=True))
def test_random_graphs_have_the_transfer_functions_and_the_order_of_their_tableau(plain):
    """A graph is refused exactly where the tableau of its 2 n + m equations is singular."""
    model, order = plain.model(), degree(plain)
    if order is None:
        with pytest.raises(ct.CotreeError):
            model.equations()
        return
    equations = model.equations()
    if equations.smooth_inputs:  # improper: outputs hold rates of sources
        return
    linear = model.linearise()
    assert len(linear.A) == order
    sources, n = plain.of("Se", "Sf"), len(plain.bonds)
    columns = [sources.index(name.rpartition(".")[0]) for name in linear.inputs]
    for omega in (0.7, 1.9):
        found, wanted = linear.frequency_response([omega])[0], transfer(plain, 1j * omega)[:, columns]
        for k, (name, *_) in enumerate(plain.bonds):
            for place, what in ((k, "effort"), (n + k, "flow")):
                error = np.abs(found[linear.outputs.index(f"{name}.{what}")] - wanted[place])
                assert error.max(initial=0) < 1e-6 * (1 + np.abs(wanted[place]).max(initial=0))


# -- linear systems


def motor(**options):
    return graph(
        b.Se("V", effort="5*sin(t)"), b.Junction1("i"), b.R("R", resistance=2.0), b.I("L", inertia=0.1),
        b.GY("K", modulus=0.5), b.Junction1("w"), b.I("J", inertia=0.02), b.C("k", stiffness=3.0), b.R("d",
        resistance=0.1),
        "V -> i -> R", "i -> L", "i -> K -> w -> J", "w -> k", "w -> d", **options,
    )  # fmt: skip


A = np.array([[-2 / 0.1, -0.5 / 0.02, 0], [0.5 / 0.1, -0.1 / 0.02, -3], [0, 1 / 0.02, 0]])


def test_linearise_gives_the_matrices_of_hand():
    linear = motor().linearise(outputs=["J.flow", "V.flow", "L.effort"])
    assert linear.states == ("L.momentum", "J.momentum", "k.displacement")
    assert pytest.approx(A) == linear.A
    assert pytest.approx(np.array([[1.0], [0], [0]])) == linear.B
    assert pytest.approx(np.array([[0, 50.0, 0], [10.0, 0, 0], A[0]])) == linear.C
    assert pytest.approx(np.array([[0.0], [0], [1]])) == linear.D


def test_the_run_is_the_exponential_of_the_matrix():
    big = np.zeros((5, 5))  # states, 5 sin t, 5 cos t
    big[:3, :3], big[0, 3] = A, 1.0
    big[3, 4], big[4, 3] = 1.0, -1.0
    x = expm(2 * big) @ [0, 0, 0, 0, 5]
    model = motor()
    for integrator in ("cvodes", "idas", "adams", "rk45"):
        s = model.simulate(2.0, rtol=1e-9, integrator=integrator)
        assert [s[n][-1] for n in ("L.momentum", "J.momentum", "k.displacement")] == pytest.approx(x[:3], rel=1e-5)
        assert s.energy().error < 1e-6
    assert last(model, "J.momentum", 2.0) == pytest.approx(x[1], rel=1e-8)


def test_every_result_has_its_name():
    s = motor().simulate(0.1)
    names = {f"{e}.{w}" for e in ("V", "R", "L", "J", "k", "d") for w in ("effort", "flow")}
    bonds = ("V_i", "i_R", "i_L", "i_K", "K_w", "w_J", "w_k", "w_d")
    names |= {f"{e}.{w}" for e in bonds for w in ("effort", "flow")}
    names |= {"i.flow", "w.flow", "L.momentum", "J.momentum", "k.displacement", "kinetic_energy", "potential_energy"}
    assert set(s.names) == names
    power = sum(s[f"{e}.effort"] * s[f"{e}.flow"] for e in ("R", "L", "J", "k", "d"))
    supplied = s["V.effort"] * s["V.flow"]  # along its bond, out of it
    assert np.abs(power - supplied).max() < 1e-9  # Tellegen: all elements take what the source gives
    with pytest.raises(ct.CotreeError, match=r"did you mean|Did you mean"):
        s["J.flw"]


def test_steady_start_is_the_operating_point():
    model = motor()
    constant = graph(*[p for p in model.components.values() if p.name != "V"], b.Se("V", effort=4.0))
    s = constant.simulate(1.0, start="steady")
    assert s["L.momentum"] == pytest.approx(0.2, rel=1e-6)
    assert s["k.displacement"] == pytest.approx(1 / 3, rel=1e-6)
    linear = constant.linearise(at="steady", outputs=["J.flow"])
    assert linear.point["k.displacement"] == pytest.approx(1 / 3, rel=1e-6)


def test_values_change_at_run_time_and_starts_by_name():
    model = oscillator(b.R("r", resistance=1.0), effort="F", parameters={"F": 2.0})
    assert last(model, "m.flow") == pytest.approx(2 * (1 - np.exp(-0.5)), rel=1e-8)
    changed = last(model, "m.flow", parameters={"F": 3.0, "m.inertia": 4.0, "r.resistance": 2.0})
    assert changed == pytest.approx(1.5 * (1 - np.exp(-0.5)), rel=1e-8)
    assert last(model, "m.flow", start={"m.momentum": 4.0}) == pytest.approx(2.0, rel=1e-8)


def test_events_stop_a_run():
    s = oscillator().simulate(5.0, events=ct.Event("fast", "m.flow - 3", action="stop"))
    assert s.t[-1] == pytest.approx(3.0, rel=1e-7)  # v = t
    assert s["m.flow"][-1] == pytest.approx(3.0, rel=1e-7)


# -- start values


STARTS = {
    "momentum": (b.I("X", inertia=2.0, momentum=3.0), "X.flow", 1.5),
    "initial_flow": (b.I("X", inertia=2.0, initial_flow=1.5), "X.momentum", 3.0),
    "displacement": (b.C("X", stiffness=2.0, displacement=3.0), "X.effort", 6.0),
    "initial_effort": (b.C("X", compliance=2.0, initial_effort=1.5), "X.displacement", 3.0),
    "expression": (b.C("X", compliance="a", initial_effort="a/2"), "X.displacement", 2.0),
    "momentum of a law": (b.I("X", flow="p**3", momentum=2.0), "X.flow", 8.0),
    "displacement of a law": (b.C("X", effort="q**3", displacement=2.0), "X.effort", 8.0),
}


@pytest.mark.parametrize("name", STARTS)
def test_start_values(name):
    element, result, wanted = STARTS[name]
    s = graph(element, b.R("r", resistance=1.0), "r -> X", parameters={"a": 2.0}).simulate(0.1)
    assert s[result][0] == pytest.approx(wanted)


def test_start_values_of_vectors():
    m = np.array([[2.0, 0.5], [0.5, 1.0]])
    model = graph(
        b.I("m", inertia=m, initial_flow=[1.0, 2.0]), b.C("k", compliance=m, initial_effort=[1.0, 2.0]),
        b.Junction1("j"),
        "j -> m", "j -> k",
    )  # fmt: skip
    s = model.simulate(0.1)
    for name in ("m.momentum", "k.displacement"):
        assert [s[f"{name}.c1"][0], s[f"{name}.c2"][0]] == pytest.approx(m @ [1.0, 2.0])


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", ["I", "C"])
def test_start_values_of_dependent_storages_count(first, kind):
    """Of two storages that are tied, either may give the start; where both do, they must agree."""
    if kind == "I":
        junction, make, what, result = b.Junction1("j"), b.I, "initial_flow", "j.flow"
        values = [{"inertia": 2.0}, {"inertia": 1.0}]
    else:
        junction, make, what, result = b.Junction0("j"), b.C, "initial_effort", "j.effort"
        values = [{"compliance": 2.0}, {"compliance": 1.0}]

    def build(*starts):
        return graph(
            junction, *(make(n, **v, **s) for n, v, s in zip("ac", values, starts, strict=True)), "j -> a", "j -> c"
        )

    given = [{what: 3.0}, {}] if first else [{}, {what: 3.0}]
    assert build(*given).simulate(1.0)[result] == pytest.approx(3.0)
    assert build({what: 3.0}, {what: 3.0}).simulate(1.0)[result] == pytest.approx(3.0)
    with pytest.raises(ct.CotreeError, match=r"the start value of '[ac]' does not fit"):
        build({what: 3.0}, {what: 2.0}).equations()


def test_start_values_of_storages_that_follow_through_a_gyrator():
    """The gyrator sets the effort 0.7 f_K of both C's, so that each of the three gives the other two."""

    def build(**starts):
        parts = {
            "a": (b.C, {"stiffness": 1.0}, "displacement"), "c": (b.C, {"effort": "3*q + q**3"}, "displacement"),
            "K": (b.I, {"inertia": 2.0}, "initial_flow"),
        }  # fmt: skip
        made = (make(n, **law, **({what: starts[n]} if n in starts else {})) for n, (make, law, what) in parts.items())
        return graph(
            b.Junction0("n"), b.I("L", inertia=1.2), *made, b.GY("G", modulus=0.7), b.Junction1("k"),
            "n -> L", "n -> a", "n -> c", "n -> G -> k -> K",
        )  # fmt: skip

    effort = 3 * 0.2 + 0.2**3
    fitting = {"a": effort, "c": 0.2, "K": effort / 0.7}
    for names in ("a", "c", "K", "ac", "aK", "cK", "acK"):
        s = build(**{n: fitting[n] for n in names}).simulate(0.5, points=3, rtol=1e-9)
        assert [s["a.displacement"][0], s["c.displacement"][0], s["K.flow"][0]] == pytest.approx([*fitting.values()])
    with pytest.raises(ct.CotreeError, match=r"the start value of '[acK]' does not fit"):
        build(a=effort, c=0.3).equations()


def test_start_values_beside_a_source_behind_a_gyrator():
    """The source sets the effort 0.7 * 2 of both C's: their start values must be 1.4 and 1.4 / 3."""

    def build(**start):
        return graph(
            b.Junction0("n"), b.I("L", inertia=1.2), b.C("a", stiffness=1.0), b.C("c", stiffness=3.0, **start),
            b.GY("G", modulus=0.7), b.Junction1("k"), b.Sf("S", flow=2.0),
            "n -> L", "n -> a", "n -> c", "n -> G -> k", "S -> k",
        )  # fmt: skip

    s = build(displacement=1.4 / 3).simulate(0.5, points=3)
    assert s["a.displacement"] == pytest.approx(1.4)
    with pytest.raises(ct.CotreeError, match="the start value of 'c' does not fit"):
        build(displacement=0.3).equations()


# -- derivative causality


def test_two_inertias_on_a_shaft_with_a_gear():
    model = graph(
        b.Se("T", effort=3.0), b.Junction1("a"), b.I("J1", inertia=2.0), b.TF("g", modulus=3.0), b.Junction1("c"),
        b.I("J2", inertia=1.0), b.R("d", resistance=0.5), "T -> a -> J1", "a -> g -> c -> J2", "c -> d",
    )  # fmt: skip
    s = model.simulate(3.0, rtol=1e-10)
    v = 3 / 4.5 * (1 - np.exp(-4.5 / 11 * s.t))
    assert np.abs(s["J1.flow"] - v).max() < 1e-8
    assert np.abs(s["J2.momentum"] - 3 * v).max() < 1e-8
    assert np.abs(s["J2.effort"] - 3 * 3 / 11 * np.exp(-4.5 / 11 * s.t)).max() < 1e-8
    assert "I 'J2' has derivative causality: its flow follows from others" in model.equations().notes


def test_capacitors_in_parallel():
    model = graph(
        b.Se("V", effort=3.0), b.Junction1("a"), b.R("R", resistance=2.0), b.Junction0("n"), b.C("C1", compliance=1.0),
        b.C("C2", compliance=2.0), "V -> a -> R", "a -> n -> C1", "n -> C2",
    )  # fmt: skip
    s = model.simulate(3.0, rtol=1e-10)
    assert np.abs(s["n.effort"] - 3 * (1 - np.exp(-s.t / 6))).max() < 1e-8
    assert np.abs(s["C2.flow"] - np.exp(-s.t / 6)).max() < 1e-8
    assert s.energy().error < 1e-8


def test_nonlinear_inertias_that_are_tied():
    model = graph(
        b.Se("V", effort="3*sin(3*t)"), b.Junction1("j"), b.I("L", flow="2*p+0.5*p**3"), b.I("M", flow="p+p**3"),
        b.R("R", resistance=1.0), "V -> j -> L", "j -> M", "j -> R",
    )  # fmt: skip

    def rates(t, y):
        p = y[0]
        i = 2 * p + 0.5 * p**3
        P = brentq(lambda P: P + P**3 - i, -9, 9, xtol=1e-15)
        return [(3 * np.sin(3 * t) - i) / (1 + (2 + 1.5 * p * p) / (1 + 3 * P * P))]

    assert last(model, "L.momentum", 2.0) == pytest.approx(reference(rates, [0], 2.0)[0], rel=1e-7)


def test_nonlinear_springs_that_are_tied():
    model = graph(
        b.Sf("F", flow="sin(2*t)"), b.Junction0("n"), b.C("c1", effort="q+q**3"), b.C("c2", effort="2*q+q**3"),
        b.R("R", resistance=2.0), "F -> n -> c1", "n -> c2", "n -> R",
    )  # fmt: skip

    def rates(t, y):
        q = y[0]
        e = q + q**3
        Q = brentq(lambda Q: 2 * Q + Q**3 - e, -9, 9, xtol=1e-15)
        ratio = (1 + 3 * q * q) / (2 + 3 * Q * Q)  # dQ/dq
        return [(np.sin(2 * t) - e / 2) / (1 + ratio)]

    assert last(model, "c1.displacement", 2.0) == pytest.approx(reference(rates, [0], 2.0)[0], rel=1e-7)


def test_a_vector_inertia_of_which_one_component_is_tied():
    """Mass in the plane, its second direction geared to a flywheel that is named before it."""
    model = graph(
        b.Junction1("w"), b.I("J", inertia=0.5), b.Se("F", effort=[1.0, 2.0]), b.Junction1("j"),
        b.I("m", inertia=[[2.0, 0.3], [0.3, 1.0]]), b.Split("s", parts=[1, 1]), b.R("r", resistance=1.0),
        b.TF("g", modulus=2.0), "F -> j -> m", "j -> s.whole", "s.1 -> r", "s.2 -> g -> w -> J",
    )  # fmt: skip
    M = np.array([[2.0, 0.3], [0.3, 1.0 + 4 * 0.5]])
    whole = np.zeros((3, 3))
    whole[:2, :2], whole[:2, 2] = -np.linalg.solve(M, np.diag([1.0, 0])), np.linalg.solve(M, [1.0, 2.0])
    wanted = expm(whole)[:2, 2]
    s = model.simulate(1.0, rtol=1e-10)
    assert [s["m.flow.c1"][-1], s["m.flow.c2"][-1]] == pytest.approx(wanted, rel=1e-8)
    assert s["J.flow"][-1] == pytest.approx(2 * wanted[1], rel=1e-8)
    assert s.energy().error < 1e-8


def test_a_source_behind_a_gyrator_sets_the_speed():
    """An ideal motor without winding: w = V/K, so that its inertia is no state and V' enters."""
    model = graph(
        b.Se("V", effort="6*(1 - exp(-t))"), b.GY("K", modulus=0.5), b.Junction1("w"), b.I("J", inertia=0.2),
        b.R("d", resistance=0.1), "V -> K -> w -> J", "w -> d",
    )  # fmt: skip
    equations = model.equations()
    assert equations.u.names == ()
    assert "J.momentum is no state: it follows from others through a gyrator" in equations.notes
    s = model.simulate(2.0, rtol=1e-10)
    speed, rate = 12 * (1 - np.exp(-s.t)), 12 * np.exp(-s.t)
    assert np.abs(s["J.flow"] - speed).max() < 1e-9
    assert np.abs(s["V_K.flow"] - (0.2 * rate + 0.1 * speed) / 0.5).max() < 1e-9
    assert s.energy().error < 1e-8


def test_two_ideal_motors_on_one_source_with_inner_resistance():
    """K1 w1 = K2 w2: one state for two inertias, whatever the resistance beside them is."""
    model = graph(
        b.Se("V", effort=6.0), b.Junction1("i"), b.R("R", resistance=2.0), b.Junction0("n"), b.GY("K1", modulus=0.5),
        b.GY("K2", modulus=0.25), b.I("J1", inertia=0.1), b.I("J2", inertia=0.05),
        "V -> i -> R", "i -> n", "n -> K1 -> J1", "n -> K2 -> J2",
    )  # fmt: skip
    # i = i1 + i2, J1 w1' = K1 i1, J2 w2' = K2 i2, e = K1 w1 = K2 w2: (J1/K1^2 + J2/K2^2) e' = (6 - e)/2
    s = model.simulate(2.0, rtol=1e-10)
    e = 6 * (1 - np.exp(-s.t / (2 * (0.1 / 0.25 + 0.05 / 0.0625))))
    assert np.abs(s["n.effort"] - e).max() < 1e-8
    assert np.abs(s["J2.flow"] - e / 0.25).max() < 1e-7
    assert len(model.equations().u) == 1


@pytest.mark.parametrize(
    ("source", "storage", "jumps"),
    [
        (b.Sf("s", flow="step(t - 0.5)"), b.I("x", inertia=2.0), "s.flow jumps from 0 to 1 at t = 0.5 s"),
        (b.Se("s", effort="step(t - 0.5)"), b.C("x", compliance=2.0), "s.effort jumps from 0 to 1 at t = 0.5 s"),
        (b.MSe("s", effort="step(t - 0.5)"), b.C("x", compliance=2.0), "s.effort jumps from 0 to 1 at t = 0.5 s"),
    ],
)
def test_a_jump_onto_a_dependent_storage_is_refused(source, storage, jumps):
    with pytest.raises(ct.SolveError) as told:
        graph(source, storage, "s -> x").simulate(1.0)
    assert str(told.value) == (
        f"{jumps}, but x has derivative causality behind s, so the jump would need an infinite effort or flow. "
        "Put an R between the source and the storage, or let the source ramp."
    )


def test_a_smooth_source_drives_a_dependent_storage():
    model = graph(b.Se("s", effort="t**2"), b.Junction0("n"), b.C("c", compliance=2.0), b.R("r", resistance=1.0), "s -> n -> c", "n -> r")  # fmt: skip  # noqa: E501
    s = model.simulate(1.0, rtol=1e-10)
    assert np.abs(s["c.flow"] - 4 * s.t).max() < 1e-9
    assert np.abs(s["s_n.flow"] - 4 * s.t - s.t**2).max() < 1e-9
    ramp = graph(b.Sf("s", flow="ramp(t - 0.5)"), b.I("x", inertia=2.0), "s -> x").simulate(1.0)
    assert ramp["x.effort"][[0, -1]] == pytest.approx([0.0, 2.0])


def test_steps_are_met_exactly():
    s = oscillator(effort="4*step(t - 0.3)").simulate(1.0, rtol=1e-10)
    assert np.abs(s["m.flow"] - 2 * np.maximum(s.t - 0.3, 0)).max() < 1e-9


# -- algebraic loops


def test_a_bridge_of_resistances_is_solved():
    """Wheatstone: by the node equations in numpy."""
    names = range(1, 6)
    model = graph(
        b.Se("V", effort=10.0), b.Junction0("A"), b.Junction0("B"), b.Junction0("D"),
        *(b.Junction1(f"j{i}") for i in names), *(b.R(f"R{i}", resistance=float(i)) for i in names),
        "V -> A -> j1 -> B -> j5 -> D", "A -> j2 -> D -> j4", "B -> j3", *(f"j{i} -> R{i}" for i in names),
    )  # fmt: skip
    G = np.array([[1 + 1 / 3 + 1 / 5, -1 / 5], [-1 / 5, 1 / 2 + 1 / 4 + 1 / 5]])
    vb, vd = np.linalg.solve(G, [10.0, 5.0])
    s = model.simulate(1.0)
    found = [s[f"R{i}.flow"][-1] for i in names]
    assert found == pytest.approx([10 - vb, (10 - vd) / 2, vb / 3, vd / 4, (vb - vd) / 5])


def test_a_nonlinear_loop_of_resistances():
    model = graph(
        b.Se("V", effort="2*sin(t)"), b.Junction1("j"), b.R("a", effort="f + f**3"), b.Junction0("n"),
        b.R("d", flow="0.1*e + e**3"), b.C("c", compliance=1.0), b.Junction1("k"), b.R("r", resistance=1.0),
        "V -> j -> a", "j -> n -> d", "n -> k -> r", "k -> c",
    )  # fmt: skip

    def rates(t, y):
        def left(e):
            i = 0.1 * e + e**3 + (e - y[0])
            return i + i**3 + e - 2 * np.sin(t)

        return [brentq(left, -20, 20, xtol=1e-15) - y[0]]

    assert last(model, "c.effort", 2.0) == pytest.approx(reference(rates, [0], 2.0)[0], rel=1e-7)


def test_the_audit_of_nonlinear_storages_closes():
    model = graph(
        b.Se("V", effort="3*sin(3*t)"), b.Junction1("j"), b.I("L", flow="2*p+0.5*p**3"), b.C("c", effort="q+sinh(q)"),
        b.R("r", effort="tanh(3*f)"), "V -> j -> L", "j -> c", "j -> r",
    )  # fmt: skip
    s = model.simulate(4.0, rtol=1e-10)
    p, q = s["L.momentum"], s["c.displacement"]
    assert np.abs(s["kinetic_energy"] - p**2 - p**4 / 8).max() < 1e-10
    assert np.abs(s["potential_energy"] - q**2 / 2 - np.cosh(q) + 1).max() < 1e-10
    assert s.energy().error < 1e-8


def test_thermal_bonds_count_heat_as_it_is():
    """A body of 10 J/K behind 2 K/W: the heat that flows in is what it stores."""
    model = graph(
        b.Se("T", effort=300.0, domain="thermal"), b.Junction1("j"), b.R("r", resistance=2.0, domain="thermal"),
        b.C("c", compliance=10.0, domain="thermal", initial_effort=280.0), "T -> j -> r", "j -> c",
    )  # fmt: skip
    s = model.simulate(30.0, rtol=1e-10)
    assert np.abs(s["c.effort"] - 300 + 20 * np.exp(-s.t / 20)).max() < 1e-6
    assert s.energy().error < 1e-8
    assert s.energy().supplied[-1] == pytest.approx(200 * (1 - np.exp(-1.5)), rel=1e-6)


def test_explain_and_latex_tell_states_and_equations():
    text = motor().explain()
    for piece in ("1 Se", "8 bonds", "3 states: L.momentum, J.momentum, k.displacement", "Start"):
        assert piece in text
    from cotree.bond.explain import bond_latex

    lines = list(bond_latex(motor(), motor().equations()))
    assert len(lines) == 4  # three states, and the source
    assert lines[0].startswith(r"\dot{p}_{\mathrm{L}} = ")
    assert lines[2] == r"\dot{q}_{\mathrm{k}} = \frac{p_{\mathrm{J}}}{I_{\mathrm{J}}}"


def test_the_state_form_is_what_a_run_uses():
    equations = state_form(motor())
    assert equations.u.names == motor().equations().u.names
    assert simulate(equations, 1.0)["J.flow"][-1] == pytest.approx(motor().simulate(1.0)["J.flow"][-1], rel=1e-9)
