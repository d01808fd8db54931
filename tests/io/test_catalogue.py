"""The lists of `cotree list`: complete, and what they say is what the code does."""

import pytest

from cotree.io import catalogue
from cotree.maths.functions import ARITY, CONSTANTS, NUMERIC
from cotree.model import KINDS, Expression, find_kind
from cotree.model.units import parse_unit
from cotree.solve.methods import INTEGRATORS


def test_every_kind_is_there_with_all_that_its_fields_need():
    entries = catalogue.catalogue()
    assert [entry.kind for entry in entries] == sorted(KINDS)
    for entry in entries:
        assert find_kind(entry.kind, "x").__name__ == entry.path.rpartition(".")[2]
        assert entry.summary
        assert "`" not in entry.summary
        for field in entry.fields:
            assert field.meaning, f"{entry.kind}.{field.name}"
            assert field.takes, f"{entry.kind}.{field.name}"
            assert "anything" not in field.takes, f"{entry.kind}.{field.name}"


def test_an_entry_says_what_the_class_says():
    (entry,) = catalogue.catalogue("resistor")
    assert (entry.kind, entry.word, entry.room) == ("resistor", "resistor", "electrical")
    assert entry.path == "cotree.Resistor"
    assert entry.results == ("voltage", "current", "power")
    nodes, resistance = entry.fields
    assert (nodes.name, nodes.takes, nodes.required) == ("nodes", "2 names", True)
    assert (resistance.unit, resistance.range, resistance.symbol) == ("ohm", "positive", "R")
    (joint,) = catalogue.catalogue("revolute")
    assert joint.results == ("angle", "angle_rate")
    assert {field.name: field.takes for field in joint.fields}["axis"] == "3 numbers or one of x, y, z, -x, -y, -z"


@pytest.mark.parametrize(
    ("pattern", "kinds"),
    [
        ("joints.sc*", {"screw"}),
        ("spring", {"spring", "rotational.spring", "translational.spring", "nodal.node_spring"}),
        ("*_spring", {"joint_spring", "nodal.node_spring", "bond.point_spring"}),
        ("SCREW", {"screw"}),
        ("no such thing", set()),
    ],
)
def test_patterns_find_kinds(pattern, kinds):
    found = {entry.kind for entry in catalogue.catalogue(pattern)}
    assert kinds <= found
    assert bool(found) == bool(kinds)


def test_functions_integrators_and_units_are_all_that_there_are():
    names = {item.name.partition("(")[0] for item in catalogue.functions()}
    assert names == {*ARITY, *CONSTANTS, "t"}
    for item in catalogue.functions():
        shown = item.name.replace(", ...", "")
        assert Expression(shown).names <= {"x", "y", "a", "b", "t", "width", "period", "share", "x0", "y0", "x1", "y1"}
        name, _, arguments = shown.partition("(")
        least, most = ARITY.get(name, (0, 0))
        assert name not in NUMERIC or least == arguments.count(",") + 1
        assert (most > least) is item.name.endswith("...)")
    assert [item.name for item in catalogue.integrators()] == ["auto", *INTEGRATORS]
    units = {item.name: item.meaning for item in catalogue.units()}
    assert {"m", "kg", "s", "N", "Pa", "ohm", "deg", "rpm", "degC"} <= units.keys()
    assert not {"mm", "kN", "GPa"} & units.keys()
    for name in units:
        assert parse_unit(name).factor > 0
    assert units["bar"].startswith("100000 ")
    assert units["in"] == "0.0254 m"
