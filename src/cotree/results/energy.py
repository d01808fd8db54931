"""The energy audit: what was supplied must be stored or dissipated, in total and in every domain of a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.maths.viewed import Viewed
from cotree.model.helpful import answered

Array = NDArray[np.float64]

ROUNDING = 64 * float(np.finfo(float).eps)
"""What rounding leaves of a stored energy."""
CLOSES = 3e-3
"""Part of the largest energy by which a balance may be open before a warning says so."""
MECHANICAL = "mechanical"
"""The domain of a mechanism, whose potential energy has no zero of its own to be compared with."""


@answered
@dataclass(frozen=True)
class EnergyAudit(Viewed):
    """Energies in J over time; ``closure`` = stored - stored at the start + dissipated - supplied should be zero.

    ``start`` is the energy stored at the start of the run, which need not be an output time.
    """

    t: Array
    stored: Array
    dissipated: Array
    supplied: Array
    start: float
    kinetic: float | None = None
    """The largest kinetic energy of a mechanism, whose potential energy has no zero of its own to be compared with."""
    rounding: float = 0.0
    """What rounding of forces and places may leave of the balance."""

    def __repr__(self) -> str:
        span = f"{len(self.t)} times to {self.t[-1]:g} s" if len(self.t) else "no times"
        return f"<EnergyAudit: {span}, closes to {self.error:.1e} of the largest energy, {self.scale:.4g} J>"

    def _view(self) -> str:
        return str(self) if len(self.t) else "no times"

    @property
    def closure(self) -> Array:
        """What the balance lacks at each time."""
        return np.asarray(self.stored - self.start + self.dissipated - self.supplied)

    @property
    def scale(self) -> float:
        """The largest energy in the balance."""
        parts = [self.dissipated, self.supplied, *([self.stored] if self.kinetic is None else [])]
        own = abs(self.start) if self.kinetic is None else self.kinetic
        return float(max(own, *(np.max(np.abs(part), initial=0.0) for part in parts)))

    @property
    def error(self) -> float:
        """The largest closure error over the largest energy; 0 where there is none, or only rounding."""
        noise = max(self.rounding, ROUNDING * float(np.max(np.abs(self.stored), initial=0.0)))
        return _relative(self.closure, self.scale, noise)

    def __str__(self) -> str:
        rows = [
            ("stored at the start", self.start),
            ("supplied", self.supplied[-1]),
            ("dissipated", self.dissipated[-1]),
            ("stored at the end", self.stored[-1]),
            ("closure error", self.closure[-1]),
        ]
        lines = [f"{name:<20} {value: .6e} J" for name, value in rows]
        return "\n".join([*lines, f"{'largest, relative':<20} {self.error: .1e}"])


@dataclass(frozen=True)
class DomainAudit(Viewed):
    """Energies in J of one domain of a machine over time, since the first output time.

    ``closure`` = stored + dissipated - supplied - received should be zero. ``received`` comes from other domains:
    through motors, cylinders and mounts, and as heat of losses.
    """

    t: Array
    stored: Array
    """What is stored less what was at the first output time."""
    supplied: Array
    dissipated: Array
    received: Array
    scale: float
    """The largest energy that was moved in any domain of the machine, to which the error is compared; where that is
    next to nothing, the part of the machine's energy that the integration may leave, over `CLOSES`."""
    rounding: float = 0.0
    """What rounding of the stored energy may leave."""

    @property
    def closure(self) -> Array:
        """What the balance lacks at each time."""
        return np.asarray(self.stored + self.dissipated - self.supplied - self.received)

    @property
    def error(self) -> float:
        """The largest closure error over the scale; 0 where no energy was moved, or only rounding."""
        return _relative(self.closure, self.scale, self.rounding)


KINETIC = "kinetic_energy"
PARTS = ("stored", "supplied", "dissipated", "received")


def left_by(rtol: float, steps: int, step: float | None = None) -> float:
    """The part of an energy that an integration may leave: ``rtol`` with every step, or what is tolerated at most.

    A fixed ``step`` does not follow the tolerance.
    """
    return CLOSES if step is not None else min(rtol * steps, CLOSES)


def domain_audits(t: Array, values: Mapping[str, Array], left: float = 0.0) -> dict[str, DomainAudit]:
    """The audit of every domain from results such as ``energy.electrical.stored``; empty where there are none.

    ``left`` is the part of the machine's energy that the integration may leave (`left_by`): energy that only changes
    its form within a domain is not moved, but its error is seen.
    """
    found: dict[str, dict[str, Array]] = {}
    for name, each in values.items():
        place, _, word = name.rpartition(".")
        owner, _, domain = place.partition(".")
        if owner == "energy" and domain and word in PARTS:
            found.setdefault(domain, {})[word] = np.asarray(each - each[:1])
    whole = {domain: own for domain, own in found.items() if len(own) == len(PARTS)}
    sizes = (float(np.max(np.abs(each), initial=0.0)) for own in whole.values() for each in own.values())
    inside = [values[f"energy.{domain}.stored"] for domain in whole if domain != MECHANICAL]
    inside += [values[KINETIC]] if KINETIC in values else []
    energy = max((float(np.max(np.abs(each), initial=0.0)) for each in inside), default=0.0)
    scale = max(*sizes, left / CLOSES * energy) if whole else 0.0
    kept = (values[f"energy.{domain}.stored"] for domain in whole)
    rounding = ROUNDING * max((float(np.max(np.abs(each), initial=0.0)) for each in kept), default=0.0)
    return {domain: DomainAudit(t, scale=scale, rounding=rounding, **own) for domain, own in whole.items()}


def _relative(closure: Array, scale: float, rounding: float) -> float:
    worst = float(np.max(np.abs(closure), initial=0.0))
    return 0.0 if worst <= rounding else worst / scale if scale > 0 else np.inf
