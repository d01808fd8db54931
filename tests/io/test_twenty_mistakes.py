"""Wrong model files, each a mistake that users make: the whole text that the command line prints is held.

Beside each file in ``mistakes/`` stands what ``cotree run`` says of it. It names the file, the line and the column,
what was found and what would be right, and shows the line.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from cotree.cli import main

FOLDER = Path(__file__).parent / "mistakes"
CASES = sorted(path.stem for path in FOLDER.glob("*.txt"))


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_told_with_its_place_and_its_remedy(case, monkeypatch, capsys):
    monkeypatch.chdir(FOLDER)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "argv", ["cotree", "run", f"{case}.yaml"])
    with pytest.raises(SystemExit) as left:
        main()
    told = capsys.readouterr()
    assert left.value.code == 2
    assert told.out == ""
    assert told.err == (FOLDER / f"{case}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_the_texts_hold_what_they_must(case):
    message, line, caret, *_ = (FOLDER / f"{case}.txt").read_text(encoding="utf-8").splitlines()
    place = re.match(r"error: ([\w/]+\.yaml):(\d+):(\d+): ", message)
    assert place
    source = (FOLDER / place[1]).read_text(encoding="utf-8").splitlines()[int(place[2]) - 1]
    shown = line.partition(" | ")[2].strip(".")
    assert shown.strip() in source.replace("\t", " ")
    under = line[caret.index("^") :]
    assert source.replace("\t", " ")[int(place[3]) - 1 :].startswith(under.removesuffix("...")[:12].rstrip())
    assert re.search(r"(Expected|Did you mean|Give|Put|Write|Indent|Rename|Close|Add|Leave|Use|Call|Keep) ", message)


def test_there_are_more_than_twenty_of_all_rooms():
    assert len(CASES) > 35
    assert set(CASES) == {path.stem for path in FOLDER.glob("*.yaml")} - {"include_cycle_leg"}
    texts = [(FOLDER / f"{case}.yaml").read_text(encoding="utf-8") for case in CASES]
    for room in ("kind: resistor", "kind: revolute", "kind: nodal.", "bonds: "):
        assert sum(room in text for text in texts) >= 3, room
