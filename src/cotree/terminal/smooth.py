"""Shapes that laws of several domains share: the root that turns laminar, and openings that can be shut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import quantities
from cotree.model.switching import SwitchLaw
from cotree.terminal.scalar import OnePort


def turbulent(pressure: Any, transition: Any) -> Any:
    """sqrt(p) with the sign of p, smooth around zero: p / (p^2 + p_t^2)^(1/4)."""
    from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

    return pressure / SYMBOLIC["sqrt"](SYMBOLIC["sqrt"](pressure**2 + transition**2))


def from_turbulent(root: Any, transition: Any) -> Any:
    """The pressure whose smooth root is given: r sqrt((r^2 + sqrt(r^4 + 4 p_t^2)) / 2)."""
    from cotree.maths.symbolic import SYMBOLIC

    sqrt = SYMBOLIC["sqrt"]
    return root * sqrt((root**2 + sqrt(root**4 + 4 * transition**2)) / 2)


class Opening(OnePort):
    """A part with a signal that counts as 0 below 0; where it is not constant, ``open`` is 1 while it is above."""

    opening: ClassVar[str]
    """The field that holds the signal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.expressions[self.opening]
        if given.depends_on_time or given.measured:
            object.__setattr__(self, "holding", ("open",))

    def check(self, values: Mapping[str, float]) -> None:
        if (value := values.get(self.opening, 0.0)) < 0:
            unit = quantities(self)[self.opening].unit
            raise ModelError(f"it is {value:g} {unit}", where=f"{self.name}.{self.opening}", expected="0 or more")

    def opened(self, v: Any) -> Any:
        """The signal where it is positive, and 0 elsewhere."""
        return v.open * getattr(v, self.opening) if self.holding else getattr(v, self.opening)

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        if not self.holding:
            return ()
        signal = getattr(v, self.opening)
        return (
            SwitchLaw("opens", (1 - v.open) * signal, {"open": 1.0}),
            SwitchLaw("shuts", -v.open * signal, {"open": 0.0}),
        )
