"""Equations of motion of a mechanism in branch coordinates, from any pair of trees (method.md, branch coordinates).

They come in three steps: coordinates and start values (`prepared`), all expressions (`branch.draft.drafted`), and the
way in which the accelerations are found (`branch.draft.finished`). A machine changes the expressions in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, GraphError, SolveError, listing
from cotree.formulation.branch.assembly import Assembly
from cotree.formulation.branch.graph import mechanism_graph
from cotree.formulation.branch.loops import loop_kind
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.moved import moved
from cotree.formulation.branch.outputs import reaction_outputs
from cotree.formulation.branch.redundancy import Redundancy, analyse
from cotree.formulation.branch.topology import Topology, branches, spanning, topology
from cotree.formulation.branch.transfer import transfer
from cotree.formulation.system import SystemEquations
from cotree.formulation.undetermined import marked, undetermined
from cotree.formulation.values import Values
from cotree.graph import LinearGraph, Tree
from cotree.maths.lookup import slopes
from cotree.maths.symbolic import column, substitute
from cotree.model import Model
from cotree.system import Diagnostic
from cotree.terminal.mechanics import Driver

Array = NDArray[np.float64]

ACROSS = (".force.z", ".torque.x", ".torque.y")
"""Reactions across the plane of a planar model."""


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

    def moved(self, p: Array, t: float, changes: Mapping[str, float] | None = None) -> tuple[Diagnostic, ...]:
        """What the start has moved."""
        return moved(self.assembly, self.assembly.state(p, t, changes), p, t, changes)

    def joint(self, p: Array) -> tuple[Array, Array, Array]:
        """q in the joint tree, p and the modes."""
        return self.assembly.state(p, 0.0)[0], p, self.modes(p, 0.0)

    def modes(self, p: Array, t: float) -> Array:
        """Values of the modes at a time."""
        values = self.own.top.values
        function = ca.Function("modes", [values.t, values.p.symbols], [self.assembly.modes])
        return np.asarray(function(t, p), dtype=float).ravel()


@dataclass
class Prepared:
    """A mechanism under its trees, with consistent start values and its independent constraints."""

    top: Topology
    own: Mechanism
    start: Start
    redundancy: Redundancy
    q0: Array
    u0: Array


def branch_equations(model: Model, tree: Any = None) -> SystemEquations:
    """The equations of a mechanism with a tree, a pair of trees for translation and rotation, or a preset."""
    from cotree.formulation.branch.draft import drafted, finished

    return finished(drafted(prepared(model, tree)))


def prepared(
    model: Model, tree: Any = None, values: Values | None = None, loads: Callable[[Mechanism], None] | None = None
) -> Prepared:
    """The mechanism of a model; a machine around it gives ``values`` and adds ``loads`` to it."""
    graph = mechanism_graph(model)
    trees = mechanism_trees(graph, tree)
    top = topology(model, graph, values)
    own = Mechanism(top, branches(top, *trees))
    joint = spanning(graph, "joint")
    canonical = own if trees == (joint, joint) else Mechanism(top, branches(top, joint, joint))
    for each in {id(part): part for part in (canonical, own)}.values():  # its own last: it is measured in expressions
        if loads is not None:
            loads(each)
        _ = each.acting  # reads all expressions, which may add modes
    modes = column([mode.value for mode in top.values.modes])
    start = Start(Assembly(canonical, modes), None if canonical is own else transfer(canonical, own), own)
    p = top.values.numbers()
    try:
        q0, u0 = start.state(p, 0.0)
    except SolveError:
        _check_drivers(model)
        raise
    return Prepared(top, own, start, _redundancy(own, start, p, q0), q0, u0)


def _check_drivers(model: Model) -> None:
    """Say so where an assembly fails because there are more drivers than degrees of freedom."""
    drivers = [part for part in model.components.values() if isinstance(part, Driver)]
    if not drivers:
        return
    free = Model(model.name, datum=model.datums, planar=model.planar, inertia=model.inertia)
    free.parameters, free.gravity, free.series = model.parameters, model.gravity, model.series
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
        jacobian = ca.Function("G", inputs, [ca.densify(slopes(own.velocity, kin.u))])
        own_advance = Assembly(own, start.assembly.modes)
        found, places = [], []
        q = q0
        for _ in range(2):
            G = np.asarray(jacobian(q, 0.0, p, m), dtype=float) * own_advance.scale  # whatever the unit of length
            found.append(G)
            places.append(q)
            _, sizes, right = np.linalg.svd(G, full_matrices=G.shape[0] < G.shape[1])
            rank = int((sizes > 1e-9 * max(1e-300, float(sizes.max(initial=0.0)))).sum())
            free = right[rank:].T
            if not free.shape[1]:
                break
            step = free @ np.sin(np.arange(1.0, free.shape[1] + 1))  # a direction that nothing prefers
            step *= 0.01 / max(float(np.abs(step).max()), 1e-12)
            q = np.asarray(own_advance.advance(q, step * own_advance.scale, 0.0, p), dtype=float).ravel()
            q = own_advance.closed(q, p, 0.0)
    else:
        found, places = [np.zeros((own.velocity.numel(), kin.u.numel()))], [q0]

    def reason(owner: str) -> str:
        return loop_kind(own, owner, (q0, 0.0, p, m))

    result = analyse(own, found, start.assembly.length, reason)
    over = [own.labels[k][0] for k in result.dropped if own.labels[k][1] in ("position", "speed")]
    if over:
        raise FormulationError(
            f"'{over[0]}' drives what the joints and other drivers leave no freedom for",
            where=over[0],
            expected="at most as many drivers as degrees of freedom",
            remedy=f"Remove '{over[0]}' or another driver of the same loop",
        )
    names = reactions_undetermined(own, result.stress, (places[result.at], p, m))
    return replace(result, diagnostics=(*result.diagnostics, *marked(names)))


def reactions_undetermined(own: Mechanism, stress: Array, at: tuple[Array, Array, Array]) -> tuple[str, ...]:
    """Results for reactions and driver forces that states of self-stress change, at (q, p, modes)."""
    if not stress.size:
        return ()
    kin, values = own.kin, own.top.values
    multipliers = ca.SX.sym("lambda", own.velocity.numel())
    carried = own.reactions(dict(enumerate(ca.vertsplit(multipliers))))
    found = {name: each.expression for name, each in reaction_outputs(own, carried).items()}
    if own.top.model.planar:  # what holds a body in the plane is no reaction of the model
        found = {name: each for name, each in found.items() if not name.endswith(ACROSS)}
    known, (q, p, m) = [kin.q, kin.t, values.p.symbols, values.mode_symbols], at

    def number(expression: ca.SX) -> Any:
        free = ca.Function("change", known, [expression], {"allow_free": True}).free_sx()  # such as speeds
        return ca.Function("change", known, [substitute(expression, ca.vertcat(*free), 0)])(q, 0.0, p, m)

    return undetermined(found, multipliers, stress, number)
