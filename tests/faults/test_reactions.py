"""Reactions that rigid bodies do not determine are marked by name: entries A7 and A18.

The witness is the tree: a reaction that is determined is the same under every tree, one that is not follows the
redundant equations which that tree leaves out.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import cotree as ct
from benchmarks.rigid_models import bricard, four_bar
from cotree.view.scene import scene_of

SHORT = {"points": 5, "rtol": 1e-10}


def said(sol: ct.Solution, code: str) -> list:
    return [each for each in sol.diagnostics if each.code == code]


def door(hinges: int, tilt: float = 0.0) -> ct.Model:
    """A door of 30 kg on hinges along one line."""
    m = ct.Model("door", gravity=(0, 0, -9.81))
    places = np.linspace(-0.8, 0.8, hinges) if hinges > 1 else [0.0]
    frames = {f"h{k}": (-0.45, 0, float(z)) for k, z in enumerate(places, 1)}
    m.add(ct.RigidBody("door", ct.box(size=(0.9, 0.04, 2.0), mass=30), frames=frames))
    for k, z in enumerate(places, 1):
        m.add(ct.Revolute(f"h{k}", m.ground.at(0, 0, float(z)), f"door.h{k}", axis=(0, 0, 1), angle_rate=tilt))
    return m


def guided() -> ct.Model:
    """A slide on two parallel guides."""
    m = ct.Model("slide", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("slide", ct.box(size=(0.4, 0.3, 0.1), mass=5), frames={"l": (0, -0.15, 0), "r": (0, 0.15, 0)}))
    m.add(ct.Prismatic("p1", m.ground.at(0, -0.15, 0), "slide.l", axis=(1, 0, 0), displacement_rate=0.3))
    m.add(ct.Prismatic("p2", m.ground.at(0, 0.15, 0), "slide.r", axis=(1, 0, 0)))
    return m


def table(legs: int) -> ct.Model:
    """A plate on legs that each hold its height; three are enough."""
    m = ct.Model("table", gravity=(0, 0, -9.81))
    corners = [(0.5, 0.4), (-0.5, 0.4), (-0.5, -0.4), (0.5, -0.4)][:legs]
    frames = {f"c{k}": (x, y, 0) for k, (x, y) in enumerate(corners, 1)}
    m.add(ct.RigidBody("plate", ct.box(size=(1.0, 0.8, 0.05), mass=20), frames=frames))
    for k in range(1, legs + 1):
        m.add(ct.PointOnPlane(f"leg{k}", m.ground, f"plate.c{k}", normal=(0, 0, 1)))
    return m


def reactions(sol: ct.Solution) -> dict[str, np.ndarray]:
    return {name: sol[name] for name in sol.names if ".force." in name or ".torque." in name}


REDUNDANT = {
    "door on two hinges": lambda: door(2, 0.5),
    "door on three hinges": lambda: door(3, 0.5),
    "slide on two guides": guided,
    "table on four legs": lambda: table(4),
    "four-bar": four_bar,
    "Bricard": bricard,
}


@pytest.mark.parametrize("case", REDUNDANT)
def test_what_the_tree_decides_is_marked_and_the_rest_is_the_same(case):
    joint, absolute = (REDUNDANT[case]().simulate(0.3, tree=tree, **SHORT) for tree in ("joint", "absolute"))
    assert joint.undetermined
    assert joint.undetermined == absolute.undetermined
    own, other = reactions(joint), reactions(absolute)
    assert own.keys() == other.keys()
    sizes = {kind: max(np.abs(v).max() for n, v in own.items() if kind in n) for kind in (".force.", ".torque.")}
    for name in own.keys() - joint.undetermined:
        size = max(sizes[".force." if ".force." in name else ".torque."], 1.0)
        np.testing.assert_allclose(own[name], other[name], atol=1e-6 * size, err_msg=name)
    (found,) = said(joint, "undetermined-reactions")
    assert found.severity == "note"
    assert set(found.subjects) == joint.undetermined


DETERMINATE = {
    "door on one hinge": lambda: door(1, 0.5),
    "table on three legs": lambda: table(3),
}


@pytest.mark.parametrize("case", DETERMINATE)
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_what_is_determined_is_not_marked(case, tree):
    sol = DETERMINATE[case]().simulate(0.2, tree=tree, **SHORT)
    assert not sol.undetermined
    assert not said(sol, "redundant-rows")


def test_a_door_on_two_hinges_shares_its_weight_in_no_known_way():
    """The sum is known: 294.2 N upwards. The two horizontal forces are known as a couple, each by itself."""
    sol = door(2).simulate(0.1, **SHORT)
    assert {"h1.force.z", "h2.force.z"} <= sol.undetermined
    total = sol["h1.force.z"] + sol["h2.force.z"]
    np.testing.assert_allclose(np.abs(total), 30 * 9.81, rtol=1e-9)


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3), (-0.0589, 0.9975, 0.0392)])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_a_door_on_hinges_along_any_axis_turns(axis, size, tree):
    """Rounding of a skew axis is no equation: the door keeps its one freedom."""
    along = np.array(axis) / np.linalg.norm(axis)
    first = np.array([-0.25, -0.23, -0.28])
    frames = {f"h{k}": tuple((size * (first + 0.3 * k * along)).tolist()) for k in range(2)}
    angles = []
    for hinges in (1, 2):
        m = ct.Model("door", gravity=(0, -9.81 * size, -9.81 * size))
        m.add(ct.RigidBody("door", ct.box(size=(0.5 * size, 0.1 * size, 0.7 * size), mass=2), frames=frames))
        for k in range(hinges):
            place = m.ground.at(*(size * 0.3 * k * along).tolist())
            m.add(ct.Revolute(f"h{k}", place, f"door.h{k}", axis=axis, angle_rate=1.0 if k == 0 else None))
        sol = m.simulate(0.1, points=3, tree=tree)
        assert sol.notes[0].endswith("1 degree of freedom")
        angles.append(sol["h0.angle"])
    assert np.ptp(angles[0]) > 0.01
    np.testing.assert_allclose(angles[1], angles[0], atol=1e-7)


KINDS = {
    "coaxial joints": lambda: door(2),
    "parallel slides": guided,
    "planar loop": four_bar,
    "overconstrained loop": bricard,
}


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize("kind", KINDS)
def test_loops_are_called_what_they_are(kind, tree):
    found = said(KINDS[kind]().simulate(0.01, tree=tree, points=2), "redundant-rows")
    assert {each.data["why"] for each in found} == {f": {kind}"}


def test_tables_plots_and_report_mark_them(tmp_path):
    m = door(2)
    sol = m.simulate(0.1, points=5)
    assert sol.label("h1.force.z") == "h1.force.z (not determined)"
    assert sol.label("h1.angle") == "h1.angle"
    figure = sol.plot(["h1.force.z", "h1.force.x"])
    legends = [text.get_text() for ax in figure.axes for text in ax.get_legend().get_texts()]
    assert "h1.force.z (not determined)" in legends
    page = m.report(sol, tmp_path / "door.html").read_text(encoding="utf-8")
    data = json.loads(page.partition('id="run-data"')[2].partition(">")[2].partition("</script>")[0])
    assert set(data["undetermined"]) == sol.undetermined
    assert "rigid bodies do not determine" in page.partition("</header>")[0]
    kept = ct.Solution.from_hdf5(sol.to_hdf5(tmp_path / "door.h5"))
    assert kept.undetermined == sol.undetermined


@pytest.mark.parametrize(("model", "marked"), [(door(2), True), (door(1), False), (four_bar(), False)])
def test_arrows_in_space_are_marked(model, marked):
    """Of a four-bar only what is across its plane is not determined, and that is nothing."""
    scene = scene_of(model, model.simulate(0.2, points=5))
    assert {each.open for each in scene.arrows if not each.torque} == {marked}
