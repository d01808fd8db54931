"""A stretch in pieces, each one native call: few for a short run, and many for one that takes long.

How long they are follows from counts alone, the steps that were needed so far and the instructions of the equations,
never from the clock: the same run gives the same numbers again, on a busy and on an idle machine, interrupted or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STEPS = 1000
"""Most steps of a piece, roughly: many more than a native integrator needs to find its order again."""
LENGTH, TIMES = 2500, 10
"""Instructions of right-hand sides for which this holds, and how many times more steps shorter ones may have."""
LONG = 10_000
"""Instructions of right-hand sides beyond which pieces have fewer steps, so that they take about 0.25 s."""
FEWEST, FEWEST_ANEW = 30, 200
"""Fewest steps of a piece, of methods that go on with every call and of those that begin anew."""
PARTS, POINTS = 50, 100
"""The first piece, by which the number of steps is measured, is this part of a stretch, and has at most such points."""
SHORTEST = 1e-300
"""Least length of a piece in s, so that its steps in one s are a number."""
LONGER = 4
"""Growth from one piece to the next; a new size needs a new native integrator."""


class Pieces:
    """Output points: a few to measure, then all the rest if that is quick, otherwise ever larger pieces.

    A short run is then two native calls; a long one can show its progress, be recorded and be interrupted. Where an
    event may stop the run (``stopping``), each piece is at most twice as long as the last. An interval between two
    points that needs many steps is cut. ``rate`` are steps in one s of the model, as far as they are known.
    """

    def __init__(self, stopping: bool = False, rate: float | None = None) -> None:
        self.stopping, self.rate, self.most, self.size = stopping, rate, STEPS, 0
        self.going_on = False
        """Whether the next stretch is the rest of one."""
        self._done = self._chosen = 0
        self._t = self._begin = self._first = 0.0
        self._targets, self._shown = np.zeros(0), np.zeros(0, dtype=bool)

    def heed(self, length: int, goes_on: bool, costly: bool) -> None:
        """Fewer steps in a piece for right-hand sides of many instructions, and more where a step is not ``costly``."""
        more = 1.0 if costly else min(max(LENGTH / max(length, 1), 1), TIMES)
        fewest = min(FEWEST if goes_on else FEWEST_ANEW, STEPS)
        self.most = max(int(STEPS * more * min(LONG / max(length, 1), 1)), fewest)

    def begin(self, t: float, targets: Array, shown: NDArray[np.bool_]) -> None:
        """A new stretch, or the rest of one that goes on."""
        self._t, self._targets, self._shown, self._done = t, targets, shown, 0
        if len(targets):
            self._first = (float(targets[-1]) - t) / PARTS
        if not self.going_on:
            self.size = max(1, min(len(targets) // PARTS, POINTS))
        self.going_on = False

    def next(self) -> tuple[Array, NDArray[np.bool_]] | None:
        """Times to integrate to, and which of them are shown; None at the end of the stretch."""
        if self._done >= len(self._targets):
            return None
        length = self._first if self.rate is None else self.most / self.rate
        self._begin, target = self._t, float(self._targets[self._done])
        if 2 * length < target - self._t:
            self._t, self._chosen = self._t + length, 0
            return np.array([self._t]), np.array([False])
        piece = slice(self._done, min(self._done + self.size, len(self._targets)))
        self._chosen = piece.stop - piece.start
        self._done, self._t = piece.stop, float(self._targets[piece.stop - 1])
        return self._targets[piece], self._shown[piece]

    def took(self, steps: int) -> None:
        """How many steps the last piece has had, by which the next one is chosen."""
        self.rate = max(steps, 1) / max(self._t - self._begin, SHORTEST)
        count, left = self._chosen, len(self._targets) - self._done
        if not count:
            return
        if steps > self.most:
            self.size = max(1, self.size // LONGER)
        elif self.stopping:
            self.size *= 2
        elif steps * left < self.most * count:
            self.size = max(1, left)
        elif steps < self.most / LONGER:
            self.size *= LONGER

    @property
    def memory(self) -> dict[str, Any]:
        """What a run that goes on has to know."""
        inside = self._done < len(self._targets)
        return {"size": self.size, "rate": self.rate, "most": self.most, "inside": inside}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after a run that had this memory."""
        self.size, self.rate, self.most = int(memory["size"]), memory["rate"], int(memory["most"])
        self.going_on = bool(memory["inside"])
