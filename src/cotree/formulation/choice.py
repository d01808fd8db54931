"""The formulation of a model: mechanisms in branch coordinates, structures in nodal ones, the rest as networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from cotree.errors import GraphError, ModelError
from cotree.formulation.inertias import inertia_diagnostics
from cotree.formulation.plane import gravity_diagnostics, load_diagnostics
from cotree.formulation.system import SystemEquations
from cotree.formulation.units import law_units
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.model import Component, Model

RANDOM = "random"
"""The preset of trees that are drawn."""
WRITERS: dict[str, Callable[[Model], SystemEquations]] = {}
"""Formulations of rooms above this one, which they enter when they are imported: bond graphs."""


def is_machine(model: Model) -> bool:
    """Whether a model needs more than a network or a mechanism alone: both of them, signals, or switching parts."""
    parts = model.components.values()
    if any(part.bonded or part.nodal for part in parts):
        _check_rooms(model)
        return False
    inner = [part for part in parts if not part.mechanical]
    return bool(inner) and (model.mechanical or any(map(_special, inner)))


def _special(part: Component) -> bool:
    """Whether a part of a network has more than a law between its ports."""
    from cotree.terminal.mounts import Mount
    from cotree.terminal.thermal import Loss

    if part.controls or part.holding or part.positions or isinstance(part, Mount | Loss):
        return True
    return any(expression.measured for expression in part.expressions.values())


def _check_rooms(model: Model) -> None:
    """Blocks and mounts do not go with bond graphs and nodal structures."""
    from cotree.terminal.mounts import Mount

    bonded = model.bonded
    strange = [part for part in model.components.values() if part.controls or isinstance(part, Mount)]
    if strange:
        raise ModelError(
            f"'{strange[0].name}' ({strange[0].kind}) stands in a {'bond graph' if bonded else 'nodal structure'}",
            expected="blocks and mounts beside networks and mechanisms of bodies and joints",
            remedy="Use the signals of bond graphs" if bonded else "Model the structure with bodies and joints",
        )


def model_graph(model: Model, virtual_work: bool = True) -> LinearGraph:
    """The linear graph of a model; of a mechanism without its dependent edges where told so."""
    if model.nodal:
        from cotree.formulation.nodal import nodal_graph

        return nodal_graph(model)
    if is_machine(model):
        from cotree.formulation.machine import machine_graph

        return machine_graph(model)
    if not model.mechanical:
        from cotree.formulation.network import network_graph

        return network_graph(model)
    from cotree.formulation.branch import mechanism_graph

    return mechanism_graph(model, dependent=virtual_work)


def model_tree(
    model: Model,
    graph: LinearGraph,
    prefer: Any,
    into_tree: Iterable[str] = (),
    into_cotree: Iterable[str] = (),
    seed: int | None = None,
) -> Tree:
    """A tree of a model's graph by preset, or the default one."""
    if seed is not None and prefer != RANDOM:
        raise GraphError(f"a seed for the tree {prefer!r}", expected="a seed for the tree 'random' only")
    if model.nodal:
        from cotree.formulation.nodal import nodal_tree

        return nodal_tree(graph, prefer, into_tree, into_cotree)
    if prefer == RANDOM:
        from cotree.formulation.random_trees import random_tree

        return random_tree(model, graph, seed, into_tree, into_cotree)
    if is_machine(model):
        from cotree.formulation.machine import machine_tree

        return machine_tree(model, prefer, into_tree, into_cotree)
    if not model.mechanical:
        return select_tree(graph, "normal" if prefer is None else prefer, into_tree, into_cotree)
    from cotree.formulation.branch.topology import spanning

    return spanning(graph, prefer, into_tree, into_cotree)


def model_equations(model: Model, tree: Any = None) -> SystemEquations:
    """The equations of a model with a tree, or of a mechanism with a pair of trees.

    They are kept with the model as long as nothing is added to it, so that runs with other parameters, start values or
    options write nothing anew.
    """
    now = _Written.of(model)
    kept = model.__dict__.get("_written")
    if not isinstance(kept, _Written) or not kept.same(now):
        kept = now
        model.__dict__["_written"] = kept
    trees = tree if isinstance(tree, (tuple, list)) else (tree,)
    key = tuple(each.branches if isinstance(each, Tree) else each for each in trees)
    if key not in kept.equations:
        written = _write(model, tree)
        said = (
            *written.diagnostics,
            *inertia_diagnostics(model),
            *load_diagnostics(model, written),
            *gravity_diagnostics(model, written),
            *model.decided,
        )
        kept.equations[key] = replace(written, diagnostics=said, law_units=law_units(model, written))
    return kept.equations[key]


def _write(model: Model, tree: Any) -> SystemEquations:
    if model.bonded:
        return WRITERS["bond"](model)
    if model.nodal:
        from cotree.formulation.nodal import nodal_equations, nodal_tree

        nodal_tree(model_graph(model), tree)
        return nodal_equations(model)
    if is_machine(model):
        from cotree.formulation.machine import machine_equations

        return machine_equations(model, tree)
    if not model.mechanical:
        from cotree.formulation.network import network_equations

        return network_equations(model, tree)
    from cotree.formulation.branch import branch_equations

    return branch_equations(model, tree)


@dataclass(frozen=True)
class _Written:
    """Equations that were written for a model, and what it held then."""

    parts: tuple[Any, ...]
    settings: tuple[Any, ...]
    equations: dict[Any, SystemEquations] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Model) -> _Written:
        """Nothing yet, for a model as it is."""
        parameters = tuple((name, expression.text) for name, expression in model.parameters.items())
        settings = (model.name, model.datums, model.planar, model.inertia, parameters)
        return cls((*model.components.values(), *model.series.values(), model.gravity), settings)

    def same(self, other: _Written) -> bool:
        """Whether both were made from the very same components and settings."""
        alike = len(self.parts) == len(other.parts) and self.settings == other.settings
        return alike and all(a is b for a, b in zip(self.parts, other.parts, strict=True))
