"""Points between joints: a point has no orientation of its own, but joints may hold rotations against it.

Where one joint at a point holds rotations, there is nothing to hold, and its equations fall away. Where several do, the
point passes rotations on from one to the other: it takes the orientation of the body to which a joint without any free
rotation ties it, such as a slider, under every tree.
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


def carriers(top: Topology) -> dict[int, Link]:
    """Points that pass rotations on, with the joint that ties each to a body or to the ground."""
    found: dict[int, Link] = {}
    waiting = {j: held for j in range(1, len(top.bodies)) if not top.turns(j) and len(held := _holding(top, j)) > 1}
    while waiting:
        tied = {j: link for j, held in waiting.items() if (link := _tie(top, j, held, found)) is not None}
        if not tied:
            raise _undefined(top, *next(iter(waiting.items())))
        found |= tied
        waiting = {j: held for j, held in waiting.items() if j not in tied}
    return found


def _free(link: Link) -> int:
    """How many rotations a joint leaves free."""
    return sum(FULL if c.name == ORIENTATION else 1 for c in link.joint.coordinates if c.group == "rotation")


def _holding(top: Topology, j: int) -> list[Link]:
    """Joints at a body that hold rotations."""
    most = 1 if top.model.planar else FULL
    return [link for link in top.links.values() if not link.of_body and j in (link.i, link.j) and _free(link) < most]


def _tie(top: Topology, j: int, held: list[Link], found: dict[int, Link]) -> Link | None:
    """The first joint without a free rotation that ties a point to something with an orientation."""
    if not isinstance(top.bodies[j], PointMass):
        return None
    for link in held:
        other = link.j if link.i == j else link.i
        if not _free(link) and (not other or top.turns(other) or other in found):
            return link
    return None


def _undefined(top: Topology, j: int, held: list[Link]) -> FormulationError:
    name = top.bodies[j].name  # type: ignore[union-attr]
    return FormulationError(
        f"{listing([repr(link.name) for link in held])} hold rotations against '{name}', which is a point and has no "
        "orientation",
        where=name,
        expected="at most one such joint at a point, or one of them without a free rotation",
        remedy=f"Make '{name}' a RigidBody with its inertia, or use spherical joints there",
    )
