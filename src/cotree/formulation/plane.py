"""Gravity and loads that move nothing: defaults, and what is across the plane of a planar model."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from cotree.errors import ExpressionError
from cotree.formulation.system import SystemEquations
from cotree.model import Expression, GroundFrame, Model, quantities
from cotree.model.world import EARTH
from cotree.system import Diagnostic, diagnose
from cotree.terminal.forces import ForceBetween
from cotree.terminal.springs import Damper, Spring

ACROSS = ("force.z", "torque.x", "torque.y", "moment.x", "moment.y")
"""Entries of loads that a planar model does not feel; its plane is that of x and y."""


ALONG = (ForceBetween, Spring, Damper)
"""Parts whose force acts along the line between two points."""
DOWN = "gravity.z"
BESIDE = 0.01
"""How far from the start, in rad or m, the second position is at which gravity is looked at."""
ROUNDED = 1e-12
"""Part of the other components of a vector that is rounding, as a rotation leaves it."""
TIMES = (0.0, 0.377, 1.93, 23.1)
"""Times at which an expression is tried."""
NOTHING = 1e-9
"""Part of a motion of all masses that counts as none along gravity."""


def gravity_diagnostics(model: Model, equations: SystemEquations) -> tuple[Diagnostic, ...]:
    """Gravity that was not given, and gravity across the plane of a planar model."""
    if not model.weighs:
        return ()
    x, y, z = EARTH
    if model.gravity is None:
        flat, idle = model.planar, not model.planar and _idle(equations, _mass(model))
        code = "default-gravity-across-plane" if flat else "default-gravity-idle" if idle else "default-gravity"
        return (diagnose(code, gravity=f"({x:g}, {y:g}, {z:g})"),)
    across = model.gravity.expressions["z"]
    size = model.component_values().get(DOWN)
    if not model.planar or size == 0.0:
        return ()
    if size is not None and _rounded(size, [model.component_values().get(f"gravity.{x}") for x in "xy"]):
        return ()
    return (diagnose("gravity-across-plane", size=across.text if size is None else f"{size:g}"),)


def _mass(model: Model) -> float:
    return sum(value for name, value in model.component_values().items() if name.endswith(".mass"))


def _idle(e: SystemEquations, mass: float) -> bool:
    """Whether no free motion raises or lowers a weight, at the start and beside it."""
    if e.mechanics is None or DOWN not in e.p.names or not len(e.u):
        return False
    height = ca.jacobian(e.mechanics.potential, e.p.symbols[e.p.names.index(DOWN)])
    rise = ca.jacobian(ca.jtimes(height, e.q.symbols, e.kinematics), e.u.symbols)
    known = [e.t, e.q.symbols, e.p.symbols, e.mode_symbols]
    slopes = (ca.jacobian(each, e.u.symbols) for each in (e.mechanics.velocity, e.kinematics))
    parts = [rise, *slopes, e.mass_matrix()]
    look = ca.Function("rise", known, [ca.densify(e.in_time(each)) for each in parts], {"allow_free": True})
    if look.get_free():
        return False
    q, modes, rng = e.q.start, np.zeros(e.mode_symbols.numel()), np.random.default_rng(0)
    for _ in range(2):
        up, held, turn, inertia = (np.asarray(each, dtype=float) for each in look(0.0, q, e.p.start, modes))
        _, sizes, right = np.linalg.svd(held.reshape(-1, len(e.u)))
        free = right[int((sizes > NOTHING * sizes.max(initial=0.0)).sum()) :].T
        size = NOTHING**2 * mass * np.einsum("ki,kl,li->i", free, inertia, free)
        if not free.shape[1] or not (((up @ free) ** 2).ravel() <= size).all():  # (sum m z')^2 <= m u^T M u
            return False
        q = q + BESIDE * turn @ free @ rng.normal(size=free.shape[1])
    return True


def _rounded(size: float | None, others: Iterable[float | None]) -> bool:
    """Whether a component is zero, or what rounding leaves beside the others of its vector."""
    return size is not None and abs(size) <= ROUNDED * max(
        (abs(each) for each in others if each is not None), default=0
    )


def _vanishes(model: Model, expression: Expression) -> bool:
    """Whether an expression of time is zero at all times that are tried."""
    numbers = model.parameter_values()
    try:
        return all(expression.number({**numbers, "t": t}) == 0.0 for t in TIMES)
    except (ExpressionError, KeyError, NameError):  # it follows the motion
        return False


def load_diagnostics(model: Model, equations: SystemEquations) -> tuple[Diagnostic, ...]:
    """Forces and torques across the plane of a planar model, each with its size."""
    if not model.planar:
        return ()
    values = model.component_values()
    return (*_loads(model, values), *_lines(model, equations))


def _lines(model: Model, e: SystemEquations) -> Iterable[Diagnostic]:
    """Forces along lines that leave the plane, with their part along z."""
    for part in model.components.values():
        if isinstance(part, ALONG):
            ends = [_height(model, e, str(frame)) for frame in (part.frame_a, part.frame_b)]
            if ends[0] is None or ends[1] is None or _rounded(ends[1] - ends[0], ends):
                continue
            size = f"{abs(ends[1] - ends[0]):g}/distance*force"
            yield diagnose("across-plane", f"{part.name}.force.z", size=size, unit="N")


def _height(model: Model, e: SystemEquations, frame: str) -> float | None:
    """The height of a frame at the start, which stays as it is in a planar model; None where it is not known."""
    part = model.components.get(frame)
    if isinstance(part, GroundFrame):
        return model.component_values().get(f"{frame}.position.z")
    if frame in model.datums:
        return 0.0
    if f"{frame}.position.z" not in e.outputs:
        return None
    known, height = [e.t, e.q.symbols, e.p.symbols, e.mode_symbols], e.outputs[f"{frame}.position.z"].expression
    function = ca.Function("height", known, [height], {"allow_free": True})
    return None if function.get_free() else float(function(0.0, e.q.start, e.p.start, np.zeros(e.mode_symbols.numel())))


def _loads(model: Model, values: dict[str, float]) -> Iterable[Diagnostic]:
    for part in model.components.values():
        for field, info in quantities(part).items():
            name = f"{part.name}.{field}"
            beside = [values.get(f"{part.name}.{field[:-1]}{x}") for x in "xyz" if x != field[-1]]
            if field not in ACROSS or field not in part.expressions or _rounded(values.get(name), beside):
                continue
            if name in values or not _vanishes(model, part.expressions[field]):
                size = f"{values[name]:g}" if name in values else part.expressions[field].text
                yield diagnose("across-plane", name, size=size, unit=info.unit)
