"""Rigid lumps on frames of flexible bodies: ``{tip: {at: end, mass: 1, inertia: [..], centre: [..]}}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, listing, nearest
from cotree.model.form import ABOVE_ZERO, TEXT, VALUE, VECTOR, either, entries, listed
from cotree.model.quantity import finite
from cotree.terminal.checked import mapping, numbers

KEYS = ("at", "mass", "inertia", "centre")
LUMP = entries(
    {"at": TEXT, "mass": ABOVE_ZERO, "inertia": either(VECTOR, listed(VALUE, 6)), "centre": VECTOR}, KEYS[:2]
)
"""A lump in a model file."""
_EXAMPLE = "{at: frame, mass: 1}, and where wanted inertia: [1, 1, 1] and centre: [0, 0, 0]"


def checked_lumps(given: Any, frames: Sequence[str], owner: str) -> dict[str, dict[str, Any]]:
    """Lumps as the user gave them, as plain numbers; ``frames`` are those of the body that lie at nodes."""
    lumps = mapping(given, f"{owner}.masses", "{tip: {at: end, mass: 1}}")
    return {name: _checked(lump, frames, f"{owner}.masses.{name}") for name, lump in lumps.items()}


def _checked(given: Any, frames: Sequence[str], where: str) -> dict[str, Any]:
    lump = mapping(given, where, _EXAMPLE)
    for key in lump:
        if key not in KEYS:
            raise ModelError(f"a lump has no '{key}'", where=where, expected=_EXAMPLE, remedy=nearest(key, KEYS))
    for key in KEYS[:2]:
        if key not in lump:
            raise ModelError(f"{key} is not given", where=where, expected=_EXAMPLE)
    if not isinstance(lump["at"], str) or lump["at"] not in frames:
        raise ModelError(
            f"there is no frame {lump['at']!r} at a node", where=where, expected=f"one of {listing(frames)}"
        )
    mass = finite(lump["mass"], f"{where}.mass", "a positive number in kg", "kg")
    if mass <= 0:
        raise ModelError(f"the mass is {mass:g}", where=where, expected="a positive number in kg")
    result: dict[str, Any] = {"at": lump["at"], "mass": mass}
    if "inertia" in lump:
        listed = lump["inertia"]
        count = 6 if isinstance(listed, list | tuple | np.ndarray) and len(listed) == 6 else 3
        expected = "3 moments (xx, yy, zz), or 6 with xy, xz, yz, in kg m^2"
        result["inertia"] = numbers(listed, count, f"{where}.inertia", expected, "kg m^2")
        principal = np.linalg.eigvalsh(_matrix(result["inertia"]))
        if principal[0] < -1e-12 * abs(principal[2]) or principal[0] + principal[1] < principal[2] * (1 - 1e-9):
            raise ModelError(
                f"the inertia is {listed!r}",
                where=where,
                expected="moments of a real body: the sum of any two at least as large as the third",
            )
    if "centre" in lump:
        result["centre"] = numbers(lump["centre"], 3, f"{where}.centre", "three lengths in m", "m")
    return result


def _matrix(moments: Sequence[float]) -> NDArray[np.float64]:
    xx, yy, zz, xy, xz, yz = (*moments, 0.0, 0.0, 0.0)[:6]
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def lumps(masses: Mapping[str, Mapping[str, Any]], places: Any, nodes: Mapping[str, int]) -> list[Any]:
    """The family of a body's checked lumps; none where it has none."""
    from cotree.fem.element import Lumps

    every = list(masses.values())
    if not every:
        return []
    return [
        Lumps(
            places,
            [nodes[lump["at"]] for lump in every],
            [lump["mass"] for lump in every],
            [_matrix(lump.get("inertia", (0.0, 0.0, 0.0))) for lump in every],
            [np.array(lump.get("centre", (0.0, 0.0, 0.0))) for lump in every],
        )
    ]
