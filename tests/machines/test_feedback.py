"""Linearised machines: designed poles come out, and the published numbers of the DC motor."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import cotree as ct
from machines import models
from machines.witness import POLES, Cart

Complex = NDArray[np.complex128]


def nearest(found: Complex, right: Complex) -> float:
    """The largest distance of a pole from its place, over the size of the pole."""
    assert len(found) == len(right)
    return float(max(np.min(np.abs(found - pole)) / max(1.0, abs(pole)) for pole in right))


UPRIGHT = {"slide.displacement": 0.0, "hinge.angle": 0.0}


@pytest.mark.parametrize("whole", [False, True], ids=["parts", "motor"])
def test_free_pendulum_has_the_poles_of_the_hand_made_model(whole: bool) -> None:
    found = models.cart(Cart(), whole=whole).linearise(at=UPRIGHT).poles()
    assert nearest(found, np.linalg.eigvals(Cart().linear()[0])) < 1e-8


@pytest.mark.parametrize("block", [False, True], ids=["expression", "block"])
def test_feedback_places_the_poles(block: bool) -> None:
    found = models.cart(Cart().held_up(), block=block).linearise(at=UPRIGHT).poles()
    assert nearest(found, np.array(POLES)) < 1e-8


def dc_motor(mounted: bool) -> ct.Model:
    """The motor of the reference numbers: rotor as its own inertia, or as a body on a joint."""
    motor = {
        "kind": "machines.dc_motor", "electrical": ["a", "ground"], "shaft": ["s", "ground"], "resistance": 1.0,
        "inductance": 0.5, "constant": 0.01, "damping": 0.1,
    }  # fmt: skip
    parts = {"V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": 1.0}, "motor": motor}
    if not mounted:
        motor["inertia"] = 0.01
        return ct.Model.from_mapping({"name": "DC motor", "components": parts})
    rotor = {
        "rotor": {"kind": "rigid_body", "mass": 2.0, "inertia": [0.02, 0.02, 0.01]},
        "bearing": {"kind": "revolute", "frame_a": "ground", "frame_b": "rotor"},
        "mount": {"kind": "rotational.axis", "nodes": ["s", "ground"], "on": "bearing"},
    }
    return ct.Model.from_mapping({"name": "DC motor", "components": parts | rotor})


@pytest.mark.parametrize("mounted", [False, True], ids=["network", "joint"])
def test_dc_motor_of_the_benchmarks(mounted: bool) -> None:
    model = dc_motor(mounted)
    poles = model.linearise().poles()
    for pole in (-9.9974992, -2.0025008):
        assert np.min(np.abs(poles - pole)) < 1e-7
    sol = model.simulate(t_end=20.0, times=[0.0, 1.0, 20.0], rtol=1e-10)
    assert sol["s.angular_velocity"][1] == pytest.approx(0.0830371112, abs=1e-10)
    assert sol["s.angular_velocity"][2] == pytest.approx(0.0999001, abs=1e-7)
    assert sol.energy().error < 1e-8
