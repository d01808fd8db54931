"""Signals: what each name stands for, from states outwards.

Names of states are known at once, blocks follow from other signals. Flows follow from the junction structure, efforts
from the laws; where a modulus depends on them, or blocks on each other in a circle, the signal stays as an algebraic
variable of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

import casadi as ca

from cotree.bond.structure import (
    JUNCTIONS,
    ONE_PORTS,
    UNITS,
    BondStructure,
    Integral,
    component_names,
)  # fmt: skip
from cotree.errors import ModelError, listing, nearest
from cotree.formulation.system import Output
from cotree.maths.symbolic import column, substitute

QUANTITIES = ("effort", "flow", "momentum", "displacement")
LABEL = re.compile(r"[xyz]|c[1-9][0-9]*")


def add_sensors(structure: BondStructure) -> None:
    """Turn each sensor into a signal; momentum and displacement of what does not store are integrals of their own."""
    for name, (of, measures) in structure.sensors.items():
        line = _line_of(structure, name, of)
        width, domain = structure.lines[line].width, structure.domain(line)
        unit = UNITS[domain][QUANTITIES.index(measures)]
        letter = structure.vertices[of].letter if of in structure.vertices else ""
        stored = (letter, measures) in (("I", "momentum"), ("C", "displacement"))
        _check_measure(structure, name, of, letter, measures)
        if measures in ("effort", "flow") or stored:
            for own, source in zip(
                component_names(f"{name}.value", width), component_names(f"{of}.{measures}", width), strict=True
            ):
                structure.definitions[own] = Output(_placeholder(structure, source), unit)
            continue
        rate = "effort" if measures == "momentum" else "flow"
        names = component_names(f"{name}.value", width)
        rates = [_placeholder(structure, source) for source in component_names(f"{of}.{rate}", width)]
        symbols = column([ca.SX.sym(each) for each in names])
        structure.integrals.append(Integral(names, (unit,) * width, symbols, ca.SX.zeros(width), column(rates), name))


def _check_measure(structure: BondStructure, name: str, of: str, letter: str, measures: str) -> None:
    common = {"0": ("effort", "momentum"), "1": ("flow", "displacement")}
    if letter in common and measures not in common[letter]:
        raise ModelError(
            f"it measures the {measures} of the {letter} junction '{of}', which has one for each bond",
            where=name,
            expected=f"{' or '.join(common[letter])}, or a bond as 'of'",
        )


def _line_of(structure: BondStructure, sensor: str, of: str) -> str:
    """The bond that a sensor looks at."""
    if of in structure.lines:
        return of
    vertex = structure.vertices.get(of)
    if vertex is None or vertex.letter not in (*ONE_PORTS, *JUNCTIONS):
        found = "has several ports" if vertex is not None else "does not exist"
        raise ModelError(
            f"it measures '{of}', which {found}", where=sensor, expected="a bond, a one-port element or a junction",
            remedy=nearest(of, [*structure.lines, *structure.vertices])
            if vertex is None
            else f"Measure one of its bonds: {listing([line.name for line in structure.around[of]])}",
        )  # fmt: skip
    return structure.around[of][0].name


def _placeholder(structure: BondStructure, name: str) -> ca.SX:
    return structure.signals.setdefault(name, ca.SX.sym(name))


def split_signal(name: str, what: str) -> tuple[str, str] | None:
    """The owner and the component of a signal such as ``b3.flow.x``; None where it is no ``what``."""
    parts = name.split(".")
    for k in (len(parts) - 1, len(parts) - 2):
        if k > 0 and parts[k] == what and (k == len(parts) - 1 or LABEL.fullmatch(parts[-1])):
            return ".".join(parts[:k]), ".".join(parts[k + 1 :])
    return None


class Signals:
    """The signals of an opened graph by levels: first those of states, then flows, then efforts."""

    def __init__(self, structure: BondStructure, states: Mapping[str, ca.SX]) -> None:
        self.structure = structure
        self.known: dict[str, ca.SX] = dict(states)
        self.late: dict[str, ca.SX] = {}
        """Signals that stay as algebraic variables."""
        for integral in structure.integrals:
            self.known |= dict(zip(integral.names, ca.vertsplit(integral.symbols), strict=True))
        self.formulas = {name: each.expression for name, each in structure.definitions.items()}
        self.formulas |= {
            name: each.expression for name, each in structure.outputs.items() if name in structure.signals
        }
        self.formulas = {name: self._asked(formula) for name, formula in self.formulas.items()}
        self._check()

    def _asked(self, formula: ca.SX) -> ca.SX:
        """A formula with what results report as signals, since expressions ask for it."""
        reported = self.structure.reported
        found = [s for s in ca.symvar(formula) if s.name() in reported and _same(s, reported[s.name()])]
        own = [self.structure.signals.setdefault(s.name(), s) for s in found]
        return substitute(formula, column(found), column(own)) if found else formula

    def _check(self) -> None:
        possible = self.possible
        for name in self.structure.signals:
            if name not in possible:
                raise ModelError(
                    f"there is no signal '{name}'", where=self._user(name),
                    expected="effort or flow of a bond or an element, momentum of an I, displacement of a C, "
                    "or the value of a sensor, a block or an integrator",
                    remedy=self._meant(name),
                )  # fmt: skip

    def _meant(self, name: str) -> str:
        if any(known.startswith(f"{name}.") for known in self.possible):
            parts = [known for known in sorted(self.possible) if known.startswith(f"{name}.")]
            return f"name a component: {listing(parts, 4)}"
        return nearest(name, sorted(self.possible))

    def _user(self, name: str) -> str:
        """A part that uses a signal."""
        symbol = self.structure.signals[name]
        for vertex in self.structure.vertices.values():
            if name in vertex.used:
                return vertex.name
        for integral in self.structure.integrals:
            if ca.depends_on(integral.rate, symbol):
                return integral.owner
        for own, formula in self.formulas.items():
            if ca.depends_on(formula, symbol):
                return own.rpartition(".")[0]
        return ""

    @cached_property
    def possible(self) -> set[str]:
        """Every name that a signal may have."""
        names = {*self.known, *self.formulas, *self.structure.outputs}
        for line in self.structure.lines.values():
            names |= {
                each for what in ("effort", "flow") for each in component_names(f"{line.name}.{what}", line.width)
            }
        for vertex in self.structure.vertices.values():
            if vertex.letter in (*ONE_PORTS, *JUNCTIONS) and self.structure.around[vertex.name]:
                width = self.structure.width(vertex.name)
                own = {"0": ["effort"], "1": ["flow"]}.get(vertex.letter, ["effort", "flow"])
                own += {"I": ["momentum"], "C": ["displacement"]}.get(vertex.letter, [])
                names |= {each for what in own for each in component_names(f"{vertex.name}.{what}", width)}
        return names

    def offer(self, found: Mapping[str, ca.SX]) -> None:
        """Signals that have become known."""
        self.known |= {name: value for name, value in found.items() if name not in self.late}

    def expand(self, expression: ca.SX) -> ca.SX:
        """An expression with all signals that are known so far put in; others stay as placeholders."""
        if not self.structure.signals or expression.is_constant():
            return expression
        for _ in range(1000):
            names = self.unknown(expression)
            ready = [name for name in names if name in self.known or name in self.formulas]
            if not ready:
                return expression
            values = [self.known[name] if name in self.known else self.formulas[name] for name in ready]
            circular = [name for name in ready if name not in self.known and self._circular(name)]
            for name in circular:
                self.keep(name)
            ready = [name for name in ready if name not in circular]
            values = [self.known[name] if name in self.known else self.formulas[name] for name in ready]
            if not ready:
                return expression
            symbols = [self.structure.signals[name] for name in ready]
            expression = ca.substitute(expression, column(symbols), column(values))
        raise AssertionError("signals do not settle")

    def _circular(self, name: str) -> bool:
        """Whether a formula needs itself."""
        seen: set[str] = set()
        todo = [name]
        while todo:
            for used in self.unknown(self.formulas[todo.pop()]):
                if used == name:
                    return True
                if used in self.formulas and used not in seen and used not in self.late:
                    seen.add(used)
                    todo.append(used)
        return False

    def unknown(self, expression: ca.SX) -> list[str]:
        """The placeholders in an expression that are not kept as variables."""
        if expression.is_constant():
            return []
        held = self._names_of_symbols
        found = [held.get(hash(symbol.element_hash())) for symbol in ca.symvar(expression)]
        return [name for name in found if name is not None and name not in self.late]

    @property
    def _names_of_symbols(self) -> dict[int, str]:
        if len(self._held) != len(self.structure.signals):
            self._held = {hash(symbol.element_hash()): name for name, symbol in self.structure.signals.items()}
        return self._held

    _held: dict[int, str] = {}  # noqa: RUF012

    def keep(self, name: str) -> None:
        """Keep a signal as an algebraic variable."""
        self.late[name] = self.structure.signals[name]

    def settle(self, expressions: Iterable[ca.SX]) -> None:
        """Keep whatever is not known yet in some expressions as algebraic variables."""
        for expression in expressions:
            for name in self.unknown(self.expand(expression)):
                self.keep(name)


def vector_signals(name: str, value: ca.SX) -> dict[str, ca.SX]:
    """A column as signals by component."""
    return dict(zip(component_names(name, value.numel()), ca.vertsplit(value), strict=True))


def _same(one: ca.SX, other: ca.SX) -> bool:
    return bool(one.element_hash() == other.element_hash())
