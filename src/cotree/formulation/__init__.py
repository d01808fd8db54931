"""Where graph and terminal equations meet: every formulation returns `SystemEquations`."""

from cotree.formulation.explain import explain_network, state_equations, state_equations_latex, terminal_equations
from cotree.formulation.network import network_equations, network_graph, normal_tree
from cotree.formulation.system import Energy, Mode, Output, SystemEquations, Variables

__all__ = [
    "Energy", "Mode", "Output", "SystemEquations", "Variables", "explain_network", "network_equations",
    "network_graph", "normal_tree", "state_equations", "state_equations_latex", "terminal_equations",
]  # fmt: skip
