"""Equations of motion in nodal coordinates: a constant mass matrix, and one equation for everything that is rigid.

    M u' = f(x, u, t) + A^T lambda,     Phi(x, t) = 0,     A = dPhi/dx          (Xiang 2015, eq. 36-39)

With the nodes in the tree and everything else in the cotree this is the nodal form of the same linear graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, listing
from cotree.formulation.nodal.outputs import nodal_outputs
from cotree.formulation.nodal.rank import independent_rows
from cotree.formulation.nodal.start import Start, least
from cotree.formulation.nodal.structure import NodalStructure, Row, lock_name
from cotree.formulation.system import Energy, Lock, Mechanics, Output, SmoothInput, SystemEquations, Variables
from cotree.formulation.undetermined import PART, marked, self_stress
from cotree.maths.lookup import along
from cotree.maths.symbolic import column
from cotree.model import Model
from cotree.system import Diagnostic, diagnose
from cotree.terminal.nodal.base import Held
from cotree.terminal.nodal.cables import ForceCable, MotorCable
from cotree.terminal.nodal.forces import BodyLoad
from cotree.terminal.nodal.locks import Lock as LockPart
from cotree.terminal.nodal.locks import Stop

Array = NDArray[np.float64]

MOST = 5_000_000
"""Rows times redundant rows up to which states of self-stress are looked at."""
NEAR = 0.01
"""How far from the start ranks are looked at once more, as a part of the structure's size."""
BACK = 1e-2
"""Part of that way which is left where a small motion cannot go on."""
HEAVY = 1e-12
"""Least mass along a free motion, over the largest mass of a node."""
SHIFTED = 1e-6
"""Way of a node at the start, over the structure's size or 1, that is told."""
SOFT = 1e-13
"""Added to the masses, so that motions without mass leave a pivot."""
ROUNDS = 4
"""Steps of an inverse iteration."""


def nodal_equations(model: Model) -> SystemEquations:
    """The equations of a nodal structure, with all latches and stops open."""
    s = NodalStructure(model)
    _ = s.forces  # reads all expressions, which may add modes
    return _written(s, (), None, 0.0)


def _written(
    s: NodalStructure, closed: Sequence[str], q: Array | None, t: float, p: Array | None = None
) -> SystemEquations:
    """The equations with some latches and stops closed, for the start or from a position ``q`` at a time on.

    Which equations are independent is looked at with the parameters ``p``, or else the model's own.
    """
    rows = s.rows(closed)
    start = Start(s, rows, column([mode.value for mode in s.values.modes]))
    p = s.values.numbers() if p is None else p
    q0, u0 = start.first(p, t) if q is None else (start.closed(q, p, t), np.zeros(len(q)))
    if q is None:
        _check_slopes(s, start, q0, p, t)
    kept, dropped = _independent(start, q0, p, t, bool(closed))
    if not closed:
        _check_freedom(s, rows, kept)
    _check_masses(s, start, q0, p, t)
    return _system(s, start, rows, kept, dropped, q0, u0, closed)


def _check_slopes(s: NodalStructure, start: Start, q0: Array, p: Array, t: float) -> None:
    """Refuse an equation that no small motion changes, such as the length of a bar across the plane."""
    if not start.rows:
        return
    sizes = abs(start.parts(q0, p, t)[1]).max(axis=1).toarray().ravel()
    for row in (start.rows[k] for k in np.flatnonzero(sizes <= HEAVY).tolist()):
        if ca.depends_on(row.value, s.q):
            plane = " in the plane of x and y" if s.dim == 2 else ""
            raise FormulationError(
                f"its equation ({row.label}) has no slope at the start: no small motion of its nodes changes it",
                where=row.owner,
                expected=f"nodes apart from each other{plane}, and angles that are not straight",
                remedy=f"Move one of the nodes of '{row.owner}'",
            )


def _independent(start: Start, q0: Array, p: Array, t: float, locked: bool) -> tuple[list[int], list[int]]:
    """Independent equations at the start, or at a position near it where more of them are independent."""
    if not start.rows:
        return [], []
    groups: list[int] = []
    for k, row in enumerate(start.rows):
        if k and start.rows[k - 1].owner == row.owner:
            groups[-1] += 1
        else:
            groups.append(1)
    matrix = start.parts(q0, p, t)[1]
    kept, dropped = independent_rows(matrix, groups)
    if not dropped or len(kept) == len(q0):
        return kept, dropped
    step = np.random.default_rng(0).normal(size=len(q0))
    step = step - least(matrix, matrix @ step)
    size = NEAR * max(float(np.ptp(q0)), 1e-3)
    try:
        near = start.closed(q0 + size * step / max(float(np.abs(step).max()), 1e-300), p, t)
    except FormulationError:
        return kept, dropped
    if float(np.abs(near - q0).max()) < BACK * size:  # what is free at the start is held at second order
        if locked:
            return kept, dropped
        _check_drives(start, matrix, kept, dropped)
        n, s = len(q0), start.structure
        raise FormulationError(
            f"the structure has no mechanism: {n - len(kept)} small motion{'' if n - len(kept) == 1 else 's'} of its "
            "nodes at the start, which the lengths stop as soon as they are more than small",
            where=s.model.name,
            expected="a structure that can move, or a support that is moved",
            remedy="Remove a bar or a support, or start away from the straight position; determinacy() shows more",
        )
    others = independent_rows(start.parts(near, p, t)[1], groups)
    return others if len(others[0]) > len(kept) else (kept, dropped)


def _check_drives(start: Start, matrix: Any, kept: list[int], dropped: list[int]) -> None:
    """Refuse a drive along what other parts hold, though it may not have moved yet."""
    own = next((k for k in dropped if ca.depends_on(start.rows[k].value, start.structure.t)), None)
    if own is None:
        return
    row = start.rows[own]
    parts = np.abs(least(matrix[kept].T.tocsr(), matrix[own].toarray().ravel()))
    others = [start.rows[k].owner for k, part in zip(kept, parts, strict=True) if part > 0.1 * parts.max(initial=0.0)]
    names = listing([repr(name) for name in dict.fromkeys(others) if name != row.owner], 6)
    raise FormulationError(
        f"it moves what {names} {'hold' if ', ' in names else 'holds'} at the start ({row.label}): no small motion of "
        "the nodes follows it",
        where=row.owner,
        expected="drives that the structure can follow from the start on",
        remedy=f"Remove '{row.owner}', or start away from this position",
    )


def _check_freedom(s: NodalStructure, rows: list[Row], kept: list[int]) -> None:
    n = s.q.numel()
    if len(kept) >= n and not any(ca.depends_on(rows[k].value, s.t) for k in kept):
        driven = next((row.owner for row in rows if ca.depends_on(row.value, s.t)), None)
        added = s.dim * (len(s.names) - s.real)
        raise FormulationError(
            f"the structure has no mechanism: {n - added} nodal degrees of freedom and {len(kept) - added} "
            f"independent equations{'' if driven is None else f', so that nothing can follow {driven!r}'}",
            where=s.model.name if driven is None else driven,
            expected="a structure that can move, or a support that is moved"
            if driven is None
            else "a structure that can move",
            remedy="Remove a bar or a support; determinacy() shows states of self-stress and redundant equations",
        )


def _check_masses(s: NodalStructure, start: Start, q0: Array, p: Array, t: float) -> None:
    """Refuse a structure that can move without moving mass."""
    from scipy.sparse import csr_matrix, eye, kron

    found = ca.Function("masses", [s.values.p.symbols], [s.masses, ca.densify(ca.diag(s.masses))])(p)
    own = np.asarray(found[1], dtype=float).ravel()
    most = max(float(own.max(initial=0.0)), 1e-300)
    if not s.bodies and not (own <= HEAVY * most).any():
        return
    masses = kron(csr_matrix(found[0].sparse()), eye(s.dim), format="csr")
    matrix = start.parts(q0, p, t)[1]
    move = _lightest(masses / most, matrix)
    if move is not None and move @ (masses @ move) <= HEAVY * most * (move @ move):
        moves = np.abs(move).reshape(-1, s.dim).max(axis=1)
        every = [name for name, move in zip(s.names, moves, strict=True) if move > 0.3 * moves.max()]
        names = list(dict.fromkeys(name.partition(".aux")[0] for name in every))
        raise FormulationError(
            f"{listing([repr(name) for name in names], 6)} can move without moving any mass",
            where=names[0],
            expected="mass along every free motion",
            remedy="Give the node or a bar there a mass, or a body inertia about every axis, or hold the node",
        )


def _lightest(masses: Any, matrix: Any) -> Array | None:
    """The free motion with the least mass: inverse iteration with M + A^T A, then what A holds is taken out.

    Both vanish for a motion d that moves no mass, M d = 0, and is free, A d = 0.
    """
    from scipy.sparse import diags, eye
    from scipy.sparse.linalg import splu

    sizes = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    unit = diags(1.0 / np.where(sizes > HEAVY, sizes, 1.0)) @ matrix
    factor = splu((masses + unit.T @ unit + SOFT * eye(masses.shape[0])).tocsc())
    move = np.random.default_rng(0).normal(size=masses.shape[0])
    for _ in range(ROUNDS):
        move = factor.solve(move)
        move /= np.linalg.norm(move)
    free = np.asarray(move - least(unit, unit @ move))
    return free if np.linalg.norm(free) > 0.5 else None  # what is left is held, or heavy


def _system(
    s: NodalStructure,
    start: Start,
    rows: list[Row],
    kept: list[int],
    dropped: list[int],
    q0: Array,
    u0: Array,
    closed: Sequence[str],
) -> SystemEquations:
    position = column([rows[k].value for k in kept])
    names = [f"lambda {rows[k].owner} ({rows[k].label})" for k in kept]
    multipliers = Variables.make(names, ["N" for _ in kept])
    drift = ca.jacobian(position, s.t) if kept else ca.SX(0, 1)
    velocity = ca.densify(along(position, s.q, s.u) + drift) if kept else ca.SX(0, 1)
    acceleration = ca.densify(s.rate(velocity) + along(velocity, s.u, s.u_dot)) if kept else ca.SX(0, 1)
    held = ca.jtimes(velocity, s.u, multipliers.symbols, True) if kept else ca.SX.zeros(s.u.numel())
    balance = ca.densify(s.weighed(s.u_dot) - s.forces - held)
    energy, powers = _energy(s, multipliers.symbols, drift, [rows[k].owner for k in kept])
    inputs, signals, smooth = _signals(s)
    unknown = Variables(
        ca.vertcat(s.u_dot, multipliers.symbols),
        (*(symbol.name() for symbol in ca.vertsplit(s.u_dot)), *names),
        (*("m/s^2" for _ in range(s.u.numel())), *multipliers.units),
        np.zeros(s.u.numel() + len(kept)),
    )
    places = {row: multipliers.symbols[k] for k, row in enumerate(kept)}
    outputs = nodal_outputs(s, rows, places, powers)
    said = (*_diagnostics(s, rows, kept, dropped), *marked(_undetermined(s, start, kept, dropped, q0, outputs)))
    return SystemEquations(
        name=s.model.name,
        t=s.t,
        p=s.values.p,
        q=_variables(s.q, "m", q0),
        u=_variables(s.u, "m/s", u0),
        u_dot=s.u_dot,
        kinematics=s.u,
        rates=s.u_dot,
        energy=energy,
        outputs=outputs,
        w=unknown,
        algebraic=ca.vertcat(balance, acceleration),
        multipliers=multipliers,
        constraints=position,
        inputs=inputs,
        input_rates=column([ca.SX.sym(f"d({name})/dt") for name in inputs.names]),
        signals=signals,
        smooth_inputs=smooth,
        modes=tuple(s.values.modes),
        mode_symbols=s.values.mode_symbols,
        laws=dict(s.values.laws),
        parameter_values=s.values.numbers,
        assemble=start.state,
        mechanics=Mechanics(
            balance, position, velocity, acceleration, (), s.kinetic, s.potential, (True,) * len(kept),
            column([rows[k].value for k in dropped]), tuple(rows[k].owner for k in dropped), (True,) * len(dropped),
        ),
        diagnostics=(*said, *(() if closed else _moved(s, q0))),
        pulls=tuple(f"{p.part.name}.tension" for p in s.parts if isinstance(p.part, ForceCable | MotorCable)),
        locks=_locks(s),
        closed=tuple(closed),
        locked=lambda names, q, t, p: _written(s, names, q, t, p),
        nodal=s,
    )  # fmt: skip


def _locks(s: NodalStructure) -> tuple[Lock, ...]:
    """All latches and stops."""
    found = []
    for placed in s.parts:
        part = placed.part
        if not isinstance(part, LockPart):
            continue
        gaps, measure = ca.vertcat(part.equations(placed.v, placed.at)), f"{part.name}.{part.word}"
        pull, sign = (f"{part.name}.force", 1) if part.word == "length" else (f"{part.name}.torque", -1)
        for k, label in enumerate(part.labels()):
            name = lock_name(part, label)
            if isinstance(part, Stop):
                side = 1 if label == "least" else -1
                give, ends = ca.SX(placed.v.restitution), part.action == "end"
                found.append(Lock(name, measure, gaps[k], side, give, (pull, sign * side), ends))
            else:
                found.append(Lock(name, measure, gaps[k]))
    return tuple(found)


def _variables(symbols: ca.SX, unit: str, start: Array) -> Variables:
    names = tuple(symbol.name() for symbol in ca.vertsplit(symbols))
    return Variables(symbols, names, tuple(unit for _ in names), start)


def _energy(s: NodalStructure, multipliers: ca.SX, drift: ca.SX, owners: list[str]) -> tuple[Energy, dict[str, ca.SX]]:
    """Stored energy; dissipated and supplied powers of cables, springs, forces and moved supports."""
    dissipation, supply = ca.SX(0), ca.SX(0)
    powers: dict[str, ca.SX] = {}
    for placed in s.pushing():
        part, at = placed.part, placed.at
        power = sum((ca.dot(f, u) for f, u in zip(part.forces(placed.v, at), at.u, strict=True)), ca.SX(0))
        powers[part.name] = power
        loss = part.loss(placed.v, at)
        if loss is not None:
            dissipation += loss
            continue
        potential = ca.SX(part.potential(placed.v, at))
        into = power if potential.is_constant() else power + s.rate(potential)
        if part.supplies:
            supply += into
        else:
            dissipation -= into
    for placed in s.parts:
        if isinstance(placed.part, BodyLoad):
            powers[placed.part.name] = ca.dot(*s.load(placed))
            supply += powers[placed.part.name]
    for k in sorted(set(drift.sparsity().row())):
        powers[owners[k]] = powers.get(owners[k], ca.SX(0)) - multipliers[k] * drift[k]
        supply -= multipliers[k] * drift[k]
    return Energy(s.kinetic + s.potential, dissipation, supply), powers


def _signals(s: NodalStructure) -> tuple[Variables, ca.SX, tuple[SmoothInput, ...]]:
    """Everything that is given over time, so that bends and lost values are seen; moved supports must not jump."""
    found: dict[str, tuple[Any, str]] = dict(s.values.signals)
    smooth: list[tuple[str, str]] = []
    held = {placed.part.name for placed in s.parts if isinstance(placed.part, Held)}
    for name, (course, _) in list(found.items()):
        owner = name.partition(".")[0]
        if owner in held:
            speed = ca.jacobian(course, s.t)
            found[f"{name} rate"] = (speed, "")
            found[f"{name} second rate"] = (ca.jacobian(speed, s.t), "")
            smooth += [(name, owner), (f"{name} rate", owner)]
    names = list(found)
    remedy = "Let it start and stop smoothly"
    return (
        Variables.make(names, [unit for _, unit in found.values()]),
        column([signal for signal, _ in found.values()]),
        tuple(SmoothInput(names.index(k), f"'{owner}' is rigid", "an infinite force", remedy) for k, owner in smooth),
    )


def _undetermined(
    s: NodalStructure, start: Start, kept: list[int], dropped: list[int], q0: Array, outputs: Mapping[str, Output]
) -> list[str]:
    """Forces of parts that states of self-stress change; what holds a node in the plane is none of them."""
    told = [k for k in dropped if ca.depends_on(start.rows[k].value, s.q)]
    if not told or len(start.rows) * len(told) > MOST:
        return []
    try:
        stress = np.abs(self_stress(start.parts(q0, s.values.p.start, 0.0)[1], kept, told))
    except RuntimeError:  # a matrix without inverse, at a special position
        return []
    stressed = {start.rows[k].owner for k in np.flatnonzero((stress > PART * stress.max(axis=0)).any(axis=1)).tolist()}
    units = ("N", "N m")
    return [name for name, each in outputs.items() if each.unit in units and name.partition(".")[0] in stressed]


def _moved(s: NodalStructure, q0: Array) -> tuple[Diagnostic, ...]:
    """By how much nodes were moved to meet the equations at the start."""
    given = np.asarray(s.given(s.values.numbers())[0], dtype=float).ravel()
    moves = np.linalg.norm((q0 - given).reshape(-1, s.dim), axis=1)[: s.real]
    worst = int(np.argmax(moves))
    if moves[worst] <= SHIFTED * float(np.abs(given).max(initial=0.0)):
        return ()
    return (diagnose("nodes-moved", s.names[worst], distance=float(moves[worst])),)


def _diagnostics(s: NodalStructure, rows: list[Row], kept: list[int], dropped: list[int]) -> tuple[Diagnostic, ...]:
    added, n = s.dim * (len(s.names) - s.real), s.q.numel()
    sizes = {"coordinates": n - added, "rows": len(kept) - added, "freedom": n - len(kept)}
    counts: dict[str, int] = {}
    for k in dropped:
        if ca.depends_on(rows[k].value, s.q):  # what holds a node in the plane is no news
            counts[rows[k].owner] = counts.get(rows[k].owner, 0) + 1
    found = [diagnose("redundant-rows", owner, count=count, why="") for owner, count in counts.items()]
    more = [diagnose("more-redundant-rows", *list(counts)[12:], count=len(found) - 12)] if len(found) > 12 else []
    return (diagnose("structure-counts", **sizes), *found[:12], *more)
