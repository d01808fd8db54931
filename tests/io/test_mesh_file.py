"""Mesh files: what is read from files as other programs write them, and what each mistake is told."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from cotree.errors import CotreeError
from cotree.io import mesh_file
from cotree.io.mesh_file import read_mesh

meshio = pytest.importorskip("meshio")

# Written by hand as Gmsh does: a square of two triangles, its left edge a physical line, and the centre of an arc.
GMSH = """\
$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
0 7 "tip"
1 1 "hinge line"
2 2 "panel"
$EndPhysicalNames
$Nodes
5
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 9 9 9
$EndNodes
$Elements
4
1 15 2 7 3 3
2 1 2 1 4 4 1
3 2 2 2 6 1 2 3
4 2 2 2 6 {last}
$EndElements
"""
ABAQUS = """\
*NODE
1, 0.0, 0.0, 0.0
2, 2.0, 0.0, 0.0
3, 2.0, 1.0, 0.0
4, 0.5, 1.0, 0.0
5, 3.0, 0.0, 0.0
*ELEMENT, TYPE=S4, ELSET=skin
1, 1, 2, 3, 4
*ELEMENT, TYPE=B31, ELSET=rod
2, 2, 5
*NSET, NSET=root
1, 4
"""
TETRA = """\
# vtk DataFile Version 3.0
solid
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 4 double
0 0 0 1 0 0 0 1 0 0 0 1
CELLS 1 5
4 0 1 2 3
CELL_TYPES 1
10
"""
CURVED = TETRA.replace("POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1", "POINTS 3 double\n0 0 0 1 0 0 2 0 0").replace(
    "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10", "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n21"
)
POINTS = TETRA.replace(
    "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10", "CELLS 4 8\n1 0\n1 1\n1 2\n1 3\nCELL_TYPES 4\n1\n1\n1\n1"
)


@pytest.fixture
def read(tmp_path):
    def reader(name, text, **options):
        (tmp_path / name).write_text(text)
        return read_mesh(tmp_path / name, **options)

    return reader


def test_gmsh_with_physical_groups(read):
    mesh = read("panel.msh", GMSH.format(last="1 3 4"))
    assert mesh.nodes.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]  # the unused one is left out
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.sets == {"tip": (2,), "hinge line": (0, 3), "panel": (0, 1, 2, 3)}
    assert len(mesh.lines) == 0  # an edge of a triangle marks a boundary
    assert mesh.source == "panel.msh"
    assert read("panel.msh", GMSH.format(last="1 3 4"), edge_lines=True).lines.tolist() == [[3, 0]]


def test_abaqus_with_a_quadrilateral_and_a_beam(read):
    mesh = read("frame.inp", ABAQUS)
    a, b, c = (mesh.nodes[mesh.triangles[:, k]] for k in range(3))
    assert np.cross(b - a, c - a)[:, 2].sum() / 2 == pytest.approx(1.75)  # the area of the trapezium
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    assert set(mesh.triangles[0]) & set(mesh.triangles[1]) == {1, 3}  # the shorter diagonal
    assert mesh.lines.tolist() == [[1, 4]]
    assert mesh.group("root") == (0, 3)
    assert mesh.group("skin") == (0, 1, 2, 3)
    assert mesh.group("rod") == (1, 4)


def test_points_in_the_plane_get_a_third_coordinate(tmp_path):
    given = meshio.Mesh(np.array([[0.0, 0], [1, 0], [0, 2]]), [("triangle", np.array([[0, 1, 2]]))])
    given.write(tmp_path / "flat.xdmf", file_format="xdmf", data_format="XML")
    assert read_mesh(tmp_path / "flat.xdmf").nodes.tolist() == [[0, 0, 0], [1, 0, 0], [0, 2, 0]]


def test_inverted_triangles_are_told_or_turned(read):
    with pytest.raises(CotreeError) as error:
        read("panel.msh", GMSH.format(last="1 4 3"))
    assert "panel.msh: triangle 0 or 1 is inverted" in str(error.value)
    assert "orient=True" in str(error.value)
    mesh = read("panel.msh", GMSH.format(last="1 4 3"), orient=True)
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("solid.vtk", TETRA, "solid.vtk: the file has 1 solid cells (tetra)"),
        ("bent.vtk", CURVED, "bent.vtk: the file has 1 cells with nodes on their edges (line3)"),
        ("dust.vtk", POINTS, "dust.vtk: the file has no lines, triangles or quadrilaterals; its cells: vertex"),
        ("panel.msh", "hello", "panel.msh: the file cannot be read as a mesh"),
        ("panel.msh", "", "panel.msh: the file cannot be read as a mesh"),
        ("panel.msh", GMSH.format(last="1 3 9"), "panel.msh: "),
        ("panel.msh", GMSH.format(last="1 3 4").replace("1 0 0\n", "nan 0 0\n", 1), "panel.msh: "),
        ("panel.txt", "1 2 3", "panel.txt: the file cannot be read as a mesh"),
        ("panel.vtk", TETRA[:60], "panel.vtk: the file cannot be read as a mesh"),
    ],
)
def test_wrong_files_are_told(read, capfd, name, text, told):
    with pytest.raises(CotreeError) as error:
        read(name, text)
    assert told in str(error.value)
    assert capfd.readouterr() == ("", "")  # meshio's own words are in the message


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CotreeError) as error:
        read_mesh(tmp_path / "none.msh")
    assert "there is no such file" in str(error.value)


def test_a_file_that_is_too_large(read, monkeypatch):
    monkeypatch.setattr(mesh_file, "LARGEST", 100)
    with pytest.raises(CotreeError) as error:
        read("panel.msh", GMSH.format(last="1 3 4"))
    assert "at most" in str(error.value)


def test_meshio_is_missing(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(CotreeError) as error:
        read("panel.msh", GMSH.format(last="1 3 4"))
    assert 'pip install "cotree[mesh]"' in str(error.value)
