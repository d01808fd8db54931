"""Where graph and terminal equations meet: every formulation returns `SystemEquations`."""

from typing import TYPE_CHECKING

from cotree._names import loader

if TYPE_CHECKING:
    from cotree.formulation.choice import model_equations, model_graph, model_tree
    from cotree.formulation.explain import (
        explain_network,
        state_equations,
        state_equations_latex,
        terminal_equations,
        terminal_residuals,
    )
    from cotree.formulation.network import network_equations, network_graph, normal_tree
    from cotree.formulation.system import Energy, Mechanics, Mode, Output, SystemEquations, Variables, rate_name

__all__ = [
    "Energy",
    "Mechanics",
    "Mode",
    "Output",
    "SystemEquations",
    "Variables",
    "explain_network",
    "model_equations",
    "model_graph",
    "model_tree",
    "network_equations",
    "network_graph",
    "normal_tree",
    "rate_name",
    "state_equations",
    "state_equations_latex",
    "terminal_equations",
    "terminal_residuals",
]

__getattr__ = loader(
    __name__,
    {
        **dict.fromkeys(("model_equations", "model_graph", "model_tree"), "cotree.formulation.choice"),
        **dict.fromkeys(
            (
                "explain_network",
                "state_equations",
                "state_equations_latex",
                "terminal_equations",
                "terminal_residuals",
            ),
            "cotree.formulation.explain",
        ),
        **dict.fromkeys(("network_equations", "network_graph", "normal_tree"), "cotree.formulation.network"),
        **dict.fromkeys(
            ("Energy", "Mechanics", "Mode", "Output", "SystemEquations", "Variables", "rate_name"),
            "cotree.formulation.system",
        ),
    },
)
