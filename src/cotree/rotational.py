"""Rotation about one axis: ``kind: rotational.speed_source`` is ``cotree.rotational.SpeedSource``."""

from cotree.terminal.rotational import *  # noqa: F403
