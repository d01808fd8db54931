"""What formulations say to solvers and readers, as data: diagnostics so far."""

from cotree.system.codes import CODES
from cotree.system.diagnostic import (
    SEVERITIES,
    Diagnostic,
    diagnose,
    from_data,
    labelled,
    notes_of,
    outside_by,
    undetermined_by,
)

__all__ = [
    "CODES",
    "SEVERITIES",
    "Diagnostic",
    "diagnose",
    "from_data",
    "labelled",
    "notes_of",
    "outside_by",
    "undetermined_by",
]
