"""Templates: each reads, runs, keeps its energy balance, and does what a formula written here says."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ellipk

import cotree as ct
from cotree.io import read_model
from cotree.io.templates import TEMPLATES

G = 9.81
STEEL = {"young": 2.1e11, "density": 7850.0}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Templates as `cotree new` writes them, read and run, each once."""
    folder, kept = tmp_path_factory.mktemp("templates"), {}

    def run(name):
        if name not in kept:
            path = Path(folder / f"{name}.yaml")
            path.write_text(TEMPLATES[name].text, encoding="utf-8")
            file = read_model(path, ct.Model)
            options = file.run.options()
            kept[name] = file.model, file.model.simulate(file.run.t_end, tree=file.run.tree, **options), file
        return kept[name]

    return run


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_runs_and_its_energy_balance_closes(made, name):
    _, solution, file = made(name)
    file.check_plot(solution.names)
    assert len(file.run.plot) > 0
    assert solution.t[-1] == pytest.approx(file.run.t_end)
    assert solution.energy().error < 1e-6
    template = TEMPLATES[name]
    assert template.name == name
    assert template.summary in template.text
    assert template.beside("model.schema.json").splitlines()[0] == "# yaml-language-server: $schema=model.schema.json"


def test_pendulum_has_the_period_of_the_elliptic_integral(made):
    """Without friction: T = 4 K(sin(a/2)) sqrt(J/(m g s)), with J = m l^2/3 and s = l/2."""
    model, _, _ = made("pendulum")
    solution = model.simulate(3.0, parameters={"friction.damping": 1e-12}, rtol=1e-10, points=3001)
    angle = solution["hinge.angle"] + np.pi / 2
    down = np.flatnonzero((angle[:-1] > 0) & (angle[1:] <= 0))
    crossing = [
        solution.t[k] + angle[k] / (angle[k] - angle[k + 1]) * (solution.t[k + 1] - solution.t[k]) for k in down
    ]
    exact = 4 * ellipk(np.sin(np.deg2rad(20) / 2) ** 2) * np.sqrt(2 * 0.3 / (3 * G))
    assert np.diff(crossing) == pytest.approx(exact, rel=1e-5)


def test_four_bar_keeps_its_lengths_and_turns_round(made):
    _, solution, _ = made("four_bar")
    a, c = solution["O.angle"], solution["C.angle"]
    assert a[0] == pytest.approx(np.pi / 3, abs=1e-12), "what is fixed stays"
    A = 0.1 * np.array([np.cos(a), np.sin(a)])
    B = np.array([0.3 + 0.22 * np.cos(c), 0.22 * np.sin(c)])
    assert np.linalg.norm(B - A, axis=0) == pytest.approx(0.28, abs=1e-7)
    assert B[1].min() > 0, "the loop is closed above the ground"
    assert a[-1] - a[0] > 4 * np.pi


def test_slider_crank_follows_its_geometry(made):
    _, solution, _ = made("slider_crank")
    angle = 10 * np.pi * solution.t
    exact = 0.05 * np.cos(angle) + np.sqrt(0.15**2 - (0.05 * np.sin(angle)) ** 2)
    assert solution["bore.displacement"] == pytest.approx(exact, abs=1e-9)


def test_robot_arm_sags_as_its_weight_says(made):
    """At rest the torque of each motor is the moment of the weights that it carries."""
    model, solution, _ = made("robot_arm")
    assert solution["yaw.angle"][-1] == pytest.approx(np.pi / 2, abs=1e-9)
    rest = model.simulate(8.0)
    one, both = (rest[f"{joint}.angle"][-1] for joint in ("shoulder", "elbow"))
    both += one
    elbow = 2.5 * G * 0.2 * np.cos(both)
    shoulder = 4 * G * 0.25 * np.cos(one) + 2.5 * G * 0.5 * np.cos(one) + elbow
    assert 600 * (np.pi / 3 - one) == pytest.approx(shoulder, rel=1e-5)
    assert 600 * (-np.pi / 2 - both + one) == pytest.approx(elbow, rel=1e-5)


def test_flexible_beam_hangs_and_swings_like_a_cantilever(made):
    """Tip m g l^4 / 8 EI with m the mass per length, and f = 1.8751^2 / (2 pi l^2) sqrt(EI/m)."""
    model, solution, _ = made("flexible_beam")
    bending, mass = STEEL["young"] * 0.03 * 0.005**3 / 12, STEEL["density"] * 0.03 * 0.005
    tip = -mass * G / (8 * bending)
    assert model.static_equilibrium()["beam.end.position.y"] == pytest.approx(tip, rel=2e-3)
    assert solution["beam.end.position.y"].min() == pytest.approx(2 * tip, rel=0.05), "one mode swings to twice that"
    frequency = 1.875104**2 / (2 * np.pi) * np.sqrt(bending / mass)
    assert model.modes().frequencies[0] == pytest.approx(frequency, rel=2e-3)


def test_truss_bends_as_its_stiffness_matrix_says(made):
    """The small displacements of the nodes by the stiffness matrix of springs along straight lines."""
    model, _, _ = made("truss")
    places = {f"{row}{i}": (float(i), float(row == "U")) for row, i in itertools.product("LU", range(5))}
    springs = [(f"{row}{i}", f"{row}{i + 1}") for row, i in itertools.product("LU", range(4))]
    springs += [(f"L{i}", f"U{i}") for i in range(1, 5)] + [(f"L{i}", f"U{i + 1}") for i in range(4)]
    free, matrix = [name for name in places if name[1] != "0"], np.zeros((20, 20))
    order = list(places)
    for ends in springs:
        a, b = (order.index(end) for end in ends)
        way = np.subtract(places[ends[1]], places[ends[0]])
        row = np.zeros(20)
        row[2 * a : 2 * a + 2], row[2 * b : 2 * b + 2] = -way, way
        matrix += 2e6 * np.outer(row, row) / (way @ way)
    kept = [2 * order.index(name) + k for name in free for k in (0, 1)]
    load = np.zeros(20)
    load[2 * order.index("L4") + 1] = -500
    moved = np.linalg.solve(matrix[np.ix_(kept, kept)], load[kept])[2 * free.index("L4") + 1]
    assert model.static_equilibrium()["L4.position.y"] == pytest.approx(moved, rel=0.01)
    assert len(model.components) == 29


def test_circuit_rings_as_its_formula_says(made):
    """v = V (1 - exp(-d t) (cos(w t) + d/w sin(w t))) behind the step, with d = R/2L and w^2 = 1/LC - d^2."""
    _, solution, _ = made("circuit")
    d = 2 / (2 * 1e-3)
    w, t = np.sqrt(1 / (1e-3 * 10e-6) - d**2), np.maximum(solution.t - 1e-4, 0)
    exact = 5 * (1 - np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t)))
    assert solution["out.voltage"] == pytest.approx(exact, abs=1e-5)


def test_dc_motor_reaches_the_speed_where_all_torques_meet(made):
    """K (V - K w) / R = b w / n^2 on the shaft."""
    _, solution, _ = made("dc_motor")
    friction, constant = 0.2 / 10**2, 0.05
    speed = constant * 24 / 0.8 / (friction + constant**2 / 0.8)
    assert solution["shaft.angular_velocity"][-1] == pytest.approx(speed, rel=1e-3)
    assert solution["output.angular_velocity"] == pytest.approx(solution["shaft.angular_velocity"] / 10, abs=1e-9)


def test_motor_holds_the_arm_with_the_current_that_its_weight_needs(made):
    """n K i = m g l/2 cos(60 deg) at rest, and the case has taken up what the resistance lost."""
    solution = made("motor")[0].simulate(3.0, points=6001)
    assert solution["hinge.angle"][-1] == pytest.approx(np.pi / 3, abs=1e-3)
    current = solution["motor.electrical.current"]
    assert current[-1] == pytest.approx(2 * G * 0.25 * np.cos(np.pi / 3) / (40 * 0.04), rel=1e-3)
    heat = np.trapezoid(1.5 * current**2, solution.t)
    assert solution["case.temperature"][-1] == pytest.approx(heat / 150, rel=1e-4)


def test_bond_graph_swings_as_its_formula_says(made):
    """x = m g / k (1 - exp(-d t) (cos(w t) + d/w sin(w t))), with d = c/2m."""
    _, solution, _ = made("bond_graph")
    d = 20 / (2 * 5)
    w, t = np.sqrt(2000 / 5 - d**2), solution.t
    exact = 5 * G / 2000 * (1 - np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t)))
    assert solution["way.value"] == pytest.approx(exact, abs=1e-7)


def test_empty_falls(made):
    _, solution, _ = made("empty")
    assert solution["ball.position.y"] == pytest.approx(10 - G * solution.t**2 / 2, rel=1e-7), "ten times its tolerance"
