"""Platings against the closed forms of laminate theory, their errors, and plain data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.fem.material import STEEL, Material
from cotree.fem.plate import Laminate, Orthotropic, Plate, layered, plate_from_data

CARBON = Orthotropic(0.002, young_x=140e9, young_y=10e9, poisson_xy=0.3, shear_xy=5e9, density=1600.0)


def reduced(ply: Orthotropic) -> tuple[float, float, float]:
    """Q_11, Q_22 and Q_12 in the axes of the ply."""
    free = 1 - ply.poisson_xy**2 * ply.young_y / ply.young_x
    return ply.young_x / free, ply.young_y / free, ply.poisson_xy * ply.young_y / free


def test_an_isotropic_plate_has_the_stiffness_and_mass_of_the_textbook() -> None:
    plate = Plate(0.02, STEEL)
    a, b, d = plate.abd()
    stretch = 2.1e11 * 0.02 / (1 - 0.09)
    bend = 2.1e11 * 0.02**3 / 12 / (1 - 0.09)
    np.testing.assert_allclose(a, stretch * np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.35]]), rtol=1e-14)
    np.testing.assert_allclose(d, bend * np.array([[1, 0.3, 0], [0.3, 1, 0], [0, 0, 0.35]]), rtol=1e-14)
    assert not b.any()
    assert plate.mass_per_area == pytest.approx(157.0, rel=1e-14)
    assert plate.rotary_per_area == pytest.approx(7850 * 0.02**3 / 12, rel=1e-14)


def test_poisson_follows_from_the_shear_modulus() -> None:
    by_shear = Plate(0.01, Material(2.6e11, 7850.0, shear=1e11))
    by_ratio = Plate(0.01, Material(2.6e11, 7850.0, poisson=0.3))
    np.testing.assert_allclose(by_shear.abd()[0], by_ratio.abd()[0], rtol=1e-14)


def test_an_orthotropic_ply_off_its_axes_has_the_moduli_of_jones() -> None:
    # Jones eq. 2.97: 1/E(45) = (1/E1 + 1/E2 + 1/G12 - 2 nu12/E1) / 4.
    ply = layered([(CARBON, math.pi / 4)])
    flexibility = np.linalg.inv(ply.abd()[0]) * CARBON.thickness
    expected = (1 / 140e9 + 1 / 10e9 + 1 / 5e9 - 2 * 0.3 / 140e9) / 4
    assert flexibility[0, 0] == pytest.approx(expected, rel=1e-12)
    across = layered([(CARBON, math.pi / 2)]).abd()[0]
    q11, q22, q12 = reduced(CARBON)
    expected_across = np.array([[q22, q12, 0], [q12, q11, 0], [0, 0, 5e9]]) * CARBON.thickness
    np.testing.assert_allclose(across, expected_across, rtol=1e-12, atol=1e-9 * q11 * CARBON.thickness)


def test_a_positive_angle_turns_the_stiff_axis_to_the_left() -> None:
    # Stretched along x, fibres at +30 degrees pull with positive shear force.
    assert layered([(CARBON, math.pi / 6)]).abd()[0][0, 2] > 0


def test_cross_ply_laminates_couple_bending_and_stretching_as_in_theory() -> None:
    q11, q22, q12 = reduced(CARBON)
    h = CARBON.thickness
    a, b, d = layered([CARBON, (CARBON, math.pi / 2)]).abd()  # 0 below, 90 above
    assert a[0, 0] == pytest.approx(h * (q11 + q22), rel=1e-12)
    assert b[0, 0] == pytest.approx(h**2 / 2 * (q22 - q11), rel=1e-12)
    assert b[1, 1] == pytest.approx(-b[0, 0], rel=1e-12)
    assert b[0, 1] == b[2, 2] == 0.0
    assert d[0, 0] == pytest.approx(h**3 / 3 * (q11 + q22), rel=1e-12)
    assert d[0, 1] == pytest.approx(2 * h**3 / 3 * q12, rel=1e-12)


def test_a_symmetric_stacking_is_exactly_uncoupled() -> None:
    laminate = layered([(CARBON, 0.3), (CARBON, -0.7, 0.001), (CARBON, 0.3)])
    assert not laminate.abd()[1].any()
    assert laminate.offset == 0.0
    assert laminate.thickness == pytest.approx(0.005, rel=1e-14)


def test_layers_of_one_material_are_one_plate() -> None:
    whole, parts = Plate(0.03, STEEL), layered([Plate(0.01, STEEL), Plate(0.02, STEEL)])
    for left, right in zip(whole.abd(), parts.abd(), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-6)
    assert parts.rotary_per_area == pytest.approx(whole.rotary_per_area, rel=1e-12)


def test_a_heavy_face_moves_the_centre_of_mass() -> None:
    heavy, light = Plate(0.01, STEEL), Plate(0.03, Material(1e9, 100.0, poisson=0.3))
    laminate = layered([light, heavy])
    first = 100 * 0.03 * (-0.005) + 7850 * 0.01 * 0.015  # middle of each layer from the middle of the whole
    assert laminate.first_per_area == pytest.approx(first, rel=1e-12)
    second = 100 * (0.01**3 + 0.02**3) / 3 + 7850 * (0.02**3 - 0.01**3) / 3
    assert laminate.rotary_per_area == pytest.approx(second, rel=1e-12)


def test_stress_is_that_of_the_ply_at_the_height() -> None:
    laminate = layered([CARBON, (CARBON, math.pi / 2)])
    q11, q22, _ = reduced(CARBON)
    below, above = laminate.stiffness_at(-0.002), laminate.stiffness_at(0.002)
    assert below is not None
    assert above is not None
    assert below[0, 0] == pytest.approx(q11, rel=1e-12)
    assert above[0, 0] == pytest.approx(q22, rel=1e-12)


@pytest.mark.parametrize("thickness", [0.0, -0.01, math.nan, math.inf, "thin", True, None])
def test_a_thickness_must_be_positive(thickness: Any) -> None:
    with pytest.raises(ModelError, match="thickness"):
        Plate(thickness, STEEL)
    with pytest.raises(ModelError, match="thickness"):
        Orthotropic(thickness, 1.0, 1.0, 0.3, 0.4, 1.0)


def test_impossible_materials_are_refused() -> None:
    with pytest.raises(ModelError, match="poisson_xy"):
        Orthotropic(0.01, young_x=1e9, young_y=1e11, poisson_xy=0.3, shear_xy=1e9, density=1.0)
    with pytest.raises(ModelError, match="positive definite"):
        Laminate(tuple(map(tuple, np.eye(6) - 0.3)), 1.0)
    with pytest.raises(ModelError, match="symmetric"):
        Laminate(tuple(map(tuple, np.eye(6) + np.triu(np.full((6, 6), 0.1), 1))), 1.0)
    with pytest.raises(ModelError, match="6 by 6"):
        Laminate(((1.0,),), 1.0)
    with pytest.raises(ModelError, match="rotary"):
        Laminate(tuple(map(tuple, np.eye(6))), 1.0, offset=0.1)
    with pytest.raises(ModelError, match="retardation times"):
        layered([CARBON, Plate(0.01, Material(1e9, 1.0, poisson=0.3, viscosity=0.1))])
    with pytest.raises(ModelError, match="no plies"):
        layered([])
    with pytest.raises(ModelError, match="ply 2"):
        layered([CARBON, "carbon"])


@pytest.mark.parametrize(
    "plating",
    [
        Plate(0.02, STEEL),
        Orthotropic(0.002, 140e9, 10e9, 0.3, 5e9, 1600.0, angle=0.5, viscosity=1e-4),
        Laminate(tuple(map(tuple, (2 * np.eye(6)).tolist())), 3.0, rotary=0.1),
        layered([CARBON, (CARBON, math.pi / 2), Plate(0.001, Material(1e9, 100.0, poisson=0.2))]),
    ],
)
def test_plain_data_gives_the_same_plate(plating: Any) -> None:
    assert plate_from_data(plating.to_data(), "wing.plate") == plating
    assert plate_from_data(plating, "wing.plate") is plating


def test_short_data() -> None:
    assert Plate(0.01, STEEL).to_data() == {"thickness": 0.01, "material": STEEL.to_data()}
    assert plate_from_data({"thickness": 0.01, "material": "steel"}, "x") == Plate(0.01, STEEL)
    given = {"thickness": 1, "young_x": 2, "young_y": 3, "poisson_xy": 0.1, "shear_xy": 1, "density": 1}
    assert plate_from_data(given, "x") == Orthotropic(1, 2, 3, 0.1, 1, 1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("steel", "found 'steel'"),
        ({"plat": {"thickness": 1}}, "Did you mean 'plate'"),
        ({"thickness": 0.01}, "material of the plate not given"),
        ({"thickness": 0.01, "materail": "steel"}, "Did you mean 'material'"),
        ({"thickness": 0, "material": "steel"}, "thickness"),
        ({"layered": {"plies": "all"}}, "list of plies"),
        ({"thickness": 1, "young_x": 1, "yong_y": 1}, "an orthotropic plate has no 'yong_y'. .*Did you mean 'young_y'"),
        ({"layered": {"plies": [{"laminate": {"matrix": np.eye(6).tolist(), "mass_per_area": 1}}]}}, "ply 1"),
    ],
)
def test_wrong_data_is_refused_with_its_place(given: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        plate_from_data(given, "wing.plate")
    assert caught.value.where.startswith("wing.plate")
