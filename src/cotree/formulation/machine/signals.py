"""Signals by name: what stands behind every name, in an order in which nothing waits for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import casadi as ca

from cotree.errors import ExpressionError, FormulationError, nearest
from cotree.maths.symbolic import column, substitute
from cotree.model import Model


class Signals(Mapping[str, ca.SX]):
    """One symbol for every signal that an expression names, until it is known what stands behind it."""

    def __init__(self, model: Model) -> None:
        self.where: dict[str, str] = {}
        for component in model.components.values():
            for field, expression in component.expressions.items():
                for name in sorted(expression.measured):
                    self.where.setdefault(name, f"{component.name}.{field}")
        self.symbols: dict[str, ca.SX] = {}

    def __getitem__(self, name: str) -> ca.SX:
        if name not in self.symbols:
            self.symbols[name] = ca.SX.sym(name)
        return self.symbols[name]

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.symbols)

    def __len__(self) -> int:
        return len(self.symbols)


class Resolver:
    """Replaces symbols by what stands behind them, and refuses loops."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ca.SX, Callable[[], ca.SX]]] = {}
        self._done: dict[int, ca.SX] = {}
        self._open: list[ca.SX] = []

    def define(self, symbol: ca.SX, value: ca.SX | Callable[[], ca.SX]) -> None:
        """Say what stands behind a symbol: an expression, or a function that gives it when it is needed."""
        self._known[symbol.element_hash()] = symbol, value if callable(value) else lambda: value

    def behind(self, symbol: ca.SX) -> ca.SX | None:
        """What stands behind a symbol, as it was said; None where nothing was."""
        found = self._known.get(symbol.element_hash())
        return None if found is None else ca.SX(found[1]())

    def forget(self) -> None:
        """Find everything anew, after more was defined."""
        self._done.clear()

    def __call__(self, expression: ca.SX) -> ca.SX:
        """The expression without any symbol that is defined here."""
        inside = [symbol for symbol in ca.symvar(expression) if symbol.element_hash() in self._known]
        if not inside:
            return expression
        return substitute(expression, column(inside), column([self._value(symbol) for symbol in inside]))

    def _value(self, symbol: ca.SX) -> ca.SX:
        key = symbol.element_hash()
        if key not in self._done:
            if any(other.element_hash() == key for other in self._open):
                raise self._loop(symbol)
            self._open.append(symbol)
            self._done[key] = self(ca.SX(self._known[key][1]()))
            self._open.pop()
        return self._done[key]

    def _loop(self, symbol: ca.SX) -> FormulationError:
        first = next(k for k, other in enumerate(self._open) if other.element_hash() == symbol.element_hash())
        names = list(dict.fromkeys(other.name() for other in self._open[first:]))
        way = " <- ".join((*names, names[0]))
        return FormulationError(
            f"the signals form an algebraic loop: {way}",
            where=names[0],
            expected="a state or a sample somewhere in every loop of signals",
            remedy="Put a lag (control.transfer_function), an integrator or a sampled block into the loop",
        )


def unknown_signal(name: str, where: str, known: list[str]) -> ExpressionError:
    """The error for a signal that nothing gives."""
    owner, _, rest = name.partition(".")
    own = [other for other in known if other.startswith(f"{owner}.")]
    return ExpressionError(
        f"there is no signal '{name}'",
        where=where,
        expected="a result of the model, such as O.angle, crank.A.velocity.x, R1.current, or a block's pid.value",
        remedy=nearest(name, known)
        or (f"'{owner}' gives {', '.join(own[:8])}{', ...' if len(own) > 8 else ''}" if own and rest else ""),
    )
