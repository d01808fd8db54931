"""Every joint: rates against derivatives, equations against its own motion, counts and ranks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cotree.terminal  # noqa: F401  (registers all kinds)
from _cases import random_cases
from cotree.errors import ModelError
from cotree.maths.rotation import quaternion_rate, skew, vee
from cotree.model import KINDS
from cotree.terminal.joints import AxisJoint, Prismatic, Revolute, Screw, Spherical, Universal
from cotree.terminal.mechanics import ORIENTATION, Joint
from terminal.motions import fields

KIND_NAMES = sorted(kind for kind, cls in KINDS.items() if issubclass(cls, Joint))
EVERY = pytest.mark.parametrize("kind", KIND_NAMES)
SEEDS = pytest.mark.parametrize("seed", range(4))
FREEDOM = {
    "revolute": 1, "prismatic": 1, "cylindrical": 2, "screw": 1, "planar": 3, "universal": 2, "spherical": 3, "weld": 0,
    "free": 6, "slide": 3, "planar_slide": 2,
}  # fmt: skip
TRANSLATIONS = {
    "revolute": 3, "prismatic": 2, "cylindrical": 2, "screw": 3, "planar": 1, "universal": 3, "spherical": 3, "weld": 3,
    "free": 0, "slide": 0, "planar_slide": 1,
}  # fmt: skip
"""Equations that hold translations; the rest of the six hold rotations."""


def sample(kind: str, rng: np.random.Generator) -> Joint:
    """A joint with random axes."""
    cls = KINDS[kind]
    first, second = rng.normal(size=(2, 3))
    if issubclass(cls, Universal):
        return cls("J", "a", "b", axis_1=tuple(first), axis_2=tuple(np.cross(first, second)))
    if issubclass(cls, Screw):
        return cls("J", "a", "b", axis=tuple(first), pitch=rng.normal())
    return cls("J", "a", "b", axis=tuple(first)) if issubclass(cls, AxisJoint) else cls("J", "a", "b")  # type: ignore[return-value]


class Sample:
    """A joint in a random position, with coordinates q, their rates, and speeds u as symbols."""

    def __init__(self, kind: str, seed: int, turns: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        self.joint = sample(kind, rng)
        self.v = fields(self.joint)
        self.q: dict[str, ca.SX] = {}
        self.u: dict[str, ca.SX] = {}
        self.values: dict[str, Any] = {}
        numbers, rates, self.speeds = [], [], []
        for c in self.joint.coordinates:
            n, m = len(c.names), len(c.rate_names)
            self.q[c.name], self.u[c.name] = ca.SX.sym(c.name, n), ca.SX.sym(f"{c.name}_rate", m)
            value = rng.normal(size=n) if c.group == "translation" or n == 4 else turns * rng.uniform(-3.1, 3.1, n)
            self.values[c.name] = value
            numbers += value.tolist()
            self.speeds += rng.normal(size=m).tolist()
            rates.append(quaternion_rate(self.q[c.name], self.u[c.name]) if n == 4 else self.u[c.name])
        self.numbers = numbers
        self.columns = [ca.vertcat(*each) if each else ca.SX(0, 1) for each in (self.q.values(), self.u.values())]
        self.q_dot = ca.vertcat(*rates) if rates else ca.SX(0, 1)

    @property
    def d(self) -> ca.SX:
        return self.joint.translation(self.v, self.q)

    @property
    def C(self) -> ca.SX:
        return self.joint.rotation(self.v, self.q)

    def at(self, *expressions: ca.SX) -> list[np.ndarray]:
        function = ca.Function("f", self.columns, [ca.densify(ca.SX(e)) for e in expressions])
        result = function(self.numbers, self.speeds)
        return [np.array(each, dtype=float) for each in (result if isinstance(result, tuple) else (result,))]

    def rate(self, expression: ca.SX) -> ca.SX:
        return ca.jtimes(expression, self.columns[0], self.q_dot) if self.numbers else expression * 0


def short(kind: str) -> str:
    return kind.partition(".")[2]


def test_every_joint_is_counted() -> None:
    assert {short(kind) for kind in KIND_NAMES} == FREEDOM.keys()


@SEEDS
@EVERY
def test_rates_are_derivatives(kind: str, seed: int) -> None:
    s = Sample(kind, seed)
    velocity, expected = s.at(s.joint.translation_rate(s.v, s.q, s.u), s.rate(s.d))
    np.testing.assert_allclose(velocity, expected, atol=1e-13)
    spin, expected, skewed = s.at(
        s.joint.spin(s.v, s.q, s.u), vee(ca.mtimes(s.C.T, s.rate(s.C))), ca.mtimes(s.C.T, s.rate(s.C))
    )
    np.testing.assert_allclose(spin, expected, atol=1e-13)
    np.testing.assert_allclose(skewed, -skewed.T, atol=1e-13)


@SEEDS
@EVERY
def test_rotation_is_one(kind: str, seed: int) -> None:
    s = Sample(kind, seed)
    (C,) = s.at(s.C)
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(C) == pytest.approx(1.0)


@SEEDS
@EVERY
def test_equations_hold_for_every_position_of_the_joint(kind: str, seed: int) -> None:
    s = Sample(kind, seed, turns=5.0 if kind == "joints.screw" else 1.0)
    for residual in s.at(s.joint.closure(s.v, s.d, s.C), s.joint.alignment(s.v, s.C)):
        np.testing.assert_allclose(residual, 0, atol=1e-13)


@SEEDS
@EVERY
def test_equations_and_freedom_make_six(kind: str, seed: int) -> None:
    """The equations are independent of each other, and what they leave free is what the coordinates move."""
    s = Sample(kind, seed)
    step = ca.SX.sym("step", 6)
    d = s.d + step[:3]
    C = ca.mtimes(ca.SX.eye(3) + skew(step[3:]), s.C)
    closure, alignment = s.joint.closure(s.v, d, C), s.joint.alignment(s.v, C)
    assert closure.numel() == TRANSLATIONS[short(kind)]
    both = ca.vertcat(closure, alignment)
    jacobian = ca.substitute(ca.jacobian(both, step), step, 0)
    moves = ca.jacobian(
        ca.vertcat(s.joint.translation_rate(s.v, s.q, s.u), ca.mtimes(s.C, s.joint.spin(s.v, s.q, s.u))), s.columns[1]
    )
    held, free = s.at(jacobian, moves)
    assert held.shape[0] + FREEDOM[short(kind)] == 6
    assert free.shape[1] == FREEDOM[short(kind)]
    for matrix, rank in ((held, held.shape[0]), (free, free.shape[1])):
        sizes = np.linalg.svd(matrix, compute_uv=False)
        assert len(sizes) == 0 or (rank == min(matrix.shape) and sizes[-1] > 1e-3 * sizes[0])
    np.testing.assert_allclose(held @ free, 0, atol=1e-12)


@random_cases(13, 80)
@given(st.sampled_from(KIND_NAMES), st.integers(0, 10**6))
def test_measure_gives_the_coordinates_back(kind: str, seed: int) -> None:
    s = Sample(kind, seed)
    measured = s.joint.measure(s.v, s.d, s.C)
    scalars = {c.name for c in s.joint.coordinates if c.name != ORIENTATION}
    assert measured.keys() == scalars
    for name in scalars:
        (value,) = s.at(measured[name])
        assert value.item() == pytest.approx(s.values[name].item(), rel=1e-11, abs=1e-11)


def test_a_turn_about_z_in_numbers() -> None:
    """Right-handed: x goes to y; a screw of pitch 2 pi advances by its angle."""
    joint = Revolute("O", "a", "b")
    C = joint.rotation(fields(joint), {"angle": ca.SX(np.pi / 2)})
    np.testing.assert_allclose(np.array(ca.evalf(C)) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    screw = Screw("S", "a", "b", axis=(0, 2, 0), pitch="2*pi")
    d = screw.translation(fields(screw), {"angle": ca.SX(0.25)})
    np.testing.assert_allclose(np.array(ca.evalf(d)).ravel(), [0, 0.25, 0], atol=1e-15)


def test_axes_are_the_same_for_any_length_and_for_parameters() -> None:
    long, named = Prismatic("P", "a", "b", axis=(0, 3, 4)), Prismatic("P", "a", "b", axis=(0, "3*k", "4*k"))
    q = {"displacement": ca.SX(2.0)}
    k = ca.SX.sym("k")
    expected = np.array([0, 1.2, 1.6])
    np.testing.assert_allclose(np.array(ca.evalf(long.translation(fields(long), q))).ravel(), expected, atol=1e-15)
    named_d = ca.Function("d", [k], [named.translation(fields(named, {"k": k}), q)])
    np.testing.assert_allclose(np.array(named_d(7.0)).ravel(), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Revolute("O", "a", "b", axis=(0, 0, 0)), r"\(0, 0, 0\)"),
        (lambda: Universal("U", "a", "b", axis_1=(1, 0, 0), axis_2=(1, 1, 0)), "right angles"),
        (lambda: Screw("S", "a", "b", pitch=0.0), "the value is 0"),
    ],
)
def test_check_refuses(make: Any, message: str) -> None:
    joint = make()
    with pytest.raises(ModelError, match=message):
        joint.check(joint.values({}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Screw("S", "a", "b"), "no value is given"),
        (lambda: Revolute("O", "a", "b", fixed=("angle",)), "no value"),
        (lambda: Revolute("O", "a", "b", axis=(0, 1)), r"O\.axis"),
        (lambda: Spherical("O", "a", "b", orientation=(1, 0, 0)), r"O\.orientation"),
        (lambda: Revolute("O", "a"), "frame_b"),
        (lambda: Revolute("O", "a", "b", displacement=3), "no field 'displacement'"),
    ],
)
def test_making_refuses(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_fixed_takes_one_name_or_several() -> None:
    one = Revolute("O", "a", "b", angle=0.1, fixed="angle")
    assert one.fixed == ("angle",)
    several = Spherical("S", "a", "b", orientation=(1, 0, 0, 0), fixed=("orientation",))
    assert several.fixed == ("orientation",)


def test_nothing_depends_on_the_length_of_euler_parameters() -> None:
    joint = Spherical("S", "a", "b")
    e = np.random.default_rng(5).normal(size=4)
    first, second = (joint.rotation(SimpleNamespace(), {ORIENTATION: ca.SX(f * e)}) for f in (1.0, -7.0))
    np.testing.assert_allclose(np.array(ca.evalf(first)), np.array(ca.evalf(second)), atol=1e-15)
