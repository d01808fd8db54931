"""Random bond graphs, and their equations written down by themselves: E z' = A z + B s with numpy only.

The unknowns z are the efforts of all bonds, their flows, and what the storages hold. A graph is plain data here, and
nothing of the package takes part in these equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import cotree.bond as bond
from cotree import Model

Array = NDArray[np.float64]
ONE_PORTS = ("I", "C", "R", "Se", "Sf")
PARTS = {
    "I": lambda name, x: bond.I(name, inertia=x),
    "C": lambda name, x: bond.C(name, compliance=x),
    "R": lambda name, x: bond.R(name, resistance=x),
    "Se": lambda name, x: bond.Se(name, effort=x),
    "Sf": lambda name, x: bond.Sf(name, flow=x),
    "TF": lambda name, x: bond.TF(name, modulus=x),
    "GY": lambda name, x: bond.GY(name, modulus=x),
    "0": lambda name, x: bond.Junction0(name),
    "1": lambda name, x: bond.Junction1(name),
}


@dataclass(frozen=True)
class Plain:
    """A graph as data: letters and values by name, bonds as (name, tail, head)."""

    vertices: dict[str, tuple[str, float]]
    bonds: list[tuple[str, str, str]]

    def model(self) -> Model:
        model = Model("random")
        for name, (letter, value) in self.vertices.items():
            model.add(PARTS[letter](name, value))
        for name, tail, head in self.bonds:
            model.add(bond.Bond(name, tail, head))
        return model

    def of(self, *letters: str) -> list[str]:
        return [name for name, (letter, _) in self.vertices.items() if letter in letters]


@st.composite
def plain_graphs(draw: st.DrawFn, loops: bool = False, sources: bool = True) -> Plain:
    """Junctions in a tree, joined directly or by TF and GY, with elements on them; extra bonds close loops."""
    count = draw(st.integers(1, 4))
    vertices: dict[str, tuple[str, float]] = {f"j{k}": (draw(st.sampled_from("01")), 0.0) for k in range(count)}
    bonds: list[tuple[str, str, str]] = []
    links = [(k, draw(st.integers(0, k - 1))) for k in range(1, count)]
    if loops and count > 2:
        links += draw(st.lists(st.sampled_from([(a, b) for a in range(count) for b in range(a)]), max_size=2))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))

    def value() -> float:
        return round(float(random.uniform(0.3, 3.0)), 4)

    def join(tail: str, head: str) -> None:
        bonds.append((f"b{len(bonds)}", tail, head))

    for a, b in links:
        through = draw(st.sampled_from(["", "TF", "GY"]))
        ends = [f"j{a}", f"j{b}"] if draw(st.booleans()) else [f"j{b}", f"j{a}"]
        if through:
            name = f"{through}{len(vertices)}"
            vertices[name] = (through, value())
            join(ends[0], name)
            join(name, ends[1])
        else:
            join(*ends)
    letters = ONE_PORTS if sources else ("I", "C", "R")
    for k in range(count):
        there = sum(f"j{k}" in ends for _, *ends in bonds)
        for letter in draw(st.lists(st.sampled_from(letters), min_size=max(1, 2 - there), max_size=3)):
            name = f"{letter}{len(vertices)}"
            vertices[name] = (letter, value())
            join(*((f"j{k}", name) if draw(st.booleans()) else (name, f"j{k}")))
    return Plain(vertices, bonds)


def descriptor(graph: Plain) -> tuple[Array, Array, Array]:
    """E, A and B of a graph; the inputs are its sources in order."""
    n = len(graph.bonds)
    held, sources = graph.of("I", "C"), graph.of("Se", "Sf")
    size = 2 * n + len(held)
    rows: list[Array] = []
    drives: list[Array] = []
    rates: list[Array] = []

    def row(entries: dict[int, float], drive: int | None = None, rate: int | None = None) -> None:
        a, b, e = np.zeros(size), np.zeros(len(sources)), np.zeros(size)
        for k, x in entries.items():
            a[k] += x
        if drive is not None:
            b[drive] = 1.0
        if rate is not None:
            e[rate] = 1.0
        rows.append(a), drives.append(b), rates.append(e)

    for name, (letter, x) in graph.vertices.items():
        at = [
            (k, 1.0 if head == name else -1.0) for k, (_, tail, head) in enumerate(graph.bonds) if name in (tail, head)
        ]
        k, sign = at[0]
        if letter in ("0", "1"):
            same, summed = (0, n) if letter == "0" else (n, 0)
            for other, _ in at[1:]:
                row({same + k: 1.0, same + other: -1.0})
            row({summed + other: s for other, s in at})
        elif letter in ("TF", "GY"):
            one = next(i for i, s in at if s > 0)
            two = next(i for i, s in at if s < 0)
            if letter == "TF":
                row({n + two: -1.0, n + one: x})
                row({one: -1.0, two: x})
            else:
                row({two: -1.0, n + one: x})
                row({one: -1.0, n + two: x})
        elif letter == "R":
            row({k: -1.0, n + k: x * sign})
        elif letter == "Se":
            row({k: -1.0}, drive=sources.index(name))
        elif letter == "Sf":
            row({n + k: -sign}, drive=sources.index(name))
        else:
            own = 2 * n + held.index(name)
            row({own: -1.0, n + k: x * sign} if letter == "I" else {own: -1.0, k: x})
            row({k: 1.0} if letter == "I" else {n + k: sign}, rate=own)
    return np.array(rates), np.array(rows), np.array(drives).reshape(len(rows), len(sources))


def degree(graph: Plain) -> int | None:
    """The degree of det(s E - A), which is the order of the system; None where the determinant vanishes."""
    e, a, _ = descriptor(graph)
    if (
        np.linalg.svd(0.7j * e - a, compute_uv=False)[-1] < 1e-10
        and np.linalg.svd(1.3 * e - a, compute_uv=False)[-1] < 1e-10
    ):
        return None
    far = [np.linalg.slogdet(s * e - a)[1] for s in (1e4, 1e5)]
    slope = (far[1] - far[0]) / np.log(10.0)
    assert abs(slope - round(slope)) < 0.05
    return round(slope)
