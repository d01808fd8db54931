"""One mechanism, many trees: the motion and the reactions must not depend on the choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct
from _cases import long_ones
from benchmarks.rigid_models import TREELESS, random_trees
from cotree.terminal.mechanics import Joint

ENDS = {"Andrews": 0.01, "four-bar": 1.0, "slider-crank": 1.0, "double pendulum": 1.0}
OVERCONSTRAINED = ("four-bar", "slider-crank", "Andrews", "Bricard")
"""Their redundant reactions depend on which equations are kept: the forces in the plane do not."""


def run(model: ct.Model, tree: Any, t_end: float) -> ct.Solution:
    return model.simulate(t_end, tree=tree, times=[0, t_end / 2, t_end], rtol=1e-12, atol=1e-12, integrator="rk8")


def label(tree: Any) -> str:
    if isinstance(tree, tuple):
        return " and ".join(label(each) for each in tree)
    return tree if isinstance(tree, str) else ", ".join(tree.branches)


def reactions(model: ct.Model, name: str) -> list[str]:
    """Reactions that are determined by the motion alone."""
    joints = [c.name for c in model.components.values() if isinstance(c, Joint)]
    if name == "Bricard":
        return []
    if name in OVERCONSTRAINED:
        return [f"{joint}.force.{x}" for joint in joints for x in "xy"]
    return [f"{joint}.{what}.{x}" for joint in joints for what in ("force", "torque") for x in "xyz"]


def check(name: str, quick: bool) -> None:
    """Trees for translation and rotation alike and a pair of two: one of each where it must be quick."""
    model = TREELESS[name]()
    t_end = ENDS.get(name, 0.3)
    joint = run(model, "joint", t_end)
    points = [n for n in joint.names if ".position." in n or ".velocity." in n or n.endswith(".angle")]
    held = reactions(model, name)
    size = {n: max(np.abs(joint[f"{n.rpartition('.')[0]}"]).max(), 1e-3) for n in held}
    first, second, third, pair, other_pair = random_trees(model, seed=7)
    for tree in ("absolute", first, pair) if quick else (second, third, other_pair):
        other = run(model, tree, t_end)
        for n in points:
            limit = 1e-8 * max(1.0, float(np.abs(joint[n]).max()))
            np.testing.assert_allclose(other[n], joint[n], rtol=0, atol=limit, err_msg=f"{n} with {label(tree)}")
        for n in held:
            np.testing.assert_allclose(
                other[n], joint[n], rtol=0, atol=1e-6 * size[n], err_msg=f"{n} with {label(tree)}"
            )


@pytest.mark.parametrize("name", long_ones(TREELESS, ("RSSR", "Andrews", "slider-crank")))
def test_every_tree_gives_the_same_motion_and_reactions(name: str) -> None:
    check(name, quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", TREELESS)
def test_further_trees_give_the_same_motion_and_reactions(name: str) -> None:
    check(name, quick=False)


def test_the_trees_are_many() -> None:
    for build in TREELESS.values():
        trees = random_trees(build(), seed=7)
        assert len(trees) == 5
        assert any(isinstance(tree, tuple) and tree[0] != tree[1] for tree in trees)
