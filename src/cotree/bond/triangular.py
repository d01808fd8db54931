"""Sparse linear equations in symbols, solved block by block: nearly all blocks of a bond graph are single equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from cotree.errors import FormulationError, listing

CLOSED_FORM = 3


def solve_rows(rows: Sequence[Mapping[int, ca.SX]], right: Sequence[ca.SX], labels: Sequence[str]) -> list[ca.SX]:
    """x of ``sum(row[j] * x[j]) = right``, with as many rows as unknowns; ``labels`` name the rows for messages."""
    count = len(rows)
    if not count:
        return []
    places = [(i, j) for i, row in enumerate(rows) for j in row]
    pattern = ca.Sparsity.triplet(count, count, [i for i, _ in places], [j for _, j in places])
    number, row_order, col_order, row_blocks, col_blocks, coarse, _ = pattern.btf()
    if ca.sprank(ca.DM(pattern, 1)) < count:
        over = [labels[row] for row in row_order[: coarse[2]]] or list(labels)
        raise FormulationError(
            f"the bonds around {listing(dict.fromkeys(over))} do not fix each other's variables",
            remedy="Check how these parts are connected",
        )
    x: list[ca.SX] = [ca.SX(0)] * count
    for block in range(number):  # CasADi's form is block lower triangular
        own_rows = row_order[row_blocks[block] : row_blocks[block + 1]]
        own_cols = col_order[col_blocks[block] : col_blocks[block + 1]]
        inside = {col: k for k, col in enumerate(own_cols)}
        rest = []
        for i in own_rows:
            value = right[i]
            for j, factor in rows[i].items():
                if j not in inside:
                    value = value - factor * x[j]
            rest.append(value)
        if len(own_cols) == 1:
            x[own_cols[0]] = rest[0] / rows[own_rows[0]][own_cols[0]]
            continue
        matrix = ca.SX(len(own_rows), len(own_cols))
        for k, i in enumerate(own_rows):
            for j, factor in rows[i].items():
                if j in inside:
                    matrix[k, inside[j]] = factor
        column = ca.vertcat(*rest)
        small = len(own_cols) <= CLOSED_FORM
        solved = ca.mtimes(ca.inv_minor(ca.densify(matrix)), column) if small else ca.solve(matrix, column)
        for k, j in enumerate(own_cols):
            x[j] = solved[k]
    return x
