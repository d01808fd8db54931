"""Linearisation, modes, operating points and sensitivities of machines against hand-written equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import cotree as ct
from cotree.errors import ModelError, SolveError
from machines.models import heated_arm

G, N, K, R, L = 9.81, 20.0, 0.05, 1.2, 0.003
INERTIA = 0.11 + 1.3 * 0.4**2 + N**2 * 0.001
WEIGHT = 1.3 * G * 0.4


def cart(gains: tuple[float, ...]) -> ct.Model:
    """A pole on a cart, held up by a force that follows four states."""
    words = ("rail.displacement", "P.angle", "rail.displacement_rate", "P.angle_rate")
    law = " + ".join(f"{gain!r}*{word}" for gain, word in zip(gains, words, strict=True))
    parts = {
        "cart": {"kind": "rigid_body", "mass": 1.0, "inertia": [0.1] * 3},
        "rail": {"kind": "prismatic", "frame_a": "ground", "frame_b": "cart", "axis": [1, 0, 0]},
        "pole": {"kind": "rigid_body", "mass": 0.2, "inertia": [0.01] * 3, "centre": [0, 0.5, 0]},
        "P": {"kind": "revolute", "frame_a": "cart", "frame_b": "pole", "axis": [0, 0, 1]},
        "drive": {"kind": "translational.axis", "nodes": ["belt", "ground"], "on": "rail"},
        "F": {"kind": "translational.force_source", "nodes": ["ground", "belt"], "force": f"push + {law}"},
    }
    data = {"name": "cart", "gravity": [0, -G, 0], "planar": True, "parameters": {"push": 0}, "components": parts}
    return ct.Model.from_mapping(data)


def sorted_poles(values: np.ndarray) -> np.ndarray:
    """By size, of pairs the lower first."""
    return values[np.lexsort((values.imag.round(6), np.abs(values).round(6)))]


def test_poles_of_a_pole_with_feedback():
    """(M + m) x'' - m l f'' = F and (J + m l^2) f'' - m l x'' = m g l f, with f the angle to the left."""
    gains = (3.0, -60.0, 4.0, -14.0)
    mass = np.array([[1.2, -0.1], [-0.1, 0.01 + 0.05]])
    right = np.array([gains, (0.0, 0.2 * G * 0.5, 0.0, 0.0)])
    A = np.vstack([np.eye(4)[2:], np.linalg.solve(mass, right)])
    found = cart(gains).linearise(outputs=["P.angle"], inputs=["push"])
    assert found.states == ("rail.displacement", "P.angle", "rail.displacement_rate", "P.angle_rate")
    assert np.abs(found.A - A).max() < 1e-12 * np.abs(A).max()
    assert np.abs(sorted_poles(found.poles()) - sorted_poles(np.linalg.eigvals(A))).max() < 1e-8
    assert np.abs(found.B.ravel()[2:] - np.linalg.solve(mass, [1.0, 0.0])).max() < 1e-12


def test_the_arm_about_its_operating_point():
    """Motor torque N K i, i = -3 angle / R at rest, against the weight; then the linear equations there."""
    angle = brentq(lambda q: -N * K * 3 * q / R - WEIGHT * np.cos(q), -2.0, 0.0, xtol=1e-15)
    model = heated_arm()
    rest = model.static_equilibrium()
    assert rest["O.angle"] == pytest.approx(angle, abs=1e-10)
    assert rest["L.current"] == pytest.approx(-3 * angle / R, abs=1e-9)
    assert rest["winding.temperature"] == pytest.approx(2 * R * rest["L.current"] ** 2, rel=1e-9)
    assert rest.stability == "stable"
    slope = WEIGHT * np.sin(angle) / INERTIA
    A = np.array([[0, 1, 0], [slope, 0, N * K / INERTIA], [-3 / L, -N * K / L, -R / L]])
    wanted = sorted_poles(np.append(np.linalg.eigvals(A), -1 / (2 * 50)))
    found = model.linearise(at="steady", outputs=())
    assert np.abs(sorted_poles(found.poles()) - wanted).max() < 1e-8 * np.abs(wanted).max()
    assert rest.poles is not None
    assert np.abs(sorted_poles(rest.poles) - wanted).max() < 1e-8 * np.abs(wanted).max()
    modes = model.modes()
    assert np.abs(modes.frequencies - np.unique(np.abs(wanted).round(9)) / (2 * np.pi)).max() < 1e-8
    assert modes.most == ["winding.temperature", "O.angle", "L.current"]
    still = model.simulate(0.1, points=3, start="steady", parameters={})
    assert still["O.angle"][0] == pytest.approx(angle, abs=1e-10)


def test_constant_sources_are_the_inputs():
    """di/dt = v / L - ...; at high frequencies the current is that of the winding alone."""
    data = heated_arm().to_data()
    data["components"]["V"]["voltage"] = 12
    found = ct.Model.from_mapping(data).linearise(outputs=["L.current"])
    assert (found.inputs, found.outputs) == (("V.voltage",), ("L.current",))
    assert found.B.ravel() == pytest.approx([0, 0, 1 / L, 0], rel=1e-12)
    fast = found.frequency_response([1e7])[0, 0, 0]
    assert fast == pytest.approx(1 / (R + 1e7j * L), rel=1e-6)


def crank() -> ct.Model:
    """A DC motor with a speed controller on a slider-crank."""
    pin = {"kind": "revolute", "axis": [0, 0, 1]}
    parts = {
        "crank": {"kind": "rigid_body", "mass": 0.5, "inertia": [0.002] * 3, "frames": {"A": [0.1, 0, 0]}},
        "rod": {"kind": "rigid_body", "mass": 0.6, "inertia": [0.006] * 3, "frames": {"B": [0.3, 0, 0]}},
        "slider": {"kind": "rigid_body", "mass": 0.8, "inertia": [0.001] * 3},
        "O": pin | {"frame_a": "ground", "frame_b": "crank", "angle": 0.5},
        "A": pin | {"frame_a": "crank.A", "frame_b": "rod"},
        "B": pin | {"frame_a": "rod.B", "frame_b": "slider"},
        "guide": {
            "kind": "prismatic", "frame_a": "ground", "frame_b": "slider", "axis": [1, 0, 0], "displacement": 0.38,
        },
        "axle": {"kind": "rotational.axis", "nodes": ["shaft", "ground"], "on": "O"},
        "motor": {
            "kind": "machines.dc_motor", "electrical": ["a", "ground"], "shaft": ["shaft", "ground"],
            "resistance": 0.8, "inductance": 0.002, "constant": 0.1, "inertia": 0.001,
        },
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": "pi.value"},
        "pi": {"kind": "control.pid", "setpoint": 20, "measurement": "O.angle_rate", "p": 0.5, "i": 2},
    }  # fmt: skip
    return ct.Model.from_mapping({"name": "crank", "gravity": [0, -G, 0], "planar": True, "components": parts})


def test_a_closed_loop_has_the_same_poles_in_every_tree_and_no_rest():
    model = crank()
    poles = model.linearise(outputs=()).poles()
    assert len(poles) == 4
    other = model.linearise(tree="absolute", outputs=()).poles()
    assert np.abs(np.sort_complex(poles) - np.sort_complex(other)).max() < 1e-8 * np.abs(poles).max()
    with pytest.raises(SolveError, match=r"does not come to rest.*state_at"):
        model.static_equilibrium()


def loop(block: dict[str, object]) -> ct.Model:
    """An inertia with a damper, driven by a controller."""
    parts = {
        "J": {"kind": "rotational.inertia", "nodes": ["w", "ground"], "inertia": 0.1},
        "b": {"kind": "rotational.damper", "nodes": ["w", "ground"], "damping": 0.05},
        "T": {"kind": "rotational.torque_source", "nodes": ["ground", "w"], "torque": "pid.value"},
        "pid": {"input": "10 - w.angular_velocity", **block},
    }
    return ct.Model.from_mapping({"name": "loop", "components": parts})


def test_limits_let_go_on_the_way_to_the_operating_point():
    """At the start the output is at its limit of 1; at rest b w = 0.5 between the limits."""
    model = loop({"kind": "control.pid", "p": 2, "i": 3, "lower": -1, "upper": 1, "tracking": 0.1})
    rest = model.static_equilibrium()
    assert rest["w.angular_velocity"] == pytest.approx(10.0, abs=1e-9)
    assert rest["pid.value"] == pytest.approx(0.5, abs=1e-9)
    poles = np.roots([0.1, 0.05 + 2, 3])
    found = model.linearise(at="steady", outputs=())
    assert np.abs(np.sort(found.poles().real) - np.sort(poles)).max() < 1e-8
    assert found.notes == ("parts that switch stay as they are: pid",)
    at_limit = model.linearise(outputs=())
    assert np.isclose(at_limit.poles(), -0.05 / 0.1).any()


def test_sampled_blocks_are_held_and_it_is_said():
    found = loop({"kind": "control.sampled_pid", "p": 2, "i": 3, "period": 0.01}).linearise(outputs=())
    assert found.poles() == pytest.approx([-0.5])
    assert found.notes == ("outputs of sampled blocks are held constant: pid",)


@pytest.mark.parametrize("time", [0.3, 0.305])
def test_a_run_begins_again_with_the_values_that_are_held(time, tmp_path):
    """The sum of a sampled controller is no state; at a time of sampling it is that after the sample."""
    model = loop({"kind": "control.sampled_pid", "p": 2, "i": 3, "period": 0.01})
    whole = model.simulate(0.6, times=[0.0, time, 0.6], rtol=1e-10)
    back = ct.Solution.from_hdf5(whole.to_hdf5(tmp_path / "a.h5"))
    again = model.simulate(0.6, t_start=time, start=back.state_at(time), times=[0.6], rtol=1e-10)
    assert again["w.angular_velocity"][-1] == pytest.approx(whole["w.angular_velocity"][-1], rel=1e-9)
    assert again["pid.value"][-1] == pytest.approx(whole["pid.value"][-1], rel=1e-9)


def test_sensitivities_against_differences_of_hand_written_equations():
    def motion(resistance: float, current: float) -> np.ndarray:
        def rates(t: float, y: np.ndarray) -> list[float]:
            q, u, i = y
            volt = 12 * np.sin(2 * t) - 3 * q
            return [u, (N * K * i - WEIGHT * np.cos(q)) / INERTIA, (volt - resistance * i - K * N * u) / L]

        return solve_ivp(rates, (0, 0.2), [0.3, 0, current], "Radau", [0.2], rtol=1e-11, atol=1e-12).y[:, -1]

    found = heated_arm().sensitivities(["O.angle", "L.current"], ["R.resistance", "L.current"], 0.2, points=2)
    for k, (wrt, step) in enumerate((("R.resistance", 1e-3), ("L.current", 1e-2))):
        ends = [motion(R + sign * step * (k == 0), sign * step * (k == 1)) for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert found["O.angle", wrt][-1] == pytest.approx(slope[0], rel=1e-5, abs=1e-8)
        assert found["L.current", wrt][-1] == pytest.approx(slope[2], rel=1e-4, abs=1e-7)


def test_what_machines_cannot_do_is_said():
    model = crank()
    with pytest.raises(SolveError, match=r"networks or blocks of signals.*Simulate it"):
        model.kinematics(1.0)
    with pytest.raises(SolveError, match=r"networks or blocks of signals"):
        model.inverse_dynamics(1.0, {"O.angle": "t"})
    with pytest.raises(ModelError, match=r"'axle' \(rotational.axis\) is a mount.*by hand"):
        model.to_bond_graph()
    with pytest.raises(ModelError, match=r"'pid' \(control.pid\) is a block of signals"):
        loop({"kind": "control.pid", "p": 2, "i": 3}).to_bond_graph()
    with pytest.raises(SolveError, match=r"'V.voltage' is a result or follows an expression.*Add a parameter"):
        model.linearise(inputs=["V.voltage"])
    with pytest.raises(SolveError, match=r"there is no state 'motor.amps'.*motor.electrical.current"):
        model.linearise(at={"motor.amps": 1.0})
    winch = loop({"kind": "control.sampled_pid", "p": 2, "i": 3, "period": 0.01})
    with pytest.raises(SolveError, match=r"not a mechanism"):
        winch.sensitivities(["w.angular_velocity"], ["J.inertia"], 1.0)
    arm = heated_arm(sampled=True)
    with pytest.raises(SolveError, match=r"parts switch or are sampled: hold"):
        arm.sensitivities(["O.angle"], ["R.resistance"], 1.0)
