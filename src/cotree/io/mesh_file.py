"""Reading meshes that other programs wrote (Gmsh, Abaqus, Nastran, VTK and others), through meshio.

Lines and triangles are kept, quadrilaterals are cut in two along their shorter diagonal. Physical groups, node sets
and cell sets become named sets of nodes. meshio is optional: ``pip install "cotree[mesh]"``.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np

from cotree.errors import FileError, ModelError, listing
from cotree.fem.element import Integers
from cotree.fem.mesh import Mesh
from cotree.fem.mesh_check import check_count, oriented

LARGEST = 500_000_000
"""Largest mesh file in bytes."""
_SOLIDS = ("tetra", "hexahedron", "wedge", "pyramid", "polyhedron")
_CURVED = ("line3", "triangle6", "triangle7", "quad8", "quad9")


def read_mesh(path: str | Path, *, orient: bool = False, edge_lines: bool = False) -> Mesh:
    """The mesh in a file.

    With ``orient``, triangles are turned so that neighbours agree which side is up. Lines along edges of triangles only
    mark a boundary in most files: they are kept as lines (for beams) with ``edge_lines``, and as sets in any case.
    Nodes that nothing uses are left out.
    """
    path = Path(path)
    where = path.name
    found = _read(path)
    try:
        return _mesh(found, where, orient, edge_lines)
    except ModelError as error:
        if "is inverted" in error.found:
            error.remedy = (
                "mend the mesh, or let all triangles be turned to agree: mesh: {file: ..., orient: true} in a model "
                "file, read_mesh(..., orient=True) in Python"
            )
        error.args = (error.message,)
        error.within(where)
        raise


def _read(path: Path) -> Any:
    """The meshio object."""
    if not path.is_file():
        raise FileError("there is no such file", where=str(path), expected="a mesh file", remedy="check the path")
    if path.stat().st_size > LARGEST:
        raise FileError(
            f"the file has {path.stat().st_size / 1e6:.0f} MB",
            where=path.name,
            expected=f"at most {LARGEST / 1e6:.0f} MB",
            remedy="use a coarser mesh",
        )
    try:
        import meshio
    except ImportError:
        raise FileError(
            "reading a mesh file needs the package meshio, which is not installed",
            where=path.name,
            remedy='install it with: pip install "cotree[mesh]"',
        ) from None
    try:
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
            return meshio.read(path)
    except SystemExit:  # meshio ends the process where no reader knows the file
        text = " ".join(said.getvalue().split())
        reason = f": {text}" if text else ""
    except Exception as error:
        text = " ".join(str(error).replace(str(path), path.name).split()).rstrip(".")
        reason = f" ({type(error).__name__}{': ' + text if text else ''})"
    raise FileError(
        f"the file cannot be read as a mesh{reason}",
        where=path.name,
        expected="a mesh file whose name ends as its format asks, such as .msh, .inp, .bdf, .vtk, .vtu or .stl",
    )


def _mesh(found: Any, where: str, orient: bool, edge_lines: bool) -> Mesh:
    points = np.asarray(found.points, dtype=float)
    check_count(len(points), "nodes")
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    lines: list[Integers] = []
    faces: list[Integers] = []
    for block in found.cells:
        _check_kind(block.type, len(block.data))
        data = np.asarray(block.data, dtype=np.int64)
        if block.type == "line":
            lines.append(data)
        elif block.type == "triangle":
            faces.append(data)
        elif block.type == "quad":
            faces.append(_cut(points, data))
    line = np.vstack([np.zeros((0, 2), dtype=np.int64), *lines])
    triangle = np.vstack([np.zeros((0, 3), dtype=np.int64), *faces])
    if not len(line) and not len(triangle):
        kinds = listing(sorted({block.type for block in found.cells})) or "none"
        raise FileError(f"the file has no lines, triangles or quadrilaterals; its cells: {kinds}", where=where)
    check_count(len(triangle), "triangles")
    if not edge_lines:
        line = line[~_are_edges(line, triangle)]
    sets = _sets(found)
    used = np.unique(np.concatenate([line.ravel(), triangle.ravel(), *sets.values()]))
    number = np.full(len(points), -1, dtype=np.int64)
    number[used] = np.arange(len(used))
    groups = {name: tuple(number[group].tolist()) for name, group in sets.items()}
    triangle = number[triangle]
    return Mesh(points[used], number[line], oriented(triangle) if orient else triangle, groups, where)


def _check_kind(kind: str, count: int) -> None:
    """Refuse cells that are no thin structure, by name."""
    if kind.startswith(_SOLIDS) and count:
        raise FileError(
            f"the file has {count} solid cells ({kind})",
            expected="lines, triangles or quadrilaterals",
            remedy="solid elements are not offered: export the middle surface as triangles, or the axes as lines",
        )
    if kind in _CURVED and count:
        raise FileError(
            f"the file has {count} cells with nodes on their edges ({kind})",
            expected="lines, triangles or quadrilaterals with nodes at their corners only",
            remedy="mesh with elements of first order",
        )


def _cut(points: Any, quads: Integers) -> Integers:
    """Two triangles of each quadrilateral, along the shorter diagonal, the first where both are alike."""
    a, b, c, d = quads.T
    first = np.linalg.norm(points[c] - points[a], axis=1)
    second = np.linalg.norm(points[d] - points[b], axis=1)
    along = (first <= second * (1 + 1e-9))[:, None]
    one = np.where(along, np.stack([a, b, c], 1), np.stack([a, b, d], 1))
    two = np.where(along, np.stack([a, c, d], 1), np.stack([b, c, d], 1))
    return np.stack([one, two], axis=1).reshape(-1, 3)


def _are_edges(lines: Integers, triangles: Integers) -> Any:
    """Which lines are an edge of a triangle."""
    width = int(max(lines.max(initial=0), triangles.max(initial=0))) + 1
    edges = np.sort(np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    ends = np.sort(lines, axis=1)
    return np.isin(ends[:, 0] * width + ends[:, 1], edges[:, 0] * width + edges[:, 1])


def _sets(found: Any) -> dict[str, Integers]:
    """Nodes of every named group: node sets, cell sets, and Gmsh's physical groups."""
    sets: dict[str, Integers] = {}
    for name, group in (found.point_sets or {}).items():
        group = np.asarray(group)
        sets[name] = np.flatnonzero(group) if group.dtype == bool else group.astype(np.int64)
    for name, parts in (found.cell_sets or {}).items():
        if name.startswith("gmsh:"):
            continue
        members = [
            np.asarray(block.data, dtype=np.int64)[np.asarray(part, dtype=np.int64)].ravel()
            for block, part in zip(found.cells, parts, strict=False)
            if part is not None and len(part)
        ]
        _add(sets, name, members)
    tags = (found.cell_data or {}).get("gmsh:physical")
    for name, (tag, size) in ((n, np.asarray(v).ravel()[:2]) for n, v in (found.field_data or {}).items()):
        if tags is None:
            continue
        members = [
            np.asarray(block.data, dtype=np.int64)[np.asarray(part) == tag].ravel()
            for block, part in zip(found.cells, tags, strict=True)
            if _DIMENSION.get(block.type) == size
        ]
        _add(sets, name, members)
    return sets


_DIMENSION = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2}


def _add(sets: dict[str, Integers], name: str, members: list[Integers]) -> None:
    """Put the nodes of cells into a set, in rising order, once each."""
    if members and sum(map(len, members)):
        known = sets.get(name, np.zeros(0, dtype=np.int64))
        sets[name] = np.unique(np.concatenate([known, *members]))
