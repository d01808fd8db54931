"""Lines of a machine between two frames: cylinders as barrel and rod, springs as coils."""

from __future__ import annotations

import numpy as np

from cotree.model import Model
from cotree.terminal.mounts import AxisMount
from cotree.terminal.translational import Line
from cotree.view.scene import METAL, SPRING, Solid, Stage, Strut
from cotree.view.scene_frames import Track
from cotree.view.scene_mechanism import PIN, axes_of, dashpot, rod, slack
from cotree.view.scene_shapes import arc_arrow, frame_along

LONGEST = 1.8
"""Longest over shortest length up to which a barrel and a rod of constant lengths fit."""


def add_lines(stage: Stage) -> None:
    """Draw every line of a network that acts between two frames, and what drives the axis of a joint."""
    for part in stage.model.components.values():
        if isinstance(part, Line):
            _line(stage, part)
        elif isinstance(part, AxisMount):
            _axis(stage, part)


def _line(stage: Stage, line: Line) -> None:
    a, b = line.ends
    if a not in stage.tracks or b not in stage.tracks:
        return
    way = stage.tracks[b].position - stage.tracks[a].position
    length = np.linalg.norm(way, axis=1)
    least, most = float(length.min()), float(length.max())
    if most < 1e-6 * stage.size:
        return
    radius = min(1.5 * PIN * stage.size, 0.08 * most)
    stage.labels.setdefault(line.name, b)
    kinds = _kinds(stage.model, line)
    if any("spring" in kind for kind in kinds) and not any("cylinder" in kind for kind in kinds):
        stage.struts.append(Strut(line.name, slack(stage, a, b, radius), a, b, radius, SPRING, "joint"))
        return
    if least < 1e-6 * stage.size or most > LONGEST * least:
        stage.struts.append(Strut(line.name, dashpot(), a, b, radius, METAL, "joint"))
        return
    unit = way / length[:, None]
    barrel = 0.92 * least
    inner = min(most - 0.25 * barrel, 0.97 * least)
    ends = {"barrel": stage.tracks[a].position + barrel * unit, "rod": stage.tracks[b].position - inner * unit}
    for word, place in ends.items():
        stage.tracks[f"{line.name}.{word}"] = Track(place, np.tile([1.0, 0.0, 0.0, 0.0], (len(place), 1)))
    stage.struts.append(Strut(line.name, rod(20), a, f"{line.name}.barrel", radius, SPRING, "joint"))
    stage.struts.append(Strut(line.name, rod(16), f"{line.name}.rod", b, 0.45 * radius, METAL, "joint"))


def _kinds(model: Model, line: Line) -> list[str]:
    """Kinds of the components that share a node with a line."""
    return [
        part.kind
        for part in model.components.values()
        if part is not line and part.ports and any(line.plus in pair for pair in part.node_pairs())
    ]


def _axis(stage: Stage, mount: AxisMount) -> None:
    """An arrow around the axis of a joint that is driven."""
    joint = stage.model.components.get(mount.on)
    carrier = getattr(joint, "frame_a", "")
    if mount.kind != "rotational.axis" or carrier not in stage.tracks or joint is None:
        return
    axes = axes_of(stage, joint.name)
    if not axes:
        return
    pin, turn = PIN * stage.size, frame_along(axes[-1] if str(mount.coordinate).endswith("2") else axes[0])
    mesh = arc_arrow(2.6 * pin, 0.22 * pin).moved(shift=1.6 * pin * turn[:, 0], turn=turn)
    stage.solids.append(Solid(mount.name, mesh, carrier, SPRING, "joint"))
