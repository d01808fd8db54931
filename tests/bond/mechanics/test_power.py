"""Every mask conserves power: what enters through its ports is what its elements store, dissipate or supply."""

from __future__ import annotations

import numpy as np
import pytest

from bond.mechanics.pairs import PAIRS, bonded, filled
from cotree.bond.mechanics import (
    Body,
    CylindricalJoint,
    Ground,
    PointDamper,
    PointSpring,
    PrismaticJoint,
    RevoluteJoint,
    Rotation,
    SphericalJoint,
    Translation,
    UniversalJoint,
    WeldJoint,
)  # fmt: skip
from cotree.bond.opening import open_graph
from cotree.bond.structure import JUNCTIONS, ONE_PORTS, component_names

SOFT = {"stiffness": 400.0, "damping": 2.0}
TURNING = {"turning_stiffness": 30.0, "turning_damping": 0.1}


def column(solution, name, width):
    """A multibond's effort or flow over time."""
    return np.array([solution[each] for each in component_names(name, width)])


def powers(solution, structure):
    """The power of every bond from tail to head."""
    return {
        name: (column(solution, f"{name}.effort", line.width) * column(solution, f"{name}.flow", line.width)).sum(
            axis=0
        )
        for name, line in structure.lines.items()
    }


def check_power(model, t_end, start=None):
    """At many states: zero at every vertex that only passes power on, and a balance for every mask."""
    structure = open_graph(model)
    solution = model.simulate(t_end, points=7, start=start)
    power = powers(solution, structure)
    size = max(float(np.abs(each).max()) for each in power.values())
    entering = {name: np.zeros(7) for name in model.components}
    inside = {name: np.zeros(7) for name in model.components}
    for vertex in structure.vertices.values():
        into = sum(
            (power[line.name] * (1 if line.enters(vertex.name) else -1) for line in structure.around[vertex.name]),
            np.zeros(7),
        )
        if vertex.letter in ONE_PORTS and vertex.letter != "GR":
            inside[vertex.owner] += into
        else:
            assert np.abs(into).max() < 1e-9 * size, vertex.name  # junctions, TF, GR and splits
    for line in structure.lines.values():
        tail, head = (structure.vertices[end[0]].owner for end in (line.tail, line.head))
        if tail != head:
            entering[tail] -= power[line.name]
            entering[head] += power[line.name]
    for name, each in entering.items():
        assert np.abs(each - inside[name]).max() < 1e-9 * size, name
    assert {v.letter for v in structure.vertices.values()} >= set(JUNCTIONS)
    return solution


@pytest.mark.parametrize("make", PAIRS, ids=lambda make: make.__name__)
def test_masks_with_ideal_joints_conserve_power(make):
    pair = make()
    check_power(pair.graph, 0.3, dict(pair.start) or None)


def compliant(joint):
    """A body on a joint with C and R elements, which starts in motion."""
    model = filled("c", [
        Ground("G", position=(0.1, 0, 0), axis="x", angle=0.3), joint,
        Body("bob", mass=0.8, inertia=(0.01, 0.02, 0.015), frames={"O": (0.1, 0.2, 0), "E": (0, 0, 0.1)},
             angular_velocity=(1.0, 2.0, -1.0), velocity=(0.1, 0.2, 0.3)),
    ])  # fmt: skip
    return bonded(model, ("G", "J.a"), ("J.b", "bob.O"))


@pytest.mark.parametrize("joint", [
    SphericalJoint("J", **SOFT), RevoluteJoint("J", axis=(1, 2, 3), **SOFT, **TURNING),
    PrismaticJoint("J", axis="y", **SOFT, **TURNING), CylindricalJoint("J", axis=(0, 1, 1), **SOFT, **TURNING),
    UniversalJoint("J", axis_1="x", axis_2="z", **SOFT, **TURNING), WeldJoint("J", **SOFT, **TURNING),
], ids=lambda joint: joint.kind)  # fmt: skip
def test_compliant_joints_conserve_power(joint):
    solution = check_power(compliant(joint), 0.4)
    assert solution.energy().error < 1e-6  # with C and R, over the whole motion at rtol 1e-8


def test_points_and_rotations_conserve_power():
    model = filled("p", [
        Ground("G"), Body("bob", mass=0.8, inertia=(0.01, 0.02, 0.015), position=(0.3, 0.1, 0.2), velocity=(0, 1, 0),
                          angular_velocity=(1.0, 2.0, -1.0)),
        Rotation("turn", phi=0.3, theta=0.2), Translation("arm", r=(0.1, 0.0, -0.2), axis="x", angle=0.4),
        PointSpring("K", stiffness=50.0, length=0.2), PointDamper("D", damping=0.5),
    ])  # fmt: skip
    bonded(model, ("bob", "turn.local"), ("bob.centre", "arm.A"), ("G", "K.a"), ("K.b", "arm.B"), ("D.a", "G"))
    bonded(model, ("turn.world", "D.b"))
    solution = check_power(model, 0.4)
    assert solution.energy().error < 1e-6
    stretched = solution["K.length"] - 0.2
    assert solution["K.force"] == pytest.approx(50.0 * stretched, abs=1e-6)
