"""What may be wrong with the results of a run, judged without a unit: energies, constraints, pressures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import listing
from cotree.results.energy import CLOSES, DomainAudit, EnergyAudit
from cotree.system import Diagnostic, diagnose

if TYPE_CHECKING:
    from cotree.solve.run import Run

Array = NDArray[np.float64]

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
"""Output times at which equations between positions are looked at."""
SI = "in SI units"
"""The unit of a law that has none of its own, as in bond graphs."""
VACUUM = -101325.0


def energies(
    audit: EnergyAudit,
    domains: Mapping[str, DomainAudit],
    known: Iterable[Diagnostic] = (),
    unbooked: tuple[str, ...] = (),
    jumped: Mapping[float, float] | None = None,
) -> tuple[Diagnostic, ...]:
    """Warnings where an energy balance stays open, and where dissipated energy comes back.

    What is ``known`` of the run may name drivers with kinks. By ``jumped`` the energy has jumped with them, which no
    result accounts for.
    """
    found = []
    if audit.error > CLOSES:
        off = np.abs(audit.closure) > CLOSES * audit.scale
        when = float(audit.t[int(np.argmax(off))])
        kinked = [name for each in known if each.code == "driver-kink" for name in each.subjects]
        rest = audit.closure - sum((energy * (audit.t >= at) for at, energy in (jumped or {}).items()), np.zeros(1))
        explained = kinked and np.abs(rest).max() <= CLOSES * audit.scale
        code = ("kink-energy", *kinked) if explained else ("energy-open",)
        found.append(diagnose(*code, time=when, error=audit.error))
    else:
        for name, each in domains.items():
            off = np.abs(each.closure) > max(CLOSES * each.scale, each.rounding, audit.rounding)
            if off.any():
                when = float(each.t[int(np.argmax(off))])
                found.append(diagnose("domain-energy-open", name, time=when, error=each.error))
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
    t, x, m = looked_at(run)
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


def looked_at(run: Run) -> tuple[Array, Array, Array]:
    """Some of the output times, with the states and the modes there, one column for each."""
    e, times = run.problem.equations, np.concatenate(run.times)
    chosen = np.unique(np.linspace(0, len(times) - 1, PLACES).astype(int))
    t, x, z = times[chosen], *(np.hstack(parts)[:, chosen] for parts in zip(*run.kept, strict=True))
    edges = run.edges(np.zeros(0))
    after = np.clip(np.searchsorted(edges, t, side="right"), min(1, len(edges) - 1), len(edges) - 1)
    middles = (edges[np.maximum(after - 1, 0)] + edges[after]) / 2  # modes are those of a stretch
    m = np.asarray(run.problem.mode_values(middles[None, :], run.p), dtype=float).reshape(-1, len(t))
    if len(e.held):
        m[len(e.modes) :] = run.method.apart(z, m[:, 0])[1].reshape(len(m), -1)[len(e.modes) :]
    return t[None, :], x, m


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


def with_units(run: Run, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Diagnostics about the values of laws, with their units."""
    units = run.problem.equations.law_units
    return tuple(
        replace(each, data={"unit": next((units[name] for name in each.subjects if name in units), SI), **each.data})
        for each in found
    )


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
