"""Units of signals: what is known of them, and fields that a signal of another dimension does not fit."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from cotree.model.quantity import check_dimension, quantities
from cotree.model.units import dimension_of

if TYPE_CHECKING:
    from cotree.formulation.machine.derivation import Machine


def check_units(machine: Machine) -> dict[str, str | None]:
    """Units of all signals by name; a field that is one plain signal of another dimension is refused."""
    units: dict[str, str | None] = {}
    if machine.draft is not None:
        units |= {name: each.unit for name, each in machine.draft.outputs.items()}
    units |= {name: each.unit for name, each in machine.network_outputs.items()}
    units["t"] = "s"
    for variables in machine.block_states.values():
        units |= {n: u or None for n, u in zip(variables.names, variables.units, strict=True)}
    left = dict(machine.parts.blocks)
    while left:  # blocks after those that they read; the rest of a loop has unknown units
        ready = [name for name, block in left.items() if not _waits(block, left, name)] or list(left)
        for name in ready:
            block: Any = left.pop(name)
            known = block.output_unit({field: _unit(block, field, units) for field in block.expressions})
            units |= {f"{name}.{what}": unit for what, unit in known.items()}
    for component in machine.model.components.values():
        for field, info in quantities(component).items():
            expression = component.expressions.get(field)
            if expression is None or len(expression.names) != 1 or expression.text.strip() not in expression.measured:
                continue
            name = expression.text.strip()
            unit = units.get(name)
            if unit is not None and (dimension := dimension_of(unit)) is not None and not info.free:
                where = f"{component.name}.{field}"
                check_dimension(dimension, dataclasses.replace(info, free=False), where, f"the signal '{name}'")
    return units


def _waits(block: Any, left: dict[str, Any], own: str) -> bool:
    names = {name.partition(".")[0] for e in block.expressions.values() for name in e.measured}
    return bool((names & left.keys()) - {own})


def _unit(block: Any, field: str, units: dict[str, str | None]) -> str | None:
    expression = block.expressions[field]
    text = expression.text.strip()
    return units.get(text) if text in expression.measured or text == "t" else None
