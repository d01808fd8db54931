"""Topology: the linear graph, its trees, cutsets, circuits and their equations. No constitutive law enters here."""

from cotree.graph.cycles import loop_equation, minimum_cycle_basis
from cotree.graph.dependent import ground_nodes, paper_name, with_dependent_virtual_work, work_name
from cotree.graph.equations import Term, TopologicalEquation
from cotree.graph.explain import explain_graph
from cotree.graph.linear_graph import LinearGraph
from cotree.graph.selection import (
    Conflict,
    across_source_loops,
    breadth_first_tree,
    dependent_storages,
    select_tree,
    through_source_cutsets,
)
from cotree.graph.tree import Tree, TreeCost
from cotree.graph.trees import Candidate, all_trees, cheapest_tree, count_trees, rank_trees, sample_tree

__all__ = [
    "Candidate",
    "Conflict",
    "LinearGraph",
    "Term",
    "TopologicalEquation",
    "Tree",
    "TreeCost",
    "across_source_loops",
    "all_trees",
    "breadth_first_tree",
    "cheapest_tree",
    "count_trees",
    "dependent_storages",
    "explain_graph",
    "ground_nodes",
    "loop_equation",
    "minimum_cycle_basis",
    "paper_name",
    "rank_trees",
    "sample_tree",
    "select_tree",
    "through_source_cutsets",
    "with_dependent_virtual_work",
    "work_name",
]
