"""Efforts by the laws of the elements, and from them the efforts of all bonds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from cotree.bond.derivation import Derivation
from cotree.bond.structure import Vertex
from cotree.bond.triangular import solve_rows
from cotree.errors import FormulationError, listing
from cotree.maths.symbolic import column


@dataclass(frozen=True)
class Port:
    """A port of an element, with its own flow (counted into the element) and its effort."""

    vertex: str
    line: str
    flow: ca.SX
    effort: ca.SX


def gyrator_ports(d: Derivation, vertex: Vertex) -> list[Port]:
    """e_2 = G f_1 and e_1 = G^T f_2, with f_1 counted in and f_2 out."""
    first, second = d.structure.at(vertex.name, "1"), d.structure.at(vertex.name, "2")
    into = d.kin.flow(first) * (1 if first.enters(vertex.name) else -1)
    out = d.kin.flow(second) * (-1 if second.enters(vertex.name) else 1)
    matrix = d.signals.expand(vertex.modulus)
    matrix = matrix * ca.SX.eye(first.width) if matrix.numel() == 1 else matrix
    return [
        Port(vertex.name, first.name, into, ca.mtimes(matrix.T, out)),
        Port(vertex.name, second.name, -out, ca.mtimes(matrix, into)),
    ]


def balance(d: Derivation, ports: list[Port]) -> ca.SX:
    """T^T e: one row for each independent flow, zero where the efforts are right."""
    flows, efforts = column([p.flow for p in ports]), column([p.effort for p in ports])
    if not d.kin.u.numel():
        return ca.SX(0, 1)
    return ca.densify(ca.jtimes(flows, d.kin.u, efforts, True))


def bond_efforts(d: Derivation, ports: list[Port], held: Mapping[int, ca.SX]) -> ca.SX:
    """The efforts of all bonds, one for each column; ``held`` are efforts of closures by column.

    The law of an element whose flow is independent is left out: its effort comes from the junction structure.
    """
    kin, structure = d.kin, d.structure
    rows: list[dict[int, ca.SX]] = []
    right: list[ca.SX] = []
    labels: list[str] = []
    one = ca.SX(1)

    def say(entries: dict[int, ca.SX], vertex: str, value: ca.SX | None = None) -> None:
        rows.append({c: factor for c, factor in entries.items() if not factor.is_zero()})
        right.append(ca.SX(0) if value is None else value)
        labels.append(vertex)

    for vertex in structure.vertices.values():
        lines = structure.around[vertex.name]
        if vertex.letter == "1":
            for k in range(lines[0].width if lines else 0):
                say({kin.at(line, k): one if line.enters(vertex.name) else -one for line in lines}, vertex.name)
        elif vertex.letter == "0":
            for line in lines[1:]:
                for k in range(line.width):
                    say({kin.at(line, k): one, kin.at(lines[0], k): -one}, vertex.name)
        elif vertex.letter == "TF":
            first, second = structure.at(vertex.name, "1"), structure.at(vertex.name, "2")
            matrix = kin.matrix(vertex)
            matrix = matrix * ca.SX.eye(first.width) if matrix.numel() == 1 else matrix
            for k in range(first.width):
                across = {kin.at(second, i): -ca.SX(matrix[i, k]) for i in range(second.width)}
                say({kin.at(first, k): one, **across}, vertex.name)
        elif vertex.letter == "Split":
            whole, k = structure.at(vertex.name, "whole"), 0
            for number, width in enumerate(vertex.parts):
                part = structure.at(vertex.name, str(number + 1))
                for i in range(width):
                    say({kin.at(part, i): one, kin.at(whole, k): -one}, vertex.name)
                    k += 1
    for port in ports:
        line = structure.lines[port.line]
        for k in range(line.width):
            c = kin.at(line, k)
            if not (c in d.places and kin.columns[c].element == port.vertex) and c not in held:
                say({c: one}, port.vertex, port.effort[k])
    for c, effort in held.items():
        if c in d.places:
            continue  # the junction structure gives it
        say({c: one}, kin.columns[c].element or kin.columns[c].name, effort)
    if kin.repeated:
        around = [line.name for line in structure.around[kin.repeated[0]]]
        raise FormulationError(
            f"bonds around '{kin.repeated[0]}' form a loop that sets the same flow twice: nothing tells how they share "
            "the effort",
            where=f"bond {around[0]}",
            expected="one way for the flow",
            remedy=f"Remove one of the bonds of the loop, here {listing(around)}",
        )
    return column(solve_rows(rows, right, labels))


def explicit_effort(d: Derivation, vertex: Vertex) -> ca.SX | None:
    """The effort that a law gives by displacements, flows and signals; None where it is an unknown of its own."""
    if vertex.letter == "C":
        return d.effort_of_c(vertex)
    if vertex.letter == "Se":
        return d.signals.expand(d.source_values[vertex.name])
    if vertex.letter in ("R", "GR") and vertex.gives == "effort":
        own = d.kin.own_flow(vertex.name)
        if vertex.law is not None:
            return ca.SX(d.law(vertex)(own))
        return ca.mtimes(d.signals.expand(vertex.modulus), own)
    return None
