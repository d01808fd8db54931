"""What every part of a mechanism must satisfy, whoever wrote it: data sheet, plain data, edges, and power."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import cotree.terminal  # noqa: F401  (registers all kinds)
from _made import made
from cotree.errors import ModelError
from cotree.model import KINDS, VIRTUAL_WORK, Component, Kind
from cotree.model.quantity import field_entries
from cotree.terminal.mechanics import Body, Connection, Constraint, Coupling, Driver, Element, Joint, JointForce
from terminal.motions import Moving, fields, number, numbers

FRAMES = {"frame_a": "A.p", "frame_b": "B.q"}
JOINT = {"on": "O"}
TABLE = [[-1.0, -3.0], [0.0, 0.0], [2.0, 5.0]]
SIX = [4.0, 5.0, 6.0, 0.7, 0.8, 0.9]
STEEL = {"young": 2.1e11, "density": 7850.0, "poisson": 0.3}
BEAM: dict[str, Any] = {
    "length": 0.5, "section": {"circle": {"radius": 0.01}}, "material": STEEL, "elements": 2, "modes": 1,
}  # fmt: skip
PLATE: dict[str, Any] = {
    "mesh": {"grid": {"size": [1.0, 1.0], "cells": [2, 2]}}, "plate": {"thickness": 0.01, "material": STEEL},
    "frames": {"p": [0.0, 0.5, 0.0], "q": [1.0, 1.0, 0.0]}, "attached": "p", "modes": 2,
}  # fmt: skip
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "point_mass": [{"mass": 2.0, "position": [1.0, 2.0, 3.0]}],
    "rigid_body": [
        {"mass": 2.0, "inertia": [1.0, 1.5, 2.0], "frames": {"p": [0.1, 0.0, 0.0]}},
        {"mass": "m", "inertia": [1.0, 1.5, 2.0, 0.1, 0.0, "j"], "centre": [0.0, 0.1, 0.0]},
        {"mass": "m", "inertia": [9.0, 9.5, 9.0], "inertia_about": [1.0, 0.0, 0.0]},
    ],
    "constant_distance": [FRAMES | {"length": 0.5}],
    "coupled": [{"factors": {"O": 1.0, "U.angle_1": "-2*m"}, "offset": 0.2}],
    "gear": [{"joint_a": "O", "joint_b": "P", "ratio": -2.0}],
    "parallel_axes": [FRAMES, FRAMES | {"axis": [1.0, 0.0, 0.0], "axis_b": [0.0, 1.0, 0.0]}],
    "point_on_line": [FRAMES | {"axis": [0.0, 1.0, 1.0]}],
    "point_on_plane": [FRAMES | {"offset": 0.3}],
    "rack_and_pinion": [{"pinion": "O", "rack": "P", "radius": 0.1}],
    "rolling_disc": [FRAMES | {"radius": 0.3, "normal": [0.0, 1.0, 0.0], "axis": [0.0, 0.0, 1.0]}],
    "drive": [JOINT | {"angle": "2*t"}, JOINT | {"displacement": "m*t", "coordinate": "x"}],
    "frame_drive": [FRAMES | {"x": "t", "z": 0.0}, FRAMES | {"distance": "1 + t"}],
    "speed_drive": [JOINT | {"speed": "sin(t)"}],
    "beam": [
        BEAM,
        BEAM | {"length": "m", "shapes": "pinned", "damping": 0.01, "frames": {"mid": "m/2", "G": "centre_of_mass"}},
        BEAM | {
            "deforms": ["xy", "axial"], "interface": {"end": "y rz"}, "offset": [0.01, 0.0], "elastic": {"mode1": 0.01},
            "masses": {"tip": {"at": "end", "mass": 2.0}},
            "frames": {"p": {"at": 0.5, "axis": [0.0, 0.0, 1.0], "angle": 0.2}},
        },
    ],
    "flexible_body": [
        PLATE,
        PLATE | {"rigid": {"p": "left"}, "held": {"right": "rx"}, "interface": ["p", "q"], "damping": [0.01, 0.02]},
    ],
    "force_between": [FRAMES | {"force": "5*O.angle"}],
    "joint_actuator": [JOINT | {"effort": "-3*O.angle_rate"}],
    "point_force": [{"frame_b": "B.q", "force": [0.0, "t", 3.0], "axes": "body"}],
    "point_torque": [{"frame_b": "B.q", "torque": [0.0, "t", 3.0]}],
    "bump_stop": [JOINT | {"upper": 0.1, "stiffness": 1e3, "damping": 0.2}],
    "joint_friction": [JOINT | {"level": 2.0, "static": 1.2, "stribeck": 0.1, "viscous": 0.1}],
    "ground_frame": [{"position": [1.0, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "angle": 0.2}],
    "cylindrical": [FRAMES],
    "free": [FRAMES | {"x": 1.0}],
    "planar": [FRAMES | {"angle": 0.1, "fixed": ["angle"]}],
    "planar_slide": [FRAMES],
    "prismatic": [FRAMES | {"axis": [1.0, 0.0, 0.0]}],
    "revolute": [FRAMES | {"angle": "m"}],
    "screw": [FRAMES | {"pitch": 0.1}],
    "slide": [FRAMES],
    "spherical": [FRAMES | {"orientation": [1.0, 0.0, 0.0, 0.0]}],
    "universal": [FRAMES],
    "weld": [FRAMES],
    "bushing": [
        FRAMES | {"stiffness": SIX, "damping": SIX, "preload": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]},
        FRAMES | {"stiffness": [[float(i == k) + 0.1 for i in range(6)] for k in range(6)]},
    ],
    "damper": [FRAMES | {"damping": 2.0}, FRAMES | {"law": "m*v**3"}, FRAMES | {"table": TABLE}],
    "joint_damper": [JOINT | {"damping": 2.0}, JOINT | {"law": "m*v**3"}, JOINT | {"table": TABLE}],
    "joint_spring": [
        JOINT | {"stiffness": 2.0, "rest": 0.2}, JOINT | {"law": "m*x**3"}, JOINT | {"table": TABLE},
    ],
    "spring": [
        FRAMES | {"length": 0.4, "stiffness": 2.0, "preload": 1.0, "damping": 0.1},
        FRAMES | {"length": 0.4, "law": "m*x + x**2"},
        FRAMES | {"length": 0.4, "table": TABLE},
        FRAMES | {"length": 0.4, "energy": "m*x**2/2"},
    ],
    "varying_mass": [{"mass": "3 - t", "inertia": [1.0, 1.0, "1 - 0.1*t"], "exhaust": [-2.0, 0.0, 0.0]}],
    "varying_point": [{"mass": "3 - t", "exhaust": [-2.0, 0.0, 0.0]}],
}  # fmt: skip
"""Ways to give the values of some kinds; besides, every kind has a sample made from its class."""
MECHANICAL = sorted(kind for kind, cls in KINDS.items() if cls.mechanical)
SEVERAL = [
    (kind, data) for kind in MECHANICAL for data in [made(kind, FRAMES | JOINT), *SAMPLES.get(kind, ())]
]  # fmt: skip
EVERY = pytest.mark.parametrize(("kind", "data"), SEVERAL)
PASSIVE = pytest.mark.parametrize(
    ("kind", "data"),
    [
        (kind, data)
        for kind, data in SEVERAL
        if issubclass(KINDS[kind], Element | JointForce) and not KINDS[kind].supplies
    ],
)
NAMES = {
    "m": ca.SX(0.7), "j": ca.SX(0.1), "O.angle": ca.SX(0.4), "O.angle_rate": ca.SX(-0.8),
}  # fmt: skip


def make(kind: str, data: dict[str, Any]) -> Component:
    return KINDS[kind].from_data("X1", data)


@EVERY
def test_plain_data_and_back(kind: str, data: dict[str, Any]) -> None:
    """What a file says, and nothing else; numbers stay numbers, expressions text, and a second trip changes nothing."""
    component = make(kind, data)
    plain = component.to_data()
    assert plain.pop("kind") == kind
    assert plain == {key: value for key, value in data.items() if value != _default(kind, key)}
    again = make(kind, plain)
    assert again.to_data() == component.to_data()
    assert again.expressions == component.expressions
    assert _is_plain(plain)


def _default(kind: str, key: str) -> Any:
    found = next(f.default for f in dataclasses.fields(KINDS[kind]) if f.name == key)
    return list(found) if isinstance(found, tuple) else found


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    return all(map(_is_plain, value)) if isinstance(value, list) else isinstance(value, (int, float, str))


@pytest.mark.parametrize("kind", MECHANICAL)
def test_data_sheet(kind: str) -> None:
    cls = KINDS[kind]
    assert cls.kind == kind
    assert cls.__dict__.get("__doc__"), "a component says what it is"
    if not issubclass(cls, Body | Joint) and kind != "ground_frame":
        assert "=" in cls.__doc__, "with its formula"
    component = make(kind, made(kind, FRAMES | JOINT))
    for name, (info, _) in field_entries(component).items():
        assert info.meaning, name


@EVERY
def test_edges(kind: str, data: dict[str, Any]) -> None:
    component = make(kind, data)
    edges = component.edges()
    assert all(edge.domain is VIRTUAL_WORK and edge.component == "X1" for edge in edges)
    if isinstance(component, Connection):
        (edge,) = edges
        assert (edge.name, edge.tail, edge.head) == ("X1", component.frame_a, component.frame_b)
    elif isinstance(component, Driver | JointForce):
        (edge,) = component.edges_between("A.p", "B.q")
        assert (edge.tail, edge.head) == ("A.p", "B.q")
        assert edge.kind is (Kind.POSITION_DRIVER if isinstance(component, Driver) else Kind.FORCE)
    elif isinstance(component, Coupling):
        assert edges == ()


@EVERY
def test_laws_are_finite_and_of_the_right_shape(kind: str, data: dict[str, Any]) -> None:
    component, moving = make(kind, data), Moving(4, angle=1.1)
    v, here = fields(component, NAMES), SimpleNamespace()
    results: list[Any] = []
    if isinstance(component, Element):
        wrench = component.wrench(v, moving.motion, here)
        assert (wrench.force.shape, wrench.torque.shape) == ((3, 1), (3, 1))
        results += [wrench.force, wrench.torque, component.potential(v, moving.motion)]
    elif isinstance(component, JointForce):
        results += [component.force(v, ca.SX(0.3), ca.SX(0.2), here), component.potential(v, ca.SX(0.3))]
        assert all(each.shape == (1, 1) for each in results)
    elif isinstance(component, Driver):
        results.append(component.course(v))
    elif isinstance(component, Constraint):
        m = moving.motion
        results += [component.closure(v, m.d, m.C), component.alignment(v, m.C), component.rolling(v, m)]
        assert all(each.shape[1] == 1 for each in results)
    for each in results:
        value = ca.substitute(ca.SX(each), ca.vertcat(*ca.symvar(ca.SX(each))), 0.5) if ca.symvar(ca.SX(each)) else each
        assert np.isfinite(numbers(value)).all()


@PASSIVE
def test_what_is_not_stored_is_dissipated(kind: str, data: dict[str, Any]) -> None:
    """Power into the bodies and growth of the stored energy add up to a loss, which is never a gain."""
    component = make(kind, data)
    v = fields(component, NAMES)
    for seed in range(4):
        moving = Moving(seed, angle=0.9)
        if isinstance(component, Element):
            left = moving.power(component, v) + moving.potential_rate(component, v)
            loss = component.loss(v, moving.motion)  # type: ignore[attr-defined]
        else:
            x, rate = ca.SX.sym("x"), moving.d_dot[0]
            place = ca.SX(moving.d[0])
            slope = ca.substitute(ca.jacobian(component.potential(v, x), x), x, place)  # type: ignore[attr-defined]
            force = component.force(v, place, ca.SX(rate), SimpleNamespace())  # type: ignore[attr-defined]
            left = rate * number(force + slope)
            loss = component.loss(v, place, ca.SX(rate))  # type: ignore[attr-defined]
        assert left < 1e-10
        if loss is not None:
            assert number(loss) == pytest.approx(-left, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("way", [{"stiffness": 3.0}, {"table": TABLE}, {"law": "m*x + x**2"}, {"energy": "m*x**2"}])
def test_springs_without_damping_lose_nothing_not_even_rounding(way: dict[str, Any]) -> None:
    """The loss is zero as an expression, so that no integrator has to follow the noise of a difference."""
    between, along = make("spring", FRAMES | {"length": 0.3} | way), make("joint_spring", JOINT | way)
    moving, rate = Moving(1), ca.SX.sym("rate")
    assert between.loss(fields(between, NAMES), moving.motion).is_zero()  # type: ignore[attr-defined]
    assert along.loss(fields(along, NAMES), ca.SX.sym("x"), rate).is_zero()  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", MECHANICAL)
def test_unknown_fields_are_told(kind: str) -> None:
    with pytest.raises(ModelError, match="no field 'colour'"):
        make(kind, made(kind, FRAMES | JOINT) | {"colour": "red"})
