"""Several stops at once, angles that wrap, parameters of a run, and analyses that do not know latches and stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.errors import ModelError, SolveError
from cotree.solve.phases import _Phases
from formulation.nodal_models import DOWN, structure
from solve.test_phases import G, close, on_a_line, pendulum, run

N = ct.nodal
SPIN = 2.0


# Several stops


def table(corners: Any, centre: Any, planar: bool, **stop: Any) -> ct.Model:
    """A level body of 2 kg over its corners, 0.5 m above a stop under each; it falls without turning."""
    up = (0, 1, 0) if planar else (0, 0, 1)
    height = np.array(up, dtype=float)
    nodes: dict[str, Any] = {}
    parts: list[Any] = [N.OnLine("guide", "P0", along=up)]
    if not planar:
        parts.append(N.OnPlane("way", "P1", normal=(0, 1, 0)))
    for k, corner in enumerate(corners):
        nodes |= {f"P{k}": tuple(corner + height), f"G{k}": tuple(corner + 0 * height)}
        parts += [N.Fixed(f"foot{k}", f"G{k}"), N.Stop(f"S{k}", (f"G{k}", f"P{k}"), least=0.5, **stop)]
    over = [f"P{k}" for k in range(len(corners))]
    parts.append(N.Body("body", over=over, mass=2, centre=tuple(centre + height), inertia=(0.2, 0.2, 0.3)))
    return structure(nodes, *parts, gravity=tuple(-G * height), planar=planar)


@pytest.mark.parametrize(("arm", "restitution"), [(0.5, 0.0), (0.3, 0.0), (0.3, 0.2)])
def test_a_bar_rests_on_two_stops(arm: float, restitution: float) -> None:
    """Both take their part of the weight, by the law of the lever."""
    corners = np.array([(0.0, 0, 0), (1, 0, 0)])
    model = table(corners, np.array([arm, 0, 0]), True, restitution=restitution)
    sol = run(model, 1.0, points=21)
    for name in ("S0.least", "S1.least"):
        close(sol.events[name][0], np.sqrt(2 * 0.5 / G), 1e-8)
    assert len(sol.events["S0.least"]) == len(sol.events["S1.least"])
    close(sol["S0.force"][-1], -2 * G * (1 - arm), 1e-8)
    close(sol["S1.force"][-1], -2 * G * arm, 1e-8)
    close(sol.energy().dissipated[-1], 2 * G * 0.5, 1e-5)


def test_a_plate_rests_on_four_stops() -> None:
    """Statics says only the sum and two moments of four forces; none of them pulls."""
    centre = 0.7, 0.8
    corners = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    sol = run(table(corners, np.array([*centre, 0]), False), 0.6, points=13)
    push = -np.array([sol[f"S{k}.force"][-1] for k in range(4)])
    assert push.min() > -1e-9
    close(push.sum(), 2 * G, 1e-8)
    close(push @ corners[:, :2], 2 * G * np.array(centre), 1e-8)
    close(sol["P2.position"][-1], (1, 1, 0.5), 1e-9)


def test_an_impact_strikes_a_body_off_the_stop_on_which_it_rests() -> None:
    """A stop cannot pull: where I > m l^2/4, the blow at one end lifts the other.

    With l = 1, m = 2, I = 2 and the speed v of the end that falls: J = v/(1/m + 1/4I) = 1.6 v, the other end takes off
    with J (1/m - 1/4I) = 0.6 v, and (1.25 - 0.45) v^2 is lost.
    """
    a = 0.1
    tip = np.array([np.cos(a), 0.5 + np.sin(a), 0])
    model = structure(
        {"P": (0, 0.5, 0), "Q": tuple(tip), "F": (0, 0, 0), "G": (1, 0, 0)},
        *(N.Fixed(f"foot{name}", name) for name in "FG"),
        N.OnLine("guide", "P", along=(0, 1, 0)),
        N.Body(
            "body", over=("P", "Q"), mass=2, centre=(tip[0] / 2, (tip[1] + 0.5) / 2, 0), inertia=(0.1, 2, 2, 0, 0, 0)
        ),
        N.Stop("rests", ("F", "P"), least=0.5),
        N.Stop("falls", ("G", "Q"), least=0.5),
        gravity=DOWN,
        planar=True,
    )
    speed = np.sqrt(2 * 2 * G * np.sin(a) / 2 / 2.5)
    sol = run(model, 0.4, points=401)
    (when,) = sol.events["falls.least"]
    lift = (sol.t > when) & (sol.t < when + 0.1)
    rise = np.polyfit(sol.t[lift] - when, sol["P.velocity.y"][lift], 3)
    close(rise[-1], 0.6 * speed, 1e-5)
    close(sol["P.position.y"][sol.t < when], 0.5, 1e-9)
    close(sol.energy().dissipated[lift], 0.8 * speed**2, 1e-7)


# Angles about an axis


def spinning(*parts: Any, spin: float = SPIN) -> ct.Model:
    """A bar from (0, 0) to (0, 1) that turns freely; X marks the x axis."""
    return structure(
        {"X": (1, 0, 0), "O": (0, 0, 0), "A": {"position": (0, 1, 0), "velocity": (-spin, 0, 0)}},
        N.Bar("OA", "O", "A", mass=3),
        N.Fixed("pin", "O"),
        N.Fixed("mark", "X"),
        *parts,
        planar=True,
    )


def test_a_latch_does_not_close_where_its_angle_begins_anew() -> None:
    """From pi/2 away from 0.5 rad, and round to it from the other side."""
    sol = run(spinning(N.Latch("latch", ("X", "O", "A"), at=0.5, axis=(0, 0, 1))), 4.0, points=401)
    when = (2 * np.pi + 0.5 - np.pi / 2) / SPIN
    close(sol.events["latch"], [when], 1e-8)
    angle = np.pi / 2 + SPIN * np.minimum(sol.t, when)
    close(sol["A.position"], np.column_stack([np.cos(angle), np.sin(angle), 0 * angle]), 1e-7)


def test_a_stop_is_not_passed_from_behind() -> None:
    """Its angle begins anew half a turn from the middle of start and limit: (pi/2 + 0.5)/2 + pi."""
    model = spinning(N.Stop("stop", ("X", "O", "A"), least=0.5, axis=(0, 0, 1)))
    with pytest.raises(SolveError, match=r"stop\.least: at t = 1\.3 s its angle turns past 4\.17 rad") as caught:
        model.simulate(4.0, points=41, integrator="adams", events=[ct.Event("level", "A.position.y")])
    kept = caught.value.solution
    assert isinstance(kept, ct.Solution)
    assert not kept.complete
    np.testing.assert_array_equal(kept.t, np.linspace(0, 4, 41)[:14])
    close(kept["A.position.y"], np.sin(np.pi / 2 + SPIN * kept.t), 1e-6)
    close(kept.events["level"], [np.pi / 2 / SPIN], 1e-6)  # and not the later ones


def test_a_bar_between_two_angles_beyond_half_a_turn() -> None:
    sol = run(
        spinning(N.Stop("stop", ("X", "O", "A"), least=-1, most=4, restitution=1.0, axis=(0, 0, 1))), 5.0, rtol=1e-12
    )
    close(sol.events["stop.most"], [(4 - np.pi / 2) / SPIN], 1e-8)
    close(sol.events["stop.least"], [(4 - np.pi / 2 + 5) / SPIN], 1e-8)


@pytest.mark.parametrize("lock", [{"at": 9.0}, {"most": 9.0}, {"at": "reach"}])
def test_a_limit_a_full_turn_from_the_start_is_an_error(lock: dict[str, Any]) -> None:
    kind = N.Latch if "at" in lock else N.Stop
    model = spinning(kind("lock", ("X", "O", "A"), axis=(0, 0, 1), **lock))
    given = {}
    if "reach" in lock.values():
        model.parameter("reach", 3.0)
        run(model, 1.0)
        given = {"parameters": {"reach": 9.0}}
    with pytest.raises(ModelError, match=r"lock\.\w+: the limit 9 rad is a full turn or more from .* 1\.5708 rad"):
        model.simulate(1.0, **given)


def test_closing_a_lock_does_not_move_nodes() -> None:
    """From 0.3 to 1.2 rad the end of the bar would go 2 sin(0.45) m: the larger one of its two ways is told."""
    e = pendulum(N.Latch("latch", ("X", "O", "A"), at=1.2)).equations()
    phases = _Phases(e, np.array([0.0, 1.0]), 0.0, (), lambda *_: None, e.p.start, [])  # type: ignore[arg-type]
    phases.written[frozenset()] = e
    way = np.sin(1.2) - np.sin(0.3)
    with pytest.raises(SolveError, match=rf"closing 'latch' would move nodes by {way:.3g} m"):
        phases._shut(e, ("latch",), e.q.start, 0.0)


# Parameters, failures, notes and progress


def chain() -> ct.Model:
    """Two bars with a latch between them that fall on a stop; all lengths grow with L."""
    model = structure(
        {"A": (0, 0, 0), "B": {"position": ("L", 0, 0), "mass": 1}, "D": {"position": ("L", "-L", 0), "mass": 1},
         "W": ("-0.5*L", "-2*L", 0)},
        N.Fixed("pin", "A"),
        N.Fixed("wall", "W"),
        N.Bar("AB", "A", "B", mass=1),
        N.Bar("BD", "B", "D", mass=1),
        N.Stop("stop", ("W", "D"), least="0.6*L", restitution=0.3),
        N.Latch("latch", ("A", "B", "D"), at=2.0),
        gravity=DOWN,
        planar=True,
    )  # fmt: skip
    model.parameter("L", 1.0)
    return model


def test_parameters_of_a_run_hold_in_all_its_phases() -> None:
    """The same motion in another size takes sqrt(L) times as long (Froude)."""
    size = 16.0
    model, slow = chain(), np.sqrt(size)
    one = run(model, 1.2)
    other = run(model, 1.2 * slow, parameters={"L": size}, rtol=1e-10)
    assert len(one.events["latch"]) == 1
    close(other.events["latch"] / slow, one.events["latch"], 1e-8)
    close(other.events["stop.least"][:2] / slow, one.events["stop.least"][:2], 1e-6)
    close(other["D.position"] / size, one["D.position"], 1e-6)


@pytest.mark.parametrize("lock", [N.Stop("lock", ("O", "P"), least=0.7), N.Latch("lock", ("O", "P"), at=0.7)])
def test_a_lock_that_cannot_close_keeps_what_was_computed(lock: Any) -> None:
    """A support drives P into it: at 1.2 - 0.3 t^2 = 0.7."""
    model = structure(
        {"O": (0, 0, 0), "P": {"position": (1.2, 0, 0), "mass": 1}},
        N.Fixed("wall", "O"),
        N.Moved("drive", "P", displacement=("-0.3*t*t", 0, 0)),
        lock,
        planar=True,
    )
    when = np.sqrt(0.5 / 0.3)
    with pytest.raises(SolveError, match=rf"at t = {when:.6g} s 'lock[.a-z]*' cannot be closed") as caught:
        model.simulate(2.0, points=21)
    kept = caught.value.solution
    assert isinstance(kept, ct.Solution)
    assert not kept.complete
    np.testing.assert_array_equal(kept.t, np.linspace(0, 2, 21)[:13])
    close(kept["P.position.x"], 1.2 - 0.3 * kept.t**2, 1e-8)


def test_a_failure_before_the_first_impact_is_on_the_grid_that_was_asked_for() -> None:
    model = on_a_line(N.Stop("stop", ("O", "P"), least=0.1), N.Force("push", "P", force=("sqrt(0.52 - t)", 0, 0)))
    with pytest.raises(SolveError, match=r"push\.force\.x has no finite value") as caught:
        model.simulate(1.0, points=21)
    kept = caught.value.solution
    assert isinstance(kept, ct.Solution)
    np.testing.assert_array_equal(kept.t, np.linspace(0, 1, 21)[:11])


def test_drift_and_doubts_after_an_impact_are_noted() -> None:
    """Nothing turns and no cable is tight before the impact, so that all of both comes after it."""
    struck = structure(
        {"O": (0, 0, 0), "A": (1, 0, 0), "P": {"position": (1, 0.5, 0), "mass": 2, "velocity": (0, -1, 0)}},
        N.Bar("OA", "O", "A", mass=3),
        N.Fixed("pin", "O"),
        N.Stop("stop", ("P", "A"), least=0.2, restitution=1.0),
        planar=True,
    )
    sol = struck.simulate(2.0, points=41, integrator="paper", step=0.01)
    off = np.abs(np.linalg.norm(sol["A.position"], axis=1) - 1).max()
    assert off > 1e-8
    (drift,) = (each.data["distance"] for each in sol.diagnostics if each.code == "drift")
    assert drift > 0.9 * off

    stop = N.Stop("stop", ("O", "P"), least=0.7, restitution=1.0)
    cable = N.ElasticCable("cable", over=("O", "P"), stiffness=5e4, length=1.25)
    sol = on_a_line(stop, cable, v=-1.0).simulate(2.0, points=41, integrator="corrected", step=0.01)
    assert sol.energy().error > 0.1
    assert np.abs(sol.energy().closure[sol.t < 1]).max() < 1e-9
    assert [each.data["time"] for each in sol.diagnostics if each.code == "energy-open"] == pytest.approx([1.1])


def test_names_of_events_beside_locks() -> None:
    """Parameters may have any name; an event that is called like a stop is refused."""
    model = on_a_line(N.Stop("stop-1", ("O", "P"), least=1.0, restitution=0.5), v=-1.0)
    model.parameter("lock0", 0.5)
    model.parameter("pull0", 0.6)
    sol = run(model, 1.0, events=[ct.Event("seen", "P.position.x - lock0 - pull0")])
    close(sol.events["seen"], [0.1, 0.4], 1e-9)
    close(sol.events["stop-1.least"], [0.2], 1e-9)
    with pytest.raises(ModelError, match=r"an event is called 'stop-1\.least', as a latch or stop is"):
        model.simulate(1.0, events=[ct.Event("stop-1.least", "P.position.x - 1.1")])


@pytest.mark.parametrize("span", [(10.0, 11.0), (-1.0, 0.0)])
def test_progress_goes_from_zero_to_one(span: tuple[float, float]) -> None:
    seen: list[float] = []
    model = on_a_line(N.Stop("stop", ("O", "P"), least=1.0, restitution=0.5), v=-1.0)
    sol = model.simulate(span[1], t_start=span[0], points=21, progress=seen.append)
    close(sol.events["stop.least"], [span[0] + 0.2], 1e-7)
    assert 0 <= min(seen) < 0.3
    assert max(seen) == 1.0


# Other analyses


def sprung(*locks: Any, length: float = 1.1) -> ct.Model:
    """A particle of 2 kg at 1.2 m on a spring of 50 N/m."""
    return on_a_line(N.Spring("spring", "O", "P", stiffness=50, length=length), *locks)


STOP, LATCH = N.Stop("lock", ("O", "P"), least=1.0), N.Latch("lock", ("O", "P"), at=1.0)


@pytest.mark.parametrize("lock", [STOP, LATCH])
def test_analyses_about_a_state_at_which_locks_are_open(lock: Any) -> None:
    model = sprung(lock)
    close(model.static_equilibrium()["P.position.x"], 1.1, 1e-9)
    close(model.modes().frequencies, np.sqrt(50 / 2) / 2 / np.pi, 1e-9)
    close(np.abs(model.linearise(at="steady").poles().imag), 5.0, 1e-9)
    sol = run(model, 1.0, start="steady")
    close(sol["P.position.x"], 1.1, 1e-9)


@pytest.mark.parametrize(("lock", "said"), [(STOP, r"lock\.least: its limit is passed by 0\.2 m"),
                                            (LATCH, "lock: it is closed or passed")])  # fmt: skip
def test_an_equilibrium_beyond_a_lock_is_an_error(lock: Any, said: str) -> None:
    model = sprung(lock, length=0.8)
    for analysis in (
        model.static_equilibrium,
        model.modes,
        lambda: model.linearise(at={"P.position.x": 0.8}),
        lambda: model.simulate(1.0, start="steady"),
    ):
        with pytest.raises(SolveError, match=said):
            analysis()


def test_small_motions_about_a_closed_lock_are_an_error() -> None:
    with pytest.raises(SolveError, match=r"lock\.least: its limit is reached at the state"):
        sprung(N.Stop("lock", ("O", "P"), least=1.2)).modes(about="start")
    with pytest.raises(SolveError, match="lock: it is closed"):
        sprung(N.Latch("lock", ("O", "P"), at=1.2)).modes()


def test_analyses_over_time_refuse_locks_by_name(tmp_path: Path) -> None:
    model = sprung(STOP, N.Latch("latch", ("O", "P"), at=1.5))
    path = tmp_path / "model.c"
    for analysis, what in (
        (lambda: model.sensitivities(["P.position.x"], ["spring.stiffness"], 1.0), "a sensitivity"),
        (lambda: model.kinematics(1.0), "kinematics"),
        (lambda: model.inverse_dynamics(1.0), "inverse dynamics"),
        (lambda: model.to_c(path), "C code"),
    ):
        with pytest.raises(SolveError, match=f"'lock', 'latch' may close or open on the way, which {what} cannot"):
            analysis()
    assert not path.exists()
