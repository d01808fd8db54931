"""Equations in mechanical form: against the state form of the same graph, SciPy, and closed forms.

The graphs are plane mechanisms of scalar bonds with modulated transformers.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import cotree as ct
import cotree.bond as b
from bond._graphs import graph, mechanical_form, reference, state_form
from cotree.solve.linear import linearise
from cotree.solve.simulate import simulate


def pendulum(**start):
    """A rod of inertia 0.1 with 2 kg at 0.7 m: th' = w, x = l sin th, y = -l cos th."""
    return graph(
        b.Junction1("w"), b.I("J", inertia=0.1, **start), b.Integrator("th", input="w.flow", initial=0.5, unit="rad"),
        b.MTF("X", modulus="0.7*cos(th.value)"), b.MTF("Y", modulus="0.7*sin(th.value)"), b.Junction1("vx"),
        b.Junction1("vy"), b.I("mx", inertia=2.0), b.I("my", inertia=2.0), b.Se("g", effort=-19.62),
        b.R("d", resistance=0.1), b.C("k", stiffness=0.4), "w -> J", "w -> X -> vx -> mx", "w -> Y -> vy -> my",
        "g -> vy", "w -> d", "w -> k",
    )  # fmt: skip


def swing(t, y):
    return [y[1], (-19.62 * 0.7 * np.sin(y[0]) - 0.1 * y[1] - 0.4 * (y[0] - 0.5)) / (0.1 + 2 * 0.49)]


def test_both_forms_are_the_motion_of_hand():
    wanted = reference(swing, [0.5, 0], 3.0)
    runs = [simulate(make(pendulum()), 3.0, rtol=1e-10) for make in (state_form, mechanical_form)]
    for s in runs:
        assert [s["th.value"][-1], s["J.flow"][-1]] == pytest.approx(wanted, rel=2e-7)
        assert s.energy().error < 1e-7
    assert set(runs[0].names) == set(runs[1].names)
    for name in runs[0].names:
        scale = 1 + np.abs(runs[0][name]).max()
        assert np.abs(runs[0][name] - runs[1][name]).max() < 1e-6 * scale, name


def test_coordinates_and_speeds_have_names():
    equations = mechanical_form(pendulum())
    assert equations.q.names == ("k.displacement", "th.value")
    assert equations.u.names == ("J.flow",)
    assert equations.mechanics is not None
    assert "derivative causality, solved with the speeds: I mx, I my" in equations.notes


@pytest.mark.parametrize("integrator", ["cvodes", "idas", "adams", "rk45", "generalised_alpha"])
def test_every_integrator_takes_the_mechanical_form(integrator):
    options = {"step": 2e-4} if integrator == "generalised_alpha" else {"rtol": 1e-9}
    s = simulate(mechanical_form(pendulum()), 1.0, integrator=integrator, points=11, **options)
    wanted = reference(swing, [0.5, 0], 1.0)
    assert s["th.value"][-1] == pytest.approx(wanted[0], abs=1e-6)


@pytest.mark.parametrize("start", [{"initial_flow": 1.5}, {"momentum": 0.15}])
def test_start_values_of_an_inertia_count_in_both_forms(start):
    wanted = reference(swing, [0.5, 1.5], 1.0)
    for make in (state_form, mechanical_form):
        s = simulate(make(pendulum(**start)), 1.0, rtol=1e-10)
        assert s["J.flow"][0] == pytest.approx(1.5)
        assert s["th.value"][-1] == pytest.approx(wanted[0], rel=1e-7)


def test_the_linear_system_about_rest():
    """M th'' = -(m g l cos(th0) + k) th - d th' about th0 = 0."""
    equations = mechanical_form(pendulum())
    linear = linearise(equations, at={"th.value": 0.0, "k.displacement": 0.0, "J.flow": 0.0})
    M = 0.1 + 2 * 0.49
    # k.displacement and th.value move together, so that one pole lies at zero
    poles = np.sort_complex(np.roots([M, 0.1, 19.62 * 0.7 + 0.4]))
    found = np.sort_complex(np.linalg.eigvals(linear.A))
    far = found[np.abs(found) > 1e-9]
    assert far == pytest.approx(poles, rel=1e-9)


# -- closures


def driven():
    """The x of a pendulum follows a source of flow, through a modulus that could vanish."""
    return graph(
        b.Junction1("w"), b.I("J", inertia=0.1), b.Integrator("th", input="w.flow", initial=0.1, unit="rad"),
        b.MTF("X", modulus="0.7*cos(th.value)"), b.Junction1("vx"), b.I("mx", inertia=2.0),
        b.Sf("s", flow="0.3*cos(t)"), b.R("d", resistance=1.0), "w -> J", "w -> X -> vx -> mx", "s -> vx", "w -> d",
    )  # fmt: skip


def test_a_source_of_flow_behind_a_transformer_drives_it():
    """sin th = sin 0.1 + 0.3 sin(t)/0.7, and the force from Newton's law by differences."""
    th = np.arcsin(np.sin(0.1) + 0.3 / 0.7 * np.sin(1.0))

    def angle(t):
        return np.arcsin(np.sin(0.1) + 0.3 / 0.7 * np.sin(t))

    h = 1e-3  # differences are good to about 1e-9, which SciPy must not be asked to better
    w, a = (angle(1 + h) - angle(1 - h)) / (2 * h), (angle(1 + h) - 2 * angle(1) + angle(1 - h)) / h**2
    force = -2.0 * 0.3 * np.sin(1.0) + (0.1 * a + w) / (0.7 * np.cos(th))
    for make in (state_form, mechanical_form):
        s = simulate(make(driven()), 1.0, rtol=1e-10)
        assert s["th.value"][-1] == pytest.approx(th, rel=1e-8)
        assert s["s_vx.flow"][-1] == pytest.approx(0.3 * np.cos(1.0), rel=1e-8)
        assert s["s_vx.effort"][-1] == pytest.approx(force, rel=1e-5)
        assert s.energy().error < 1e-8
    assert driven().equations().mechanics is not None  # a model with closures takes the mechanical form


def test_a_start_that_a_driver_forbids_is_corrected_or_told():
    equations = driven().equations()
    assert equations.u.start[0] == pytest.approx(0.3 / (0.7 * np.cos(0.1)))


def ring():
    """Two shafts drive one flow by two ways: sin th - ph^2/2 stays what it is."""
    return graph(
        b.Junction1("w"), b.Junction1("g"), b.I("J", inertia=0.1), b.I("G", inertia=0.2),
        b.Integrator("th", input="w.flow", initial=0.1),
        b.Integrator("ph", input="g.flow", initial=float(np.sqrt(2 * np.sin(0.1)))),
        b.MTF("X", modulus="cos(th.value)"), b.MTF("Y", modulus="ph.value"), b.Junction1("v"), b.Se("T", effort=1.0),
        b.R("r", resistance=0.3), "w -> J", "g -> G", "w -> X -> v", "g -> Y -> v", "T -> w", "v -> r",
    )  # fmt: skip


def test_a_loop_of_transformers_is_torn_and_closed():
    """Lagrange with one coordinate: ph = sqrt(2 sin th), ph' = cos(th) th'/ph."""

    def rates(t, y):
        th, w = y
        ph = np.sqrt(2 * np.sin(th))
        n = np.cos(th) / ph
        dn = (-np.sin(th) - n**2) / ph  # d n/d th
        return [w, (1 - 0.3 * np.cos(th) ** 2 * w - 0.2 * n * dn * w * w) / (0.1 + 0.2 * n * n)]

    wanted = reference(rates, [0.1, 0], 1.0)
    for make in (state_form, mechanical_form):
        s = simulate(make(ring()), 1.0, rtol=1e-10)
        assert [s["th.value"][-1], s["J.flow"][-1]] == pytest.approx(wanted, rel=1e-6)
        assert np.abs(s["ph.value"] ** 2 / 2 - np.sin(s["th.value"])).max() < 1e-7
        assert np.abs(s["X_v.flow"] - s["Y_v.flow"]).max() < 1e-7
        assert s.energy().error < 1e-7
    assert "2 speeds, 1 independent closure, 1 degree of freedom" in ring().equations().notes


def test_a_closure_twice_is_one_closure():
    """The same source of flow on two junctions that a unit bond joins: one of them is redundant where it is zero."""
    model = graph(
        b.Junction1("w"), b.I("J", inertia=1.0), b.Integrator("th", input="w.flow", initial=0.3),
        b.Junction1("g"), b.I("G", inertia=1.0, initial_flow=1.0), b.Integrator("ph", input="g.flow", initial=0.3),
        b.MTF("X", modulus="1 + 0.1*th.value"), b.MTF("Y", modulus="1 + 0.1*ph.value"), b.Junction0("d"),
        b.MTF("X2", modulus="1 + 0.1*th.value"), b.MTF("Y2", modulus="1 + 0.1*ph.value"), b.Junction0("d2"),
        b.Sf("s", flow=0.0), b.Sf("s2", flow=0.0),
        "w -> J", "g -> G", "w -> X -> d", "w -> X2 -> d2", "Y -> g", "Y2 -> g", "d -> Y", "d2 -> Y2", "s -> d",
        "s2 -> d2",
    )  # fmt: skip
    # d: flow of X = flow into Y = (w (1 + .1 th)), Y: g = (1 + .1 ph) f
    notes = model.equations().notes
    assert "'s2' adds 1 redundant equation" in notes
    assert "1 degree of freedom" in notes[0]
    s = model.simulate(1.0, rtol=1e-10)
    assert s["G.flow"][0] == pytest.approx(1.0)
    assert s.energy().error < 1e-8
    assert np.abs(s["g.flow"] - (1 + 0.1 * s["ph.value"]) * (1 + 0.1 * s["th.value"]) * s["w.flow"]).max() < 1e-8


def test_two_zero_sources_on_one_junction():
    """Redundant and harmless: nothing moves."""
    model = graph(
        b.Sf("a", flow=0.0), b.Sf("c", flow=0.0), b.Junction1("j"), b.I("m", inertia=1.0), b.R("r", resistance=1.0),
        "a -> j", "c -> j", "j -> m", "j -> r",
    )  # fmt: skip
    with pytest.raises(ct.CotreeError, match=r"a|c"):
        model.equations()


# -- what mechanisms have beyond states


def test_sensitivities_and_poles_of_a_chain():
    """Two masses and three springs: poles by numpy, d x/d k by differences of the exact solution."""
    model = graph(
        b.Junction1("v1"), b.I("m1", inertia=1.0, initial_flow=1.0), b.C("k1", stiffness=4.0), b.Junction0("n"),
        b.Junction1("d"), b.C("k2", stiffness=2.0), b.Junction1("v2"), b.I("m2", inertia=2.0), b.C("k3", stiffness=3.0),
        b.R("c3", resistance=0.2), "v1 -> m1", "v1 -> k1", "v1 -> n -> v2", "n -> d -> k2", "v2 -> m2", "v2 -> k3",
        "v2 -> c3",
    )  # fmt: skip
    equations = mechanical_form(model)

    def exact(k2):
        K, D = np.array([[4 + k2, -k2], [-k2, 3 + k2]]), np.diag([0, 0.2])
        Mi = np.diag([1, 0.5])
        big = np.block([[np.zeros((2, 2)), np.eye(2)], [-Mi @ K, -Mi @ D]])
        return (expm(big) @ [0, 0, 1, 0])[0]

    s = simulate(equations, 1.0, rtol=1e-10)
    assert s["k1.displacement"][-1] == pytest.approx(exact(2.0), rel=1e-8)
    from cotree.solve.sensitivity import sensitivities

    found = sensitivities(equations, ["k1.displacement"], ["k2.stiffness"], 1.0, points=3)
    wanted = (exact(2.0 + 1e-4) - exact(2.0 - 1e-4)) / 2e-4
    assert np.asarray(found["k1.displacement", "k2.stiffness"])[-1] == pytest.approx(wanted, rel=1e-5)
    free = graph(*[p for p in model.components.values() if p.name not in ("c3", "v2_c3")])
    omega = np.sqrt(np.linalg.eigvals(np.diag([1, 0.5]) @ np.array([[6, -2.0], [-2, 5]])))
    poles = np.abs(np.linalg.eigvals(linearise(mechanical_form(free)).A))
    assert np.sort(poles[poles > 1e-6]) == pytest.approx(np.sort([*omega, *omega]), rel=1e-8)


def test_no_inertia_is_told_by_name():
    model = graph(
        b.Junction1("w"), b.Integrator("th", input="w.flow", initial=0.5), b.MTF("X", modulus="cos(th.value)"),
        b.Se("T", effort=1.0), b.C("k", stiffness=1.0), "T -> w -> X -> k",
    )  # fmt: skip
    with pytest.raises(ct.CotreeError) as told:
        model.equations()
    assert "T" in str(told.value)


LENGTHS = {"a": 0.3, "b": 0.9, "c": 0.75}
BASE = np.array([0.9, 0.0])


def spatial_four_bar():
    """Bars of 1 kg between ground, R, S, S and R; only the crank's angle is given, so that the loop is far open."""
    m = b.mechanics
    model = ct.Model("four-bar", gravity=(0, -9.8, 0))
    for part in (m.Ground("G"), m.Ground("H", position=(*BASE, 0)), m.RevoluteJoint("J1", axis="z", angle=1.0)):
        model.add(part)
    for part in (m.SphericalJoint("J2"), m.SphericalJoint("J3"), m.RevoluteJoint("J4", axis="z")):
        model.add(part)
    for name, length in LENGTHS.items():
        ends = {"l": (-length / 2, 0, 0), "r": (length / 2, 0, 0)}
        model.add(m.Body(name, mass=1.0, inertia=(0.001, 0.01, 0.01), frames=ends))
    for ends in ["G J1.a", "J1.b a.l", "a.r J2.a", "J2.b b.l", "b.r J3.a", "J3.b c.l", "c.r J4.a", "J4.b H"]:
        model.connect(*ends.split())
    return model


def plane(angle):
    """Centres of mass and angles of the three bars in the plane, by the law of cosines; c.l is above the base."""
    tip = LENGTHS["a"] * np.array([np.cos(angle), np.sin(angle)])
    gap = BASE - tip
    far = np.linalg.norm(gap)
    at_tip = np.arccos((LENGTHS["b"] ** 2 + far**2 - LENGTHS["c"] ** 2) / (2 * LENGTHS["b"] * far))
    coupler = np.arctan2(gap[1], gap[0]) + at_tip
    knee = tip + LENGTHS["b"] * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(*(BASE - knee)[::-1])
    return np.concatenate([tip / 2, (tip + knee) / 2, (knee + BASE) / 2, [angle, coupler, rocker]])


def test_a_rough_start_leaves_euler_parameters_of_length_one():
    model = spatial_four_bar()
    q = model.equations().q
    start = dict(zip(q.names, q.start, strict=True))
    orientation = [value for name, value in start.items() if "orientation" in name]
    assert len(orientation) == 4
    assert abs(np.linalg.norm(orientation) - 1) < 1e-14
    weights = np.repeat([1.0, 0.01], [6, 3])  # masses, and moments of inertia about z
    h = 1e-3  # differences are good to about 1e-9, which SciPy must not be asked to better

    def swing(t, y):  # Lagrange's equation of one freedom: J w' + J' w^2 / 2 + V' = 0
        x = [plane(y[0] + k * h) for k in (-2, -1, 0, 1, 2)]
        first = (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * h)
        second = (-x[0] + 16 * x[1] - 30 * x[2] + 16 * x[3] - x[4]) / (12 * h**2)
        force = -9.8 * first[[1, 3, 5]].sum() - weights @ (first * second) * y[1] ** 2
        return [y[1], force / (weights @ first**2)]

    wanted = solve_ivp(swing, (0.0, 0.3), [start["J1.angle"], 0.0], rtol=1e-8, atol=1e-8).y[:, -1]
    found = model.simulate(0.3, points=4, rtol=1e-10)
    assert abs(found["J1.angle"][-1] - wanted[0]) < 1e-6


@pytest.mark.parametrize("kind", ["weld", "direct", "translation"])
def test_a_mechanism_without_freedom_has_its_reactions(kind):
    m = b.mechanics
    model = ct.Model("fixed", gravity=(0, 0, -9.8))
    model.add(m.Ground("G"))
    model.add(m.Body("B", mass=2.0, inertia=(0.1, 0.1, 0.1)))
    if kind == "direct":
        model.connect("G", "B")
    else:
        joint = m.WeldJoint("J") if kind == "weld" else m.Translation("J", r=(0.5, 0, 0))
        ends = ("J.a", "J.b") if kind == "weld" else ("J.A", "J.B")
        model.add(joint)
        model.connect("G", ends[0])
        model.connect(ends[1], "B")
    found = model.simulate(1.0, points=3)
    assert np.abs(found["G.translation.effort"] - [0, 0, -19.6]).max() < 1e-12
    lever = 0.5 if kind == "translation" else 0.0
    assert np.abs(found["G.rotation.effort"] - [0, lever * 19.6, 0]).max() < 1e-12
