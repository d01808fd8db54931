"""A machine in words and formulas: laws of its networks and blocks, who reads which signal, rates, and switches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import casadi as ca

from cotree.formulation.machine.parts import Parts
from cotree.formulation.machine.signals import Signals
from cotree.formulation.storages import SOURCES
from cotree.formulation.system import SystemEquations, rate_name
from cotree.formulation.values import Terminal, Values
from cotree.maths.printing import to_text
from cotree.model import Component, Edge, Model
from cotree.terminal.mechanics import Joint
from cotree.terminal.mounts import AxisMount, Mount
from cotree.terminal.thermal import Loss

LONGEST = 120
"""Letters of a condition beyond which it is left out."""


def _values(model: Model) -> Values:
    """Values whose expressions may name any signal."""
    values = Values(model)
    values.measures = values.others = Signals(model)
    return values


def network_residuals(model: Model) -> Iterator[tuple[Edge, ca.SX]]:
    """Each edge of the networks with the residual of its law, in symbols with the names of results."""
    values, parameters = _values(model), model.parameter_values()
    for component in Parts(model).network.components.values():
        edges = component.edges()
        terminals = [_terminal(component, k, edge) for k, edge in enumerate(edges)]
        if isinstance(component, Mount):
            yield from zip(edges, _mounted(model, component, terminals), strict=True)
            continue
        fields: Any = values.of(component)
        fields.__dict__.update({name: ca.SX.sym(f"{component.name}.{name}") for name in component.holding})
        if isinstance(component, Loss):
            fields.power = ca.SX.sym(f"loss of {component.of}")
        if edges[0].role in SOURCES:  # the field of a source has the name of the variable that it drives
            for field, expression in component.expressions.items():
                if not expression.names:
                    setattr(fields, field, ca.SX(expression.number(parameters)))
        for edge, residual in zip(edges, component.law(fields, *terminals), strict=True):
            yield edge, ca.SX(residual)


def _terminal(component: Component, k: int, edge: Edge) -> Terminal:
    across, through = (ca.SX.sym(name) for name in (edge.across[0], edge.through[0]))
    rates = (ca.SX.sym(rate_name(name)) for name in (edge.across[0], edge.through[0]))
    port = component.ports[k]
    word = edge.domain.integral[0] if edge.domain.integral else "position"
    place = ca.SX.sym(f"{edge.name}.{word}") if port.label in component.positions else None
    return Terminal(across, through, next(rates), next(rates), place)


def _mounted(model: Model, mount: Mount, terminals: list[Terminal]) -> list[ca.SX]:
    """The speed of each edge of a mount is one of the mechanism."""
    if isinstance(mount, AxisMount):
        joint = model.components.get(mount.on)
        first = joint.coordinates[0].name if isinstance(joint, Joint) and joint.coordinates else "coordinate"
        speeds = [f"{mount.on}.{mount.coordinate or first}_rate", f"speed of the body that carries {mount.on}"]
    else:
        ends = getattr(mount, "frame_a", ""), getattr(mount, "frame_b", "")
        speeds = [f"rate of the distance of {ends[0]} and {ends[1]}"]
    return [each.across - ca.SX.sym(name) for each, name in zip(terminals, speeds, strict=False)]


def block_laws(model: Model) -> Iterator[tuple[str, str, ca.SX]]:
    """For each block its name, what is given (``pid.value``, ``d(pid.integral)/dt``) and the expression for it."""
    values = _values(model)
    for name, block in Parts(model).blocks.items():
        own: Any = block
        fields: Any = values.of(block)
        fields.__dict__.update({each: ca.SX.sym(f"{name}.{each}") for each in block.holding})
        x = SimpleNamespace(**{state.name: ca.SX.sym(f"{name}.{state.name}") for state in own.states()})
        for what, value in own.outputs(fields, x).items():
            yield name, f"{name}.{what}", ca.SX(value)
        for what, value in own.rates(fields, x).items():
            yield name, rate_name(f"{name}.{what}"), ca.SX(value)
        sample = own.sample(fields, x)
        for what, value in sample.held.items() if sample is not None and sample.call is None else ():
            yield name, f"{name}.{what} at each sample", ca.SX(value)


def wiring(model: Model) -> list[tuple[str, str, str]]:
    """Who reads which signal: the field that reads, the signals it names, and its expression."""
    return [
        (f"{component.name}.{field}", ", ".join(sorted(expression.measured)), expression.text)
        for component in model.components.values()
        for field, expression in component.expressions.items()
        if expression.measured
    ]


def readings(model: Model) -> list[tuple[str, str, str]]:
    """Who gives, who reads, and the signal; a giver is a component or a node."""
    return [
        (name.partition(".")[0], component.name, name)
        for component in model.components.values()
        for name in sorted({each for expression in component.expressions.values() for each in expression.measured})
        if name != "t"
    ]


def further_rates(equations: SystemEquations) -> Iterator[tuple[str, ca.SX]]:
    """The rate of each state of networks and blocks beside a mechanism, by the state's name."""
    for k, name in enumerate(equations.x.names):
        yield name, equations.x_rates[k]


def switch_lines(equations: SystemEquations) -> Iterator[str]:
    """What changes at once: switches with their conditions, and samples with their periods."""
    names, periods = equations.held.names, dict(zip(equations.p.names, equations.p.start.tolist(), strict=True))
    for switch in equations.switches:
        changes = ", ".join(f"{names[k]} := {to_text(value)}" for k, value in switch.held.items())
        condition = f" where {to_text(switch.guard)} > 0" if _short(switch.guard) else ""
        yield f"{switch.name}{condition}" + (f": {changes}" if changes else "")
    for sample in equations.samples:
        text = to_text(sample.period)
        shown = f"{periods[text]:g}" if text in periods else text
        yield f"{sample.name} every {shown} s: {', '.join(names[k] for k in sample.held)}"


def _short(expression: ca.SX) -> bool:
    return len(to_text(expression)) <= LONGEST


def sections(model: Model, equations: SystemEquations, most: int) -> list[str]:
    """What a machine has beyond its mechanism or network, as parts of a text."""
    laws = [f"  {name} = {to_text(value)}" for _, name, value in block_laws(model)]
    kinds = [f"  {name}: {block.kind}" for name, block in Parts(model).blocks.items()]
    reads = [f"  {who} = {text}" for who, _, text in wiring(model)]
    rates = [f"  {rate_name(name)} = {to_text(value)}" for name, value in further_rates(equations)]
    switches = [f"  {line}" for line in switch_lines(equations)]
    start = [
        f"  {name} = {value:g} {unit}".rstrip()
        for name, value, unit in zip(equations.x.names, equations.x.start.tolist(), equations.x.units, strict=True)
    ]
    terminal = [f"  {to_text(residual)} = 0" for _, residual in network_residuals(model)] if model.mechanical else []
    parts = (
        ("Terminal equations of the networks", terminal, "equations"),
        ("Blocks of signals", kinds + laws, "lines"),
        ("Signals, by who reads them", reads, "signals"),
        ("Rates of networks and blocks", rates, "equations"),
        ("Start of networks and blocks", start, "states"),
        ("Switches and samples", switches, "lines"),
    )
    return ["\n".join([head, *_cut(lines, most, what)]) for head, lines, what in parts if lines]


def _cut(lines: Iterable[str], most: int, what: str) -> list[str]:
    every = list(lines)
    return every if len(every) <= most else [*every[:most], f"  ... and {len(every) - most} more {what}"]
