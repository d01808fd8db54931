"""Signals that wait while something is done that must not be left half way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held() -> Iterator[None]:
    """Ctrl-C and a request to end that come inside take effect when the block has ended."""
    before: dict[int, Callable[..., Any]] = {}
    seen: list[tuple[int, Any]] = []
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.getsignal(number)
            if callable(handler):
                before[number] = handler
                signal.signal(number, lambda *given: seen.append(given))
    try:
        yield
    finally:
        for held_back, handler in before.items():
            signal.signal(held_back, handler)
        if seen:
            before[seen[0][0]](*seen[0])
