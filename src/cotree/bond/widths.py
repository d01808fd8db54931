"""Widths of multibonds: told by some elements and bonds, and carried on by junctions to the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cotree.bond.elements import BondPart, Element
from cotree.bond.junctions import MGR, TF, Split
from cotree.errors import ModelError

if TYPE_CHECKING:
    from cotree.bond.opening import Leaf, Wire


def find_widths(leaves: Mapping[str, Leaf], wires: Sequence[Wire]) -> dict[str, int]:
    """The width of every element, and of every bond under its name with a slash; 1 where nothing tells it."""
    found: dict[str, tuple[int, str]] = {}
    for path, leaf in leaves.items():
        if isinstance(leaf.part, Element) and not isinstance(leaf.part, (TF, Split)):
            own = 3 if isinstance(leaf.part, MGR) and leaf.part.own_width() is None else leaf.part.own_width()
            if own is not None:
                found[path] = (own, path)
        elif isinstance(leaf.part, TF) and leaf.part.width is not None:
            found[f"{path}/both"] = (leaf.part.width, path)
    for wire in wires:
        if wire.width is not None:
            found[f"{wire.path}/"] = (wire.width, f"bond {wire.path}")
    changed = True
    while changed:
        changed = False
        for wire in wires:
            for end, port in (wire.tail, wire.head):
                changed |= _agree(found, wire, end, port, leaves)
    return {name: width for name, (width, _) in found.items()}


def _agree(found: dict[str, tuple[int, str]], wire: Wire, leaf: str, port: str, leaves: Mapping[str, Leaf]) -> bool:
    """Carry a width from a bond to an element or back; whether anything was new."""
    part, bond = leaves[leaf].part, f"{wire.path}/"
    fixed = fixed_width(part, port)
    if fixed is not None:
        return _set(found, bond, (fixed, leaf), wire)
    if isinstance(part, TF) and callable(part.modulus):
        return False  # its size is known when it is called
    if isinstance(part, TF):  # a scalar modulus: both ports are alike
        key = f"{leaf}/both"
    elif isinstance(part, Element) and not isinstance(part, Split):
        key = leaf
    else:
        return False
    new = False
    if key in found:
        new |= _set(found, bond, found[key], wire)
    if bond in found:
        new |= _set(found, key, found[bond], wire)
    return new


def fixed_width(part: BondPart, port: str) -> int | None:
    """The width that a part with several ports tells for one of them."""
    if isinstance(part, TF) and isinstance(part.modulus, tuple):
        rows = len(part.modulus)
        columns = len(part.modulus[0]) if isinstance(part.modulus[0], tuple) else rows
        return columns if port == "1" else rows
    if isinstance(part, Split):
        return sum(part.parts) if port == "whole" else part.parts[int(port) - 1]
    if part.port_names() and not isinstance(part, TF):
        (_, width), *more = part.bundle(port)
        return None if more else width
    return None


def _set(found: dict[str, tuple[int, str]], key: str, value: tuple[int, str], wire: Wire) -> bool:
    if key not in found:
        found[key] = value
        return True
    if found[key][0] != value[0]:
        (a, told), (b, other) = found[key], value
        raise ModelError(
            f"its widths do not agree: {told} tells {a} and {other} tells {b}",
            where=str(wire),
            expected="one width on both sides of a bond",
            remedy="Give both ends the same number of components, or take the multibond apart with a Split",
        )
    return False
