"""Section forces and stress of flexible bodies against closed forms, whatever their coordinates can strain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct
from terminal.stress_cases import (
    AREA,
    COLUMNS,
    EVERY,
    FRAMES,
    HEIGHT,
    IY,
    IZ,
    LENGTH,
    LOADS,
    PANEL,
    REDUCED,
    STEEL,
    STRIP,
    WIDTH,
    bar,
    bar_error,
    blade,
    blade_error,
    column,
    column_error,
    frame_errors,
    panel_error,
    strip,
    strip_error,
)


@pytest.mark.parametrize(("shapes", "deforms"), EVERY)
@pytest.mark.parametrize("load", LOADS)
def test_section_forces_are_those_of_beam_theory(shapes: str, deforms: Any, load: str) -> None:
    """With every choice of coordinates: what cannot strain carries its load as well."""
    assert bar_error(load, shapes, deforms) < 1e-6
    m = bar(shapes, deforms, **LOADS[load][0])
    rest = m.static_equilibrium()
    assert m.deformation(rest, "bar").mises()[0] >= np.max(rest["bar.mises"]) * (1 - 1e-9)  # the mesh has more places


def test_twist_gives_the_shear_stress_of_a_rectangle() -> None:
    """Timoshenko and Goodier, art. 109: of a rectangle with sides 2 : 1 the largest is M / (0.246 a b^2)."""
    rest = bar("clamped", ("xy",), torque=(0.1, 0, 0)).static_equilibrium()
    assert rest["bar.mises.2"] == pytest.approx(np.sqrt(3) * 0.1 / (0.246 * WIDTH * HEIGHT**2), rel=1e-3)


@pytest.mark.parametrize(("shapes", "deforms"), EVERY)
def test_a_rotating_blade_pulls_at_its_root(shapes: str, deforms: Any) -> None:
    """The stress is rho w^2 (L^2 - x^2) / 2 once its stretching has died out."""
    m, sol = blade(shapes, deforms)
    assert blade_error(sol) < 1e-3
    assert m.deformation(sol, "bar").peak().place[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize(("options", "within"), COLUMNS, ids=str)
def test_a_beam_column(options: dict[str, Any], within: float, share: float) -> None:
    """Pressed with a part of its Euler load and pushed sideways: the moment at the root is F tan(k L) / k."""
    assert column_error(options, share) < within
    m, force, k = column(options, share)
    rest = m.static_equilibrium()
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
    sol = m.simulate(0.01, points=3, rtol=1e-9, integrator="cvodes")
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


@pytest.mark.parametrize("options", REDUCED, ids=str)
@pytest.mark.parametrize("which", FRAMES)
def test_a_frame_of_beams_against_the_whole_mesh_and_statics(which: str, options: dict[str, Any]) -> None:
    """Section forces of every element under a tip force: sums of the load beyond it, and finite elements unreduced."""
    by_sums, by_mesh = frame_errors(which, options)
    assert by_sums < 1e-8
    assert by_mesh < 1e-9


@pytest.mark.parametrize("options", REDUCED, ids=str)
@pytest.mark.parametrize(("load", "within"), [("pulled", 1e-5), ("bent", 2e-3)])
def test_a_plate_strip(options: dict[str, Any], load: str, within: float) -> None:
    """A strip held and loaded along rigid edges: N / A, up to its strain of 4e-6, and 6 F x / b h^2 on its faces."""
    m = strip(options, load)
    rest = m.static_equilibrium()
    assert strip_error(m, rest, load) < within
    peak = m.deformation(rest, "plate").peak()
    assert peak.t == rest.t
    assert peak.value == m.deformation(rest, "plate").mises()[0]
    if STRIP[load][2]:
        assert peak.place[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("options", REDUCED, ids=str)
@pytest.mark.parametrize("load", PANEL)
def test_a_panel_against_the_whole_mesh(options: dict[str, Any], load: str) -> None:
    """The stress of every triangle is that of the finite elements without any reduction."""
    assert panel_error(options, load) < 1e-8
