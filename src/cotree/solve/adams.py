"""Adams' formulas of CVODES (SUNDIALS) through CasADi: variable order up to 12, no Jacobian, for smooth motion."""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca

from cotree.solve.integrator import SundialsIntegrator
from cotree.solve.problem import Problem


class Adams(SundialsIntegrator):
    """Variable-order Adams-Moulton with functional iteration (Hindmarsh and others 2005, SUNDIALS)."""

    name = "adams"
    plugin: ClassVar[str] = "cvodes"

    @classmethod
    def suits(cls, problem: Problem) -> str:
        return "" if problem.eliminated else "it has nonlinear algebraic equations, which need idas"

    def settings(self) -> dict[str, Any]:
        formulas = {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
        return super().settings() | formulas | {"min_step_size": 1e-15}

    def right_hand_side(self) -> ca.Function:
        return self.problem.opaque_dae(self.options.compiled)
