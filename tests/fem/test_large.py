"""Statics with large rotations against the elastica and the circle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_bvp

import cotree as ct
from cotree.fem.beam import Beams
from cotree.fem.large import bent_by
from cotree.fem.mesh import mesh_from_data
from cotree.fem.plate import plate_from_data
from cotree.fem.shell import Shells
from cotree.fem.structure import Structure, Tie

WIDTH, HEIGHT = 0.02, 0.01
BENDING = ct.STEEL.young * WIDTH * HEIGHT**3 / 12


def elastica(load: float) -> tuple[float, float]:
    """Tip of a cantilever of length 1 under a dead force across it, P L^2 / EI = load, by collocation."""
    s = np.linspace(0, 1, 200)

    def slopes(_: Any, y: Any) -> Any:
        return np.vstack([y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])])

    found = solve_bvp(
        slopes,
        lambda a, b: np.array([a[0], b[1], a[2], a[3]]),
        s,
        np.vstack([load * (s - s * s / 2) / 2, 0 * s, s, 0 * s]),
        tol=1e-9,
        max_nodes=20_000,
    )
    assert found.success
    return float(found.y[2, -1]), float(found.y[3, -1])


def cantilever(count: int) -> Structure:
    places = np.column_stack([np.linspace(0, 1, count + 1), np.zeros((count + 1, 2))])
    lines = np.column_stack([np.arange(count), np.arange(1, count + 1)])
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    return Structure(places, [Beams(places, lines, section, ct.STEEL, shear=False)])


@pytest.mark.parametrize("load", [0.5, 2.0, 10.0])
def test_the_elastica(load: float) -> None:
    """The error falls with the square of the length of the elements."""
    exact, errors = np.array(elastica(load)), []
    for count in (4, 8, 16):
        structure = cantilever(count)
        force = np.zeros(structure.size)
        force[6 * count + 2] = load * BENDING
        bent = bent_by(structure, force, range(6))
        assert bent.share == 1.0
        errors.append(float(np.linalg.norm(bent.places[count, [0, 2]] - exact)) / exact[1])
    assert errors[2] < 1e-3
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert (orders > 1.8).all(), orders


def test_a_full_circle() -> None:
    structure = cantilever(8)
    force = np.zeros(structure.size)
    force[6 * 8 + 4] = -2 * np.pi * BENDING
    bent = bent_by(structure, force, range(6))
    assert bent.share == 1.0
    assert np.abs(bent.places[8]).max() < 1e-9


def test_a_strip_of_shells_bends_as_the_elastica() -> None:
    """Rigid edges turn as one piece; Poisson's ratio is zero, so that a plate bends as a beam."""
    mesh = mesh_from_data({"grid": {"size": [1.0, 0.1], "cells": [16, 2]}}, "mesh")
    material = {"young": 7e10, "density": 2700.0, "poisson": 0.0}
    plate = plate_from_data({"thickness": 0.004, "material": material}, "plate")
    right = [int(node) for node in mesh.sets["right"]]
    left = [int(node) for node in mesh.sets["left"]]
    ties = [Tie(each[0], tuple(each[1:])) for each in (left, right)]
    structure = Structure(mesh.nodes, [Shells(mesh.nodes, mesh.triangles, plate)], ties=ties)
    bending = 7e10 * 0.1 * 0.004**3 / 12
    force = np.zeros(structure.size)
    force[6 * right[0] + 2] = 2.0 * bending
    bent = bent_by(structure, force, structure.degrees(left[0]))
    assert bent.share == 1.0
    x, z = elastica(2.0)
    tip = bent.places[right].mean(axis=0)
    assert np.hypot(tip[0] - x, tip[2] - z) < 0.01 * z
