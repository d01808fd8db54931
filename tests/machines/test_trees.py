"""One machine, many trees: those of the mechanism and those of its networks must not change the motion."""

from __future__ import annotations

import copy
import pickle
from random import Random
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.graph import Tree, sample_tree
from cotree.model import Kind
from cotree.terminal.mechanics import Joint
from machines import models
from machines.witness import Arm, Cart, SliderCrank

END = 0.3
CASES = {
    "slider-crank": lambda planar: models.slider_crank(SliderCrank(), planar),
    "cart": lambda planar: models.cart(Cart().held_up(), planar),
    "arm": lambda planar: models.arm(Arm(), planar),
    "arm of single parts": lambda planar: models.arm(Arm(), planar, whole=False),
}
WORDS = (".position.", ".velocity.", ".angle", ".displacement", ".current", ".voltage", ".angular_velocity", ".value")


def drawn(model: ct.Model, random: Random) -> Tree:
    """A tree at random: of the mechanism among arms, bodies and joints, of the networks among all edges."""
    graph = model.graph()
    mechanical = [edge for edge in graph if model.components[edge.component].mechanical]
    arms = [edge.name for edge in mechanical if edge.kind == Kind.ARM]
    joints = {each.name for each in model.components.values() if isinstance(each, Joint)}
    free = [e.name for e in mechanical if e.kind == Kind.BODY or (e.kind != Kind.DEPENDENT and e.component in joints)]
    barred = [edge.name for edge in mechanical if edge.name not in (*arms, *free)]
    return sample_tree(graph, random, into_tree=arms, into_cotree=barred)


def run(model: ct.Model, tree: Any) -> ct.Solution:
    return model.simulate(END, tree=tree, times=[0, END / 2, END], rtol=1e-12)


def check(name: str, planar: bool, presets: tuple[Any, ...], count: int) -> None:
    """Presets and random trees against the joint tree."""
    model = CASES[name](planar)
    right = run(model, "joint")
    names = [each for each in right.names if any(word in each for word in WORDS)]
    assert len(names) > 10
    random = Random(5)
    for tree in (*presets, *(drawn(model, random) for _ in range(count))):
        other = run(model, tree)
        for each in names:
            limit = 1e-8 * max(1.0, float(np.abs(right[each]).max()))
            np.testing.assert_allclose(other[each], right[each], rtol=0, atol=limit, err_msg=f"{each} with {tree}")
        assert other.energy().error < 1e-8


@pytest.mark.parametrize("name", CASES)
def test_every_tree_gives_the_same_motion_and_flows(name: str) -> None:
    check(name, True, ("absolute",), 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_further_trees_in_space_give_the_same_motion_and_flows(name: str) -> None:
    check(name, False, ("absolute", ("joint", "absolute")), 4)


def test_the_trees_of_networks_differ_too() -> None:
    """Random trees hold other edges of the network than the normal one, and the mounts may be chords."""
    model = CASES["arm of single parts"](True)
    random = Random(5)
    network = {c.name for c in model.components.values() if not c.mechanical}
    normal = set(model.tree().branches) & network
    trees = [set(drawn(model, random).branches) & network for _ in range(6)]
    assert any(tree != normal for tree in trees)
    assert any("mount2" not in tree for tree in trees)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_is_the_same_machine(copied: Any) -> None:
    """Motors have ports of their own, whose domains stay what they are."""
    model = CASES["arm"](True)
    other = copied(model)
    assert other.to_data() == model.to_data()
    assert other.equations().x.names == model.equations().x.names
