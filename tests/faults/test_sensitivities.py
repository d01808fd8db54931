"""Sensitivities that are zero are found as well (B6): a fall does not depend on the mass."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_five_bar_linkage_falls_alike_whatever_its_mass_is():
    """Positions do not follow the mass and forces are proportional to it, also where the bars line up at 0.72 s."""
    m = ct.load(EXAMPLES / "deployable_five_bar.yaml")
    found = m.sensitivities(["C.position.y", "B.velocity.x", "AB.force"], ["mass"], 2.0, points=41)
    mass = m.parameter_values()["mass"]
    for name in ("C.position.y", "B.velocity.x"):
        assert np.abs(found[name, "mass"]).max() * mass < 1e-9 * np.abs(found.values[name]).max()
    force = found.values["AB.force"]
    np.testing.assert_allclose(found["AB.force", "mass"] * mass, force, atol=1e-7 * np.abs(force).max())


def pendulum(scale: float = 1.0) -> ct.Model:
    m = ct.Model("pendulum", gravity=(0, "-g", 0), parameters={"mass": 2.0 * scale, "g": 9.81 * scale})
    m.add(
        ct.RigidBody("rod", ct.rod(length=scale, mass="mass", radius=0.01 * scale), frames={"end": (-scale / 2, 0, 0)})
    )
    m.add(ct.Revolute("pin", m.ground, "rod.end", angle=-0.4))
    return m


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_a_pendulum_swings_alike_whatever_its_mass_is(tree, scale):
    m = pendulum(scale)
    found = m.sensitivities(["pin.angle", "pin.force.y"], ["mass", "g"], 3.0, points=13, tree=tree)
    mass, g = 2.0 * scale, 9.81 * scale
    assert np.abs(found["pin.angle", "mass"]).max() * mass < 1e-8
    force = found.values["pin.force.y"]
    np.testing.assert_allclose(found["pin.force.y", "mass"] * mass, force, atol=1e-6 * np.abs(force).max())
    ends = [m.simulate(3.0, points=13, tree=tree, parameters={"g": g * (1 + h)})["pin.angle"] for h in (1e-4, -1e-4)]
    np.testing.assert_allclose(found["pin.angle", "g"] * g, (ends[0] - ends[1]) / 2e-4, atol=1e-3)


def test_a_free_fall_by_mass_and_by_start():
    m = ct.Model("fall", gravity=(0, 0, -9.81), parameters={"mass": 3.0})
    m.add(ct.PointMass("stone", mass="mass", position=(0, 0, 0), velocity=(2, 0, 1)))
    found = m.sensitivities(["stone.position.z", "stone.position.x"], ["mass", "stone.x_rate"], 2.0, points=5)
    assert np.abs(found["stone.position.z", "mass"]).max() < 1e-9
    np.testing.assert_allclose(found["stone.position.x", "stone.x_rate"], found.t, atol=1e-9)


def test_small_derivatives_beside_large_ones_are_still_right():
    """A motion that hardly depends on a parameter: x = x0 + eps t^2 / 2 with eps 1e-6 of the rest."""
    m = ct.Model("slow", gravity=(0, 0, 0), parameters={"force": 1e-6})
    m.add(ct.PointMass("stone", mass=1.0, position=(5.0, 0, 0)))
    m.add(ct.PointForce("push", "stone", force=("force", 0, 0)))
    found = m.sensitivities(["stone.position.x"], ["force"], 2.0, points=5)
    np.testing.assert_allclose(found["stone.position.x", "force"], found.t**2 / 2, rtol=1e-6, atol=1e-12)
