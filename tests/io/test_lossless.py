"""Python -> file -> Python gives the same model for every component; what a file cannot hold is refused by name."""

from __future__ import annotations

import dataclasses
import json
import math
import struct
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cotree as ct
import cotree.bond as b
from _cases import random_cases
from _samples import AB, BOND, GRID, masked, samples
from cotree.errors import CotreeError, ModelError
from cotree.io import read_model, write_model
from cotree.io.model_file import _component, _json, _plain, _yaml, model_data
from cotree.io.yaml_source import Source
from cotree.model import KINDS
from cotree.terminal.bodies import PointMass

SAMPLES = samples()


def test_every_kind_has_a_sample():
    assert {sample.kind for sample in SAMPLES} == set(KINDS) - {"control.function"}  # a Python function


@pytest.mark.parametrize("write", [_yaml, _json])
def test_every_component_comes_back_as_it_was(write):
    """Field by field, through the text of a file."""
    for sample in SAMPLES:
        data = Source(write({"x": _plain(sample.to_data())}), "m.yaml").data["x"]
        again = _component(sample.name, data)
        assert type(again) is type(sample)
        for f in dataclasses.fields(sample):
            assert getattr(again, f.name) == getattr(sample, f.name), f"{sample.kind}.{f.name}"
        assert again.expressions == sample.expressions, sample.kind


@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_whole_models_come_back_as_they_were(tmp_path, ending):
    everything = {
        "several datums": ct.Model(
            "two parts", datum=["g", "h"], parameters={"a": 2.0, "b": "a*3", "c": "1e5", "d": "5 mm"}
        ),
        "weight by default": ct.Model("1e5"),
        "no weight": ct.Model("on: off # no", gravity=(0, 0, 0), planar=True),
        "weight by parameters": ct.Model(
            "Größe\n2", gravity=("-g/2", np.float64(0.1) + 0.2, "1 m/s^2"), parameters={"g": 9.81}
        ),
    }
    for name, model in everything.items():
        if name == "several datums":
            model.add(ct.VoltageSource("V", ("x", "g"), voltage="b*sin(t)"))
            model.add(ct.Resistor("R", ("x", "g"), resistance="c"))
            model.add(ct.Transformer("T", ("x", "g"), ("1e5", "h"), ratio=1 / 3))
        else:
            model.add(ct.PointMass("m", mass=1 / 3))
            at = model.ground.at(0.1 + 0.2, "1 mm", 0, axis=(0, 0, 1), angle=math.pi / 7)
            model.add(ct.Spring("s", at, "m", length=0, stiffness=1e-300))
        run = {"t_end": "2 s", "start": "steady", "plot": [["t"]], "points": 3, "rtol": 1e-9}
        file = read_model(write_model(model, tmp_path / f"m.{ending}", run), ct.Model)
        again = file.model
        for attribute in ("name", "datums", "planar", "gravity", "parameters", "components"):
            assert getattr(again, attribute) == getattr(model, attribute), f"{name}: {attribute}"
        assert list(again.components) == list(model.components)
        assert (file.run.t_end, file.run.start, file.run.plot, file.run.points) == (2.0, "steady", [["t"]], 3)


def test_a_bond_graph_of_a_mechanism_is_read_where_nothing_was_converted_before(tmp_path):
    model = ct.Model("pendulum", gravity=(0, -9.81, 0))
    model.add(ct.RigidBody("arm", ct.rod(length=1, mass=2), frames={"O": (-0.5, 0, 0)}))
    model.add(ct.Revolute("O", "ground", "arm.O", angle=0.1))
    graph = model.to_bond_graph()
    again = ct.load(graph.save(tmp_path / "m.yaml"))
    assert again.components == graph.components
    assert "bond.of_body" in {part.kind for part in again.components.values()}


@random_cases(20, 60)
@given(
    numbers=st.lists(st.floats(-1e100, 1e100), min_size=6, max_size=6),
    text=st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
)
def test_every_float_and_text_comes_back_bit_by_bit(numbers, text):
    body = PointMass("m", mass=1.0, position=numbers[:3], velocity=numbers[3:])
    for write in (_yaml, _json):
        data = Source(write({"name": text, "m": _plain(body.to_data())}), "m.yaml").data
        again = _component("m", data["m"])
        for field in ("position", "velocity"):
            values = (getattr(each, field) or (0.0,) * 3 for each in (again, body))
            one, two = (struct.pack("3d", *each) for each in values)
            assert one == two
        assert data["name"] == text


# -- what a file cannot hold


def law(*arguments: Any) -> Any:
    """A Python function that nobody else has."""
    return arguments


def with_function(sample: Any, field: str) -> tuple[Any, str]:
    """The component with a Python function in a field, or nothing and what it was told."""
    try:
        return dataclasses.replace(sample, **{field: law}), ""
    except CotreeError as error:
        return None, str(error)


def one_of_each() -> list[Any]:
    return list({sample.kind: sample for sample in SAMPLES}.values())


@pytest.mark.parametrize("sample", one_of_each(), ids=lambda sample: sample.kind)
def test_a_python_function_is_refused_by_name_wherever_it_is_given(sample, tmp_path):
    """By the component itself, or before anything is written."""
    for f in dataclasses.fields(sample):
        if f.name == "name":
            continue
        part, refusal = with_function(sample, f.name)
        if part is None:
            assert sample.name in refusal or type(sample).__name__ in refusal, f.name
            continue
        model = ct.Model()
        model.components[part.name] = part
        with pytest.raises(ModelError, match="file cannot hold") as refused:
            write_model(model, tmp_path / "m.yaml")
        assert part.name in refused.value.where, f.name
        assert f.name in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_functions_are_taken_by_bond_graphs_so_that_the_refusal_is_not_idle():
    for part in (b.C("c", effort=law), b.I("i", flow=law), b.R("r", effort=law), b.MSe("s", effort=law)):
        model = ct.Model()
        model.add(part)
        with pytest.raises(ModelError, match="is a Python function, which a file cannot hold"):
            model_data(model)


@pytest.fixture
def winch():
    """A component of a user, known as long as the test runs."""

    class Winch(PointMass):
        kind: ClassVar[str] = "mine.winch"

    yield Winch
    del KINDS["mine.winch"]


class Own(b.R):
    """A part of a user that goes by the kind of another."""


def test_a_class_of_the_user_is_refused_by_name_and_nothing_is_lost(tmp_path, winch):
    path = tmp_path / "m.yaml"
    path.write_text("kept")
    inner = b.Graph("inner", {"a": "j"})
    inner.add(b.Junction1("j"))
    inner.add(Own("r", resistance=1))
    wrapped = KINDS["bond.of_body"]("w", component=winch("w", mass=1))
    for part, where in (
        (winch("w", mass=1), "w"), (Own("r", resistance=1), "r"), (b.Mask("M", graph=inner), "M.r"),
        (wrapped, "w.component"),
    ):  # fmt: skip
        model = ct.Model()
        model.add(part)
        with pytest.raises(ModelError, match="a class of your own, which a file cannot hold") as refused:
            write_model(model, path)
        assert refused.value.where == where
        assert path.read_text() == "kept"


def test_what_was_changed_behind_its_recipe_is_written_as_it_is(tmp_path):
    """A copy of a mesh, a section or a laminate with other numbers is not what its builder would make."""
    moved = dataclasses.replace(GRID, nodes=GRID.nodes * np.array([2.0, 1, 1]))
    assert "grid" in GRID.to_data()
    assert ct.mesh.mesh_from_data(moved.to_data(), "x") == moved
    section = dataclasses.replace(ct.section.rectangle(0.01, 0.02), area=1.0)
    beam = ct.Beam("b", length=1, section=section, material=ct.STEEL, elements=1, modes=0)
    again = _component("b", _plain(beam.to_data()))
    assert again == beam
    assert again.section.area == 1.0
    thin = ct.Orthotropic(0.001, 1e11, 1e10, 0.3, 5e9, 1600)
    laminate = dataclasses.replace(ct.layered([thin, thin]), viscosity=0.1)
    model = ct.Model()
    model.add(ct.FlexibleBody("p", mesh=GRID, plate=laminate, attached="mean", shapes="free", modes=1))
    with pytest.raises(ModelError, match="changed after it was made of layers"):
        write_model(model, tmp_path / "m.yaml")


def test_masks_and_their_bonds_come_back_as_they_were(tmp_path):
    model = ct.Model("masked", parameters={"a": 2.0})
    for part in (b.Se("S", effort="a"), b.Junction1("j0"), *masked()):
        model.add(part)
    model.connect("S", "j0")
    model.connect("j0", "M.a", name="named", width=1)
    again = ct.load(model.save(tmp_path / "m.yaml"))
    assert again.components == model.components
    assert again.components["M"].graph.components["one"].graph == model.components["M"].graph.components["one"].graph


def test_numbers_of_numpy_are_plain_in_the_file():
    for sample in SAMPLES:
        text = json.dumps(_plain(sample.to_data()))
        assert json.loads(text) == _plain(sample.to_data()), sample.kind
    assert any(isinstance(part, b.TF) for part in BOND)
    spring = ct.Spring("s", **AB, length=np.float32(0.1), stiffness=np.int16(3))
    assert spring.to_data()["stiffness"] == 3
