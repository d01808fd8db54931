"""Structures of bars and rigid bodies in nodal coordinates (Xiang, Wu, Zhou 2015)."""

from cotree.formulation.nodal.equations import nodal_equations
from cotree.formulation.nodal.graph import nodal_graph, nodal_tree
from cotree.formulation.nodal.structure import NodalStructure

__all__ = ["NodalStructure", "nodal_equations", "nodal_graph", "nodal_tree"]
