"""The ideal core of a series-wound machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cotree.model import ELECTRICAL, ROTATIONAL, Port, Role, Value, quantity
from cotree.terminal.scalar import MultiPort


class SeriesMachine(MultiPort):
    """v = K i w and T = -K i^2: its field is excited by its own current, and no power is lost."""

    ports = (Port(ELECTRICAL, Role.STATIC, "electrical"), Port(ROTATIONAL, Role.STATIC, "shaft"))
    electrical: tuple[str, str]
    shaft: tuple[str, str]
    constant: Value = quantity("V s/(A rad)", "machine constant, the same in N m/A^2", symbol="K", range="positive")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        return [e[0].across - v.constant * e[0].through * e[1].across, e[1].through + v.constant * e[0].through ** 2]
