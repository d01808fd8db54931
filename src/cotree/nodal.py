"""Structures of bars and bodies in nodal coordinates; ``kind: nodal.on_plane`` is ``cotree.nodal.OnPlane``."""

from cotree.terminal.nodal import *  # noqa: F403
