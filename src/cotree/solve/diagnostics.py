"""What may be wrong with the results of a run, judged without a unit: energies, constraints, pressures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import listing
from cotree.results.energy import DomainAudit, EnergyAudit
from cotree.system import Diagnostic, diagnose

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]

CLOSES = 3e-3
"""Part of the largest energy by which the audit may be open before a warning says so."""
ROUNDED = 1e-13
"""Part of force times distance that is only rounding: a structure at rest has no other energy to compare."""
OPEN = 1e-4
"""Residual of an equation between positions, as a part of the extent of the motion, that is worth a warning."""
DRIFTED = 1e-3
"""The same for methods that let positions drift."""
CREPT = 0.01
"""Part of the travel of a joint that it creeps at once, from which on a warning says so."""
FADES = 4.0
"""Multiple of the speed at which a friction fades, below which less than its level acts."""
WEAK = 2.0
"""The same for joints that are driven: at this speed it has 96 % of its level."""
PLACES = 64
"""Output times at which constraints are looked at."""
VACUUM = -101325.0


def energies(
    audit: EnergyAudit, domains: Mapping[str, DomainAudit], unbooked: tuple[str, ...] = ()
) -> tuple[Diagnostic, ...]:
    """Warnings where an energy balance stays open, and where dissipated energy comes back."""
    found = []
    if audit.error > CLOSES:
        off = np.abs(audit.closure) > CLOSES * audit.scale
        found.append(diagnose("energy-open", time=float(audit.t[int(np.argmax(off))]), error=audit.error))
    else:
        for name, each in domains.items():
            if each.error > CLOSES:
                found.append(diagnose("domain-energy-open", name, error=each.error))
    back = np.maximum.accumulate(audit.dissipated) - audit.dissipated if len(audit.t) else np.zeros(1)
    if back.max(initial=0.0) > CLOSES * audit.scale > 0:
        when = float(audit.t[int(np.argmax(back))])
        parts = f": see {listing(unbooked)}" if unbooked else ""
        found.append(diagnose("negative-dissipation", *unbooked, energy=float(back.max()), time=when, candidates=parts))
    return tuple(found)


def rounding(values: Mapping[str, Array], units: Mapping[str, str]) -> float:
    """The energy that rounding of forces and places may leave."""
    largest = {"N": 0.0, "m": 0.0}
    for name, unit in units.items():
        if unit in largest:
            each = values[name]
            largest[unit] = max(largest[unit], float(np.abs(each[np.isfinite(each)]).max(initial=0.0)))
    return ROUNDED * largest["N"] * largest["m"]


def constraints(run: Run) -> tuple[Diagnostic, ...]:
    """A warning where equations between positions do not hold in the results, or a method let them drift."""
    e, drift = run.problem.equations, run.method.worst
    if e.mechanics is None or not run.times or not run.kept:
        return ()
    extent = run.extent()
    if drift > 0:
        found = diagnose("drift", distance=drift)
        return (found if drift > DRIFTED * extent else Diagnostic(found.code, "note", (), found.data),)
    count = e.mechanics.position.numel()
    if not count or e.closed:
        return ()
    times, states = np.concatenate(run.times), np.hstack([x for x, _ in run.kept])
    chosen = np.unique(np.linspace(0, len(times) - 1, PLACES).astype(int))
    t, x = times[None, chosen], states[:, chosen]
    m = np.asarray(run.problem.mode_values(run.t_start, run.p), dtype=float).ravel()
    if run.problem.settled_well is not None and run.method.settles:
        x = np.asarray(run.problem.on_constraints(t, x, run.p, m)[0], dtype=float)
    position = ca.Function("position", [e.t, e.q.symbols, e.p.symbols, e.mode_symbols], [e.mechanics.position])
    off = np.abs(np.asarray(ca.densify(position(t, x[: len(e.q)], run.p, m)), dtype=float))
    sizes = np.where(e.mechanics.lengths, extent, 1.0) if e.mechanics.lengths else np.full(count, extent)
    relative = off / sizes[:, None]
    if not relative.max(initial=0.0) > OPEN:
        return ()
    row, when = np.unravel_index(int(np.argmax(relative)), relative.shape)
    owner = e.multipliers.names[int(row)].removeprefix("lambda ").partition(" (")[0]
    return (diagnose("constraint-open", owner, error=float(off[row, when]), time=float(t[0, when])),)


def creeping(run: Run, values: Mapping[str, Array], t: Array) -> tuple[Diagnostic, ...]:
    """A warning for each friction that lets its joint creep where it would stick, or is driven where it fades."""
    e, found = run.problem.equations, []
    for each in e.fading:
        x, rate = values[each.coordinate], values[f"{each.coordinate}_rate"]
        speed = float(ca.Function("speed", [e.p.symbols], [each.speed])(run.p))
        limit = (WEAK if each.driven else FADES) * speed
        slow = np.flatnonzero(np.abs(rate) < limit)
        parts = np.split(slow, np.flatnonzero(np.diff(slow) > 1) + 1) if len(slow) else []
        crept = [abs(float(x[part[-1]] - x[part[0]])) for part in parts]
        most = int(np.argmax(crept)) if crept else 0
        if crept and crept[most] > CREPT * float(np.ptp(x)) > 0:
            begin, end = float(t[parts[most][0]]), float(t[parts[most][-1]])
            unit, room = ("m", "translational") if e.outputs[each.coordinate].unit == "m" else ("rad", "rotational")
            found.append(
                diagnose(
                    "friction-fades" if each.driven else "friction-creeps", each.name, coordinate=each.coordinate,
                    distance=crept[most], unit=unit, begin=begin, end=end, speed=speed, instead=f"{room}.friction",
                )
            )  # fmt: skip
    return tuple(found)


def below_vacuum(t: Array, values: Mapping[str, Array], units: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    """A warning where the pressure at a node, which counts from the atmosphere, falls below the vacuum."""
    nodes = [
        name.removesuffix(".pressure")
        for name, unit in units.items()
        if unit == "Pa" and name.endswith(".pressure") and f"{name.removesuffix('.pressure')}.flow" not in units
    ]
    lowest = {node: float(np.min(values[f"{node}.pressure"], initial=0.0)) for node in nodes}
    torn = sorted((node for node in nodes if lowest[node] < VACUUM), key=lambda node: lowest[node])
    if not torn:
        return ()
    first = float(t[int(np.argmin(values[f"{torn[0]}.pressure"]))])
    return (diagnose("below-vacuum", *torn, pressure=lowest[torn[0]], time=first),)
