"""Cross-sections of beams: area, second moments, torsion constant, shear factors, points where stress is looked at.

The section lies in the local axes y and z of the beam, which are principal axes through its centroid. ``iz`` is the
integral of y^2 and bends the beam in the plane xy, ``iy`` that of z^2 for the plane xz. A shear factor times the area
is the area that resists shear: ``shear_y`` for deflection along y. Factors of solid shapes depend on Poisson's ratio
(Cowper 1966, The shear coefficient in Timoshenko's beam theory) and are filled in by `with_poisson`, unless given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, pi, tanh
from typing import Any

from cotree.errors import ModelError
from cotree.fem.material import number
from cotree.maths.viewed import Viewed
from cotree.model.built import build, pick
from cotree.model.form import ABOVE_ZERO, VALUE, Schema, listed, made_by, several

Points = tuple[tuple[float, float], ...]
Factors = tuple[float, float]


@dataclass(frozen=True)
class Section(Viewed):
    """A cross-section: numbers for the beam, with the kind and the lengths they come from."""

    area: float
    iy: float
    iz: float
    torsion: float
    shear_y: float | None = None
    """Shear factor for deflection along y, None until Poisson's ratio is known."""
    shear_z: float | None = None
    kind: str = ""
    values: tuple[tuple[str, float], ...] = ()
    """Lengths of the kind, by name."""
    given: tuple[tuple[str, float], ...] = ()
    """Shear factors that the user gave."""
    corners: Points = ()
    """Extreme points (y, z) of a general section."""

    def with_poisson(self, poisson: float) -> Section:
        """The section with all shear factors as numbers; factors that are there already stay."""
        if self.shear_y is not None and self.shear_z is not None:
            return self
        if self.kind not in _FACTORS:
            raise ModelError(
                "the shear factors of a general section are not given",
                where="section",
                expected="shear_y and shear_z, effective over true area (5/6 for a rectangle)",
                remedy="give them, or leave out shear deformation of the beam",
            )
        along_y, along_z = _FACTORS[self.kind](dict(self.values), poisson)
        return replace(
            self,
            shear_y=along_y if self.shear_y is None else self.shear_y,
            shear_z=along_z if self.shear_z is None else self.shear_z,
        )

    def to_data(self) -> dict[str, dict[str, Any]]:
        """Plain data from which `section_from_data` makes the section again."""
        bare = {"area": self.area, "iy": self.iy, "iz": self.iz, "torsion": self.torsion}
        factors = {"shear_y": self.shear_y, "shear_z": self.shear_z}
        data: dict[str, Any] = dict(self.values) | dict(self.given)
        if not self.kind:  # made by hand, without a builder
            data = bare | {name: value for name, value in factors.items() if value is not None}
        return {
            self.kind or "general": data
            | ({"corners": [list(point) for point in self.corners]} if self.corners else {})
        }


def _made(
    kind: str,
    values: Mapping[str, float],
    numbers: tuple[float, float, float, float],
    factors: tuple[float | None, float | None],
    corners: Points = (),
) -> Section:
    """A section whose numbers are known; the factors are checked."""
    pairs = zip(("shear_y", "shear_z"), factors, strict=True)
    given = {name: number(value, name, f"section {kind}", least=0.0) for name, value in pairs if value is not None}
    if not max(numbers) < inf:
        raise ModelError(f"found {dict(values)}", where=f"section {kind}", expected="lengths whose powers are numbers")
    area, iy, iz, torsion = numbers
    along_y, along_z = given.get("shear_y"), given.get("shear_z")
    kept = tuple(values.items()), tuple(given.items())
    return Section(area, iy, iz, torsion, along_y, along_z, kind, *kept, corners)


def _lengths(kind: str, **given: Any) -> dict[str, float]:
    """The lengths of a section, all positive."""
    where = f"section {kind}"
    return {name: number(value, f"{name} (in m)", where, least=0.0, unit="m") for name, value in given.items()}


def _less(kind: str, small: str, given: float, limit: float, why: str) -> None:
    """Refuse a wall that fills the section."""
    if given >= limit:
        raise ModelError(f"{small} is {given:g}", where=f"section {kind}", expected=f"less than {limit:g}, {why}")


def circle(radius: float, *, shear_y: float | None = None, shear_z: float | None = None) -> Section:
    """A full circle."""
    v = _lengths("circle", radius=radius)
    r = v["radius"]
    second = pi * r**4 / 4
    return _made("circle", v, (pi * r**2, second, second, 2 * second), (shear_y, shear_z))


def tube(outer: float, inner: float, *, shear_y: float | None = None, shear_z: float | None = None) -> Section:
    """A ring between two radii."""
    v = _lengths("tube", outer=outer, inner=inner)
    a, b = v["outer"], v["inner"]
    _less("tube", "inner", b, a, "the outer radius")
    second = pi * (a**4 - b**4) / 4
    return _made("tube", v, (pi * (a**2 - b**2), second, second, 2 * second), (shear_y, shear_z))


def rectangle(width: float, height: float, *, shear_y: float | None = None, shear_z: float | None = None) -> Section:
    """A full rectangle, ``width`` along y and ``height`` along z."""
    v = _lengths("rectangle", width=width, height=height)
    b, h = v["width"], v["height"]
    numbers = b * h, b * h**3 / 12, h * b**3 / 12, rectangle_torsion(b, h)
    return _made("rectangle", v, numbers, (shear_y, shear_z))


def box(
    width: float, height: float, thickness: float, *, shear_y: float | None = None, shear_z: float | None = None
) -> Section:
    """A hollow rectangle with one wall thickness; outer ``width`` along y and ``height`` along z.

    Torsion is that of a thin closed wall (Bredt), over the lines through the middle of the walls.
    """
    v = _lengths("box", width=width, height=height, thickness=thickness)
    b, h, t = v["width"], v["height"], v["thickness"]
    _less("box", "thickness", t, min(b, h) / 2, "half the smaller side")
    bi, hi, bm, hm = b - 2 * t, h - 2 * t, b - t, h - t
    second = (b * h**3 - bi * hi**3) / 12, (h * b**3 - hi * bi**3) / 12
    numbers = b * h - bi * hi, *second, 2 * t * (bm * hm) ** 2 / (bm + hm)
    return _made("box", v, numbers, (shear_y, shear_z))


def i_section(
    width: float,
    height: float,
    web: float,
    flange: float,
    *,
    shear_y: float | None = None,
    shear_z: float | None = None,
) -> Section:
    """Two flanges along y, joined by a web along z; ``web`` and ``flange`` are thicknesses, ``height`` is over all.

    Torsion is that of three thin strips, sum of b t^3 / 3; warping is free.
    """
    v = _lengths("i_section", width=width, height=height, web=web, flange=flange)
    b, h, w, f = v["width"], v["height"], v["web"], v["flange"]
    _less("i_section", "flange", f, h / 2, "half the height")
    _less("i_section", "web", w, b, "the width")
    hi = h - 2 * f
    second = (b * h**3 - (b - w) * hi**3) / 12, (2 * f * b**3 + hi * w**3) / 12
    numbers = 2 * b * f + hi * w, *second, (2 * b * f**3 + hi * w**3) / 3
    return _made("i_section", v, numbers, (shear_y, shear_z))


def general(
    area: float,
    iy: float,
    iz: float,
    torsion: float,
    shear_y: float | None = None,
    shear_z: float | None = None,
    corners: Sequence[Sequence[float]] = (),
) -> Section:
    """A section by its numbers, in m^2 and m^4; ``corners`` are extreme points (y, z) for stress."""
    v = {"area": area, "iy": iy, "iz": iz, "torsion": torsion}
    v = {
        name: number(value, name, "section general", least=0.0, unit="m^2" if name == "area" else "m^4")
        for name, value in v.items()
    }
    points = tuple(
        (number(y, "a corner", "section general", unit="m"), number(z, "a corner", unit="m")) for y, z in corners
    )
    return _made("general", v, (v["area"], v["iy"], v["iz"], v["torsion"]), (shear_y, shear_z), points)


def rectangle_torsion(width: float, height: float) -> float:
    """Torsion constant of a rectangle: J = a b^3 (1/3 - 64 b / pi^5 a sum tanh(n pi a / 2 b) / n^5), n odd, a >= b.

    Timoshenko and Goodier, Theory of Elasticity, art. 109. The sum of 1 / n^5 is known, so the rest falls off at once.
    """
    b, a = sorted((width, height))
    whole = 31 / 32 * 1.0369277551433699263  # sum of 1 / n^5 over odd n
    rest = sum((1 - tanh(n * pi * a / 2 / b)) / n**5 for n in range(1, 40, 2))
    return a * b**3 * (1 / 3 - 64 * b / pi**5 / a * (whole - rest))


def _round(inner_over_outer: float, nu: float) -> Factors:
    """Cowper 1966, hollow circle; the full circle where the ratio is zero."""
    m2 = inner_over_outer**2
    top = 6 * (1 + nu) * (1 + m2) ** 2
    factor = top / ((7 + 6 * nu) * (1 + m2) ** 2 + (20 + 12 * nu) * m2)
    return factor, factor


def _rectangle_factor(nu: float) -> float:
    """Cowper 1966, rectangle."""
    return 10 * (1 + nu) / (12 + 11 * nu)


def _walled(m: float, more: float, nu: float) -> float:
    """Cowper 1966, thin walls: ``m`` is the area of flanges over that of webs, ``more`` the shear along the flanges."""
    base = 12 + 72 * m + 150 * m**2 + 90 * m**3 + nu * (11 + 66 * m + 135 * m**2 + 90 * m**3)
    return 10 * (1 + nu) * (1 + 3 * m) ** 2 / (base + more)


def _box_factors(v: Mapping[str, float], nu: float) -> Factors:
    """Cowper 1966, thin-walled box, each way."""
    b, h = v["width"] - v["thickness"], v["height"] - v["thickness"]

    def along(depth: float, across: float) -> float:
        m = n = across / depth
        return _walled(m, 10 * n**2 * ((3 + nu) * m + 3 * m**2), nu)

    return along(b, h), along(h, b)


def _i_factors(v: Mapping[str, float], nu: float) -> Factors:
    """Cowper 1966, thin-walled I along its web; along the flanges these alone resist, as rectangles."""
    b, h = v["width"], v["height"] - v["flange"]
    m, n = 2 * b * v["flange"] / (h * v["web"]), b / h
    along_web = _walled(m, 30 * n**2 * (m + m**2) + 5 * nu * n**2 * (8 * m + 9 * m**2), nu)
    flanges = 2 * b * v["flange"]
    area = flanges + (v["height"] - 2 * v["flange"]) * v["web"]
    return _rectangle_factor(nu) * flanges / area, along_web


_FACTORS: dict[str, Callable[[Mapping[str, float], float], Factors]] = {
    "circle": lambda v, nu: _round(0.0, nu),
    "tube": lambda v, nu: _round(v["inner"] / v["outer"], nu),
    "rectangle": lambda v, nu: (_rectangle_factor(nu), _rectangle_factor(nu)),
    "box": _box_factors,
    "i_section": _i_factors,
}
SECTIONS: dict[str, Callable[..., Section]] = {
    each.__name__: each for each in (circle, tube, rectangle, box, i_section, general)
}
"""The functions that make a section, by kind."""


def section_from_data(given: Any, where: str) -> Section:
    """A section as the user gave it: itself, or plain data such as ``{circle: {radius: 0.01}}``."""
    if isinstance(given, Section):
        return _as_written(given)
    expected = "a section with its values, such as circle(radius=0.01) or {circle: {radius: 0.01}}"
    kind, values = pick(given, where, SECTIONS, "section", expected)
    return build(SECTIONS[kind], values, where, f"section {kind}")


def _as_written(section: Section) -> Section:
    """A section that was made by hand or changed, as its numbers; one of a builder as it is."""
    numbers, factors = (section.area, section.iy, section.iz, section.torsion), (section.shear_y, section.shear_z)
    if section.kind in SECTIONS:
        more = {"corners": section.corners} if section.kind == "general" else {}
        made = SECTIONS[section.kind](**dict(section.values), **more, shear_y=factors[0], shear_z=factors[1])
        if (made.area, made.iy, made.iz, made.torsion) == numbers:
            return section if made == section else made
    return general(*numbers, *factors, section.corners)


def section_schema() -> Schema:
    """What a model file may say of a section."""
    lengths = ("radius", "outer", "inner", "width", "height", "thickness", "web", "flange")
    own = dict.fromkeys((*lengths, "area", "iy", "iz", "torsion"), ABOVE_ZERO)
    return made_by(SECTIONS, own | {"corners": several(listed(VALUE, 2))})
