"""The equations as native functions of (t, x, z, p, m), for methods that stop at switches and samples.

x are the states, z the algebraic variables that are not eliminated, m the modes in time and after them the held values.
Nothing is tabulated here, since held values may change with every event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca

from cotree.maths.lookup import common_parts
from cotree.maths.symbolic import column
from cotree.solve.newton import newton
from cotree.solve.problem import PULL, Problem

CLOSE = 1e-7
"""Last correction of an algebraic variable after an event, over 1 or its size: what is left is its square."""


class Parts:
    """Rates, guards, changes and samples of one problem, kept with its equations."""

    def __init__(self, problem: Problem) -> None:
        e = problem.equations
        self.problem, self.e = problem, e
        sizes = problem.sizes
        self.nx, self.nz, self.np = sizes["x"], sizes["z"], sizes["p"]
        self.modes, self.nh = len(e.modes), len(e.held)
        self.quad = sizes["quad"]
        self.n = self.nx + self.nz

    @classmethod
    def of(cls, problem: Problem) -> Parts:
        """Those of a problem, made once."""
        kept = problem.equations.__dict__
        if "_hybrid_parts" not in kept:
            kept["_hybrid_parts"] = cls(problem)
        return kept["_hybrid_parts"]  # type: ignore[no-any-return]

    @property
    def written_out(self) -> bool:
        """Whether every function is a list of elementary operations."""
        problem = self.problem
        if problem.settled is not None:
            return bool(problem.settled.is_a("SXFunction"))
        return not problem.eliminated or not len(self.e.w)

    @property
    def length(self) -> int:
        """Instructions of the rates, roughly."""
        if self.written_out:
            return int(self.rates.n_instructions())
        return int(self.problem.rates.n_instructions() + self.problem.quadratures.n_instructions()) + len(self.e.w) ** 2

    def symbols(self) -> list[ca.MX]:
        """t, x, z, p, m."""
        sizes = (1, self.nx, self.nz, self.np, self.modes + self.nh)
        return [ca.MX.sym(name, size) for name, size in zip("txzpm", sizes, strict=True)]

    def _known(self, t: ca.MX, x: ca.MX, z: ca.MX, p: ca.MX, m: ca.MX) -> tuple[list[Any], Any]:
        """(t, x, w, p, m) as the problem's functions take them, and what pulls a mechanism onto its constraints."""
        problem = self.problem
        states = x[: problem.x.numel()] if problem.x.numel() else ca.MX(0, 1)
        if problem.settled is not None:
            on, w = problem.settled(t, states, p, m)
            return [t, on, w, p, m], PULL * problem._pace(on) * (on - states)
        if problem.eliminated and len(self.e.w):
            return [t, states, self.linear_w(t, states, p, m), p, m], 0
        return [t, states, z, p, m], 0

    @cached_property
    def linear_w(self) -> ca.Function:
        """(t, x, p, m) -> w, where it enters linearly; no table, and a solver that has machine code."""
        t, x, _, p, m = self.problem.arguments
        matrix, rest = (self.e.in_time(part) for part in self.problem._linear_parts)
        parts = ca.Function("linear", [t, x, p, m], [matrix, ca.densify(rest)], common_parts(matrix, rest))
        known = [ca.MX.sym(name, *each.shape) for name, each in zip("txpm", (t, x, p, m), strict=True)]
        a, b = parts(*known)
        return ca.Function("linear_w", known, [ca.solve(a, -b, "qr")])

    def _made(
        self, name: str, of: Callable[[list[Any], Any], Sequence[Any]], more: Sequence[ca.MX] = ()
    ) -> ca.Function:
        own = self.symbols()
        known, pull = self._known(*own)
        made = ca.Function(name, [*more, *own], list(of(known, pull)))
        return made.expand(name, common_parts(made)) if self.written_out else made

    @cached_property
    def rates(self) -> ca.Function:
        """(t, x, z, p, m) -> (x', algebraic equations, rates of the integrals)."""

        def found(known: list[Any], pull: Any) -> list[Any]:
            problem = self.problem
            ode = problem.rates(*known) + pull if problem.x.numel() else ca.MX.zeros(self.nx)
            alg = problem.algebraic(*known) if self.nz else ca.MX(0, 1)
            return [ca.densify(each) for each in (ode, alg, problem.quadratures(*known))]

        return self._made("rates", found)

    @cached_property
    def slope(self) -> ca.Function:
        """(t, x, z, p, m) -> x' and the rates of the integrals, as one column."""
        own = self.symbols()
        ode, _, quad = self.rates(*own)
        return ca.Function("slope", own, [ca.vertcat(ode, quad)])

    @cached_property
    def guards(self) -> ca.Function:
        """(t, x, z, p, m) -> the guards of all switches.

        Where none needs accelerations or eliminated variables, they are taken at the states as the method has them.
        """
        guards = column([each.guard for each in self.e.switches])
        needed = self.e.explicit(guards)
        if self.nz or any(ca.depends_on(needed, each) for each in (self.e.w.symbols, self.e.u_dot) if each.numel()):
            return self._made("guards", self._of("guard", guards))
        t, x, z, p, m = self.symbols()
        found = self.problem._function("guard", guards)(t, x[: self.problem.x.numel()], 0, p, m)
        return ca.Function("guards", [t, x, z, p, m], [found]).expand()

    @cached_property
    def stored(self) -> ca.Function:
        """(t, x, z, p, m) -> the stored energy."""
        return self._made("stored", self._of("energy", self.e.energy.stored))

    @cached_property
    def inputs(self) -> ca.Function:
        """(t, x, z, p, m) -> what the Python functions are given, one after the other."""
        return self._made("inputs", self._of("given", column([each.inputs for each in self.e.samples])))

    def _of(self, name: str, expression: ca.SX) -> Callable[[list[Any], Any], Sequence[Any]]:
        function = self.problem._function(name, expression)
        return lambda known, _: [function(*known)]

    @cached_property
    def jumps(self) -> bool:
        """Whether the stored energy may jump at an event."""
        states = any(each.states for each in self.e.switches)
        return states or bool(ca.depends_on(self.e.energy.stored, self.e.held.symbols) if self.nh else False)

    @cached_property
    def changed(self) -> ca.Function:
        """(number, t, x, z, p, m) -> states and held values after a switch has acted."""
        number = ca.SX.sym("number")
        e, x, m = self.e, self.problem.x, self.e.mode_symbols
        chosen = [number == k for k in range(len(e.switches))]
        states = self._choice(x, chosen, [each.states for each in e.switches])
        held = self._choice(m[self.modes :], chosen, [each.held for each in e.switches])
        return self._acting("changed", number, [states, held])

    @cached_property
    def sampled(self) -> ca.Function:
        """(due, t, x, z, p, m) -> held values after all samples that are due; Python functions are left out."""
        due = ca.SX.sym("due", len(self.e.samples))
        laws = [each.held if each.call is None else {} for each in self.e.samples]
        held = self._choice(self.e.mode_symbols[self.modes :], [due[k] > 0 for k in range(due.numel())], laws)
        return self._acting("sampled", due, [held])

    @staticmethod
    def _choice(old: ca.SX, chosen: Sequence[ca.SX], laws: Sequence[Mapping[int, ca.SX]]) -> ca.SX:
        values = ca.vertsplit(old) if old.numel() else []
        for choice, law in zip(chosen, laws, strict=True):
            for place, value in law.items():
                values[place] = ca.if_else(choice, value, values[place])
        return column(values)

    def _acting(self, name: str, choice: ca.SX, expressions: Sequence[ca.SX]) -> ca.Function:
        explicit = [ca.densify(self.e.in_time(self.e.explicit(each))) for each in expressions]
        function = ca.Function("acting", [choice, *self.problem.arguments], explicit)
        more = ca.MX.sym("choice", *choice.shape)

        def found(known: list[Any], _: Any) -> list[Any]:
            return list(function.call([more, *known]))

        return self._made(name, found, [more])

    @cached_property
    def consistent(self) -> ca.Function:
        """(z, t, x, p, m) -> (size, z): algebraic variables after an event; settled where the size is at most 1."""
        problem = self.problem
        t, x, w, p, m = problem.arguments
        residual = self.e.in_time(self.e.explicit(self.e.algebraic))

        def size(change: ca.SX) -> ca.SX:
            return ca.norm_inf(change) / (CLOSE * (1 + ca.norm_inf(w)))

        return newton(w, [t, x, p, m], residual, size, 0, 0)
