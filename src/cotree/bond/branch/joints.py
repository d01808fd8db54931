"""Joints of a mechanism: free axes with ports, and locked ones (Filippini 2007, figs. 4-6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.branch.base import Wrapped
from cotree.bond.mechanics.base import DOMAINS, components, frame, junction, lever, one_port, transformer, turn
from cotree.bond.mechanics.joint import Coordinate, coordinate_names
from cotree.bond.mechanics.joint import Joint as JointMask
from cotree.bond.motions import ORIENTATION, PARAMETERS, JointPlace, euler_parameters, poses_at, state
from cotree.bond.structure import XYZ, component_names
from cotree.errors import ModelError, listing
from cotree.formulation.system import Output, turns_name
from cotree.maths.rotation import perpendicular, vee
from cotree.model import Component
from cotree.model.form import said
from cotree.terminal.joints import (
    Cylindrical,
    Free,
    Planar,
    PlanarSlide,
    Prismatic,
    Revolute,
    Screw,
    Slide,
    Spherical,
    Turning,
    Universal,
    Weld,
    unit,
)
from cotree.terminal.mechanics import Joint

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

KNOWN = (Cylindrical, Free, Planar, PlanarSlide, Prismatic, Revolute, Screw, Slide, Spherical, Universal, Weld)
RATES = {"omega": "angular_velocity"}
"""Start values with a name other than that of their coordinate's rate."""


def port_of(coordinate: str) -> str:
    """The port of a joint along one of its coordinates."""
    return f"{coordinate}_axis"


class OfJoint(Wrapped, JointMask):
    """A joint with the coordinates, speeds and reactions of the mechanical one.

    Along each scalar coordinate there is a port: ``angle_axis``. A joint at a point mass is not ``oriented``: it holds
    translations only, since a point does not turn.
    """

    kind = "bond.of_joint"
    wraps: ClassVar[type[Component]] = Joint
    oriented: bool = field(default=True, kw_only=True, metadata=said("whether it holds rotations, too"))

    def __post_init__(self) -> None:
        if isinstance(self.component, Joint) and not isinstance(self.component, KNOWN):
            known = listing([cls.kind for cls in KNOWN], len(KNOWN))
            raise ModelError(
                f"a {self.component.kind} has no bond graph",
                where=self.name,
                expected=f"one of {known}",
                remedy="Simulate the mechanism itself, or build the joint of these",
            )
        super().__post_init__()

    @property
    def role(self) -> str:  # type: ignore[override]
        """A joint at a point carries no frame on: it only holds."""
        return "joint" if self.oriented else "force"

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:  # type: ignore[override]
        """Those of the mechanical joint."""
        found = []
        for c in self.component.coordinates:
            if c.name == ORIENTATION:
                found.append(Coordinate(ORIENTATION, "omega", "turning", "rotation", 3))
            else:
                found.append(Coordinate(c.name, f"{c.name}_rate", port_of(c.name), c.group))
        return tuple(c for c in found if self.oriented or c.word == "translation")

    @property
    def moves(self) -> bool:
        return isinstance(self.component, Screw) or bool(self.free("translation"))

    def locked(self, word: str) -> int:
        return 0 if word == "rotation" and not self.oriented else super().locked(word)

    # -- values --------------------------------------------------------------------------------------------------

    def vector(self, name: str, v: Mapping[str, Any], width: int = 3) -> ca.SX:
        """A start value; zeros where it is not given."""
        name = RATES.get(name, name)
        parts = [v.get(name)] if width == 1 else [v.get(f"{name}.{x}") for x in XYZ]
        return ca.SX(ca.vertcat(*(ca.SX(0) if part is None else ca.SX(part) for part in parts)))

    def parameters(self, name: str, v: Mapping[str, Any]) -> ca.SX | None:
        parts = [v.get(f"{name}.{e}") for e in PARAMETERS]
        if any(part is None for part in parts):
            return None
        e = ca.vertcat(*(ca.SX(v[f"{name}.{e}"]) for e in PARAMETERS))
        return e / ca.norm_2(e)

    def make_coordinates(self, make: Opening, path: str, v: Mapping[str, Any]) -> dict[str, ca.SX]:
        for c in self.coordinates:
            if c.name in self.component.fixed:
                make.structure.fixed.update(coordinate_names(path, c))
            if RATES.get(c.rate, c.rate) in self.component.fixed:
                make.structure.fixed.update(component_names(f"{path}.{c.rate}", c.width))
        return super().make_coordinates(make, path, v)

    # -- kinematics ----------------------------------------------------------------------------------------------

    def turn(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        return ca.SX(self.component.rotation(self.fields_of(v), q))

    def shift(self, v: Mapping[str, Any], q: Mapping[str, ca.SX]) -> ca.SX:
        return ca.SX(self.component.translation(self.fields_of(v), q))

    def measure(self, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, ca.SX]:
        found = self.component.measure(self.fields_of(v), d, C)
        return {name: ca.SX(value) for name, value in found.items()}

    def axes(self, word: str, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        joint, values = self.component, self.fields_of(v)
        if word == "rotation" and isinstance(joint, Universal):
            first, second = ca.mtimes(C.T, unit(values.axis_1)), unit(values.axis_2)
            return ca.horzcat(first, second, ca.cross(first, second))
        if word == "rotation":
            return _completed([unit(values.axis)]) if isinstance(joint, Turning) else ca.SX.eye(3)
        free = self.free(word)
        still = {c.name: ca.SX(0) for c in free}
        columns = [joint.translation_rate(values, {}, {**still, c.name: ca.SX(1)}) for c in free]
        return _completed([ca.SX(column) for column in columns])

    def turning_gap(self, v: Mapping[str, Any], C: ca.SX) -> ca.SX:
        joint, values = self.component, self.fields_of(v)
        if isinstance(joint, Universal):
            return -ca.dot(unit(values.axis_1), ca.mtimes(C, unit(values.axis_2)))
        if isinstance(joint, Turning):
            n = unit(values.axis)
            e1, e2 = perpendicular(n)
            seen = ca.mtimes(C.T, n)  # a's axis in b: its rate is seen x w
            return ca.vertcat(ca.dot(e2, seen), -ca.dot(e1, seen))
        return vee(C) if self.locked("rotation") else ca.SX(0, 1)

    def gap(self, word: str, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> ca.SX:
        if word == "translation" and isinstance(self.component, Screw):
            one, two, along = ca.vertsplit(self.component.closure(self.fields_of(v), d, C))
            return ca.mtimes(_completed([unit(self.fields_of(v).axis)]), ca.vertcat(along, one, two))
        return super().gap(word, v, C, d)

    # -- the mask ------------------------------------------------------------------------------------------------

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        if self.oriented:
            super().open(make, path, v)
            return
        (R, r), (R_b, r_b) = poses_at(make, path, ("a", "b")).values()
        C, d = ca.mtimes(R.T, R_b), ca.mtimes(R.T, r_b - r)
        placed = JointPlace("loop", "a", C, d, (C, d))
        for port in ("a", "b"):
            frame(make, path, port)
        move = junction(make, f"{path}.translation", "0")
        make.bond(f"{path}.a.move", f"{path}.a.translation", move, 3)
        modulated = not C.is_constant()
        name, there = f"{path}.turn.translation", f"{path}.b.translation"
        turn(make, name, C.T, move, there, from_y=True, modulated=modulated)
        lever(make, f"{path}.arm", d, f"{path}.a.rotation", move, modulated=True)
        self._relative(make, path, v, "translation", move, placed)
        self._report(make, path, v, placed)

    def start_rates(self, v: Mapping[str, Any], C: ca.SX) -> tuple[ca.SX, ca.SX]:
        spin, rate = super().start_rates(v, C)
        if isinstance(self.component, Screw):
            u = {"angle": self.vector("angle_rate", v, 1)}
            rate = ca.SX(self.component.translation_rate(self.fields_of(v), {}, u))
        return spin, rate

    def _lock(self, make: Opening, path: str, v: Mapping[str, Any], word: str, placed: JointPlace) -> None:
        if word == "rotation" or not isinstance(self.component, Screw):
            super()._lock(make, path, v, word, placed)
            return
        # the travel follows the angle: an Sf = 0 holds the difference
        zero = junction(make, f"{path}.travel", "0")
        make.bond(f"{path}.travel.bond", f"{path}.locked.{word}", zero, 3)
        lead = -self._lead(v) * unit(self.fields_of(v).axis)
        shaft = f"{path}.{port_of('angle')}"
        transformer(make, f"{path}.lead", lead, shaft, zero, modulated=False)
        gap = self.gap(word, v, placed.C, placed.d) if placed.how == "loop" else None
        still = ca.SX.zeros(3)
        one_port(make, f"{path}.reaction.{word}", "Sf", zero, 3, value=still, domain=DOMAINS[word], gap=gap, text="0")

    def _lead(self, v: Mapping[str, Any]) -> ca.SX:
        return ca.SX(self.fields_of(v).pitch / (2 * ca.pi))

    # -- results -------------------------------------------------------------------------------------------------

    def _held(self, make: Opening, path: str, v: Mapping[str, Any], word: str, placed: JointPlace) -> ca.SX:
        result = super()._held(make, path, v, word, placed)
        if word == "rotation" and isinstance(self.component, Screw):  # a screw does no work
            n = unit(self.fields_of(v).axis)
            force = super()._held(make, path, v, "translation", placed)
            result -= self._lead(v) * ca.dot(n, force) * n
        return result

    def _report(self, make: Opening, path: str, v: Mapping[str, Any], placed: JointPlace) -> None:
        self._report_rates(make, path)
        if placed.how != "tree":
            self._measure(make, path, v, placed)
        for word, name, unit_of in (("translation", "force", "N"), ("rotation", "torque", "N m")):
            components(make, f"{path}.{name}", self._held(make, path, v, word, placed), unit_of)

    def _measure(self, make: Opening, path: str, v: Mapping[str, Any], placed: JointPlace) -> None:
        """Coordinates of a joint that closes a loop, whose angles count full turns."""
        measured = self.measure(v, placed.C, placed.d)
        begin = self.start(v)
        for c in self.coordinates:
            name = f"{path}.{c.name}"
            if c.name == ORIENTATION:
                for k, each in enumerate(coordinate_names(path, c)):
                    make.output(each, euler_parameters(placed.C)[k], "")
            elif c.word == "translation":
                make.output(name, measured[c.name], c.unit)
            elif self._used(make, path, c):  # a law needs the angle itself: a state picks the branch of the arc tangent
                rate = make.signal(f"{path}.{c.port}.flow")
                count = state(make, (turns_name(name),), c.unit, begin[c.name], rate, path)
                ahead = measured[c.name] - count
                make.output(name, count + ca.atan2(ca.sin(ahead), ca.cos(ahead)), c.unit)
            else:
                make.structure.outputs[name] = Output(measured[c.name], c.unit, begin[c.name])

    def _used(self, make: Opening, path: str, c: Coordinate) -> bool:
        """Whether a part or an expression uses a coordinate."""
        bonded = any((path, c.port) in (wire.tail, wire.head) for wire in make.wires)
        return bonded or f"{path}.{c.name}" in make.placeholders.made


def _completed(columns: list[ca.SX]) -> ca.SX:
    """Unit vectors at right angles, completed to a right-handed frame."""
    if len(columns) == 1:
        columns = [*columns, *perpendicular(columns[0])]
    elif len(columns) == 2:
        columns = [*columns, ca.cross(columns[0], columns[1])]
    return ca.horzcat(*columns) if columns else ca.SX.eye(3)
