"""The command line with machines: the energy of domains, equations of all parts, operating point and modes."""

import json

import pytest

ARM = """
name: arm
gravity: [0, -9.81, 0]
planar: true
components:
  arm: {kind: rigid_body, mass: 1.3, inertia: [0.1, 0.1, 0.11], centre: [0.4, 0, 0]}
  O: {kind: revolute, frame_a: ground, frame_b: arm, axis: [0, 0, 1], angle: 0.3}
  axle: {kind: rotational.axis, nodes: [load, ground], on: O}
  motor: {kind: machines.dc_motor, electrical: [a, ground], shaft: [load, ground], resistance: 1.2, inductance: 3mH,
          constant: 2}
  V: {kind: voltage_source, nodes: [a, ground], voltage: pid.value}
  pid: {kind: control.pid, setpoint: 0.5, measurement: O.angle, p: 40, i: 60}
  warm: {kind: thermal.capacity, nodes: [copper, ground], heat_capacity: 50}
  fins: {kind: thermal.resistance, nodes: [copper, ground], resistance: 2}
  heat: {kind: thermal.loss, nodes: [copper, ground], of: motor}
run: {t_end: 0.2, points: 21}
"""


@pytest.fixture
def arm(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(ARM)
    return path


def test_run_tells_the_energy_of_every_domain(cotree, arm):
    done = cotree("run", arm)
    assert (done.returncode, done.err) == (0, "")
    assert "energy in J" in done.out
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line}
    assert float(rows["electrical"][0]) == pytest.approx(-float(rows["electrical"][1]), rel=1e-4)
    received, stored, lost = map(float, rows["thermal"][1:4])
    assert received == pytest.approx(stored + lost, rel=1e-5)
    assert rows["rotational"][:4] == ["0"] * 4
    told = json.loads(cotree("run", arm, "--json").out)["domains"]
    assert set(told) == {"mechanical", "rotational", "transducers", "electrical", "thermal"}
    assert all(each["error"] < 1e-7 for each in told.values())


def test_equations_show_networks_blocks_and_signals(cotree, arm):
    done = cotree("equations", arm)
    assert done.returncode == 0
    for piece in (
        "h[1] = -motor.constant*motor.electrical.current - arm.centre.x*arm.mass*gravity.y*cos(O.angle)",
        "axle.angular_velocity - O.angle_rate = 0",
        "motor.shaft.torque + motor.constant*motor.electrical.current",
        "heat.heat_flow + loss of motor = 0",
        "pid: control.pid",
        "pid.value = pid.p*(pid.setpoint - O.angle) + pid.integral",
        "d(pid.integral)/dt = pid.i*(pid.setpoint - O.angle)",
        "V.voltage = pid.value",
    ):
        assert piece in done.out
    assert r"\dot{i_{\mathrm{motor.electrical}}}" in cotree("equations", arm, "--latex").out


def test_check_counts_all_states_and_statics_finds_the_operating_point(cotree, arm):
    assert "5 states" in cotree("check", arm).out
    told = json.loads(cotree("statics", arm, "--json").out)
    assert told["state"]["O.angle"] == pytest.approx(0.5, abs=1e-9)
    modes = cotree("modes", arm)
    assert "warm.temperature" in modes.out
    assert "motor.electrical.current" in modes.out


def test_what_needs_a_mechanism_alone_says_so(cotree, arm):
    done = cotree("kinematics", arm)
    assert done.returncode == 1
    assert "networks or blocks of signals" in done.err
    assert "Simulate it" in done.err


def test_graph_is_drawn(cotree, arm, tmp_path):
    done = cotree("graph", arm, "-o", tmp_path / "g.svg")
    assert done.returncode == 0
    assert "electrical node" in (tmp_path / "g.svg").read_text()
