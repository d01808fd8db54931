"""Bond graphs: elements, junctions, causality, masks, parts of domains and of mechanisms -> SystemEquations."""

from cotree.bond import branch, electrical, hydraulic, mechanics, rotational, thermal, translational
from cotree.bond.branch import (
    OfBody,
    OfConstraint,
    OfCoupling,
    OfDriver,
    OfForce,
    OfJoint,
    OfJointForce,
    OfVaryingBody,
)
from cotree.bond.elements import MR, C, I, MSe, MSf, R, Se, Sf
from cotree.bond.junctions import GY, MGR, MGY, MTF, TF, Bond, Junction0, Junction1, Split
from cotree.bond.masks import Graph, Mask, bond_ends, next_bond
from cotree.bond.mechanics import (
    Body,
    CylindricalJoint,
    FrameForce,
    FrameTorque,
    FreeJoint,
    Ground,
    PointDamper,
    PointSpring,
    PrismaticJoint,
    RevoluteJoint,
    Rotation,
    SphericalJoint,
    Translation,
    UniversalJoint,
    WeldJoint,
)
from cotree.bond.registered import register
from cotree.bond.signals import Block, Integrator, Sensor

__all__ = [
    "GY", "MGR", "MGY", "MR", "MTF", "TF", "Block", "Body", "Bond", "C", "CylindricalJoint", "FrameForce",
    "FrameTorque", "FreeJoint", "Graph", "Ground", "I", "Integrator", "Junction0", "Junction1", "MSe", "MSf", "Mask",
    "OfBody", "OfConstraint", "OfCoupling", "OfDriver", "OfForce", "OfJoint", "OfJointForce", "OfVaryingBody",
    "PointDamper", "PointSpring", "PrismaticJoint", "R", "RevoluteJoint", "Rotation", "Se", "Sensor", "Sf",
    "SphericalJoint", "Split", "Translation", "UniversalJoint", "WeldJoint", "bond_ends", "branch", "electrical",
    "hydraulic", "mechanics", "next_bond", "rotational", "thermal", "translational",
]  # fmt: skip

register()
