"""What is narrow is met or reported (A4, A15), kinks of drivers are named (A16), laws book their energy (A19)."""

from __future__ import annotations

from math import erf

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cotree as ct


def said(sol: ct.Solution, code: str) -> list:
    return [each for each in sol.diagnostics if each.code == code]


# -- A4: pulses in time ----------------------------------------------------------------------------------------------


def charged(width: float, at: float, charge: float = 1.0) -> ct.Model:
    """A pulse of a given charge into 1 F beside 10 ohm."""
    m = ct.Model("pulse")
    current = f"{charge}/{width}*exp(-((t-{at})/{width})**2)/sqrt(pi)"
    m.add(ct.CurrentSource("S", ("ground", "a"), current=current))
    m.add(ct.Capacitor("C", ("a", "ground"), capacitance=1.0))
    m.add(ct.Resistor("R", ("a", "ground"), resistance=10.0))
    return m


@pytest.mark.parametrize("width", [1e-9, 1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize("at", [0.4321, 0.777])
def test_a_short_pulse_of_current_is_met(width, at):
    sol = charged(width, at).simulate(1.0)
    assert sol["C.voltage"][-1] == pytest.approx(np.exp(-(1 - at) / 10), rel=1e-4)


def test_a_train_of_pulses_is_met_whatever_else_switches():
    """Ten pulses of 1 A s in one sum, beside a source that switches 33 times."""
    pulses = "+".join(f"1e6*exp(-((t-{0.05 + 0.0937 * k})/1e-6)**2)/sqrt(pi)" for k in range(10))
    m = ct.Model("train")
    m.add(ct.CurrentSource("S", ("ground", "a"), current=pulses))
    m.add(ct.Capacitor("C", ("a", "ground"), capacitance=1.0))
    m.add(ct.VoltageSource("V", ("b", "ground"), voltage="pulse(t, 0.015, 0.03)"))
    m.add(ct.Resistor("R", ("b", "ground"), resistance=1.0))
    assert m.simulate(1.0)["C.voltage"][-1] == pytest.approx(10.0, rel=1e-5)


@pytest.mark.parametrize("integrator", ["energy", "energy_decaying", "rk4", "generalised_alpha"])
def test_a_pulse_shorter_than_a_fixed_step_is_reported(integrator):
    m = ct.Model("push", gravity=(0, 0, 0))
    m.add(ct.PointMass("ball", mass=1.0))
    m.add(ct.PointForce("push", "ball", force=("1e5*exp(-((t-0.4321)/1e-5)**2)/sqrt(pi)", 0, 0)))
    (found,) = said(m.simulate(1.0, integrator=integrator, step=0.01), "stepped-over")
    assert found.subjects == ("push",)
    assert found.data["time"] == pytest.approx(0.4321, abs=1e-5)


@pytest.mark.parametrize("width", [1e-7, 1e-5, 1e-3])
def test_a_short_push_is_met(width):
    """A momentum of 2 N s on 1 kg, by a smooth pulse of 1/cosh^2."""
    m = ct.Model("push", gravity=(0, 0, 0))
    m.add(ct.PointMass("ball", mass=1.0))
    force = f"1/{width}/cosh((t-0.3137)/{width})**2"
    m.add(ct.PointForce("push", "ball", force=(force, 0, 0)))
    sol = m.simulate(1.0)
    assert sol["ball.velocity.x"][-1] == pytest.approx(2.0, rel=1e-4)


# -- A15: pulses in position -----------------------------------------------------------------------------------------


def gate(height: float, width: float, place: float = 50.0, speed: float = 100.0) -> ct.Model:
    """1 kg that slides through a narrow force: half its square of the speed falls by height * width * sqrt(pi)."""
    m = ct.Model("gate", gravity=(0, 0, 0))
    m.add(ct.RigidBody("block", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    m.add(ct.Prismatic("x", m.ground, "block", axis=(1, 0, 0), displacement_rate=speed))
    m.add(ct.JointActuator("gate", on="x", effort=f"-{height}*exp(-((x.displacement-{place})/{width})**2)"))
    return m


@pytest.mark.parametrize(
    ("height", "width", "place"),
    [(1e5, 0.01, 50.0), (2e4, 0.05, 31.7), (1e6, 1e-3, 66.6), (3e7, 3e-5, 12.5), (330.0, 3.0, 50.0)],
)
def test_a_narrow_force_of_position_is_met_or_reported(height, width, place):
    sol = gate(height, width, place).simulate(1.0)
    right = np.sqrt(100.0**2 - 2 * height * width * np.sqrt(np.pi))
    if abs(sol["x.displacement_rate"][-1] - right) > 0.01 * right:
        (found,) = said(sol, "stepped-over")
        assert found.severity == "warning"
        assert found.subjects == ("gate",)
        assert found.data["time"] == pytest.approx(place / 100, rel=1e-3)
        half, whole = (2 * np.sqrt(np.log(part)) * width / 100 for part in (2, 50))  # at half its height, and at 2 %
        assert 0.8 * half < found.data["width"] < 1.1 * whole
        assert "max_step" in found.text
        assert f"{-height:.4g} N, " in found.text


BUMP = "-1e5*exp(-(({}-50)/0.01)**2)"


def mounted_gate() -> ct.Model:
    m = gate(0.0, 1.0)
    m.add(ct.translational.Axis("axis", ("a", "ground"), on="x"))
    m.add(ct.translational.ForceSource("bump", ("ground", "a"), force=BUMP.format("x.displacement")))
    return m


def network_gate() -> ct.Model:
    m = ct.Model("gate")
    m.add(ct.translational.Mass("block", ("a", "ground"), mass=1.0, initial=100.0))
    m.add(ct.control.Integrator("place", input="block.velocity"))
    m.add(ct.translational.ForceSource("bump", ("ground", "a"), force=BUMP.format("place.value")))
    return m


def bond_gate() -> ct.Model:
    m = ct.Model("gate")
    m.add(ct.bond.I("block", inertia=1.0, momentum=100.0))
    m.add(ct.bond.Sensor("speed", of="block", measures="flow"))
    m.add(ct.bond.Integrator("place", input="speed.value", initial=0.0, unit="m"))
    m.add(ct.bond.MSe("bump", effort=BUMP.format("place.value")))
    m.connect("bump", "block")
    return m


@pytest.mark.parametrize("points", [2, 41, 501])
@pytest.mark.parametrize(
    ("make", "speed"),
    [(mounted_gate, "x.displacement_rate"), (network_gate, "block.velocity"), (bond_gate, "block.flow")],
)
def test_forces_of_networks_and_bond_graphs_are_looked_at_too(make, speed, points):
    sol = make().simulate(1.0, points=points)
    if abs(sol[speed][-1] - 80.34) > 0.8:
        (found,) = said(sol, "stepped-over")
        assert found.subjects == ("bump",)


@pytest.mark.parametrize("points", [2, 41, 501])
@pytest.mark.parametrize("kind", ["spring", "damper"])
def test_laws_of_springs_and_dampers_are_looked_at_too(kind, points):
    m = gate(0.0, 1.0)
    bump = "exp(-((x-50)/0.01)**2)"
    part = ct.JointSpring if kind == "spring" else ct.JointDamper
    m.add(part("bump", on="x", law=f"1e5*{bump}" if kind == "spring" else f"1e3*v*{bump}"))
    sol = m.simulate(1.0, points=points)
    right = 80.34 if kind == "spring" else 100 - 1e3 * 0.01 * np.sqrt(np.pi)
    if abs(sol["x.displacement_rate"][-1] - right) > 0.01 * right:
        (found,) = said(sol, "stepped-over")
        assert found.subjects == ("bump",)


@pytest.mark.parametrize("width", [10.0, 25.0])
def test_a_wide_force_of_position_is_met_and_not_reported(width):
    sol = gate(1e3 / width, width).simulate(1.0)
    ends = [erf((x - 50) / width) for x in (0.0, sol["x.displacement"][-1])]
    right = np.sqrt(100.0**2 - 1e3 * np.sqrt(np.pi) * (ends[1] - ends[0]))
    assert sol["x.displacement_rate"][-1] == pytest.approx(right, rel=1e-6)
    assert not said(sol, "stepped-over")


def test_the_remedy_of_the_message_works():
    model = gate(1e5, 0.01)
    (found,) = said(model.simulate(1.0), "stepped-over")
    sol = model.simulate(1.0, max_step=found.data["width"] / 4)
    assert sol["x.displacement_rate"][-1] == pytest.approx(80.34, abs=0.01)
    assert not said(sol, "stepped-over")


# -- A16: kinks of drivers -------------------------------------------------------------------------------------------


def hoisted(course: str, **more: str) -> ct.Model:
    m = ct.Model("hoist", gravity=(0, -9.81, 0), parameters={"hoist": 0.5})
    shape = ct.box(size=(1, 1, 1), mass=2000)
    m.add(ct.RigidBody("box", shape, frames={"hook": (0, 0.8, 0)}, position=(0, -10.8, 0)))
    driven = more or {"distance": course}
    m.add(ct.FrameDrive("rope", m.ground, "box.hook", **driven))
    return m


KINKED = {
    "a rope": (hoisted("10 - hoist*(ramp(t-2)-ramp(t-8))"), 2.0, -0.5, 2),
    "a height": (hoisted("", y="-10 + hoist*abs(t-3)"), 3.0, 1.0, 1),
    "a limit": (hoisted("10 - min(hoist*t, 1.5)"), 3.0, 0.5, 1),
}


@pytest.mark.parametrize("case", KINKED)
def test_a_kink_in_the_law_of_a_driver_is_named_with_its_time(case):
    model, time, jump, count = KINKED[case]
    (found,) = said(model.simulate(10.0), "driver-kink")
    assert found.subjects == ("rope",)
    assert found.data["time"] == pytest.approx(time, abs=1e-6)
    assert found.data["jump"] == pytest.approx(jump, rel=1e-6)
    assert f"{jump:.4g} m/s" in found.text
    assert found.data["count"] == count


@pytest.mark.parametrize(("law", "kinks"), [("ramp(t-0.3) - ramp(t-0.7)", 2), ("abs(t - 0.5)", 1), ("sin(3*t)", 0)])
def test_kinematics_names_kinks_too(law, kinks):
    m = ct.Model("turntable", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("table", mass=2.0, inertia=(1.0, 1.0, 1.0)))
    m.add(ct.Revolute("J", m.ground, "table"))
    m.add(ct.Drive("motor", on="J", angle=law))
    found = said(m.kinematics(1.0, points=11), "driver-kink")
    assert [(each.subjects, each.data["count"]) for each in found] == ([(("motor",), kinks)] if kinks else [])


@pytest.mark.parametrize("course", ["10 - hoist*sin(t)", "10 - hoist*ramp(t-2)**2/8", "10 - 0.2*t"])
def test_a_smooth_driver_is_not(course):
    assert not said(hoisted(course).simulate(5.0), "driver-kink")


PULLED = {
    "10 - 0.5*(ramp(t-2)-ramp(t-4))": (lambda t: 10 - 0.5 * np.clip(t - 2, 0, 2), lambda t: -0.5 * (2 < t < 4)),
    "10 - 0.5*min(t, 2)": (lambda t: 10 - 0.5 * np.minimum(t, 2), lambda t: -0.5 * (t < 2)),
    "10 + 0.3*abs(sin(t) - 0.2)": (
        lambda t: 10 + 0.3 * abs(np.sin(t) - 0.2),
        lambda t: 0.3 * np.cos(t) * np.sign(np.sin(t) - 0.2),
    ),
}


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize("points", [7, 301])
@pytest.mark.parametrize("law", PULLED)
def test_a_kink_leaves_the_speed_across_the_rope_alone(law, points, tree):
    """A pendulum of varying length: the jump of the rope's speed does not change how fast it turns."""
    course, speed = PULLED[law]
    m = ct.Model("hoist", gravity=(0, -9.81, 0))
    m.add(ct.PointMass("load", mass=2000.0, position=(3.0, -np.sqrt(course(0.0) ** 2 - 9.0), 0)))
    m.add(ct.FrameDrive("rope", m.ground, "load", distance=law))
    sol = m.simulate(6.0, points=points, tree=tree)

    def rates(t: float, x: np.ndarray) -> list[float]:
        return [x[1], -(2 * speed(t) * x[1] + 9.81 * np.sin(x[0])) / course(t)]

    begin = [np.arcsin(3.0 / course(0.0)), 0.0]
    exact = solve_ivp(rates, (0, 6), begin, rtol=1e-9, atol=1e-11, max_step=1e-3).y[0, -1]
    angle = np.arctan2(sol["load.position.x"][-1], -sol["load.position.y"][-1])
    assert angle == pytest.approx(exact, abs=1e-4)
    assert len(said(sol, "driver-kink")) == 1
    assert not [each.text for each in sol.diagnostics if each.grave]
    if sol.energy().error > 3e-3:
        (found,) = said(sol, "kink-energy")
        assert found.subjects == ("rope",)
        assert "no result holds their work" in found.text


def test_a_coarse_run_is_doubted_beside_a_kink():
    m = ct.Model("hoist", gravity=(0, -9.81, 0))
    m.add(ct.PointMass("load", mass=2000.0, position=(6.0, -8.0, 0)))
    m.add(ct.FrameDrive("rope", m.ground, "load", distance="10 - 0.2*ramp(t-2)"))
    sol = m.simulate(20.0, integrator="rk4", step=1.0)
    assert any(each.code in ("energy-open", "inaccurate") for each in sol.diagnostics)


# -- A19: laws that store --------------------------------------------------------------------------------------------


def on_a_rope(**law: object) -> ct.Model:
    m = ct.Model("rope", gravity=(0, 0, -9.81))
    m.add(ct.PointMass("load", mass=2.0, position=(0.4, 0, -1.2)))
    m.add(ct.Spring("rope", m.ground, "load", length=1.0, **law))
    return m


@pytest.mark.parametrize("law", ["400*max(x, 0) + 3*v*step(x)", "200*(x + abs(x))", "50*(exp(3*x) - 1) + 0.5*v"])
def test_a_law_of_length_and_rate_books_what_it_stores(law):
    sol = on_a_rope(law=law).simulate(4.0)
    audit = sol.energy()
    assert np.diff(audit.dissipated).min() > -1e-6 * audit.scale
    assert audit.error < 1e-6
    assert not said(sol, "negative-dissipation")


def test_the_energy_that_a_law_stores_is_its_integral():
    law = "50*(exp(3*x) - 1)"
    sol = on_a_rope(law=law).simulate(2.0, rtol=1e-11)
    x = np.linalg.norm(sol["load.position"], axis=1) - 1.0
    spring = 50 * (np.exp(3 * x) / 3 - x)
    kinetic, height = np.sum(sol["load.velocity"] ** 2, axis=1), sol["load.position.z"]
    whole = kinetic + 2 * 9.81 * height + spring
    np.testing.assert_allclose(whole, whole[0], atol=1e-6)
    stored = sol.energy().stored
    np.testing.assert_allclose(stored - stored[0], 0, atol=1e-6)


@pytest.mark.parametrize("law", ["400*(1 + 0.5*sin(8*t))*x", "300*x*(1 + 0.8*cos(11*t))"])
def test_a_law_of_time_that_gives_energy_back_is_reported(law):
    sol = on_a_rope(law=law).simulate(4.0)
    (found,) = said(sol, "negative-dissipation")
    assert "rope" in found.subjects
    assert found.data["energy"] > 0
