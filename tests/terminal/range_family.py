"""Sixty beams and strips under random loads: what the watch of their range says, against the truth.

The truth is the elastica, a beam with large rotations solved by collocation, which shares nothing with Cotree. Strips
are plates without lateral contraction, so that they bend as beams. Run it as a program with a seed:

    python tests/terminal/range_family.py 0123abcd
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp

import cotree as ct
from cotree.terminal.held_by import held_nodes
from cotree.terminal.range import deflection_range, series_range

CODES = {"deflection-doubt": 0.01, "deflection-off": 0.05, "outside-theory": 0.2}
COUNT = 60
PLACES = {"first": 0.25, "middle": 0.5, "third": 0.75}
"""Frames along the beam, as parts of its length."""


@dataclass(frozen=True)
class Case:
    """A cantilever along x in the plane of x and z, or one on two supports."""

    length: float
    width: float
    height: float
    young: float
    force: tuple[float, float]
    """At the tip, along x and z, in N."""
    moment: float
    """At the tip about -y, in N m."""
    line: float
    """Load along z in N/m, from the weight of the body."""
    supported: bool
    """On two supports, with the moment at both ends and the line load alone."""
    body: dict[str, Any]
    strip: bool

    @property
    def bending(self) -> float:
        return self.young * self.width * self.height**3 / 12

    @property
    def stretching(self) -> float:
        return self.young * self.width * self.height


def case(random: np.random.Generator) -> Case:
    """Sizes and loads at random; loads such that the first theory would bend it by 1 % to 80 % of its length."""
    length = float(10 ** random.uniform(-1, 1))
    height = length / float(random.uniform(40, 200))
    width = height * float(random.uniform(1, 4))
    young = float(10 ** random.uniform(9, 11.5))
    strip = bool(random.random() < 0.25)
    if strip:
        width = length / 10
    bending = young * width * height**3 / 12
    supported = bool(not strip and random.random() < 0.25)
    wanted = float(10 ** random.uniform(-2, -0.1))
    kind = str(random.choice(["force", "moment", "line", "both"]))
    parts = {"force": (1, 0, 0), "moment": (0, 1, 0), "line": (0, 0, 1), "both": (0.5, 0.3, 0.2)}[kind]
    if supported:
        wanted /= 4
        unit = (0.0, 8.0, 384 / 5)
        parts = {"force": (0, 0, 1), "both": (0, 0.5, 0.5)}.get(kind, parts)
    else:
        unit = (3.0, 2.0, 8.0)
    across, turned, spread = (wanted * share * each for share, each in zip(parts, unit, strict=True))
    axial = float(random.choice([0.0, 0.0, 0.3, -0.3])) if not supported else 0.0
    force = (axial * np.pi**2 / 4 * bending / length**2, across * bending / length**2)
    shapes = str(random.choice(["interface", "interface", "interface", "clamped", "free"]))
    if strip or supported:
        shapes = "interface"
    body: dict[str, Any] = {"shapes": shapes, "modes": 0 if shapes == "interface" else int(random.integers(1, 7))}
    if not strip:
        body["elements"] = int(random.integers(4, 13))
        if shapes == "interface" and random.random() < 0.2:
            body["segments"] = int(random.choice([2, 3, 4]))
        if random.random() < 0.2:
            body["stiffening"] = "none"
        body["modes"] += int(shapes == "interface") * int(random.choice([0, 2]))
    else:
        body["modes"] = 2
    turned *= -1 if supported else 1  # so that it adds to the line load
    return Case(
        length, width, height, young, force, turned * bending / length, spread * bending / length**3, supported, body,
        strip,
    )  # fmt: skip


def model(c: Case) -> ct.Model:
    """The machine; gravity is the line load over the mass."""
    density = 1000.0
    mass = density * c.width * c.height
    m = ct.Model("beam", gravity=(0, 0, c.line / mass))
    material = ct.Material(c.young, density, poisson=0.0)
    if c.strip:
        grid = {"size": [c.length, c.width], "cells": [20, 2], "origin": [0, -c.width / 2, 0]}
        frames = {"start": [0, 0, 0], "end": [c.length, 0, 0]}
        frames |= {name: [share * c.length, 0, 0] for name, share in PLACES.items()}
        rigid = {"start": "left", "end": "right"}
        plate = ct.Plate(c.height, material)
        m.add(
            ct.FlexibleBody(
                "beam", mesh={"grid": grid}, plate=plate, frames=frames, rigid=rigid, attached="start", **c.body
            )
        )
    else:
        section = ct.section.rectangle(width=c.width, height=c.height)
        frames = {name: share * c.length for name, share in PLACES.items()}
        body = {"shear": False} | c.body
        m.add(ct.Beam("beam", length=c.length, section=section, material=material, frames=frames, **body))
    if c.supported:
        m.add(ct.Revolute("a", m.ground, "beam.start", axis=(0, 1, 0)))
        m.add(ct.PointOnLine("b", m.ground, "beam.end", axis=(1, 0, 0)))
        m.add(ct.PointTorque("left", "beam.start", torque=(0, c.moment, 0)))
    else:
        m.add(ct.Weld("wall", m.ground, "beam.start"))
        m.add(ct.PointForce("push", "beam.end", force=(c.force[0], 0, c.force[1])))
    m.add(ct.PointTorque("turn", "beam.end", torque=(0, -c.moment, 0)))
    return m


def truth(c: Case) -> np.ndarray:
    """Displacements (x, z) at `PLACES` and at the end, by the extensible elastica."""
    at = np.array([*PLACES.values(), 1.0])
    s = np.linspace(0, 1, 300)
    L, EI, EA = c.length, c.bending, c.stretching
    q = c.line * L**3 / EI

    if not c.supported:
        # y = angle, curvature, x, z in lengths; the section force is known from the free end
        def slopes(s: Any, y: Any, share: float = 1.0) -> Any:
            fx = share * c.force[0] * L**2 / EI + 0 * s
            fz = share * (c.force[1] * L**2 / EI + q * (1 - s))
            n = (fx * np.cos(y[0]) + fz * np.sin(y[0])) * EI / L**2 / EA
            v = -fx * np.sin(y[0]) + fz * np.cos(y[0])
            return np.vstack([y[1], -v * (1 + n), (1 + n) * np.cos(y[0]), (1 + n) * np.sin(y[0])])

        guess = np.vstack([0 * s, 0 * s, s, 0 * s])
        for share in np.linspace(0.1, 1, 10):
            found = solve_bvp(
                lambda s, y, share=share: slopes(s, y, share),
                lambda a, b, share=share: np.array([a[0], b[1] - share * c.moment * L / EI, a[2], a[3]]),
                s, guess, tol=1e-8, max_nodes=50_000,
            )  # fmt: skip
            assert found.success
            s, guess = found.x, found.y
        return (found.sol(at)[2:4].T - np.column_stack([at, 0 * at])) * L
    # y = angle, curvature, x, z, force across at the start as a constant
    start = np.vstack([0 * s, 0 * s, s, 0 * s, 0 * s])
    for share in np.linspace(0.1, 1, 10):

        def slopes_2(s: Any, y: Any, share: float = share) -> Any:
            fz = y[4] + share * q * (1 - s)
            n = fz * np.sin(y[0]) * EI / L**2 / EA
            return np.vstack(
                [y[1], -fz * np.cos(y[0]) * (1 + n), (1 + n) * np.cos(y[0]), (1 + n) * np.sin(y[0]), 0 * s]
            )

        def ends(a: Any, b: Any, share: float = share) -> Any:
            turned = share * c.moment * L / EI
            return np.array([a[1] - turned, b[1] - turned, a[2], a[3], b[3]])

        found = solve_bvp(slopes_2, ends, s, start, tol=1e-8, max_nodes=50_000)
        assert found.success
        s, start = found.x, found.y
    return (found.sol(at)[2:4].T - np.column_stack([at, 0 * at])) * L


@dataclass(frozen=True)
class Judged:
    """A case with what is true and what is said."""

    case: Case
    error: float
    """Of the deflection, as a part of it."""
    estimate: float
    """The watch's own; 0 where it says nothing."""
    code: str

    def __str__(self) -> str:
        c = self.case
        what = "strip" if c.strip else "on supports" if c.supported else "cantilever"
        return (
            f"{what:11} {c.body!s:62} true {self.error:8.2%} said {self.estimate:8.2%} {self.code or '-':16} "
            f"force ({c.force[0] * c.length**2 / c.bending:+.2f}, {c.force[1] * c.length**2 / c.bending:+.2f}) moment "
            f"{c.moment * c.length / c.bending:.2f} line {c.line * c.length**3 / c.bending:.2f}"
        )


def judge(c: Case) -> Judged:
    """Statics of a case, its error and what is said of it."""
    m = model(c)
    rest = m.static_equilibrium()
    exact = truth(c)
    places = c.length * np.array([*PLACES.values(), 1.0])
    found = np.array([[rest[f"beam.{name}.position.{x}"] for x in "xz"] for name in (*PLACES, "end")])
    found[:, 0] -= places
    length = np.linalg.norm(found, axis=1, keepdims=True)
    along = np.array([[0.0, 1.0]]) if c.supported else found / np.maximum(length, 1e-300)  # across the line of supports
    off = np.abs(((found - exact) * along).sum(axis=1))
    error = float(off.max() / np.linalg.norm(exact, axis=1).max())
    code = next((each.code for each in rest.diagnostics if each.code in CODES), "")
    shown = m.deformation(rest, "beam")
    pieces = [piece.strained for piece in getattr(shown, "pieces", ())]
    supports = held_nodes(m, m.components["beam"], shown.body.structure.names)  # type: ignore[arg-type]
    range_ = series_range(pieces, shown) if pieces else deflection_range(shown, supports=supports)
    return Judged(c, error, 0.0 if range_ is None else range_.error, code)


def judged(seed: int, count: int = COUNT) -> list[Judged]:
    """All cases of a seed; those without an equilibrium are told by the program, and are drawn again."""
    random, found = np.random.default_rng(seed), list[Judged]()
    while len(found) < count:
        c = case(random)
        try:
            found.append(judge(c))
        except ct.SolveError as reason:
            print("drawn again:", str(reason)[:120], file=sys.stderr)
    return found


def verdict(found: list[Judged]) -> dict[str, list[Judged]]:
    """What must be empty, and what may hold a tenth."""
    told = [each for each in found if max(each.error, each.estimate) > 0.01]
    return {
        "above 5 % without a warning": [
            each for each in found if each.error > 0.05 and each.code not in ("deflection-off", "outside-theory")
        ],
        "a warning below 1 %": [
            each for each in found if each.error < 0.01 and each.code in ("deflection-off", "outside-theory")
        ],
        "estimate off by more than 3": [
            each for each in told if not each.error / 3 <= min(each.estimate, 1e9) <= 3 * each.error
        ],
        "told": told,
    }


if __name__ == "__main__":
    results = judged(int(sys.argv[1], 16), int(sys.argv[2]) if len(sys.argv) > 2 else COUNT)
    for each in results:
        print(each)
    for name, which in verdict(results).items():
        print(f"{name}: {len(which)}")
        if name != "told":
            for each in which:
                print("   ", each)
