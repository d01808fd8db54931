"""What once went wrong with flexible bodies: bending that is not small, statics, interfaces, trees, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.errors import CotreeError, FormulationError, ModelError
from formulation.flexible_models import DOWN, FIRM, SECTION, SOFT, beam
from formulation.lumped_chain import converged


@pytest.mark.parametrize("given", [{"modes": 1}, {"modes": 3}, {"modes": 4, "shapes": "clamped"}], ids=str)
def test_a_soft_pendulum_with_its_frame_at_the_hinge(given: dict[str, Any]) -> None:
    """It bends by 3 per cent of its length; the witness is a chain of rigid links."""
    times = np.linspace(0, 0.6, 13)
    bending = 1e8 * 0.03 * 0.02**3 / 12
    wanted, _ = converged(12, length=1.0, bending=bending, line=1200 * 6e-4, tip=0.1, g=9.81, times=times)
    m = ct.Model("pendulum", gravity=DOWN, planar=True)
    rubber = ct.Material(young=1e8, density=1200, poisson=0.3)
    slender: dict[str, Any] = {"deforms": ["xy"], "shear": False, "rotary": False}
    tip = {"tip": {"at": "end", "mass": 0.1}}
    m.add(ct.Beam("link", length=1.0, section=SECTION, material=rubber, elements=12, masses=tip, **slender, **given))
    m.add(ct.Revolute("O", m.ground, "link.start"))
    found = m.simulate(0.6, times=times)
    assert np.abs(found["link.end.position.y"] - wanted[3]).max() < 2e-3


def test_a_plate_with_a_body_on_a_ball_joint() -> None:
    m = ct.Model("plate")
    mesh = ct.mesh.grid(size=(0.4, 0.2), cells=(2, 2))
    frames = {"root": (0, 0.1, 0), "tip": (0.4, 0.1, 0)}
    rigid, interface = {"root": "left", "tip": "right"}, {"tip": "z ry"}
    plate = ct.Plate(0.004, SOFT)
    m.add(
        ct.FlexibleBody(
            "plate", mesh=mesh, plate=plate, frames=frames, rigid=rigid, attached="root", modes=0, interface=interface
        )
    )
    m.add(ct.RigidBody("tip", ct.sphere(radius=0.05, mass=0.2), frames={"p": (0, 0, -0.1)}))
    m.add(ct.Revolute("R", m.ground, "plate.root", axis=(0, 1, 0), angle_rate=3.0))
    m.add(ct.Spherical("S", "tip.p", "plate.tip"))
    assert m.simulate(0.05, points=6).energy().error < 1e-7


@pytest.mark.parametrize("given", [{"modes": 2}, {"shapes": "nodal", "elements": 4}], ids=str)
def test_statics_of_the_plainest_cantilever(given: dict[str, Any]) -> None:
    """Deflection under its own weight, m g L^3 / 8 E I and the part of shear."""
    m = ct.Model("cantilever", gravity=(0, 0, -9.81))
    section = ct.section.rectangle(0.01, 0.02)
    m.add(ct.Beam("beam", length=1.0, section=section, material="steel", **({"elements": 8} | given)))
    m.add(ct.Weld("root", m.ground, "beam.start"))
    rest = m.static_equilibrium()
    load, iy = 9.81 * 7850 * 2e-4, 0.01 * 0.02**3 / 12
    shear = 10 * 1.3 / (12 + 11 * 0.3) * 2.1e11 / 2.6 * 2e-4
    assert rest.stable
    assert rest["beam.end.position.z"] == pytest.approx(-load / 8 / 2.1e11 / iy - load / 2 / shear, rel=1e-3)
    assert m.modes().frequencies[0] == pytest.approx(
        1.8751**2 / 2 / np.pi * np.sqrt(2.1e11 * 0.01**2 / 12 / 7850), rel=1e-2
    )


def test_the_floating_frame_is_no_point_of_the_body() -> None:
    m = ct.Model("pendulum", gravity=DOWN, planar=True)
    beam(m, "b", 1.0, material=FIRM, elements=4, modes=2, shapes="free", deforms=["xy"])
    m.add(ct.Revolute("O", m.ground, "b"))
    with pytest.raises(ModelError, match=r"O: it sits on the frame of 'b', which floats .* b\.start, b\.end"):
        m.simulate(0.1)


def test_a_joint_in_the_middle_of_a_beam_gets_its_static_shapes() -> None:
    found = []
    for attached in ("start", "mid"):
        m = ct.Model("mid", gravity=(0, 0, 0))
        beam(m, "b", 1.0, material=FIRM, elements=8, modes=2, deforms=["xy"], frames={"mid": 0.5}, attached=attached)
        m.add(ct.Weld("W", m.ground, "b.mid"))
        found.append(m.modes(about="start").frequencies[:2])
    np.testing.assert_allclose(found[0], found[1], rtol=0.01)


def test_a_rotation_without_inertia_is_told() -> None:
    m = ct.Model("free", gravity=(0, 0, 0))
    beam(m, "b", 1.0, deforms=["xy", "xz"], rotary=False, shear=False)
    with pytest.raises(FormulationError, match="'b' can turn about an axis about which it has no inertia"):
        m.modes(about="start")


def test_bodies_bend_where_nothing_else_closes_a_loop() -> None:
    """A beam welded at both ends to places that do not fit."""
    m = ct.Model("misfit", gravity=(0, 0, 0))
    beam(m, "b", 1.0, modes=1)
    m.add(ct.Weld("A", m.ground, "b.start"))
    m.add(ct.Weld("B", "b.end", m.ground.at(0.9995, 0.001, 0)))
    start = m.simulate(1e-4, points=2)
    np.testing.assert_allclose(start["b.end.position"][0], [0.9995, 0.001, 0], atol=1e-9)


def test_elastic_coordinates_and_deflections_can_be_measured() -> None:
    """A force that works against the tip's velocity takes energy out of the beam."""
    m = ct.Model("control", gravity=(0, 0, 0), planar=True)
    beam(m, "b", 1.0, modes=1, shapes="clamped", deforms=["xy"], elastic={"mode1": 0.01})
    m.add(ct.Weld("A", m.ground, "b.start"))
    m.add(ct.PointForce("control", "b.end", force=(0, "-0.5*b.mode1_rate - 0*b.end.deflection.y", 0)))
    run = m.simulate(2.0, points=201)
    assert np.abs(run["b.mode1"][-50:]).max() < 0.5 * 0.01
    assert run.energy().error < 1e-7


def test_rigid_stiffening_does_not_depend_on_the_tree() -> None:
    m = ct.Model("single", gravity=DOWN)
    beam(m, "b", 0.5, deforms=["xy"], stiffening="rigid")
    m.add(ct.Revolute("O", m.ground, "b.start"))
    m.add(ct.RigidBody("r", mass=0.2, inertia=(0.001,) * 3))
    m.add(ct.Weld("W", "b.end", "r"))
    options: dict[str, Any] = {"times": [0, 0.05], "rtol": 1e-11, "atol": 1e-11, "integrator": "rk8"}
    found = [m.simulate(0.05, tree=tree, **options)["b.mode1"] for tree in ("joint", "absolute")]
    np.testing.assert_allclose(found[0], found[1], atol=1e-8)


TIP = {"at": "end", "mass": 1}
BAD: list[dict[str, Any]] = [
    {"attached": 3}, {"interface": 3}, {"interface": {"end": 3}}, {"damping": "a"}, {"damping": {"mode1": 0.1}},
    {"damping": True}, {"frames": [0.5]}, {"deforms": None}, {"deforms": 3}, {"masses": [1]},
    {"masses": {"t": TIP | {"inertia": 3}}}, {"masses": {"t": TIP | {"inertia": [1, 1]}}},
    {"masses": {"t": TIP | {"centre": [1, 2]}}}, {"masses": {"t": TIP | {"inertia": ["a", 1, 1]}}}, {"offset": 3},
    {"shear": 3}, {"rotary": "no"}, {"frames": {"mode1": 0.3}}, {"frames": {"strain_energy": 0.3}}, {"modes": 1000},
    {"modes": []}, {"modes": [0]}, {"damping": -1.0}, {"damping": [0.1, 0.1]}, {"attached": ["start", "start"]},
    {"modes": None, "below": 0.001}, {"modes": None, "below": -5.0}, {"rotary": False},
]  # fmt: skip


def _run(given: dict[str, Any]) -> None:
    m = ct.Model("x")
    fields: dict[str, Any] = {"length": 1.0, "section": SECTION, "material": "steel", "elements": 4, "modes": 1}
    m.add(ct.Beam("link7", **(fields | given)))
    m.add(ct.Revolute("J", m.ground, "link7.start"))
    m.simulate(1e-4, points=2)


@pytest.mark.parametrize("given", BAD, ids=str)
def test_bad_input_names_the_body(given: dict[str, Any]) -> None:
    with pytest.raises(CotreeError, match=r"^link7[.:]"):
        _run(given)
