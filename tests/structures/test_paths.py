"""Motions with one degree of freedom: every node on its closed form, and the time by energy along the path."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from cotree import structures as s
from cotree.api import Model, Solution
from structures.freedoms import places
from structures.path import Places, at, drift, inertia, slopes, time_to


def centred(make: Callable[[float], Model]) -> Callable[[float], Places]:
    """The path of the tetrahedral truss, whose first hinge keeps its x."""

    def path(c: float) -> Places:
        x, first = places(make(c)), places(make(0.3))
        shift = first["M_U_0_0_U_1_0"] - x["M_U_0_0_U_1_0"]
        return {name: place + np.array([shift[0], 0.0, 0.0]) for name, place in x.items()}

    return path


# name: model by its coordinate, start, time, and the coordinate from positions
MOVING: dict[str, tuple[Callable[[float], Model], float, float, Callable[[Places], float]]] = {
    "chain": (lambda c: s.scissor_chain(3, angle=c), 1.3, 1.0, lambda x: math.asin(x["U0"][1])),
    "ring, deployed": (
        lambda c: s.scissor_ring(5, opening=c),
        0.8,
        0.2,
        lambda x: math.asin(float(np.linalg.norm(x["O3"] - x["I3"]))),
    ),
    "ring, folded": (
        lambda c: s.scissor_ring(6, opening=c, drive="fold"),
        0.2,
        0.3,
        lambda x: math.asin(float(np.linalg.norm(x["O3"] - x["I3"]))),
    ),
    "miura": (
        lambda c: s.miura(2, 3, fold=c, thickness=1e-6),
        0.6,
        0.8,
        lambda x: math.asin(x["V_1_1"][2] / math.sin(1.0)),
    ),
    "folding mast": (
        lambda c: s.triangular_mast(2, fold=c, latches=False),
        1.2,
        0.6,
        lambda x: math.acos(x["F2b"][2] / 2.4),
    ),
    "coilable mast": (
        lambda c: s.triangular_mast(1, kind="coilable", fold=c, latches=False),
        1.4,
        0.15,
        lambda x: math.atan2(x["F1a"][1], x["F1a"][0]),
    ),
    "tetrahedron": (
        lambda c: s.tetrahedral_reflector(1, fold=c),
        0.3,
        0.2,
        lambda x: math.acos(float(np.linalg.norm(x["U_0_0"] - x["U_0_1"]))),
    ),
    "tetrahedral truss": (
        lambda c: s.tetrahedral_reflector(2, fold=c),
        0.3,
        0.25,
        lambda x: math.acos(float(np.linalg.norm(x["D_0_0"] - x["D_1_0"]))),
    ),
}


SLOW = ("tetrahedral truss", "ring, folded")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in MOVING]
)
def test_motion_with_one_freedom(name: str) -> None:
    make, start, t_end, coordinate = MOVING[name]
    model = make(start)
    path = centred(make) if name.startswith("tetra") else lambda c: places(make(c))
    sol = model.simulate(t_end, integrator="adams", rtol=1e-9, points=21)
    nodes = list(places(model))
    for k in (7, 14, 20):  # every node is where the closed form says
        x = at(sol, nodes, k)
        c = coordinate(x)
        assert max(np.abs(x[n] - place).max() for n, place in path(c).items()) < 1e-8
    assert abs(c - start) > 0.1
    assert time_to(model, path, start, c) == pytest.approx(t_end, abs=2e-7)
    assert drift(model, sol) < 1e-9
    assert sol.audit.error < 1e-6


def _reflector_at(fold: float) -> Places:
    """Nodes of the reflector by its fold angle, from the lengths of its bars: chord 1 m, diagonals 1.5 m, width 1 m."""
    step, dip = math.cos(fold), math.sin(fold)
    x = {}
    for row in range(2):
        for k in range(9):
            x[f"N{1 + k + 9 * row}"] = np.array([k * step, -dip * (k % 2), row])
        for k in range(4):
            x[f"N{19 + k + 4 * row}"] = np.array([(2 * k + 1) * step, -math.sqrt(1.5**2 - step**2), row])
    return x


def _stowing(model: Model, c: float) -> float:
    """The reflector's inertia along its fold angle, with no moment about the edge that carries it.

    Its turning rate w follows from the fold: b c' + J w = 0, so the energy is (a - b^2 / J) c'^2 / 2.
    """
    v = slopes(_reflector_at, c)
    turn = {n: np.array([-x[1], x[0], 0.0]) for n, x in _reflector_at(c).items()}
    a, b, j = (inertia(model, *pair) for pair in ((v, v), (v, turn), (turn, turn)))
    return a - b * b / j


def _fold(sol: Solution, k: int) -> float:
    """The fold angle of the reflector."""
    x = at(sol, ["N1", "N3"], k)
    return math.acos(float(np.linalg.norm(x["N3"] - x["N1"])) / 2)


def test_reflector_folds_as_energy_and_momentum_say() -> None:
    model = s.reflector(thickness=1e-6)
    sol = model.simulate(1.0, integrator="adams", rtol=1e-9, points=7)
    x = at(sol, list(places(model)), 6)
    alike = [np.linalg.norm(x[f"N{k + 2}"] - x[f"N{k}"]) for k in (1, 3, 5, 7, 10, 12, 14, 16)]
    assert np.ptp(alike) < 1e-9
    took = time_to(model, _reflector_at, 0.0, _fold(sol, 6), lambda c: _stowing(model, c))
    assert took == pytest.approx(1.0, abs=1e-6)
    assert drift(model, sol) < 1e-9
    assert sol.audit.error < 1e-6


def test_reflector_is_stowed_when_the_paper_says() -> None:
    model = s.reflector(thickness=1e-6)
    took = time_to(model, _reflector_at, 0.0, math.pi / 2 - 0.1, lambda c: _stowing(model, c))
    assert took == pytest.approx(9.07, abs=0.005)


@pytest.mark.soak
def test_reflector_ends_at_its_stop() -> None:
    model = s.reflector(thickness=1e-6, stow=math.pi / 2 - 0.1)
    sol = model.simulate(12.0, integrator="adams", rtol=1e-9)
    took = time_to(model, _reflector_at, 0.0, math.pi / 2 - 0.1, lambda c: _stowing(model, c))
    assert sol.t[-1] == pytest.approx(took, abs=1e-5)
    assert _fold(sol, len(sol.t) - 1) == pytest.approx(math.pi / 2 - 0.1, abs=1e-6)
    assert np.abs(sol["N20.position.z"]).max() < 1e-9
