"""Thermal parts: capacities, resistances, losses; ``kind: thermal.heat_source`` is ``cotree.thermal.HeatSource``."""

from cotree.terminal.thermal import *  # noqa: F403
