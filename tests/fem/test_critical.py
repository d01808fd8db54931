"""Loads that buckle: Euler's cases, a beam that turns over sideways, a plate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import eye_array

import cotree as ct
from cotree.fem import critical as buckling
from cotree.fem.beam import Beams
from cotree.fem.critical import critical
from cotree.fem.internal import Internal, Loads
from cotree.fem.mesh import mesh_from_data
from cotree.fem.reference import Reference
from cotree.fem.shell import Shells
from cotree.fem.structure import Structure

WIDTH, HEIGHT, LENGTH, COUNT = 0.02, 0.01, 1.0, 12
BENDING = ct.STEEL.young * WIDTH * HEIGHT**3 / 12


def beam() -> Structure:
    places = np.column_stack([np.linspace(0, LENGTH, COUNT + 1), np.zeros((COUNT + 1, 2))])
    lines = np.column_stack([np.arange(COUNT), np.arange(1, COUNT + 1)])
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    return Structure(places, [Beams(places, lines, section, ct.STEEL, shear=False)])


def share(structure: Structure, nodes: list[int], wrenches: Any, rows: list[int]) -> float:
    """The load on some nodes over the critical one, with some degrees of freedom held."""
    body = Internal(structure, Reference.node(nodes[0]), np.zeros((structure.size, 0)), nodes)
    nothing = np.zeros((1, 0))
    loads = Loads(
        np.zeros((1, 3)), np.zeros((1, 3, 3)), np.zeros((1, 0, 3, 3)), np.asarray(wrenches, float)[None], nothing
    )
    return critical(body, loads, eye_array(structure.size, format="csr")[rows]).share


@pytest.mark.parametrize(
    ("start", "end", "factor"),
    [("all", "", 0.25), ("x y z rx rz", "y z", 1.0), ("all", "y z", 2.0457), ("all", "y z rx ry rz", 4.0)],
)
def test_the_cases_of_euler(start: str, end: str, factor: float) -> None:
    names = ["x", "y", "z", "rx", "ry", "rz"]
    rows = [k for k, name in enumerate(names) if start == "all" or name in start.split()]
    rows += [6 * COUNT + names.index(name) for name in end.split()]
    force = factor * np.pi**2 * BENDING / LENGTH**2
    wrenches = np.zeros((2, 6))
    wrenches[:, 0] = force, -force
    found = share(beam(), [0, COUNT], wrenches, rows)
    assert found == pytest.approx(1.0, rel=1e-3)
    assert share(beam(), [0, COUNT], -wrenches, rows) < found / 3  # pulled, it does not buckle


def test_a_deep_beam_turns_over_sideways() -> None:
    """A cantilever with a force at its end buckles at 4.013 sqrt(EI GJ) / L^2 (Timoshenko and Gere 1961, p. 260)."""
    places = np.column_stack([np.linspace(0, 1, 25), np.zeros((24 + 1, 2))])
    lines = np.column_stack([np.arange(24), np.arange(1, 25)])
    section = ct.section.rectangle(width=0.001, height=0.05)
    structure = Structure(places, [Beams(places, lines, section, ct.STEEL, shear=False)])
    sideways = ct.STEEL.young * section.iz if section.iz < section.iy else ct.STEEL.young * section.iy
    load = 4.013 * np.sqrt(sideways * ct.STEEL.shear_modulus * section.torsion)
    wrenches = np.zeros((2, 6))
    wrenches[1, 2] = load
    wrenches[0, [2, 4]] = -load, load * 1.0
    assert share(structure, [0, 24], wrenches, list(range(6))) == pytest.approx(1.0, rel=5e-3)


@pytest.mark.parametrize("dense", [10_000, 0])
def test_a_plate_under_pressure_at_its_edges(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A square plate on simple supports buckles at 4 pi^2 D / b^2 per length of its edge."""
    monkeypatch.setattr(buckling, "DENSE", dense)
    n, thickness = 8, 0.01
    mesh = mesh_from_data({"grid": {"size": [1.0, 1.0], "cells": [n, n]}}, "mesh")
    plate = ct.Plate(thickness, ct.STEEL)
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, plate)])
    stiffness = ct.STEEL.young * thickness**3 / 12 / (1 - 0.3**2)
    line = 4 * np.pi**2 * stiffness
    x, y = mesh.nodes[:, 0], mesh.nodes[:, 1]
    edge = np.flatnonzero((x == 0) | (x == 1) | (y == 0) | (y == 1))
    rows = [6 * int(node) + 2 for node in edge]
    corner, other = mesh.node_at((0, 0, 0)), mesh.node_at((0, 1, 0))
    rows += [6 * corner, 6 * corner + 1, 6 * other, *(6 * np.arange(len(mesh.nodes)) + 5)]
    sides = [int(node) for node in np.flatnonzero((x == 0) | (x == 1))]
    wrenches = np.zeros((len(sides), 6))
    for k, node in enumerate(sides):
        part = (0.5 if y[node] in (0, 1) else 1.0) / n
        wrenches[k, 0] = line * part * (1 if x[node] == 0 else -1)
    assert share(structure, sides, wrenches, rows) == pytest.approx(1.0, rel=0.03)


def test_a_body_that_floats_has_no_critical_load() -> None:
    structure = beam()
    body = Internal(structure, Reference.mean(), np.zeros((structure.size, 0)), [0, COUNT])
    frames = np.zeros((1, 2, 6))
    frames[0, :, 0] = 1e9, -1e9
    loads = Loads(np.zeros((1, 3)), np.zeros((1, 3, 3)), np.zeros((1, 0, 3, 3)), frames, np.zeros((1, 0)))
    assert critical(body, loads, eye_array(structure.size, format="csr")[:0]).share == 0.0
