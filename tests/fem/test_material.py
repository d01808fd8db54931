"""Materials: moduli, checks, plain data."""

from __future__ import annotations

from typing import Any

import pytest

from cotree.errors import ModelError
from cotree.fem.material import ALUMINIUM, STEEL, Material, material_from_data


def test_shear_modulus_of_an_isotropic_material() -> None:
    """G = E / 2 (1 + nu): 80.77 GPa for steel, 26.32 GPa for aluminium."""
    assert STEEL.shear_modulus == pytest.approx(80.76923e9, rel=1e-7)
    assert ALUMINIUM.shear_modulus == pytest.approx(26.31579e9, rel=1e-7)


def test_a_given_shear_modulus_stays_and_tells_poisson() -> None:
    material = Material(2.6e9, 1000.0, shear=1e9)
    assert material.shear_modulus == 1e9
    assert material.poisson_ratio == pytest.approx(0.3, rel=1e-14)
    assert Material(1e9, 1.0, poisson=0.2, shear=7e9).poisson_ratio == 0.2


def test_moduli_of_no_isotropic_material_do_not_tell_poisson() -> None:
    with pytest.raises(ModelError, match="would make it 4"):
        _ = Material(1e9, 1.0, shear=1e8).poisson_ratio


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"young": 0.0}, r"material 'm': young \(the modulus E in Pa\) is 0.0. Expected a finite number above 0"),
        ({"young": "stiff"}, "young: found 'stiff'"),
        ({"young": float("nan")}, "young .* is nan"),
        ({"density": -1.0}, "density .* is -1.0"),
        ({"poisson": 0.5}, "poisson is 0.5. Expected a number above -1 and below 0.5"),
        ({"poisson": -1.0}, "poisson is -1.0"),
        ({"viscosity": -1e-3}, "viscosity .* Expected a finite number of at least 0"),
        ({"shear": 0.0}, "shear .* is 0.0"),
        ({"poisson": None}, "neither poisson nor shear is given"),
    ],
)
def test_values_out_of_range_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Material(**({"young": 1e9, "density": 1e3, "poisson": 0.3, "name": "m"} | values))


def test_plain_data_and_back() -> None:
    given = {"young": 7.1e10, "density": 2770.0, "poisson": 0.3, "viscosity": 1e-4}
    material = material_from_data(given, "body 'arm'")
    assert material == Material(7.1e10, 2770.0, poisson=0.3, viscosity=1e-4)
    assert material.to_data() == given
    assert material_from_data(material, "x") is material
    assert material_from_data("steel", "x") is STEEL


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("stel", "body 'arm': there is no material 'stel'. .* Did you mean 'steel'?"),
        (3, "body 'arm': found 3"),
        (
            {"young": 1e9, "density": 1.0, "poisson": 0.3, "name": 7},
            "body 'arm': material: the name is 7. Expected text",
        ),
        ({"young": 1e9, "poisson": 0.3}, "body 'arm': density of the material not given"),
        ({"young": 1e9, "density": 1.0, "poison": 0.3}, "a material has no 'poison'. .* Did you mean 'poisson'?"),
        ({"young": -1, "density": 1.0, "poisson": 0.3}, "body 'arm': material: young .* is -1"),
    ],
)
def test_wrong_data_is_named(given: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        material_from_data(given, "body 'arm'")
