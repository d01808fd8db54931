"""Every joint: rates against derivatives, equations against its own motion, counts and ranks."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import cotree as ct
import cotree.terminal  # registers all kinds
from _cases import random_cases
from _made import made
from cotree.errors import ModelError
from cotree.maths.rotation import quaternion_rate, skew, vee
from cotree.model import KINDS
from cotree.model.quantity import quantities
from cotree.terminal.joints import Prismatic, Revolute, Screw, Spherical, Universal
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
"""Equations that hold translations; the rest of the six hold rotations. Both tables are of textbooks, and no kind has
to be in them: counts and ranks of any joint must make six."""


def sample(kind: str, rng: np.random.Generator) -> Joint:
    """A joint made from its class, with random values where it needs some; its directions are turned at random, all
    together, so that right angles stay right, and made longer or shorter."""
    cls = KINDS[kind]
    data = {key: value for key, value in made(kind).items() if key not in cls.start_fields()}  # type: ignore[attr-defined]
    for name in quantities(cls):
        if name in data and name not in cls.example:
            data[name] = (
                abs(rng.normal()) if quantities(cls)[name].range in ("positive", "non-negative") else rng.normal()
            )
    turn = Rotation.random(random_state=rng.integers(2**31)).as_matrix()
    for f in dataclasses.fields(cls):
        info, labels = f.metadata.get("vector", (None, ()))
        if info is not None and not info.unit and labels == ("x", "y", "z"):
            data[f.name] = (rng.uniform(0.2, 3.0) * turn @ np.array(data.get(f.name, f.default), float)).tolist()
    return cls.from_data("J", data)  # type: ignore[return-value]


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
    return kind.rpartition(".")[2]


def test_the_joints_of_textbooks_are_there() -> None:
    assert FREEDOM.keys() <= {short(kind) for kind in KIND_NAMES}


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
    s = Sample(kind, seed, turns=5.0)
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
    assert closure.numel() == TRANSLATIONS.get(short(kind), closure.numel())
    both = ca.vertcat(closure, alignment)
    jacobian = ca.substitute(ca.jacobian(both, step), step, 0)
    moves = ca.jacobian(
        ca.vertcat(s.joint.translation_rate(s.v, s.q, s.u), ca.mtimes(s.C, s.joint.spin(s.v, s.q, s.u))), s.columns[1]
    )
    held, free = s.at(jacobian, moves)
    assert held.shape[0] + free.shape[1] == 6
    assert free.shape[1] == FREEDOM.get(short(kind), free.shape[1])
    for matrix, rank in ((held, held.shape[0]), (free, free.shape[1])):
        sizes = np.linalg.svd(matrix, compute_uv=False)
        assert len(sizes) == 0 or (rank == min(matrix.shape) and sizes[-1] > 1e-3 * sizes[0])
    np.testing.assert_allclose(held @ free, 0, atol=1e-12)


@random_cases(13, 40)
@given(st.sampled_from(KIND_NAMES), st.integers(0, 10**6))
def test_measure_gives_the_coordinates_back(kind: str, seed: int) -> None:
    s = Sample(kind, seed)
    measured = s.joint.measure(s.v, s.d, s.C)
    scalars = {c.name for c in s.joint.coordinates if c.name != ORIENTATION}
    assert measured.keys() == scalars
    for name in scalars:
        (value,) = s.at(measured[name])
        assert value.item() == pytest.approx(s.values[name].item(), rel=1e-11, abs=1e-11)


@EVERY
def test_coordinates_and_equations_give_the_same_motion(kind: str) -> None:
    """A body on a joint falls alike by the joint's coordinates (a tree with the joint) and by its equations alone.

    The joint tree uses positions and rates of the coordinates, the absolute tree the rows of closure and alignment.
    """
    joint = dataclasses.replace(sample(kind, np.random.default_rng(2)), name="J", frame_a="ground", frame_b="b.p")
    m = ct.Model("one joint", gravity=(1.0, -2.0, -9.0), planar=False)
    m.add(ct.RigidBody("b", mass=2.0, inertia=(0.3, 0.4, 0.5), frames={"p": (0.2, -0.1, 0.3)}))
    m.add(joint)
    runs = [m.simulate(t_end=0.3, points=4, rtol=1e-9, tree=tree) for tree in ("joint", "absolute")]
    for x in "xyz":
        for name in (f"b.position.{x}", f"b.velocity.{x}"):
            one, other = (run[name] for run in runs)
            np.testing.assert_allclose(one, other, atol=1e-6, err_msg=name)


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
    with pytest.raises(ModelError, match=message):  # plain numbers when it is made, the rest when it is checked
        (joint := make()).check(joint.values({}))


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
