"""Mistakes in flexible bodies: each is told in words that name the body, what was found, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

import cotree as ct
from cotree.errors import CotreeError

LINE = {"line": {"start": [0, 0, 0], "end": [1, 0, 0], "elements": 3}}
SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]


def run_beam(planar: bool = False, joint: str = "b.start", start: Any = None, **given: Any) -> None:
    settings = {"length": 1.0, "section": ct.section.circle(0.01), "material": "steel", "elements": 4, "modes": 1}
    m = ct.Model("beam", planar=planar)
    m.add(ct.Beam("b", **{name: value for name, value in (settings | given).items() if value is not ...}))
    m.add(ct.Revolute("J", m.ground, joint))
    m.simulate(1e-4, points=2, **({"start": start} if start else {}))


def run_body(**given: Any) -> None:
    settings = {
        "mesh": ct.mesh.grid(size=(1, 1), cells=(2, 2)),
        "plate": {"thickness": 0.01, "material": "steel"},
        "frames": {"p": (0, 0, 0), "q": (1, 1, 0)},
        "attached": "p",
        "modes": 1,
    }
    m = ct.Model("plate")
    m.add(ct.FlexibleBody("b", **{name: value for name, value in (settings | given).items() if value is not ...}))
    m.add(ct.Revolute("J", m.ground, "b.p"))
    m.simulate(1e-5, points=2)


BEAMS: dict[str, tuple[dict[str, Any], str]] = {
    "negative length": ({"length": -1.0}, "b.length: the value is -1. Expected a positive number in m"),
    "no length": ({"length": ...}, "b.length: no value is given"),
    "unknown parameter": ({"length": "l"}, "b.length: 'l' in the expression 'l' is not known"),
    "no section": ({"section": ...}, r"b.section: it is not given. Expected Beam\("),
    "unknown section": ({"section": {"circl": {"radius": 1}}}, "b.section: there is no section 'circl'.*'circle'"),
    "negative radius": ({"section": {"circle": {"radius": -1}}}, "b.section: .*radius.* is -1"),
    "thick tube": ({"section": {"tube": {"outer": 0.1, "inner": 0.2}}}, "b.section: .*inner is 0.2.*less than 0.1"),
    "unknown material": ({"material": "Steel"}, "b.material: there is no material 'Steel'.*Did you mean 'steel'"),
    "massless": ({"material": {"young": 1e9, "density": 0, "poisson": 0.3}}, "b.material: .*density.* is 0"),
    "no elements": ({"elements": 0}, "b.elements: found 0. Expected a whole number from 1"),
    "half an element": ({"elements": 1.5}, "b.elements: found 1.5"),
    "no modes": ({"modes": ...}, "b.modes: the number of vibration modes is not given"),
    "negative modes": ({"modes": -1}, "b.modes: found -1"),
    "too many modes": ({"modes": 1000}, "b: 1000 modes are asked for. Expected at most 18.*Ask for fewer modes"),
    "mode zero": ({"modes": [0]}, "b.modes: found .0.. Expected .*different mode numbers from 1"),
    "modes beside nodes": ({"shapes": "nodal"}, "b.modes: found 1 beside nodal shapes. Leave out modes"),
    "unknown shapes": ({"shapes": "Clamped"}, "b.shapes: found 'Clamped'.*Did you mean 'clamped'"),
    "unknown stiffening": ({"stiffening": "some"}, "b.stiffening: found 'some'. Expected one of full, rigid, none"),
    "attached to nothing": (
        {"attached": "foo"},
        "b.attached: there is no frame 'foo'. Expected one of start, end. Add it",
    ),
    "attached to three": (
        {"attached": ["start", "end", "start"]},
        "b.attached: found .*Expected a frame, two for a chord",
    ),
    "pinned at one end": ({"shapes": "pinned", "attached": "start"}, "b.attached: the shapes are pinned.*two frames"),
    "free at one end": ({"shapes": "free", "attached": "start"}, "b.attached: the shapes are free.*'mean'"),
    "unknown interface": ({"interface": ["mid"]}, "b.interface: there is no frame 'mid'.*Add it to frames"),
    "unknown degree": ({"interface": {"end": "q"}}, "b.interface.end: there is no degree of freedom 'q'"),
    "negative damping": ({"damping": -0.1}, "b.damping: the damping is -0.1. Expected a part of critical"),
    "two ratios": ({"damping": [0.1, 0.1]}, "b.damping: 2 damping ratios are given. Expected one for all modes, or 7"),
    "frame beyond the end": ({"frames": {"a": 2.0}}, r"b.a: the frame is at \(2, 0, 0\) m.*x from 0 to 1 m"),
    "frame beside the beam": ({"frames": {"a": (0.5, 0.1, 0)}}, "b.a: the frame is at .*y = z = 0"),
    "frame called start": ({"frames": {"start": 0.2}}, "b: the frame 'start' is the beam's own"),
    "unknown deformation": ({"deforms": ["bending"]}, "b.deforms: found .*some of axial, torsion, xy, xz"),
    "rigid beam": ({"deforms": []}, "b.deforms: found"),
    "unknown start": ({"elastic": {"mode99": 0.1}}, "b.elastic: there is no elastic coordinate 'mode99'"),
    "start is text": ({"elastic": {"mode1": "a"}}, "b.elastic.mode1: found 'a'. Expected a number"),
    "wrong state": ({"start": {"b.mod1": 0.1}}, "'b.mod1' is not a state.*Did you mean 'b.mode1'"),
    "negative lump": ({"masses": {"t": {"at": "end", "mass": -1}}}, "b.masses.t: the mass is -1"),
    "lump nowhere": (
        {"masses": {"t": {"at": "tip", "mass": 1}}},
        "b.masses.t: there is no frame 'tip' at a node.*start, end",
    ),
    "impossible lump": (
        {"masses": {"t": {"at": "end", "mass": 1, "inertia": [1, 1, 5]}}},
        "b.masses.t: the inertia is .*sum of any two",
    ),
    "no mode below": ({"modes": None, "below": 0.001}, "no mode lies below 0.001 Hz"),
    "offset of one": ({"offset": (1,)}, "b.offset: found .*two lengths"),
    "unknown mass": ({"mass": "lumped"}, "b.mass: found 'lumped'. Expected one of consistent, linear"),
    "out of the plane": ({"planar": True}, "'b' deforms out of the plane.*deforms=..xy.."),
    "joint on a mode": ({"joint": "b.mode1"}, "J: the body 'b' has no frame 'mode1'. Expected one of b.start, b.end"),
    "huge number of modes": ({"modes": 5000, "elements": 10_000}, "b.modes: found 5000. Expected at most 1000"),
    "a huge mode": ({"modes": [1, 5000]}, "b.modes: found 5000. Expected at most 1000"),
    "no mode at all": ({"modes": 0, "shapes": "clamped"}, "b.modes: found 0. Expected at least one mode.*clamped"),
    "one ratio too few": (
        {"shapes": "clamped", "modes": 2, "damping": [0.1]},
        "b.damping: 1 damping ratios are given. Expected one for all modes, or 2",
    ),
    "no ratio": ({"damping": []}, "b.damping: found .*Expected a part of critical damping"),
    "damping is text": ({"damping": "high"}, "b.damping: found 'high'. Expected a part of critical damping"),
    "lump without mass": ({"masses": {"t": {"at": "end"}}}, "b.masses.t: mass is not given. Expected {at: frame"),
    "misspelt lump": ({"masses": {"t": {"at": "end", "mas": 1}}}, "b.masses.t: a lump has no 'mas'.*'mass'"),
    "lump is a number": ({"masses": {"t": 3}}, "b.masses.t: found 3. Expected {at: frame, mass: 1}"),
    "lumps are a number": ({"masses": 3}, "b.masses: found 3. Expected {tip: {at: end, mass: 1}}"),
    "inertia is a number": (
        {"masses": {"t": {"at": "end", "mass": 1, "inertia": 3}}},
        "b.masses.t.inertia: found 3. Expected 3 moments",
    ),
    "inertia is no number": (
        {"masses": {"t": {"at": "end", "mass": 1, "inertia": [1, float("nan"), 1]}}},
        "b.masses.t.inertia: the value is nan",
    ),
    "lump on the centre": (
        {"frames": {"G": "centre_of_mass"}, "masses": {"t": {"at": "G", "mass": 1}}},
        "b.masses.t: there is no frame 'G' at a node. Expected one of start, end",
    ),
    "attached to the centre": (
        {"frames": {"G": "centre_of_mass"}, "attached": "G"},
        "b.attached: the frame 'G' follows the centre of mass, .*Expected one of start, end",
    ),
    "deformation twice": ({"deforms": ["xy", "xy"]}, "b.deforms: found .*each once"),
    "material of a number": (
        {"material": {"young": 1e9, "density": 1, "poisson": 0.3, "name": 5}},
        "b.material: material: the name is 5. Expected text",
    ),
    "frame called position": (
        {"frames": {"position": 0.2}},
        "b.frames: the frame name 'position' cannot be used: a value or",
    ),
    "frame called as a field": ({"frames": {"section": 0.2}}, "b.frames: the frame name 'section' cannot be used"),
    "frame called as a mode": ({"frames": {"mode1_rate": 0.2}}, "b.frames: the frame name 'mode1_rate' cannot be used"),
    "frame with a blank": ({"frames": {"a b": 0.2}}, "b.frames: the frame name 'a b' cannot be used. Expected letters"),
    "misspelt field": ({"lenght": 1.0}, "b: Beam has no field 'lenght'.*Did you mean 'length'"),
}
BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "zero thickness": ({"plate": {"thickness": 0, "material": "steel"}}, "b.plate: the thickness .* is 0"),
    "no plate": ({"plate": ...}, "b: the mesh has triangles, but no plate is given"),
    "no mesh": ({"mesh": ...}, "b.mesh: no mesh is given"),
    "unknown mesh": ({"mesh": {"griid": {"size": [1, 1]}}}, "b.mesh: found 'griid'.*Did you mean 'grid'"),
    "beams without section": ({"mesh": LINE, "plate": ...}, "b: the mesh has lines, but no section is given"),
    "frame between nodes": ({"frames": {"p": (0, 0, 0), "q": (0.9, 0.97, 0)}}, "b.q: .*nearest is node 8"),
    "node not in the mesh": ({"frames": {"p": 0, "q": 99}}, "b.q: node 99 is not in the mesh. Expected .* 0 to 8"),
    "interface not in the mesh": ({"interface": [99]}, "b.interface: found .99.. Expected names of frames, or"),
    "not attached": ({"attached": ...}, r"b.attached: it is not said .*\(p, q\)"),
    "unknown set": (
        {"rigid": {"p": "lef"}},
        "b.rigid.p: the mesh has no set 'lef'.*one of left, .*Did you mean 'left'",
    ),
    "tied to no frame": ({"rigid": {"zz": "left"}}, "b.rigid: there is no frame 'zz'"),
    "tied twice": ({"rigid": {"p": "left", "q": "top"}}, "node 6 is tied twice"),
    "held nowhere": ({"held": {"lef": "z"}}, "b.held: the mesh has no set 'lef'"),
    "held in no direction": ({"held": {"left": "zz"}}, "b.held.left: there is no degree of freedom 'zz'"),
    "nothing tied": ({"rigid": {"p": None}}, "b.rigid.p: found None. Expected a set of the mesh, or a list of at"),
    "an empty tie": (
        {"frames": {"p": (0, 0, 0), "q": (2, 2, 0)}, "rigid": {"q": []}},
        r"b.rigid.q: found \[\]. Expected a set of the mesh, or a list of at least one node",
    ),
    "tied to the centre": (
        {"frames": {"p": (0, 0, 0), "G": "centre_of_mass"}, "rigid": {"G": "left"}},
        "b.rigid: the frame 'G' follows the centre of mass, which is no point of the body. Expected one of p",
    ),
    "tied node unknown": ({"rigid": {"p": [99]}}, "b.rigid.p: found 99. Expected a whole number from 0 to 8"),
    "ties are text": ({"rigid": "left"}, "b.rigid: found 'left'. Expected frames with a set or a list of nodes"),
    "held is a number": ({"held": {"left": 3}}, "b.held.left: found 3. Expected all, or some of x y z rx ry rz"),
    "held is empty": ({"held": {"left": []}}, "b.held.left: no degree of freedom is named"),
    "direction in the plane": ({"direction": (1, 0)}, r"b.direction: found \(1, 0\). Expected a vector: three numbers"),
    "direction is text": ({"direction": "x"}, "b.direction: found 'x'. Expected a vector"),
    "direction is a number": ({"direction": 1}, "b.direction: found 1. Expected a vector"),
    "no direction": ({"direction": (0, 0, 0)}, r"b.direction: found \(0, 0, 0\). .*not all zero"),
    "size is nothing": (
        {"mesh": {"grid": {"size": [None, 1], "cells": [2, 2]}}},
        "b.mesh: the width is None. Expected a positive length in m",
    ),
    "size of sizes": ({"mesh": {"grid": {"size": [[1, 2], 1], "cells": [2, 2]}}}, r"b.mesh: the width is \[1, 2\]"),
    "cells of cells": (
        {"mesh": {"grid": {"size": [1, 1], "cells": [[1], 2]}}},
        r"b.mesh: the number of cells is \[1\]",
    ),
    "section of shells": ({"section": ct.section.circle(0.1)}, "b.section: it is given, but the mesh has no lines"),
    "material of shells": ({"material": "steel"}, "b.material: it is given, .*no lines.*Leave out material"),
    "shear of shells": ({"shear": False}, "b.shear: it is given, but the mesh has no lines"),
    "mass of shells": ({"mass": "linear"}, "b.mass: it is given, but the mesh has no lines"),
    "offset of shells": ({"offset": (0, 1)}, "b.offset: it is given, but the mesh has no lines"),
    "section along its line": (
        {
            "mesh": LINE,
            "plate": ...,
            "section": {"circle": {"radius": 0.1}},
            "material": "steel",
            "section_y": (2, 0, 0),
        },
        "b.section_y: line 0 of the mesh runs along it. Expected a vector across every line",
    ),
    "plate of lines": ({"mesh": LINE}, "b.plate: it is given, but the mesh has no triangles.*Leave out plate"),
    "frame called mesh": ({"frames": {"mesh": 0}}, "b.frames: the frame name 'mesh' cannot be used: a value or result"),
    "too many modes": ({"modes": 500}, "b: 500 modes are asked for. Expected at most"),
}


@pytest.mark.parametrize(("given", "message"), BEAMS.values(), ids=BEAMS)
def test_mistakes_in_beams(given: dict[str, Any], message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        run_beam(**given)


@pytest.mark.parametrize(("given", "message"), BODIES.values(), ids=BODIES)
def test_mistakes_in_bodies(given: dict[str, Any], message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        run_body(**given)


@pytest.mark.parametrize("field", ["damping", "masses", "rigid", "held", "attached", "interface"])
def test_what_is_told_before_any_run(field: str) -> None:
    """A mistake shows where the body is made, not only where it is simulated."""
    mesh, plate = ct.mesh.grid(size=(1, 1), cells=(2, 2)), ct.Plate(0.01, ct.STEEL)
    given: dict[str, Any] = {"frames": {"p": 0}, "attached": "p", "modes": 1} | {
        field: {"masses": {"t": {"at": "q", "mass": 1}}, "rigid": {"p": "lef"}, "held": {"lef": "x"}}.get(field, "q")
    }
    with pytest.raises(CotreeError, match=rf"^b\.{field}"):
        ct.FlexibleBody("b", mesh=mesh, plate=plate, **given)


def test_an_error_of_the_elements_names_the_body() -> None:
    """Also where the name of the body begins like the place that the error knows."""
    section = {"general": {"area": 1e-4, "iy": 1e-9, "iz": 1e-9, "torsion": 2e-9}}
    body = ct.Beam("s", length=1.0, section=section, material="steel", elements=2, modes=1)
    with pytest.raises(CotreeError, match=r"^s: section: the shear factors of a general section are not given"):
        body.tables(body.values({}))


def test_modes_below_any_frequency_are_bounded() -> None:
    with pytest.raises(
        CotreeError, match=r"b: more than 994 modes lie below 1e\+12 Hz\. .*lower frequency, or say how"
    ):
        run_beam(elements=2000, modes=None, below=1e12)


def test_an_inverted_triangle() -> None:
    with pytest.raises(CotreeError, match=r"triangle 0 or 1 is inverted: .*edge 2-0.*Give triangle 1 as 0, 2, 3"):
        run_body(mesh=ct.mesh.triangles(SQUARE, [(0, 1, 2), (0, 3, 2)]))


def test_a_model_file_can_turn_triangles() -> None:
    mesh = {"nodes": SQUARE, "triangles": [(0, 1, 2), (0, 3, 2)]}
    with pytest.raises(CotreeError, match=r"b.mesh: triangle 0 or 1 is inverted.*orient: true beside the triangles"):
        run_body(mesh=mesh)
    found = ct.mesh.mesh_from_data(mesh | {"orient": True}, "b.mesh")
    assert found.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("name", ["position", "centre", "acceleration", "mass", "size"])
def test_frames_of_rigid_bodies_have_names_of_their_own(name: str) -> None:
    with pytest.raises(CotreeError, match=f"^b.frames: the frame name '{name}' cannot be used: .*Choose another name"):
        ct.RigidBody("b", ct.box(size=(1, 1, 1), mass=1), frames={name: (1, 0, 0)})


def test_a_flat_triangle() -> None:
    with pytest.raises(CotreeError, match="triangle 2 with nodes 0, 4, 1 has no area"):
        run_body(mesh=ct.mesh.triangles([*SQUARE, (0.5, 0, 0)], [(0, 1, 2), (0, 2, 3), (0, 4, 1)]))


def test_a_loose_part() -> None:
    mesh = ct.mesh.triangles([*SQUARE, (5, 0, 0), (6, 0, 0), (6, 1, 0)], [(0, 1, 2), (0, 2, 3), (4, 5, 6)])
    with pytest.raises(CotreeError, match=r"in 2 parts that no element connects; .*node 4, node 5, node 6"):
        run_body(mesh=mesh)


@pytest.mark.parametrize(
    "given", [{}, {"deforms": "xy"}, {"attached": ["start"]}, {"frames": {"a": {"at": 0.5, "axis": (0, 0, 1)}}}]
)
def test_what_is_no_mistake(given: dict[str, Any]) -> None:
    run_beam(**given)


def test_a_body_whose_stiffnesses_are_lost_in_rounding() -> None:
    """A tube as wide as a planet (mutant 9924 of seed 17): one message, no traceback of a library."""
    m = ct.Model("arm", gravity=(0, 0, -9.81))
    section, lump = ct.section.tube(outer=1.5e10, inner=0.0135), {"at": "end", "mass": 2, "inertia": [0.004] * 3}
    more = {"elements": 6, "modes": 0, "deforms": ["torsion", "xy", "xz"], "masses": {"payload": lump}}
    m.add(ct.Beam("arm", length=1.0, section=section, material="aluminium", **more))
    m.add(ct.Weld("wall", m.ground, "arm.start"))
    with pytest.raises(CotreeError, match="arm: the shapes of the body cannot be told apart"):
        m.simulate(0.1)
