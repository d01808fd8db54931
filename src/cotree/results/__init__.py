"""Results of runs: the solution by name, the energy audit, and files."""

from cotree.results.energy import EnergyAudit
from cotree.results.solution import Solution, Statistics

__all__ = ["EnergyAudit", "Solution", "Statistics"]
