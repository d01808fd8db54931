"""Bond graphs in model files: read, written back without loss, and what each mistake is told."""

import copy

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import cotree as ct
import cotree.bond as b
from _cases import random_cases

GOOD = """\
name: DC motor
parameters: {V: 12}
masks:
  motor:
    ports: {supply: i, shaft: w}
    parameters: {K: null, Ra: 1.5}
    components:
      i: {kind: 1}
      R: {kind: R, resistance: Ra}
      L: {kind: I, inertia: 0.01}
      g: {kind: GY, modulus: K}
      w: {kind: 1}
    bonds: [i -> R, i -> L, i -> g, g -> w]
components:
  source: {kind: Se, effort: V*step(t - 0.1)}
  M: {kind: mask, graph: motor, values_of: {K: 0.05}}
  J: {kind: I, inertia: 0.0001}
  speed: {kind: sensor, of: J, measures: flow}
bonds: [source -> M.supply, M.shaft -> J]
run: {t_end: 2, plot: [J.flow, speed.value]}
"""
FLAT = """\
components:
  V: {kind: Se, effort: 5}
  j: {kind: 1}
  R: {kind: R, resistance: 2}
bonds:
  a: V -> j
  c: j -> R
"""


def test_a_file_is_the_model_of_python(read):
    file = read(GOOD)
    motor = b.Graph("motor", {"supply": "i", "shaft": "w"}, {"K": None, "Ra": 1.5})
    for part in (
        b.Junction1("i"), b.R("R", resistance="Ra"), b.I("L", inertia=0.01), b.GY("g", modulus="K"), b.Junction1("w"),
    ):  # fmt: skip
        motor.add(part)
    for ends in (("i", "R"), ("i", "L"), ("i", "g"), ("g", "w")):
        motor.connect(*ends)
    model = ct.Model("DC motor", parameters={"V": 12})
    for part in (
        b.Se("source", effort="V*step(t - 0.1)"), b.Mask("M", graph=motor, values_of={"K": 0.05}), b.I("J",
        inertia=0.0001),
        b.Sensor("speed", of="J", measures="flow"),
    ):  # fmt: skip
        model.add(part)
    model.connect("source", "M.supply")
    model.connect("M.shaft", "J")
    assert file.model.to_data() == model.to_data()
    assert file.run.plot == ["J.flow", "speed.value"]
    runs = [m.simulate(1.0, rtol=1e-11) for m in (file.model, model)]
    assert np.abs(runs[0]["J.flow"] - runs[1]["J.flow"]).max() < 1e-9 * runs[0]["J.flow"].max()


@pytest.mark.parametrize(
    "bonds",
    [
        "[V -> j, j -> R]", "[[V, j], [j, R]]", "{b1: V -> j, b2: [j, R]}", "{b1: {tail: V, head: j}, b2: j->R}",
        "[{tail: V, head: j, width: 1}, j -> R]",
    ],
)  # fmt: skip
def test_bonds_may_be_written_in_several_ways(read, bonds):
    model = read(FLAT[: FLAT.index("bonds:")] + f"bonds: {bonds}\n").model
    ends = {name: (part.tail, part.head) for name, part in model.components.items() if isinstance(part, b.Bond)}
    assert ends == {"b1": ("V", "j"), "b2": ("j", "R")}
    assert model.simulate(1.0, points=3)["R.flow"][-1] == pytest.approx(2.5)


def test_junctions_go_by_number_or_name(read):
    for kind in ("1", "'1'", "bond.1"):
        assert isinstance(read(FLAT.replace("kind: 1", f"kind: {kind}")).model.components["j"], b.Junction1)


# -- back again


EVERY = [
    b.I("I1", inertia=0.1 + 0.2), b.I("I2", inertia=[1, "a", 3], momentum=[0, 1, 2]), b.I("I3", flow="p**3",
    momentum=1),
    b.I("I4", inertia=[[1, 0.5], [0.5, 2]], initial_flow=[1, 2], domain="translational"),
    b.C("C1", stiffness="2*a"), b.C("C2", compliance=[1, 2], displacement=[0, 1]), b.C("C3", effort="q + q**3",
    width=1),
    b.C("C4", effort=["q.c1", "2*q.c2"], displacement=[1, 2]), b.C("C5", compliance=2, initial_effort="a"),
    b.R("R1", resistance=1), b.R("R2", conductance=[1, 2, 3]), b.R("R3", effort="f*abs(f)"), b.R("R4", flow="sinh(e)"),
    b.MR("R5", resistance="1 + j.flow"), b.MR("R6", conductance=["1 + t", 2]),
    b.Se("S1", effort="5*sin(t)"), b.Se("S2", effort=[1, "t", 0]), b.MSe("S3", effort="-2*x.value"),
    b.Sf("S4", flow=1e-30), b.MSf("S5", flow="j.flow"), b.TF("T1", modulus=3), b.TF("T2", modulus=[[1, 2, 3], [4, 5,
    6]]),
    b.MTF("T3", modulus="cos(x.value)"), b.GY("T4", modulus=[1, 2]), b.MGY("T5", modulus="x.value"),
    b.MGR("T6", modulus=["w.value.x", 0, 1]), b.Junction0("n", width=3, domain="thermal"), b.Junction1("j"),
    b.Split("s", parts=[1, 2, 3]), b.Bond("b1", "j", "T2.1"), b.Bond("b2", "n", "s.whole", width=6),
    b.Sensor("x", of="b1", measures="displacement"), b.Block("y", value=["x.value", "t"]),
    b.Integrator("w", input=["1", "x.value", "t"], initial=[0, "a", 2], unit="rad"),
]  # fmt: skip


def test_every_element_comes_back_as_it_was(tmp_path):
    """Written and read by themselves: many of these make no whole graph together."""
    from cotree.io.bond_file import read_part

    for part in EVERY:
        data = yaml.safe_load(yaml.safe_dump(_plain(part)))
        assert read_part(part.name, data, {}) == part, part.name


def _plain(part):
    from cotree.io.model_file import _plain as plain

    return plain(part.to_data())


def nested():
    inner = b.Graph("inner", {"a": "j"}, {"k": None})
    inner.add(b.Junction1("j"))
    inner.add(b.C("c", stiffness="k"))
    inner.add(b.R("r", resistance="k/10"))
    inner.connect("j", "c", "spring")
    inner.connect("j", "r", width=1)
    outer = b.Graph("outer", {"a": "j"}, {"k2": 4.0})
    outer.add(b.Junction1("j"))
    outer.add(b.Mask("one", graph=inner, values_of={"k": "k2/2"}))
    outer.add(b.Mask("two", graph=inner, values_of={"k": 3}))
    outer.connect("j", "one")
    outer.connect("j", "two.a")
    model = ct.Model("nested", parameters={"m": 2.0})
    for part in (
        b.Se("F", effort="3*cos(t)"), b.Junction1("j"), b.I("m1", inertia="m", initial_flow=1.0),
        b.Mask("O", graph=outer, values_of={"k2": 5}), b.Sensor("e", of="O.one.c", measures="effort"),
    ):  # fmt: skip
        model.add(part)
    for ends in (("F", "j"), ("j", "m1"), ("j", "O.a")):
        model.connect(*ends)
    return model


def test_nested_masks_come_back_as_they_were(tmp_path):
    model = nested()
    again = ct.load(model.save(tmp_path / "m.yaml"))
    assert again.to_data() == model.to_data()
    assert again.parameters == model.parameters
    assert list(again.components) == [n for n in model.components if n[0] != "b"] + ["b1", "b2", "b3"]
    one, two = (m.simulate(1.0, rtol=1e-11) for m in (model, again))
    assert set(one.names) == set(two.names)
    for name in one.names:
        assert np.abs(one[name] - two[name]).max() <= 1e-9 * max(1.0, np.abs(one[name]).max())
    text = (tmp_path / "m.yaml").read_text()
    assert text == ct.load(tmp_path / "m.yaml").save(tmp_path / "n.yaml").read_text()
    assert ct.Model.from_mapping(model.to_data()).to_data() == model.to_data()


def test_a_missing_kind_lists_the_kinds_once(read):
    with pytest.raises(ct.CotreeError) as told:
        read("components:\n  R: {resistance: 2}\n")
    assert str(told.value).startswith("m.yaml:2:3: R: no kind is given. Expected one of ")
    assert str(told.value).count("bond.C,") == 1


def test_what_a_file_cannot_hold_is_told(tmp_path):
    model = nested()
    model.add(b.R("law", effort=lambda f: f**3))
    model.connect("j", "law")
    with pytest.raises(ct.CotreeError) as told:
        model.save(tmp_path / "m.yaml")
    assert str(told.value) == (
        "law: its effort is a Python function, which a file cannot hold. "
        "Give effort as an expression, or keep the model in Python."
    )
    assert not (tmp_path / "m.yaml").exists()


def test_two_graphs_of_one_name_are_told(tmp_path):
    model = ct.Model("m")
    for name, k in (("A", 1.0), ("B", 2.0)):
        g = b.Graph("g", {"a": "r"}, {}, {"r": b.R("r", resistance=k)})
        model.add(b.Mask(name, graph=g))
    model.connect("A", "B")
    with pytest.raises(ct.CotreeError, match="two masks with the name 'g' hold different graphs"):
        model.save(tmp_path / "m.yaml")


# -- mistakes


def good(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def flat(old, new, more=""):
    assert old in FLAT
    return FLAT.replace(old, new, 1) + more


ENDS = "Expected c: tail -> head, or c: {tail: ..., head: ..., width: ...}."
SIGNALS = (
    "Expected effort or flow of a bond or an element, momentum of an I, displacement of a C, or the value of a "
    "sensor, a block or an integrator."
)
MISTAKES = {
    "dangling port": (
        flat("  R: {", "  T: {kind: TF, modulus: 2}\n  R: {", "  d: j -> T\n"),
        "m.yaml:9:11: bond d (j -> T): port 2 of the TF 'T' is dangling: it has bond d (j -> T). Expected one bond at "
        "each port: one that enters at port 1 and one that leaves at port 2. Name the port: T.1 or T.2.",
    ),
    "dangling element": (
        flat("  R: {", "  C: {kind: C, stiffness: 1}\n  R: {"),
        "m.yaml:4:3: C: the port of the C 'C' is dangling: no bond ends there. Expected one bond. Add a bond that ends "
        "at C.",
    ),
    "width mismatch": (
        flat("effort: 5", "effort: [5, 6]").replace("resistance: 2", "resistance: [1, 2, 3]"),
        "m.yaml:7:3: bond c (j -> R): its widths do not agree: V tells 2 and R tells 3. Expected one width on both "
        "sides of a bond. Give both ends the same number of components, or take the multibond apart with a Split.",
    ),
    "unconnected modulation": (
        flat("  R: {", "  T: {kind: MTF}\n  R: {").replace("c: j -> R", "c: j -> T\n  d: T -> R"),
        "m.yaml:8:11: bond c (j -> T): the modulation of the MTF 'T' is not connected: no signal reaches it. "
        "Expected an expression that holds a signal or t, such as '0.1*sin(angle.value)'. Use TF for a constant.",
    ),
    "two sources in conflict": (
        flat("  R: {", "  W: {kind: Se, effort: 3}\n  R: {", "  d: W -> j\n").replace("kind: 1", "kind: 0"),
        "m.yaml:7:3: bond a (V -> j): the effort sources V, W are in conflict: they set the same effort. Expected an "
        "effort that one source sets alone. Put an R between them on a 1 junction, or remove one.",
    ),
    "unknown element in a bond": (
        flat("j -> R", "j -> Rr"),
        "m.yaml:7:11: bond c: it ends at 'Rr', which does not exist. Expected the name of an element, or element.port. "
        "Did you mean 'R'?",
    ),
    "unknown kind": (
        flat("kind: R,", "kind: Rx,"),
        "m.yaml:4:13: R: there is no kind of component 'Rx'. Expected a known kind. Did you mean 'R'?",
    ),
    "unknown signal": (
        flat("{kind: R, resistance: 2}", "{kind: MR, resistance: 1 + jj.flow}"),
        f"m.yaml:4:33: R: there is no signal 'jj.flow'. {SIGNALS} Did you mean 'j.flow'?",
    ),
    "missing value": (
        flat("{kind: R, resistance: 2}", "{kind: R}"),
        "m.yaml:4:3: R: none of resistance, conductance, effort, flow is given. "
        "Expected one of resistance, conductance, effort, flow.",
    ),
    "unknown field": (
        flat("resistance: 2", "resistence: 2"),
        "m.yaml:4:16: R: bond.R has no field 'resistence'. Expected one of width, domain, resistance, conductance, "
        "effort, flow. Did you mean 'resistance'?",
    ),
    "bond with three ends": (flat("j -> R", "j -> R -> j"), f"m.yaml:7:6: bond c: found 'j -> R -> j'. {ENDS}"),
    "bond without an arrow": (flat("j -> R", "j R"), f"m.yaml:7:6: bond c: found 'j R'. {ENDS}"),
    "bond of numbers": (flat("j -> R", "3"), f"m.yaml:7:3: bond c: found 3. {ENDS}"),
    "bonds that are none": (
        FLAT[: FLAT.index("bonds:")] + "bonds: V -> j\n",
        "m.yaml:5:8: bonds is 'V -> j'. Expected a list such as [V -> j, j -> R], or bonds by name.",
    ),
    "junction with one bond": (
        flat("  R: {", "  k: {kind: 0}\n  R: {", "  d: j -> k\n"),
        "m.yaml:9:11: bond d (j -> k): the junction 'k' has only the bond d (j -> k). Expected at least two bonds at a "
        "junction. Connect something else to it, or remove it.",
    ),
    "mask without port": (
        good("M.shaft -> J", "M -> J"),
        "m.yaml:19:29: bond b2: it ends at the mask 'M' without a port. Expected one of M.supply, M.shaft.",
    ),
    "wrong port": (
        good("M.shaft", "M.saft"),
        "m.yaml:19:29: bond b2: the mask 'M' has no port 'saft'. Expected one of supply, shaft. Did you mean 'shaft'?",
    ),
    "unknown mask": (
        good("graph: motor,", "graph: moter,"),
        "m.yaml:16:26: M.graph: there is no mask 'moter'. Expected one of motor. Did you mean 'motor'?",
    ),
    "mask that is no name": (
        good("graph: motor,", "graph: [1],"), "m.yaml:16:26: M.graph: there is no mask '[1]'. Expected one of motor.",
    ),
    "unknown kind in a mask": (
        good("kind: R, res", "kind: Rx, res"),
        "m.yaml:9:17: mask motor: R: there is no kind of component 'Rx'. Expected a known kind. Did you mean 'R'?",
    ),
    "unknown end in a mask": (
        good("i -> R,", "i -> Rr,"),
        "m.yaml:16:3: bond M.b1: it ends at 'Rr', which does not exist. Expected the name of an element, or "
        "element.port. Did you mean 'R'?",
    ),
    "unknown entry of a mask": (
        good("ports: {supply", "prots: {supply"),
        "m.yaml:5:5: mask motor: unknown entry 'prots'. Expected one of ports, parameters, components, bonds. "
        "Did you mean 'ports'?",
    ),
    "parameter of a mask": (
        good("values_of: {K: 0.05}", "values_of: {Ra: 3}"),
        "m.yaml:16:26: M: K of the mask 'motor' not given. Expected values_of: {K: ...}.",
    ),
    "values that are none": (
        good("values_of: {K: 0.05}", "values_of: [1]"),
        "m.yaml:16:3: M: values_of is [1]. Expected values by name, such as {K: 0.05}.",
    ),
    "law that cannot be read": (
        flat("resistance: 2", "effort: f**"),
        "m.yaml:4:24: R.effort: the expression 'f**' cannot be read (invalid syntax). Expected arithmetic on "
        "numbers, t and parameters, such as 5*sin(2*pi*50*t).",
    ),
    "law that is none": (
        flat("resistance: 2", "effort: {a: 1}"),
        "m.yaml:4:24: R.effort: found {'a': 1}. Expected an expression, or a list of them, one for each component.",
    ),
    "measure": (
        good("measures: flow", "measures: flw"),
        "m.yaml:18:42: speed: it measures 'flw'. Expected one of effort, flow, momentum, displacement.",
    ),
    "name twice": (
        flat("  c: j -> R", "  j: j -> R"),
        "m.yaml:7:3: the name 'j' is used twice, by bond.1 and by bond.bond. Expected a name of its own for every "
        "component. Rename one of them.",
    ),
    "circle of blocks": (
        flat("bonds:", "  x: {kind: block, value: y.value + 1}\n  y: {kind: block, value: x.value}\nbonds:"),
        None,
    ),
    "resistor among bonds": (
        flat("{kind: R, resistance: 2}", "{kind: resistor, nodes: [a, b], resistance: 2}"),
        "m.yaml:4:3: R: resistor is no part of a bond graph, and this file has bonds. Expected "
        "parts of bond graphs only. Use 'bond.electrical.resistor', or its element 'R'.",
    ),
}  # fmt: skip


def derive(read, text):
    """Read a file and write its equations, as the command line does."""
    file = read(text)
    with file.about():
        file.model.equations()


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_told_with_file_and_line(read, name):
    text, message = MISTAKES[name]
    with pytest.raises(ct.CotreeError) as told:
        derive(read, text)
    assert str(told.value) == message if message is not None else str(told.value).startswith("m.yaml")


# -- no traceback, ever


def places(data, path=()):
    """Every place in nested data."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


STRANGE = st.sampled_from([
    None, True, 0, -1, 1.5, float("nan"), 1e300, "", "x", "t", "1", "j", "j.flow", "V -> j", "R -> R", "a.b.c", [],
    {}, [1],
    [[1, 2], [3]], [1, [2]], {"a": 1}, {"kind": "R"}, "bond.mask", "mask", "MTF", "motor", "f**", "1/0",
    "j.flow + M.K", -0.0,
])  # fmt: skip


@random_cases(83, 250)
@given(st.data())
def test_mutated_files_run_or_are_told(data):
    original = yaml.safe_load(data.draw(st.sampled_from([GOOD, FLAT])))
    mutated = copy.deepcopy(original)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from([p for p in places(mutated) if p] or [("name",)]))
        owner = mutated
        for key in path[:-1]:
            owner = owner[key]
        if data.draw(st.integers(0, 3)) == 0:
            del owner[path[-1]]
        else:
            owner[path[-1]] = copy.deepcopy(data.draw(STRANGE))
    mutated.pop("run", None)
    said = "runs"
    try:
        ct.Model.from_mapping(mutated).equations()
    except ct.CotreeError as error:
        said = str(error)
    assert said


def test_a_plain_name_in_a_modulus_is_told_of_signals(read):
    with pytest.raises(ct.CotreeError) as error:
        read("""\
components:
  V: {kind: Se, effort: 2}
  j: {kind: 1}
  T: {kind: MTF, modulus: cos(th)}
  th: {kind: integrator, input: M.flow, initial: 0}
  M: {kind: I, inertia: 1}
  L: {kind: I, inertia: 1}
bonds: [V -> j, j -> M, j -> T, T -> L]
""")
    said = str(error.value)
    assert "T.modulus: 'th' in the expression 'cos(th)' is not known" in said
    assert "or a signal such as 'th.value'" in said
    assert "Write 'th.value' where 'th' is a sensor, a block or an integrator" in said
    assert "tanh" not in said


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("resistor, resistance: 2", "'bond.electrical.resistor', or its element 'R'"),
        ("rotational.inertia, inertia: 2", "'bond.rotational.inertia', or its element 'I'"),
    ],
)
def test_a_component_of_networks_among_bonds_is_pointed_to_its_part(read, kind, part):
    with pytest.raises(ct.CotreeError, match="is no part of a bond graph, and this file has bonds") as error:
        read(f"components:\n  V: {{kind: Se, effort: 2}}\n  X: {{kind: {kind}}}\nbonds: [V -> X]\n")
    assert f"Use {part}" in str(error.value)
    assert ":3: X" in str(error.value)


def test_a_joint_of_mechanisms_is_pointed_to_its_mask(read):
    text = "components:\n  G: {kind: bond.ground}\n  J: {kind: prismatic, axis: x}\nbonds: [G -> J.a]\n"
    with pytest.raises(ct.FileError, match=r"m\.yaml:3:3: J: prismatic .* Did you mean 'prismatic_joint'\?"):
        read(text)


def test_an_end_like_no_element_is_told_what_there_is(read):
    text = "components:\n  V: {kind: Se, effort: 5}\n  R: {kind: R, resistance: 2}\nbonds: [V -> load]\n"
    with pytest.raises(ct.FileError, match=r"it ends at 'load'.* The elements are V, R\."):
        read(text)
