"""Rigid bars between two nodes (Xiang 2015, section 2.1)."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

import casadi as ca

from cotree.errors import ModelError
from cotree.model import Value, quantity
from cotree.model.form import said
from cotree.terminal.nodal.base import At, Held, Results, distance
from cotree.terminal.nodal.measures import TwoEnds, check_apart

MASSES = ("consistent", "lumped")


class Bar(TwoEnds, Held):
    """A rigid bar between two nodes; its length is their distance at the start unless it is given.

    ``distribution`` is ``consistent`` for a uniform rod (eq. 7), or ``lumped`` for half the mass at each node.
    """

    kind: ClassVar[str] = "nodal.bar"

    mass: Value = quantity("kg", "mass", symbol="m", range="non-negative")
    length: Value | None = quantity("m", "length", symbol="l", range="positive", default=None)
    distribution: Literal["consistent", "lumped"] = dataclasses.field(
        default="consistent", kw_only=True, metadata=said("how its mass acts: along it, or half at either end")
    )

    def __post_init__(self) -> None:
        if self.distribution not in MASSES:
            raise ModelError(
                f"the distribution is {self.distribution!r}",
                where=self.name,
                expected="'consistent' or 'lumped'",
                remedy="Leave it out for a uniform rod",
            )
        super().__post_init__()

    def masses(self, v: Any, at: At) -> ca.SX:
        """The factors of the nodal mass matrix (eq. 7), each times the unit matrix."""
        if self.distribution == "lumped":
            return ca.SX(v.mass / 2 * ca.DM.eye(2))
        return ca.SX(v.mass / 6 * ca.DM([[2, 1], [1, 2]]))

    def own_length(self, v: Any, at: At) -> ca.SX:
        """The length that the bar keeps (eq. 1)."""
        check_apart(self, self.nodes(), at.start)
        return distance(*at.start) if v.length is None else ca.SX(v.length)

    def labels(self) -> tuple[str, ...]:
        return ("length",)

    def equations(self, v: Any, at: At) -> ca.SX:
        """(|d|^2 - l^2) / 2 l, whose gradient is the direction of the bar (eq. 3)."""
        length = self.own_length(v, at)
        return (ca.sumsqr(at.x[1] - at.x[0]) - length**2) / (2 * length)

    def results(self, v: Any, at: At, force: ca.SX) -> Results:
        return {"force": (-force, "N")}
