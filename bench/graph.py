"""Graphs with 100,000 edges: time and memory of tree, cutset and circuit matrices.

python bench/graph.py
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from cotree.graph import LinearGraph, Tree, breadth_first_tree, select_tree
from cotree.model import Edge


def ring(edges: int) -> Iterator[Edge]:
    """One loop through all nodes."""
    for k in range(edges):
        yield Edge(f"e{k}", f"n{k}", f"n{(k + 1) % edges}")


def grid(edges: int) -> Iterator[Edge]:
    """A square grid."""
    side = int((edges / 2) ** 0.5) + 1
    for i in range(side):
        for j in range(side):
            for a, b in ((i + 1, j), (i, j + 1)):
                if a < side and b < side:
                    yield Edge(f"e{i}_{j}_{a}_{b}", f"n{i}_{j}", f"n{a}_{b}")


def multigraph(edges: int) -> Iterator[Edge]:
    """Half as many nodes as edges, connected at random, parallel edges and self-loops included."""
    rng = np.random.default_rng(0)
    nodes = edges // 2
    for k in range(1, nodes):
        yield Edge(f"t{k}", f"n{rng.integers(k)}", f"n{k}")
    for k, (a, b) in enumerate(rng.integers(nodes, size=(edges - nodes + 1, 2)).tolist()):
        yield Edge(f"c{k}", f"n{a}", f"n{b}")


def timed(action):  # type: ignore[no-untyped-def]
    """The result of an action and the seconds it took."""
    clock = time.perf_counter()
    return action(), time.perf_counter() - clock


def main() -> None:
    """Print one row for each graph and each kind of tree."""
    times = "".join(f"{head:>8}" for head in ("graph s", "tree s", "CU s", "CI s"))
    print(f"{'graph':<12}{'edges':>8}  {'tree':<14}{times}{'non-zeros':>12}{'bytes/nz':>10}")
    for name, make in (("ring", ring), ("grid", grid), ("multigraph", multigraph)):
        edges = list(make(100_000))
        graph, t_graph = timed(lambda edges=edges: LinearGraph(edges, edges[0].tail))
        for kind, choose in (("user's order", select_tree), ("breadth first", breadth_first_tree)):
            tree, t_tree = timed(lambda choose=choose, graph=graph: choose(graph))
            assert isinstance(tree, Tree)
            cutset, t_cutset = timed(tree.cutset_matrix)
            circuit, t_circuit = timed(tree.circuit_matrix)
            print(
                f"{name:<12}{graph.e:>8}  {kind:<14}{t_graph:>8.2f}{t_tree:>8.2f}{t_cutset:>8.2f}{t_circuit:>8.2f}"
                f"{circuit.nnz:>12}{(cutset.nbytes + circuit.nbytes) / (cutset.nnz + circuit.nnz):>10.1f}"
            )


if __name__ == "__main__":
    main()
