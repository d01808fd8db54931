"""Mechanisms given as bond graphs in space: bodies, joints and rigid arms, placed by the bonds between their frames."""

from __future__ import annotations

import numpy as np

from cotree.bond.junctions import Bond
from cotree.bond.mechanics.base import FramePart
from cotree.bond.mechanics.bodies import CENTRE
from cotree.bond.mechanics.forces import OnFrame, PointDamper, PointSpring
from cotree.maths.rotation import matrices
from cotree.view.scene import METAL, SPRING, Arrow, Stage, Strut
from cotree.view.scene_bodies import LINK, add_body, add_traces
from cotree.view.scene_forces import keep_large, wrench_arrows
from cotree.view.scene_frames import Track, fixed, frame_turn, product
from cotree.view.scene_mechanism import PIN, add_joint, axes_of, dashpot, rod, slack


def add_bond_mechanism(stage: Stage) -> None:
    """Everything with a place in space."""
    parts = {name: part for name, part in stage.model.components.items() if isinstance(part, FramePart)}
    bodies = [node for node in stage.tracks if f"{node}.orientation.e0" in stage.solution]
    for node in list(stage.tracks):
        body = node.rpartition(".")[0]
        if body in bodies:
            _turn_frame(stage, body, node)
    for name, part in parts.items():
        if part.role == "ground":
            stage.tracks[name] = fixed(len(stage.frames), *frame_turn(stage.values[name]))
    for name in bodies:
        stage.values.setdefault(name, {})
        add_body(stage, name, None)
    pairs = [
        (_full(part.tail, parts), _full(part.head, parts))
        for part in stage.model.components.values()
        if isinstance(part, Bond)
    ]
    told = _told(stage, parts, [*pairs, *((b, a) for a, b in pairs)])
    at = _spread(parts, told, [*pairs, *((b, a) for a, b in pairs)])
    arrows: list[Arrow] = []
    for name, part in parts.items():
        ends = [at.get(f"{name}.{port}") for port in part.frame_ports()]
        if part.role == "joint":
            a, b = (ends[0] or ends[1]), (ends[1] or ends[0])
            if a and b:
                add_joint(stage, name, a, b, part.coordinates, axes_of(stage, name))  # type: ignore[attr-defined]
            if f"{name}.a" in told and b:
                arrows += wrench_arrows(stage, name, told[f"{name}.a"], b, reaction=True)
        elif len(ends) == 2 and ends[0] and ends[1] and ends[0] != ends[1]:
            _between(stage, part, ends[0], ends[1])
            arrows += _pull(stage, name, ends[0], ends[1]) if isinstance(part, (PointSpring, PointDamper)) else []
        elif isinstance(part, OnFrame) and f"{name}.frame" in told:
            arrows += _load(stage, part, told[f"{name}.frame"])
    keep_large(stage, arrows)
    add_traces(stage)


def _pull(stage: Stage, name: str, a: str, b: str) -> list[Arrow]:
    """The force on b of something that pulls two points together."""
    tension = stage.result(f"{name}.force")
    if tension is None:
        return []
    way = stage.tracks[a].position - stage.tracks[b].position
    way /= np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-300)
    return [Arrow(name, b, tension[:, None] * way, False, False)]


def _load(stage: Stage, part: OnFrame, track: str) -> list[Arrow]:
    """The force or torque of a source on a frame, whose effort is in the axes of that."""
    effort = stage.result(f"{part.name}.source.effort")
    if effort is None:
        return []
    world = np.einsum("fij,fj->fi", matrices(stage.tracks[track].orientation), effort)
    return [Arrow(part.name, track, world, part.word == "rotation", False)]


def _turn_frame(stage: Stage, body: str, node: str) -> None:
    """Give a frame of a body its axes: those of the body, turned as the frame is."""
    values = stage.values.get(body, {})
    prefix = f"{node.removeprefix(body + '.')}."
    own = {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}
    _, (e0, *e) = frame_turn(own)
    own_turn, carrier, frame = np.array([[e0, *e]]), stage.tracks[body], stage.tracks[node]
    rate = None if carrier.rate is None else product(carrier.rate, own_turn)
    stage.tracks[node] = Track(frame.position, product(carrier.orientation, own_turn), frame.velocity, rate)


def _told(stage: Stage, parts: dict[str, FramePart], pairs: list[tuple[str, str]]) -> dict[str, str]:
    """The track at each port that is bonded to a frame of a body or of the ground."""
    known = ((one, _known(stage, other, parts)) for one, other in pairs)
    return {one: track for one, track in known if track is not None}


def _spread(parts: dict[str, FramePart], told: dict[str, str], pairs: list[tuple[str, str]]) -> dict[str, str]:
    """A track at the place of each port, as far as it can be told.

    The two ends of a joint without translation are at one place, so the track of one serves for the other, too.
    """
    at = dict(told)
    for _ in parts:
        for name, part in parts.items():
            ports = [f"{name}.{port}" for port in part.frame_ports()]
            still = part.role == "joint" and not any(c.word == "translation" for c in getattr(part, "coordinates", ()))
            found = next((at[port] for port in ports if port in at), None)
            if still and found is not None:
                for port in ports:
                    at.setdefault(port, found)
        for one, other in pairs:
            if other in at and one.partition(".")[0] in parts:
                at.setdefault(one, at[other])
    return at


def _full(end: str, parts: dict[str, FramePart]) -> str:
    """An end of a bond with its port."""
    part = parts.get(end)
    return f"{end}.{part.frame_ports()[0]}" if part is not None and part.frame_ports() else end


def _known(stage: Stage, end: str, parts: dict[str, FramePart]) -> str | None:
    """The track of a frame of a body or of the ground."""
    owner, _, port = end.rpartition(".")
    if owner in parts and parts[owner].role == "ground":
        return owner
    if port == CENTRE and owner in stage.tracks:
        return owner
    return end if end in stage.tracks else None


def _between(stage: Stage, part: FramePart, a: str, b: str) -> None:
    """A rigid arm, a spring or a damper."""
    apart = np.linalg.norm(stage.tracks[a].position - stage.tracks[b].position, axis=1).max()
    if apart < 1e-6 * stage.size:
        return
    pin = PIN * stage.size
    if part.role == "rigid":
        stage.struts.append(Strut(part.name, rod(), a, b, LINK * stage.size, METAL))
    else:
        wide = pin * (1.5 if isinstance(part, (PointSpring, PointDamper)) else 0.35)
        mesh = rod()
        if isinstance(part, (PointSpring, PointDamper)):
            mesh = slack(stage, a, b, wide) if isinstance(part, PointSpring) else dashpot()
        stage.struts.append(Strut(part.name, mesh, a, b, wide, SPRING, "joint"))
    stage.labels.setdefault(part.name, b)
