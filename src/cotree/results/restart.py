"""The state from which an unfinished run goes on, exactly where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Restart:
    """A time, how many output times are done then, the solver's numbers by name, and what else it has to know."""

    t: float
    rows: int
    numbers: Mapping[str, Array]
    said: Mapping[str, Any]

    def packed(self) -> tuple[bytes, Array]:
        """Text and one column of numbers, from which `unpacked` makes the same again."""
        shapes = {name: each.shape for name, each in self.numbers.items()}
        text = json.dumps({"t": self.t, "rows": self.rows, "shapes": shapes, "said": dict(self.said)})
        columns = [np.ravel(each) for each in self.numbers.values()]
        return text.encode(), np.concatenate([np.zeros(0), *columns])

    @classmethod
    def unpacked(cls, text: bytes, column: Array) -> Self:
        """What was packed."""
        read = json.loads(text)
        numbers, at = {}, 0
        for name, shape in read["shapes"].items():
            size = int(np.prod(shape))
            numbers[name] = column[at : at + size].reshape(shape)
            at += size
        return cls(float(read["t"]), int(read["rows"]), numbers, read["said"])
