"""Springs, dampers, cables and forces on nodes: against closed forms, their energies and the laws of mechanics."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from _cases import random_cases
from cotree.terminal import nodal
from terminal.nodal.parts import Put, differences

SEEDS = pytest.mark.parametrize("seed", range(4))

STORING: dict[str, Any] = {
    "spring": nodal.Spring("S", "A", "B", stiffness=300.0, length=0.7),
    "preloaded spring": nodal.Spring("S", "A", "B", stiffness=300.0, length=0.7, preload=40.0),
    "spring without length": nodal.Spring("S", "A", "B", stiffness=300.0, length=0),
    "cable": nodal.ElasticCable("C", ["A", "B"], stiffness=2e3, length=0.2),
    "cable over four nodes": nodal.ElasticCable("C", ["A", "B", "C", "D"], stiffness=2e3, length=0.5),
    "closed cable": nodal.ElasticCable("C", ["A", "B", "C", "A"], stiffness=2e3, length=0.5),
    "slack cable": nodal.ElasticCable("C", ["A", "B", "C"], stiffness=2e3, length=50.0),
}  # fmt: skip
LOSING: dict[str, Any] = {
    "damped spring": nodal.Spring("S", "A", "B", stiffness=300.0, length=0.7, preload=-3.0, damping=12.0),
    "damper": nodal.Damper("D", "A", "B", damping=9.0),
    "damped cable": nodal.ElasticCable("C", ["A", "B", "C"], stiffness=200.0, length=0.5, damping=30.0),
    "damped slack cable": nodal.ElasticCable("C", ["A", "B", "C"], stiffness=200.0, length=50.0, damping=30.0),
}  # fmt: skip
GIVEN: dict[str, Any] = {
    "force cable": nodal.ForceCable("C", ["A", "B"], tension="50 + 3*t"),
    "force cable over four nodes": nodal.ForceCable("C", ["A", "B", "C", "D"], tension="50 + 3*t"),
    "closed force cable": nodal.ForceCable("C", ["A", "B", "C", "A"], tension=7.0),
}
INTERNAL = STORING | LOSING | GIVEN


def put(part: Any, seed: int) -> tuple[Put, np.ndarray]:
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=(2, len(set(part.nodes())), 3))
    return Put(part, x), u


def lengths(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(x, axis=0), axis=1)


class TestInNumbers:
    """A 3-4-5 triangle: length 5; the rate along the line is (3*1 + 4*2)/5 = 2.2."""

    X = ((0.0, 0.0, 0.0), (3.0, 4.0, 0.0))
    U = ((0.0, 0.0, 0.0), (1.0, 2.0, 7.0))
    WAY = np.array([0.6, 0.8, 0.0])

    def check(self, part: Any, tension: float, name: str = "force") -> None:
        at = Put(part, self.X)
        np.testing.assert_allclose(at.forces(u=self.U), [tension * self.WAY, -tension * self.WAY], rtol=1e-13)
        found = at.results(u=self.U)
        assert found[name] == pytest.approx(tension, rel=1e-13)
        assert found["length"] == 5.0

    def test_spring(self) -> None:
        part = nodal.Spring("S", "A", "B", stiffness=10.0, length=2.0, preload=4.0, damping=5.0)
        self.check(part, 10 * 3 + 4 + 5 * 2.2)
        at = Put(part, self.X)
        assert at.potential() == pytest.approx(10 * 9 / 2 + 4 * 3)
        assert at.loss(u=self.U) == pytest.approx(5 * 2.2**2)

    def test_damper(self) -> None:
        self.check(nodal.Damper("D", "A", "B", damping=5.0), 11.0)

    def test_elastic_cable(self) -> None:
        self.check(nodal.ElasticCable("C", ("A", "B"), stiffness=10.0, length=2.0, damping=5.0), 30 + 11.0, "tension")

    def test_force_cable(self) -> None:
        self.check(nodal.ForceCable("C", ("A", "B"), tension=50), 50.0, "tension")


def test_a_cable_pulls_a_pulley_along_the_bisector() -> None:
    """Two stretches at a right angle: T sqrt(2) on the node between them."""
    at = Put(nodal.ForceCable("C", ("A", "B", "C"), tension=10.0), [(2, 0, 0), (0, 0, 0), (0, 3, 0)])
    np.testing.assert_allclose(at.forces(), [(-10, 0, 0), (10, 10, 0), (0, -10, 0)], rtol=1e-14)
    assert at.results()["length"] == 5.0


def test_stiffness_belongs_to_the_whole_cable() -> None:
    part = nodal.ElasticCable("C", ("A", "B", "C"), stiffness=100.0, length=4.5)
    assert Put(part, [(2, 0, 0), (0, 0, 0), (0, 3, 0)]).results()["tension"] == pytest.approx(50.0)


@SEEDS
@pytest.mark.parametrize("name", INTERNAL)
def test_forces_between_nodes_have_no_resultant(name: str, seed: int) -> None:
    """Neither a total force nor a total moment, about any point."""
    at, u = put(INTERNAL[name], seed)
    forces = at.forces(u=u, t=0.3)
    size = max(np.abs(forces).max(), 1.0)
    np.testing.assert_allclose(forces.sum(axis=0), 0, atol=1e-13 * size)
    np.testing.assert_allclose(np.cross(at.start, forces).sum(axis=0), 0, atol=1e-12 * size)


@SEEDS
@pytest.mark.parametrize("name", STORING)
def test_force_is_minus_the_slope_of_the_energy(name: str, seed: int) -> None:
    at, _ = put(STORING[name], seed)
    slope = differences(lambda x: np.array([at.potential(x)]), at.start)[0]
    np.testing.assert_allclose(at.forces(), -slope, rtol=1e-6, atol=1e-5)


@SEEDS
@pytest.mark.parametrize("name", STORING | LOSING)
def test_power_is_stored_or_lost(name: str, seed: int) -> None:
    """sum f.u + dV/dt + loss = 0, with dV/dt by exact differentiation along the motion."""
    at, u = put((STORING | LOSING)[name], seed)
    s = ca.SX.sym("s")
    energy = ca.substitute(at.part.potential(at.v, at.at), at.X, ca.SX(ca.DM(at.start.T)) + s * ca.DM(u.T))
    rate = float(ca.Function("rate", [s], [ca.jacobian(ca.SX(energy), s)])(0.0))
    power = float((at.forces(u=u) * u).sum())
    assert power + rate + at.loss(u=u) == pytest.approx(0.0, abs=1e-10 * max(abs(power), 1.0))
    assert (at.loss(u=u) > 1e-3) == (name in LOSING and "slack" not in name)


@SEEDS
@pytest.mark.parametrize("name", GIVEN)
def test_power_of_a_given_tension(name: str, seed: int) -> None:
    """-T dl/dt, with the length of the path by central differences along the motion."""
    at, u = put(GIVEN[name], seed)
    loop = at.order
    h = 1e-6
    rate = (lengths((at.start + h * u)[loop]).sum() - lengths((at.start - h * u)[loop]).sum()) / (2 * h)
    tension = at.results(t=2.0)["tension"]
    assert (at.forces(t=2.0) * u).sum() == pytest.approx(-tension * rate, rel=1e-8)
    assert at.part.loss(at.v, at.at) is None
    assert at.part.supplies


class TestSlack:
    PART = nodal.ElasticCable("C", ("A", "B"), stiffness=100.0, length=1.0, damping=20.0)

    @given(st.floats(0.01, 3.0), st.floats(-20.0, 20.0))
    @random_cases(20, 60)
    def test_it_never_pushes_and_never_gives_energy(self, length: float, rate: float) -> None:
        at = Put(self.PART, [(0, 0, 0), (length, 0, 0)])
        u = [(0, 0, 0), (rate, 0, 0)]
        tension = max(0.0, 100 * (length - 1) + 20 * rate) if length > 1 else 0.0
        assert at.results(u=u)["tension"] == pytest.approx(tension, rel=1e-9, abs=1e-9)
        assert at.loss(u=u) >= -1e-12
        assert at.forces(u=u)[1][0] == pytest.approx(-tension, rel=1e-9, abs=1e-9)

    def test_let_go_faster_than_it_can_follow(self) -> None:
        """Tight by 0.1 m, 10 N; at 2 m/s inwards the damper would push with 40 N."""
        at = Put(self.PART, [(0, 0, 0), (1.1, 0, 0)])
        u = [(0, 0, 0), (-2.0, 0, 0)]
        assert not at.forces(u=u).any()
        assert at.loss(u=u) == pytest.approx(10 * 2.0), "the energy it stored is lost at the rate k x |l'|"


class TestZeroLength:
    """Where nodes meet a line has no direction; forces stay finite, and so do their slopes."""

    @pytest.mark.parametrize("name", INTERNAL)
    def test_nothing_becomes_infinite(self, name: str) -> None:
        part = INTERNAL[name]
        at = Put(part, np.zeros((len(set(part.nodes())), 3)))
        u = np.random.default_rng(0).normal(size=at.start.shape)
        stacked = ca.vertcat(*part.forces(at.v, at.at))
        assert np.isfinite(at.number(stacked, u=u)).all()
        assert np.isfinite(at.number(ca.jacobian(stacked, ca.vec(at.X)), u=u)).all()
        assert np.isfinite(at.number(ca.jacobian(stacked, ca.vec(at.U)), u=u)).all()
        assert np.isfinite(at.number(part.potential(at.v, at.at)))

    def test_spring_without_natural_length_is_exact(self) -> None:
        at = Put(STORING["spring without length"], np.zeros((2, 3)))
        way = np.array([1e-9, -2e-9, 0.5])
        np.testing.assert_allclose(at.forces(x=[(0, 0, 0), way])[1], -300 * way, rtol=1e-15)


def test_a_force_follows_time_and_measured_quantities() -> None:
    part = nodal.Force("F", nodal.Node("A", position=(0, 0, 0)), force=("2*t", 0, "-k*A.velocity.z"))
    at = Put(part, [(0, 0, 0)], {"k": ca.SX(4.0), "A.velocity.z": ca.SX(3.0)})
    np.testing.assert_array_equal(at.forces(t=5.0), [(10.0, 0.0, -12.0)])
    np.testing.assert_array_equal(at.results(t=5.0)["force"], (10.0, 0.0, -12.0))
    assert part.nodes() == ("A",)
    assert part.supplies


def test_a_load_of_a_body_names_the_body() -> None:
    body = nodal.Body("P", ("A", "B"), mass=1, centre=(0, 0, 0), inertia=(1, 1, 1))
    part = nodal.BodyLoad("L", body, moment=("t", 0, 1), force=(0, "-P.position.y", 0))
    assert part.body == "P"
    assert part.nodes() == ()
    assert [(e.tail, e.head) for e in part.edges()] == [("ground", "P")]
    at = Put(part, np.zeros((0, 3)), {"P.position.y": ca.SX(2.0)})
    force, moment = part.load(at.v)
    np.testing.assert_array_equal(at.number(force, t=3.0), (0, -2, 0))
    np.testing.assert_array_equal(at.number(moment, t=3.0), (3, 0, 1))
    np.testing.assert_array_equal(at.results(t=3.0)["moment"], (3, 0, 1))
