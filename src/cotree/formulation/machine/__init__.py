"""Machines: a mechanism, networks of several domains and blocks of signals in one set of equations."""

from cotree.formulation.machine.equations import machine_equations
from cotree.formulation.machine.parts import machine_graph, machine_tree

__all__ = ["machine_equations", "machine_graph", "machine_tree"]
