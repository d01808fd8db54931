"""The models of `faults.yaml`, and one that only Python can say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import hypot, pi
from pathlib import Path
from typing import Any

import yaml

import cotree as ct
from golden.probe import Loaded


def _plain(name: str, entry: dict[str, Any]) -> Loaded:
    return Loaded(ct.Model.from_mapping({"name": name, **entry["model"]}), float(entry["t_end"]))


def _masks() -> Loaded:
    """A5: a four-bar of bond masks whose joints A, B and C close the loop exactly, and D is not given."""
    corners = ((0.0, 0.0), (0.0, 2.0), (4.0, 5.0), (4.0, 0.0))
    lengths = [hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(corners)]
    inclined = (pi / 2, 0.6435011087932844, -pi / 2)  # the bars AB, BC and CD against x
    parts: dict[str, Any] = {"G": {"kind": "bond.ground"}, "H": {"kind": "bond.ground", "position": [4, 0, 0]}}
    for name, length in zip("abc", lengths, strict=True):
        frames = {"s": [-length / 2, 0, 0], "e": [length / 2, 0, 0]}
        parts[name] = {"kind": "bond.body", "mass": length, "inertia": [0.1, length, length], "frames": frames}
    turns = (inclined[0], inclined[1] - inclined[0], inclined[2] - inclined[1])
    for name, angle in zip("ABC", turns, strict=True):
        parts[name] = {"kind": "revolute_joint", "axis": "z", "angle": angle}
    parts["A"]["angle_rate"] = -2.0
    parts["D"] = {"kind": "revolute_joint", "axis": "z"}
    chain = ["G -> A.a", "A.b -> a.s", "a.e -> B.a", "B.b -> b.s", "b.e -> C.a", "C.b -> c.s", "c.e -> D.a", "D.b -> H"]
    data = {"name": "A5_masks", "gravity": [0, -9.81, 0], "components": parts, "bonds": chain}
    return Loaded(ct.Model.from_mapping(data), 0.2)


def _models() -> dict[str, Callable[[], Loaded]]:
    text = Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8")
    found: dict[str, Callable[[], Loaded]] = {
        name: partial(_plain, name, entry) for name, entry in yaml.safe_load(text).items()
    }
    return found | {"A5_masks": _masks}


MODELS = _models()
