"""The same structure in nodal and in branch coordinates: two formulations that share no equation of motion."""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.formulation.nodal.branch_model import branch_model

TIGHT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
SAME = 1e-7
"""Agreement in m: errors of 1e-10 a step, over some hundred steps of each of two methods."""


def apart(model: ct.Model, t_end: float, frames: Mapping[str, str], speeds: float = 10.0, **options: Any) -> float:
    """The largest difference of positions (and of velocities over ``speeds``) between the two, at some times."""
    times = np.linspace(0, t_end, 6)
    nodal = model.simulate(t_end, times=times, **TIGHT, **options)
    branch = branch_model(model).simulate(t_end, times=times, **TIGHT, **options)
    worst = 0.0
    for node, frame in frames.items():
        moved = np.abs(nodal[f"{node}.position"][-1] - nodal[f"{node}.position"][0]).max()
        assert moved > 0.01, f"{node} hardly moves"
        worst = max(worst, float(np.abs(nodal[f"{node}.position"] - branch[f"{frame}.position"]).max()))
        worst = max(worst, float(np.abs(nodal[f"{node}.velocity"] - branch[f"{frame}.velocity"]).max()) / speeds)
    return worst


def structure(places: Mapping[str, Any], name: str = "structure", **more: Any) -> ct.Model:
    m = ct.Model(name, **more)
    for node, place in places.items():
        m.add(ct.nodal.Node(node, position=place))
    return m


def two_bars() -> ct.Model:
    r = sqrt(0.5)
    m = structure({"O": (0, 0, 0), "A": (r, -r, 0), "B": (2 * r, -2 * r, 0)}, planar=True, gravity=(0, -9.8, 0))
    m.add(ct.nodal.Fixed("S", "O"))
    m.add(ct.nodal.Bar("OA", "O", "A", mass=1))
    m.add(ct.nodal.Bar("AB", "A", "B", mass=1))
    return m


def test_two_bars_meet_the_reference() -> None:
    """The digits of the benchmark (MOTES) at 5 s, from both formulations."""
    m = two_bars()
    nodal = m.simulate(5.0, times=[0, 5.0], rtol=1e-11, atol=1e-13)
    branch = branch_model(m).simulate(5.0, times=[0, 5.0], rtol=1e-11, atol=1e-13)
    for node, frame, place in (
        ("A", "AB.A", (0.6246646016, -0.7808931652)),
        ("B", "AB.B", (1.3403149308, -1.4793519015)),
    ):
        assert np.abs(nodal[f"{node}.position"][-1][:2] - place).max() < 1e-9
        assert np.abs(branch[f"{frame}.position"][-1][:2] - place).max() < 1e-9


@pytest.mark.parametrize("up", [1, -1])
def test_five_bar(up: int) -> None:
    """Lumped masses: bars as dumbbells, m l^2 / 4."""
    h = up * sqrt(3) / 2
    places = {"A": (0, 0, 0), "B": (0.5, h, 0), "C": (1, 0, 0), "D": (1.5, h, 0), "E": (2, 0, 0)}
    m = structure(places, planar=True, gravity=(0, -9.8, 0))
    for bar in ("AB", "BC", "CD", "DE"):
        m.add(ct.nodal.Bar(bar, bar[0], bar[1], mass=2.45076, distribution="lumped"))
    m.add(ct.nodal.Fixed("SA", "A"))
    m.add(ct.nodal.Fixed("SE", "E"))
    assert apart(m, 1.0, {"B": "AB.B", "C": "BC.C", "D": "DE.D"}) < SAME


def test_a_tetrahedron_swings_in_space() -> None:
    """Bars of both kinds of mass, a node with a mass, start velocities and parameters; no bar spins."""
    omega = np.array([0.3, -0.5, 1.1])
    places = {"A": (0, 0, 0), "B": (1, 0, -0.08), "C": (0.3, 0.9, 0), "D": (0.4, 0.3, 0.8)}
    m = ct.Model("tetrahedron", parameters={"h": 0.8, "m": 1.5})
    for node, place in places.items():
        written = {"B": (1, 0, "-0.1*h"), "D": (0.4, 0.3, "h")}.get(node, place)
        mass = 0.7 if node == "D" else 0.0
        m.add(ct.nodal.Node(node, position=written, velocity=tuple(np.cross(omega, place)), mass=mass))
    for k, bar in enumerate(("AB", "AC", "AD", "BC", "BD", "CD")):
        kind: Any = "lumped" if k % 3 == 0 else "consistent"
        m.add(ct.nodal.Bar(bar, bar[0], bar[1], mass="m" if k % 2 else 1.0, distribution=kind))
    m.add(ct.nodal.Fixed("S", "A"))
    frames = {"B": "AB.B", "C": "AC.C", "D": "D"}
    assert apart(m, 1.5, frames) < SAME
    assert apart(m, 0.5, frames, parameters={"m": 0.4}) < SAME


def test_a_bar_at_rest_among_moving_ones_does_not_spin() -> None:
    """Given lengths other than the nodes' distances, a winding cable, and a start velocity across the bars."""
    m = ct.Model("chain")
    for node, place, speed in (("A", (0, 0, 0), 0.0), ("B", (1, 0, 0), 0.0), ("C", (1, 1, 0), 0.4)):
        m.add(ct.nodal.Node(node, position=place, velocity=(0, 0, speed)))
    m.add(ct.nodal.Bar("AB", "A", "B", mass=1, length=1.1))
    m.add(ct.nodal.Bar("BC", "B", "C", mass=1, length=0.8))
    m.add(ct.nodal.Fixed("S", "A"))
    m.add(ct.nodal.MotorCable("winch", ("A", "C"), length="1.3 - 0.1*t**2"))
    assert apart(m, 1.0, {"B": "AB.B", "C": "BC.C"}) < SAME
    branch = branch_model(m).simulate(1.0, times=[0, 1.0], **TIGHT)
    along = branch["AB.B.position"][-1] - branch["AB.A.position"][-1]
    assert abs(along @ branch["AB.angular_velocity"][-1]) < 1e-8


def test_a_body_with_five_nodes_tumbles_on_a_pin() -> None:
    """An asymmetric body under loads at its centroid and a measured force at a node."""
    omega = np.array([2.0, -1.0, 3.0])
    places = {"A": (0, 0, 0), "B": (1, 0.2, 0), "C": (0.2, 0.9, 0.3), "D": (0.4, 0.3, 0.8), "E": (-0.5, 0.3, 0.2)}
    m = ct.Model("tumbling")
    for node, place in places.items():
        m.add(ct.nodal.Node(node, position=place, velocity=tuple(np.cross(omega, place))))
    m.add(ct.nodal.Body("P", tuple(places), mass=2, centre=(0.3,) * 3, inertia=(0.5, 0.7, 0.9, 0.05, -0.08, 0.1)))
    m.add(ct.nodal.Fixed("S", "A"))
    m.add(ct.nodal.BodyLoad("L", "P", force=("3*sin(t)", 0, 1), moment=(0, 0.5, "0.2*t")))
    m.add(ct.nodal.Force("F", "C", force=(1, "2*D.position.x", "-0.3*C.velocity.z")))
    assert apart(m, 2.0, {node: f"P.{node}" for node in "BCDE"}) < SAME


def test_supports_springs_and_cables() -> None:
    """A moved node, a rail, a wall, a bar without mass, a spring, a damper, elastic cables, a cable over four nodes."""
    places = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (2, 0, 0.3), "D": (0, 1, 0), "E": (1, 1, 0.2), "G": (0, 0, 2)}
    m = ct.Model("mixed", parameters={"k": 40.0, "c": 0.5})
    for node, place in places.items():
        m.add(ct.nodal.Node(node, position=place, mass={"C": 1.2, "E": 0.5}.get(node, 0.0)))
    m.add(ct.nodal.Bar("AB", "A", "B", mass=2))
    m.add(ct.nodal.Bar("BC", "B", "C", mass=0))
    m.add(ct.nodal.Bar("DE", "D", "E", mass=1))
    m.add(ct.nodal.Moved("drive", "A", displacement=("0.1*sin(2*t)", None, "0.05*t**2")))
    m.add(ct.nodal.OnPlane("wall", "A", normal=(0, 1, 0)))
    m.add(ct.nodal.OnLine("rail", "D", along=(1, 1, 0)))
    m.add(ct.nodal.Fixed("ceiling", "G"))
    m.add(ct.nodal.ElasticCable("rope", ("G", "C"), stiffness="k", length=1.9, damping="c"))
    m.add(ct.nodal.ElasticCable("cord", ("C", "E"), stiffness="k", length=1.3))
    m.add(ct.nodal.Damper("dash", "B", "E", damping="c"))
    m.add(ct.nodal.Spring("coil", "A", "E", stiffness="2*k", length=1.0, preload=1.0, damping=0.1))
    m.add(ct.nodal.ForceCable("tie", ("A", "E", "C", "G"), tension="3 + sin(t)"))
    frames = {"A": "AB.A", "B": "AB.B", "C": "C", "D": "DE.D", "E": "E"}
    assert apart(m, 0.5, frames) < SAME
    assert apart(m, 0.5, frames, parameters={"k": 60.0}) < SAME


@pytest.mark.slow
def test_ring_truss_with_six_sides() -> None:
    """Eighteen bars, whose spins are further coordinates of the mechanism that stay at rest."""
    sides, edge, height = 6, 1.2, 1.6
    m = ct.Model("ring", gravity=(0, 0, 0))
    for k in range(sides):
        for row, z in (("L", 0.0), ("U", height)):
            angle = 2 * pi * k / sides
            m.add(ct.nodal.Node(f"{row}{k}", position=(edge * cos(angle), edge * sin(angle), z)))
    for k in range(sides):
        after = (k + 1) % sides
        for row in "LU":
            m.add(ct.nodal.Bar(f"{row}bar{k}", f"{row}{k}", f"{row}{after}", mass=9.8 * edge))
        m.add(ct.nodal.Bar(f"batten{k}", f"L{k}", f"U{k}", mass=9.8 * height))
        ends = (f"L{k}", f"U{after}") if k % 2 == 0 else (f"U{k}", f"L{after}")
        m.add(ct.nodal.ForceCable(f"cable{k}", ends, tension=20.0))
    for k in range(0, sides, 2):
        m.add(ct.nodal.OnPlane(f"height{k}", f"L{k}", normal=(0, 0, 1)))
        m.add(ct.nodal.KeepDirection(f"upright{k}", f"L{k}", f"U{k}"))
    frames = {"L0": "Lbar0.L0", "L1": "Lbar0.L1", "U1": "Ubar0.U1"}
    assert apart(m, 1.0, frames) < SAME


def test_what_is_made_is_a_plain_model(tmp_path: Path) -> None:
    """It has the class of the given one, its own expressions and parameters, and goes through a file."""
    m = structure({"O": (0, 0, 0), "A": ("l", 0, 0)}, parameters={"l": 2.0}, gravity=(0, 0, "-l"))
    m.add(ct.nodal.Bar("OA", "O", "A", mass=3))
    m.add(ct.nodal.Fixed("S", "O"))
    made = branch_model(m)
    assert type(made) is ct.Model
    assert list(made.components) == ["S", "OA", "O_pin"]
    values = made.component_values({"l": 4.0})
    assert values["OA.inertia.yy"] == pytest.approx(3 * 4**2 / 12)
    assert values["OA.A.x"] == pytest.approx(2.0)
    assert values["gravity.z"] == -4.0
    assert ct.load(made.save(tmp_path / "made.yaml")).to_data() == made.to_data()


def bent() -> ct.Model:
    m = structure({"A": (0, 0, 0), "B": (1, 0, 0), "C": (1, 1, 0), "D": (2, 1, 0)})
    for bar in ("AB", "BC", "CD"):
        m.add(ct.nodal.Bar(bar, bar[0], bar[1], mass=1))
    m.add(ct.nodal.Fixed("S", "A"))
    return m


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (ct.nodal.Gear("G", ("A", "B", "C"), ("B", "C", "D")), "no joint coordinates to couple"),
        (ct.nodal.Latch("G", ("A", "C"), at=1.2), "changes the equations in a run"),
        (ct.nodal.Stop("G", ("A", "C"), least=1.2), "changes the equations in a run"),
        (ct.nodal.MotorCable("G", ("A", "C", "D"), length=sqrt(2) + 1), "sum of several distances"),
        (ct.nodal.ElasticCable("G", ("A", "C", "D"), stiffness=1, length=1), "several distances together"),
        (ct.nodal.KeepDirection("G", "A", "C"), "no bar or body has both its nodes"),
        (ct.nodal.Node("G", position=(0, 0, 1)), "nothing with mass"),
    ],
)
def test_what_cannot_be_expressed_is_named(part: Any, why: str) -> None:
    m = bent()
    m.add(part)
    with pytest.raises(ct.ModelError, match=rf"'G' \({part.kind}\).*{why}"):
        branch_model(m)
