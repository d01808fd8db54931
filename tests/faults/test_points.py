"""Joints that hold rotations against a point mass give the same motion whatever the tree is (A10)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import cotree as ct

JOINTS = {
    "prismatic": lambda a, b: ct.Prismatic("J", a, b, axis=(1, 0, 0), displacement=0.2, displacement_rate=0.3),
    "fixed": lambda a, b: ct.Weld("J", a, b),
    "revolute": lambda a, b: ct.Revolute("J", a, b, axis=(0, 0, 1)),
    "cylindrical": lambda a, b: ct.Cylindrical("J", a, b, axis=(1, 0, 0)),
    "universal": lambda a, b: ct.Universal("J", a, b),
}
FREEDOM = {"prismatic": 2, "fixed": 1, "revolute": 1, "cylindrical": 2, "universal": 1}
"""Degrees of freedom of a body on a hinge with a point at the joint: a point does not turn."""


def arm(joint: str, turned: bool = False) -> ct.Model:
    """A body on a hinge, and a point mass on a joint at its end."""
    m = ct.Model(joint, gravity=(1.0, -9.81, 0.5))
    m.add(ct.RigidBody("body", ct.box(size=(0.3, 0.2, 0.1), mass=1), frames={"end": (0.5, 0, 0)}))
    m.add(ct.PointMass("point", mass=2))
    m.add(ct.Revolute("O", m.ground, "body", axis=(0, 0.6, 0.8), angle=0.3, angle_rate=1.0))
    m.add(JOINTS[joint](*(("point", "body.end") if turned else ("body.end", "point"))))
    return m


def trees(m: ct.Model) -> list:
    """Every pair of the two presets, and trees in which one of the joints is a chord."""
    chords = [m.tree(into_cotree=[name]) for name in ("O", "J")]
    return [*product(("joint", "absolute"), repeat=2), *((tree, tree) for tree in chords)]


def freedom(e) -> int:
    assert e.mechanics is not None
    return len(e.u) - e.mechanics.velocity.numel()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("joint", JOINTS)
def test_all_trees_give_the_same_degrees_of_freedom_and_motion(joint, turned):
    m = arm(joint, turned)
    reference = None
    for tree in trees(m):
        e = m.equations(tree)
        assert freedom(e) == FREEDOM[joint], tree
        sol = m.simulate(0.5, points=6, tree=tree)
        found = np.hstack([sol["point.position"], sol["body.position"], sol["O.angle"][:, None]])
        reference = found if reference is None else reference
        np.testing.assert_allclose(found, reference, atol=1e-6, err_msg=str(tree))


def test_the_motion_is_that_of_two_bodies():
    """A point on a slider: r'' = r w^2 + g_r and (I + m r^2) w' + 2 m r r' w = m r g_t, against a small step's sum."""
    m = ct.Model("slider", gravity=(0, 0, 0))
    m.add(ct.RigidBody("body", ct.box(size=(0.3, 0.3, 0.1), mass=4)))
    m.add(ct.PointMass("point", mass=2))
    m.add(ct.Revolute("O", m.ground, "body", angle_rate=1.5))
    m.add(ct.Prismatic("J", "body", "point", axis=(1, 0, 0), displacement=0.5))
    inertia = 4 * (0.09 + 0.09) / 12
    for tree in ("joint", "absolute"):
        sol = m.simulate(1.0, points=11, tree=tree)
        r, speed, w = sol["J.displacement"], sol["J.displacement_rate"], sol["O.angle_rate"]
        spin = (inertia + 2 * r**2) * w
        np.testing.assert_allclose(spin, (inertia + 2 * 0.25) * 1.5, rtol=1e-6)
        energy = spin * w / 2 + speed**2
        np.testing.assert_allclose(energy, energy[0], rtol=1e-6)
        assert r[-1] > 0.8


@pytest.mark.parametrize("second", ["prismatic", "fixed"])
def test_a_point_between_two_joints_passes_rotations_on(second):
    """A body hangs on a point that slides in another body: the slider's orientation goes on to the hanging body."""
    m = ct.Model("two joints", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("guide", ct.box(size=(1, 0.1, 0.1), mass=3)))
    m.add(ct.PointMass("block", mass=0.5))
    m.add(ct.RigidBody("bob", ct.rod(length=0.6, mass=1, radius=0.02, axis="y"), frames={"top": (0, 0.3, 0)}))
    m.add(ct.Revolute("O", m.ground, "guide", angle=0.4))
    if second == "prismatic":
        m.add(ct.Prismatic("S", "guide", "block", axis=(1, 0, 0)))
    else:
        m.add(ct.Weld("S", "guide", "block"))
    m.add(ct.Revolute("J", "block", "bob.top"))
    reference = None
    for tree in product(("joint", "absolute"), repeat=2):
        assert freedom(m.equations(tree)) == (3 if second == "prismatic" else 2)
        sol = m.simulate(0.5, points=6, tree=tree)
        reference = sol["bob.position"] if reference is None else reference
        np.testing.assert_allclose(sol["bob.position"], reference, atol=1e-6)


def test_what_has_no_meaning_is_refused_with_the_remedy():
    """Two hinges at a point: nothing says how the point is turned."""
    m = ct.Model("hinges", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("a", ct.box(size=(0.3, 0.2, 0.1), mass=1)))
    m.add(ct.PointMass("p", mass=1))
    m.add(ct.RigidBody("b", ct.box(size=(0.3, 0.2, 0.1), mass=1)))
    m.add(ct.Revolute("O", m.ground, "a"))
    m.add(ct.Universal("J", "a", "p"))
    m.add(ct.Universal("K", "p", "b"))
    with pytest.raises(ct.CotreeError, match="'p'") as caught:
        m.equations()
    assert "RigidBody" in str(caught.value)
