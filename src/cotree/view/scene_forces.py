"""Forces and torques as arrows: reactions of joints, and what elements, drivers and loads apply."""

from __future__ import annotations

import numpy as np

from cotree.maths.rotation import matrices
from cotree.terminal.mechanics import Connection, Constraint, Joint, OnJoint
from cotree.view.scene import Arrow, Stage

IDLE = 1e-6
"""Part of the largest force of the run below which an arrow is left out: the noise of a computation."""


def add_forces(stage: Stage) -> None:
    """Arrows at the frame b of every connection, in world axes; the force acts on b."""
    found: list[Arrow] = []
    for part in stage.model.components.values():
        if isinstance(part, Connection):
            found += wrench_arrows(stage, part.name, part.ends[0], part.ends[1], isinstance(part, Constraint))
        elif isinstance(part, OnJoint):
            found += _along(stage, part)
    keep_large(stage, found)


def keep_large(stage: Stage, found: list[Arrow]) -> None:
    """Add the arrows that ever differ from nothing beside the largest force; a torque, beside that times the size."""
    peak = {arrow: float(np.abs(arrow.vector[np.isfinite(arrow.vector)]).max(initial=0.0)) for arrow in found}
    force = max([stage.strongest, *(peak[arrow] for arrow in found if not arrow.torque)])
    torque = max([force * stage.size, *(peak[arrow] for arrow in found if arrow.torque)])
    stage.arrows += [arrow for arrow in found if peak[arrow] > IDLE * (torque if arrow.torque else force)]


def undetermined(stage: Stage, name: str) -> bool:
    """Whether rigid bodies do not determine a part of a vector that shows."""
    run = stage.solution
    sizes = {part: float(np.abs(run[part]).max()) for x in "xyz" if (part := f"{name}.{x}") in run.units}
    unknown = max((size for part, size in sizes.items() if part in run.undetermined), default=0.0)
    return unknown > IDLE * max(sizes.values(), default=0.0)


def wrench_arrows(stage: Stage, name: str, a: str, b: str, reaction: bool) -> list[Arrow]:
    """The force and the torque on b of something between two frames, which results give in the axes of a."""
    if a not in stage.tracks or b not in stage.tracks:
        return []
    turns = matrices(stage.tracks[a].orientation)
    result = []
    for word in ("force", "torque"):
        vector = stage.result(f"{name}.{word}")
        if vector is not None and vector.ndim == 2 and vector.shape[1] == 3:
            world = np.einsum("fij,fj->fi", turns, vector)
            result.append(Arrow(name, b, world, word == "torque", reaction, undetermined(stage, f"{name}.{word}")))
    return result


def _along(stage: Stage, part: OnJoint) -> list[Arrow]:
    """A force or torque along the coordinate of a joint."""
    joint = stage.model.components.get(part.on)
    if not isinstance(joint, Joint) or joint.frame_a not in stage.tracks or joint.frame_b not in stage.tracks:
        return []
    from cotree.view.scene_mechanism import axes_of

    axes = axes_of(stage, joint.name)
    if len(axes) != 1:
        return []
    way = matrices(stage.tracks[joint.ends[0]].orientation) @ axes[0]
    result = []
    for word in ("force", "torque"):
        size = stage.result(f"{part.name}.{word}")
        if size is not None and size.ndim == 1:
            result.append(Arrow(part.name, joint.ends[1], size[:, None] * way, word == "torque", False))
    return result
