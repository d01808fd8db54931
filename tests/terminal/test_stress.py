"""Section forces and stress of flexible bodies against closed forms, whatever their coordinates can strain."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import cotree as ct

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
X = np.array([0.0, 0.5, 1.0])
WEIGHT = STEEL.density * AREA * LENGTH * 9.81


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


@pytest.mark.parametrize(("shapes", "deforms"), EVERY)
@pytest.mark.parametrize("load", LOADS)
def test_section_forces_are_those_of_beam_theory(shapes: str, deforms: Any, load: str) -> None:
    """With every choice of coordinates: what cannot strain carries its load as well."""
    given, expected = LOADS[load]
    m = bar(shapes, deforms, **given)
    rest = m.static_equilibrium()
    for name, values in expected.items():
        size = float(np.abs(values).max()) or 0.1
        np.testing.assert_allclose(rest[f"bar.{name}"], values, rtol=0, atol=1e-6 * size, err_msg=name)
    found = m.deformation(rest, "bar")
    assert found.mises()[0] >= np.max(rest["bar.mises"]) * (1 - 1e-9)  # the mesh has more places than the stations


def test_twist_gives_the_shear_stress_of_a_rectangle() -> None:
    """Timoshenko and Goodier, art. 109: of a rectangle with sides 2 : 1 the largest is M / (0.246 a b^2)."""
    rest = bar("clamped", ("xy",), torque=(0.1, 0, 0)).static_equilibrium()
    assert rest["bar.mises.2"] == pytest.approx(np.sqrt(3) * 0.1 / (0.246 * WIDTH * HEIGHT**2), rel=1e-3)


@pytest.mark.parametrize(("shapes", "deforms"), [each for each in EVERY if "axial" not in each[1] or each[0] != "free"])
def test_a_rotating_blade_pulls_at_its_root(shapes: str, deforms: Any) -> None:
    """The stress is rho w^2 (L^2 - x^2) / 2 once its stretching has died out."""
    m = ct.Model("blade", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    more = {"elements": 4, "damping": 1.0, "stations": 5, **SHAPES[shapes]}
    m.add(ct.Beam("bar", length=LENGTH, section=section, material=STEEL, shapes=shapes, deforms=deforms, **more))
    m.add(ct.Revolute("hub", m.ground, "bar.start"))
    m.add(ct.Drive("motor", on="hub", angle="10*t"))
    sol = m.simulate(0.01, points=3, integrator="cvodes")
    x = np.linspace(0, LENGTH, 5)
    stress = STEEL.density * 100 * (LENGTH**2 - x**2) / 2
    np.testing.assert_allclose(sol["bar.axial"][-1] / AREA, stress, rtol=0, atol=1e-3 * stress[0])
    assert m.deformation(sol, "bar").peak().place[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize(
    ("options", "within"),
    [
        ({"shapes": "nodal"}, 1e-6),
        ({"shapes": "interface", "modes": 2}, 1e-4),
        ({"shapes": "interface", "modes": 2, "deforms": ("xz",)}, 1e-4),
        ({"shapes": "interface", "modes": 2, "attached": "mean"}, 1e-4),
        ({"shapes": "clamped", "modes": 6}, 1e-3),
    ],
    ids=str,
)
def test_a_beam_column(options: dict[str, Any], within: float, share: float) -> None:
    """Pressed with a part of its Euler load and pushed sideways: the moment at the root is F tan(k L) / k."""
    force = share * np.pi**2 * STEEL.young * IY / 4 / LENGTH**2
    k = np.sqrt(force / STEEL.young / IY)
    m = bar(elements=8, shear=False, force=(-force, 0, 1.0), **options)
    rest = m.static_equilibrium()
    moment = np.tan(k * LENGTH) / k
    assert -rest["bar.moment_y.1"] == pytest.approx(moment, rel=within)
    assert -rest["bar.moment_y.1"] == pytest.approx(rest["wall.torque.y"], rel=2e-5)  # balance with the joint
    middle = np.sin(k * LENGTH / 2) / np.cos(k * LENGTH) / k
    assert -rest["bar.moment_y.2"] == pytest.approx(middle, rel=10 * within + 1e-6)
    assert rest["bar.axial"] == pytest.approx(-force, rel=1e-4)


def _pendulum(**options: Any) -> ct.Model:
    m = ct.Model("pendulum", gravity=(0, 0, -9.81))
    lump = {"at": "end", "mass": 1.0, "centre": [0.05, 0.02, 0.0]}
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    options = {"elements": 4, "stations": 5, "masses": {"tip": lump}, **options}
    m.add(ct.Beam("bar", length=LENGTH, section=section, material=STEEL, **options))
    m.add(ct.Revolute("hinge", m.ground, "bar.start", axis=(0, 1, 0), angle=0.3, angle_rate=1.0))
    m.add(ct.PointForce("push", "bar.end", force=("20*sin(20*t)", 3, 10)))
    return m


def test_coordinates_that_hold_all_strains_give_the_same_displacements() -> None:
    """With all degrees of freedom of the mesh as coordinates, strains and loads are in balance at every instant."""
    m = _pendulum(shapes="nodal", stiffening="none")
    sol = m.simulate(0.1, points=6, rtol=1e-9, integrator="cvodes")
    found = m.deformation(sol, "bar")
    by_coordinates = np.stack([found.at(k) for k in range(len(sol.t))], axis=1)
    np.testing.assert_allclose(found._solved.u, by_coordinates, rtol=0, atol=1e-8 * np.abs(by_coordinates).max())


@pytest.mark.parametrize(
    "options",
    [
        {"shapes": "interface", "modes": 3},
        {"shapes": "clamped", "modes": 3, "deforms": ("xy", "xz")},
        {"shapes": "interface", "modes": 2, "attached": "mean"},
        {"shapes": "pinned", "modes": 3},
        {"shapes": "clamped", "modes": 2, "stiffening": "none"},
        {"shapes": "clamped", "modes": 2, "stiffening": "rigid"},
    ],
    ids=str,
)
def test_results_at_stations_are_those_of_the_mesh(options: dict[str, Any]) -> None:
    """Expressions from tables of unit loads, and statics of the whole mesh at each time."""
    m = _pendulum(**options)
    sol = m.simulate(0.05, points=4)
    found = m.deformation(sol, "bar")
    for k in range(len(sol.t)):
        forces = found.forces(k)[0]
        size = max(float(np.abs(each).max()) for each in forces)
        names = ("axial", "shear_y", "shear_z", "torsion", "moment_y", "moment_z")
        for name, each in zip(names, forces, strict=True):
            np.testing.assert_allclose(
                sol[f"bar.{name}"][k], [each[0, 0], *each[:, 1]], rtol=1e-8, atol=1e-9 * size, err_msg=name
            )
        mises = found.stress(k)[0].mises.max(axis=-1)
        np.testing.assert_allclose(sol["bar.mises"][k], [mises[0, 0], *mises[:, 1]], rtol=1e-7)


def test_the_tree_does_not_matter() -> None:
    m = _pendulum(shapes="clamped", modes=3)
    joint, absolute = (m.simulate(0.05, points=3, tree=tree, rtol=1e-10) for tree in ("joint", "absolute"))
    for name in ("axial", "moment_y", "moment_z", "shear_z", "torsion"):
        size = float(np.abs(joint[f"bar.{name}"]).max())
        np.testing.assert_allclose(absolute[f"bar.{name}"], joint[f"bar.{name}"], rtol=0, atol=1e-6 * size)


def test_a_driver_between_flexible_bodies_is_a_load_of_both() -> None:
    """A driven hinge between two clamped bars: the moment of the driver is the section moment on both sides."""
    m = ct.Model("arms", gravity=(0, -9.81, 0), planar=True)
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    for name in ("upper", "lower"):
        options = {"shapes": "clamped", "modes": 2, "deforms": ["xy"], "elements": 4}
        m.add(ct.Beam(name, length=LENGTH, section=section, material=STEEL, **options))
    m.add(ct.Revolute("shoulder", m.ground, "upper.start", angle=0.2))
    m.add(ct.Revolute("elbow", "upper.end", "lower.start"))
    m.add(ct.Drive("motor", on="elbow", angle="0.5 + 0.2*sin(3*t)"))
    for tree in ("joint", "absolute"):
        sol = m.simulate(0.3, points=5, tree=tree)
        size = float(np.abs(sol["motor.torque"]).max())
        np.testing.assert_allclose(sol["upper.moment_z.3"], sol["motor.torque"] * -1, rtol=0, atol=1e-6 * size)
        # Its own inertia is balanced up to the second order of its deflection, a hundredth of its length.
        np.testing.assert_allclose(sol["lower.moment_z.1"], sol["motor.torque"] * -1, rtol=0, atol=1e-4 * size)
        np.testing.assert_allclose(sol["upper.axial.3"], sol["upper.end.force.x"], rtol=0, atol=1e-6 * size)


def test_a_planar_model_has_results_in_its_plane() -> None:
    m = ct.Model("plane", gravity=(0, -9.81, 0), planar=True)
    section = ct.section.general(area=AREA, iy=IY, iz=IZ, torsion=1e-9, shear_y=0.8, shear_z=0.8)
    more = {"shapes": "clamped", "modes": 1, "deforms": ["xy"], "elements": 2, "stations": 2}
    m.add(ct.Beam("bar", length=LENGTH, section=section, material=STEEL, **more))
    m.add(ct.Weld("wall", m.ground, "bar.start"))
    names = [name for name in m.simulate(1e-3, points=2).names if name.startswith("bar.") and name[-2:] in (".1", ".2")]
    assert names == [f"bar.{what}.{k}" for what in ("axial", "shear_y", "moment_z") for k in (1, 2)]


@pytest.mark.parametrize("given", [-1, 1000, 2.5, True])
def test_a_wrong_number_of_stations(given: Any) -> None:
    with pytest.raises(ct.ModelError, match=r"bar\.stations: found .* Expected a whole number from 0 to 100"):
        bar("clamped", stations=given)


def _mesh(lines: Any, corners: Any, cells: int) -> dict[str, Any]:
    """Nodes and lines of straight members between corners, each cut into so many elements."""
    nodes, pairs = [np.asarray(corner, dtype=float) for corner in corners], []
    for a, b in lines:
        start, end = nodes[a], nodes[b]
        inner = [len(nodes) + k for k in range(cells - 1)]
        nodes += [start + (end - start) * (k + 1) / cells for k in range(cells - 1)]
        pairs += list(itertools.pairwise([a, *inner, b]))
    return {"nodes": [each.tolist() for each in nodes], "lines": [list(each) for each in pairs]}


FRAMES = {
    "L": ([(0, 1), (1, 2)], [(0, 0, 0), (0.6, 0, 0), (0.6, 0.4, 0)]),
    "curved": ([(0, 1), (1, 2), (2, 3)], [(0, 0, 0), (0.3, 0, 0), (0.5, 0.2, 0), (0.55, 0.4, 0.1)]),
}


@pytest.mark.parametrize("options", [{"shapes": "interface", "modes": 0}, {"shapes": "clamped", "modes": 2}], ids=str)
@pytest.mark.parametrize("frame", FRAMES)
def test_a_frame_of_beams_against_the_whole_mesh_and_statics(frame: str, options: dict[str, Any]) -> None:
    """Section forces of every element under a tip force: sums of the load beyond it, and finite elements unreduced."""
    lines, corners = FRAMES[frame]
    m = ct.Model("frame", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    mesh = _mesh(lines, corners, 3)
    ends = {"root": [0, 0, 0], "tip": list(corners[-1])}
    more = {"section": section, "material": STEEL, "frames": ends, "attached": "root", "stiffening": "none"}
    body = m.add(ct.FlexibleBody("frame", mesh=mesh, **more, **options))
    m.add(ct.Weld("wall", m.ground, "frame.root"))
    force = np.array([0.3, -0.2, 0.5])
    m.add(ct.PointForce("push", "frame.tip", force=tuple(force)))
    found = m.deformation(m.static_equilibrium(), "frame")
    forces, beams = found.forces(0)[0], found.families[0]
    for e, (axes, ends_of) in enumerate(zip(beams.axes, beams.ends, strict=True)):
        arm = np.asarray(corners[-1]) - ends_of[0]
        here = np.concatenate([axes @ force, axes @ np.cross(arm, force)])
        np.testing.assert_allclose([each[e, 0] for each in forces], here, rtol=0, atol=1e-9)
    structure = body.prepare(body.values({})).structure
    load = np.zeros(structure.size)
    tip = structure.names["tip"]
    load[6 * tip : 6 * tip + 3] = force
    whole = structure.statics(load, structure.degrees(structure.names["root"]))
    stress = beams.stress(whole[beams.degrees], (0.0, 1.0)).mises.max()
    assert found.mises()[0] == pytest.approx(float(stress), rel=1e-9)


@pytest.mark.parametrize("options", [{"shapes": "interface", "modes": 0}, {"shapes": "clamped", "modes": 2}], ids=str)
@pytest.mark.parametrize(("force", "within"), [((100.0, 0, 0), 1e-5), ((0, 0, 0.1), 2e-3)], ids=["pulled", "bent"])
def test_a_plate_strip(options: dict[str, Any], force: Any, within: float) -> None:
    """A strip held and loaded along rigid edges: N / A, up to its strain of 4e-6, and 6 F x / b h^2 on its faces."""
    length, width, thick = 1.0, 0.1, 0.004
    m = ct.Model("strip", gravity=(0, 0, 0))
    mesh = {"grid": {"size": [length, width], "cells": [20, 2]}}
    material = {"young": 7e10, "density": 2700.0, "poisson": 0.0}
    m.add(
        ct.FlexibleBody(
            "strip",
            mesh=mesh,
            plate={"thickness": thick, "material": material},
            frames={"root": [0, width / 2, 0], "tip": [length, width / 2, 0]},
            rigid={"root": "left", "tip": "right"},
            attached="root",
            **options,
        )
    )
    m.add(ct.Weld("wall", m.ground, "strip.root"))
    m.add(ct.PointForce("push", "strip.tip", force=force))
    rest = m.static_equilibrium()
    found = m.deformation(rest, "strip")
    cells = found.families[0].centre[:, 0] // (length / 20)  # the mean over a column of triangles is in balance
    stress, x = (
        np.bincount(cells.astype(int), each) / 4
        for each in (found.stress(0)[0].mises[:, 0], found.families[0].centre[:, 0])
    )
    expected = abs(force[0]) / (width * thick) + 6 * abs(force[2]) * (length - x) / (width * thick**2)
    np.testing.assert_allclose(stress, expected, rtol=0, atol=within * expected.max())
    peak = found.peak()
    assert peak.t == rest.t
    assert peak.value == found.mises()[0]
    if force[2]:
        assert peak.place[0] == pytest.approx(0.0, abs=1e-12)
