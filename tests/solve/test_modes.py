"""Modes and linearised mechanisms against closed forms and a four-bar written by hand."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree.errors import ResultError, SolveError
from cotree.solve.linear import linearise
from cotree.solve.modes import modes
from cotree.solve.simulate import simulate
from cotree.solve.statics import static_equilibrium
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.joints import Prismatic, Revolute, Spherical
from cotree.terminal.springs import JointDamper, JointSpring, Spring
from solve import four_bar

G = 9.81


@pytest.mark.parametrize("tree", [*four_bar.TREES, ("joint", "absolute")])
def test_four_bar(tree: object) -> None:
    reference, equations = four_bar.Reference(), four_bar.model().equations(tree)
    angle = static_equilibrium(equations)["O.angle"]
    found = modes(equations)
    omega = np.sqrt(four_bar.slope(reference.pull, angle) / reference.inertia(angle))
    np.testing.assert_allclose(found.frequencies, [omega / (2 * np.pi)], rtol=1e-9)
    np.testing.assert_allclose(found.damping, 0, atol=1e-12)
    moves = [found.frame(name)[:2, 0].real for name in ("crank", "coupler", "follower")]
    by_hand = reference.slopes(angle)[:3]
    np.testing.assert_allclose(np.array(moves) / moves[0][0], by_hand / by_hand[0][0], atol=1e-9)


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_double_pendulum(tree: str) -> None:
    """Two point masses m on rods of length l: omega^2 = (2 -+ sqrt 2) g / l, shapes 1 : +-sqrt 2."""
    m = ct.Model("double", gravity=(0, -G, 0))
    tiny = (1e-12, 1e-12, 1e-12)
    first = m.add(RigidBody("first", mass=2.0, inertia=tiny, frames={"O": (0, 0.7, 0)}))
    second = m.add(RigidBody("second", mass=2.0, inertia=tiny, frames={"A": (0, 0.7, 0)}))
    m.add(Revolute("O", m.ground, first["O"], angle=0.4))
    m.add(Revolute("A", first.name, second["A"], angle=-0.3))
    found = modes(m.equations(tree))
    omega = np.sqrt(G / 0.7 * (2 + np.array([-1, 1]) * np.sqrt(2)))
    np.testing.assert_allclose(2 * np.pi * found.frequencies, omega, rtol=1e-8)
    ratio = found.frame("second")[0].real / found.frame("first")[0].real
    np.testing.assert_allclose(ratio, [1 + np.sqrt(2), 1 - np.sqrt(2)], rtol=1e-7)


def chain(count: int, damping: float = 0.0) -> ct.Model:
    m = ct.Model("chain", gravity=(0, 0, 0))
    before = str(m.ground)
    for k in range(count):
        m.add(PointMass(f"m{k}", mass=0.5 + k))
        m.add(Prismatic(f"P{k}", before, f"m{k}", axis=(1, 0, 0)))
        m.add(JointSpring(f"s{k}", f"P{k}", stiffness=100.0 + 10 * k, damping=damping))
        before = f"m{k}"
    return m


def test_spring_chain() -> None:
    count = 5
    mass = np.diag(0.5 + np.arange(count))
    differences = np.eye(count) - np.eye(count, k=-1)
    stiffness = differences.T @ np.diag(100.0 + 10 * np.arange(count)) @ differences
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    found = modes(chain(count).equations())
    np.testing.assert_allclose((2 * np.pi * found.frequencies) ** 2, squares, rtol=1e-10)
    assert found.stable
    for k, square in enumerate(squares):
        shape = np.array([found.frame(f"m{j}")[0, k].real for j in range(count)])
        np.testing.assert_allclose(stiffness @ shape, square * mass @ shape, atol=1e-8 * square)


@pytest.mark.parametrize(("damping", "ratio"), [(2.0, 0.1), (40.0, 2.0)])
def test_damping(damping: float, ratio: float) -> None:
    """m = 1, k = 100: omega = 10, zeta = c / 20; above 1 two decays."""
    m = ct.Model("damped", gravity=(0, 0, 0))
    m.add(PointMass("m", mass=1.0))
    m.add(Prismatic("P", m.ground, "m", axis=(0, 1, 0)))
    m.add(JointSpring("s", "P", stiffness=100.0))
    m.add(JointDamper("d", "P", damping=damping))
    found = modes(m.equations())
    roots = np.roots([1.0, damping, 100.0])
    if ratio < 1:
        np.testing.assert_allclose(found.frequencies, [10 / (2 * np.pi)], rtol=1e-12)
        np.testing.assert_allclose(found.damping, [ratio], rtol=1e-12)
    else:
        np.testing.assert_allclose(np.sort(found.eigenvalues.real), np.sort(roots), rtol=1e-12)
        np.testing.assert_allclose(found.damping, 1.0)


def test_an_inverted_pendulum_falls() -> None:
    m = ct.Model("inverted", gravity=(0, -G, 0))
    rod = m.add(RigidBody("rod", mass=1.0, inertia=(0.1, 0.2, 0.2), frames={"O": (0, -0.5, 0)}))
    m.add(Revolute("O", m.ground, rod["O"]))
    found = modes(m.equations(), about="start")
    rate = np.sqrt(G * 0.5 / 0.45)
    np.testing.assert_allclose(found.eigenvalues, [-rate, rate], rtol=1e-12)
    assert not found.stable


@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_rigid_body_modes_are_zero(damping: float) -> None:
    """Two free bodies on a spring along x: one vibration, and eleven motions without stiffness."""
    m = ct.Model("free", gravity=(0, 0, 0))
    inertia = (1.0, 1.2, 1.4)
    a = m.add(RigidBody("a", mass=1.0, inertia=inertia, frames={"p": (0.5, 0, 0)}))
    b = m.add(RigidBody("b", mass=2.0, inertia=inertia, frames={"p": (-0.5, 0, 0)}, position=(2, 0, 0)))
    m.add(Spring("s", a["p"], b["p"], length=1.0, stiffness=50.0, damping=damping))
    found = modes(m.equations())
    assert np.count_nonzero(found.frequencies == 0) == 11
    np.testing.assert_allclose(found.frequencies[-1], np.sqrt(50 * 1.5) / (2 * np.pi), rtol=1e-9)
    np.testing.assert_allclose(found.damping[-1], damping * 1.5 / (2 * np.sqrt(75)), atol=1e-12)


def test_a_bell_swings_in_two_ways_and_spins_freely() -> None:
    m = ct.Model("bell")
    bell = m.add(RigidBody("bell", mass=2.0, inertia=(0.3, 0.4, 0.5), frames={"top": (0, 0, 0.6)}))
    m.add(Spherical("S", m.ground, bell["top"]))
    arm = 2 * 0.36
    by_hand = np.sort(np.sqrt(2 * G * 0.6 / (np.array([0.3, 0.4]) + arm)))
    for tree in four_bar.TREES:
        found = modes(m.equations(tree), about="start")
        np.testing.assert_allclose(2 * np.pi * found.frequencies, [0, *by_hand], atol=1e-9)


def test_a_spinning_body_by_eulers_equations() -> None:
    """Spin W about the third axis: precession of frequency W sqrt((C - A)(C - B) / (A B)) in body axes."""
    m = ct.Model("spin", gravity=(0, 0, 0))
    m.add(RigidBody("body", mass=1.0, inertia=(1.0, 1.5, 2.2), angular_velocity=(0, 0, 3.0)))
    system = linearise(m.equations(), outputs=["body.position.x"])
    assert len(system.states) == 12
    expected = 3 * np.sqrt((2.2 - 1.0) * (2.2 - 1.5) / 1.5)
    assert np.abs(system.poles() - 1j * expected).min() < 1e-9


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_linearised_loop_in_motion(tree: str) -> None:
    """The acceleration of the crank depends on its angle and speed as the hand-written a''(a, a') does."""
    equations = four_bar.model(rate=2.0, fixed=("angle", "angle_rate")).equations(tree)
    outputs = ["O.angle", "O.angle_rate", "crank.angular_acceleration.z", "coupler.velocity.y"]
    system = linearise(equations, outputs=outputs)
    assert len(system.states) == 2
    reference = four_bar.Reference()
    stiff = four_bar.slope(lambda a: np.array([reference.acceleration(b, 2.0) for b in a]), 0.3)
    damp = four_bar.slope(lambda w: np.array([reference.acceleration(0.3, v) for v in w]), 2.0)
    by_angle = system.C @ np.linalg.inv(system.C[:2])
    np.testing.assert_allclose(by_angle[2], [stiff, damp], rtol=1e-8)
    speed = four_bar.slope(lambda a: reference.slopes(a)[1][1] * 2.0, 0.3)
    np.testing.assert_allclose(by_angle[3], [speed, reference.slopes(0.3)[1][1]], atol=1e-9)
    if tree == "joint":
        chosen = linearise(equations, independent=["O.angle"], outputs=())
        assert chosen.states == ("O.angle", "O.angle_rate")
        np.testing.assert_allclose(chosen.A, [[0, 1], [stiff, damp]], rtol=1e-8, atol=1e-12)


def test_parameters_as_inputs_and_refusals() -> None:
    m = four_bar.model()
    equations = m.equations()
    system = linearise(equations, inputs=["coupler.mass"], outputs=["O.angle"], independent="B.angle")
    assert system.states == ("B.angle", "B.angle_rate")
    near = [
        simulate(equations, 1e-4, points=3, rtol=1e-12, parameters={"coupler.mass": 3 + d})["B.angle_rate"][-1]
        for d in (1e-2, -1e-2)
    ]
    np.testing.assert_allclose(system.B[1, 0], (near[0] - near[1]) / 2e-2 / 1e-4, rtol=1e-3)
    with pytest.raises(SolveError, match="moves the constraints"):
        linearise(equations, inputs=["L"])
    with pytest.raises(SolveError, match="1 independent coordinates"):
        linearise(equations, independent=["O.angle", "A.angle"])
    with pytest.raises(SolveError, match="Expected 'start'"):
        linearise(equations, at="top")
    found = modes(equations)
    assert "moves most" in str(found)
    assert set(found.shape(0)) == set(equations.q.names)
    with pytest.raises(ResultError, match="no frame"):
        found.frame("rod")


def test_a_flat_parallelogram_is_singular() -> None:
    m = ct.Model("flat", gravity=(0, 0, 0))
    inertia = (0.1, 0.1, 0.1)
    crank = m.add(RigidBody("crank", mass=1.0, inertia=inertia, frames={"A": (1, 0, 0)}))
    rod = m.add(RigidBody("rod", mass=1.0, inertia=inertia, frames={"B": (2, 0, 0)}))
    rocker = m.add(RigidBody("rocker", mass=1.0, inertia=inertia, frames={"B": (1, 0, 0)}))
    m.add(Revolute("O", m.ground, crank.name, angle=0.0, fixed=("angle",)))
    m.add(Revolute("A", crank["A"], rod.name, angle=0.0))
    m.add(Revolute("B", rod["B"], rocker["B"], angle=0.0))
    m.add(Revolute("C", m.ground.at(2, 0, 0), rocker.name))
    with pytest.raises(SolveError, match="singular"):
        linearise(m.equations())
