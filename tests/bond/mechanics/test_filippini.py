"""Examples 1-3 of Filippini et al. 2007, with ideal joints and with C elements that grow stiff."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cotree as ct

EXAMPLES = Path(__file__).parents[3] / "examples"
REFERENCE = json.loads((Path(__file__).parent / "filippini.json").read_text())
"""Centres of mass by two derivations by hand and two other programs, which agree to 2e-11."""


def error(model: ct.Model, number: int, t_end: float, **options) -> float:
    """The largest distance from the reference."""
    known = REFERENCE[str(number)]
    count = sum(t <= t_end for t in known["t"])
    solution = model.simulate(t_end, times=[0.0, *known["t"][:count]], **options)
    body = "m2" if number == 3 else "m1"
    found = np.array([solution[f"{body}.position.{x}"][1:] for x in "xyz"]).T
    return float(np.abs(found - np.array(known["xyz"][:count])).max())


@pytest.mark.parametrize("number", [1, 2, 3])
def test_ideal_joints_meet_the_reference(number):
    model = ct.load(EXAMPLES / f"bond_example_{number}.yaml")
    assert error(model, number, 5.0, rtol=1e-11, atol=1e-12) < 1e-8


@pytest.mark.parametrize("number", [1, 2, 3])
def test_c_joints_converge_with_order_one_in_the_compliance(number):
    model = ct.load(EXAMPLES / f"bond_example_{number}_compliant.yaml")
    stiffness = [1e4, 1e6, 1e8, 1e10]
    options = {"rtol": 1e-10, "atol": 1e-13}
    errors = [error(model, number, 0.5, parameters={"stiffness": k}, **options) for k in stiffness]
    orders = -np.diff(np.log(errors)) / np.diff(np.log(stiffness))
    assert errors[0] > 1e-3  # soft joints are told apart
    assert orders[:2] == pytest.approx(1.0, abs=0.05)
    assert orders[2] == pytest.approx(1.0, abs=0.1)  # where errors of integration show
    assert errors[-1] < 2e-8


def test_compliant_examples_have_c_elements_of_the_paper():
    model = ct.load(EXAMPLES / "bond_example_3_compliant.yaml")
    structure = ct.bond.opening.open_graph(model)
    letters = {name: v.letter for name, v in structure.vertices.items() if name.startswith(("J2.", "J3."))}
    assert letters["J2.spring.translation"] == letters["J2.spring.rotation"] == "C"
    assert structure.width("J2.spring.translation") == 3  # fig. 5: k^T, and k^R about two axes
    assert structure.width("J2.spring.rotation") == 2
    assert structure.width("J2.shaft.free") == 1  # Se = 0
    assert structure.width("J3.spring.translation") == 2  # fig. 6
    assert structure.width("J3.spring.rotation") == 3
    assert structure.vertices["J3.arm"].shown == "MTF"  # modulated by the slide
    assert structure.vertices["J2.arm"].shown == "MTF"  # modulated by the gap alone
