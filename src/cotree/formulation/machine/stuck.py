"""Dry friction in a machine: torques of parts that stick are unknowns, found with the accelerations.

A part that slips has the friction ``mode * sliding``. While it sticks, its torque mu is the one with which the slip
does not accelerate. One row serves both, and its coefficient of mu is never zero:

    s (d(slip)/dt + PULL slip) - (1 - s) mu = 0        with s = 1 while sticking, 0 while slipping
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from cotree.errors import FormulationError
from cotree.formulation.storages import SOURCES
from cotree.formulation.system import Switch, Variables
from cotree.maths.symbolic import column, elements
from cotree.terminal.sticking import AT_REST, Sticking

if TYPE_CHECKING:
    from cotree.formulation.machine.derivation import Machine
    from cotree.formulation.network import Network

PULL = 50.0
"""Rate in 1/s at which what is left of a slip goes to zero while sticking."""
SHARED = 1e-10
"""Softness of parts that stick side by side, as a part of the inertia, so that each has its share of the load."""
MOVING = 1e-6
"""Slip speed in rad/s or m/s of a part that cannot be sticking: that of a start."""


class Stuck:
    """All parts of a machine that slip and stick."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        components = machine.parts.network.components
        self.parts = {name: part for name, part in components.items() if isinstance(part, Sticking)}
        self.mu = {name: ca.SX.sym(f"{name}.sticking") for name in self.parts}

    @property
    def network(self) -> Network:
        """The network in which they are."""
        assert self.machine.network is not None
        return self.machine.network

    def _mode(self, name: str) -> ca.SX:
        return self.machine.held[name]["mode"]

    def inputs(self) -> list[ca.SX]:
        """The symbols of their torques among the inputs of the network."""
        if not self.parts:
            return []
        edges = [edge for edge in self.network.graph.edges if edge.role in SOURCES]
        symbols = elements(self.network.inputs[0].symbols)
        return [symbol for edge, symbol in zip(edges, symbols, strict=True) if edge.component in self.parts]

    @cached_property
    def slips(self) -> dict[str, ca.SX]:
        """Slip speeds in the states and inputs of the network."""
        network = self.network
        inputs, own = network.inputs[0].symbols, column(self.inputs())
        result = {}
        for name in self.parts:
            slip = network.explicit(network.topology[0][name])
            if ca.depends_on(slip, own) or ca.depends_on(slip, network.found[0].symbols):
                raise FormulationError(
                    "the slip speed does not follow from speeds of inertias",
                    where=name,
                    expected="an inertia, a mass, a joint's axis or the ground at both of its ends",
                    remedy="Add the small inertia that the part between has",
                )
            known = {
                s.element_hash() for s in elements(ca.vertcat(network.states.symbols, inputs, network.values.p.symbols))
            }
            if strange := [s.name() for s in ca.symvar(slip) if s.element_hash() not in known]:
                raise FormulationError(
                    f"the slip speed depends on '{strange[0]}'",
                    where=name,
                    expected="a slip speed that follows from speeds by constant ratios",
                )
            result[name] = slip
        return result

    def force(self, name: str) -> ca.SX:
        """The friction of a part in the direction of its slip."""
        network, part, mode = self.network, self.parts[name], self._mode(name)
        v, terminal = network.symbolic_values[name], network.terminals[name][0]
        sliding = network.explicit(ca.SX(part.sliding(v, terminal, mode * terminal.across)))
        return mode * sliding + (1 - mode**2) * self.mu[name]

    @cached_property
    def _faster(self) -> dict[str, ca.SX]:
        """What is zero while a part sticks: d(slip)/dt + PULL slip."""
        network = self.network
        inputs, input_rates, _ = network.inputs
        known = ca.vertcat(network.states.symbols, inputs.symbols)
        rates = ca.vertcat(network.found[1][network.y.numel() :, 0], input_rates)
        return {
            name: self.machine.resolve((ca.jtimes(slip, known, rates) if known.numel() else 0) + PULL * slip)
            for name, slip in self.slips.items()
        }

    def rows(self) -> ca.SX:
        """One row for each part, in its mu."""
        if not self.parts:
            return ca.SX(0, 1)
        result, weights = [], self._weights() if len(self.parts) > 1 else ca.SX.zeros(1)
        for k, (name, row) in enumerate(self._faster.items()):
            stuck = 1 - self._mode(name) ** 2
            if not self._answers(row):  # a driver gives the speed, and carries whatever it takes
                result.append(-self.mu[name])
                continue
            result.append(stuck * (row + SHARED * weights[k] * self.mu[name]) - (1 - stuck) * self.mu[name])
        return column(result)

    def _weights(self) -> ca.SX:
        """How much the torque of each part accelerates its slip; of a mechanism, a number for its start."""
        draft, machine = self.machine.draft, self.machine
        rows, mu = column(list(self._faster.values())), column(list(self.mu.values()))
        if draft is None:
            return ca.diag(ca.jacobian(rows, mu))
        kin, made = draft.prepared.own.kin, draft.prepared
        unknown = ca.vertcat(kin.u_dot, draft.multipliers.symbols)
        laws = ca.vertcat(machine.resolve(draft.balance), draft.acceleration)
        parts = [ca.densify(ca.jacobian(of, by)) for of in (laws, rows) for by in (unknown, mu)]
        p, values = machine.values.p, machine.values
        known = [
            (kin.q, made.q0), (kin.u, made.u0), (machine.x.symbols, machine.x.start), (p.symbols, p.start),
            (values.mode_symbols, made.start.modes(p.start, 0.0)),
        ]  # fmt: skip
        told = {s.element_hash() for symbols, _ in known for s in elements(symbols)}
        others = column([s for s in ca.symvar(ca.veccat(*parts)) if s.element_hash() not in told])  # 0: time, sticking
        numeric = ca.Function("weights", [*(s for s, _ in known), others], parts)
        of, by, along, own = (
            np.asarray(each, dtype=float) for each in numeric(*(v for _, v in known), np.zeros(others.numel()))
        )
        return ca.SX(np.diag(own - along @ np.linalg.lstsq(of, by, rcond=None)[0]))

    def _answers(self, row: ca.SX) -> bool:
        """Whether torques have any influence on the acceleration of a slip."""
        draft = self.machine.draft
        speeds = ca.SX(0, 1) if draft is None else draft.prepared.own.kin.u_dot
        return bool(ca.depends_on(row, ca.vertcat(column(list(self.mu.values())), speeds)))

    def define(self) -> None:
        """Without a mechanism, solve for all mu at once."""
        if not self.parts or self.machine.model.mechanical:
            return
        mu = column(list(self.mu.values()))
        rows = self.rows()
        matrix = ca.jacobian(rows, mu)
        rest = ca.substitute(rows, mu, ca.SX.zeros(mu.numel()))
        found = -rest / matrix if mu.numel() == 1 else -ca.solve(ca.densify(matrix), ca.densify(rest))
        self.machine.resolve.forget()
        for k, symbol in enumerate(self.mu.values()):
            self.machine.resolve.define(symbol, found[k])

    def with_multipliers(self, multipliers: Variables) -> Variables:
        """The multipliers of a mechanism and the mu of all parts."""
        if not self.parts:
            return multipliers
        names = (*multipliers.names, *(f"{name}.sticking" for name in self.parts))
        own = [self.network.graph[name].through[1] for name in self.parts]
        both = ca.vertcat(multipliers.symbols, *self.mu.values())
        return Variables(both, names, (*multipliers.units, *own), np.zeros(len(names)))

    def switches(self, places: dict[str, int]) -> list[Switch]:
        """When parts begin to stick and to slip."""
        result = []
        for name, part in self.parts.items():
            network, mode = self.network, self._mode(name)
            place, rest, stuck = places[f"{name}.mode"], places[f"{name}.rest"], 1 - mode**2
            left = self.machine.held[name]["rest"]
            slip = self.machine.resolve(self.slips[name])
            v, terminal = network.symbolic_values[name], network.terminals[name][0]
            most = self.machine.resolve(network.explicit(ca.SX(part.sticking(v, terminal))))
            torque = self.machine.resolve(self.force(name))
            result.append(Switch(f"{name}.sticks", mode**2 * (-mode * slip - AT_REST - left), {place: ca.SX(0)}))
            for way in (1, -1):
                over = ca.fmax(way * torque - most, (way * slip - MOVING) / MOVING)
                begin = {place: ca.SX(way), rest: 2 * ca.fmax(-way * slip, 0)}
                result.append(Switch(f"{name}.slips", stuck * over - (1 - stuck), begin))
        return result
