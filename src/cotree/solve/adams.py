"""Adams' formulas of CVODES (SUNDIALS) through CasADi: order up to 12 and no Jacobian, for smooth motion."""

from __future__ import annotations

from typing import Any

import casadi as ca

from cotree.solve.integrator import SundialsIntegrator
from cotree.solve.problem import Problem


class Adams(SundialsIntegrator):
    """Variable-order Adams-Moulton with functional iteration (Hindmarsh and others 2005, SUNDIALS)."""

    name = "adams"

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return "" if problem.eliminated else "it has nonlinear algebraic equations, which need idas"

    def settings(self) -> dict[str, Any]:
        formulas = {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
        return super().settings() | formulas | {"min_step_size": 1e-15}

    def _solver(self, grid: tuple[float, ...], max_step: float) -> ca.Function:
        key = (grid, max_step)
        if key not in self._made:
            if len(self._made) > 256:
                self._made.clear()
            settings = self.settings() | ({"max_step_size": max_step} if max_step < 1 else {})
            self._made[key] = ca.integrator(
                self.name, "cvodes", self.problem.opaque_dae(self.options.compiled), 0.0, list(grid), settings
            )
        return self._made[key]
