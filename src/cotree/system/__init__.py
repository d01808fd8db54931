"""What formulations say to solvers and readers, as data: diagnostics so far."""

from cotree.system.codes import CODES
from cotree.system.diagnostic import SEVERITIES, Diagnostic, diagnose, from_data, notes_of, worst

__all__ = ["CODES", "SEVERITIES", "Diagnostic", "diagnose", "from_data", "notes_of", "worst"]
