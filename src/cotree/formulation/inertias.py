"""Inertias that no real body has, and what a model makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from cotree.model import Model
from cotree.system import Diagnostic, diagnose
from cotree.terminal.bodies import RigidBody


def unreal_inertias(model: Model) -> dict[RigidBody, tuple[str, str, np.ndarray]]:
    """Bodies with such inertias: their principal moments, those of the nearest real ones, and the difference."""
    values, found = model.component_values(), {}
    for part in model.components.values():
        if isinstance(part, RigidBody) and part.shape is None:
            own = {name.removeprefix(f"{part.name}."): value for name, value in values.items()}
            own = {name: own[name] for name in part.expressions if f"{part.name}.{name}" in values}
            if (each := part.unreal(own)) is not None:
                found[part] = each
    return found


def with_real_inertias(body: RigidBody, more: np.ndarray, values: Mapping[str, float]) -> RigidBody:
    """A body with an inertia matrix that is larger by some, in numbers."""
    own = {name: values[f"{body.name}.{name}"] for name in body.expressions if f"{body.name}.{name}" in values}
    matrix = np.asarray(ca.DM(body.gather(own)["inertia"]), dtype=float) + more
    return replace(body, inertia=(*np.diag(matrix).tolist(), matrix[0, 1], matrix[0, 2], matrix[1, 2]))


def inertia_diagnostics(model: Model) -> tuple[Diagnostic, ...]:
    """What was kept or repaired, by body; in a planar model it does not matter."""
    if model.planar or model.inertia == "refuse" or not model.mechanical:
        return ()
    code = "inertia-repaired" if model.inertia == "repair" else "inertia-kept"
    return tuple(
        diagnose(code, body.name, given=given, real=real) for body, (given, real, _) in unreal_inertias(model).items()
    )
