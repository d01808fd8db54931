"""The machines of examples/: they run, the balance of every domain closes, and they show the physics they stand for."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from examples.runs import NAMES, check, run

MACHINES = [name for name in NAMES if name.startswith("machine")]
G = 9.81


@pytest.mark.parametrize("name", MACHINES)
def test_machine_runs_and_the_balance_of_every_domain_closes(name):
    check(name)
    domains = run(name)[1].domains
    assert len(domains) >= 2
    assert max(each.error for each in domains.values()) < 1e-8


def test_speed_control_holds_the_mean_speed_of_the_crank():
    # In a periodic run without limits the integral part is the same after every turn, so the mean error is zero.
    _, solution = run("machine_motor_slider_crank")
    angle, t = solution["main.angle"], solution.t
    turn = 2 * np.pi
    ends = np.interp([angle[-1] - 2 * turn, angle[-1]], angle, t)
    assert 2 * turn / (ends[1] - ends[0]) == pytest.approx(20.0, rel=5e-3)
    assert solution["a.voltage"].max() == pytest.approx(24.0, abs=1e-9)  # the battery's limit at the start


def test_pendulum_is_caught_and_the_cart_goes_where_it_is_asked():
    _, solution = run("machine_inverted_pendulum")
    t, x, angle = solution.t, solution["slide.displacement"], solution["hinge.angle"]
    assert np.abs(angle[(t > 3) & (t < 4)]).max() < 0.01
    assert x[-1] == pytest.approx(0.5, abs=2e-3)
    assert x[(t > 4) & (t < 4.5)].min() < x[t <= 4][-1] - 0.01  # first the other way
    assert solution["amplifier.value"].min() == pytest.approx(-12.0, abs=1e-9)


def arm(q):
    """Lengths of the three cylinders and potential energy of the excavator's arm, written out by hand."""

    def turned(angle, x, y):
        return np.array([np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y])

    boom, stick, bucket = np.cumsum(q)
    elbow = turned(boom, 5.7, 0)
    wrist = elbow + turned(stick, 2.9, 0)
    lengths = [
        np.linalg.norm(turned(boom, 2.6, 0.1) - [0.6, -0.4]),
        np.linalg.norm(elbow + turned(stick, -0.7, 0.25) - turned(boom, 3.0, 0.9)),
        np.linalg.norm(wrist + turned(bucket, -0.1, 0.49) - elbow - turned(stick, 0.6, 0.5)),
    ]
    heights = turned(boom, 2.7, 0.35)[1], (elbow + turned(stick, 0.9, 0.15))[1], (wrist + turned(bucket, 0.75, -0.2))[1]
    return np.array([*lengths, G * np.dot([1600, 900, 1800], heights)])


def test_excavator_pressures_carry_the_arm():
    # Virtual work: the force of each cylinder times the change of its length is the change of the potential energy.
    _, solution = run("machine_excavator")
    for at, close in ((0, 2e-3), (-1, 2e-2)):  # the start is balanced, the end nearly at rest
        q = np.array([solution[name][at] for name in ("foot.angle", "elbow.angle", "wrist.angle")])
        steps = 1e-6 * np.eye(3)
        change = np.array([(arm(q + h) - arm(q - h)) / 2e-6 for h in steps])
        needed = change[:, 3] / np.diag(change[:, :3])
        for k, (name, head, rod) in enumerate(
            (("boom", 0.0226, 0.0113), ("stick", 0.0154, 0.0075), ("bucket", 0.0104, 0.0054))
        ):
            force = solution[f"{name}_ram.head.pressure"][at] * head - solution[f"{name}_ram.rod.pressure"][at] * rod
            assert force == pytest.approx(needed[k], rel=close, abs=1e3)
    assert min(solution[f"{name}.pressure"].min() for name in ("b1", "b2", "s1", "s2", "k1", "k2")) > 0


def test_motor_on_the_flexible_four_bar_runs_towards_its_idle_speed():
    _, solution = run("machine_flexible_four_bar")
    assert 0.85 < solution["O.angle_rate"][-1] / (400 / 2.0) < 0.95
    assert 0.01 < np.abs(solution["AB.mid.offset.y"]).max() < 0.05
    slow = solution.t < 0.1
    assert np.abs(solution["AB.mid.offset.y"][slow]).max() < 1e-3


def test_brake_of_the_winch_holds_and_stops_the_load():
    _, solution = run("machine_winch")
    t, torque = solution.t, solution["brake.torque"]
    assert torque[(t > 0.01) & (t < 0.99)] == pytest.approx(-500 * G * 0.15 / 20, rel=1e-6)
    held = ((t > 5.2) & (t < 6)) | (t > 8.5)
    assert np.abs(solution["bearing.angle_rate"][held]).max() < 1e-6
    slips = (t > 8.01) & (t < 8.3)
    assert torque[slips] == pytest.approx(-80.0, rel=1e-9)
    assert solution["rope.force"].min() > 0
    # Stiff rope: the drum, the rotor and the load slow down together by brake less weight.
    together = 0.03 * 20**2 + 40 * 0.15**2 / 2 + 500 * 0.15**2
    slowing = (80 * 20 - 500 * G * 0.15) / together
    stops = solution.events["brake.sticks"][-1] - 8
    assert stops == pytest.approx(-solution["bearing.angle_rate"][t < 8][-1] / slowing, rel=0.03)


def test_heating_follows_equations_written_by_hand():
    _, solution = run("machine_heating")

    def rates(t, x):
        wire, steel, oil, integral = x
        error = 155 - oil
        free = 10 * error + integral
        volts = min(max(free, 0.0), 230.0)
        through, film = 20.0 * (wire - steel), 36.0 * (steel - oil)
        lost = 1.2 * steel + 0.85 * 5.670374419e-8 * 0.1 * ((steel + 293.15) ** 4 - 293.15**4)
        return [
            (volts**2 / 26 - through) / 80,
            (through - film - lost) / 900,
            (film - 0.5 * oil) / 5400,
            0.05 * error + (volts - free) / 20,
        ]

    found = solve_ivp(rates, (0, 1500), [0, 0, 0, 0], "LSODA", solution.t, rtol=1e-10, atol=1e-10, max_step=5.0)
    for k, node in enumerate(("wire", "steel", "oil")):
        assert np.abs(solution[f"{node}.temperature"] - found.y[k]).max() < 1e-4


def test_flywheel_of_the_press_gives_the_work_of_every_hole():
    _, solution = run("machine_punch_press")
    t, wheel, crank = solution.t, solution["wheel.angular_velocity"], solution["crankshaft.angular_velocity"]
    table = np.array([[-0.4470, 0], [-0.4465, 1.2e5], [-0.4450, 1.5e5], [-0.4446, 1.4e5], [-0.4440, 0]])
    hole = np.trapezoid(table[:, 1], table[:, 0])
    assert solution.domains["translational"].supplied[-1] == pytest.approx(-3 * hole, rel=1e-3)
    engaged = (t > 0.35) & (t < 2.05)
    assert np.abs(wheel - crank)[engaged].max() < 1e-6
    assert np.abs(crank[t > 2.2]).max() < 1e-6
    assert solution["guide.displacement"][-1] > -0.36  # near the top
