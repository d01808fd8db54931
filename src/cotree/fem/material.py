"""Isotropic elastic materials with Kelvin-Voigt viscosity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from cotree.errors import ModelError, listing, nearest
from cotree.maths.viewed import Viewed
from cotree.model.built import build
from cotree.model.form import ABOVE_ZERO, VALUE, Schema, either, made, one_of, or_null
from cotree.model.helpful import answered
from cotree.model.quantity import LARGEST, finite


def number(
    given: Any, name: str, where: str = "", *, least: float = -math.inf, open_end: bool = True, unit: str | None = None
) -> float:
    """A finite number above ``least`` (or equal to it where the end is not open); anything else is refused.

    Where its ``unit`` is known it may be a text: a number with a unit, such as 300 mm.
    """
    bound = "" if least == -math.inf else f" {'above' if open_end else 'of at least'} {least:g}"
    if isinstance(given, str) and unit is not None:
        given = finite(given, f"{where}: {name}" if where else name, f"a finite number{bound}", unit)
    try:
        value = math.nan if isinstance(given, bool | str) else float(given)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not abs(value) <= LARGEST or value < least or (open_end and value == least):
        raise ModelError(f"{name} is {given!r}", where=where, expected=f"a finite number{bound}")
    return value


def in_si(owner: Any, where: str, **units: str) -> None:
    """Put numbers in the place of values with units in some fields of a frozen object."""
    for name, unit in units.items():
        if isinstance(given := getattr(owner, name), str):
            object.__setattr__(owner, name, finite(given, f"{where}: {name}", "a number", unit))


@answered
@dataclass(frozen=True)
class Material(Viewed):
    """An isotropic material in SI units.

    The shear modulus is E / 2 (1 + nu) unless it is given. ``viscosity`` is the retardation time tau in s of the
    Kelvin-Voigt law: stress = H (strain + tau rate of strain), G = tau H in Richard 2012, eq. 62. ``yield_strength`` is
    the stress in Pa at which the material begins to flow; runs say where von Mises stress exceeds it.
    """

    young: float
    density: float
    poisson: float | None = None
    shear: float | None = None
    viscosity: float = 0.0
    name: str = ""
    yield_strength: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"the name is {self.name!r}", where="material", expected="text; put a number in quotes")
        where = f"material '{self.name}'" if self.name else "material"
        in_si(self, where, young="Pa", density="kg/m^3", poisson="", shear="Pa", viscosity="s", yield_strength="Pa")
        number(self.young, "young (the modulus E in Pa)", where, least=0.0)
        number(self.density, "density (in kg/m^3)", where, least=0.0)
        number(self.viscosity, "viscosity (the retardation time in s)", where, least=0.0, open_end=False)
        if self.shear is not None:
            number(self.shear, "shear (the modulus G in Pa)", where, least=0.0)
        if self.yield_strength is not None:
            number(self.yield_strength, "yield_strength (in Pa)", where, least=0.0)
        if self.poisson is not None and not -1 < number(self.poisson, "poisson", where) < 0.5:
            raise ModelError(f"poisson is {self.poisson!r}", where=where, expected="a number above -1 and below 0.5")
        if self.poisson is None and self.shear is None:
            raise ModelError(
                "neither poisson nor shear is given",
                where=where,
                expected="Poisson's ratio, or the shear modulus in Pa",
                remedy="metals have a Poisson's ratio of about 0.3",
            )

    @property
    def shear_modulus(self) -> float:
        """G in Pa, as given or that of Young's modulus and Poisson's ratio."""
        if self.shear is not None:
            return self.shear
        assert self.poisson is not None  # one of the two is there, by the check at the start
        return self.young / 2 / (1 + self.poisson)

    @property
    def poisson_ratio(self) -> float:
        """Poisson's ratio as given, or that of the two moduli where they can be those of an isotropic material."""
        if self.poisson is not None:
            return self.poisson
        ratio = self.young / 2 / self.shear_modulus - 1
        if not -1 < ratio < 0.5:
            raise ModelError(
                f"poisson is not given, and the moduli would make it {ratio:.4g}",
                where=f"material '{self.name}'" if self.name else "material",
                expected="Poisson's ratio, or moduli with E < 3 G",
                remedy="give poisson, or the shear factors of the section where a beam asks for it",
            )
        return ratio

    def to_data(self) -> dict[str, Any]:
        """Plain data from which `material_from_data` makes the material again."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) != each.default}


STEEL = Material(2.1e11, 7850.0, poisson=0.3, name="steel")
"""Structural steel."""

ALUMINIUM = Material(7.0e10, 2700.0, poisson=0.33, name="aluminium")
"""Aluminium alloy."""

MATERIALS: dict[str, Material] = {"steel": STEEL, "aluminium": ALUMINIUM}
"""Materials that are known by name."""


def material_from_data(given: Any, where: str) -> Material:
    """A material as the user gave it: itself, a name such as ``steel``, or plain data with young, density, poisson."""
    if isinstance(given, Material):
        return given
    if isinstance(given, str):
        if given not in MATERIALS:
            raise ModelError(
                f"there is no material '{given}'",
                where=where,
                expected=f"one of {listing(MATERIALS)}, or young, density and poisson",
                remedy=nearest(given, MATERIALS),
            )
        return MATERIALS[given]
    if not isinstance(given, Mapping):
        expected = "the name of a material, or values such as {young: 2.1e11, poisson: 0.3, density: 7850}"
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    return build(Material, given, where, "material")


def material_schema() -> Schema:
    """What a model file may say of a material."""
    positive = dict.fromkeys(("young", "density"), ABOVE_ZERO) | dict.fromkeys(
        ("shear", "yield_strength"), or_null(ABOVE_ZERO)
    )
    return either(one_of(MATERIALS), made(Material, positive | {"viscosity": {**VALUE, "minimum": 0}}))
