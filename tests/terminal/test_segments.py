"""Beams of several segments: large rotations against the elastica and rigid links, and all that one beam can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import cotree as ct
from cotree.terminal.forces import PointForce, PointTorque
from cotree.terminal.springs import JointSpring

SIDE, YOUNG, DENSITY = 0.02, 7e8, 2700.0
EI = YOUNG * SIDE**4 / 12
SOFT = ct.Material(young=YOUNG, density=DENSITY, poisson=0.3)
SQUARE = ct.section.rectangle(SIDE, SIDE)
DOWN = (0.0, -9.81, 0.0)


def beam(segments: int, **given: Any) -> ct.Beam:
    """A soft beam of 1 m that bends in one plane."""
    settings = {
        "length": 1.0, "section": SQUARE, "material": SOFT, "elements": 8, "modes": 0, "shear": False, "deforms": ["xy"]
    }  # fmt: skip
    return ct.Beam("boom", segments=segments, **(settings | given))


def cantilever(segments: int, *parts: Any, **given: Any) -> ct.Model:
    """The beam held at its start, without weight."""
    m = ct.Model("cantilever", gravity=(0, 0, 0), parameters={"k": 1.0})
    m.add(beam(segments, **given))
    m.add(ct.Weld("W", m.ground, "boom.start"))
    for part in parts:
        m.add(part)
    return m


def pendulum(segments: int, **given: Any) -> ct.Model:
    """The beam on a hinge, released at rest along x."""
    m = ct.Model("pendulum", gravity=DOWN)
    m.add(beam(segments, **given))
    m.add(ct.Revolute("O", m.ground, "boom.start"))
    return m


def vector(result: Any, name: str) -> np.ndarray:
    return np.array([float(result[f"{name}.{x}"]) for x in "xyz"])


# -- statics -----------------------------------------------------------------------------------------------------------


def test_an_end_moment_rolls_eight_segments_into_a_circle() -> None:
    torque = PointTorque("M", "boom.end", torque=(0, 0, f"k*{2 * np.pi * EI!r}"))
    m = cantilever(8, torque, frames={"half": 0.5, "inner": 0.3})
    for k in (0.5, 1.0):
        rest = m.static_equilibrium(parameters={"k": k})
        for frame, x in (("end", 1.0), ("half", 0.5), ("inner", 0.3)):
            angle = 2 * np.pi * k * x
            circle = np.array([np.sin(angle), 1 - np.cos(angle), 0.0]) / (2 * np.pi * k)
            assert np.linalg.norm(vector(rest, f"boom.{frame}.position") - circle) < (
                1e-4 if frame != "inner" else 1e-3
            )
            moved = circle - (x, 0, 0)
            assert np.linalg.norm(vector(rest, f"boom.{frame}.deflection") - moved) < (
                1e-4 if frame != "inner" else 1e-3
            )
    assert float(rest["boom.cut3.torque.z"]) == pytest.approx(
        -2 * np.pi * EI, rel=1e-9
    )  # of the inner on the outer part
    assert float(rest["boom.strain_energy"]) == pytest.approx(EI * (2 * np.pi) ** 2 / 2, rel=1e-6)


def elastica(load: float) -> np.ndarray:
    """Displacement (x, y) of the tip of a beam of unit length and stiffness under a force across, by shooting."""

    def end(curvature: float) -> np.ndarray:
        return solve_ivp(
            lambda s, y: [y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])],
            (0, 1), [0, curvature, 0, 0], rtol=1e-11, atol=1e-12,
        ).y[:, -1]  # fmt: skip

    trial = np.linspace(0.0, np.sqrt(2 * load), 60)
    values = [end(each)[1] for each in trial]
    first = next(k for k in range(59) if values[k] < 0 < values[k + 1])  # the first of several equilibria
    found = end(brentq(lambda each: end(each)[1], trial[first], trial[first + 1], xtol=1e-13))
    return np.array([found[2] - 1, found[3]])


def tip(segments: int, load: float) -> np.ndarray:
    m = cantilever(segments, PointForce("P", "boom.end", force=(0, f"k*{EI!r}", 0)))
    return vector(m.static_equilibrium(parameters={"k": load}), "boom.end.deflection")[:2]


@pytest.mark.parametrize("load", [1.0, 4.0, 10.0])
def test_four_segments_follow_the_elastica(load: float) -> None:
    exact = elastica(load)
    assert np.linalg.norm(tip(4, load) - exact) < 1e-3 * np.linalg.norm(exact)  # 2 % are asked for
    if load == 10.0:
        assert exact[1] > 0.8


def test_the_elastica_is_met_with_fourth_order() -> None:
    exact = elastica(4.0)
    errors = np.array([np.linalg.norm(tip(segments, 4.0) - exact) for segments in (2, 4, 8)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert (orders > 3.5).all()
    assert orders[-1] < 4.5


def test_stress_of_a_circle_is_the_same_everywhere() -> None:
    m = cantilever(8, PointTorque("M", "boom.end", torque=(0, 0, 2 * np.pi * EI)), damping=0.3)
    rest = m.static_equilibrium()
    results = {name: np.array([float(rest[name])]) for name in m.equations().outputs if name.startswith("boom.")}
    from cotree.terminal.recovery import body_deformation

    found = body_deformation(m, "boom", np.zeros(1), results)
    (stress,) = found.stress(0)
    assert stress.highest == pytest.approx(np.full((8, 2), YOUNG * np.pi * SIDE), rel=1e-4)
    assert found.mises()[0] == pytest.approx(YOUNG * np.pi * SIDE, rel=1e-4)
    assert found.displacements[0, -1] == pytest.approx(vector(rest, "boom.end.deflection"), abs=1e-12)


# -- motion ------------------------------------------------------------------------------------------------------------

THIN = {"section": ct.section.rectangle(0.003, 0.003), "rotary": False}


def links(count: int, t: np.ndarray, side: float) -> np.ndarray:
    """The tip of a chain of rigid links with torsion springs: position (T, 2)."""
    each, g = 1.0 / count, 9.81
    m, k = DENSITY * side**2 * each, YOUNG * side**4 / 12 / each
    i = np.arange(count)
    reach = np.where(i[None] < i[:, None], each, np.where(i[None] == i[:, None], each / 2, 0.0))
    moments, own = m * reach.T @ reach, m * each**2 / 12 * np.eye(count)
    springs = k * (np.diag([1.0, *[2.0] * (count - 2), 1.0]) - np.eye(count, k=1) - np.eye(count, k=-1))
    weight = m * g * reach.sum(axis=0)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        angle, speed = np.split(y, 2)
        between = angle[:, None] - angle
        force = -(moments * np.sin(between)) @ speed**2 - weight * np.cos(angle) - springs @ angle
        return np.concatenate([speed, np.linalg.solve(moments * np.cos(between) + own, force)])

    found = solve_ivp(rates, (0, t[-1]), np.zeros(2 * count), t_eval=t, rtol=1e-9, atol=1e-9, method="LSODA").y[:count]
    return each * np.array([np.cos(found).sum(axis=0), np.sin(found).sum(axis=0)]).T


def test_a_soft_pendulum_runs_and_its_energy_closes() -> None:
    sol = pendulum(4, **THIN).simulate(1.0, points=101)
    audit = sol.energy()
    assert np.abs(audit.closure).max() < 1e-6 * audit.scale
    assert np.linalg.norm(sol["boom.end.deflection"], axis=1).max() > 0.5
    with pytest.raises(ct.SolveError, match="max_steps"):
        pendulum(1, **(THIN | {"modes": 2, "shear": True, "rotary": True})).simulate(1.0)


@pytest.mark.slow
def test_the_soft_pendulum_moves_as_a_chain_of_rigid_links() -> None:
    t = np.linspace(0, 0.8, 81)
    coarse, fine = (links(count, t, 0.003) for count in (12, 24))
    exact = fine + (fine - coarse) / 3
    errors = []
    for segments in (4, 8):
        sol = pendulum(segments, **THIN).simulate(0.8, points=81)
        errors.append(np.linalg.norm(sol["boom.end.position"][:, :2] - exact, axis=1).max())
    assert errors[0] < 0.003
    assert errors[1] < 0.001


def compound(segments: int = 3) -> ct.Model:
    """A pendulum with lumps and a bob on frames at a cut and inside of a segment."""
    m = ct.Model("compound", gravity=DOWN)
    frames = {"inside": 0.5, "cut": {"at": 1 / 3, "axis": (0, 0, 1), "angle": 0.3}}
    masses = {"tip": {"at": "end", "mass": 0.2}, "ring": {"at": "inside", "mass": 0.1}}
    m.add(beam(segments, frames=frames, masses=masses, elements=6))
    m.add(ct.Revolute("O", m.ground, "boom.start", angle=0.4))
    m.add(ct.RigidBody("bob", mass=0.3, inertia=(1e-3, 1e-3, 1e-3), frames={"p": (0, 0.1, 0)}))
    m.add(ct.Revolute("R", "boom.cut", "bob.p", angle=0.2))
    m.add(PointForce("push", "boom.inside", force=("0.5*sin(9*t)", "-3*boom.inside.velocity.y", 0)))
    m.add(JointSpring("spring", "R", stiffness=2.0))
    return m


def test_three_trees_give_the_same_motion() -> None:
    m = compound()
    trees = ["joint", "absolute", m.tree("joint", into_cotree=["R"])]
    first, *others = [m.simulate(0.04, tree=tree, rtol=1e-7, points=9) for tree in trees]
    for name in ("boom.position", "boom.end.position", "boom.inside.deflection", "boom.cut.velocity", "bob.orientation",
                 "boom.cut1.torque", "boom.segment1.mode1", "O.force"):  # fmt: skip
        for other in others:
            assert other[name] == pytest.approx(first[name], abs=2e-5 * max(1.0, float(np.abs(first[name]).max()))), (
                name
            )


def test_frames_deflect_against_the_beams_own_frame() -> None:
    sol = compound().simulate(0.2, points=11)
    e0, e3 = sol["boom.orientation.e0"], sol["boom.orientation.e3"]
    angle = 2 * np.arctan2(e3, e0)
    for frame, x in (("inside", 0.5), ("cut", 1 / 3), ("end", 1.0), ("start", 0.0)):
        away = sol[f"boom.{frame}.position"] - sol["boom.position"]
        along = np.cos(angle) * away[:, 0] + np.sin(angle) * away[:, 1] - x
        across = np.cos(angle) * away[:, 1] - np.sin(angle) * away[:, 0]
        assert sol[f"boom.{frame}.deflection"][:, 0] == pytest.approx(along, abs=1e-12)
        assert sol[f"boom.{frame}.deflection"][:, 1] == pytest.approx(across, abs=1e-12)
    assert angle == pytest.approx(sol["O.angle"], abs=1e-12)
    assert np.abs(sol["boom.end.deflection.y"]).max() > 0.01


def test_a_frame_near_a_node_or_a_cut_is_on_it() -> None:
    near = {"cut": 0.5 - 3e-10, "past": 0.5 + 3e-10, "inner": 0.3000000001, "last": 0.9999999999}
    m = cantilever(10, elements=20, frames=near)
    sol = m.simulate(0.001, points=2)
    assert m.deformation(sol, "boom").places[:, 0] == pytest.approx(np.linspace(0, 1, 21))


def test_segments_close_loops() -> None:
    m = ct.Model("four-bar", gravity=DOWN)
    m.add(
        ct.RigidBody("crank", ct.rod(length=0.3, mass=1.0, radius=0.02), frames={"O": (-0.15, 0, 0), "A": (0.15, 0, 0)})
    )
    m.add(beam(2, length=0.9))
    m.add(
        ct.RigidBody(
            "rocker", ct.rod(length=0.7, mass=1.0, radius=0.02), frames={"B": (-0.35, 0, 0), "C": (0.35, 0, 0)}
        )
    )
    m.add(ct.Revolute("O", m.ground, "crank.O", angle=0.3, angle_rate=4.0, fixed=("angle", "angle_rate")))
    m.add(ct.Revolute("A", "crank.A", "boom.start", angle=0.5))
    m.add(ct.Revolute("B", "boom.end", "rocker.B", angle=-1.5))
    m.add(ct.Revolute("C", "rocker.C", m.ground.at(0.9, 0, 0)))
    first, other = (m.simulate(0.1, tree=tree, rtol=1e-7, points=6) for tree in ("joint", "absolute"))
    assert other["boom.end.position"] == pytest.approx(first["boom.end.position"], abs=1e-6)
    assert first["boom.end.position"] == pytest.approx(first["rocker.B.position"], abs=1e-8)


# -- what one beam can do ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"shapes": "nodal", "modes": None},
        {"shapes": "nodal", "modes": None, "attached": "end"},
        {"shapes": "nodal", "modes": None, "stiffening": "rigid"},
        {"shapes": "nodal", "modes": None, "masses": {"a": {"at": "p", "mass": 0.3}, "b": {"at": "q", "mass": 0.2}}},
        {"shapes": "nodal", "modes": None, "shear": True, "offset": (0.01, 0.0), "mass": "linear"},
    ],
    ids=lambda given: ", ".join(str(key) for key in list(given)[2:]),
)
def test_all_degrees_of_freedom_give_the_frequencies_of_one_beam(given: dict[str, Any]) -> None:
    frames = {"p": 0.5, "q": 0.375}
    one, four = (cantilever(n, frames=frames, **given).modes().frequencies for n in (1, 4))
    assert len(one) == len(four)
    assert four == pytest.approx(one, rel=1e-6)


def test_interface_shapes_of_segments_come_near_those_of_all_degrees() -> None:
    exact = cantilever(1, shapes="nodal", modes=None).modes().frequencies[:3]
    for given in ({}, {"below": 20.0, "modes": None}, {"interface": "end"}):
        assert cantilever(4, **given).modes().frequencies[:3] == pytest.approx(exact, rel=0.01)
    assert cantilever(4, shapes="pinned", modes=3).modes().frequencies[:3] == pytest.approx(exact, rel=0.05)


def test_damping_is_that_of_the_modes_of_the_whole_beam() -> None:
    assert cantilever(3, damping=0.02).modes().damping == pytest.approx(np.full(6, 0.02), rel=1e-6)
    each = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06]
    assert cantilever(3, damping=each).modes().damping == pytest.approx(each, rel=1e-6)
    with pytest.raises(ct.ModelError, match="one for all modes, or 6"):
        cantilever(3, damping=[0.01, 0.02]).modes()
    sol = cantilever(2, PointForce("P", "boom.end", force=(0, 1, 0)), damping=0.1).simulate(0.2, points=21)
    audit = sol.energy()
    assert np.abs(audit.closure).max() < 1e-6 * audit.scale
    assert audit.dissipated[-1] > 0


def test_start_values_hold() -> None:
    m = ct.Model("thrown", gravity=DOWN)
    turn = (np.cos(0.3), 0.0, 0.0, np.sin(0.3))
    start = {"position": (1, 2, 0), "orientation": turn, "velocity": (3, 0, 0), "angular_velocity": (0, 0, 2)}
    elastic = {"segment1.mode1": 0.001, "segment3.mode2": 0.002}
    m.add(beam(3, elastic=elastic, elastic_rate={"segment2.mode1": 0.5}, **start))
    for tree in ("joint", "absolute"):
        sol = m.simulate(0.001, tree=tree, points=2)
        for name in ("position", "orientation", "velocity", "angular_velocity"):
            assert sol[f"boom.{name}"][0] == pytest.approx(start[name], abs=1e-9)
        assert sol["boom.segment1.mode1"][0] == pytest.approx(0.001)
        assert sol["boom.segment3.mode2"][0] == pytest.approx(0.002)
        assert sol["boom.segment2.mode1_rate"][0] == pytest.approx(0.5)


def test_planar_models_and_measured_deflections() -> None:
    m = ct.Model("planar", gravity=DOWN, planar=True)
    m.add(beam(2))
    m.add(ct.Revolute("O", m.ground, "boom.start"))
    m.add(PointForce("P", "boom.end", force=(0, "-2*boom.end.deflection.y - boom.segment2.mode1_rate", 0)))
    space = ct.Model("space", gravity=DOWN)
    for part in m.components.values():
        space.add(part)
    flat, full = (each.simulate(0.1, points=6, rtol=1e-8) for each in (m, space))
    assert flat["boom.end.position"] == pytest.approx(full["boom.end.position"], abs=1e-7)
    absolute = m.simulate(0.1, tree="absolute", points=6, rtol=1e-8)
    assert absolute["boom.end.position"] == pytest.approx(full["boom.end.position"], abs=1e-6)


def test_the_graph_and_the_texts_show_one_body() -> None:
    m, one = compound(), compound(1)
    assert [edge.name for edge in m.graph()] == [edge.name for edge in one.graph()]
    assert "2 bodies, 2 joints" in m.explain()
    sol = m.simulate(0.001, points=2)
    assert any("elastic coordinates (interface shapes) in 3 segments" in note for note in sol.notes), sol.notes
    coordinates = {name for name in sol.names if name.startswith("boom.")}
    first = {name for name in one.simulate(0.001, points=2).names if name.startswith("boom.mode")}
    plain = {name for name in one.simulate(0.001, points=2).names if name.startswith("boom.")} - first
    assert plain <= coordinates


def test_files_keep_one_component(tmp_path: Path) -> None:
    m = compound()
    for kind in ("yaml", "json"):
        path = m.save(tmp_path / f"model.{kind}")
        assert path.read_text().count("boom.cut") == 1
        assert "segments" in path.read_text()
        again = ct.load(path)
        assert again.components["boom"] == m.components["boom"]
        assert list(again.components) == list(m.components)
    sol = m.simulate(0.02, points=3, out=tmp_path / "run.h5")
    stored = ct.Solution.from_hdf5(tmp_path / "run.h5")
    assert stored["boom.end.deflection"] == pytest.approx(sol["boom.end.deflection"])
    rebuilt, _ = ct.rebuild(stored)
    assert rebuilt.components["boom"].segments == 3
    assert rebuilt.deformation(stored, "boom").mises() == pytest.approx(m.deformation(sol, "boom").mises())


def test_one_mesh_and_one_picture() -> None:
    from cotree.maths.rotation import matrices
    from cotree.view.scene import scene_of

    m = compound()
    sol = m.simulate(0.3, points=13)
    found = m.deformation(sol, "boom")
    assert found.places[:, 0] == pytest.approx(np.linspace(0, 1, 7))
    for frame, node in (("start", 0), ("inside", 3), ("cut", 2), ("end", 6)):
        assert found.displacements[:, node] == pytest.approx(sol[f"boom.{frame}.deflection"], abs=2e-5)
    (stress,) = found.stress(-1)
    assert stress.mises.shape[:2] == (6, 2)
    assert found.mises().shape == (13,)
    scene = scene_of(m, sol)
    assert scene is not None
    (skin,) = scene.skins
    assert skin.owner == skin.track == "boom"
    assert skin.stress is not None
    assert skin.stress.max() == pytest.approx(found.mises().max(), rel=0.05)
    track, last = scene.tracks["boom"], skin.mesh.vertices[:, 0].max()
    end = np.abs(skin.mesh.vertices[:, 0] - last) < 1e-9
    for k in range(len(scene.times)):
        moved = skin.mesh.vertices + np.tensordot(skin.coordinates[k], skin.shapes, axes=1)
        place = track.position[k] + matrices(track.orientation[k : k + 1])[0] @ moved[end].mean(axis=0)
        assert place == pytest.approx(scene.tracks["boom.end"].position[k], abs=1e-4)
    assert skin.deflection == pytest.approx(np.linalg.norm(sol["boom.end.deflection"], axis=1).max(), rel=0.05)


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"segments": 0}, r"boom\.segments: found 0\. Expected a whole number from 1 to 200"),
        ({"segments": 2.5}, r"boom\.segments: found 2\.5\. Expected a whole number"),
        ({"segments": "many"}, r"boom\.segments: found 'many'\. Expected a whole number"),
        ({"segments": True}, r"boom\.segments: found True\. Expected a whole number"),
        ({"segments": 201}, r"boom\.segments: found 201\. Expected a whole number"),
        ({"segments": 9}, r"boom\.segments: 9 segments are asked for, but the whole beam has 8 elements.*elements=9"),
        ({"segments": 2, "attached": "mean"}, r"boom\.attached: a beam of 2 segments .*'mean'.*start, end"),
        ({"segments": 2, "attached": ("start", "end")}, r"boom\.attached: a beam of 2 segments"),
        ({"segments": 2, "frames": {"c": "centre_of_mass"}}, r"boom\.frames: the frame 'c' follows the centre of mass"),
        ({"segments": 2, "frames": {"cut1": 0.5}}, r"boom\.frames: the frame name 'cut1' cannot be used"),
    ],
)  # fmt: skip
def test_what_cannot_be_cut_is_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(ct.ModelError, match=text):
        beam(**given)


def test_unknown_elastic_coordinates_are_refused() -> None:
    with pytest.raises(ct.ModelError, match=r"boom\.elastic: there is no elastic coordinate 'mode1'.*segment1\.mode1"):
        cantilever(2, elastic={"mode1": 0.1}).equations()
    with pytest.raises(ct.ModelError, match=r"there is no elastic coordinate 'segment3\.mode1'"):
        cantilever(2, elastic={"segment3.mode1": 0.1}).equations()
    with pytest.raises(ct.ModelError, match=r"boom\.p: the frame is at .*a place on the beam"):
        cantilever(2, frames={"p": 1.5}).equations()


@pytest.mark.parametrize("count", [2, 4])
def test_section_forces_of_segments_are_in_balance(count: int) -> None:
    """A cantilever bent by a quarter of its length: the root carries the joint's moment, the middle the force's."""
    m = ct.Model("cantilever", gravity=(0, 0, 0))
    section, force = ct.section.rectangle(width=0.02, height=0.01), 300.0
    more = {"elements": 8, "modes": 0, "segments": count, "stations": [0.0, 0.5, 1.0]}
    m.add(ct.Beam("boom", length=1.0, section=section, material=ct.STEEL, frames={"middle": 0.5}, **more))
    m.add(ct.Weld("wall", m.ground, "boom.start"))
    m.add(ct.PointForce("push", "boom.end", force=(0, 0, force)))
    rest = m.static_equilibrium()
    assert rest["boom.end.position.z"] > 0.25
    root, middle, tip = rest["boom.moment_y"]
    assert -root == pytest.approx(rest["wall.torque.y"], rel=1e-5)
    arm = rest["boom.end.position.x"] - rest["boom.middle.position.x"]
    assert -middle == pytest.approx(force * arm, rel=1e-3)
    assert abs(tip) < 1e-6 * abs(root)
    assert rest["boom.end.force"] == pytest.approx([0, 0, force], abs=1e-6 * force)
    found = m.deformation(rest, "boom")
    assert found.peak().place == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)
    np.testing.assert_allclose(found.forces(0)[0].my[[0, 4], 0], [root, middle], rtol=1e-6)
