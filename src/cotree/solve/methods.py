"""All methods of integration by name: a new one is a file that registers itself, and a line here."""

from __future__ import annotations

from cotree.solve import (  # noqa: F401  (each registers)
    adams,
    cvodes,
    displacement_modes,
    energy,
    generalised_alpha,
    idas,
    runge_kutta,
    xiang,
)
from cotree.solve.integrator import INTEGRATORS

__all__ = ["INTEGRATORS"]
