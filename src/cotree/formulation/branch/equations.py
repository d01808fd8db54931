"""Equations of motion of a mechanism in branch coordinates, from any pair of trees (method.md, branch coordinates)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, GraphError, SolveError, listing
from cotree.formulation.branch.articulated import forward_dynamics, ldl_solver
from cotree.formulation.branch.articulated import suits as articulated
from cotree.formulation.branch.assembly import Assembly
from cotree.formulation.branch.loops import loop_kind
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.outputs import mechanism_outputs, turned
from cotree.formulation.branch.redundancy import Redundancy, analyse
from cotree.formulation.branch.stiffening import rigid_stiffening
from cotree.formulation.branch.topology import Topology, branches, mechanism_graph, spanning, topology
from cotree.formulation.branch.transfer import transfer
from cotree.formulation.system import Energy, Mechanics, SmoothInput, SystemEquations, Variables
from cotree.graph import LinearGraph, Tree
from cotree.maths.symbolic import column, substitute
from cotree.model import Model
from cotree.terminal.deformable import Deformable
from cotree.terminal.mechanics import Driver

Array = NDArray[np.float64]

SMALL = 12
"""Speeds up to which an open mechanism with two different trees is solved for u' as one expression."""


def mechanism_trees(graph: LinearGraph, given: Any) -> tuple[Tree, Tree]:
    """The translational and the rotational tree: one for both, or a pair."""
    pair = given if isinstance(given, (tuple, list)) else (given, given)
    if len(pair) != 2:
        raise GraphError(f"{len(pair)} trees are given", expected="one, or one for translation and one for rotation")
    return spanning(graph, pair[0]), spanning(graph, pair[1])


@dataclass
class Start:
    """Consistent start values in the coordinates of a mechanism's own trees."""

    assembly: Assembly
    onward: ca.Function | None
    own: Mechanism

    def state(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """q and u; ``changes`` by name are kept."""
        q, u = self.assembly.state(p, t, changes)
        if self.onward is None:
            return q, u
        m = self.modes(p, t)
        q, u = (np.asarray(each, dtype=float).ravel() for each in self.onward(q, u, t, p, m))
        known = {*self.assembly.names, *self.assembly.aliases}
        others = {name: value for name, value in (changes or {}).items() if name not in known}
        return Assembly(self.own, self.assembly.modes).nearest(q, u, p, t, others) if others else (q, u)

    def joint(self, p: Array) -> tuple[Array, Array, Array]:
        """q in the joint tree, p and the modes."""
        return self.assembly.state(p, 0.0)[0], p, self.modes(p, 0.0)

    def modes(self, p: Array, t: float) -> Array:
        """Values of the modes at a time."""
        values = self.own.top.values
        function = ca.Function("modes", [values.t, values.p.symbols], [self.assembly.modes])
        return np.asarray(function(t, p), dtype=float).ravel()


def branch_equations(model: Model, tree: Any = None) -> SystemEquations:
    """The equations of a mechanism with a tree, a pair of trees for translation and rotation, or a preset."""
    graph = mechanism_graph(model)
    trees = mechanism_trees(graph, tree)
    top = topology(model, graph)
    own = Mechanism(top, branches(top, *trees))
    joint = spanning(graph, "joint")
    canonical = own if trees == (joint, joint) else Mechanism(top, branches(top, joint, joint))
    _ = own.acting, canonical.acting  # reads all expressions, which may add modes
    modes = column([mode.value for mode in top.values.modes])
    start = Start(Assembly(canonical, modes), None if canonical is own else transfer(canonical, own), own)
    p = top.values.numbers()
    try:
        q0, u0 = start.state(p, 0.0)
    except SolveError:
        _check_drivers(model)
        raise
    redundancy = _redundancy(own, start, p, q0)
    return _system(top, own, start, redundancy, q0, u0)


def _check_drivers(model: Model) -> None:
    """Say so where an assembly fails because there are more drivers than degrees of freedom."""
    drivers = [part for part in model.components.values() if isinstance(part, Driver)]
    if not drivers:
        return
    free = Model(model.name, datum=model.datums, planar=model.planar)
    free.parameters, free.gravity = model.parameters, model.gravity
    names = {part.name for part in drivers}
    free.components = {name: part for name, part in model.components.items() if name not in names}
    equations = branch_equations(free)
    freedom = len(equations.u) - len(equations.multipliers)
    if len(drivers) > freedom:
        raise FormulationError(
            f"{listing([repr(part.name) for part in drivers])} drive a mechanism with {freedom} "
            f"degree{'' if freedom == 1 else 's'} of freedom",
            where=drivers[freedom].name,
            expected="at most as many drivers as degrees of freedom",
            remedy=f"Remove '{drivers[-1].name}' or another driver",
        )


def _redundancy(own: Mechanism, start: Start, p: Array, q0: Array) -> Redundancy:
    """Independent rows at the start and at a position near it."""
    kin, top = own.kin, own.top
    m = start.modes(p, 0.0)
    values = top.values
    inputs = [kin.q, kin.t, values.p.symbols, values.mode_symbols]
    if own.velocity.numel() and kin.u.numel():
        jacobian = ca.Function("G", inputs, [ca.densify(ca.jacobian(own.velocity, kin.u))])
        own_advance = Assembly(own, start.assembly.modes)
        found = []
        rng = np.random.default_rng(0)
        q = q0
        for _ in range(2):
            G = np.asarray(jacobian(q, 0.0, p, m), dtype=float)
            found.append(G)
            _, sizes, right = np.linalg.svd(G, full_matrices=G.shape[0] < G.shape[1])
            rank = int((sizes > 1e-9 * max(1e-300, float(sizes.max(initial=0.0)))).sum())
            free = right[rank:].T
            if not free.shape[1]:
                break
            step = free @ rng.normal(size=free.shape[1])
            step *= 0.01 / max(float(np.abs(step).max()), 1e-12)
            q = np.asarray(own_advance.advance(q, step, 0.0, p), dtype=float).ravel()
            q = own_advance.closed(q, p, 0.0)
    else:
        found = [np.zeros((own.velocity.numel(), kin.u.numel()))]

    def reason(owner: str) -> str:
        return loop_kind(own, owner, (q0, 0.0, p, m))

    result = analyse(own, found, reason)
    over = [own.labels[k][0] for k in result.dropped if own.labels[k][1] in ("position", "speed")]
    if over:
        raise FormulationError(
            f"'{over[0]}' drives what the joints and other drivers leave no freedom for",
            where=over[0],
            expected="at most as many drivers as degrees of freedom",
            remedy=f"Remove '{over[0]}' or another driver of the same loop",
        )
    return result


def _system(
    top: Topology, own: Mechanism, start: Start, redundancy: Redundancy, q0: Array, u0: Array
) -> SystemEquations:
    kin, values = own.kin, top.values
    kept = sorted(redundancy.kept, key=lambda k: not own.holonomic[k])  # holonomic rows first
    names = [f"lambda {own.labels[k][0]} ({own.labels[k][1]})" for k in kept]
    multipliers = Variables.make(names, ["" for _ in kept])
    velocity = own.velocity[kept] if kept else ca.SX(0, 1)
    position = own.position[[k for k in kept if own.holonomic[k]]] if kept else ca.SX(0, 1)
    constraint_force = ca.SX.zeros(kin.u.numel())
    if kept and kin.u.numel():
        constraint_force = ca.densify(ca.jtimes(velocity, kin.u, multipliers.symbols, True))
    balance = own.inertia_force - own.generalised - constraint_force
    stiffening = rigid_stiffening(own, start.assembly.mechanism, start.joint(top.values.p.start))
    if stiffening is not None:
        balance += stiffening.force
    acceleration = kin.rate(velocity)
    closed = bool(kept) or not (articulated(kin) or kin.u.numel() <= SMALL)
    potential = own.weight_potential + sum((a.potential for a in own.acting), ca.SX(0))
    pushed = own.generalised if stiffening is None else own.generalised - stiffening.force
    w, algebraic, rates = _accelerations(own, multipliers, balance, acceleration, closed, pushed)
    if top.flexible and not closed and rates.numel():
        _check_inertia(own, rates, q0, u0, start)
    by_row = {row: multipliers.symbols[k] for k, row in enumerate(kept)}
    held, drives = own.reactions(by_row)
    energy, powers = _energy(own, drives, potential, by_row)
    if stiffening is not None:
        energy = replace(energy, supply=energy.supply + stiffening.power)
    outputs = mechanism_outputs(own, held, drives, powers, potential)
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
        energy=energy,
        outputs=outputs,
        integrals=turned(outputs),
        w=w,
        algebraic=algebraic,
        multipliers=multipliers,
        constraints=position,
        inputs=inputs,
        input_rates=column([ca.SX.sym(f"d({name})/dt") for name in inputs.names]),
        signals=signals,
        smooth_inputs=smooth,
        modes=tuple(values.modes),
        mode_symbols=values.mode_symbols,
        parameter_values=values.numbers,
        assemble=start.state,
        start_names=tuple(start.assembly.aliases),
        mechanics=Mechanics(
            balance,
            position,
            velocity,
            acceleration,
            tuple(kin.quaternions),
            own.kinetic,
            ca.SX(potential),
            own.position[list(redundancy.dropped)] if redundancy.dropped else ca.SX(0, 1),
            tuple(own.labels[k][0] for k in redundancy.dropped),
            sum(len(places) for places in kin.elastic.values()),
        ),
        notes=_notes(own, redundancy),
    )


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
            thin.append(each.name)
    raise FormulationError(
        f"{listing([repr(name) for name in thin])} can turn about an axis about which it has no inertia"
        if thin
        else "the mass matrix is singular at the start",
        where=thin[0] if thin else "",
        expected="inertia about every axis that the joints leave free",
        remedy="Keep the rotary inertia of its sections, or hold this rotation by a joint",
    )


def _accelerations(
    own: Mechanism, multipliers: Variables, balance: ca.SX, acceleration: ca.SX, closed: bool, generalised: ca.SX
) -> tuple[Variables, ca.SX, ca.SX]:
    """Algebraic variables and equations, and the rates of the speeds."""
    kin = own.kin
    none = Variables.make((), ())
    if closed:
        names = (*(f"d({name})/dt" for name in kin.u_names), *multipliers.names)
        units = (*(f"{unit}/s" for unit in kin.u_units), *multipliers.units)
        both = Variables(ca.vertcat(kin.u_dot, multipliers.symbols), names, units, np.zeros(len(names)))
        return both, ca.vertcat(balance, acceleration), kin.u_dot
    if not kin.u.numel():
        return none, ca.SX(0, 1), ca.SX(0, 1)
    if articulated(kin):
        return none, ca.SX(0, 1), forward_dynamics(kin, generalised)
    mass = ca.jacobian(balance, kin.u_dot)
    return none, ca.SX(0, 1), ca.densify(ldl_solver(mass)(-substitute(balance, kin.u_dot, 0)))


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
    return (
        Variables.make(names, [unit for _, unit in found.values()]),
        column([signal for signal, _ in found.values()]),
        tuple(SmoothInput(names.index(name), why, needs, remedy) for name, why, needs in smooth),
    )


def _notes(own: Mechanism, redundancy: Redundancy) -> tuple[str, ...]:
    kin = own.kin
    rows = len(redundancy.kept)
    speeds = f"{len(kin.u_names)} speed{'' if len(kin.u_names) == 1 else 's'}"
    words = f"{speeds}, {rows} independent constraint equation{'' if rows == 1 else 's'}"
    freedom = f"{redundancy.freedom} degree{'' if redundancy.freedom == 1 else 's'} of freedom"
    elastic = (_elastic_note(own, j) for j in own.top.flexible)
    return (f"{words}, {freedom}", *elastic, *redundancy.notes)


def _elastic_note(own: Mechanism, j: int) -> str:
    """What the elastic coordinates of a body are."""
    flexible, body = own.top.flexible[j], own.top.bodies[j]
    assert isinstance(body, Deformable)
    tables, few = flexible.floating.tables, 6
    found = tables.frequencies[np.isfinite(tables.frequencies)]
    words = f"{flexible.name}: {tables.mass:.4g} kg, {len(tables.names)} elastic coordinates ({body.shapes} shapes)"
    if not len(found):
        return words
    listed = ", ".join(f"{value:.4g}" for value in found[:few])
    rest = f" ... {found[-1]:.4g}" if len(found) > few else ""
    return f"{words}, with its frame held {listed}{rest} rad/s"
