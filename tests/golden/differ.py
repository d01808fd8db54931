"""What moved between the record of a model and another one.

Numbers at one state are compared with `EXACT` of their size: the largest value of the same unit in the model, and at
least what a physical size gives where all of them are zero or rounding; to it comes what one rounding of the state
changes (`noise` of the record). Angles of a state count up to full turns, and Euler parameters up to their sign.
Motions are compared within ten times the band that two tolerances gave for results of the unit, and the tolerance of
the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

EXACT = 1e-11
NOISE = 30.0
"""Roundings of another order of operations, in those of one."""
BAND, RTOL = 10.0, 1e-8
CLOSED = 1e-10
"""Largest residual of a constraint over the size of the model, where the record has a smaller one."""
TURN = 2.0 * np.pi
UNKNOWN = 999
"""The exponent of a band that is not known: two runs were not comparable."""


@dataclass(frozen=True, eq=False)
class Moved:
    """One difference: the model, the part of its record, the name, and what it was and is."""

    model: str
    part: str
    name: str
    old: Any
    new: Any
    size: float = float("inf")
    """The difference over what is allowed."""
    key: tuple[Any, ...] = ()
    """Where it stands in the record."""

    def __str__(self) -> str:
        many = "" if not np.isfinite(self.size) else f"  ({self.size:.1e} of the tolerance)"
        return f"{self.part} {self.name}: {_short(self.old)} -> {_short(self.new)}{many}"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    text = str(value)
    return text if len(text) < 90 else f"{text[:87]}..."


def differences(model: str, old: Mapping[str, Any], new: Mapping[str, Any], parts: Iterable[str]) -> list[Moved]:
    """What of the named parts moved; parts are those of `golden.record`."""
    asked, found = set(parts), list[Moved]()
    refused = _table(model, "error", old.get("error", {}), new.get("error", {}), asked | {"make"})
    found += refused
    if "units" in old and "units" in new:
        found += _table(model, "units", old["units"], new["units"])
    sizes = state_sizes(old)
    allowed = {unit: EXACT * size + NOISE * old.get("noise", {}).get(unit, 0.0) for unit, size in sizes.items()}
    if "start" in asked and "start" in old and "start" in new:
        found += _values(model, "start", ("start",), old, old["start"], new["start"], allowed)
    if "states" in asked:
        for k, (was, now) in enumerate(zip(old.get("states", ()), new.get("states", ()), strict=False)):
            part = f"state {k + 1}"
            found += _values(model, part, ("states", k, "values"), old, was["values"], now["values"], allowed)
            found += _rows(model, part, k, was["rows"], now["rows"], sizes.get("m", 1.0) or 1.0)
        if len(old.get("states", ())) != len(new.get("states", ())) and not refused:
            counts = len(old.get("states", ())), len(new.get("states", ()))
            found.append(Moved(model, "states", "count", *counts))
    if "path" in asked and "path" in old and "path" in new:
        found += _path(model, old, new)
        found += _events(model, old, new)
    if "files" in asked and "files" in old and "files" in new:
        found += _table(model, "files", old["files"], new["files"])
    return found


def chosen(every: Iterable[Moved], models: str = "*", parts: str = "*", names: str = "*") -> list[Moved]:
    """Those whose model, part and name fit to patterns."""
    return [
        each
        for each in every
        if fnmatchcase(each.model, models) and fnmatchcase(each.part, parts) and fnmatchcase(each.name, names)
    ]


def state_sizes(record: Mapping[str, Any]) -> dict[str, float]:
    """The size of each unit in a model, from its start and its states."""
    every = [*([record["start"]] if "start" in record else []), *(each["values"] for each in record.get("states", ()))]
    return _sizes(record, ((name, abs(value)) for values in every for name, value in values.items()))


def _sizes(record: Mapping[str, Any], values: Iterable[tuple[str, float]]) -> dict[str, float]:
    sizes: dict[str, float] = {}
    for name, value in values:
        if np.isfinite(value):
            unit = unit_of(record, name)
            sizes[unit] = max(sizes.get(unit, 0.0), value)
    length, force, speed, spin = (sizes.get(unit, 0.0) for unit in ("m", "N", "m/s", "rad/s"))
    least = {"": 1.0, "rad": 1.0, "rad/s^2": spin**2, "N m": length * force, "J": length * force, "W": speed * force}
    for unit in sizes:
        sizes[unit] = max(sizes[unit], least.get(unit, 0.0)) or 1.0  # nothing in the model says what is small
    return sizes


def unit_of(record: Mapping[str, Any], name: str) -> str:
    """The unit of a result, or of an energy of the audit."""
    return str(record["units"].get(name, "J"))


def _values(
    model: str,
    part: str,
    key: tuple[Any, ...],
    record: Mapping[str, Any],
    old: Mapping[str, float],
    new: Mapping[str, float],
    allowed: Mapping[str, float],
) -> Iterator[Moved]:
    loose, new = set(record.get("loose", ())), aligned(old, new)
    for name in old.keys() & new.keys() - loose:
        unit = unit_of(record, name)
        gap, most = _gap(old[name], new[name]), allowed.get(unit, 0.0)
        if unit == "rad" and key[0] == "states" and np.isfinite(gap):  # turns belong to a motion, not to a state
            gap = abs(gap - TURN * round(gap / TURN))
        if gap > most:
            yield Moved(model, part, name, old[name], new[name], gap / most if most else np.inf, (*key, name))


def aligned(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The new values with Euler parameters of the same sign as the old ones: both stand for the same rotation."""
    found = dict(new)
    for name in new:
        head, turn, last = name.rpartition("e0")
        four = [f"{head}e{k}" for k in range(4)]
        if turn and not last and all(each in new and each in old for each in four):
            same = sum(np.multiply(old[each], new[each]) for each in four)
            for each in four:
                found[each] = (np.where(np.less(same, 0), -1.0, 1.0) * new[each]).tolist()
    return found


def _gap(old: float, new: float) -> float:
    """The distance of two numbers; none between two that are not finite in the same way."""
    if np.isfinite(old) and np.isfinite(new):
        return abs(new - old)
    return 0.0 if old == new or (np.isnan(old) and np.isnan(new)) else np.inf


def _rows(model: str, part: str, k: int, old: Any, new: Any, size: float) -> Iterator[Moved]:
    if old is None or new is None:
        if old != new:
            yield Moved(model, part, "rows", old, new, key=("states", k, "rows"))
        return
    for name in ("freedoms", "redundant"):
        if old[name] != new[name]:
            yield Moved(model, part, f"rows.{name}", old[name], new[name], key=("states", k, "rows", name))
    for name in ("position", "velocity"):
        most = max(CLOSED * size, BAND * old[name])
        if not new[name] <= most:
            many = new[name] / most
            yield Moved(model, part, f"rows.{name}", old[name], new[name], many, ("states", k, "rows", name))


def _path(model: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Moved]:
    was, now = old["path"], new["path"]
    if not np.allclose(was["t"], now["t"], rtol=1e-9, atol=0.0):
        yield Moved(model, "path", "t", was["t"], now["t"], key=("path", "t"))
        return
    after = aligned(was["values"], now["values"])
    every = ((name, abs(value)) for name, values in was["values"].items() for value in values)
    sizes, bands = _sizes(old, every), _bands(old)
    for name in was["values"].keys() & after.keys() - set(old.get("loose", ())):
        a, b = was["values"][name], after[name]
        most = BAND * bands[unit_of(old, name)] + RTOL * sizes.get(unit_of(old, name), 0.0)
        gaps = np.array([_gap(*pair) for pair in zip(a, b, strict=True)])
        with np.errstate(invalid="ignore", divide="ignore"):
            over = np.where(gaps > most, gaps / most, 0.0)
        if over.max(initial=0.0) > 0:
            k = int(np.argmax(over))
            yield Moved(model, "path", name, a[k], b[k], float(over[k]), ("path", "values", name))
    if now["audit_error"] > BAND * was["audit_error"] + RTOL:
        yield Moved(model, "path", "audit error", was["audit_error"], now["audit_error"], key=("path", "audit_error"))


def _bands(record: Mapping[str, Any]) -> dict[str, Any]:
    """What motions of a unit may differ by, over time: the largest band of the unit, now and at the next time.

    A band is one sample of the error of a run. That of a single result may be small by chance, or because its time
    lies before the error has grown; another machine rounds, and so steps, otherwise.
    """
    found: dict[str, Any] = {}
    for name, band in record["path"]["band"].items():
        width = _width(band)
        found[unit_of(record, name)] = np.maximum(width, found.get(unit_of(record, name), 0.0))
    return {unit: np.maximum(width, np.append(width[1:], 0.0)) for unit, width in found.items()}


def _width(band: list[int | None]) -> Any:
    """Bands as numbers, from the exponents that are stored."""
    return np.array([0.0 if each is None else np.inf if each == UNKNOWN else 10.0**each for each in band])


def _events(model: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Moved]:
    was, now, bands = old["events"], new["events"], old["event_band"]
    span = abs(old["path"]["t"][-1] - old["path"]["t"][0])
    for name in sorted(was.keys() | now.keys()):
        a, b = was.get(name), now.get(name)
        if a is None or b is None:
            yield Moved(model, "events", name, a, b, key=("events", name))
            continue
        width = _width(bands.get(name) or [])
        if not np.isfinite(width).all():
            continue  # two tolerances did not give the same number of them
        if len(a) != len(b):
            yield Moved(model, "events", name, f"{len(a)} times", f"{len(b)} times", key=("events", name))
            continue
        gaps = np.abs(np.subtract(a, b))
        most = BAND * width + RTOL * span
        if (gaps > most).any():
            k = int(np.argmax(gaps / most))
            yield Moved(model, "events", name, a[k], b[k], float(gaps[k] / most[k]), ("events", name))


def _table(
    model: str, part: str, old: Mapping[str, Any], new: Mapping[str, Any], only: set[str] | None = None
) -> list[Moved]:
    keys = sorted(old.keys() | new.keys())
    return [
        Moved(model, part, name, old.get(name), new.get(name), key=(part, name))
        for name in keys
        if (only is None or name in only) and old.get(name) != new.get(name)
    ]
