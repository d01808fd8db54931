"""Arrays of components: one entry stands for many."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree.io import assembly

CHAIN = """\
gravity: [0, -9.81, 0]
components:
  link{i}:
    for: {i: 1..5}
    kind: rigid_body
    shape: {rod: {length: 0.1*i, mass: 1/i, axis: x}}
    frames: {A: [-0.05*i, 0, 0], B: [0.05*i, 0, 0]}
  J1: {kind: revolute, frame_a: ground, frame_b: link1.A, angle: -0.5}
  "J{i}": {for: {i: 2..5}, kind: revolute, frame_a: "link{i-1}.B", frame_b: "link{i}.A", angle: 0.1*i - 0.2}
run: {t_end: 1, plot: [J5.angle]}
"""


def test_a_chain_is_the_chain_of_python(read):
    model = read(CHAIN).model
    other = ct.Model("chain", gravity=(0, -9.81, 0))
    for i in range(1, 6):
        half = 0.05 * i
        other.add(ct.RigidBody(f"link{i}", ct.rod(length=0.1 * i, mass=1 / i),
                               frames={"A": (-half, 0, 0), "B": (half, 0, 0)}))  # fmt: skip
        before = "ground" if i == 1 else f"link{i - 1}.B"
        other.add(ct.Revolute(f"J{i}", before, f"link{i}.A", angle=-0.5 if i == 1 else 0.1 * i - 0.2))
    assert set(model.components) == set(other.components)
    one, two = (m.simulate(0.3, rtol=1e-10) for m in (model, other))
    assert np.abs(one["J5.angle"] - two["J5.angle"]).max() < 1e-6


def test_saving_writes_the_expanded_model(read, tmp_path):
    model = read(CHAIN).model
    text = model.save(tmp_path / "whole.yaml").read_text()
    assert "for:" not in text
    assert "link4.B" in text
    assert ct.load(tmp_path / "whole.yaml").components == model.components


def test_several_indices_lists_and_arithmetic(read):
    model = read("""\
components:
  "h{i}_{j}": {for: {i: 0..2, j: 0..1}, kind: resistor, nodes: ["n{i}_{j}", "n{i}_{(j+1)%2}"], resistance: 1 + i*10 + j}
  "{side}{-i}":
    {for: {side: [left, right], i: [-3, -7]}, kind: resistor, nodes: ["n{2*(-i)-5}_0", ground], resistance: i**2}
""").model
    values = model.component_values()
    assert values["h2_1.resistance"] == 22
    assert model.components["h2_1"].node_pairs() == (("n2_1", "n2_0"),)
    assert values["left3.resistance"] == 9
    assert model.components["right7"].node_pairs() == (("n9_0", "ground"),)
    assert len(model.components) == 10


def test_bonds_by_pattern(read):
    graph = """\
components:
  F: {kind: Se, effort: 1}
  "j{i}": {for: {i: 1..3}, kind: 1}
  "n{i}": {for: {i: 1..2}, kind: 0}
  "m{i}": {for: {i: 1..3}, kind: I, inertia: 2*i}
  "k{i}": {for: {i: 1..2}, kind: C, stiffness: 100}
bonds:
"""
    rows = [
        ("F -> j1", "f: F -> j1"),
        ('{for: {i: 1..3}, tail: "j{i}", head: "m{i}"}', '"a{i}": {for: {i: 1..3}, tail: "j{i}", head: "m{i}"}'),
        ('{for: {i: 1..2}, tail: "j{i}", head: "n{i}"}', '"b{i}": {for: {i: 1..2}, tail: "j{i}", head: "n{i}"}'),
        ('{for: {i: 1..2}, tail: "n{i}", head: "j{i+1}"}', '"c{i}": {for: {i: 1..2}, tail: "n{i}", head: "j{i+1}"}'),
        ('{for: {i: 1..2}, tail: "n{i}", head: "k{i}"}', '"d{i}": {for: {i: 1..2}, tail: "n{i}", head: "k{i}"}'),
    ]
    listed = read(graph + "".join(f"  - {row}\n" for row, _ in rows)).model
    named = read(graph + "".join(f"  {row}\n" for _, row in rows)).model
    assert listed.simulate(1.0)["m3.flow"][-1] == pytest.approx(named.simulate(1.0)["m3.flow"][-1], rel=1e-6)
    assert sum(name.startswith("b") for name in listed.components) == 10


R = "kind: resistor, nodes: [a, ground], resistance: 1"
INTEGERS = "Expected whole numbers and i with + - * %, such as {i-1}."
MISTAKES = [
    (
        '"R{i}": {for: {i: 1..3}, kind: resistor, nodes: ["n{j}", ground], resistance: 1}',
        f"2:54: R{{i}}: found '{{j}}'. {INTEGERS}",
    ),
    (
        f'"R{{i}}": {{{R}}}',
        "2:3: the name 'R{i}' holds an index, and no range is given for it. Add for: {i: 1..10} to the entry.",
    ),
    (
        f"R: {{for: {{i: 1..3}}, {R}}}",
        "2:3: the name 'R' comes twice in the pattern 'R'. Expected a name of its own for every instance. "
        "Put every index into the name: R{i}.",
    ),
    (
        f'"R{{i}}": {{for: {{i: 3..1}}, {R}}}',
        "2:3: R{i}: the index i runs from 3 to 1. Expected a range that rises.",
    ),
    (
        f'"R{{i}}": {{for: {{i: 1..1000000000}}, {R}}}',
        "2:3: R{i}: the pattern stands for 1000000000 entries. Expected at most 100000.",
    ),
    (
        f'"R{{i}}": {{for: {{i: 5}}, {R}}}',
        "2:3: R{i}: the index i is 5. Expected an index with its range, such as {i: 1..10}, or a list, such as "
        "{side: [left, right]}.",
    ),
    (
        f'"R{{t}}": {{for: {{t: 1..3}}, {R}}}',
        "2:18: R{t}: the index 't' cannot be used. Expected letters, digits and _, and not x, y, z, t, a constant or "
        "a function.",
    ),
    (
        f'"R{{i}}": {{for: {{i: 1..3}}, {R.replace(": 1", ": 2-i")}}}',
        "2:76: R2.resistance: the value is 0. Expected a positive number in ohm, or an expression of parameters.",
    ),
    (f'"R{{i**9}}": {{for: {{i: 1..3}}, {R}}}', f"2:3: R{{i**9}}: found '{{i**9}}'. {INTEGERS}"),
    (f'"R{{i%0}}": {{for: {{i: 1..3}}, {R}}}', f"2:3: R{{i%0}}: found '{{i%0}}'. {INTEGERS}"),
    (
        f'"R{{i}}": {{for: {{i: 1..3}}, {R}}}\n  R2: {{{R}}}',
        "3:3: the component 'R2' is also in m.yaml:2:3. Rename one.",
    ),
]


@pytest.mark.parametrize(("entry", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_name_the_instance_and_the_line_of_the_pattern(read, entry, message):
    with pytest.raises(ct.FileError) as told:
        read(f"components:\n  {entry}\n")
    assert str(told.value) == f"m.yaml:{message}"


def test_an_index_that_is_a_parameter_is_told(read):
    with pytest.raises(ct.FileError, match=r"m\.yaml:3:17: the index 'i' is also a parameter\. Rename one of them\."):
        read(f'parameters: {{i: 3}}\ncomponents:\n  "R{{i}}": {{for: {{i: 1..3}}, {R}}}\n')


def test_the_number_of_all_entries_is_bounded(read, monkeypatch):
    assert assembly.MOST == 100_000
    monkeypatch.setattr(assembly, "MOST", 1000)
    rows = "".join(f'  "{c}{{i}}": {{for: {{i: 1..600}}, {R}}}\n' for c in "PQ")
    with pytest.raises(ct.FileError, match="the model has more than 1000 entries"):
        read(f"components:\n{rows}")
