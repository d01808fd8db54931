"""The energy of a storage with a nonlinear law: the integral of the law along the straight way from zero to its state.

A Gauss rule of 24 points is exact to rounding for smooth laws. A law of pieces (abs, sign, min, max, step, if-else) is
not smooth where they meet, so the way is divided there: at the roots of what the pieces switch on, one between any two
places where this itself has a bend. That is all of them where it is monotonic in between. A power such as q**1.5 that
begins at such a place leaves an error of about 1e-8. Of a law that switches back and forth more often, or that holds
the remainder of a division, the energy is an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import casadi as ca
import numpy as np

NODES, WEIGHTS = (each.tolist() for each in np.polynomial.legendre.leggauss(24))
STEPS = 16
"""Steps of the search for a root; the first one is exact for a straight line."""
MOST = 12
"""Number of places beyond which a way is divided no further."""
SMALL = 1e-14
"""Size of a value that counts as zero, relative to those at both ends."""
DEPTH = 20
"""How deep two expressions are compared."""
ONE = {ca.OP_FABS, ca.OP_SIGN}
TWO = {ca.OP_FMIN, ca.OP_FMAX, ca.OP_LT, ca.OP_LE}


def along(law: Callable[[ca.SX], ca.SX], x: ca.SX) -> ca.SX:
    """The integral of a law along the straight way from zero to x."""
    s = ca.SX.sym("s")
    ends = [ca.SX(0), *places(ca.SX(law(s * x)), s), ca.SX(1)]
    total = ca.SX(0)
    for low, high in pairwise(ends):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            at = (1 + node) / 2 if len(ends) == 2 else low + (high - low) * (1 + node) / 2
            total += (high - low) * weight / 2 * ca.dot(x, ca.SX(law(at * x)))
    return total


def places(expression: ca.SX, s: ca.SX) -> list[ca.SX]:
    """Where pieces of an expression meet for s between 0 and 1, in order; 0 stands for a place that is not there."""
    found: list[tuple[ca.SX, list[ca.SX]]] = []
    for switch in _switches(expression, s):
        if sum(len(own) for _, own in found) >= MOST or any(ca.is_equal(switch, other, DEPTH) for other, _ in found):
            continue
        straight = not ca.depends_on(ca.jacobian(switch, s), s)
        if straight and ca.substitute(switch, s, ca.SX(0)).is_zero():  # it meets at the start of the way
            continue
        inner = _ordered([at for other, own in found for at in own if not straight and _holds(switch, other, s)])
        ends = [ca.SX(0), *inner, ca.SX(1)]
        roots = [_root(switch, s, low, high, 1 if straight else STEPS) for low, high in pairwise(ends)]
        found.append((switch, roots))
    return _ordered([at for _, roots in found for at in roots])


def _entries(expression: ca.SX) -> Iterator[ca.SX]:
    """Every node of an expression once, those inside of it first."""
    seen: set[int] = set()
    todo = [(each, False) for each in reversed(ca.vertsplit(ca.densify(ca.vec(expression))))]
    while todo:
        node, done = todo.pop()
        key = node.element_hash()
        if done:
            yield node
        elif key not in seen:
            seen.add(key)
            todo.append((node, True))
            todo += [(node.dep(k), False) for k in range(node.n_dep())]


def _switches(expression: ca.SX, s: ca.SX) -> Iterator[ca.SX]:
    """What the pieces of an expression switch on, those inside of others first."""
    for node in _entries(expression):
        if node.n_dep() and node.op() in ONE | TWO:
            switch = node.dep(0) - node.dep(1) if node.op() in TWO else node.dep(0)
            if ca.depends_on(switch, s):
                yield switch


def _holds(switch: ca.SX, other: ca.SX, s: ca.SX) -> bool:
    """Whether a switch has another one inside."""
    return any(ca.is_equal(other, each, DEPTH) for each in _switches(switch, s))


def _ordered(values: list[ca.SX]) -> list[ca.SX]:
    values = list(values)
    for last in range(len(values) - 1, 0, -1):
        for k in range(last):
            low, high = ca.fmin(values[k], values[k + 1]), ca.fmax(values[k], values[k + 1])
            values[k], values[k + 1] = low, high
    return values


def _root(switch: ca.SX, s: ca.SX, low: ca.SX, high: ca.SX, steps: int) -> ca.SX:
    """A root between two places by the Illinois rule; the lower one where there is none."""

    def value(at: ca.SX) -> ca.SX:
        return ca.substitute(switch, s, at)

    a, b, first, last = low, high, value(low), value(high)
    crosses, small = first * last < 0, SMALL * (ca.fabs(first) + ca.fabs(last))
    for _ in range(steps):
        rise = last - first
        done = ca.logic_or(ca.fabs(last) <= small, rise == 0)  # further steps would divide rounding by rounding
        at = b - ca.if_else(done, ca.SX(0), last * (b - a) / ca.if_else(done, ca.SX(1), rise))
        if steps > 1:
            here = value(at)
            passed = here * last < 0
            a, first = ca.if_else(passed, b, a), ca.if_else(passed, last, first / 2)
            last = here
        b = at
    return ca.SX(ca.if_else(crosses, ca.fmin(ca.fmax(b, low), high), low))
