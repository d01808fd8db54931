"""CasADi: the functions of expressions in symbolic form, and helpers on symbolic vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from cotree.maths.profiles import profiles

SYMBOLIC: Mapping[str, Callable[..., Any]] = {
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": ca.asin, "acos": ca.acos, "atan": ca.atan, "atan2": ca.atan2,
    "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh, "exp": ca.exp, "log": ca.log, "sqrt": ca.sqrt, "abs": ca.fabs,
    "sign": ca.sign, "min": ca.fmin, "max": ca.fmax, "ramp": lambda x: ca.fmax(x, 0.0),
    "step": lambda x: ca.if_else(x >= 0.0, 1.0, 0.0),
    "pulse": lambda x, width, period: ca.if_else(ca.logic_and(x >= 0.0, ca.fmod(x, period) < width), 1.0, 0.0),
    **profiles(lambda x: ca.fmax(x, 0.0)),
}  # fmt: skip


def symbols(names: Sequence[str]) -> ca.SX:
    """A column of symbols with these names."""
    return ca.vertcat(*(ca.SX.sym(name) for name in names)) if names else ca.SX(0, 1)


def column(expressions: Sequence[Any]) -> ca.SX:
    """A column of expressions; an empty one where there are none."""
    every = (each if isinstance(each, ca.SX) else ca.SX(each) for each in expressions)
    return ca.vertcat(*every) if expressions else ca.SX(0, 1)


def elements(expression: ca.SX) -> list[ca.SX]:
    """The entries of a column, as a list; empty for an empty column."""
    return list(ca.vertsplit(expression)) if expression.numel() else []


def from_sparse(matrix: Any) -> ca.DM:
    """A SciPy sparse matrix as a CasADi one."""
    csc = matrix.tocsc()
    sparsity = ca.Sparsity(csc.shape[0], csc.shape[1], csc.indptr.tolist(), csc.indices.tolist())
    return ca.DM(sparsity, csc.data.astype(float))


def substitute(expression: ca.SX, known: ca.SX, values: Any) -> ca.SX:
    """The expression with the column ``known`` replaced by ``values``; 0 stands for a column of zeros."""
    if not known.numel():
        return expression
    return ca.substitute(expression, known, ca.densify(ca.SX.zeros(*known.shape) + values))


def limited_exp(x: Any, limit: float) -> Any:
    """exp(x) up to ``limit``, and its tangent from there on."""
    below = ca.fmin(x, limit)
    return ca.exp(below) * (1.0 + (x - below))


def growth(z: Any, rate: Any) -> Any:
    """(exp(rate z) - 1) / rate, which is z where the rate is 0."""
    still = rate == 0
    return ca.if_else(still, z, ca.expm1(rate * z) / ca.if_else(still, 1.0, rate))


def constant(values: Any) -> ca.SX:
    """Numbers as an expression; zeros are left out."""
    return ca.SX(ca.sparsify(ca.DM(np.asarray(values, dtype=float))))
