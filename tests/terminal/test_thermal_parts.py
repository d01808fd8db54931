"""Conduction, convection and radiation against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import cotree
from cotree import thermal as th

G = "ground"
SIGMA = 5.670374419e-8
TIGHT = {"rtol": 1e-10}


def model(*components: object) -> cotree.Model:
    m = cotree.Model("model")
    for component in components:
        m.add(component)
    return m


def test_body_that_cools_by_radiation() -> None:
    """C dT/dt = -e sigma A (T^4 - T0^4) has the time of every temperature in closed form."""
    surroundings, start, heat = 293.15, 900.0, 450.0
    m = model(
        th.Capacity("C", ("c", G), heat_capacity=heat, initial=start - surroundings),
        th.Radiation("R", ("c", G), emissivity=0.8, area=0.06, datum_temperature=surroundings),
    )
    sol = m.simulate(t_end=600.0, points=31, **TIGHT)
    x = (sol["c.temperature"] + surroundings) / surroundings

    def course(x: np.ndarray) -> np.ndarray:
        return np.log((x + 1) / (x - 1)) + 2 * np.arctan(x)

    time = heat / (4 * 0.8 * SIGMA * 0.06 * surroundings**3) * (course(x) - course(x[0]))
    np.testing.assert_allclose(time, sol.t, rtol=1e-8, atol=1e-7)
    assert sol.energy().error < 1e-9
    np.testing.assert_allclose(sol["R.inlet.heat_flow"], 0.8 * SIGMA * 0.06 * surroundings**4 * (x**4 - 1), rtol=1e-12)


def test_shield_between_two_plates() -> None:
    """A thin shield settles where T^4 is the mean of both, and halves the heat flow."""
    datum = 250.0
    m = model(
        th.TemperatureSource("hot", ("a", G), temperature=800 - datum),
        th.TemperatureSource("cold", ("b", G), temperature=300 - datum),
        th.Capacity("C", ("s", G), heat_capacity=10.0, initial=100.0),
        th.Radiation("R1", ("a", "s"), emissivity=0.5, area=1.0, datum_temperature=datum),
        th.Radiation("R2", ("s", "b"), emissivity=0.5, area=1.0, datum_temperature=datum),
    )
    sol = m.simulate(t_end=60.0, points=5, **TIGHT)
    settled = ((800.0**4 + 300.0**4) / 2) ** 0.25
    assert sol["s.temperature"][-1] + datum == pytest.approx(settled, rel=1e-9)
    assert sol["R2.inlet.heat_flow"][-1] == pytest.approx(0.25 * SIGMA * (800.0**4 - 300.0**4), rel=1e-9)
    assert sol["hot.heat_flow"][-1] == pytest.approx(-sol["R2.inlet.heat_flow"][-1], rel=1e-8)
    np.testing.assert_allclose(sol["R1.inlet.power"] + sol["R1.outlet.power"], 0.0, atol=1e-12)  # heat passes through
    assert sol.energy().error < 1e-8


def test_wall_with_convection_on_both_sides() -> None:
    """The textbook chain 1/(h1 A), L/(k A), 1/(h2 A)."""
    m = model(
        th.TemperatureSource("room", ("i", G), temperature=20.0),
        th.Convection("in", ("i", "wi"), coefficient=8.0, area=12.0),
        th.Conduction("wall", ("wi", "wo"), conductivity=0.6, area=12.0, length=0.3),
        th.Convection("out", ("wo", G), coefficient=25.0, area=12.0),
    )
    sol = m.simulate(t_end=1.0, points=2)
    flow = 20 / ((1 / 8 + 0.3 / 0.6 + 1 / 25) / 12)
    np.testing.assert_allclose(sol["wall.heat_flow"], flow, rtol=1e-12)
    np.testing.assert_allclose(sol["wo.temperature"], flow / (25 * 12), rtol=1e-12)


def test_convection_may_change_in_time() -> None:
    """h = 10 exp(-t): C dT/dt = -h A T gives T = T0 exp(-10 A/C (1 - exp(-t))); below 0 it counts as 0."""
    parts = [
        th.Capacity("C", ("c", G), heat_capacity=20.0, initial=50.0),
        th.Convection("K", ("c", G), coefficient="10*exp(-t)", area=0.5),
    ]
    sol = model(*parts).simulate(t_end=3.0, points=7, **TIGHT)
    np.testing.assert_allclose(sol["c.temperature"], 50 * np.exp(-0.25 * (1 - np.exp(-sol.t))), rtol=1e-9)
    sol = model(parts[0], th.Convection("K", ("c", G), coefficient="-t", area=0.5)).simulate(t_end=3.0, points=3)
    np.testing.assert_allclose(sol["c.temperature"], 50.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (lambda: th.Convection("X", ("a", G), coefficient=-1, area=1), r"X\.coefficient: it is -1"),
        (lambda: th.Radiation("X", ("a", G), emissivity=1.2, area=1, datum_temperature=300), "the emissivity is 1.2"),
        (
            lambda: th.Radiation("X", ("a", G), emissivity=1, area=1, datum_temperature="20 degC"),
            "with a zero of its own",
        ),
        (
            lambda: th.Radiation("X", ("a", "a"), emissivity=1, area=1, datum_temperature=300),
            "both ends are at the node a",
        ),
        (lambda: th.Conduction("X", ("a", G), conductivity=0.6, area=0, length=1), r"X\.area: the value is 0"),
    ],
)
def test_wrong_values_are_told(part: object, message: str) -> None:
    def checked() -> None:
        made = part()  # type: ignore[operator]
        made.check(made.values({}))

    with pytest.raises(cotree.ModelError, match=message):
        checked()
