"""Wrong input, and the words that its message must hold: hints that new users missed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import cotree as ct
from cotree.cli.program import program
from cotree.errors import shortened
from cotree.model.component import KINDS

LINE = """
components:
  V: {kind: voltage_source, nodes: [a, ground], voltage: 5}
  R: {kind: resistor, nodes: [a, b], resistance: 10}
  C: {kind: capacitor, nodes: [b, ground], capacitance: 1e-3}
run: {t_end: 0.01}
"""
LONG = [round(0.001 * k, 3) for k in range(3000)]


def arm(**joint: Any) -> ct.Model:
    m = ct.Model("arm", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("arm", ct.rod(length=1, mass=1, radius=0.01), frames={"O": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "arm.O", **joint))
    return m


def file(**entry: Any) -> ct.Model:
    body = {"kind": "rigid_body", "mass": 1, "inertia": [1, 1, 1]}
    return ct.Model.from_mapping({"components": {"s": entry, "b": body}})


def run() -> ct.Solution:
    return arm().simulate(0.01, points=3)


def acted(effort: str) -> ct.Model:
    m = arm()
    m.add(ct.JointActuator("motor", "O", effort=effort))
    return m


def inverse() -> Any:
    return arm().inverse_dynamics(0.1, {"O": "0.3*sin(t)"}, points=3)


SPRING = {"frame_a": "ground", "frame_b": "b"}
HINTS: dict[str, tuple[Callable[[], Any], str]] = {
    "statics": (lambda: arm().statics(), "Write model.static_equilibrium()"),  # type: ignore[attr-defined]
    "save of results": (lambda: run().save("r"), "solution.to_hdf5(path)"),  # type: ignore[attr-defined]
    "keys of results": (lambda: run().keys(), "Write solution.names"),  # type: ignore[attr-defined]
    "report of results": (lambda: run().report("r"), "model.report(solution, path)"),  # type: ignore[attr-defined]
    "a box without names": (lambda: ct.box((1, 1, 1), mass=200), "size=(1, 1, 1)"),  # type: ignore[misc]
    "a smooth step between times": (lambda: acted("smooth_step(t,1,4)"), "Write smooth_step((t - 1)/3)"),
    "a step of Adams": (lambda: acted("smooth_step(t,1,5,4,7)"), "Write 5 + (7 - (5))*smooth_step((t - 1)/3)"),
    "a lookup": (lambda: acted("interp(t,road)"), "write road(t), or spline(t, t0, y0, t1, y1, ...)"),
    "a result of inverse dynamics": (lambda: inverse()["arm.O.position"], "inverse.solution['arm.O.position']"),
    "a bare array as motion": (
        lambda: arm().inverse_dynamics(1.0, np.zeros(5)), "courses by joint coordinate"  # type: ignore[arg-type]
    ),
    "a part of another program": (lambda: ct.Body, "cotree.RigidBody"),
    "a forgotten name": (lambda: ct.Revolute("ground", "arm.O"), "Each part begins with its own name: Revolute("),
    "a forgotten name in a network": (lambda: ct.Resistor("a", "b", resistance=3), "begins with its own name"),
    "no name at all": (lambda: ct.RigidBody(mass=1), "name not given"),
    "a place as a frame": (lambda: ct.Revolute("O", (0, 0, 0), "arm"), "model.ground.at(0, 0, 0)"),
    "a symbol": (lambda: ct.Spring("s", "ground", "b", k=5), "Did you mean 'stiffness'?"),
    "a symbol in a file": (lambda: file(kind="spring", **SPRING, k=5), "Did you mean 'stiffness'?"),
    "a symbol of a damper": (lambda: ct.Damper("s", "ground", "b", c=5), "Did you mean 'damping'?"),
    "a word for a field": (lambda: ct.PointOnLine("p", "ground", "b", direction=(1, 0, 0)), "Did you mean 'axis'?"),
    "fields are listed": (lambda: ct.PointOnLine("p", "ground", "b", foo=1), "fields frame_a, frame_b, axis"),
    "a torque of an actuator": (lambda: ct.JointActuator("m", "O", torque=3), "Did you mean 'effort'?"),
    "a method by its usual name": (lambda: arm().simulate(1, integrator="bdf"), "'cvodes'"),
    "a method in a file": (
        lambda: ct.Model.from_mapping(arm().to_data() | {"run": {"integrator": "bdf"}}),
        "'cvodes'",
    ),
    "no direction": (lambda: arm(axis="q"), "or one of x, y, z, -x, -y, -z"),
    "no axis of a shape": (lambda: ct.rod(length=1, mass=1, axis=(1, 1, 0)), "or a vector along one of them"),
    "the other spelling": (lambda: ct.RigidBody("b", mass=1, inertia=(1, 1, 1), center=(0, 0, 0)), "'centre'"),
    "the other spelling of a node's body": (
        lambda: ct.nodal.Body("b", ("A",), mass=1, inertia=(1, 1, 1), center=(0, 0, 0)), "'centre'"
    ),
    "a word of two networks": (lambda: file(kind="spring", nodes=["a", "ground"], stiffness=5), "translational.spring"),
    "an end time": (lambda: arm().simulate("2 m"), "is a length"),
    "no frame_a": (lambda: ct.PointForce("f", frame_a="arm", force=(0, 1, 0)), "Did you mean 'frame_b'?"),
    "an option": (lambda: arm().simulate(1, method="x"), "Did you mean 'integrator'?"),
    "arrays in a field": (lambda: ct.Drive("d", "O", angle=([0, 1], [0, 2])), "model.data('road', times, values)"),
    "a field that is not given": (lambda: arm().simulate(0.01, parameters={"O.angle": 1}), "'O' does not give angle"),
}  # fmt: skip


@pytest.mark.parametrize("case", HINTS)
def test_a_message_holds_its_hint(case):
    wrong, hint = HINTS[case]
    with pytest.raises((ct.CotreeError, AttributeError)) as caught:
        wrong()
    assert hint in str(caught.value)


@pytest.mark.parametrize("echoed", [LONG, tuple(LONG), np.array(LONG[:900]), {"a": LONG}, "x+" * 400 + "1"])
def test_echoed_values_are_short(echoed):
    for wrong in (
        lambda: ct.Drive("d", "O", angle=echoed),
        lambda: ct.Revolute("O", "ground", "b", axis=echoed),
        lambda: ct.RigidBody("b", mass=1, inertia=echoed),
        lambda: ct.Model("m", gravity=echoed),
        lambda: file(kind="spring", frame_a="ground", frame_b="b", stiffness=echoed, length=1),
    ):
        with pytest.raises(ct.CotreeError) as caught:
            wrong().check()
        assert len(caught.value.found) < 200
        assert len(str(caught.value)) < 600


def test_only_values_are_cut():
    prose = "the bodies (which are joined by a joint that is not shown in this sentence, and by others) move"
    assert shortened(prose) == prose
    assert shortened(f"found {LONG}").startswith("found [0.0, 0.001, 0.002")
    assert shortened(f"found {LONG}").endswith("2.999]")


@pytest.mark.parametrize("axis", ["z", "-y", "+x", (0, 0, 1), [0, 1, 0], np.array([1.0, 0, 0])])
def test_directions_are_named_or_given_as_vectors(axis):
    fields = [
        (kind, field)
        for kind, cls in KINDS.items()
        for field, form in cls.forms().items()
        if cls.mechanical and {"enum": ["x", "y", "z", "-x", "-y", "-z"]} in form.schema.get("anyOf", ())
    ]
    assert {"revolute", "point_on_line", "ground_frame"} <= {kind for kind, _ in fields}
    by_name = {"z": (0, 0, 1), "-y": (0, -1, 0), "+x": (1, 0, 0)}
    vector = by_name[axis] if isinstance(axis, str) else tuple(axis)
    assert arm(axis=axis).components["O"].axis == vector
    assert ct.Frame((0, 0, 0), axis=axis, angle=1).axis == vector
    assert ct.cylinder(radius=1, length=1, mass=1, axis=axis).axis == "xyz"[int(np.argmax(np.abs(vector)))]


def test_a_named_direction_in_a_file_runs_as_its_vector(tmp_path):
    data = json.loads(json.dumps(arm(axis="z").to_data()))
    for k, axis in enumerate(("z", [0, 0, 1])):
        data["components"]["O"]["axis"] = axis
        (tmp_path / f"{k}.yaml").write_text(yaml.safe_dump(data, default_flow_style=None), encoding="utf-8")
    one, other = (ct.load(tmp_path / f"{k}.yaml").simulate(0.1, points=3)["O.angle"] for k in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("word", "cls"), [("spring", ct.Spring), ("damper", ct.Damper), ("gear", ct.Gear)])
def test_a_word_alone_means_what_it_means_in_python(word, cls):
    from cotree.model.kinds import find_kind

    assert find_kind(word, "") is cls


@pytest.mark.parametrize(
    ("kind", "words", "not_there"),
    [("spherical", "results: orientation, omega", "results: orientation, angular"), ("point_force", "acts", "frame_a")],
)
def test_the_list_speaks_of_what_there_is(kind, words, not_there):
    told = CliRunner().invoke(program(), ["list", kind]).stdout
    assert words in told
    assert not_there not in told


def test_an_equilibrium_is_a_start() -> None:
    m = arm(angle=-1.2)
    rest = m.static_equilibrium()
    assert m.simulate(0.05, points=3, start=rest)["O.angle"] == pytest.approx(-np.pi / 2, abs=1e-6)


def test_a_joint_with_one_coordinate_stands_for_it() -> None:
    by_joint, by_name = inverse(), arm().inverse_dynamics(0.1, {"O.angle": "0.3*sin(t)"}, points=3)
    assert np.array_equal(by_joint["O"], by_name["O.angle"])


def test_a_source_may_be_set_to_an_expression_of_time(tmp_path: Any) -> None:
    (tmp_path / "c.yaml").write_text(LINE)
    given = ["run", str(tmp_path / "c.yaml"), "--set", "V.voltage=5*step(t-0.005)", "--out", str(tmp_path / "r.h5")]
    done = CliRunner().invoke(program(), given)
    assert done.exit_code == 0, done.output
    found = ct.Solution.from_hdf5(tmp_path / "r.h5")
    assert found.at("C.voltage", 0.004) == 0
    assert found.at("C.voltage", 0.01) == pytest.approx(5 * (1 - np.exp(-0.5)), rel=1e-5)


def test_lines_of_mounts_and_of_drives_have_lengths() -> None:
    m = arm(angle=0.4)
    m.add(ct.translational.Line("l", ("p", "ground"), frame_a=m.ground.at(0, 2, 0), frame_b=m.components["arm"]))  # type: ignore[arg-type]
    m.add(ct.translational.Damper("d", ("p", "ground"), damping=3.0))
    sol = m.simulate(0.1, points=4)
    assert sol["l.length"] == pytest.approx(np.linalg.norm(sol["arm.position"] - (0, 2, 0), axis=1), rel=1e-9)
    assert sol["l.length_rate"] == pytest.approx(sol["l.velocity"], rel=1e-9, abs=1e-12)
    assert sol["l.tension"] == pytest.approx(-sol["l.force"], rel=1e-9, abs=1e-12)
    driven = arm(angle=0.4)
    driven.add(ct.FrameDrive("f", driven.ground.at(2, 0, 0), "arm", distance="1.8 + 0.1*t"))
    assert driven.simulate(0.1, points=3)["f.length"] == pytest.approx([1.8, 1.805, 1.81], rel=1e-8)
