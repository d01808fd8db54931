"""Models put together from several files: names follow, and nothing is read from outside of the model's folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.io import assembly, read_model
from cotree.io.renaming import Renaming, reference_keys
from cotree.model import KINDS

LEG = """\
name: leg
parameters: {length: 300 mm, k: 5 N m/rad, x: 2 kg}
components:
  thigh:
    kind: rigid_body
    shape: {rod: {length: length, mass: 2*x, axis: x}}
    frames: {A: [-length/2, 0, 0], B: [length/2, 0, 0]}
  hip: {kind: revolute, frame_a: chassis.H, frame_b: thigh.A, axis: [0, 1, 0], angle: 10 deg}
  spring: {kind: joint_spring, on: hip, law: "-k*x - 0.1*v"}
  motor: {kind: joint_actuator, on: hip, effort: "-k*hip.angle_rate/10"}
run: {t_end: 99}
"""
ROBOT = """\
gravity: [0, 0, -9.81]
parameters: {L: 0.7}
include:
  - {file: parts/leg.yaml, as: left, with: {length: 2*L}}
  - {file: parts/leg.yaml, as: right, join: {chassis.H: chassis.R}}
components:
  chassis: {kind: rigid_body, shape: {box: {size: [1, 0.4, 0.1], mass: 20}}, frames: {H: [0.1, 0, 0], R: [-0.1, 0, 0]}}
  seat: {kind: weld, frame_a: ground, frame_b: chassis}
  both: {kind: coupled, factors: {left_hip: 1, right_hip: -L}}
run: {t_end: 1}
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def reader(top, **others):
        for name, text in others.items():
            path = Path(name.replace("__", "/") + ".yaml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        Path("top.yaml").write_text(top)
        return read_model(Path("top.yaml"), ct.Model)

    return reader


def test_names_and_references_follow_the_prefix(files):
    file = files(ROBOT, parts__leg=LEG)
    data = {name: part.to_data() for name, part in file.model.components.items()}
    assert list(data) == [
        *(f"{side}_{name}" for side in ("left", "right") for name in ("thigh", "hip", "spring", "motor")),
        "chassis", "seat", "both",
    ]  # fmt: skip
    assert data["left_hip"]["frame_a"] == "chassis.H"
    assert data["right_hip"]["frame_a"] == "chassis.R"
    assert data["left_hip"]["frame_b"] == "left_thigh.A"
    rod = data["left_thigh"]["shape"]["rod"]
    assert (rod["length"], rod["mass"], rod["axis"]) == ("left_length", "2*left_x", "x")
    assert data["left_spring"]["law"] == "-left_k*x - 0.1*v"  # x and v are the law's own
    assert data["right_motor"]["effort"] == "-right_k*right_hip.angle_rate/10"
    values = file.model.parameter_values()
    assert (values["left_length"], values["right_length"]) == (1.4, 0.3)
    assert file.run.t_end == 1


def test_an_included_model_moves_as_the_one_written_out(files):
    whole = files(ROBOT, parts__leg=LEG).model
    again = ct.load(whole.save("whole.yaml"))
    one, two = (model.simulate(0.2, rtol=1e-9) for model in (whole, again))
    assert np.array_equal(one["left_hip.angle"], two["left_hip.angle"])
    assert one["left_hip.angle"][0] != one["left_hip.angle"][-1]


STAGE = """\
parameters: {R: 1 kohm}
components:
  r: {kind: resistor, nodes: [in, out], resistance: R}
  c: {kind: capacitor, nodes: [out, ground], capacitance: 1 uF}
"""


def test_stages_of_a_network_are_joined_by_their_nodes(files):
    model = files(
        'include: {file: stage.yaml, as: "s{i}", for: {i: 1..3}, join: {in: "n{i}", out: "n{i+1}"}, '
        'with: {R: 1000*i}}\ncomponents: {V: {kind: voltage_source, nodes: [n1, ground], voltage: 12}}\n',
        stage=STAGE,
    ).model  # fmt: skip
    assert [c.node_pairs()[0] for name, c in model.components.items() if name.endswith("_r")] == [
        ("n1", "n2"), ("n2", "n3"), ("n3", "n4"),
    ]  # fmt: skip
    assert model.component_values()["s3_r.resistance"] == 3000
    alone = files("include: {file: stage.yaml, as: a}\n", stage=STAGE).model
    assert alone.components["a_r"].node_pairs() == (("a_in", "a_out"),)
    assert alone.components["a_c"].node_pairs() == (("a_out", "ground"),)


BOND = """\
masks:
  m: {ports: {a: j}, parameters: {K: null}, components: {j: {kind: 1}, R: {kind: R, resistance: K}}, bonds: [j -> R]}
parameters: {k: 3}
components:
  j: {kind: 1}
  M: {kind: mask, graph: m, values_of: {K: 2*k}}
  s: {kind: sensor, of: b1, measures: flow}
  J: {kind: I, inertia: k}
  T: {kind: MR, resistance: 1 + s.value**2}
  C: {kind: C, effort: k*q}
bonds: [j -> M.a, j -> J, j -> T, j -> C]
"""


def test_bond_graphs_with_masks_sensors_and_numbered_bonds(files):
    model = files(
        "include: [{file: g.yaml, as: a}, {file: g.yaml, as: b, with: {k: 5}}]\n"
        "components: {V: {kind: Se, effort: 5}, n: {kind: 0}}\nbonds: [V -> n, n -> a_j, n -> b_j]\n",
        g=BOND,
    ).model
    data = {name: part.to_data() for name, part in model.components.items()}
    assert data["b_M"]["graph"]["name"] == "b_m"
    assert data["b_M"]["values_of"] == {"K": "2*b_k"}
    assert data["b_s"]["of"] == "b_b1"
    assert data["b_T"]["resistance"] == "1 + b_s.value**2"
    assert data["b_C"]["effort"] == "b_k*q"
    assert (data["b_b1"]["tail"], data["b_b1"]["head"]) == ("b_j", "b_M.a")
    assert model.simulate(0.1)["a_J.flow"][-1] > model.simulate(0.1)["b_J.flow"][-1]


def test_every_kind_tells_what_it_refers_to():
    """A field that holds names is a reference, an option, or a name of its own; none is forgotten.

    What is neither listed here nor one of some words says in its metadata whether it ``refers`` to something.
    """
    own = {
        "fixed", "coordinate", "coordinate_a", "coordinate_b", "pinion_coordinate", "rack_coordinate", "frames",
        "shapes", "stiffening", "masses", "elastic", "elastic_rate", "deforms", "rigid", "held", "law", "energy",
        "domain", "axes", "by", "values_of", "measures", "unit", "action", "distribution", "mass",
        "beyond", "interpolation", "inductance_law",
    }  # fmt: skip
    for kind, cls in KINDS.items():
        for f in dataclasses.fields(cls):
            plain = "quantity" not in f.metadata and "vector" not in f.metadata and f.name != "name"
            if plain and ("str" in str(f.type) or "Literal" in str(f.type)) and cls.__module__.startswith("cotree"):
                words = "Literal" in str(f.type) or "enum" in f.metadata.get("schema", ())
                other = words or f.name in own or f.metadata.get("refers") is False
                assert (f.name in reference_keys(cls)) != other, (kind, f.name)


def test_what_the_file_does_not_hold_keeps_its_name():
    renaming = Renaming("a", {}, {"O", "arm"}, {"k"}, {}, {"ground"})
    assert renaming.reference(["arm.O", "ground", "base.H", "O"]) == ["a_arm.O", "ground", "base.H", "a_O"]
    assert renaming.formula("k*sin(O.angle) + m*k2 + 1e5 - base.x") == "a_k*sin(a_O.angle) + m*k2 + 1e5 - base.x"
    assert renaming.formula("5 kN") == "5 kN"


INSIDE = {"good": STAGE, "bad": "components:\n  R: {kind: resistr, nodes: [a, b]}\n", "heavy": "gravity: [0, 0, -1]\n"}
MISTAKES = {
    "include: /etc/passwd": "top.yaml:1:10: the path '/etc/passwd' is not used. Expected a path from this",
    "include: ../up.yaml": "top.yaml:1:10: '../up.yaml' lies outside of the folder of the model file.",
    "include: link.yaml": "top.yaml:1:10: 'link.yaml' lies outside of the folder of the model file.",
    "include: goood.yaml": "top.yaml:1:10: there is no file 'goood.yaml'. Did you mean 'good.yaml'?",
    "include: notes.txt": "top.yaml:1:10: 'notes.txt' is no model file by its name.",
    "include: top.yaml": "top.yaml:1:10: a file includes itself: top.yaml -> top.yaml.",
    "include: {file: good.yaml, wth: {}}": "top.yaml:1:28: unknown entry 'wth'.",
    "include: {file: good.yaml, with: {Rr: 2}}": "top.yaml:1:35: good.yaml has no parameter 'Rr'. Expected one of R.",
    "include: {file: good.yaml, as: 3x}": "top.yaml:1:32: as is '3x'. Expected a name",
    "include: {file: good.yaml, with: [1]}": "top.yaml:1:34: with is a list of 1. Expected name: value entries.",
    "include: [[a]]": "top.yaml:1:11: found a list of 1. Expected a file",
    "include: [good.yaml, good.yaml]": "top.yaml:1:22: good.yaml is included twice, and each time it holds 'R'.",
    "include: bad.yaml": "bad.yaml:2:13: R: there is no kind of component 'resistr'.",
    "include: {file: bad.yaml, as: x}": "bad.yaml:2:13: x_R: there is no kind of component 'resistr'.",
    "include: heavy.yaml": "heavy.yaml:1:10: gravity is [0, 0, -1] in this included file, and top.yaml says nothing",
    "include: good.yaml\ncomponents: {r: {}}": "top.yaml:2:14: the component 'r' is also in good.yaml:3:3.",
    "include: good.yaml\nparameters: {R: 1}": "top.yaml:2:14: the parameter 'R' is also in good.yaml:1:14.",
}  # fmt: skip


@pytest.mark.parametrize("top", MISTAKES)
def test_mistakes_are_told_with_the_file_they_are_in(files, tmp_path, top):
    (tmp_path.parent / "up.yaml").write_text("components: {}\n")
    (tmp_path / "link.yaml").symlink_to(tmp_path.parent / "up.yaml")
    with pytest.raises(ct.FileError) as told:
        files(top + "\n", **INSIDE)
    assert str(told.value).startswith(MISTAKES[top])
    assert told.value.__notes__


def test_depth_number_and_size_are_bounded(files, monkeypatch):
    deep = {f"f{k}": f"include: f{k + 1}.yaml\n" for k in range(12)} | {"f12": STAGE}
    with pytest.raises(ct.FileError, match="more than 8 files include each other"):
        files("include: f0.yaml\n", **deep)
    with pytest.raises(ct.FileError, match="too much is included"):
        files('include: {file: s.yaml, as: "s{i}", for: {i: 1..1001}}\n', s=STAGE)
    monkeypatch.setattr(assembly, "MAX_BYTES", 100)
    with pytest.raises(ct.FileError, match="too much is included"):
        files("include: s.yaml\n", s=STAGE)


def test_plain_data_cannot_include():
    with pytest.raises(ct.FileError, match="is named by a model that is in no file"):
        ct.Model.from_mapping({"include": "a.yaml", "components": {}})


def test_a_mesh_is_found_beside_the_file_that_names_it(files, tmp_path):
    meshio = pytest.importorskip("meshio")
    grid = ct.mesh.grid(size=(1, 1), cells=(2, 2))
    (tmp_path / "parts").mkdir()
    meshio.Mesh(grid.nodes, [("triangle", grid.triangles)]).write(tmp_path / "parts" / "p.vtk")
    plate = "{thickness: 10 mm, material: steel}"
    text = f"components: {{p: {{kind: flexible_body, mesh: {{file: p.vtk}}, plate: {plate}, frames: {{o: [0, 0, 0]}}"
    file = files("include: {file: parts/p.yaml, as: a}\n", parts__p=text + ", attached: o, modes: 1}}\n")
    assert len(file.model.components["a_p"].mesh.triangles) == 8
