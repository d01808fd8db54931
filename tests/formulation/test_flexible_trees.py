"""One mechanism with flexible bodies, many trees: motion, reactions and energy must not depend on the choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cotree as ct
from benchmarks.rigid_models import random_trees
from formulation import flexible_models as models

END = 0.03
PLANE = [f"force.{x}" for x in "xy"]
SPACE = [f"{what}.{x}" for what in ("force", "torque") for x in "xyz"]
CASES: dict[str, tuple[Callable[[], ct.Model], list[str]]] = {
    "four-bar": (models.four_bar, [f"{j}.{each}" for j in "OABC" for each in PLANE]),
    "slider-crank": (models.slider_crank, [f"{j}.{each}" for j in ("O", "A", "B", "slide") for each in PLANE]),
    "spatial chain": (models.spatial_chain, [f"{j}.{each}" for j in "SUR" for each in SPACE]),
    "segmented chain": (models.segmented_chain, [f"{j}.{each}" for j in ("S", "U", "R", "b0.cut1") for each in SPACE]),
    "segmented four-bar": (models.segmented_four_bar, [f"{j}.{each}" for j in "OABC" for each in PLANE]),
    "plate": (models.plate_arm, [f"{j}.{each}" for j in "RS" for each in SPACE]),
}
"""With the reactions that the motion determines: a planar loop of revolute joints is held more than once across."""


def run(model: ct.Model, tree: Any) -> ct.Solution:
    return model.simulate(END, tree=tree, times=[0, END / 2, END], rtol=1e-12, atol=1e-12, integrator="rk8")


@pytest.mark.parametrize("name", CASES)
def test_every_tree_gives_the_same_motion_and_reactions(name: str) -> None:
    build, held = CASES[name]
    model = build()
    joint = run(model, "joint")
    parts = (".position.", ".velocity.", ".deflection.", ".mode")
    moving = [n for n in joint.names if any(part in n for part in parts) or n.endswith(".angle")]
    assert sum(".mode" in n for n in moving) >= 4
    for tree in ("absolute", *random_trees(model, seed=7)[:2]):
        other = run(model, tree)
        for n in moving:
            part = 1e-6 if n.endswith("_acceleration") else 1e-8  # which follow forces
            limit = part * max(1.0, float(np.abs(joint[n]).max()))
            np.testing.assert_allclose(other[n], joint[n], rtol=0, atol=limit, err_msg=f"{n} with {tree}")
        for n in held:
            limit = 1e-6 * max(float(np.abs(joint[n.rpartition(".")[0]]).max()), 1e-3)
            np.testing.assert_allclose(other[n], joint[n], rtol=0, atol=limit, err_msg=f"{n} with {tree}")
        assert other.energy().error < 1e-8
    assert joint.energy().error < 1e-8


@pytest.mark.parametrize(
    ("build", "mode"), [(models.spatial_chain, "mode1"), (models.segmented_chain, "segment2.mode1")]
)
def test_a_tree_may_differ_for_translation_and_rotation(build: Callable[[], ct.Model], mode: str) -> None:
    model = build()
    mixed, joint = run(model, ("joint", "absolute")), run(model, "joint")
    for n in ("b2.position.x", "b1.end.position.z", f"b1.{mode}", "U.force.y"):
        np.testing.assert_allclose(mixed[n], joint[n], rtol=1e-8, atol=1e-8)
