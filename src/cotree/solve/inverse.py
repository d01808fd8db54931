"""Inverse dynamics: the forces and torques that a prescribed motion needs.

Where the model has drivers, their forces are results of its kinematics. For a model without, drivers are added to a
copy of it: one for each coordinate whose course is given, as an expression of time or as values over time. Values are
data of the model, joined by a spline of degree five, so that accelerations and their rates are continuous.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, listing, nearest
from cotree.formulation import model_equations
from cotree.maths.viewed import Table, Viewed
from cotree.model import Model
from cotree.model.helpful import helpful
from cotree.model.quantity import Time
from cotree.results import Solution
from cotree.results.components import components
from cotree.solve.kinematics import kinematics
from cotree.solve.locks import without_locks
from cotree.terminal.drivers import Drive
from cotree.terminal.forces import JointActuator
from cotree.terminal.mechanics import Driver, Joint

Array = NDArray[np.float64]
Course = str | float | tuple[Sequence[float] | Array, Sequence[float] | Array]
"""An expression of time, a number, or times and values."""

M = TypeVar("M", bound=Model)


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
        alone = [key for key in self.efforts if key.rpartition(".")[0] == name]
        if len(alone) == 1:  # a joint with one coordinate
            return self.efforts[alone[0]]
        if not isinstance(name, str) or name not in self.efforts:
            known = bool(components(str(name), self.solution.values)) or str(name) in self.solution
            raise ModelError(
                f"'{name}' is not driven",
                expected=f"one of {listing(self.efforts)}",
                remedy=f"Write inverse.solution['{name}']" if known else nearest(str(name), self.efforts),
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
    driven = driven_model(model, {} if motion is None else motion)
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
    for coordinate, course in _by_name(motion, "motion").items():
        joint, name = _coordinate(model, coordinate)
        group = next(c.group for c in joint.coordinates if c.name == name)
        field = "angle" if group == "rotation" else "displacement"
        given: dict[str, Any] = {"coordinate": name, field: _followed(result, course, coordinate)}
        result.add(Drive(f"drive_{joint.name}_{name}", joint.name, **given))
    return result


def actuated_model(model: M, efforts: Mapping[str, Course]) -> M:
    """A copy of the model with an actuator for each coordinate whose force or torque is given."""
    result = _copied(model)
    for coordinate, effort in _by_name(efforts, "efforts").items():
        joint, name = _coordinate(model, coordinate)
        given = _followed(result, effort, coordinate)
        result.add(JointActuator(f"actuator_{joint.name}_{name}", joint.name, coordinate=name, effort=given))
    return result


def _copied(model: M) -> M:
    result = copy.copy(model)
    result.components, result.parameters = dict(model.components), dict(model.parameters)
    result.series = dict(model.series)
    return result


def _by_name(given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ModelError(
            f"the {what} is of type {type(given).__name__}",
            expected="courses by joint coordinate: {'O.angle': '0.3*sin(t)', 'P.displacement': (times, values)}",
        )
    return given


def _followed(model: Model, course: Any, where: str) -> str | float:
    """The expression of a course; times and values become data of the model."""
    if isinstance(course, (str, int, float)):
        return course
    if not isinstance(course, (tuple, list)) or len(course) != 2:
        raise ModelError(
            f"the course is {type(course).__name__}",
            where=where,
            expected="an expression of time, or a pair of times and values",
        )
    name = "course_" + re.sub(r"\W", "_", where)
    try:
        return model.data(name, *course, interpolation="quintic", outside="error", max_gap=math.inf)
    except ModelError as reason:
        raise ModelError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None


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
    if not owner and len(scalars) == 1:  # the joint alone
        return joint, scalars[0]
    if coordinate not in scalars:
        raise ModelError(
            f"'{joint.name}' has no coordinate '{coordinate}'",
            where=str(name),
            expected=listing(scalars) or "a joint with coordinates that can be driven",
        )
    return joint, coordinate


__all__ = [
    "Course", "InverseDynamics", "actuated_model", "driven_model", "inverse_dynamics",
]  # fmt: skip
