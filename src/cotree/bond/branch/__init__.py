"""Parts of bond graphs that stand for the parts of a rigid mechanism, with their values, laws and names."""

from cotree.bond.branch.bodies import OfBody
from cotree.bond.branch.constraints import OfConstraint, OfCoupling, OfDriver
from cotree.bond.branch.forces import OfForce, OfJointForce
from cotree.bond.branch.joints import OfJoint
from cotree.bond.branch.varying import OfVaryingBody

__all__ = ["OfBody", "OfConstraint", "OfCoupling", "OfDriver", "OfForce", "OfJoint", "OfJointForce", "OfVaryingBody"]
