"""Length and tension of lines, forces of couplings, and momenta of mechanisms, against what they must be."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct


def vector(sol: ct.Solution, name: str) -> np.ndarray:
    return np.array([sol[f"{name}.{x}"] for x in "xyz"])


def slope(sol: ct.Solution, name: str) -> np.ndarray:
    """The rate of a result in the middle of each pair of output times, to the fourth order."""
    y, h = sol[name], sol.t[1] - sol.t[0]
    return (27 * (y[2:-1] - y[1:-2]) - (y[3:] - y[:-3])) / (24 * h)


def middle(y: np.ndarray) -> np.ndarray:
    """Values between output times, to the same order."""
    return (9 * (y[2:-1] + y[1:-2]) - (y[3:] + y[:-3])) / 16


@pytest.fixture(scope="module")
def swing() -> ct.Solution:
    m = ct.Model("swing", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("arm", ct.rod(length=1, mass=2, radius=0.01), frames={"O": (-0.5, 0, 0), "T": (0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "arm.O", angle=0.3))
    m.add(ct.Spring("s", m.ground.at(1, 1, 0), "arm.T", stiffness=30, length=0.4, damping=1))
    m.add(ct.Damper("d", m.ground.at(0, 1, 0), "arm.T", damping=2))
    return m.simulate(0.5, points=401, rtol=1e-11)


def test_a_spring_has_a_length_and_a_tension(swing):
    line = vector(swing, "arm.T.position") - np.array([[1], [1], [0]])
    length = np.linalg.norm(line, axis=0)
    rate = np.sum(line * vector(swing, "arm.T.velocity"), axis=0) / length
    np.testing.assert_allclose(swing["s.length"], length, rtol=1e-12)
    np.testing.assert_allclose(swing["s.length_rate"], rate, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(swing["s.tension"], 30 * (length - 0.4) + rate, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(swing["d.tension"], 2 * swing["d.length_rate"], rtol=1e-9, atol=1e-12)


def test_momentum_changes_by_forces_and_moments(swing):
    force = vector(swing, "O.force") + vector(swing, "s.force") + vector(swing, "d.force")
    force[1] -= 9.81 * swing["system.mass"]
    for k, x in enumerate("xy"):
        np.testing.assert_allclose(slope(swing, f"system.momentum.{x}"), middle(force[k]), atol=1e-6)
    place = vector(swing, "arm.T.position")
    acting = vector(swing, "s.force") + vector(swing, "d.force")
    moment = place[0] * acting[1] - place[1] * acting[0] - 2 * 9.81 * swing["system.centre.x"]
    np.testing.assert_allclose(slope(swing, "system.angular_momentum.z"), middle(moment), atol=1e-6)
    np.testing.assert_allclose(swing["system.centre.x"], swing["arm.position.x"], rtol=1e-12)


def test_the_graph_without_virtual_work():
    m = ct.Model("arm")
    m.add(ct.RigidBody("arm", ct.rod(length=1, mass=2, radius=0.01), frames={"O": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "arm.O"))
    plain = {edge.name for edge in m.graph(virtual_work=False).edges}
    assert plain == {"arm", "arm.O", "O"}
    assert plain < {edge.name for edge in m.graph().edges}


def test_momenta_of_a_free_spinning_body_stay():
    m = ct.Model("top", gravity=(0, 0, 0))
    m.add(ct.RigidBody("b", mass=2, inertia=(1, 2, 2.5), centre=(0.1, 0, 0.2), velocity=(1, 2, 3),
                       angular_velocity=(3, 0.1, 0.2)))  # fmt: skip
    sol = m.simulate(1, points=11, rtol=1e-10)
    for name in ("momentum", "angular_momentum"):
        found = vector(sol, f"system.{name}")
        np.testing.assert_allclose(found, found[:, :1] * np.ones(11), rtol=1e-7, atol=1e-7)


def test_momenta_of_a_flexible_body():
    """Their rates are the force at the hinge and the weight, and the moment of the weight."""
    m = ct.Model("beam", gravity=(0, -9.81, 0))
    m.add(ct.Beam("b", length=1, section=ct.section.circle(radius=0.005), material=ct.STEEL, elements=4, modes=1))
    m.add(ct.Revolute("O", m.ground, "b.start"))
    sol = m.simulate(0.02, points=401, rtol=1e-10)
    mass = 7850 * np.pi * 0.005**2
    np.testing.assert_allclose(sol["system.mass"], mass, rtol=1e-9)
    weight = mass * 9.81
    np.testing.assert_allclose(slope(sol, "system.momentum.y"), middle(sol["O.force.y"]) - weight, atol=1e-5 * weight)
    np.testing.assert_allclose(
        slope(sol, "system.angular_momentum.z"), -weight * middle(sol["system.centre.x"]), rtol=1e-5
    )


def test_a_gear_balances_the_torques():
    """ja turns -3 times as fast as jb: the torques follow from J alpha of either wheel."""
    m = ct.Model("gear", gravity=(0, 0, 0))
    for name, inertia, x in (("a", 2.0, 0), ("b", 5.0, 1)):
        m.add(ct.RigidBody(name, mass=1, inertia=(inertia,) * 3))
        m.add(ct.Revolute(f"j{name}", m.ground.at(x, 0, 0), name))
    m.add(ct.Gear("G", "ja", "jb", ratio=-3))
    m.add(ct.JointActuator("M", "ja", effort=7))
    sol = m.simulate(0.1, points=3)
    alpha = 7 / (2 + 5 / 9)
    np.testing.assert_allclose(sol["G.ja.torque"], 2 * alpha - 7, rtol=1e-9)
    np.testing.assert_allclose(sol["G.jb.torque"], 5 * alpha / -3, rtol=1e-9)


def test_a_rack_carries_its_tooth_force():
    m = ct.Model("rack", gravity=(0, 0, 0))
    m.add(ct.RigidBody("wheel", mass=1, inertia=(0.5, 0.5, 0.5)))
    m.add(ct.Revolute("turn", m.ground, "wheel"))
    m.add(ct.RigidBody("bar", mass=4, inertia=(1, 1, 1)))
    m.add(ct.Prismatic("slide", m.ground.at(0, 1, 0), "bar", axis="x"))
    m.add(ct.RackAndPinion("R", "turn", "slide", radius=0.25))
    m.add(ct.JointActuator("M", "turn", effort=3))
    sol = m.simulate(0.1, points=3)
    alpha = 3 / (0.5 + 4 * 0.25**2)
    np.testing.assert_allclose(sol["R.slide.force"], 4 * 0.25 * alpha, rtol=1e-9)
    np.testing.assert_allclose(sol["R.turn.torque"], -0.25 * 4 * 0.25 * alpha, rtol=1e-9)


def test_a_rod_carries_weight_and_centripetal_force():
    m = ct.Model("rope", gravity=(0, -9.81, 0))
    m.add(ct.PointMass("p", mass=3, position=(1, 0, 0)))
    m.add(ct.ConstantDistance("rope", m.ground, "p", length=1))
    sol = m.simulate(0.5, points=11)
    speed = np.sum(vector(sol, "p.velocity") ** 2, axis=0)
    np.testing.assert_allclose(sol["rope.tension"], 3 * speed - 3 * 9.81 * sol["p.position.y"], atol=1e-9)
    np.testing.assert_allclose(sol["rope.length"], 1, rtol=1e-9)
