"""Linear systems and Newton's rule inside native functions of one time step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.maths.lookup import common_parts

Array = NDArray[np.float64]

SMALL = 16
"""Unknowns up to which linear systems are solved inside the expression graph, if the masses allow it."""
NEWTON_STEPS = 10
"""Most steps of Newton's rule in one step of time."""
SETTLED = 1e-13
"""What Newton's rule may leave of a speed, over 1 or the speeds' size."""
LARGE = 1000
"""Unknowns beyond which common subexpressions are not looked for: that takes longer than it saves."""
SOFT = 1e-13
"""Part of a constraint's pivot that is added to it, so that singular positions are passed."""


def tidy(unknowns: int) -> dict[str, bool]:
    """Options of a function: common subexpressions are taken out, unless it is very long."""
    return {"cse": True} if unknowns <= LARGE else {}


def solution(
    name: str, known: Sequence[ca.SX], matrix: ca.SX, right: ca.SX, soft: int, small: int, dense: int | None = None,
    scale: Array | None = None,
) -> ca.Function:  # fmt: skip
    """matrix^-1 right as a function of ``known``; constraints begin with row ``soft``.

    Up to ``small`` unknowns the elimination is written out; otherwise a sparse solver is called, which may pivot.
    A ``dense`` row and column, which would fill a sparse factorisation, is left out of it and put back afterwards.
    Rows and columns are multiplied by ``scale`` for the sparse solver, which calls a matrix singular by absolute size.
    """
    if matrix.shape[0] <= small:
        return ca.Function(name, list(known), [eliminated(matrix, right, soft)], common_parts(matrix, right))
    symbols = [ca.MX.sym("x", *each.shape) for each in known]
    sizes = ca.DM.ones(matrix.shape[0]) if scale is None else ca.DM(scale)
    if dense is None:
        parts = [_scaled(matrix, sizes), sizes * ca.densify(right)]
        a, b = ca.Function("parts", list(known), parts, tidy(matrix.shape[0]))(*symbols)
        return ca.Function(name, symbols, [sizes * ca.solve(a, b, "qr")])
    keep = [k for k in range(matrix.shape[0]) if k != dense]
    own = sizes[keep]
    columns = ca.repmat(own, 1, 2) * ca.densify(ca.horzcat(right[keep], matrix[keep, dense]))
    row = ca.densify(ca.horzcat(matrix[dense, keep], matrix[dense, dense], right[dense]))
    parts = [_scaled(matrix[keep, keep], own), columns, row]
    a, b, last = ca.Function("parts", list(known), parts, tidy(len(keep)))(*symbols)
    both = ca.repmat(own, 1, 2) * ca.solve(a, b, "qr")
    alone, count = ca.mtimes(last[: len(keep)], both), len(keep)
    value = (last[count + 1] - alone[0]) / (last[count] - alone[1])
    rest = both[:, 0] - both[:, 1] * value
    return ca.Function(name, symbols, [ca.vertcat(rest[:dense], value, rest[dense:])])


def _scaled(matrix: ca.SX, scale: ca.DM) -> ca.SX:
    """D A D."""
    return ca.mtimes(ca.mtimes(ca.diag(scale), matrix), ca.diag(scale))


def eliminated(matrix: ca.SX, right: ca.SX, soft: int) -> ca.SX:
    """matrix^-1 right by elimination, written out; zeros are not touched.

    The rows before ``soft`` are dominated by a mass matrix and need no pivoting: those with few entries come first. The
    pivots of the rows after it are those of constraints, zero in a singular position; there they are kept away from it
    by rounding's size.
    """
    n = matrix.shape[0]
    order = _sparse_first(matrix, soft)
    place = {old: new for new, old in enumerate(order)}
    rows = [{place[j]: matrix[i, j] for j in range(n) if matrix.sparsity().has_nz(i, j)} for i in order]
    b = [ca.densify(right)[i] for i in order]
    pivots: list[Any] = []
    for k in range(n):
        pivot = rows[k].get(k, ca.SX(0))
        if k >= soft:
            pivot = pivot + ca.if_else(pivot < 0, -SOFT, SOFT) * rows[k].get(-1, ca.SX(1))
        pivots.append(pivot)
        for i in range(k + 1, n):
            if k not in rows[i]:
                continue
            factor = rows[i].pop(k) / pivot
            for j, value in rows[k].items():
                if j <= k:
                    continue
                product = factor * value
                rows[i][j] = rows[i][j] - product if j in rows[i] else -product
                if j == i and i >= soft:
                    rows[i][-1] = rows[i].get(-1, ca.SX(0)) + ca.fabs(product)
            b[i] = b[i] - factor * b[k]
    for k in reversed(range(n)):
        for j, value in rows[k].items():
            if j > k:
                b[k] = b[k] - value * b[j]
        b[k] = b[k] / pivots[k]
    return ca.vertcat(*(b[place[k]] for k in range(n)))


def _sparse_first(matrix: ca.SX, soft: int) -> list[int]:
    """An order of elimination in which each of the first ``soft`` rows is the one that fills least at its turn."""
    n = matrix.shape[0]
    near = [{j for j in range(n) if j != i and matrix.sparsity().has_nz(i, j)} for i in range(n)]
    order: list[int] = []
    left = set(range(soft))
    while left:
        k = min(left, key=lambda i: (len(near[i]), i))
        for i in near[k]:
            near[i] = (near[i] | near[k]) - {i, k}
        left.remove(k)
        order.append(k)
    return [*order, *range(soft, n)]


def newton(
    unknown: ca.SX,
    known: Sequence[ca.SX],
    residual: ca.SX,
    size: Callable[[ca.SX], ca.SX],
    soft: int,
    small: int,
    matrix: ca.SX | None = None,
    dense: int | None = None,
    scale: Array | None = None,
) -> ca.Function:
    """(guess, known...) -> (size of the last correction, root): Newton's rule until the size is at most 1.

    ``size`` measures a correction; what is left after one of size 1 is of the order of its square.
    """
    data = [unknown, *known]
    slopes = ca.jacobian(residual, unknown) if matrix is None else matrix
    step = solution("correction", data, slopes, residual, soft, small, dense, scale)
    change = ca.SX.sym("change", unknown.numel())
    found = [size(change), unknown - change]
    measure = ca.Function("measure", [change, *data], found, tidy(unknown.numel()))
    symbols = [ca.MX.sym("x", *each.shape) for each in data]
    once = ca.Function("once", symbols, [*measure(step(*symbols), *symbols)])
    return repeated(inlined(once, unknown.numel(), small))


def through(
    unknown: ca.SX, residual: ca.SX, way: ca.SX, value: ca.SX, others: Sequence[ca.SX]
) -> tuple[ca.SX, ca.SX, list[ca.SX]]:
    """The residual with the symbols ``way`` replaced by a value, its matrix by the chain rule, and what else uses it.

    Several unknowns act through the same motion: to differentiate by that once keeps the matrix short.
    """
    matrix = ca.jacobian(residual, unknown) + ca.mtimes(ca.jacobian(residual, way), ca.jacobian(value, unknown))
    found = ca.substitute([residual, matrix, *others], [way], [ca.densify(value)])
    return found[0], found[1], found[2:]


def or_else(first: ca.Function, second: ca.Function) -> ca.Function:
    """(known...) -> (size, value) of the first, or of the second where the first has not settled."""
    symbols = [ca.MX.sym("x", *first.sparsity_in(k).shape) for k in range(first.n_in())]
    found = [ca.MX.sym("size"), ca.MX.sym("value", *first.sparsity_out(1).shape)]
    hold = ca.Function("hold", [*found, *symbols], found)
    other = ca.Function("other", [*found, *symbols], [*second(*symbols)])
    size, value = first(*symbols)
    choice = ca.Function.if_else("choice", hold, other)
    return ca.Function("either", symbols, [*choice(size <= 1, size, value, *symbols)])


def left_over(change: ca.SX, h: ca.SX, speeds: ca.SX, allowed: float) -> ca.SX:
    """The size of a correction ``change`` of the speeds in a step h, 1 where what is left after it is ``allowed``.

    The speeds enter a balance and, times h, the constraints over h by their squares: h change^2 is left of a speed.
    """
    return change * ca.sqrt(h / (allowed * (1 + ca.norm_inf(speeds))))


def inlined(function: ca.Function, unknowns: int, small: int) -> ca.Function:
    """The function as one list of elementary operations, where its linear systems are small."""
    return function.expand(function.name(), common_parts(function)) if unknowns <= small else function


def repeated(once: ca.Function, times: int = NEWTON_STEPS) -> ca.Function:
    """(value, known...) -> (size, value): ``once`` repeated until the size is at most 1, or so many times."""
    symbols = [ca.MX.sym("x", *once.sparsity_in(k).shape) for k in range(once.n_in())]
    size = ca.MX.sym("size")
    hold = ca.Function("hold", [size, *symbols], [size, symbols[0]])
    whole = once
    for _ in range(times - 1):
        more = ca.Function("more", [size, *symbols], [*whole(*symbols)])
        last, value = once(*symbols)
        choice = ca.Function.if_else("choice", hold, more)
        whole = ca.Function("whole", symbols, [*choice(last <= 1, last, value, *symbols[1:])])
    return whole
