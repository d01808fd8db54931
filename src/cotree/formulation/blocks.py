"""Solve a sparse set of equations block by block, symbolically where that stays short.

The incidence of equations and unknowns is brought to block triangular form. Blocks of one to three equations that are
linear in their unknowns are solved in closed form; larger or nonlinear blocks (algebraic loops) keep their unknowns as
algebraic variables, for a sparse linear or a Newton solution at run time. From a nonlinear block those unknowns are
torn out first that a nonlinear equation gives explicitly: i = f(v) leaves v, on which the function depends smoothly,
and takes i, which may span twenty decades, out of the iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from cotree.errors import FormulationError, listing
from cotree.maths.symbolic import column, substitute

CLOSED_FORM = 3


@dataclass(frozen=True)
class Solved:
    """The unknowns as expressions of what is known and of those unknowns that stay algebraic."""

    values: ca.SX
    algebraic: tuple[int, ...]
    """Indices of the unknowns that stay, in the order of their equations."""
    equations: ca.SX
    loops: tuple[tuple[int, ...], ...]
    """Indices of the unknowns of each block of more than one equation."""


def solve_blocks(equations: ca.SX, unknowns: ca.SX, labels: Sequence[str], *, closed_form: int = CLOSED_FORM) -> Solved:
    """Solve ``equations = 0`` for ``unknowns``; ``labels`` name the equations for messages.

    Linear blocks of up to ``closed_form`` equations are solved in closed form.
    """
    incidence = ca.jacobian_sparsity(equations, unknowns)
    count = unknowns.numel()
    if ca.sprank(ca.DM(incidence, 1)) < count:
        raise _singular(incidence, labels)
    number, row_order, col_order, row_blocks, col_blocks, *_ = incidence.btf()
    depends = _columns_of_rows(incidence)
    values: list[ca.SX | None] = [None] * count
    algebraic: list[int] = []
    kept: list[ca.SX] = []
    loops: list[tuple[int, ...]] = []
    for block in range(number):  # CasADi's form is block lower triangular
        rows = row_order[row_blocks[block] : row_blocks[block + 1]]
        cols = col_order[col_blocks[block] : col_blocks[block + 1]]
        inside = set(cols)
        outside = sorted({col for row in rows for col in depends[row]} - inside)
        residual = substitute(equations[rows], unknowns[outside], column([values[col] for col in outside]))
        mine = unknowns[cols]
        if len(cols) > 1:
            loops.append(tuple(cols))
        matrix = ca.jacobian(residual, mine)
        linear = not ca.depends_on(matrix, mine)
        if linear and len(cols) <= closed_form:
            solution = _closed_form(matrix, substitute(residual, mine, 0))
            for k, col in enumerate(cols):
                values[col] = solution[k]
        else:
            for col in cols:
                values[col] = unknowns[col]
            left = list(cols)
            if not linear:
                residual, left = _tear(residual, unknowns, cols, values)
            algebraic.extend(left)
            kept.append(residual)
    return Solved(column(values), tuple(algebraic), ca.vertcat(ca.SX(0, 1), *kept), tuple(loops))


def _tear(residual: ca.SX, unknowns: ca.SX, cols: Sequence[int], values: list[ca.SX | None]) -> tuple[ca.SX, list[int]]:
    """Take out of a nonlinear block the unknowns that its nonlinear equations give explicitly."""
    left, explicit = list(cols), []
    rows = list(ca.vertsplit(residual))
    while (found := _explicit(rows, unknowns, left)) is not None:
        k, col, factor = found
        value = -substitute(rows.pop(k), unknowns[col], 0) / factor
        rows = [substitute(row, unknowns[col], value) for row in rows]
        explicit.append((col, value))
        left.remove(col)
    for col, value in reversed(explicit):  # a value may hold unknowns that were taken out after it
        values[col] = substitute(value, unknowns[list(cols)], column([values[c] for c in cols]))
    return column(rows), left


def _explicit(rows: Sequence[ca.SX], unknowns: ca.SX, left: Sequence[int]) -> tuple[int, int, ca.SX] | None:
    """A nonlinear row, an unknown that enters it with a constant factor, and the factor."""
    mine = unknowns[list(left)]
    for k, row in enumerate(rows):
        gradient = ca.jacobian(row, mine)
        if not ca.depends_on(gradient, mine):
            continue
        for j, col in enumerate(left):
            if gradient.sparsity().has_nz(0, j) and not ca.depends_on(gradient[0, j], mine):
                return k, col, gradient[0, j]
    return None


def _closed_form(matrix: ca.SX, constant: ca.SX) -> ca.SX:
    if matrix.numel() == 1:
        return -constant / matrix
    if matrix.size1() <= CLOSED_FORM:
        return -ca.mtimes(ca.inv_minor(ca.densify(matrix)), constant)
    return -ca.solve(matrix, constant)


def _columns_of_rows(incidence: ca.Sparsity) -> list[list[int]]:
    rows, cols = incidence.get_triplet()
    result: list[list[int]] = [[] for _ in range(incidence.size1())]
    for row, col in zip(rows, cols, strict=True):
        result[row].append(col)
    return result


def _singular(incidence: ca.Sparsity, labels: Sequence[str]) -> FormulationError:
    """Name the equations that share too few unknowns (the over-determined part of the decomposition)."""
    _, row_order, _, _, _, coarse_rows, _ = incidence.btf()
    over = [labels[row] for row in row_order[: coarse_rows[2]]]
    return FormulationError(
        f"the equations of {listing(dict.fromkeys(over))} do not fix their variables",
        remedy="Check how these components are connected",
    )
