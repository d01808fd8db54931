"""Mistakes in flexible bodies: each is told in words that name the body, what was found, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

import cotree as ct
from cotree.errors import CotreeError

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
    "too many modes": ({"modes": 1000}, "1000 modes are asked for. Expected at most 18.*Ask for fewer modes"),
    "mode zero": ({"modes": [0]}, "the modes are .0.. Expected different numbers, the first mode is 1"),
    "modes beside nodes": ({"shapes": "nodal"}, "b.modes: found 1 beside nodal shapes. Leave out modes"),
    "unknown shapes": ({"shapes": "Clamped"}, "b.shapes: found 'Clamped'.*Did you mean 'clamped'"),
    "unknown stiffening": ({"stiffening": "some"}, "b.stiffening: found 'some'. Expected one of full, rigid, none"),
    "attached to nothing": ({"attached": "foo"}, "b.attached: there is no frame 'foo'. Expected one of start, end"),
    "attached to three": ({"attached": ["start", "end", "start"]}, "b.attached: .*a frame, or two for a chord"),
    "pinned at one end": ({"shapes": "pinned", "attached": "start"}, "b.attached: the shapes are pinned.*two frames"),
    "free at one end": ({"shapes": "free", "attached": "start"}, "b.attached: the shapes are free.*'mean'"),
    "unknown interface": ({"interface": ["mid"]}, "b.interface: there is no frame 'mid'.*Add it to frames"),
    "unknown degree": ({"interface": {"end": "q"}}, "b.interface: there is no degree of freedom 'q'"),
    "negative damping": ({"damping": -0.1}, "a damping ratio is negative"),
    "two ratios": ({"damping": [0.1, 0.1]}, "2 damping ratios are given. Expected one, or 7"),
    "frame beyond the end": ({"frames": {"a": 2.0}}, r"b.a: the frame is at \(2, 0, 0\) m.*x from 0 to 1 m"),
    "frame beside the beam": ({"frames": {"a": (0.5, 0.1, 0)}}, "b.a: the frame is at .*y = z = 0"),
    "frame called start": ({"frames": {"start": 0.2}}, "b: the frame 'start' is the beam's own"),
    "unknown deformation": ({"deforms": ["bending"]}, "b.deforms: found .*some of axial, torsion, xy, xz"),
    "rigid beam": ({"deforms": []}, "b.deforms: found"),
    "unknown start": ({"elastic": {"mode99": 0.1}}, "b.elastic: there is no elastic coordinate 'mode99'"),
    "start is text": ({"elastic": {"mode1": "a"}}, "b.elastic.mode1: found 'a'. Expected a number"),
    "wrong state": ({"start": {"b.mod1": 0.1}}, "'b.mod1' is not a state.*Did you mean 'b.mode1'"),
    "negative lump": ({"masses": {"t": {"at": "end", "mass": -1}}}, "b.masses.t: the mass is -1"),
    "lump nowhere": ({"masses": {"t": {"at": "tip", "mass": 1}}}, "b.masses: 't' is at 'tip'.*start, end"),
    "impossible lump": (
        {"masses": {"t": {"at": "end", "mass": 1, "inertia": [1, 1, 5]}}},
        "b.masses.t: the inertia is .*sum of any two",
    ),
    "no mode below": ({"modes": None, "below": 0.001}, "no mode lies below 0.001 Hz"),
    "offset of one": ({"offset": (1,)}, "b.offset: found .*two lengths"),
    "unknown mass": ({"mass": "lumped"}, "b.mass: found 'lumped'. Expected one of consistent, linear"),
    "out of the plane": ({"planar": True}, "'b' deforms out of the plane.*deforms=..xy.."),
    "joint on a mode": ({"joint": "b.mode1"}, "J: the body 'b' has no frame 'mode1'. Expected one of b.start, b.end"),
    "misspelt field": ({"lenght": 1.0}, "b: Beam has no field 'lenght'.*Did you mean 'length'"),
}
BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "zero thickness": ({"plate": {"thickness": 0, "material": "steel"}}, "b.plate: the thickness .* is 0"),
    "no plate": ({"plate": ...}, "b: the mesh has triangles, but no plate is given"),
    "no mesh": ({"mesh": ...}, "b.mesh: no mesh is given"),
    "unknown mesh": ({"mesh": {"griid": {"size": [1, 1]}}}, "b.mesh: found 'griid'.*Did you mean 'grid'"),
    "beams without section": ({"mesh": {"line": {"start": [0, 0, 0], "end": [1, 0, 0], "elements": 3}}}, "no section"),
    "frame between nodes": ({"frames": {"p": (0, 0, 0), "q": (0.9, 0.97, 0)}}, "b.q: .*nearest is node 8"),
    "node not in the mesh": ({"frames": {"p": 0, "q": 99}}, "b.q: node 99 is not in the mesh. Expected .* 0 to 8"),
    "interface not in the mesh": ({"interface": [99]}, "b.interface: there is no frame 99.*Add it to frames"),
    "not attached": ({"attached": ...}, r"b.attached: it is not said .*\(p, q\)"),
    "unknown set": ({"rigid": {"p": "lef"}}, "b.rigid: the mesh has no set 'lef'"),
    "tied to no frame": ({"rigid": {"zz": "left"}}, "b.rigid: there is no frame 'zz'"),
    "tied twice": ({"rigid": {"p": "left", "q": "top"}}, "node 6 is tied twice"),
    "held nowhere": ({"held": {"lef": "z"}}, "b.held: the mesh has no set 'lef'"),
    "held in no direction": ({"held": {"left": "zz"}}, "b.held: there is no degree of freedom 'zz'"),
    "too many modes": ({"modes": 500}, "500 modes are asked for. Expected at most"),
}


@pytest.mark.parametrize(("given", "message"), BEAMS.values(), ids=BEAMS)
def test_mistakes_in_beams(given: dict[str, Any], message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        run_beam(**given)


@pytest.mark.parametrize(("given", "message"), BODIES.values(), ids=BODIES)
def test_mistakes_in_bodies(given: dict[str, Any], message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        run_body(**given)


def test_an_inverted_triangle() -> None:
    with pytest.raises(CotreeError, match=r"triangle 0 or 1 is inverted: .*edge 2-0"):
        run_body(mesh=ct.mesh.triangles(SQUARE, [(0, 1, 2), (0, 3, 2)]))


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
