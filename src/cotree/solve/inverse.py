"""Inverse dynamics: the forces and torques that a prescribed motion needs.

Where the model has drivers, their forces are results of its kinematics. For a model without, drivers are added to a
copy of it: one for each coordinate whose course is given, as an expression of time or as values over time. Values are
joined by a spline of degree five, so that accelerations and their rates are continuous.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, listing, nearest
from cotree.formulation import model_equations
from cotree.maths.viewed import Table, Viewed
from cotree.model import Model
from cotree.model.helpful import helpful
from cotree.model.quantity import Time
from cotree.results import Solution
from cotree.solve.kinematics import kinematics
from cotree.solve.locks import without_locks
from cotree.terminal.drivers import Drive
from cotree.terminal.forces import JointActuator
from cotree.terminal.mechanics import Driver, Joint

Array = NDArray[np.float64]
Course = str | float | tuple[Sequence[float] | Array, Sequence[float] | Array]
"""An expression of time, a number, or times and values."""

M = TypeVar("M", bound=Model)

DEGREE = 5


@dataclass(frozen=True)
class Spline:
    """A piecewise polynomial through given values, as an expression of its argument."""

    breaks: tuple[float, ...]
    coefficients: tuple[tuple[float, ...], ...]
    """Of each piece, highest power first, in the distance from its left end."""

    @classmethod
    def through(cls, times: Sequence[float], values: Sequence[float], where: str) -> Spline:
        """The spline of degree five (less where there are few values) through values at increasing times."""
        from scipy.interpolate import PPoly, make_interp_spline

        x, y = (np.asarray(part, dtype=float).ravel() for part in (times, values))
        if len(x) != len(y) or len(x) < 2 or not np.isfinite(np.concatenate([x, y])).all() or (np.diff(x) <= 0).any():
            raise ModelError(
                f"{len(x)} times and {len(y)} values",
                where=where,
                expected="as many finite values as increasing times, at least two",
            )
        degree = min(DEGREE, (len(x) - 1) // 2 * 2 + 1 if len(x) > 2 else 1)
        pieces = PPoly.from_spline(make_interp_spline(x, y, k=min(degree, len(x) - 1)))
        wide = np.flatnonzero(np.diff(pieces.x) > 0)
        breaks = (*pieces.x[wide].tolist(), float(pieces.x[wide[-1] + 1]))
        return cls(breaks, tuple(tuple(column) for column in pieces.c[:, wide].T.tolist()))

    def __call__(self, t: ca.SX) -> ca.SX:
        """The value; beyond the ends the outer pieces go on."""
        rows = [(*piece, left) for piece, left in zip(self.coefficients, self.breaks[:-1], strict=True)]
        *powers, left = self._chosen(t, rows, 1)
        value, distance = ca.SX(0), t - left
        for factor in powers:
            value = value * distance + factor
        return value

    def _chosen(self, t: ca.SX, rows: list[tuple[Any, ...]], first: int) -> tuple[Any, ...]:
        """The numbers of the piece at t, by halving."""
        if len(rows) == 1:
            return rows[0]
        half = len(rows) // 2
        before = t < self.breaks[first - 1 + half]
        left, right = self._chosen(t, rows[:half], first), self._chosen(t, rows[half:], first + half)
        return tuple(ca.if_else(before, a, b) for a, b in zip(left, right, strict=True))


class SplineDrive(Drive):
    """coordinate = spline(t): a drive along given values; its signal is the time itself."""

    kind: ClassVar[str] = ""

    spline: Any = dataclasses.field(default=None, kw_only=True)

    def course(self, v: Any) -> ca.SX:
        return self.spline(super().course(v))  # type: ignore[no-any-return]


class SplineActuator(JointActuator):
    """force along the coordinate = spline(t); its signal is the time itself."""

    kind: ClassVar[str] = ""

    spline: Any = dataclasses.field(default=None, kw_only=True)

    def force(self, v: Any, x: ca.SX, rate: ca.SX, here: Any) -> ca.SX:
        return self.spline(super().force(v, x, rate, here))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class InverseDynamics(Viewed):
    """The forces that a motion needs: ``inverse["O.angle"]`` over ``inverse.t``; ``solution`` holds all results."""

    solution: Solution
    efforts: Mapping[str, Array]
    """Force or torque along each driven coordinate."""
    units: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<InverseDynamics of '{self.solution.model}': {listing(self.efforts, 3)}, {len(self.t)} times>"

    def _view(self) -> Table | str:
        rows = ((name, *(float(f(each)) for f in (np.min, np.max)), self.units[name])
                for name, each in self.efforts.items())  # fmt: skip
        return Table(("driven", "least effort", "largest effort", "unit"), rows, len(self.efforts))

    @property
    def t(self) -> Array:
        """The times."""
        return self.solution.t

    def __getitem__(self, name: str) -> Array:
        if name not in self.efforts:
            raise ModelError(
                f"'{name}' is not driven",
                expected=f"one of {listing(self.efforts)}",
                remedy=nearest(str(name), self.efforts),
            )
        return self.efforts[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.efforts)


@helpful
def inverse_dynamics(
    model: Model, t_end: Time, motion: Mapping[str, Course] | None = None, *, tree: Any = None, **options: Any
) -> InverseDynamics:
    """The forces of the drivers that the model has and of those that ``motion`` adds: courses by joint coordinate.

    >>> inverse_dynamics(model, 2.0, {"O.angle": "0.3*sin(t)", "P.displacement": (times, values)})["O.angle"]

    ``tree`` is a preset (added drivers are edges, too); the options are those of `kinematics`.
    """
    driven = driven_model(model, motion or {})
    equations = model_equations(driven, tree)
    without_locks(equations, "inverse dynamics")
    solution = kinematics(equations, t_end, **options)
    efforts: dict[str, Array] = {}
    units: dict[str, str] = {}
    for part in driven.components.values():
        if isinstance(part, Driver):
            joint = _joint(driven, part.on, part.name)
            name = next(n for n in (f"{part.name}.torque", f"{part.name}.force") if n in solution)
            key = f"{part.on}.{part.chosen(joint)}"
            efforts[key], units[key] = solution[name], solution.unit(name)
    return InverseDynamics(solution, efforts, units)


def driven_model(model: M, motion: Mapping[str, Course]) -> M:
    """A copy of the model with a driver for each coordinate whose course is given."""
    result = _copied(model)
    for coordinate, course in motion.items():
        joint, name = _coordinate(model, coordinate)
        group = next(c.group for c in joint.coordinates if c.name == name)
        field = "angle" if group == "rotation" else "displacement"
        own, plain = f"drive_{joint.name}_{name}", isinstance(course, (str, int, float))
        how: dict[str, Any] = {"coordinate": name, field: course if plain else "t"}
        if not plain:
            how["spline"] = _spline(course, coordinate)
        result.add(Drive(own, joint.name, **how) if plain else SplineDrive(own, joint.name, **how))
    return result


def actuated_model(model: M, efforts: Mapping[str, Course]) -> M:
    """A copy of the model with an actuator for each coordinate whose force or torque is given."""
    result = _copied(model)
    for coordinate, effort in efforts.items():
        joint, name = _coordinate(model, coordinate)
        own = f"actuator_{joint.name}_{name}"
        if isinstance(effort, (str, int, float)):
            result.add(JointActuator(own, joint.name, coordinate=name, effort=effort))
        else:
            spline = _spline(effort, coordinate)
            result.add(SplineActuator(own, joint.name, coordinate=name, effort="t", spline=spline))
    return result


def _copied(model: M) -> M:
    result = copy.copy(model)
    result.components, result.parameters = dict(model.components), dict(model.parameters)
    return result


def _spline(course: Any, where: str) -> Spline:
    if not isinstance(course, (tuple, list)) or len(course) != 2:
        raise ModelError(
            f"the course is {type(course).__name__}",
            where=where,
            expected="an expression of time, or a pair of times and values",
        )
    return Spline.through(course[0], course[1], where)


def _joint(model: Model, name: str, where: str) -> Joint:
    joint = model.components.get(name)
    if not isinstance(joint, Joint):
        joints = [other for other, part in model.components.items() if isinstance(part, Joint)]
        raise ModelError(
            f"there is no joint '{name}'",
            where=where,
            expected=f"one of {listing(joints)}",
            remedy=nearest(name, joints),
        )
    return joint


def _coordinate(model: Model, name: str) -> tuple[Joint, str]:
    """The joint and the coordinate of a dotted name."""
    owner, _, coordinate = str(name).rpartition(".")
    joint = _joint(model, owner or str(name), str(name))
    scalars = [c.name for c in joint.coordinates if len(c.names) == 1]
    if coordinate not in scalars:
        raise ModelError(
            f"'{joint.name}' has no coordinate '{coordinate}'",
            where=str(name),
            expected=listing(scalars) or "a joint with coordinates that can be driven",
        )
    return joint, coordinate


__all__ = [
    "Course", "InverseDynamics", "Spline", "SplineActuator", "SplineDrive", "actuated_model", "driven_model",
    "inverse_dynamics",
]  # fmt: skip
