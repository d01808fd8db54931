"""Model files of mechanisms: what is read, that nothing is lost, and what each mistake is told."""

import casadi as ca
import numpy as np
import pytest

import cotree as ct
from _made import made
from cotree.model import KINDS

PENDULUM = """\
name: pendulum
gravity: [0, -g, 0]
planar: true
parameters: {g: 9.81, l: 0.3}
components:
  arm:
    kind: rigid_body
    shape: {rod: {length: l, mass: 2}}
    frames:
      O: [-l/2, 0, 0]
      tip: {position: [l/2, 0, 0], axis: [0, 0, 1], angle: pi/2}
  pivot: {kind: ground_frame, position: [1, 2, 0]}
  O: {kind: revolute, frame_a: pivot, frame_b: arm.O, axis: [0, 0, 1], angle: 0.3, fixed: [angle]}
  friction: {kind: joint_damper, on: O, damping: 0.01}
run:
  {t_end: 2, integrator: adams, tree: [joint, absolute], max_step: l/3, start: {O.angle: 0.2}, plot: arm.tip.position}
"""


def test_a_file_gives_the_model_that_python_gives(read):
    file = read(PENDULUM)
    m = ct.Model("pendulum", gravity=(0, "-g", 0), planar=True, parameters={"g": 9.81, "l": 0.3})
    tip = ct.Frame(("l/2", 0, 0), axis=(0, 0, 1), angle="pi/2")
    m.add(ct.RigidBody("arm", ct.rod(length="l", mass=2), frames={"O": ("-l/2", 0, 0), "tip": tip}))
    pivot = m.ground.at(1, 2, 0, name="pivot")
    m.add(ct.Revolute("O", pivot, "arm.O", axis=(0, 0, 1), angle=0.3, fixed=("angle",)))
    m.add(KINDS["joint_damper"]("friction", "O", damping=0.01))
    assert file.model.components == m.components
    assert file.model.to_data() == m.to_data()
    assert file.run.tree == ["joint", "absolute"]
    assert file.run.options() == {"integrator": "adams", "max_step": pytest.approx(0.1), "start": {"O.angle": 0.2}}
    file.check_plot({"arm.tip.position.x": 0, "arm.tip.position.y": 0, "arm.tip.position.z": 0})


@pytest.mark.parametrize(
    ("text", "mass", "moments"),
    [
        ("{rod: {length: 0.6, mass: 2}}", 2, (0, 2 * 0.36 / 12, 2 * 0.36 / 12)),
        ("{rod: {length: 0.6, mass: 2, axis: z}}", 2, (2 * 0.36 / 12, 2 * 0.36 / 12, 0)),
        ("{box: {size: [1, 2, 3], mass: 6}}", 6, (6 * 13 / 12, 6 * 10 / 12, 6 * 5 / 12)),
        ("{cylinder: {radius: 0.2, length: 0.6, mass: 3}}", 3, (3 * 0.48 / 12, 3 * 0.48 / 12, 3 * 0.04 / 2)),
        ("{sphere: {radius: 0.5, mass: 4}}", 4, (0.4, 0.4, 0.4)),
        ("{tube: {outer: 0.2, inner: 0.1, length: 0.6, mass: 3}}", 3, (3 * 0.05 / 2, 3 * 0.51 / 12, 3 * 0.51 / 12)),
    ],
)
def test_shapes_give_mass_and_inertia(read, text, mass, moments):
    body = read(f"components:\n  b: {{kind: rigid_body, shape: {text}}}\n").model.components["b"]
    values = body.gather(body.values({}))
    assert values["mass"] == mass
    assert np.asarray(ca.DM(values["inertia"])) == pytest.approx(np.diag(moments), abs=1e-15)


AB = {"frame_a": "a.p", "frame_b": "b"}
UNIT = tuple(tuple(float(i == j) for j in range(6)) for i in range(6))
SAMPLES = {
    "ground_frame": {"position": (1.0, "2*k", 0.0), "axis": (0.0, 0.0, 1.0), "angle": "pi/4"},
    "revolute": {**AB, "axis": (0.0, 1.0, 0.0), "angle": 0.3, "angle_rate": "k", "fixed": ("angle",)},
    "prismatic": {**AB, "axis": ("k", 0.0, 1.0), "displacement": 0.1, "displacement_rate": 2.0},
    "cylindrical": {**AB, "displacement": 0.1, "angle": 0.2},
    "screw": {**AB, "pitch": 0.01, "angle": 3.0},
    "planar": {**AB, "x": 0.1, "y": 0.2, "angle": 0.3, "y_rate": 1.0},
    "universal": {**AB, "axis_1": (0.0, 0.0, 1.0), "axis_2": (1.0, 0.0, 0.0), "angle_2": 0.1},
    "spherical": {**AB, "orientation": (1.0, 0.0, 0.0, 0.0), "angular_velocity": (0.1, 0.2, "k")},
    "weld": {**AB},
    "free": {**AB, "x": 0.1, "z_rate": 2.0, "orientation": (1.0, 0.0, 0.0, 0.0)},
    "slide": {**AB, "y": 0.1},
    "planar_slide": {**AB, "x": 0.1, "y_rate": 2.0},
    "rigid_body": {
        "mass": "k", "inertia": (1.0, 1.1, 1.2, 0.01, 0.02, 0.03), "centre": (0.1, 0.0, 0.0),
        "inertia_about": (0.0, 0.0, 0.1),
        "position": (1.0, 2.0, 3.0), "orientation": (1.0, 0.0, 0.0, 0.0), "velocity": (0.1, 0.2, 0.3),
        "frames": {"p": (0.1, 0.2, 0.3), "q": ct.Frame((0, "k", 0), axis=(1, 0, 0), angle=0.2)},
    },
    "point_mass": {"mass": 2.0, "position": (0.0, 0.0, 1.0), "velocity": (1.0, 0.0, 0.0)},
    "beam": {
        "length": "k", "section": ct.section.rectangle(0.01, 0.02), "material": ct.STEEL, "elements": 2,
        "modes": (1, 3), "shapes": "clamped", "attached": "end", "damping": 0.01, "stiffening": "none", "rotary": False,
        "roll": 0.1, "deforms": ("xy", "xz"), "frames": {"p": 0.5, "q": "k/4", "G": "centre_of_mass"},
        "velocity": (1.0, 0.0, 0.0), "masses": {"tip": {"at": "end", "mass": 2.0}}, "elastic": {"mode1": 0.01},
    },
    "flexible_body": {
        "mesh": ct.mesh.grid(size=(1, 1), cells=(2, 2)), "plate": ct.Plate(0.01, ct.STEEL), "attached": ("p", "q"),
        "frames": {"p": (0.0, 0.5, 0.0), "q": (1.0, 1.0, 0.0)}, "rigid": {"p": "left"}, "modes": 2, "rotary": False,
    },
    "constant_distance": {**AB, "length": 0.5},
    "point_on_line": {**AB, "axis": (0.0, 1.0, 0.0)},
    "point_on_plane": {**AB, "normal": (1.0, 0.0, 0.0), "offset": 0.1},
    "parallel_axes": {**AB, "axis": (1.0, 0.0, 0.0), "axis_b": (0.0, 1.0, 0.0)},
    "rolling_disc": {**AB, "radius": 0.2, "axis": (1.0, 0.0, 0.0)},
    "gear": {"joint_a": "J", "joint_b": "K", "ratio": -2.0, "coordinate_b": "angle"},
    "rack_and_pinion": {"pinion": "J", "rack": "K", "radius": 0.1, "offset": 0.2},
    "coupled": {"factors": {"J": 1.0, "K.angle": "-2*k"}, "offset": 0.1},
    "drive": {"on": "J", "angle": "2*t"},
    "speed_drive": {"on": "J", "speed": "sin(t)", "coordinate": "angle"},
    "frame_drive": {**AB, "x": "sin(t)", "z": 0.1},
    "spring": {**AB, "length": 0.3, "table": ((0.0, 0.0), (0.1, 5.0)), "damping": 2.0},
    "damper": {**AB, "law": "50*v + k*v*abs(v)"},
    "joint_spring": {"on": "J", "energy": "k*x**4", "rest": 0.1, "preload": 2.0},
    "joint_damper": {"on": "J", "damping": 0.1},
    "bushing": {**AB, "stiffness": (1.0, 2.0, 3.0, 4.0, 5.0, "k"), "damping": UNIT},
    "point_force": {"frame_b": "b", "force": (0.0, "10*sin(t)", "-5*b.velocity.z"), "axes": "body"},
    "point_torque": {"frame_b": "b", "torque": (1.0, 0.0, 0.0)},
    "force_between": {**AB, "force": "k*t"},
    "joint_actuator": {"on": "J", "effort": "-5*J.angle"},
    "joint_friction": {"on": "J", "level": 0.1, "static": 1.5, "stribeck": 0.1, "viscous": 0.01},
    "bump_stop": {"on": "J", "stiffness": 1e4, "upper": 1.0, "damping": 0.5},
    "varying_point": {"mass": "2 - t", "exhaust": (0.0, 0.0, -5.0)},
    "varying_mass": {
        "mass": "2 - t/9", "inertia": ("1 - t/9", 1.0, 1.0), "outlet": (-0.5, 0.0, 0.0), "exhaust": (-5.0, 0.0, 0.0),
        "frames": {"p": (1.0, 0.0, 0.0)},
    },
}  # fmt: skip


MECHANICAL = sorted(kind for kind, cls in KINDS.items() if cls.mechanical)
GIVEN = [(kind, SAMPLES[kind]) for kind in SAMPLES] + [(kind, made(kind)) for kind in MECHANICAL]
"""Rich samples of many kinds, and one of every kind made from its class."""


@pytest.mark.parametrize(("kind", "given"), GIVEN, ids=[kind for kind, _ in GIVEN])
def test_python_to_file_to_python_is_lossless(kind, given, tmp_path):
    """The part itself, in a model that has the frames and joints it needs."""
    m = ct.Model("one of each", gravity=(0, "-k", 0), planar=False, parameters={"k": 2.0})
    m.add(ct.RigidBody("a", ct.sphere(radius=0.1, mass=1), frames={"p": (0.1, 0, 0)}))
    m.add(ct.RigidBody("b", ct.sphere(radius=0.1, mass=1)))
    m.add(ct.Revolute("J", "ground", "a"))
    m.add(ct.Revolute("K", "a.p", "b"))
    part = m.add(KINDS[kind].from_data("part", given))
    again = ct.load(m.save(tmp_path / "m.yaml"))
    assert again.components["part"] == part
    assert again.components["part"].expressions == part.expressions
    assert again.components == m.components
    assert again.to_data() == m.to_data()


def test_numbers_of_numpy_are_written_as_numbers(tmp_path):
    m = ct.Model("arrays")
    frames = {
        "p": np.array([0.1, 0.2, 0.3]),
        "q": ct.Frame(np.array([1.0, 0, 0]), axis=(0, 0, 1), angle=np.float64(0.5)),
    }
    m.add(ct.RigidBody("b", mass=np.float64(2.0), inertia=(1.0, np.float64(1.0), 1.0), frames=frames))
    assert ct.load(m.save(tmp_path / "m.yaml")).component_values() == m.component_values()


def test_on_needs_no_quotes(read):
    """YAML 1.1 reads a bare ``on`` as a truth value; as a key it is a name."""
    text = "components:\n  b: {kind: rigid_body, shape: {sphere: {radius: 1, mass: 1}}}\n"
    text += "  J: {kind: revolute, frame_a: ground, frame_b: b}\n  m: {kind: drive, on: J, angle: 3*t}\n"
    assert read(text).model.components["m"].on == "J"


HEAD = "components:\n  b: {kind: rigid_body, shape: {sphere: {radius: 1, mass: 1}}, frames: {p: [1, 0, 0]}}\n"
MISTAKES = {
    "unknown frame of a body": (
        f"{HEAD}  J: {{kind: revolute, frame_a: ground, frame_b: b.q}}\n",
        "m.yaml:3:49: J: the body 'b' has no frame 'q'. Expected one of b.p. Did you mean 'b.p'?",
    ),
    "unknown frame": (
        f"{HEAD}  J: {{kind: revolute, frame_a: ground, frame_b: c}}\n",
        "m.yaml:3:49: J: there is no frame 'c'.",
    ),
    "unknown joint": (
        f"{HEAD}  J: {{kind: revolute, frame_a: ground, frame_b: b}}\n  m: {{kind: drive, on: K, angle: t}}\n",
        "m.yaml:4:24: m: there is no joint 'K'. Expected one of J.",
    ),
    "wrong coordinate": (
        f"{HEAD}  J: {{kind: revolute, frame_a: ground, frame_b: b}}\n  m: {{kind: drive, on: J, displacement: t}}\n",
        "m.yaml:4:3: m: 'J.angle' is a rotation, and displacement is given. Expected angle=...",
    ),
    "no frame given": (
        f"{HEAD}  J: {{kind: revolute, frame_a: ground}}\n",
        "m.yaml:3:3: J: frame_b not given.",
    ),
    "vector too short": (
        f"{HEAD}  J:\n    kind: revolute\n    frame_a: ground\n    frame_b: b\n    axis: [0, 1]\n",
        "m.yaml:7:11: J.axis: found (0, 1). Expected 3 numbers (x, y, z), or one of x, y, z, -x, -y, -z.",
    ),
    "frame too short": (
        "components:\n  b:\n    kind: rigid_body\n    mass: 1\n    inertia: [1, 1, 1]\n    frames: {p: [1, 0]}\n",
        "m.yaml:6:17: b.p: found (1, 0). Expected 3 numbers in m (x, y, z).",
    ),
    "frames as a list": (
        "components:\n  b:\n    kind: rigid_body\n    mass: 1\n    frames: [1, 0, 0]\n",
        "m.yaml:5:13: b.frames: found (1, 0, 0). Expected frames by name",
    ),
    "position of a frame is a number": (
        "components:\n  b:\n    kind: rigid_body\n    mass: 1\n    frames:\n      p: {position: 5}\n",
        "m.yaml:6:10: b.p: found 5. Expected frames by name",
    ),
    "unknown entry of a frame": (
        "components:\n  b:\n    kind: rigid_body\n    mass: 1\n    frames:\n      p: {place: [1, 0, 0]}\n",
        "m.yaml:6:11: b.p: a frame has no 'place'. Expected position, axis and angle.",
    ),
    "unknown shape": (
        "components:\n  b: {kind: rigid_body, shape: {rodd: {length: 1, mass: 1}}}\n",
        "m.yaml:2:33: b.shape: there is no shape 'rodd'. Expected one of rod, box, cylinder, sphere, tube. "
        "Did you mean 'rod'?",
    ),
    "shape without values": (
        "components:\n  b: {kind: rigid_body, shape: rod}\n",
        "m.yaml:2:32: b.shape: found 'rod'. Expected a shape with its values, such as rod(length=1, mass=2)"
        " or {rod: {length: 1, mass: 2}}.",
    ),
    "unknown value of a shape": (
        "components:\n  b: {kind: rigid_body, shape: {rod: {lenght: 1, mass: 1}}}\n",
        "m.yaml:2:39: b.shape: a rod has no 'lenght'. Expected some of length, mass, axis, radius. Did you "
        "mean 'length'?",
    ),
    "missing value of a shape": (
        "components:\n  b: {kind: rigid_body, shape: {rod: {length: 1}}}\n",
        "m.yaml:2:32: b.shape: mass of the rod not given. Expected length, mass, axis, radius.",
    ),
    "list where a shape wants a number": (
        "components:\n  b:\n    kind: rigid_body\n    shape:\n      rod:\n        length: [1]\n        mass: 1\n",
        "m.yaml:6:17: b.length: found (1,). Expected a positive number in m, or an expression of parameters.",
    ),
    "shape beside a mass": (
        "components:\n  b: {kind: rigid_body, mass: 1, shape: {rod: {length: 1, mass: 1}}}\n",
        "m.yaml:2:3: b: mass is given beside a shape that has one.",
    ),
    "missing mass": (
        "components:\n  b: {kind: rigid_body, inertia: [1, 1, 1]}\n",
        "m.yaml:2:3: b.mass: no value is given.",
    ),
    "impossible inertia": (
        "components:\n  b:\n    kind: rigid_body\n    mass: 1\n    inertia: [1, 1, 3]\n",
        "m.yaml:5:14: b.inertia: the principal moments of inertia 1, 1, 3 kg m^2 break the triangle inequality.",
    ),
    "truth value in a vector": (
        f"{HEAD}  J: {{kind: revolute, frame_a: ground, frame_b: b, axis: [yes, 0, 0]}}\n",
        "m.yaml:3:59: J.axis.x: found True.",
    ),
    "gravity of two numbers": (
        f"gravity: [0, -9.81]\n{HEAD}",
        "m.yaml:1:10: gravity is [0, -9.81]. Expected three numbers in m/s^2, such as (0, 0, -9.81).",
    ),
    "gravity with an unknown parameter": (f"name: x\ngravity: [0, -gg, 0]\n{HEAD}", "m.yaml:2:15: gravity.y: "),
    "planar is no truth value": (f"name: x\nplanar: 2\n{HEAD}", "m.yaml:2:9: planar is 2. Expected true or false."),
    "three trees": (
        f"{HEAD}run: {{tree: [joint, joint, joint]}}\n",
        "m.yaml:3:13: tree is a list of 3. Expected a preset such as joint, or two for translation and rotation.",
    ),
    "a node of a structure among bodies": (
        f"{HEAD}  N: {{kind: nodal.node, position: [0, 0, 1], mass: 1}}\n",
        "m.yaml:2:3: b: 'b' is rigid_body, and other parts belong to a structure in nodal coordinates.",
    ),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_gets_one_message_with_its_line(read, text, message):
    with pytest.raises(ct.FileError) as caught:
        read(text)
    assert str(caught.value).startswith(message)
    assert str(caught.value).count("m.yaml") == 1
