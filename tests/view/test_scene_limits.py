"""The scene where a picture could mislead: fast, stiff, far, weak or unknown."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree.view.scene import Scene, scene_of
from cotree.view.scene_bodies import inertia_solid, linked, thinned, without_repeats
from cotree.view.scene_page import arrow_lengths, packed


def drawn(model: ct.Model, solution: ct.Solution) -> Scene:
    """The scene of a run that has one."""
    scene = scene_of(model, solution)
    assert scene is not None
    return scene


def bar(name: str, length: float = 1.0, mass: float = 1.0) -> ct.RigidBody:
    """A rod with frames a and b at its ends."""
    frames = {"a": (-length / 2, 0, 0), "b": (length / 2, 0, 0)}
    return ct.RigidBody(name, ct.rod(length=length, mass=mass, radius=0.02 * length), frames=frames)


def spinning(turns_per_second: float) -> ct.Model:
    """A bar that spins evenly about its end."""
    m = ct.Model("spin")
    m.add(bar("b"))
    m.add(ct.Revolute("R", m.ground, "b.a", angle_rate=2 * np.pi * turns_per_second))
    return m


def test_vibration_is_seen_at_its_own_frequency_and_the_legend_has_its_peak() -> None:
    """A cantilever that a sudden force of 1 N sets vibrating: the tip swings between 0 and 2 F L^3 / (3 E I)."""
    m = ct.Model("vibrating", gravity=(0, 0, 0))
    section = ct.section.rectangle(0.02, 0.02)
    m.add(
        ct.Beam(
            "beam", length=1.0, section=section, material=ct.STEEL, elements=2, modes=1, shapes="clamped",
            deforms=["xy"],
        )
    )  # fmt: skip
    m.add(ct.Weld("wall", "ground", "beam.start"))
    m.add(ct.PointForce("f", "beam.end", force=("0", "1", "0")))
    solution = m.simulate(4.0, points=4001)
    scene = drawn(m, solution)
    tip, frames = solution["beam.end.deflection.y"], np.searchsorted(solution.t, scene.times)
    assert len(frames) < 2500
    between = np.interp(solution.t, scene.times, tip[frames])
    assert np.abs(between - tip).max() < (1 - np.cos(np.pi / 16)) * tip.max() / 2  # sixteen frames a period
    skin = scene.skins[0]
    moves = np.linalg.norm(np.tensordot(skin.coordinates, skin.shapes, axes=1), axis=2).max(axis=1)
    # the largest displacement of the skin: of the tip, or of a corner of its section that turns by 1.5 / L of that
    assert skin.deflection >= moves.max() * (1 - 1e-12)
    assert np.abs(tip).max() <= skin.deflection < 1.01 * np.abs(tip).max()
    assert packed(scene)[0]["deflection"] == skin.deflection
    # The force at rest, F L c / I, and the vibration about it: of the first bending shape of a cantilever, curvature at
    # the wall / deflection of the tip = 1.8751^2 / L^2
    assert skin.stress is not None
    exact = 1.0 * 0.01 / (0.02**4 / 12) + ct.STEEL.young * 0.01 * 1.8751**2 * tip.max() / 2
    assert skin.stress.max() == pytest.approx(exact, rel=0.01)


def test_stress_is_given_at_instants_that_do_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    from cotree.view import scene_flexible

    m = ct.Model("beam", gravity=(0, -9.81, 0))
    section = ct.section.rectangle(0.004, 0.02)
    m.add(ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, elements=3, modes=1))
    m.add(ct.Weld("wall", "ground", "beam.start"))
    solution = m.simulate(0.3, points=101)
    whole = drawn(m, solution).skins[0]
    monkeypatch.setattr(scene_flexible, "STRESSES", 1)
    few = drawn(m, solution).skins[0]
    assert few.stress is not None
    assert few.instants is not None
    assert whole.stress is not None
    assert 24 <= len(few.instants) <= 25
    assert len(whole.instants if whole.instants is not None else ()) == 101
    assert (few.stress == whole.stress[few.instants]).all()
    assert few.stress.max() > 0.98 * whole.stress.max()  # the instant of the largest deflection is one of them


def test_fast_spins_have_six_frames_a_turn_or_a_note() -> None:
    m = spinning(10.0)
    scene = drawn(m, m.simulate(20.0, points=4001))
    assert np.diff(scene.times).max() * 10.0 < 0.21  # turns, rounded to output points 0.05 turns apart
    assert len(scene.times) < 4001
    assert scene.notes == []
    m = spinning(100.0)
    scene = drawn(m, m.simulate(0.5, points=11))
    assert "5 turns" in scene.notes[0]


def test_traces_of_many_turns_keep_their_shape() -> None:
    angle = 2 * np.pi * 10.03 * np.linspace(0, 100, 20001)
    circle = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    sagitta = 1 - np.cos(2 * np.pi * 10.03 / 200 / 2)
    few = thinned(circle, 2e-4)
    for piece in without_repeats(few, 5e-3):
        middle = (piece[1:] + piece[:-1]) / 2
        assert np.linalg.norm(middle, axis=1).min() > 1 - sagitta - 2e-4  # chords of one step, no star
    assert sum(len(piece) for piece in without_repeats(few, 5e-3)) < 6000
    # all around
    first = without_repeats(few, 5e-3)[0]
    assert np.ptp(first, axis=0)[:2].min() > 1.95


def test_traces_are_round_also_with_few_output_points() -> None:
    m = spinning(1.0)
    scene = drawn(m, m.simulate(1.0, points=9))
    outer = max((each.points for each in scene.traces), key=lambda points: np.abs(points).max())
    middle = (outer[1:] + outer[:-1]) / 2
    assert np.linalg.norm(middle, axis=1).min() > 0.99  # chords of nine points come to 0.92


def test_arrows_are_bounded_and_reactions_on_the_light_are_still_told() -> None:
    m = ct.Model("arrows", gravity=(0, -9.81, 0))
    for k in range(12):
        m.add(bar(f"b{k}", 0.5, 0.01))
        m.add(ct.Revolute(f"R{k}", m.ground.at(0.1 * k, 0, 0, name=f"g{k}"), f"b{k}.a"))
    m.add(bar("heavy", 0.5, 1000.0))
    m.add(ct.Revolute("H", m.ground.at(3, 0, 0, name="gh"), "heavy.a"))
    scene = drawn(m, m.simulate(0.5, points=51))
    lengths = arrow_lengths(scene)
    most = max(np.linalg.norm(each.vector, axis=1).max() for each in scene.arrows)
    assert lengths["force"]["most"] == pytest.approx(most)
    assert most * lengths["length"] / lengths["force"]["usual"] <= 0.9 * scene.size
    reach = np.array(lengths["reactions"]).reshape(-1, 3)
    heavy = next(each for each in scene.arrows if each.owner == "H")
    tops = scene.tracks[heavy.track].position + heavy.vector * lengths["length"] / lengths["force"]["usual"]
    assert reach[:, 1].max() > 0.95 * tops[:, 1].max()


def test_noise_beside_the_largest_force_is_no_arrow() -> None:
    """Two equal weights hang on a cable over a pulley: the guides at their sides carry nothing."""
    m = ct.Model("hanging", gravity=(0, 0, -9.81))
    m.add(ct.nodal.Node("A", position=(0, 0, 0)))
    m.add(ct.nodal.Node("B", position=(0, 0, -1), mass=1))
    m.add(ct.nodal.Fixed("top", "A"))
    m.add(ct.nodal.Bar("rod", "A", "B", mass=1e-3))
    solution = m.simulate(0.1, points=11)
    scene = drawn(m, solution)
    assert [each.owner for each in scene.arrows] == ["top"]
    from cotree.view.scene import Arrow, Stage
    from cotree.view.scene_forces import keep_large

    stage = Stage.of(m, solution)
    assert stage is not None
    assert stage.strongest == pytest.approx(9.81 * 1.001, rel=1e-3)
    noise = np.full((len(stage.frames), 3), 1e-7)
    keep_large(stage, [Arrow("rod", "A", noise, False, True), Arrow("rod", "A", 100 * noise, False, True)])
    assert [float(each.vector.max()) for each in stage.arrows] == [pytest.approx(1e-5)]


def test_far_from_the_origin_a_model_has_its_own_size() -> None:
    m = ct.Model("far")
    m.add(bar("b"))
    m.add(bar("c"))
    m.add(ct.Free("F", m.ground, "b", x=6.7e6, y=0, z=0, y_rate=7700.0, angular_velocity=(0, 0, 1.0)))
    m.add(ct.Revolute("R", "b.b", "c.a", angle=0.5, angle_rate=3.0))
    solution = m.simulate(1.0, points=101)
    scene = drawn(m, solution)
    assert 1.0 < scene.size < 3.0
    head, data = packed(scene)
    place = head["tracks"]["b"]["p"]
    assert place[1] == "d"
    kept = np.frombuffer(data, "<f8", place[2], place[0]).reshape(-1, 3) + head["centre"]
    frames = np.searchsorted(solution.t, scene.times)
    at = np.array(head["tracks"]["b"]["at"])
    assert np.abs(np.linalg.norm(kept - solution["b.position"][frames], axis=1) - np.linalg.norm(at)).max() < 1e-6
    assert {each.owner for each in scene.traces} >= {"b", "c"}


def test_unknown_forces_stay_unknown_and_an_early_end_is_told() -> None:
    from dataclasses import replace

    m = ct.Model("fold", gravity=(0, 0, -9.81))
    for name, place in (("A", (0, 0, 0)), ("B", (1, 0, 1))):
        m.add(ct.nodal.Node(name, position=place))
    m.add(ct.nodal.Fixed("foot", "A"))
    m.add(ct.nodal.Bar("rod", "A", "B", mass=1))
    solution = m.simulate(0.4, points=41)
    rows = dict(solution.values)
    for name, last in (("rod.force", 20), ("B.position.x", 30)):
        rows[name] = np.where(np.arange(41) < last, rows[name], np.nan)
    scene = drawn(m, replace(solution, values=rows))
    level = scene.struts[0].level
    assert level is not None
    assert np.isnan(level[scene.times > 0.195]).all()
    assert np.isfinite(level[scene.times < 0.195]).all()
    assert scene.level == pytest.approx(np.abs(solution["rod.force"][:20]).max())
    assert scene.times[-1] == pytest.approx(0.29)
    assert "0.29 s" in scene.notes[0]
    assert "0.4 s" in scene.notes[0]


def test_springs_and_loads_of_bond_graphs_are_arrows() -> None:
    m = ct.Model("bond")
    mechanics = ct.bond.mechanics
    m.add(mechanics.Ground("G", position=(1, 0, 0)))
    m.add(mechanics.Body("m", mass=2, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, 1)))
    m.add(mechanics.PointSpring("S", stiffness=30, length=0.5))
    m.add(mechanics.FrameForce("F", force=("1", "2", "t")))
    for bond in ("G -> S.a", "S.b -> m.centre", "F -> m.centre"):
        m.connect(bond)
    solution = m.simulate(0.5, points=51)
    scene = drawn(m, solution)
    frames = np.searchsorted(solution.t, scene.times)
    force = {each.owner: each.vector for each in scene.arrows}
    away = np.array([1.0, 0, 0]) - solution["m.position"][frames]
    length = np.linalg.norm(away, axis=1, keepdims=True)
    assert np.abs(force["S"] - 30 * (length - 0.5) * away / length).max() < 1e-6
    given = np.column_stack([0 * scene.times + 1, 0 * scene.times + 2, scene.times])
    assert np.abs(force["F"] - given).max() < 1e-6


def test_a_spring_along_a_slider_is_drawn() -> None:
    m = ct.Model("slider")
    m.add(ct.RigidBody("b", ct.box(size=(0.1, 0.2, 0.3), mass=2.0)))
    m.add(ct.Prismatic("P", m.ground, "b", axis=(0, 0, 1), displacement=0.5))
    m.add(ct.JointSpring("k", on="P", stiffness=100))
    scene = drawn(m, m.simulate(0.2, points=21))
    assert [(each.owner, each.a, each.b) for each in scene.struts] == [("k", "ground", "b")]


def test_a_solid_of_inertia_stays_small_beside_its_arm() -> None:
    values = {"mass": 1.0} | {f"inertia.{x}{x}": 1.0 for x in "xyz"}
    ball = linked([np.array([0.4, 0, 0])], np.zeros(3), values, 0.01, 1.0)[-1]
    assert np.abs(ball.vertices).max() <= 0.1 + 1e-12
    assert np.abs(inertia_solid(values, 0.0, 10.0).vertices).max() == pytest.approx(np.sqrt(2.5), rel=1e-2)
