"""Every kind of joint at the moving nodes of flexible bodies, in either direction, with two trees."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from formulation.flexible_models import JOINTS, beam, joined

END = 0.01
TURNS = list(zip(JOINTS, [False, True] * len(JOINTS), strict=False))
CASES = [(kind, backwards, False) for kind, backwards in TURNS]
CASES += [(kind, not backwards, True) for kind, backwards in TURNS]
CASES += [pytest.param(kind, backwards, True, marks=pytest.mark.slow) for kind, backwards in TURNS]


@pytest.mark.parametrize(("kind", "backwards", "flexible"), CASES)
def test_joint_and_absolute_coordinates_agree(kind: str, backwards: bool, flexible: bool) -> None:
    model = joined(kind, backwards, flexible)
    settings = {"times": [0, END], "rtol": 1e-11, "atol": 1e-12, "integrator": "rk8"}
    joint, absolute = (model.simulate(END, tree=tree, **settings) for tree in ("joint", "absolute"))
    moving = [n for n in joint.names if ".position." in n or ".velocity." in n or ".mode" in n or n.startswith("J.")]
    moving = [n for n in moving if ".force" not in n and ".torque" not in n and ".orientation" not in n]
    for n in moving:
        part = 1e-6 if n.endswith("_acceleration") else 1e-8  # which follow forces
        limit = part * max(1.0, float(np.abs(joint[n]).max()))
        np.testing.assert_allclose(absolute[n], joint[n], rtol=0, atol=limit, err_msg=n)
    for j in ("O", "J") if kind != "Free" else ("O",):
        for what in ("force", "torque"):
            size = max(float(np.abs(joint[f"{j}.{what}"]).max()), 1e-3)
            np.testing.assert_allclose(absolute[f"{j}.{what}"], joint[f"{j}.{what}"], rtol=0, atol=1e-6 * size)
    assert max(joint.energy().error, absolute.energy().error) < 1e-8


@pytest.mark.parametrize("kind", ["Revolute", "Weld"])
def test_a_joint_that_is_turned_round_moves_alike(kind: str) -> None:
    """The same start from both sides: joints whose coordinates are zero and at rest."""
    found = []
    for ends in (("arm.end", "other.start"), ("other.start", "arm.end")):
        m = ct.Model("turned round")
        beam(m, "arm", 0.4, modes=1, deforms=["xy", "xz"])
        beam(m, "other", 0.3, modes=1, deforms=["xy", "xz"])
        m.add(ct.Revolute("O", m.ground, "arm.start", axis=(0.2, 1, 0)))
        m.add(getattr(ct, kind)("J", *ends))
        found.append(m.simulate(0.05, times=[0, 0.05], rtol=1e-10, atol=1e-11, integrator="rk8")["other.end.position"])
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
