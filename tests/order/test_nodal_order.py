"""Measured orders of the methods in displacement modes: one as the paper prints it, two with the balance mended."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import cotree as ct
from cotree.formulation.nodal import nodal_equations
from cotree.solve import displacement_modes, xiang  # noqa: F401  (each registers its integrator)
from formulation.nodal_models import five_bar, ring_truss, structure
from order.running import run, violations
from order.test_convergence import CASES, TIMES

Array = NDArray[np.float64]

METHODS = {"paper": 1, "corrected": 2}
HALF_SECOND = -0.8714304161
"""Height of C of the five-bar after 0.5 s: solutions in angles, of a Cartesian DAE and by Radau's method agree."""
RADII = {4.0: 1.650419065, 8.0: 0.3702159388}
"""Radius of the ring truss at two times, by quadrature of its symmetric motion."""


def orders(errors: list[float]) -> Array:
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("case", ["spring", "cartesian pendulum", "four-bar, absolute", "sleigh", "driven pendulum"])
def test_order_on_small_mechanisms(name: str, case: str) -> None:
    """The driven pendulum has a constraint that moves in time, the sleigh one between velocities only."""
    make, motion, seen = CASES[case]
    steps = (2e-3, 1e-3) if METHODS[name] == 2 else (5e-4, 2.5e-4)
    equations, expected = make(), motion(TIMES)
    errors = [float(np.abs(seen(run(name, equations, TIMES, step=h).x) - expected).max()) for h in steps]
    assert orders(errors) == pytest.approx(METHODS[name], abs=0.05)


def test_five_bar_as_the_paper_prints_it() -> None:
    """The literal method, programmed once with NumPy's decompositions, gives 3.495e-3, 1.722e-3, 8.548e-4."""
    equations = nodal_equations(five_bar(1))
    errors, lengths = [], []
    for step in (1e-2, 5e-3, 2.5e-3):
        x = run("paper", equations, [0.5], step=step).x[:, 0]
        errors.append(abs(x[5] - HALF_SECOND))
        places = np.vstack([x[:2], x[2:4], x[4:6], x[6:8], x[8:10]])
        lengths.append(float(np.abs(np.linalg.norm(np.diff(places, axis=0), axis=1) - 1).max()))
    assert errors == pytest.approx([3.495e-3, 1.722e-3, 8.548e-4], rel=1e-3)
    assert orders(errors) == pytest.approx(1, abs=0.03)
    assert lengths[0] == pytest.approx(1.331e-4, rel=1e-2)
    assert orders(lengths) == pytest.approx(2, abs=0.03)


def test_five_bar_corrected() -> None:
    equations = nodal_equations(five_bar(1))
    found = [run("corrected", equations, [0.5], step=step).x for step in (1e-2, 5e-3, 2.5e-3)]
    errors = [abs(float(x[5, 0]) - HALF_SECOND) for x in found]
    assert errors[0] < 6e-5
    assert orders(errors) == pytest.approx(2, abs=0.05)
    assert max(violations(equations, np.array([0.5]), x) for x in found) < 1e-12


@pytest.mark.parametrize("name", METHODS)
def test_ring_truss(name: str) -> None:
    equations, times = nodal_equations(ring_truss(10)), np.array(list(RADII))
    errors, steps = [], (4e-2, 2e-2) if name == "corrected" else (2e-2, 1e-2)
    for step in steps:
        x = run(name, equations, times, step=step).x
        errors.append(float(np.abs(np.hypot(x[0], x[1]) - np.array(list(RADII.values()))).max()))
    assert orders(errors) == pytest.approx(METHODS[name], abs=0.05)
    assert errors[1] < (2e-5 if name == "corrected" else 3e-4)


def reeled(times: Array) -> Array:
    """A mass on a rope that is reeled in while its end is moved: Newton's law with the rope's tension written out."""

    def rates(t: float, y: Array) -> Array:
        place, speed, jolt = 0.1 * (1 - np.cos(3 * t)), 0.3 * np.sin(3 * t), 0.9 * np.cos(3 * t)
        length, short = 1 - 0.2 * t**2, -0.4 * t
        r, rate = y[:3] - [place, 0, 0], y[3:] - [speed, 0, 0]
        free = np.array([-jolt, 0, -9.81])  # r'' = free + s r, r . r = length^2 twice differentiated
        s = (short**2 - 0.4 * length - rate @ rate - r @ free) / (r @ r)
        return np.concatenate([y[3:], np.array([0, 0, -9.81]) + s * r])

    found = solve_ivp(rates, (0, times[-1]), [0.6, 0, -0.8, 0, 0, 0], "DOP853", times, rtol=1e-12, atol=1e-13)
    return np.asarray(found.y)


@pytest.mark.parametrize("name", METHODS)
def test_moved_supports_and_motor_cables(name: str) -> None:
    model = structure(
        {"O": (0, 0, 0), "A": {"position": (0.6, 0, -0.8), "mass": 2.0}},
        ct.nodal.Moved("end", "O", displacement=("0.1*(1-cos(3*t))", 0, 0)),
        ct.nodal.MotorCable("rope", ("O", "A"), length="1-0.2*t**2"),
        gravity=(0, 0, -9.81),
    )
    equations, times, errors = nodal_equations(model), np.linspace(0.2, 1, 5), []
    for step in (4e-3, 2e-3):
        x = run(name, equations, times, step=step).x
        errors.append(float(np.abs(np.vstack([x[3:6], x[9:12]]) - reeled(times)).max()))
    assert orders(errors) == pytest.approx(METHODS[name], abs=0.05)


CENTRE, OMEGA = np.array([0.1, 0.2, 0.3]), np.array([0.5, 2.0, 0.3])
INERTIA = np.array([[1.0, 0.1, -0.2], [0.1, 2.0, 0.3], [-0.2, 0.3, 2.5]])


def tumbling(places: Array) -> ct.Model:
    """A free body over nodes at the places."""
    entries = [INERTIA[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
    nodes = {f"N{k}": {"position": x, "velocity": np.cross(OMEGA, x - CENTRE)} for k, x in enumerate(places)}
    return structure(nodes, ct.nodal.Body("P", list(nodes), mass=3.0, centre=tuple(CENTRE), inertia=tuple(entries)))


def tumbled(places: Array, time: float) -> Array:
    """The nodes by Euler's equations."""

    def rates(_t: float, y: Array) -> Array:
        turn, w = y[:9].reshape(3, 3), y[9:]
        spun = np.cross(w, turn)  # each row of R skew(w) is row x w with its sign
        return np.concatenate([-spun.ravel(), np.linalg.solve(INERTIA, -np.cross(w, INERTIA @ w))])

    start = np.concatenate([np.eye(3).ravel(), OMEGA])
    found = solve_ivp(rates, (0, time), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return np.asarray(CENTRE + (places - CENTRE) @ found[:9].reshape(3, 3).T)


def test_a_free_body_tumbles_as_euler_says() -> None:
    places = np.random.default_rng(1).normal(size=(5, 3))
    equations, expected = nodal_equations(tumbling(places)), tumbled(places, 2.0)
    errors = [
        float(np.abs(run("corrected", equations, [2.0], step=h).x[:15, 0] - expected.ravel()).max())
        for h in (1e-2, 5e-3)
    ]
    assert errors[1] < 1e-4
    assert orders(errors) == pytest.approx(2, abs=0.05)


def test_the_paper_drops_a_gyroscopic_term() -> None:
    """Eq. 28 and 32 are right only for a body whose inertia is proportional to that of its nodes."""
    axes, moments = np.linalg.eigh(np.trace(INERTIA) / 2 * np.eye(3) - INERTIA)[::-1]
    alike = np.vstack([CENTRE + side * np.sqrt(m) * axes[:, k] for k, m in enumerate(moments) for side in (1, -1)])
    other = np.random.default_rng(1).normal(size=(5, 3))
    errors: dict[int, list[float]] = {}
    for places in (alike, other):
        equations, expected = nodal_equations(tumbling(places)), tumbled(places, 1.0)
        for step in (5e-3, 2.5e-3):
            x = run("paper", equations, [1.0], step=step).x[: places.size, 0]
            errors.setdefault(len(places), []).append(float(np.abs(x - expected.ravel()).max()))
    assert orders(errors[6]) == pytest.approx(1, abs=0.1)
    assert min(errors[5]) > 0.5
