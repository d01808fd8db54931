"""The table of faults in the documentation names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_of_the_table_exists() -> None:
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8").partition("## Faults of 0.1.0")[2]
    rows = [line for line in text.splitlines() if re.match(r"\| [A-E]\d", line)]
    assert len(rows) > 20
    for row in rows:
        (path, *names) = re.findall(r"`([^`]+)`", row)
        source = (ROOT / path).read_text(encoding="utf-8")
        assert len(names) >= 2, row
        for name in names:
            assert f"def {name}(" in source, (path, name)
