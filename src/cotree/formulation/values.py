"""The values of a model as symbols: parameters p, signals of time, and the modes that their steps bring."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import ExpressionError, ModelError, nearest
from cotree.formulation.data import DataFunctions
from cotree.formulation.system import Mode, Variables
from cotree.maths.printing import to_text
from cotree.maths.profiles import profiles
from cotree.maths.symbolic import SYMBOLIC, column, elements, substitute
from cotree.model import Component, Expression, Model, Quantity, quantities

MOST_BREAKS = 1_000_000


@dataclass(frozen=True)
class Terminal:
    """The variables of one edge, as its law sees them."""

    across: ca.SX
    through: ca.SX
    d_across: ca.SX
    d_through: ca.SX
    position: ca.SX | None = None
    """The integral of the across variable, where the component asks for it."""


@dataclass(frozen=True)
class Pulse:
    """A train of pulses: 1 from ``begin`` for ``width``, again after each ``period``, otherwise 0."""

    symbol: ca.SX
    value: ca.SX
    """As a function of t and p."""
    begin: ca.SX
    width: ca.SX
    period: ca.SX


def checked_pulse(width: float, period: float) -> None:
    """Refuse a pulse that is longer than its period."""
    if not (period > 0 and 0 <= width <= period):
        raise ModelError(f"a pulse of width {width:g} and period {period:g}", expected="0 <= width <= period")


def _built_in(expression: Expression, info: Quantity) -> bool:
    """Whether a plain number is part of the structure of the equations instead of a parameter."""
    return info.built_in in ("always", "table") or (info.built_in == "zero" and expression.number({}) == 0.0)


POLYNOMIAL = {
    ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_NEG, ca.OP_TWICE, ca.OP_SQ,
}  # fmt: skip
"""Operations that make no narrow feature of wide ones."""


def may_be_narrow(law: ca.SX) -> bool:
    """Whether an expression can be narrow where what it follows is not: it is more than a polynomial."""
    made = ca.Function("law", ca.symvar(law), [law])
    return any(made.instruction_id(k) not in POLYNOMIAL for k in range(made.n_instructions()))


class Values:
    """Symbols for everything that has a value in a model.

    ``p`` holds the parameters and fields that are plain numbers; what is given by an expression follows from them.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.t = ca.SX.sym("t")
        self.modes: list[Mode] = []
        self.signals: dict[str, tuple[ca.SX, str]] = {}
        """Fields that are functions of time alone, with their units."""
        self.laws: dict[str, ca.SX] = {}
        """Expressions that follow the motion and may be narrow, by the field that holds each."""
        self.measures: Mapping[str, ca.SX] = {}
        """Positions and velocities that expressions may use, once the formulation knows them."""
        self.pulses: dict[str, Pulse] | None = None
        """Pulses by their text, where they are samples of a machine instead of modes."""
        self.crossings: dict[str, tuple[ca.SX, ca.SX]] | None = None
        """Steps of signals by their text, where they are switches of a machine: a symbol, and what passes zero."""
        self.others: Mapping[str, ca.SX] = {}
        """Signals of the machine around a mechanism."""
        self._mode_symbols: list[ca.SX] = []
        self._where, self._places = "", list[str]()
        names = [name for name, expression in model.parameters.items() if not expression.names]
        units = ["" for _ in names]
        for component in model.valued():
            for field, info in quantities(component).items():
                expression = component.expressions.get(field)
                if expression is not None and not expression.names and not _built_in(expression, info):
                    names.append(f"{component.name}.{field}")
                    units.append(info.unit)
        numbers = {**model.parameter_values(), **model.component_values()}
        self._tabled = {
            name: numbers[name]
            for component in model.valued()
            for field, info in quantities(component).items()
            if info.built_in == "table" and (name := f"{component.name}.{field}") in numbers
        }
        """Values from which tables were computed."""
        self.p = Variables.make(names, units, [numbers[name] for name in names])
        self._symbol = {name: self.p.symbols[k] for k, name in enumerate(names)}
        self._functions: dict[str, Callable[..., Any]] = {
            **SYMBOLIC,
            "step": self._step,
            "sign": self._sign,
            "pulse": self._pulse,
            "ramp": lambda x: self._kink("ramp", (x,), x, lambda after: x * after),
            "abs": lambda x: self._kink("abs", (x,), x, lambda after: x * (2 * after - 1)),
            "min": lambda a, b: self._kink("min", (a, b), b - a, lambda after: b - (b - a) * after),
            "max": lambda a, b: self._kink("max", (a, b), b - a, lambda after: a + (b - a) * after),
        }
        self._functions |= profiles(self._functions["ramp"])
        self._data = DataFunctions(self).table() if model.series else {}
        self._parameters = self._derived_parameters()

    @property
    def mode_symbols(self) -> ca.SX:
        """The column of all modes' symbols."""
        return column(self._mode_symbols)

    def numbers(self, changes: Mapping[str, float] | None = None) -> NDArray[np.float64]:
        """Checked numeric p, with ``changes`` by name in their place."""
        values = self.model.component_values(changes)  # looks at the changes first
        changes = dict(changes or {})
        values |= self.model.parameter_values({k: v for k, v in changes.items() if "." not in k})
        for name in changes:
            if name not in self._symbol:
                owner, _, field = name.partition(".")
                given = self._given(owner, field) if field else self.model.parameters[name]
                if name in self._tabled:
                    raise ModelError(
                        f"the tables of a flexible body were computed from its value {self._tabled[name]:g}",
                        where=name,
                        expected="a value that can change without computing the flexible body anew",
                        remedy="Change the model",
                    )
                if not given.names:
                    raise ModelError(
                        f"its value {given.text} is built into the equations",
                        where=name,
                        expected="a value that can change without writing the equations anew",
                        remedy="Give it in the model as a named parameter, or change the model",
                    )
                raise ModelError(
                    f"it follows from the expression '{given.text}', so it cannot be changed by itself",
                    where=name,
                    remedy="Change the parameters in its expression",
                )
        for name, value in self._tabled.items():
            if values[name] != value:
                raise ModelError(
                    f"it would change from {value:g} to {values[name]:g}, but tables were computed from it",
                    where=name,
                    expected="a value that can change without computing the flexible body anew",
                    remedy="Change the model: load it with other parameters, or make it again",
                )
        return np.array([values[name] for name in self.p.names])

    def _given(self, owner: str, entry: str) -> Expression:
        return next(component for component in self.model.valued() if component.name == owner).expressions[entry]

    def of(self, component: Component) -> SimpleNamespace:
        """The fields of a component as symbols and expressions; None where a field is not given."""
        return SimpleNamespace(**component.gather(self.entries(component)))

    def entries(self, component: Component, only: Collection[str] | None = None) -> dict[str, Any]:
        """The scalar values of a component by name, as symbols and expressions; ``only`` some of them."""
        result: dict[str, Any] = {}
        for field, info in quantities(component).items():
            if only is not None and field not in only:
                continue
            expression = component.expressions.get(field)
            symbol = self._symbol.get(f"{component.name}.{field}")
            if expression is None or symbol is not None:
                result[field] = symbol
                continue
            result[field] = self.evaluate(expression, f"{component.name}.{field}", time=info.signal)
            if expression.depends_on_time and not expression.measured:
                self.signals[f"{component.name}.{field}"] = (result[field], info.unit)
        return result

    def evaluate(
        self, expression: Expression, where: str, *, time: bool = True, own: Mapping[str, Any] | None = None
    ) -> ca.SX:
        """An expression in symbols; ``own`` are names that only this expression knows."""
        names = {**self._parameters, **({"t": self.t} if time else {}), **(own or {})}
        self._where = where
        try:
            for name in expression.measured - names.keys():
                names[name] = self._measured(name)
            value = ca.SX(expression.evaluate(names, self._functions | self._data))
            if (expression.measured or own) and may_be_narrow(value):
                self.laws[where] = value
            return value
        except ExpressionError as reason:
            raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None
        except (ArithmeticError, ValueError, TypeError, NotImplementedError) as reason:
            raise ExpressionError(
                f"the expression '{expression.text}' has no value: {reason}",
                where=where,
                remedy="Change the expression or its parameters",
            ) from None

    def _measured(self, name: str) -> ca.SX:
        """A measured quantity of the mechanism."""
        if name not in self.measures:
            raise ExpressionError(
                f"there is no measured quantity '{name}'",
                expected="a position or velocity of a node, such as A.position.x or A.velocity.y"
                if self.model.nodal
                else "a position, velocity or joint coordinate of the model, such as O.angle or crank.A.velocity.x",
                remedy=nearest(name, list(self.measures)),
            )
        return self.measures[name]

    def _derived_parameters(self) -> dict[str, Any]:
        """Symbols of the plain parameters and expressions of the others, in an order in which they can be built."""
        values: dict[str, Any] = {name: s for name, s in self._symbol.items() if "." not in name}
        waiting = {name: e for name, e in self.model.parameters.items() if name not in values}
        while waiting:  # the model has checked that this ends
            for name in [name for name, e in waiting.items() if e.names <= values.keys()]:
                values[name] = ca.SX(waiting.pop(name).evaluate(values, SYMBOLIC))
        return values

    def _kink(self, name: str, arguments: tuple[Any, ...], x: Any, form: Callable[[Any], Any]) -> Any:
        """A function with a bend at x = 0: by a step where its time is known, so that every stretch is smooth."""
        x = ca.SX(x)
        linear = self._timed(x) and not ca.depends_on(ca.jacobian(x, self.t), self.t)
        if not linear or (self.modes and ca.depends_on(x, self.mode_symbols)):
            return SYMBOLIC[name](*arguments)
        return form(self._step(x))

    def _timed(self, x: ca.SX) -> bool:
        """Whether something changes with time in a way that is known beforehand, without signals."""
        if not ca.depends_on(x, self.t):
            return False
        own = {self.t.element_hash(), *(symbol.element_hash() for symbol in self._mode_symbols)}
        others = [symbol for symbol in ca.symvar(x) if symbol.element_hash() not in own]
        return not others or self._parameter_hashes.issuperset(symbol.element_hash() for symbol in others)

    @cached_property
    def _parameter_hashes(self) -> frozenset[int]:
        return frozenset(symbol.element_hash() for symbol in elements(self.p.symbols))

    def _sign(self, x: Any) -> Any:
        switches = self._timed(ca.SX(x)) or self._switches(x)
        return 2 * self._step(x, "sign") - 1 if switches else SYMBOLIC["sign"](x)

    def _switches(self, x: Any) -> bool:
        """Whether a machine has a switch where something passes zero: it follows signals of its networks and blocks."""
        if self.crossings is None or self.measures is not self.others:
            return False
        return not self._parameter_hashes.issuperset(symbol.element_hash() for symbol in ca.symvar(ca.SX(x)))

    def _crossing(self, x: ca.SX) -> ca.SX:
        assert self.crossings is not None
        if to_text(x) not in self.crossings:
            self.crossings[to_text(x)] = ca.SX.sym(self._place("step")), x
        return self.crossings[to_text(x)][0]

    def _place(self, word: str) -> str:
        """A name for what switches in the field that is read: ``V.voltage.pulse``, then ``V.voltage.pulse_2``."""
        base = f"{self._where}.{word}" if self._where else word
        count = sum(1 for name in self._places if name == base)
        self._places.append(base)
        return f"{base}_{count + 1}" if count else base

    def _step(self, x: Any, function: str = "step") -> Any:
        slope = self._slope(x, function)
        if slope is None:
            return self._crossing(ca.SX(x)) if self._switches(x) else SYMBOLIC["step"](x)
        root = ca.Function("root", [self.p.symbols], [substitute(-x / slope, self.t, 0)])

        def times(p: NDArray[np.float64], start: float, end: float) -> NDArray[np.float64]:
            return np.array([time for time in [float(root(p))] if start < time < end])

        return self.mode(f"step({to_text(x)})", SYMBOLIC["step"](x), times)

    def _pulse(self, x: Any, width: Any, period: Any) -> Any:
        slope = self._slope(x, "pulse")
        if slope is None:
            return SYMBOLIC["pulse"](x, width, period)
        zero = substitute(-x / slope, self.t, 0)
        if self.pulses is not None and not (slope.is_constant() and float(slope) < 0):
            return self._held_pulse(x, width, period, zero, slope)
        shape = ca.Function("shape", [self.p.symbols], [zero, ca.SX(slope), ca.SX(width), ca.SX(period)])

        def times(p: NDArray[np.float64], start: float, end: float) -> NDArray[np.float64]:
            zero, slope, width, period = (float(value) for value in shape(p))
            checked_pulse(width, period)
            last = max((end - zero) * slope, (start - zero) * slope) / period
            if last > MOST_BREAKS:
                raise ModelError(f"a pulse of period {period:g} switches {last:.0f} times", expected="at most 1e6")
            edges = np.arange(0, max(last, -1) + 1) * period
            both = zero + np.concatenate([edges, edges + width]) / slope
            return np.unique(both[(both > start) & (both < end)])

        text = ", ".join(to_text(ca.SX(part)) for part in (x, width, period))
        return self.mode(f"pulse({text})", SYMBOLIC["pulse"](x, width, period), times)

    def _held_pulse(self, x: Any, width: Any, period: Any, zero: ca.SX, slope: Any) -> ca.SX:
        assert self.pulses is not None
        text = ", ".join(to_text(ca.SX(part)) for part in (x, width, period))
        if text not in self.pulses:
            value = SYMBOLIC["pulse"](x, width, period)
            symbol = ca.SX.sym(self._place("pulse"))
            own = (ca.SX(zero), ca.SX(width) / slope, ca.SX(period) / slope)
            self.pulses[text] = Pulse(symbol, ca.SX(value), *own)
        return self.pulses[text].symbol

    def _slope(self, x: Any, function: str) -> Any:
        """dx/dt where x changes with time at a constant rate, None where it follows signals, or does not change."""
        x = ca.SX(x)
        if not self._timed(x):
            return None
        slope = ca.jacobian(x, self.t)
        if ca.depends_on(slope, self.t) or (self.modes and ca.depends_on(x, self.mode_symbols)):
            raise ExpressionError(
                f"{function}(...) of something that is not linear in t",
                expected=f"{function}(a*t + b), so that the time of switching is known",
                remedy="Use pulse(t - start, width, period) for repeated switching, or a smooth function such as tanh",
            )
        return slope

    def slope(self, x: ca.SX) -> ca.SX | None:
        """dx/dt where x changes with time at a constant rate that is known beforehand; otherwise None."""
        if not self._timed(x) or (self.modes and ca.depends_on(x, self.mode_symbols)):
            return None
        slope = ca.jacobian(x, self.t)
        return None if ca.depends_on(slope, self.t) else slope

    def mode(self, text: str, value: ca.SX, times: Callable[..., NDArray[np.float64]], refused: Any = None) -> ca.SX:
        """The symbol of a value that is constant between break points."""
        symbol = ca.SX.sym(text)
        self.modes.append(Mode(text, value, times, refused))
        self._mode_symbols.append(symbol)
        return symbol
