"""Latches and stops: impacts, rebounds, holding and letting go, against closed forms."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad

import cotree as ct
from cotree.errors import SolveError
from formulation.nodal_models import DOWN, NONE, close, structure
from formulation.nodal_models import run as tight

Array = NDArray[np.float64]
N = ct.nodal
G = 9.81


run = partial(tight, points=41)


def on_a_line(*parts: Any, mass: float = 2.0, x: float = 1.2, v: float = 0.0, gravity: Any = NONE) -> ct.Model:
    """A particle P on the x axis, at x from the fixed node O."""
    return structure(
        {"O": (0, 0, 0), "P": {"position": (x, 0, 0), "mass": mass, "velocity": (v, 0, 0)}},
        N.Fixed("wall", "O"),
        N.OnLine("rail", "P", along=(1, 0, 0)),
        *parts,
        gravity=gravity,
        planar=True,
    )


def bounces(times: Array, drop: float, e: float, count: int = 60) -> tuple[Array, Array]:
    """Heights above the floor after a drop, and the times of the impacts."""
    first = np.sqrt(2 * drop / G)
    speed = G * first
    hits = [first]
    for _ in range(count):
        speed *= e
        hits.append(hits[-1] + 2 * speed / G)
    heights = np.where(times < first, drop - G * times**2 / 2, 0.0)
    speed = G * first
    for start, end in pairwise(hits):
        speed *= e
        since = times - start
        heights = np.where((times >= start) & (times < end), speed * since - G * since**2 / 2, heights)
    return heights, np.array(hits)


# Stops


@pytest.mark.parametrize("limit", ["least", "most"])
def test_a_dropped_node_bounces_in_a_geometric_series(limit: str) -> None:
    """Times between impacts shrink by the restitution; after they have summed up, the node rests."""
    e, drop, mass = 0.4, 0.5, 2.0
    side = 1.0 if limit == "least" else -1.0  # above O with a least distance, or below it with a largest one
    start, stop = (1.5, 1.0) if limit == "least" else (0.5, 1.0)
    model = on_a_line(
        N.Stop("stop", ("O", "P"), restitution=e, **{limit: stop}),
        mass=mass, x=side * start, gravity=(-G, 0, 0),
    )  # fmt: skip
    sol = run(model, 1.0, points=101)
    heights, hits = bounces(sol.t, drop, e)
    close(sol["P.position.x"] - side * stop, heights, 1e-6)  # rebounds below 1e-3 of the first speed are not followed
    found = sol.events[f"stop.{limit}"]
    close(found[:6], hits[:6], 1e-7)  # the error of a place over an ever smaller speed
    assert hits[0] / (1 - e) * (1 + e) - found[-1] < 2e-3
    rests = sol.t > hits[-1] + 0.01
    assert rests.any()
    close(sol["stop.force"][rests], -side * mass * G, 1e-7)
    close(sol.energy().dissipated[-1], mass * G * drop, 1e-6)


def test_a_stop_without_loss_gives_back_all_speed() -> None:
    sol = run(on_a_line(N.Stop("stop", ("O", "P"), least=0.5, restitution=1.0), v=-1.0), 2.0)
    close(sol["P.position.x"], 0.5 + np.abs(0.7 - sol.t))
    close(sol.events["stop.least"], [0.7], 1e-10)
    close(sol.energy().dissipated, 0.0, 1e-9)


def test_a_node_between_two_limits() -> None:
    """To and fro with half the speed after every impact: each way takes twice as long as the one before."""
    v = 0.97
    sol = run(on_a_line(N.Stop("stop", ("O", "P"), least=1.0, most=1.5, restitution=0.5), v=-v), 8.0, points=81)
    close(sol.events["stop.least"], np.array([0.2, 3.2]) / v, 1e-9)
    close(sol.events["stop.most"], np.array([1.2, 7.2]) / v, 1e-9)
    close(sol["P.velocity.x"][-1], -v / 16, 1e-9)
    close(sol.energy().dissipated[-1], v**2 * (1 - 1 / 256), 1e-9)


@pytest.mark.parametrize("integrator", ["adams", "generalised_alpha", "corrected"])
def test_a_stop_holds_while_it_pushes_and_then_lets_go(integrator: str) -> None:
    """Force -F cos(w t): pressed against the stop until the force turns at w t = pi/2, then off with its work."""
    force, w, m = 6.0, 2.0, 2.0
    model = on_a_line(
        N.Stop("stop", ("O", "P"), least=1.0), N.Force("push", "P", force=(f"-{force}*cos({w}*t)", 0, 0)), mass=m
    )
    options = {"rtol": 1e-10, "atol": 1e-10} if integrator == "adams" else {"step": 1e-3}
    sol = model.simulate(3.0, points=61, integrator=integrator, **options)
    size = force / m / w**2
    hit, off = np.arccos(1 - 0.2 / size) / w, np.pi / 2 / w
    exact = np.where(
        sol.t < hit, 1.2 - size * (1 - np.cos(w * sol.t)),
        np.where(sol.t < off, 1.0, 1 + size * np.cos(w * sol.t) + size * w * (sol.t - off)),
    )  # fmt: skip
    tight = integrator == "adams"
    close(sol["P.position.x"], exact, 1e-8 if tight else 1e-5)
    close(sol.events["stop.least"], [hit], 1e-9 if tight else 1e-5)
    held = (sol.t > hit) & (sol.t < off)
    close(sol["stop.force"][held], -force * np.cos(w * sol.t[held]), 1e-7)
    close(sol["stop.force"][~held & (sol.t > 0)], 0.0, 1e-12)
    speed = size * w * np.sin(w * hit)
    close(sol.energy().dissipated[-1], m * speed**2 / 2, 1e-7 if tight else 1e-4)


def test_a_stop_does_not_hold_what_falls_off_at_once() -> None:
    """Thrown against a ceiling without restitution: it loses its speed there, and falls at once."""
    sol = run(on_a_line(N.Stop("ceiling", ("O", "P"), most=1.5), x=1.0, v=4.0, gravity=(-G, 0, 0), mass=2), 0.6)
    hit = (4 - np.sqrt(16 - 2 * G * 0.5)) / G
    exact = np.where(sol.t < hit, 1 + 4 * sol.t - G * sol.t**2 / 2, 1.5 - G * (sol.t - hit) ** 2 / 2)
    close(sol["P.position.x"], exact)
    close(sol.events["ceiling.most"], [hit], 1e-9)
    close(sol["ceiling.force"], 0.0)


def test_a_node_that_starts_on_its_stop_is_held_there() -> None:
    """It rests on the least distance at the start, as a structure does that is folded at first."""
    sol = run(on_a_line(N.Stop("floor", ("O", "P"), least=1.2), gravity=(-G, 0, 0)), 1.0)
    close(sol["P.position.x"], 1.2)
    close(sol["floor.force"], -2 * G, 1e-7)


def test_a_node_that_starts_on_its_stop_and_leaves_it() -> None:
    sol = run(on_a_line(N.Stop("floor", ("O", "P"), least=1.2, restitution=0.5), v=2.0, gravity=(-G, 0, 0)), 0.5)
    back = 4 / G
    exact = np.where(
        sol.t < back, 1.2 + 2 * sol.t - G * sol.t**2 / 2, 1.2 + (sol.t - back) - G * (sol.t - back) ** 2 / 2
    )
    close(sol["P.position.x"], exact)
    close(sol.events["floor.least"], [back], 1e-9)


def test_a_ball_on_a_string_leaves_its_circle() -> None:
    """From the lowest point with v^2 = 3.5 g l the string is slack from cos = -1/2 on, and the ball flies freely."""
    length = 0.8
    speed = np.sqrt(3.5 * G * length)
    model = structure(
        {"O": (0, 0, 0), "P": {"position": (0, -length, 0), "mass": 1.5, "velocity": (speed, 0, 0)}},
        N.Fixed("nail", "O"),
        N.Stop("string", ("O", "P"), most=length),
        gravity=DOWN,
        planar=True,
    )
    sol = run(model, 0.75, points=751)
    away = np.linalg.norm(sol["P.position"], axis=1)
    height = sol["P.position.y"]
    on = height < length / 2 - 1e-3
    off = int(np.argmin(on))  # the first point beyond the height where it leaves
    close(away[:off], length, 1e-9)
    close(sol["string.force"][:off], 1.5 * (-3 * G * height[:off] / length + 1.5 * G), 1e-6)
    # at cos = -1/2 with v^2 = g l / 2: the parabola from there
    start = np.array([np.sqrt(3) / 2, 0.5]) * length
    v = np.sqrt(G * length / 2) * np.array([-0.5, np.sqrt(3) / 2])
    fly = np.flatnonzero((height > length / 2 + 1e-3) & (sol.t < 0.75))
    since = sol.t[fly] - sol.t[fly[0]]
    # the time of leaving from the first point of flight
    t0 = (start[0] - sol["P.position.x"][fly[0]]) / -v[0]
    tau = since + t0
    close(sol["P.position.x"][fly], start[0] + v[0] * tau, 1e-7)
    close(height[fly], start[1] + v[1] * tau - G * tau**2 / 2, 1e-7)
    close(sol["string.force"][fly], 0.0)
    assert len(fly) > 20


def test_a_run_ends_at_a_stop() -> None:
    model = on_a_line(N.Stop("end", ("O", "P"), least=0.5, action="end"), v=-1.0)
    sol = run(model, 2.0)
    assert sol.complete
    close(sol.t[-1], 0.7, 1e-10)
    close(sol["P.position.x"][-1], 0.5, 1e-10)
    close(sol["P.velocity.x"][-1], -1.0, 1e-10)
    np.testing.assert_array_equal(sol.t[:-1], np.linspace(0, 2, 41)[:14])
    assert any("'end.least' closes at t = 0.7 s" in note for note in sol.notes)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_an_impact_at_the_very_end_of_a_run(restitution: float) -> None:
    model = on_a_line(N.Stop("stop", ("O", "P"), least=0.75, restitution=restitution), x=1.25, v=-1.0)
    for end in (0.5, np.nextafter(0.5, 1), 0.5 + 1e-12):
        sol = run(model, float(end))
        close(sol["P.position.x"], 1.25 - sol.t)
        assert sol.t[-1] == end


def test_results_are_on_the_grid_that_was_asked_for() -> None:
    """An impact on a point of the grid and one between two: neither adds a point."""
    times = [0.1, 0.2, 0.45, 0.7, 1.1]
    model = on_a_line(N.Stop("stop", ("O", "P"), least=0.75, most=1.3, restitution=1.0), x=1.25, v=-1.0)
    sol = model.simulate(2.0, times=times, rtol=1e-10, integrator="adams")
    np.testing.assert_array_equal(sol.t, times)
    close(sol["P.position.x"], [1.15, 1.05, 0.8, 0.95, 1.25], 1e-9)
    close(sol.events["stop.least"], [0.5], 1e-10)
    close(sol.events["stop.most"], [1.05], 1e-10)


def test_a_stop_that_is_passed_at_the_start_is_an_error() -> None:
    model = on_a_line(N.Stop("stop", ("O", "P"), least=1.5))
    with pytest.raises(
        SolveError, match=r"stop\.least: its limit is passed by 0\.3 m? ?at the start\. Expected .* side"
    ):
        model.simulate(1.0)


def test_a_failure_after_an_impact_keeps_what_was_computed() -> None:
    model = on_a_line(
        N.Stop("stop", ("O", "P"), least=0.7, restitution=0.5),
        N.Force("push", "P", force=("sqrt(1 - t)", 0, 0)),
        v=-1.0,
    )
    with pytest.raises(SolveError) as caught:
        model.simulate(2.0, points=41, integrator="adams")
    kept = caught.value.solution
    assert isinstance(kept, ct.Solution)
    assert not kept.complete
    assert 0.9 < kept.t[-1] < 1.05
    assert len(kept.events["stop.least"]) == 1


def test_a_moved_wall_does_work_in_an_impact() -> None:
    """A wall at 0.5 m/s meets a resting node: the node takes its speed, m v^2 is supplied and half of it lost."""
    sol = run(
        structure(
            {"O": (0, 0, 0), "P": {"position": (1.2, 0, 0), "mass": 2}},
            N.Moved("wall", "O", displacement=("0.5*t", 0, 0)),
            N.OnLine("rail", "P", along=(1, 0, 0)),
            N.Stop("stop", ("O", "P"), least=1.0),
            planar=True,
        ),
        1.0,
    )
    close(sol["P.position.x"], np.maximum(1.2, 1 + 0.5 * sol.t))
    close(sol.energy().supplied[-1], 2 * 0.25, 1e-9)
    close(sol.energy().dissipated[-1], 0.25, 1e-9)


# Latches


def pendulum(*parts: Any, angle: float = 0.3) -> ct.Model:
    """A uniform bar of 1 m and 3 kg on a pin, ``angle`` below the x axis, on which a fixed node X lies."""
    return structure(
        {"X": (1, 0, 0), "O": (0, 0, 0), "A": (np.cos(angle), -np.sin(angle), 0)},
        N.Bar("OA", "O", "A", mass=3),
        N.Fixed("pin", "O"),
        N.Fixed("mark", "X"),
        *parts,
        gravity=DOWN,
        planar=True,
    )


@pytest.mark.parametrize("axis", [None, (0, 0, -1)])
@pytest.mark.parametrize("integrator", ["adams", "generalised_alpha", "energy", "corrected"])
def test_a_bar_latches_at_an_angle(integrator: str, axis: Any) -> None:
    """All its energy is lost there, m g l/2 (sin b - sin a), and the latch holds the moment of its weight."""
    a, b = 0.3, 1.2
    model = pendulum(N.Latch("latch", ("X", "O", "A"), at=b, **({"axis": axis} if axis else {})))
    options = {"rtol": 1e-10} if integrator == "adams" else {"step": 1e-3}
    sol = model.simulate(1.0, points=41, integrator=integrator, **options)
    assert sol.energy().error < (1e-8 if integrator == "adams" else 1e-5)
    # t = int db / w with w^2 = 3 g (sin b - sin a) / l; b = a + x^2 takes the singular start away
    when = quad(lambda x: 2 * x / np.sqrt(3 * G * (np.sin(a + x * x) - np.sin(a))), 0, np.sqrt(b - a))[0]
    close(sol.events["latch"], [when], 1e-8 if integrator == "adams" else 1e-5)
    after = sol.t > when
    close(sol["A.position"][after], (np.cos(b), -np.sin(b), 0), 1e-9)
    close(sol["A.velocity"][after], 0.0, 1e-9)
    close(sol["latch.torque"][after], -3 * G / 2 * np.cos(b), 1e-7)
    close(sol["latch.torque"][~after], 0.0, 1e-12)
    close(sol["latch.angle"][after], b, 1e-9)
    lost = 3 * G / 2 * (np.sin(b) - np.sin(a))
    close(sol.energy().dissipated[-1], lost, 1e-7 if integrator == "adams" else 1e-3)


@pytest.mark.parametrize("planar", [True, False])
def test_two_free_bars_latch_to_one_body(planar: bool) -> None:
    """Linear and angular momentum are kept: w = L / J of the bent body, and T = P^2/2M + L^2/2J."""
    nodes = {
        "A": {"position": (1, 0, 0), "velocity": (0.2, 0.6, 0)},
        "B": {"position": (0, 0, 0), "velocity": (0.2, 0, 0)},
        "C": {"position": (-1, 0.5, 0), "velocity": (0.2 + 0.5 * 0.9, 0.9, 0)},
    }
    shut = 2.0
    model = structure(
        nodes,
        N.Bar("AB", "A", "B", mass=2),
        N.Bar("BC", "B", "C", mass=1),
        N.Latch("latch", ("A", "B", "C"), at=shut),
        planar=planar,
    )
    sol = run(model, 2.0, points=81)
    (when,) = sol.events["latch"]
    after = sol.t > when
    assert 0.1 < when < 1.5

    def moments(a: Array, b: Array, c: Array, va: Array, vb: Array, vc: Array) -> tuple[Array, float, float]:
        """Momentum, angular momentum about the origin and kinetic energy of both rods from their ends."""
        p, spin, energy = np.zeros(2), 0.0, 0.0
        for m, x, y, vx, vy in ((2.0, a, b, va, vb), (1.0, b, c, vb, vc)):
            mid, v, d, w = (x + y) / 2, (vx + vy) / 2, y - x, vy - vx
            p += m * v
            spin += m * (mid[0] * v[1] - mid[1] * v[0]) + m / 12 * (d[0] * w[1] - d[1] * w[0])
            energy += m * (v @ v) / 2 + m * (w @ w) / 24
        return p, spin, energy

    first = [np.array(nodes[k][what][:2], dtype=float) for what in ("position", "velocity") for k in "ABC"]
    p, spin, energy = moments(*first)
    m, l2 = 3.0, np.hypot(1, 0.5)
    mid = np.array([np.array([0.5, 0]), l2 / 2 * np.array([np.cos(shut), np.sin(shut)])])  # seen from B
    centre = (2 * mid[0] + mid[1]) / m
    moment = 2 * (1 / 12 + ((mid[0] - centre) ** 2).sum()) + l2**2 / 12 + ((mid[1] - centre) ** 2).sum()
    at_start = (2 * (first[0] + first[1]) / 2 + (first[1] + first[2]) / 2) / m
    own = spin - (at_start[0] * p[1] - at_start[1] * p[0])
    for k in np.flatnonzero(after):
        now = [sol[f"{node}.{what}"][k][:2] for what in ("position", "velocity") for node in "ABC"]
        p_now, spin_now, energy_now = moments(*now)
        close(p_now, p)
        close(spin_now, spin)
        close(energy_now, p @ p / 2 / m + own**2 / 2 / moment)
        arm = now[0] - now[1]
        close((now[3] - now[4]) @ np.array([-arm[1], arm[0]]) / (arm @ arm), own / moment)
    close(sol["latch.angle"][after], shut, 1e-9)
    close(sol.energy().dissipated[-1], energy - p @ p / 2 / m - own**2 / 2 / moment)


def wings(*parts: Any) -> ct.Model:
    """Two mirrored bars on one pin, falling from 0.3 rad below the horizontal."""
    a = 0.3
    return structure(
        {"X": (1, 0, 0), "Y": (-1, 0, 0), "O": (0, 0, 0), "A": (np.cos(a), -np.sin(a), 0),
         "B": (-np.cos(a), -np.sin(a), 0)},
        N.Bar("OA", "O", "A", mass=3),
        N.Bar("OB", "O", "B", mass=3),
        *(N.Fixed(f"fix{name}", name) for name in "OXY"),
        *parts,
        gravity=DOWN,
        planar=True,
    )  # fmt: skip


@pytest.mark.parametrize("three", [False, True])
def test_latches_of_a_symmetric_structure_close_together(three: bool) -> None:
    """With a third latch between the bars, which says nothing new, all three close at once."""
    latches = [N.Latch("right", ("X", "O", "A"), at=1.0), N.Latch("left", ("B", "O", "Y"), at=1.0)]
    if three:
        latches.append(N.Latch("middle", ("A", "O", "B"), at=np.pi - 2.0))
    sol = run(wings(*latches), 1.0)
    times = [sol.events[latch.name][0] for latch in latches]
    close(times, times[0], 1e-7)
    close(sol["A.position"][-1], (np.cos(1), -np.sin(1), 0), 1e-7)
    close(sol["B.position"][-1], (-np.cos(1), -np.sin(1), 0), 1e-7)
    close(sol["A.velocity"][-1], 0.0, 1e-9)
    lost = 2 * 3 * G / 2 * (np.sin(1) - np.sin(0.3))
    close(sol.energy().dissipated[-1], lost, 1e-6)


def test_latches_close_one_after_the_other() -> None:
    """The first bar latches at 0.6 rad, the other one later at 1.0; a latched bar stays."""
    sol = run(wings(N.Latch("right", ("X", "O", "A"), at=0.6), N.Latch("left", ("Y", "O", "B"), at=1.0)), 1.0)
    assert sol.events["right"][0] < sol.events["left"][0]
    close(sol["A.position"][-1], (np.cos(0.6), -np.sin(0.6), 0), 1e-9)
    close(sol["B.position"][-1], (-np.cos(1), -np.sin(1), 0), 1e-9)
    assert any(f"'right' closes at t = {sol.events['right'][0]:.6g} s" in note for note in sol.notes)


def test_a_latch_that_is_closed_at_the_start_holds() -> None:
    """At its own angle from the first instant: the bar does not fall."""
    sol = run(pendulum(N.Latch("latch", ("X", "O", "A"), at=0.3)), 0.5)
    close(sol["A.position"], (np.cos(0.3), -np.sin(0.3), 0), 1e-9)
    close(sol["latch.torque"], -3 * G / 2 * np.cos(0.3), 1e-7)


def test_a_bar_bounces_off_an_angle_stop() -> None:
    """The rate of the angle changes its sign and keeps its part; energy between impacts is that of the pendulum."""
    e, most = 0.5, 1.2
    sol = run(pendulum(N.Stop("stop", ("X", "O", "A"), most=most, restitution=e)), 1.0, points=201)
    assert sol["stop.angle"].max() < most + 1e-9
    hits = sol.events["stop.most"]
    speed2 = 3 * G * (np.sin(most) - np.sin(0.3))  # w^2 before the first impact
    between = (sol.t > hits[0]) & (sol.t < hits[1])
    rate2 = (sol["A.velocity"][between] ** 2).sum(axis=1)
    close(rate2, e**2 * speed2 - 3 * G * (np.sin(most) - np.sin(sol["stop.angle"][between])), 1e-7)
    close(sol.energy().dissipated[between], 3 / 6 * speed2 * (1 - e**2), 1e-8)


def test_a_length_latch_holds_a_telescope() -> None:
    """Two masses pushed apart by a spring latch at a distance: they stop, and their centre moves on."""
    sol = run(
        structure(
            {"A": {"position": (0, 0, 0), "mass": 1, "velocity": (0, 0.4, 0)}, "B": {"position": (0.5, 0, 0), "mass": 3,
             "velocity": (0, 0.4, 0)}},
            N.Spring("S", "A", "B", stiffness=50, length=1.0),
            N.Latch("latch", ("A", "B"), at=0.9),
        ),
        1.0,
    )  # fmt: skip
    w = np.sqrt(50 / 0.75)
    when = np.arccos(0.2) / w
    close(sol.events["latch"], [when], 1e-8)
    after = sol.t > when
    close((sol["B.position"] - sol["A.position"])[after], (0.9, 0, 0))
    close(sol["A.position"][after], np.column_stack([0 * sol.t, 0.4 * sol.t, 0 * sol.t])[after] + [0.375 - 0.675, 0, 0])
    close(sol["latch.force"][after], 50 * (1.0 - 0.9), 1e-7)
    close(sol.energy().dissipated[-1], 50 / 2 * (0.25 - 0.01), 1e-8)


def test_an_impact_elsewhere_leaves_a_spinning_body_alone() -> None:
    """A body over two nodes spins about their line, which only the points that were added to it tell."""
    model = structure(
        {"A": (0, 0, 0), "B": (1, 0, 0), "C": {"position": (0, 3, 0), "mass": 1},
         "D": {"position": (1, 3, 0), "mass": 1, "velocity": (0.5, 0, 0)}},
        N.Body("P", over=("A", "B"), mass=2, centre=(0.5, 0, 0), inertia=(0.1, 0.3, 0.3)),
        N.Latch("latch", ("C", "D"), at=1.2),
    )  # fmt: skip
    e = model.equations()
    places = dict(zip(e.q.names, e.q.start, strict=True))
    spin = {}
    for point in ("P.aux1", "P.aux2"):
        arm = [places[f"{point}.position.{x}"] for x in "xyz"] - np.array([0.5, 0, 0])
        spin |= {f"{point}.velocity.{x}": v for x, v in zip("xyz", np.cross((3.0, 0, 0), arm), strict=True)}
    sol = run(model, 1.0, points=11, start=spin, rtol=1e-11)
    close(sol.events["latch"], [0.4], 1e-9)
    close(sol["P.omega"], (3.0, 0, 0))
    close(sol["D.velocity.x"][-1], 0.25)
    close(sol.energy().dissipated[-1], 0.5 * 0.5**2 / 2, 1e-9)
