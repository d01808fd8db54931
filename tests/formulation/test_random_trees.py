"""Random trees of models: valid by themselves, repeatable by their seed, and without influence on the motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.errors import GraphError
from cotree.graph import count_trees
from cotree.model import Kind

EXAMPLES = Path(__file__).parents[2] / "examples"


def link(name: str, length: float, mass: float) -> ct.RigidBody:
    frames = {"A": (0, 0, 0), "B": (length, 0, 0)}
    inertia = (0.01, 0.1, mass * length**2 / 12)
    return ct.RigidBody(name, mass=mass, inertia=inertia, centre=(length / 2, 0, 0), frames=frames)


def two_loops() -> ct.Model:
    """Two parallelograms in a row: five links, seven joints."""
    m = ct.Model("two loops", planar=True)
    for k, x in enumerate((0.0, 1.0, 2.0)):
        m.add(link(f"post{k}", 0.5, 1.0 + 0.2 * k))
        m.add(ct.Revolute(f"foot{k}", m.ground.at(x, 0, 0), f"post{k}.A", angle="80 deg", angle_rate=1.0))
    for k in (0, 1):
        m.add(link(f"beam{k}", 1.0, 1.5))
        m.add(ct.Revolute(f"left{k}", f"post{k}.B", f"beam{k}.A", angle="-80 deg"))
        m.add(ct.Revolute(f"right{k}", f"beam{k}.B", f"post{k + 1}.B", angle="80 deg"))
    return m


CASES = {
    "four-bar": lambda: ct.load(EXAMPLES / "four_bar.yaml"),
    "Bricard": lambda: ct.load(EXAMPLES / "bricard.yaml"),
    "two loops": two_loops,
}


@pytest.mark.parametrize("name", CASES)
def test_random_trees_give_the_motion_of_the_default_tree(name: str) -> None:
    m = CASES[name]()
    plain = m.simulate(0.1, points=5, rtol=1e-9)
    names = [each for each in plain.names if each.endswith((".position.x", ".position.y", ".position.z"))]
    for seed in (1, 2):
        drawn = m.simulate(0.1, points=5, rtol=1e-9, tree=m.tree("random", seed=seed))
        for each in names:
            assert drawn[each] == pytest.approx(plain[each], abs=1e-6), (seed, each)


def test_every_valid_tree_is_drawn_and_the_same_seed_draws_the_same() -> None:
    m = ct.load(EXAMPLES / "four_bar.yaml")
    graph = m.graph()
    arms = [edge.name for edge in graph if edge.kind == Kind.ARM]
    dependent = [edge.name for edge in graph if edge.kind == Kind.DEPENDENT]
    drawn = [m.tree("random", seed=seed) for seed in range(300)]
    assert len({tree.branches for tree in drawn}) == count_trees(graph, arms, dependent)
    assert m.tree("random", seed=7) == drawn[7]
    assert m.tree("random") == drawn[0]
    assert "A" not in m.tree("random", into_cotree=["A"], seed=5)


def test_machines_and_networks_have_random_trees() -> None:
    for file in ("machine_winch", "dc_motor"):
        m = ct.load(EXAMPLES / f"{file}.yaml")
        plain = m.simulate(0.02, points=3)
        drawn = m.simulate(0.02, points=3, tree=m.tree("random", seed=3))
        name = next(each for each in plain.names if each.endswith(".current"))
        assert drawn[name] == pytest.approx(plain[name], abs=1e-6 * float(np.abs(plain[name]).max()))


def test_wrong_seeds_are_named() -> None:
    m = ct.load(EXAMPLES / "four_bar.yaml")
    with pytest.raises(GraphError, match="a seed for the tree 'random' only"):
        m.tree("joint", seed=1)
    with pytest.raises(GraphError, match=r"the seed 'one'\. Expected a whole number"):
        m.tree("random", seed="one")  # type: ignore[arg-type]
