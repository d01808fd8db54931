"""Start values of a network: those the user gave are kept, the others are completed."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import FormulationError, listing
from cotree.formulation.storages import Storages
from cotree.formulation.system import Variables
from cotree.model import Model

AGREEMENT = 1e-9


class StartValues:
    """Start values of the states for numeric parameters.

    A state that was not given starts at zero, unless a dependent storage was given a value that asks for another one;
    then the smallest change of the free states that satisfies all given values is taken.
    """

    def __init__(self, whole: Model, model: Model, storages: Storages, p: Variables, ties: ca.Function) -> None:
        self._whole, self._model, self._storages, self._p, self._ties = whole, model, storages, p, ties

    def given(self, p: NDArray[np.float64]) -> dict[str, float]:
        """The start values that the user gave, by edge."""
        own: dict[str, dict[str, float]] = {}
        for name, value in self._whole.component_values(dict(zip(self._p.names, p.tolist(), strict=True))).items():
            component, _, field = name.partition(".")
            own.setdefault(component, {})[field] = value
        return {
            edge.name: value
            for component in self._model.components.values()
            for edge, value in zip(
                component.edges(), component.initial_values(own.get(component.name, {})), strict=True
            )
            if value is not None
        }

    def __call__(self, p: NDArray[np.float64], t: float) -> NDArray[np.float64]:
        """Start values of the states at time t."""
        given = self.given(p)
        independent, dependent = self._storages.independent, list(self._storages.dependent)
        x = np.array([given.get(name, 0.0) for name in independent])
        asked = [k for k, name in enumerate(dependent) if name in given]
        if not asked:
            return x
        free = [k for k, name in enumerate(independent) if name not in given]
        target = np.array([given[dependent[k]] for k in asked])
        gap = target - self._tied(x, p, t)[asked]
        if free:
            columns = np.array(
                [self._tied(x + unit, p, t)[asked] - self._tied(x, p, t)[asked] for unit in np.eye(len(x))[free]]
            )
            x[free] += np.linalg.lstsq(columns.T, gap, rcond=None)[0]
            gap = target - self._tied(x, p, t)[asked]
        worst = int(np.argmax(np.abs(gap)))
        if abs(gap[worst]) > AGREEMENT * (1.0 + np.abs(target).max()):
            name = dependent[asked[worst]]
            raise FormulationError(
                f"the start value of {name} is {target[worst]:g}, but {listing(self._storages.dependent[name])} "
                f"fix it at {target[worst] - gap[worst]:g}",
                remedy=f"Leave out the start value of {name}, or change the others",
            )
        return x

    def _tied(self, x: NDArray[np.float64], p: NDArray[np.float64], t: float) -> NDArray[np.float64]:
        return np.asarray(self._ties(x, p, t), dtype=float).ravel()
