"""Mutants of the examples: files that are still well formed, so that most of them get as far as equations and a run."""

from __future__ import annotations

import copy
import random
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from _mutations import _STRUCTURE, _Dumper, _names, places

EXAMPLES = Path(__file__).parents[2] / "examples"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.yaml"))}
TREES = {name: _names(yaml.safe_load(text)) for name, text in TEXTS.items()}
SLOW = ("deployable_mast", "deployable_reflector", "deployable_scissor_ring", "bond_example_3_compliant")
"""Examples whose runs take long, and which are taken less often."""
FACTORS = (0.0, -1.0, 0.5, 2.0, 0.9, 1.1, 10.0, 1e-3, 1e3, 1e-6, 1e6, 1e-9, 1e9, 1e-12, 1e12)
WRONG = (None, 0, 1, -1, 1e-300, 1e300, "", "t", "sin(t)", "1/t", "ground", [], {}, [0, 0, 0], True, "0*t", "sqrt(t-1)")
FORMULAS = (
    "{}*t",
    "{}+sin(t)",
    "{}*step(t-1e-4)",
    "{}/(1-t)",
    "{}*exp(t)",
    "{}*sqrt(t)",
    "{}/t",
    "abs(t)*{}",
    "max({},t)",
)
RUN = {
    "integrator": ("auto", "adams", "cvodes", "idas", "rodas", "rk45", "energy", "generalised_alpha", "xiang"),
    "tree": ("joint", "absolute", "kinds", "normal", ["joint", "absolute"]),
    "step": (1e-4, 1e-3),
    "rtol": (1e-2, 1e-5, 1e-12, 0.5),
    "atol": (1e-12, 1.0),
    "start": ("steady", {}),
    "max_step": (1e-5, 1.0),
    "spectral_radius": (0.0, 1.0),
}
Data = dict[str, Any]


def example_mutant(seed: int, number: int) -> tuple[str, str]:
    """The name of an example, and its text with one to three changes; the same for the same two numbers."""
    rng = random.Random(f"{seed} {number}")
    (name,) = rng.choices(list(TREES), [0.25 if name in SLOW else 1.0 for name in TREES])
    data = copy.deepcopy(TREES[name])
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        make = rng.choice(_STRUCTURE) if rng.random() < 0.2 else rng.choice(_CHANGES)
        data = make(rng, data)
    return name, yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110
    )


def _holder(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        data = data[key]
    return data


def _leaves(data: Any, kinds: tuple[type, ...]) -> list[tuple[Any, Any]]:
    """What holds a value of some types, and its key; those of the components only, and of parameters and gravity."""
    found = [path for path in places(data) if path[0] in ("components", "parameters", "gravity", "masks", "bonds")]
    pairs = [(_holder(data, path), path[-1]) for path in found]
    return [(owner, key) for owner, key in pairs if type(owner[key]) in kinds]


def _numbers(rng: random.Random, data: Data) -> Data:
    """One number is scaled, or becomes zero or negative."""
    if found := _leaves(data, (int, float)):
        owner, key = rng.choice(found)
        owner[key] = owner[key] * rng.choice(FACTORS) if owner[key] else rng.choice((1.0, -1.0, 1e-6, 1e6))
    return data


def _all_numbers(rng: random.Random, data: Data) -> Data:
    """All values of one name are scaled, as every length or every mass of a machine."""
    by_key: dict[Any, list[tuple[Any, Any]]] = defaultdict(list)
    for owner, key in _leaves(data, (int, float)):
        by_key[key if isinstance(key, str) else "list"].append((owner, key))
    if by_key:
        factor = rng.choice(FACTORS)
        for owner, key in by_key[rng.choice(list(by_key))]:
            owner[key] *= factor
    return data


def _formula(rng: random.Random, data: Data) -> Data:
    """A number becomes an expression of time, or of a result of some component."""
    found = _leaves(data, (int, float))
    found_parts = data.get("components")
    parts = [name for name in found_parts if isinstance(name, str)] if isinstance(found_parts, dict) else []
    if found:
        owner, key = rng.choice(found)
        text = rng.choice(FORMULAS).format(owner[key])
        if parts and rng.random() < 0.4:
            own = rng.choice(
                ("angle", "angle_rate", "position.z", "velocity.x", "voltage", "current", "flow", "effort")
            )
            text = f"{rng.choice(parts)}.{own}"
        owner[key] = text
    return data


def _names_swapped(rng: random.Random, data: Data) -> Data:
    """A text becomes another text that stands under the same key elsewhere: a frame, a node, a body."""
    found = _leaves(data, (str,))
    if found:
        owner, key = rng.choice(found)
        others = [o[k] for o, k in found if k == key or isinstance(owner, list)]
        owner[key] = rng.choice(others)
    return data


def _wrong(rng: random.Random, data: Data) -> Data:
    """A value anywhere in the file becomes one of another type."""
    paths = list(places(data))
    if paths:
        path = rng.choice(paths)
        _holder(data, path)[path[-1]] = copy.deepcopy(rng.choice(WRONG))
    return data


def _dropped(rng: random.Random, data: Data) -> Data:
    parts = data.get("components")
    if isinstance(parts, dict) and parts:
        del parts[rng.choice(list(parts))]
    return data


def _doubled(rng: random.Random, data: Data) -> Data:
    """A component stands there twice, which makes loops, parallel parts and redundant constraints."""
    parts = data.get("components")
    if isinstance(parts, dict) and parts:
        name = rng.choice(list(parts))
        parts[f"{name}_2"] = copy.deepcopy(parts[name])
    return data


def _run(rng: random.Random, data: Data) -> Data:
    """Another integrator, tree or tolerance."""
    key = rng.choice(list(RUN))
    run = data.get("run")
    data["run"] = {**(run if isinstance(run, dict) else {}), key: copy.deepcopy(rng.choice(RUN[key]))}
    return data


def _top(rng: random.Random, data: Data) -> Data:
    """An entry of the whole model: datum, gravity, plane, name."""
    key = rng.choice(("datum", "planar", "gravity", "name", "include", "bonds", "masks", "parameters"))
    data[key] = copy.deepcopy(rng.choice((*WRONG, "A", ["ground"], [0, -9.81, 0], [0, 0, -9.81])))
    return data


def _lost(rng: random.Random, data: Data) -> Data:
    """A value of a component is left out."""
    paths = [path for path in places(data) if path[0] == "components" and len(path) >= 3]
    if paths:
        path = rng.choice(paths)
        del _holder(data, path)[path[-1]]
    return data


_CHANGES: list[Callable[[random.Random, Data], Data]] = [
    _numbers, _numbers, _numbers, _all_numbers, _all_numbers, _formula, _formula, _names_swapped, _names_swapped,
    _wrong, _dropped, _doubled, _run, _run, _top, _lost,
]  # fmt: skip
