"""McPhee 1996, sections 3-5: the four-bar in absolute and in joint coordinates, and the way from one to the other."""

from __future__ import annotations

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import cotree as ct
from benchmarks.rigid_models import four_bar
from cotree.formulation import SystemEquations
from cotree.graph import LinearGraph, select_tree
from cotree.model import Edge, Kind

Array = NDArray[np.float64]
LENGTHS, MASSES = (0.3, 0.9, 0.75), (1.0, 3.0, 2.0)
EQUATION_42 = {"A": 1, "coupler.A": -1, "coupler": -1, "crank": 1, "crank.A": 1}
"""With edges along the position vectors, r14 from the crank's pin to the coupler's."""
BODIES, JOINTS = ("crank", "coupler", "follower"), ("O", "A", "B")


def numbers(e: SystemEquations, q: Array, u: Array) -> tuple[Array, Array, Array]:
    """Mass matrix, bias without constraint forces, and Jacobian of the constraints."""
    assert e.mechanics is not None
    inputs = [e.t, e.q.symbols, e.u.symbols, e.multipliers.symbols, e.p.symbols]
    outputs = [e.mass_matrix(), e.bias(), ca.jacobian(e.mechanics.velocity, e.u.symbols)]
    function = ca.Function("f", inputs, [ca.densify(each) for each in outputs])
    mass, bias, jacobian = function(0.4, q, u, np.zeros(len(e.multipliers)), e.p.start)
    return np.asarray(mass, dtype=float), np.asarray(bias, dtype=float).ravel(), np.asarray(jacobian, dtype=float)


def path_matrix() -> Array:
    """[T] of Wittenburg's graph (fig. 5) with all signs positive: bodies are nodes and the joints O, A, B the tree."""
    ends = {
        "O": ("ground", "crank"),
        "A": ("crank", "coupler"),
        "B": ("coupler", "follower"),
        "C": ("follower", "ground"),
    }
    graph = LinearGraph([Edge(name, *pair, Kind.POINT_JOINT) for name, pair in ends.items()], ["ground"])
    tree = select_tree(graph, "joint", into_tree=JOINTS)
    path = tree.path_matrix()
    return np.abs(np.array([[path[branch, node] for branch in JOINTS] for node in BODIES], dtype=float))


def place(angles: Array) -> tuple[Array, Array, Array]:
    """Absolute angles, mass centres and tree joints of the open chain O, A, B."""
    absolute = np.cumsum(angles)
    directions = np.stack([np.cos(absolute), np.sin(absolute)], axis=1) * np.array(LENGTHS)[:, None]
    joints = np.vstack([np.zeros(2), np.cumsum(directions, axis=0)[:-1]])
    return absolute, joints + directions / 2, joints


def test_counts() -> None:
    model = four_bar(planar=True)
    absolute, joint = model.equations("absolute"), model.equations("joint")
    coordinates = [name for name in absolute.q.names if name.split(".")[0] in BODIES]
    assert coordinates == [f"{body}.{c}" for body in BODIES for c in ("x", "y", "angle")]
    assert (len(absolute.u), len(absolute.multipliers)) == (9, 8)
    assert joint.u.names == ("O.angle_rate", "A.angle_rate", "B.angle_rate")
    assert (len(joint.u), len(joint.multipliers)) == (3, 2)
    # A planar body cannot leave its plane, so no equation is redundant.
    assert absolute.notes == ("9 speeds, 8 independent constraint equations, 1 degree of freedom",)


def test_velocity_transformation_by_the_path_matrix() -> None:
    """Absolute equations times the transposed velocity transformation are the joint equations (section 4)."""
    model = four_bar(planar=True)
    absolute, joint = model.equations("absolute"), model.equations("joint")
    path = path_matrix()
    np.testing.assert_array_equal(path, np.tril(np.ones((3, 3))))
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, u = rng.uniform(-2, 2, 3), rng.uniform(-3, 3, 3)
        angles, centres, pins = place(q)
        spins = path @ u
        B, B_dot = np.zeros((9, 3)), np.zeros((9, 3))
        rates = np.zeros((3, 2))
        turned = np.array([[0.0, -1.0], [1.0, 0.0]])
        for i in range(3):  # velocity of centre i: every joint on its path turns it about the joint's pin
            for j in range(3):
                B[3 * i : 3 * i + 2, j] = path[i, j] * turned @ (centres[i] - pins[j])
                B[3 * i + 2, j] = path[i, j]
            rates[i] = B[3 * i : 3 * i + 2] @ u
        half = np.stack([-np.sin(angles), np.cos(angles)], axis=1) * (np.array(LENGTHS) * spins)[:, None] / 2
        pin_rates = rates - half
        for i in range(3):
            for j in range(3):
                B_dot[3 * i : 3 * i + 2, j] = path[i, j] * turned @ (rates[i] - pin_rates[j])
        full_q = np.zeros(len(absolute.q))
        full_u = np.zeros(len(absolute.u))
        for i, body in enumerate(BODIES):
            at = [absolute.q.names.index(f"{body}.{c}") for c in ("x", "y", "angle")]
            full_q[at] = (*centres[i], angles[i])
            at = [absolute.u.names.index(f"{body}.{c}_rate") for c in ("x", "y", "angle")]
            full_u[at] = (*rates[i], spins[i])
        for k, name in enumerate(JOINTS):  # angles of chords count full turns
            if f"{name}.angle" in absolute.q.names:
                full_q[absolute.q.names.index(f"{name}.angle")] = q[k]
        order = [absolute.u.names.index(f"{body}.{c}_rate") for body in BODIES for c in ("x", "y", "angle")]
        M, h, G = numbers(absolute, full_q, full_u)
        M, h, G = M[np.ix_(order, order)], h[order], G[:, order]
        own_q = np.zeros(len(joint.q))
        own_q[[joint.q.names.index(f"{name}.angle") for name in JOINTS]] = q
        own_M, own_h, own_G = numbers(joint, own_q, u)
        np.testing.assert_allclose(B.T @ M @ B, own_M, rtol=0, atol=1e-12)
        np.testing.assert_allclose(B.T @ (M @ B_dot @ u + h), own_h, rtol=0, atol=1e-11)
        closing = [k for k, name in enumerate(absolute.multipliers.names) if " C " in name]
        others = [k for k in range(8) if k not in closing]
        assert len(closing) == 2
        np.testing.assert_allclose(G[others] @ B, 0, rtol=0, atol=1e-12)  # tree joints do no work in B's directions
        # The rows of C span the same two directions; the axes in which they are written may differ.
        both = np.vstack([G[closing] @ B, own_G])
        assert np.linalg.matrix_rank(both, tol=1e-10) == 2
        np.testing.assert_allclose(own_M[2, 2], MASSES[2] * LENGTHS[2] ** 2 / 3, rtol=1e-14)


def test_vector_network_graph_of_figure_6() -> None:
    """Three bodies, ground frame r5 (r4 is the datum here), six arms, four pins and the torque; then dependent work."""
    graph = four_bar(planar=True).graph()
    count = {kind: sum(1 for e in graph if e.kind == kind) for kind in Kind}
    assert count[Kind.BODY] == 3
    assert count[Kind.ARM] == 6 + 1
    assert count[Kind.POINT_JOINT] == 4
    assert count[Kind.FORCE] == 1
    # N7: two for each pin between bodies, one for each to the ground, one for the torque
    assert count[Kind.DEPENDENT] == 2 * 2 + 2 * 1 + 1
    tree = four_bar(planar=True).tree("absolute")
    assert {e.kind for e in graph if e.name in tree} == {Kind.BODY, Kind.ARM}


def test_section_5_circuit_equation_of_a_pin() -> None:
    """r14 = r8 + r2 - r1 - r7 (eq. 42): the circuit of pin A runs over both bodies and both arms."""
    equation = four_bar(planar=True).tree("absolute").circuit_equation("A")
    signs = {term.edge.name: term.sign for term in equation.terms}
    assert signs in (EQUATION_42, {name: -sign for name, sign in EQUATION_42.items()})


def test_both_coordinates_move_alike() -> None:
    model = four_bar(planar=True)
    options = {"times": [0, 1.0], "rtol": 1e-11, "atol": 1e-12, "integrator": "rk8"}
    sols = [model.simulate(1.0, tree=tree, **options) for tree in ("absolute", "joint")]
    for name in ("coupler.position", "follower.velocity"):
        np.testing.assert_allclose(sols[0][name], sols[1][name], rtol=0, atol=1e-8)
    space = four_bar().simulate(1.0, **options)
    np.testing.assert_allclose(space["coupler.position"], sols[1]["coupler.position"], rtol=0, atol=1e-8)
    assert isinstance(space, ct.Solution)
