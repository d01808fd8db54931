"""A block on a spring with dry friction, mounted on a joint: half-swings in closed form until it sticks."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from machines import models
from machines.witness import DrySliderCrank

MASS, STIFFNESS, FRICTION, START = 2.0, 50.0, 4.0, 1.0
OMEGA, SHIFT = np.sqrt(STIFFNESS / MASS), FRICTION / STIFFNESS


def closed_form(t: float, static: float) -> tuple[float, float]:
    """Place and speed: friction shifts the middle of every half-swing, until the spring cannot move the block."""
    x = START
    while t > np.pi / OMEGA and abs(x) * STIFFNESS > static * FRICTION:
        x, t = -(x - np.sign(x) * 2 * SHIFT), t - np.pi / OMEGA
    if abs(x) * STIFFNESS <= static * FRICTION:
        return x, 0.0
    middle = np.sign(x) * SHIFT
    return middle + (x - middle) * np.cos(OMEGA * t), -(x - middle) * OMEGA * np.sin(OMEGA * t)


def block(static: float) -> ct.Model:
    parts = {
        "block": {"kind": "rigid_body", "mass": MASS, "inertia": [0.1, 0.1, 0.1]},
        "rail": {
            "kind": "prismatic", "frame_a": "ground", "frame_b": "block", "axis": [1, 0, 0], "displacement": START,
        },
        "spring": {"kind": "joint_spring", "on": "rail", "stiffness": STIFFNESS, "rest": 0.0},
        "mount": {"kind": "translational.axis", "nodes": ["b", "ground"], "on": "rail"},
        "rub": {"kind": "translational.friction", "nodes": ["b", "ground"], "force": FRICTION, "static": static},
    }  # fmt: skip
    return ct.Model.from_mapping({"name": "block", "components": parts})


@pytest.mark.parametrize("static", [1.0, 2.8])
def test_block_swings_and_sticks(static: float) -> None:
    end = 5.2
    sol = block(static).simulate(end, points=53, rtol=1e-10)
    right = np.array([closed_form(t, static) for t in sol.t]).T
    np.testing.assert_allclose(sol["rail.displacement"], right[0], rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["rail.displacement_rate"], right[1], rtol=0, atol=1e-8 * OMEGA)
    # What the spring does not hold in the end was lost.
    stays = right[0][-1]
    assert right[1][-1] == 0.0
    lost = STIFFNESS / 2 * (START**2 - stays**2)
    assert sol.energy().dissipated[-1] == pytest.approx(lost, rel=1e-8)
    assert sol.energy().error < 1e-8
    times = np.sort(np.concatenate([found for name, found in sol.events.items() if name.startswith("rub")]))
    turns = np.arange(1, 20) * np.pi / OMEGA
    assert all(np.min(np.abs(turns - time)) < 1e-8 for time in times if time > 0)
    assert len(times)


def test_dry_friction_of_a_slider_turns_at_the_dead_centres() -> None:
    """The slip passes zero with the crank at full speed: friction changes its sign there without holding anything."""
    w, times = DrySliderCrank(dry=15.0), np.linspace(0, 1.0, 21)
    right = w.run_with_turns(times)
    parts = models.crank_parts(w) | models.crank_drive(w, f"{w.target}") | {
        "bore": {"kind": "translational.axis", "nodes": ["ram", "ground"], "on": "slide"},
        "rub": {"kind": "translational.friction", "nodes": ["ram", "ground"], "force": w.dry},
    }  # fmt: skip
    sol = models.of("dry slider", parts, planar=True).simulate(times[-1], times=times, rtol=1e-10)
    assert right["angle"][-1] > 3 * np.pi
    for name, hand in {"O.angle": "angle", "O.angle_rate": "speed", "motor.electrical.current": "current"}.items():
        values = right[hand]
        np.testing.assert_allclose(sol[name], values, rtol=0, atol=1e-7 * np.abs(values).max(), err_msg=name)
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_brakes_side_by_side_share_a_load_evenly(mass: float) -> None:
    """Two brakes that stick on one joint have no single answer of rigid parts: they carry it like equal springs."""
    brake = {"kind": "translational.brake", "nodes": ["b", "ground"], "force": 0.8 * mass * models.G}
    parts = {
        "cage": {"kind": "rigid_body", "mass": mass, "inertia": [mass, mass, mass]},
        "rail": {"kind": "prismatic", "frame_a": "ground", "frame_b": "cage", "axis": [0, 1, 0]},
        "mount": {"kind": "translational.axis", "nodes": ["b", "ground"], "on": "rail"},
        "first": brake,
        "second": brake,
    }
    sol = models.of("cage", parts).simulate(0.2, times=[0, 0.1, 0.2])
    for name in ("first", "second"):
        np.testing.assert_allclose(-sol[f"{name}.force"], mass * models.G / 2, rtol=1e-2)
    np.testing.assert_allclose(-sol["first.force"] - sol["second.force"], mass * models.G, rtol=1e-8)
    np.testing.assert_allclose(sol["rail.displacement"], 0.0, atol=1e-9)
