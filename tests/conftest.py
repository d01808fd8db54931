"""What every test leaves as it found it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from _long import CASES, LONG
from cotree.model.kinds import KINDS

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell lets what it runs in the background ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long, and begin with pages, whose files take longest: then no process waits at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(("tests/view/", "tests/test_")))
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        if name.startswith(LONG):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("slow") is None and item.get_closest_marker("soak") is None:
            cases.setdefault(name.partition("[")[0], []).append(item)
    for name, kept in CASES.items():
        several = cases.get(name, [])
        quick = {round(k * (len(several) - 1) / max(kept - 1, 1)) for k in range(kept)}
        for number, item in enumerate(several):
            if number not in quick:
                item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _kinds_of_tests() -> Iterator[None]:
    """Kinds that a test defines are forgotten after it; those of the package stay, whenever they are loaded."""
    before = set(KINDS)
    yield
    for kind in [kind for kind in KINDS.keys() - before if not KINDS[kind].__module__.startswith("cotree.")]:
        del KINDS[kind]
