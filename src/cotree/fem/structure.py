"""A structure of finite elements: sparse matrices, rigid ties, supports, statics and vibration modes.

``u`` are the displacements and small rotations of all N nodes, 6 N numbers. Ties make them follow fewer, ``u = T v``.
Held degrees of freedom are taken out, so every equation solved is symmetric and positive definite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem.eigen import Free, Modes, normalised, vibration
from cotree.fem.element import DEGREES, Array, Elements, Integers, degrees_of, rigid_motions, rigid_rows
from cotree.fem.factor import Factor
from cotree.fem.hold import MOVES, Held, Which, hold, left_rigid, mechanism, moves, rigid_left
from cotree.maths.viewed import Viewed
from cotree.model.helpful import answered


@answered
@dataclass(frozen=True)
class Tie(Viewed):
    """Nodes that follow a master as one rigid piece (a spider or a rigid edge), all six degrees of freedom."""

    master: int
    slaves: tuple[int, ...]


@answered
@dataclass(frozen=True)
class Support(Viewed):
    """Degrees of freedom of a node that are held at a value, in m or rad."""

    node: int
    which: Which = None
    value: float = 0.0


@answered
class Structure(Viewed):
    """Elements on common nodes. Matrices are assembled when first asked for."""

    def __init__(
        self,
        places: Any,
        families: Sequence[Elements],
        *,
        ties: Sequence[Tie] = (),
        fixed: Sequence[Support] | Mapping[int, Which] = (),
        names: Mapping[str, int] | None = None,
    ) -> None:
        self.places: Array = np.array(places, dtype=float).reshape(-1, 3)
        self.families = tuple(families)
        self.ties = tuple(ties)
        self.names = dict(names or {})
        self.size = DEGREES * len(self.places)
        """Number of degrees of freedom before ties."""
        if not np.isfinite(self.places).all():
            bad = int(np.flatnonzero(~np.isfinite(self.places).all(axis=1))[0])
            raise ModelError(f"the place of {self.label(bad)} is {self.places[bad]}", expected="finite coordinates")
        for name, node in self.names.items():
            self._known(node, f"the node named '{name}'")
        self._check_families()
        self._check_ties()
        given = [Support(n, w) for n, w in fixed.items()] if isinstance(fixed, Mapping) else list(fixed)
        self.fixed = tuple(given)
        """Supports that hold in every calculation."""
        self._fixed = {int(d): s.value for s in given for d in self.degrees(s.node, s.which)}
        self._last: tuple[Any, Factor] | None = None
        self.spaces: dict[Any, Any] = {}
        """Those of `cotree.fem.space.space_of`, with their factors."""

    def label(self, node: int) -> str:
        """``node 7`` or ``node 7 (tip)``."""
        named = [name for name, number in self.names.items() if number == node]
        return f"node {node}" + (f" ({listing(named)})" if named else "")

    def degrees(self, nodes: int | Sequence[int], which: Which = None) -> Integers:
        """Numbers of degrees of freedom: some (see `Which`) of one node or of each of several."""
        several = np.atleast_1d(np.asarray(nodes, dtype=np.int64))
        for node in several:
            self._known(int(node), "the node")
        return (DEGREES * several[:, None] + np.array(moves(which), dtype=np.int64)).ravel()

    def _known(self, node: int, what: str) -> None:
        if not 0 <= node < len(self.places):
            raise ModelError(
                f"{what} is number {node}", expected=f"a number from 0 to {len(self.places) - 1}, the nodes of the mesh"
            )

    def _check_families(self) -> None:
        if not self.families:
            raise ModelError("the structure has no elements", expected="beams, shells or other elements")
        used = np.zeros(len(self.places), dtype=bool)
        for family in self.families:
            nodes = np.asarray(family.degrees) // DEGREES
            if nodes.size:
                self._known(int(nodes.max()), f"a node of the {type(family).__name__.lower()}")
                self._known(int(nodes.min()), f"a node of the {type(family).__name__.lower()}")
            used[nodes.ravel()] = True
        for tie in self.ties:
            for node in (tie.master, *tie.slaves):
                self._known(node, "a node of a tie")
                used[node] = True
        if not used.all():
            loose = [self.label(int(node)) for node in np.flatnonzero(~used)]
            raise ModelError(
                f"{listing(loose)} belong{'s' if len(loose) == 1 else ''} to no element and no tie",
                expected="every node to be part of the structure",
                remedy="remove unused nodes from the mesh, or tie them to others",
            )

    def _check_ties(self) -> None:
        master_of: dict[int, int] = {}
        for tie in self.ties:
            for slave in tie.slaves:
                if slave == tie.master:
                    raise ModelError(f"{self.label(slave)} is tied to itself", expected="other nodes as slaves")
                if slave in master_of:
                    masters = dict.fromkeys((self.label(master_of[slave]), self.label(tie.master)))
                    raise ModelError(
                        f"{self.label(slave)} is tied twice, to {' and to '.join(masters)}",
                        expected="a node to follow one master",
                        remedy="put all nodes of the rigid piece into one tie",
                    )
                master_of[slave] = tie.master
        for tie in self.ties:
            if tie.master in master_of:
                raise ModelError(
                    f"{self.label(tie.master)} is the master of a tie and follows {self.label(master_of[tie.master])}",
                    expected="masters that follow no other node",
                    remedy="put all nodes of the rigid piece into one tie",
                )

    @cached_property
    def stiffness(self) -> Any:
        """(6 N, 6 N) sparse stiffness before ties (Richard 2012, eq. 64)."""
        return self._assembled("stiffness", [family.stiffness() for family in self.families])

    @cached_property
    def mass(self) -> Any:
        """(6 N, 6 N) sparse mass before ties: the sum over the mass points (Richard 2012, eq. 58)."""
        return self._assembled("mass", [family.cloud().mass_matrices() for family in self.families])

    @cached_property
    def viscosity(self) -> Any:
        """(6 N, 6 N) sparse Kelvin-Voigt damping before ties (Richard 2012, eq. 65); empty where there is none."""
        return self._assembled("viscosity", [family.viscosity() for family in self.families])

    def _assembled(self, what: str, blocks: Sequence[Array | None]) -> Any:
        from scipy.sparse import coo_array, csr_array

        total: Any = csr_array((self.size, self.size))
        for family, block in zip(self.families, blocks, strict=True):
            if block is None or not block.size:
                continue
            where = np.flatnonzero(block)
            values = block.ravel()[where]
            if not np.isfinite(values).all():
                first = int(where[np.flatnonzero(~np.isfinite(values))[0]]) // (block.shape[1] * block.shape[2])
                raise ModelError(
                    f"the {what} of element {first} of the {type(family).__name__.lower()} is not finite",
                    expected="finite numbers",
                    remedy="look at its nodes, section and material",
                )
            width = block.shape[1]
            degrees = np.asarray(family.degrees, dtype=np.int32)
            row = degrees.ravel()[where // width]
            column = degrees.ravel()[where // width**2 * width + where % width]
            part = coo_array((values, (row, column)), shape=total.shape).tocsr()
            total = part if total.nnz == 0 else total + part
        return total

    @cached_property
    def independent(self) -> Integers:
        """Numbers of the degrees of freedom that follow no master."""
        slaves = [slave for tie in self.ties for slave in tie.slaves]
        loose = np.ones((len(self.places), DEGREES), dtype=bool)
        loose[slaves] = False
        return np.flatnonzero(loose)

    @cached_property
    def transform(self) -> Any:
        """(6 N, m) sparse T of u = T v, from the independent degrees of freedom to all."""
        from scipy.sparse import coo_array

        column = np.full(self.size, -1, dtype=np.int64)
        column[self.independent] = np.arange(len(self.independent))
        rows, columns, values = [self.independent], [column[self.independent]], [np.ones(len(self.independent))]
        for tie in self.ties:
            slaves = np.array(tie.slaves, dtype=np.int64)
            block = np.zeros((len(slaves), DEGREES, DEGREES))
            block[:, :3] = rigid_rows(self.places[slaves] - self.places[tie.master])
            block[:, 3:, 3:] = np.eye(3)
            here = column[degrees_of([tie.master])]
            rows.append(np.broadcast_to(degrees_of(slaves[:, None])[:, :, None], block.shape).ravel())
            columns.append(np.broadcast_to(here, block.shape).ravel())
            values.append(block.ravel())
        row, col, val = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
        some = val != 0
        return coo_array((val[some], (row[some], col[some])), shape=(self.size, len(self.independent))).tocsr()

    @cached_property
    def _tied_stiffness(self) -> Any:
        return (self.transform.T @ self.stiffness @ self.transform).tocsr() if self.ties else self.stiffness

    @cached_property
    def _tied_mass(self) -> Any:
        return (self.transform.T @ self.mass @ self.transform).tocsr() if self.ties else self.mass

    @cached_property
    def length(self) -> float:
        """Diagonal of the box around the nodes."""
        return float(np.linalg.norm(np.ptp(self.places, axis=0))) or 1.0

    @cached_property
    def _rigid(self) -> Array:
        """(6 N, 6) rigid motions about the middle, rotations divided by half the size."""
        motions = rigid_motions(self.places - (self.places.max(axis=0) + self.places.min(axis=0)) / 2)
        motions[:, 3:] /= self.length / 2
        return motions

    def statics(self, loads: Any, held: Any = (), values: Any = None, *, rows: Any = None) -> Array:
        """Displacements (6 N,) or (6 N, m) under forces and moments on all degrees of freedom.

        ``held`` are numbers of degrees of freedom, beside those of `fixed`; ``values`` are their displacements, one for
        each of ``held`` or (held, m), 0 unless given. ``rows``, (c, 6 N), are further conditions rows @ u = 0, each
        over few nodes, such as a node held across an oblique line.
        """
        force = np.asarray(loads, dtype=float)
        if force.shape[0] != self.size or force.ndim > 2:
            raise ModelError(f"the loads have shape {force.shape}", expected=f"({self.size},) or ({self.size}, m)")
        if not np.isfinite(force).all():
            bad = int(np.argwhere(~np.isfinite(force))[0][0])
            raise ModelError(f"the load on {self._degree(bad)} is not finite", expected="finite forces and moments")
        view = self._held(held, rows)
        columns = force.reshape(self.size, -1)
        right = self.transform.T @ columns
        idle = view.idle[np.abs(right[view.idle]).max(axis=1, initial=0.0) > 0]
        if idle.size:
            raise ModelError(
                f"{self._degree(int(self.independent[idle[0]]))} is loaded but has no stiffness",
                expected="loads where the structure can resist",
            )
        moved = view.given @ self._values(view, held, values, columns.shape[1])
        found = (
            view.basis @ self._factor(view, rows).solve(view.basis.T @ (right - self._tied_stiffness @ moved)) + moved
        )
        return np.asarray(self.transform @ found).reshape(force.shape)

    def reactions(self, u: Any, loads: Any = 0.0) -> Array:
        """Forces and moments of the supports, K u less the loads; those on tied nodes count at their master."""
        residual = np.asarray(self.stiffness @ np.asarray(u, dtype=float) - loads)
        found: Array = np.zeros_like(residual)
        found[self.independent] = self.transform.T @ residual
        return found

    def modes(
        self,
        count: int | None = None,
        held: Any = (),
        below: float | None = None,
        *,
        skip_rigid: bool = False,
        rows: Any = None,
    ) -> Modes:
        """The lowest vibration modes, ``count`` of them or all ``below`` a frequency in Hz, or the fewer of both.

        Rigid motions that the supports leave come first, with frequency 0, unless ``skip_rigid``. Of each shape the
        largest displacement is +1. ``held`` and ``rows`` are as in `statics`, and hold at 0.
        """
        if count is not None and count < 0:
            raise ModelError(f"{count} modes are asked for", expected="0 or more")
        if below is not None and not below > 0:
            raise ModelError(f"the limit of frequency is {below} Hz", expected="a positive frequency")
        view = self._held(held, rows)
        stiffness, mass = view.matrix(self._tied_stiffness), view.matrix(self._tied_mass)
        rigid = self._left(view, rows, stiffness)
        free = Free(stiffness, mass, rigid, self._complaint(view), self._nodes(view), self.places)
        limit = None if below is None else 2 * np.pi * below
        frequencies, shapes = vibration(free, count, limit, skip_rigid)
        return Modes(frequencies, normalised(np.asarray(self.transform @ (view.basis @ shapes)), self.length))

    def _degree(self, number: int) -> str:
        return f"{MOVES[number % DEGREES]} of {self.label(number // DEGREES)}"

    def _held(self, held: Any, rows: Any) -> Held:
        """The coordinates left free by `fixed`, ``held`` and ``rows``."""
        given = np.asarray(held, dtype=np.int64).ravel()
        if given.size and not (given.min() >= 0 and given.max() < self.size):
            bad = int(given[(given < 0) | (given >= self.size)][0])
            raise ModelError(f"degree of freedom {bad} is held", expected=f"numbers from 0 to {self.size - 1}")
        if rows is not None and np.shape(rows)[-1] != self.size:
            raise ModelError(f"the conditions have shape {np.shape(rows)}", expected=f"(c, {self.size})")
        degrees = np.union1d(given, np.array(list(self._fixed), dtype=np.int64)).astype(np.int64)
        idle = np.flatnonzero(self._tied_stiffness.diagonal() == 0)
        if idle.size:
            idle = idle[self._tied_mass.diagonal()[idle] == 0]
        return hold(degrees, rows, self.transform, self.independent, idle)

    def _values(self, view: Held, held: Any, values: Any, columns: int) -> Array:
        """(h, columns) displacements of the held degrees of freedom."""
        table = np.zeros((self.size, columns))
        table[list(self._fixed)] = np.array(list(self._fixed.values()))[:, None]
        if values is not None:
            given = np.asarray(held, dtype=np.int64).ravel()
            array = np.asarray(values, dtype=float)
            if array.ndim == 1:
                array = array[:, None]
            try:
                table[given] = np.broadcast_to(array, (len(given), columns))
            except ValueError:
                raise ModelError(
                    f"values of shape {np.shape(values)} are given for {len(given)} held degrees of freedom",
                    expected=f"one number, ({len(given)},) or ({len(given)}, {columns})",
                ) from None
        return table[view.degrees]

    def _left(self, view: Held, rows: Any, stiffness: Any) -> Array:
        """Rigid motions that a view leaves, over its free coordinates."""
        conditions = self._rigid[view.degrees]
        if rows is not None:
            conditions = np.vstack([conditions, np.atleast_2d(rows @ self._rigid)])
        return left_rigid(view, self._rigid[self.independent], conditions, stiffness)

    def _complaint(self, view: Held) -> Callable[[Array], ModelError]:
        """The error for a motion of the free coordinates that nothing resists."""

        def complain(motion: Array) -> ModelError:
            whole = self.transform @ (view.basis @ motion)
            return mechanism(whole, self.stiffness, self.transform, self.label, self.places)

        return complain

    def _nodes(self, view: Held) -> Integers:
        """The node of each free coordinate."""
        return self.independent[view.free] // DEGREES

    def _factor(self, view: Held, rows: Any) -> Factor:
        """Factors of the held stiffness; those of the last supports are kept."""
        key = (view.degrees.tobytes(), None if rows is None else _bytes(rows))
        if self._last is None or self._last[0] != key:
            stiffness = view.matrix(self._tied_stiffness)
            rigid = self._left(view, rows, stiffness)
            if rigid.shape[1]:
                raise ModelError(
                    f"the supports leave the structure free to {rigid_left(rigid, self.independent[view.free])}",
                    expected="supports against every rigid motion",
                    remedy="hold more degrees of freedom: the six of one node are enough",
                )
            self._last = (key, Factor(stiffness, self._complaint(view), self._nodes(view), self.places))
        return self._last[1]


def _bytes(rows: Any) -> bytes:
    """What tells one matrix of conditions from another."""
    from scipy.sparse import csr_array

    matrix = csr_array(rows)
    return b"".join(np.ascontiguousarray(part).tobytes() for part in (matrix.data, matrix.indices, matrix.indptr))
