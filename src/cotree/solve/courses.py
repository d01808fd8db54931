"""Results that go on from one output time to the next: angles beyond full turns, and signs of Euler parameters."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation import SystemEquations
from cotree.formulation.system import turns_name

Array = NDArray[np.float64]


def result_units(e: SystemEquations) -> dict[str, str]:
    """All results with their units, in the order of a solution: outputs, inner states, held values, and integrals.

    Integrals that count turns are none.
    """
    counted = {turns_name(name) for name in e.near_angles()}
    integrals = {name: each.unit for name, each in e.integrals.items() if name not in counted}
    return {name: each.unit for name, each in e.outputs.items()} | inner_states(e) | held_values(e) | integrals


def held_values(e: SystemEquations) -> dict[str, str]:
    """Held values that are no outputs, with their units."""
    named = zip(e.held.names, e.held.units, strict=True)
    return {name: unit for name, unit in named if name not in e.outputs}


def inner_states(e: SystemEquations) -> dict[str, str]:
    """States that are no outputs, with their units."""
    states = zip(e.state_names, e.state_units, strict=True)
    return {name: unit for name, unit in states if name not in e.outputs and name not in e.integrals}


class Courses:
    """What has to be known of the past for rows of outputs to go on without jumps."""

    def __init__(self, equations: SystemEquations, p: Array) -> None:
        names, integrals = (
            {name: k for k, name in enumerate(each)} for each in (equations.outputs, equations.integrals)
        )
        near = equations.near_angles()
        self.angles = [1 + names[name] for name in near]
        self.counts = [2 + integrals[turns_name(name)] for name in near]
        self.turning = [1 + k for name, k in names.items() if name.endswith(".orientation.e0")]
        self.starts = np.zeros(0)
        if near:
            starts = ca.Function("near", [equations.p.symbols], [ca.vertcat(*near.values())])(p)
            self.starts = np.asarray(starts, dtype=float).ravel()
        self.first = np.zeros(0)
        """Angles without what their integrals have counted, known after the first row."""
        self.last = np.zeros((0, 4))
        """The Euler parameters of the last row."""

    def go_on(self, rows: Array, integrals: Array) -> None:
        """Change rows (stored energy, then outputs; one column for each time) so that they follow those before.

        Full turns of angles that are known up to them only come from the integrals of their rates; both signs of Euler
        parameters are the same rotation.
        """
        if not rows.shape[1]:
            return
        if self.angles:
            angle, count, start = rows[self.angles], integrals[self.counts], self.starts
            if not len(self.first):
                self.first = start + _wrapped(angle[:, 0] - start) - count[:, 0]
            along = self.first[:, None] + count
            rows[self.angles] = along + _wrapped(angle - along)
        last = np.empty((len(self.turning), 4))
        for k, place in enumerate(self.turning):
            turn = rows[place : place + 4]
            before = self.last[k][:, None] if len(self.last) else turn[:, :1]
            both = np.hstack([before, turn])
            flips = np.sum(both[:, 1:] * both[:, :-1], axis=0) < 0
            turn *= np.where(np.cumsum(flips) % 2, -1.0, 1.0)
            last[k] = turn[:, -1]
        self.last = last

    def placed(self, rows: Array, integrals: Array) -> Array:
        """Rows between those that are kept, as near to them as they can be; nothing is remembered."""
        if self.angles and len(self.first):
            along = self.first[:, None] + integrals[self.counts]
            rows[self.angles] = along + _wrapped(rows[self.angles] - along)
        for k, place in enumerate(self.turning if len(self.last) else ()):
            turn = rows[place : place + 4]
            turn *= np.where(self.last[k] @ turn < 0, -1.0, 1.0)
        return rows

    @property
    def memory(self) -> dict[str, Array]:
        """What a run that goes on has to know."""
        return {"turns": self.first, "rotations": self.last}

    def recall(self, numbers: Mapping[str, Array]) -> None:
        """Go on after a run that had this memory."""
        self.first, self.last = numbers["turns"], numbers["rotations"]


def _wrapped(angle: Array) -> Array:
    """An angle between -pi and pi."""
    return np.asarray(np.arctan2(np.sin(angle), np.cos(angle)))
