"""Mechanisms in branch coordinates: any tree, open and closed chains."""

from cotree.formulation.branch.equations import branch_equations, mechanism_trees
from cotree.formulation.branch.graph import mechanism_graph

__all__ = ["branch_equations", "mechanism_graph", "mechanism_trees"]
