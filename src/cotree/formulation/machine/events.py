"""What changes at once in a machine: switches of components and blocks, and samples of controllers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError
from cotree.formulation.system import Sample, Switch
from cotree.formulation.values import checked_pulse
from cotree.maths.symbolic import column, elements, substitute
from cotree.model.switching import SampleLaw, SwitchLaw
from cotree.terminal.sticking import Sticking

if TYPE_CHECKING:
    from cotree.formulation.machine.derivation import Machine


def held_start(machine: Machine) -> ca.SX:
    """The held values at the start."""
    result = []
    for name in machine.held:
        part = machine.model.components[name]
        entries = {key: value for key, value in machine.values.entries(part).items() if value is not None}
        result += [ca.SX(value) for value in part.held_start(entries)]
    result += [pulse.value for pulse in (machine.values.pulses or {}).values()]
    result += [ca.SX(0) for _ in machine.crossings]
    return machine.resolve(column(result))


def machine_switches(machine: Machine) -> tuple[Switch, ...]:
    """All switches."""
    places = {name: k for k, name in enumerate(machine.held_variables.names)}
    result: list[Switch] = []
    network = machine.network
    for name, part in machine.parts.network.components.items():
        if isinstance(part, Sticking) or network is None:
            continue
        for law in part.switches(network.symbolic_values[name], *network.terminals[name]):
            guard, held = (
                network.explicit(ca.SX(law.guard)),
                {k: network.explicit(ca.SX(e)) for k, e in law.held.items()},
            )
            result.append(_switch(machine, name, law, guard, held, places))
    if machine.network is not None:
        result += machine.stuck.switches(places)
    for name, block in machine.parts.blocks.items():
        for law in block.switches(machine.block_values[name], machine.block_x(name)):
            result.append(_switch(machine, name, law, ca.SX(law.guard), law.held, places))
    for symbol, x in machine.crossings.values():
        place, value = places[symbol.name()], machine.resolve(x)
        result.append(Switch(f"{symbol.name()}.rises", (1 - symbol) * value, {place: ca.SX(1)}))
        result.append(Switch(f"{symbol.name()}.falls", -symbol * value, {place: ca.SX(0)}))
    return tuple(result)


def _switch(
    machine: Machine, owner: str, law: SwitchLaw, guard: ca.SX, held: Mapping[str, Any], places: Mapping[str, int]
) -> Switch:
    states = {}
    if law.states:
        draft = machine.draft
        first = 0 if draft is None else draft.prepared.own.kin.q.numel() + draft.prepared.own.kin.u.numel()
        for name, value in law.states.items():
            states[first + machine.x.names.index(f"{owner}.{name}")] = machine.resolve(ca.SX(value))
    changed = {places[f"{owner}.{name}"]: machine.resolve(ca.SX(value)) for name, value in held.items()}
    return Switch(f"{owner}.{law.name}", machine.resolve(guard), changed, states)


def machine_samples(machine: Machine) -> tuple[Sample, ...]:
    """All samples; blocks that sample together read each other's new values, in an order without waiting."""
    places = {name: k for k, name in enumerate(machine.held_variables.names)}
    laws: dict[str, SampleLaw] = {}
    for name, block in machine.parts.blocks.items():
        law = block.sample(machine.block_values[name], machine.block_x(name))  # type: ignore[attr-defined]
        if law is not None:
            laws[name] = law
    times = {
        name: column([machine.resolve(ca.SX(each)) for each in (law.period, law.offset)]) for name, law in laws.items()
    }
    pulses = list((machine.values.pulses or {}).values())
    shapes = column([part for pulse in pulses for part in (pulse.width, pulse.period)])
    machine.sample_times = ca.Function("times", [machine.values.p.symbols], [column(list(times.values())), shapes])
    groups = sample_groups(machine, machine.values.p.start)
    result = []
    for names in (
        [name for name, own in zip(laws, groups, strict=True) if own == group] for group in sorted(set(groups))
    ):
        together = _Together(machine, {name: laws[name] for name in names if laws[name].call is None})
        for name in names:
            law = laws[name]
            period, offset = elements(times[name])
            held = {
                places[f"{name}.{key}"]: together.of(name, key) if law.call is None else ca.SX(0) for key in law.held
            }
            inputs = together.seen(machine.resolve(column(list(law.inputs))), name)
            result.append(Sample(name, period, offset, held, law.call, inputs))
    for pulse in pulses:
        place, full = places[pulse.symbol.name()], pulse.width >= pulse.period
        for name, begin, value in (("rises", pulse.begin, pulse.width > 0), ("falls", pulse.begin + pulse.width, full)):
            result.append(Sample(f"{pulse.symbol.name()}.{name}", pulse.period, begin, {place: value}))
    return tuple(result)


def sample_groups(machine: Machine, p: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Period and offset of every sampled block, in numbers; pulses are checked."""
    found, shapes = (np.asarray(each, dtype=float).reshape(-1, 2) for each in machine.sample_times(p))
    for width, period in shapes.tolist():
        checked_pulse(width, period)
    return [(float(period), float(offset)) for period, offset in found]


def checked_samples(machine: Machine, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Refuse parameters with which other blocks sample together than when the equations were written."""
    first, now = (sample_groups(machine, each) for each in (machine.values.p.start, p))
    alike = [[a == b for b in first] for a in first], [[a == b for b in now] for a in now]
    if alike[0] != alike[1]:
        raise FormulationError(
            "with these periods and offsets, other blocks sample together than before, so these equations do not hold",
            remedy="Build the model with the new value",
        )
    return p


class _Together:
    """New held values of blocks that sample at the same times."""

    def __init__(self, machine: Machine, laws: Mapping[str, SampleLaw]) -> None:
        self.machine, self.laws = machine, laws
        self._done: dict[tuple[str, str], ca.SX] = {}
        self._open: list[str] = []

    def of(self, owner: str, key: str) -> ca.SX:
        """A new value of a block."""
        if (owner, key) not in self._done:
            if f"{owner}.{key}" in self._open:
                raise FormulationError(
                    f"sampled blocks wait for each other: {' <- '.join((*self._open, f'{owner}.{key}'))}",
                    where=owner,
                    expected="a delay somewhere in every loop of blocks that sample together",
                    remedy="Put a control.sampled_delay into the loop, or give one of them an offset",
                )
            self._open.append(f"{owner}.{key}")
            self._done[owner, key] = self.seen(self.machine.resolve(ca.SX(self.laws[owner].held[key])), owner)
            self._open.pop()
        return self._done[owner, key]

    def seen(self, expression: ca.SX, owner: str) -> ca.SX:
        """An expression with the new values of the other blocks."""
        own = {
            symbol.element_hash(): (other, key, symbol)
            for other, law in self.laws.items()
            if other != owner
            for key, symbol in self.machine.held[other].items()
            if key in law.held
        }
        inside = [own[s.element_hash()] for s in ca.symvar(expression) if s.element_hash() in own]
        if not inside:
            return expression
        return substitute(expression, column([s for *_, s in inside]), column([self.of(o, k) for o, k, _ in inside]))
