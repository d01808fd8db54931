"""The consistent start of a mechanism, handed over to its bond graph.

The branch formulation meets given start values as closely as the loops, drivers and constraints allow. Where a value
stays as it was given, the bond graph keeps it, so that it follows parameters; where not, it gets the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.assembly import Assembly
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.topology import GROUND, Topology, branches, spanning
from cotree.maths.rotation import of_quaternion, to_quaternion
from cotree.maths.symbolic import column
from cotree.terminal.mechanics import ORIENTATION, PARAMETERS, XYZ, Body, Joint

Array = NDArray[np.float64]

SAME = 1e-12
"""Difference at which a start value counts as the given one."""


@dataclass
class ConsistentStart:
    """Coordinates and speeds of joints and bodies at the start, by the assembly of the branch formulation."""

    top: Topology

    @cached_property
    def mechanism(self) -> Mechanism:
        """The mechanism in the coordinates of its joint tree."""
        joint = spanning(self.top.graph, "joint")
        made = Mechanism(self.top, branches(self.top, joint, joint))
        _ = made.acting  # reads all expressions, which may add modes
        return made

    @cached_property
    def _state(self) -> tuple[Array, Array, Array, Array]:
        """q, u, p and the values of the modes."""
        values = self.top.values
        modes = column([mode.value for mode in values.modes])
        p = values.numbers()
        q, u = Assembly(self.mechanism, modes).state(p, 0.0)
        now = ca.Function("modes", [values.t, values.p.symbols], [modes])(0.0, p)
        return q, u, p, np.asarray(now, dtype=float).ravel()

    def number(self, expression: ca.SX) -> Array:
        """The value of an expression at the start."""
        kin, values = self.mechanism.kin, self.top.values
        known = [kin.q, kin.u, kin.t, values.p.symbols, values.mode_symbols]
        q, u, p, m = self._state
        found = ca.Function("at_start", known, [ca.densify(expression)])(q, u, 0.0, p, m)
        return np.asarray(found, dtype=float)

    def joint(self, joint: Joint) -> dict[str, Any]:
        """Start values of a joint that differ from the given ones."""
        link, kin = self.top.links[joint.name], self.mechanism.kin
        changes: dict[str, Any] = {}
        for c in joint.coordinates:
            if c.name == ORIENTATION:
                motion = kin.motion(link)
                changes |= self._turn(link.values, self.number(motion.C), self.number(motion.omega_b).ravel())
            elif self.top.oriented(link) or c.group == "translation":
                near = self._given(link.values, c.name)
                x, rate = (float(self.number(each).item()) for each in kin.coordinate(link, c.name))
                if c.group == "rotation":
                    x += 2 * np.pi * np.round((near - x) / (2 * np.pi))
                for name, value in ((c.name, x), (f"{c.name}_rate", rate)):
                    if not np.allclose(value, self._given(link.values, name), rtol=SAME, atol=SAME):
                        changes[name] = value
        return changes

    def body(self, body: Body) -> dict[str, Any]:
        """Start values of a body that nothing carries, where they differ from the given ones."""
        position, velocity, R, w = self.motion(body)
        v = self.mechanism.values_of(body)
        changes: dict[str, Any] = {}
        for name, value in (("position", position), ("velocity", velocity)):
            if not np.allclose(value, self._vector(v, name), rtol=SAME, atol=SAME):
                changes[name] = tuple(value.tolist())
        return changes | (self._turn(v, R, w) if body.turns else {})

    def motion(self, body: Body) -> tuple[Array, Array, Array, Array]:
        """Position and velocity of a body in world axes, its rotation, and its angular velocity in body axes."""
        kin, j = self.mechanism.kin, self.top.bodies.index(body)
        assert j != GROUND
        parts = (kin.p[j], ca.mtimes(kin.R[j], kin.v[j]), kin.R[j], kin.omega[j])
        position, velocity, R, w = (self.number(each) for each in parts)
        return position.ravel(), velocity.ravel(), R, w.ravel()

    def _turn(self, v: Any, R: Array, w: Array) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        e = self._vector(v, ORIENTATION, PARAMETERS)
        given = np.asarray(ca.DM(of_quaternion(ca.SX(e / np.linalg.norm(e)))), dtype=float) if e.any() else np.eye(3)
        if not np.allclose(R, given, rtol=0, atol=SAME):
            changes[ORIENTATION] = tuple(to_quaternion(R).tolist())
        if not np.allclose(w, self._vector(v, "angular_velocity"), rtol=SAME, atol=SAME):
            changes["angular_velocity"] = tuple(w.tolist())
        return changes

    def _given(self, v: Any, name: str) -> float:
        given = getattr(v, name, None)
        return 0.0 if given is None else float(self.number(ca.SX(given)).item())

    def _vector(self, v: Any, name: str, labels: Sequence[str] = XYZ) -> Array:
        given = getattr(v, name, None)
        return np.zeros(len(labels)) if given is None else self.number(ca.SX(ca.vertcat(*given))).ravel()
