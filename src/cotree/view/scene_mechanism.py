"""Mechanisms in space: bodies, joints by their coordinates, elements between frames, and what they stand on."""

from __future__ import annotations

from typing import Any

import numpy as np

from cotree.errors import CotreeError
from cotree.maths.rotation import matrices
from cotree.terminal.constraints import RollingDisc
from cotree.terminal.deformable import Deformable
from cotree.terminal.forces import OnFrame
from cotree.terminal.mechanics import (
    ORIENTATION,
    Body,
    Connection,
    Constraint,
    Driver,
    Element,
    Joint,
    OnJoint,
)
from cotree.terminal.mounts import Mount
from cotree.terminal.springs import Bushing, Damper, Spring
from cotree.view.scene import METAL, SPRING, STONE, Solid, Stage, Strut
from cotree.view.scene_bodies import add_body, add_traces
from cotree.view.scene_forces import add_forces
from cotree.view.scene_shapes import (
    Array,
    Mesh,
    arc_arrow,
    box,
    coil,
    cylinder,
    flat,
    frame_along,
    joined,
    revolved,
    sphere,
    tube,
)

PIN = 0.02
"""Radius of a pin as part of the size of the model."""


def add_mechanism(stage: Stage) -> None:
    """Everything of a mechanism."""
    parts = list(stage.model.components.values())
    for part in parts:
        if isinstance(part, Deformable) and part.name in stage.tracks:
            from cotree.view.scene_flexible import add_flexible

            try:
                add_flexible(stage, part)
            except CotreeError:  # its mesh cannot be made again, as where a file is gone: show its frames
                add_body(stage, part.name, None)
        elif isinstance(part, Body) and part.name in stage.tracks:
            add_body(stage, part.name, getattr(part, "shape", None))
    joints = {part.name: part for part in parts if isinstance(part, Joint)}
    for part in parts:
        if isinstance(part, Joint):
            add_joint(stage, part.name, part.ends[0], part.ends[1], part.coordinates, axes_of(stage, part.name))
        elif isinstance(part, OnJoint) and part.on in joints:
            _on_joint(stage, part, joints[part.on])
        elif isinstance(part, Connection) and not isinstance(part, OnFrame):
            _between(stage, part)
    if any(isinstance(part, Mount) for part in parts):
        from cotree.view.scene_lines import add_lines

        add_lines(stage)
    add_forces(stage)
    add_traces(stage)


def axes_of(stage: Stage, name: str) -> list[Array]:
    """The axes that a joint is given, in both its frames."""
    values = stage.values[name]
    found = []
    for field in ("axis", "axis_1", "axis_2", "normal"):
        if f"{field}.x" in values:
            axis = np.array([values[f"{field}.{x}"] for x in "xyz"])
            found.append(axis / max(float(np.linalg.norm(axis)), 1e-300))
    return found


def add_joint(stage: Stage, name: str, a: str, b: str, coordinates: Any, axes: list[Array]) -> None:
    """Draw a joint by what it leaves free: a pin, a slider on its rail, a ball, a cross, a plane or a block."""
    if a not in stage.tracks or b not in stage.tracks:
        return
    free = [_word(c) for c in coordinates]
    half, radius = _room(stage, a, b, axes)
    mesh = glyph(free, axes, stage.size, half)
    if mesh is not None:
        stage.solids.append(Solid(name, mesh, b, METAL, "joint"))
        stage.labels.setdefault(name, b)
    if "translation" in free and len(axes) == 1 and free.count("translation") == 1:
        _rail(stage, name, a, b, axes[0])
    for end, other in ((a, b), (b, a)):
        if moves(stage, end) or "translation" in free or not (moves(stage, other) or end == other):
            continue
        _pedestal(stage, name, end, axes, half, radius)


def _room(stage: Stage, a: str, b: str, axes: list[Array]) -> tuple[float, float]:
    """How far the solids of the bodies reach from a joint along its axis, and how far around it where they hide it."""
    along = around = 0.0
    for end in (a, b):
        owner = end.partition(".")[0]
        solid = next((each for each in stage.solids if each.owner == owner and each.group == "body"), None)
        if solid is None or len(axes) != 1:
            continue
        body, frame = stage.tracks[solid.track], stage.tracks[end]
        places = body.position[0] + solid.mesh.vertices @ matrices(body.orientation[:1])[0].T - frame.position[0]
        places = places @ matrices(frame.orientation[:1])[0]
        away = places - np.outer(places @ axes[0], axes[0])
        far, radius = float(np.abs(places @ axes[0]).max()), float(np.linalg.norm(away, axis=1).max())
        centred = np.linalg.norm(away.max(axis=0) + away.min(axis=0)) < 0.5 * radius
        shaped = getattr(stage.model.components.get(owner), "shape", None) is not None
        if (shaped and far < radius + 3 * PIN * stage.size) or centred:
            along = max(along, far)
        if centred:
            around = max(around, radius)
    return along, around


def moves(stage: Stage, node: str) -> bool:
    """Whether a frame belongs to a body."""
    return f"{node}.position.x" in stage.solution


def _word(coordinate: Any) -> str:
    """What a coordinate is: orientation, rotation or translation."""
    if coordinate.name == ORIENTATION:
        return "orientation"
    return str(getattr(coordinate, "group", None) or coordinate.word)


def glyph(free: list[str], axes: list[Array], size: float, half: float = 0.0) -> Mesh | None:
    """The picture of a joint in the axes of its frames; None where it holds nothing. ``half`` is hidden by bodies."""
    pin = PIN * size
    turns, slides = free.count("rotation"), free.count("translation")
    if "orientation" in free:
        return sphere(1.25 * pin) if not slides else None
    if slides > 1 and not turns:
        return None
    if not free:
        return box(2.2 * pin, 2.2 * pin, 2.2 * pin)
    if turns > 1 and len(axes) > 1:
        return joined([cylinder(0.6 * pin, 4.5 * pin).moved(turn=frame_along(axis)) for axis in axes[:2]])
    if not axes:
        return sphere(1.25 * pin)
    turn = frame_along(axes[0])
    if slides > 1:
        return box(0.3 * pin, 7 * pin, 7 * pin).moved(turn=turn)
    if slides:
        sleeve = tube(1.5 * pin, 0.8 * pin, 4 * pin) if turns else box(4 * pin, 2.6 * pin, 2.6 * pin)
        return sleeve.moved(turn=turn)
    return cylinder(pin, max(4.2 * pin, 2 * half + 1.6 * pin)).moved(turn=turn)


def _rail(stage: Stage, name: str, a: str, b: str, axis: Array) -> None:
    """A thin rod along the way that a slider takes on its frame a."""
    base, slider = stage.tracks[a], stage.tracks[b]
    away = np.einsum("fji,fj->fi", matrices(base.orientation), slider.position - base.position)
    travel = away @ axis
    margin = 4 * PIN * stage.size
    low, high = float(travel.min()) - margin, float(travel.max()) + margin
    radius = 0.4 * PIN * stage.size
    rod = cylinder(radius, high - low, 12).moved((low + high) / 2 * axis, frame_along(axis))
    ends = [cylinder(2.2 * radius, radius, 12).moved(x * axis, frame_along(axis)) for x in (low, high)]
    stage.solids.append(Solid(name, joined([rod, *ends]), a, STONE, "ground" if not moves(stage, a) else "joint"))


def _pedestal(stage: Stage, name: str, ground: str, axes: list[Array], half: float, radius: float) -> None:
    """What carries a joint on the ground: a pyramid below it, or behind the body where that would hide it."""
    track = stage.tracks[ground]
    if any(each.group == "ground" and each.track == ground for each in stage.solids):
        return
    own = matrices(track.orientation[:1])[0]
    down, shift, pin = -stage.up, np.zeros(3), PIN * stage.size
    height = 4.2 * pin
    if radius > 2.5 * pin and axes and abs((own @ axes[0]) @ down) < 0.9:
        height, back = 1.3 * radius, own @ axes[0]
        shift = back * (half + 2.2 * pin) * (-1.0 if back @ stage.front > 0 else 1.0)
    wide = max(4.8 * pin, 0.45 * height)
    foot = height - 0.6 * pin
    profile: list[tuple[float, float] | None] = [
        (-0.9 * pin if shift.any() else 0.0, 0.22 * wide),
        (foot, 0.75 * wide),
        None,
    ]
    profile += [(foot, 0.0), (foot, wide), None, (foot, wide), (height, wide), None, (height, wide), (height, 0.0)]
    eighth = np.sqrt(0.5)
    level = np.array([[1.0, 0.0, 0.0], [0.0, eighth, -eighth], [0.0, eighth, eighth]])
    mesh = flat(revolved(profile, 4).moved(turn=frame_along(down) @ level)).moved(shift)
    stage.solids.append(Solid(name, mesh.moved(turn=own.T), ground, STONE, "ground"))


def _on_joint(stage: Stage, part: OnJoint, joint: Joint) -> None:
    """A driver or a force along a coordinate: an arrow or a coil around its joint's axis, or a strut along it."""
    axes = axes_of(stage, joint.name)
    if not axes or joint.frame_b not in stage.tracks:
        return
    name = part.chosen(joint)
    word = next(_word(c) for c in joint.coordinates if c.name == name)
    pin, turn = PIN * stage.size, frame_along(axes[-1] if name.endswith("2") else axes[0])
    drives = isinstance(part, Driver) or part.supplies
    a, b = joint.ends
    carrier = a if a in stage.tracks else b
    if word == "rotation" and drives:
        mesh = arc_arrow(2.6 * pin, 0.22 * pin).moved(shift=1.6 * pin * turn[:, 0], turn=turn)
    elif word == "rotation":
        mesh = coil(4.0, 0.25).moved(scale=(1.6 * pin, 1.8 * pin, 1.8 * pin)).moved(turn=turn)
    else:
        apart = np.linalg.norm(stage.tracks[carrier].position - stage.tracks[b].position, axis=1)
        if float(apart.max()) > 1e-6 * stage.size:
            mesh = dashpot() if drives else slack(stage, carrier, b, 1.2 * pin)
            stage.struts.append(Strut(part.name, mesh, carrier, b, 1.2 * pin, SPRING, "joint"))
        return
    stage.solids.append(Solid(part.name, mesh, carrier, SPRING, "joint"))


def _between(stage: Stage, part: Connection) -> None:
    """A spring, a damper, a rod: whatever acts between two frames."""
    a, b = part.ends
    if a not in stage.tracks or b not in stage.tracks:
        return
    pin = PIN * stage.size
    if isinstance(part, RollingDisc):
        if getattr(stage.model.components[b.partition(".")[0]], "shape", None) is None:
            axis = np.array([stage.values[part.name][f"axis.{x}"] for x in "xyz"])
            wheel = tube(stage.values[part.name]["radius"], 0.86 * stage.values[part.name]["radius"], 2 * pin, 48)
            owner = b.partition(".")[0]
            stage.solids.append(Solid(owner, wheel.moved(turn=frame_along(axis)), b, stage.colour(owner)))
        return
    if isinstance(part, Bushing):
        stage.solids.append(Solid(part.name, tube(1.8 * pin, 0.9 * pin, 2.4 * pin), b, SPRING, "joint"))
    apart = float(np.linalg.norm(stage.tracks[a].position - stage.tracks[b].position, axis=1).max())
    rigid = isinstance(part, Constraint) and "length" in stage.values[part.name]
    if apart < 1e-6 * stage.size or not (isinstance(part, Element) or rigid):
        return
    radius = pin * (0.55 if rigid else 1.5 if isinstance(part, (Spring, Damper)) else 0.35)
    mesh = slack(stage, a, b, radius) if isinstance(part, Spring) else dashpot() if isinstance(part, Damper) else rod()
    stage.struts.append(Strut(part.name, mesh, a, b, radius, METAL if rigid else SPRING, "joint"))
    stage.labels.setdefault(part.name, b)
    for end in (a, b):
        if rigid and not moves(stage, end):
            stage.solids.append(Solid(part.name, sphere(1.25 * pin), end, METAL, "joint"))
            _pedestal(stage, part.name, end, [], 0.0, 0.0)
        elif not moves(stage, end):
            stage.solids.append(Solid(part.name, box(2 * pin, 2 * pin, 2 * pin), end, STONE, "joint"))


def slack(stage: Stage, a: str, b: str, radius: float) -> Mesh:
    """A coil for the mean distance of two frames."""
    apart = np.linalg.norm(stage.tracks[a].position - stage.tracks[b].position, axis=1)
    return coil(max(float(apart.mean()) / radius, 2.0))


def rod(sides: int = 12) -> Mesh:
    """A plain rod from x = 0 to 1 with radius 1."""
    return revolved([(0.0, 0.0), (0.0, 1.0), None, (0.0, 1.0), (1.0, 1.0), None, (1.0, 1.0), (1.0, 0.0)], sides)


def dashpot() -> Mesh:
    """A cylinder with a piston rod, from x = 0 to 1 with radius 1."""
    profile: list[tuple[float, float] | None] = [(0.0, 0.0), (0.0, 0.3), (0.2, 0.3), None, (0.2, 0.3), (0.2, 1.0), None]
    profile += [(0.2, 1.0), (0.65, 1.0), None, (0.65, 1.0), (0.65, 0.3), None, (0.65, 0.3), (1.0, 0.3), (1.0, 0.0)]
    return revolved(profile, 16)
