"""Blocks of signals: limits, controllers, sensors; ``kind: control.dead_band`` is ``cotree.control.DeadBand``."""

from cotree.terminal.control import *  # noqa: F403
