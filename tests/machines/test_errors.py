"""What is wrong with a machine is told by name."""

from __future__ import annotations

from typing import Any

import pytest

import cotree as ct

ARM: dict[str, Any] = {
    "arm": {"kind": "rigid_body", "mass": 2.0, "inertia": [0.1, 0.1, 0.1], "centre": [0.5, 0, 0]},
    "O": {"kind": "revolute", "frame_a": "ground", "frame_b": "arm"},
    "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": 5.0},
    "M": {
        "kind": "machines.dc_motor", "electrical": ["a", "ground"], "shaft": ["s", "ground"], "resistance": 1.0,
        "inductance": 0.01, "constant": 0.5, "inertia": 0.02,
    },
    "mount": {"kind": "rotational.axis", "nodes": ["s", "ground"], "on": "O"},
}  # fmt: skip


def told(changes: dict[str, Any], **fields: Any) -> str:
    """The message for the arm with other parts, or other fields of the voltage source."""
    parts = ARM | changes | {"V": ARM["V"] | changes.get("V", {}) | fields}
    with pytest.raises(ct.CotreeError) as found:
        ct.Model.from_mapping({"name": "arm", "components": parts}).equations()
    return str(found.value)


def test_a_motor_without_ground() -> None:
    text = told({"M": ARM["M"] | {"electrical": ["a", "b"]}}, nodes=["a", "b"])
    assert "no connection to the ground" in text
    assert "M" in text


def test_an_algebraic_loop_of_signals() -> None:
    gain = {"kind": "control.gain", "gain": 2.0}
    text = told({"g": gain | {"input": "h.value"}, "h": gain | {"input": "g.value"}}, voltage="g.value")
    assert "algebraic loop" in text
    assert "g.value" in text
    assert "h.value" in text


def test_a_voltage_that_follows_its_own_current_at_once() -> None:
    text = told({"r": {"kind": "resistor", "nodes": ["a", "ground"], "resistance": 1.0}}, voltage="-2*r.current")
    assert "V.voltage <- r.current <- V.voltage" in text


PUMP: dict[str, Any] = {
    "pump": {
        "kind": "machines.pump", "hydraulic": ["h", "ground"], "shaft": ["s", "ground"], "displacement": 1e-3,
        "stroke": "tanh(O.force.x)",
    },
    "pipe": {"kind": "hydraulic.resistance", "nodes": ["h", "ground"], "resistance": 1e7},
}  # fmt: skip
BARE = {"M": {name: value for name, value in ARM["M"].items() if name != "inductance"}}


@pytest.mark.parametrize(
    ("changes", "voltage", "where"), [(BARE, "0.1*O.force.x", "V.voltage"), (PUMP, 5.0, "pump.stroke")]
)
def test_a_reaction_that_acts_at_once(changes: dict[str, Any], voltage: Any, where: str) -> None:
    text = told(changes, voltage=voltage)
    assert text.startswith(f"{where}: 'O.force.x'")
    assert "control.sensor" in text


@pytest.mark.parametrize("rate", [0.0, 5.0])
def test_a_start_value_of_what_moves_with_a_joint(rate: float) -> None:
    """Also where it is that of the joint: one of them could change alone."""
    text = told({"O": ARM["O"] | {"angle_rate": rate}, "M": ARM["M"] | {"initial_speed": 5.0}})
    assert text.startswith("M: 'M.rotor'")
    assert "'mount'" in text
    assert "of 'O'" in text


def test_a_gear_between_two_joints() -> None:
    """A rigid gear makes one speed of two: that is a constraint of the mechanism."""
    text = told(
        {
            "wheel": ARM["arm"],
            "P": ARM["O"] | {"frame_b": "wheel"},
            "other": ARM["mount"] | {"nodes": ["r", "ground"], "on": "P"},
            "gear": {"kind": "rotational.gear", "primary": ["r", "ground"], "secondary": ["s", "ground"], "ratio": 2.0},
        }
    )
    assert text.startswith("other: ")
    assert "mount" in text
    assert "joined by coupled" in text


def test_heat_that_is_given_off_twice() -> None:
    heat = {"kind": "thermal.loss", "nodes": ["case", "ground"], "of": "M"}
    case = {"kind": "thermal.capacity", "nodes": ["case", "ground"], "heat_capacity": 10.0}
    text = told({"first": heat, "second": heat, "housing": case})
    assert text.startswith("second.of")
    assert "'first'" in text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"F": {"kind": "joint_actuator", "on": "O", "effort": "M.electrical.current"}}, ("F.effort", "current")),
        ({"V": {"voltage": "O.angle"}}, ("V.voltage", "an angle", "a voltage")),
        ({"T": {"kind": "rotational.torque_source", "nodes": ["ground", "s"], "torque": "a.voltage"}}, ("T.torque",)),
    ],
)
def test_units_that_do_not_fit(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    text = told(changes)
    for word in words:
        assert word in text


def test_names_of_signals_and_joints() -> None:
    assert "Did you mean 'O.angle'" in told({}, voltage="2*O.angel")
    assert "no joint 'P'" in told({"mount": ARM["mount"] | {"on": "P"}})
    ball = {"kind": "spherical", "frame_a": "ground", "frame_b": "arm"}
    assert "has no rotation about one axis" in told({"O": ball})
    assert "no mechanism" in told(
        {"arm": ARM["V"] | {"nodes": ["x", "ground"]}, "O": ARM["V"] | {"nodes": ["y", "ground"]}}
    )


@pytest.mark.parametrize(("port", "node"), [("electrical", "b"), ("shaft", "case")])
def test_a_port_of_which_one_end_is_loose_is_told(port: str, node: str) -> None:
    model = ct.Model("loose", gravity=(0, -9.81, 0), planar=True)
    model.add(ct.RigidBody("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), centre=(0.4, 0, 0)))
    model.add(ct.Revolute("O", "ground", "arm"))
    model.add(ct.rotational.Axis("axle", ("s", "ground"), on="O"))
    ends = {"electrical": ("a", "ground"), "shaft": ("s", "ground")}
    ends[port] = (ends[port][0], node)
    model.add(ct.machines.DCMotor("M", **ends, resistance=1.0, constant=1.0))
    model.add(ct.VoltageSource("V", ("a", "ground"), voltage=5))
    with pytest.raises(ct.ModelError, match=rf"M.{port}: nothing else is connected to the node '{node}'"):
        model.equations()


def test_a_machine_at_rest_has_no_energy_error() -> None:
    """A held pendulum: what is left of its balance is rounding."""
    model = ct.Model("held", gravity=(0, -9.81, 0), planar=True)
    model.add(ct.RigidBody("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), centre=(0.4, 0, 0)))
    model.add(ct.Revolute("O", "ground", "arm", angle=0.3))
    model.add(ct.rotational.Axis("axle", ("s", "ground"), on="O"))
    model.add(ct.rotational.Brake("B", ("s", "ground"), torque=20))
    solution = model.simulate(1.0, points=11)
    assert solution["O.angle"] == pytest.approx(0.3, abs=1e-12)
    assert solution.audit.error == 0.0
    assert max(each.error for each in solution.domains.values()) == 0.0
