"""Order, controllability and observability of a graph in which signals act, by its linear descriptor form.

Causal paths run along bonds only, so a controller that reads one signal and drives a source is invisible to them. Here
all laws and signals are linearised together, E x' = A x + B u and y = C x, with a general value in place of each
parameter and each variable, so that ranks are those of almost all values. With K = (s0 E - A)^-1 E, finite modes
are the range of a high power of K (Dai 1989, Singular Control Systems, ch. 1), and on it the usual criteria hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from cotree.bond.causality_rules import general
from cotree.bond.structure import SOURCES, BondStructure, Line, Vertex, component_names

Matrix = NDArray[np.float64]
TINY = 1e-9
"""Singular values of matrices of size one that count as zero; general values leave the others above 1e-6."""
SHIFT = 0.7310585
"""A number that is no pole at general values."""


@dataclass(frozen=True)
class Ranks:
    """What the linear descriptor form tells; states are components of storages and integrators."""

    states: tuple[str, ...]
    unreached: tuple[str, ...]
    unseen: tuple[str, ...]
    unsteered: tuple[str, ...]
    """States that stand for the modes that no input steers."""
    untold: tuple[str, ...]
    """States that stand for the modes that no output tells."""
    controllability_rank: int
    observability_rank: int


def foreign(expression: ca.SX | None, structure: BondStructure) -> list[str]:
    """The symbols in a value that are no parameters and no time: signals and coordinates."""
    if expression is None or expression.is_constant():
        return []
    values = structure.values
    own = ca.vertcat(values.p.symbols, values.t, values.mode_symbols)
    known = {symbol.element_hash() for symbol in ca.symvar(own)}
    return [symbol.name() for symbol in ca.symvar(expression) if symbol.element_hash() not in known]


def laws(vertex: Vertex, structure: BondStructure) -> list[ca.SX]:
    """The expressions that a vertex holds."""
    held = [each for each in (vertex.matrix, vertex.value) if each is not None]
    if vertex.law is not None:
        width = structure.width(vertex.name)
        held.append(ca.SX(vertex.law(ca.SX(ca.DM([general(f"{vertex.name} {k}") for k in range(width)])))))
    return held


def posed(structure: BondStructure) -> bool:
    """Whether positions and rotations of frames act in the graph."""
    turned = any(integral.rotation for integral in structure.integrals)
    held = any(v.gap is not None or v.displacement is not None for v in structure.vertices.values())
    return bool(structure.placed) or turned or held


def signalled(structure: BondStructure) -> bool:
    """Whether signals act in the graph, or integrate."""
    every = (law for vertex in structure.vertices.values() for law in laws(vertex, structure))
    return bool(structure.integrals) or any(foreign(law, structure) for law in every)


class Descriptor:
    """The linear descriptor form of an opened graph at general values."""

    def __init__(self, structure: BondStructure) -> None:
        self.structure = structure
        self.x: dict[str, ca.SX] = {}
        """Every variable by the name that signals have."""
        self.aliases: dict[str, tuple[str, float]] = {}
        self.residuals: list[ca.SX] = []
        self.rates: dict[int, str] = {}
        """The variable whose rate a residual holds, minus its right side."""
        self.driven: dict[str, list[int]] = {}
        """The residuals of each source."""
        for line in structure.lines.values():
            for what in ("effort", "flow"):
                for name in component_names(f"{line.name}.{what}", line.width):
                    self._new(name)
        for vertex in structure.vertices.values():
            self._vertex(vertex)
        for integral in structure.integrals:
            for name, rate in zip(integral.names, ca.vertsplit(integral.rate), strict=True):
                self._state(self._new(name), rate)
        formulas = {**structure.outputs, **structure.definitions}
        for name in [*structure.definitions, *(name for name in structure.outputs if name in structure.signals)]:
            if name not in self.x:
                self.residuals.append(self._new(name) - formulas[name].expression)
        self._sensors()

    def _new(self, name: str) -> ca.SX:
        return self.x.setdefault(name, ca.SX.sym(name))

    def _bond(self, line: Line, what: str) -> ca.SX:
        return ca.vertcat(*(self.x[name] for name in component_names(f"{line.name}.{what}", line.width)))

    def _say(self, residual: ca.SX) -> list[int]:
        first = len(self.residuals)
        self.residuals += ca.vertsplit(residual)
        return list(range(first, len(self.residuals)))

    def _state(self, symbol: ca.SX, rate: ca.SX) -> None:
        self.rates[len(self.residuals)] = symbol.name()
        self.residuals.append(-ca.SX(rate))

    def _vertex(self, vertex: Vertex) -> None:
        lines = self.structure.around[vertex.name]
        if not lines:
            return
        effort = {line.name: self._bond(line, "effort") for line in lines}
        into = {line.name: self._bond(line, "flow") * (1 if line.enters(vertex.name) else -1) for line in lines}
        if vertex.letter in ("0", "1"):
            self._junction(vertex, lines)
        elif vertex.letter == "Split":
            parts = [self.structure.at(vertex.name, str(k + 1)).name for k in range(len(vertex.parts))]
            whole = self.structure.at(vertex.name, "whole").name
            self._say(into[whole] + ca.vertcat(*(into[part] for part in parts)))
            self._say(effort[whole] - ca.vertcat(*(effort[part] for part in parts)))
        elif vertex.letter in ("TF", "GY"):
            one, two = (self.structure.at(vertex.name, port).name for port in "12")
            matrix = vertex.modulus
            matrix = matrix * ca.SX.eye(effort[one].numel()) if matrix.numel() == 1 else matrix
            (e1, f1), (e2, f2) = (effort[one], into[one]), (effort[two], -into[two])
            given, back = (f2, e2) if vertex.letter == "TF" else (e2, f2)
            self._say(given - ca.mtimes(matrix, f1))
            self._say(e1 - ca.mtimes(matrix.T, back))
        else:
            self._one_port(vertex, lines[0], effort[lines[0].name], into[lines[0].name])

    def _junction(self, vertex: Vertex, lines: Sequence[Line]) -> None:
        common, added = ("effort", "flow") if vertex.letter == "0" else ("flow", "effort")
        for line in lines[1:]:
            self._say(self._bond(line, common) - self._bond(lines[0], common))
        total = ca.SX.zeros(lines[0].width)
        for line in lines:
            total += self._bond(line, added) * (1 if line.enters(vertex.name) else -1)
        self._say(total)
        self._alias(vertex.name, common, lines[0], 1.0)

    def _alias(self, owner: str, what: str, line: Line, sign: float) -> None:
        own, there = (component_names(f"{name}.{what}", line.width) for name in (owner, line.name))
        self.aliases |= {mine: (other, sign) for mine, other in zip(own, there, strict=True)}

    def _one_port(self, vertex: Vertex, line: Line, effort: ca.SX, flow: ca.SX) -> None:
        self._alias(vertex.name, "effort", line, 1.0)
        source = vertex.letter in SOURCES
        self._alias(vertex.name, "flow", line, 1.0 if line.enters(vertex.name) or source else -1.0)
        if source:
            value = ca.SX.zeros(line.width) + vertex.given
            self.driven[vertex.name] = self._say((effort if vertex.letter == "Se" else flow) - value)
        elif vertex.letter in ("I", "C"):
            what, rate, other = ("momentum", effort, flow) if vertex.letter == "I" else ("displacement", flow, effort)
            own = ca.vertcat(*(self._new(name) for name in component_names(f"{vertex.name}.{what}", line.width)))
            for symbol, each in zip(ca.vertsplit(own), ca.vertsplit(rate), strict=True):
                self._state(symbol, each)
            if vertex.law is not None:
                self._say(other - ca.SX(vertex.law(own)))
            elif vertex.letter == "I":
                self._say(own - ca.mtimes(vertex.modulus, other))
            else:
                self._say(other - ca.mtimes(vertex.modulus, own))
        else:
            given, result = (flow, effort) if vertex.gives == "effort" else (effort, flow)
            law = ca.SX(vertex.law(given)) if vertex.law is not None else ca.mtimes(vertex.modulus, given)
            self._say(result - law)

    def _sensors(self) -> None:
        """Sensors that expressions use: aliases of what they measure, or integrals of it."""
        for name, (of, measures) in self.structure.sensors.items():
            used = [signal for signal in self.structure.signals if f"{signal}.".startswith(f"{name}.value.")]
            for signal in used:
                part = signal.removeprefix(f"{name}.value")
                if self._found(f"{of}.{measures}{part}") is not None:
                    self.aliases[signal] = (f"{of}.{measures}{part}", 1.0)
                else:
                    rate = self._found(f"{of}.{'effort' if measures == 'momentum' else 'flow'}{part}")
                    if rate is not None:
                        self._state(self._new(signal), rate)

    def _found(self, name: str) -> ca.SX | None:
        """A variable by its own name or by that of an element, junction or sensor."""
        sign = 1.0
        for _ in range(len(self.aliases) + 1):
            if name in self.x:
                return self.x[name] * sign
            if name not in self.aliases:
                return None
            name, factor = self.aliases[name]
            sign *= factor
        return None

    def row(self, name: str) -> ca.SX | None:
        """What an output such as ``b3.flow`` stands for, as a column."""
        if name in self.structure.sensors:
            of, measures = self.structure.sensors[name]
            own = self.row(f"{name}.value")
            if own is not None:
                return own
            found = self.row(f"{of}.{measures}")
            return found if found is not None else self.row(f"{of}.{'effort' if measures == 'momentum' else 'flow'}")
        single = self._found(name)
        if single is not None:
            return single
        every = sorted(each for each in {*self.x, *self.aliases} if each.startswith(f"{name}."))
        parts = [part for part in map(self._found, every) if part is not None]
        return ca.vertcat(*parts) if parts else None

    def matrices(self, inputs: Iterable[str], outputs: Iterable[str]) -> tuple[Matrix, Matrix, Matrix, Matrix] | None:
        """E, A, B and C at general values; None where a signal is not among the variables."""
        names = list(self.x)
        x = ca.vertcat(*self.x.values())
        rows = [self.row(name) for name in outputs]
        if len(self.residuals) != len(names) or any(row is None for row in rows):
            return None
        every = ca.vertcat(*self.residuals)
        seen = ca.vertcat(ca.SX(0, 1), *(row for row in rows if row is not None))
        own_symbols = {s.element_hash() for s in ca.symvar(x)}
        numbers = self._numbers()
        free, put = [], []
        for symbol in ca.symvar(ca.vertcat(every, seen)):
            if symbol.element_hash() in own_symbols:
                continue
            found = None if symbol.name() in numbers else self._found(symbol.name())
            if found is None and symbol.name() not in numbers:
                return None
            free.append(symbol)
            put.append(numbers[symbol.name()] if found is None else found)
        if free:
            every, seen = ca.substitute([every, seen], [ca.vertcat(*free)], [ca.vertcat(*put)])
        point = ca.DM([general(name) for name in names])
        a, c = (
            np.asarray(ca.Function("j", [x], [ca.jacobian(each, x)])(point).full(), dtype=float).reshape(-1, len(names))
            for each in (-every, seen)
        )
        e, b = np.zeros_like(a), np.zeros((len(a), 0))
        for number, name in self.rates.items():
            e[number, names.index(name)] = 1.0
        columns = [number for name in inputs for number in self.driven[name]]
        b = np.eye(len(a))[:, columns]
        return (e, a, b, c) if np.isfinite(a).all() and np.isfinite(c).all() else None

    def _numbers(self) -> Mapping[str, float]:
        """General values of the parameters, with their signs; what is zero stays zero."""
        values = self.structure.values
        held = zip(values.p.names, values.p.start.tolist(), strict=True)
        numbers = {name: float(np.sign(start)) * general(name) for name, start in held}
        return {
            **numbers,
            **{s.name(): general(s.name()) for s in ca.symvar(ca.vertcat(values.t, values.mode_symbols))},
        }


def signal_ranks(
    structure: BondStructure, inputs: Sequence[str], outputs: Sequence[str], first: Sequence[str]
) -> Ranks | None:
    """Order and ranks with all signals; ``first`` are storages that are wanted as states.

    None where the descriptor form cannot be written: a signal is a result of another kind, or nothing determines it.
    """
    if any(vertex.letter in SOURCES and vertex.value is None for vertex in structure.vertices.values()):
        return None
    form = Descriptor(structure)
    found = form.matrices(inputs, outputs)
    if found is None:
        return None
    e, a, b, c = found
    size = np.maximum(np.abs(SHIFT * e - a).max(axis=1, keepdims=True), 1.0)
    shifted = (SHIFT * e - a) / size
    if np.linalg.cond(shifted) > 1 / TINY:
        return None
    solved = np.linalg.solve(shifted, np.hstack([e, b]) / size)
    k, reach = solved[:, : len(a)], solved[:, len(a) :]
    right, left = _range(k), _range(k.T)
    if right.shape != left.shape:
        return None
    order = right.shape[1]
    names = list(form.x)
    states = {name: _plain(name, structure) for name in form.rates.values()}
    wanted = sorted(states, key=lambda name: (states[name] not in first, list(states).index(name)))
    rows = _independent(right[[names.index(name) for name in wanted]])
    if len(rows) != order:
        return None
    chosen = sorted((wanted[k] for k in rows), key=list(states).index)
    told = tuple(states[name] for name in chosen)
    if not order:
        return Ranks((), (), (), (), (), 0, 0)
    change = right[[names.index(name) for name in chosen]]
    inner = np.linalg.inv(right.T @ k @ right)  # on finite modes K = (s0 - A)^-1
    back = np.linalg.inv(change)
    system = change @ (SHIFT * np.eye(order) - inner) @ back
    steering = change @ inner @ np.linalg.solve(left.T @ right, left.T @ reach)
    seen = c @ right @ back
    moved, known = _krylov(system, steering), _krylov(system.T, seen.T)
    return Ranks(
        told, _zero_rows(moved, told), _zero_rows(known, told), _lacking(moved, told), _lacking(known, told),
        _rank(np.hstack([system, steering])), _rank(np.vstack([system, seen])),
    )  # fmt: skip


def _plain(name: str, structure: BondStructure) -> str:
    """``m1`` for ``m1.momentum``, ``m1.x`` for ``m1.momentum.x``; integrators likewise."""
    for what in (".momentum", ".displacement", ".value"):
        owner, found, part = name.rpartition(what)
        if found and (owner in structure.vertices or what == ".value"):
            return owner + part
    return name


def _range(matrix: Matrix) -> Matrix:
    """An orthonormal basis of the range of a high power of a matrix."""
    basis: Matrix = np.eye(len(matrix))
    while basis.shape[1]:
        u, s, _ = np.linalg.svd(basis.T @ matrix @ basis)
        rank = int(np.sum(s > TINY * max(1.0, s[0])))
        if rank == basis.shape[1]:
            break
        basis = basis @ u[:, :rank]
    return basis


def _krylov(system: Matrix, start: Matrix) -> Matrix:
    """An orthonormal basis of what ``start`` and its images under ``system`` span."""
    basis: Matrix = np.zeros((len(system), 0))
    fresh = start
    while fresh.size and basis.shape[1] < len(system):
        length = np.linalg.norm(fresh, axis=0)
        rest = fresh[:, length > TINY] / length[length > TINY]
        for _ in range(2):  # twice, so that rounding leaves nothing of the basis
            rest = rest - basis @ (basis.T @ rest)
        u, s, _ = np.linalg.svd(rest, full_matrices=False)
        fresh = u[:, s > 1e-7]
        basis = np.hstack([basis, fresh])
        fresh = system @ fresh
    return basis


def _rank(matrix: Matrix) -> int:
    size = max(1.0, float(np.abs(matrix).max(initial=0.0)))
    return int(np.linalg.matrix_rank(matrix / size, tol=1e-8)) if matrix.size else 0


def _zero_rows(basis: Matrix, names: Sequence[str]) -> tuple[str, ...]:
    large = np.abs(basis).max(axis=1, initial=0.0)
    return tuple(name for name, each in zip(names, large, strict=True) if each < 1e-7)


def _lacking(basis: Matrix, names: Sequence[str]) -> tuple[str, ...]:
    """One state for each dimension that a subspace lacks: those that the missing directions hold most of."""
    missing = scipy.linalg.null_space(basis.T) if basis.shape[1] else np.eye(len(names))
    if not missing.shape[1]:
        return ()
    _, _, order = scipy.linalg.qr(missing.T, pivoting=True, mode="economic")
    return tuple(names[k] for k in sorted(order[: missing.shape[1]]))


def _independent(rows: Matrix) -> list[int]:
    """Rows that are independent of those before them."""
    kept: list[int] = []
    basis: Matrix = np.zeros((rows.shape[1], 0))
    for k, row in enumerate(rows):
        rest = row - basis @ (basis.T @ row)
        rest = rest - basis @ (basis.T @ rest)
        if np.linalg.norm(rest) > 1e-7:
            kept.append(k)
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    return kept
