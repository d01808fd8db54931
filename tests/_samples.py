"""Components of every kind: one made from its class, and for many kinds some with as many fields as go together."""

from __future__ import annotations

from typing import Any

import numpy as np

import cotree as ct
import cotree.bond as b
from _made import BEYOND_FILES, component
from control.samples import SAMPLES as CONTROL
from cotree.bond import branch
from cotree.model import KINDS, Component
from laws.test_every_component import NETWORK
from laws.test_every_component import several as network_samples
from terminal.nodal.test_data import SAMPLES as NODAL

AB = {"frame_a": "a.p", "frame_b": "b"}
UNIT = tuple(tuple(float(i == j) for j in range(6)) for i in range(6))
PLY = {"young_x": 1.4e11, "young_y": 1e10, "poisson_xy": 0.3, "shear_xy": 5e9, "density": 1600}
MESHED = {
    "frames": {"p": (0.0, 0.5, 0.0), "q": (1.0, 1.0, 0.0), "n": {"node": 3, "axis": (0, 0, 1), "angle": 0.1}},
    "attached": ("p", "q"),
    "modes": 2,
}
GRID = ct.mesh.grid(size=(1, 1), cells=(2, 2))
MECHANICAL: dict[str, list[dict[str, Any]]] = {
    "ground_frame": [
        {"position": (1.0, "2*k", 0.0), "axis": (0.0, 0.0, 1.0), "angle": "30 deg"},
        {"position": (1, 2, 3)},
    ],
    "revolute": [{**AB, "axis": np.array([0, 1, 0]), "angle": 0.3, "angle_rate": "k", "fixed": ["angle"]}],
    "prismatic": [{**AB, "axis": ["k", 0.0, 1.0], "displacement": "100 mm", "displacement_rate": np.float64(2.0)}],
    "cylindrical": [{**AB, "displacement": 0.1, "angle": 0.2, "angle_rate": 1e-300, "displacement_rate": -0.0}],
    "screw": [{**AB, "pitch": 0.01, "angle": 3.0, "angle_rate": 1}],
    "planar": [{**AB, "x": 0.1, "y": 0.2, "angle": 0.3, "x_rate": "-k", "y_rate": 1.0, "angle_rate": 0.1 + 0.2}],
    "universal": [{**AB, "axis_1": (0, 0, 1), "axis_2": (1, 0, 0), "angle_2": 0.1, "angle_1": 1, "angle_1_rate": 2}],
    "spherical": [{**AB, "orientation": np.array([1.0, 0, 0, 0]), "angular_velocity": (0.1, 0.2, "k")}],
    "weld": [{**AB}],
    "free": [{**AB, "x": 0.1, "y": 0, "z": "k", "z_rate": 2.0, "orientation": (1.0, 0.0, 0.0, 0.0)}],
    "slide": [{**AB, "x": 1, "y": 0.1, "z_rate": 3}],
    "planar_slide": [{**AB, "x": 0.1, "y_rate": 2.0}],
    "rigid_body": [
        {
            "mass": "k",
            "inertia": (1.0, 1.1, 1.2, 0.01, 0.02, 0.03),
            "centre": (0.1, 0.0, 0.0),
            "inertia_about": (0.0, 0.0, 0.1),
            "position": (1.0, 2.0, 3.0),
            "orientation": (1.0, 0.0, 0.0, 0.0),
            "velocity": (0.1, 0.2, 0.3),
            "angular_velocity": np.array([1.0, 2, 3]),
            "frames": {"p": np.array([0.1, 0.2, 0.3]), "q": ct.Frame((0, "k", 0), axis=(1, 0, 0), angle=0.2)},
        },
        {"mass": 1e5, "inertia": np.eye(3) * 0.1},
        {"mass": "1e5", "inertia": [[2, 0, 0], [0, 2, 0], [0, 0, 2]]},
        {"shape": ct.rod(length="300 mm", mass=2, axis="z", radius=0.01)},
        {"shape": ct.box(size=(1, "k", np.float32(0.1)), mass="k")},
        {"shape": ct.cylinder(radius=0.1, length=1, mass=2, axis="x")},
        {"shape": ct.sphere(radius=1, mass="2 g")},
        {"shape": ct.tube(outer=0.2, inner=0.1, length=1, mass=3), "centre": (0, 0, "k")},
    ],
    "point_mass": [{"mass": np.int64(2), "position": [0.0, 0.0, 1.0], "velocity": (1.0, "2 km/h", 0.0)}],
    "beam": [
        {
            "length": "k",
            "section": ct.section.rectangle(0.01, 0.02),
            "material": ct.STEEL,
            "elements": 2,
            "modes": (1, 3),
            "shapes": "clamped",
            "attached": "end",
            "damping": 0.01,
            "stiffening": "none",
            "rotary": False,
            "roll": 0.1,
            "deforms": ("xy", "xz"),
            "velocity": (1.0, 0.0, 0.0),
            "frames": {
                "p": 0.5,
                "q": "k/4",
                "G": "centre_of_mass",
                "r": ct.Frame((0.1, 0, 0), axis=(0, 0, 1), angle=1),
            },
            "masses": {"tip": {"at": "end", "mass": 2, "inertia": np.ones(3), "centre": [0, 0.1, 0]}},
            "elastic": {"mode1": 0.01},
            "elastic_rate": {"mode3": np.float64(1e-3)},
        },
        {
            "length": 1,
            "section": ct.section.circle(0.01, shear_y=0.9),
            "material": ct.Material(2e11, 7800, shear=8e10),
            "elements": np.int64(3),
            "below": 100.0,
            "interface": {"end": "z ry", "start": None},
            "mass": "linear",
            "damping": [0.01, 0.02],
            "offset": np.array([0.1, 0]),
            "shear": False,
            "shapes": "interface",
        },
        {
            "length": 1,
            "section": ct.section.general(1e-4, 1e-9, 2e-9, 1e-9, 0.8, 0.8, corners=[(0.1, 0.2)]),
            "material": ct.Material(2e11, 7800, poisson=0.3, viscosity=1e-5, name="own"),
            "elements": 2,
            "shapes": "nodal",
            "interface": None,
            "deforms": "xy",
        },
        {
            "length": 1,
            "section": ct.section.box(0.1, 0.2, 0.01).with_poisson(0.4),
            "material": ct.ALUMINIUM,
            "elements": 1,
            "modes": range(1, 3),
            "interface": ["end"],
        },
        {
            "length": 1,
            "section": type(ct.section.circle(1))(1.0, 2.0, 3.0, 4.0, 0.5, 0.6),
            "material": ct.STEEL,
            "elements": 1,
            "modes": 0,
            "interface": "end",
        },
    ],
    "flexible_body": [
        {"mesh": GRID, "plate": ct.Plate(0.01, ct.STEEL), **MESHED, "rigid": {"p": "left"}, "rotary": False},
        {
            "mesh": ct.mesh.Mesh(GRID.nodes * np.pi, triangles=GRID.triangles, sets={"some": (0, 3)}),
            "modes": 1,
            "plate": ct.layered(
                [ct.Orthotropic(0.001, **PLY, angle=np.pi / 4), ct.Orthotropic(0.001, **PLY, angle=-1)]
            ),
            "attached": "mean",
            "shapes": "free",
            "direction": (0.0, 1.0, 0.0),
            "held": {"some": "x ry"},
            "frames": {"c": "centre_of_mass"},
        },
        {
            "mesh": ct.mesh.line((0, 0, 0), (1, 0, 0), 4),
            "section": ct.section.tube(0.02, 0.01),
            "modes": 2,
            "material": ct.STEEL,
            "section_y": (0, 0, 1),
            "frames": {"e": 4, "f": [0, 0, 0]},
            "attached": "f",
            "mass": "linear",
            "shear": False,
            "offset": (0.0, 0.01),
            "interface": ["e"],
            "rigid": {"e": np.array([3, 4])},
        },
        {
            "mesh": ct.mesh.disc(1.0, 2),
            "attached": "mean",
            "shapes": "free",
            "modes": 1,
            "plate": ct.Laminate(
                tuple(tuple(float((i == j) * (9 - i)) for j in range(6)) for i in range(6)),
                2.0,
                0.01,
                rotary=0.1,
                offset=0.01,
                viscosity=1e-4,
            ),
        },
    ],
    "constant_distance": [{**AB, "length": "50 cm"}],
    "point_on_line": [{**AB, "axis": (0.0, 1.0, 0.0)}],
    "point_on_plane": [{**AB, "normal": (1.0, 0.0, 0.0), "offset": 0.1}],
    "parallel_axes": [{**AB, "axis": (1.0, 0.0, 0.0), "axis_b": (0.0, 1.0, 0.0)}],
    "rolling_disc": [{**AB, "radius": 0.2, "axis": (1.0, 0.0, 0.0), "normal": (0, 1, 0)}],
    "gear": [{"joint_a": "J", "joint_b": "K", "ratio": -2.0, "coordinate_b": "angle", "offset": "5 deg"}],
    "rack_and_pinion": [{"pinion": "J", "rack": "S", "radius": 0.1, "offset": 0.2}],
    "coupled": [{"factors": {"J": 1.0, "K.angle": "-2*k", "S": np.float64(3)}, "offset": 0.1}],
    "drive": [{"on": "J", "angle": "2*t", "coordinate": "angle"}, {"on": "S", "displacement": 0.1}],
    "speed_drive": [{"on": "J", "speed": "sin(t)", "coordinate": "angle"}],
    "frame_drive": [{**AB, "x": "sin(t)", "z": 0.1}, {**AB, "distance": "1 + t"}],
    "spring": [
        {**AB, "length": 0.3, "table": ((0.0, 0.0), (0.1, 5.0)), "damping": 2.0, "preload": 1},
        {**AB, "length": 0, "table": np.array([[0, 0], [0.1, 5], [1, 6]])},
        {**AB, "length": 1, "stiffness": "5 kN/m"},
    ],
    "damper": [{**AB, "law": "50*v + k*v*abs(v)"}, {**AB, "table": [[-1, -5], [1, 5]]}],
    "joint_spring": [{"on": "J", "energy": "k*x**4", "rest": 0.1, "preload": 2.0, "damping": 0.1}],
    "joint_damper": [{"on": "J", "damping": 0.1}],
    "bushing": [
        {**AB, "stiffness": (1.0, 2.0, 3.0, 4.0, 5.0, "k"), "damping": UNIT, "preload": np.arange(6)},
        {**AB, "stiffness": np.eye(6) * 2},
    ],
    "point_force": [{"frame_b": "b", "force": (0.0, "10*sin(t)", "-5*b.velocity.z"), "axes": "body"}],
    "point_torque": [{"frame_b": "b", "torque": [1.0, 0.0, "3 N m"]}],
    "force_between": [{**AB, "force": "k*t"}],
    "joint_actuator": [{"on": "J", "effort": "-5*J.angle"}],
    "joint_friction": [{"on": "J", "level": 0.1, "static": 1.5, "stribeck": 0.1, "viscous": 0.01, "speed": 0.01}],
    "bump_stop": [{"on": "J", "stiffness": 1e4, "upper": 1.0, "lower": "-k", "damping": 0.5, "power": 1.5}],
    "varying_point": [{"mass": "2 - t", "exhaust": (0.0, 0.0, -5.0), "position": (1, 2, 3), "mass_rate": -1}],
    "varying_mass": [
        {
            "mass": "2 - t/9",
            "inertia": ("1 - t/9", 1.0, 1.0),
            "outlet": (-0.5, 0.0, 0.0),
            "centre": ("t", 0, 0),
            "exhaust": (-5.0, 0.0, 0.0),
            "frames": {"p": (1.0, 0.0, 0.0)},
        },
        {"shape": ct.sphere(radius=1, mass="2 - t/9")},
    ],
}
SPOOLS = [
    ct.hydraulic.Spool("y1", input="k1.value", frequency="50 rad/s", damping_ratio="k", initial=-0.5),
    ct.hydraulic.Spool("y2", input="sin(t)", time_constant="5 ms"),
]
R3 = {"radius": 0.1, "length": 1, "mass": 1}
BOND: list[Component] = [
    b.I("I1", inertia=0.1 + 0.2),
    b.I("I2", inertia=[1, "a", 3], momentum=np.arange(3)),
    b.I("I3", flow="p**3", momentum=1),
    b.I("I4", inertia=[[1, 0.5], [0.5, 2]], initial_flow=[1, 2], domain="translational"),
    b.C("C1", stiffness="2*a"),
    b.C("C2", compliance=[1, 2], displacement=[0, 1]),
    b.C("C3", effort="q + q**3", width=1),
    b.C("C4", effort=["q.c1", "2*q.c2"], displacement=[1, 2]),
    b.C("C5", compliance=2, initial_effort="a"),
    b.R("R1", resistance=np.float64(1)),
    b.R("R2", conductance=[1, 2, 3]),
    b.R("R3", effort="f*abs(f)"),
    b.R("R4", flow="sinh(e)"),
    b.MR("R5", resistance="1 + j.flow"),
    b.MR("R6", conductance=["1 + t", 2]),
    b.Se("S1", effort="5*sin(t)"),
    b.Se("S2", effort=[1, "t", 0]),
    b.MSe("S3", effort="-2*x.value"),
    b.Sf("S4", flow=1e-30),
    b.MSf("S5", flow="j.flow"),
    b.TF("T1", modulus=3),
    b.TF("T2", modulus=np.arange(6).reshape(2, 3)),
    b.MTF("T3", modulus="cos(x.value)"),
    b.GY("T4", modulus=[1, 2]),
    b.MGY("T5", modulus="x.value"),
    b.MGR("T6", modulus=["w.value.x", 0, 1]),
    b.Junction0("n", width=3, domain="thermal"),
    b.Junction1("j"),
    b.Split("s", parts=[1, 2, 3]),
    b.Bond("b1", "j", "T2.1"),
    b.Bond("b2", "n", "s.whole", width=6),
    b.Sensor("x", of="b1", measures="displacement"),
    b.Block("y", value=["x.value", "t"]),
    b.Integrator("w", input=["1", "x.value", "t"], initial=[0, "a", 2], unit="rad"),
    KINDS["bond.body"](
        "B",
        mass=1,
        inertia=np.eye(3),
        position=(1, 2, "a"),
        orientation=[1, 0, 0, 0],
        velocity=[0, 0, 1],
        angular_velocity=(1, 2, 3),
        frames={
            "p": np.array([1.0, 2, 3]),
            "q": {"position": [0, 0, 1], "axis": "z", "angle": "a"},
            "r": ct.Frame((1, 2, 3)),
        },
    ),
    KINDS["bond.ground"]("G", position=[1, 2, 3], axis="z", angle=0.1),
    KINDS["bond.weld_joint"]("J0"),
    KINDS["bond.revolute_joint"](
        "J1", axis=[0, 0, 1], angle=0.1, angle_rate="a", stiffness=[1e3] * 3, turning_stiffness=5
    ),
    KINDS["bond.prismatic_joint"]("J2", axis="x", slide="10 mm", slide_rate=1),
    KINDS["bond.cylindrical_joint"]("J3", axis="y", slide=1, angle=2, angle_rate=3),
    KINDS["bond.universal_joint"]("J4", axis_1="x", axis_2=(0, 1, 0), angle_1=0.1, angle_2_rate=1),
    KINDS["bond.spherical_joint"]("J5", orientation=np.array([1.0, 0, 0, 0]), angular_velocity=[1, 2, 3]),
    KINDS["bond.free_joint"]("J6", position=[1, 2, 3], velocity=(0, 0, "a"), orientation=(1, 0, 0, 0)),
    KINDS["bond.frame_force"]("F1", force=[0, "sin(t)", 1], axes="body"),
    KINDS["bond.frame_torque"]("F2", torque=(1, 2, 3)),
    KINDS["bond.point_spring"]("F3", stiffness="5 kN/m", length=0.1),
    KINDS["bond.point_damper"]("F4", damping=3),
    KINDS["bond.translation"]("X1", r=(1, 2, 3), axis="z", angle=1),
    KINDS["bond.rotation"]("X2", phi=0.1, psi=2),
    KINDS["bond.rotation"]("X3", by="euler_parameters", orientation=(1, 0, 0, 0)),
    branch.OfBody("O1", component=ct.RigidBody("O1", ct.cylinder(**R3), frames={"p": (1, 2, 3)})),
    branch.OfJoint("O2", component=ct.Revolute("O2", "ground", "O1", axis=(0, 1, 0), angle=0.1), oriented=False),
    branch.OfConstraint("O3", component=KINDS["constant_distance"]("O3", "ground", "O1", length=1)),
    branch.OfCoupling("O4", component=KINDS["gear"]("O4", "O2", "O5", ratio=2)),
    branch.OfDriver("O5", component=KINDS["drive"]("O5", "O2", angle="t")),
    branch.OfForce("O6", component=KINDS["spring"]("O6", "ground", "O1", length=1, stiffness=2)),
    branch.OfJointForce("O7", component=KINDS["joint_damper"]("O7", "O2", damping=2)),
    branch.OfVaryingBody("O8", component=KINDS["varying_point"]("O8", mass="2 - t")),
]


def _library(cls: type[Component]) -> Component:
    """A part of a domain with distinct values; ``mutual`` is small enough by its place."""
    shapes: Any = cls.shapes  # type: ignore[attr-defined]
    apart = [{"initial_angle", "initial_extension"} & set(shapes)]
    return cls("L", **{name: 0.9 - 0.1 * k for k, name in enumerate(shapes) if name not in apart[0]})


def masked() -> list[Component]:
    """Masks, one inside the other."""
    inner = b.Graph("inner", {"a": "j"}, {"k": None})
    for part in (b.Junction1("j"), b.C("c", stiffness="k")):
        inner.add(part)
    inner.connect("j", "c", "spring")
    outer = b.Graph("outer", {"a": "j"}, {"k2": 4.0})
    for part in (b.Junction1("j"), b.Mask("one", graph=inner, values_of={"k": "k2/2"})):
        outer.add(part)
    outer.connect("j", "one", width=1)
    return [b.Mask("M", graph=outer, values_of={"k2": np.float64(5)})]


def samples() -> list[Component]:
    """Every sample; a kind without an entry in the tables has the one that is made from its class."""
    library = [_library(cls) for kind, cls in sorted(KINDS.items()) if kind.count(".") == 2]
    mechanical = [KINDS[kind]("part", **values) for kind, several in MECHANICAL.items() for values in several]
    nodal = [KINDS[kind]("part", **values) for kind, values in NODAL.items()]
    return [
        *(each for kind in NETWORK for each in network_samples(kind)),
        *mechanical,
        *nodal,
        *CONTROL,
        *SPOOLS,
        *BOND,
        *library,
        *masked(),
        *(component(kind, "made") for kind in sorted(KINDS.keys() - BEYOND_FILES) if _own(KINDS[kind])),
    ]


def _own(cls: type[Component]) -> bool:
    """Whether a kind is one of the package; tests may add some."""
    return cls.__module__.startswith("cotree.")
