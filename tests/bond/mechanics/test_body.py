"""The rigid body alone: against Euler's equations integrated by SciPy, and with every way to give its rotation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cotree as ct
from bond.mechanics.pairs import bonded, filled
from cotree.bond.mechanics import Body, FrameForce, FrameTorque, FreeJoint, Ground, Rotation, Translation

J = np.array([[0.03, 0.002, -0.001], [0.002, 0.05, 0.003], [-0.001, 0.003, 0.04]])
MASS = 1.3
SPIN, SPEED = (2.0, -1.0, 5.0), (0.4, -0.3, 1.0)
EULER = (0.3, -0.4, 1.1)


def rotation(e):
    """The rotation matrix of Euler parameters, after Hamilton."""
    w, x, y, z = e / np.linalg.norm(e)
    return np.array([
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ])  # fmt: skip


def from_euler(phi, theta, psi):
    """Rz(psi) Ry(theta) Rx(phi)."""
    c, s = np.cos, np.sin
    x = np.array([[1, 0, 0], [0, c(phi), -s(phi)], [0, s(phi), c(phi)]])
    y = np.array([[c(theta), 0, s(theta)], [0, 1, 0], [-s(theta), 0, c(theta)]])
    z = np.array([[c(psi), -s(psi), 0], [s(psi), c(psi), 0], [0, 0, 1]])
    return z @ y @ x


def euler_equations(t, gravity=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0), R0=None):
    """R, r and w at the times t, by Euler's equations and R' = R w~ (a derivation of its own)."""
    inverse = np.linalg.inv(J)

    def rates(_, x):
        R, w, v = x[:9].reshape(3, 3), x[9:12], x[12:15]
        tilde = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        turn = inverse @ (np.asarray(torque) - np.cross(w, J @ w))
        return np.concatenate([(R @ tilde).ravel(), turn, gravity, v])

    start = np.concatenate([(np.eye(3) if R0 is None else R0).ravel(), SPIN, SPEED, np.zeros(3)])
    found = solve_ivp(rates, (0, t[-1]), start, t_eval=t, method="DOP853", rtol=1e-12, atol=1e-13)
    return found.y[:9].T.reshape(-1, 3, 3), found.y[15:18].T, found.y[9:12].T


def body(**more):
    """The body that all tests here use."""
    moments = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return Body("top", mass=MASS, inertia=moments, **more)


def table(solution, name, labels=("x", "y", "z")):
    """A vector over time."""
    return np.array([solution[f"{name}.{label}"] for label in labels]).T


def check(solution, R, r, w):
    """Rotation, position and angular velocity, to what both integrations keep."""
    assert table(solution, "top.J.flow") == pytest.approx(w, abs=1e-8)
    assert table(solution, "top.position") == pytest.approx(r, abs=1e-8)
    e = table(solution, "top.orientation", ("e0", "e1", "e2", "e3"))
    assert np.array([rotation(each) for each in e]) == pytest.approx(R, abs=1e-8)


def tip():
    """A massless arm on the body: something that a bond graph needs a bond for."""
    return Translation("tip", r=(0.1, 0, 0))


def test_free_body_moves_by_eulers_equations():
    model = filled("f", [body(velocity=SPEED, angular_velocity=SPIN), tip()], (0.0, 0.0, 0.0))
    bonded(model, ("top.centre", "tip.A"))
    solution = model.simulate(5.0, points=51, rtol=1e-11, atol=1e-12)
    R, r, w = euler_equations(solution.t)
    check(solution, R, r, w)
    assert solution.energy().error < 1e-9
    assert table(solution, "top.J.momentum") == pytest.approx(w @ J, abs=1e-8)
    e = table(solution, "top.orientation", ("e0", "e1", "e2", "e3"))
    L = np.array([rotation(each) @ J @ spin for each, spin in zip(e, table(solution, "top.J.flow"), strict=True)])
    assert np.abs(L - J @ SPIN).max() < 1e-9  # angular momentum in world axes
    assert table(solution, "top.angular_velocity") == pytest.approx(np.einsum("tij,tj->ti", R, w), abs=1e-8)


@pytest.mark.parametrize("by", ["euler_angles", "euler_parameters"])
def test_rotation_mask_gives_the_body_its_coordinates(by):
    phi, theta, psi = EULER
    R0 = from_euler(*EULER)
    half = [np.cos(np.array(EULER) / 2), np.sin(np.array(EULER) / 2)]
    (cx, cy, cz), (sx, sy, sz) = half
    e = (
        cx * cy * cz + sx * sy * sz, sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz, cx * cy * sz - sx * sy * cz,
    )  # fmt: skip
    start = {"phi": phi, "theta": theta, "psi": psi} if by == "euler_angles" else {"orientation": e}
    velocity = tuple(SPEED)
    model = filled("r", [
        body(velocity=velocity, angular_velocity=SPIN), Rotation("turn", by=by, **start),
        FrameForce("F", force=(0, 0, -9.81 * MASS), axes="body"),
    ], (0.0, 0.0, 0.0))  # fmt: skip
    bonded(model, ("top.centre", "turn.local"), ("F", "turn.world"))  # a weight in the axes of the port "world"
    equations = model.equations()
    assert ("turn.phi" in equations.q.names) == (by == "euler_angles")
    solution = model.simulate(0.3, points=16, rtol=1e-11, atol=1e-12)  # before theta comes near pi/2
    R, r, w = euler_equations(solution.t, gravity=(0.0, 0.0, -9.81), R0=R0)
    check(solution, R, r, w)
    world = table(solution, "turn.world.rotation.flow")
    assert world == pytest.approx(np.einsum("tij,tj->ti", R, w), abs=1e-8)


def test_rotation_mask_on_a_carried_body_follows_the_joints():
    model = filled("c", [Ground("G"), FreeJoint("J", angular_velocity=SPIN, velocity=SPEED), body(), Rotation("turn")],
                   (0.0, 0.0, 0.0))  # fmt: skip
    bonded(model, ("G", "J.a"), ("J.b", "top.centre"), ("top.centre", "turn.local"))
    assert not any(name.startswith("turn.") for name in model.equations().q.names)
    solution = model.simulate(1.0, points=11, rtol=1e-11, atol=1e-12)
    R, r, w = euler_equations(solution.t)
    check(solution, R, r, w)
    assert table(solution, "turn.world.translation.flow") == pytest.approx(np.array([SPEED] * 11), abs=1e-9)


def test_torque_in_body_axes_turns_the_body():
    torque = (0.1, -0.2, 0.05)
    model = filled("t", [body(velocity=SPEED, angular_velocity=SPIN), FrameTorque("M", torque=torque, axes="body")],
                   (0.0, 0.0, 0.0))  # fmt: skip
    bonded(model, ("M", "top"))
    solution = model.simulate(2.0, points=21, rtol=1e-11, atol=1e-12)
    check(solution, *euler_equations(solution.t, torque=torque))


def test_weight_counts_as_stored_energy():
    model = filled("w", [body(velocity=SPEED, angular_velocity=SPIN), tip()], (1.0, 2.0, "-g"))
    model.parameter("g", 9.0)
    bonded(model, ("top.centre", "tip.A"))
    solution = model.simulate(2.0, points=21, rtol=1e-10)
    assert solution.energy().error < 1e-8
    z = solution["top.position.z"]
    assert z == pytest.approx(SPEED[2] * solution.t - 4.5 * solution.t**2, abs=1e-8)


def test_inertia_is_that_of_a_real_body():
    model = filled("i", [Body("top", mass=1, inertia=(1, 1, 3)), tip()])
    bonded(model, ("top.centre", "tip.A"))
    with pytest.raises(ct.ModelError, match="triangle inequality"):
        model.equations()
