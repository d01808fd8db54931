"""Assembly, ties, supports, statics and modes, with springs and lumps whose motions are known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.transform import Rotation

from cotree.errors import ModelError
from cotree.fem import eigen
from cotree.fem.beam import Beams
from cotree.fem.element import Cloud, Elements, Lumps, degrees_of, rigid_motions
from cotree.fem.factor import dissected
from cotree.fem.material import STEEL
from cotree.fem.mesh import line
from cotree.fem.section import circle
from cotree.fem.structure import Structure, Support, Tie

K, M, TURN = 300.0, 2.0, 40.0


class Springs(Elements):
    """Springs between nodes at one place, in chosen degrees of freedom."""

    def __init__(self, pairs, stiffness=K, turn=TURN, moves=range(6)):
        self.degrees = degrees_of(pairs)
        self.each = [(d, stiffness if d < 3 else turn) for d in moves]

    def stiffness(self):
        blocks = np.zeros((len(self.degrees), 12, 12))
        for d, k in self.each:
            blocks[:, d, d] = blocks[:, 6 + d, 6 + d] = k
            blocks[:, d, 6 + d] = blocks[:, 6 + d, d] = -k
        return blocks

    def viscosity(self):
        return 0.01 * self.stiffness()

    def cloud(self):
        count = len(self.degrees)
        return Cloud(np.zeros((count, 0)), np.zeros((count, 0, 3)), np.zeros((count, 0, 3, 12)))


def lumps(places, nodes=None, mass=M, inertia=0.0):
    nodes = range(len(places)) if nodes is None else nodes
    count = len(nodes)
    return Lumps(places, nodes, np.full(count, mass), np.tile(inertia * np.eye(3), (count, 1, 1)), np.zeros((count, 3)))


def chain(count, **options):
    """Equal masses at one place in a row of springs."""
    places = np.zeros((count, 3))
    springs = Springs(np.stack([np.arange(count - 1), np.arange(1, count)], axis=1))
    return Structure(places, [springs, lumps(places, inertia=0.1)], **options)


def chain_frequencies(count, held, stiffness=K, mass=M):
    """2 sqrt(k/m) sin(theta / 2): free at both ends, or held at the first."""
    j = np.arange(count)
    theta = np.pi * (2 * j[: count - 1] + 1) / (2 * count - 1) if held else np.pi * j / count
    return 2 * np.sqrt(stiffness / mass) * np.sin(theta / 2)


def six_chains(count, held):
    """All frequencies of `chain`: three in displacement, three in rotation."""
    moves, turns = chain_frequencies(count, held), chain_frequencies(count, held, TURN, 0.1)
    return np.sort(np.concatenate([moves, moves, moves, turns, turns, turns]))


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("small", [600, 0])
def test_frequencies_of_a_chain(held, small, monkeypatch):
    monkeypatch.setattr(eigen, "SMALL", small)
    structure = chain(30)
    found = structure.modes(24, held=structure.degrees(0) if held else ())
    assert found.frequencies == pytest.approx(six_chains(30, held)[:24], rel=1e-10, abs=1e-12)
    assert np.count_nonzero(found.frequencies == 0) == (0 if held else 6)


def test_shapes_of_a_chain():
    structure = chain(9)
    held = structure.degrees(0)
    _, shapes = structure.modes(3, held=held)
    along = shapes.reshape(9, 6, 3)
    shape = np.sin(np.pi * np.arange(9) / 17)  # the first mode, in some mixture of the three directions
    for k in range(3):
        for d in range(3):
            assert along[:, d, k] == pytest.approx(along[-1, d, k] * shape / shape[-1], abs=1e-9)
    assert np.abs(along[:, :3]).max(axis=(0, 1)) == pytest.approx(1, abs=1e-12)
    assert shapes.max(axis=0) == pytest.approx(1, abs=1e-12)


def test_rigid_motions_first_or_not_at_all():
    structure = chain(12)
    frequencies, shapes = structure.modes(9)
    left, rest = structure.modes(3, skip_rigid=True)
    assert (frequencies[:6] == 0).all()
    assert frequencies[6:] == pytest.approx(left)
    assert np.abs(structure.stiffness @ shapes[:, :6]).max() < 1e-11 * K
    assert np.abs(shapes[:, :6].T @ (structure.mass @ rest)).max() < 1e-11 * M * 12


def test_some_rigid_motions_are_left_by_some_supports():
    """Held against moving along y and z and turning about x and y: x and rz are left."""
    structure = chain(8)
    held = structure.degrees(3, "y z rx ry")
    frequencies, shapes = structure.modes(4, held=held)
    assert np.count_nonzero(frequencies == 0) == 2
    assert set(np.argmax(np.abs(shapes[:6, :2]), axis=0)) == {0, 5}


def test_frequencies_below_a_limit(monkeypatch):
    structure = chain(30)
    every = six_chains(30, True)
    limit = 12.0
    for small in (600, 0):
        monkeypatch.setattr(eigen, "SMALL", small)
        found = structure.modes(held=structure.degrees(0), below=limit / 2 / np.pi).frequencies
        assert found == pytest.approx(every[every < limit], rel=1e-9)
        assert len(structure.modes(5, held=structure.degrees(0), below=limit / 2 / np.pi).frequencies) == 5


def test_modes_agree_with_a_dense_solution(monkeypatch):
    """A random network with a full mass matrix, against LAPACK on K and M."""
    rng = np.random.default_rng(3)
    count = 14
    pairs = np.array([(i, j) for i in range(count) for j in range(i) if rng.random() < 0.3 or i == j + 1])
    places = np.zeros((count, 3))
    masses = Lumps(
        places, range(count), rng.uniform(1, 3, count), np.tile(np.eye(3), (count, 1, 1)), rng.random((count, 3))
    )
    structure = Structure(places, [Springs(pairs), masses])
    expected = np.sqrt(np.maximum(eigh(structure.stiffness.toarray(), structure.mass.toarray(), eigvals_only=True), 0))
    for small in (600, 0):
        monkeypatch.setattr(eigen, "SMALL", small)
        assert structure.modes(16).frequencies[6:] == pytest.approx(expected[6:16], rel=1e-9)


@pytest.mark.parametrize("small", [600, 0])
def test_massless_nodes_are_no_trouble(small, monkeypatch):
    """A mass on two springs in a row, nothing in between: sqrt(k / 2 m)."""
    monkeypatch.setattr(eigen, "SMALL", small)
    places = np.zeros((3, 3))
    structure = Structure(places, [Springs([(0, 1), (1, 2)]), lumps(places, [2])], fixed={0: None})
    frequencies, shapes = structure.modes(3)
    assert frequencies == pytest.approx(np.full(3, np.sqrt(K / 2 / M)), rel=1e-12)
    assert shapes.reshape(3, 6, 3)[1, :3] == pytest.approx(shapes.reshape(3, 6, 3)[2, :3] / 2)


def test_more_modes_than_there_are():
    places = np.zeros((3, 3))
    structure = Structure(places, [Springs([(0, 1), (1, 2)]), lumps(places, [2])], fixed={0: None})
    with pytest.raises(ModelError) as error:
        structure.modes(4)
    assert "4 modes are asked for" in str(error.value)
    assert "at most 3" in str(error.value)
    assert len(structure.modes().frequencies) == 3
    with pytest.raises(ModelError) as error:
        chain(4).modes(25)
    assert "at most 24" in str(error.value)
    with pytest.raises(ModelError) as error:
        chain(110).modes()
    assert "a number of modes" in str(error.value)


def test_a_rigid_roll_without_mass_is_no_mode():
    """Two points on a line have no inertia about it: five rigid modes, and one of the two along the line."""
    places = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    structure = Structure(places, [Springs([(0, 1)]), lumps(places, [0, 2])], ties=[Tie(1, (2,))])
    frequencies, _ = structure.modes()
    assert frequencies == pytest.approx([0, 0, 0, 0, 0, np.sqrt(2 * K / M)])


def test_statics_of_a_chain():
    structure = chain(10)
    force = np.zeros((60, 2))
    force[6 * 9 + 1, 0], force[6 * 4 + 5, 1] = 7.0, 3.0
    u = structure.statics(force, held=structure.degrees(0))
    assert u.reshape(10, 6, 2)[:, 1, 0] == pytest.approx(7.0 / K * np.arange(10))
    assert u.reshape(10, 6, 2)[:, 5, 1] == pytest.approx(3.0 / TURN * np.minimum(np.arange(10), 4))
    reactions = structure.reactions(u, force).reshape(10, 6, 2)
    assert reactions[0, 1, 0] == pytest.approx(-7)
    assert reactions[0, 5, 1] == pytest.approx(-3)
    assert np.abs(reactions[1:]).max() < 1e-11


def test_prescribed_displacements():
    structure = chain(5, fixed=[Support(0), Support(4, "x", 0.1)])
    u = structure.statics(np.zeros(30)).reshape(5, 6)
    assert u[:, 0] == pytest.approx(0.025 * np.arange(5))
    u = structure.statics(np.zeros((30, 2)), held=[6 * 4 + 1, 6 * 4], values=[[0.2, 0.4], [0, -0.1]]).reshape(5, 6, 2)
    assert u[:, 1] == pytest.approx(np.arange(5)[:, None] * [0.05, 0.1])
    assert u[:, 0] == pytest.approx(np.arange(5)[:, None] * [0, -0.025])


def spider(**options):
    """Two masses 0.5 to the left and right of a node on springs, tied to it."""
    places = np.array([[0, 0, 0], [0, 0, 0], [0.5, 0, 0], [-0.5, 0, 0]], dtype=float)
    return Structure(places, [Springs([(0, 1)]), lumps(places, [2, 3])], ties=[Tie(1, (2, 3))], **options)


def test_a_tie_makes_one_rigid_piece():
    frequencies, shapes = spider(fixed={0: None}).modes(5)
    turn = np.sqrt(TURN / (2 * M * 0.25))
    assert np.sort(frequencies) == pytest.approx(np.sort([np.sqrt(K / 2 / M)] * 3 + [turn] * 2), rel=1e-12)
    for shape in shapes.T:
        master, first = shape[6:12], shape[12:18]
        assert first[:3] == pytest.approx(master[:3] + np.cross(master[3:], [0.5, 0, 0]))
        assert first[3:] == pytest.approx(master[3:])


def test_ties_keep_rigid_motions():
    structure = spider()
    motions = rigid_motions(structure.places)
    assert structure.independent.tolist() == list(range(12))
    assert structure.transform @ motions[structure.independent] == pytest.approx(motions)


def test_a_held_slave_holds_its_master():
    """A lever: its end is pushed by d at the arm a, so it turns by d / a against the spring."""
    structure = spider(fixed={0: None, 1: "x y z rx ry"})
    u = structure.statics(np.zeros(24), held=[6 * 2 + 1], values=[0.01])
    assert u[6 * 1 + 5] == pytest.approx(0.02)
    assert u[6 * 3 + 1] == pytest.approx(-0.01)
    assert structure.reactions(u)[6 * 1 + 5] == pytest.approx(TURN * 0.02)
    force = np.zeros(24)
    force[6 * 3 + 1] = 2.0
    u = structure.statics(force)
    assert u[6 * 1 + 5] == pytest.approx(-2.0 * 0.5 / TURN)


def test_an_oblique_support():
    """A node that can only slide along a line: displacement (t . f) / k along it."""
    structure = chain(2, fixed={0: None})
    normal, along = np.array([0.6, 0.8, 0]), np.array([-0.8, 0.6, 0])
    row = np.zeros((1, 12))
    row[0, 6:9] = normal
    force = np.zeros(12)
    force[6:9] = [1.0, 3.0, 0.5]
    u = structure.statics(force, rows=row)
    assert u[6:9] == pytest.approx((along @ force[6:9] * along + [0, 0, 0.5]) / K)
    frequencies, shapes = structure.modes(2, rows=row)
    assert frequencies == pytest.approx(np.full(2, np.sqrt(K / M)))
    assert np.abs(row @ shapes).max() < 1e-14


def test_matrices_are_sums_over_elements():
    places = np.zeros((3, 3))
    springs = Springs([(0, 1), (1, 2), (0, 1)])
    structure = Structure(places, [springs, lumps(places, inertia=1.0), Springs([(2, 0)], moves=(1,))])
    expected = np.zeros((18, 18))
    for family in structure.families:
        for degrees, block in zip(family.degrees, family.stiffness(), strict=True):
            for i, row in zip(degrees, block, strict=True):
                for j, value in zip(degrees, row, strict=True):
                    expected[i, j] += value
    assert structure.stiffness.toarray() == pytest.approx(expected)
    assert structure.mass.toarray() == pytest.approx(np.diag([M, M, M, 1, 1, 1] * 3))
    viscosity = structure.viscosity.toarray()
    assert viscosity == pytest.approx(0.01 * structure.stiffness.toarray())


def test_a_large_net_agrees_with_another_solver():
    """A square net of springs, ordered by dissection, against SciPy's general sparse solver."""
    from scipy.sparse.linalg import spsolve

    side = 24
    number = np.arange(side**2).reshape(side, side)
    pairs = np.vstack(
        [
            np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1),
            np.stack([number[:-1].ravel(), number[1:].ravel()], 1),
        ]
    )
    places = np.zeros((side**2, 3))
    places[:, :2] = 1e-9 * np.stack(np.divmod(np.arange(side**2), side), axis=1)
    structure = Structure(places, [Springs(pairs), lumps(places)])
    order = dissected(structure.stiffness, np.arange(6 * side**2) // 6, places)
    assert np.array_equal(np.sort(order), np.arange(6 * side**2))
    force = np.random.default_rng(0).standard_normal(6 * side**2)
    u = structure.statics(force, held=structure.degrees(0))
    expected = spsolve(structure.stiffness[6:][:, 6:].tocsc(), force[6:])
    assert u[6:] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_same_modes_every_time():
    first, second = chain(120).modes(9), chain(120).modes(9)
    assert np.array_equal(first.shapes, second.shapes)
    assert np.array_equal(first.frequencies, second.frequencies)


def hinged(**options):
    """Two rows of springs; only rz is missing between nodes 2 and 3."""
    places = np.zeros((6, 3))
    springs = [Springs([(0, 1), (1, 2), (3, 4), (4, 5)]), Springs([(2, 3)], moves=range(5))]
    return Structure(places, [*springs, lumps(places, inertia=1.0)], **options)


def test_a_mechanism_is_named():
    with pytest.raises(ModelError) as error:
        hinged(names={"knee": 3}).statics(np.zeros(36), held=range(6))
    text = str(error.value)
    assert "mechanism: node 3 (knee), node 4, node 5 can turn about z" in text
    assert "meet at node 2, node 3 (knee)" in text
    with pytest.raises(ModelError) as error:
        hinged().modes(3)
    assert "can turn about z without resistance" in str(error.value)
    held = hinged(fixed={0: None, 5: "rz"})
    assert held.modes(1).frequencies[0] > 0


def test_a_mechanism_is_found_at_any_angle():
    """Two beams of many elements with a hinge about an oblique axis: the stiffness is singular only to rounding."""
    turn = Rotation.from_rotvec([0.3, 0.5, -0.8]).as_matrix()
    first = line((0, 0, 0), (1, 0, 0), 40)
    nodes = np.vstack([first.nodes, first.nodes @ Rotation.from_rotvec([0.1, 0.2, 0.7]).as_matrix() + [1, 0, 0]]) @ turn
    beams = Beams(nodes, np.vstack([first.lines, first.lines + 41]), circle(0.01), STEEL)
    hinge = Springs([(40, 41)], 1e9, 1e4, moves=range(5))
    whole = np.kron(np.eye(4), turn)

    class Turned(Springs):
        def stiffness(self):
            return whole.T @ hinge.stiffness() @ whole

    structure = Structure(nodes, [beams, Turned([(40, 41)])])
    for ask in (lambda: structure.modes(8), lambda: structure.statics(np.zeros(structure.size), range(6))):
        with pytest.raises(ModelError) as error:
            ask()
        assert "the pieces meet at node 40, node 41." in str(error.value)


def test_a_mesh_too_fine_for_the_arithmetic():
    """5000 elements in a row: a cantilever's tip is 1e15 times softer than a node between its neighbours."""
    mesh = line((0, 0, 0), (1, 0, 0), 5000)
    beams = Beams(mesh.nodes, mesh.lines, circle(0.01), STEEL, shear=False)
    structure = Structure(mesh.nodes, [beams], fixed={0: None})
    with pytest.raises(ModelError) as error:
        structure.statics(np.zeros(structure.size))
    assert "too uneven for double precision" in str(error.value)


def test_unconnected_parts_are_named():
    places = np.zeros((5, 3))
    structure = Structure(places, [Springs([(0, 1), (1, 2), (3, 4)]), lumps(places, inertia=1.0)], names={"far": 4})
    for ask in (lambda: structure.modes(3), lambda: structure.statics(np.zeros(30), held=range(6))):
        with pytest.raises(ModelError) as error:
            ask()
        assert "in 2 parts that no element connects; beside the largest: node 3, node 4 (far)" in str(error.value)
    assert len(structure.modes(3, held=[*range(6), *range(18, 24)]).frequencies) == 3


def test_supports_that_are_too_few():
    with pytest.raises(ModelError) as error:
        chain(4).statics(np.zeros(24), held=chain(4).degrees(0, "x y z rx"))
    assert "free to turn about y, turn about z" in str(error.value)


def square(**options):
    places = np.zeros((3, 3))
    return Structure(places, [Springs([(0, 1), (1, 2)]), lumps(places)], **options)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: Structure(np.zeros((2, 3)), []), "no elements"),
        (lambda: Structure(np.zeros((4, 3)), [Springs([(0, 1)])]), "node 2, node 3 belong to no element and no tie"),
        (lambda: Structure(np.zeros((2, 3)), [Springs([(0, 2)])]), "node of the springs is number 2"),
        (lambda: Structure(np.full((2, 3), np.nan), [Springs([(0, 1)])]), "place of node 0 is"),
        (lambda: Structure(np.zeros((2, 3)), [Springs([(0, 1)], np.inf)]).stiffness, "element 0 of the springs"),
        (lambda: square(ties=[Tie(0, (0,))]), "node 0 is tied to itself"),
        (lambda: square(ties=[Tie(0, (2,)), Tie(1, (2,))]), "node 2 is tied twice, to node 0 and to node 1"),
        (lambda: square(ties=[Tie(0, (1,)), Tie(1, (2,))]), "node 1 is the master of a tie and follows node 0"),
        (lambda: square(ties=[Tie(0, (7,))]), "node of a tie is number 7"),
        (lambda: square(names={"tip": 3}), "the node named 'tip' is number 3"),
        (lambda: square(fixed={0: "x rotz"}), "no degree of freedom 'rotz'"),
        (lambda: square(fixed={4: None}), "the node is number 4"),
        (lambda: square().statics(np.zeros(4)), "shape (4,)"),
        (lambda: square().statics(np.full(18, np.nan), range(6)), "x of node 0 is not finite"),
        (lambda: square().statics(np.zeros(18), [18]), "degree of freedom 18"),
        (lambda: square().statics(np.zeros(18), range(6), [1, 2]), "shape (2,) are given for 6"),
        (lambda: square().statics(np.zeros(18), range(6), rows=np.ones((1, 3))), "shape (1, 3)"),
        (lambda: square().modes(-1), "-1 modes"),
        (lambda: square().modes(1, below=0.0), "limit of frequency is 0.0 Hz"),
    ],
)
def test_mistakes_are_told(ask, told):
    with pytest.raises(ModelError) as error:
        ask()
    assert told in str(error.value)


def test_more_modes_than_can_be_meant_are_refused_at_once():
    mesh = line((0, 0, 0), (1, 0, 0), 1500)
    structure = Structure(mesh.nodes, [Beams(mesh.nodes, mesh.lines, circle(0.001), STEEL)], fixed={0: None})
    with pytest.raises(
        ModelError, match=r"^more than 4000 modes lie below 1e\+12 Hz\. Expected a frequency with at most"
    ):
        structure.modes(below=1e12)
    with pytest.raises(ModelError, match=r"^4001 modes are asked for\. Expected at most 4000\."):
        structure.modes(4001)


def test_a_load_that_nothing_carries():
    places = np.zeros((2, 3))
    structure = Structure(places, [Springs([(0, 1)], moves=(0, 1, 2))], fixed={0: "x y z"})
    force = np.zeros(12)
    force[6] = 1.0
    assert structure.statics(force)[6] == pytest.approx(1 / K)
    force[10] = 1.0
    with pytest.raises(ModelError) as error:
        structure.statics(force)
    assert "ry of node 1 is loaded but has no stiffness" in str(error.value)
