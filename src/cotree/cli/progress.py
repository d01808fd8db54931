"""The progress bar of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from cotree.cli.console import err
from cotree.cli.interrupts import leave_if_requested


class Progress:
    """A bar with the time left, on a terminal; nothing in a pipe or a log."""

    def __init__(self, quiet: bool) -> None:
        self.wanted = not quiet and sys.stderr.isatty() and not err().is_dumb_terminal

    def __enter__(self) -> Callable[[float], None]:
        if not self.wanted:
            return lambda fraction: leave_if_requested()
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(),
        )  # fmt: skip
        self.bar = Progress(*columns, console=err(), transient=True)
        self.task = self.bar.add_task("preparing", total=None)
        self.bar.start()
        return self._advance

    def _advance(self, fraction: float) -> None:
        self.bar.update(self.task, description="simulating", total=1.0, completed=fraction)
        leave_if_requested()

    def __exit__(self, *reason: Any) -> None:
        if self.wanted:
            self.bar.stop()
