"""Ends of a stroke: a spring and a damper that push while they touch, and never pull."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cotree.model.switching import SwitchLaw

FREE, TOUCHING, LEFT = 0.0, 1.0, 2.0
"""States of a stop, as its held value has them."""


@dataclass(frozen=True)
class Stop:
    """N = k d + c d' while it touches, with d the depth in the stop, and 0 otherwise.

    It touches when d becomes positive, and is left as soon as N would be negative. A stop that is left while still
    pressed in springs back without pushing, and loses the rest of its energy k d^2 / 2.
    """

    depth: Any
    speed: Any
    """How fast the depth grows."""
    stiffness: Any
    damping: Any
    state: Any
    """Free, touching, or left while still pressed in."""

    @property
    def _touching(self) -> Any:
        return self.state * (2 - self.state)

    @property
    def _left(self) -> Any:
        return self.state * (self.state - 1) / 2

    @property
    def force(self) -> Any:
        """What it pushes with."""
        return self._touching * (self.stiffness * self.depth + self.damping * self.speed)

    @property
    def energy(self) -> Any:
        """What its spring stores."""
        return (self._touching + self._left) * self.stiffness * self.depth**2 / 2

    @property
    def loss(self) -> Any:
        """The power of the damper, or of the spring as it comes back."""
        return self._touching * self.damping * self.speed**2 - self._left * self.stiffness * self.depth * self.speed

    def switches(self, held: str, place: str) -> Sequence[SwitchLaw]:
        """When it touches, when it is left, and when it is back; ``held`` names the held value, ``place`` the end."""
        from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

        pushing = SYMBOLIC["min"](self.depth, self.depth + self.damping / self.stiffness * self.speed)
        return (
            SwitchLaw(f"touches_{place}", (1 - self._touching) * pushing, {held: TOUCHING}),
            SwitchLaw(f"leaves_{place}", -self._touching * pushing, {held: LEFT}),
            SwitchLaw(f"clears_{place}", -self._left * self.depth, {held: FREE}),
        )
