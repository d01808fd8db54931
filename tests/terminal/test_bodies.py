"""Bodies: momentum rates against a cloud of particles, inertia data against what a real body can have."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.mechanics import BodyMotion
from cotree.terminal.shapes import box, rod
from terminal.motions import fields, number, numbers

SEEDS = pytest.mark.parametrize("seed", range(4))


class Cloud:
    """Particles that move as one body: the sums over them are the laws of that body."""

    def __init__(self, seed: int, count: int = 7) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.r = rng.uniform(0.1, 2.0, count), rng.normal(size=(count, 3))
        self.v, self.w, self.v_dot, self.w_dot, self.g = rng.normal(size=(5, 3))
        self.mass = float(self.m.sum())
        self.centre = self.m @ self.r / self.mass

    @property
    def motion(self) -> BodyMotion:
        return BodyMotion(*(ca.SX(each) for each in (self.v, self.w, self.v_dot, self.w_dot, self.g)))

    def inertia(self, point: Any) -> np.ndarray:
        arms = self.r - np.asarray(point)
        return np.asarray(
            sum(m * ((a @ a) * np.eye(3) - np.outer(a, a)) for m, a in zip(self.m, arms, strict=True)), dtype=float
        )

    def sums(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Force and moment about the origin, and kinetic energy, of all particles."""
        velocity = self.v + np.cross(self.w, self.r)
        origin = self.v_dot + np.cross(self.w, self.v) - self.g
        acceleration = origin + np.cross(self.w_dot, self.r) + np.cross(self.w, np.cross(self.w, self.r))
        forces = self.m[:, None] * acceleration
        kinetic = float((self.m * (velocity**2).sum(axis=1)).sum() / 2)
        return forces.sum(axis=0), np.cross(self.r, forces).sum(axis=0), kinetic


def entries(matrix: np.ndarray) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz."""
    rows = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return tuple(float(matrix[i, k]) for i, k in rows)


def assert_like(cloud: Cloud, body: RigidBody) -> None:
    law = body.inertia_law(fields(body), cloud.motion)
    force, moment, kinetic = cloud.sums()
    np.testing.assert_allclose(numbers(law.force).ravel(), force, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(numbers(law.moment).ravel(), moment, rtol=1e-11, atol=1e-11)
    assert number(law.kinetic) == pytest.approx(kinetic, rel=1e-12)


@SEEDS
def test_rigid_body_is_its_particles(seed: int) -> None:
    cloud = Cloud(seed)
    about_centre = entries(cloud.inertia(cloud.centre))
    body = RigidBody("B", mass=cloud.mass, centre=tuple(cloud.centre), inertia=about_centre)
    assert_like(cloud, body)
    body.check(body.values({}))


@SEEDS
def test_inertia_about_any_point(seed: int) -> None:
    """Steiner: the same body from the inertia about its origin, and about a point far away."""
    cloud = Cloud(seed)
    for point in ((0.0, 0.0, 0.0), (1.0, -2.0, 0.5)):
        body = RigidBody(
            "B", mass=cloud.mass, centre=tuple(cloud.centre), inertia=cloud.inertia(point), inertia_about=point
        )
        assert_like(cloud, body)
        body.check(body.values({}))


@SEEDS
def test_spatial_inertia_is_the_one_about_the_centre(seed: int) -> None:
    cloud = Cloud(seed)
    body = RigidBody(
        "B", mass=cloud.mass, centre=tuple(cloud.centre), inertia=cloud.inertia((0, 0, 0)), inertia_about=(0, 0, 0)
    )
    mass, centre, inertia = body.spatial_inertia(fields(body))  # type: ignore[misc]
    assert number(mass) == pytest.approx(cloud.mass)
    np.testing.assert_allclose(numbers(centre).ravel(), cloud.centre)
    np.testing.assert_allclose(numbers(inertia), cloud.inertia(cloud.centre), atol=1e-12)


def test_point_mass_is_one_particle() -> None:
    cloud = Cloud(1, count=1)
    cloud.r[:] = 0.0
    body = PointMass("P", mass=cloud.mass)
    law = body.inertia_law(fields(body), cloud.motion)
    force, _, kinetic = cloud.sums()
    np.testing.assert_allclose(numbers(law.force).ravel(), force, rtol=1e-13)
    assert not numbers(law.moment).any()
    assert number(law.kinetic) == pytest.approx(kinetic)


def test_shapes_and_principal_moments() -> None:
    body = RigidBody("B", box(size=(1, 2, 3), mass=12.0))
    assert RigidBody.from_data("B", {k: v for k, v in body.to_data().items() if k != "kind"}) == body
    np.testing.assert_allclose(numbers(fields(body).inertia), np.diag([13, 10, 5]))


@pytest.mark.parametrize(
    ("inertia", "message"),
    [
        ((1.0, 1.0, 2.5), "triangle inequality"),
        ((1.0, -0.1, 1.0), "positive moments"),
        ((0.0, 0.0, 0.0), "positive moments"),
        ((1.0, 1.0, 1.0, 0.9, 0.9, -0.9), "positive moments"),
    ],
)
def test_check_refuses_what_no_body_has(inertia: tuple[float, ...], message: str) -> None:
    body = RigidBody("B", mass=1.0, inertia=inertia)
    with pytest.raises(ModelError, match=message) as caught:
        body.check(body.values({}))
    assert "B.inertia" in str(caught.value)


def test_check_looks_at_the_inertia_about_the_centre() -> None:
    """About a far point the same numbers would leave a negative moment about the centre."""
    body = RigidBody("B", mass=2.0, inertia=(1.0, 1.0, 1.0), inertia_about=(1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="positive moments"):
        body.check(body.values({}))


@pytest.mark.parametrize("inertia", [(0.0, 1.0, 1.0), (1.0, 1.0, 2.0)])
def test_thin_rods_and_flat_plates_are_real(inertia: tuple[float, ...]) -> None:
    body = RigidBody("B", mass=1.0, inertia=inertia)
    body.check(body.values({}))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RigidBody("B", inertia=(1, 1, 1)), r"B\.mass"),
        (lambda: RigidBody("B", mass=1), r"B\.inertia"),
        (lambda: RigidBody("B", mass=1, inertia=(1, 1)), r"B\.inertia"),
        (lambda: RigidBody("B", rod(length=1, mass=1), mass=2), "beside a shape"),
        (lambda: RigidBody("B", "rod"), "a shape"),
        (lambda: RigidBody("B", mass=1, inertia=(1, 1, 1), frames={"A 1": (0, 0, 0)}), "frame name"),
        (lambda: RigidBody("B", mass=1, inertia=(1, 1, 1), frames={"A": 5}), r"B\.A"),
        (lambda: PointMass("P"), r"P\.mass"),
    ],
)
def test_making_refuses(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("mass", [-1.0, 0.0])
def test_mass_is_positive(mass: float) -> None:
    for make in (lambda m: PointMass("P", mass=m), lambda m: RigidBody("B", mass=m, inertia=(1, 1, 1))):
        with pytest.raises(ModelError, match="the value is"):
            make(mass)
        with pytest.raises(ModelError, match="the value is"):
            make("m").values({"m": mass})


def test_frames_are_nodes() -> None:
    body = RigidBody("B", mass=1, inertia=(1, 1, 1), frames={"A": (0.1, 0, 0)})
    assert body["A"] == "B.A"
    assert [(edge.tail, edge.head) for edge in body.edges()] == [("ground", "B"), ("B", "B.A")]
    with pytest.raises(ModelError, match="no frame 'C'"):
        body["C"]
