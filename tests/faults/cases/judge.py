"""A case of the family, what the program reported about it, and the verdict.

A case is wrong where a result is more than 1 % of its range off the truth, right below 0.1 %; what lies between is not
counted. Truths are closed forms or equations written by hand, apart from the program.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cotree as ct

Array = NDArray[np.float64]

WRONG = 1e-2
RIGHT = 1e-3
FEW = 5.0
"""Degrees, and per cent of the size, that a given start may be moved without a word."""
LEVELS = ("info", "note", "warning", "error")
STEMS: Mapping[str, str] = {
    "moved": r"mov|start|assembl|shift|turn|clos",
    "placed": r"plac|rest|start|mov",
    "undetermined": r"determin|redundan|shar|split|static",
    "across": r"across|plane|normal|nothing",
    "gravity": r"gravity",
    "kink": r"kink|jump|corner|speed|slope",
    "creep": r"creep|friction|stick|hold|slip",
    "inertia": r"inertia|radius|spin|triangle",
}
"""How a note of each kind can be told from other notes that name the same part."""


@dataclass(frozen=True)
class Case:
    """One model with its run, the error of its results, and what has to be reported where they are wrong."""

    entry: str
    label: str
    twin: bool
    run: Callable[[], Any]
    error: Callable[[Any], float]
    """Largest error over the range of the result; infinite where what was asked for cannot be what is computed."""
    kind: str = ""
    """A key of `STEMS` where a note that names the part is enough; empty where it takes a warning."""
    parts: tuple[str, ...] = ()
    """What the note has to name: all of them, or with ``one`` at least one."""
    one: bool = False


@dataclass(frozen=True)
class Report:
    """One diagnostic."""

    code: str
    severity: str
    subjects: tuple[str, ...]
    text: str

    def names(self, part: str) -> bool:
        """Whether it names a part, or a result of it."""
        if any(each == part or each.startswith(f"{part}.") for each in self.subjects):
            return True
        end = r"(?=[.,;:')]|$)" if len(part) == 1 else r"(?!\w)"  # "A" may be a word of its own
        return re.search(rf"(?<![\w.]){re.escape(part)}{end}", self.text) is not None

    def about(self, kind: str) -> bool:
        """Whether it speaks of what a kind of note is about."""
        return re.search(STEMS[kind], f"{self.code} {self.text}", re.IGNORECASE) is not None

    @property
    def level(self) -> int:
        """Its place among the severities."""
        return LEVELS.index(self.severity)


def reported(result: Any) -> tuple[Report, ...]:
    """What the program said about a result: its diagnostics or, where it has none, its notes."""
    found = getattr(result, "diagnostics", None)
    if found is not None:
        return tuple(Report(str(d.code), str(d.severity), tuple(map(str, d.subjects)), str(d.text)) for d in found)
    notes = getattr(result, "notes", ())
    return tuple(Report("note", "warning" if each.startswith("doubtful") else "info", (), each) for each in notes)


@dataclass(frozen=True)
class Verdict:
    """How a case ended."""

    case: Case
    truth: str
    """``wrong``, ``between`` or ``right`` by the truth; ``refused`` by the program; ``crash`` by another exception."""
    error: float
    reports: tuple[Report, ...]
    message: str
    seconds: float

    @property
    def said(self) -> bool:
        """Whether what is wrong was reported: by a warning, or where that is enough by a note that names the part."""
        if self.truth == "refused":
            refusal = Report("refused", "error", (), self.message)
            return not self.case.kind or (refusal.about(self.case.kind) and self._named((refusal,)))
        if not self.case.kind:
            return any(each.level >= LEVELS.index("warning") for each in self.reports)
        return self._named([each for each in self.reports if each.level >= LEVELS.index("note")])

    def _named(self, heard: Sequence[Report]) -> bool:
        """Whether these name the parts in question."""
        named = [any(each.names(part) for each in heard) for part in self.case.parts]
        return any(named) if self.case.one else bool(heard) and all(named)

    @property
    def alarmed(self) -> bool:
        """Whether there is a warning or, at a twin, a note of the kind that its entry is about."""
        if self.truth == "refused" or any(each.level >= LEVELS.index("warning") for each in self.reports):
            return True
        if not self.case.kind or not self.case.twin:
            return False
        about = [each for each in self.reports if each.severity == "note" and each.about(self.case.kind)]
        return any(each.names(part) for each in about for part in self.case.parts)

    @property
    def silent(self) -> bool:
        """Wrong without a warning."""
        if self.truth == "crash":
            return True
        return (self.truth == "wrong" or (self.truth == "refused" and not self.case.twin)) and not self.said

    @property
    def false_alarm(self) -> bool:
        """Right with a warning; a twin that is refused counts as one."""
        return (self.truth == "right" or (self.truth == "refused" and self.case.twin)) and self.alarmed

    @property
    def word(self) -> str:
        """The verdict in a word."""
        if self.silent:
            return "SILENT"
        if self.false_alarm:
            return "FALSE ALARM"
        return {"wrong": "said", "right": "quiet", "between": "not counted", "refused": "said"}[self.truth]

    def line(self) -> str:
        """One line of the table."""
        heard = sorted({f"{each.severity}:{each.code}" for each in self.reports if each.level > 0})
        told = ", ".join(heard) if heard else self.message[:90] if self.message else "-"
        intended = "right" if self.case.twin else "wrong"
        size = "-" if np.isnan(self.error) else f"{self.error:.1e}"
        return (
            f"{self.case.entry:<4} {intended:<6} {self.truth:<8} {size:>8} {self.word:<12} {self.case.label:<52} {told}"
        )


def judge(case: Case) -> Verdict:
    """Run a case and compare it with its truth."""
    clock = time.process_time()
    reports: tuple[Report, ...] = ()
    error, message = float("nan"), ""
    try:
        result = case.run()
        reports = reported(result)
        error = float(case.error(result))
        truth = "right" if error < RIGHT else "wrong" if not error <= WRONG else "between"
    except ct.CotreeError as refusal:
        truth, message = "refused", str(refusal)
    except Exception as crash:  # the family asks for refusals of the program's own
        truth, message = "crash", f"{type(crash).__name__}: {crash}"
    return Verdict(case, truth, error, reports, " ".join(message.split()), time.process_time() - clock)


def off(found: Any, truth: Any, least: float = 0.0) -> float:
    """The largest difference over the range of the truth, or over ``least`` where that is more."""
    found, truth = np.asarray(found, dtype=float), np.asarray(truth, dtype=float)
    span = max(float(np.ptp(truth)), least)
    worst = float(np.max(np.abs(found - truth)))
    return worst / span if np.isfinite(worst) else np.inf


def worst(*errors: float) -> float:
    """The largest of several errors; infinite where one has no value."""
    return float(np.max(np.where(np.isnan(errors), np.inf, errors)))


def solved(rates: Callable[[float, Array], Any], start: Sequence[float], times: Array, **options: Any) -> Array:
    """States at given times by DOP853: one row for each state."""
    span = (float(times[0]), float(times[-1]))
    tight = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14, "t_eval": times} | options
    found = solve_ivp(rates, span, np.asarray(start, dtype=float), **tight)
    assert found.success, found.message
    return np.asarray(found.y)


def decade(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between 10**low and 10**high, even in its logarithm."""
    return float(10.0 ** rng.uniform(low, high))


def pick(rng: np.random.Generator, *options: Any) -> Any:
    """One of several things."""
    return options[int(rng.integers(len(options)))]


def direction(rng: np.random.Generator) -> Array:
    """A unit vector in space."""
    given = rng.normal(size=3)
    return np.asarray(given / np.linalg.norm(given))


def triple(vector: Any) -> tuple[float, float, float]:
    """A vector as plain numbers."""
    x, y, z = (float(each) for each in vector)
    return x, y, z
