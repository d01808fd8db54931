"""Bars, supports, motor cables, gears and bodies: what vanishes, and which forces belong to it."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.model import Kind
from cotree.terminal import nodal
from terminal.nodal.parts import Put, differences, turned

SEEDS = pytest.mark.parametrize("seed", range(3))
AXIS = (0.3, -1.0, 2.0)

HELD: dict[str, Any] = {
    "bar": nodal.Bar("b", "A", "B", mass=2.0),
    "bar of given length": nodal.Bar("b", "A", "B", mass=2.0, length=1.4),
    "fixed": nodal.Fixed("f", "A"),
    "on line": nodal.OnLine("l", "A", along=AXIS),
    "on plane": nodal.OnPlane("p", "A", normal=AXIS),
    "moved": nodal.Moved("m", "A", displacement=("sin(t)", "t**2", 0)),
    "partly moved": nodal.Moved("m", "A", displacement=(None, "0.1*t", None)),
    "keep direction": nodal.KeepDirection("k", "A", "B"),
    "motor cable": nodal.MotorCable("c", ("A", "B", "C", "D"), length="4 - t/10"),
    "closed motor cable": nodal.MotorCable("c", ("A", "B", "C", "A"), length=4),
    "gear": nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), ratio=1.5),
    "gear about an axis": nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), ratio=-0.5, axis=AXIS),
    "gear on a bracket": nodal.Gear("g", ("A", "P", "Q"), ("P", "Q", "B")),
    "latched length": nodal.Latch("L", ("A", "B"), at=1.2),
    "latched angle": nodal.Latch("L", ("A", "H", "B"), at=1.2),
    "latched angle about an axis": nodal.Latch("L", ("A", "H", "B"), at=2.5, axis=AXIS),
    "stop": nodal.Stop("S", ("A", "B"), least=0.5, most=4.0),
    "stop of an angle": nodal.Stop("S", ("A", "H", "B"), most=2.0, axis=AXIS),
}  # fmt: skip
LABELS = {
    "bar": ("length",), "fixed": ("x", "y", "z"), "on line": ("across 1", "across 2"), "on plane": ("normal",),
    "moved": ("x", "y", "z"), "partly moved": ("y",), "keep direction": ("across 1", "across 2"),
    "motor cable": ("length",), "gear": ("angle",), "latched length": ("length",), "latched angle": ("angle",),
    "stop": ("least", "most"), "stop of an angle": ("most",),
}  # fmt: skip


def put(part: Any, seed: int) -> tuple[Put, np.ndarray]:
    """The part at a random start, and its nodes moved away from it."""
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(len(set(part.nodes())), 3))
    return Put(part, start), start + 0.2 * rng.normal(size=start.shape)


@SEEDS
@pytest.mark.parametrize("name", HELD)
def test_slopes_against_finite_differences(name: str, seed: int) -> None:
    at, x = put(HELD[name], seed)
    found = at.gradient(x, t=0.4)
    assert len(found) == len(at.part.labels())
    np.testing.assert_allclose(found, differences(lambda x: at.equations(x, t=0.4), x), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("name", LABELS)
def test_labels(name: str) -> None:
    assert HELD[name].labels() == LABELS[name]


@SEEDS
@pytest.mark.parametrize("name", ["bar", "fixed", "on line", "on plane", "keep direction", "gear", "gear about an axis",
                                  "gear on a bracket", "moved"])  # fmt: skip
def test_equations_hold_at_the_start(name: str, seed: int) -> None:
    at, _ = put(HELD[name], seed)
    np.testing.assert_allclose(at.equations(t=0.0), 0, atol=1e-15)


@SEEDS
@pytest.mark.parametrize(
    "name", ["bar", "motor cable", "closed motor cable", "gear", "gear on a bracket", "latched length", "latched angle"]
)
def test_what_holds_between_nodes_has_no_resultant(name: str, seed: int) -> None:
    """The forces G^T lambda of equations that no rigid motion changes: no total force, no total moment."""
    at, x = put(HELD[name], seed)
    forces = at.gradient(x)[0]
    np.testing.assert_allclose(forces.sum(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(np.cross(x, forces).sum(axis=0), 0, atol=1e-13)


@SEEDS
@pytest.mark.parametrize("name", ["gear about an axis", "latched angle about an axis", "stop of an angle"])
def test_angles_about_an_axis_put_no_moment_about_it(name: str, seed: int) -> None:
    at, x = put(HELD[name], seed)
    forces = at.gradient(x)[0]
    np.testing.assert_allclose(forces.sum(axis=0), 0, atol=1e-13)
    assert np.cross(x, forces).sum(axis=0) @ AXIS == pytest.approx(0, abs=1e-13)


@SEEDS
@pytest.mark.parametrize("name", ["fixed", "on line", "on plane", "moved", "partly moved"])
def test_reaction_is_the_force_on_the_node(name: str, seed: int) -> None:
    """G^T lambda for any lambda."""
    at, x = put(HELD[name], seed)
    force = np.random.default_rng(seed).normal(size=len(at.part.labels()))
    expected = np.einsum("r,rnk->nk", force, at.gradient(x))[0]
    np.testing.assert_allclose(at.results(x, force=force)["force"], expected, atol=1e-15)


class TestBar:
    def test_a_pulled_bar_has_a_positive_force(self) -> None:
        at = Put(HELD["bar"], [(0, 0, 0), (3, 4, 0)])
        lambda_ = -7.0
        forces = lambda_ * at.gradient()[0]
        np.testing.assert_allclose(forces, [(4.2, 5.6, 0), (-4.2, -5.6, 0)], rtol=1e-14)
        assert at.results(force=[lambda_]) == {"force": 7.0}

    def test_length_in_metres(self) -> None:
        """Near the length the equation is the elongation."""
        at = Put(HELD["bar of given length"], [(0, 0, 0), (1.4, 0, 0)])
        assert at.equations([(0, 0, 0), (1.4 + 1e-6, 0, 0)])[0] == pytest.approx(1e-6, rel=1e-5)

    def test_consistent_mass_is_that_of_a_uniform_rod(self) -> None:
        """Kinetic energy by Gauss' rule with two points, exact for the square of a linear speed (eq. 7)."""
        at = Put(HELD["bar"], np.random.default_rng(1).normal(size=(2, 3)))
        masses = at.number(at.part.masses(at.v, at.at))
        u = np.random.default_rng(2).normal(size=(2, 3))
        points = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3)
        expected = sum(2.0 / 2 * ((1 - s) * u[0] + s * u[1]) @ ((1 - s) * u[0] + s * u[1]) / 2 for s in points)
        assert np.einsum("ij,ik,jk->", masses, u, u) / 2 == pytest.approx(expected, rel=1e-14)

    def test_lumped_mass(self) -> None:
        at = Put(nodal.Bar("b", "A", "B", mass=3.0, distribution="lumped"), np.eye(3)[:2])
        np.testing.assert_array_equal(at.number(at.part.masses(at.v, at.at)), 1.5 * np.eye(2))


class TestSupports:
    @SEEDS
    def test_line_and_plane(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        start, other = rng.normal(size=(2, 3))
        unit = np.array(AXIS) / np.linalg.norm(AXIS)
        line, plane = Put(HELD["on line"], [start]), Put(HELD["on plane"], [start])
        off = other - unit * (unit @ other)
        np.testing.assert_allclose(line.equations([start + 1.7 * unit]), 0, atol=1e-14)
        assert np.linalg.norm(line.equations([start + 1.7 * unit + off])) == pytest.approx(np.linalg.norm(off))
        np.testing.assert_allclose(plane.equations([start + off]), 0, atol=1e-14)
        assert plane.equations([start + off + 0.3 * unit])[0] == pytest.approx(0.3)

    def test_reactions_are_across_the_line_and_along_the_normal(self) -> None:
        line, plane = Put(HELD["on line"], [(0, 0, 0)]), Put(HELD["on plane"], [(0, 0, 0)])
        assert line.results(force=[2.0, -3.0])["force"] @ AXIS == pytest.approx(0, abs=1e-15)
        np.testing.assert_allclose(plane.results(force=[2.0])["force"], 2 * np.array(AXIS) / np.linalg.norm(AXIS))

    def test_moved_directions_follow_time_and_the_others_are_free(self) -> None:
        at = Put(HELD["partly moved"], [(1, 2, 3)])
        np.testing.assert_allclose(at.equations([(7, 2.5, 9)], t=5.0), [0.0], atol=1e-15)
        np.testing.assert_array_equal(at.gradient(t=5.0), [[[0, 1, 0]]])
        np.testing.assert_array_equal(at.results(force=[4.0])["force"], (0, 4, 0))
        whole = Put(HELD["moved"], [(1, 2, 3)])
        np.testing.assert_allclose(whole.equations([(1 + np.sin(2), 6, 3)], t=2.0), 0, atol=1e-15)

    def test_a_symbolic_direction_is_taken(self) -> None:
        part = nodal.OnLine("l", "A", along=("a", 1, 0))
        a = ca.SX.sym("a")
        at = Put(part, [(0, 0, 0)], {"a": a})
        f = ca.Function("f", [a, at.X], [part.equations(at.v, at.at)])
        for value in (-2.0, 0.0, 5.0):
            np.testing.assert_allclose(f(value, [value, 1, 0]).full(), 0, atol=1e-15)
            assert np.linalg.norm(f(value, [0, 0, 2]).full()) == pytest.approx(2.0)

    @SEEDS
    def test_a_direction_is_kept_whatever_the_length(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        start, shift, across = rng.normal(size=(3, 3))
        way = rng.normal(size=3)
        at = Put(HELD["keep direction"], [start, start + way])
        np.testing.assert_allclose(at.equations([shift, shift + 2.5 * way]), 0, atol=1e-14)
        turn = turned(np.cross(way, across), 0.4)
        size = np.linalg.norm(at.equations([shift, shift + turn @ way]))
        assert size == pytest.approx(np.linalg.norm(way) * np.sin(0.4))

    @SEEDS
    def test_a_kept_direction_is_held_by_a_couple(self, seed: int) -> None:
        at, x = put(HELD["keep direction"], seed)
        force = np.random.default_rng(seed).normal(size=2)
        forces = np.einsum("r,rnk->nk", force, at.gradient(x))
        found = at.results(x, force=force)
        np.testing.assert_allclose(forces, [-found["force"], found["force"]], atol=1e-15)
        np.testing.assert_allclose(np.cross(x, forces).sum(axis=0), found["moment"], atol=1e-14)


class TestMotorCable:
    def test_tension_pulls_along_every_stretch(self) -> None:
        at = Put(HELD["motor cable"], [(0, 0, 0), (2, 0, 0), (2, 3, 0), (2, 3, 4)])
        assert at.equations(t=10.0)[0] == 2 + 3 + 4 - 3.0
        found = at.results(force=[-8.0])
        assert found == {"tension": 8.0, "length": 9.0}
        expected = [(8, 0, 0), (-8, 8, 0), (0, -8, 8), (0, 0, -8)]
        np.testing.assert_allclose(-8.0 * at.gradient()[0], expected, rtol=1e-14)

    def test_a_closed_path_counts_its_last_stretch(self) -> None:
        at = Put(HELD["closed motor cable"], [(0, 0, 0), (3, 0, 0), (3, 4, 0)])
        assert at.equations()[0] == 3 + 4 + 5 - 4.0


class TestGear:
    START = np.array([(1, 0, 0), (0, 0, 0), (0, 1, 0), (-1, 1, 0)], dtype=float)
    """A, H, B, C: B a quarter turn from A, C an eighth turn further."""

    @pytest.mark.parametrize("axis", [None, (0, 0, 3)])
    def test_angles_grow_in_proportion(self, axis: Any) -> None:
        part = nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), ratio=2.0, axis=axis)
        at = Put(part, self.START)
        x = self.START.copy()
        grown = 0.2
        x[2] = turned((0, 0, 1), 2 * grown) @ x[2]
        x[3] = turned((0, 0, 1), 3 * grown) @ x[3]
        assert at.equations(x)[0] == pytest.approx(0, abs=1e-15)
        x[0] = turned((0, 0, 1), -0.1) @ x[0]
        assert at.equations(x)[0] == pytest.approx(0.1)

    def test_torque_opens_the_first_angle(self) -> None:
        """The work of G^T lambda where A alone turns away from B by a small angle, A two metres from the hub."""
        part = nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), ratio=2.0)
        start = self.START.copy()
        start[0] *= 2
        at = Put(part, start)
        torque = at.results(force=[5.0])["torque"]
        assert torque == 5.0
        np.testing.assert_allclose(5.0 * at.gradient()[0][0], (0, -torque / 2, 0), atol=1e-14)
        np.testing.assert_allclose(5.0 * at.gradient()[0][3], 2.0 * torque / 2 * np.array([1, 1, 0]), atol=1e-14)

    def test_about_an_axis_straight_legs_are_passed(self) -> None:
        start = np.array([(1, 0, 0), (0, 0, 0), (-1, 0, 0), (0, -1, 0)], dtype=float)
        at = Put(nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), axis=(0, 0, 1)), start)
        for grown in (-1.2, -0.1, 0.0, 0.1, 1.2):
            x = start.copy()
            x[2], x[3] = turned((0, 0, 1), grown) @ x[2], turned((0, 0, 1), 2 * grown) @ x[3]
            assert at.equations(x)[0] == pytest.approx(0, abs=1e-15)
            assert np.isfinite(at.gradient(x)).all()

    def test_legs_along_the_axis_do_not_count(self) -> None:
        """Seen along the axis, wherever the legs rise to."""
        at = Put(nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), axis=(0, 0, 1)), self.START)
        raised = self.START + np.array([(0, 0, 3), (0, 0, 0), (0, 0, -1), (0, 0, 2)])
        assert at.equations(raised)[0] == pytest.approx(0, abs=1e-15)

    def test_edges_are_the_legs(self) -> None:
        pairs = [(e.tail, e.head) for e in HELD["gear"].edges()]
        assert pairs == [("H", "A"), ("H", "B"), ("H", "C")]

    def test_straight_legs_need_an_axis(self) -> None:
        straight = np.array([(1, 0, 0), (0, 0, 0), (-2, 0, 0), (0, -1, 0)], dtype=float)
        with pytest.raises(ModelError, match=r"g: the legs of the angle \(A, H, B\) lie in one line.*Give axis="):
            Put(HELD["gear"], straight).equations()

    def test_a_leg_along_the_axis_is_refused(self) -> None:
        part = nodal.Gear("g", ("A", "H", "B"), ("B", "H", "C"), axis=(0, 2, 0))
        with pytest.raises(ModelError, match=r"a leg of the angle \(A, H, B\) lies along the axis"):
            Put(part, self.START).equations()


class TestBody:
    def test_entries_of_the_inertia_matrix(self) -> None:
        part = nodal.Body("P", ("A",), mass=2, centre=(0, 0, 1), inertia=(4, 5, 6, 0.1, 0.2, 0.3))
        at = Put(part, [(0, 0, 0)])
        expected = [[4, 0.1, 0.2], [0.1, 5, 0.3], [0.2, 0.3, 6]]
        np.testing.assert_array_equal(at.number(part.inertia_matrix(at.v)), expected)
        for same in (expected, np.array(expected)):
            assert nodal.Body("P", ("A",), mass=2, centre=(0, 0, 1), inertia=same) == part

    def test_three_moments(self) -> None:
        part = nodal.Body("P", ["A", "B"], mass=2, centre=(0, 0, 1), inertia=[4, 5, 6])
        assert part.inertia == (4, 5, 6, 0, 0, 0)

    def test_a_rod_and_a_point_are_bodies(self) -> None:
        for inertia in ((0, 2, 2), (0, 0, 0)):
            part = nodal.Body("P", ("A",), mass=1, centre=(0, 0, 0), inertia=inertia)
            part.check(part.values({}))

    def test_arms_lead_from_the_centroid_to_the_nodes(self) -> None:
        edges = nodal.Body("P", ("A", "B", "C"), mass=1, centre=(0, 0, 0), inertia=(1, 1, 1)).edges()
        assert [(e.tail, e.head, e.kind) for e in edges] == [("P", node, Kind.ARM) for node in "ABC"]


@pytest.mark.parametrize(
    "part",
    [HELD["bar"], HELD["bar of given length"], HELD["keep direction"], nodal.MotorCable("b", ("A", "B"), length=1)],
    ids=lambda part: type(part).__name__,
)
def test_nodes_at_one_place_have_no_direction(part: Any) -> None:
    with pytest.raises(ModelError) as caught:
        Put(part, [(1, 2, 3), (1, 2, 3)]).equations()
    assert caught.value.where == part.name
    assert "'A' and 'B' are at the same place at the start" in str(caught.value)
    assert caught.value.expected
    assert "Move 'A' or 'B'" in str(caught.value)
