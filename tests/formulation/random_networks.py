"""Hypothesis strategies: random connected networks as netlists, with capacitor loops and inductor cutsets left in."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from formulation.mna import GROUND, Part, Wave

# Values differ from each other so that no two parts cancel by accident.
VALUES = {
    "R": (0.7, 1.0, 1.9, 3.1, 5.3),
    "L": (0.11, 0.23, 0.53, 0.97),
    "C": (0.13, 0.29, 0.47, 1.03),
}
WAVES = (Wave(1.0, 1.7, -1.3), Wave(2.3, 0.83, 0.4), Wave(0.6, 3.9, 1.1))
RATIOS = (-2.0, -1.0, 0.5, 1.0, 1.7, 3.0)


class Joined:
    """Which nodes are joined already."""

    def __init__(self) -> None:
        self.parent: dict[str, str] = {}

    def find(self, node: str) -> str:
        while self.parent.setdefault(node, node) != node:
            node = self.parent[node]
        return node

    def join(self, a: str, b: str) -> bool:
        """True where the two were apart."""
        ra, rb = self.find(a), self.find(b)
        self.parent[ra] = rb
        return ra != rb


def joins_all(pairs: Iterable[tuple[str, ...]], nodes: Iterable[str]) -> bool:
    joined = Joined()
    for a, b in pairs:
        joined.join(a, b)
    return len({joined.find(node) for node in nodes}) == 1


@st.composite
def one_port_networks(draw: st.DrawFn, most_nodes: int = 6, most_extra: int = 6) -> list[Part]:
    """A connected multigraph of R, L, C, V, I without loops of V and without cutsets of I."""
    count = draw(st.integers(2, most_nodes))
    nodes = [GROUND, *(f"n{k}" for k in range(1, count))]
    pairs = [(nodes[k], nodes[draw(st.integers(0, k - 1))]) for k in range(1, count)]
    for _ in range(draw(st.integers(1, most_extra))):
        a = draw(st.integers(0, count - 1))
        b = (a + draw(st.integers(1, count - 1))) % count
        pairs.append((nodes[a], nodes[b]))
    kinds = [draw(st.sampled_from("RRLLCCVI")) for _ in pairs]
    if not {"V", "I"} & set(kinds):
        kinds[draw(st.integers(0, len(kinds) - 1))] = draw(st.sampled_from("VI"))
    joined = Joined()
    for k, kind in enumerate(kinds):
        if kind == "V" and not joined.join(*pairs[k]):
            kinds[k] = "R"
    for k, kind in enumerate(kinds):
        if kind == "I" and not joins_all([p for p, q in zip(pairs, kinds, strict=True) if q != "I"], nodes):
            kinds[k] = "R"
    parts = []
    for k, (kind, pair) in enumerate(zip(kinds, pairs, strict=True)):
        value = draw(st.sampled_from(WAVES if kind in "VI" else VALUES[kind]))
        parts.append(Part(kind, f"{kind}{k}", pair, value))
    return parts


@st.composite
def coupled_networks(draw: st.DrawFn) -> list[Part]:
    """A one-port network with one to three transformers, gyrators or mutual inductances across random node pairs."""
    parts = draw(one_port_networks(most_nodes=5, most_extra=5))
    nodes = list(dict.fromkeys(node for part in parts for node in part.nodes))
    for k in range(draw(st.integers(1, 3))):
        ends: list[str] = []
        for _ in range(2):
            a = draw(st.integers(0, len(nodes) - 1))
            b = (a + draw(st.integers(1, len(nodes) - 1))) % len(nodes)
            ends += [nodes[a], nodes[b]]
        kind = draw(st.sampled_from("TGM"))
        more = (0.37, draw(st.sampled_from([-0.21, 0.13]))) if kind == "M" else ()
        value = 0.41 if kind == "M" else draw(st.sampled_from(RATIOS))
        parts.append(Part(kind, f"{kind}x{k}", tuple(ends), value, more))
    return parts
