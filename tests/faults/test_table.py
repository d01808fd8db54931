"""The table of faults in the documentation names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ENTRIES = {
    "A": (2, 3, 4, 5, 6, 7, 10, 11, 13, 14, 15, 16, 17, 18, 19),
    "B": (1, 4, 5, 6, 7),
    "D": (1, 3, 4, 5),
    "E": (1, 4, 9),
}
"""Entries of the issue that mended them."""
ROOT = Path(__file__).parents[2]


def test_every_test_of_the_table_exists() -> None:
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8").partition("## Faults of 0.1.0")[2]
    rows = [line for line in text.splitlines() if re.match(r"\| [A-E]\d", line)]
    assert len(rows) > 20
    for row in rows:
        path, names = "", []
        for each in re.findall(r"`([^`]+)`", row.rpartition(" | ")[2]):
            if each.endswith(".py"):
                path = each
                continue
            names.append(each)
            assert f"def {each}(" in (ROOT / path).read_text(encoding="utf-8"), (path, each)
        assert len(names) >= 2, row


def test_every_entry_of_the_issue_has_one_row_that_says_what_holds() -> None:
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8").partition("## Faults of 0.1.0")[2]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [A-E]\d", line)]
    assert all(len(row) == 3 and all(map(str.strip, row)) for row in rows)
    entries = [entry for row in rows for entry in row[0].split(", ")]
    assert sorted(entries) == sorted(f"{letter}{n}" for letter, own in ENTRIES.items() for n in own)
