"""A clutch between an engine and a joint: speeds, locking time and slipping again in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct

ENGINE, DRUM, START = 0.3, 0.8, 50.0
DRIVE, LOAD, CAPACITY, STATIC = 8.0, 5.0, 20.0, 1.2
LATER, MORE, END = 1.5, 70.0, 1.8
"""When the load grows, by how much, and the end of the run."""
LOCKED = START / ((CAPACITY - DRIVE) / ENGINE + (CAPACITY - LOAD) / DRUM)
"""The engine slows down by (C - T1) / J1 and the drum speeds up by (C - T2) / J2 until they meet."""


def closed_form(t: float) -> tuple[float, float, float]:
    """Speeds of engine and drum, and the torque that the clutch passes on."""
    meet = LOCKED * (CAPACITY - LOAD) / DRUM
    together = (DRIVE - LOAD) / (ENGINE + DRUM)
    if t <= LOCKED:
        return START - (CAPACITY - DRIVE) / ENGINE * t, (CAPACITY - LOAD) / DRUM * t, CAPACITY
    if t <= LATER:
        speed = meet + together * (t - LOCKED)
        return speed, speed, DRIVE - ENGINE * together
    speed, after = meet + together * (LATER - LOCKED), t - LATER
    return (
        speed - (CAPACITY - DRIVE) / ENGINE * after,
        speed + (CAPACITY - LOAD - MORE) / DRUM * after,
        CAPACITY,
    )


def machine(mounted: bool) -> ct.Model:
    """An engine drives a drum through the clutch; the drum is an inertia, or a body on a joint."""
    load = f"{LOAD} + {MORE}*step(t - {LATER})"
    parts = {
        "engine": {"kind": "rotational.inertia", "nodes": ["e", "ground"], "inertia": ENGINE, "initial": START},
        "drive": {"kind": "rotational.torque_source", "nodes": ["ground", "e"], "torque": DRIVE},
        "clutch": {"kind": "rotational.clutch", "nodes": ["e", "d"], "torque": CAPACITY, "static": STATIC},
    }
    if mounted:
        parts |= {
            "drum": {"kind": "rigid_body", "mass": 5.0, "inertia": [0.5, 0.5, DRUM]},
            "axle": {"kind": "revolute", "frame_a": "ground", "frame_b": "drum"},
            "mount": {"kind": "rotational.axis", "nodes": ["d", "ground"], "on": "axle"},
            "load": {"kind": "joint_actuator", "on": "axle", "effort": f"-({load})"},
        }
    else:
        parts |= {
            "drum": {"kind": "rotational.inertia", "nodes": ["d", "ground"], "inertia": DRUM},
            "load": {"kind": "rotational.torque_source", "nodes": ["d", "ground"], "torque": load},
        }
    return ct.Model.from_mapping({"name": "clutch", "components": parts})


@pytest.mark.parametrize("mounted", [False, True], ids=["network", "joint"])
def test_clutch_slips_locks_and_slips_again(mounted: bool) -> None:
    assert (MORE + LOAD - DRIVE) / (ENGINE + DRUM) * ENGINE + DRIVE > STATIC * CAPACITY
    sol = machine(mounted).simulate(END, points=37, rtol=1e-10)
    right = np.array([closed_form(t) for t in sol.t]).T
    for name, values in zip(("e.angular_velocity", "d.angular_velocity"), right, strict=False):
        np.testing.assert_allclose(sol[name], values, rtol=0, atol=1e-8 * START, err_msg=name)
    away = (np.abs(sol.t - LOCKED) > 1e-6) & (np.abs(sol.t - LATER) > 1e-6)
    np.testing.assert_allclose(sol["clutch.torque"][away], right[2][away], rtol=1e-8)
    locks = [time for name, times in sol.events.items() for time in times if "stick" in name or "lock" in name]
    assert locks[0] == pytest.approx(LOCKED, abs=1e-9)
    assert sol.energy().error < 1e-8
    # The clutch heats by its torque times the slip: both stretches are triangles.
    first = CAPACITY * START * LOCKED / 2
    rate = (LOAD + MORE - CAPACITY) / DRUM - (CAPACITY - DRIVE) / ENGINE
    second = CAPACITY * rate * (END - LATER) ** 2 / 2
    assert sol.energy().dissipated[-1] == pytest.approx(first + second, rel=1e-8)
