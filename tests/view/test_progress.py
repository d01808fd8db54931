"""The progress bar of Python: when it appears, what it says, and that results do not depend on it."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import cotree as ct
from cotree.view import progress

EXAMPLES = Path(__file__).parents[2] / "examples"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ticking(step: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += step


@pytest.mark.parametrize(("step", "shown"), [(0.1, False), (1.0, True)])
def test_a_bar_appears_after_two_seconds(monkeypatch: pytest.MonkeyPatch, step: float, shown: bool) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    clock = ticking(step)
    with progress.watched(None, lambda: next(clock)) as watch:
        assert watch is not None
        for part in range(1, 6):
            watch(part / 5)
    assert ("simulating" in terminal.getvalue()) == shown


def test_nothing_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.watched(None) as watch:
        assert watch is None
    with progress.watched(False) as watch:
        assert watch is None


def test_the_estimate() -> None:
    assert progress.estimate(0.25, 3.0) == "3 s, about 9 s left"
    assert progress.estimate(0.0, 3.0) == "3 s"


def test_results_do_not_depend_on_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    m = ct.Model.load(EXAMPLES / "slider_crank.yaml")
    parts: list[float] = []
    runs = [m.simulate(0.2, points=11, progress=each) for each in (True, False, None, parts.append)]
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1.0)
    assert "simulating" in terminal.getvalue()
    assert all((run[name] == runs[1][name]).all() for run in runs for name in run)
