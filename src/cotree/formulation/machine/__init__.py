"""Machines: a mechanism, networks of several domains and blocks of signals in one set of equations."""

from cotree.formulation.machine.equations import machine_equations
from cotree.formulation.machine.parts import is_machine, machine_graph, machine_tree

__all__ = ["is_machine", "machine_equations", "machine_graph", "machine_tree"]
