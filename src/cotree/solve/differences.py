"""What differs between a run and a finer one, as a part of each result's range.

A result that is constant has no range but its errors, so it is compared with the size that its unit has in the model.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cotree.solve.run import Run

Array = NDArray[np.float64]

WRONG = 4e-3
"""Difference between both runs, as a part of a result's range, that is worth a warning."""
SMALL = 1e-2
"""Least range of a result, as a part of the largest with the same unit."""
ROUNDED = 1e-9
"""Least range of a result, as a part of its largest value, of a turn, or of the motion: what is smaller is rounding."""
HELD = 1e-14
"""Rounding of forces that hold each other, as a part of the largest."""
SIGNLESS = ".orientation.e"
"""Euler parameters, which are not compared: with all signs turned they are the same rotation."""
MOMENTA = ("system.momentum.", "system.angular_momentum.")
"""Sums over all bodies, which are not compared: their parts are, and at rest they have no size of their own."""
LOST = 0.2
"""Difference between both runs, as a part of a result's range in the finer one, from which on that may be an error."""
TOLERANCES = 100
"""Tolerances by which a constant result may be off in any case; each step of the run adds one."""
WORK = (("J", "N", "m"), ("J", "N m", "rad"), ("W", "N", "m/s"), ("W", "N m", "rad/s"))
"""Units of energies and powers, with those of their factors."""
MANY = 40
"""Output times from which on what switches between two of them shows at one of them only."""


def largest_difference(run: Run, other: Run) -> tuple[str, float, float] | None:
    """The result with the largest difference as a part of its range, that part, and the time; None where all agree."""
    names, _, off = differences(run, other)
    if not off.max(initial=0.0) > WRONG:
        return None
    row, when = np.unravel_index(int(np.argmax(off)), off.shape)
    return names[int(row)], float(off.max()), float(np.concatenate(run.times)[when])


def differences(run: Run, other: Run, from_zero: Collection[str] = ()) -> tuple[list[str], list[str], Array]:
    """Names and units of the results that are compared, and their differences as parts of their ranges in ``other``.

    One row for each result, one column for each output time. Ranges of results with a unit ``from_zero`` include zero.
    """
    e = run.problem.equations
    rows, finer_rows = (np.hstack(each.rows)[1:] for each in (run, other))
    count = min(rows.shape[1], finer_rows.shape[1])
    names = list(run.names)[: len(rows)]
    compared = [
        k for k, name in enumerate(names) if name in e.outputs and SIGNLESS not in name and not name.startswith(MOMENTA)
    ]
    units = [run.names[names[k]] for k in compared]
    own, fine = rows[compared, :count], finer_rows[compared, :count]
    sizes, least = _sizes(run, fine, units), least_of(run)
    least |= {unit: max(least.get(unit, 0.0), ROUNDED * size) for unit, size in sizes.items()}
    for unit, effort, way in WORK:  # what rounding moves does work
        least[unit] = max(least.get(unit, 0.0), sizes.get(effort, 0.0) * least.get(way, 0.0))
    own_sizes = np.array([sizes[unit] for unit in units])
    turns = np.array([2 * np.pi if unit == "rad" else np.inf for unit in units])[:, None]
    with np.errstate(invalid="ignore"):
        apart = np.abs(own - fine)
        apart = np.where(np.isinf(turns), apart, np.abs(apart - turns * np.round(apart / turns)))
        shown = np.where([[unit in from_zero] for unit in units], 0.0, fine[:, :1]) if from_zero else fine[:, :1]
        off = apart / spans_of(np.hstack([fine, shown]), units, least)[:, None]
        off[_constant(run, apart, fine, own_sizes)] = 0.0
    off = np.where(np.isfinite(off), off, 0.0)
    if e.eventful and count >= MANY:  # what switches may do so one output time later
        off = np.minimum(off[:, :-1], off[:, 1:])
    return [names[k] for k in compared], units, off


def _constant(run: Run, apart: Array, fine: Array, sizes: Array) -> NDArray[np.bool_]:
    """Results without a range but for errors that the tolerance of each step allows."""
    options, most = run.method.options, apart.max(axis=1, initial=0.0)
    allowed = SMALL * WRONG if options.step is not None else min(WRONG, (TOLERANCES + run.steps) * options.rtol)
    return np.asarray((most >= LOST * np.ptp(fine, axis=1)) & (most <= allowed * sizes))


def _sizes(run: Run, values: Array, units: Sequence[str]) -> dict[str, float]:
    """The size of each unit in a model: its largest value, or what follows from the largest of other units."""
    e, found = run.problem.equations, dict[str, float]()
    for unit, row in zip(units, np.abs(values), strict=True):
        found[unit] = max(found.get(unit, 0.0), float(row[np.isfinite(row)].max(initial=0.0)))
    given = np.abs(run.p[[unit == "m" for unit in e.p.units]]).max(initial=0.0)
    length = max(found.get("m", 0.0), float(given))
    if e.mechanics is None or not length > 0:
        return found
    mass = float(run.p[[name.endswith(".mass") for name in e.p.names]].sum())
    force, energy = found.get("N", 0.0), found.get("J", 0.0)
    spin = max(found.get("rad/s", 0.0), found.get("m/s", 0.0) / length)
    turn = max(found.get("rad/s^2", 0.0), found.get("m/s^2", 0.0) / length, spin**2)
    turn = max(turn, force / mass / length) if mass > 0 else turn
    push = max(force, energy / length, found.get("N m", 0.0) / length, mass * turn * length)
    derived = {"rad": 1.0, "m": length, "rad/s": spin, "m/s": spin * length, "rad/s^2": turn, "m/s^2": turn * length}
    derived |= {"N": push, "N m": push * length, "J": energy, "W": push * length * spin}
    return found | {unit: max(size, found.get(unit, 0.0)) for unit, size in derived.items()}


def spans_of(values: Array, units: Sequence[str], least: Mapping[str, float]) -> Array:
    """The range of each row, or a small part of the largest with the same unit, and more than rounding."""
    own, sizes = np.ptp(values, axis=1), np.abs(values).max(axis=1, initial=0.0)
    largest: dict[str, float] = {}
    for unit, span, size in zip(units, own.tolist(), sizes.tolist(), strict=True):
        largest[unit] = max(largest.get(unit, 0.0), SMALL * span, ROUNDED * size, least.get(unit, 0.0))
    spans = np.maximum(own, np.array([largest[unit] for unit in units]))
    return np.where(spans > 0, spans, np.inf)


def least_of(run: Run) -> dict[str, float]:
    """What may be rounding, by unit: small parts of a turn, of the extent and the energy of a mechanism.

    What is held at rest moves by the rounding of the forces that hold it.
    """
    e = run.problem.equations
    if e.mechanics is None:
        return {}
    time, extent, rows = float(run.grid[-1]) - run.t_start or 1.0, run.extent(), np.hstack(run.rows)
    energy = float(np.abs(rows[0]).max(initial=0.0))
    forces = rows[[1 + k for k, each in enumerate(e.outputs.values()) if each.unit == "N"]]
    mass = float(run.p[[name.endswith(".mass") for name in e.p.names]].sum())
    push = HELD * float(np.abs(forces[np.isfinite(forces)]).max(initial=0.0))
    shake = push / mass if mass > 0 else 0.0
    sizes = {"": 1.0, "rad": 1.0, "m": extent, "N m": energy, "N": energy / extent, "J": energy, "W": energy / time}
    rates = {f"{unit}{per}": sizes[unit] / time**k for unit in ("rad", "m") for k, per in ((1, "/s"), (2, "/s^2"))}
    held = {"m": shake * time**2, "m/s": shake * time, "m/s^2": shake, "N": push, "N m": push * extent}
    held |= {"J": push * extent, "W": push * extent / time}
    return {unit: ROUNDED * size + held.get(unit, 0.0) for unit, size in (sizes | rates).items()}
