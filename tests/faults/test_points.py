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


# -- a point that carries a body is a small rigid body ----------------------------------------------------------------

CARRYING = {
    "revolute": lambda a, b: ct.Revolute("O", a, b, angle=0.2, angle_rate=0.5),
    "spherical": lambda a, b: ct.Spherical("O", a, b),
    "universal": lambda a, b: ct.Universal("O", a, b, axis_1=(0, 0, 1), axis_2=(0, 1, 0)),
    "cylindrical": lambda a, b: ct.Cylindrical("O", a, b, axis=(0, 0, 1), angle_rate=0.5),
    "prismatic": lambda a, b: ct.Prismatic("O", a, b, axis=(0.6, 0.8, 0)),
}
CARRIED = {
    "fixed": lambda a, b: ct.Weld("J", a, b),
    "prismatic": lambda a, b: ct.Prismatic("J", a, b, axis=(1, 0, 0), displacement=0.2),
    "cylindrical": lambda a, b: ct.Cylindrical("J", a, b, axis=(1, 0, 0), displacement=0.2),
    "revolute": lambda a, b: ct.Revolute("J", a, b),
}


def bob(
    first: str, second: str, *, points: bool, between: int = 1, planar: bool = False, on: str = "ground"
) -> ct.Model:
    """A body on points, or on small spheres, that a joint carries; ``on`` names what it is on, with - frames swap."""
    m = ct.Model("bob", gravity=(0.5, -9.81, 0 if planar else 0.3), planar=planar)
    for k in range(between):
        small = ct.PointMass(f"p{k}", mass=2)
        m.add(small if points else ct.RigidBody(f"p{k}", ct.sphere(mass=2, radius=1e-4)))
    m.add(ct.RigidBody("body", ct.box(size=(1, 0.2, 0.1), mass=1), frames={"l": (-0.5, 0, 0)}))
    base = m.ground
    if on.startswith("body"):
        m.add(ct.RigidBody("guide", ct.box(size=(1, 0.2, 0.1), mass=3), frames={"r": (0.3, 0.1, 0)}))
        m.add(ct.Revolute("G", m.ground, "guide", angle=0.3))
        base = "guide.r"
    swap = slice(None, None, -1 if on.endswith("-") else 1)
    m.add(CARRYING[first](*(base, "p0")[swap]))
    for k in range(1, between):
        m.add(ct.Weld(f"W{k}", f"p{k - 1}", f"p{k}"))
    m.add(CARRIED[second](*(f"p{between - 1}", "body.l")[swap]))
    return m


BOBS = [
    *({"first": first, "second": "fixed"} for first in CARRYING),
    *({"first": first, "second": "prismatic"} for first in ("revolute", "spherical")),
    {"first": "spherical", "second": "cylindrical"},
    {"first": "spherical", "second": "revolute"},
    {"first": "prismatic", "second": "revolute"},
    *({"first": "revolute", "second": second, "planar": True} for second in ("fixed", "prismatic")),
    *({"first": "revolute", "second": second, "between": 2} for second in ("fixed", "prismatic")),
    {"first": "spherical", "second": "fixed", "between": 3},
    {"first": "revolute", "second": "prismatic", "on": "ground-"},
    {"first": "spherical", "second": "cylindrical", "on": "ground-"},
    *(
        {"first": "revolute", "second": second, "on": on}
        for second in ("fixed", "prismatic")
        for on in ("body", "body-")
    ),
]


@pytest.mark.parametrize("case", BOBS, ids=lambda case: "-".join(map(str, case.values())))
def test_a_point_that_carries_a_body_is_a_small_rigid_body(case):
    """Under every tree, and with the same degrees of freedom but for spins of the sphere that nothing feels."""
    m, small = bob(**case, points=True), bob(**case, points=False)
    reference = small.simulate(0.4, points=5)
    idle = {"cylindrical": 1, "revolute": 1}.get(case["second"], 0) if case["first"] == "spherical" else 0
    for tree in ("joint", "absolute", ("joint", "absolute"), m.tree(into_cotree=["J"]), m.tree(into_tree=["p0"])):
        assert freedom(m.equations(tree)) == freedom(small.equations()) - idle, tree
        sol = m.simulate(0.4, points=5, tree=tree)
        for name in ("p0.position", "body.position", "body.angular_velocity"):
            np.testing.assert_allclose(sol[name], reference[name], atol=2e-5, err_msg=f"{name}, {tree}")
        size = np.linalg.norm(reference["O.force"], axis=1)
        np.testing.assert_allclose(np.linalg.norm(sol["O.force"], axis=1), size, rtol=1e-4, err_msg=str(tree))


def test_a_pendulum_on_a_point_has_its_period():
    """m L^2 / 3 a'' = -m g L / 2 sin a: energy from the side down, whatever the mass of the point is."""
    for planar in (False, True):
        m = ct.Model("pendulum", gravity=(0, -9.81, 0), planar=planar)
        m.add(ct.PointMass("p", mass=2))
        m.add(ct.RigidBody("b", ct.rod(length=1, mass=1), frames={"l": (-0.5, 0, 0)}))
        m.add(ct.Revolute("O", m.ground, "p"))
        m.add(ct.Weld("W", "p", "b.l"))
        for tree in ("joint", "absolute"):
            sol = m.simulate(0.5, points=6, tree=tree)
            np.testing.assert_allclose(sol["O.angle_rate"] ** 2 / 6, -9.81 * sol["b.position.y"], atol=1e-5)
            assert sol["b.position.y"][-1] < -0.45


def test_a_drive_turns_what_a_point_carries():
    m, small = (bob("revolute", "prismatic", points=points) for points in (True, False))
    for each in (m, small):
        each.add(ct.Drive("D", on="O", angle="0.2 + 0.5*t"))
    reference = small.simulate(0.4, points=5)
    for tree in ("joint", "absolute"):
        sol = m.simulate(0.4, points=5, tree=tree)
        np.testing.assert_allclose(sol["O.angle"], 0.2 + 0.5 * sol.t, atol=1e-9)
        for name in ("J.displacement", "D.torque", "J.force", "J.torque"):
            np.testing.assert_allclose(sol[name], reference[name], atol=1e-4)


@pytest.mark.parametrize("planar", [False, True])
def test_a_slider_between_points_has_no_axes(planar):
    m = ct.Model("points", gravity=(0, -9.81, 0), planar=planar)
    m.add(ct.PointMass("p", mass=2))
    m.add(ct.PointMass("q", mass=1))
    m.add((ct.Revolute if planar else ct.Spherical)("O", m.ground, "p"))
    m.add(ct.Prismatic("S", "p", "q", axis=(1, 0, 0), displacement=0.5))
    for tree in ("joint", "absolute"):
        with pytest.raises(ct.CotreeError, match="'S' slides along axes of 'p'") as caught:
            m.equations(tree)
        assert "RigidBody" in str(caught.value)
