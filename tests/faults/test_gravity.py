"""Gravity by default, and loads that a planar model does not feel (A11, A14)."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree import nodal
from cotree.cli import main

DEFAULTS = ("default-gravity", "default-gravity-idle", "default-gravity-across-plane")


def said(sol: ct.Solution, *codes: str) -> list:
    return [each for each in sol.diagnostics if each.code in codes]


def pendulum(length: float = 1.0, axis=(0, 0, 1), **world) -> ct.Model:
    m = ct.Model("pendulum", **world)
    shape = ct.rod(length=length, mass=length**3, radius=0.02 * length)
    m.add(ct.RigidBody("rod", shape, frames={"end": (-length / 2, 0, 0)}))
    m.add(ct.Revolute("pin", m.ground, "rod.end", axis=axis))
    return m


@pytest.mark.parametrize("length", [1e-5, 1.0, 1e4])
@pytest.mark.parametrize(
    ("world", "axis", "code"),
    [
        ({}, (0, 1, 0), "default-gravity"),
        ({}, (0, 0, 1), "default-gravity-idle"),
        ({"planar": True}, (0, 0, 1), "default-gravity-across-plane"),
        ({"gravity": (0, -9.81, 0)}, (0, 0, 1), None),
        ({"gravity": (0, -9.81, 0), "planar": True}, (0, 0, 1), None),
    ],
)
def test_a_default_of_gravity_is_noted_once_in_python(world, axis, code, length):
    sol = pendulum(length, axis, **world).simulate(0.1, points=2)
    assert [each.code for each in said(sol, *DEFAULTS)] == ([] if code is None else [code])
    assert sum("gravity" in note for note in sol.notes) == (code is not None)
    still = code in ("default-gravity-idle", "default-gravity-across-plane")
    assert (sol["pin.angle"][-1] == 0.0) == still  # the diagnostic is true


def test_what_hangs_at_rest_is_not_idle():
    """At its lowest place gravity does no work at first; beside it, it does."""
    m = ct.Model("hanging")
    m.add(ct.RigidBody("rod", ct.rod(length=1, mass=1, radius=0.01, axis="z"), frames={"end": (0, 0, 0.5)}))
    m.add(ct.Revolute("pin", m.ground, "rod.end", axis=(0, 1, 0)))
    assert [each.code for each in m.equations().diagnostics][-1] == "default-gravity"


def test_structures_note_it_too():
    m = ct.Model("bar")
    m.add(nodal.Node("A", position=(0, 0, 0)))
    m.add(nodal.Node("B", position=(1, 0, 0)))
    m.add(nodal.Fixed("hold", "A"))
    m.add(nodal.Bar("bar", "A", "B", mass=1.0))
    assert len(said(m.simulate(0.1, points=2), *DEFAULTS)) == 1


@pytest.mark.parametrize("command", [["check"], ["run", "--t-end", "0.1"]])
@pytest.mark.parametrize("planar", [False, True])
def test_the_command_line_says_it_once(tmp_path, capsys, monkeypatch, command, planar):
    path = tmp_path / "pendulum.yaml"
    m = pendulum(axis=(0, 0, 1) if planar else (0, 1, 0), planar=planar)
    m.save(path)
    monkeypatch.setattr("sys.argv", ["cotree", *command, str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    text = capsys.readouterr().out
    assert not end.value.code
    assert text.count("is taken") == (0 if command == ["check"] and not planar else 1)
    assert text.count("m/s^2 (default)") == (command == ["check"])  # the gravity in force has a line there


# -- across the plane ----------------------------------------------------------------------------------------------


def across(**loads) -> ct.Model:
    m = pendulum(planar=True, gravity=loads.pop("gravity", (0, -9.81, 0)), parameters={"P": 7.5})
    for name, vector in loads.items():
        kind = ct.PointForce if name == "force" else ct.PointTorque
        m.add(kind(f"the_{name}", "rod", **{name: vector}))
    return m


@pytest.mark.parametrize(
    ("loads", "subject", "size"),
    [
        ({"force": (1, 2, -40)}, "the_force.force.z", "-40"),
        ({"force": (0, 0, "3*sin(t)")}, "the_force.force.z", "3*sin(t)"),
        ({"force": (0, 0, "P")}, "the_force.force.z", "7.5"),
        ({"force": (0, 0, "5*pin.angle")}, "the_force.force.z", "5*pin.angle"),
        ({"torque": (6, 0, 1)}, "the_torque.torque.x", "6"),
        ({"torque": (0, "t", 1)}, "the_torque.torque.y", "t"),
    ],
)
def test_loads_across_the_plane_are_named_with_their_size(loads, subject, size):
    sol = across(**loads).simulate(0.2, points=3)
    (found,) = said(sol, "across-plane")
    assert found.subjects == (subject,)
    assert found.data["size"] == size
    assert size in found.text
    without = {name: [0 if f"{name}.{x}" == subject.split(".", 1)[1] else v for x, v in zip("xyz", vector, strict=True)]
               for name, vector in loads.items()}  # fmt: skip
    other = across(**without).simulate(0.2, points=3)
    assert not said(other, "across-plane")
    np.testing.assert_allclose(other["pin.angle"], sol["pin.angle"], rtol=1e-6)  # it moves nothing


def test_loads_that_are_zero_at_all_times_are_not():
    assert not said(across(force=(0, 1, "0*t"), torque=("0*sin(t)", 0, 1)).simulate(0.1, points=2), "across-plane")


@pytest.mark.parametrize(("given", "size"), [((0, 0, -9.81), "-9.81"), ((0, -1, 2), "2"), ((0, 0, "P"), "7.5")])
def test_gravity_across_the_plane_is_named_with_its_size(given, size):
    (found,) = said(across(gravity=given).simulate(0.1, points=2), "gravity-across-plane")
    assert found.data["size"] == size


def linked(kind, to, frame=(0.5, 0, 0), end=(-0.5, 0, 0), **world) -> ct.Model:
    m = ct.Model("arm", gravity=(0, -9.81, 0), **{"planar": True, **world})
    m.add(ct.RigidBody("rod", ct.rod(length=1, mass=1, radius=0.02), frames={"end": end, "tip": frame}))
    m.add(ct.Revolute("pin", m.ground, "rod.end"))
    law = {"force": "2 + t"} if kind is ct.ForceBetween else {"damping": 3.0}
    m.add(
        kind("link", m.ground.at(*to), "rod.tip", **({"length": 0.2, "stiffness": 5.0} if kind is ct.Spring else law))
    )
    return m


@pytest.mark.parametrize("kind", [ct.ForceBetween, ct.Spring, ct.Damper])
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_lines_that_leave_the_plane_are_named_with_their_size(kind, tree):
    for model in (linked(kind, (1, 1, 0.3)), linked(kind, (1, 1, 0), frame=(0.5, 0, 0.3))):
        (found,) = [each for each in model.equations(tree).diagnostics if each.code == "across-plane"]
        assert found.subjects == ("link.force.z",)
        assert found.data["size"] == "0.3/distance*force"
    for model in (
        linked(kind, (1, 1, 0)),
        *([linked(kind, (1, 1, 0), frame=(0.5, 0, 0.2), end=(-0.5, 0, 0.2))] if tree == "joint" else []),
        linked(kind, (1, 1, 0.3), planar=False),
    ):
        assert not [each for each in model.equations(tree).diagnostics if each.code == "across-plane"]


@pytest.mark.parametrize(
    ("world", "axis"),
    [
        ({}, (0, 1, 0)),
        ({}, (0, 0, 1)),
        ({"planar": True}, (0, 0, 1)),
        ({"planar": True, "gravity": (0, -1, 2)}, (0, 0, 1)),
    ],
)
def test_every_analysis_says_the_same_of_gravity(world, axis):
    m = pendulum(axis=axis, **world)
    runs = [m.simulate(0.1, points=2), m.linearise(), m.modes(about="start")]
    found = [[each for each in run.diagnostics if "gravity" in each.code] for run in runs]
    assert len(found[0]) == 1
    assert found[0] == found[1] == found[2]
    assert "; " in found[0][0].text or found[0][0].code == "default-gravity"  # with a remedy


def test_planar_structures_say_the_same():
    m = ct.Model("bar", planar=True, gravity=(0, -1, 4.5))
    m.add(nodal.Node("A", position=(0, 0, 0)))
    m.add(nodal.Node("B", position=(1, 0, 0)))
    m.add(nodal.Fixed("hold", "A"))
    m.add(nodal.Bar("bar", "A", "B", mass=1.0))
    m.add(nodal.Force("push", "B", force=(0, 1, "2*t")))
    sol = m.simulate(0.1, points=2)
    assert [(each.subjects, each.data["size"]) for each in said(sol, "across-plane")] == [(("push.force.z",), "2*t")]
    assert said(sol, "gravity-across-plane")[0].data["size"] == "4.5"


def test_a_spatial_model_says_nothing_of_planes():
    m = pendulum(gravity=(0, 0, -9.81))
    m.add(ct.PointForce("push", "rod", force=(0, 0, 9)))
    assert not [each for each in m.simulate(0.1, points=2).diagnostics if "plane" in each.code]
