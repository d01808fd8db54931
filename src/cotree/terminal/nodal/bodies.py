"""Rigid bodies with any number of nodes (Xiang 2015, section 2.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from cotree.errors import ModelError
from cotree.model import MISSING, Kind, Quantity, Value, quantity, vector
from cotree.model.form import TEXT, said
from cotree.model.form import several as several_of
from cotree.terminal.bodies import INERTIA, MOMENTS, ROUNDING, listed_moments
from cotree.terminal.nodal.base import NodalPart, several
from cotree.terminal.nodal.measures import no_repeats

_MOMENT = Quantity("kg m^2", "finite", False, "moment or product of inertia", built_in="zero")


class Body(NodalPart):
    """A rigid body over nodes: m a = sum of forces, J w' + w x J w = sum of moments about its centroid.

    ``centre`` is the place of the centroid at the start. ``inertia`` holds the entries xx, yy, zz, xy, xz, yz of the
    inertia matrix about it, in world axes as they are at the start; three numbers are the moments xx, yy, zz of a body
    whose products vanish.
    """

    kind: ClassVar[str] = "nodal.body"
    edge_kind: ClassVar[Kind] = Kind.ARM

    over: tuple[str, ...] = field(metadata=said("nodes fixed to it", several_of(TEXT, 1)))
    mass: Value = quantity("kg", "mass", symbol="m", range="non-negative")
    centre: tuple[Value, Value, Value] = vector("m", "place of the centroid at the start", built_in="always")
    inertia: tuple[Value, Value, Value, Value, Value, Value] = field(
        default=MISSING, kw_only=True, metadata={"vector": (_MOMENT, MOMENTS), "schema": INERTIA}
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "over", several(self.over, 1, self.name))
        no_repeats(self.over, self.name)
        given: Any = self.inertia.tolist() if isinstance(self.inertia, np.ndarray) else self.inertia
        if isinstance(given, (list, tuple)):
            object.__setattr__(self, "inertia", _six(given, f"{self.name}.inertia"))
        super().__post_init__()

    def nodes(self) -> tuple[str, ...]:
        return self.over

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        """Arms from the centroid, which has the body's name, to the nodes."""
        return tuple((node, self.name) for node in self.over)

    def inertia_matrix(self, v: Any) -> ca.SX:
        """The inertia about the centroid as it is at the start (eq. 23)."""
        xx, yy, zz, xy, xz, yz = v.inertia
        return ca.SX(ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz)))

    def check(self, values: Mapping[str, float]) -> None:
        """The inertia must be that of a real body."""
        xx, yy, zz, xy, xz, yz = (values[f"inertia.{label}"] for label in MOMENTS)
        moments = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        where, listed = f"{self.name}.inertia", listed_moments(moments)
        if values["mass"] == 0.0 and moments.any():
            raise ModelError(
                f"the mass is zero, and the principal moments of inertia are {listed} kg m^2",
                where=where,
                expected="an inertia of zeros with a mass of zero",
                remedy="Give the mass, or zeros for the inertia",
            )
        if moments[0] < -ROUNDING * abs(moments[2]):
            raise ModelError(
                f"the principal moments of inertia are {listed} kg m^2",
                where=where,
                expected="moments that are not negative",
                remedy="Check the order xx, yy, zz, xy, xz, yz: the last three are entries of the inertia matrix",
            )
        if moments[0] + moments[1] < moments[2] * (1 - ROUNDING):
            raise ModelError(
                f"the principal moments of inertia {listed} kg m^2 break the triangle inequality",
                where=where,
                expected="the sum of any two at least as large as the third: no real body has other values",
                remedy="For a flat body the moment across its plane is the sum of the two others",
            )


def _six(given: Any, where: str) -> tuple[Any, ...]:
    """The six entries of an inertia that is given as six or three numbers, or as a symmetric matrix."""
    rows = tuple(given)
    if len(rows) == 3 and all(isinstance(row, (list, tuple)) and len(row) == 3 for row in rows):
        for i, k in ((0, 1), (0, 2), (1, 2)):
            if rows[i][k] != rows[k][i]:
                raise ModelError(
                    f"entry {i + 1}, {k + 1} is {rows[i][k]} and entry {k + 1}, {i + 1} is {rows[k][i]}",
                    where=where,
                    expected="a symmetric matrix",
                    remedy="Give xx, yy, zz, xy, xz, yz",
                )
        return (*(rows[k][k] for k in range(3)), rows[0][1], rows[0][2], rows[1][2])
    return (*rows, 0.0, 0.0, 0.0) if len(rows) == 3 else rows
