"""Constraints and couplings: what vanishes, and which forces belong to it."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import cotree as ct
from cotree.errors import ModelError
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.constraints import (
    ConstantDistance,
    Coupled,
    Gear,
    ParallelAxes,
    PointOnLine,
    PointOnPlane,
    RackAndPinion,
    RollingDisc,
)
from cotree.terminal.forces import JointActuator, PointForce
from cotree.terminal.joints import Prismatic, Revolute
from cotree.terminal.mechanics import Motion
from terminal.motions import Moving, fields, number, numbers, run

SEEDS = pytest.mark.parametrize("seed", range(4))
ENDS = ("a", "b")


def closure(part: Any, d: Any, C: Any = None) -> np.ndarray:
    turn = np.eye(3) if C is None else C
    return numbers(part.closure(fields(part), ca.SX(ca.DM(d)), ca.SX(turn))).ravel()


def test_constant_distance() -> None:
    part = ConstantDistance("c", *ENDS, length=3.0)
    assert closure(part, (1.0, 2.0, 2.0)) == 0.0
    assert closure(part, (1.0, 2.0, 2.1)) > 0
    d = ca.SX.sym("d", 3)
    slope = ca.Function("s", [d], [ca.jacobian(part.closure(fields(part), d, ca.SX.eye(3)), d)])([1, 2, 2])
    np.testing.assert_allclose(np.array(slope).ravel(), np.array([1, 2, 2]) / 3)


@SEEDS
def test_point_on_line_and_plane(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis, other = rng.normal(size=(2, 3))
    unit = axis / np.linalg.norm(axis)
    line = PointOnLine("l", *ENDS, axis=tuple(axis))
    np.testing.assert_allclose(closure(line, 2.5 * axis), 0, atol=1e-13)
    off = other - unit * (unit @ other)
    assert np.linalg.norm(closure(line, 2.5 * axis + off)) == pytest.approx(np.linalg.norm(off))
    plane = PointOnPlane("p", *ENDS, normal=tuple(axis), offset=0.3)
    np.testing.assert_allclose(closure(plane, off + 0.3 * unit), 0, atol=1e-13)
    assert closure(plane, off + 0.8 * unit) == pytest.approx(0.5)


@SEEDS
def test_parallel_axes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    unit = axis / np.linalg.norm(axis)
    spun = Rotation.from_rotvec(1.3 * unit).as_matrix()
    part = ParallelAxes("p", *ENDS, axis=tuple(axis))
    assert part.alignment(fields(part), ca.SX(spun)).numel() == 2
    np.testing.assert_allclose(numbers(part.alignment(fields(part), ca.SX(spun))), 0, atol=1e-14)
    tilted = Moving(seed).C
    angle = np.arccos(unit @ tilted @ unit)
    got = numbers(part.alignment(fields(part), ca.SX(tilted)))
    assert np.linalg.norm(got) == pytest.approx(np.sin(angle), rel=1e-9)
    across = ParallelAxes("p", *ENDS, axis=tuple(tilted @ axis), axis_b=tuple(axis))
    np.testing.assert_allclose(numbers(across.alignment(fields(across), ca.SX(tilted))), 0, atol=1e-14)


class TestRollingDisc:
    @SEEDS
    def test_lowest_point_of_the_rim_touches_the_plane(self, seed: int) -> None:
        """The height of the centre against a search along the rim."""
        rng = np.random.default_rng(seed)
        normal, axis = rng.normal(size=(2, 3))
        n, s = normal / np.linalg.norm(normal), axis / np.linalg.norm(axis)
        part = RollingDisc("r", *ENDS, radius=0.4, normal=tuple(normal), axis=tuple(axis))
        C = Moving(seed).C
        first = np.cross(s, [1.0, 0, 0])
        first /= np.linalg.norm(first)
        angles = np.linspace(0, 2 * np.pi, 20001)[:, None]
        rim = 0.4 * (np.cos(angles) * first + np.sin(angles) * np.cross(s, first)) @ C.T
        height = -(rim @ n).min()
        assert closure(part, height * n, C) == pytest.approx(0.0, abs=1e-7)
        assert closure(part, (height + 0.1) * n, C) == pytest.approx(0.1, abs=1e-7)

    @SEEDS
    def test_slip_is_the_velocity_of_the_point_of_contact(self, seed: int) -> None:
        """The rate of the height and the rolling equations are the three parts of one velocity."""
        part, moving = RollingDisc("r", *ENDS, radius=0.4), Moving(seed)
        v = fields(part)
        spin = moving.C @ [0, 1, 0]
        up = np.array([0, 0, 1]) - spin[2] * spin
        contact = moving.d_dot + np.cross(moving.omega, -0.4 * up / np.linalg.norm(up))
        np.testing.assert_allclose(
            np.sort(np.abs(numbers(part.rolling(v, moving.motion)).ravel())), np.sort(np.abs(contact[:2]))
        )
        assert moving.rate(lambda d, C: part.closure(v, d, C)) == pytest.approx(contact[2], rel=1e-12)

    def test_a_wheel_on_a_line(self) -> None:
        """Upright, rolling along x: speed = radius * rate about y."""
        part = RollingDisc("r", *ENDS, radius=0.5)
        rolls = Motion(ca.SX([0, 0, 0.5]), ca.SX.eye(3), ca.SX([1.0, 0, 0]), ca.SX([0, 2.0, 0]))
        np.testing.assert_allclose(numbers(part.rolling(fields(part), rolls)), 0, atol=1e-15)
        assert closure(part, (3.0, 4.0, 0.5)) == 0.0

    def test_rows_are_independent(self) -> None:
        part = RollingDisc("r", *ENDS, radius=0.5)
        d_dot, omega = ca.SX.sym("d_dot", 3), ca.SX.sym("omega", 3)
        C = ca.SX(Moving(1).C)
        rows = part.rolling(fields(part), Motion(ca.SX.zeros(3), C, d_dot, omega))
        jacobian = numbers(ca.jacobian(rows, ca.vertcat(d_dot, omega)))
        assert jacobian.shape == (2, 6)
        assert np.linalg.matrix_rank(jacobian) == 2


class TestCouplings:
    @staticmethod
    def terms(part: Any, **names: float) -> list[tuple[str, str | None, float]]:
        values = fields(part, {name: ca.SX(value) for name, value in names.items()})
        return [(joint, coordinate, number(factor)) for joint, coordinate, factor in part.terms(values)]

    def test_gear(self) -> None:
        assert self.terms(Gear("g", "A", "B", ratio=-3.0)) == [("A", None, 1.0), ("B", None, 3.0)]
        part = Gear("g", "A", "B", ratio=2.0, coordinate_b="angle_1")
        assert self.terms(part) == [("A", None, 1.0), ("B", "angle_1", -2.0)]

    def test_rack_and_pinion(self) -> None:
        part = RackAndPinion("r", "pinion", "rack", radius=0.05)
        assert self.terms(part) == [("rack", None, 1.0), ("pinion", None, -0.05)]

    def test_coupled(self) -> None:
        part = Coupled("c", factors={"A": 1, "B.angle_2": "-2*k", "C": 0.5})
        assert self.terms(part, k=3.0) == [("A", None, 1.0), ("B", "angle_2", -6.0), ("C", None, 0.5)]
        assert hash(part) == hash(Coupled("c", factors=dict(part.factors)))

    @pytest.mark.parametrize(
        ("make", "wrong"),
        [
            (lambda value: Gear("g", "A", "B", ratio=value), 0.0),
            (lambda value: RackAndPinion("r", "A", "B", radius=value), -0.1),
            (lambda value: Coupled("c", factors={"A": 1, "B": value}), 0),
        ],
    )
    def test_ranges(self, make: Any, wrong: float) -> None:
        with pytest.raises(ModelError, match="the value is"):
            make(wrong)
        with pytest.raises(ModelError, match="the value is"):
            make("k").values({"k": wrong})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantDistance("c", *ENDS), r"c\.length"),
        (lambda: RollingDisc("r", *ENDS), r"r\.radius"),
        (lambda: Gear("g", "A", "B"), r"g\.ratio"),
        (lambda: Gear("g", "A", "A", ratio=1.0), "both ends"),
        (lambda: Gear("g", 3, "A", ratio=1.0), "the name of a joint"),
        (lambda: RackAndPinion("r", "A", "B"), r"r\.radius"),
        (lambda: Coupled("c"), "no factors"),
        (lambda: Coupled("c", factors={"A": 1}), "two or more"),
        (lambda: Coupled("c", factors=[1, 2]), r"c\.factors"),
        (lambda: Coupled("c", factors={"A": 1, "B.b.c": 2}), r"B\.b\.c"),
        (lambda: Coupled("c", factors={"A": 1, 2: 2}), r"c\.factors"),
    ],
)
def test_making_refuses(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda zero: ConstantDistance("c", *ENDS, length=zero),
        lambda zero: PointOnLine("l", *ENDS, axis=(0, zero, 0)),
        lambda zero: PointOnPlane("p", *ENDS, normal=(zero, 0, 0)),
        lambda zero: ParallelAxes("p", *ENDS, axis_b=(0, 0, zero)),
        lambda zero: RollingDisc("r", *ENDS, radius=1.0, axis=(0, zero, 0)),
        lambda zero: RollingDisc("r", *ENDS, radius=zero),
    ],
)
def test_checks_refuse(make: Any) -> None:
    with pytest.raises(ModelError):
        make(0.0)
    part = make("k")
    with pytest.raises(ModelError):
        part.check(part.values({"k": 0.0}))


class ClassicalDisc:
    """The equations of a thin disc that rolls on a plane, in the frame (heading e1, steepest e2, axis e3) of the disc.

    With w = (tilt rate, w2, w3) in that frame, A across and B along the axis, and the frame turning at
    W = (w1, w2, w2 cot(tilt)), moments about the centre and the force at the contact give three equations.
    """

    def __init__(self, m: float, R: float, A: float, B: float, g: float = 9.81) -> None:
        self.m, self.R, self.A, self.B, self.g = m, R, A, B, g

    def rates(self, t: float, y: Any) -> list[float]:
        """y = tilt, heading, w1, w2, w3, place of the centre x, y."""
        m, R, A, B, g = self.m, self.R, self.A, self.B, self.g
        tilt, heading, w1, w2, w3 = y[:5]
        turn = w2 / np.tan(tilt)
        w1_rate = (-w2 * w3 * (B + m * R**2) + turn * A * w2 - m * g * R * np.cos(tilt)) / (A + m * R**2)
        w2_rate = (B * w1 * w3 - turn * A * w1) / A
        w3_rate = m * R**2 * w1 * w2 / (B + m * R**2)
        e1, _, e3 = self.axes(tilt, heading)
        velocity = R * (w1 * e3 - w3 * e1)
        return [w1, w2 / np.sin(tilt), w1_rate, w2_rate, w3_rate, velocity[0], velocity[1]]

    @staticmethod
    def axes(tilt: float, heading: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        e1 = np.array([np.cos(heading), np.sin(heading), 0])
        across = np.array([-np.sin(heading), np.cos(heading), 0])
        up = np.array([0, 0, 1.0])
        return e1, np.cos(tilt) * across + np.sin(tilt) * up, np.cos(tilt) * up - np.sin(tilt) * across

    def contact_force(self, y: Any) -> np.ndarray:
        """The force of the plane on the disc, in world axes."""
        tilt, heading, w1, w2, w3 = y[:5]
        _, _, w1_rate, _, w3_rate, _, _ = self.rates(0.0, y)
        turn = w2 / np.tan(tilt)
        own = self.R * np.array([-w3_rate + w1 * w2, -turn * w3 - w1**2, w1_rate + w2 * w3])
        force = self.m * (own + self.g * np.array([0, np.sin(tilt), np.cos(tilt)]))
        return np.asarray(force @ np.array(self.axes(tilt, heading)))


class TestMotion:
    TIMES = np.linspace(0, 1.5, 7)

    def test_rolling_disc_is_the_classical_one(self) -> None:
        m, R, A, B = 2.0, 0.2, 0.02, 0.04
        disc, tilt, w = ClassicalDisc(m, R, A, B), 1.2, (0.3, 0.5, -9.0)
        model = ct.Model("disc")
        model.add(
            RigidBody(
                "d", mass=m, inertia=(A, A, B), position=(0, 0, R * np.sin(tilt)), angular_velocity=w,
                orientation=(np.cos(tilt / 2), np.sin(tilt / 2), 0, 0),
            )
        )  # fmt: skip
        model.add(RollingDisc("r", model.ground, "d", radius=R, axis=(0, 0, 1)))
        solution = run(model, self.TIMES)
        start = [tilt, 0.0, *w, 0.0, 0.0]
        states = solve_ivp(disc.rates, (0, 1.5), start, t_eval=self.TIMES, rtol=1e-12, atol=1e-12, method="DOP853").y
        np.testing.assert_allclose(solution["d.position"][:, :2], states[5:].T, atol=1e-8)
        np.testing.assert_allclose(solution["d.position.z"], R * np.sin(states[0]), atol=1e-8)
        forces = np.array([disc.contact_force(y) for y in states.T])
        np.testing.assert_allclose(solution["r.force"], forces, atol=1e-6)
        total = solution["kinetic_energy"] + solution["potential_energy"]
        np.testing.assert_allclose(total, total[0], rtol=1e-9)

    def test_wheel_down_a_slope(self) -> None:
        """a = g sin(slope) / (1 + J/(m R^2)), and the friction that it takes."""
        slope, g = 0.3, 9.81
        model = ct.Model("slope", gravity=(g * np.sin(slope), 0, -g * np.cos(slope)))
        model.add(RigidBody("w", mass=2.0, inertia=(0.1, 0.16, 0.1), position=(0, 0, 0.4)))
        model.add(RollingDisc("r", model.ground, "w", radius=0.4))
        solution = run(model, self.TIMES)
        a = g * np.sin(slope) / 1.5
        np.testing.assert_allclose(solution["w.position.x"], a * self.TIMES**2 / 2, atol=1e-8)
        np.testing.assert_allclose(solution["r.force.x"], 2.0 * (a - g * np.sin(slope)), rtol=1e-8)
        np.testing.assert_allclose(solution["r.force.z"], 2.0 * g * np.cos(slope), rtol=1e-8)

    def test_gear_pair(self) -> None:
        """The speed ratio, the sum of inertias seen from the driven side, and equal teeth forces."""
        model = ct.Model("gears", gravity=(0, 0, 0))
        for name, inertia in (("a", 0.3), ("b", 0.1)):
            model.add(RigidBody(name, mass=1.0, inertia=(inertia,) * 3))
            model.add(Revolute(f"J{name}", model.ground, name))
        model.add(Gear("g", "Ja", "Jb", ratio=-2.0))
        model.add(JointActuator("M", "Ja", effort=5.0))
        solution = run(model, self.TIMES)
        acceleration = 5.0 / (0.3 + 0.1 / 2**2)
        np.testing.assert_allclose(solution["Ja.angle"], acceleration * self.TIMES**2 / 2, atol=1e-8)
        np.testing.assert_allclose(solution["Jb.angle"], -solution["Ja.angle"] / 2, atol=1e-10)
        assert solution.energy().error < 1e-9

    def test_gear_with_a_start_offset(self) -> None:
        model = ct.Model("gears", gravity=(0, 0, 0))
        for name in "ab":
            model.add(RigidBody(name, mass=1.0, inertia=(1, 1, 1)))
            model.add(Revolute(f"J{name}", model.ground, name, angle_rate=1.0 if name == "a" else None))
        model.add(Gear("g", "Ja", "Jb", ratio=4.0, offset=0.8))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["Ja.angle"] - 4 * solution["Jb.angle"], 0.8, atol=1e-10)

    def test_rack_and_pinion(self) -> None:
        model = ct.Model("rack", gravity=(0, 0, 0))
        model.add(RigidBody("pinion", mass=1.0, inertia=(0.1,) * 3))
        model.add(RigidBody("rack", mass=3.0, inertia=(0.1,) * 3))
        model.add(Revolute("J", model.ground, "pinion"))
        model.add(Prismatic("P", model.ground, "rack", axis=(1, 0, 0)))
        model.add(RackAndPinion("rp", "J", "P", radius=0.2))
        model.add(PointForce("F", "rack", force=(4, 0, 0)))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["P.displacement"], 4 / (3 + 0.1 / 0.04) * self.TIMES**2 / 2, atol=1e-9)
        np.testing.assert_allclose(solution["P.displacement"], 0.2 * solution["J.angle"], atol=1e-10)

    def test_differential(self) -> None:
        """Three shafts, 2 c = a + b: a torque on c is shared equally."""
        model = ct.Model("differential", gravity=(0, 0, 0))
        for name in "abc":
            model.add(RigidBody(name, mass=1.0, inertia=(1, 1, 0.5)))
            model.add(Revolute(f"J{name}", model.ground, name))
        model.add(Coupled("d", factors={"Ja": 1, "Jb": 1, "Jc": -2}))
        model.add(JointActuator("M", "Jc", effort=3.0))
        solution = run(model, self.TIMES)
        for name in ("Ja", "Jb", "Jc"):
            np.testing.assert_allclose(solution[f"{name}.angle"], 2.0 * self.TIMES**2 / 2, atol=1e-9)

    def test_rod_of_constant_distance_is_a_pendulum(self) -> None:
        """Against the same pendulum on a revolute joint."""
        rod, hinge = ct.Model("rod"), ct.Model("hinge")
        rod.add(PointMass("p", mass=2.0, position=(0.6, 0, -0.8)))
        rod.add(ConstantDistance("c", rod.ground, "p", length=1.0))
        hinge.add(RigidBody("b", mass=2.0, inertia=(1e-12,) * 3, frames={"O": (-0.6, 0, 0.8)}))
        hinge.add(Revolute("O", hinge.ground, "b.O", axis=(0, 1, 0)))
        first, second = run(rod, self.TIMES), run(hinge, self.TIMES)
        np.testing.assert_allclose(first["p.position"], second["b.position"], atol=1e-7)
        np.testing.assert_allclose(np.linalg.norm(first["p.position"], axis=1), 1.0, atol=1e-10)
        np.testing.assert_allclose(first["c.force"], second["O.force"], atol=1e-5)

    def test_bead_on_a_line_and_in_a_plane(self) -> None:
        """A mass on a slanted line: the one acceleration that is left, and the force across."""
        model = ct.Model("bead")
        model.add(PointMass("p", mass=2.0))
        model.add(PointMass("q", mass=1.0, velocity=(1, 0, 0)))
        model.add(PointOnLine("l", model.ground, "p", axis=(3, 0, -4)))
        model.add(PointOnPlane("f", model.ground, "q", normal=(0, 0, 1)))
        solution = run(model, self.TIMES)
        along = 9.81 * 0.8 * self.TIMES**2 / 2
        np.testing.assert_allclose(solution["p.position"], np.outer(along, [0.6, 0, -0.8]), atol=1e-9)
        np.testing.assert_allclose(solution["l.force"], 2 * 9.81 * 0.6 * np.tile([0.8, 0, 0.6], (7, 1)), atol=1e-9)
        np.testing.assert_allclose(solution["q.position"], np.outer(self.TIMES, [1, 0, 0]), atol=1e-9)
        np.testing.assert_allclose(solution["f.force.z"], 9.81, rtol=1e-9)

    def test_parallel_axes_leave_one_rotation(self) -> None:
        """A free body that may only spin about z: gyroscopic torque is taken by the constraint."""
        model = ct.Model("axes", gravity=(0, 0, 0))
        model.add(
            RigidBody(
                "b", mass=1.0, inertia=(0.2, 0.3, 0.4, 0, 0.05, 0), angular_velocity=(0, 0, 3), velocity=(1, 2, 3)
            )
        )
        model.add(ParallelAxes("p", model.ground, "b"))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["b.position"], np.outer(self.TIMES, [1, 2, 3]), atol=1e-9)
        np.testing.assert_allclose(solution["b.angular_velocity"], np.tile([0, 0, 3.0], (7, 1)), atol=1e-9)
        size = np.linalg.norm(solution["p.torque"], axis=1)
        np.testing.assert_allclose(size, 0.05 * 9, rtol=1e-8)
