"""A series-wound machine against its closed form."""

from __future__ import annotations

import numpy as np
from cotree.terminal.series_machine import SeriesMachine

import cotree as ct


def test_steady_speed_on_a_viscous_load() -> None:
    """Steady: K i^2 = c w and U = (R + K w) i."""
    m = ct.Model("series motor")
    m.add(ct.VoltageSource("U", ("p", "ground"), voltage=24.0))
    m.add(ct.Resistor("R", ("p", "a"), resistance=0.5))
    m.add(ct.Inductor("L", ("a", "b"), inductance=0.02, initial=1.0))
    m.add(SeriesMachine("M", ("b", "ground"), ("s", "ground"), constant=0.1))
    m.add(ct.rotational.Inertia("J", ("s", "ground"), inertia=0.01))
    m.add(ct.rotational.Damper("c", ("s", "ground"), damping=0.1))
    sol = m.simulate(t_end=5.0, points=51)
    current, speed = sol["M.electrical.current"], sol["M.shaft.angular_velocity"]
    np.testing.assert_allclose(0.1 * current[-1] ** 2, 0.1 * speed[-1], rtol=1e-5)
    np.testing.assert_allclose((0.5 + 0.1 * speed[-1]) * current[-1], 24.0, rtol=1e-5)
    power = sol["M.electrical.power"] + sol["M.shaft.power"]
    np.testing.assert_allclose(power, 0.0, atol=1e-9 * np.abs(sol["M.shaft.power"]).max())
