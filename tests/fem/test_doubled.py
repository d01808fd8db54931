"""Meshes with twice as many elements, and the error of a mesh that they show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import cotree as ct
from cotree.fem import store
from cotree.fem.mesh import Mesh, mesh_from_data
from cotree.fem.refine import refined
from cotree.terminal import mesh_check
from cotree.terminal.mesh_check import EXACT, checked_mesh


def test_a_refined_mesh_covers_the_same_ground() -> None:
    mesh = mesh_from_data({"grid": {"size": [2.0, 1.0], "cells": [4, 2]}}, "mesh")
    fine, (group,) = refined(mesh, [mesh.sets["left"]])
    assert np.array_equal(fine.nodes[: len(mesh.nodes)], mesh.nodes)
    assert len(fine.triangles) == 4 * len(mesh.triangles)

    def areas(mesh: Mesh) -> np.ndarray:
        a, b, c = (mesh.nodes[mesh.triangles[:, k]] for k in range(3))
        return np.asarray(np.cross(b - a, c - a)[:, 2] / 2)

    assert (areas(fine) > 0).all()
    assert areas(fine).sum() == pytest.approx(2.0)
    assert set(group) == set(np.flatnonzero(fine.nodes[:, 0] == 0).tolist()) == set(fine.sets["left"])


def test_lines_and_triangles_share_the_middle_of_an_edge() -> None:
    nodes = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    fine, _ = refined(Mesh(nodes, [[0, 1]], [[0, 1, 2]]))
    assert len(fine.nodes) == 6
    assert len(fine.lines) == 2
    assert len(fine.triangles) == 4


def plate(cells: int) -> ct.FlexibleBody:
    return ct.FlexibleBody(
        "plate",
        mesh={"grid": {"size": [1.0, 0.5], "cells": [2 * cells, cells]}},
        plate=ct.Plate(0.01, ct.STEEL),
        frames={"root": [0, 0.25, 0], "tip": [1, 0.25, 0]},
        rigid={"root": "left", "tip": "right"},
        attached="root",
        modes=1,
    )


def test_the_error_of_a_mesh_is_that_against_a_fine_one() -> None:
    """The displacement of the tip under a force across it, and the first frequency."""
    body, converged = plate(2), plate(16)
    found = checked_mesh(body, body.values({}))
    assert found is not None
    moved, omega = {}, {}
    for name, each in (("here", body), ("there", converged)):
        prepared = each.prepare(each.values({}))
        internal = each.internal(prepared, np.zeros((prepared.structure.size, 0)))
        tip = 6 * prepared.nodes["tip"] + 2
        load = np.zeros((prepared.structure.size, 1))
        load[tip] = 1.0
        moved[name] = float(internal._space.statics(load)[tip, 0])
        omega[name] = float(internal._space.modes(1)[0][0])
    lacks = moved["there"] - moved["here"]
    tip = body.prepare(body.values({})).nodes["tip"]
    said = float(found.moves[tip, 2, 12 + 6 + 2])
    assert said == pytest.approx(lacks, rel=0.5)
    assert found.first == pytest.approx(abs((omega["here"] / omega["there"]) ** 2 - 1), rel=0.5)


def test_beams_are_exact_at_their_nodes() -> None:
    section = ct.section.circle(radius=0.01)
    beam = ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, elements=2, modes=0, frames={"mid": 0.3})
    found = checked_mesh(beam, beam.values({}))
    assert found is not None
    assert np.abs(found.moves).max() < 1e-9
    assert 0 < found.first < 2e-3
    assert checked_mesh(replace(beam, elements=EXACT), beam.values({})) is None


@pytest.mark.parametrize("ends", ["clamped", "pinned", "free"])
def test_six_elements_of_a_beam_are_enough(ends: str) -> None:
    def first(elements: int) -> float:
        beam = ct.Beam(
            "beam", length=1.0, section=ct.section.circle(radius=0.01), material=ct.STEEL, elements=elements, modes=1,
            shapes=ends,  # type: ignore[arg-type]
        )  # fmt: skip
        return float(beam.tables(beam.values({})).frequencies[0])

    assert first(EXACT) == pytest.approx(first(40), rel=1e-3)


def test_the_check_is_kept_in_a_folder(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    body = plate(2)
    first = checked_mesh(body, body.values({}), str(tmp_path))
    store.forget()
    monkeypatch.setattr(mesh_check, "_computed", lambda *_: pytest.fail("it is computed again"))
    second = checked_mesh(body, body.values({}), str(tmp_path))
    assert first is not None
    assert second is not None
    assert np.array_equal(first.moves, second.moves)
    assert first.first == second.first


def test_large_meshes_are_not_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cotree.terminal.mesh_check.MOST", 100)
    store.forget()
    body = plate(2)
    with pytest.raises(ct.ModelError, match="that would have about"):
        checked_mesh(body, body.values({}))
