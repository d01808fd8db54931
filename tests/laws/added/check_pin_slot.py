"""A pin in a slot against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from cotree.terminal.pin_slot import PinSlot

import cotree as ct


def test_a_free_body_in_an_inclined_slot_slides_and_keeps_turning() -> None:
    """Its centre on the pin: travel = -g sin(slope) t^2 / 2, angle = angle_rate t."""
    slope = 0.4
    m = ct.Model("slot", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("b", mass=2.0, inertia=(1.0, 1.0, 1.0)))
    m.add(PinSlot("P", "ground", "b", slot=(np.cos(slope), np.sin(slope), 0.0), angle=0.0, angle_rate=3.0, travel=0.1))
    sol = m.simulate(t_end=1.0, points=11)
    np.testing.assert_allclose(sol["P.travel"], 0.1 - 9.81 * np.sin(slope) * sol.t**2 / 2, atol=1e-6)
    np.testing.assert_allclose(sol["P.angle"], 3.0 * sol.t, atol=1e-6)


def test_a_slot_along_the_axis_is_refused() -> None:
    joint = PinSlot("P", "a", "b", slot=(0, 0, 1))
    with pytest.raises(ct.ModelError, match="not at right angles"):
        joint.check(joint.values({}))
