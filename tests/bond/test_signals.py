"""Signals: sensors, blocks, integrators, and what they modulate, against SciPy and closed forms."""

import numpy as np
import pytest

import cotree as ct
import cotree.bond as b
from bond._graphs import graph, last, oscillator, reference


def test_sensors_measure_all_four_quantities():
    sensors = [
        b.Sensor("s1", of="j", measures="flow"), b.Sensor("s2", of="j", measures="displacement"),
        b.Sensor("s3", of="j_m", measures="effort"), b.Sensor("s4", of="j_m", measures="momentum"),
        b.Sensor("s5", of="m", measures="momentum"), b.Sensor("s6", of="k", measures="displacement"),
        b.Sensor("s7", of="V", measures="effort"), b.Sensor("s8", of="V", measures="flow"),
        b.Sensor("s9", of="V_j", measures="displacement"), b.Sensor("s10", of="r", measures="momentum"),
    ]  # fmt: skip
    model = oscillator(b.C("k", stiffness=3.0, displacement=0.5), b.R("r", resistance=1.0), *sensors)
    s = model.simulate(1.0, rtol=1e-10)
    x = s["k.displacement"] - 0.5
    wanted = {
        "s1": s["m.flow"], "s2": x, "s3": s["m.effort"], "s4": s["m.momentum"], "s5": s["m.momentum"],
        "s6": s["k.displacement"], "s7": 2.0 + 0 * x, "s8": s["m.flow"], "s9": x, "s10": x,
    }  # fmt: skip
    for name, value in wanted.items():
        assert np.abs(s[f"{name}.value"] - value).max() < 1e-8, name


@pytest.mark.parametrize("outward", [True, False])
def test_the_flow_of_a_source_counts_along_its_bond(outward):
    """As a result, as a signal and as a measured quantity; what enters the others is positive."""
    bonds = ("s -> n", "V -> j") if outward else ("n -> s", "j -> V")
    sign = 1.0 if outward else -1.0
    model = graph(
        b.Sf("s", flow=1.5), b.Junction0("n"), b.R("a", resistance=1.0), b.Sensor("w", of="s", measures="flow"),
        b.Se("V", effort=4.0), b.Junction1("j"), b.R("r", resistance=2.0), b.Block("twice", value="2*V.flow"),
        b.MSe("drop", effort="-3*V.flow"), *bonds, "n -> a", "j -> r", "drop -> j",
    )  # fmt: skip
    s = model.simulate(1.0, points=3)
    assert s["s.flow"] == pytest.approx(1.5)
    assert s["w.value"] == pytest.approx(1.5)
    assert s["a.flow"] == pytest.approx(sign * 1.5)
    i = 4 / 5 if outward else -4 / 5  # outward 2 i = 4 - 3 i, inward 2 i = -4 - 3 i
    assert s["V.flow"] == pytest.approx(i)
    assert s["twice.value"] == pytest.approx(2 * i)
    assert s["r.flow"] == pytest.approx(i)


def test_sensors_of_a_0_junction_and_of_vectors():
    model = graph(
        b.Sf("F", flow=[1.0, 2.0, 3.0]), b.Junction0("n"), b.C("c", stiffness=2.0), b.R("r", resistance=1.0),
        b.Sensor("e", of="n", measures="effort"), b.Sensor("p", of="n", measures="momentum"), "F -> n -> c", "n -> r",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    assert np.abs(s["e.value.y"] - 2 * (1 - np.exp(-2 * s.t))).max() < 1e-8
    assert np.abs(s["p.value.z"] - 3 * (s.t - (1 - np.exp(-2 * s.t)) / 2)).max() < 1e-8


def test_a_controller_of_blocks_with_a_loop():
    """The force acts back on what is measured: fb = F + 0.06 fb, 2 a = -3 x - 2 v + 0.1 fb - 5 q."""
    model = graph(
        b.MSe("u", effort="-3*x.value - 2*v.value + 0.1*fb.value"), b.Junction1("j"), b.I("m", inertia=2.0),
        b.C("k", stiffness=5.0, displacement=0.3), b.Sensor("v", of="j", measures="flow"),
        b.Sensor("x", of="j", measures="displacement"), b.Sensor("F", of="j_m", measures="effort"),
        b.Block("fb", value="F.value + 0.2*g.value"), b.Block("g", value="0.3*fb.value"), "u -> j -> m", "j -> k",
    )  # fmt: skip

    def rates(t, y):
        a = (-3 * y[2] - 2 * y[0] - 5 * y[1]) / (2 - 0.2 / 0.94)
        return [a, y[0], y[0]]

    wanted = reference(rates, [0, 0.3, 0], 3.0)
    s = model.simulate(3.0, rtol=1e-10)
    assert [s["m.flow"][-1], s["k.displacement"][-1], s["x.value"][-1]] == pytest.approx(wanted, rel=1e-7)


BLOCKS = {
    "numbers": (b.Block("a", value="2 + 3"), 5.0),
    "circle": ((b.Block("a", value="c.value + 1"), b.Block("c", value="0.5*a.value")), 2.0),
    "itself": (b.Block("a", value="cos(a.value)"), 0.7390851332151607),
    "function": (b.Block("a", value=lambda p: 3 * p, inputs=("m.momentum",)), 6.0),
    "function of two": (b.Block("a", value=lambda p, v: p - v, inputs=("m.momentum", "m.flow")), 1.0),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name):
    parts, wanted = BLOCKS[name]
    model = oscillator(*(parts if isinstance(parts, tuple) else (parts,)))
    assert model.simulate(1.0)["a.value"][-1] == pytest.approx(wanted, rel=1e-7)


def test_vector_blocks_and_functions_of_vectors():
    model = graph(
        b.MSe("u", effort=["-d.value.x", "-d.value.y", "-d.value.z"]), b.Junction1("j"),
        b.I("m", inertia=2.0, momentum=[1, 2, 3]), b.Sensor("p", of="m", measures="momentum"),
        b.Block("d", value=lambda p: 3 * p, inputs=("p.value",)), b.Block("n", value=["p.value.x", "2*n.value.c1"]),
        "u -> j -> m",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    assert [s[f"m.momentum.{c}"][-1] for c in "xyz"] == pytest.approx(np.exp(-3) * np.array([1, 2, 3]), rel=1e-7)
    assert s["n.value.c2"][-1] == pytest.approx(2 * np.exp(-3), rel=1e-7)


def test_integrators():
    model = oscillator(
        b.Integrator("x", input="m.flow", initial="a", unit="m"), b.Integrator("y", input=["x.value", "t"],
        initial=[0, 1]),
        b.Integrator("z", input="-z.value", initial=2.0), parameters={"a": 0.5},
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    assert np.abs(s["x.value"] - 0.5 - s.t**2 / 2).max() < 1e-9
    assert np.abs(s["y.value.c1"] - 0.5 * s.t - s.t**3 / 6).max() < 1e-9
    assert np.abs(s["y.value.c2"] - 1 - s.t**2 / 2).max() < 1e-9
    assert np.abs(s["z.value"] - 2 * np.exp(-s.t)).max() < 1e-8
    assert s.unit("x.value") == "m"


def test_modulated_flow_sources():
    model = graph(b.MSf("s", flow="-0.5*c.effort + cos(t)"), b.Junction0("n"), b.C("c", compliance=2.0), "s -> n -> c")
    wanted = reference(lambda t, y: [-0.25 * y[0] + np.cos(t)], [0], 3.0)
    assert last(model, "c.displacement", 3.0) == pytest.approx(wanted[0], rel=1e-8)
    # a source of flow that another flow controls: i_2 = 3 i_1
    model = graph(
        b.Se("V", effort=2.0), b.Junction1("j"), b.R("r", resistance=4.0), b.I("L", inertia=1.0),
        b.MSf("s", flow="3*r.flow"), b.C("c", compliance=1.0), "V -> j -> r", "j -> L", "s -> c",
    )  # fmt: skip
    assert last(model, "c.effort") == pytest.approx(3 * 0.5 * (1 - (1 - np.exp(-4)) / 4), rel=1e-8)


def test_a_rate_that_nothing_gives_is_told():
    """The modulus depends on an effort that follows from accelerations: its rate would be needed."""
    model = oscillator(b.MTF("T", modulus="1 + 0.1*m.effort"))
    model.add(b.I("Y", inertia=1.0))
    model.connect("T", "Y")
    with pytest.raises(ct.FormulationError, match=r"needs the rate of the signal m\.effort, which modulates its flow"):
        model.equations()


def test_velocities_of_bodies_as_signals():
    m = b.mechanics
    for signal, wanted in {"B.velocity.x": np.exp(-1.0), "B.angular_velocity.x": 0.5}.items():
        model = ct.Model("drag", gravity=(0, 0, 0))
        model.add(m.Body("B", mass=1.0, inertia=(0.01, 0.02, 0.03), velocity=(1, 0, 0), angular_velocity=(0.5, 0, 0)))
        model.add(m.FrameForce("F", force=(f"-{signal}", 0, 0)))
        model.connect("F", "B")
        assert abs(model.simulate(1.0, points=3, rtol=1e-10)["B.velocity.x"][-1] - wanted) < 1e-8, signal


@pytest.mark.parametrize(("signal", "lever"), [("B.velocity.z", 0.5), ("B.p.velocity.z", 0.0)])
def test_velocities_in_the_effort_on_a_shaft(signal, lever):
    model = hanging(b.MSe("u", effort=f"-{signal}"), "u", "J.shaft")
    found = model.simulate(0.5, points=3, rtol=1e-10)

    def swing(t, y):  # the centre of mass is at 0.5 (cos, 0, -sin)
        return [y[1], (4.9 * np.cos(y[0]) + lever * np.cos(y[0]) * y[1]) / (0.02 + 0.25)]

    assert abs(found["J.angle"][-1] - reference(swing, [0.3, 0.0], 0.5)[0]) < 1e-8


def test_friction_by_the_force_of_a_joint_whose_slope_is_infinite_at_rest():
    model = hanging(b.MR("d", resistance="0.01*sqrt(J.force.x**2 + J.force.z**2)"), "J.shaft", "d")
    found = model.simulate(0.5, points=3, rtol=1e-9)

    def swing(t, y):
        turn = 0.0
        for _ in range(50):  # the force of the joint holds the acceleration again
            x = -0.5 * (np.sin(y[0]) * turn + np.cos(y[0]) * y[1] ** 2)
            z = -0.5 * (np.cos(y[0]) * turn - np.sin(y[0]) * y[1] ** 2) + 9.8
            turn = (4.9 * np.cos(y[0]) - 0.01 * np.hypot(x, z) * y[1]) / (0.02 + 0.25)
        return [y[1], turn]

    assert abs(found["J.angle"][-1] - reference(swing, [0.3, 0.0], 0.5)[0]) < 1e-6


def hanging(part, *ends):
    """A pendulum about y of 1 kg at 0.5 m, with one more part."""
    m = b.mechanics
    model = ct.Model("pendulum", gravity=(0, 0, -9.8))
    model.add(m.Ground("G"))
    model.add(m.Body("B", mass=1.0, inertia=(0.01, 0.02, 0.03), frames={"p": (-0.5, 0, 0)}))
    model.add(m.RevoluteJoint("J", axis="y", angle=0.3))
    model.add(part)
    for each in (("G", "J.a"), ("J.b", "B.p"), ends):
        model.connect(*each)
    return model
