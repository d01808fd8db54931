"""Mounts: where the one-dimensional parts of a machine sit on its mechanism.

A mount is an edge of a network. Its across variable is a speed of the mechanism, its through variable the force with
which the network drives this speed; what flows into the mount flows into the mechanism. The mounts themselves are in
the rooms of their domains: `cotree.rotational.Axis`, `cotree.translational.Axis` and `cotree.translational.Line`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from cotree.errors import ModelError
from cotree.model.form import said
from cotree.terminal.scalar import OnePort


class Mount(OnePort):
    """What all mounts share."""

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        raise ModelError(
            "there is no mechanism to mount it on",
            where=self.name,
            expected="a model with bodies and joints",
            remedy="Add the mechanism, or put an inertia in the place of the mount",
        )


class AxisMount(Mount):
    """A mount on one coordinate of a joint.

    ``plus`` moves with frame b of the joint, ``minus`` with frame a. Where ``minus`` is the datum, speeds of the
    network count from the body that carries frame a; where it is a node of its own, they count from the inertial frame,
    and the edge ``name.carrier`` has the speed of the carrying body along the axis.
    """

    on: str = field(metadata=said("joint on whose coordinate the parts sit"), kw_only=True)
    coordinate: str | None = field(
        default=None, kw_only=True, metadata=said("coordinate of the joint, where it has several")
    )
