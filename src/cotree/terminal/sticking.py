"""Dry friction between two nodes that slip or stick.

While it slips, its through variable is ``sliding`` in the direction of the slip; while it sticks, the slip speed stays
zero and the through variable is whatever that takes, up to ``sticking``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cotree.terminal.scalar import OnePort

AT_REST = 1e-10
"""Slip speed in rad/s or m/s that counts as none."""


class Sticking(OnePort):
    """What all parts that stick share: ``mode`` is 1 or -1 while slipping in this direction, and 0 while sticking.

    ``rest`` is what a part that begins to slip still has of a slip in the other direction, by rounding.
    """

    holding = ("mode", "rest")

    def sliding(self, v: Any, e: Any, speed: Any) -> Any:
        """The friction while slipping, not negative; ``speed`` is the size of the slip speed."""
        raise NotImplementedError

    def sticking(self, v: Any, e: Any) -> Any:
        """The largest friction while sticking."""
        raise NotImplementedError

    def mode_start(self, values: Mapping[str, float]) -> float:
        """The mode at the start: sticking, until the slip speed or the load says otherwise."""
        return 0.0

    def held_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return self.mode_start(values), 0.0

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        """While slipping; sticking is the formulation's business."""
        return [e[0].through - v.mode * self.sliding(v, e[0], v.mode * e[0].across)]
