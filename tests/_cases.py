"""How many random cases a test takes: few by default, many in `make test-all` and `make soak`; always the same ones."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

MANY = os.environ.get("COTREE_TEST_CASES") == "many"


def cases(few: int, many: int) -> int:
    """The number of cases."""
    return many if MANY else few


def long_ones(names: Iterable[str], slow: Collection[str]) -> list[Any]:
    """Names for `parametrize`, of which some take long and are left to `make test-all`."""
    return [pytest.param(name, marks=pytest.mark.slow) if name in slow else name for name in names]


def random_cases(few: int, many: int, **options: Any) -> settings:
    """Settings of a property test with so many cases, none of which is slow or rare by the judgement of Hypothesis."""
    known = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
    return settings(max_examples=cases(few, many), **(known | options))
