"""The command line: ``cotree run``, ``check``, ``graph``, ``equations``, ``modes``, ``report`` and others.

Exit codes: 0 done; 1 a computation failed, and what it had is kept; 2 the input is wrong; 70 an error in Cotree itself;
130 interrupted by Ctrl-C or a request to end, and what was computed is kept.
"""

from __future__ import annotations

import gc
import sys

__all__ = ["main"]


TOGETHER = 50_000
"""Objects after which the garbage collector looks for unused ones. Python's 700 costs a tenth of a short run."""


def main() -> None:
    """Run the program; Ctrl-C while it is still being loaded is told as later."""
    gc.set_threshold(TOGETHER)
    try:
        from cotree.cli import program

        program.main()
    except KeyboardInterrupt:
        message = "interrupted; there are no results"
        if "--json" in sys.argv:
            import json

            error = {"type": "KeyboardInterrupt", "message": message, "exit_code": 130}
            message = json.dumps({"error": error})
        else:
            message = f"error: {message}"
        print(message, file=sys.stderr)
        sys.exit(130)
