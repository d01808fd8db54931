"""Pictures and pages: the drawn graph, plots over time, and the report of a run. Only this room loads matplotlib."""

from cotree.view.graph_drawing import draw_graph
from cotree.view.plots import plot_energy, plot_solution
from cotree.view.report import write_report

__all__ = ["draw_graph", "plot_energy", "plot_solution", "write_report"]
