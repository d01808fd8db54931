"""The path of a motion: states at more times than were asked for, where these are too few to show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from cotree.solve.integrator import Stretch

Array = NDArray[np.float64]
Part = tuple[Array, Array, Array]
"""Times, and states and algebraic variables with a column for each."""

NEAR = 1e-9
"""Part of a run within which two times are one."""


@dataclass
class Path:
    """Further times of a run, and what is known so far."""

    times: Array
    parts: list[Part] = field(default_factory=list)

    def seen(self, integrate: Callable[[Array], Stretch], t: float, targets: Array) -> Stretch:
        """One call of a method to some targets; the further times begin no new piece and are not among the results."""
        times = self.among(t, targets)
        done = integrate(times)
        self.parts.append((times, done.x, done.z))
        asked = np.isin(times, targets)
        return replace(done, x=done.x[:, asked], z=done.z[:, asked], quad=done.quad[:, asked])

    def among(self, a: float, targets: Array) -> Array:
        """Targets after a time, with the further times between them."""
        near = NEAR * float(self.times[-1] - self.times[0])
        places = np.concatenate([[a], targets])
        inside = self.times[(self.times > a) & (self.times < targets[-1])]
        after = np.searchsorted(places, inside)
        apart = np.minimum(places[after] - inside, inside - places[after - 1]) > near
        return np.sort(np.concatenate([targets, inside[apart]]))


def joined_parts(parts: Sequence[Part]) -> Part:
    """Parts one after the other; of a time that comes twice, as at an event, the later state."""
    if not parts:
        none = np.zeros((0, 0))
        return np.zeros(0), none, none
    times, x, z = (np.concatenate(each, axis=-1) for each in zip(*parts, strict=True))
    last = np.append(np.diff(times) > 0, True)
    return times[last], x[:, last], z[:, last]
