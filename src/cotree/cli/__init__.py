"""The command line: ``cotree run``, ``check``, ``graph``, ``equations``, ``modes``, ``report`` and others.

Exit codes: 0 done; 1 a computation failed, and what it had is kept; 2 the input is wrong; 70 an error in Cotree itself;
130 interrupted by Ctrl-C or a request to end, and what was computed is kept.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the program; Ctrl-C while it is still being loaded leaves as quietly as later."""
    try:
        from cotree.cli import program
    except KeyboardInterrupt:
        sys.exit(130)
    program.main()
