"""Solids: mass and inertia against numerical integration over their volume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.model import Expression
from cotree.terminal.shapes import Shape, box, cylinder, rod, sphere, tube

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(8)


def grid(low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss points and weights on an interval."""
    return (low + high) / 2 + (high - low) / 2 * POINTS, (high - low) / 2 * WEIGHTS


def inertia(place: Callable[..., Any], density: Callable[..., Any], *ranges: tuple[float, float]) -> np.ndarray:
    """Moments about x, y, z of a solid of mass 1: places and volume elements over three parameters."""
    axes = [grid(*each) for each in ranges]
    parameters = np.meshgrid(*(points for points, _ in axes), indexing="ij")
    weights = np.einsum("i,j,k->ijk", *(w for _, w in axes)) * density(*parameters)
    x, y, z = place(*parameters)
    moments = [(weights * (a**2 + b**2)).sum() for a, b in ((y, z), (x, z), (x, y))]
    return np.array(moments) / weights.sum()


def around(inner: float, outer: float, length: float) -> np.ndarray:
    """A tube about z. Over an angle of a full turn the squares of sine and cosine have the mean of a quarter turn."""
    return inertia(
        lambda r, a, z: (r * np.cos(a), r * np.sin(a), z), lambda r, a, z: r,
        (inner, outer), (0, np.pi / 2), (-length / 2, length / 2),
    )  # fmt: skip


def along(axis: str, about_z: np.ndarray) -> np.ndarray:
    """A solid of revolution about z laid along another axis."""
    across, own = about_z[0], about_z[2]
    return np.array([own if axis == name else across for name in "xyz"])


AXES = pytest.mark.parametrize("axis", ["x", "y", "z"])


def moments(shape: Shape) -> np.ndarray:
    return np.array([float(value) for value in shape.moments({name: float(v) for name, v in shape.values})])


def test_box() -> None:
    a, b, c = 0.3, 0.5, 1.1
    numeric = inertia(
        lambda x, y, z: (x, y, z), lambda x, y, z: 1 + 0 * x, (-a / 2, a / 2), (-b / 2, b / 2), (-c / 2, c / 2)
    )
    np.testing.assert_allclose(moments(box(size=(a, b, c), mass=2.0)), 2 * numeric, rtol=1e-12)


@AXES
def test_cylinder_and_rod_with_a_radius(axis: Any) -> None:
    numeric = 2 * along(axis, around(0.0, 0.4, 1.3))
    np.testing.assert_allclose(moments(cylinder(radius=0.4, length=1.3, mass=2.0, axis=axis)), numeric, rtol=1e-12)
    np.testing.assert_allclose(moments(rod(radius=0.4, length=1.3, mass=2.0, axis=axis)), numeric, rtol=1e-12)


@AXES
def test_tube(axis: Any) -> None:
    numeric = 3 * along(axis, around(0.25, 0.4, 1.3))
    got = moments(tube(outer=0.4, inner=0.25, length=1.3, mass=3.0, axis=axis))
    np.testing.assert_allclose(got, numeric, rtol=1e-12)


@AXES
def test_thin_rod(axis: Any) -> None:
    numeric = along(axis, around(0.0, 1e-9, 2.0))
    np.testing.assert_allclose(moments(rod(length=2.0, mass=1.0, axis=axis)), numeric, rtol=1e-12, atol=1e-15)


def test_sphere() -> None:
    numeric = inertia(
        lambda r, a, c: (r * np.sqrt(1 - c**2) * np.cos(a), r * np.sqrt(1 - c**2) * np.sin(a), r * c),
        lambda r, a, c: r**2,
        (0, 0.6), (0, np.pi / 2), (-1, 1),
    )  # fmt: skip
    np.testing.assert_allclose(moments(sphere(radius=0.6, mass=1.5)), 1.5 * numeric, rtol=1e-12)


def test_mass_is_kept_and_parameters_stay_expressions() -> None:
    shape = rod(length="L", mass="rho*L", axis="z")
    given = dict(shape.values)
    assert given["mass"] == "rho*L"
    numbers = {name: Expression(value).number({"L": 2.0, "rho": 3.0}) for name, value in given.items()}
    np.testing.assert_allclose(shape.moments(numbers), moments(rod(length=2.0, mass=6.0, axis="z")))


@pytest.mark.parametrize(
    "make", [lambda: rod(length=1, mass=1, axis="w"), lambda: box(size=(1, 2), mass=1), lambda: box(size="abc", mass=1)]
)
def test_refuses(make: Any) -> None:
    with pytest.raises(ModelError):
        make()
