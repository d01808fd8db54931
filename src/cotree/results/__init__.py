"""Results of runs: the solution by name, the energy audit, where they come from, and files."""

from cotree.results.energy import DomainAudit, EnergyAudit
from cotree.results.origin import Origin
from cotree.results.restart import Restart
from cotree.results.solution import Solution, Statistics

__all__ = ["DomainAudit", "EnergyAudit", "Origin", "Restart", "Solution", "Statistics"]
