"""The progress bar of a run in Python: with an estimate of the time left, in terminals and notebooks.

A bar reads a clock to decide when it is drawn; it never changes what is computed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from cotree.errors import OptionError

Watch = Callable[[float], None]
Progress = bool | Watch | None
"""True for a bar at once, None for one after two seconds where somebody can see it, False for none, or a function."""

PATIENCE = 2.0
"""Seconds before a bar appears that nobody has asked for."""
PAUSE = 0.1
"""Seconds between two drawings in a notebook."""


@contextmanager
def watched(progress: Progress, clock: Callable[[], float] = time.monotonic) -> Iterator[Watch | None]:
    """What a run calls with the part that is done, 0 to 1; None where nothing is shown."""
    if progress is None or isinstance(progress, bool):
        wanted = in_notebook() or sys.stderr.isatty() if progress is None else progress
        if not wanted:
            yield None
            return
        bar = _Bar(0.0 if progress else PATIENCE, clock)
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise OptionError(
            f"progress is {progress!r}",
            expected="True or False for a bar or none, None for a bar where a run takes long, or a function that is "
            "called with the part that is done, 0 to 1",
        )


def in_notebook() -> bool:
    """Whether this is a notebook, which shows HTML; IPython is not imported for the question."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None and hasattr(module, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def displayed(html: str, handle: Any = None) -> Any:
    """Show HTML in the output of the cell, or in the place of what was shown before; returns its handle."""
    from IPython import display

    tools: Any = display
    if handle is None:
        return tools.display(tools.HTML(html), display_id=True)
    handle.update(tools.HTML(html))
    return handle


class _Shown(Protocol):
    def update(self, done: float, spent: float) -> None: ...

    def close(self, done: float, spent: float) -> None: ...


class _Bar:
    """A bar that appears once it has waited, and is drawn as the run goes on."""

    def __init__(self, patience: float, clock: Callable[[], float]) -> None:
        self.patience, self.clock = patience, clock
        self.begun, self.done = clock(), 0.0
        self.shown: _Shown | None = None

    def __call__(self, done: float) -> None:
        self.done = min(max(float(done), self.done), 1.0)
        spent = self.clock() - self.begun
        if self.shown is None:
            if spent < self.patience:
                return
            self.shown = _Notebook() if in_notebook() else _Terminal()
        self.shown.update(self.done, spent)

    def close(self) -> None:
        """Leave the last word."""
        if self.shown is not None:
            self.shown.close(self.done, self.clock() - self.begun)


class _Terminal:
    """A bar of rich on the terminal, which goes away in the end."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("simulating"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TextColumn("{task.fields[left]}"),
        )
        self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("simulating", total=1.0, left="")
        self.bar.start()

    def update(self, done: float, spent: float) -> None:
        self.bar.update(self.task, completed=done, left=estimate(done, spent))

    def close(self, done: float, spent: float) -> None:
        self.bar.stop()


class _Notebook:
    """A bar in the output of the cell; it stays and says how long the run took."""

    def __init__(self) -> None:
        self.handle, self.drawn = displayed(bar_html(0.0, "")), -PAUSE

    def update(self, done: float, spent: float) -> None:
        if spent - self.drawn >= PAUSE:
            self.drawn = spent
            displayed(bar_html(done, estimate(done, spent)), self.handle)

    def close(self, done: float, spent: float) -> None:
        word = f"{spent:.1f} s" if done >= 1 else f"stopped after {spent:.1f} s"
        displayed(bar_html(done, word), self.handle)


def estimate(done: float, spent: float) -> str:
    """The time that is left if the run goes on as before."""
    if done <= 0:
        return f"{spent:.0f} s"
    left = spent * (1 - done) / done
    return f"{spent:.0f} s, about {left:.0f} s left"


def bar_html(done: float, word: str) -> str:
    """The bar as HTML that needs nothing else."""
    return (
        f'<div class="cotree-progress"><progress max="1" value="{done:.4f}" style="width:40%"></progress> '
        f"{100 * done:.0f} % {word}</div>"
    )
