"""The energy of every domain among the results: what is stored, supplied, dissipated and received, in J."""

from __future__ import annotations

from dataclasses import replace

from cotree.formulation.system import Output, SystemEquations


def audited(e: SystemEquations) -> SystemEquations:
    """The equations with ``energy.<domain>.stored`` and integrals of the powers, where there are several domains."""
    if len(e.domains) < 2:
        return e
    stored = {f"energy.{name}.stored": Output(own.stored, "J") for name, own in e.domains.items()}
    integrals = {
        f"energy.{name}.{word}": Output(power, "J")
        for name, own in e.domains.items()
        for word, power in (("supplied", own.supply), ("dissipated", own.dissipation), ("received", own.received))
    }
    return replace(e, outputs={**e.outputs, **stored}, integrals={**e.integrals, **integrals})
