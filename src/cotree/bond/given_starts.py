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
ITERATIONS = 30


class GivenStarts:
    """What dependent storages ask of the states at the start, for numeric parameters.

    ``at`` puts inputs and modes of the start into an expression.
    """

    def __init__(self, form: StateForm, symbols: ca.SX, at: Callable[[ca.SX], ca.SX]) -> None:
        self.form = form
        self.names: list[str] = []
        """The dependent storages, one for each row."""
        rows = [*self._flows(), *self._displacements(), *self._hidden()]
        values = form.values
        own = [each.name() for each in ca.vertsplit(symbols)] if symbols.numel() else []
        left_open = self._left_open()
        self.open = np.array([name in left_open for name in own], dtype=bool)
        both = at(column(rows)), at(ca.jacobian(column(rows), symbols))
        self._rows = ca.Function("given", [symbols, values.p.symbols, values.t], both) if rows else None

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
                    found.append(form._put(form.signals.expand(own[k] - flow[k])))
        return found

    def _displacements(self) -> list[ca.SX]:
        from cotree.bond.states import start_displacement

        form, found = self.form, []
        for name, k, c in form.tied:
            vertex = form.structure.vertices[name]
            if _given(vertex):
                self.names.append(component_names(name, form.structure.width(name))[k])
                found.append(substitute(form.tied_rows[c], form.storing[name], start_displacement(vertex, form)))
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
                    found.append(substitute(form.hidden[each.name()], symbols, begin(vertex, form)))
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
        for _ in range(ITERATIONS):
            off, slope = (np.asarray(each, dtype=float) for each in self._rows(x, p, t))
            if np.abs(off).max() <= FITS * (1 + np.abs(x).max(initial=0.0)):
                return x
            if not self.open.any():
                break
            step = np.linalg.lstsq(slope[:, self.open], -off.ravel(), rcond=1e-10)[0]
            if np.abs(step).max() <= 1e-15 * (1 + np.abs(x).max(initial=0.0)):
                break
            x = x.copy()
            x[self.open] += step
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
    return vertex.start is not None or vertex.start_conjugate is not None
