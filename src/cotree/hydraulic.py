"""Hydraulic parts: pipes, valves, cylinders; ``kind: hydraulic.check_valve`` is ``cotree.hydraulic.CheckValve``."""

from cotree.terminal.hydraulic import *  # noqa: F403
