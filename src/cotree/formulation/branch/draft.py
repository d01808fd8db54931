"""All expressions of a mechanism under its trees, and the equations that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, listing
from cotree.formulation.branch.articulated import forward_dynamics, ldl_solver
from cotree.formulation.branch.articulated import suits as articulated
from cotree.formulation.branch.equations import Prepared, Start
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.outputs import mechanism_outputs, turned
from cotree.formulation.branch.places import Flexible
from cotree.formulation.branch.redundancy import Redundancy
from cotree.formulation.branch.spins import Spins
from cotree.formulation.branch.stiffening import rigid_stiffening
from cotree.formulation.system import BANKED, Energy, Fading, Mechanics, Output, SmoothInput, SystemEquations, Variables
from cotree.maths.lookup import slopes
from cotree.maths.symbolic import column, substitute
from cotree.model import Model
from cotree.system import Diagnostic, diagnose
from cotree.terminal.characteristic import Characteristic
from cotree.terminal.drivers import FrameDrive

if TYPE_CHECKING:
    from cotree.formulation.branch.segmented import Segmented

Array = NDArray[np.float64]

SMALL = 12
"""Speeds up to which an open mechanism with two different trees is solved for u' as one expression."""


@dataclass(frozen=True)
class Draft:
    """The expressions of a mechanism; see `Mechanics` for their form."""

    prepared: Prepared
    multipliers: Variables
    balance: ca.SX
    position: ca.SX
    velocity: ca.SX
    acceleration: ca.SX
    pushed: ca.SX
    """The generalised forces."""
    potential: ca.SX
    energy: Energy
    outputs: Mapping[str, Output]
    banked: ca.SX
    """The power that force laws store beyond the potential energy."""
    held: list[int]
    """The rows that hold positions, among all rows."""
    closed: bool
    """Whether u' and the multipliers are algebraic variables, instead of u' being explicit."""
    articulated: bool
    """Whether u' is explicit by one sweep along the tree; the forces must not depend on u' then."""


def drafted(prepared: Prepared) -> Draft:
    """The expressions of a mechanism."""
    top, own, start = prepared.top, prepared.own, prepared.start
    kin = own.kin
    kept = sorted(prepared.redundancy.kept, key=lambda k: not own.holonomic[k])  # holonomic rows first
    names = [f"lambda {own.labels[k][0]} ({own.labels[k][1]})" for k in kept]
    multipliers = Variables.make(names, ["" for _ in kept])
    velocity = own.velocity[kept] if kept else ca.SX(0, 1)
    placed = [k for k in kept if own.holonomic[k]]
    position = own.position[placed] if kept else ca.SX(0, 1)
    constraint_force = ca.SX.zeros(kin.u.numel())
    if kept and kin.u.numel():
        constraint_force = ca.densify(ca.jtimes(velocity, kin.u, multipliers.symbols, True))
    balance = own.inertia_force - own.generalised - constraint_force
    stiffening = rigid_stiffening(own, start.assembly.mechanism, start.joint(top.values.p.start))
    if stiffening is not None:
        balance += stiffening.force
    potential = own.weight_potential + sum((a.potential for a in own.acting), ca.SX(0))
    by_row = {row: multipliers.symbols[k] for k, row in enumerate(kept)}
    carried = own.reactions(by_row)
    energy, powers = _energy(own, carried.drives, potential, by_row)
    if stiffening is not None:
        energy = replace(energy, supply=energy.supply + stiffening.power)
    return Draft(
        prepared,
        multipliers,
        balance,
        position,
        velocity,
        kin.rate(velocity),
        own.generalised if stiffening is None else own.generalised - stiffening.force,
        ca.SX(potential),
        energy,
        mechanism_outputs(own, carried, powers, potential),
        ca.simplify(sum((act.banked for act in own.acting), ca.SX(0))),
        placed,
        bool(kept) or not (articulated(kin) or kin.u.numel() <= SMALL),
        articulated(kin),
    )


def finished(draft: Draft) -> SystemEquations:
    """The equations of a mechanism."""
    top, own, start = draft.prepared.top, draft.prepared.own, draft.prepared.start
    q0, u0, redundancy = draft.prepared.q0, draft.prepared.u0, draft.prepared.redundancy
    kin, values = own.kin, top.values
    w, algebraic, rates = _accelerations(draft)
    if top.flexible and not draft.closed and rates.numel() and not own.loads:
        _check_inertia(own, rates, q0, u0, start)
    spins, p = Spins(own, start.assembly.modes), values.p.start
    massless = spins.massless(q0, p, 0.0, start.modes(p, 0.0))
    inputs, signals, smooth = _signals(own)
    return SystemEquations(
        name=top.model.name,
        t=values.t,
        p=values.p,
        q=Variables(kin.q, tuple(kin.q_names), tuple(kin.q_units), q0),
        u=Variables(kin.u, tuple(kin.u_names), tuple(kin.u_units), u0),
        u_dot=kin.u_dot,
        kinematics=kin.q_dot,
        rates=rates,
        energy=draft.energy,
        outputs=draft.outputs,
        integrals=turned(draft.outputs) | ({} if draft.banked.is_zero() else {BANKED: Output(draft.banked, "J")}),
        w=w,
        algebraic=algebraic,
        multipliers=draft.multipliers,
        constraints=draft.position,
        inputs=inputs,
        input_rates=column([ca.SX.sym(f"d({name})/dt") for name in inputs.names]),
        signals=signals,
        smooth_inputs=smooth,
        modes=tuple(values.modes),
        mode_symbols=values.mode_symbols,
        laws=dict(values.laws),
        unbooked=tuple(
            part.name
            for part in own.top.model.components.values()
            if isinstance(part, Characteristic) and part.law is not None
        ),
        parameter_values=values.numbers,
        assemble=start.state,
        moved=start.moved,
        judged=_range_judge(top.model) if top.flexible else None,
        start_names=tuple(start.assembly.aliases),
        mechanics=Mechanics(
            draft.balance,
            draft.position,
            draft.velocity,
            draft.acceleration,
            tuple(kin.quaternions),
            own.kinetic,
            draft.potential,
            tuple(own.lengths[k] for k in draft.held),
            own.position[list(redundancy.dropped)] if redundancy.dropped else ca.SX(0, 1),
            tuple(own.labels[k][0] for k in redundancy.dropped),
            tuple(own.lengths[k] for k in redundancy.dropped),
            sum(len(places) for places in kin.elastic.values()),
            _gyration(own),
        ),
        fading=_fading(own),
        spins=spins,
        diagnostics=(*_diagnostics(own, redundancy), *(each.said("no-inertia") for each in massless)),
    )


def _range_judge(model: Model) -> Callable[..., tuple[Diagnostic, ...]]:
    """What says after a run where a flexible body left the range of its theory."""
    from cotree.terminal.range_told import range_diagnostics

    return partial(range_diagnostics, model)


def _gyration(own: Mechanism) -> ca.SX:
    """The largest radius of gyration of a rigid body of constant mass."""
    largest, p = ca.SX(0), own.top.values.p.symbols
    for body in own.top.bodies:
        known = None if body is None else body.spatial_inertia(own.values_of(body))
        if known is None:
            continue
        mass, _, inertia = known
        square = ca.trace(ca.SX(inertia)) / (2 * mass)
        if not ca.Function("square", [p], [square], {"allow_free": True}).get_free():
            largest = ca.fmax(largest, square)
    return ca.sqrt(largest)


def _check_inertia(own: Mechanism, rates: ca.SX, q0: Array, u0: Array, start: Start) -> None:
    """Refuse a body that can turn about an axis about which it has no inertia."""
    kin, values = own.kin, own.top.values
    known = [kin.q, kin.u, kin.t, values.p.symbols, values.mode_symbols]
    found = ca.Function("rates", known, [rates])(q0, u0, 0.0, values.p.start, start.modes(values.p.start, 0.0))
    if np.isfinite(np.asarray(found, dtype=float)).all():
        return
    thin = []
    for each in own.top.flexible.values():
        tables = each.floating.tables
        central = tables.second - np.outer(tables.first, tables.first) / tables.mass
        across = np.linalg.eigvalsh(np.trace(central) * np.eye(3) - central)
        if across[0] < 1e-9 * across[2]:
            thin.append(each.name.partition(".")[0])
    thin = list(dict.fromkeys(thin))
    raise FormulationError(
        f"{listing([repr(name) for name in thin])} can turn about an axis about which it has no inertia"
        if thin
        else "the mass matrix is singular at the start",
        where=thin[0] if thin else "",
        expected="inertia about every axis that the joints leave free",
        remedy="Keep the rotary inertia of its sections, or hold this rotation by a joint",
    )


def _accelerations(draft: Draft) -> tuple[Variables, ca.SX, ca.SX]:
    """Algebraic variables and equations, and the rates of the speeds."""
    kin, multipliers = draft.prepared.own.kin, draft.multipliers
    none = Variables.make((), ())
    if draft.closed:
        names = (*(f"d({name})/dt" for name in kin.u_names), *multipliers.names)
        units = (*(f"{unit}/s" for unit in kin.u_units), *multipliers.units)
        both = Variables(ca.vertcat(kin.u_dot, multipliers.symbols), names, units, np.zeros(len(names)))
        return both, ca.vertcat(draft.balance, draft.acceleration), kin.u_dot
    if not kin.u.numel():
        return none, ca.SX(0, 1), ca.SX(0, 1)
    if draft.articulated:
        return none, ca.SX(0, 1), forward_dynamics(kin, draft.pushed)
    mass = slopes(draft.balance, kin.u_dot)
    return none, ca.SX(0, 1), ca.densify(ldl_solver(mass)(-substitute(draft.balance, kin.u_dot, 0)))


def _energy(
    own: Mechanism, drives: Mapping[str, ca.SX], potential: ca.SX, multipliers: Mapping[int, ca.SX]
) -> tuple[Energy, dict[str, ca.SX]]:
    """Stored energy; dissipated and supplied powers of elements and drivers."""
    kin = own.kin
    dissipation = sum((part.loss for part in own.inertia if part is not None), ca.SX(0))
    supply = own.flux_power
    powers: dict[str, ca.SX] = {}
    for act in own.acting:
        powers[act.name] = act.power
        if act.loaded:
            continue
        if act.loss is not None:
            dissipation += act.loss
            continue
        change = kin.rate(act.potential) if not act.potential.is_constant() else ca.SX(0)
        into = act.power + change  # what enters bodies and stores
        if act.supplies:
            supply += into
        else:
            dissipation -= into
    for name, force in drives.items():
        link, coordinate = own.driven_coordinate(name)
        power = force * kin.coordinate(link, coordinate)[1]
        powers[name] = power
        supply += power
    for rows, first in own.numbered():
        if rows.drift is not None and not rows.drift.is_zero():
            lam = ca.vertcat(*(multipliers.get(first + k, ca.SX(0)) for k in range(len(rows))))
            powers[rows.owner] = powers.get(rows.owner, ca.SX(0)) - ca.dot(lam, rows.drift)
            supply -= ca.dot(lam, rows.drift)
    return Energy(own.kinetic + potential, dissipation, supply), powers


def _signals(own: Mechanism) -> tuple[Variables, ca.SX, tuple[SmoothInput, ...]]:
    """Everything that is given over time, so that bends and lost values are seen; drivers must not jump."""
    found = dict(own.top.values.signals)
    smooth: list[tuple[str, str, str]] = []
    drives = [part for part in own.top.constraints if isinstance(part, FrameDrive)]
    for name, (course, _) in list(found.items()):
        owner = next((part.name for part in drives if name.startswith(f"{part.name}.")), None)
        if owner is not None:
            found[f"{name} rate"] = (ca.jacobian(course, own.kin.t), "")
            smooth.append((name, f"'{owner}' holds it", "an infinite force"))
    for driver in (d for link in own.top.links.values() for d in link.drivers):
        course = driver.course(own.top.of(driver))
        what = f"{driver.name}.speed" if driver.of_speed else f"{driver.name}.position"
        found.setdefault(what, (course, ""))
        smooth.append((what, f"it drives '{driver.on}'", "an infinite force"))
        if not driver.of_speed:
            found[f"{driver.name}.speed"] = (ca.jacobian(course, own.kin.t), "")
            bend = ca.jacobian(ca.jacobian(course, own.kin.t), own.kin.t)
            found[f"{driver.name}.acceleration"] = (bend, "")
            smooth.append((f"{driver.name}.speed", f"it drives '{driver.on}'", "an infinite force"))
    names = list(found)
    remedy = "Let the driver start and stop smoothly"
    rates = [(name, name.partition(".")[0]) for name in names if name.endswith(" rate")]
    return (
        Variables.make(names, [unit for _, unit in found.values()]),
        column([signal for signal, _ in found.values()]),
        (
            *(SmoothInput(names.index(name), why, needs, remedy) for name, why, needs in smooth),
            *(SmoothInput(names.index(name), f"'{owner}' holds it", driver=owner) for name, owner in rates),
        ),
    )


def _fading(own: Mechanism) -> tuple[Fading, ...]:
    """Frictions that fade below a speed."""
    found = []
    for push in own.top.joint_forces:
        link, speed = own.top.joint_of(push), push.fading(own.top.of(push))
        name = push.chosen(link.joint)
        if speed is not None:
            driven = any(driver.chosen(link.joint) == name for driver in link.drivers)
            found.append(Fading(push.name, f"{link.name}.{name}", speed, driven))
    return tuple(found)


def _diagnostics(own: Mechanism, redundancy: Redundancy) -> tuple[Diagnostic, ...]:
    sizes = {"speeds": len(own.kin.u_names), "rows": len(redundancy.kept), "freedom": redundancy.freedom}
    elastic = (_elastic(each) for each in own.top.whole())
    return (diagnose("mechanism-counts", **sizes), *elastic, *redundancy.diagnostics)


def _elastic(flexible: Flexible | Segmented) -> Diagnostic:
    """What the elastic coordinates of a body are."""
    law, few = flexible.law, 6
    found = law.frequencies[np.isfinite(law.frequencies)]
    listed = ", ".join(f"{value:.4g}" for value in found[:few])
    rest = f" ... {found[-1]:.4g}" if len(found) > few else ""
    held = f", with its frame held {listed}{rest} rad/s" if len(found) else ""
    if not isinstance(flexible, Flexible):
        held = f" in {len(flexible.numbers)} segments" + held.replace("its frame", "the frame of each segment")
    return diagnose(
        "elastic-coordinates",
        flexible.name,
        mass=float(law.mass),
        count=len(law.names),
        shapes=str(flexible.body.shapes),
        frequencies=held,
    )
