"""Meshes: areas, symmetry, sets and orientation of the builders; what each mistake is told."""

from __future__ import annotations

import numpy as np
import pytest

from cotree.errors import ModelError
from cotree.fem.mesh import Mesh, disc, grid, line, mesh_from_data, polyline, triangles, tube
from cotree.fem.mesh_check import oriented

SQUARE = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)]


def normals(mesh):
    """(T, 3) normals, as long as twice the area."""
    a, b, c = (mesh.nodes[mesh.triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def shapes(mesh):
    """The triangles as sets of places, so that numbers do not matter."""
    return {frozenset(map(tuple, np.round(mesh.nodes[t], 9).tolist())) for t in mesh.triangles}


@pytest.mark.parametrize(("pattern", "count"), [("symmetric", 48), ("right", 48), ("left", 48), ("crossed", 96)])
def test_a_grid_covers_its_rectangle(pattern, count):
    mesh = grid((3.0, 2.0), (6, 4), pattern, origin=(1, -1, 0.5))
    up = normals(mesh)
    assert len(mesh.triangles) == count
    assert up[:, 2].sum() / 2 == pytest.approx(6)
    assert (up[:, 2] > 0).all()
    assert mesh.nodes.min(axis=0) == pytest.approx([1, -1, 0.5])
    assert mesh.nodes.max(axis=0) == pytest.approx([4, 1, 0.5])
    assert len(mesh.nodes) == 35 + (24 if pattern == "crossed" else 0)


def test_the_panel_of_richard():
    """4 x 4 squares, 32 triangles, mirrored about both centre lines; diagonals run from the corners to the centre."""
    mesh = grid((2.0, 2.0), (4, 4))
    assert len(mesh.triangles) == 32
    as_built = shapes(mesh)
    for mirror in ((-1, 1, 1), (1, -1, 1)):
        other = Mesh((mesh.nodes - [1, 1, 0]) * mirror + [1, 1, 0], triangles=mesh.triangles)
        assert shapes(other) == as_built
    edges = {frozenset(e) for t in mesh.triangles.tolist() for e in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))}
    for corner, inner in (((0, 0, 0), (0.5, 0.5, 0)), ((2, 0, 0), (1.5, 0.5, 0)), ((0.5, 1.5, 0), (1, 1, 0))):
        assert frozenset((mesh.node_at(corner), mesh.node_at(inner))) in edges


def test_right_and_left_diagonals():
    for pattern, end, start in (("right", (1, 1, 0), (0, 0, 0)), ("left", (0, 1, 0), (1, 0, 0))):
        mesh = grid((1, 1), (1, 1), pattern)
        common = set(mesh.triangles[0]) & set(mesh.triangles[1])
        assert common == {mesh.node_at(start), mesh.node_at(end)}


def test_sets_of_a_grid():
    mesh = grid((3.0, 2.0), (6, 4))
    x, y = mesh.nodes[:, 0], mesh.nodes[:, 1]
    expected = {"left": x == 0, "right": x == 3, "bottom": y == 0, "top": y == 2}
    for name, on in expected.items():
        assert set(mesh.group(name)) == set(np.flatnonzero(on))
    edge = np.any(list(expected.values()), axis=0)
    assert set(mesh.group("edge")) == set(np.flatnonzero(edge))
    assert set(mesh.group("inner")) == set(np.flatnonzero(~edge))
    assert mesh.nodes[list(mesh.group("corners"))][:, :2].tolist() == [[0, 0], [3, 0], [3, 2], [0, 2]]
    assert mesh.nodes[mesh.group("top_left")[0]].tolist() == [0, 2, 0]
    assert mesh.nodes[mesh.group("centre")[0]].tolist() == [1.5, 1, 0]
    crossed = grid((3.0, 2.0), (3, 5), "crossed")
    assert crossed.nodes[crossed.group("centre")[0]] == pytest.approx([1.5, 1, 0])


def test_a_grid_in_another_plane():
    mesh = grid((1, 2), (2, 2), axes=((0, 2, 0), (0, 0, 3)))
    assert normals(mesh) == pytest.approx(np.tile([0.5, 0, 0], (8, 1)))
    assert mesh.nodes.max(axis=0).tolist() == [0, 1, 2]


def test_lines():
    mesh = line((0, 0, 0), (3, 4, 0), 5)
    assert mesh.nodes[:, 0] == pytest.approx(np.linspace(0, 3, 6))
    assert mesh.lines.tolist() == [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]
    assert (mesh.group("start"), mesh.group("end")) == ((0,), (5,))
    bent = polyline([(0, 0, 0), (1, 0, 0), (1, 3, 0)], [2, 3])
    assert bent.nodes[list(bent.group("points"))].tolist() == [[0, 0, 0], [1, 0, 0], [1, 3, 0]]
    lengths = np.linalg.norm(bent.nodes[bent.lines[:, 1]] - bent.nodes[bent.lines[:, 0]], axis=1)
    assert lengths == pytest.approx([0.5, 0.5, 1, 1, 1])


def test_a_disc_is_its_regular_polygon():
    rings, radius = 5, 0.4
    mesh = disc(radius, rings, centre=(1, 2, 3))
    sides = 6 * rings
    assert len(mesh.triangles) == 6 * rings**2
    assert normals(mesh)[:, 2].sum() / 2 == pytest.approx(sides / 2 * radius**2 * np.sin(2 * np.pi / sides))
    assert (normals(mesh)[:, 2] > 0).all()
    rim = mesh.nodes[list(mesh.group("rim"))] - [1, 2, 3]
    assert len(rim) == sides
    assert np.linalg.norm(rim, axis=1) == pytest.approx(radius)
    assert mesh.nodes[mesh.group("centre")[0]].tolist() == [1, 2, 3]
    assert len(disc(1.0, 1).triangles) == 6


def test_a_tube_is_its_prism_and_looks_outwards():
    mesh = tube(0.5, 2.0, 12, 4)
    outward = normals(mesh)
    middles = mesh.nodes[mesh.triangles].mean(axis=1) * [0, 1, 1]
    assert (np.einsum("ij,ij->i", outward, middles) > 0).all()
    assert np.linalg.norm(outward, axis=1).sum() / 2 == pytest.approx(12 * 2 * 0.5 * np.sin(np.pi / 12) * 2.0)
    assert len(mesh.nodes) == 60  # closed: no nodes twice
    assert mesh.nodes[list(mesh.group("end"))][:, 0] == pytest.approx(2.0)


def test_nodes_are_found_by_place():
    mesh = grid((1, 1), (4, 4))
    node = mesh.node_at((0.25, 0.75, 0))
    assert mesh.nodes[node].tolist() == [0.25, 0.75, 0]
    assert mesh.nearest((0.3, 0.7, 9)) == node
    assert mesh.node_at((0.26, 0.75, 0), tolerance=0.02) == node
    with pytest.raises(ModelError) as error:
        mesh.node_at((0.3, 0.75, 0))
    assert f"nearest is node {node} at (0.25, 0.75, 0), 0.05 m away" in str(error.value)


@pytest.mark.parametrize(
    "mesh",
    [
        line((0, 0, 0), (1, 0, 0), 3),
        polyline([(0, 0, 0), (1, 0, 0), (1, 1, 0)], 2),
        grid((2, 1), (2, 4), "crossed", origin=(1, 0, 0)),
        disc(1.0, 2),
        tube(1.0, 2.0, 6, 2),
        Mesh(
            np.array(SQUARE), lines=np.array([(0, 1)]), triangles=np.array([(0, 1, 2), (0, 2, 3)]), sets={"a": (3, 1)}
        ),
    ],
)
def test_plain_data_makes_the_same_mesh(mesh):
    again = mesh_from_data(mesh.to_data(), "body.mesh")
    assert np.array_equal(again.nodes, mesh.nodes)
    assert np.array_equal(again.lines, mesh.lines)
    assert np.array_equal(again.triangles, mesh.triangles)
    assert again.sets == mesh.sets
    assert again.to_data() == mesh.to_data()
    assert mesh_from_data(mesh, "body.mesh") is mesh


def test_model_files_need_only_what_differs():
    mesh = mesh_from_data({"grid": {"size": [2, 2], "cells": [4, 4]}}, "panel.mesh")
    assert mesh.to_data() == {"grid": {"size": [2.0, 2.0], "cells": [4, 4]}}


def test_a_mesh_does_not_change():
    mesh = grid((1, 1), (2, 2))
    with pytest.raises(ValueError, match="read-only"):
        mesh.nodes[0, 0] = 1.0


def test_inverted_triangles_are_named_and_turned():
    mesh = grid((2, 2), (6, 6))
    faces = mesh.triangles.copy()
    faces[30] = faces[30][[1, 0, 2]]
    with pytest.raises(ModelError) as error:
        triangles(mesh.nodes, faces)
    assert "triangle 30 is inverted" in str(error.value)
    turned = triangles(mesh.nodes, faces, turn=True)
    assert (normals(turned)[:, 2] > 0).all()
    rng = np.random.default_rng(0)
    mixed = np.array([t if rng.random() < 0.5 else t[::-1] for t in tube(1, 1, 8, 3).triangles])
    again = Mesh(tube(1, 1, 8, 3).nodes, triangles=oriented(mixed))
    outward = np.einsum("ij,ij->i", normals(again), again.nodes[again.triangles].mean(axis=1) * [0, 1, 1])
    assert len(set(np.sign(outward))) == 1


def test_three_plates_may_meet_at_an_edge():
    nodes = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0)]
    mesh = triangles(nodes, [(0, 1, 2), (0, 1, 3), (0, 1, 4)])
    assert len(mesh.triangles) == 3


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (
            lambda: triangles(SQUARE, [(0, 1, 2), (0, 3, 2)]),
            "triangle 0 or 1 is inverted: both run their common edge 2-0 in the same sense. Expected neighbours that "
            "turn the same way round, so that they agree which side is up. Give triangle 1 as 0, 2, 3, or let all be "
            "turned to agree: orient: true beside the triangles in a model file, mesh.triangles(..., turn=True) in "
            "Python.",
        ),
        (lambda: grid((None, 1), (2, 2)), "the width is None. Expected a positive length in m"),
        (lambda: grid(((1, 2), 1), (2, 2)), "the width is (1, 2). Expected a positive length in m"),
        (lambda: grid((1, True), (2, 2)), "the height is True. Expected a positive length in m"),
        (lambda: grid("ab", (2, 2)), "the size is 'ab'. Expected width and height in m"),
        (lambda: grid((1, 1), ((1,), 2)), "the number of cells is (1,). Expected a whole number from 1"),
        (lambda: disc(None, 2), "the radius is None. Expected a positive length in m"),
        (
            lambda: mesh_from_data({"nodes": SQUARE, "triangles": [(0, 1, 2)], "orient": 1}, "panel.mesh"),
            "panel.mesh: orient is 1. Expected true or false",
        ),
        (
            lambda: mesh_from_data({"nodes": SQUARE, "faces": []}, "panel.mesh"),
            "panel.mesh: a mesh has no 'faces'. Expected some of nodes, lines, triangles, sets, orient",
        ),
        (lambda: triangles(SQUARE, [(0, 1, 2)]), "node 3 is in no line, no triangle and no set"),
        (
            lambda: triangles(SQUARE, [(0, 1, 2), (0, 2, 4)]),
            "triangle 1 has nodes 0, 2, 4. Expected numbers from 0 to 3",
        ),
        (lambda: triangles(SQUARE, [(0, 1, 2), (0, 2, -1)]), "triangle 1 has nodes 0, 2, -1"),
        (lambda: triangles(SQUARE, [(0, 1, 2), (0, 2, 2)]), "triangle 1 has nodes 0, 2, 2, one of them twice"),
        (lambda: triangles(SQUARE, [(0, 1, 2), (0, 2, 3), (2, 0, 1)]), "triangles 0 and 2 have the same nodes 2, 0, 1"),
        (
            lambda: triangles([(0, 0, 0), (1, 0, 0), (3, 0, 0)], [(0, 1, 2)]),
            "triangle 0 with nodes 0, 1, 2 has no area",
        ),
        (lambda: triangles([(0, 0, 0), (1, np.nan, 0), (3, 0, 0)], [(0, 1, 2)]), "node 1 is at (1, nan, 0)"),
        (lambda: triangles(SQUARE, [(0, 1.5, 2)]), "the triangles are [(0, 1.5, 2)]"),
        (lambda: triangles([(0, 0)], []), "the nodes are [(0, 0)]. Expected a list of rows of 3 coordinates"),
        (lambda: triangles([], []), "the mesh has no nodes"),
        (lambda: line((1, 0, 0), (1, 0, 0), 2), "line 0 from node 0 to node 1 has length 0"),
        (lambda: line((1, 0, 0), (2, 0, 0), 0), "the number of elements is 0"),
        (lambda: polyline([(1, 0, 0)]), "1 points are given"),
        (lambda: polyline([(1, 0, 0), (2, 0, 0)], [1, 2]), "the elements are [1, 2]"),
        (lambda: grid((1, 1), (3, 2)), "3 x 2 cells are to be cut symmetrically. Expected even numbers"),
        (lambda: grid((1, 1), (2, 2), "corssed"), "Did you mean 'crossed'?"),
        (lambda: grid((1, 0), (2, 2)), "the height is 0"),
        (lambda: grid(1, (2, 2)), "the size is 1"),
        (lambda: grid((1, 1), 4), "the cells are 4"),
        (lambda: grid((1, 1), (2, 2.5)), "the number of cells is 2.5"),
        (lambda: grid((1, 1), (10**6, 10**6)), "1000002000001 nodes. Expected at most 2000000"),
        (lambda: grid((1, 1), (2, 2), axes=((1, 0, 0), (1, 1, 0))), "two vectors at a right angle"),
        (lambda: grid((1, 1), (2, 2), axes=5), "the axes are 5"),
        (lambda: grid((1, 1), (2, 2), origin=(0, 0)), "the origin is (0, 0)"),
        (lambda: disc(-1, 2), "the radius is -1"),
        (lambda: tube(1, 1, 2, 3), "the number of cells around is 2. Expected a whole number from 3"),
        (lambda: grid((1, 1), (2, 2)).group("lfet"), "Did you mean 'left'?"),
        (lambda: Mesh(np.array(SQUARE), sets={"a": (9,)}), "the set 'a' has node 9. Expected numbers from 0 to 3"),
        (lambda: Mesh(np.array(SQUARE), sets={"a": "xy"}), "the set 'a' is 'xy'"),
        (lambda: Mesh(np.array(SQUARE), sets={"a": (0.5,)}), "the set 'a' is (0.5,)"),
        (lambda: Mesh(np.array(SQUARE), lines=[(0, 0)], source="wing.msh"), "wing.msh: line 0 has nodes 0, 0"),
        (lambda: mesh_from_data(3, "b.mesh"), "b.mesh: found 3. Expected one of line, polyline, grid"),
        (lambda: mesh_from_data({"gird": {}}, "b.mesh"), "b.mesh: found 'gird'"),
        (lambda: mesh_from_data({"grid": 3}, "b.mesh"), "b.mesh: the grid is 3"),
        (lambda: mesh_from_data({"grid": {"size": [1, 1]}}, "b.mesh"), "b.mesh: cells of the grid not given"),
        (lambda: mesh_from_data({"disc": {"radius": 1, "ring": 2}}, "b.mesh"), "a disc has no 'ring'"),
        (lambda: mesh_from_data({"nodes": SQUARE, "faces": []}, "b.mesh"), "b.mesh: a mesh has no 'faces'"),
        (lambda: mesh_from_data({"nodes": SQUARE, "sets": 5}, "b.mesh"), "b.mesh: the sets are 5"),
        (
            lambda: mesh_from_data({"disc": {"radius": "r", "rings": 2}}, "b.mesh"),
            "b.mesh: radius: found 'r'. Expected a length in m",
        ),
    ],
)
def test_mistakes_are_told(ask, told):
    with pytest.raises(ModelError) as error:
        ask()
    assert told in str(error.value)
