"""Events that a run looks for: data only."""

from __future__ import annotations

from dataclasses import dataclass

from cotree.errors import ModelError, listing
from cotree.maths.viewed import Viewed
from cotree.model.expression import Expression
from cotree.model.helpful import answered

DIRECTIONS = ("both", "up", "down")
ACTIONS = ("record", "stop")


@answered
@dataclass(frozen=True)
class Event(Viewed):
    """``when`` passes zero: an expression of results, time and parameters, such as ``"O.angle - 1.2"``.

    ``direction`` is ``up``, ``down`` or ``both``; ``action`` is to ``record`` the time, or to ``stop`` the run there.
    """

    name: str
    when: str
    direction: str = "both"
    action: str = "record"

    def __post_init__(self) -> None:
        for field, known in (("direction", DIRECTIONS), ("action", ACTIONS)):
            if getattr(self, field) not in known:
                raise ModelError(
                    f"the {field} is {getattr(self, field)!r}",
                    where=str(self.name),
                    expected=f"one of {listing(known)}",
                )
        if not isinstance(self.name, str) or not self.name or not isinstance(self.when, str):
            raise ModelError(
                f"an event {self.name!r} when {self.when!r}", expected="a name, and an expression such as 'O.angle - 1'"
            )
        Expression(self.when)
