"""What all masks for mechanisms share: frames as ports, values, and transformers between junctions.

A frame is a port with two multibonds of width three, ``rotation`` (moment and angular velocity) and ``translation``
(force and velocity), both in the axes of the frame at its origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from cotree.bond.elements import BondPart, optional
from cotree.bond.motions import PARAMETERS, Floating
from cotree.bond.structure import XYZ, Vertex
from cotree.bond.values import plain
from cotree.errors import ModelError
from cotree.maths.rotation import skew
from cotree.model.form import VALUE, Form, either, listed, one_of, or_null, several
from cotree.model.form import value as value_schema
from cotree.model.quantity import Quantity, vector_entries
from cotree.terminal.bodies import turned

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

FRAME: tuple[tuple[str, int | None], ...] = (("rotation", 3), ("translation", 3))
"""The bonds of a frame."""
DOMAINS = {"rotation": "rotational", "translation": "translational"}
End = str | tuple[str, str]
"""A vertex, or a vertex and its port."""

LETTERS: Mapping[str, tuple[int, int, int]] = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
"""Axes by their letters."""
AXES = ("axis", "axis_1", "axis_2")
FOUR = or_null(listed(VALUE, 4))


def value(unit: str, meaning: str, range: str = "finite", built_in: str = "") -> Quantity:
    """A constant with its unit; its expression may hold the values of the mask around it."""
    return Quantity(unit, range, False, meaning, measured=True, built_in=built_in)


POSITION = value("m", "position", built_in="zero")
AXIS = value("", "direction of the axis", built_in="always")
ANGLE = value("rad", "angle of the turn", built_in="always")
_PARAMETER = value("", "Euler parameter")


class FramePart(BondPart):
    """A part with frames as ports. ``lengths`` are those of its vectors; ``turns`` hold Euler parameters.

    Its other values are single numbers, but for those that are ``listable``, which may also be lists.
    """

    framed = True
    role: ClassVar[str] = "force"
    """How it takes part in placing frames: ground, rigid, joint, rotation or force."""
    massive: ClassVar[bool] = False
    floating: ClassVar[Floating] = Floating()
    """What the coordinates of a massive part belong to, where nothing carries it."""
    lengths: ClassVar[Mapping[str, int]] = {}
    turns: ClassVar[tuple[str, ...]] = ()
    listable: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[tuple[str, ...]] = ()
    """Values that must be given."""

    def __post_init__(self) -> None:
        for name in AXES:
            given = getattr(self, name, None)
            if isinstance(given, str) and given in LETTERS:
                object.__setattr__(self, name, LETTERS[given])
        for name in self.turns:
            object.__setattr__(self, name, plain(getattr(self, name)))
        for name in self.needed:
            if getattr(self, name) is None:
                info = self.shapes[name]
                raise ModelError("no value is given", where=f"{self.name}.{name}", expected=_expected(self, name, info))
        super().__post_init__()

    def _check_shapes(self) -> None:
        for name, info in self.shapes.items():
            given = getattr(self, name)
            if given is not None and not self._fits(name, given):
                shown = list(given) if isinstance(given, tuple) and name not in self.lengths else given
                raise ModelError(f"found {shown!r}", where=f"{self.name}.{name}", expected=_expected(self, name, info))

    def _fits(self, name: str, given: Any) -> bool:
        """Whether a value has the shape of its field."""
        if name in self.lengths:
            return _is_vector(given, self.lengths[name])
        return not isinstance(given, tuple) or (name in self.listable and _is_vector(given, len(given)))

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        self._check_shapes()
        result = super().entries()
        for name in self.turns:
            if getattr(self, name) is not None:
                result |= vector_entries(name, getattr(self, name), _PARAMETER, PARAMETERS, self.name)
        return result

    @classmethod
    def scoped_fields(cls) -> tuple[str, ...]:
        return (*super().scoped_fields(), *cls.turns)

    @classmethod
    def forms(cls) -> dict[str, Form]:
        forms = super().forms()
        turns = {key: replace(forms[key], meaning="Euler parameters at the start", schema=FOUR) for key in cls.turns}
        return forms | turns | {key: replace(forms[key], required=True) for key in cls.needed}

    @classmethod
    def shaped_form(cls, key: str, form: Form) -> Form:
        plain = super().shaped_form(key, form)
        if key not in cls.lengths:
            one = value_schema(cls.shapes[key])
            return replace(plain, schema=or_null(either(one, several(VALUE, 1)) if key in cls.listable else one))
        vector = listed(VALUE, cls.lengths[key])
        return replace(plain, schema=or_null(either(vector, one_of(LETTERS)) if key in AXES else vector))

    def parameters(self, name: str, v: Mapping[str, Any]) -> ca.SX | None:
        """Given Euler parameters, with length one."""
        if getattr(self, name) is None:
            return None
        e = ca.vertcat(*(ca.SX(v[f"{name}.{each}"]) for each in PARAMETERS))
        return e / ca.norm_2(e)

    def vector(self, name: str, v: Mapping[str, Any], width: int = 3) -> ca.SX:
        """A value in symbols; zeros where it is not given."""
        given = self.shaped(name, v)
        return ca.SX.zeros(width) if given is None else given

    def frame_ports(self) -> tuple[str, ...]:
        """The names of its frames."""
        raise NotImplementedError

    def plain_ports(self) -> Mapping[str, int]:
        """Its ports that are no frames, with their widths."""
        return {}

    def start_fields(self) -> tuple[str, ...]:
        """Fields that say where it is at the start, and how it moves."""
        return ()

    def port_names(self) -> tuple[str, ...]:
        return (*self.frame_ports(), *self.plain_ports())

    def bundle(self, port: str) -> tuple[tuple[str, int | None], ...]:
        widths = self.plain_ports()
        return (("", widths[port]),) if port in widths else FRAME


def _is_vector(given: Any, length: int) -> bool:
    listed = isinstance(given, tuple) and len(given) == length
    return listed and not any(isinstance(each, tuple) for each in given)


def _expected(part: FramePart, name: str, info: Quantity) -> str:
    if name in part.lengths:
        unit = f" in {info.unit}" if info.unit else ""
        letters = ", or x, y or z" if name.startswith("axis") else ""
        return f"{part.lengths[name]} numbers{unit}, or expressions of parameters{letters}"
    return info.expected


# -- drawing the graph of a mask -------------------------------------------------------------------------------------


def junction(make: Opening, name: str, letter: str = "1", width: int = 3, *, open_ended: bool = False) -> str:
    """Add a junction and return its name."""
    make.vertex(Vertex(name, letter, width=width, open_ended=open_ended))
    return name


def frame(make: Opening, path: str, port: str) -> None:
    """Add the two junctions of a frame, at which bonds from outside end."""
    for word, _ in FRAME:
        make.expose(path, port, word, junction(make, f"{path}.{port}.{word}", open_ended=True))


def one_port(make: Opening, name: str, letter: str, at: str, width: int, *, out: bool = False, **law: Any) -> None:
    """Add an element and its bond: from a junction to it, or out of it."""
    make.vertex(Vertex(name, letter, width=width, **law))
    make.bond(f"{name}.bond", *((name, at) if out else (at, name)), width)


def transformer(
    make: Opening,
    name: str,
    matrix: ca.SX,
    one: End,
    two: End,
    *,
    modulated: bool,
    backwards: bool = False,
    near: ca.SX | None = None,
) -> None:
    """Add a TF, flow at ``two`` = matrix * flow at ``one``; its bonds point from one to two, or ``backwards``."""
    make.vertex(Vertex(name, "TF", modulated, matrix=matrix, near=near))
    ends = [(f"{name}.1", one, (name, "1"), matrix.shape[1]), (f"{name}.2", (name, "2"), two, matrix.shape[0])]
    for bond, tail, head, width in ends:
        make.bond(bond, *((head, tail) if backwards else (tail, head)), width)


def turn(make: Opening, name: str, C: ca.SX, x: End, y: End, *, from_y: bool, modulated: bool) -> None:
    """Flow at y = C flow at x, with bonds from x to y and C orthogonal; ``from_y`` where the flow at y is known first.

    The transformer is drawn so that its port 1 is where the flow is known: then it never has to be inverted.
    """
    if is_identity(C):
        make.bond(name, x, y, C.shape[0])
    elif from_y:
        transformer(make, name, C.T, y, x, modulated=modulated, backwards=True)
    else:
        transformer(make, name, C, x, y, modulated=modulated)


def lever(
    make: Opening, name: str, arm: ca.SX, spin: str, zero: str, *, modulated: bool = False, near: ca.SX | None = None
) -> None:
    """Add w x arm to the flows of a junction 0 (Filippini 2007, fig. 2; eq. 4, and eq. 3 with its bond reversed)."""
    transformer(make, name, -skew(arm), spin, zero, modulated=modulated, near=near)


def is_identity(C: ca.SX) -> bool:
    """Whether a matrix is the unit matrix, whatever the values of symbols are."""
    return bool(C.is_constant() and np.array_equal(np.asarray(ca.DM(C), dtype=float), np.eye(C.shape[0])))


def is_zero(vector: ca.SX) -> bool:
    """Whether a vector is zero, whatever the values of symbols are."""
    return bool(ca.SX(vector).is_zero())


class TurnedPart(FramePart):
    """A part whose frame may be turned by ``angle`` about ``axis``: both are given, or neither."""

    axis: Any = optional()
    angle: Any = optional()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_turn(self.axis, self.angle, self.name)

    def check(self, values: Mapping[str, float]) -> None:
        """The axis must be a direction."""
        check_axis(self.name, "axis", values)


def check_turn(axis: Any, angle: Any, where: str) -> None:
    """Refuse half of a turn: an angle without an axis, or an axis without an angle."""
    if (axis is None) != (angle is None):
        given, missing = ("angle", "axis") if axis is None else ("axis", "angle")
        raise ModelError(
            f"{given} is given without {missing}", where=where, expected="a turn by angle about axis, or neither"
        )


def check_axis(owner: str, name: str, values: Mapping[str, float]) -> tuple[float, ...]:
    """Refuse an axis without direction; empty where its numbers are not known yet."""
    parts = [values.get(f"{name}.{x}") for x in XYZ]
    if any(part is None for part in parts):
        return ()
    if all(part == 0.0 for part in parts):
        raise ModelError("the axis is (0, 0, 0)", where=f"{owner}.{name}", expected="a direction")
    return tuple(float(part) for part in parts if part is not None)


def constant_turn(part: BondPart, v: Mapping[str, Any], prefix: str = "") -> ca.SX:
    """The rotation by ``angle`` about ``axis``; none where no axis is given."""
    if f"{prefix}angle" not in v or f"{prefix}axis.x" not in v:
        return ca.SX.eye(3)
    return turned([ca.SX(v[f"{prefix}axis.{x}"]) for x in XYZ], v[f"{prefix}angle"])


def components(make: Opening, name: str, vector: ca.SX, unit: str, labels: Sequence[str] = ("x", "y", "z")) -> None:
    """Add a vector to the results."""
    for k, label in enumerate(labels):
        make.output(f"{name}.{label}", vector[k], unit)
