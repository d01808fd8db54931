"""The state from which an unfinished run goes on, exactly where it was."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cotree.maths.viewed import Viewed
from cotree.results.checks import RESTART, read_types

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Restart(Viewed):
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
        """What was packed, or a ValueError where that cannot be."""
        read = read_types(json.loads(text), RESTART, tuple(RESTART), "restart")
        if np.isnan(column).any():
            raise ValueError("the state of the run holds a value that is no number")
        sizes = {name: math.prod(shape) for name, shape in read["shapes"].items()}
        if sum(sizes.values()) != len(column):
            raise ValueError(
                f"the state of the run has {len(column)} numbers, where {sum(sizes.values())} are expected"
            )
        numbers, at = {}, 0
        for name, shape in read["shapes"].items():
            numbers[name] = column[at : at + sizes[name]].reshape(shape)
            at += sizes[name]
        return cls(float(read["t"]), read["rows"], numbers, read["said"])
