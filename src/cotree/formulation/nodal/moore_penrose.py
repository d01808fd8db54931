"""The equations of a nodal structure as Xiang, Wu and Zhou 2015 print them, by the Moore-Penrose inverse.

    A d = 0,     A d' + Phi'' = 0,     M a = f             (eq. 36, 37, 39)

A bar gives the row of eq. 3, a rigid body over k nodes the 3 k rows of eq. 15, of which six are redundant unless its
nodes are on one line; supports, cables of given length and gears give the gradients of their equations. Matrices are
CasADi expressions of the structure's symbols. Among a body's nodes are those that the formulation has added for it, as
if the model had them, unless ``only_real`` leaves them out. The orientation behind the inertia of eq. 24 is read off
the nodes, which needs no Euler angles. As in the paper, eq. 34 has no term w x J w.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from cotree.maths.lookup import along
from cotree.maths.rotation import skew
from cotree.terminal.nodal.forces import BodyLoad

if TYPE_CHECKING:
    from cotree.formulation.nodal.bodies import BodyForm
    from cotree.formulation.nodal.structure import NodalStructure, Row

ON_A_LINE = 1e-9
"""Second singular value of the nodes' places about their middle, over the first, below which they are on one line."""


@dataclass(frozen=True)
class RigidBody:
    """H of eq. 11-14 and its inverse (H^T H)^-1 H^T for the nodes of one body."""

    nodes: tuple[int, ...]
    h: ca.SX
    inverse: ca.SX

    @property
    def complement(self) -> ca.SX:
        """1 - H H^+ (eq. 15)."""
        return ca.SX.eye(self.h.shape[0]) - ca.mtimes(self.h, self.inverse)


def rigid_body(structure: NodalStructure, name: str, only_real: bool = False) -> RigidBody:
    """H and H^+ of a body about its centroid, over its nodes with the added ones, or without them.

    About the middle of the nodes H^T H is diagonal by blocks, k and the nodes' own inertia S (masses of one), so that
    its inverse is written out; it is moved to the centroid afterwards. Nodes on one line do not tell a rotation about
    it: S is then completed along the line, which leaves H H^+ as it is.
    """
    form: BodyForm = structure.bodies[name]
    nodes = form.nodes if only_real else tuple(dict.fromkeys((*form.nodes, *form.base)))
    dim, count = structure.dim, len(nodes)
    x = [structure.x[k] for k in nodes]
    centre = form.centre(structure.x)
    middle = sum(x, ca.SX.zeros(3)) / count
    arms = [place - middle for place in x]
    turns = [_turn(arm, dim) for arm in arms]
    spread = sum((ca.mtimes(turn.T, turn) for turn in turns), ca.SX.zeros(turns[0].shape[1], turns[0].shape[1]))
    places = structure.numbers([structure.start[k] for k in nodes])[:, :dim]
    sizes = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    if count > 1 and dim == 3 and (len(sizes) < 2 or sizes[1] < ON_A_LINE * sizes[0]):
        far = int(np.argmax(((places - places[0]) ** 2).sum(axis=1)))
        along = x[far] - x[0]
        spread += ca.mtimes(along, along.T)
    unit = ca.SX.eye(dim)
    top, bottom = [], []
    for turn in turns:
        spin = ca.mtimes(_inverse(spread), turn.T) if count > 1 else ca.SX(*turn.T.shape)
        top.append(unit / count + ca.mtimes(_turn(centre - middle, dim), spin))
        bottom.append(spin)
    rows = [ca.horzcat(unit, _turn(place - centre, dim)) for place in x]  # eq. 11
    return RigidBody(nodes, ca.vertcat(*rows), ca.vertcat(ca.horzcat(*top), ca.horzcat(*bottom)))


def _turn(arm: ca.SX, dim: int) -> ca.SX:
    """The factor of a small rotation in the displacement of the end of an arm: the right half of eq. 11."""
    return -skew(arm) if dim == 3 else ca.vertcat(-arm[1], arm[0])


def _inverse(matrix: ca.SX) -> ca.SX:
    return ca.inv_minor(matrix) if matrix.shape[0] > 1 else 1 / matrix


def first_order(
    structure: NodalStructure, closed: Sequence[str] = (), only_real: bool = False
) -> tuple[ca.SX, list[str]]:
    """A of eq. 36 over all coordinates, and what each row belongs to; ``only_real`` leaves added nodes out.

    Rows and columns are then those of the model's own nodes, as the paper counts them (eq. 38).
    """
    n = structure.q.numel()
    width = structure.dim * structure.real if only_real else n
    parts, labels = [], []
    for row in structure.rows(closed):
        if row.owner not in structure.bodies:
            parts.append(ca.jacobian(row.value, structure.q)[:, :width])  # eq. 3
            labels.append(f"{row.owner} ({row.label})")
    for name in structure.bodies:
        body = rigid_body(structure, name, only_real)
        if only_real and len(body.nodes) == 1:
            continue
        places = _coordinates(structure, body.nodes)
        parts.append(_spread(body.complement, places, width))  # eq. 15
        labels += [f"{name} ({structure.names[k]}.{'xyz'[i]})" for k in body.nodes for i in range(structure.dim)]
    return ca.vertcat(*parts) if parts else ca.SX(0, width), labels


def drift(structure: NodalStructure, closed: Sequence[str] = ()) -> ca.SX:
    """The rates of the rows of A d = 0 at a fixed place, where supports are moved or cables reeled in."""
    parts = [ca.jacobian(row.value, structure.t) for row in _others(structure, closed)]
    return ca.densify(ca.vertcat(*parts, ca.SX.zeros(_body_rows(structure))))


def second_order(structure: NodalStructure, d: ca.SX, closed: Sequence[str] = (), dt: float = 0.0) -> ca.SX:
    """Phi'' dt of eq. 46 and 47 for a displacement d over all coordinates, in the order of `first_order`.

    Of what moves by itself in time, the equations are differentiated twice along (d, dt).
    """
    parts = []
    for row in _others(structure, closed):
        rate = along(row.value, structure.q, d) + dt * ca.jacobian(row.value, structure.t)
        parts.append(along(rate, structure.q, d) + dt * ca.jacobian(rate, structure.t))
    for name in structure.bodies:
        body = rigid_body(structure, name)
        dim = structure.dim
        own = d[_coordinates(structure, body.nodes)]
        motion = ca.mtimes(body.inverse, own)  # eq. 19
        about = motion[dim:]
        turned = []
        for k in range(len(body.nodes)):
            away = own[dim * k : dim * k + dim] - motion[:dim]  # eq. 49
            turned.append(ca.mtimes(_turn(away, dim), about))
        parts.append(-ca.mtimes(body.complement, ca.vertcat(*turned)))  # eq. 47
    return ca.densify(ca.vertcat(*parts)) if parts else ca.SX(0, 1)


def body_mass(structure: NodalStructure, name: str) -> tuple[tuple[int, ...], ca.SX]:
    """The nodes of a body and its mass matrix over their coordinates, (H^+)^T M_b H^+ (eq. 34)."""
    form: BodyForm = structure.bodies[name]
    body = rigid_body(structure, name)
    dim = structure.dim
    turn = form.rotation(structure.x)
    inertia = ca.mtimes([turn, form.inertia, turn.T])  # eq. 24
    inner = ca.diagcat(form.mass * ca.SX.eye(dim), inertia if dim == 3 else form.inertia[2, 2])
    return body.nodes, ca.mtimes([body.inverse.T, inner, body.inverse])


def mass_matrix(structure: NodalStructure) -> ca.SX:
    """M of eq. 39 over all coordinates: bars by eq. 7, bodies by eq. 34."""
    n = structure.q.numel()
    whole = ca.kron(_masses(structure), ca.SX.eye(structure.dim))
    for name in structure.bodies:
        nodes, block = body_mass(structure, name)
        places = _coordinates(structure, nodes)
        whole = whole + _spread(_spread(block, places, n).T, places, n)
    return whole


def forces(structure: NodalStructure) -> ca.SX:
    """f of eq. 39 with the loads at the centroids of bodies put on their nodes (eq. 33)."""
    dim, n = structure.dim, structure.q.numel()
    weight = ca.sum2(_masses(structure))
    on = [weight[k] * structure.gravity for k in range(len(structure.names))]
    for placed in structure.pushing():
        for name, force in zip(placed.part.nodes(), placed.part.forces(placed.v, placed.at), strict=True):
            on[structure.index[name]] = on[structure.index[name]] + force
    whole = ca.vertcat(*(force[:dim] for force in on))
    for name, form in structure.bodies.items():
        load = ca.vertcat(form.mass * structure.gravity, ca.SX.zeros(3))
        for placed in structure.parts:
            if isinstance(placed.part, BodyLoad) and placed.part.body == name:
                load = load + structure.load(placed)[1]
        body = rigid_body(structure, name)
        own = load if dim == 3 else load[[0, 1, 5]]
        whole = whole + _spread(ca.mtimes(body.inverse.T, own).T, _coordinates(structure, body.nodes), n).T
    return ca.densify(whole)


def _masses(structure: NodalStructure) -> ca.SX:
    """The factors of the mass matrix of bars and point masses, without bodies."""
    whole = ca.SX(len(structure.names), len(structure.names))
    for placed in structure.parts:
        if placed.part.name not in structure.bodies and hasattr(placed.part, "masses"):
            nodes = [structure.index[name] for name in placed.part.nodes()]
            whole[nodes, nodes] = whole[nodes, nodes] + placed.part.masses(placed.v, placed.at)
    return whole


def _others(structure: NodalStructure, closed: Sequence[str]) -> list[Row]:
    return [row for row in structure.rows(closed) if row.owner not in structure.bodies]


def _body_rows(structure: NodalStructure) -> int:
    sizes = (len(set(form.nodes) | set(form.base)) for form in structure.bodies.values())
    return structure.dim * sum(sizes)


def _coordinates(structure: NodalStructure, nodes: Sequence[int]) -> list[int]:
    return [structure.dim * k + i for k in nodes for i in range(structure.dim)]


def _spread(block: ca.SX, columns: Sequence[int], width: int) -> ca.SX:
    """The block with its columns at their places among all coordinates."""
    whole = ca.SX(block.shape[0], width)
    whole[:, list(columns)] = block
    return whole
