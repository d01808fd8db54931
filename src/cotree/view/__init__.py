"""Pictures and pages: the drawn graph, plots over time, and the report of a run. Only this room loads matplotlib."""

from cotree.view.graph_drawing import draw_graph
from cotree.view.plots import plot_energy, plot_solution
from cotree.view.report import write_report
from cotree.view.structure_drawing import draw_structure

__all__ = ["draw_graph", "draw_structure", "plot_energy", "plot_solution", "write_report"]
