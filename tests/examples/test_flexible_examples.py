"""The flexible examples: energy audits close to 1e-8, references are met, and each shows what it is there for."""

import runpy

import numpy as np
import pytest

import cotree as ct
from _cases import long_ones
from examples.runs import EXAMPLES, check, run

NAMES = ("four_bar", "panel_strips", "panels", "pendulum", "robot_arm", "slider_crank", "spin_up")


def changed(name, part, **changes):
    data = ct.load(EXAMPLES / f"flexible_{name}.yaml").to_data()
    data["components"][part] |= changes
    return ct.Model.from_mapping(data)


def solutions(name):
    return run(f"flexible_{name}")[1]


def test_every_flexible_example_is_here():
    assert sorted(path.stem for path in EXAMPLES.glob("flexible_*.yaml")) == [f"flexible_{name}" for name in NAMES]


@pytest.mark.parametrize("name", long_ones(NAMES, ("panels", "panel_strips", "robot_arm")))
def test_example_runs_from_the_command_line(name):
    check(f"flexible_{name}")


@pytest.mark.parametrize("name", long_ones(NAMES, ("panels", "panel_strips", "robot_arm")))
def test_energy_audit_closes_to_1e_8_of_the_largest_energy_exchanged(name):
    audit, kinetic = solutions(name).energy(), solutions(name)["kinetic_energy"]
    exchanged = max(np.ptp(part) for part in (kinetic, audit.supplied, audit.dissipated))
    assert np.abs(audit.closure).max() < 1e-8 * exchanged


@pytest.mark.parametrize("name", long_ones(NAMES, ("panels", "panel_strips", "robot_arm")))
def test_something_bends(name):
    bodies = ct.load(EXAMPLES / f"flexible_{name}.yaml").components.values()
    for body in (each for each in bodies if each.kind.endswith(("beam", "flexible_body"))):
        assert solutions(name)[f"{body.name}.strain_energy"].max() > 0
        assert solutions(name)[f"{body.name}.strain_energy"].min() >= 0


def test_slider_crank_of_the_test_set_for_initial_value_problems():
    # Simeon 1996, linear stiffness: two sine modes, and a rod that stretches by 1e-5 m, which is left out here. The
    # largest bending is 1.6 mm, and a stretch of 1e-5/0.3 does not reach 1e-3 of it.
    solution = changed("slider_crank", "rod", stiffening="none", elements=16).simulate(0.1, times=[0.1], rtol=1e-10)
    assert solution["rod.mode1"][0] == pytest.approx(1.893192460247178e-4, abs=1.6e-6)
    assert solution["rod.mode2"][0] == pytest.approx(2.375751865617931e-5, abs=1.6e-6)
    stretch = -8.363283141616840e-6
    assert solution["bore.displacement"][0] == pytest.approx(1.697373326718410e-1, abs=1.5 * abs(stretch))


@pytest.mark.slow
def test_robot_arm_arrives_and_rests_under_its_weight():
    solution = solutions("robot_arm")
    assert solution["yaw.angle"][-1] == pytest.approx(np.pi / 2, abs=1e-12)
    assert solution["elbow.angle"][-1] == pytest.approx(-0.5, abs=1e-12)
    assert solution.energy().dissipated[-1] > 0  # damping of the modes
    # In the end the payload swings about the place where the rigid arm would hold it, a little below.
    reach = 1.2 * np.array([np.cos(0.4), np.sin(0.4)]) + np.array([np.cos(-0.1), np.sin(-0.1)])
    place = np.array([0.0, reach[0], 0.3 + reach[1]])
    mean = solution["fore.end.position"][solution.t > 2].mean(axis=0)
    assert np.abs(mean - place).max() < 0.1
    assert mean[2] < place[2]


def test_pendulum_moves_alike_whatever_carries_its_frame():
    section = {"rectangle": {"width": 0.0025, "height": 0.015}}
    ends = []
    for attached in ("start", ["start", "end"], "mean"):
        model = changed("pendulum", "strip", section=section, attached=attached)
        solution = model.simulate(2.0, times=np.linspace(0, 2, 41))
        ends.append(solution["strip.end.position"])
    # The frames differ in terms of third order: a length of 1 m times the cube of a slope of 0.02.
    assert np.abs(ends[1] - ends[0]).max() < 2e-5
    assert np.abs(ends[2] - ends[0]).max() < 2e-5


def test_pendulum_keeps_its_energy_and_bends_its_soft_way():
    solution = solutions("pendulum")
    assert np.ptp(solution["kinetic_energy"] + solution["potential_energy"]) < 1e-8 * solution["kinetic_energy"].max()
    assert np.abs(solution["strip.mid.offset.y"]).max() > 10 * np.abs(solution["strip.mid.offset.z"]).max()


@pytest.mark.slow
def test_numbers_of_the_validation_page_are_those_of_today():
    docs = EXAMPLES.parent / "docs"
    page = (docs / "validation.md").read_text(encoding="utf-8")
    table = page.partition("<!-- flexible -->\n")[2].partition("<!-- end -->")[0]
    rows = list(runpy.run_path(str(docs / "regenerate.py"))["flexible"]())
    assert table.splitlines() == rows
    assert len(rows) > 15
