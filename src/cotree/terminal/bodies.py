"""Bodies with mass: rigid ones and points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from cotree.errors import InertiaError, ModelError
from cotree.maths.rotation import about, skew
from cotree.model import MISSING, Frame, Value, quantity, vector
from cotree.model.form import FRAME, VALUE, VECTOR, Form, Schema, either, listed, named, said
from cotree.model.quantity import Quantity, vector_entries
from cotree.terminal.checked import frame_names
from cotree.terminal.joints import unit
from cotree.terminal.mechanics import XYZ, Body, BodyMotion, Inertia, start_vector
from cotree.terminal.shapes import Shape, shape_from_data, shape_schema

MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
_MOMENT = Quantity("kg m^2", "finite", False, "moment or product of inertia", symbol="J", built_in="zero")

INERTIA = either(VECTOR, listed(VALUE, 6), listed(VECTOR, 3))
"""Three moments, six entries of the inertia matrix, or the matrix."""
ROUNDING = 1e-9
"""Part of the largest moment of inertia by which data may miss the triangle inequality."""


def frame_of(values: Mapping[str, Any], name: str) -> tuple[ca.SX, ca.SX]:
    """Position and rotation of a frame from its entries."""
    position = ca.vertcat(*(values[f"{name}.{x}"] for x in XYZ))
    if f"{name}.angle" not in values:
        return position, ca.SX.eye(3)
    return position, turned([values[f"{name}.axis.{x}"] for x in XYZ], values[f"{name}.angle"])


def turned(axis: Any, angle: Any) -> ca.SX:
    """The rotation of a frame by an angle about an axis, with what is zero but for rounding set to zero."""
    matrix = about(unit(axis), ca.SX(angle))
    if not matrix.is_constant():
        return matrix
    value = np.asarray(ca.DM(matrix), dtype=float)
    return ca.sparsify(ca.SX(np.where(np.abs(value) < 1e-15, 0.0, value)))


class RigidBody(Body):
    """A rigid body: mass, centre of mass and inertia in the axes of its frame, and further frames fixed to it.

    ``inertia`` holds the moments about x, y, z, or those and the products of the inertia matrix (xx, yy, zz, xy, xz,
    yz), about the centre of mass or the point ``inertia_about``. A shape such as ``rod(...)`` gives mass and inertia.
    Start values are approximate; ``angular_velocity`` is in body axes.
    """

    example: ClassVar[Mapping[str, Any]] = {"mass": 2.0, "inertia": [1.0, 1.5, 2.0]}

    shape: Shape | None = field(default=None, metadata=said("solid that gives mass and inertia", shape_schema))
    frames: Mapping[str, Any] = field(
        default_factory=dict, kw_only=True, metadata=said("places fixed to the body, in body axes", named(FRAME))
    )
    mass: Value = quantity("kg", "mass", symbol="m", range="positive", default=MISSING, kw_only=True)
    inertia: tuple[Value, ...] = field(
        default=MISSING, kw_only=True, metadata=said("moments xx, yy, zz, and xy, xz, yz, in kg m^2", INERTIA)
    )
    centre: tuple[Value, Value, Value] = vector("m", "centre of mass in body axes", default=(0.0, 0.0, 0.0))
    inertia_about: tuple[Value, Value, Value] | None = vector("m", "point that the inertia is about", default=None)
    position: tuple[Value, Value, Value] | None = start_vector("m", "position")
    orientation: tuple[Value, ...] | None = start_vector("", "Euler parameters", "e0 e1 e2 e3")
    velocity: tuple[Value, Value, Value] | None = start_vector("m/s", "velocity")
    angular_velocity: tuple[Value, Value, Value] | None = start_vector("rad/s", "angular velocity in body axes")

    def __post_init__(self) -> None:
        if self.shape is not None:
            self._check_shape()
        own = [each.name for each in fields(self)]
        own += [name.partition(".")[0] for name in (self.shape.entries() if self.shape is not None else ())]
        frame_names(self.frames, self.name, own)
        frames = {name: Frame.of(given, f"{self.name}.{name}") for name, given in dict(self.frames).items()}
        object.__setattr__(self, "frames", frames)
        super().__post_init__()

    def _check_shape(self) -> None:
        object.__setattr__(self, "shape", shape_from_data(self.shape, f"{self.name}.shape"))
        for name in ("mass", "inertia", "inertia_about"):
            if getattr(self, name) not in (MISSING, None):
                raise ModelError(f"{name} is given beside a shape that has one", where=self.name, remedy=f"Drop {name}")

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def places(self) -> Mapping[str, Frame]:
        return self.frames

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        if self.shape is not None:
            own = self.shape.entries()
            own["mass"] = (result["mass"][0], own["mass"][1])  # a body of varying mass lets it depend on time
            return result | own | self._frame_entries()
        given: Any = self.inertia
        given = given.tolist() if isinstance(given, np.ndarray) else given
        if _is_matrix(given):
            for i, k in ((0, 1), (0, 2), (1, 2)):
                if given[i][k] != given[k][i]:
                    raise ModelError(
                        f"entry {i + 1}, {k + 1} is {given[i][k]} and entry {k + 1}, {i + 1} is {given[k][i]}",
                        where=f"{self.name}.inertia",
                        expected="a symmetric matrix",
                    )
            given = [given[0][0], given[1][1], given[2][2], given[0][1], given[0][2], given[1][2]]
        if given is MISSING or isinstance(given, str) or not hasattr(given, "__len__") or len(given) not in (3, 6):
            raise ModelError(
                "no value is given" if given is MISSING else f"found {given!r}",
                where=f"{self.name}.inertia",
                expected=f"3 moments ({', '.join(MOMENTS[:3])}) or 6 numbers ({', '.join(MOMENTS)}) in kg m^2",
                remedy="Give them, or a shape such as rod(length=1, mass=2)",
            )
        labels = MOMENTS[:3] if len(given) == 3 else MOMENTS
        result |= vector_entries("inertia", given, _MOMENT, labels, self.name)
        return result | self._frame_entries()

    def _frame_entries(self) -> dict[str, tuple[Quantity, Any]]:
        return {k: v for name, frame in self.frames.items() for k, v in frame.entries(name, self.name).items()}

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        moments = [values.get(f"inertia.{label}", 0.0) for label in MOMENTS]
        if self.shape is not None:
            moments = [*self.shape.moments(values), 0.0, 0.0, 0.0]
        xx, yy, zz, xy, xz, yz = moments
        matrix = ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))
        frames = {name: frame_of(values, name) for name in self.frames}
        return super().gather(values) | {"inertia": ca.SX(matrix), "frames": frames}

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        data.pop("frames", None)
        if self.shape is not None:
            data["shape"] = self.shape.to_data()
        if self.frames:
            data["frames"] = {name: frame.to_data() for name, frame in self.frames.items()}
        return data

    @classmethod
    def forms(cls) -> dict[str, Form]:
        forms = super().forms()
        own = {key: replace(forms[key], required=False) for key in ("mass", "inertia")}
        return forms | {
            key: replace(form, meaning=f"{form.meaning}, unless a shape has it") for key, form in own.items()
        }

    @classmethod
    def data_schema(cls) -> Schema:
        return {**super().data_schema(), "anyOf": [{"required": ["shape"]}, {"required": ["mass", "inertia"]}]}

    def check(self, values: Mapping[str, float]) -> None:
        """The inertia about the centre of mass must be that of a real body."""
        v = self.gather(values)
        inertia = np.asarray(ca.DM(_central(v["mass"], v["inertia"], v["centre"], v["inertia_about"])), dtype=float)
        moments = np.linalg.eigvalsh(inertia)
        where, listed = f"{self.name}.inertia", listed_moments(moments)
        if moments[0] < -ROUNDING * abs(moments[2]) or moments[2] <= 0:
            raise InertiaError(
                f"the principal moments of inertia about the centre of mass are {listed} kg m^2",
                where=where,
                expected="positive moments",
                remedy="" if self.inertia_about is None else "Check the point that the inertia is about",
            )
        if moments[0] + moments[1] < moments[2] * (1 - ROUNDING):
            raise InertiaError(
                f"the principal moments of inertia {listed} kg m^2 break the triangle inequality",
                where=where,
                expected="the sum of any two at least as large as the third: no real body has other values",
                remedy="Correct them, or say inertia='repair' or inertia='keep' of the model",
            )

    def tolerated(self, values: Mapping[str, float], how: str) -> bool:
        """In a plane only the moment about z counts; what is kept must not be negative, and all can be repaired."""
        v = self.gather(values)
        inertia = np.asarray(ca.DM(_central(v["mass"], v["inertia"], v["centre"], v["inertia_about"])), dtype=float)
        if how == "plane":
            return bool(inertia[2, 2] >= 0)
        moments = np.linalg.eigvalsh(inertia)
        return how == "repair" or (how == "keep" and moments[0] >= -ROUNDING * abs(moments[2]))

    def unreal(self, values: Mapping[str, float]) -> tuple[str, str, np.ndarray] | None:
        """Principal moments that no real body has, those of the nearest one, and what its inertia matrix is more.

        The integral of x_i x_j over a body's mass, tr(J)/2 - J, has no negative eigenvalue. Negative ones become zero.
        """
        try:
            self.check(values)
        except InertiaError:
            v = self.gather(values)
            given = np.asarray(ca.DM(_central(v["mass"], v["inertia"], v["centre"], v["inertia_about"])), dtype=float)
            sizes, axes = np.linalg.eigh(np.trace(given) / 2 * np.eye(3) - given)
            second = axes @ np.diag(np.maximum(sizes, 0.0)) @ axes.T
            real = np.trace(second) * np.eye(3) - second
            moments = np.linalg.eigvalsh(given)
            return listed_moments(moments), listed_moments(np.linalg.eigvalsh(real), moments), real - given
        return None

    def weight(self, v: Any) -> tuple[ca.SX, ca.SX]:
        return ca.SX(v.mass), ca.vertcat(*v.centre)

    def spatial_inertia(self, v: Any) -> tuple[ca.SX, ca.SX, ca.SX] | None:
        return ca.SX(v.mass), ca.vertcat(*v.centre), _central(v.mass, v.inertia, v.centre, v.inertia_about)

    def inertia_law(self, v: Any, motion: BodyMotion) -> Inertia:
        """Newton and Euler in body axes (Richard 2012, eq. 38-43)."""
        mass, centre, inertia = self.spatial_inertia(v)  # type: ignore[misc]
        w = motion.omega
        velocity = motion.v + ca.cross(w, centre)
        rate = motion.v_dot + ca.cross(motion.omega_dot, centre)
        force = mass * (rate + ca.cross(w, velocity) - motion.gravity)
        spin = ca.mtimes(inertia, w)
        moment = ca.mtimes(inertia, motion.omega_dot) + ca.cross(w, spin) + ca.cross(centre, force)
        return Inertia(force, moment, (mass * ca.sumsqr(velocity) + ca.dot(w, spin)) / 2)


def listed_moments(moments: np.ndarray, like: np.ndarray | None = None) -> str:
    """Principal moments with so many digits that the gap of the triangle inequality shows, theirs or another's."""
    low, middle, high = moments if like is None else like
    gap = abs(high - low - middle) / abs(high) if high else 1.0
    digits = int(np.clip(2 - np.floor(np.log10(gap)), 6, 17)) if gap > 0 else 6
    return ", ".join(f"{moment + 0.0:.{digits}g}" for moment in moments)


def _is_matrix(given: Any) -> bool:
    """Whether an inertia is given as three rows of three."""
    rows = given if isinstance(given, (list, tuple)) and len(given) == 3 else ()
    return bool(rows) and all(isinstance(row, (list, tuple)) and len(row) == 3 for row in rows)


def _central(mass: Any, inertia: ca.SX, centre: Any, about_point: Any) -> Any:
    """The inertia about the centre of mass (Steiner)."""
    if about_point is None:
        return inertia
    arm = skew(ca.vertcat(*centre) - ca.vertcat(*about_point))
    return inertia - mass * ca.mtimes(arm.T, arm)


class PointMass(Body):
    """A mass without extent: it moves and does not turn."""

    turns: ClassVar[bool] = False

    mass: Value = quantity("kg", "mass", symbol="m", range="positive")
    position: tuple[Value, Value, Value] | None = start_vector("m", "position")
    velocity: tuple[Value, Value, Value] | None = start_vector("m/s", "velocity")

    def inertia_law(self, v: Any, motion: BodyMotion) -> Inertia:
        force = v.mass * (motion.v_dot + ca.cross(motion.omega, motion.v) - motion.gravity)
        return Inertia(force, ca.SX.zeros(3), v.mass * ca.sumsqr(motion.v) / 2)

    def weight(self, v: Any) -> tuple[ca.SX, ca.SX]:
        return ca.SX(v.mass), ca.SX.zeros(3)
