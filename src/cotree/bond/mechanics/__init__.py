"""Masks for mechanisms in space (Filippini 2007, figs. 1-6): bodies, transformations, joints and forces."""

from cotree.bond.mechanics.bodies import Body, Ground
from cotree.bond.mechanics.forces import FrameForce, FrameTorque, PointDamper, PointSpring
from cotree.bond.mechanics.joints import (
    CylindricalJoint,
    FreeJoint,
    PrismaticJoint,
    RevoluteJoint,
    SphericalJoint,
    UniversalJoint,
    WeldJoint,
)  # fmt: skip
from cotree.bond.mechanics.transforms import Rotation, Translation

__all__ = [
    "Body", "CylindricalJoint", "FrameForce", "FrameTorque", "FreeJoint", "Ground", "PointDamper",
    "PointSpring", "PrismaticJoint", "RevoluteJoint", "Rotation", "SphericalJoint", "Translation", "UniversalJoint",
    "WeldJoint",
]  # fmt: skip
