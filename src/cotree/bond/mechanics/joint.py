"""What all joints between two frames a and b share (Filippini 2007, figs. 4-6).

The relative angular velocity stands in b's axes, the relative velocity in a's. Each is taken apart into free axes, with
Se = 0 and a port at which springs, motors and sources may be bonded, and locked axes. An ideal joint locks by Sf = 0,
one with ``stiffness`` and ``turning_stiffness`` by C elements, and R elements where damping is given.

The frames coincide when all coordinates of a joint are zero; its axes have the same components in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.elements import optional
from cotree.bond.mechanics.base import (
    DOMAINS,
    FramePart,
    components,
    frame,
    junction,
    lever,
    one_port,
    transformer,
    turn,
    value,
)  # fmt: skip
from cotree.bond.motions import ORIENTATION, PARAMETERS, JointPlace, euler_parameters, state
from cotree.bond.structure import XYZ, StartWish, Vertex, component_names
from cotree.errors import ModelError, listing
from cotree.maths.rotation import quaternion_rate, skew, vee
from cotree.model.quantity import Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

WORDS = ("rotation", "translation")
_HOLD = {"rotation": "turning_stiffness", "translation": "stiffness"}
_DAMP = {"rotation": "turning_damping", "translation": "damping"}
SHAPES = {
    "stiffness": value("N/m", "stiffness of the locked translations", "positive"),
    "turning_stiffness": value("N m/rad", "stiffness of the locked rotations", "positive"),
    "damping": value("N s/m", "damping of the locked translations", "non-negative"),
    "turning_damping": value("N m s/rad", "damping of the locked rotations", "non-negative"),
}


@dataclass(frozen=True)
class Coordinate:
    """A free motion of a joint: its name, that of its rate, its port, and whether it is a rotation or a translation."""

    name: str
    rate: str
    port: str
    word: str
    width: int = 1

    @property
    def unit(self) -> str:
        """Its unit."""
        return "m" if self.word == "translation" else "" if self.name == ORIENTATION else "rad"

    @property
    def rate_unit(self) -> str:
        """The unit of its rate."""
        return "m/s" if self.word == "translation" else "rad/s"


def starts(*coordinates: Coordinate) -> dict[str, Any]:
    """The start values of coordinates as values of a joint."""
    result = {}
    for c in coordinates:
        if c.name != ORIENTATION:
            result[c.name] = value(c.unit, f"{c.name} at the start")
        result[c.rate] = value(c.rate_unit, f"{c.rate} at the start")
    return result


class Joint(FramePart):
    """What all joints share: a mask with frames a and b."""

    role = "joint"
    coordinates: ClassVar[tuple[Coordinate, ...]] = ()
    shapes: ClassVar[Mapping[str, Quantity]] = SHAPES
    listable = tuple(SHAPES)
    stiffness: Any = optional()
    turning_stiffness: Any = optional()
    damping: Any = optional()
    turning_damping: Any = optional()

    def __post_init__(self) -> None:
        super().__post_init__()
        locked = [word for word in WORDS if self.locked(word)]
        given = [word for word in WORDS if getattr(self, _HOLD[word]) is not None]
        for word in WORDS:
            for name in (_HOLD[word], _DAMP[word]):
                self._check_hold(name, word, locked)
        if given and given != locked:
            missing = [_HOLD[word] for word in locked if word not in given]
            raise ModelError(
                f"{listing([_HOLD[word] for word in given])} is given without {listing(missing)}", where=self.name,
                expected="C elements on all locked axes, or on none",
            )  # fmt: skip
        damped = [_DAMP[word] for word in WORDS if getattr(self, _DAMP[word]) is not None]
        if damped and not given:
            raise ModelError(
                f"{damped[0]} is given for an ideal joint, whose locked axes do not move", where=self.name,
                remedy="Give a stiffness too, or bond an R to a free axis",
            )  # fmt: skip

    def _check_hold(self, name: str, word: str, locked: list[str]) -> None:
        given = getattr(self, name)
        if given is None:
            return
        if word not in locked:
            raise ModelError(f"{name} is given, but no {word} is locked", where=self.name, remedy=f"Leave out {name}")
        if isinstance(given, tuple) and len(given) != self.locked(word):
            expected = f"one number, or {self.locked(word)}: one for each locked {word}"
            raise ModelError(f"found {given!r}", where=f"{self.name}.{name}", expected=expected)

    @property
    def compliant(self) -> bool:
        """Whether C elements stand in for its constraints."""
        return self.stiffness is not None or self.turning_stiffness is not None

    def free(self, word: str) -> tuple[Coordinate, ...]:
        """Its free rotations or translations."""
        return tuple(c for c in self.coordinates if c.word == word)

    def locked(self, word: str) -> int:
        """How many rotations or translations it locks."""
        return 3 - sum(c.width for c in self.free(word))

    @property
    def moves(self) -> bool:
        """Whether b's origin moves in a."""
        return bool(self.free("translation"))

    def frame_ports(self) -> tuple[str, ...]:
        return ("a", "b")

    def plain_ports(self) -> Mapping[str, int]:
        return {c.port: c.width for c in self.coordinates}

    # -- kinematics of each joint --------------------------------------------------------------------------------

    def turn(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        """The rotation of b in a."""
        return ca.SX.eye(3)

    def shift(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        """The position of b in a's axes."""
        return ca.SX.zeros(3)

    def axes(self, word: str, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        """Its free and then its locked axes, as columns: in b's axes for rotations, in a's for translations."""
        return ca.SX.eye(3)

    def turning_gap(self, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        """What is zero when the locked rotations hold; its rates are the flows about the locked axes then."""
        return vee(C) if self.locked("rotation") else ca.SX(0, 1)

    def measure(self, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, ca.SX]:
        """Its coordinates, from the relative pose."""
        return {}

    # -- coordinates ---------------------------------------------------------------------------------------------

    def start(self, v: Mapping[str, Any]) -> dict[str, ca.SX]:
        """Its coordinates at the start."""
        result = {}
        for c in self.coordinates:
            if c.name == ORIENTATION:
                e = self.parameters(ORIENTATION, v)
                result[c.name] = ca.SX([1, 0, 0, 0]) if e is None else e
            else:
                result[c.name] = self.vector(c.name, v, c.width)
        return result

    def start_rates(self, v: Mapping[str, Any], C: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Relative angular velocity (b's axes) and velocity (a's axes) at the start."""
        result = []
        for word in WORDS:
            rates = [self.vector(c.rate, v, c.width) for c in self.free(word)]
            count = 3 - self.locked(word)
            moving = ca.mtimes(self.axes(word, v, C)[:, :count], ca.vertcat(*rates)) if rates else ca.SX.zeros(3)
            result.append(moving)
        return result[0], result[1]

    def make_coordinates(self, make: Opening, path: str, v: Mapping[str, Any]) -> dict[str, ca.SX]:
        """Its coordinates as states, whose rates are the flows of its free axes."""
        result, begin = {}, self.start(v)
        for c in self.coordinates:
            source = f"{path}.{c.port}.free"
            flow = make.signal(f"{source}.flow", c.width)
            names = coordinate_names(path, c)
            if c.name == ORIENTATION:
                e = ca.vertcat(*(ca.SX.sym(name) for name in names))
                result[c.name] = state(make, names, "", begin[c.name], quaternion_rate(e, flow), path, source, e)
            else:
                result[c.name] = state(make, names, c.unit, begin[c.name], flow, path)
        return result

    # -- the mask ------------------------------------------------------------------------------------------------

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        placed: JointPlace = make.structure.placed[path]
        tree = placed.how == "tree"
        modulated = not placed.C.is_constant()
        frame(make, path, "a")
        frame(make, path, "b")
        spin = junction(make, f"{path}.rotation", "0")
        move = junction(make, f"{path}.translation", "0")
        back = tree and placed.root == "b"
        turn(make, f"{path}.turn.rotation", placed.C.T, f"{path}.a.rotation", spin, from_y=back, modulated=modulated)
        make.bond(f"{path}.b.spin", spin, f"{path}.b.rotation", 3)
        make.bond(f"{path}.a.move", f"{path}.a.translation", move, 3)
        turn(
            make, f"{path}.turn.translation", placed.C.T, move, f"{path}.b.translation",
            from_y=back or not tree, modulated=modulated,
        )  # fmt: skip
        soft = placed.how == "compliant"
        if self.moves or soft:  # modulated by the slide, Filippini 2007, fig. 6, or by the gap
            lever(
                make,
                f"{path}.arm",
                placed.d,
                f"{path}.a.rotation",
                move,
                modulated=True,
                near=ca.SX.zeros(3, 3) if soft and not self.moves else None,
            )
        for word, zero in (("rotation", spin), ("translation", move)):
            self._relative(make, path, v, word, zero, placed)
        self._report(make, path, v, placed)
        self._wish(make, path, v, placed)

    def _wish(self, make: Opening, path: str, v: Mapping[str, Any], placed: JointPlace) -> None:
        """Take down which start values are given: of coordinates, and of what closes a loop."""
        structure, tree = make.structure, placed.how == "tree"
        for c in self.coordinates:
            if getattr(self, c.name, None) is not None:
                if tree:
                    structure.kept |= set(coordinate_names(path, c))
                elif c.width == 1 and placed.how == "loop":
                    now, value = self.measure(v, placed.C, placed.d)[c.name], self.vector(c.name, v, c.width)
                    structure.wishes.append(StartWish(f"{path}.{c.name}", value, c.unit == "m", now=ca.SX(now)))
            if getattr(self, c.rate, None) is not None:
                if tree and not placed.light:
                    structure.kept |= set(component_names(f"{path}.{c.rate}", c.width))
                elif placed.how == "loop":
                    value, flow = self.vector(c.rate, v, c.width), f"{path}.{c.port}.free"
                    structure.wishes.append(StartWish(f"{path}.{c.rate}", value, c.unit == "m", flow=flow))

    def _relative(
        self, make: Opening, path: str, v: Mapping[str, Any], word: str, zero: str, placed: JointPlace
    ) -> None:
        """Add the relative motion: the free axes with their ports, and the locked ones."""
        free, locked = self.free(word), self.locked(word)
        parts = [(f"{path}.{c.port}", c.width) for c in free]
        parts += [(f"{path}.locked.{word}", locked)] if locked else []
        for name, width in parts:
            junction(make, name, width=width)
        if word == "rotation" and locked and placed.how == "compliant":
            self._soft_turn(make, path, v, zero, placed.C)
        elif len(parts) == 1:
            make.bond(f"{path}.relative.{word}", parts[0][0], zero, 3)
        else:
            split = f"{path}.split.{word}"
            make.vertex(Vertex(split, "Split", parts=tuple(width for _, width in parts), domain=DOMAINS[word]))
            for k, (name, width) in enumerate(parts):
                make.bond(f"{name}.part", name, (split, str(k + 1)), width)
            axes = self.axes(word, v, placed.C)
            turn(
                make, f"{path}.axes.{word}", axes, (split, "whole"), zero, from_y=placed.how != "tree",
                modulated=not axes.is_constant(),
            )  # fmt: skip
        for c in free:
            self._release(make, path, v, c, placed)
        if locked:
            self._lock(make, path, v, word, placed)

    def _soft_turn(self, make: Opening, path: str, v: Mapping[str, Any], zero: str, C: ca.SX) -> None:
        """Add the relative spin, and from it the flows of the free axes and the rates of the gap."""
        spin = junction(make, f"{path}.relative.rotation")
        make.bond(f"{spin}.bond", spin, zero, 3)
        axes, at = self.axes("rotation", v, C), 0
        for c in self.free("rotation"):
            rows = axes[:, at : at + c.width].T
            at += c.width
            name, modulated = f"{path}.axes.{c.port}", not rows.is_constant()
            transformer(make, name, rows, spin, f"{path}.{c.port}", modulated=modulated, backwards=True)
        rows, name = self.gap_rate(v, C), f"{path}.axes.locked"
        turning = ca.SX.sym("C", 3, 3)
        near = None if ca.depends_on(self.axes("rotation", v, turning), turning) else axes[:, at:].T
        transformer(make, name, rows, spin, f"{path}.locked.rotation", modulated=True, backwards=True, near=near)

    def _release(self, make: Opening, path: str, v: Mapping[str, Any], c: Coordinate, placed: JointPlace) -> None:
        """Add the Se = 0 of a free axis, and its port."""
        name, tree = f"{path}.{c.port}", placed.how == "tree" and not placed.light
        one_port(
            make, f"{name}.free", "Se", name, c.width, value=ca.SX.zeros(c.width), domain=DOMAINS[c.word], text="0",
            preferred=tree, start_conjugate=self.vector(c.rate, v, c.width) if tree else None,
            speeds=component_names(f"{path}.{c.rate}", c.width),
        )  # fmt: skip
        make.expose(path, c.port, "", name)

    def _lock(self, make: Opening, path: str, v: Mapping[str, Any], word: str, placed: JointPlace) -> None:
        """Hold the locked axes: by Sf = 0, or by C and R."""
        at, width, domain = f"{path}.locked.{word}", self.locked(word), DOMAINS[word]
        if placed.how != "compliant":
            gap = self.gap(word, v, placed.C, placed.d) if placed.how == "loop" else None
            still = ca.SX.zeros(width)
            one_port(make, f"{path}.reaction.{word}", "Sf", at, width, value=still, domain=domain, gap=gap, text="0")
            return
        begin = self.gap(word, v, *placed.start)
        matrix = diagonal(self.shaped(_HOLD[word], v), width)
        one_port(
            make, f"{path}.spring.{word}", "C", at, width, matrix=matrix, start=begin, loose=True, domain=domain,
            text="k",
        )  # fmt: skip
        damping = self.shaped(_DAMP[word], v)
        if damping is not None and not damping.is_zero():
            one_port(make, f"{path}.damper.{word}", "R", at, width, matrix=diagonal(damping, width), domain=domain)

    def gap(self, word: str, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> ca.SX:
        """What is zero when the locked axes hold."""
        if word == "rotation":
            return self.turning_gap(v, C)
        return ca.mtimes(self.axes(word, v, C)[:, 3 - self.locked(word) :].T, d)

    def gap_rate(self, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        """The matrix that takes the relative angular velocity, in b's axes, to the rate of the turning gap."""
        now = ca.SX.sym("C", 3, 3)
        columns = [ca.mtimes(now, skew(ca.SX.eye(3)[:, k])) for k in range(3)]  # C' = C skew(w)
        rates = ca.horzcat(*(ca.vec(column) for column in columns))
        matrix = ca.mtimes(ca.jacobian(self.turning_gap(v, now), ca.vec(now)), rates)
        return ca.substitute(matrix, now, C)

    # -- results -------------------------------------------------------------------------------------------------

    def _report(self, make: Opening, path: str, v: Mapping[str, Any], placed: JointPlace) -> None:
        if placed.how != "tree":
            measured = self.measure(v, placed.C, placed.d)
            for c in self.coordinates:
                now = euler_parameters(placed.C) if c.name == ORIENTATION else measured[c.name]
                for k, name in enumerate(coordinate_names(path, c)):
                    make.output(name, now[k], c.unit)
        self._report_rates(make, path)
        for word, name, unit_of in (("translation", "force", "N"), ("rotation", "torque", "N m")):
            components(make, f"{path}.{name}", self._held(make, path, v, word, placed), unit_of)

    def _report_rates(self, make: Opening, path: str) -> None:
        for c in self.coordinates:
            flow = make.reported(f"{path}.{c.port}.flow", c.width)
            if c.width == 1:
                make.output(f"{path}.{c.rate}", flow, c.rate_unit)
            else:
                components(make, f"{path}.{c.rate}", flow, c.rate_unit)

    def _held(self, make: Opening, path: str, v: Mapping[str, Any], word: str, placed: JointPlace) -> ca.SX:
        """What the locked axes do to b at its origin, in a's axes."""
        width = self.locked(word)
        if not width:
            return ca.SX.zeros(3)
        names = [f"{path}.reaction.{word}"] if placed.how != "compliant" else [f"{path}.spring.{word}"]
        if f"{path}.damper.{word}" in make.structure.vertices:
            names.append(f"{path}.damper.{word}")
        effort = sum((make.reported(f"{name}.effort", width) for name in names), ca.SX.zeros(width))
        if word == "rotation" and placed.how == "compliant":
            return -ca.mtimes(placed.C, ca.mtimes(self.gap_rate(v, placed.C).T, effort))
        result = -ca.mtimes(self.axes(word, v, placed.C)[:, 3 - width :], effort)
        return ca.mtimes(placed.C, result) if word == "rotation" else result


def coordinate_names(path: str, c: Coordinate) -> tuple[str, ...]:
    """The names of a coordinate's components."""
    if c.name == ORIENTATION:
        return tuple(f"{path}.{c.name}.{e}" for e in PARAMETERS)
    return (f"{path}.{c.name}",) if c.width == 1 else tuple(f"{path}.{c.name}.{x}" for x in XYZ)


def diagonal(given: ca.SX | None, width: int) -> ca.SX:
    """One value for all axes, or one for each, as a matrix."""
    given = ca.SX(0) if given is None else given
    return given * ca.SX.eye(width) if given.numel() == 1 else ca.diag(given)
