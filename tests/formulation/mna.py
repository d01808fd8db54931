"""Modified nodal analysis straight from a netlist: a witness that shares nothing with Cotree's graph or matrices.

A netlist is a list of `Part`. The equations are E x' + K x = F s(t), with node potentials and the currents of V, L, M,
T and O parts as unknowns x. Sources are sinusoids a cos(w t + phase), so that the exact solution is a particular
sinusoid plus the finite modes of the pencil, which an ordered generalised Schur form separates from the infinite ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import expm, ordqz

import cotree

GROUND = "ground"


@dataclass(frozen=True)
class Wave:
    """a cos(w t + phase)."""

    amplitude: float = 1.0
    omega: float = 1.0
    phase: float = 0.0

    def at(self, t: float) -> float:
        return self.amplitude * np.cos(self.omega * t + self.phase)

    @property
    def text(self) -> str:
        return f"{self.amplitude!r}*cos({self.omega!r}*t + {self.phase!r})"


@dataclass(frozen=True)
class Part:
    """Kind R L C V I (two nodes), T G O M (four nodes: primary plus, minus, secondary plus, minus), and its values."""

    kind: str
    name: str
    nodes: tuple[str, ...]
    value: float | Wave | None = None
    more: tuple[float, ...] = ()


class Mna:
    """The descriptor system of a netlist and its exact solutions."""

    def __init__(self, netlist: Sequence[Part]) -> None:
        self.netlist = list(netlist)
        nodes = dict.fromkeys(node for part in netlist for node in part.nodes)
        self.node = {node: k for k, node in enumerate(n for n in nodes if n != GROUND)}
        own = {"V": 1, "L": 1, "M": 2, "T": 1, "O": 1}
        self.own: dict[str, int] = {}
        size = len(self.node)
        for part in netlist:
            if part.kind in own:
                self.own[part.name] = size
                size += own[part.kind]
        self.sources = [part for part in netlist if part.kind in "VI"]
        self.E, self.K = np.zeros((size, size)), np.zeros((size, size))
        self.F = np.zeros((size, len(self.sources)))
        self.outputs: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        for part in netlist:
            getattr(self, f"_{part.kind}")(part)

    def difference(self, plus: str, minus: str) -> np.ndarray:
        row = np.zeros(len(self.E))
        for node, sign in ((plus, 1.0), (minus, -1.0)):
            if node != GROUND:
                row[self.node[node]] += sign
        return row

    def _unit(self, k: int) -> np.ndarray:
        return np.eye(len(self.E))[k]

    def _say(self, name: str, pair: Sequence[str], x: np.ndarray, rate: np.ndarray | None = None, s: int = -1) -> None:
        """Record voltage and current of a branch, and let the current leave ``plus`` and enter ``minus``."""
        zero, none = np.zeros(len(self.E)), np.zeros(len(self.sources))
        rate = zero if rate is None else rate
        drive = none.copy()
        if s >= 0:
            drive[s] = 1.0
        across = self.difference(*pair)
        self.outputs[f"{name}.voltage"] = (across, zero, none)
        self.outputs[f"{name}.current"] = (x, rate, drive)
        self.K += np.outer(across, x)
        self.E += np.outer(across, rate)
        self.F -= np.outer(across, drive)

    def _R(self, part: Part) -> None:
        self._say(part.name, part.nodes, self.difference(*part.nodes) / part.value)

    def _C(self, part: Part) -> None:
        self._say(part.name, part.nodes, np.zeros(len(self.E)), part.value * self.difference(*part.nodes))

    def _I(self, part: Part) -> None:
        self._say(part.name, part.nodes, np.zeros(len(self.E)), s=self.sources.index(part))

    def _V(self, part: Part) -> None:
        k = self.own[part.name]
        self._say(part.name, part.nodes, self._unit(k))
        self.K[k] += self.difference(*part.nodes)
        self.F[k, self.sources.index(part)] = 1.0

    def _L(self, part: Part) -> None:
        k = self.own[part.name]
        self._say(part.name, part.nodes, self._unit(k))
        self.E[k, k] = part.value
        self.K[k] -= self.difference(*part.nodes)

    def _M(self, part: Part) -> None:
        k = self.own[part.name]
        l1, l2, mutual = part.value, *part.more
        for row, pair, label, own, other in (
            (k, part.nodes[:2], "primary", l1, k + 1),
            (k + 1, part.nodes[2:], "secondary", l2, k),
        ):
            self._say(f"{part.name}.{label}", pair, self._unit(row))
            self.E[row, row], self.E[row, other] = own, mutual
            self.K[row] -= self.difference(*pair)

    def _T(self, part: Part) -> None:
        k, n = self.own[part.name], part.value
        self._say(f"{part.name}.primary", part.nodes[:2], self._unit(k))
        self._say(f"{part.name}.secondary", part.nodes[2:], -n * self._unit(k))
        self.K[k] += self.difference(*part.nodes[:2]) - n * self.difference(*part.nodes[2:])

    def _G(self, part: Part) -> None:
        first, second = self.difference(*part.nodes[:2]), self.difference(*part.nodes[2:])
        self._say(f"{part.name}.primary", part.nodes[:2], second / part.value)
        self._say(f"{part.name}.secondary", part.nodes[2:], -first / part.value)

    def _O(self, part: Part) -> None:
        k = self.own[part.name]
        self._say(f"{part.name}.input", part.nodes[:2], np.zeros(len(self.E)))
        self._say(f"{part.name}.output", part.nodes[2:], self._unit(k))
        gain = self.difference(*part.nodes[:2])
        self.K[k] += gain if part.value is None else self.difference(*part.nodes[2:]) / part.value - gain

    def transfer(self, names: Iterable[str], omega: float) -> np.ndarray:
        """The frequency response from all sources to the outputs of these names."""
        X = np.linalg.solve(1j * omega * self.E + self.K, self.F)
        rows = [self.outputs[name] for name in names]
        return np.array([(x + 1j * omega * rate) @ X + s for x, rate, s in rows])

    def growth(self) -> int:
        """The power of w with which the resolvent grows: the index of the pencil less one."""
        far = [np.abs(np.linalg.inv(1j * w * self.E + self.K)).max() for w in (1e5, 1e6)]
        return round(float(np.log10(far[1] / far[0])))

    def finite(self, limit: float = 1e5) -> tuple[np.ndarray, np.ndarray]:
        """A basis Z of the finite modes and their matrix M: x_h = Z y, y' = M y."""
        inside = lambda alpha, beta: np.abs(alpha) < limit * np.abs(beta)  # noqa: E731
        S, T, alpha, beta, _, Z = ordqz(-self.K, self.E, sort=inside, output="complex")
        n = int(np.sum(inside(alpha, beta)))
        return Z[:, :n], np.linalg.solve(T[:n, :n], S[:n, :n]) if n else np.zeros((0, 0))

    def poles(self) -> np.ndarray:
        return np.linalg.eigvals(self.finite()[1])

    def solve(self, times: Sequence[float], start: dict[str, float], names: Iterable[str]) -> dict[str, np.ndarray]:
        """Exact outputs at the times; ``start`` gives as many storage variables at t = 0 as there are finite modes."""
        Z, M = self.finite()
        omegas = np.array([part.value.omega for part in self.sources])
        X = np.zeros((len(self.E), len(self.sources)), complex)
        for k, part in enumerate(self.sources):
            drive = self.F[:, k] * part.value.amplitude * np.exp(1j * part.value.phase)
            X[:, k] = np.linalg.solve(1j * omegas[k] * self.E + self.K, drive)
        if len(start) != len(M):
            raise AssertionError(f"{len(start)} start values {list(start)} for {len(M)} modes")
        rows = np.array([self.outputs[name][0] for name in start]).reshape(len(start), len(self.E))
        gap = np.array(list(start.values())) - (rows @ X).real.sum(axis=1)
        y0 = np.linalg.solve(rows @ Z, gap) if len(M) else np.zeros(0)
        result: dict[str, list[float]] = {name: [] for name in names}
        for t in times:
            turn = np.exp(1j * omegas * t)
            y = expm(M * t) @ y0
            x = (X @ turn + Z @ y).real
            rate = (X @ (1j * omegas * turn) + Z @ (M @ y)).real
            s = np.array([part.value.at(t) for part in self.sources])
            for name, values in result.items():
                a, b, c = self.outputs[name]
                values.append(float(a @ x + b @ rate + c @ s))
        return {name: np.array(values) for name, values in result.items()}


def model_of(netlist: Sequence[Part], **initial: float) -> cotree.Model:
    """The same netlist as a Cotree model, with start values by the name of the storage."""
    model = cotree.Model("netlist")
    for part in netlist:
        more = {"initial": initial[part.name]} if part.name in initial else {}
        a, b = part.nodes[:2], part.nodes[2:]
        text = part.value.text if isinstance(part.value, Wave) else part.value
        match part.kind:
            case "R":
                model.add(cotree.Resistor(part.name, a, resistance=text))
            case "L":
                model.add(cotree.Inductor(part.name, a, inductance=text, **more))
            case "C":
                model.add(cotree.Capacitor(part.name, a, capacitance=text, **more))
            case "V":
                model.add(cotree.VoltageSource(part.name, a, voltage=text))
            case "I":
                model.add(cotree.CurrentSource(part.name, a, current=text))
            case "T":
                model.add(cotree.Transformer(part.name, a, b, ratio=text))
            case "G":
                model.add(cotree.Gyrator(part.name, a, b, resistance=text))
            case "O":
                model.add(cotree.OperationalAmplifier(part.name, a, b, gain=text))
            case "M":
                l2, mutual = part.more
                model.add(
                    cotree.MutualInductance(
                        part.name, a, b, primary_inductance=text, secondary_inductance=l2, mutual=mutual
                    )
                )
    return model


def worst_difference(solution: cotree.Solution, exact: dict[str, np.ndarray]) -> float:
    """The largest difference over all names, relative to the largest value of the same physical kind (at least 1)."""
    worst = 0.0
    for kind in ("voltage", "current"):
        names = [name for name in exact if name.endswith(kind)]
        scale = max([1.0, *(float(np.abs(exact[name]).max()) for name in names)])
        worst = max([worst, *(float(np.abs(solution[name] - exact[name]).max()) / scale for name in names)])
    return worst
