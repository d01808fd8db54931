"""The energy of a machine: in total, and domain by domain with what passes between them.

Every part whose ports are in one domain belongs to it. Parts between domains (motors, cylinders) are booked under
``transducers``: what they receive, store and dissipate. The mechanism receives what flows into the mounts. Heat of
losses is dissipated where it arises and received by the thermal domain.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from cotree.errors import ModelError, listing, nearest
from cotree.formulation.storages import STORAGES
from cotree.formulation.system import DomainEnergy, Energy
from cotree.model import Component
from cotree.terminal.mounts import Mount
from cotree.terminal.thermal import Loss

if TYPE_CHECKING:
    from cotree.formulation.machine.derivation import Machine

MECHANICAL, BETWEEN = "mechanical", "transducers"


class Book:
    """The energies of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    @cached_property
    def _accounts(self) -> dict[str, dict[str, ca.SX]]:
        """By domain: stored, dissipation, supply and received."""
        machine = self.machine
        accounts: dict[str, dict[str, ca.SX]] = {}

        def book(domain: str, what: str, value: Any) -> None:
            own = accounts.setdefault(
                domain, {key: ca.SX(0) for key in ("stored", "dissipation", "supply", "received")}
            )
            own[what] += value

        if machine.draft is not None:
            energy = machine.draft.energy
            book(MECHANICAL, "stored", energy.stored)
            book(MECHANICAL, "dissipation", energy.dissipation + machine.draft.banked)
            book(MECHANICAL, "supply", energy.supply)
        for part in machine.parts.network.components.values():
            powers = self._powers(part)
            domains = list(powers)
            total = sum(powers.values(), ca.SX(0))
            if isinstance(part, Mount):
                book(MECHANICAL, "received", total)
                book(domains[0], "received", -total)
            elif isinstance(part, Loss):
                book(domains[0], "received", -total)
            elif len(domains) == 1:
                self._own(part, domains[0], total, book)
            else:
                self._own(part, BETWEEN, total, book)
                book(BETWEEN, "received", total)
                for domain, power in powers.items():
                    book(domain, "received", -power)
        return accounts

    def _own(self, part: Component, domain: str, power: ca.SX, book: Callable[[str, str, Any], None]) -> None:
        """What one part stores, dissipates and supplies."""
        book(domain, "stored", self._stored(part))
        loss = self.loss(part)
        if loss is not None:
            book(domain, "dissipation", loss)
        elif part.supplies:
            book(domain, "supply", -power)

    def _variables(self, part: Component) -> tuple[Any, tuple[Any, ...]]:
        network = self.machine.network
        assert network is not None
        return network.symbolic_values[part.name], network.terminals[part.name]

    def _powers(self, part: Component) -> dict[str, ca.SX]:
        """Power into a part, by domain."""
        network = self.machine.network
        assert network is not None
        result: dict[str, ca.SX] = {}
        for edge, terminal in zip(part.edges(), network.terminals[part.name], strict=True):
            name = edge.domain.name
            result[name] = result.get(name, ca.SX(0)) + network.results.power(edge, terminal)
        return result

    def _stored(self, part: Component) -> Any:
        v, terminals = self._variables(part)
        return part.stored_energy(v, *terminals)

    def loss(self, part: Component) -> Any:
        """The dissipated power of a part of a network; None where it supplies, or stores alone."""
        v, terminals = self._variables(part)
        loss = part.loss(v, *terminals)
        if loss is not None:
            return loss
        if part.supplies or part.ports[0].role in STORAGES:
            return None
        return sum(self._powers(part).values(), ca.SX(0))

    def _resolved(self, value: Any) -> ca.SX:
        machine = self.machine
        value = ca.SX(value)
        return machine.resolve(value if machine.network is None else machine.network.explicit(value))

    @cached_property
    def _every(self) -> dict[str, DomainEnergy]:
        return {
            name: DomainEnergy(*(self._resolved(own[key]) for key in ("stored", "dissipation", "supply", "received")))
            for name, own in self._accounts.items()
        }

    def domains(self) -> dict[str, DomainEnergy]:
        """The energy of every domain."""
        return self._every

    def total(self) -> Energy:
        """The energy of the whole machine; heat that is passed on is not lost."""
        every = self._every.values()
        heat = sum(
            (
                -power
                for part in self.machine.parts.network.components.values()
                if isinstance(part, Loss)
                for power in self._powers(part).values()
            ),
            ca.SX(0),
        )
        stored, dissipation, supply = (
            sum((getattr(each, key) for each in every), ca.SX(0)) for key in ("stored", "dissipation", "supply")
        )
        return Energy(stored, dissipation - self._resolved(heat), supply)


def dissipated(machine: Machine, loss: Loss) -> ca.SX:
    """The power that the component of a `Loss` turns into heat."""
    book, name = Book(machine), loss.of
    part = machine.parts.network.components.get(name)
    if part is not None and not isinstance(part, Mount | Loss):
        found = book.loss(part)
        if found is not None and not ca.SX(found).is_zero():  # a machine with a thermal port has given its heat there
            assert machine.network is not None
            return machine.network.explicit(ca.SX(found))
    if machine.draft is not None:
        for act in machine.draft.prepared.own.acting:
            if act.name == name and not act.loaded and not act.supplies:
                kin = machine.draft.prepared.own.kin
                if act.loss is not None:
                    return act.loss
                change = kin.rate(act.potential) if not act.potential.is_constant() else ca.SX(0)
                return -(act.power + change)
    known = machine.model.components
    raise ModelError(
        f"there is no component '{name}'" if name not in known else f"'{name}' ({known[name].kind}) dissipates nothing",
        where=f"{loss.name}.of",
        expected="a resistor, damper, friction, clutch, brake or another part that turns power into heat",
        remedy=(nearest(name, list(known)) or f"There are {listing(known, 12)}") if name not in known else "",
    )
