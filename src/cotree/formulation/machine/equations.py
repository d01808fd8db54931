"""The equations of a machine: mechanism, networks and signals in one system.

A mount is an edge of both worlds. For the network it is a source: the speed s of the mechanism is an input, and the
through variable that the network finds for it, a function of its states, of s and of s', is a force on the mechanism.
An inertia that sits rigidly on a joint is then a storage that depends on this source, and its torque J s' is inertia of
the mechanism. Signals are names for expressions of states. So everything is found in one sweep: positions and states,
then accelerations, then the rates of the networks' and blocks' states.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from cotree.errors import FormulationError, listing
from cotree.formulation.branch.draft import SMALL, Draft, finished
from cotree.formulation.branch.topology import GROUND
from cotree.formulation.machine.audit import audited
from cotree.formulation.machine.derivation import Machine
from cotree.formulation.machine.energy import Book
from cotree.formulation.machine.events import held_start, machine_samples, machine_switches
from cotree.formulation.system import Output, SmoothInput, SystemEquations, Variables, nothing, rate_name
from cotree.maths.symbolic import column, symbols
from cotree.model import ROTATIONAL, TRANSLATIONAL, Model
from cotree.system import Diagnostic, diagnose
from cotree.terminal.mounts import AxisMount

PULL = 1.0
"""Rate in 1/s at which a mechanism goes back onto its constraints."""


def machine_equations(model: Model, tree: Any = None) -> SystemEquations:
    """The equations of a machine with a tree of its whole graph, a pair of trees, or a preset."""
    machine = Machine(model, tree)
    _ = machine.network.laws if machine.network is not None else None
    _ = machine.block_outputs, machine.draft
    machine.define()
    machine.stuck.define()
    return audited(_alone(machine) if machine.draft is None else _with_mechanism(machine, machine.draft))


def _events(machine: Machine) -> dict[str, Any]:
    """What changes at once."""
    held = machine.held_variables
    return {
        "held": held,
        "held_start": held_start(machine),
        "mode_symbols": ca.vertcat(machine.values.mode_symbols, held.symbols),
        "modes": tuple(machine.values.modes),
        "switches": machine_switches(machine),
        "samples": machine_samples(machine),
    }


def _alone(machine: Machine) -> SystemEquations:
    """Networks and blocks without a mechanism."""
    network, resolve = machine.network, machine.resolve
    if network is None:
        raise FormulationError("the model has blocks only", where=machine.model.name, remedy="Add what they control")
    inputs, input_rates, signals = network.inputs
    book = Book(machine)
    kept = [k for k in range(len(inputs)) if machine.of_time(signals[k]) and machine.plain(inputs.names[k])]
    some = Variables(
        inputs.symbols[kept],
        tuple(inputs.names[k] for k in kept),
        tuple(inputs.units[k] for k in kept),
        np.zeros(len(kept)),
    )
    smooth = tuple(
        replace(each, index=kept.index(each.index)) for each in network.smooth_inputs() if each.index in kept
    )
    w, _, algebraic = network.found
    rates = resolve(machine.x_rates)
    integrals = {
        name: Output(resolve(each.expression), each.unit)
        for name, each in network.results.integrals().items()
        if name not in machine.x.names
    }
    return SystemEquations(
        name=machine.model.name,
        t=machine.values.t,
        p=machine.values.p,
        u=machine.x,
        u_dot=symbols([rate_name(name) for name in machine.x.names]),
        rates=rates,
        energy=book.total(),
        domains=book.domains(),
        outputs=machine.outputs(),
        w=w,
        algebraic=resolve(algebraic),
        inputs=some,
        input_rates=input_rates[kept],
        signals=signals[kept],
        smooth_inputs=smooth,
        integrals=integrals,
        **_laws(machine),
        parameter_values=machine.numbers,
        start=machine.start,
        diagnostics=(*network.diagnostics, *_diagnostics(machine)),
        **_events(machine),
    )


def _with_mechanism(machine: Machine, draft: Draft) -> SystemEquations:
    """A mechanism with networks and blocks around it."""
    resolve, kin = machine.resolve, draft.prepared.own.kin
    inner, looped = _looped(machine)
    balance = resolve(draft.balance)
    _check_signals(machine, draft)
    hung = machine.forces and ca.depends_on(resolve(column(list(machine.forces.values()))), kin.u_dot)
    rows = machine.stuck.rows()
    outputs = machine.outputs()
    book = Book(machine)
    closed = draft.closed or bool(len(inner)) or bool(rows.numel()) or (bool(hung) and kin.u.numel() > SMALL)
    made = finished(
        replace(
            draft,
            balance=balance,
            pushed=resolve(draft.pushed),
            acceleration=ca.vertcat(draft.acceleration + (_pull(draft) if len(inner) else 0), rows),
            multipliers=machine.stuck.with_multipliers(draft.multipliers),
            outputs=outputs,
            energy=book.total(),
            closed=closed,
            articulated=draft.articulated and not hung,
        )
    )
    integrals = dict(made.integrals)
    if machine.network is not None:
        for name, each in machine.network.results.integrals().items():
            if name not in outputs:
                integrals[name] = Output(resolve(each.expression), each.unit)
    turned = {n: Output(resolve(each.expression), each.unit) for n, each in integrals.items()}
    return replace(
        made,
        w=_together(made.w, inner),
        algebraic=ca.vertcat(made.algebraic, looped),
        x=machine.x,
        x_rates=resolve(machine.x_rates),
        start=machine.start,
        domains=book.domains(),
        integrals=turned,
        diagnostics=(
            *made.diagnostics,
            *(machine.network.diagnostics if machine.network is not None else ()),
            *_diagnostics(machine),
        ),
        smooth_inputs=(*made.smooth_inputs, *_smooth(machine, made)),
        **_laws(machine),
        parameter_values=machine.numbers,
        **_events(machine),
    )


def _laws(machine: Machine) -> dict[str, Any]:
    """The user's expressions that follow the motion, but for those of blocks, and what stands behind their symbols."""
    network, blocks = machine.network, machine.parts.blocks
    laws = {name: law for name, law in machine.values.laws.items() if name.partition(".")[0] not in blocks}
    inside = column(ca.symvar(column([*laws.values()])))
    return {"laws": laws, "behind": (inside, machine.resolve(inside if network is None else network.explicit(inside)))}


def _looped(machine: Machine) -> tuple[Variables, ca.SX]:
    """Variables and equations of nonlinear algebraic loops of the networks."""
    if machine.network is None:
        return nothing(), ca.SX(0, 1)
    w, _, algebraic = machine.network.found
    algebraic = machine.resolve(algebraic)
    if machine.draft is not None and ca.depends_on(algebraic, machine.draft.prepared.own.kin.u_dot):
        names = list(dict.fromkeys(name.rpartition(".")[0] for name in w.names))
        raise FormulationError(
            f"{listing(names, 8)} form a nonlinear algebraic loop with an inertia that sits rigidly on the mechanism",
            where=names[0],
            expected="a storage between nonlinear components and such an inertia",
            remedy="Add the elasticity or the small inductance, capacitance or oil volume that is between them",
        )
    return w, algebraic


def _together(first: Variables, then: Variables) -> Variables:
    start = np.concatenate([first.start, then.start])
    return Variables(ca.vertcat(first.symbols, then.symbols), first.names + then.names, first.units + then.units, start)


def _pull(draft: Draft) -> ca.SX:
    """What pulls a mechanism back onto its constraints where it is not projected on them (Baumgarte 1972)."""
    position = ca.vertcat(draft.position, ca.SX.zeros(draft.velocity.numel() - draft.position.numel()))
    return 2 * PULL * draft.velocity + PULL**2 * position


def _smooth(machine: Machine, made: SystemEquations) -> list[SmoothInput]:
    """Signals of networks whose rates are needed must not jump."""
    network, found = machine.network, []
    for each in network.smooth_inputs() if network is not None else ():
        owner = network.inputs[0].names[each.index].rpartition(".")[0] if network is not None else ""
        places = [k for k, name in enumerate(made.inputs.names) if name.rpartition(".")[0] == owner]
        found += [replace(each, index=k) for k in places]
    return found


def _check_signals(machine: Machine, draft: Draft) -> None:
    """A signal that acts on the mechanism at once must not depend on its accelerations or reactions."""
    late = ca.vertcat(draft.prepared.own.kin.u_dot, draft.multipliers.symbols)
    for symbol in _acting(machine, draft.balance):
        if ca.depends_on(machine.resolve(symbol), late):
            raise FormulationError(
                f"'{symbol.name()}' follows from accelerations or reactions, and acts on them at once: an algebraic "
                "loop",
                where=machine.signals.where.get(symbol.name(), symbol.name()),
                expected="a state or a sample between a measured acceleration or reaction and what it acts on",
                remedy="Put a lag (control.sensor with time, control.transfer_function) or a sampled block between",
            )


def _acting(machine: Machine, expression: ca.SX) -> list[ca.SX]:
    """The signals that enter an expression without a state between; those of friction are solved with it."""
    signals = {symbol.element_hash() for symbol in machine.signals.symbols.values()}
    seen = {symbol.element_hash() for symbol in machine.stuck.inputs()}
    queue, result = [expression], []
    while queue:
        for found in ca.symvar(queue.pop()):
            key = found.element_hash()
            if key not in seen:
                seen.add(key)
                result += [found] if key in signals else []
                queue += [value] if (value := machine.resolve.behind(found)) is not None else []
    return result


def _diagnostics(machine: Machine) -> list[Diagnostic]:
    blocks, mounts = machine.parts.blocks, machine.parts.mounts
    found = [diagnose("signal-blocks", *blocks, count=len(blocks), names=listing(blocks))] if blocks else []
    if mounts:
        found.append(diagnose("mounts", *mounts, names=listing(mounts)))
    return found + _simplified(machine)


def _simplified(machine: Machine) -> list[Diagnostic]:
    """Inertias on moving bodies that do not count in full."""
    parts, draft = machine.parts, machine.draft
    if draft is None:
        return []
    top, domains = draft.prepared.top, (ROTATIONAL, TRANSLATIONAL)
    moving = {
        name: mount
        for name, mount in parts.mounts.items()
        if isinstance(mount, AxisMount) and top.links[mount.on].a.body != GROUND
    }
    plain = {name: mount for name, mount in moving.items() if len(mount.ports) == 1}
    relative = dict.fromkeys((mount, part.name) for part, _, on in parts.inertias(plain, domains) for mount in on)
    found = [diagnose("relative-inertia", part, joint=plain[mount].on, mount=mount) for mount, part in relative]
    sliding = {
        name: mount
        for name, mount in moving.items()
        if len(mount.ports) > 1 and mount.ports[0].domain is TRANSLATIONAL and top.turns(top.links[mount.on].a.body)
    }
    found += [
        diagnose("axis-only-inertia", part.name, others=listing(on))
        for part, _, on in parts.inertias(sliding, (TRANSLATIONAL,))
    ]
    if machine.model.planar:
        return found
    return found + [
        diagnose("no-gyroscopic-moment", part.name, others=listing(on))
        for part, _, on in parts.inertias(parts.carried, (ROTATIONAL,))
        if len(on) > 1 and moving.keys() & set(on)
    ]
