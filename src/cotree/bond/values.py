"""Values of elements that may be scalars, vectors or matrices, and laws given as expressions or Python functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.structure import labels
from cotree.errors import ExpressionError, ModelError, listing
from cotree.formulation.values import Values
from cotree.maths.symbolic import substitute
from cotree.model import Expression
from cotree.model.quantity import MISSING, Quantity

SINGULAR = 1e15
"""Condition number of a matrix that has no inverse."""
ROUNDING = 1e-9
"""What rounding explains of a difference between equal entries or of a negative eigenvalue, relative to the largest."""
SAMPLES = 8
"""Random points at which the Jacobian of a law is compared with its transpose."""
MOST = 100
"""Largest width of a multibond."""


def plain(given: Any) -> Any:
    """Lists and arrays as tuples."""
    given = given.tolist() if isinstance(given, (np.ndarray, np.generic)) else given
    return tuple(plain(each) for each in given) if isinstance(given, (list, tuple)) else given


def shaped_entries(name: str, given: Any, info: Quantity, owner: str) -> dict[str, tuple[Quantity, Any]]:
    """The scalar entries of a value that is a number, a vector or a matrix: ``name``, ``name.x``, ``name.xy``."""
    if not isinstance(given, (tuple, list)):
        return {name: (info, given)}
    rows = [row for row in given if isinstance(row, (tuple, list))]
    if not given or len(given) > MOST or (rows and (len(rows) < len(given) or len({len(row) for row in rows}) > 1)):
        raise ModelError(f"found {given!r}", where=f"{owner}.{name}", expected="a number, a list, or a list of rows")
    if not rows:
        return {f"{name}.{label}": (info, each) for label, each in zip(labels(len(given)), given, strict=True)}
    across, down = labels(len(rows[0])), labels(len(given))
    return {
        f"{name}.{i}{j}": (info, each)
        for i, row in zip(down, given, strict=True)
        for j, each in zip(across, row, strict=True)
    }


def shaped(name: str, given: Any, values: Mapping[str, Any]) -> ca.SX | None:
    """The entries put together again: a scalar, a column or a matrix."""
    if given is None or given is MISSING:
        return None
    if not isinstance(given, (tuple, list)):
        return None if values.get(name) is None else ca.SX(values[name])
    if not isinstance(given[0], (tuple, list)):
        return ca.vertcat(*(ca.SX(values[f"{name}.{label}"]) for label in labels(len(given))))
    across, down = labels(len(given[0])), labels(len(given))
    return ca.vertcat(*(ca.horzcat(*(ca.SX(values[f"{name}.{i}{j}"]) for j in across)) for i in down))


def shape_width(given: Any) -> int | None:
    """The width that a vector or matrix tells; None for a number."""
    return len(given) if isinstance(given, (tuple, list)) else None


def square(value: ca.SX, width: int, where: str) -> ca.SX:
    """A scalar, a diagonal or a matrix as a square matrix."""
    if value.numel() == 1:
        return value * ca.SX.eye(width)
    if value.shape == (width, 1):
        return ca.SX(ca.diag(value))
    if value.shape == (width, width):
        return value
    raise ModelError(f"a value of size {value.shape[0]} x {value.shape[1]}", where=where, expected=f"{width} of them")


def as_law(given: Any, argument: str, width: int, where: str, values: Values) -> Callable[[ca.SX], ca.SX]:
    """A law as a function on symbols: from a Python function, or from one expression for each component.

    An expression knows its argument as ``q``, or ``q.x``, ``q.y`` ... where the bond is a multibond. In a law of the
    effort, ``e`` is the effort; Euler's number is exp(1) there.
    """
    x = ca.SX.sym(argument, width)
    value = _called(given, x, where) if callable(given) else _read(given, argument, x, where, values)
    return lambda at: substitute(value, x, at)


def _called(given: Callable[[ca.SX], Any], x: ca.SX, where: str) -> ca.SX:
    """What a Python function gives."""
    try:
        result = given(x)
        result = ca.SX(ca.vertcat(*result) if isinstance(result, (list, tuple)) else result)
    except (TypeError, ValueError, NotImplementedError, RuntimeError) as reason:
        raise ModelError(
            f"the Python function cannot be used: {reason}", where=where, expected="CasADi expressions of its argument"
        ) from None
    if result.shape != x.shape:
        raise ModelError(
            f"the function gives {result.shape[0]} x {result.shape[1]} values", where=where,
            expected=f"{x.numel()}, one for each component of the bond",
        )  # fmt: skip
    return result


def _read(given: Any, argument: str, x: ca.SX, where: str, values: Values) -> ca.SX:
    """What expressions give."""
    width = x.numel()
    texts: Sequence[Any] = given if isinstance(given, (tuple, list)) else (given,)
    if len(texts) != width:
        raise ModelError(f"{len(texts)} expressions for a bond of width {width}", where=where, expected=f"{width}")
    if argument == "e":
        argument = "effort"
        texts = [re.sub(r"\be\b", argument, text) if isinstance(text, str) else text for text in texts]
    for text in texts:
        if not isinstance(text, (str, int, float)) or isinstance(text, bool):
            raise ModelError(f"found {text!r}", where=where, expected=f"an expression of {argument}, or a list of them")
    own = {argument: x[0]} if width == 1 else {f"{argument}.{c}": x[k] for k, c in enumerate(labels(width))}
    return ca.vertcat(*(values.evaluate(_expression(text, argument, own, where), where, own=own) for text in texts))


def _expression(text: Any, argument: str, own: Mapping[str, ca.SX], where: str) -> Expression:
    """One law as an expression that names its own variable rightly."""
    try:
        expression = Expression(text)
    except ExpressionError as reason:
        raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
    wrong = sorted(n for n in expression.names if n.partition(".")[0] == argument and n not in own)
    if wrong:
        said = [name.replace("effort", "e", 1) if argument == "effort" else name for name in (wrong[0], *own)]
        raise ModelError(f"'{said[0]}' in the law '{text}'", where=where, expected=f"one of {listing(said[1:])}")
    return expression


def check_regular(matrix: ca.SX, where: str, values: Values) -> None:
    """Refuse a matrix without an inverse, such as an inertia of zero."""
    found = _number(matrix, values)
    if found is None:
        return
    size = np.abs(found).max(initial=0.0)
    if not np.isfinite(found).all() or size == 0.0 or np.linalg.cond(found / size) > SINGULAR:
        raise ModelError(
            "the value has no inverse", where=where, expected="a number that is not zero, or a regular matrix"
        )


def check_storing(matrix: ca.SX, where: str, values: Values, law: str) -> None:
    """Refuse a matrix that stores no energy: one that is not symmetric, or that is negative in some direction."""
    found = _number(matrix, values)
    if found is None or not np.isfinite(found).all():
        return
    if skew := _skew(found):
        i, j = (labels(len(found))[k] for k in skew)
        a, b = found[skew], found[skew[::-1]]
        raise ModelError(
            f"the matrix is not symmetric: {i}{j} is {a:g} and {j}{i} is {b:g}", where=where,
            expected="a symmetric matrix, as no other keeps energy",
            remedy="Take the part that is not symmetric out, and put a gyrator or an R beside it",
        )  # fmt: skip
    least, size = float(np.linalg.eigvalsh(found).min()), float(np.abs(found).max(initial=0.0))
    if least < -ROUNDING * size:
        words = f"the value is {least:g}" if len(found) == 1 else f"the matrix has the negative eigenvalue {least:g}"
        raise ModelError(
            f"{words}: its energy would be negative", where=where, expected="a positive value, or a positive matrix",
            remedy=f"Check the sign; an element that is meant so has a law instead: {law}",
        )  # fmt: skip


def check_potential(law: Callable[[ca.SX], ca.SX], width: int, where: str, values: Values) -> None:
    """Refuse a law of several components that has no energy: its Jacobian is not symmetric."""
    if width == 1:
        return
    x = ca.SX.sym("x", width)
    slope = substitute(ca.jacobian(law(x), x), values.p.symbols, ca.DM(values.p.start))
    try:
        function = ca.Function("slope", [x], [ca.densify(slope)])
    except RuntimeError:  # it holds signals or time, which are refused elsewhere
        return
    for sample in np.random.default_rng(0).normal(size=(SAMPLES, width)):
        found = np.asarray(function(sample), dtype=float)
        if np.isfinite(found).all() and (skew := _skew(found)):
            i, j = (labels(width)[k] for k in skew)
            raise ModelError(
                f"the law keeps no energy: component {i} changes by {found[skew]:g} with {j}, but {j} by "
                f"{found[skew[::-1]]:g} with {i}",
                where=where,
                expected="a law that is the gradient of an energy, whose Jacobian is symmetric",
                remedy="Derive the law from its energy, or put what is left over into an R or a gyrator",
            )


def _skew(matrix: NDArray[np.float64]) -> tuple[int, int] | None:
    """The place where a matrix is farthest from being symmetric, if it is not."""
    off = np.abs(matrix - matrix.T)
    i, j = np.unravel_index(int(np.argmax(off)), off.shape)
    return (int(i), int(j)) if off[i, j] > ROUNDING * np.abs(matrix).max() else None


def _number(matrix: ca.SX, values: Values) -> NDArray[np.float64] | None:
    """A matrix at the parameters of the model; None where it depends on more."""
    number = substitute(matrix, values.p.symbols, ca.DM(values.p.start))
    return np.asarray(ca.DM(number), dtype=float) if number.is_constant() else None
