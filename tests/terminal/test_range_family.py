"""What the watch of flexible bodies says, against the elastica, for beams and strips under random loads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from range_family import COUNT, judged, verdict


@pytest.mark.parametrize("count", [6, pytest.param(COUNT, marks=pytest.mark.slow)])
def test_errors_are_told_and_estimated(count: int) -> None:
    found = verdict(judged(0xC07EE, count))
    assert not found["above 5 % without a warning"]
    assert not found["a warning below 1 %"]
    assert len(found["estimate off by more than 3"]) <= len(found["told"]) / 10
