"""Static equilibria against closed forms and a four-bar whose potential is written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import cotree as ct
from cotree.errors import ResultError, SolveError
from cotree.solve.simulate import simulate
from cotree.solve.statics import static_equilibrium
from cotree.terminal.bodies import RigidBody
from cotree.terminal.drivers import Drive
from cotree.terminal.joints import Free, Prismatic, Revolute, Spherical
from cotree.terminal.springs import JointSpring, Spring
from solve import four_bar


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_four_bar(tree: str) -> None:
    """Where the potential has its minimum, its maximum is the equilibrium that tips over."""
    reference = four_bar.Reference()
    lowest, highest = (brentq(reference.pull, *ends, xtol=1e-15) for ends in ((-2.5, -1.0), (1.0, 2.0)))
    equations = four_bar.model().equations(tree)
    for seek, angle, stability in (("stable", lowest, "stable"), ("nearest", highest, "unstable")):
        rest = static_equilibrium(equations, seek=seek)
        assert rest["O.angle"] == pytest.approx(angle, abs=1e-10)
        assert (rest.stability, rest.stable) == (stability, stability == "stable")
        square = four_bar.slope(reference.pull, angle) / reference.inertia(angle)
        np.testing.assert_allclose(rest.stiffness, [square], rtol=1e-9)
        line = reference.places(angle)[5]  # the axes of C, which acts on the ground, turn with the follower
        across = rest["C.force.x"] * line[1] + rest["C.force.y"] * line[0]
        assert rest["O.force.y"] - across == pytest.approx(6 * 9.81, rel=1e-10)
        assert rest.residual < 1e-9
        np.testing.assert_allclose(rest["coupler.position"][:2], reference.places(angle)[1], atol=1e-10)


def test_simulation_from_rest_stays_there() -> None:
    m = four_bar.model(fixed=())
    equations = m.equations()
    rest = static_equilibrium(equations)
    sol = simulate(equations, 1.0, points=5, start=rest.state)
    np.testing.assert_allclose(sol["O.angle"], rest["O.angle"], atol=1e-9)


def pendulum(angle: float) -> ct.Model:
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    rod = m.add(RigidBody("rod", mass=1.0, inertia=(0.1, 0.1, 1 / 12), frames={"O": (-0.5, 0, 0)}))
    m.add(Revolute("O", m.ground, rod["O"], angle=angle))
    return m


@pytest.mark.parametrize("tree", four_bar.TREES)
@pytest.mark.parametrize("angle", [1.5, 0.4, -1.0, -3.1, np.pi / 2])
def test_a_pendulum_hangs(angle: float, tree: str) -> None:
    rest = static_equilibrium(pendulum(angle).equations(tree))
    np.testing.assert_allclose(rest["rod.position"], [0, -0.5, 0], atol=1e-9)
    np.testing.assert_allclose(rest.stiffness, [9.81 * 0.5 / (1 / 3)], rtol=1e-9)
    assert rest["O.force.y"] == pytest.approx(9.81)


def test_springs() -> None:
    m = ct.Model("suspended")
    body = m.add(RigidBody("body", mass=4.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, -1)))
    m.add(Prismatic("P", m.ground, body.name, axis=(0, 0, 1)))
    m.add(JointSpring("spring", "P", stiffness=200.0))
    assert static_equilibrium(m.equations())["P.displacement"] == pytest.approx(-4 * 9.81 / 200)
    doubled = static_equilibrium(m.equations(), parameters={"body.mass": 8.0})
    assert doubled["P.displacement"] == pytest.approx(-8 * 9.81 / 200)


def test_a_body_in_three_springs() -> None:
    """A heavy plate on long springs: forces of the springs carry it, and moments vanish."""
    m = ct.Model("plate")
    corners = {"a": (1.0, 0.0, 0.0), "b": (-0.5, 0.8, 0.0), "c": (-0.5, -0.9, 0.0)}
    plate = m.add(RigidBody("plate", mass=10.0, inertia=(1.0, 1.0, 2.0), frames=corners, position=(0.1, 0, -0.9)))
    for name, (x, y, _) in corners.items():
        m.add(Spring(f"s_{name}", m.ground.at(1.2 * x, 1.2 * y, 0), plate[name], length=0.8, stiffness=300.0))
    for tree in four_bar.TREES:
        rest = static_equilibrium(m.equations(tree))
        force, moment = np.array([0, 0, -98.1]), np.zeros(3)
        for name, (x, y, _) in corners.items():
            end = rest[f"plate.{name}.position"]
            line = np.array([1.2 * x, 1.2 * y, 0]) - end
            length = np.linalg.norm(line)
            pull = 300 * (length - 0.8) * line / length
            force, moment = force + pull, moment + np.cross(end - rest["plate.position"], pull)
        np.testing.assert_allclose(force, 0, atol=1e-7)
        np.testing.assert_allclose(moment, 0, atol=1e-7)
        assert rest.stable


def test_a_spherical_joint_is_neutral_about_the_vertical() -> None:
    m = ct.Model("bell")
    bell = m.add(RigidBody("bell", mass=1.0, inertia=(0.2, 0.3, 0.4), frames={"top": (0.1, 0.2, 0.3)}))
    m.add(Spherical("S", m.ground, bell["top"], orientation=(0.8, 0.5, 0.1, 0.0)))
    for tree in four_bar.TREES:
        rest = static_equilibrium(m.equations(tree))
        np.testing.assert_allclose(rest["bell.position"], [0, 0, -np.sqrt(0.14)], atol=1e-8)
        assert rest.stability == "neutral"


def test_nothing_to_hold_it() -> None:
    m = ct.Model("ball")
    m.add(RigidBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    with pytest.raises(SolveError, match=r"nothing holds ball\.z"):
        static_equilibrium(m.equations())
    m = ct.Model("ball")
    ball = m.add(RigidBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    m.add(Free("F", m.ground, ball.name))
    with pytest.raises(SolveError, match=r"nothing holds F\.z"):
        static_equilibrium(m.equations(), seek="nearest")


def test_drivers_hold_at_rest_only() -> None:
    m = four_bar.model()
    m.add(Drive("motor", "O", angle="0.7 + 0.1*step(t - 1)"))
    equations = m.equations()
    for t, angle in ((0.0, 0.7), (2.0, 0.8)):
        rest = static_equilibrium(equations, t=t)
        assert rest["motor.torque"] == pytest.approx(four_bar.Reference().pull(angle), rel=1e-10)
        assert len(rest.stiffness) == 0
    m = four_bar.model()
    m.add(Drive("motor", "O", angle="0.7 + t"))
    with pytest.raises(SolveError, match="a driver moves"):
        static_equilibrium(m.equations())


def test_what_is_asked_for() -> None:
    equations = pendulum(0.3).equations()
    with pytest.raises(SolveError, match="seek"):
        static_equilibrium(equations, seek="any")
    with pytest.raises(SolveError, match=r"O\.angle"):
        static_equilibrium(equations, at={"O.angel": 1.0})
    rest = static_equilibrium(equations)
    assert rest.unit("O.angle") == "rad"
    with pytest.raises(ResultError, match=r"O\.angle"):
        rest["O.angel"]
    m = ct.Model("circuit")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage=1.0))
    m.add(ct.Resistor("R", ("a", "ground"), resistance=1.0))
    with pytest.raises(SolveError, match="not a mechanism"):
        static_equilibrium(m.equations())
