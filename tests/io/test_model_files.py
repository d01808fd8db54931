"""Model files: what is read, and what each mistake is told."""

from pathlib import Path

import pytest

import cotree as ct

GOOD = """\
name: RC
datum: 0
parameters: {tau: 1e-3, C: 1e-6}
components:
  V: {kind: voltage_source, nodes: [1, 0], voltage: 5}
  R: {kind: resistor, nodes: [1, 2], resistance: tau/C}
  C: {kind: capacitor, nodes: [2, 0], capacitance: C, initial: 1.0}
run: {t_end: 5*tau, points: 11, rtol: 1e-9, start: {C.voltage: 2}, plot: C.voltage}
"""


def test_a_file_gives_model_and_run_settings(read):
    file = read(GOOD)
    assert file.model.name == "RC"
    assert file.model.datums == ("0",)
    assert file.model.components["R"].node_pairs() == (("1", "2"),)
    assert file.run.t_end == pytest.approx(5e-3)
    assert file.run.options() == {"points": 11, "rtol": 1e-9, "start": {"C.voltage": 2.0}}
    assert file.run.plot == ["C.voltage"]


def test_python_to_file_to_python_is_lossless(tmp_path):
    m = ct.Model("all", datum=["g", "h"], parameters={"a": 2.0, "b": "a*3"})
    m.add(ct.VoltageSource("V", ("x", "g"), voltage="b*sin(t)"))
    m.add(ct.Transformer("T", ("x", "g"), ("y", "h"), ratio="b"))
    m.add(ct.MutualInductance(
        "M", ("x", "g"), ("y", "h"), primary_inductance=1.0, secondary_inductance=2, mutual=0.1, initial_primary=3.0
    ))  # fmt: skip
    m.add(ct.OperationalAmplifier("U", ("y", "h"), ("z", "h"), gain=1e5))
    m.add(ct.Resistor("R", ("z", "h"), resistance=0.1 + 0.2))
    again = ct.load(m.save(tmp_path / "m.yaml"))
    assert again.components == m.components
    assert again.parameters == m.parameters
    assert again.datums == m.datums


R = "{kind: resistor, nodes: [a, ground], resistance: 1}"
MISTAKES = {
    "duplicate name": (
        f"components:\n  R1: {R}\n  R1: {R}\n",
        "m.yaml:3:3: the name 'R1' is used twice, first in line 2. Rename one of them.",
    ),
    "unknown kind": (
        "components:\n  R1: {kind: resistr, nodes: [a, b], resistance: 1}\n",
        "m.yaml:2:14: R1: there is no kind of component 'resistr'. Expected a known kind. Did you mean 'resistor'?",
    ),
    "kind of several domains": (
        "components:\n  S: {kind: spring, nodes: [a, b], stiffness: 1}\n",
        "m.yaml:2:21: S: spring has no field 'nodes'. Expected one of law, table, frame_a, frame_b, length, stiffness, "
        "energy, preload, damping. Did you mean 'rotational.spring' or 'translational.spring'?",
    ),
    "missing value": (
        "components:\n  R1: {kind: resistor, nodes: [a, ground]}\n",
        "m.yaml:2:3: R1.resistance: no value is given. Expected a positive number in ohm, or an expression of "
        "parameters. Give a value for resistance.",
    ),
    "negative value": (
        "components:\n  R1:\n    kind: resistor\n    nodes: [a, ground]\n    resistance: -1\n",
        "m.yaml:5:17: R1.resistance: the value is -1. Expected a positive number in ohm, or an expression of "
        "parameters.",
    ),
    "misspelt field": (
        "components:\n  R1: {kind: resistor, nodes: [a, ground], resistnce: 1}\n",
        "m.yaml:2:44: R1: resistor has no field 'resistnce'. Expected one of nodes, resistance. "
        "Did you mean 'resistance'?",
    ),
    "no nodes": (
        "components:\n  R1: {kind: resistor, resistance: 1}\n",
        "m.yaml:2:3: R1: nodes not given. Expected R1: {kind: resistor, nodes: ..., resistance: ...}.",
    ),
    "three nodes": (
        "components:\n  R1: {kind: resistor, nodes: [a, b, c], resistance: 1}\n",
        "m.yaml:2:31: R1.nodes: found ['a', 'b', 'c']. Expected two nodes, plus and minus.",
    ),
    "a node that YAML takes for a truth value": (
        "components:\n  R1: {kind: resistor, nodes: [no, ground], resistance: 1}\n",
        "m.yaml:2:31: R1.nodes: found [False, 'ground']. Put the name in quotes: YAML reads yes, no, on, off "
        "as truth values.",
    ),
    "unknown parameter": (
        "components:\n  R1:\n    kind: resistor\n    nodes: [a, ground]\n    resistance: 2*Q\n",
        "m.yaml:5:19: R1.resistance: 'Q' in the expression '2*Q' is not known. Expected t, a function, or a "
        "parameter of "
        "the model (there is none). Add 'Q' to the parameters.",
    ),
    "code instead of an expression": (
        "components:\n  R1: {kind: resistor, nodes: [a, ground], resistance: \"__import__('os').getcwd()\"}\n",
        "m.yaml:2:57: R1.resistance: '__import__('os').getcwd()' in the expression '__import__('os').getcwd()'. "
        "Expected arithmetic on numbers, t and parameters. Call one of sin, cos, tan, asin, acos, atan, atan2, sinh, "
        "cosh, tanh, exp, log, sqrt, abs, sign, min, max, ramp, step, pulse, "
        "smooth_step, minimum_jerk, trapezoid, spline, and nothing else.",
    ),
    "a YAML tag that would build an object": (
        "components: !!python/object/apply:os.getcwd []\n",
        "m.yaml:1:13: the tag '!!python/object/apply:os.getcwd' is not used. Put a text that begins with ! in quotes.",
    ),
    "aliases": (
        "name: &x y\ndatum: *x\ncomponents: {}\n",
        "m.yaml:1:7: anchors and aliases (& and *) are not used. Put a text that begins with & or * in quotes; write "
        "values out.",
    ),
    "broken YAML": (
        "components: [\n",
        "m.yaml:1:13: the bracket '[' of line 1, column 13 is not closed here, or a comma is missing. Close "
        "it with ']', "
        "or put a comma between its entries.",
    ),
    "misspelt section": (
        "component: {}\n",
        "m.yaml:1:1: unknown entry 'component'. Expected one of name, datum, gravity, planar, inertia, include, "
        "parameters, data, components, bonds, masks, run. Did you mean 'components'?",
    ),
    "misspelt run setting": (
        f"components:\n  R1: {R}\nrun:\n  tend: 5\n",
        "m.yaml:4:3: unknown entry 'tend'. Expected one of t_end, points, rtol, atol, integrator, max_step, "
        "max_steps, step, spectral_radius, start, tree, plot. Did you mean 't_end'?",
    ),
    "plot of a number": (
        f"components:\n  R1: {R}\nrun:\n  plot:\n    - R1.current\n    - 5\n",
        "m.yaml:6:7: plot is 5. Expected a name, a list of names, or a list of lists of names.",
    ),
    "plot nested too deeply": (
        f"components:\n  R1: {R}\nrun: {{plot: [[[R1.current]]]}}\n",
        "m.yaml:3:14: plot is a list of 1. Expected a name, a list of names, or a list of lists of names.",
    ),
    "integrator that is no name": (
        f"components:\n  R1: {R}\nrun:\n  integrator: 5\n",
        "m.yaml:4:15: integrator is 5. Expected a name.",
    ),
    "start that is neither": (
        f"components:\n  R1: {R}\nrun:\n  start: stedy\n",
        "m.yaml:4:10: start is 'stedy'. Expected 'steady', or values by name: {C.voltage: 2}.",
    ),
    "name that is no text": (
        f"name: 5\ncomponents:\n  R1: {R}\n",
        "m.yaml:1:7: name is 5. Expected text; put a number in quotes.",
    ),
    "no datum": (
        f"components:\n  R1: {R}\ndatum: []\n",
        "m.yaml:3:8: no datum is given. Expected the name of a node, or one for each part of the model.",
    ),
    "two domains in one node": (
        f"components:\n  R1: {R}\n  d: {{kind: translational.damper, nodes: [a, ground], damping: 1}}\n",
        "m.yaml:2:32: the node 'a' joins R1 (electrical) and d (translational). Expected nodes of one domain; only the "
        "datum is shared. Put a transducer between the two domains, such as a rotational EMF.",
    ),
    "parameters that need each other": (
        f"parameters: {{a: b, b: a}}\ncomponents:\n  R1: {R}\n",
        "m.yaml:1:17: a: the parameters a, b are defined by each other. Give one of them a number.",
    ),
    "empty file": ("", "m.yaml:1:1: there is no model here. Expected name: and components:."),
    "no components": ("name: x\n", "m.yaml:1:1: the model has no components."),
}


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_gets_one_message_with_its_line(read, text, message):
    with pytest.raises(ct.FileError) as caught:
        read(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 20_000, "\x00", "- " * 50_000, "? ? ? ?", "a: b: c", "%YAML 9.9"]
)
def test_hostile_text_is_refused(read, text):
    with pytest.raises(ct.FileError):
        read(text)


def test_a_file_that_is_too_large_or_not_text_is_refused(tmp_path, monkeypatch):
    from cotree.io import yaml_source

    monkeypatch.setattr(yaml_source, "MAX_BYTES", 10)
    (tmp_path / "big.yaml").write_text("name: 0123456789\n")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00\x01")
    for name, piece in (("big.yaml", "17 bytes"), ("binary.yaml", "not text in UTF-8")):
        with pytest.raises(ct.FileError, match=piece):
            ct.load(tmp_path / name)


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.yaml"
    path.write_text("kept")
    monkeypatch.setattr(
        Path, "write_text", lambda *a, **k: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    m = ct.Model("x")
    with pytest.raises(ct.FileError, match="No space left"):
        m.save(path)
    assert path.read_bytes() == b"kept"
    assert [p.name for p in tmp_path.iterdir()] == ["m.yaml"]
