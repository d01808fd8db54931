"""Rotations that nothing else feels, before an analysis: refused in a simulation, left out where they do not matter."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError
from cotree.formulation import SystemEquations

Array = NDArray[np.float64]


def check_inertia(e: SystemEquations, t: float, x: Array, p: Array, m: Array) -> None:
    """Refuse bodies that turn freely about an axis without inertia, before anything runs."""
    if e.spins is None:
        return
    for spin in e.spins.massless(x[: len(e.q)], p, t, m[: len(e.modes)])[:1]:
        raise FormulationError(
            f"it has no inertia about its own axis {spin.about}, about which nothing holds it, so that nothing says "
            "how it turns",
            where=spin.body,
            expected="inertia about every axis that the joints leave free",
            remedy="Give its shape a radius, such as rod(length=..., mass=..., radius=...), or give it an inertia; or "
            f"hold its axis {spin.about} by another joint",
        )


def without_massless(e: SystemEquations, t: float, p: Array, m: Array) -> SystemEquations:
    """The equations of a mechanism without spins that have no inertia, which move nothing and which nothing moves."""
    return _left_out(e, "lasting", t, p, m)


def without_idle(e: SystemEquations, t: float, p: Array, m: Array) -> SystemEquations:
    """The equations of a mechanism without spins that move no frame and no coordinate of a joint."""
    return _left_out(e, "driven", t, p, m)


def _left_out(e: SystemEquations, which: str, t: float, p: Array, m: Array) -> SystemEquations:
    if e.spins is None or e.assemble is None or e.domains:
        return e
    kept: dict[str, tuple[bytes, float, SystemEquations]] = e.__dict__.setdefault("_without_spins", {})
    if which not in kept or kept[which][:2] != (p.tobytes(), t):
        found = getattr(e.spins, which)(e, e.assemble(p, t)[0], p, t, m[: len(e.modes)])
        kept[which] = p.tobytes(), t, found
    return kept[which][2]
