"""CVODES (SUNDIALS) through CasADi: backward differentiation formulas for ordinary differential equations."""

from __future__ import annotations

from typing import Any

from cotree.solve.integrator import SundialsIntegrator
from cotree.solve.problem import Problem


class Cvodes(SundialsIntegrator):
    """Variable-order BDF with a direct sparse linear solver (Hindmarsh and others 2005, SUNDIALS)."""

    name = "cvodes"

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return "" if problem.eliminated else "it has nonlinear algebraic equations, which need idas"

    def settings(self) -> dict[str, Any]:
        # A value that is not finite would otherwise be met with ever shorter steps.
        return super().settings() | {"min_step_size": 1e-15}
