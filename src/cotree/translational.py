"""Motion along one line: ``kind: translational.line`` is ``cotree.translational.Line``."""

from cotree.terminal.translational import *  # noqa: F403
