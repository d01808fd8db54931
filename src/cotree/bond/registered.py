"""Where bond graphs enter the choice of formulations, without loading CasADi before it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cotree.formulation.choice import WRITERS

if TYPE_CHECKING:
    from cotree.formulation.system import SystemEquations
    from cotree.model import Model


def register() -> None:
    """Let models of bond-graph parts be written by this room."""
    WRITERS["bond"] = _write


def _write(model: Model) -> SystemEquations:
    from cotree.bond.equations import bond_equations

    return bond_equations(model)
