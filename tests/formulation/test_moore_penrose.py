"""The paper's matrices against NumPy's pseudo-inverse, and against the formulation's own equations."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

import cotree as ct
from cotree.formulation.nodal import NodalStructure, moore_penrose, nodal_equations
from cotree.formulation.system import SystemEquations
from formulation.nodal_models import five_bar, ring_truss, structure

Array = NDArray[np.float64]

CENTRE = np.array([0.1, 0.2, 0.3])
OMEGA = np.array([0.5, 2.0, 0.3])


def body(count: int, planar: bool = False, line: bool = False) -> ct.Model:
    """A body over nodes that turns, under gravity and a load at its centroid, with a bar from its first node."""
    places = np.random.default_rng(count).normal(size=(count, 3))
    places[:, 2] *= not planar
    centre, omega = (CENTRE * [1, 1, 0], OMEGA * [0, 0, 1]) if planar else (CENTRE, OMEGA)
    if line:
        places = centre + np.outer(np.arange(count) - 0.5, [1.0, 2.0, 2.0])
    nodes = {f"N{k}": {"position": x, "velocity": np.cross(omega, x - centre)} for k, x in enumerate(places)}
    over = list(nodes)
    nodes["T"] = {"position": places[0] + [0.3, 0.4, 0], "mass": 0.7}
    inertia = (1.0, 2.0, 2.5, 0, 0, 0) if planar else (1.0, 2.0, 2.5, 0.1, -0.2, 0.3)
    return structure(
        nodes,
        ct.nodal.Body("P", over, mass=3.0, centre=tuple(centre), inertia=inertia),
        ct.nodal.Bar("rod", "N0", "T", mass=0.5),
        ct.nodal.BodyLoad("load", "P", force=(1, 2, 0), moment=(0, 0, 3) if planar else (1, -2, 3)),
        gravity=(0, -9.81, 0) if planar else (0, 0, -9.81),
        planar=planar,
    )


def values(equations: SystemEquations, *expressions: ca.SX) -> list[Array]:
    """Expressions at the start."""
    given = [equations.t, equations.q.symbols, equations.u.symbols, equations.p.symbols]
    function = ca.Function("values", given, [ca.densify(each) for each in expressions])
    found: Any = function.call([0.0, equations.q.start, equations.u.start, equations.p.start])
    return [np.asarray(ca.DM(each).full(), dtype=float) for each in found]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("planar", [False, True])
def test_inverse_of_h(count: int, planar: bool) -> None:
    """(H^T H)^-1 H^T written out is the pseudo-inverse, and 1 - H H^+ has the rank of the body's shape."""
    equations = nodal_equations(body(count, planar))
    found = moore_penrose.rigid_body(equations.nodal, "P")
    h, inverse = values(equations, found.h, found.inverse)
    assert np.abs(inverse - np.linalg.pinv(h)).max() < 1e-12
    free = 3 if planar else 6
    assert np.linalg.matrix_rank(np.eye(len(h)) - h @ inverse, tol=1e-9) == len(h) - free


def test_nodes_on_a_line() -> None:
    """Two nodes of a body hold their distance, and three on a line two more of each: the projector is NumPy's."""
    for count, rank in ((2, 1), (3, 4)):
        equations = nodal_equations(body(count, line=True))
        found = moore_penrose.rigid_body(equations.nodal, "P", only_real=True)
        h, complement = values(equations, found.h, found.complement)
        assert np.abs(complement - (np.eye(3 * count) - h @ np.linalg.pinv(h))).max() < 1e-12
        assert np.linalg.matrix_rank(complement, tol=1e-9) == rank


@pytest.mark.parametrize("count", [1, 2, 4, 6])
@pytest.mark.parametrize("planar", [False, True])
def test_same_constraints_as_the_formulation(count: int, planar: bool) -> None:
    """Eq. 15 and 47 hold what the formulation's distances hold: the same modes, the same second-order velocities."""
    equations = nodal_equations(body(count, planar))
    s, mechanics = equations.nodal, equations.mechanics
    assert mechanics is not None
    matrix, labels = moore_penrose.first_order(s)
    bent = ca.substitute(mechanics.acceleration, equations.u_dot, ca.SX.zeros(*equations.u_dot.shape))
    jac = ca.jacobian(mechanics.velocity, equations.u.symbols)
    found = values(equations, matrix, moore_penrose.second_order(s, s.u), jac, bent)
    a, second, own, own_second = found
    assert a.shape[0] == len(labels) == 1 + s.dim * len({*s.bodies["P"].nodes, *s.bodies["P"].base})
    modes = np.linalg.svd(own)[2][np.linalg.matrix_rank(own) :].T
    assert np.linalg.matrix_rank(a, tol=1e-9) == len(own.T) - modes.shape[1]
    assert np.abs(a @ modes).max() < 1e-12
    assert np.abs(a @ equations.u.start).max() < 1e-12
    one, other = np.linalg.pinv(a, 1e-9) @ second, np.linalg.pinv(own) @ own_second
    assert np.abs(other).max() > 0.01  # there is something to compare
    assert np.abs(one - other).max() < 1e-11


@pytest.mark.parametrize("count", [1, 2, 4, 6])
@pytest.mark.parametrize("planar", [False, True])
def test_same_mass_and_forces_on_rigid_motions(count: int, planar: bool) -> None:
    """Eq. 33 and 34 against the constant mass matrix and the forces of the formulation, along all modes."""
    equations = nodal_equations(body(count, planar))
    s = equations.nodal
    jac = ca.jacobian(equations.mechanics.velocity, equations.u.symbols)  # type: ignore[union-attr]
    parts = (moore_penrose.mass_matrix(s), equations.mass_matrix(), moore_penrose.forces(s), s.forces, jac)
    mass, own_mass, force, own_force, jac_value = values(equations, *(equations.in_time(each) for each in parts))
    modes = np.linalg.svd(jac_value)[2][np.linalg.matrix_rank(jac_value) :].T
    assert np.abs(modes.T @ (mass - own_mass) @ modes).max() < 1e-11
    assert np.abs(modes.T @ (force - own_force)).max() < 1e-10


def test_mass_of_a_body_by_hand() -> None:
    """Translation and rotation of a body over six nodes: m v^2 and w . J w."""
    equations = nodal_equations(body(6))
    s = equations.nodal
    nodes, matrix = moore_penrose.body_mass(s, "P")
    (mass,) = values(equations, matrix)
    places = equations.q.start.reshape(-1, 3)[list(nodes)]
    shift, spin = np.array([0.3, -0.2, 0.5]), np.array([1.0, -2.0, 0.7])
    speed = (shift + np.cross(spin, places - CENTRE)).ravel()
    inertia = np.array([[1.0, 0.1, -0.2], [0.1, 2.0, 0.3], [-0.2, 0.3, 2.5]])
    assert speed @ mass @ speed == pytest.approx(3.0 * shift @ shift + spin @ inertia @ spin, rel=1e-12)


def test_rows_of_bars() -> None:
    """Eq. 3, 5 and 7 of the five-bar by hand."""
    model = five_bar(1)
    equations = nodal_equations(model)
    s = equations.nodal
    matrix, labels = moore_penrose.first_order(s)
    d = np.random.default_rng(0).normal(size=10)
    found = values(equations, matrix, moore_penrose.second_order(s, ca.SX(d)), moore_penrose.mass_matrix(s))
    a, second, mass = found
    row = labels.index("BC (length)")
    along = np.array([0.5, -np.sqrt(3) / 2])
    assert a[row] == pytest.approx([0, 0, *-along, *along, 0, 0, 0, 0], abs=1e-15)
    assert second[row, 0] == pytest.approx(np.sum((d[4:6] - d[2:4]) ** 2), rel=1e-14)
    whole = 2.45076
    assert mass == pytest.approx(np.diag(np.repeat([whole / 2, whole, whole, whole, whole / 2], 2)), abs=1e-15)


def test_ring_truss_has_fifteen_modes() -> None:
    """60 coordinates, 30 bars and 15 equations of supports."""
    equations = nodal_equations(ring_truss(10))
    (a,) = values(equations, moore_penrose.first_order(equations.nodal)[0])
    assert a.shape == (45, 60)
    assert 60 - np.linalg.matrix_rank(a, tol=1e-9) == 15


def test_only_real_nodes() -> None:
    """Added nodes are left out: s = s_a + 3 sum k_b rows (eq. 38), a bar and the body's shape independent."""
    for count, rank in ((1, 1), (2, 2), (3, 4), (5, 10)):
        s = NodalStructure(body(count))
        matrix, labels = moore_penrose.first_order(s, only_real=True)
        function = ca.Function("a", [s.q, s.values.p.symbols], [ca.densify(matrix)])
        a = np.asarray(function(s.given(s.values.p.start)[0], s.values.p.start))
        assert a.shape == (1 + 3 * count * (count > 1), 3 * (count + 1))
        assert len(labels) == len(a)
        assert np.linalg.matrix_rank(a, tol=1e-9) == rank


def test_moved_supports() -> None:
    """The rows' own rates in time, once and twice."""
    model = structure(
        {"O": (0, 0, 0), "A": {"position": (1, 0, 0), "mass": 2.0}},
        ct.nodal.Moved("end", "O", displacement=("0.3*sin(2*t)+0.2*t**2", None, 0)),
        ct.nodal.Bar("rod", "O", "A", mass=1.0),
    )
    equations = nodal_equations(model)
    s = equations.nodal
    rates = (moore_penrose.drift(s), moore_penrose.second_order(s, ca.SX.zeros(6), dt=1.0))
    first, second = values(equations, *(equations.in_time(each) for each in rates))
    row = moore_penrose.first_order(s)[1].index("end (x)")
    assert first[row, 0] == pytest.approx(-0.6)
    assert second[row, 0] == pytest.approx(-0.4)
    assert np.abs(np.delete(first, row)).max() == np.abs(np.delete(second, row)).max() == 0
