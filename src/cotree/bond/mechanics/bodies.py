"""Ground and rigid bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from cotree.bond.elements import optional
from cotree.bond.mechanics.base import (
    ANGLE,
    AXIS,
    DOMAINS,
    LETTERS,
    POSITION,
    FramePart,
    TurnedPart,
    check_axis,
    check_turn,
    components,
    constant_turn,
    frame,
    is_zero,
    junction,
    lever,
    one_port,
    turn,
    value,
)  # fmt: skip
from cotree.bond.motions import ORIENTATION, PARAMETERS, BodyPlace, Motion, Pose, euler_parameters
from cotree.bond.structure import XYZ
from cotree.bond.values import plain
from cotree.errors import ModelError
from cotree.maths.rotation import of_quaternion, skew
from cotree.model.form import VALUE, VECTOR, either, entries, named, one_of, or_null, said
from cotree.model.quantity import Quantity, vector_entries
from cotree.terminal.bodies import INERTIA, MOMENTS, ROUNDING, listed_moments
from cotree.terminal.checked import frame_names

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

CENTRE = "centre"
_AXIS = or_null(either(VECTOR, one_of(LETTERS)))
_FRAME = either(VECTOR, entries({"position": VECTOR, "axis": _AXIS, "angle": or_null(VALUE)}))
_MOMENT = value("kg m^2", "moment or product of inertia", built_in="zero")
_STARTS = ("position", "velocity", "angular_velocity")


class Ground(TurnedPart):
    """A frame fixed in space at ``position``, turned by ``angle`` about ``axis``: its flows are zero."""

    kind = "bond.ground"
    role = "ground"
    shapes: ClassVar[Mapping[str, Quantity]] = {"position": POSITION, "axis": AXIS, "angle": ANGLE}
    lengths: ClassVar[Mapping[str, int]] = {"position": 3, "axis": 3}
    position: Any = optional()

    def frame_ports(self) -> tuple[str, ...]:
        return ("frame",)

    def pose(self, v: Mapping[str, Any]) -> Pose:
        """Where it is."""
        still = Motion(constant_turn(self, v), self.vector("position", v))
        return Pose(still, still)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        frame(make, path, "frame")
        for word, domain in DOMAINS.items():
            at = f"{path}.frame.{word}"
            one_port(make, f"{path}.{word}", "Sf", at, 3, value=ca.SX.zeros(3), domain=domain, text="0")


class Body(FramePart):
    """A rigid body in body axes at its centre of mass (Filippini 2007, fig. 1), and frames fixed to it (fig. 2).

    ``inertia`` holds the moments about x, y, z, or those and the products of the inertia matrix (xx, yy, zz, xy, xz,
    yz), about the centre of mass. ``frames`` are positions in body axes, or mappings with ``position``, ``axis`` and
    ``angle``; the port ``centre`` is the centre of mass. Its weight acts by the gravity of the model.

    A body that no ideal joint carries starts at ``position`` with ``orientation`` (Euler parameters), ``velocity``
    (world axes) and ``angular_velocity`` (body axes).
    """

    kind = "bond.body"
    role = "rigid"
    massive = True
    heavy = True
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "mass": value("kg", "mass", "positive"),
        "position": POSITION,
        "velocity": value("m/s", "velocity at the start"),
        "angular_velocity": value("rad/s", "angular velocity at the start, in body axes"),
    }
    lengths: ClassVar[Mapping[str, int]] = dict.fromkeys(_STARTS, 3)
    turns = (ORIENTATION,)
    needed = ("mass",)
    example: ClassVar[Mapping[str, Any]] = {"mass": 2.0, "inertia": [1.0, 1.5, 2.0]}
    mass: Any = optional()
    inertia: Any = optional("moments xx, yy, zz, and xy, xz, yz, in kg m^2, about the centre of mass", INERTIA)
    frames: Mapping[str, Any] = field(
        default_factory=dict, kw_only=True, metadata=said("places fixed to the body, in body axes", named(_FRAME))
    )
    position: Any = optional()
    orientation: Any = optional()
    velocity: Any = optional()
    angular_velocity: Any = optional()

    def __post_init__(self) -> None:
        taken = [*(each.name for each in fields(self)), CENTRE, "m", "J", "weight", "gyration"]
        frame_names(self.frames, self.name, taken)
        frames = {name: _frame_data(given, f"{self.name}.{name}") for name, given in dict(self.frames).items()}
        object.__setattr__(self, "frames", frames)
        object.__setattr__(self, "inertia", _moments(plain(self.inertia), self.name))
        super().__post_init__()

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        result |= vector_entries("inertia", self.inertia, _MOMENT, MOMENTS[: len(self.inertia)], self.name)
        for name, given in self.frames.items():
            turned = isinstance(given, Mapping)
            position = given["position"] if isinstance(given, Mapping) else given
            result |= vector_entries(name, position, POSITION, XYZ, self.name)
            if turned:
                result |= vector_entries(f"{name}.axis", given["axis"], AXIS, XYZ, self.name)
                result[f"{name}.angle"] = (ANGLE, given["angle"])
        return result

    @classmethod
    def scoped_fields(cls) -> tuple[str, ...]:
        return (*super().scoped_fields(), "inertia", "frames")

    def check(self, values: Mapping[str, float]) -> None:
        """The inertia must be that of a real body, and the axes of its frames directions."""
        for name in self.frames:
            check_axis(self.name, f"{name}.axis", values)
        if any(f"inertia.{label}" not in values for label in MOMENTS[: len(self.inertia)]):
            return  # told by the mask around it
        moments = np.linalg.eigvalsh(np.asarray(ca.DM(self.inertia_matrix(values)), dtype=float))
        where, listed = f"{self.name}.inertia", listed_moments(moments)
        if moments[0] < -ROUNDING * abs(moments[2]) or moments[2] <= 0:
            raise ModelError(f"the principal moments are {listed} kg m^2", where=where, expected="positive moments")
        if moments[0] + moments[1] < moments[2] * (1 - ROUNDING):
            raise ModelError(
                f"the principal moments {listed} kg m^2 break the triangle inequality", where=where,
                expected="the sum of any two at least as large as the third: no real body has other values",
            )  # fmt: skip

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        data.pop("frames", None)
        if self.frames:
            data["frames"] = {
                name: {k: list(x) if isinstance(x, tuple) else x for k, x in given.items()}
                if isinstance(given, Mapping)
                else list(given)
                for name, given in self.frames.items()
            }
        return data

    def frame_ports(self) -> tuple[str, ...]:
        return (CENTRE, *self.frames)

    def start_fields(self) -> tuple[str, ...]:
        return (*_STARTS, ORIENTATION)

    def inertia_matrix(self, v: Mapping[str, Any]) -> ca.SX:
        """The inertia about the centre of mass in body axes."""
        xx, yy, zz, xy, xz, yz = (ca.SX(v.get(f"inertia.{label}", 0)) for label in MOMENTS)
        return ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))

    def places(self, v: Mapping[str, Any]) -> dict[str, tuple[ca.SX, ca.SX]]:
        """Rotation and position of its frames in body axes at the centre of mass."""
        result = {CENTRE: (ca.SX.eye(3), ca.SX.zeros(3))}
        for name in self.frames:
            position = ca.vertcat(*(ca.SX(v[f"{name}.{x}"]) for x in XYZ))
            result[name] = (constant_turn(self, v, f"{name}."), position)
        return result

    def start_motion(self, v: Mapping[str, Any], R: ca.SX | None = None, near: Motion | None = None) -> Motion:
        """Its motion at the start: as given, then as near as a joint holds it, then at rest at the origin."""
        e = self.parameters(ORIENTATION, v)
        if R is None:
            R = of_quaternion(e) if e is not None else near.R if near is not None else ca.SX.eye(3)
        r, velocity, w = (self.shaped(name, v) for name in _STARTS)
        return Motion(
            R,
            r if r is not None else near.r if near is not None else ca.SX.zeros(3),
            w if w is not None else near.w if near is not None else ca.SX.zeros(3),
            ca.mtimes(R.T, velocity) if velocity is not None else near.v if near is not None else ca.SX.zeros(3),
        )

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        placed: BodyPlace = make.structure.placed[path]
        frame(make, path, CENTRE)
        spin, move = f"{path}.{CENTRE}.rotation", f"{path}.{CENTRE}.translation"
        mass, J = ca.SX(v["mass"]), self.inertia_matrix(v)
        start = placed.pose.start
        starts = (start.v, start.w) if placed.free else (None, None)
        one_port(
            make, f"{path}.m", "I", move, 3, matrix=mass * ca.SX.eye(3), start_conjugate=starts[0],
            domain="translational", text="m",
        )  # fmt: skip
        one_port(
            make, f"{path}.J", "I", spin, 3, matrix=J, start_conjugate=starts[1], domain="rotational", text="J"
        )  # fmt: skip
        w = make.signal(f"{path}.J.flow", 3)
        # Filippini 2007, fig. 1: w x p (eq. 1) as (m w) x v, and w x h (eq. 2) as -h x w
        self._gyristor(make, f"{path}.gyration.translation", move, mass * w)
        self._gyristor(make, f"{path}.gyration.rotation", spin, -ca.mtimes(J, w))
        gravity = make.values.entries(make.model.valued()[0])
        g = ca.vertcat(*(ca.SX(gravity[x]) for x in XYZ))
        if not is_zero(g):
            one_port(
                make, f"{path}.weight", "Se", move, 3, out=True, modulated=True, domain="translational", text="m g",
                value=mass * ca.mtimes(placed.pose.R.T, g), potential=-mass * ca.dot(g, placed.pose.r),
            )  # fmt: skip
        for name, (C, d) in self.places(v).items():
            if name != CENTRE:
                open_arm(make, f"{path}.{name}", (spin, move), (C, d), back=placed.root == name)
                for word in ("rotation", "translation"):
                    make.expose(path, name, word, f"{path}.{name}.{word}")
        self._report(make, path, v, placed)

    def _gyristor(self, make: Opening, name: str, at: str, modulus: ca.SX) -> None:
        domain = DOMAINS[name.rpartition(".")[2]]
        one_port(make, name, "GR", at, 3, matrix=skew(modulus), modulated=True, domain=domain)

    def _report(self, make: Opening, path: str, v: Mapping[str, Any], placed: BodyPlace) -> None:
        R, r = placed.pose.R, placed.pose.r
        w, velocity = make.reported(f"{path}.J.flow", 3), make.reported(f"{path}.m.flow", 3)
        if f"{path}.position.x" not in placed.states:
            components(make, f"{path}.position", r, "m")
        if f"{path}.{ORIENTATION}.e0" not in placed.states:
            components(make, f"{path}.{ORIENTATION}", euler_parameters(R), "", PARAMETERS)
        components(make, f"{path}.velocity", ca.mtimes(R, velocity), "m/s")
        components(make, f"{path}.angular_velocity", ca.mtimes(R, w), "rad/s")
        for name, (_, d) in self.places(v).items():
            if name != CENTRE:
                components(make, f"{path}.{name}.position", r + ca.mtimes(R, d), "m")
                components(make, f"{path}.{name}.velocity", ca.mtimes(R, velocity + ca.cross(w, d)), "m/s")


def open_arm(
    make: Opening, name: str, at: tuple[str, str], place: tuple[ca.SX, ca.SX], *, back: bool, exposed: bool = True
) -> None:
    """Add the frame ``name`` that is fixed at ``place`` to the junctions ``at``: a translation, then a constant turn.

    ``back`` where the flows of the frame are known before those of the junctions.
    """
    (spin, move), (C, d) = at, place
    for word in ("rotation", "translation"):
        if exposed:
            junction(make, f"{name}.{word}", open_ended=True)
    turn(make, f"{name}.turn.rotation", C.T, spin, f"{name}.rotation", from_y=back, modulated=False)
    if is_zero(d):
        turn(make, f"{name}.turn.translation", C.T, move, f"{name}.translation", from_y=back, modulated=False)
        return
    zero = junction(make, f"{name}.sum", "0")
    make.bond(f"{name}.sum.bond", move, zero, 3)
    lever(make, f"{name}.arm", d, spin, zero)
    turn(make, f"{name}.turn.translation", C.T, zero, f"{name}.translation", from_y=back, modulated=False)


def _frame_data(given: Any, where: str) -> Any:
    """A frame as plain data: three values, or a mapping with position, axis and angle."""
    if hasattr(given, "to_data"):
        given = given.to_data()
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in ("position", "axis", "angle")]
        if unknown:
            raise ModelError(f"a frame has no '{unknown[0]}'", where=where, expected="position, axis and angle")
        position = plain(given.get("position", (0.0, 0.0, 0.0)))
        check_turn(given.get("axis"), given.get("angle"), where)
        if given.get("axis") is None:
            return position
        axis = LETTERS.get(str(given["axis"]), plain(given["axis"]))
        return {"position": position, "axis": axis, "angle": given["angle"]}
    data = plain(given)
    if not isinstance(data, tuple):
        raise ModelError(f"found {given!r}", where=where, expected="a frame: (x, y, z), or position, axis and angle")
    return data


def _moments(given: Any, owner: str) -> tuple[Any, ...]:
    """Three moments, or six entries of the inertia matrix."""
    if isinstance(given, tuple) and len(given) == 3 and all(isinstance(row, tuple) and len(row) == 3 for row in given):
        if any(given[i][j] != given[j][i] for i in range(3) for j in range(i)):
            raise ModelError(
                "the inertia matrix is not symmetric", where=f"{owner}.inertia", expected="a symmetric one"
            )
        return (given[0][0], given[1][1], given[2][2], given[0][1], given[0][2], given[1][2])
    if isinstance(given, tuple) and len(given) in (3, 6) and not any(isinstance(each, tuple) for each in given):
        return given
    raise ModelError(
        "no value is given" if given is None else f"found {given!r}",
        where=f"{owner}.inertia",
        expected=f"3 moments ({', '.join(MOMENTS[:3])}) or 6 numbers ({', '.join(MOMENTS)}) in kg m^2",
    )
