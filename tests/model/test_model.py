"""The model: names, parameters, plain data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import cotree
from cotree import Capacitor, MutualInductance, Resistor, VoltageSource
from cotree.errors import ExpressionError, ModelError
from cotree.model import Component


@pytest.mark.parametrize("name", ["", "1R", "R 1", "R.1", "R/1", "-R", "a\n", None, 3, "R\0"])
def test_names_of_components(name: object) -> None:
    with pytest.raises(ModelError, match="name"):
        Resistor(name, ("a", "b"), resistance=1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("node", ["", "a b", ".a", "a.", "a..b", None, 1.5, "a/b", "a\n"])
def test_names_of_nodes(node: object) -> None:
    with pytest.raises(ModelError, match="node"):
        Resistor("R", (node, "b"), resistance=1.0)  # type: ignore[arg-type]


def test_names_that_are_fine() -> None:
    for name in ("R1", "R_load", "R-1", "C+", "Ω", "Rä"):
        assert Resistor(name, ("1", "n.1-a+"), resistance=1.0).name == name


@pytest.mark.parametrize("value", [None, True, [1.0], {"a": 1}, 1j, object(), np.array([1.0, 2.0])])
def test_values_that_are_no_numbers(value: object) -> None:
    with pytest.raises(ModelError, match=r"R\.resistance") as caught:
        Resistor("R", ("a", "ground"), resistance=value)  # type: ignore[arg-type]
    assert "ohm" in str(caught.value)


def checked(part: Callable[[], Component]) -> None:
    m = cotree.Model("m")
    m.add(part())
    m.check()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite(value: float) -> None:
    for part, place in (
        (lambda: Resistor("R", ("a", "ground"), resistance=value), r"R\.resistance"),
        (lambda: VoltageSource("V", ("a", "ground"), voltage=value), r"V\.voltage"),
    ):
        with pytest.raises(ModelError, match=place):
            checked(part)


def test_numpy_numbers_are_numbers() -> None:
    for value in (np.float64(2.5), np.int32(2), np.float32(0.5)):
        m = cotree.Model("m")
        m.add(Resistor("R", ("a", "ground"), resistance=value))
        assert m.component_values()["R.resistance"] == float(value)


def test_parameters_of_parameters() -> None:
    m = cotree.Model("m", parameters={"c": "a*b", "a": 2.0, "b": "a + 1"})
    assert m.parameter_values() == {"a": 2.0, "b": 3.0, "c": 6.0}
    assert m.parameter_values({"b": 10.0})["c"] == 20.0
    with pytest.raises(ModelError, match="twice"):
        m.parameter("a", 3.0)
    for bad in ("t", "pi", "sin", "2a", "a.b", "", "lambda x", "e"):
        with pytest.raises(ModelError, match="parameter name"):
            m.parameter(bad, 1.0)
    with pytest.raises(ModelError, match="there is no parameter 'aa'"):
        m.parameter_values({"aa": 1.0})


def test_parameters_in_a_circle_and_of_time() -> None:
    m = cotree.Model("m", parameters={"a": "b", "b": "a"})
    with pytest.raises(ExpressionError, match="a, b"):
        m.parameter_values()
    with pytest.raises(ModelError, match="depends on time"):
        cotree.Model("m", parameters={"a": "2*t"})
    with pytest.raises(ModelError, match="depends on time"):
        Resistor("R", ("a", "b"), resistance="1 + t")
    m = cotree.Model("m", parameters={"a": "nothing + 1"})
    with pytest.raises(ExpressionError, match="'nothing'"):
        m.parameter_values()


def test_a_name_that_is_not_a_parameter() -> None:
    m = cotree.Model("m", parameters={"voltage": 2.0})
    m.add(VoltageSource("V", ("a", "ground"), voltage="voltag*sin(t)"))
    m.add(Resistor("R", ("a", "ground"), resistance=1.0))
    with pytest.raises(ExpressionError, match=r"V\.voltage.*'voltag'.*(?i:did you mean) 'voltage'"):
        m.simulate(t_end=1.0)


def test_changes_of_values_are_checked() -> None:
    m = cotree.Model("m")
    m.add(Resistor("R", ("a", "ground"), resistance=1.0))
    m.add(
        MutualInductance(
            "M", ("a", "ground"), ("b", "ground"), primary_inductance=1.0, secondary_inductance=1.0, mutual=0.5
        )
    )
    assert m.component_values({"R.resistance": 3.0})["R.resistance"] == 3.0
    for changes, word in (
        ({"R.resistance": -1.0}, "R.resistance"),
        ({"R.resistance": float("nan")}, "R.resistance"),
        ({"R.resistence": 1.0}, "R.resistence"),
        ({"M.mutual": 2.0}, "M"),
    ):
        with pytest.raises(ModelError, match=word):
            m.component_values(changes)


def test_plain_data() -> None:
    m = cotree.Model("RC", parameters={"r": 2.0, "c": "r/4"})
    m.add(VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    m.add(Resistor("R", ("in", "out"), resistance="r"))
    m.add(Capacitor("C", ("out", "ground"), capacitance="c", initial=0.5))
    data = m.to_data()
    assert data["datum"] == "ground"
    assert data["parameters"] == {"r": 2.0, "c": "r/4"}
    assert data["components"]["C"] == {
        "kind": "capacitor", "nodes": ["out", "ground"], "capacitance": "c", "initial": 0.5,
    }  # fmt: skip


def test_choice_of_the_datum_changes_node_values_only() -> None:
    def build(datum: str) -> cotree.Solution:
        m = cotree.Model("m", datum=datum)
        m.add(VoltageSource("V", ("a", "z"), voltage="sin(t)"))
        m.add(Resistor("R", ("a", "b"), resistance=1.0))
        m.add(Capacitor("C", ("b", "z"), capacitance=1.0))
        return m.simulate(t_end=1.0, points=5)

    first, second = build("z"), build("b")
    for name in ("R.current", "C.voltage", "V.power"):
        np.testing.assert_allclose(first[name], second[name], atol=1e-9)
    np.testing.assert_allclose(second["a.voltage"], first["a.voltage"] - first["b.voltage"], atol=1e-9)


RIGHT = 'Resistor("R", (plus, minus), resistance=...)'


@pytest.mark.parametrize(
    ("args", "fields", "words"),
    [
        (("R", ("a", "b"), 100), {}, ["R: 100 given without a name", "Write resistance=100"]),
        (("R", ("a", "b")), {"ohms": 100}, ["Resistor has no field 'ohms'"]),
        (("R", ("a", "b")), {"resistence": 100}, ["no field 'resistence'", "Did you mean 'resistance'?"]),
        (("R", "a", "b"), {"resistance": 1}, ["R: 'b' given without a name", "as a pair: ('a', 'b')"]),
        (("R", "a", "b"), {}, ["R: 'b' given without a name", "as a pair: ('a', 'b')"]),
        (("R", ("a", "b")), {"nodes": ("a", "c"), "resistance": 1}, ["nodes is given twice"]),
        (("R",), {"plus": "a", "minus": "b", "resistance": 1}, ["no field 'plus'", "Did you mean 'nodes'?"]),
        ((), {}, ["name, nodes not given"]),
    ],
)
def test_a_wrong_call_shows_a_right_one(args: tuple[object, ...], fields: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ModelError) as caught:
        Resistor(*args, **fields)  # type: ignore[arg-type]
    assert all(word in str(caught.value) for word in [*words, RIGHT])


def test_a_wrong_call_of_a_two_port() -> None:
    with pytest.raises(ModelError, match=r"primary=\(plus, minus\), secondary=\(plus, minus\), ratio=\.\.\."):
        cotree.Transformer("T", "a", "b", "c", "d", ratio=2)  # type: ignore[call-arg, arg-type]


def test_values_that_are_not_finite_are_refused_where_they_are_given() -> None:
    for value in (float("nan"), float("inf"), 10**400):
        with pytest.raises(ModelError, match=r"R\.resistance: the value is (nan|inf). Expected a finite"):
            Resistor("R", ("a", "b"), resistance=value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"R": 3}, "(?i)did you mean 'R.resistance'"),
        ({"V.voltage": 7}, "V.voltage: it follows from the expression 'sin"),
        ({"Q.resistance": 7}, "Q.resistance: it follows from the expression 'a'"),
        ({"R.resistance": "5 m"}, "R.resistance: '5 m' is a length"),
        ({"R.resistance": float("inf")}, "R.resistance: the value is inf"),
        ({"a": float("nan")}, "a: the value is nan"),
        ({"a": None}, "a: found None"),
        ({"a": True}, "a: found True"),
        ([1.0], "numbers by name"),
    ],
)
def test_changes_that_cannot_be_made(changes: object, message: str) -> None:
    m = cotree.Model("m", parameters={"a": 1.0})
    m.add(VoltageSource("V", ("a", "ground"), voltage="sin(t)"))
    m.add(Resistor("R", ("a", "ground"), resistance=1.0))
    m.add(Resistor("Q", ("a", "ground"), resistance="a"))
    with pytest.raises(ModelError, match=message):
        m.simulate(t_end=1.0, parameters=changes)


@pytest.mark.parametrize("datum", [[], None, ["a", 3], 5, "a b"])
def test_a_datum_that_is_no_node(datum: object) -> None:
    with pytest.raises(ModelError, match="datum"):
        cotree.Model("m", datum=datum)  # type: ignore[arg-type]


def test_trees_by_name_and_lists_of_plots() -> None:
    m = cotree.Model("RC")
    m.add(VoltageSource("V", ("a", "ground"), voltage=24.0))
    m.add(Resistor("R", ("a", "b"), resistance=1.0))
    m.add(Capacitor("C", ("b", "ground"), capacitance=1.0))
    assert repr(m) == "<Model 'RC': 3 components, 3 edges, 3 nodes>"
    for tree in ("normal", "kinds", "absolute", "joint"):
        solution = m.simulate(t_end=1.0, tree=tree)
        assert solution.at("C.voltage", 1.0) == pytest.approx(24 * (1 - np.exp(-1)), rel=1e-4)
        assert m.linearise(tree=tree) is not None
        assert "3 edges" in m.explain(tree)
        assert m.draw(tree=tree) is not None
    assert len(solution.plot(["C.voltage", "R.current"]).axes) == len(solution.plot("C.voltage", "R.current").axes)
    for wrong in ("oak", ["R"]):
        with pytest.raises(cotree.GraphError, match="normal"):
            m.simulate(t_end=1.0, tree=wrong)  # type: ignore[arg-type]


def test_components_by_name() -> None:
    m = cotree.Model("m")
    part = m.add(Resistor("load", ("a", "b"), resistance=1.0))
    assert m["load"] == part
    assert "load" in m
    assert list(m) == ["load"]
    with pytest.raises(ModelError, match="Did you mean 'load'"):
        m["laod"]
