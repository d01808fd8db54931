"""The two panels of Richard 2012, section 5.2: as strips against an independent solution, then as shells.

Strips: converged polynomials (linear), geometrically exact beams (large rotations): examples/flexible_reference.json.
"""

from __future__ import annotations

import runpy
from math import pi
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.model import Kind

EXAMPLES = Path(__file__).parents[2] / "examples"
MADE = runpy.run_path(str(EXAMPLES / "flexible_panels.py"))
KNOWN, spectrum = MADE["reference"](), MADE["spectrum"]


def model(name, **changes):
    data = ct.load(EXAMPLES / f"flexible_{name}.yaml").to_data()
    for panel in ("panel1", "panel2"):
        data["components"][panel] |= changes
    return ct.Model.from_mapping(data)


def distance(solution, name):
    return max(
        float(np.abs(solution[f"{panel}.centre.deflection.y"] - KNOWN[name][panel]).max())
        for panel in ("panel1", "panel2")
    )


@pytest.mark.slow
def test_strips_meet_linear_theory():
    coarse = model("panel_strips", stiffening="none").simulate(20.0, times=KNOWN["t"])
    fine = model("panel_strips", stiffening="none", modes=4).simulate(20.0, times=KNOWN["t"])
    assert distance(coarse, "linear") < 2e-5  # of 13 mm, with two modes a panel besides the interface shapes
    assert distance(fine, "linear") < 2e-6
    assert distance(fine, "linear") < 0.25 * distance(coarse, "linear")


def test_stiffened_strips_meet_large_rotations():
    solution = model("panel_strips").simulate(20.0, times=KNOWN["t"])
    assert distance(solution, "large_rotation") < 2e-5  # 0.3 mm are asked
    assert distance(solution, "linear") > 1e-4  # which is another answer


def test_clamped_modes_are_wrong_by_millimetres():
    # Panel 1 carries panel 2 at its free end: interface shapes are what four modes must mean.
    solution = model("panel_strips", shapes="clamped", modes=3, stiffening="none").simulate(20.0, times=KNOWN["t"])
    assert 2e-3 < distance(solution, "linear") < 4e-3


@pytest.mark.parametrize(("time", "name"), [(20.0, "deployed_rad_s"), (0.0, "folded_rad_s")])
def test_frequencies_of_strips(time, name):
    found = 2 * pi * model("panel_strips", modes=6, elements=16).modes(t=time).frequencies[:3]
    assert found == pytest.approx(KNOWN[name][:3], rel=1e-5)


def test_frequencies_of_shells_are_those_of_strips_to_a_few_per_cent():
    found = 2 * pi * model("panels").modes(t=20.0).frequencies[:3]
    assert found == pytest.approx(KNOWN["deployed_rad_s"][:3], rel=0.05)
    # A plate lies between the strip and 0.954 times it, once the mesh is fine enough.
    mesh = {"grid": {"size": [2, 2], "cells": [12, 12]}}
    fine = 2 * pi * model("panels", mesh=mesh, modes=[2, 5]).modes(t=20.0).frequencies[:3]
    assert np.all(fine < KNOWN["deployed_rad_s"][:3])
    assert np.all(fine > 0.954 * np.array(KNOWN["deployed_rad_s"][:3]))


@pytest.fixture(scope="module")
def shells():
    return model("panels").simulate(34.0, points=1701, rtol=1e-7)


@pytest.mark.slow
def test_shells_move_as_strips_do(shells):
    index = np.searchsorted(shells.t, np.array(KNOWN["t"]) - 1e-9)
    for panel, largest in (("panel1", 0.0130), ("panel2", 0.0061)):
        deflection = shells[f"{panel}.centre.deflection.z"]
        assert np.abs(deflection[shells.t <= 14]).max() == pytest.approx(largest, rel=0.07)
        gap = np.abs(deflection[index] - KNOWN["large_rotation"][panel])
        assert gap[:15].max() < 0.1 * largest  # before the phases have drifted apart
        assert np.abs(shells[f"{panel}.centre.deflection.y"]).max() < 1e-9  # a symmetric mesh stays symmetric


@pytest.mark.slow
def test_residual_vibration_has_the_frequencies_of_the_deployed_structure(shells):
    late = shells.t >= 14
    natural = model("panels").modes(t=20.0).frequencies
    for panel in ("panel1", "panel2"):
        f, size = spectrum(shells.t[late], shells[f"{panel}.centre.deflection.z"][late], 0.05, 4.0, 1580)
        for k in range(2):
            near = np.abs(f - natural[k]) < 0.2
            peak = f[near][np.argmax(size[near])]
            assert peak == pytest.approx(natural[k], abs=0.01)  # a fifth of the line's width, 1/20 s
        beside = (np.abs(f - natural[0]) > 0.2) & (np.abs(f - natural[1]) > 0.2)
        assert size[beside].max() < 0.01 * size.max()


@pytest.mark.slow
def test_panels_stand_still_on_their_hinges_in_the_end(shells):
    assert shells["hinge1.angle"][-1] == pytest.approx(pi / 2, abs=1e-12)
    assert shells["hinge2.angle"][-1] == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(shells["kinetic_energy"][shells.t > 14] + shells["potential_energy"][shells.t > 14]) < 1e-6


def test_graph_is_that_of_figure_7b():
    graph = model("panels").graph()
    kinds = {edge.name: edge.kind for edge in graph.edges}
    assert [name for name, kind in kinds.items() if kind is Kind.BODY] == ["panel1", "panel2"]  # e51, e52
    assert [name for name, kind in kinds.items() if kind is Kind.POINT_JOINT] == ["hinge1", "hinge2"]  # e31, e32
    assert [name for name, kind in kinds.items() if kind is Kind.POSITION_DRIVER] == ["motor1", "motor2"]  # e61, e62
    arms = [name for name, kind in kinds.items() if kind is Kind.ARM]
    assert {"panel1.root", "panel1.tip", "panel2.root"} <= set(arms)  # e11 and e12 are the deforming arms
    # One dependent virtual work at a joint to the ground, two at one between bodies.
    assert sum(kind is Kind.DEPENDENT for kind in kinds.values()) == 3
