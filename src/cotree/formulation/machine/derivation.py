"""One machine step by step: networks, blocks and mechanism, and what stands behind every symbol between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, listing
from cotree.formulation.branch.draft import Draft, drafted
from cotree.formulation.branch.equations import prepared
from cotree.formulation.machine.energy import dissipated
from cotree.formulation.machine.mounted import Speed, load, mounted
from cotree.formulation.machine.parts import Parts, split
from cotree.formulation.machine.signals import Resolver, Signals, unknown_signal
from cotree.formulation.machine.stuck import Stuck
from cotree.formulation.machine.units import check_units
from cotree.formulation.network import Network, Surroundings, normal_tree
from cotree.formulation.storages import SOURCES
from cotree.formulation.system import Output, Variables
from cotree.formulation.values import Values
from cotree.maths.symbolic import column, elements, substitute
from cotree.model import ROTATIONAL, TRANSLATIONAL, Component, Model
from cotree.terminal.mounts import AxisMount, Mount
from cotree.terminal.sticking import Sticking
from cotree.terminal.thermal import Loss

Array = NDArray[np.float64]


class Machine:
    """One derivation, step by step; every property is one step."""

    def __init__(self, model: Model, tree: Any = None) -> None:
        model.check()
        self.model, self.parts, self.resolve = model, Parts(model), Resolver()
        self.mechanical_tree, self.network_tree = split(model, tree)
        self.values, self.signals = Values(model), Signals(model)
        self.values.measures = self.values.others = self.signals
        self.values.pulses = {}
        self.crossings: dict[str, tuple[ca.SX, ca.SX]] = {}
        """Steps of signals: a held value, and what passes zero where it changes."""
        self.values.crossings = self.crossings
        self.sample_times = ca.Function("times", [self.values.p.symbols], [ca.SX(0, 1)])
        """Periods and offsets of sampled blocks, of p."""
        self.held = {
            name: {each: ca.SX.sym(f"{name}.{each}") for each in part.holding}
            for name, part in model.components.items()
            if part.holding
        }

    # the networks

    @cached_property
    def network(self) -> Network | None:
        """The networks, in terms of their states and inputs."""
        graph = self.parts.network_graph
        if graph is None:
            return None
        around = Surroundings(self.model, self.values, self.positions, self.held | self.heats)
        normal = normal_tree(graph)
        network = Network(self.parts.network, graph, normal, self.network_tree or normal, around)
        try:
            _ = network.storages
        except FormulationError as reason:
            if reason.where not in graph.edge_names or graph[reason.where].domain not in (ROTATIONAL, TRANSLATIONAL):
                raise
            raise FormulationError(
                reason.found,
                where=reason.where,
                expected="a speed that one source or joint alone gives",
                remedy="Put a spring or a damper between them; joints that move in a fixed ratio are joined by coupled "
                "or gear, and a joint with a given motion is moved by a drive",
            ) from None
        return network

    @cached_property
    def heats(self) -> dict[str, dict[str, ca.SX]]:
        """A symbol for the power of every loss that heats something."""
        owners: dict[str, str] = {}
        for part in self.parts.network.components.values():
            if isinstance(part, Loss) and owners.setdefault(part.of, part.name) != part.name:
                raise FormulationError(
                    f"the heat of '{part.of}' is given off by '{owners[part.of]}' already",
                    where=f"{part.name}.of",
                    expected="one thermal.loss for each component",
                )
        return {name: {"power": ca.SX.sym(f"{name}.power")} for name in owners.values()}

    @cached_property
    def positions(self) -> dict[str, ca.SX]:
        """Symbols of the positions that laws use, by edge."""
        return {
            edge.name: ca.SX.sym(f"{edge.name}.{edge.domain.integral[0] if edge.domain.integral else 'position'}")
            for part in self.parts.network.components.values()
            for port, edge in zip(part.ports, part.edges(), strict=True)
            if port.label in part.positions
        }

    @cached_property
    def free_positions(self) -> Variables:
        """Those of them that no mount gives: they are states."""
        graph = self.parts.network_graph
        assert graph is not None
        names = [name for name in self.positions if self._mount_of(name) is None]
        units = [(graph[name].domain.integral or ("", "m"))[1] for name in names]
        shown = [self.positions[name].name() for name in names]
        return Variables(
            column([self.positions[name] for name in names]), tuple(shown), tuple(units), np.zeros(len(names))
        )

    def _mount_of(self, edge: str) -> tuple[str, int] | None:
        """The mount between the same two nodes as an edge, and whether it points the other way."""
        graph = self.parts.network_graph
        assert graph is not None
        for name, mount in self.parts.mounts.items():
            own = mount.edges()[0]
            if own.domain is graph[edge].domain:
                if (own.tail, own.head) == (graph[edge].tail, graph[edge].head):
                    return name, 1
                if (own.head, own.tail) == (graph[edge].tail, graph[edge].head):
                    return name, -1
        return None

    @cached_property
    def stuck(self) -> Stuck:
        """Parts that slip and stick."""
        return Stuck(self)

    # the blocks

    @cached_property
    def block_states(self) -> dict[str, Variables]:
        """States of the blocks."""
        result = {}
        for name, block in self.parts.blocks.items():
            own = block.states()  # type: ignore[attr-defined]
            result[name] = Variables.make([f"{name}.{s.name}" for s in own], [s.unit for s in own])
        return result

    @cached_property
    def block_values(self) -> dict[str, Any]:
        """The values of the blocks' fields."""
        result = {}
        for name, block in self.parts.blocks.items():
            self.values.crossings = None if "period" in block.expressions else self.crossings  # samples have no bends
            result[name] = v = self.values.of(block)
            v.__dict__.update(self.held.get(name, {}))
        self.values.crossings = self.crossings
        return result

    def block_x(self, name: str) -> Any:
        """The states of a block by name."""
        own, found = self.parts.blocks[name].states(), self.block_states[name]  # type: ignore[attr-defined]
        return SimpleNamespace(**{s.name: found.symbols[k] for k, s in enumerate(own)})

    @cached_property
    def block_outputs(self) -> dict[str, ca.SX]:
        """Signals of the blocks by name."""
        return {
            f"{name}.{what}": ca.SX(value)
            for name, block in self.parts.blocks.items()
            for what, value in block.outputs(self.block_values[name], self.block_x(name)).items()  # type: ignore[attr-defined]
        }

    # the mechanism

    @cached_property
    def forces(self) -> dict[str, ca.SX]:
        """A symbol for the force of each edge of a mount."""
        return {edge.name: ca.SX.sym(edge.through[0]) for m in self.parts.mounts.values() for edge in m.edges()}

    @cached_property
    def momenta(self) -> dict[str, ca.SX]:
        """A symbol for the angular momentum of what spins on each mount on a body that may move."""
        return {name: ca.SX.sym(f"momentum on {name}") for name in self.parts.spinning}

    def momentum(self, mount: str) -> ca.SX:
        """The angular momentum of what spins on a mount: the slope of the stored energy over the speed."""
        network, total = self.network, ca.SX(0)
        assert network is not None
        for part, k in self.parts.spinning[mount]:
            terminals = list(network.terminals[part.name])
            across = ca.SX.sym("w")
            own, terminals[k] = terminals[k], replace(terminals[k], across=across)
            energy = ca.SX(part.stored_energy(network.symbolic_values[part.name], *terminals))
            total += substitute(ca.jacobian(energy, across), across, own.across)
        return network.explicit(total)

    @cached_property
    def draft(self) -> Draft | None:
        """The mechanism, with the forces of the mounts as symbols; None where there is none."""
        if not self.model.mechanical:
            return None
        if self.network is not None:
            _ = self.network.laws  # reads all expressions, which may add modes
        _ = self.block_outputs
        made = prepared(
            self.model,
            self.mechanical_tree,
            self.values,
            lambda each: load(each, self.parts.mounts, self.forces, self.momenta),
        )
        return drafted(made)

    @cached_property
    def speeds(self) -> dict[str, Speed]:
        """The speeds of the mounts' edges."""
        if self.draft is None:
            for mount in self.parts.mounts.values():
                mount.law(None)  # says that there is no mechanism
            return {}
        return mounted(self.draft.prepared.own, self.parts.mounts)

    # joining

    def define(self) -> None:
        """Say what stands behind every symbol that is not a state."""
        network, resolve = self.network, self.resolve
        if network is not None:
            self._check_start(network)
            self._define_inputs(network)
            for name, symbol in self.forces.items():
                resolve.define(symbol, network.explicit(network.topology[1][name]))
        for name, symbol in self.momenta.items():
            resolve.define(symbol, self.momentum(name))
        for edge, symbol in self.positions.items():
            if (found := self._mount_of(edge)) is not None:
                position = self.speeds[found[0]].position
                assert position is not None
                resolve.define(symbol, found[1] * position)
        for name, each in self.heats.items():
            loss = self.parts.network.components[name]
            assert isinstance(loss, Loss)
            resolve.define(each["power"], dissipated(self, loss))
        known = self.known
        for name, symbol in self.signals.symbols.items():
            if name not in known:
                where = self.signals.where.get(name, "")
                raise unknown_signal(name, where, list(known))
            resolve.define(symbol, known[name])

    def _define_inputs(self, network: Network) -> None:
        """Inputs of the networks: speeds of mounts, friction, and signals."""
        inputs, rates, signals = network.inputs
        edges = [edge for edge in network.graph.edges if edge.role in SOURCES]
        for k, edge in enumerate(edges):
            part, symbol, rate = self.parts.network.components[edge.component], inputs.symbols[k], rates[k]
            if isinstance(part, Mount):
                speed = self.speeds[edge.name].speed
                self.resolve.define(symbol, speed)
                self.resolve.define(rate, self._rate(speed))
            elif isinstance(part, Sticking):
                self.resolve.define(symbol, self.stuck.force(edge.name))
                self.resolve.define(rate, lambda name=edge.name: self._no_rate(name))  # type: ignore[misc]
            elif self.of_time(signals[k]):
                if self.model.mechanical:
                    self.resolve.define(symbol, signals[k])
                    self.resolve.define(rate, ca.jacobian(signals[k], self.values.t))
            else:
                self.resolve.define(symbol, signals[k])
                self.resolve.define(rate, lambda name=edge.name: self._no_rate(name))  # type: ignore[misc]

    def _check_start(self, network: Network) -> None:
        """What moves with the mechanism has no start value of its own."""
        given = network.start.given(self.values.p.start)
        edges = [edge for edge in network.graph.edges if edge.role in SOURCES]
        for storage, row in zip(network.storages.dependent, elements(network.ties), strict=True):
            for k, edge in enumerate(edges):
                mount = self.parts.mounts.get(edge.component)
                if storage in given and mount is not None and ca.depends_on(row, network.inputs[0].symbols[k]):
                    on = f"of '{mount.on}'" if isinstance(mount, AxisMount) else "of the bodies"
                    raise FormulationError(
                        f"'{storage}' has the start value {given[storage]:g}, but it moves with '{mount.name}'",
                        where=network.graph[storage].component,
                        expected="no start value: the mechanism gives it",
                        remedy=f"Leave it out, and give the start speed {on} instead",
                    )

    def _rate(self, speed: ca.SX) -> ca.SX:
        assert self.draft is not None
        return self.draft.prepared.own.kin.rate(speed)

    def of_time(self, signal: ca.SX) -> bool:
        """Whether a signal depends on time and parameters alone."""
        own = ca.vertcat(self.values.t, self.values.p.symbols, self.values.mode_symbols)
        known = {symbol.element_hash() for symbol in elements(own)}
        return all(symbol.element_hash() in known for symbol in ca.symvar(signal))

    def _no_rate(self, name: str) -> ca.SX:
        assert self.network is not None
        network = self.network
        mine = network.inputs[0].symbols[[e.name for e in network.graph.edges if e.role in SOURCES].index(name)]
        rows = zip(network.storages.dependent, elements(network.ties), strict=True)
        tied = [storage for storage, row in rows if ca.depends_on(row, mine)]
        raise FormulationError(
            f"{listing([repr(each) for each in tied])} {'is' if len(tied) == 1 else 'are'} tied to '{name}', which "
            "follows a signal or friction, so the rate of that would be needed",
            where=name,
            expected="a storage with a state of its own",
            remedy=f"Put a small resistance between '{name}' and the storage",
        )

    @cached_property
    def known(self) -> dict[str, ca.SX]:
        """Every signal that can be named, with what stands behind it."""
        result: dict[str, ca.SX] = {"t": self.values.t}
        if self.network is not None:
            result |= {name: each.expression for name, each in self.network_outputs.items()}
        if self.draft is not None:
            result |= {name: each.expression for name, each in self.draft.outputs.items()}
        result |= {symbol.name(): symbol for symbol in self.positions.values()}
        result |= {f"{owner}.{name}": s for owner, each in self.held.items() for name, s in each.items()}
        states = (*self.block_states.values(), *((self.network.states,) if self.network is not None else ()))
        result |= {n: each.symbols[k] for each in states for k, n in enumerate(each.names)}
        return result | self.block_outputs

    @cached_property
    def network_outputs(self) -> dict[str, Output]:
        """Results of the networks."""
        return {} if self.network is None else self.network.results.outputs()

    @cached_property
    def x(self) -> Variables:
        """States of networks and blocks."""
        own = [self.network.states, self.free_positions] if self.network is not None else []
        every = [*own, *self.block_states.values()]
        names, units = ([n for each in every for n in getattr(each, what)] for what in ("names", "units"))
        return Variables(
            column([each.symbols for each in every]), tuple(names), tuple(units), self.start(self.values.p.start, 0.0)
        )

    @cached_property
    def x_rates(self) -> ca.SX:
        """Their rates."""
        parts: list[ca.SX] = []
        if self.network is not None:
            network = self.network
            parts.append(network.found[1][network.y.numel() :, 0])
            across = network.topology[0]
            free = [name for name in self.positions if self._mount_of(name) is None]
            parts.append(network.explicit(column([across[name] for name in free])))
        for name, block in self.parts.blocks.items():
            rates = block.rates(self.block_values[name], self.block_x(name))  # type: ignore[attr-defined]
            parts += [ca.SX(rates[state.name]) for state in block.states()]  # type: ignore[attr-defined]
        return column(parts)

    def start(self, p: Array, t: float) -> Array:
        """Start values of the states of networks and blocks."""
        found = self.network.start(p, t).tolist() if self.network is not None else []
        own: dict[str, dict[str, float]] = {}
        for name, value in self.model.component_values(dict(zip(self.values.p.names, p.tolist(), strict=True))).items():
            component, _, entry = name.partition(".")
            own.setdefault(component, {})[entry] = value
        for edge in self.positions:
            if self._mount_of(edge) is None:
                part, label = self._owner(edge)
                found.append(part.position_start(own.get(part.name, {}))[part.positions.index(label)])
        for name, block in self.parts.blocks.items():
            found += block.state_start(own.get(name, {}))  # type: ignore[attr-defined]
        return np.array([float(value) for value in found])

    def _owner(self, name: str) -> tuple[Component, str]:
        for part in self.parts.network.components.values():
            for port, edge in zip(part.ports, part.edges(), strict=True):
                if edge.name == name:
                    return part, port.label
        raise KeyError(name)

    @cached_property
    def held_variables(self) -> Variables:
        """All held values."""
        pairs = [(f"{owner}.{name}", s) for owner, each in self.held.items() for name, s in each.items()]
        pairs += [(pulse.symbol.name(), pulse.symbol) for pulse in (self.values.pulses or {}).values()]
        pairs += [(symbol.name(), symbol) for symbol, _ in self.crossings.values()]
        return Variables(
            column([s for _, s in pairs]), tuple(n for n, _ in pairs), ("",) * len(pairs), np.zeros(len(pairs))
        )

    def outputs(self) -> dict[str, Output]:
        """All results."""
        units = check_units(self)
        result = dict(self.draft.outputs) if self.draft is not None else {}
        result |= self.network_outputs
        result |= {name: Output(value, units.get(name) or "") for name, value in self.block_outputs.items()}
        for variables in (
            (self.free_positions, *self.block_states.values()) if self.network else self.block_states.values()
        ):
            each: Any = variables
            result |= {n: Output(each.symbols[k], each.units[k]) for k, n in enumerate(each.names) if n not in result}
        held = self.held_variables
        result |= {name: Output(held.symbols[k], "") for k, name in enumerate(held.names)}
        names = list(result)
        every = self.resolve(column([result[name].expression for name in names]))
        resolved = elements(every)
        return {
            name: replace(result[name], expression=value, near=result[name].near)
            for name, value in zip(names, resolved, strict=True)
        }

    def numbers(self, changes: Mapping[str, float] | None) -> Array:
        """Checked numeric p."""
        from cotree.formulation.machine.events import checked_samples

        p = (self.values if self.network is None else self.network).numbers(changes)
        return checked_samples(self, p) if changes else p

    def plain(self, name: str) -> bool:
        """Whether an input is that of a plain source."""
        part = self.parts.network.components.get(name.rpartition(".")[0])
        return part is not None and not isinstance(part, Mount | Sticking)
