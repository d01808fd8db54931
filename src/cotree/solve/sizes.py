"""The sizes of all variables over time, found by a rough run, so that one absolute tolerance serves them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.solve.problem import Problem, Scale

Array = NDArray[np.float64]

LEAST = 1e-4
"""Least size of a variable, as a part of the largest result with the same unit: what is zero but for rounding must not
set the tolerance."""
GROWTH = 1e3
"""Growth of a variable after which the scale is taken anew."""
PART = 1e-2
"""Least size of a coordinate or speed of a mechanism, as a part of the largest with the same unit."""
TINY = 1e-4
"""Least size of displacements, as a part of the places of frames; a single one may be a hundredth of it."""
STILL = 1e-11
"""What does not move at all but for rounding, as a part of the size of a mechanism."""
CALM = 1e9
"""Growth from start values and sources beyond which a system counts as unstable."""
SMALLEST = 1e-12
"""Least size in a system that is not unstable, as a part of what the variable or its unit becomes."""


@dataclass(frozen=True)
class Sizes:
    """Scales with the times from which they hold."""

    times: Array
    scales: tuple[Scale, ...]

    @classmethod
    def ones(cls, problem: Problem, t_start: float) -> Sizes:
        """Every variable in SI units."""
        return cls(np.array([t_start]), (Scale.ones(problem),))

    def packed(self) -> dict[str, Array]:
        """Times and scales as arrays by name, from which `unpacked` makes the same again."""
        parts = {f"size_{part}": np.array([getattr(each, part) for each in self.scales]) for part in ("x", "z", "quad")}
        return {"size_times": self.times, **parts}

    @classmethod
    def unpacked(cls, numbers: Mapping[str, Array]) -> Sizes:
        """What was packed."""
        parts = (numbers[f"size_{part}"] for part in ("x", "z", "quad"))
        return cls(numbers["size_times"], tuple(Scale(*each) for each in zip(*parts, strict=True)))

    def at(self, t: float) -> Scale:
        """The scale that holds from a time on."""
        return self.scales[max(int(np.searchsorted(self.times, t, side="right")) - 1, 0)]


@dataclass(frozen=True)
class History:
    """States, algebraic variables, integrals and outputs over time, one column for each time."""

    t: Array
    x: Array
    z: Array
    quad: Array
    outputs: Array

    def then(self, later: History) -> History:
        """This and what comes after."""
        return History(*(np.hstack([getattr(each, f.name) for each in (self, later)]) for f in fields(self)))

    def last(self) -> History:
        """The last time alone."""
        return History(*(getattr(self, f.name)[..., -1:] for f in fields(self)))


def sizes(problem: Problem, history: History, peaks: Array) -> Sizes:
    """The largest values so far, taken at the start and again wherever something has grown by much.

    A scale that is too small costs steps; one that is too large would cost accuracy, and in a system that grows from
    small beginnings that error would grow, too. So a scale knows the past only; ``peaks`` are the sources' sizes.
    """
    e, count = problem.equations, len(history.t)
    if e.mechanics is not None:
        return _mechanical(problem, history)
    so_far: dict[str, Array] = {}
    for unit, row in zip(("J", *(o.unit for o in e.outputs.values())), np.abs(history.outputs), strict=True):
        so_far[unit] = np.maximum(so_far.get(unit, 0.0), np.maximum.accumulate(row))
    for unit, peak in zip(e.inputs.units, peaks.tolist(), strict=True):
        so_far[unit] = np.maximum(so_far.get(unit, 0.0), np.full(count, peak))
    begin = max((float(np.abs(part).max(initial=0.0)) for part in (history.x[:, 0], peaks)), default=0.0)
    calm = float(np.abs(history.x).max(initial=0.0)) <= CALM * begin

    def size(values: Array, units: Sequence[str]) -> Array:
        floor = np.array([so_far.get(unit, np.zeros(count)) for unit in units]).reshape(len(units), count)
        now = np.maximum(np.maximum.accumulate(np.abs(values), axis=1), LEAST * floor)
        first = now[np.arange(len(now)), (now > 0).argmax(axis=1)][:, None]  # before a variable wakes up
        quiet = SMALLEST * np.maximum(floor, now)[:, -1:] if calm else first
        return np.maximum(now, np.where(now > 0, quiet if calm else 0.0, quiet))

    idle = np.ones((0 if len(history.x) else 1, count))
    parts = (
        np.vstack([size(history.x, e.state_units), idle]),
        size(history.z, e.w.units if len(history.z) else ()),
        np.broadcast_to(_integrals(e, history.quad)[:, None], history.quad.shape),  # they feed nothing
    )
    every = np.vstack(parts)
    times, columns = [float(history.t[0])], [every[:, 0]]
    for k in range(1, count):
        if np.any(every[:, k] > GROWTH * columns[-1]):
            times.append(float(history.t[k]))
            columns.append(every[:, k])
    ends = np.cumsum([len(part) for part in parts])[:-1]
    scales = (Scale(*np.split(np.where(column > 0, column, 1.0), ends)) for column in columns)
    return Sizes(np.array(times), tuple(scales))


def _integrals(e: SystemEquations, values: Array) -> Array:
    """The largest value of each integral; energies of domains have one size, or what is hardly moved would count."""
    largest = np.abs(values).max(axis=1, initial=0.0)
    domains = [2 + k for k, name in enumerate(e.integrals) if name.startswith("energy.")]
    if e.domains and domains:
        largest[domains] = largest[[0, 1, *domains]].max()
    return np.asarray(largest)


def _mechanical(problem: Problem, history: History) -> Sizes:
    """One scale for the whole run of a mechanism: the largest value of each variable, or a part of its unit's largest.

    Angles and Euler parameters count as at least one, displacements as a small part of the places of frames, and speeds
    as a slow motion by such a part: a mode that nothing excites must not set the tolerance by its rounding errors.
    """
    e = problem.equations
    largest = np.abs(history.x).max(axis=1, initial=0.0)
    outputs = np.abs(history.outputs[1:]).max(axis=1, initial=0.0)
    places = [value for o, value in zip(e.outputs.values(), outputs.tolist(), strict=True) if o.unit == "m"]
    places += [abs(value) for value, unit in zip(e.p.start.tolist(), e.p.units, strict=True) if unit == "m"]
    by_unit: dict[str, float] = {"rad": 1.0, "": 1.0, "m": TINY * max(places, default=0.0)}
    for unit, value in zip(e.state_units, largest.tolist(), strict=True):
        by_unit[unit] = max(by_unit.get(unit, 0.0), value)
    span = float(history.t[-1] - history.t[0]) or 1.0
    for unit in ("m", "rad"):
        by_unit[f"{unit}/s"] = max(by_unit.get(f"{unit}/s", 0.0), PART * by_unit[unit] / span)
    floor = np.array([PART * by_unit[unit] for unit in e.state_units])
    x = np.maximum(largest, floor)
    size = max(places, default=0.0)
    for unit, whole in (("m", size), ("m/s", max(by_unit.get("m/s", 0.0), size / span))):
        still = np.array([own == unit for own in e.state_units], dtype=bool) & (largest <= STILL * whole)
        x[still] = PART * whole
    energy = float(np.abs(history.outputs[1 + list(e.outputs).index("kinetic_energy")]).max(initial=0.0))
    forces = [value for o, value in zip(e.outputs.values(), outputs.tolist(), strict=True) if o.unit == "N"]
    work = TINY * max(forces, default=0.0) * max(places, default=0.0)  # of what is at rest but for rounding
    least = np.array([PART * max(energy, work)] * 2 + [PART] * len(e.integrals))
    quad = np.maximum(_integrals(e, history.quad), least)
    scaled = [np.where(part > 0, part, 1.0) for part in (x if len(x) else np.ones(1), quad)]
    z = np.abs(history.z).max(axis=1, initial=0.0)
    if len(z):
        z = np.maximum(z, [PART * max(z[[u == unit for u in e.w.units]]) for unit in e.w.units])
    return Sizes(history.t[:1], (Scale(scaled[0], np.where(z > 0, z, 1.0), scaled[1]),))


def extent(e: SystemEquations, p: Array, rows: Array) -> float:
    """The largest position, displacement or radius of gyration in rows of results, in m; 1 where there is none."""
    units = ["", *(each.unit for each in e.outputs.values())]
    rows = rows[[k for k, unit in enumerate(units) if unit == "m"]]
    turning = 0.0 if e.mechanics is None else float(ca.Function("size", [e.p.symbols], [e.mechanics.gyration])(p))
    return float(np.abs(rows[np.isfinite(rows)]).max(initial=turning)) or 1.0
