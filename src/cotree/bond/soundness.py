"""Whether an opened graph is whole: every port has its bond, every bond fits, every signal exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cotree.bond.structure import JUNCTIONS, ONE_PORTS, BondStructure, Line, Vertex
from cotree.errors import ModelError, listing

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

MAY_JOIN = 2
"""Least number of bonds at a junction."""


def check_structure(made: Opening) -> None:
    """Refuse dangling ports and bonds of wrong width, by the name of the bond."""
    structure = made.structure
    if not structure.lines:
        raise ModelError("the bond graph has no bonds", where=structure.name, remedy="Join its elements with bonds")
    for alias, (_, said) in made.aliases.items():
        if alias not in made.reached and not _is_frame(made, alias):
            raise ModelError(
                f"the {said} is dangling: it is connected to nothing",
                where=alias.rpartition(".")[0],
                expected=f"a bond that ends at {alias}",
                remedy="Connect it, or leave the port out of the mask",
            )
    for line in structure.lines.values():
        for end, _ in (line.tail, line.head):
            if end not in structure.vertices:
                raise ModelError(
                    f"it ends at '{end}', which carries a signal and no power",
                    where=str(line),
                    expected="an element, a junction or a mask",
                    remedy="Use its value in an expression instead",
                )
    for vertex in structure.vertices.values():
        _check_ports(vertex, structure.around[vertex.name])
        _check_widths(vertex, structure)


def _is_frame(made: Opening, alias: str) -> bool:
    """Whether a port of a mask leads to a frame; nothing needs to be mounted on it."""
    end = alias
    while end in made.aliases:
        end = made.aliases[end][0]
    leaf, port = (end, "") if end in made.leaves else (end.rpartition(".")[0], end.rpartition(".")[2])
    if leaf not in made.leaves:
        return False
    part = made.leaves[leaf].part
    return len(part.bundle(port or next(iter(part.port_names()), ""))) > 1


def _check_ports(vertex: Vertex, lines: list[Line]) -> None:
    names = listing([str(line) for line in lines]) or "none"
    if vertex.letter in ONE_PORTS:
        if len(lines) != 1:
            raise ModelError(
                f"the {vertex.shown} '{vertex.name}' has {len(lines)} bonds ({names})"
                if lines
                else f"the port of the {vertex.shown} '{vertex.name}' is dangling: no bond ends there",
                where=str(lines[1]) if lines else vertex.name,
                expected="one bond",
                remedy="Put a junction between them" if lines else f"Add a bond that ends at {vertex.name}",
            )
    elif vertex.letter in JUNCTIONS:
        if len(lines) < MAY_JOIN and not vertex.open_ended:
            raise ModelError(
                f"the junction '{vertex.name}' has {f'only the {names}' if lines else 'no bond'}",
                where=str(lines[0]) if lines else vertex.name,
                expected="at least two bonds at a junction",
                remedy="Connect something else to it, or remove it",
            )
    else:
        _check_named_ports(vertex, lines)


def _check_named_ports(vertex: Vertex, lines: list[Line]) -> None:
    wanted = ("1", "2") if vertex.letter != "Split" else ("whole", *(str(k + 1) for k in range(len(vertex.parts))))
    at: dict[str, list[Line]] = {port: [] for port in wanted}
    for line in lines:
        for name, port in (line.tail, line.head):
            if name == vertex.name:
                at[port].append(line)
    for port, found in at.items():
        if len(found) == 1:
            continue
        others = listing([str(line) for line in lines]) or "no bond"
        raise ModelError(
            f"port {port} of the {vertex.shown} '{vertex.name}' is dangling: it has {others}"
            if not found
            else f"port {port} of the {vertex.shown} '{vertex.name}' has {len(found)} bonds",
            where=str((found or lines)[-1]) if found or lines else vertex.name,
            expected="one bond at each port: one that enters at port 1 and one that leaves at port 2"
            if vertex.letter != "Split"
            else "one bond at each port",
            remedy=f"Name the port: {vertex.name}.{wanted[0]} or {vertex.name}.{wanted[1]}",
        )


def _check_widths(vertex: Vertex, structure: BondStructure) -> None:
    for line in structure.around[vertex.name]:
        port = line.head[1] if line.enters(vertex.name) else line.tail[1]
        told = _told(vertex, port)
        if told is not None and told != line.width:
            raise ModelError(
                f"it has the width {line.width}, and the {vertex.shown} '{vertex.name}' the width {told}",
                where=str(line),
                expected="one width on both sides of a bond",
            )


def _told(vertex: Vertex, port: str) -> int | None:
    if vertex.letter in ("TF", "GY"):
        assert vertex.matrix is not None
        return None if vertex.matrix.numel() == 1 else int(vertex.matrix.shape[1 if port == "1" else 0])
    if vertex.letter == "Split":
        return sum(vertex.parts) if port == "whole" else vertex.parts[int(port) - 1]
    return vertex.width
