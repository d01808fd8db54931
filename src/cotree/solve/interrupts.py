"""Ctrl-C while a native solver works, which takes the exception for a failure of the equations and goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any, Self


class Interrupts:
    """Inside its block a signal that raises `KeyboardInterrupt` is remembered, so that `check` can raise it again."""

    def __init__(self) -> None:
        self.seen = False
        self._before: dict[int, Callable[..., Any]] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._remember)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        while self._before:
            signal.signal(*self._before.popitem())
        if isinstance(error, SystemError):  # what a native call may make of a signal
            self.check()

    def _remember(self, number: int, frame: Any) -> None:
        self.seen = True
        self._before[number](number, frame)

    def check(self) -> None:
        """Raise the interruption that a native solver has swallowed, if there was one."""
        if self.seen:
            raise KeyboardInterrupt from None
