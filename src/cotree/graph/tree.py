"""A spanning tree of a linear graph, and the matrices that belong to it.

Branches are the edges of the tree, chords the others. A branch has a fundamental cutset, a chord a fundamental circuit
(McPhee 1996, section 2.1; Richard 2012, eq. 2 and 4). In a graph of several parts the tree is a spanning forest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from cotree.errors import GraphError, listing
from cotree.graph.equations import Term, TopologicalEquation
from cotree.graph.forest import DisjointSets, IntArray, RootedForest, path_of_edges, root_forest
from cotree.graph.linear_graph import LinearGraph
from cotree.graph.sealed import Sealed
from cotree.maths.named import NamedMatrix
from cotree.maths.viewed import Table, Viewed

# Beyond this a matrix would not fit into ordinary memory; the message then names what to do instead.
_MOST_NONZEROS = 400_000_000


@dataclass(frozen=True, slots=True)
class TreeCost(Viewed):
    """What a tree will cost, counted without building a matrix.

    ``nonzeros``: entries of B_t (and of A_c), the sum over all circuits of the branches in them. ``longest``: edges in
    the longest circuit, that of ``longest_chord``. ``path_nonzeros``: entries of the path matrix, the sum of the
    depths of all nodes. ``depth``: branches between a datum and the furthest node.
    """

    branches: int
    chords: int
    nonzeros: int
    longest: int
    longest_chord: str
    path_nonzeros: int
    depth: int

    def __str__(self) -> str:
        loops = f"{self.chords} circuits with {self.nonzeros + self.chords} edges in all"
        longest = f", the longest with {self.longest} ({self.longest_chord})" if self.chords else ""
        return f"{self.branches} branches, depth {self.depth}; {loops}{longest}"


class Tree(Sealed, Viewed):
    """A spanning tree (or forest) of ``graph`` with the given branches; it never changes the graph.

    Branches and chords keep the order of the graph; with ``keep_order`` the branches keep the order given.
    """

    def __init__(self, graph: LinearGraph, branches: Iterable[str], *, keep_order: bool = False) -> None:
        places = graph.edge_indices(branches)
        self._build(graph, places if keep_order else np.sort(places))

    @classmethod
    def from_places(cls, graph: LinearGraph, places: Iterable[int]) -> Tree:
        """A tree from the places of its branches in the order of the graph."""
        tree = cls.__new__(cls)
        tree._build(graph, np.sort(np.fromiter(places, dtype=np.int32)))
        return tree

    def _build(self, graph: LinearGraph, places: IntArray) -> None:
        self.graph = graph
        self.branch_index: IntArray = places
        _check_spanning(graph, places)
        in_tree = np.zeros(graph.e, dtype=bool)
        in_tree[places] = True
        self.chord_index: IntArray = np.flatnonzero(~in_tree).astype(np.int32)
        names = graph.edge_names
        self.branches: tuple[str, ...] = tuple(names[k] for k in places.tolist())
        self.chords: tuple[str, ...] = tuple(names[k] for k in self.chord_index.tolist())
        for part in (self.branch_index, self.chord_index):
            part.flags.writeable = False
        self.seal()

    def __contains__(self, name: object) -> bool:
        """True for the name of a branch."""
        return name in self._branch_places

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.graph == other.graph and self.branches == other.branches

    def __hash__(self) -> int:
        return hash((self.graph, self.branches))

    def __repr__(self) -> str:
        return f"<Tree branches {listing(self.branches)} | chords {listing(self.chords)}>"

    def _view(self) -> Table | str:
        inside = set(self.branches)
        rows = [(e.name, e.tail, e.head, "branch" if e.name in inside else "chord") for e in self.graph.edges]
        return Table(("edge", "from", "to", ""), rows, len(rows))

    @cached_property
    def rooted(self) -> RootedForest:
        """Parents, depths and paths seen from the datums."""
        graph = self.graph
        return root_forest(graph.tail, graph.head, self.branch_index, graph.datum_index, graph.v)

    def parent(self, node: str) -> str | None:
        """The next node on the way to the datum; None at a datum."""
        place = self.graph.node_index(node)
        above = int(self.rooted.parent[place])
        return None if above == place else self.graph.nodes[above]

    def depth(self, node: str) -> int:
        """Number of branches between a node and its datum."""
        return int(self.rooted.depth[self.graph.node_index(node)])

    def path_to_datum(self, node: str) -> tuple[str, ...]:
        """Branches from a node to its datum, in this order."""
        place, names = self.graph.node_index(node), self.graph.edge_names
        out = []
        while (branch := int(self.rooted.branch[place])) >= 0:
            out.append(names[branch])
            place = int(self.rooted.parent[place])
        return tuple(out)

    def cutset_matrix(self) -> NamedMatrix:
        """[CU] = [1 | A_c], (v - c) x e; columns are branches, then chords (McPhee 1996, eq. 2; Richard, eq. 2)."""
        return self._cutset_matrix

    def circuit_matrix(self) -> NamedMatrix:
        """[CI] = [B_t | 1], (e - v + c) x e; columns are branches, then chords (McPhee 1996, eq. 4; Richard, eq. 4)."""
        return self._circuit_matrix

    def cutset_part(self) -> NamedMatrix:
        """A_c: rows branches, columns chords; branch through variables are -A_c times those of chords (eq. 9)."""
        return self._cutset_part

    def circuit_part(self) -> NamedMatrix:
        """B_t = -A_c^T: rows chords, columns branches; chord across variables are -B_t times those of branches."""
        return self._circuit_part

    def path_matrix(self) -> NamedMatrix:
        """Branin's node-to-datum path matrix: rows branches, columns nodes; the inverse of the tree part of [A].

        +1 where a branch points from the datum towards the node. CU = path @ A. Wittenburg's [T] is its negative,
        because his incidence matrix is (McPhee 1996, eq. 33-37).
        """
        return self._path_matrix

    def nodal_values(self, across: Any) -> np.ndarray[Any, Any]:
        """Nodal variables of the free nodes from branch across variables: path^T @ across, without the path matrix.

        ``across`` has one row for each branch, of any further shape (McPhee 1996, eq. 40).
        """
        values = np.asarray(across)
        if values.ndim == 0 or len(values) != len(self.branches):
            raise GraphError(
                f"values of shape {values.shape}", expected=f"one row for each of {self.graph.rank} branches"
            )
        forest, graph = self.rooted, self.graph
        total = np.zeros((graph.v, *values.shape[1:]), dtype=np.result_type(values, np.int64))
        child = self._child_of_branch
        total[child] = values * (-forest.up[child]).reshape(-1, *[1] * (values.ndim - 1))
        above = forest.parent.copy()
        # Pointer jumping: after k rounds each node holds the sum over its last 2^k branches.
        total[graph.datum_index] = 0
        for _ in range(int(forest.depth.max(initial=0)).bit_length()):
            total = total + total[above]
            above = above[above]
        return np.delete(total, graph.datum_index, axis=0)

    def cutset_equation(self, branch: str) -> TopologicalEquation:
        """Sum of through variables over the fundamental cutset of a branch; the branch first, chords in order."""
        place = self.graph.edge_index(branch)
        if branch not in self:
            within = [self.graph.edges[k].name for _, k in self._loop(place)[1:]]
            raise GraphError(
                f"the chord {branch} has a circuit, not a cutset",
                expected="a branch of the tree",
                remedy=f"Ask for its circuit_equation; it is in the cutsets of {listing(within)}"
                if within
                else "Ask for its circuit_equation; it is a self-loop, in no cutset at all",
            )
        terms = [Term(1, self.graph.edges[place])]
        terms += [Term(sign, self.graph.edges[k]) for sign, k in self._cut(place)]
        return TopologicalEquation(tuple(terms), "through", branch, "cutset")

    def circuit_equation(self, chord: str, order: Literal["walk", "graph"] = "walk") -> TopologicalEquation:
        """Sum of across variables around the fundamental circuit of a chord.

        Terms follow the walk along the chord and back through the tree (Richard 2012, eq. 10), or the order of the
        graph (Richard 2012, eq. 8).
        """
        place = self.graph.edge_index(chord)
        if chord in self:
            across = [self.graph.edges[k].name for _, k in self._cut(place)]
            raise GraphError(
                f"the branch {chord} has a cutset, not a circuit",
                expected="a chord",
                remedy=f"Ask for its cutset_equation; it is in the circuits of {listing(across)}"
                if across
                else "Ask for its cutset_equation; it is a bridge, in no circuit at all",
            )
        loop = self._loop(place)
        if order == "graph":
            loop.sort(key=lambda term: term[1])
        return TopologicalEquation(tuple(Term(s, self.graph.edges[k]) for s, k in loop), "across", chord, "circuit")

    def equation(self, edge: str) -> TopologicalEquation:
        """The one equation that an edge has: the cutset of a branch, the circuit of a chord."""
        return self.cutset_equation(edge) if edge in self else self.circuit_equation(edge)

    def equations(self) -> tuple[TopologicalEquation, ...]:
        """Cutset equations of all branches, then circuit equations of all chords: e independent equations."""
        return tuple(self.equation(name) for name in (*self.branches, *self.chords))

    def cost(self) -> TreeCost:
        """Predicted size of everything that follows from this tree, without building a matrix."""
        lengths, depth = self._chord_lengths, self.rooted.depth
        worst = int(np.argmax(lengths)) if len(lengths) else -1
        return TreeCost(
            branches=len(self.branches),
            chords=len(self.chords),
            nonzeros=int(lengths.sum(dtype=np.int64)),
            longest=int(lengths[worst]) + 1 if worst >= 0 else 0,
            longest_chord=self.chords[worst] if worst >= 0 else "",
            path_nonzeros=int(depth.sum(dtype=np.int64)),
            depth=int(depth.max(initial=0)),
        )

    @cached_property
    def _branch_places(self) -> Mapping[str, int]:
        return {name: k for k, name in enumerate(self.branches)}

    @cached_property
    def _column_of_node(self) -> IntArray:
        """Column of the branch between a node and its parent; -1 at a datum."""
        column = np.full(self.graph.e + 1, -1, dtype=np.int32)
        column[self.branch_index] = np.arange(len(self.branch_index), dtype=np.int32)
        return column[self.rooted.branch]

    @cached_property
    def _child_of_branch(self) -> IntArray:
        child = np.empty(len(self.branches), dtype=np.int32)
        nodes = np.flatnonzero(self._column_of_node >= 0).astype(np.int32)
        child[self._column_of_node[nodes]] = nodes
        return child

    @cached_property
    def _chord_lengths(self) -> IntArray:
        """Branches in the circuit of each chord."""
        head, tail = self.graph.head[self.chord_index], self.graph.tail[self.chord_index]
        depth, meet = self.rooted.depth, self.rooted.climb(head, tail)[4]
        return np.asarray(depth[head] + depth[tail] - 2 * depth[meet], dtype=np.int32)

    @cached_property
    def _cutset_part(self) -> NamedMatrix:
        """-B_t^T (eq. 7). Column j of A_c is the loop of chord j, from its head back to its tail."""
        import scipy.sparse as sp  # slow to load, and few runs need it

        head, tail = self.graph.head[self.chord_index], self.graph.tail[self.chord_index]
        columns = self._paths(head, tail, -1, "the cutset and circuit matrices")
        loops = sp.csr_array(columns, shape=(len(self.chords), len(self.branches)))
        return NamedMatrix(loops.T.tocsr(), self.branches, self.chords, copy=False)

    @cached_property
    def _circuit_part(self) -> NamedMatrix:
        return NamedMatrix(-self._cutset_part.sparse.T.tocsr(), self.chords, self.branches, copy=False)

    @cached_property
    def _cutset_matrix(self) -> NamedMatrix:
        import scipy.sparse as sp  # slow to load, and few runs need it

        unit = sp.eye_array(len(self.branches), dtype=np.int8, format="csr")
        whole = sp.hstack([unit, self._cutset_part.sparse], format="csr")
        return NamedMatrix(whole, self.branches, (*self.branches, *self.chords), copy=False)

    @cached_property
    def _circuit_matrix(self) -> NamedMatrix:
        import scipy.sparse as sp  # slow to load, and few runs need it

        unit = sp.eye_array(len(self.chords), dtype=np.int8, format="csr")
        whole = sp.hstack([self._circuit_part.sparse, unit], format="csr")
        return NamedMatrix(whole, self.chords, (*self.branches, *self.chords), copy=False)

    @cached_property
    def _path_matrix(self) -> NamedMatrix:
        import scipy.sparse as sp  # slow to load, and few runs need it

        graph = self.graph
        free = np.setdiff1d(np.arange(graph.v, dtype=np.int32), graph.datum_index)
        root = graph.datum_index[self._datum_order][graph.part_of[free]] if len(free) else free
        rows = sp.csr_array(self._paths(free, root, -1, "the path matrix"), shape=(len(free), len(self.branches)))
        return NamedMatrix(rows.T.tocsr(), self.branches, graph.free_nodes, copy=False)

    @property
    def _datum_order(self) -> Any:
        """Place in the list of datums of the datum of each part."""
        return np.argsort(self.graph.part_of[self.graph.datum_index])

    def _paths(self, a: IntArray, b: IntArray, sign: int, what: str) -> tuple[Any, Any, Any]:
        """CSR rows of the tree paths a -> b over branches: ``sign`` where a branch points along the walk."""
        forest = self.rooted
        pair, first, count, side, _ = forest.climb(a, b)
        total = int(count.sum(dtype=np.int64))
        if total > _MOST_NONZEROS:
            raise GraphError(
                f"{what} would have {total:.2e} non-zeros, about {5 * total / 2**30:.0f} GiB",
                expected=f"at most {_MOST_NONZEROS:.0e}",
                remedy="Choose a tree with shorter circuits (cheapest_tree, breadth_first_tree), use nodal_values "
                "for nodal variables, or ask for single equations",
            )
        ends = np.cumsum(count, dtype=np.int64)
        index = np.int32 if total < 2**31 else np.int64
        step = np.arange(total, dtype=index) + np.repeat(first - (ends - count), count).astype(index)
        nodes = forest.node_at[step]
        data = np.repeat(side, count)
        data *= forest.up[nodes]
        data *= np.int8(sign)
        per_row = np.bincount(pair, weights=count, minlength=len(a)).astype(np.int64)
        indptr = np.concatenate([[0], np.cumsum(per_row)]).astype(index)
        return data, self._column_of_node[nodes], indptr

    def _loop(self, chord: int) -> list[tuple[int, int]]:
        """Signed edges (by place) met on the walk along a chord and back through the tree."""
        forest, graph = self.rooted, self.graph
        x, y = int(graph.head[chord]), int(graph.tail[chord])
        from_head: list[tuple[int, int]] = []
        to_tail: list[tuple[int, int]] = []
        while x != y:
            if forest.depth[x] >= forest.depth[y]:
                from_head.append((int(forest.up[x]), int(forest.branch[x])))
                x = int(forest.parent[x])
            else:
                to_tail.append((-int(forest.up[y]), int(forest.branch[y])))
                y = int(forest.parent[y])
        return [(1, chord), *from_head, *to_tail[::-1]]

    def _cut(self, branch: int) -> list[tuple[int, int]]:
        """Signed chords (by place) that cross from one side of a branch to the other, relative to the branch."""
        forest, graph = self.rooted, self.graph
        head, tail = int(graph.head[branch]), int(graph.tail[branch])
        child = head if forest.parent[head] == tail and forest.branch[head] == branch else tail
        first = forest.position[child]
        last = first + forest.size[child]
        at_head = forest.position[graph.head[self.chord_index]]
        at_tail = forest.position[graph.tail[self.chord_index]]
        inside_head = (at_head >= first) & (at_head < last)
        inside_tail = (at_tail >= first) & (at_tail < last)
        crossing = np.flatnonzero(inside_head != inside_tail)
        outward = 1 if child == head else -1
        return [(outward if inside_head[k] else -outward, int(self.chord_index[k])) for k in crossing.tolist()]


def _check_spanning(graph: LinearGraph, places: IntArray) -> None:
    """A tree has no circuit and reaches every node; otherwise name the edges of a loop or the nodes cut off."""
    label = graph.label_parts(places)
    parts = int(label.max(initial=-1)) + 1
    if len(places) == graph.rank and parts == graph.c:
        return
    names = graph.edge_names
    joined = DisjointSets(graph.v)
    for n, k in enumerate(places.tolist()):
        if not joined.join(int(graph.tail[k]), int(graph.head[k])):
            path = path_of_edges(graph.tail, graph.head, places[:n].tolist(), int(graph.head[k]), int(graph.tail[k]))
            loop = list(dict.fromkeys([names[k], *(names[j] for j in path)]))
            raise GraphError(
                f"{listing(loop)} form a circuit" if len(loop) > 1 else f"{loop[0]} is a self-loop or is listed twice",
                where="tree",
                expected=f"{graph.rank} branches without a circuit",
                remedy="Leave one of them in the cotree",
            )
    reached = set(label[graph.datum_index].tolist())
    lost = [node for node, part in zip(graph.nodes, label.tolist(), strict=True) if part not in reached]
    raise GraphError(
        f"the branches do not reach {listing(lost)}",
        where="tree",
        expected=f"{graph.rank} branches that join every node to its datum",
        remedy="Add branches that lead there",
    )
