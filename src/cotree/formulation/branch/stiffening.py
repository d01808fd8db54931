"""Geometric stiffness of flexible bodies under the forces of the rigid motion.

The forces are those of the same mechanism with every flexible body rigid, in the motion of the bodies' own frames: its
equations are those of the mechanism with elastic coordinates, speeds and accelerations put to zero, and with joint
coordinates that are measured between undeformed frames. They are solved here for accelerations and multipliers, and
enter the elastic equations through the tables of unit loads (`cotree.fem.tables`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.formulation.branch.articulated import ldl_solver
from cotree.formulation.branch.kinematics import measured
from cotree.formulation.branch.loads import frame_loads
from cotree.formulation.branch.mechanism import Mechanism
from cotree.formulation.branch.places import Place
from cotree.formulation.branch.transfer import transfer
from cotree.maths.lookup import slopes
from cotree.maths.rotation import quaternion_of, skew
from cotree.maths.symbolic import column, constant, substitute
from cotree.terminal.mechanics import ORIENTATION, Wrench

if TYPE_CHECKING:
    from cotree.terminal.floating import Floating

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Stiffening:
    """Forces along the elastic coordinates, to be added to the balance, and the power that they give."""

    force: ca.SX
    power: ca.SX


def rigid_stiffening(own: Mechanism, joint: Mechanism, start: tuple[Array, Array, Array]) -> Stiffening | None:
    """The stiffening of all bodies that ask for it; None where none does.

    The rigid motion is that of the ``joint`` tree under every tree of ``own``; ``start`` is its q, p and the modes.
    """
    found = _in_joint_tree(joint, start)
    if found is None or joint is own:
        return found
    q, u = transfer(own, joint)(own.kin.q, own.kin.u, own.kin.t, own.top.values.p.symbols, own.top.values.mode_symbols)
    force = ca.SX.zeros(own.kin.u.numel())
    known, here = ca.vertcat(joint.kin.q, joint.kin.u), ca.vertcat(q, u)
    pushed = ca.substitute(ca.vertcat(found.force, found.power), known, here)
    for j, places in own.kin.elastic.items():
        force[places] = pushed[joint.kin.elastic[j]]
    return Stiffening(force, pushed[-1])


def _in_joint_tree(own: Mechanism, start: tuple[Array, Array, Array]) -> Stiffening | None:
    kin, top = own.kin, own.top
    bodies = {j: each.floating for j, each in top.flexible.items() if each.floating.stiffening == "rigid"}
    if not bodies:
        return None
    rigid = _Rigid(own, start)
    wrenches = rigid.wrenches()
    v_dot, w_dot = kin.accelerations
    force, power = ca.SX.zeros(kin.u.numel()), ca.SX(0)
    for j, floating in bodies.items():
        w = kin.omega[j]
        pull = rigid.at(v_dot[j] + ca.cross(w, kin.v[j]) - kin.gravity[j])
        turn = rigid.at(skew(w_dot[j]) + ca.mtimes(skew(w), skew(w)))
        stiffness = _stiffness(floating, pull, turn, wrenches[j])
        push = ca.mtimes(stiffness, floating.q)
        force[kin.elastic[j]] = push
        power -= ca.dot(push, floating.u)
    return Stiffening(force, power)


def _stiffness(floating: Floating, pull: ca.SX, turn: ca.SX, wrenches: dict[str, Wrench]) -> ca.SX:
    """The geometric stiffness under inertia forces and forces on frames, from the tables of unit loads."""
    tables, n = floating.tables, floating.q.numel()
    total = ca.SX(n, n)
    for i in range(3):
        total -= pull[i] * constant(tables.first_2[i])
        for a in range(3):
            total -= turn[i, a] * constant(tables.second_2[a, i])
        for name, wrench in wrenches.items():
            node = tables.frames[name]
            total += wrench.force[i] * constant(node.move_2[i]) + wrench.torque[i] * constant(node.turn_2[i])
    return total


class _Rigid:
    """The mechanism with its flexible bodies rigid: accelerations and multipliers as expressions."""

    def __init__(self, own: Mechanism, start: tuple[Array, Array, Array]) -> None:
        self.own, kin = own, own.kin
        elastic = [k for places in kin.elastic.values() for k in places]
        free = [k for k in range(kin.u.numel()) if k not in set(elastic)]
        q_f = ca.vertcat(*(each.floating.q for each in own.top.flexible.values()))
        self.zero = ca.vertcat(q_f, kin.u[elastic], kin.u_dot[elastic])
        a = kin.u_dot[free]
        rows = self._independent(free, start)
        force = substitute(own.inertia_force - own.generalised, self.zero, 0)[free]
        mass, bias = slopes(force, a), substitute(force, a, 0)
        velocity = own.velocity[rows] if rows else ca.SX(0, 1)
        held = substitute(kin.rate(velocity), self.zero, 0)
        G, drift = slopes(held, a), substitute(held, a, 0)
        solve = ldl_solver(mass) if free else (lambda b: b)
        across = solve(ca.densify(G.T)) if rows else ca.SX(len(free), 0)
        alone = solve(-ca.densify(bias))
        lam = ldl_solver(ca.mtimes(G, across))(-drift - ca.mtimes(G, alone)) if rows else ca.SX(0, 1)
        self.known, self.instead = self._undeformed()
        self.moving = a
        self.accelerations = ca.densify(alone + ca.mtimes(across, lam)) if rows else ca.densify(alone)
        self.multipliers = {row: lam[k] for k, row in enumerate(rows)}

    def _independent(self, free: list[int], start: tuple[Array, Array, Array]) -> list[int]:
        """Rows that hold the rigid mechanism, each of them more than the ones before."""
        own, kin, values = self.own, self.own.kin, self.own.top.values
        if not own.velocity.numel():
            return []
        inputs = [kin.q, kin.t, values.p.symbols, values.mode_symbols]
        matrix = ca.densify(slopes(own.velocity, kin.u[free]))
        G = np.asarray(ca.Function("G", inputs, [matrix])(start[0], 0.0, *start[1:]), dtype=float)
        chosen: list[int] = []
        basis = np.zeros((0, G.shape[1]))
        for k, row in enumerate(G):
            rest = row - basis.T @ (basis @ row)
            rest -= basis.T @ (basis @ rest)
            if np.linalg.norm(rest) > 1e-9 * max(1e-300, float(np.linalg.norm(row))):
                basis = np.vstack([basis, rest / np.linalg.norm(rest)])
                chosen.append(k)
        return chosen

    def at(self, expression: ca.SX) -> ca.SX:
        """An expression in the rigid motion."""
        rigid = substitute(ca.densify(expression), self.zero, 0)
        rigid = substitute(rigid, self.moving, self.accelerations)
        return ca.sparsify(substitute(rigid, self.known, self.instead))

    def _undeformed(self) -> tuple[ca.SX, ca.SX]:
        """Coordinates and speeds of joints on flexible bodies, and what they would be between undeformed frames."""
        kin, top = self.own.kin, self.own.top
        known: list[ca.SX] = []
        instead: list[ca.SX] = []
        for name, held in kin.positions.items():
            link = top.links[name]
            moves = any(joint_end.node is not None for joint_end in (link.a, link.b))
            if not moves or name in kin.aligned:  # an aligned coordinate is measured so already
                continue
            a, b = (
                Place(each.body, substitute(each.position, self.zero, 0), substitute(each.rotation, self.zero, 0))
                for each in (link.a, link.b)
            )
            motion = kin.relative(a, b)
            values, rates = measured(link.joint, link.values, motion)
            for c, x in held.items():
                if not x.is_symbolic() and c != ORIENTATION:
                    continue  # driven
                known += [x, kin.speeds[name][c]]
                if c == ORIENTATION:
                    instead += [quaternion_of(motion.C), motion.omega_b]
                    continue
                group = next(each.group for each in link.joint.coordinates if each.name == c)
                ahead = values[c] - x
                near = x + ca.atan2(ca.sin(ahead), ca.cos(ahead)) if group == "rotation" else values[c]
                instead += [near, rates[c]]
        return column(known), column(instead)

    def wrenches(self) -> dict[int, dict[str, Wrench]]:
        """Force and moment on each frame of the flexible bodies, in body axes, in the rigid motion."""
        return {
            j: {name: Wrench(self.at(each.force), self.at(each.torque)) for name, each in own.items()}
            for j, own in frame_loads(self.own, self.own.reactions(self.multipliers)).items()
        }
