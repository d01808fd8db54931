"""A model file that names a mesh file next to it."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree.errors import CotreeError

meshio = pytest.importorskip("meshio")

TEXT = """
name: plate
components:
  plate:
    kind: flexible_body
    mesh: {file: MESH}
    plate: {thickness: 0.01, material: steel}
    frames: {root: [0, 0, 0], tip: [1, 0, 0]}
    attached: root
    modes: 2
  hinge: {kind: revolute, frame_a: ground, frame_b: plate.root, axis: [0, 1, 0]}
run: {t_end: 0.001, points: 2}
"""


def written(folder, name="plate.vtk"):
    grid = ct.mesh.grid(size=(1, 1), cells=(2, 2))
    meshio.Mesh(grid.nodes, [("triangle", grid.triangles)]).write(folder / "plate.vtk")
    (folder / "plate.yaml").write_text(TEXT.replace("MESH", name))
    return folder / "plate.yaml"


def test_the_mesh_is_found_beside_the_model(tmp_path):
    model = ct.load(written(tmp_path))
    assert len(model.components["plate"].mesh.triangles) == 8
    tables = model.components["plate"].tables(model.components["plate"].values({}))
    assert tables.mass == pytest.approx(7850 * 0.01)
    again = ct.load(model.save(tmp_path / "again.yaml"))
    assert again.components["plate"] == model.components["plate"]


def test_tables_are_kept_beside_the_model_and_found_again(tmp_path):
    first = ct.load(written(tmp_path)).simulate(1e-4, points=2)
    kept = list((tmp_path / ".cotree").glob("*.npz"))
    assert len(kept) == 2  # the tables, and the check of the mesh
    from cotree.fem.store import forget

    forget()
    second = ct.load(tmp_path / "plate.yaml").simulate(1e-4, points=2)
    # equal but for rounding: sums run in another order where arrays lie differently in memory
    np.testing.assert_allclose(first["plate.tip.position"], second["plate.tip.position"], rtol=1e-10, atol=1e-18)
    assert list((tmp_path / ".cotree").glob("*.npz")) == kept


def test_a_missing_mesh_is_told_with_its_line(tmp_path):
    message = r"plate\.yaml:6:18: plate\.mesh: the mesh file 'other\.vtk' .* no such file"
    with pytest.raises(CotreeError, match=message):
        ct.load(written(tmp_path, "other.vtk"))
