"""Pneumatic parts: chambers, orifices, cylinders; ``kind: pneumatic.chamber`` is ``cotree.pneumatic.Chamber``."""

from cotree.terminal.pneumatic import *  # noqa: F403
