"""Ranks, mechanisms and states of self-stress of trusses whose counts and forces are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy import sparse

import cotree as ct
from cotree.formulation.nodal.determinacy import determinacy
from cotree.formulation.nodal.determinacy_report import Determinacy
from cotree.formulation.nodal.prestress import combined
from cotree.formulation.nodal.rank import _sparse, independent_rows, rank

Place = Sequence[float]

SQUARE = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (1, 1, 0), "D": (0, 1, 0)}
SIDES = ("AB", "BC", "CD", "DA")


def truss(
    places: Mapping[str, Place], bars: Iterable[str], fixed: Iterable[str] = "", *, planar: bool = False
) -> ct.Model:
    """Bars named by their two nodes."""
    m = ct.Model("truss", planar=planar, gravity=(0, 0, 0))
    for name, place in places.items():
        m.add(ct.nodal.Node(name, position=tuple(place)))
    for bar in bars:
        m.add(ct.nodal.Bar(bar, bar[0], bar[1], mass=1.0))
    for node in fixed:
        m.add(ct.nodal.Fixed(f"S{node}", node))
    return m


def counts(report: Determinacy) -> tuple[int, int, int, int, int]:
    """n, rank, motions of the whole, internal mechanisms, states of self-stress."""
    return report.freedoms, report.rank, report.whole, report.internal, report.states


def balanced(places: Mapping[str, Place], forces: Mapping[str, float]) -> float:
    """The largest force that is left at a node under the tensions of bars."""
    left = {name: np.zeros(3) for name in places}
    for name, force in forces.items():
        a, b = name.removesuffix(".force").removesuffix(".tension")
        way = np.subtract(places[b], places[a])
        left[a] += force * way / np.linalg.norm(way)
        left[b] -= force * way / np.linalg.norm(way)
    return max(float(np.abs(each).max()) for each in left.values())


def matrix_of(places: Mapping[str, Place], bars: Iterable[str]) -> np.ndarray:
    """Directions of bars by hand: Pellegrino and Calladine's kinematic matrix."""
    names, rows = list(places), []
    for bar in bars:
        row = np.zeros((len(names), 3))
        way = np.subtract(places[bar[1]], places[bar[0]])
        row[names.index(bar[1])] = way / np.linalg.norm(way)
        row[names.index(bar[0])] = -way / np.linalg.norm(way)
        rows.append(row.ravel())
    return np.array(rows)


@pytest.mark.parametrize(
    ("bars", "planar", "expected"),
    [
        (SIDES, True, (8, 4, 3, 1, 0)),
        (SIDES, False, (12, 4, 6, 2, 0)),
        ((*SIDES, "AC"), True, (8, 5, 3, 0, 0)),
        ((*SIDES, "AC", "BD"), True, (8, 5, 3, 0, 1)),
        ((*SIDES, "AC", "BD"), False, (12, 5, 6, 1, 1)),
    ],
)
def test_squares(bars: Sequence[str], planar: bool, expected: tuple[int, ...]) -> None:
    """A square is a mechanism, one diagonal braces it, the second one is redundant; in space it can warp."""
    assert counts(determinacy(truss(SQUARE, bars, planar=planar))) == expected


def test_the_mechanism_of_a_square_is_the_shear_of_a_rhombus() -> None:
    report = determinacy(truss(SQUARE, SIDES, planar=True))
    inner = [each for each in report.mechanisms if not each.whole]
    assert [each.motion for each in inner] == ["finite"]
    moves = np.array([inner[0].shape[name] for name in "ABCD"]) * np.sign(inner[0].shape["A"][0])
    expected = np.array([[1, 1, 0], [1, -1, 0], [-1, -1, 0], [-1, 1, 0]]) / sqrt(8)
    assert np.abs(moves - expected).max() < 1e-12


def test_a_square_with_both_diagonals_is_stressed_against_its_sides() -> None:
    """Sides carry 1/sqrt(2) of the diagonals with the other sign; out of the plane the stress stiffens the warping.

    The stress matrix of this state has the one eigenvalue 4 q with q = 1/sqrt(2) N/m, the force density of the sides.
    """
    report = determinacy(truss(SQUARE, (*SIDES, "AC", "BD")))
    (state,) = report.stresses
    for bar in SIDES:
        assert state.forces[f"{bar}.force"] / state.forces["AC.force"] == pytest.approx(-1 / sqrt(2), abs=1e-12)
    assert state.forces["BD.force"] == pytest.approx(state.forces["AC.force"], abs=1e-12)
    assert [each.motion for each in report.mechanisms if not each.whole] == ["infinitesimal"]
    assert f"{4 / sqrt(2):.3g} N/m" in report.stability


def test_a_cube_of_twelve_bars() -> None:
    names = "ABCDEFGH"
    places = {name: (k & 1, k >> 1 & 1, k >> 2 & 1) for k, name in enumerate(names)}
    bars = [a + b for (i, a), (k, b) in combinations(enumerate(names), 2) if (i ^ k).bit_count() == 1]
    report = determinacy(truss(places, bars))
    assert len(bars) == 12
    assert counts(report) == (24, 12, 6, 6, 0)
    shapes = np.array([[each.shape[name] for name in names] for each in report.mechanisms]).reshape(12, 24)
    assert np.abs(shapes @ shapes.T - np.eye(12)).max() < 1e-12
    assert np.abs(matrix_of(places, bars) @ shapes.T).max() < 1e-12


def test_an_octahedron_is_determinate() -> None:
    places = {"A": (1, 0, 0), "B": (-1, 0, 0), "C": (0, 1, 0), "D": (0, -1, 0), "E": (0, 0, 1), "F": (0, 0, -1)}
    bars = [a + b for a, b in combinations("ABCDEF", 2) if a + b not in ("AB", "CD", "EF")]
    report = determinacy(truss(places, bars))
    assert counts(report) == (18, 12, 6, 0, 0)
    assert report.kind == "statically determinate, kinematically determinate"
    assert [each.whole for each in report.mechanisms] == [True] * 6


def prism(twist: float, height: float = 1.5) -> dict[str, Place]:
    """Two triangles of radius one, the upper one turned."""
    lower = {name: (cos(2 * pi * k / 3), sin(2 * pi * k / 3), 0.0) for k, name in enumerate("ABC")}
    upper = {name: (cos(2 * pi * k / 3 + twist), sin(2 * pi * k / 3 + twist), height) for k, name in enumerate("DEF")}
    return lower | upper


CABLES = ("AB", "BC", "CA", "DE", "EF", "FD", "AD", "BE", "CF")
STRUTS = ("AE", "BF", "CD")


def test_a_tensegrity_prism() -> None:
    """At a twist of 30 degrees: one mechanism, one state; densities -1, 1, 1/sqrt(3) of struts, ties and sides.

    Balance at a node across its radius gives equal densities of strut and tie; along it the sides' 1/sqrt(3).
    """
    places = prism(pi / 6)
    report = determinacy(truss(places, (*CABLES, *STRUTS)))
    assert counts(report) == (18, 11, 6, 1, 1)
    forces = report.stresses[0].forces
    assert balanced(places, forces) < 1e-12
    length = {bar: float(np.linalg.norm(np.subtract(places[bar[0]], places[bar[1]]))) for bar in (*CABLES, *STRUTS)}
    density = {bar: forces[f"{bar}.force"] / length[bar] for bar in length}
    for bar, ratio in (
        *((b, 1 / sqrt(3)) for b in CABLES[:6]),
        *((b, 1) for b in CABLES[6:]),
        *((b, -1) for b in STRUTS),
    ):
        assert density[bar] / density["AD"] == pytest.approx(ratio, abs=1e-12)
    assert [each.motion for each in report.mechanisms if not each.whole] == ["infinitesimal"]
    assert report.prestress is not None
    assert density["AD"] > 0


@pytest.mark.parametrize("twist", [0.0, pi / 4, -pi / 6])
def test_a_prism_of_another_twist_is_determinate(twist: float) -> None:
    report = determinacy(truss(prism(twist), (*CABLES, *STRUTS)))
    assert counts(report) == (18, 12, 6, 0, 0)


@pytest.mark.parametrize("right", [True, False])
def test_cables_of_a_tensegrity_must_pull(right: bool) -> None:
    """Struts and nine cables; with the parts exchanged the same state of self-stress would need cables that push."""
    places = prism(pi / 6)
    m = truss(places, STRUTS if right else CABLES)
    for name in CABLES if right else STRUTS:
        m.add(ct.nodal.ElasticCable(name, (name[0], name[1]), stiffness=1e3, length=0.5))
    assert determinacy(m).states == 0
    report = determinacy(m, cables=True)
    assert counts(report) == (18, 11, 6, 1, 1)
    assert (report.prestress is not None) is right
    if right:
        assert balanced(places, report.prestress.forces) < 1e-12
        assert all(report.prestress.forces[f"{name}.tension"] > 0 for name in CABLES)
    else:
        assert report.stability.startswith("No prestress stiffens all mechanisms")


def test_the_expanded_octahedron() -> None:
    """Six struts and twenty-four cables (Pellegrino and Calladine 1986): one mechanism that one prestress stiffens.

    With parallel struts half their length apart, the densities of strut and cable are as -3 to 2.
    """
    points = [np.roll((0.0, s * 1.0, r * 2.0), k) for k in range(3) for s in (1, -1) for r in (1, -1)]
    places = dict(zip("ABCDEFGHIJKL", points, strict=True))
    bars = [
        a + b for a, b in combinations(places, 2)
        if abs(np.linalg.norm(places[a] - places[b]) ** 2 - 6) < 1e-9
        or abs(np.linalg.norm(places[a] - places[b]) ** 2 - 16) < 1e-9
    ]  # fmt: skip
    report = determinacy(truss(places, bars))
    assert len(bars) == 30
    assert counts(report) == (36, 29, 6, 1, 1)
    forces = report.stresses[0].forces
    struts = {bar for bar in bars if np.linalg.norm(places[bar[0]] - places[bar[1]]) > 3}
    assert len(struts) == 6
    for bar in bars:
        expected = -1.0 if bar in struts else 2 * sqrt(6) / (3 * 4)
        assert forces[f"{bar}.force"] == pytest.approx(expected, abs=1e-12)
    assert [each.motion for each in report.mechanisms if not each.whole] == ["infinitesimal"]


def test_two_bars_in_line() -> None:
    """Pellegrino and Calladine's first example: the middle can move a little across; a tension of 1 N gives 2 N/m."""
    m = truss({"A": (0, 0, 0), "B": (1, 0, 0), "C": (2, 0, 0)}, ("AB", "BC"), "AC", planar=True)
    report = determinacy(m)
    assert counts(report) == (6, 5, 0, 1, 1)
    assert report.equations == {"bars": 2, "supports": 4}
    assert report.mechanisms[0].motion == "infinitesimal"
    assert abs(report.mechanisms[0].shape["B"][1]) == pytest.approx(1.0, abs=1e-12)
    forces = report.stresses[0].forces
    assert forces == pytest.approx({"AB.force": 1.0, "BC.force": 1.0, "SA.force.x": -1.0, "SC.force.x": 1.0}, abs=1e-12)
    assert "2 N/m" in report.stability
    for line in ("statically indeterminate, kinematically indeterminate", "2 of bars, 4 of supports", "1 state of"):
        assert line in str(report)


def test_a_bipartite_truss_on_a_circle() -> None:
    """K33 has as many bars as a rigid plane truss needs; with its six nodes on a conic its rank falls by one.

    Bolker and Roth 1980: (n, r) = (12, 8) on a circle, (12, 9) when one node leaves it.
    """
    places: dict[str, Place] = {name: (cos(pi * k / 3), sin(pi * k / 3), 0.0) for k, name in enumerate("ABCDEF")}
    bars = [a + b for a in "ACE" for b in "BDF"]
    report = determinacy(truss(places, bars, planar=True))
    assert counts(report) == (12, 8, 3, 1, 1)
    assert balanced(places, report.stresses[0].forces) < 1e-12
    places["F"] = (0.7, -0.9, 0.0)
    assert counts(determinacy(truss(places, bars, planar=True))) == (12, 9, 3, 0, 0)


def test_a_flat_four_bar_can_go_two_ways() -> None:
    """At a change point no prestress stiffens both mechanisms, and the linkage moves on."""
    places = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (3, 0, 0), "D": (2, 0, 0)}
    report = determinacy(truss(places, ("AB", "BC", "CD"), "AD", planar=True))
    assert counts(report) == (8, 6, 0, 2, 1)
    assert report.prestress is None
    assert "not rigid" in report.stability


def test_a_redundant_parallel_bar_leaves_a_finite_mechanism() -> None:
    """A platform on three equal parallel bars: one equation is redundant, and still it swings."""
    m = truss({"A": (0, 0, 0), "B": (1, 0, 0), "C": (3, 0, 0), "D": (0, 1, 0), "E": (1, 1, 0), "F": (3, 1, 0)},
              ("AD", "BE", "CF"), "ABC", planar=True)  # fmt: skip
    m.add(ct.nodal.Body("P", ("D", "E", "F"), mass=1, centre=(1.5, 1, 0), inertia=(1, 1, 1)))
    report = determinacy(m)
    assert (report.internal, report.states) == (1, 1)
    assert [each.motion for each in report.mechanisms] == ["finite"]


def test_rollers_that_point_at_one_centre() -> None:
    """Three rollers whose normals meet let a plate turn by a little only: a mechanism, not a motion of the whole."""
    m = ct.Model("plate", planar=True)
    for k, name in enumerate("ABC"):
        radial = (cos(2 * pi * k / 3), sin(2 * pi * k / 3), 0.0)
        m.add(ct.nodal.Node(name, position=radial))
        m.add(ct.nodal.OnPlane(f"S{name}", name, normal=radial))
    m.add(ct.nodal.Body("P", ("A", "B", "C"), mass=1, centre=(0, 0, 0), inertia=(1, 1, 1)))
    report = determinacy(m)
    assert counts(report) == (6, 5, 0, 1, 1)
    assert report.mechanisms[0].motion == "infinitesimal"
    reactions = np.array([[report.stresses[0].forces.get(f"S{name}.force.{x}", 0.0) for x in "xy"] for name in "ABC"])
    assert np.abs(reactions.sum(axis=0)).max() < 1e-12
    assert np.allclose(np.linalg.norm(reactions, axis=1), np.linalg.norm(reactions[0]), atol=1e-12)


def test_bodies_are_counted_with_their_six_motions() -> None:
    """Five nodes: 3*5 - 6 = 9 independent equations, and 15 by eq. 38; one node: three more points and 6 equations."""
    rng = np.random.default_rng(3)
    m = ct.Model("body")
    for name in "ABCDE":
        m.add(ct.nodal.Node(name, position=tuple(rng.normal(size=3))))
    m.add(ct.nodal.Body("P", tuple("ABCDE"), mass=1, centre=(0, 0, 0), inertia=(1, 1, 1)))
    report = determinacy(m)
    assert (counts(report), report.paper_equations) == ((15, 9, 6, 0, 0), 15)
    assert "eq. 38 counts 15" in str(report)
    m.add(ct.nodal.Fixed("S", "A"))
    assert counts(determinacy(m)) == (15, 12, 3, 0, 0)

    single = ct.Model("single")
    single.add(ct.nodal.Node("A", position=(0, 0, 0)))
    single.add(ct.nodal.Body("P", ("A",), mass=1, centre=(0, 0, -1), inertia=(1, 1, 1)))
    single.add(ct.nodal.Fixed("S", "A"))
    report = determinacy(single)
    assert (report.nodes, report.added, report.modes) == (1, 3, 3)


def ring_truss(sides: int) -> ct.Model:
    """The ring of Xiang 2015, section 4.3: every second batten keeps its height and stays vertical."""
    places = {f"{row}{k}": (cos(2 * pi * k / sides), sin(2 * pi * k / sides), z)
              for row, z in (("L", 0.0), ("U", 1.6)) for k in range(sides)}  # fmt: skip
    m = ct.Model("ring", gravity=(0, 0, 0))
    for name, place in places.items():
        m.add(ct.nodal.Node(name, position=place))
    for k in range(sides):
        for row in "LU":
            m.add(ct.nodal.Bar(f"{row}bar{k}", f"{row}{k}", f"{row}{(k + 1) % sides}", mass=1))
        m.add(ct.nodal.Bar(f"batten{k}", f"L{k}", f"U{k}", mass=1))
    for k in range(0, sides, 2):
        m.add(ct.nodal.OnPlane(f"height{k}", f"L{k}", normal=(0, 0, 1)))
        m.add(ct.nodal.KeepDirection(f"upright{k}", f"L{k}", f"U{k}"))
    return m


def test_the_ring_truss_has_fifteen_modes() -> None:
    """The Adams count of the paper, 45 less the spins of 30 bars."""
    report = determinacy(ring_truss(10))
    assert (report.freedoms, report.modes, report.states) == (60, 15, 0)
    assert report.whole == 3


def test_latches_count_where_they_are_closed() -> None:
    m = truss(SQUARE, SIDES, planar=True)
    m.add(ct.nodal.Latch("lock", ("A", "C"), at=sqrt(2)))
    assert determinacy(m).internal == 1
    assert counts(determinacy(m, closed=["lock"])) == (8, 5, 3, 0, 0)
    with pytest.raises(ct.ModelError, match="no latch or stop 'look'"):
        determinacy(m, closed=["look"])


def test_parameters_change_the_place() -> None:
    """The middle of two bars out of line is held; in line it is not."""
    m = ct.Model("bars", planar=True, parameters={"h": 0.0})
    for name, place in (("A", (0, 0, 0)), ("B", (1, "h", 0)), ("C", (2, 0, 0))):
        m.add(ct.nodal.Node(name, position=place))
    for bar in ("AB", "BC"):
        m.add(ct.nodal.Bar(bar, bar[0], bar[1], mass=1))
    for node in "AC":
        m.add(ct.nodal.Fixed(f"S{node}", node))
    assert (determinacy(m).internal, determinacy(m).states) == (1, 1)
    report = determinacy(m, parameters={"h": 0.2})
    assert (report.internal, report.states) == (0, 0)


def test_numbers_without_shapes_are_the_same() -> None:
    for m in (truss(prism(pi / 6), (*CABLES, *STRUTS)), ring_truss(6), truss(SQUARE, SIDES, planar=True)):
        report = determinacy(m, shapes=False)
        assert counts(report) == counts(determinacy(m))
        assert (report.mechanisms, report.stresses) == ((), ())


def test_several_states_together_make_forms_positive() -> None:
    """No single one of these forms is definite; half the difference is. With their sum held positive nothing is."""
    first, second = np.diag([1.0, -0.1]), np.diag([0.1, -1.0])
    factors, least, decided = combined([first, second], np.zeros((0, 2)))
    assert decided
    assert factors is not None
    assert least == pytest.approx(np.linalg.eigvalsh(factors[0] * first + factors[1] * second)[0], abs=1e-12)
    assert least > 0.4
    factors, _, decided = combined([np.diag([1.0, -1.0]), np.array([[0.0, 1.0], [1.0, 0.0]])], np.zeros((0, 2)))
    assert decided
    assert factors is None  # all combinations have trace zero


def mast(bays: int, braces: int) -> sparse.csr_matrix:
    """A triangulated mast on a fixed base, with second diagonals in some bays."""
    places = np.array([(cos(2 * pi * j / 3), sin(2 * pi * j / 3), 1.3 * k) for k in range(bays + 1) for j in range(3)])
    bars = [(3 * k + j, 3 * k + (j + 1) % 3) for k in range(bays + 1) for j in range(3)]
    bars += [(3 * k + j, 3 * k + 3 + i) for k in range(bays) for j in range(3) for i in (j, (j + 1) % 3)]
    bars += [(3 * k + 1, 3 * k + 3) for k in range(braces)]
    a, b = np.array(bars).T
    way = places[b] - places[a]
    way /= np.linalg.norm(way, axis=1)[:, None]
    rows = np.repeat(np.arange(len(bars)), 3)
    columns = [(3 * end[:, None] + np.arange(3)).ravel() for end in (a, b)]
    shape = (len(bars), 3 * len(places))
    held = sparse.identity(3 * len(places), format="csr")[:9]
    matrix = sum(
        sparse.csr_matrix((sign * way.ravel(), (rows, where)), shape)
        for sign, where in zip((-1, 1), columns, strict=True)
    )
    return sparse.vstack([matrix, held]).tocsr()


@pytest.mark.parametrize(("bays", "braces"), [(20, 4), (1300, 0), (1300, 120), (1300, 1200)])
def test_the_rank_of_a_long_mast(bays: int, braces: int) -> None:
    """Bars and base are just enough, but for the three bars between base nodes; each further diagonal is redundant."""
    matrix = mast(bays, braces)
    kept, dropped = independent_rows(matrix)
    assert len(kept) == rank(matrix) == matrix.shape[1]
    assert len(dropped) == 3 + braces


def test_large_and_small_ways_drop_the_same_rows() -> None:
    rng = np.random.default_rng(1)
    for _ in range(10):
        places = {name: rng.normal(size=3) for name in "ABCDEFGHIJKL"}
        bars = [a + b for a, b in combinations(places, 2) if rng.random() < 0.7]
        matrix = matrix_of(places, bars)
        kept, dropped = independent_rows(matrix)
        assert len(kept) == np.linalg.matrix_rank(matrix)
        assert dropped
        assert _sparse(sparse.csr_matrix(matrix)) == kept


def test_earlier_groups_are_preferred_and_rows_of_nothing_are_dropped() -> None:
    rows = np.array([[1.0, 0, 0], [0, 0, 0], [2, 0, 0], [1, 1, 0], [1, 1 + 1e-12, 0], [0, 1, 1]])
    assert independent_rows(rows, [2, 1, 1, 2]) == ([0, 3, 5], [1, 2, 4])
    assert independent_rows(np.zeros((0, 3))) == ([], [])
    assert rank(rows) == 3
