"""How long a step may be, so that an integrator that sees nothing happen does not step over a source that wakes up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cotree.solve.narrow import Feature

Array = NDArray[np.float64]

SAMPLES = 20_000
"""Samples of every source over the run; what is shorter than that must be told by ``max_step``."""
SHARP = 1e-3
"""A bend within one sample, as a part of the signal's size, that calls for short steps."""
LONGEST = 1 / 200
"""Longest step elsewhere, as a part of the run."""
APART, AROUND, MOST_WINDOWS, MOST_STRETCHES = 50, 10, 100, 500
WIDE, FINE = 6.0, 4.0
"""Widths of a narrow feature on either side over which steps are short, and steps in one width."""


@dataclass(frozen=True)
class Limits:
    """Longest steps with the times from which they hold, and the size of every source."""

    times: Array
    steps: Array
    peaks: Array
    narrow: tuple[Feature, ...] = ()
    """Pulses of sources that are narrower than samples."""

    @classmethod
    def none(cls, t_start: float, inputs: int = 0) -> Limits:
        """No limit."""
        return cls(np.array([t_start]), np.array([np.inf]), np.zeros(inputs))

    def packed(self) -> dict[str, Array]:
        """Everything as arrays by name, from which `unpacked` makes the same again."""
        return {"limit_times": self.times, "limit_steps": self.steps, "limit_peaks": self.peaks}

    @classmethod
    def unpacked(cls, numbers: Mapping[str, Array]) -> Limits:
        """What was packed."""
        times, steps, peaks = (numbers[f"limit_{name}"] for name in ("times", "steps", "peaks"))
        return cls(times, steps, peaks)

    def at(self, t: float) -> float:
        """The longest step from a time on."""
        return float(self.steps[max(int(np.searchsorted(self.times, t, side="right")) - 1, 0)])


def step_limits(
    signals: Callable[[Array, int], Array], edges: Array, inputs: int, max_step: float | None, straight: bool = False,
    narrow: Sequence[Feature] = (),
) -> Limits:  # fmt: skip
    """Limits from dense samples of the sources; ``signals(times, k)`` gives them in the k-th smooth stretch.

    Sources that are ``straight`` lines between the edges have no bends: their values there are enough. Around
    ``narrow`` features, which no sample shows, steps are a part of their width.
    """
    span, count = float(edges[-1] - edges[0]), len(edges) - 1
    if not count:
        return Limits.none(float(edges[0]), inputs)
    longest = span * LONGEST if max_step is None else max_step
    most = 1 if straight else SAMPLES
    samples = [_sampled(signals, k, edges[k], edges[k + 1], span, most) for k in range(min(count, MOST_STRETCHES))]
    peaks = np.zeros(inputs)
    for _, values in samples:
        peaks = np.fmax(peaks, np.abs(np.where(np.isfinite(values), values, 0.0)).max(axis=1, initial=0.0))
    windows = []
    if max_step is None and inputs and count <= MOST_STRETCHES:
        windows = [window for t, values in samples for window in _windows(t, values, peaks)]
        windows += [(each.t - WIDE * each.width, each.t + WIDE * each.width, each.width / FINE) for each in narrow]
    return Limits(*_merged(windows, float(edges[0]), float(edges[-1]), longest), peaks, tuple(narrow))


def _merged(
    windows: Sequence[tuple[float, float, float]], first: float, last: float, longest: float
) -> tuple[Array, Array]:
    """Times and the longest steps from each of them on: the shortest of all windows that are open."""
    ends = [end for a, b, _ in windows for end in (a, b)]
    times = np.unique(np.clip([first, *ends], first, last))
    steps = np.full(len(times), longest)
    for a, b, step in windows:
        steps[(times >= max(a, first)) & (times < b)] = np.minimum(steps[(times >= max(a, first)) & (times < b)], step)
    return times, steps


def _sampled(
    signals: Callable[[Array, int], Array], k: int, a: float, b: float, span: float, most: int
) -> tuple[Array, Array]:
    times = np.linspace(a, b, int(np.clip(SAMPLES * (b - a) / span, min(16, most), most)) + 1)
    return times, signals(times, k)


def _windows(t: Array, values: Array, peaks: Array) -> list[tuple[float, float, float]]:
    """Where a source bends within a few samples: start, end and longest step, with some room around."""
    with np.errstate(invalid="ignore"):  # a source without a value is told elsewhere
        bend = np.abs(np.diff(values, n=2, axis=1))
    sharp = np.flatnonzero((bend > SHARP * peaks[:, None]).any(axis=0) & np.isfinite(bend).all(axis=0))
    if not len(sharp):
        return []
    cuts = np.flatnonzero(np.diff(sharp) > APART)
    firsts, lasts = sharp[np.append(0, cuts + 1)], sharp[np.append(cuts, len(sharp) - 1)] + 2
    if len(firsts) > MOST_WINDOWS:
        firsts, lasts = firsts[:1], lasts[-1:]
    step, last = 2 * float(t[1] - t[0]), len(t) - 1
    return [
        (float(t[max(first - AROUND, 0)]), float(t[min(after + AROUND, last)]), step)
        for first, after in zip(firsts.tolist(), lasts.tolist(), strict=True)
    ]


def snapped(times: Array, grid: Array, near: float) -> Array:
    """The times, with those moved onto the grid that only rounding keeps off it."""
    after = np.searchsorted(grid, times - near).clip(0, len(grid) - 1)
    return np.where(np.abs(grid[after] - times) <= near, grid[after], times)
