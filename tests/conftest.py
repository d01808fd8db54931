"""What every test leaves as it found it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cotree.model.component import KINDS, _short_names

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell lets what it runs in the background ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _kinds_of_tests() -> Iterator[None]:
    """Kinds that a test defines are forgotten after it; those of the package stay, whenever they are loaded."""
    before = set(KINDS)
    yield
    for kind in [kind for kind in KINDS.keys() - before if not KINDS[kind].__module__.startswith("cotree.")]:
        del KINDS[kind]
        _short_names.cache_clear()
