"""Supports and bars of nodal structures against closed forms and joints cut free."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ellipj, ellipk

import cotree as ct
from formulation.nodal_models import DOWN, close, five_bar, run, structure

N = ct.nodal
G = 9.81


# Supports


def test_a_bead_on_a_line() -> None:
    """It slides with g sin(slope), and the line carries m g cos(slope) across itself."""
    sol = run(
        structure(
            {"P": {"position": (1, 2, 3), "mass": 0.7, "velocity": (0.3, 0, -0.4)}},
            N.OnLine("rail", "P", along=(3, 0, -4)),
            gravity=(0, 0, -G),
        ),
        2.0,
    )
    e = np.array([0.6, 0, -0.8])
    way = 0.5 * sol.t + 0.8 * G * sol.t**2 / 2
    close(sol["P.position"], (1, 2, 3) + way[:, None] * e)
    close(sol["rail.force"], 0.7 * G * 0.6 * np.array([0.8, 0, 0.6]))


def test_a_particle_on_a_plane() -> None:
    """A throw on a slope is a parabola; the plane carries m g n_z."""
    n = np.array([1, 2, 2]) / 3
    g = np.array([0, 0, -G])
    start = np.array([0.6, -0.3, 0.0])  # in the plane
    sol = run(
        structure(
            {"P": {"position": (0, 0, 1), "mass": 2, "velocity": start}},
            N.OnPlane("slope", "P", normal=(1, 2, 2)),
            gravity=tuple(g),
        ),
        1.5,
    )
    t = sol.t[:, None]
    close(sol["P.position"], (0, 0, 1) + start * t + (g - n * (n @ g)) * t**2 / 2)
    close(sol["slope.force"], -2 * (n @ g) * n)


def test_a_node_moved_on_a_circle() -> None:
    """The reaction is m (a - g), its power that of the motion."""
    r, w, m = 0.8, 3.0, 1.5
    sol = run(
        structure(
            {"P": {"position": (r, 0, 0), "mass": m}},
            N.Moved("crank", "P", displacement=(f"{r}*cos({w}*t) - {r}", f"{r}*sin({w}*t)", 0)),
            gravity=DOWN,
        ),
        2.0,
    )
    c, s = np.cos(w * sol.t), np.sin(w * sol.t)
    close(sol["P.position"], np.column_stack([r * c, r * s, 0 * c]), 1e-9)
    close(sol["P.velocity"], np.column_stack([-r * w * s, r * w * c, 0 * c]), 1e-9)
    close(sol["crank.force"], m * np.column_stack([-r * w**2 * c, -r * w**2 * s + G, 0 * c]))
    close(sol["crank.power"], m * G * r * w * c)


def test_a_node_moved_in_one_direction_is_free_in_the_others() -> None:
    sol = run(
        structure(
            {"P": {"position": (0, 0, 0), "mass": 2, "velocity": (9, 1, 0.5)}},
            N.Moved("drive", "P", displacement=("0.1*sin(2*t)", None, None)),
            gravity=DOWN,
        ),
        1.0,
    )
    close(sol["P.position.x"], 0.1 * np.sin(2 * sol.t), 1e-10)
    close(sol["P.position.y"], sol.t - G * sol.t**2 / 2)
    close(sol["P.position.z"], 0.5 * sol.t)
    close(sol["drive.force.x"], -0.8 * np.sin(2 * sol.t))
    close(sol["drive.force.y"], 0)


def test_a_bar_that_keeps_its_direction() -> None:
    """A force at one end: it translates with F/m, and the couple takes up the moment of F about the middle."""
    f, m, d = np.array([0.4, -1.2, 2.0]), 3.0, np.array([0.6, 0.3, -0.6])
    sol = run(
        structure(
            {"A": (0, 0, 0), "B": d},
            N.Bar("AB", "A", "B", mass=m),
            N.KeepDirection("guide", "A", "B"),
            N.Force("push", "B", force=tuple(f)),
        ),
        1.0,
    )
    close(sol["A.position"], f / m * sol.t[:, None] ** 2 / 2)
    close(sol["guide.moment"], -np.cross(d / 2, f))
    close(sol["AB.force"], f @ d / 0.9 / 2)


def test_the_pin_of_a_uniform_bar() -> None:
    """From rest at 2 rad: the pin carries m (g cos + w^2 l/2) along the bar and m g sin / 4 across it."""
    m, length, angle = 1.7, 1.2, 2.0
    tip = (length * np.sin(angle), -length * np.cos(angle), 0)
    for planar in (True, False):
        sol = run(
            structure(
                {"O": (0, 0, 0), "A": tip}, N.Bar("OA", "O", "A", mass=m), N.Fixed("pin", "O"),
                gravity=DOWN, planar=planar,
            ),
            3.0,
        )  # fmt: skip
        w, k = np.sqrt(1.5 * G / length), np.sin(angle / 2)
        sn, cn, _, _ = ellipj(ellipk(k**2) - w * sol.t, k**2)
        theta, rate = 2 * np.arcsin(k * sn), -2 * w * k * cn
        close(sol["A.position.x"], length * np.sin(theta), 2e-8)
        along, across = m * (G * np.cos(theta) + rate**2 * length / 2), m * G * np.sin(theta) / 4
        close(sol["pin.force.x"], -along * np.sin(theta) + across * np.cos(theta), 1e-6)
        close(sol["pin.force.y"], along * np.cos(theta) + across * np.sin(theta), 1e-6)


def test_tension_of_a_rod_with_a_bob() -> None:
    """m (g cos + v^2 / l), with v^2 from the height alone."""
    sol = run(
        structure(
            {"O": (0, 0, 0), "P": {"position": (0.9, 0, 0), "mass": 2}},
            N.Bar("rod", "O", "P", mass=0),
            N.Fixed("pin", "O"),
            gravity=DOWN,
        ),
        2.0,
    )
    close(sol["rod.force"], -3 * 2 * G * sol["P.position.y"] / 0.9, 1e-7)
    close(sol["pin.force"], -sol["rod.force"][:, None] * sol["P.position"] / 0.9, 1e-9)


def test_a_bar_of_another_length_than_its_nodes_apart() -> None:
    """The length that is given holds: nodes are put there, as little as possible, and swing with it."""
    model = structure(
        {"O": (0, 0, 0), "P": {"position": (1, 0, 0), "mass": 1}},
        N.Bar("rod", "O", "P", mass=0, length=0.8),
        N.Fixed("pin", "O"),
        gravity=DOWN,
        planar=True,
    )
    sol = run(model, 1.0)
    close(sol["P.position"][0], (0.8, 0, 0), 1e-12)
    close(np.linalg.norm(sol["P.position"], axis=1), 0.8, 1e-9)


# Forces of bars and supports


def joints(nodes: dict[str, Any], bars: list[str], rollers: str, loads: dict[str, Any]) -> dict[str, float]:
    """The method of joints: forces of bars and vertical reactions of rollers, from all nodes cut free."""
    names = list(nodes)
    matrix = np.zeros((2 * len(names), len(bars) + len(rollers)))
    for k, (a, b) in enumerate(bars):
        e = np.subtract(nodes[b], nodes[a])[:2] / np.linalg.norm(np.subtract(nodes[b], nodes[a]))
        for end, sign in ((a, 1), (b, -1)):
            matrix[2 * names.index(end) : 2 * names.index(end) + 2, k] = sign * e
    for k, name in enumerate(rollers):
        matrix[2 * names.index(name) + 1, len(bars) + k] = 1
    right = np.zeros(2 * len(names))
    for name, load in loads.items():
        right[2 * names.index(name) : 2 * names.index(name) + 2] = load
    found, left, *_ = np.linalg.lstsq(matrix, -right, rcond=None)
    assert np.abs(matrix @ found + right).max() < 1e-12, left
    return dict(zip([*bars, *rollers], found, strict=True))


def test_bar_forces_of_a_determinate_truss() -> None:
    """A Warren truss on two rollers, free to slide but not pushed aside: forces of bars by the method of joints."""
    h = 0.9
    nodes = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (2, 0, 0), "D": (0.5, h, 0), "E": (1.5, h, 0)}
    bars = ["AB", "BC", "AD", "DB", "BE", "EC", "DE"]
    loads = {"B": (0, -7.0), "D": (1.5, -2.0), "E": (-1.5, 0)}
    sol = run(
        structure(
            {name: {"position": place, "mass": 1} for name, place in nodes.items()},
            *(N.Bar(bar, *bar, mass=0) for bar in bars),
            *(N.OnLine(f"roller{name}", name, along=(1, 0, 0)) for name in "AC"),
            *(N.Force(f"load{name}", name, force=(*load, 0)) for name, load in loads.items()),
            planar=True,
        ),
        1.0,
        points=3,
    )
    exact = joints(nodes, bars, "AC", loads)
    for bar in bars:
        close(sol[f"{bar}.force"], exact[bar], 1e-9)
    for name in "AC":
        close(sol[f"roller{name}.force.y"], exact[name], 1e-9)
    # by hand: the left reaction from moments about C, the first diagonal and chord from joint A
    left = (7.0 * 1 + 2.0 * 1.5) / 2 - (1.5 - 1.5) * h
    close(exact["A"], left, 1e-12)
    close(exact["AD"], -left * np.hypot(0.5, h) / h, 1e-12)
    close(exact["AB"], left * 0.5 / h, 1e-12)
    close(sol["B.position"], nodes["B"], 1e-9)


def test_an_a_frame_held_by_a_cable_stands_still() -> None:
    """Two massless legs, a load P at the top: tension P/2 tan(half angle), legs P / (2 cos), feet P/2."""
    p, half = 40.0, 0.5
    top = (0, np.cos(half), 0)
    tension = p / 2 * np.tan(half)
    sol = run(
        structure(
            {"L": {"position": (-np.sin(half), 0, 0), "mass": 1}, "R": {"position": (np.sin(half), 0, 0), "mass": 1},
             "T": {"position": top, "mass": 1}},
            N.Bar("LT", "L", "T", mass=0),
            N.Bar("RT", "R", "T", mass=0),
            N.OnLine("footL", "L", along=(1, 0, 0)),
            N.OnLine("footR", "R", along=(1, 0, 0)),
            N.Force("load", "T", force=(0, -p, 0)),
            N.ForceCable("tie", ["L", "R"], tension=tension),
            planar=True,
        ),
        0.1,
        points=3,
    )  # fmt: skip
    close(sol["T.position"], top, 1e-9)
    close(sol["LT.force"], -p / 2 / np.cos(half), 1e-7)
    close(sol["footL.force"], (0, p / 2, 0), 1e-7)
    close(sol["tie.length"], 2 * np.sin(half), 1e-9)


def test_reactions_and_weight_move_the_centre_of_mass() -> None:
    sol = run(five_bar(1), 0.6)
    mass = {"A": 0.5, "B": 1, "C": 1, "D": 1, "E": 0.5}
    push = sum(2.45076 * m * sol[f"{name}.acceleration"] for name, m in mass.items())
    close(sol["left.force"] + sol["right.force"] + np.array([0, -4 * 2.45076 * G, 0]), push, 1e-7)


def test_redundant_supports_change_nothing_and_are_named() -> None:
    """A door on two pins has one equation too many, a node on a plane that is fixed besides another one."""
    depth, mass, moment = 0.9, 4.0, 4 * 0.9**2 / 3
    nodes = {"A": (0, 0, 0), "B": (0, 0, 2), "C": (depth, 0, 2), "D": (depth, 0, 0)}
    sol = run(
        structure(
            nodes,
            N.Body("door", over=list(nodes), mass=mass, centre=(depth / 2, 0, 1),
                   inertia=(mass * 4 / 12, mass * (4 + depth**2) / 12, mass * depth**2 / 12)),
            N.Fixed("low", "A"),
            N.Fixed("high", "B"),
            N.OnPlane("also", "A", normal=(1, 1, 0)),
            gravity=DOWN,
        ),
        2.0,
    )  # fmt: skip
    # gravity acts across the vertical-looking hinge axis z: a physical pendulum released from 90 degrees
    w, k = np.sqrt(mass * G * depth / 2 / moment), np.sin(np.pi / 4)
    sn, _, _, _ = ellipj(ellipk(k**2) - w * sol.t, k**2)
    theta = 2 * np.arcsin(k * sn)
    close(sol["C.position"], np.column_stack([depth * np.sin(theta), -depth * np.cos(theta), 2 + 0 * theta]), 2e-8)
    notes = " ".join(sol.notes)
    assert "1 independent displacement mode" in notes
    assert "'also' adds 1 redundant equation" in notes
    assert "'high' adds 1 redundant equation" in notes
    assert "'low'" not in notes
    total = sol["low.force"] + sol["high.force"] + sol["also.force"]
    close(total, mass * sol["C.acceleration"] / 2 + np.array([0, mass * G, 0]), 1e-6)
