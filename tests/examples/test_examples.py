"""Every example runs from the command line, its energy balance closes, and it shows the physics it is there for."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import cotree as ct
from _cases import long_ones
from examples.runs import EXAMPLES, NAMES, check, run

OTHERS = ("flexible", "deployable", "machine")
"""Families with a file of tests of their own."""


def test_there_are_examples_of_every_domain():
    kinds = {c.kind for name in NAMES for c in ct.load(EXAMPLES / f"{name}.yaml").components.values()}
    rooms = {kind.partition(".")[0] for kind in kinds}
    assert rooms >= {"resistor", "translational", "rotational", "thermal", "hydraulic", "rotational_emf"}


@pytest.mark.parametrize("name", long_ones((n for n in NAMES if not n.startswith(OTHERS)), ("water_hammer",)))
def test_example_runs_from_the_command_line_and_its_energy_balance_closes(name):
    check(name)


@pytest.mark.parametrize("name", NAMES)
def test_example_is_the_same_after_saving_and_loading(name, tmp_path):
    model = ct.load(EXAMPLES / f"{name}.yaml")
    again = ct.load(model.save(tmp_path / "model.yaml"))
    assert again.to_data() == model.to_data()
    assert again.components == model.components


def test_ladder_filter_halves_the_power_at_its_cut_off():
    model = ct.load(EXAMPLES / "ladder_filter.yaml")
    response = model.linearise(outputs=["RL.voltage"]).frequency_response([0.0, 2 * np.pi * 1000.0])[:, 0, 0]
    assert abs(response[0]) == pytest.approx(0.5, abs=1e-12)  # equal terminations
    assert abs(response[1]) == pytest.approx(0.5 / np.sqrt(2), abs=1e-12)


def test_sallen_key_answers_as_its_transfer_function():
    # R1 = R2 = R, C1 = 4 C, C2 = C: natural frequency 1/(2 R C), damping ratio C2 R w0 = 1/2.
    solution = ct.load(EXAMPLES / "sallen_key.yaml").simulate(run("sallen_key")[0].run.t_end, rtol=1e-10)
    w0, zeta, t = 1 / (2 * 10e3 * 10e-9), 0.5, np.maximum(solution.t - 1e-4, 0.0)
    wd = w0 * np.sqrt(1 - zeta**2)
    exact = 1 - np.exp(-zeta * w0 * t) * (np.cos(wd * t) + zeta * w0 / wd * np.sin(wd * t))
    assert np.abs(solution["out.voltage"] - exact).max() < 1e-8


def test_quarter_car_returns_to_rest_on_a_level_road():
    _, solution = run("quarter_car")
    assert solution["patch.displacement"].max() == pytest.approx(0.05, rel=1e-3)
    assert abs(solution["patch.displacement"][-1]) < 1e-8
    assert abs(solution["body.displacement"][-1]) < 1e-4


def test_rectifier_output_has_the_size_of_the_secondary_peak():
    _, solution = run("rectifier")
    settled = solution["C.voltage"][solution.t > 0.08]
    peak = 325 / 20
    assert settled.max() < peak - 2 * 0.5  # two junctions
    assert settled.min() > 0.7 * peak
    assert np.ptp(settled) < 1.5


def test_house_wall_settles_to_the_mean_that_the_resistances_give():
    model = ct.load(EXAMPLES / "house_wall.yaml")
    mean = model.linearise(outputs=["room.temperature"])
    static = mean.D - mean.C @ np.linalg.solve(mean.A, mean.B)
    inputs = dict(zip(mean.inputs, static[0], strict=True))
    assert inputs["outside.temperature"] == pytest.approx(1.0, abs=1e-12)
    assert inputs["heating.heat_flow"] == pytest.approx(0.04 + 0.15 + 3 + 0.13, rel=1e-12)


def test_water_hammer_pressure_rise_is_that_of_a_lumped_line():
    # Joukowsky: closing within one period of the line raises the pressure by about flow * sqrt(I/C).
    _, solution = run("water_hammer")
    rise = solution["n5.pressure"].max() - 4.9e5
    assert 0.9 < rise / (0.01 * np.sqrt(1e6 / 4e-11)) < 1.4


def test_suspension_follows_the_road_of_its_file_and_its_tyre_carries_the_weight():
    model, solution = run("suspension")
    t, z = np.loadtxt(EXAMPLES / "road.csv", delimiter=",", skiprows=1).T
    sol = model.model.simulate(4.0, points=401, rtol=1e-8)
    np.testing.assert_allclose(sol.t, t, atol=1e-12)
    np.testing.assert_allclose(sol["patch.position.y"] + 0.3, z / 1000, atol=1e-9)
    weight = (320 + 4 + 2 + 38) * 9.81
    assert solution["tyre.tension"][0] == pytest.approx(-weight, abs=0.1)  # it starts at rest, but for rounded preloads
    # What the tyre pushes upwards, less the weight, is the change of momentum of all that it carries.
    up = (sol["knuckle.axle.position.y"] - sol["patch.position.y"]) / sol["tyre.length"]
    push = CubicSpline(sol.t, -sol["tyre.tension"] * up - weight).antiderivative()
    gained = sol["system.momentum.y"] - 0.1 * sol["patch.velocity.y"]
    np.testing.assert_allclose(push(sol.t) - push(0.0), gained - gained[0], atol=2e-3 * np.abs(gained).max())
