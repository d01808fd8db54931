"""What changes at once: held values of components, switches that change them, and samples of controllers.

A held value is constant between events. A component names its held values in `Component.holding`, uses them in its law
as ``v.<name>``, and says in `Component.switches` when and how they change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SwitchLaw:
    """Something that happens when ``guard`` becomes positive: held values change, and states may jump.

    After the change the guard must not be positive any more, or it happens again at once.
    """

    name: str
    """What happens, as events are recorded: ``closes``, ``hits``."""
    guard: Any
    """An expression in the component's variables."""
    held: Mapping[str, Any] = field(default_factory=dict)
    """New held values by name."""
    states: Mapping[str, Any] = field(default_factory=dict)
    """New values of a block's own states by name."""


@dataclass(frozen=True)
class SampleLaw:
    """New held values at the times ``offset + k period``, from the values of all signals just before.

    Blocks with the same period and offset read each other's new values, as in a block diagram; others the old ones.

    With ``call`` a Python function gives them: ``call(t, inputs) -> outputs``, numbers in the order of ``inputs`` and
    of the names in ``held``, whose expressions are then not used.
    """

    period: Any
    held: Mapping[str, Any]
    offset: Any = 0.0
    call: Callable[[float, Sequence[float]], Sequence[float]] | None = None
    inputs: Sequence[Any] = ()


@dataclass(frozen=True)
class StateOf:
    """A continuous state of a block: its name and unit (empty where it follows from a signal's)."""

    name: str
    unit: str = ""
