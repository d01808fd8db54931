"""Which storages carry states, and which are tied to others by loops, cutsets or components with several ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cotree.errors import FormulationError, listing
from cotree.formulation.elimination import RowElimination, column_sizes
from cotree.graph import LinearGraph, Tree, dependent_storages
from cotree.model import Role

STORAGES = (Role.ACROSS_STORAGE, Role.THROUGH_STORAGE)
SOURCES = (Role.ACROSS_SOURCE, Role.THROUGH_SOURCE)


@dataclass(frozen=True)
class Storages:
    """Names of the edges that carry states, and of those that follow from them, each with what it follows from."""

    independent: tuple[str, ...]
    dependent: Mapping[str, tuple[str, ...]]


def by_normal_tree(graph: LinearGraph, normal: Tree) -> Storages:
    """Storages of a network of one-ports: those in the wrong half of a normal tree are dependent.

    An across storage among the chords closes a loop of across storages and sources; a through storage among the
    branches lies in a cutset of through storages and sources.
    """
    dependent = {conflict.edge: conflict.names[1:] for conflict in dependent_storages(normal)}
    every = [edge.name for edge in graph.edges if edge.role in STORAGES]
    return Storages(tuple(name for name in every if name not in dependent), dependent)


@dataclass(frozen=True)
class Functionals:
    """Linear functionals of the primary variables, as sparse rows: the laws, the sources, and each storage's pair."""

    laws: Sequence[tuple[str, Mapping[int, float]]]
    nonlinear: frozenset[str]
    sources: Sequence[tuple[str, Mapping[int, float]]]
    storages: Sequence[tuple[str, Mapping[int, float]]]
    conjugates: Mapping[str, Mapping[int, float]]
    count: int


def by_elimination(rows: Functionals) -> Storages:
    """Storages of a network with components of several ports, by the rank of the laws' linear part.

    The order laws, sources, storages is the priority of a normal tree, on the linear matroid of the laws instead of
    the graph's: each storage variable that depends on those before it is a dependent storage.
    """
    pairs = (*rows.laws, *rows.sources, *rows.storages)
    elimination = RowElimination(column_sizes([*(row for _, row in pairs), *rows.conjugates.values()]))
    for name, row in rows.laws:
        if elimination.offer(row, name) is not None:
            raise FormulationError(
                f"the law of {name} says nothing new: the components around it fix the same variables already",
                remedy=f"Check how {name} is connected; two ideal components may be in conflict",
            )
    for name, row in rows.sources:
        tied = elimination.offer(row, name)
        if tied is not None:
            others = [other for other in tied if other != name]
            raise FormulationError(
                f"the source {name} drives a variable that {listing(others) or 'an ideal component'} fixes already",
                where=name,
                remedy="Put a resistance between them, or remove one",
            )
    independent: list[str] = []
    dependent: dict[str, tuple[str, ...]] = {}
    known = {name for name, _ in rows.sources}
    for name, row in rows.storages:
        tied = elimination.offer(row, name)
        if tied is None:
            independent.append(name)
            known.add(name)
        else:
            if bent := rows.nonlinear & tied.keys():
                raise FormulationError(
                    f"the storage {name} is tied to others through the nonlinear component {listing(sorted(bent))}",
                    remedy=f"Add a small resistance in series with {name}",
                )
            dependent[name] = tuple(other for other in tied if other in known)
    for name in dependent:
        if elimination.offer(rows.conjugates[name], f"flow of {name}") is not None:
            raise FormulationError(
                f"the storage {name} is tied to {listing(dependent[name]) or 'ideal components'} so tightly that a "
                "second derivative would be needed (index above 2)",
                remedy="Add the small resistance that a real circuit has, in series with a capacitor or parallel to "
                "an inductor",
            )
    if elimination.rank < rows.count:
        raise FormulationError(
            "the components leave some variables free",
            remedy="Check operational amplifiers without feedback, and windings that nothing is connected to",
        )
    return Storages(tuple(independent), dependent)
