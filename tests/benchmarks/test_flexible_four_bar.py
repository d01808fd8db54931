"""The flexible four-bar of Richard 2012, section 5.1, against independent solutions (examples/flexible_reference.json).

They use pinned sine modes, or a converged elastica, which a peer with absolute nodal coordinates meets to four digits.
"""

from __future__ import annotations

import runpy
from math import pi
from pathlib import Path

import numpy as np
import pytest

MADE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "flexible_four_bar.py"))
model, KNOWN, THEORIES = MADE["model"], MADE["reference"](), MADE["THEORIES"]
TURNS = 4 * pi / 210


def offsets(solution):
    return {link: solution[f"{link}.mid.offset.y"] for link in ("AB", "BC")}


def run(**changes):
    return offsets(model(**changes).simulate(TURNS, points=145))


def distance(found, name):
    return max(float(np.abs(found[link] - KNOWN[name][link]).max()) for link in found)


@pytest.fixture(scope="module")
def linear():
    return run(stiffening="none")


@pytest.fixture(scope="module")
def full():
    return run()


def test_pinned_frequencies():
    for link, length in (("AB", 0.9), ("BC", 0.75)):
        beam = model().components[link]
        places = {f"{frame}.{axis}": 0.0 for frame in ("start", "mid", "end") for axis in "xyz"}
        found = beam.tables(places | {"length": length, "roll": 0.0, "mid.x": length / 2, "end.x": length})
        w = np.sqrt(np.diag(found.stiffness) / np.diag(np.einsum("aakl->kl", found.second_qq)))
        exact = np.array(KNOWN["pinned_frequencies_rad_s"][link][:2])
        too_high = (np.array([1, 2]) * pi / 8) ** 4 / 1440  # of eight cubic elements with consistent mass
        assert np.all(np.abs(w / exact - 1 - too_high) < 0.1 * too_high)


def test_linear_theory(linear):
    assert distance(linear, "linear_2_modes") < 1e-4
    assert np.abs(linear["AB"]).max() == pytest.approx(0.0656, abs=5e-4)


def test_axial_force_stiffening():
    found = run(stiffening="rigid")
    assert distance(found, "linear_with_axial_force_stiffening_2_modes") < 1e-4
    assert np.abs(found["AB"]).max() == pytest.approx(0.0368, abs=5e-4)


def test_second_order_theory_comes_near_to_large_deformation(linear, full):
    name = "extensible_elastica_converged"
    stretched = run(**THEORIES["full, links stretch"])
    # What is left out is of the order of the slope squared, (pi 0.039/0.9)^2 = 2 per cent of 39 mm, and adds up.
    assert distance(stretched, name) < 3e-3
    assert distance(stretched, name) < 0.7 * distance(full, name)  # links do stretch: EA belongs to the answer
    assert distance(full, name) < 0.25 * distance(linear, name)
    for link, peak in (("AB", 0.0387), ("BC", 0.0309)):
        assert np.abs(stretched[link]).max() == pytest.approx(peak, rel=0.03)


def test_shear_and_rotary_inertia_move_the_curves_by_a_centimetre(linear):
    own = run(stiffening="none", shear=True, rotary=True)  # with the shear factor of a thin tube, near 1/2
    assert 5e-3 < max(np.abs(own[link] - linear[link]).max() for link in own) < 2e-2


def test_a_finer_mesh_meets_the_sine_modes_closer(linear):
    fine = run(stiffening="none", elements=16)
    assert distance(fine, "linear_2_modes") < 0.1 * distance(linear, "linear_2_modes")  # fourth order: 1/16


@pytest.mark.slow
def test_nodal_coordinates_and_all_modes_of_the_same_mesh_give_one_motion():
    chord = {"attached": ["start", "end"], "elements": 2}
    nodal = model(shapes="nodal", modes=None, **chord).simulate(TURNS / 4, points=37, rtol=1e-10)
    modal = model(modes=4, **chord).simulate(TURNS / 4, points=37, rtol=1e-10)
    for link in ("AB", "BC"):
        assert np.abs(offsets(nodal)[link] - offsets(modal)[link]).max() < 1e-9


def test_trees_agree():
    joint, absolute = (model().simulate(TURNS / 4, points=37, rtol=1e-10, tree=tree) for tree in ("joint", "absolute"))
    for name in ("AB.mid.offset.y", "BC.mid.offset.y", "B.angle", "AB.strain_energy"):
        assert np.abs(joint[name] - absolute[name]).max() < 1e-8 * max(1.0, np.abs(joint[name]).max())
    assert joint["motor.torque"] == pytest.approx(absolute["motor.torque"], abs=1e-6 * 8000)
