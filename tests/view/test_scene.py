"""The scene of a run, against the solution and against mechanics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.maths.rotation import matrices
from cotree.view import scene_shapes as shapes
from cotree.view.scene import Scene, scene_of
from cotree.view.scene_bodies import thinned
from cotree.view.scene_flexible import condensed
from cotree.view.scene_page import packed
from view._models import network

L1, L2, L3 = 0.3, 0.9, 0.75


def four_bar() -> ct.Model:
    """Rods of 1, 3 and 2 kg under their weight."""
    m = ct.Model("four-bar", gravity=(0, -9.81, 0))
    for name, length, mass, ends in (("crank", L1, 1, "OA"), ("coupler", L2, 3, "AB"), ("follower", L3, 2, "BC")):
        frames = {ends[0]: (-length / 2, 0, 0), ends[1]: (length / 2, 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length, mass=mass), frames=frames))
    m.add(ct.Revolute("O", "ground", "crank.O", angle=0.3, fixed=["angle"]))
    m.add(ct.Revolute("A", "crank.A", "coupler.A", angle=0.5))
    m.add(ct.Revolute("B", "coupler.B", "follower.B", angle=-1.5))
    m.add(ct.Revolute("C", "follower.C", m.ground.at(0.9, 0, 0, name="pivot")))
    return m


@pytest.fixture(scope="module")
def bars() -> tuple[ct.Model, ct.Solution, Scene]:
    """A run of the four-bar mechanism and its scene."""
    m = four_bar()
    solution = m.simulate(1.0, points=201)
    scene = scene_of(m, solution)
    assert scene is not None
    return m, solution, scene


def at(scene: Scene, name: str, place: tuple[float, float, float]) -> np.ndarray:
    """Where a point of a body is drawn in each frame."""
    track = scene.tracks[name]
    return track.position + matrices(track.orientation) @ np.array(place)


def test_links_are_drawn_between_their_joints(bars: tuple[ct.Model, ct.Solution, Scene]) -> None:
    _, solution, scene = bars
    frames = np.searchsorted(solution.t, scene.times)
    assert (solution.t[frames] == scene.times).all()
    for name, length, end in (("crank", L1, "A"), ("coupler", L2, "B"), ("follower", L3, "C")):
        solid = next(each for each in scene.solids if each.owner == name)
        radius = np.ptp(solid.mesh.vertices[:, 1]) / 2
        assert np.ptp(solid.mesh.vertices[:, 0]) == pytest.approx(length + 2 * radius)
        drawn = at(scene, solid.track, (length / 2, 0, 0))
        assert np.abs(drawn - solution[f"{name}.{end}.position"][frames]).max() < 1e-12
    owners = {each.owner for each in scene.solids}
    assert owners >= {"crank", "coupler", "follower", "O", "A", "B", "C"}


def test_arrows_hold_the_balance_of_momentum(bars: tuple[ct.Model, ct.Solution, Scene]) -> None:
    """m (a - g) of the follower = force of B on it - force of C on the ground, all in world axes."""
    _, solution, scene = bars
    frames = np.searchsorted(solution.t, scene.times)
    force = {each.owner: each.vector for each in scene.arrows if not each.torque}
    inertia = 2 * (solution["follower.acceleration"][frames] - (0, -9.81, 0))
    assert np.abs(force["B"] - force["C"] - inertia).max() < 1e-6 * np.abs(inertia).max()
    assert all(each.reaction for each in scene.arrows)


def test_any_tree_and_a_stored_run_give_the_same_scene(
    bars: tuple[ct.Model, ct.Solution, Scene], tmp_path: Path
) -> None:
    model, solution, scene = bars
    stored = scene_of(model, type(solution).from_hdf5(solution.to_hdf5(tmp_path / "run.h5")))
    assert stored is not None
    assert packed(stored)[1] == packed(scene)[1]
    other = scene_of(model, model.simulate(1.0, points=201, tree="absolute", rtol=1e-8))
    assert other is not None
    assert len(other.times) == pytest.approx(len(scene.times), abs=2)
    last = [at(each, "coupler", (L2 / 2, 0, 0))[-1] for each in (scene, other)]
    assert np.abs(last[0] - last[1]).max() < 1e-3


def test_a_network_has_no_scene() -> None:
    m = network()
    assert scene_of(m, m.simulate(0.01)) is None


def test_a_beam_is_drawn_where_its_nodes_are() -> None:
    m = ct.Model("beam", gravity=(0, -9.81, 0))
    section = ct.section.rectangle(0.004, 0.02)
    m.add(
        ct.Beam(
            "beam", length=1.0, section=section, material=ct.STEEL, elements=4, modes=2, frames={"mid": 0.5},
            stiffening="none",
        )
    )  # fmt: skip
    m.add(ct.Weld("wall", "ground", "beam.start"))
    solution = m.simulate(0.4, points=81)
    scene = scene_of(m, solution)
    assert scene is not None
    skin = scene.skins[0]
    moved = skin.mesh.vertices + np.tensordot(skin.coordinates, skin.shapes, axes=1)
    frames = np.searchsorted(solution.t, scene.times)
    places = m.deformation(solution, "beam")
    nodes = (places.places + places.displacements)[frames]
    for node in range(len(places.places)):
        near = np.abs(skin.mesh.vertices[:, 0] - places.places[node, 0]) < 1e-12
        centre = (moved[:, near].min(axis=1) + moved[:, near].max(axis=1)) / 2
        assert np.abs(centre - nodes[:, node]).max() < 1e-9
    # without stiffening the mid frame's position is rigid motion + deflection of first order, too
    track = scene.tracks["beam"]
    middle = np.abs(skin.mesh.vertices[:, 0] - 0.5) < 1e-12
    drawn = (moved[:, middle].min(axis=1) + moved[:, middle].max(axis=1)) / 2
    world = track.position + np.einsum("fij,fj->fi", matrices(track.orientation), drawn)
    assert np.abs(world - solution["beam.mid.position"][frames]).max() < 1e-9
    assert np.abs(solution["beam.mid.deflection.y"]).max() > 0.01


def test_a_bond_graph_is_drawn_with_its_arm_and_its_reactions() -> None:
    """A body at the end of an arm on a pin: the reaction is m (a - g), with a from the computed velocities."""
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    m.add(ct.bond.mechanics.Ground("G", position=(0.4, 0, 0)))
    m.add(ct.bond.mechanics.RevoluteJoint("J", axis="z"))
    m.add(ct.bond.mechanics.Translation("arm", r=(0.5, 0, 0)))
    m.add(ct.bond.mechanics.Body("m", mass=2, inertia=(0.01, 0.01, 0.01)))
    for bond in ("G -> J.a", "J.b -> arm.A", "arm.B -> m.centre"):
        m.connect(bond)
    solution = m.simulate(0.5, points=501)
    scene = scene_of(m, solution)
    assert scene is not None
    assert {each.owner for each in (*scene.solids, *scene.struts)} == {"m", "J", "arm"}
    frames = np.searchsorted(solution.t, scene.times)
    (arm,) = scene.struts
    ends = [scene.tracks[end].position for end in (arm.a, arm.b)]
    assert np.abs(ends[0] - (0.4, 0, 0)).max() == 0.0
    assert (ends[1] == solution["m.position"][frames]).all()
    force = next(each.vector for each in scene.arrows if each.owner == "J" and not each.torque)
    free = np.gradient(solution["m.velocity"], solution.t, axis=0) - np.array([0, -9.81, 0])
    assert np.abs(force - 2 * free[frames])[2:-2].max() < 1e-2


def test_a_structure_is_drawn_between_its_nodes_and_latches_close_in_time() -> None:
    m = ct.Model("fold", gravity=(0, 0, -9.81))
    for name, place in (("A", (0, 0, 0)), ("B", (1, 0, 1)), ("C", (2, 0, 0))):
        m.add(ct.nodal.Node(name, position=place))
    m.add(ct.nodal.Fixed("foot", "A"))
    m.add(ct.nodal.OnLine("rail", "C", along=(1, 0, 0)))
    m.add(ct.nodal.OnPlane("flat", "B", normal=(0, 1, 0)))
    m.add(ct.nodal.Bar("left", "A", "B", mass=1))
    m.add(ct.nodal.Bar("right", "B", "C", mass=1))
    m.add(ct.nodal.Latch("latch", ["A", "C"], at=2.5))
    solution = m.simulate(0.6, points=61)
    scene = scene_of(m, solution)
    assert scene is not None
    ends = {each.owner: (each.a, each.b) for each in scene.struts}
    assert ends == {"left": ("A", "B"), "right": ("B", "C")}
    frames = np.searchsorted(solution.t, scene.times)
    assert (scene.tracks["C"].position == solution["C.position"][frames]).all()
    level = next(each.level for each in scene.struts if each.owner == "left")
    assert level is not None
    assert (level == solution["left.force"][frames]).all()
    latch = next(each for each in scene.solids if each.owner == "latch")
    assert latch.since == pytest.approx(float(solution.events["latch"][0]))


@pytest.mark.parametrize(
    ("mesh", "volume"),
    [
        (shapes.box(1, 2, 3), 6.0),
        (shapes.sphere(1.0, 96), 4 * np.pi / 3),
        (shapes.tube(1.0, 0.5, 2.0, 96), 1.5 * np.pi),
        (shapes.capsule(0.5, 2.0, 96), np.pi / 2 + np.pi / 6),
        (shapes.cone(1.0, 3.0, 96), np.pi),
        (shapes.prism(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), 0.3), 0.3),
    ],
)
def test_solids_are_closed_and_face_outwards(mesh: shapes.Mesh, volume: float) -> None:
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=5e-3)
    assert np.abs(np.cross(b - a, c - a).sum(axis=0)).max() < 1e-9  # closed: no net area


def test_traces_stay_close_to_the_way_with_few_points() -> None:
    angle = np.linspace(0, 2 * np.pi, 1001)
    circle = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    few = thinned(circle, 1e-3)
    assert len(few) < 200
    middle = (few[1:] + few[:-1]) / 2
    assert 1 - np.linalg.norm(middle, axis=1).min() < 1.1e-3


def test_many_elastic_coordinates_are_condensed_without_loss() -> None:
    rng = np.random.default_rng(1)
    fields, courses = rng.normal(size=(40, 30, 3)), rng.normal(size=(25, 6)) @ rng.normal(size=(6, 40))
    few, less = condensed(fields, courses)
    assert len(few) <= 16
    whole = np.tensordot(courses, fields, axes=1)
    assert np.abs(np.tensordot(less, few, axes=1) - whole).max() < 1e-9 * np.abs(whole).max()
