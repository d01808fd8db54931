"""The preview of a model that has not run."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.solve.beginning import at_start
from view._models import network

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["four_bar", "dc_motor", "bond_example_1", "deployable_five_bar", "machine_winch"])
def test_every_sort_of_model_is_previewed(name: str, tmp_path: Path) -> None:
    m = ct.Model.load(EXAMPLES / f"{name}.yaml")
    text = m.show(tmp_path / "p.html").read_text(encoding="utf-8")
    assert "The model has not run yet." in text
    assert "<svg" in text
    assert ">Diagnostics</" in text
    assert ">Error:<" not in text
    if m.mechanical:
        assert "degrees of freedom" in text
        assert ">bodies</span>" in text
        assert 'id="scene' in text


def test_counts_of_a_loop(tmp_path: Path) -> None:
    text = ct.Model.load(EXAMPLES / "four_bar.yaml").show(tmp_path / "p.html").read_text(encoding="utf-8")
    shown = {word: count for count, word in re.findall(r'<div class="tile"><b>([^<]*)</b><span>([^<]*)</span>', text)}
    assert (shown["bodies"], shown["joints"], shown["loops"]) == ("3", "4", "1")
    assert (shown["degrees of freedom"], shown["constraint equations"], shown["redundant equations"]) == ("1", "2", "3")


def test_the_start_is_that_of_a_run() -> None:
    m = ct.Model.load(EXAMPLES / "four_bar.yaml")
    start, run = at_start(m.equations()), m.simulate(0.01, points=2)
    for name in run.names:
        scale = float(np.max(np.abs(run[name]))) + 1.0
        assert abs(start[name][0] - run[name][0]) <= 1e-6 * scale, name


def test_a_model_that_is_not_right_yet_shows_why(tmp_path: Path) -> None:
    m = ct.Model("half")
    m.add(ct.Resistor("R", ("a", "b"), resistance=1.0))  # not joined to the ground
    text = m.show(tmp_path / "p.html").read_text(encoding="utf-8")
    assert '<strong class="bad">Error:</strong>' in text


def test_without_a_path_a_browser_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    path = network().show()
    assert opened == [path.as_uri()]
