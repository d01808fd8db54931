"""The record of a model: what the net holds of it, as plain data.

    units      every result with its unit
    start      all results at the consistent start
    states     three seeded states, each with its time, the values that fix it, all results, and the constraint rows
    loose      results that are not determined: reactions of redundant mechanisms, and what rounding decides
    noise      what one rounding of a state changes, by unit
    path       all results and the energy audit at eleven times, and the band in which each is known
    events     their names, times and bands
    files      whether model and results come back from files as they were
    error      class and place, where a part of this is refused

Numbers of `start` and `states` are kept with 15 digits, those of `path` with 10.
"""

from __future__ import annotations

import random
import re
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from math import ceil, log10
from pathlib import Path
from typing import Any

import numpy as np

import cotree as ct
from golden import probe
from golden.differ import aligned, state_sizes, unit_of
from golden.models import Case
from golden.probe import Loaded

TIMES, STATES = 11, 3
COARSE, FINE = 1e-8, 1e-10
"""The default tolerance, and the one that shows how far a run with it can be trusted."""
SPREAD = 0.1
"""How far seeded states are from the motion, as a part of the size of each state."""
ROUNDING, SHAKY = 2.0**-52, 1e-9
TRIES = (1.0, 0.3, 0.1, 0.03, 0.0)
PARTS = ("units", "start", "states", "path", "files")
Record = dict[str, Any]


def record(
    case: Case, parts: tuple[str, ...] = PARTS, states: list[Record] | None = None, banded: bool = False
) -> Record:
    """The record of a model, or some parts of it.

    ``states`` are those to look at, as an earlier record has them; otherwise they are sought. With ``banded`` the
    motion is that of a second, finer run, and the bands say how far the first one is from it.
    """
    found: Record = {"error": {}}
    with _refusal(found, "make"):
        loaded = case.make()
    if "make" in found["error"]:
        return found
    with _refusal(found, "start"):
        solution = probe.at(loaded, 0.0, None)
        found["units"] = {name: solution.unit(name) for name in sorted(solution.names)}
        if "start" in parts:
            found["start"] = _values(solution)
    motion = None
    if "path" in parts or ("states" in parts and states is None):
        with _refusal(found, "path"):
            motion = _path(loaded, COARSE)
    if "path" in parts and motion is not None:
        found |= _recorded(loaded, motion) if banded else _moved(motion)
    if "states" in parts and (states is not None or motion is not None):
        with _refusal(found, "states"):
            at = states if states is not None else list(_seeded(case.name, loaded, motion))
            found["states"] = [_state(loaded, each) for each in at]
            if states is None:
                found["loose"] = _loose(loaded, found["states"])
                found["noise"] = _noise(loaded, found)
    if "files" in parts:
        with _refusal(found, "files"):
            found["files"] = _files(loaded, motion)
    return found


def place(error: BaseException) -> str:
    """Where an error says that it happened: line, column and component, without the path of the file."""
    return re.sub(r"^\S*\bm\.yaml(:\s*|$)", "", str(getattr(error, "where", "")))


@contextmanager
def _refusal(found: Record, part: str) -> Iterator[None]:
    try:
        yield
    except ct.CotreeError as error:
        found["error"][part] = {"class": type(error).__name__, "where": place(error)}


def _values(solution: ct.Solution, row: int = 0) -> dict[str, float]:
    audit = solution.energy()
    values = {name: float(solution[name][row]) for name in solution.names}
    return _rounded({**values, "energy.stored": float(audit.stored[row])}, 15)


def _rounded(values: Mapping[str, float], digits: int) -> dict[str, float]:
    return {name: float(f"{value:.{digits - 1}e}") for name, value in sorted(values.items())}


def _path(loaded: Loaded, rtol: float) -> ct.Solution:
    assert loaded.t_end is not None
    given = {"tree": loaded.tree, "start": loaded.start, **loaded.options}
    return loaded.model.simulate(loaded.t_end, points=TIMES, rtol=rtol, **given)


def _courses(solution: ct.Solution) -> dict[str, np.ndarray]:
    audit = solution.energy()
    own = {f"audit.{name}": getattr(audit, name) for name in ("stored", "dissipated", "supplied", "closure")}
    return {**{name: solution[name] for name in sorted(solution.names)}, **own}


def _moved(solution: ct.Solution) -> Record:
    """The motion and its events."""
    values = {name: _list(each) for name, each in _courses(solution).items()}
    path = {"t": _list(solution.t), "values": values, "audit_error": solution.energy().error}
    return {"path": path, "events": {name: _list(times) for name, times in sorted(solution.events.items())}}


def _recorded(loaded: Loaded, coarse: ct.Solution) -> Record:
    """The same by a finer run, with the bands in which the coarser one lies."""
    other = _moved(coarse)
    try:
        found = _moved(_path(loaded, FINE))
    except ct.CotreeError:  # the finer tolerance cannot be met: then nothing is known about the error
        found = _moved(coarse)
    path, known = found["path"], other["path"]["values"]
    path["band"] = {name: _exponents(values, known[name]) for name, values in path["values"].items()}
    path["audit_error"] = max(path["audit_error"], other["path"]["audit_error"])
    events = found["events"].items()
    found["event_band"] = {name: _exponents(times, other["events"].get(name, [])) for name, times in events}
    return found


def _exponents(exact: list[float], other: list[float]) -> list[int | None]:
    """How far two runs are apart so far, rounded up to a power of ten; none where they are the same."""
    if len(exact) != len(other):
        return [999] * len(exact)
    gaps = np.maximum.accumulate(np.abs(np.subtract(exact, other)))
    return [None if gap == 0 else 999 if not np.isfinite(gap) else ceil(log10(gap)) for gap in gaps]


def _list(values: Any) -> list[float]:
    return [float(f"{value:.9e}") for value in values]


def _seeded(name: str, loaded: Loaded, motion: ct.Solution) -> Iterator[Record]:
    """States of the motion: the first as it is, the others moved off it by a seeded amount and closed again."""
    rng = random.Random(zlib.crc32(name.encode()))
    last = len(motion.t) - 1
    if probe.locks(loaded):  # a state after that has other equations
        first = min((float(times[0]) for times in motion.events.values() if len(times)), default=np.inf)
        last = max(0, int(np.searchsorted(motion.t, first)) - 1)
    units = probe.state_units(loaded)
    sizes: dict[str, float] = {}
    for each, unit in units.items():
        sizes[unit] = max(sizes.get(unit, 0.0), float(np.abs(motion.values[each]).max()))
    for k in range(STATES):
        row = rng.randint(min(1, last), last) if last else 0
        steps = {each: rng.gauss(0.0, SPREAD) * (sizes[units[each]] or 1.0) for each in units}
        tries = [(row, part) for part in (TRIES if k else (0.0,))] + [(0, part) for part in TRIES]
        for row, part in tries:  # a state that cannot be had is sought nearer to the motion, then near the start
            t, state = float(motion.t[row]), probe.state_of(motion, row)
            moved = {each: value + part * steps.get(each, 0.0) for each, value in state.items()}
            try:
                closed = probe.at(loaded, t, moved)
            except ct.CotreeError:
                continue
            known = [each for each in closed.names if np.isfinite(motion[each][row])]
            if np.isfinite([closed[each][0] for each in known]).all():
                yield {"t": t, "given": probe.state_of(closed, 0)}
                break


def _noise(loaded: Loaded, found: Record) -> dict[str, float]:
    """By unit, the largest change of a result when every value of a state is rounded once more.

    Results that this changes by more than `SHAKY` of their size, such as the angular acceleration of a body without
    inertia, join the loose ones.
    """
    sizes, gaps = state_sizes(found), dict[str, float]()
    rng, own = random.Random(0), probe.state_units(loaded)
    for state in found["states"]:
        near = {
            name: value * (1.0 + rng.choice((-1, 1)) * ROUNDING) if name in own else value
            for name, value in state["given"].items()
        }
        again = aligned(state["values"], _values(probe.at(loaded, state["t"], near)))
        for name, value in again.items():
            gap = abs(value - state["values"][name])
            gaps[name] = max(gaps.get(name, 0.0), gap if np.isfinite(gap) else 0.0)
    shaky = {name for name, gap in gaps.items() if gap > SHAKY * sizes[unit_of(found, name)]}
    found["loose"] = sorted({*found["loose"], *shaky})
    noise: dict[str, float] = {}
    for name in gaps.keys() - set(found["loose"]):
        noise[unit_of(found, name)] = max(noise.get(unit_of(found, name), 0.0), gaps[name])
    return dict(sorted(noise.items()))


def _loose(loaded: Loaded, states: list[Record]) -> list[str]:
    """Results of a redundant mechanism that are not determined; see `probe.undetermined`."""
    found: set[str] = set()
    for state in states[1:]:
        if (state["rows"] or {}).get("redundant"):
            t = state["t"] or (loaded.t_end or 1.0) / 10
            found.update(probe.undetermined(loaded, t, state["given"], state["values"]))
    return sorted(found)


def _state(loaded: Loaded, state: Record) -> Record:
    """All results at a state, which is given by everything that its record knows."""
    t, given = state["t"], state["given"]
    solution = probe.at(loaded, t, {**state.get("values", {}), **given})
    rows = probe.rows(loaded, t, solution)
    return {
        "t": t,
        "given": dict(sorted(given.items())),
        "values": _values(solution),
        "rows": None if rows is None else asdict(rows),
    }


def _files(loaded: Loaded, motion: ct.Solution | None) -> dict[str, Any]:
    """Whether a model and its results come back from files without loss, or the class of the refusal."""
    found: dict[str, Any] = {}
    model = loaded.model
    solution = motion if motion is not None else probe.at(loaded, 0.0, None)
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("yaml", "json"):
            try:
                again = ct.load(model.save(Path(folder) / f"model.{kind}"))
                found[kind] = again.to_data() == model.to_data() and again.components == model.components
            except ct.CotreeError as error:
                found[kind] = type(error).__name__
        back = ct.Solution.from_hdf5(solution.to_hdf5(Path(folder) / "results.h5"))
        same = [np.array_equal(back[name], solution[name], equal_nan=True) for name in solution.names]
        kept = [back.unit(name) == solution.unit(name) for name in solution.names]
        events = {name: times.tolist() for name, times in solution.events.items()}
        found["hdf5"] = (
            all(same) and all(kept) and back.names == solution.names
            and {name: times.tolist() for name, times in back.events.items()} == events
            and back.energy().closure.tolist() == solution.energy().closure.tolist()
        )  # fmt: skip
    return found
