"""From a model of bond-graph parts to its system equations."""

from __future__ import annotations

from cotree.bond.mechanical_form import MechanicalForm
from cotree.bond.opening import open_graph
from cotree.bond.resolve import add_sensors
from cotree.bond.state_form import StateForm
from cotree.formulation.system import SystemEquations
from cotree.model import Model


def bond_equations(model: Model) -> SystemEquations:
    """The equations of a bond graph: mechanisms in mechanical form where they allow it, the rest in state form."""
    structure = open_graph(model)
    add_sensors(structure)
    state = None if structure.placed else StateForm(structure)
    if state is None or state.kin.closures:
        mechanical = MechanicalForm(structure)
        if mechanical.suits():
            state = state or (StateForm(structure) if mechanical.kin.closures else None)
            if state is None or not state.explicit():  # no multipliers where none are needed
                return mechanical.equations()
    return (state or StateForm(structure)).equations()
