"""Start values of storages in derivative causality: states that were left open follow from them, others must fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.structure import component_names
from cotree.errors import FormulationError
from cotree.maths.symbolic import column, substitute

if TYPE_CHECKING:
    from cotree.bond.state_form import StateForm
    from cotree.bond.structure import Vertex

Array = NDArray[np.float64]

FITS = 1e-9
"""How well start values must agree, relative to their size."""
STILL = 1e-15
"""Size of a step that changes nothing, relative to the states."""
ITERATIONS = 30


class GivenStarts:
    """What dependent storages ask of the states at the start, for numeric parameters.

    Each row is what the solved equations give for a flow, displacement or momentum, less its start value. Unknowns that
    the equations leave for run time are found along with the states. ``at`` puts inputs and modes of the start into an
    expression.
    """

    def __init__(self, form: StateForm, symbols: ca.SX, at: Callable[[ca.SX], ca.SX]) -> None:
        self.form = form
        self.names: list[str] = []
        """The dependent storages, one for each row."""
        rows = self._solved(column([*self._flows(), *self._displacements(), *self._hidden()]))
        values = form.values
        own = [each.name() for each in ca.vertsplit(symbols)] if symbols.numel() else []
        left_open = self._left_open()
        self.open = np.array([name in left_open for name in own], dtype=bool)
        w, algebraic, self.guess = self._algebraic(rows)
        parts = [rows, algebraic]
        every = [*parts, *(ca.jacobian(each, of) for each in parts for of in (symbols, w))]
        known = [symbols, w, values.p.symbols, values.t]
        self._rows = ca.Function("given", known, [at(self._smooth(each)) for each in every]) if self.names else None

    def _solved(self, expression: ca.SX) -> ca.SX:
        """An expression in states, inputs and the unknowns that stay for run time."""
        solved, unknown = self.form.solved
        return substitute(self.form._put(self.form.signals.expand(expression)), unknown, solved.values)

    def _smooth(self, expression: ca.SX) -> ca.SX:
        """An expression with the rates of the inputs put in."""
        _, rates, signals = self.form.inputs
        return substitute(expression, rates, ca.jacobian(signals, self.form.values.t))

    def _algebraic(self, rows: ca.SX) -> tuple[ca.SX, ca.SX, Array]:
        """The unknowns for run time on which the rows depend, their equations, and values to begin with."""
        solved, unknown = self.form.solved
        loop = {col: k for k, cols in enumerate(solved.loops) for col in cols}
        taken: list[int] = []
        inside = rows
        while True:
            found = {c for c in solved.algebraic if ca.depends_on(inside, unknown[c])} if inside.numel() else set()
            loops = {loop[c] for c in found if c in loop}
            places = [k for k, c in enumerate(solved.algebraic) if c in found or loop.get(c, -1) in loops]
            if places == taken:
                break
            taken, inside = places, ca.vertcat(rows, solved.equations[places])
        w = unknown[[solved.algebraic[k] for k in taken]] if taken else ca.SX(0, 1)
        return w, solved.equations[taken] if taken else ca.SX(0, 1), self._guess(w)

    def _guess(self, w: ca.SX) -> Array:
        """Given displacements, and zero for other unknowns."""
        from cotree.bond.states import start_displacement

        form, guess = self.form, ca.SX.zeros(*w.shape)
        given: dict[str, ca.SX] = {}
        for name, symbols in form.storing.items():
            start = start_displacement(form.structure.vertices[name], form)
            given |= {each.name(): start[k] for k, each in enumerate(ca.vertsplit(symbols))}
        for k in range(w.numel()):
            guess[k] = given.get(w[k].name(), 0.0)
        p = form.values.p
        value = ca.Function("guess", [p.symbols], [ca.densify(guess)])(p.start)
        return np.asarray(value, dtype=float).ravel()

    def _flows(self) -> list[ca.SX]:
        form, found = self.form, []
        for name, momentum in form.momenta_by_name.items():
            vertex = form.structure.vertices[name]
            if name in form.p_states or not _given(vertex):
                continue
            speeds = set(form.speed_columns)
            flow = vertex.start_conjugate
            if flow is None:
                flow = form.flow_of_momentum(vertex, column([vertex.start]))
            own = form.kin.own_flow(name)
            for k, c in enumerate(form.columns_of(name)):
                if c not in speeds:
                    self.names.append(component_names(name, momentum.numel())[k])
                    found.append(own[k] - flow[k])
        return found

    def _displacements(self) -> list[ca.SX]:
        from cotree.bond.states import start_displacement

        form, found = self.form, []
        for name, k, _ in form.tied:
            vertex = form.structure.vertices[name]
            if _given(vertex):
                self.names.append(component_names(name, form.structure.width(name))[k])
                found.append(form.storing[name][k] - start_displacement(vertex, form)[k])
        return found

    def _hidden(self) -> list[ca.SX]:
        from cotree.bond.states import start_displacement, start_momentum

        form, found = self.form, []
        both = [(p, start_momentum) for p in form.p_states.items()]
        both += [(q, start_displacement) for q in form.storing.items()]
        for (name, symbols), begin in both:
            vertex = form.structure.vertices[name]
            for k, each in enumerate(ca.vertsplit(symbols)):
                if each.name() in form.hidden and _given(vertex):
                    self.names.append(component_names(name, symbols.numel())[k])
                    found.append(each - begin(vertex, form)[k])
        return found

    def _left_open(self) -> set[str]:
        """States of storages without start values."""
        form = self.form
        free = [v.name for v in form.structure.vertices.values() if v.letter in ("I", "C") and not _given(v)]
        names: set[str] = set()
        for name in free:
            width = form.structure.width(name)
            names |= {
                each
                for what in ("momentum", "flow", "displacement")
                for each in component_names(f"{name}.{what}", width)
            }
        return names

    def fit(self, x: Array, p: Array, t: float) -> Array:
        """The states with the open ones as the dependent storages ask for."""
        if self._rows is None:
            return x
        w = self.guess
        for _ in range(ITERATIONS):
            found = (np.asarray(each, dtype=float) for each in self._rows(x, w, p, t))
            off, left, by_x, by_w, left_by_x, left_by_w = found
            size = FITS * (1 + np.abs(x).max(initial=0.0))
            if np.abs(off).max() <= size and np.abs(left).max(initial=0.0) <= size:
                return x
            # w follows from x: left + left_by_x dx + left_by_w dw = 0
            follow = np.linalg.lstsq(left_by_w, np.hstack([left, left_by_x]), rcond=None)[0]
            rest = off - by_w @ follow[:, :1]
            slope = by_x - by_w @ follow[:, 1:]
            dx = np.zeros_like(x)
            dx[self.open] = np.linalg.lstsq(slope[:, self.open], -rest.ravel(), rcond=1e-10)[0]
            dw = -follow[:, 0] - follow[:, 1:] @ dx
            if np.abs(np.concatenate([dx, dw])).max(initial=0.0) <= STILL * (1 + np.abs(x).max(initial=0.0)):
                break
            x, w = x + dx, w + dw
        raise unfit(self.names[int(np.argmax(np.abs(off)))])


def unfit(name: str) -> FormulationError:
    """The start value of a dependent storage that others contradict."""
    return FormulationError(
        f"the start value of '{name}' does not fit: it has derivative causality, and others give another value",
        where=name,
        expected="start values that agree",
        remedy=f"Leave out the start value of '{name}', or those of the storages that it follows from",
    )


def _given(vertex: Vertex) -> bool:
    return not vertex.loose and (vertex.start is not None or vertex.start_conjugate is not None)
