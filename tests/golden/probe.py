"""What the net asks of a version of Cotree. A rewrite of the core changes this file only.

Everything else under `tests/golden` works with models, results by name and plain data. Here, and only here, is
what depends on how a version is built: how run settings are read from a file, which of the named results make up a
state, and what the rows of the constraints are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import cotree as ct
from cotree.io import read_model
from cotree.solve.courses import result_units

Array = NDArray[np.float64]

RANK = 1e-9
"""Singular values below this part of the largest are zero, once every row has unit length."""
MOVES = 1e-7
"""A reaction that a self-stress of unit size changes by more than this is not determined by rigid bodies."""


@dataclass(frozen=True)
class Loaded:
    """A model, and what its file says about a run."""

    model: ct.Model
    t_end: float | None = None
    tree: Any = None
    start: Mapping[str, float] | str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def load(path: Path) -> Loaded:
    """A model file with its run settings, without the settings of a particular integrator."""
    file = read_model(path, ct.Model)
    file.model.folder = None  # no tables are kept beside the file
    tree = tuple(file.run.tree) if isinstance(file.run.tree, list) else file.run.tree
    options = file.run.options()
    own = {name: options[name] for name in ("max_step",) if options.get(name) is not None}
    return Loaded(file.model, file.run.t_end, tree, options.get("start"), own)


def upgrade(path: Path) -> list[tuple[int, int, int]]:
    """Write the names of today into a model file; line, column and growth of each. Files that are no YAML stay."""
    from cotree.errors import FileError
    from cotree.io.upgrading import upgrade_file

    try:
        return [(each.line, each.column, len(each.new) - len(each.old)) for each in upgrade_file(path)]
    except FileError:
        return []


def judge(path: Path) -> None:
    """As ``cotree check``: read, write the equations, check the names in the run settings, and start."""
    file = read_model(path, ct.Model)
    file.model.folder = None
    with file.about():
        tree = tuple(file.run.tree) if isinstance(file.run.tree, list) else file.run.tree
        file.check_run(result_units(file.model.equations(tree)))
        given = {name: value for name, value in file.run.options().items() if name == "start"}
        file.model.simulate(1.0, tree=tree, times=[0.0], **given)


def state_of(solution: ct.Solution, row: int) -> dict[str, float]:
    """The state at an output time: the values of the results, and of the states that are no results, that fix it."""
    names = [*solution.states, *(name for name in solution.held if name in solution.values)]
    return {name: float(solution.values[name][row]) for name in names}


def state_units(loaded: Loaded) -> dict[str, str]:
    """The units of the continuous states by name."""
    equations = loaded.model.equations(loaded.tree)
    return dict(zip(equations.state_names, equations.state_units, strict=True))


def at(loaded: Loaded, t: float, named: Mapping[str, float] | None) -> ct.Solution:
    """All results at one time, from named values; of those the ones that are states of this version are used."""
    start: Any = loaded.start
    if named is not None:
        equations = loaded.model.equations(loaded.tree)
        own = (*equations.state_names, *equations.held.names)
        start = {name: named[name] for name in own if name in named}
    return loaded.model.simulate(t + 1.0, t_start=t, times=[t], tree=loaded.tree, start=start)


def locks(loaded: Loaded) -> bool:
    """Whether the equations change on the way, so that a state after an event is not one of those at the start."""
    return bool(loaded.model.equations(loaded.tree).locks)


@dataclass(frozen=True)
class Rows:
    """The equations between speeds: all rows, those that were left out as redundant included."""

    freedoms: int
    """Speeds less the rank of all rows."""
    redundant: int
    """Rows less their rank."""
    position: float
    """The largest residual of an equation between positions."""
    velocity: float
    """The largest residual of an equation between speeds."""


def rows(loaded: Loaded, t: float, solution: ct.Solution) -> Rows | None:
    """The constraint rows at the state of a solution with one time; none for what is no mechanism."""
    equations = loaded.model.equations(loaded.tree)
    if equations.mechanics is None:
        return None
    evaluate = _evaluated(equations, t, solution)
    kept, left = _jacobians(equations)
    matrix, position, speed = evaluate(
        ca.vertcat(kept, left),
        ca.vertcat(equations.mechanics.position, equations.mechanics.left_out),
        equations.mechanics.velocity,
    )
    rank = _rank(matrix)
    return Rows(
        len(equations.u) - rank,
        len(matrix) - rank,
        float(np.abs(position).max(initial=0.0)),
        float(np.abs(speed).max(initial=0.0)),
    )


def undetermined(loaded: Loaded, t: float, state: Mapping[str, float], values: Mapping[str, float]) -> list[str]:
    """Results of a redundant mechanism that rigid bodies do not determine; ``values`` are all results at the state.

    They are those that a self-stress changes: a combination of constraint rows, the left-out ones included, that adds
    up to nothing. With the tree of absolute coordinates every joint has rows of its own, and its reaction follows from
    their multipliers. What is left out has no multiplier, so the model is looked at with its components in the
    opposite order, too: of a part that loses rows both ways all forces and torques count. Forces that come out
    otherwise with the opposite order are not determined either.
    """
    found: set[str] = set()
    lost: list[set[str]] = []
    for model in (loaded.model, _reversed(loaded.model)):
        names, owners = _stressed(loaded, model, t)
        found |= names
        lost.append(owners)
    both = set.intersection(*lost)
    for name in values:
        part, _, what = name.partition(".")
        if part in both and what.startswith(("force", "torque")):
            found.add(name)
    return sorted(found | _reordered(loaded, t, state, values))


def _reversed(model: ct.Model) -> ct.Model:
    data = model.to_data()
    data["components"] = dict(reversed(data["components"].items()))
    return ct.Model.from_mapping(data)


def _stressed(loaded: Loaded, model: ct.Model, t: float) -> tuple[set[str], set[str]]:
    """Results that a self-stress changes at a time of the motion, and owners of rows that were left out."""
    own = model.equations(loaded.tree)
    tree = loaded.tree if own.nodal is not None or model.bonded else "absolute"
    equations = model.equations(tree)
    mechanics = equations.mechanics
    assert mechanics is not None
    known = {*equations.state_names, *equations.start_names, *equations.held.names}
    given = loaded.start if isinstance(loaded.start, Mapping) else {}
    start = {name: value for name, value in given.items() if name in known}
    solution = model.simulate(t, times=[t], tree=tree, start=start, rtol=1e-6)
    kept, left = _jacobians(equations)
    outputs = {name: each.expression for name, each in equations.outputs.items()}
    symbols = equations.multipliers.symbols[: mechanics.velocity.numel()]  # further ones are no constraints
    slope = ca.jacobian(ca.vertcat(*outputs.values()), symbols)
    matrix, over, changes = _evaluated(equations, t, solution)(kept, left, slope)
    stresses = np.linalg.lstsq(matrix.T, over.T, rcond=None)[0] if over.size else np.zeros((len(matrix), 0))
    stresses /= np.linalg.norm(stresses, axis=0) + 1.0
    moved = np.abs(changes @ stresses).max(axis=1, initial=0.0) > MOVES
    return {name for name, does in zip(outputs, moved, strict=True) if does}, set(mechanics.left_out_names)


def _reordered(loaded: Loaded, t: float, state: Mapping[str, float], values: Mapping[str, float]) -> set[str]:
    """Efforts that come out otherwise at the same state with the components in the opposite order."""
    other = replace(loaded, model=_reversed(loaded.model))
    try:
        solution = at(other, t, {**values, **state})
    except ct.CotreeError:
        return set()
    sizes: dict[str, float] = {}
    for name in solution.names:
        sizes[solution.unit(name)] = max(sizes.get(solution.unit(name), 0.0), abs(values.get(name, 0.0)))
    gaps = {name: abs(float(solution[name][0]) - values.get(name, np.inf)) for name in solution.names}
    off = {name for name, gap in gaps.items() if gap > MOVES * sizes[solution.unit(name)]}
    moved = any(solution.unit(name) not in ("N", "N m", "W") and not name.endswith(".effort") for name in off)
    return set() if moved else off  # it is another state


def _jacobians(equations: Any) -> tuple[ca.SX, ca.SX]:
    """Rows of the kept constraints and of those that were left out, both over the speeds."""
    mechanics = equations.mechanics
    kept = ca.jacobian(mechanics.velocity, equations.u.symbols)
    rate = ca.jtimes(mechanics.left_out, equations.q.symbols, equations.kinematics)
    left = ca.jacobian(rate, equations.u.symbols) if mechanics.left_out.numel() else ca.SX(0, len(equations.u))
    return kept, left


def _evaluated(equations: Any, t: float, solution: ct.Solution) -> Callable[..., list[Array]]:
    """A function that gives the numbers of expressions at the state of a solution with one time."""
    e = equations
    p = e.p.start if e.parameter_values is None else np.asarray(e.parameter_values(None), dtype=float)
    modes = ca.Function("modes", [e.t, e.p.symbols], [ca.vertcat(*(mode.value for mode in e.modes))])
    held = [float(solution.values[name][0]) if name in solution.values else 0.0 for name in e.held.names]
    m = np.concatenate([np.asarray(modes(t, p), dtype=float).ravel() if e.modes else np.zeros(0), held])
    q, u, x = ([float(solution.values[name][0]) for name in part.names] for part in (e.q, e.u, e.x))
    symbols = [e.t, e.q.symbols, e.u.symbols, e.x.symbols, e.p.symbols, e.mode_symbols]

    def evaluate(*expressions: ca.SX) -> list[Array]:
        plain = [ca.densify(e.in_time(each)) for each in expressions]
        for inside in (e.u_dot, e.multipliers.symbols, e.w.symbols):  # which no row depends on
            plain = [ca.substitute(each, inside, ca.SX.zeros(*inside.shape)) for each in plain]
        found = ca.Function("rows", symbols, plain)(t, q, u, x, p, m)
        return [np.array(each, dtype=float) for each in (found if isinstance(found, tuple) else (found,))]

    return evaluate


def _rank(matrix: Array) -> int:
    sizes = np.linalg.norm(matrix, axis=1) if matrix.size else np.zeros(len(matrix))
    unit = matrix[sizes > 0] / sizes[sizes > 0, None]
    found = np.linalg.svd(unit, compute_uv=False) if unit.size else np.zeros(0)
    return int((found > RANK * found.max(initial=0.0)).sum())
