"""Results that belong together under one name: components of a vector, ports of a multibond, stations of a beam."""

from __future__ import annotations

from collections.abc import Container
from itertools import count, takewhile

LABELS = (["x", "y", "z"], ["e0", "e1", "e2", "e3"])
NUMBERED = ("c{}", "{}")
"""Of multibonds, of the stations of beams; from 1 on."""


def components(name: str, known: Container[str]) -> list[str]:
    """The results ``name.x``, ``name.y``, ``name.z`` and the like that are known; none where there are no such."""
    for labels in LABELS:
        parts = [f"{name}.{label}" for label in labels]
        if all(part in known for part in parts):
            return parts
    for form in NUMBERED:
        parts = list(takewhile(known.__contains__, (f"{name}.{form.format(k)}" for k in count(1))))
        if parts:
            return parts
    return []
