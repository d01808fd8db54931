"""IDAS (SUNDIALS) through CasADi: backward differentiation formulas for differential-algebraic equations of index 1."""

from __future__ import annotations

from typing import Any

from cotree.solve.integrator import SundialsIntegrator
from cotree.solve.problem import Problem


class Idas(SundialsIntegrator):
    """Variable-order BDF on F(t, y, y') = 0 (Hindmarsh and others 2005, SUNDIALS)."""

    name = "idas"

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return ""

    def settings(self) -> dict[str, Any]:
        # The algebraic variables come consistent; the start only completes the rates.
        return super().settings() | {"calc_ic": True, "suppress_algebraic": False}
