"""The command line: ``cotree run``, ``cotree graph``, ``cotree equations``.

Exit codes: 0 success, 1 the run failed or was interrupted (results so far are kept), 2 the input is wrong.
"""

from cotree.cli.main import main

__all__ = ["main"]
