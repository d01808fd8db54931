"""Solvers of system equations: simulation, linearisation, consistent values."""

from cotree.solve.integrator import INTEGRATORS, Integrator, Options
from cotree.solve.linear import LinearSystem, linearise
from cotree.solve.simulate import simulate

__all__ = ["INTEGRATORS", "Integrator", "LinearSystem", "Options", "linearise", "simulate"]
