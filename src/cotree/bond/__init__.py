"""Bond graphs: elements, junctions, causality, masks and a library for mechanisms -> SystemEquations."""

from cotree.bond import branch, mechanics  # with every kind of part that a file may name
from cotree.bond.elements import MR, C, I, MSe, MSf, R, Se, Sf
from cotree.bond.junctions import GY, MGR, MGY, MTF, TF, Bond, Junction0, Junction1, Split
from cotree.bond.library import electrical, hydraulic, rotational, thermal, translational
from cotree.bond.masks import Graph, Mask, bond_ends, next_bond
from cotree.bond.registered import register
from cotree.bond.signals import Block, Integrator, Sensor

__all__ = [
    "GY", "MGR", "MGY", "MR", "MTF", "TF", "Block", "Bond", "C", "Graph", "I", "Integrator", "Junction0", "Junction1",
    "MSe", "MSf", "Mask", "R", "Se", "Sensor", "Sf", "Split", "bond_ends", "branch", "electrical", "hydraulic",
    "mechanics", "next_bond", "rotational", "thermal", "translational",
]  # fmt: skip

register()
