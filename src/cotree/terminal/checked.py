"""Plain data of flexible bodies as the user gave it: checked, and put into one form."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem.element import MOST
from cotree.model import Frame
from cotree.model.component import COMPONENT_NAME
from cotree.model.quantity import finite

RESULTS = (
    "position", "velocity", "acceleration", "orientation", "angular_velocity", "angular_acceleration", "strain_energy",
)  # fmt: skip
"""Results of a body, whose names no frame can have."""
DEGREES = ("x", "y", "z", "rx", "ry", "rz")
_CUT = re.compile(r"(cut|segment)\d+\Z")
_COORDINATE = re.compile(r"(mode|node)\d+(_rate)?\Z")


def frame_names(given: Any, owner: str, taken: Collection[str]) -> None:
    """Names of frames: of letters and digits, and not those of values (``taken``) or results of the body."""
    if not isinstance(given, Mapping):
        raise ModelError(f"found {given!r}", where=f"{owner}.frames", expected="frames by name, such as {A: [0, 0, 1]}")
    for name in given:
        if not isinstance(name, str) or not COMPONENT_NAME.match(name):
            raise ModelError(
                f"the frame name {name!r} cannot be used", where=f"{owner}.frames", expected="letters and digits"
            )
        if name in taken or name in RESULTS or _COORDINATE.match(name):
            raise ModelError(
                f"the frame name '{name}' cannot be used: a value or result of the body has it",
                where=f"{owner}.frames",
                remedy="Choose another name",
            )


def flag(given: Any, where: str) -> bool:
    """True or False."""
    if not isinstance(given, bool):
        raise ModelError(f"found {given!r}", where=where, expected="true or false")
    return given


def mapping(given: Any, where: str, expected: str) -> dict[str, Any]:
    """Names with what belongs to them."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return dict(given)


def names(given: Any, where: str, expected: str) -> tuple[str, ...]:
    """One name, or several."""
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, Sequence) or not all(isinstance(name, str) for name in several):
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return tuple(several)


def numbers(given: Any, count: int, where: str, expected: str, unit: str | None = None) -> tuple[float, ...]:
    """So many finite numbers, which may be given with a unit where theirs is known."""
    listed = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim == 1)
    if not listed or len(given) != count:
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return tuple(finite(value, where, expected, unit) for value in given)


def ratios(given: Any, where: str) -> float | tuple[float, ...] | None:
    """Parts of critical damping: one for all modes, one for each, or none."""
    if given is None:
        return None
    expected = "a part of critical damping such as 0.01, or a list of them, one for each mode"
    listed = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)
    several = list(given) if listed else [given]
    if not several:
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    values = tuple(finite(value, where, expected, "") for value in several)
    for value in values:
        if value < 0:
            raise ModelError(f"the damping is {value:g}", where=where, expected=expected)
    return values if listed else values[0]


def mode_numbers(given: Any, below: Any, shapes: str, owner: str) -> int | tuple[int, ...] | None:
    """How many vibration modes, or which."""
    where = f"{owner}.modes"
    if shapes == "nodal":
        if given is not None or below is not None:
            raise ModelError(
                f"found {given if below is None else below!r} beside nodal shapes",
                where=where if below is None else f"{owner}.below",
                remedy="Leave out modes and below: nodal shapes take all degrees of freedom",
            )
        return None
    if below is not None and finite(below, f"{owner}.below", "a positive frequency in Hz") <= 0:
        raise ModelError(f"found {below!r}", where=f"{owner}.below", expected="a positive frequency in Hz")
    if given is None:
        if below is None:
            raise ModelError(
                "the number of vibration modes is not given",
                where=where,
                expected="modes = a number, a list of mode numbers, or below = a frequency in Hz",
            )
        return None
    listed = isinstance(given, (list, tuple, range)) or (isinstance(given, np.ndarray) and given.ndim > 0)
    several = list(given) if listed else [given]
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= listed for k in several)
    if not several or not whole or len(set(several)) < len(several):
        raise ModelError(
            f"found {given!r}", where=where, expected="a whole number, or a list of different mode numbers from 1"
        )
    if max(several) > MOST:
        raise ModelError(f"found {max(several)}", where=where, expected=f"at most {MOST}")
    if several == [0] and shapes != "interface":
        raise ModelError(
            "found 0", where=where, expected=f"at least one mode: a body with {shapes} shapes has no other coordinates"
        )
    return tuple(map(int, several)) if listed else int(given)


def degrees_of(given: Any, where: str) -> list[int]:
    """Numbers of degrees of freedom from their names: ``"z ry"``, a list of names, or ``all``."""
    expected = f"all, or some of {' '.join(DEGREES)}"
    if given is None or (isinstance(given, str) and given == "all"):
        return list(range(6))
    chosen = given.split() if isinstance(given, str) else names(given, where, expected)
    if not chosen:
        raise ModelError("no degree of freedom is named", where=where, expected=expected)
    for name in chosen:
        if name not in DEGREES:
            raise ModelError(f"there is no degree of freedom {name!r}", where=where, expected=expected)
    return [DEGREES.index(name) for name in chosen]


def check_segments(
    count: int, elements: int, attached: Any, frames: Collection[str], at_nodes: Sequence[str], owner: str
) -> None:
    """A beam of several segments: an element for each, one frame that carries the beam's own, places on the beam."""
    if count > elements:
        raise ModelError(
            f"{count} segments are asked for, but the whole beam has {elements} elements",
            where=f"{owner}.segments",
            expected="at least one element for each segment",
            remedy=f"Say elements={count}, or more",
        )
    if attached is not None and attached not in at_nodes:
        raise ModelError(
            f"a beam of {count} segments is attached to {attached!r}",
            where=f"{owner}.attached",
            expected=f"one of its frames: {listing(at_nodes)}",
        )
    for name in frames:
        if name not in at_nodes:
            raise ModelError(
                f"the frame '{name}' follows the centre of mass, which lies on none of the {count} segments",
                where=f"{owner}.frames",
                expected="places along the beam",
                remedy=f"Leave out '{name}', or segments",
            )
        if _CUT.match(name):
            raise ModelError(
                f"the frame name '{name}' cannot be used: results of a segment, or of a cut, have it",
                where=f"{owner}.frames",
                remedy="Choose another name",
            )


def whole_number(given: Any, where: str, least: int, most: int, further: str = "") -> None:
    """Refuse what is no whole number of a range; ``further`` names what else there is."""
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or not least <= given <= most:
        raise ModelError(f"found {given!r}", where=where, expected=f"a whole number from {least} to {most}{further}")


def plain(value: Any) -> Any:
    """Frames, mappings and tuples as plain data."""
    if isinstance(value, Frame):
        return value.to_data()
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return list(value) if isinstance(value, tuple) else value
