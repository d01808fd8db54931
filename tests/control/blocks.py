"""A block alone: its law with numbers for its signals, states and held values."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from cotree.maths.symbolic import SYMBOLIC
from cotree.terminal.control import Block


class Alone:
    """A block without a model: ``signals`` are its inputs by name."""

    def __init__(self, block: Block) -> None:
        block.check({name: e.number({}) for name, e in block.expressions.items() if not e.names})
        self.block = block
        names = sorted({name for e in block.expressions.values() for name in e.names})
        self.signals = {name: ca.SX.sym(name) for name in names}
        values = {name: ca.SX(e.evaluate(self.signals, SYMBOLIC)) for name, e in block.expressions.items()}
        self.numbers = {name: e.number({}) for name, e in block.expressions.items() if not e.names}
        self.held = {name: ca.SX.sym(name) for name in block.holding}
        self.states = {state.name: ca.SX.sym(state.name) for state in block.states()}
        self.v = SimpleNamespace(**block.gather(values), **self.held)
        self.x = SimpleNamespace(**self.states)

    def start(self) -> tuple[dict[str, float], dict[str, float]]:
        """Held values and states at the start."""
        held, states = self.block.held_start(self.numbers), self.block.state_start(self.numbers)
        return dict(zip(self.held, map(float, held), strict=True)), dict(
            zip(self.states, map(float, states), strict=True)
        )

    def value(self, what: Any, signals: Mapping[str, float], held: Any = None, states: Any = None) -> float:
        """An expression of the block as a number."""
        start = self.start()
        given = {**start[0], **(held or {}), **start[1], **(states or {}), **signals}
        every = {**self.held, **self.states, **self.signals}
        function = ca.Function("value", list(every.values()), [ca.SX(what)])
        return float(function(*(given[name] for name in every)))

    def outputs(self, signals: Mapping[str, float], held: Any = None, states: Any = None) -> dict[str, float]:
        """Its outputs."""
        found = self.block.outputs(self.v, self.x)
        return {name: self.value(each, signals, held, states) for name, each in found.items()}

    def settled(
        self, signals: Mapping[str, float], held: Any = None, states: Any = None
    ) -> tuple[dict[str, float], list[str]]:
        """Held values after all switches that are due, and what happened."""
        held, events = {**self.start()[0], **(held or {})}, []
        for _ in range(20):
            due = [s for s in self.block.switches(self.v, self.x) if self.value(s.guard, signals, held, states) > 0]
            if not due:
                return held, events
            held |= {name: self.value(new, signals, held, states) for name, new in due[0].held.items()}
            events.append(due[0].name)
        raise AssertionError("it never settles")

    def samples(self, series: list[Mapping[str, float]]) -> list[dict[str, float]]:
        """Outputs after each of several samples."""
        held, found = self.start()[0], []
        law = self.block.sample(self.v, self.x)
        assert law is not None
        for signals in series:
            if law.call is None:
                new = {name: self.value(each, signals, held) for name, each in law.held.items()}
            else:
                inputs = [self.value(each, signals, held) for each in law.inputs]
                new = dict(zip(law.held, law.call(0.0, inputs), strict=True))
            held = {**held, **new}
            found.append(self.outputs(signals, held))
        return found

    def matrices(self, signal: str) -> tuple[Any, Any, Any, Any]:
        """A, B, C, D of a linear block of one input."""
        rates, value = self.block.rates(self.v, self.x), self.block.outputs(self.v, self.x)
        x, u = ca.vertcat(*self.states.values()), self.signals[signal]
        f, y = ca.vertcat(*rates.values()), ca.vertcat(*value.values())
        parts = [ca.jacobian(f, x), ca.jacobian(f, u), ca.jacobian(y, x), ca.jacobian(y, u)]
        every = [*self.held.values(), *self.states.values(), *self.signals.values()]
        return tuple(
            np.asarray(ca.DM(ca.Function("m", every, [ca.densify(part)])(*[0.0] * len(every)))) for part in parts
        )
