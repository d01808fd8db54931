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
        # The algebraic variables come consistent; the start only completes the rates. IDAS' own first step is often so
        # long that its error test fails for good, so it begins with a very short one and doubles from there.
        return super().settings() | {"calc_ic": True, "step0": 1e-2 * self.options.rtol}
