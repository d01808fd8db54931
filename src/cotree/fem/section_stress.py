"""Points of a section where stress is looked at, with the shear stress that torque and shear forces cause there.

Shear stress on a free surface runs along it, so one number says it: positive along the tangent that turns from y to z.
Round and rectangular sections follow the theory of elasticity for torsion (Timoshenko and Goodier, art. 109) and
Zhuravskii's rule for shear, Q S / (I b); thin walls follow Bredt (box) or t / J (I), taken along the whole wall, and
Q S / (I t). At the corners of a full section there is no shear stress, nor is any known inside a general section.
"""

from __future__ import annotations

from math import cosh, pi, tanh

import numpy as np

from cotree.errors import ModelError
from cotree.fem.element import Array
from cotree.fem.section import Section

AROUND = 24
"""Points on the outside of a round section."""


def stress_points(section: Section) -> Array:
    """(P, 5): y, z, and shear stress for each unit of the torque Mx and of the shear forces Qy and Qz."""
    v = dict(section.values)
    if section.kind in ("circle", "tube"):
        return _round(section, v.get("radius", v.get("outer", 0.0)), v.get("inner", 0.0))
    if section.kind == "rectangle":
        return _rectangle(section, v["width"], v["height"])
    if section.kind == "box":
        return _box(section, v["width"], v["height"], v["thickness"])
    if section.kind == "i_section":
        return _i_section(section, v["width"], v["height"], v["web"], v["flange"])
    if not section.corners:
        raise ModelError(
            "a general section without corners has no stress",
            where="section",
            expected="corners: the extreme points (y, z) of the section",
        )
    return np.array([(y, z, 0.0, 0.0, 0.0) for y, z in section.corners])


def has_stress(section: Section) -> bool:
    """Whether points of the section are known."""
    return section.kind != "general" or bool(section.corners)


def outer_radius(section: Section) -> float | None:
    """The radius of a round section, None for others."""
    v = dict(section.values)
    return {"circle": v.get("radius"), "tube": v.get("outer")}.get(section.kind)


def _round(section: Section, outer: float, inner: float) -> Array:
    """Shear is 4/3 Q / A at the neutral axis of a full circle, 2 Q / A of a thin tube."""
    angle = 2 * pi * np.arange(AROUND) / AROUND
    y, z = np.cos(angle), np.sin(angle)
    peak = 4 / 3 * (outer**2 + outer * inner + inner**2) / (outer**2 + inner**2) / section.area
    return np.stack([outer * y, outer * z, np.full(AROUND, outer / section.torsion), -peak * z, peak * y], axis=1)


def rectangle_torsion_stress(width: float, height: float) -> tuple[float, float]:
    """Shear stress times J / Mx in the middle of the faces across y and across z of a rectangle."""
    b, a = sorted((width, height))
    odd = range(1, 400, 2)
    on_long = b * (1 - 8 / pi**2 * sum(1 / cosh(x) / n**2 for n in odd if (x := n * pi * a / 2 / b) < 700))
    signs = ((-1) ** (n // 2) / n**2 for n in odd)
    # The series alternates; Catalan's constant is its sum where tanh is one.
    rest = sum(sign * (1 - tanh(n * pi * a / 2 / b)) for n, sign in zip(odd, signs, strict=True))
    on_short = b * 8 / pi**2 * (0.915965594177219015 - rest)
    return (on_long, on_short) if width <= height else (on_short, on_long)


def _rectangle(section: Section, b: float, h: float) -> Array:
    """Four corners and the middles of the four faces."""
    across_y, across_z = (each / section.torsion for each in rectangle_torsion_stress(b, h))
    peak = 1.5 / section.area
    corners = [(y * b / 2, z * h / 2, 0.0, 0.0, 0.0) for y in (1, -1) for z in (1, -1)]
    sides = [(y * b / 2, 0.0, across_y, 0.0, y * peak) for y in (1, -1)]
    ends = [(0.0, z * h / 2, across_z, -z * peak, 0.0) for z in (1, -1)]
    return np.array(corners + sides + ends)


def _box(section: Section, b: float, h: float, t: float) -> Array:
    """Four corners and the middles of the four walls."""
    bm, hm, bi, hi = b - t, h - t, b - 2 * t, h - 2 * t
    bredt = 1 / (2 * bm * hm * t)
    at_corner_y, at_corner_z = bm * hm / 4 / section.iz, bm * hm / 4 / section.iy
    mid_y = (h * b**2 - hi * bi**2) / 8 / section.iz / (2 * t)
    mid_z = (b * h**2 - bi * hi**2) / 8 / section.iy / (2 * t)
    corners = [(y * b / 2, z * h / 2, bredt, -z * at_corner_y, y * at_corner_z) for y in (1, -1) for z in (1, -1)]
    sides = [(y * b / 2, 0.0, bredt, 0.0, y * mid_z) for y in (1, -1)]
    ends = [(0.0, z * h / 2, bredt, -z * mid_y, 0.0) for z in (1, -1)]
    return np.array(corners + sides + ends)


def _i_section(section: Section, b: float, h: float, w: float, f: float) -> Array:
    """Corners and middles of the flanges, ends and middle of the web."""
    hi = h - 2 * f
    on_flange, on_web = f / section.torsion, w / section.torsion
    along_flange = 1.5 / (2 * b * f)
    middle = (b * h**2 - (b - w) * hi**2) / 8 / section.iy / w
    end = b * (h**2 - hi**2) / 8 / section.iy / w
    corners = [(y * b / 2, z * h / 2, on_flange, 0.0, 0.0) for y in (1, -1) for z in (1, -1)]
    middles = [(0.0, z * h / 2, on_flange, -z * along_flange, 0.0) for z in (1, -1)]
    web = [(y * w / 2, 0.0, on_web, 0.0, y * middle) for y in (1, -1)]
    roots = [(y * w / 2, z * hi / 2, on_web, 0.0, y * end) for y in (1, -1) for z in (1, -1)]
    return np.array(corners + middles + web + roots)
