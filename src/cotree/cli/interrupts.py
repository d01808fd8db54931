"""Ctrl-C and a request to end, which are the same here: stop computing, keep what there is, and leave."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stopped(KeyboardInterrupt):
    """Somebody asked to stop. Of the plain exception Python keeps count, and then ends by a signal of its own."""


_seen = False


def requested() -> bool:
    """Whether somebody asked to stop."""
    return _seen


def leave_if_requested() -> None:
    """Stop now where a request was lost in code that ignores exceptions."""
    if _seen:
        raise Stopped


def _stop(number: int, frame: Any) -> None:
    """Remember the request, and leave what is being done."""
    global _seen
    _seen = True
    raise Stopped


@contextmanager
def interruptible() -> Iterator[None]:
    """Both signals raise `KeyboardInterrupt` inside; what was ignored from outside (nohup) stays ignored."""
    global _seen
    _seen, before = False, {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, _stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
