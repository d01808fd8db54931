"""Units of what laws and sources give, for messages about them."""

from __future__ import annotations

from cotree.formulation.system import SystemEquations
from cotree.model import Model, quantities
from cotree.terminal.mechanics import Element, JointForce

EFFORT = "N or N m"
"""The unit of what acts along a joint's coordinate, before the joint is known."""
COORDINATES = {"N": "displacement", "N m": "angle"}
"""The coordinate of a joint along which a force or a torque acts."""


def law_units(model: Model, e: SystemEquations) -> dict[str, str]:
    """The unit by the name of each part with a law that follows the motion or an input; only where it is one."""
    found: dict[str, set[str]] = {}
    for name in (*e.laws, *e.inputs.names):
        owner, _, field = name.partition(".")
        part = model.components.get(owner)
        if part is None:
            continue
        known = quantities(part).get(field)
        own = known.unit if known is not None else "N" if isinstance(part, Element) else ""
        if own == EFFORT or (known is None and isinstance(part, JointForce)):
            on = getattr(part, "on", "")
            own = next((unit for unit, what in COORDINATES.items() if f"{on}.{what}" in e.outputs), EFFORT)
        if own:
            found.setdefault(owner, set()).add(own)
    return {owner: units.pop() for owner, units in found.items() if len(units) == 1}
