"""Points between joints: a point has no orientation of its own, but joints may hold rotations against it.

A point takes the orientation of the body, or of the ground, to which a joint without any free rotation ties it, such as
a weld or a slider: it passes rotations on from this joint to the others. Where nothing ties it, one joint that holds
rotations has nothing to hold, and its equations for rotations fall away; if it slides along axes of the point, these
are the axes of its other end. All of this follows from the joints alone, so that it is the same under every tree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cotree.errors import FormulationError, listing
from cotree.terminal.bodies import PointMass
from cotree.terminal.mechanics import ORIENTATION

if TYPE_CHECKING:
    from cotree.formulation.branch.topology import Link, Topology

FULL = 3
"""Free rotations of a joint that holds none in space."""

Walk = tuple[tuple[int, int, "Link"], ...]
"""(parent, child, link), parents first."""


def carriers(top: Topology) -> dict[int, Link]:
    """Points that pass rotations on, with the joint that ties each to a body or to the ground."""
    found: dict[int, Link] = {}
    points = [j for j in range(1, len(top.bodies)) if not top.turns(j)]
    waiting = {j: held for j in points if (held := _holding(top, j)) and not _last(top, j, held)}
    while tied := {j: link for j, held in waiting.items() if (link := _tie(top, j, held, found)) is not None}:
        found |= tied
        waiting = {j: held for j, held in waiting.items() if j not in tied}
    for j, held in waiting.items():
        if len(held) > 1:
            raise _undefined(top, j, held)
        if _slides(held[0], j) and isinstance(top.bodies[j], PointMass):
            if not _known(top, held[0].j, found):
                raise _undefined(top, j, held)
            found[j] = held[0]
    return found


def leading(top: Topology) -> frozenset[str]:
    """Joints that give a point the axes along which they slide, and whose own rotations turn nothing."""
    return frozenset(link.name for link in top.carriers.values() if _free(link))


def turning(top: Topology, walk: Walk) -> Walk:
    """The tree of rotations that a walk along the joints means: every point turns with what it is tied to.

    The ties are in this tree, and as many links of the walk as close no circle with them. A body that the walk reaches
    through a point without an orientation has its own edge here, unless the link there holds no rotation.
    """
    bodies = range(1, len(top.bodies))
    if all(top.turns(j) for j in bodies):
        return walk
    own = {link.j: link for link in top.links.values() if link.of_body}  # but for later segments of beams
    edges = [(0, j, own[j]) for j in bodies if not _oriented(top, j)]
    edges += [(link.j if link.i == j else link.i, j, link) for j, link in top.carriers.items()]
    edges += sorted((step for step in walk if _carries(top, *step)), key=lambda step: not step[2].joint.coupled)
    edges += [(0, j, own[j]) for _, j, _ in walk if top.turns(j) and j in own]
    cluster = list(range(len(top.bodies)))
    kept = []
    for i, j, link in edges:
        if cluster[i] != cluster[j]:
            cluster = [cluster[i] if each == cluster[j] else each for each in cluster]
            kept.append((i, j, link))
    return outwards(kept)


def _carries(top: Topology, i: int, j: int, link: Link) -> bool:
    """Whether a body has its orientation through a link of a tree."""
    if link.of_body:
        return top.turns(j)
    return _oriented(top, j) and (_oriented(top, i) or not _holds(top, link))


def _oriented(top: Topology, j: int) -> bool:
    return _known(top, j, top.carriers)


def outwards(edges: list[tuple[int, int, Link]]) -> Walk:
    """Edges of a tree as a walk from the ground outwards."""
    near: dict[int, list[tuple[int, Link]]] = {}
    for i, j, link in edges:
        near.setdefault(i, []).append((j, link))
        near.setdefault(j, []).append((i, link))
    order, seen, queue = [], {0}, [0]
    for body in queue:
        for other, link in near.get(body, ()):
            if other not in seen:
                seen.add(other)
                queue.append(other)
                order.append((body, other, link))
    return tuple(order)


def _free(link: Link) -> int:
    """How many rotations a joint leaves free."""
    return sum(FULL if c.name == ORIENTATION else 1 for c in link.joint.coordinates if c.group == "rotation")


def _holds(top: Topology, link: Link) -> bool:
    """Whether a joint holds rotations."""
    return _free(link) < (1 if top.model.planar else FULL)


def _last(top: Topology, j: int, held: list[Link]) -> bool:
    """Whether a point is at the end of one joint, which does not need its axes."""
    joints = [link for link in top.links.values() if not link.of_body and j in (link.i, link.j)]
    return len(joints) == 1 and not _slides(held[0], j)


def _slides(link: Link, j: int) -> bool:
    """Whether a joint leaves some translations free along axes of a body and holds others."""
    count = sum(len(c.names) for c in link.joint.coordinates if c.group == "translation")
    return link.i == j and 0 < count < FULL


def _known(top: Topology, j: int, found: dict[int, Link]) -> bool:
    return not j or top.turns(j) or j in found


def _holding(top: Topology, j: int) -> list[Link]:
    """Joints at a body that hold rotations."""
    return [link for link in top.links.values() if not link.of_body and j in (link.i, link.j) and _holds(top, link)]


def _tie(top: Topology, j: int, held: list[Link], found: dict[int, Link]) -> Link | None:
    """The first joint without a free rotation that ties a point to something with an orientation."""
    if not isinstance(top.bodies[j], PointMass):
        return None
    for link in held:
        other = link.j if link.i == j else link.i
        if not _free(link) and _known(top, other, found):
            return link
    return None


def _undefined(top: Topology, j: int, held: list[Link]) -> FormulationError:
    name = top.bodies[j].name  # type: ignore[union-attr]
    joints = listing([repr(link.name) for link in held])
    does = f"{joints} hold rotations against" if len(held) > 1 else f"{joints} slides along axes of"
    return FormulationError(
        f"{does} '{name}', which is a point and has no orientation",
        where=name,
        expected="at most one such joint at a point, or one of them without a free rotation to a body or the ground",
        remedy=f"Make '{name}' a RigidBody with its inertia, or use spherical joints there",
    )
