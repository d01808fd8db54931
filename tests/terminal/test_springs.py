"""Springs, dampers and bushings: forces against closed forms, energies against integrals, tables against SciPy."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp
from scipy.interpolate import PchipInterpolator
from scipy.spatial.transform import Rotation

import cotree as ct
from _cases import random_cases
from cotree.errors import CotreeError, ExpressionError, ModelError
from cotree.model import Model
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.characteristic import Curve
from cotree.terminal.joints import Prismatic
from cotree.terminal.mechanics import Motion
from cotree.terminal.springs import Bushing, Damper, JointDamper, JointSpring, Spring, rotation_vector
from terminal.motions import Moving, T, fields, number, numbers, run

HERE = SimpleNamespace(t=ca.SX.sym("t"))
SEEDS = range(5)
ENDS = ("ground", "b")
TABLE = ((-0.5, -90.0), (-0.1, -10.0), (0.0, 0.0), (0.3, 12.0), (0.8, 70.0), (2.0, 71.0))
RNG = np.random.default_rng(3)
ROOT = RNG.normal(size=(6, 6))
FULL = (ROOT @ ROOT.T).tolist()

SPRINGS: dict[str, Any] = {
    "linear": {"stiffness": 300.0},
    "preload": {"stiffness": 300.0, "preload": 25.0},
    "table": {"table": TABLE},
    "polynomial law": {"law": "k*x + 2e3*(x - 0.1)**3/(1 + k)"},
    "energy": {"energy": "k*cosh(x) + 50*log(1 + x**2)"},
}


def spring(way: str, **more: Any) -> tuple[Spring, SimpleNamespace]:
    part = Spring("S", *ENDS, **{"length": 0.7, **SPRINGS[way], **more})
    return part, fields(part, {"k": ca.SX(120.0)})


def force_on_b(part: Any, v: Any, d: Any, d_dot: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    motion = Motion(ca.SX(ca.DM(d)), ca.SX.eye(3), ca.SX(ca.DM(d_dot)), ca.SX.zeros(3))
    wrench = part.wrench(v, motion, HERE)
    assert not numbers(wrench.torque).any(), "a force along the line of two points has no moment about either"
    return numbers(wrench.force).ravel()


def test_linear_spring_and_damping_in_numbers() -> None:
    """A 3-4-5 triangle: length 5, elongation 3; the rate along the line is (3*1 + 4*2)/5 = 2.2."""
    part = Spring("S", *ENDS, stiffness=10.0, length=2.0, preload=4.0, damping=5.0)
    force = force_on_b(part, fields(part), (3.0, 4.0, 0.0), (1.0, 2.0, 7.0))
    np.testing.assert_allclose(force, -(10 * 3 + 4 + 5 * 2.2) * np.array([0.6, 0.8, 0.0]), rtol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", SPRINGS)
def test_work_of_a_spring_is_its_energy(way: str, seed: int) -> None:
    part, v = spring(way)
    moving = Moving(seed)
    assert moving.power(part, v) == pytest.approx(-moving.potential_rate(part, v), rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("way", SPRINGS)
def test_joint_spring_works_against_its_energy(way: str, seed: int) -> None:
    part = JointSpring("S", "O", rest=0.2, **SPRINGS[way])
    v = fields(part, {"k": ca.SX(120.0)})
    x = ca.SX.sym("x")
    slope = ca.jacobian(part.potential(v, x), x)
    f = ca.Function("f", [x], [part.force(v, x, ca.SX(0), HERE), -slope])
    force, expected = f(np.random.default_rng(seed).normal())
    assert float(force) == pytest.approx(float(expected), rel=1e-12)


def test_damped_joint_spring_in_numbers() -> None:
    part = JointSpring("S", "O", rest=0.5, stiffness=8.0, preload=1.0, damping=0.25)
    assert number(part.force(fields(part), ca.SX(2.0), ca.SX(4.0), HERE)) == -(1.0 + 8.0 * 1.5 + 1.0)


def test_potential_of_a_polynomial_law_is_its_integral() -> None:
    part = JointSpring("S", "O", law="k*x*(1 - x/3)**4 - sqrt(k)*x**2 + 2**k + 5*v*x", rest=0.0)
    v = fields(part, {"k": ca.SX(2.0)})
    for x in (-1.3, 0.4, 2.0):
        expected = quad(lambda s: 2 * s * (1 - s / 3) ** 4 - np.sqrt(2) * s**2 + 4, 0, x)[0]
        assert number(part.potential(v, ca.SX(x))) == pytest.approx(expected, rel=1e-12)


OTHERS = {
    "sin(x)": np.sin(0.7), "x**1.5": 0.7**1.5, "1/(1 + x)": 1 / 1.7, "2**x": 2**0.7, "abs(x)*x": 0.49,
    "x*step(x)": 0.7, "x*t": 1.4, "x*O.angle": 0.21,
}  # fmt: skip


@pytest.mark.parametrize("law", OTHERS)
def test_work_of_other_laws_is_not_stored(law: str) -> None:
    part = JointSpring("S", "O", law=law)
    v = fields(part, {"O.angle": ca.SX(0.3)})
    assert part.potential(v, ca.SX(0.7)).is_zero()
    force = ca.substitute(part.force(v, ca.SX(0.7), ca.SX(0), HERE), T, 2.0)
    assert number(force) == pytest.approx(-OTHERS[law], rel=1e-14)


class TestZeroLength:
    """Where both ends meet there is no direction; nothing may become infinite there."""

    @pytest.mark.parametrize("d", [(0.0, 0.0, 0.0), (1e-9, -2e-9, 0.0), (0.3, -1.0, 2.0)])
    def test_spring_without_natural_length_is_exact(self, d: tuple[float, ...]) -> None:
        part = Spring("S", *ENDS, stiffness=300.0, length=0.0)
        assert (force_on_b(part, fields(part), d) == -300.0 * np.array(d)).all()

    @pytest.mark.parametrize(
        "part",
        [*(Spring("S", *ENDS, length=0.7, damping=3.0, **way) for way in SPRINGS.values()),
         Damper("D", *ENDS, damping=4.0), Damper("D", *ENDS, law="x + v**2"), Damper("D", *ENDS, table=TABLE)],
    )  # fmt: skip
    def test_values_and_derivatives_are_finite(self, part: Any) -> None:
        v = fields(part, {"k": ca.SX(120.0)})
        d, d_dot = ca.SX.sym("d", 3), ca.SX.sym("d_dot", 3)
        motion = Motion(d, ca.SX.eye(3), d_dot, ca.SX.zeros(3))
        force = part.wrench(v, motion, HERE).force
        parts = [force, ca.jacobian(force, d), ca.jacobian(force, d_dot), ca.jacobian(part.potential(v, motion), d)]
        for value in ca.Function("f", [d, d_dot], parts)([0, 0, 0], [1, -2, 0.5]):
            assert np.isfinite(np.array(value)).all()


class TestDampers:
    def test_in_numbers(self) -> None:
        part = Damper("D", *ENDS, damping=5.0)
        force = force_on_b(part, fields(part), (3.0, 4.0, 0.0), (1.0, 2.0, 7.0))
        np.testing.assert_allclose(force, -5 * 2.2 * np.array([0.6, 0.8, 0.0]), rtol=1e-14)
        joint = JointDamper("D", "O", law="2*v + x*v**3")
        assert number(joint.force(fields(joint), ca.SX(0.5), ca.SX(2.0), HERE)) == -(4.0 + 4.0)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("way", [{"damping": 4.0}, {"law": "2*v + v*abs(v)"}, {"table": TABLE}])
    def test_only_dissipate(self, way: dict[str, Any], seed: int) -> None:
        part = Damper("D", *ENDS, **way)
        assert Moving(seed).power(part, fields(part)) < 0
        joint = JointDamper("D", "O", **way)
        for rate in np.random.default_rng(seed).normal(size=4):
            assert rate * number(joint.force(fields(joint), ca.SX(0), ca.SX(rate), HERE)) < 0

    def test_table_is_one_of_speed(self) -> None:
        joint = JointDamper("D", "O", table=TABLE)
        assert number(joint.force(fields(joint), ca.SX(9), ca.SX(0.3), HERE)) == pytest.approx(-12.0)


class TestTables:
    @staticmethod
    def functions(points: Any) -> ca.Function:
        x = ca.SX.sym("x")
        curve = Curve(points)
        value, area = curve.value(x), curve.integral(x)
        return ca.Function("curve", [x], [value, ca.jacobian(value, x), area, ca.jacobian(area, x)])

    @random_cases(20, 60)
    @given(
        st.lists(st.tuples(st.floats(0.05, 3.0), st.floats(-50.0, 50.0)), min_size=2, max_size=8), st.floats(-2.0, 2.0)
    )
    def test_like_the_monotone_cubics_of_scipy(self, steps: list[tuple[float, float]], start: float) -> None:
        x = start + np.cumsum([step for step, _ in steps])
        y = np.round([force for _, force in steps], 3)
        reference, curve = PchipInterpolator(x, y), self.functions(list(zip(x, y, strict=True)))
        for s in [*x, *(0.5 * (x[1:] + x[:-1])), *(0.9 * x[1:] + 0.1 * x[:-1])]:
            value, slope, area, force = (float(each) for each in curve(s))
            size = np.abs(y).max() + 1e-3
            assert value == pytest.approx(float(reference(s)), abs=1e-12 * size)
            assert slope == pytest.approx(float(reference(s, 1)), abs=1e-9 * size)
            assert force == pytest.approx(value, abs=1e-12 * size)
        if x[0] < 0 < x[-1]:
            assert area == pytest.approx(float(reference.integrate(0, s)), abs=1e-10 * size * (x[-1] - x[0]))

    def test_straight_beyond_the_ends(self) -> None:
        curve, reference = self.functions(TABLE), PchipInterpolator(*zip(*TABLE, strict=True))
        for end, out in ((TABLE[0], -1.3), (TABLE[-1], 0.4)):
            value, slope, area, _ = (float(each) for each in curve(end[0] + out))
            start = float(reference(end[0], 1))
            assert slope == pytest.approx(start, rel=1e-12, abs=1e-12)
            assert value == pytest.approx(end[1] + start * out, rel=1e-12)
            inside = float(reference.integrate(0, end[0]))
            assert area == pytest.approx(inside + end[1] * out + start * out**2 / 2, rel=1e-12)

    def test_two_points_are_a_line(self) -> None:
        value, slope, area, _ = (float(each) for each in self.functions([(0.0, 0.0), (2.0, 6.0)])(-1.5))
        assert (value, slope, area) == pytest.approx((-4.5, 3.0, 3.375))


class TestBushing:
    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("angle", [0.0, 1e-6, 0.01, 0.06, 0.07, 1.0, 2.0, 3.0])
    def test_rotation_vector(self, angle: float, seed: int) -> None:
        moving = Moving(seed, angle=angle)
        turn, rates = rotation_vector(ca.SX(moving.C))
        np.testing.assert_allclose(numbers(turn).ravel(), moving.turn, atol=1e-12)
        h = 1e-5
        ahead, behind = (
            (Rotation.from_rotvec(s * moving.omega) * Rotation.from_matrix(moving.C)).as_rotvec() for s in (h, -h)
        )
        np.testing.assert_allclose(numbers(rates) @ moving.omega, (ahead - behind) / (2 * h), atol=1e-8)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("angle", [1e-5, 0.5, 2.5])
    @pytest.mark.parametrize("stiffness", [(1e3, 2e3, 3e3, 10.0, 20.0, 30.0), FULL])
    def test_work_is_its_energy(self, stiffness: Any, angle: float, seed: int) -> None:
        part = Bushing("B", *ENDS, stiffness=stiffness, preload=(1, -2, 3, 0.4, 0.5, -0.6))
        moving, v = Moving(seed, angle=angle), fields(part)
        assert moving.power(part, v) == pytest.approx(-moving.potential_rate(part, v), rel=1e-9)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("damping", [(1, 2, 3, 4, 5, 6), FULL])
    def test_damping_dissipates(self, damping: Any, seed: int) -> None:
        part = Bushing("B", *ENDS, stiffness=(0,) * 6, damping=damping)
        moving = Moving(seed)
        rates = np.concatenate([moving.d_dot, moving.omega])
        matrix = np.diag(damping) if np.ndim(damping) == 1 else np.array(damping)
        assert moving.power(part, fields(part)) == pytest.approx(-rates @ matrix @ rates)

    @pytest.mark.parametrize("angle", [0.01, 0.5, 1.5, 3.0])
    def test_turned_about_one_axis_its_torque_is_stiffness_times_angle(self, angle: float) -> None:
        part = Bushing("B", *ENDS, stiffness=(0, 0, 0, 5.0, 7.0, 9.0))
        C = Rotation.from_rotvec([0, angle, 0]).as_matrix()
        motion = Motion(ca.SX.zeros(3), ca.SX(C), ca.SX.zeros(3), ca.SX.zeros(3))
        torque = numbers(part.wrench(fields(part), motion, HERE).torque).ravel()
        np.testing.assert_allclose(torque, [0, -7.0 * angle, 0], atol=1e-13)

    def test_small_motion_gives_minus_k_z(self) -> None:
        part = Bushing("B", *ENDS, stiffness=FULL)
        z = 1e-7 * np.arange(1.0, 7.0)
        C = Rotation.from_rotvec(z[3:]).as_matrix()
        motion = Motion(ca.SX(z[:3]), ca.SX(C), ca.SX.zeros(3), ca.SX.zeros(3))
        wrench = part.wrench(fields(part), motion, HERE)
        got = np.concatenate([numbers(wrench.force), numbers(wrench.torque)]).ravel()
        np.testing.assert_allclose(got, -np.array(FULL) @ z, atol=1e-12)

    def test_refuses_what_is_no_bushing(self) -> None:
        crooked = [row[:] for row in FULL]
        crooked[0][1] += 1.0
        negative = (-np.eye(6)).tolist()
        for wrong in (None, 5.0, (1, 2, 3), crooked, "1, 2"):
            with pytest.raises(ModelError, match=r"B\.stiffness"):
                Bushing("B", *ENDS, **({} if wrong is None else {"stiffness": wrong}))
        for wrong in (negative, [[1, 0, 0, 0, 0, 5], *np.eye(6)[1:5].tolist(), [5, 0, 0, 0, 0, 1]]):
            with pytest.raises(ModelError, match=r"B\.stiffness"):
                checked(Bushing("B", *ENDS, stiffness=wrong))


def checked(part: Bushing) -> None:
    part.check(dict.fromkeys(part.expressions, 0.0) | {k: e.number({}) for k, e in part.expressions.items()})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Spring("S", *ENDS, length=1.0), "none of"),
        (lambda: Spring("S", *ENDS, length=1.0, stiffness=1.0, law="x"), "together"),
        (lambda: Spring("S", *ENDS, stiffness=1.0), r"S\.length"),
        (lambda: Spring("S", *ENDS, length=1.0, law="x +"), r"S\.law"),
        (lambda: Spring("S", *ENDS, length=1.0, law=7.0), r"S\.law"),
        (lambda: Spring("S", *ENDS, length=1.0, law="__import__('os')"), r"S\.law"),
        (lambda: Spring("S", *ENDS, length=1.0, energy="x*v"), "depends on v"),
        (lambda: Spring("S", *ENDS, length=1.0, energy="x*t"), "depends on time"),
        (lambda: Spring("S", *ENDS, length=1.0, energy="x*O.angle"), r"O\.angle"),
        (lambda: Spring("S", *ENDS, length=1.0, table=((0, 0), (1, 2), (1, 3))), "1 follows 1"),
        (lambda: Spring("S", *ENDS, length=1.0, table=((0, 0), (-1, 2))), "-1 follows 0"),
        (lambda: Spring("S", *ENDS, length=1.0, table=((0, 0),)), "1 points"),
        (lambda: Spring("S", *ENDS, length=1.0, table=(0, 1, 2)), r"S\.table"),
        (lambda: Spring("S", *ENDS, length=1.0, table=((0, 0), (1, float("nan")))), r"S\.table"),
        (lambda: Damper("D", *ENDS), "none of"),
        (lambda: Damper("D", *ENDS, damping=1.0, table=TABLE), "together"),
        (lambda: JointSpring("S", "O", rest=0.3), "none of"),
        (lambda: JointDamper("D", "O", law="v", table=TABLE), "together"),
    ],
)  # fmt: skip
def test_refuses(make: Any, message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        make()


def test_names_in_a_law_are_parameters_of_the_model() -> None:
    model = Model("m", parameters={"k": 3.0})
    model.add(PointMass("b", mass=1.0))
    model.add(Spring("S", *ENDS, length=1.0, law="k*x + c*v"))
    with pytest.raises(ExpressionError, match="'c'"):
        model.check()
    model.parameter("c", 0.1)
    model.check()


@pytest.mark.parametrize("wrong", [{"stiffness": -1.0}, {"stiffness": 0.0}, {"stiffness": 1.0, "damping": -1.0}])
def test_ranges(wrong: dict[str, float]) -> None:
    with pytest.raises(ModelError, match=r"the value is"):
        Spring("S", *ENDS, length=1.0, **wrong).values({})


class TestMotion:
    """Whole models against closed forms and against an independent integration."""

    TIMES = np.linspace(0, 2, 9)

    def test_oscillator(self) -> None:
        """m x'' = -k x about the natural length: w = 5 rad/s."""
        model = ct.Model("oscillator", gravity=(0, 0, 0))
        model.add(PointMass("b", mass=2.0, position=(0, 1.5, 0)))
        model.add(Spring("S", model.ground, "b", stiffness=50.0, length=1.0))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["b.position.y"], 1 + 0.5 * np.cos(5 * self.TIMES), atol=1e-9)
        assert solution.energy().error < 1e-9

    def test_zero_length_spring_through_its_centre(self) -> None:
        """Without natural length the three directions swing alone, and the mass may start at the very centre."""
        model = ct.Model("centre", gravity=(0, 0, 0))
        model.add(PointMass("b", mass=0.5, position=(0, 0, 0), velocity=(3, -2, 1)))
        model.add(Spring("S", model.ground, "b", stiffness=8.0, length=0.0))
        solution = run(model, self.TIMES)
        expected = np.outer(np.sin(4 * self.TIMES) / 4, [3, -2, 1])
        np.testing.assert_allclose(solution["b.position"], expected, atol=1e-9)

    @pytest.mark.parametrize("way", SPRINGS)
    def test_nonlinear_springs_keep_energy(self, way: str) -> None:
        model = ct.Model("spring pendulum", parameters={"k": 120.0})
        model.add(PointMass("b", mass=2.0, position=(1.0, 0, 0), velocity=(0, 1.5, 0)))
        model.add(Spring("S", model.ground, "b", length=0.7, **SPRINGS[way]))
        solution = run(model, self.TIMES)
        total = solution["kinetic_energy"] + solution["potential_energy"]
        np.testing.assert_allclose(total, total[0], rtol=0, atol=1e-8 * np.abs(solution["kinetic_energy"]).max())
        assert solution["kinetic_energy"].max() > 5 * solution["kinetic_energy"].min()

    def test_duffing_with_damper_like_scipy(self) -> None:
        model = ct.Model("duffing", gravity=(0, 0, 0), parameters={"c": 0.8})
        model.add(RigidBody("b", mass=2.0, inertia=(1, 1, 1)))
        model.add(Prismatic("P", model.ground, "b", displacement=0.5))
        model.add(JointSpring("S", "P", law="30*x + 200*x**3 + c*v"))
        model.add(JointDamper("D", "P", table=((-4, -9), (-1, -1), (0, 0), (1, 1), (4, 9))))
        solution = run(model, self.TIMES)
        table = PchipInterpolator([-4, -1, 0, 1, 4], [-9, -1, 0, 1, 9])

        def rates(t: float, y: Any) -> list[float]:
            return [y[1], -(30 * y[0] + 200 * y[0] ** 3 + 0.8 * y[1] + float(table(y[1]))) / 2]

        expected = solve_ivp(rates, (0, 2), [0.5, 0], t_eval=self.TIMES, rtol=1e-11, atol=1e-12, method="DOP853").y[0]
        np.testing.assert_allclose(solution["P.displacement"], expected, atol=1e-7)
        assert solution.energy().error < 1e-7

    def test_bushing_frequencies(self) -> None:
        """Small swings of a body on a bushing: k = m w^2 along, kr = J w^2 about an axis."""
        model = ct.Model("bushing", gravity=(0, 0, 0))
        model.add(
            RigidBody(
                "b",
                mass=2.0,
                inertia=(0.5, 0.6, 0.7),
                position=(0.1, 0, 0),
                orientation=(np.cos(0.2), 0, 0, np.sin(0.2)),
            )
        )
        model.add(Bushing("B", model.ground, "b", stiffness=(18.0, 1, 1, 1, 1, 11.2)))
        solution = run(model, self.TIMES)
        np.testing.assert_allclose(solution["b.position.x"], 0.1 * np.cos(3 * self.TIMES), atol=1e-9)
        turn = 2 * np.arctan2(solution["b.orientation.e3"], solution["b.orientation.e0"])
        np.testing.assert_allclose(turn, 0.4 * np.cos(4 * self.TIMES), atol=1e-9)
