"""Cotree: flexible multibody and multi-domain systems from one linear graph.

Everything in the tree becomes a coordinate, everything in the cotree becomes an equation. Names are loaded when they
are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cotree._version import __version__

if TYPE_CHECKING:
    from cotree.api import *  # noqa: F403
    from cotree.terminal import control, machines, mounts, pneumatic  # noqa: F401

ROOMS = ("control", "machines", "mounts", "pneumatic")
"""Rooms of components that are loaded by themselves."""

ELSEWHERE = {
    "body": "RigidBody", "rigid": "RigidBody", "hinge": "Revolute", "pin": "Revolute", "slider": "Prismatic",
    "ball": "Spherical", "ballsocket": "Spherical", "hooke": "Universal", "fixed": "Weld", "fixedjoint": "Weld",
    "motor": "Drive", "driver": "Drive", "force": "PointForce", "torque": "PointTorque", "pointmass": "PointMass",
    "springdamper": "Spring", "system": "Model", "plane": "PointOnPlane",
}  # fmt: skip
"""Parts by the names that other programs use."""

__all__ = ["__version__"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'cotree' has no attribute '{name}'")
    if name == "structures":  # made of the façade's models, so above it
        return import_module("cotree.structures")
    if name in ROOMS:
        return import_module(f"cotree.terminal.{name}")
    api = import_module("cotree.api")
    try:
        return getattr(api, name)
    except AttributeError:
        from cotree.errors import nearest

        rooms = ("electrical", "translational", "rotational", "thermal", "hydraulic", "transducer", "nodal")
        inside = [f"cotree.{room}.{name}" for room in rooms if hasattr(getattr(api, room), name)]
        inside += [f"cotree.{room}.{name}" for room in ROOMS if hasattr(__getattr__(room), name)]
        meant = ELSEWHERE.get(name.lower())
        inside = [f"cotree.{meant}", *inside] if meant else inside
        hint = f"did you mean {' or '.join(inside)}?" if inside else nearest(name, api.__all__)
        raise AttributeError(f"cotree has no '{name}'; {hint}".rstrip("; ")) from None


def __dir__() -> list[str]:
    return [*__all__, *import_module("cotree.api").__all__, *ROOMS, "structures"]
