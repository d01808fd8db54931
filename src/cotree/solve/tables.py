"""Parameters from which the tables of flexible bodies were computed have no derivatives here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cotree.errors import ModelError, SolveError
from cotree.formulation import SystemEquations


def check_tables(e: SystemEquations, names: Sequence[str], parameters: Mapping[str, float]) -> None:
    """Refuse a parameter from which tables were computed: a derivative with respect to it would miss them."""
    for name in names:
        if e.parameter_values is None or name not in e.p.names:
            continue
        value = parameters.get(name, float(e.p.start[e.p.names.index(name)]))
        try:
            e.parameter_values({**parameters, name: value * (1 + 1e-9) if value else 1e-9})
        except ModelError as reason:
            if "tables were computed" not in reason.found:
                continue
            raise SolveError(
                f"'{name}' enters the tables of a flexible body through {reason.where}, so it has no derivative here",
                expected="a parameter of rigid bodies, joints or forces",
                remedy="Compare two models that differ in it",
            ) from None
