"""Loaded flexible bodies whose section forces or stress are known, and how far Cotree's are from them.

An error is the largest difference over the largest value. The tests bound the errors, and `docs/regenerate.py` writes
the largest of each case into the page on validation.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cotree as ct

Array = NDArray[np.float64]

LENGTH, WIDTH, HEIGHT = 1.0, 0.02, 0.01
AREA, IY, IZ = WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12, HEIGHT * WIDTH**3 / 12
STEEL = ct.STEEL
SHAPES: dict[str, dict[str, Any]] = {
    "nodal": {},
    "interface": {"modes": 1},
    "clamped": {"modes": 2},
    "pinned": {"modes": 2},
    "free": {"modes": 2},
}
DEFORMS = (
    ("axial", "torsion", "xy", "xz"),
    ("xy",),
    ("xz",),
    ("axial",),
    ("torsion",),
    ("xy", "xz"),
    ("axial", "xy"),
)
EVERY = list(itertools.product(SHAPES, DEFORMS))
"""Every choice of coordinates."""
X = np.array([0.0, 0.5, 1.0])
WEIGHT = STEEL.density * AREA * LENGTH * 9.81

LOADS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pulled": ({"force": (10, 0, 0)}, {"axial": [10.0] * 3, "mises": [10 / AREA] * 3}),
    "pressed": ({"force": (-10, 0, 0)}, {"axial": [-10.0] * 3, "mises": [10 / AREA] * 3}),
    "bent in xy": (
        {"force": (0, 0.1, 0)},
        {"moment_z": 0.1 * (1 - X), "shear_y": [0.1] * 3, "mises.1": 0.1 * WIDTH / 2 / IZ},
    ),
    "bent in xz": (
        {"force": (0, 0, 0.1)},
        {"moment_y": -0.1 * (1 - X), "shear_z": [0.1] * 3, "mises.1": 0.1 * HEIGHT / 2 / IY},
    ),
    "turned at its end": ({"torque": (0, 0, 0.1)}, {"moment_z": [0.1] * 3, "shear_y": [0.0] * 3}),
    "twisted": ({"torque": (0.1, 0, 0)}, {"torsion": [0.1] * 3, "axial": [0.0] * 3}),
    "hanging": ({"gravity": (9.81, 0, 0)}, {"axial": WEIGHT * (1 - X), "mises.1": WEIGHT / AREA}),
    "under its weight": (
        {"gravity": (0, 0, -9.81e-3)},
        {"moment_y": 1e-3 * WEIGHT * (1 - X) ** 2 / 2, "shear_z": -1e-3 * WEIGHT * (1 - X)},
    ),
}
"""Loads, small against those that bend noticeably, and what beam theory says at start, middle and end."""

COLUMNS: list[tuple[dict[str, Any], float]] = [
    ({"shapes": "nodal"}, 1e-6),
    ({"shapes": "interface", "modes": 2}, 1e-4),
    ({"shapes": "interface", "modes": 2, "deforms": ("xz",)}, 1e-4),
    ({"shapes": "interface", "modes": 2, "attached": "mean"}, 1e-4),
    ({"shapes": "clamped", "modes": 6}, 1e-3),
]
"""Beam-columns, and the error of the moment at the root that is allowed."""
REDUCED: list[dict[str, Any]] = [{"shapes": "interface", "modes": 0}, {"shapes": "clamped", "modes": 2}]
"""Choices of coordinates of frames, strips and panels."""
FRAMES = {
    "L": ([(0, 1), (1, 2)], [(0, 0, 0), (0.6, 0, 0), (0.6, 0.4, 0)]),
    "curved": ([(0, 1), (1, 2), (2, 3)], [(0, 0, 0), (0.3, 0, 0), (0.5, 0.2, 0), (0.55, 0.4, 0.1)]),
}
"""Frames of two and three beams, by their lines and corners."""
STRIP = {"pulled": (100.0, 0.0, 0.0), "bent": (0.0, 0.0, 0.1)}
"""Forces on the end of a plate strip."""
PANEL = {"pulled": (200.0, 0.0, 0.0), "bent": (0.0, 0.0, 0.5), "sheared": (0.0, 100.0, 0.0)}
"""Forces on the edge of a square panel."""


def bar(shapes: str, deforms: Any = DEFORMS[0], **more: Any) -> ct.Model:
    """A steel bar of 20 x 10 mm and 1 m along x, welded at its start."""
    loads = {name: more.pop(name, (0.0, 0.0, 0.0)) for name in ("force", "torque", "gravity")}
    m = ct.Model("bar", gravity=loads["gravity"])
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    chosen = {"elements": 4, "deforms": deforms, **SHAPES[shapes], **more}
    m.add(ct.Beam("bar", length=LENGTH, section=section, material=STEEL, shapes=shapes, **chosen))
    m.add(ct.Weld("wall", m.ground, "bar.start"))
    m.add(ct.PointForce("pull", "bar.end", force=loads["force"]))
    m.add(ct.PointTorque("twist", "bar.end", torque=loads["torque"]))
    return m


def bar_error(load: str, shapes: str, deforms: Any) -> float:
    """Section forces and stress at three stations against beam theory."""
    given, expected = LOADS[load]
    rest = bar(shapes, deforms, **given).static_equilibrium()
    off = [_off(rest[f"bar.{name}"], values) for name, values in expected.items()]
    return max(off)


def _off(found: Any, exact: Any) -> float:
    """The largest difference over the largest value; of what is zero, over a load of 0.1."""
    return float(np.abs(np.subtract(found, exact)).max() / (np.abs(exact).max() or 0.1))


def blade(shapes: str, deforms: Any) -> tuple[ct.Model, ct.Solution]:
    """The bar on a hub that turns at 10 rad/s, once its stretching has died out."""
    m = ct.Model("blade", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    more = {"elements": 4, "damping": 1.0, "stations": 5, **SHAPES[shapes]}
    m.add(ct.Beam("bar", length=LENGTH, section=section, material=STEEL, shapes=shapes, deforms=deforms, **more))
    m.add(ct.Revolute("hub", m.ground, "bar.start"))
    m.add(ct.Drive("motor", on="hub", angle="10*t"))
    return m, m.simulate(0.01, points=3, integrator="cvodes")


def blade_error(sol: ct.Solution) -> float:
    """The stress at five stations against rho w^2 (L^2 - x^2) / 2."""
    stress = STEEL.density * 100 * (LENGTH**2 - np.linspace(0, LENGTH, 5) ** 2) / 2
    return _off(sol["bar.axial"][-1] / AREA, stress)


def column(options: dict[str, Any], share: float) -> tuple[ct.Model, float, float]:
    """The bar pressed with a part of its Euler load and pushed sideways with 1 N; the force, and k = sqrt(P / EI)."""
    force = share * np.pi**2 * STEEL.young * IY / 4 / LENGTH**2
    m = bar(elements=8, shear=False, force=(-force, 0, 1.0), **options)
    return m, force, float(np.sqrt(force / STEEL.young / IY))


def column_error(options: dict[str, Any], share: float) -> float:
    """The moment at the root against F tan(k L) / k."""
    m, _, k = column(options, share)
    exact = np.tan(k * LENGTH) / k
    return float(abs(-m.static_equilibrium()["bar.moment_y.1"] / exact - 1))


def frame(which: str, options: dict[str, Any], force: Array) -> ct.Model:
    """A frame of beams, three elements each, welded at its root and pushed at its tip."""
    lines, corners = FRAMES[which]
    m = ct.Model("frame", gravity=(0, 0, 0))
    more = {
        "section": ct.section.rectangle(width=WIDTH, height=HEIGHT),
        "material": STEEL,
        "frames": {"root": [0, 0, 0], "tip": list(corners[-1])},
        "attached": "root",
        "stiffening": "none",
    }
    m.add(ct.FlexibleBody("body", mesh=_mesh(lines, corners, 3), **more, **options))
    m.add(ct.Weld("wall", m.ground, "body.root"))
    m.add(ct.PointForce("push", "body.tip", force=tuple(force)))
    return m


def _mesh(lines: Any, corners: Any, cells: int) -> dict[str, Any]:
    """Nodes and lines of straight members between corners, each cut into so many elements."""
    nodes, pairs = [np.asarray(corner, dtype=float) for corner in corners], []
    for a, b in lines:
        start, end = nodes[a], nodes[b]
        inner = [len(nodes) + k for k in range(cells - 1)]
        nodes += [start + (end - start) * (k + 1) / cells for k in range(cells - 1)]
        pairs += list(itertools.pairwise([a, *inner, b]))
    return {"nodes": [each.tolist() for each in nodes], "lines": [list(each) for each in pairs]}


PUSH = np.array([0.3, -0.2, 0.5])
"""Force on the tip of a frame."""


def frame_errors(which: str, options: dict[str, Any]) -> tuple[float, float]:
    """Section forces of all elements against sums of the load beyond, the largest stress against the whole mesh."""
    m = frame(which, options, PUSH)
    found = m.deformation(m.static_equilibrium(), "body")
    forces, beams = found.forces(0)[0], found.families[0]
    tip, exact = np.asarray(FRAMES[which][1][-1]), []
    for axes, ends in zip(beams.axes, beams.ends, strict=True):
        exact.append(np.concatenate([axes @ PUSH, axes @ np.cross(tip - ends[0], PUSH)]))
    by_sums = _off(np.array([each[:, 0] for each in forces]).T, exact)
    whole = beams.stress(_unreduced(m, "body", PUSH)[beams.degrees], (0.0, 1.0)).mises.max()
    return by_sums, float(abs(found.mises()[0] / whole - 1))


def _unreduced(model: ct.Model, name: str, force: Array) -> Array:
    """(6 N,) displacements of the finite elements themselves under a force on the tip, held at the root."""
    body: Any = model.components[name]
    structure = body.prepare(body.values({})).structure
    load = np.zeros(structure.size)
    tip = structure.names["tip"]
    load[6 * tip : 6 * tip + 3] = force
    return np.asarray(structure.statics(load, structure.degrees(structure.names["root"])))


def plate(size: tuple[float, float], cells: tuple[int, int], poisson: float, options: Any, force: Any) -> ct.Model:
    """A plate of 4 mm, held and loaded along rigid edges."""
    m = ct.Model("plate", gravity=(0, 0, 0))
    material = {"young": 7e10, "density": 2700.0, "poisson": poisson}
    m.add(
        ct.FlexibleBody(
            "plate",
            mesh={"grid": {"size": list(size), "cells": list(cells)}},
            plate={"thickness": 0.004, "material": material},
            frames={"root": [0, size[1] / 2, 0], "tip": [size[0], size[1] / 2, 0]},
            rigid={"root": "left", "tip": "right"},
            attached="root",
            **options,
        )
    )
    m.add(ct.Weld("wall", m.ground, "plate.root"))
    m.add(ct.PointForce("push", "plate.tip", force=tuple(force)))
    return m


def strip(options: dict[str, Any], load: str) -> ct.Model:
    """A plate strip of 1 x 0.1 m without contraction across."""
    return plate((1.0, 0.1), (20, 2), 0.0, options, STRIP[load])


def strip_error(model: ct.Model, rest: Any, load: str) -> float:
    """The mean stress over every column of triangles, which is in balance, against N / A and 6 F x / b h^2."""
    found = model.deformation(rest, "plate")
    centre, force = found.families[0].centre[:, 0], STRIP[load]
    columns = (centre // (1.0 / 20)).astype(int)
    stress, x = (np.bincount(columns, each) / 4 for each in (found.stress(0)[0].mises[:, 0], centre))
    return _off(stress, abs(force[0]) / (0.1 * 0.004) + 6 * abs(force[2]) * (1.0 - x) / (0.1 * 0.004**2))


def panel_error(options: dict[str, Any], load: str) -> float:
    """The stress of all triangles of a square panel against that of the finite elements unreduced."""
    m = plate((1.0, 1.0), (6, 6), 0.3, {**options, "stiffening": "none"}, PANEL[load])
    found = m.deformation(m.static_equilibrium(), "plate")
    shells = found.families[0]
    whole = shells.stress(_unreduced(m, "plate", np.array(PANEL[load]))[shells.degrees]).mises
    return _off(found.stress(0)[0].mises, whole)
