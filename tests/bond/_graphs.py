"""Short ways to write bond graphs in tests, and references that are integrated without the package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cotree as ct
import cotree.bond as bond
from cotree.bond.mechanical_form import MechanicalForm
from cotree.bond.opening import open_graph
from cotree.bond.resolve import add_sensors
from cotree.bond.state_form import StateForm
from cotree.formulation.system import SystemEquations

Array = NDArray[np.float64]
EXACT = {"rtol": 1e-10}


def graph(*parts: Any, **options: Any) -> ct.Model:
    """A model of parts; text such as ``"V -> j -> R"`` adds the bonds along it, named by both ends: ``V_j``."""
    model = ct.Model("graph", **options)
    for part in parts:
        if not isinstance(part, str):
            model.add(part)
    for text in (part for part in parts if isinstance(part, str)):
        ends = [end.strip() for end in text.split("->")]
        for tail, head in pairwise(ends):
            model.add(bond.Bond(f"{tail}_{head}".replace(".", "_"), tail, head))
    return model


def oscillator(*more: Any, effort: Any = 2.0, **options: Any) -> ct.Model:
    """A mass of 2 on a junction j, driven by a source V; ``more`` is put on the junction."""
    hung = [f"j -> {part.name}" for part in more if isinstance(part, bond.elements.Element) and part.letter not in "01"]
    first = (bond.Se("V", effort=effort), bond.Junction1("j"), bond.I("m", inertia=2.0))
    return graph(*first, *more, "V -> j -> m", *hung, **options)


def last(model: ct.Model, name: str, t_end: float = 1.0, **options: Any) -> float:
    """A result at the end of an exact run whose energies balance."""
    solution = model.simulate(t_end, **EXACT | options)
    assert solution.energy().error < 1e-8
    return float(solution[name][-1])


def reference(rates: Callable[[float, Array], Sequence[float]], start: Sequence[float], t_end: float = 1.0) -> Array:
    """The state at the end, by SciPy."""
    return np.asarray(solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1])


def state_form(model: ct.Model) -> SystemEquations:
    """The state form, whatever the model itself would take."""
    structure = open_graph(model)
    add_sensors(structure)
    return StateForm(structure).equations()


def mechanical_form(model: ct.Model) -> SystemEquations:
    """The mechanical form, whatever the model itself would take."""
    structure = open_graph(model)
    add_sensors(structure)
    form = MechanicalForm(structure)
    assert form.suits()
    return form.equations()
