"""Latches and stops: what they measure, also beyond half a turn, and what they put up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cotree.terminal import nodal
from terminal.nodal.parts import Put, turned

Z = (0, 0, 1)


def measure(at: Put, x: Any = None) -> float:
    return float(at.number(at.part.measure(at.v, at.at), x))


def legs(angle: float, reach: float = 2.0) -> np.ndarray:
    """A, hub, B with B turned by an angle from A about z."""
    return np.array([(1, 0, 0), (0, 0, 0), (reach * np.cos(angle), reach * np.sin(angle), 0)])


def test_length() -> None:
    at = Put(nodal.Latch("L", ("A", "B"), at=4.0), [(0, 0, 0), (3, 4, 0)])
    assert measure(at) == 5.0
    assert at.equations() == [1.0]
    assert at.results(force=[-6.0]) == {"length": 5.0, "force": 6.0}


@pytest.mark.parametrize("seed", range(5))
def test_angle_without_a_sign(seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=(3, 3))
    p, q = x[0] - x[1], x[2] - x[1]
    expected = np.arccos(p @ q / np.linalg.norm(p) / np.linalg.norm(q))
    at = Put(nodal.Latch("L", ("A", "H", "B"), at=1.0), x)
    assert measure(at) == pytest.approx(expected, rel=1e-12)
    assert at.results(force=[3.0]) == pytest.approx({"angle": expected, "torque": 3.0}, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_angle_about_an_axis_is_that_seen_along_it(seed: int) -> None:
    """The legs laid into the plane across the axis, in a frame of that plane."""
    rng = np.random.default_rng(seed)
    axis, x = rng.normal(size=3), rng.normal(size=(3, 3))
    n = axis / np.linalg.norm(axis)
    e1 = np.cross(n, (1, 0, 0))
    e1 /= np.linalg.norm(e1)
    p, q = (np.array([e1 @ leg, np.cross(n, e1) @ leg]) for leg in (x[0] - x[1], x[2] - x[1]))
    expected = np.arctan2(q[1], q[0]) - np.arctan2(p[1], p[0])
    at = Put(nodal.Stop("L", ("A", "H", "B"), least=-1.0, most=1.0, axis=tuple(axis)), x)
    assert np.cos(measure(at) - expected) == pytest.approx(1.0)
    assert abs(measure(at)) <= np.pi


@pytest.mark.parametrize(("start", "at"), [(0.0, np.pi), (np.pi, 0.0), (0.3, np.pi), (np.pi, 0.4), (-0.5, 3.5)])
def test_an_angle_about_an_axis_runs_to_where_it_latches_and_beyond(start: float, at: float) -> None:
    """Folded flat to straight and back: neither end may be where the angle jumps."""
    part = Put(nodal.Latch("L", ("A", "H", "B"), at=at, axis=Z), legs(start))
    beyond = at + 0.3 * np.sign(at - start)
    for angle in np.linspace(start - 0.2 * np.sign(at - start), beyond, 41):
        assert measure(part, legs(angle)) == pytest.approx(angle, abs=1e-12)
        assert np.linalg.norm(part.gradient(legs(angle))[0][0]) == pytest.approx(1.0), "one over the length of the leg"
    assert part.equations(legs(at)) == pytest.approx(0.0, abs=1e-12)


def test_a_straight_start_is_plus_pi_whatever_rounding_says() -> None:
    for off in (-1e-16, 0.0, -0.0, 1e-16):
        start = np.array([(1, 0, 0), (0, 0, 0), (-1, off, 0)])
        part = Put(nodal.Latch("L", ("A", "H", "B"), at=0.5, axis=Z), start)
        assert measure(part) == pytest.approx(np.pi)


def test_limits_of_a_stop() -> None:
    part = nodal.Stop("S", ("A", "B"), least=1.0, most="2*a", restitution=0.3)
    assert part.limit_fields() == part.labels() == ("least", "most")
    at = Put(part, [(0, 0, 0), (1.5, 0, 0)], {"a": 1.25})
    np.testing.assert_allclose(at.equations(), [0.5, -1.0])
    limits = {name: float(at.number(limit)) for name, limit in part.limits(at.v).items()}
    assert limits == {"least": 1.0, "most": 2.5}
    assert at.results(force=[4.0, 0.0]) == {"length": 1.5, "force": -4.0}, "the lower limit pushes the nodes apart"


def test_an_open_lock_has_a_slope_everywhere() -> None:
    """Nodes at one place, and legs in one line: nothing is held there, and nothing may become infinite."""
    for part in (nodal.Latch("L", ("A", "B"), at=1.0), nodal.Stop("L", ("A", "H", "B"), most=1.0)):
        at = Put(part, np.zeros((len(part.over), 3)))
        assert np.isfinite(at.gradient()).all()
        if len(part.over) == 3:
            assert np.isfinite(at.gradient(legs(np.pi))).all()


def test_a_latched_angle_is_held_by_a_torque() -> None:
    """The couple of forces on the legs: torque over length at either end, across the leg."""
    at = Put(nodal.Latch("L", ("A", "H", "B"), at=1.0), legs(1.0))
    forces = 6.0 * at.gradient()[0]
    np.testing.assert_allclose(forces[2], turned(Z, 1.0) @ (0, 6.0 / 2.0, 0), atol=1e-14)
    np.testing.assert_allclose(forces[0], (0, -6.0, 0), atol=1e-14)


def test_edges() -> None:
    assert [(e.tail, e.head) for e in nodal.Latch("L", ("A", "H", "B"), at=1.0).edges()] == [("H", "A"), ("H", "B")]
    assert [(e.tail, e.head) for e in nodal.Latch("L", ("A", "B"), at=1.0).edges()] == [("A", "B")]
