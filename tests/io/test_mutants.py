"""Mutants of every example through load, equations and a short run: no traceback, no hang, no process that dies."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from _examples import TREES, example_mutant
from mutants import BAD, Outcome, apart, fed, taken


def faults(found: list[Outcome]) -> list[str]:
    return [f"{each.number} of {each.name}: {each.what}: {each.text[-500:]}" for each in found if each.what in BAD]


def test_some_mutants(tmp_path: Path) -> None:
    found = fed(17, range(15), tmp_path)
    assert not faults(found)
    assert len({each.what for each in found}) > 1


def test_mutants_that_were_faults(tmp_path: Path) -> None:
    """A matrix that is singular by rounding, and a run of 1e-310 s."""
    assert not faults(fed(17, [2721, 4287], tmp_path))


@pytest.mark.soak
def test_a_thousand_mutants(tmp_path: Path) -> None:
    assert not faults(fed(17, range(100, 1100), tmp_path))


@pytest.mark.soak
@pytest.mark.parametrize("part", range(20))
def test_twenty_thousand_mutants(part: int, tmp_path: Path) -> None:
    assert not faults(fed(17, range(part * 1000, (part + 1) * 1000), tmp_path))


def test_the_same_number_gives_the_same_mutant() -> None:
    found = [example_mutant(3, number) for number in range(200)]
    assert found == [example_mutant(3, number) for number in range(200)]
    assert len({name for name, _ in found}) > len(TREES) / 2
    assert len({text for _, text in found}) > 150


def test_what_goes_wrong_is_seen(tmp_path: Path) -> None:
    """A traceback, a warning of the package's own code, a hang and a death."""

    def wrong() -> tuple[str, str]:
        raise ZeroDivisionError("seen")

    def warned() -> tuple[str, str]:
        import warnings

        warnings.warn_explicit("strange", RuntimeWarning, "x.py", 1, module="cotree.x")
        return "ran", ""

    def hanging() -> tuple[str, str]:
        while True:
            pass

    def dying() -> tuple[str, str]:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGSEGV)
        return "ran", ""

    found = [apart(0, "x", each, seconds=1) for each in (wrong, warned, hanging, dying, lambda: ("ran", ""))]
    assert [each.what for each in found] == ["traceback", "traceback", "hang", "death", "ran"]
    assert "ZeroDivisionError: seen" in found[0].text
    (tmp_path / "m.yaml").write_text("components: {R: {kind: resistor}}")
    assert taken(tmp_path / "m.yaml")[0] == "refused at load"
