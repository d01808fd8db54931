"""Derivative causality through gyrators: equations that hold no unknown, but tie states to each other or to sources.

A source of effort behind a gyrator sets the flow on its other side, so that an I there is no state. The junction
structure of flows does not show this. It shows where too many equations share too few unknowns: the unknowns are put
in, and what is left is a relation g(x, t) = 0 of states. One of its states then follows from g = 0, and dg/dt = 0 gives
the unknown that was missing (Pantelides 1988, with one dummy derivative for each relation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, listing
from cotree.formulation.blocks import solve_blocks
from cotree.maths.symbolic import column, substitute

if TYPE_CHECKING:
    from cotree.bond.state_form import StateForm

Array = NDArray[np.float64]

CANCELS = 1e-9
"""Size of a factor that cancels."""
SINGULAR = 1e-12
"""Ratio of singular values of scaled equations below which they are singular."""
LARGEST = 200
"""Most simultaneous equations that are put into a relation."""


def tie_states(form: StateForm, equations: list[ca.SX], unknown: list[ca.SX], labels: list[str]) -> dict[str, ca.SX]:
    """Extend equations and unknowns until each has its own; the states that are tied, with their relations."""
    tied: dict[str, ca.SX] = {}
    while (found := _surplus(equations, unknown) or _cancelling(form, equations, unknown)) is not None:
        row, others, columns = found
        relation = equations[row]
        if len(columns) < len(others):
            raise _refused([labels[r] for r in (row, *others)])
        if columns:
            inner = column([unknown[c] for c in columns])
            rows = column([equations[r] for r in others])
            solved = solve_blocks(rows, inner, [labels[r] for r in others], closed_form=LARGEST)
            relation = substitute(relation, inner, solved.values)
            rest = column([each for k, each in enumerate(unknown) if k not in columns])
            if solved.algebraic or not _vanishes(form, ca.jacobian(relation, rest)):
                raise _refused([labels[r] for r in (row, *others)])
            relation = substitute(relation, rest, 0)
        symbol = _dependent(form, relation, tied)
        if symbol is None:
            raise _refused([labels[r] for r in (row, *others)])
        name = _owner(symbol.name())
        _check_inputs(form, relation, name)
        tied[symbol.name()] = relation
        unknown.append(symbol)
        equations[row], labels[row] = relation, name
        equations.append(form._put(form.signals.expand(form.rate(relation, name))))
        labels.append(name)
    return tied


def _numbers(form: StateForm, expression: ca.SX, seed: int) -> Array:
    """The values of an expression at a point without symmetry."""
    values, random = form.values, np.random.default_rng(seed)
    free = [s for s in ca.symvar(expression) if not len(values.p) or not ca.depends_on(values.p.symbols, s)]
    function = ca.Function("numbers", [values.p.symbols, column(free)], [ca.densify(expression)])
    point = values.p.start * random.uniform(0.8, 1.25, len(values.p)) if seed else values.p.start
    return np.asarray(function(point, random.uniform(0.5, 1.5, len(free))), dtype=float)


def _vanishes(form: StateForm, slopes: ca.SX) -> bool:
    """Whether factors cancel, whatever the values of the elements are."""
    found = [np.abs(_numbers(form, slopes, seed)).max(initial=0.0) for seed in (1, 2)]
    return bool(max(found) < CANCELS)


def _cancelling(
    form: StateForm, equations: list[ca.SX], unknown: list[ca.SX]
) -> tuple[int, list[int], list[int]] | None:
    """Equations of which one follows from the others but for states, and the unknowns that the others give."""
    matrix = _numbers(form, ca.jacobian(column(equations), column(unknown)), 0)
    if not matrix.size or not np.isfinite(matrix).all():
        return None
    for axis in (1, 0):  # rows and columns of one size
        size = np.abs(matrix).max(axis=axis, keepdims=True)
        matrix = matrix / np.where(size > 0, size, 1.0)
    left, singular, _ = np.linalg.svd(matrix)
    if singular[-1] >= SINGULAR * singular[0]:
        return None
    weights = np.abs(left[:, -1])
    inside = [int(k) for k in np.argsort(-weights, kind="stable") if weights[k] > 1e-6 * weights.max()]
    row, others = inside[0], inside[1:]
    columns: list[int] = []
    rest = matrix[others].copy()
    for _ in others:  # pivots of the largest size
        i, j = np.unravel_index(int(np.argmax(np.abs(rest))), rest.shape)
        if abs(rest[i, j]) < 1e-9:
            break
        columns.append(int(j))
        rest = rest - np.outer(rest[:, j] / rest[i, j], rest[i])
    return row, others, columns


def _surplus(equations: list[ca.SX], unknown: list[ca.SX]) -> tuple[int, list[int], list[int]] | None:
    """An equation without an unknown of its own, and the equations and unknowns that leave it none."""
    incidence = ca.jacobian_sparsity(column(equations), column(unknown))
    inside: list[list[int]] = [[] for _ in equations]
    for r, c in zip(*incidence.get_triplet(), strict=True):
        inside[r].append(c)
    owner: dict[int, int] = {}

    def give(row: int, seen: set[int]) -> bool:
        for c in inside[row]:
            if c not in seen:
                seen.add(c)
                if c not in owner or give(owner[c], seen):
                    owner[c] = row
                    return True
        return False

    for row in range(len(equations)):
        seen: set[int] = set()
        if not give(row, seen):
            columns = sorted(seen)
            return row, [owner[c] for c in columns], columns
    return None


def _dependent(form: StateForm, relation: ca.SX, tied: dict[str, ca.SX]) -> ca.SX | None:
    """The state that follows from a relation: the last one whose factor is constant, or else the last one."""
    own = [*form.p_states.values(), *form.storing.values()]
    taken = {form.storing[name][k].name() for name, k, _ in form.tied} | tied.keys()
    every = [each for symbols in own for each in ca.vertsplit(symbols) if each.name() not in taken]
    inside = [each for each in every if ca.depends_on(relation, each)]
    moving = ca.vertcat(form.state_symbols, form.values.t, form.inputs[0].symbols)
    steady = [each for each in inside if not ca.depends_on(ca.jacobian(relation, each), moving)]
    order = {name: k for k, name in enumerate(form.structure.vertices)}
    chosen = steady or inside
    return max(chosen, key=lambda each: order[_owner(each.name())]) if chosen else None


def _owner(name: str) -> str:
    parts = name.split(".")
    return ".".join(parts[: -1 if parts[-1] in ("momentum", "displacement") else -2])


def _check_inputs(form: StateForm, relation: ca.SX, name: str) -> None:
    inputs, rates, _ = form.inputs
    twice = [inputs.names[k] for k in range(len(inputs)) if ca.depends_on(relation, rates[k])]
    if twice:
        raise FormulationError(
            f"'{name}' follows from the rate of {listing(twice)}, so that its effort needs the second rate",
            where=name,
            expected="at most one derivative of a source",
            remedy=f"Put an R or an I beside the source of {twice[0]}",
        )


def _refused(labels: list[str]) -> FormulationError:
    names = listing(dict.fromkeys(labels))
    return FormulationError(
        f"the equations of {names} do not fix their variables",
        where=labels[0],
        remedy="Check how these elements are connected",
    )
