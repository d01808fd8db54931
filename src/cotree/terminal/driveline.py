"""What rotational and translational drive trains share: springs with damping, dry friction, and stops.

A position, where a law uses one, is the coordinate of the joint or line on which the part sits; elsewhere it is counted
from the start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import Value, quantity
from cotree.model.switching import SwitchLaw
from cotree.terminal.scalar import OnePort
from cotree.terminal.sticking import Sticking
from cotree.terminal.stops import Stop


class Slipping(Sticking):
    """Dry friction of a given level; ``static`` times as much holds it while it sticks."""

    level: ClassVar[str]
    """The field that holds the friction while slipping."""
    example: ClassVar[Mapping[str, Any]] = {"static": 1.2}
    static: Value = quantity(
        "", "ratio of sticking to slipping friction, at least 1", symbol="r", default=1.0, kw_only=True
    )

    def check(self, values: Mapping[str, float]) -> None:
        for name, least in (("static", 1.0), (self.level, 0.0)):
            if values.get(name, least) < least:
                raise ModelError(f"found {values[name]:g}", where=f"{self.name}.{name}", expected=f"at least {least:g}")

    def capacity(self, v: Any) -> Any:
        """The friction while slipping; a signal below zero counts as zero."""
        given, value = self.expressions[self.level], getattr(v, self.level)
        if not (given.depends_on_time or given.measured):
            return value
        from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

        return SYMBOLIC["max"](value, 0.0)

    def sliding(self, v: Any, e: Any, speed: Any) -> Any:
        return self.capacity(v)

    def sticking(self, v: Any, e: Any) -> Any:
        return v.static * self.capacity(v)


class Rubbing(Slipping):
    """Dry friction with a viscous part, which falls from sticking to sliding over a speed."""

    def sliding(self, v: Any, e: Any, speed: Any) -> Any:
        rise: Any = 1.0
        if v.stribeck is not None:
            import casadi as ca  # a model is built without loading CasADi

            rise = 1 + (v.static - 1) * ca.exp(-((speed / v.stribeck) ** 2))
        return self.capacity(v) * rise + v.viscous * speed


class Ends(OnePort):
    """What end stops share: stops at ``lower``, ``upper`` or both; ``upper_touching`` is 1 while that one touches."""

    holding = ("lower_touching", "upper_touching")
    positions = ("",)
    example: ClassVar[Mapping[str, Any]] = {"lower": -1e-4, "upper": 2e-4, "damping": 3.0}

    def __post_init__(self) -> None:
        if not self._given():
            raise ModelError("neither end is given", where=self.name, expected="lower, upper, or both")
        super().__post_init__()

    def _given(self) -> list[tuple[str, int]]:
        """The ends that are there, with the direction of motion into each."""
        return [(end, way) for end, way in (("lower", -1), ("upper", 1)) if getattr(self, end) is not None]

    def check(self, values: Mapping[str, float]) -> None:
        lower, upper = values.get("lower"), values.get("upper")
        if lower is not None and upper is not None and lower >= upper:
            raise ModelError(
                f"the lower end at {lower:g} is not below the upper one at {upper:g}",
                where=self.name,
                expected="lower < upper",
            )

    def position_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (values.get("position", 0.0),)

    def _stops(self, v: Any, e: Any) -> list[tuple[str, int, Stop]]:
        stops = []
        for end, way in self._given():
            depth, touching = way * (e.position - getattr(v, end)), getattr(v, f"{end}_touching")
            stops.append((end, way, Stop(depth, way * e.across, v.stiffness, v.damping, touching)))
        return stops

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].through - sum(way * stop.force for _, way, stop in self._stops(v, e[0]))]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        return sum(stop.energy for _, _, stop in self._stops(v, e[0]))

    def loss(self, v: Any, *e: Any) -> Any:
        return sum(stop.loss for _, _, stop in self._stops(v, e[0]))

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        return [law for end, _, stop in self._stops(v, e[0]) for law in stop.switches(f"{end}_touching", end)]
