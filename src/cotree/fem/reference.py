"""How the frame of a flexible body sits on its deforming mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cotree.errors import ModelError
from cotree.fem.element import DEGREES, Array


@dataclass(frozen=True)
class Reference:
    """Six conditions that tell deformation from motion of the body's frame."""

    kind: str
    """``node``, ``chord`` or ``mean``."""
    nodes: tuple[int, ...] = ()
    """The node, or start and end of the chord."""

    @classmethod
    def node(cls, node: int) -> Reference:
        """The frame is fixed to a node: its six degrees of freedom are held (tangent frame, clamped modes)."""
        return cls("node", (int(node),))

    @classmethod
    def chord(cls, start: int, end: int) -> Reference:
        """The frame follows a line between two nodes (pinned modes).

        Held are the displacement of the start, that of the end across the line, and the roll about it at the start.
        """
        return cls("chord", (int(start), int(end)))

    @classmethod
    def mean(cls) -> Reference:
        """Mean axes: the displacements, and their moments about the centre, vanish in the mean over the mass."""
        return cls("mean")

    def conditions(self, places: Array) -> Any:
        """Sparse (6, 6 N) rows that vanish on deformation, None for mean axes."""
        from scipy import sparse

        for node in self.nodes:
            if not 0 <= node < len(places):
                raise ModelError(f"the reference has node {node}", expected=f"a node from 0 to {len(places) - 1}")
        if self.kind == "mean":
            return None
        rows = np.zeros((6, DEGREES * len(self.nodes)))
        if self.kind == "node":
            rows[:] = np.eye(6)
        elif self.kind == "chord":
            line = places[self.nodes[1]] - places[self.nodes[0]]
            length = float(np.linalg.norm(line))
            if length == 0.0:
                raise ModelError("the chord of the reference has no length", expected="two nodes at different places")
            axes = _frame(line / length)
            rows[:3, :3] = np.eye(3)
            rows[3:5, 6:9] = axes[1:]
            rows[5, 3:6] = axes[0]
        else:
            raise ModelError(f"the reference is {self.kind!r}", expected="'node', 'chord' or 'mean'")
        columns = (DEGREES * np.asarray(self.nodes)[:, None] + np.arange(DEGREES)).ravel()
        whole = sparse.lil_array((6, DEGREES * len(places)))
        whole[:, columns] = rows
        return sparse.csr_array(whole)


def _frame(along: Array) -> Array:
    """Three unit vectors as rows, the first along a line, the others across it along the axes where they can be."""
    start = np.eye(3)[int(np.argmin(np.abs(along)))]
    second = np.cross(along, start)
    second = second / np.linalg.norm(second)
    return np.stack([along, second, np.cross(along, second)])
