"""Where errors point: line and column of the wrong text, with its line and a caret below."""

from __future__ import annotations

import pytest

import cotree as ct
from cotree.io import yaml_source
from cotree.io.yaml_source import Source


def told(read, text):
    with pytest.raises(ct.CotreeError) as error:
        derive(read, text)
    return error.value


def derive(read, text):
    file = read(text)
    with file.about():
        file.model.equations()


R = "  R1: {kind: resistor, nodes: [a, ground], resistance: 1}\n"
CASES = {  # the word at which the caret must stand
    "resistance: 2*Q": ("components:\n  R1: {kind: resistor, nodes: [a, ground], resistance: 2*Q}\n", "Q}"),
    "a field": ("components:\n  R1: {kind: resistor, nodes: [a, ground], resistnce: 2}\n", "resistnce"),
    "a kind": ("components:\n  R1: {kind: resistr, nodes: [a, ground], resistance: 2}\n", "resistr"),
    "a value": ("components:\n  R1:\n    kind: resistor\n    nodes: [a, ground]\n    resistance: -2\n", "-2"),
    "an entry of a vector": (
        "components:\n  b: {kind: rigid_body, mass: 1, inertia: [1, 1, 1], centre: [0, 0, 2 kg]}\n", "2 kg"),
    "a parameter": (f"parameters: {{a: 1, b: 2*c}}\ncomponents:\n{R}", "c}"),
    "gravity": (f"gravity: [0, 1 m, 0]\ncomponents:\n{R}", "1 m"),
    "a run setting": (f"components:\n{R}run: {{t_end: 2 kg}}\n", "2 kg"),
    "a start value": (f"components:\n{R}run: {{start: {{R1.current: x}}}}\n", "x}}"),
    "a bond": (
        "components:\n  F: {kind: Se, effort: 5}\n  j: {kind: 1}\n  m: {kind: I, inertia: 1}\n"
        "bonds: {a: F -> j, b: j -> mm}\n", "mm}"),
    "a part of a mask": (
        "masks: {g: {ports: {a: r}, components: {r: {kind: Rr, resistance: 1}}, bonds: []}}\n"
        "components:\n  F: {kind: Se, effort: 5}\n  M: {kind: mask, graph: g}\nbonds: [F -> M.a]\n", "Rr"),
    "a quoted text": ('components:\n  R1: {kind: "resistr", nodes: [a, ground], resistance: 2}\n', '"resistr"'),
    "text with wide letters": (f"name: Größe äöü\ncomponents:\n{R}  Rö: {{kind: resistr}}\n", "resistr"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_caret_stands_at_the_wrong_text(read, case):
    text, word = CASES[case]
    error = told(read, text)
    assert len(error.__notes__) == 1
    line, caret = error.__notes__[0].splitlines()
    assert line[caret.index("^") :].startswith(word)
    row, column = (int(part) for part in error.where.split(":")[1:3])
    assert text.splitlines()[row - 1][column - 1 :].startswith(word)


def test_a_long_line_is_cut_around_the_place(read):
    rest = ", ".join(f"p{k}: {k}" for k in range(100))
    error = told(read, f"parameters: {{{rest}, bad name: 3, {rest.replace('p', 'q')}}}\ncomponents:\n{R}")
    line, caret = error.__notes__[0].splitlines()
    assert len(line) < 120
    assert line[caret.index("^") :].startswith("bad name")
    assert line.count("...") == 2


def test_the_excerpt_has_no_control_characters():
    source = Source("name:\ta\n", "m.yaml")
    assert source.excerpt((1, 7)) == "   1 | name: a\n     |       ^"


def test_a_model_from_plain_data_has_no_places():
    with pytest.raises(ct.CotreeError) as error:
        ct.Model.from_mapping({"components": {"R": {"kind": "resistr"}}})
    assert str(error.value).startswith("data: R: there is no kind of component 'resistr'.")
    assert not hasattr(error.value, "__notes__")


YAML = {
    "tabs": ("a:\n\tb: 1\n", "2:1: a tab indents this line. Indent with spaces."),
    "second colon": ("a: b: c\n", "1:5: a second ': ' in one line. Put the text in quotes, or begin a new line."),
    "no space": ("a:5\nb: 3\n", "1:3: a space is missing behind the ':'. Write name: value."),
    "no colon": ("name: x\ncomponents\nrun: 1\n", "2:1: a ':' is missing in this entry. Write name: value, with a "
                 "space behind the colon."),
    "open list": ("a: [1,\nb: 2\n", "1:4: the bracket '[' of line 1, column 4 is not closed here, or a comma is "
                  "missing. Close it with ']', or put a comma between its entries."),
    "open to the end": ("a: {b: 1\n", "1:4: the bracket '{' of line 1, column 4 is not closed here, or a comma is "
                        "missing. Close it with '}', or put a comma between its entries."),
    "open quotes": ("a: 'x\nb: 2\n", "1:4: quotes are opened here and never closed. Close them."),
    "indentation": ("a:\n   b: 1\n  c: 2\n", "3:3: this line does not fit to those before it. Indent all entries of a "
                    "group alike, as name: value."),
    "list and mapping": ("a:\n  - 1\n  b: 2\n", "3:3: this line stands inside a list. Begin each entry of the list "
                         "with '- ' in the same column."),
    "reserved": ("a: @x\n", "1:4: a text cannot begin with '@'. Put the text in quotes."),
    "backslash": ('a: "C:\\windows"\n', "1:7: a backslash in double quotes begins an escape that is not known. Use "
                  "single quotes."),
    "two documents": ("a: 1\n---\nb: 2\n", "2:1: a second document begins here. Keep one model in a file, without "
                      "---."),
    "merge": ("a:\n  <<: {b: 1}\n", "2:3: merge keys (<<) are not used. Write the values out, or use a parameter."),
    "anchor": ("a: &x 5\n", "1:4: anchors and aliases (& and *) are not used. Put a text that begins with & or * in "
               "quotes; write values out."),
    "tag": ("a: !!python/name:os.system\n", "1:4: the tag '!!python/name:os.system' is not used. Put a text that "
            "begins with ! in quotes."),
    "binary": ("a: !!binary aGk=\n", "1:4: the tag '!!binary' is not used. Put a text that begins with ! in quotes."),
    "list as a key": ("? [a]\n: 1\n", "1:3: a list or a mapping stands where a name belongs. Put a name in quotes."),
    "nothing as a key": ("~: 1\n", "1:1: the key '~' is not a name. Put it in quotes: YAML reads ~ and null as "
                         "nothing."),
    "control character": ("a: 1\nb: \x01\n", "2:1: a character cannot be read: control characters are not allowed."),
}  # fmt: skip
ODD = {
    "12:30": "YAML reads '12:30' as a number to the base of 60", "010": "'010' begins with a zero, which YAML reads as "
    "a number to the base of 8", "0x1F": "'0x1F' is no decimal number", "2024-01-05": "YAML reads '2024-01-05' as a "
    "date", ".nan": "the number .nan is not finite", "-.inf": "the number -.inf is not finite",
    "1e999": "the number 1e999 is too large", "9" * 400: "a number of 400 digits",
}  # fmt: skip


@pytest.mark.parametrize("case", YAML)
def test_what_is_not_yaml_is_told_in_plain_words(case):
    text, message = YAML[case]
    with pytest.raises(ct.FileError) as error:
        Source(text, "m.yaml")
    assert str(error.value) == f"m.yaml:{message}"


@pytest.mark.parametrize("text", ODD)
def test_what_yaml_reads_as_something_else_is_refused(text):
    with pytest.raises(ct.FileError) as error:
        Source(f"a: {text}\n", "m.yaml")
    assert str(error.value) == (
        f"m.yaml:1:4: {ODD[text]}. Write a number with digits and a point; put a name or a text in quotes."
    )
    assert Source(f"a: '{text}'\n", "m.yaml").data == {"a": text}
    assert Source(f"'{text}': 1\n", "m.yaml").data == {text: 1}


def test_words_numbers_and_truth_values():
    text = "{a: 1, b: -2.5e3, c: 2.1e11, d: yes, e: No, f: ~, g: 300 mm, h: 1_000, i: 1.5.2, j: +.5, k: 1e-3, l: Null}"
    assert Source(text, "m.yaml").data == {
        "a": 1, "b": -2500.0, "c": 2.1e11, "d": True, "e": False, "f": None, "g": "300 mm", "h": 1000, "i": "1.5.2",
        "j": 0.5, "k": 1e-3, "l": None,
    }  # fmt: skip
    assert Source("on: 1\n1: 2\n010: 3\n", "m.yaml").data == {"on": 1, "1": 2, "010": 3}


def test_depth_and_length_are_bounded():
    with pytest.raises(ct.FileError, match="nested more than 100 deep"):
        Source("[" * 100_000, "m.yaml")
    assert Source("a: " + "9" * 50_000 + "x", "m.yaml").data["a"].endswith("9x")
    with pytest.raises(ct.FileError, match="a text of 200000 characters"):
        Source("a: " + "x" * 200_000, "m.yaml")
    assert yaml_source.MAX_BYTES <= 20_000_000


def test_a_thousand_components_are_read_event_by_event(read):
    """No limit of recursion or of the parser stands in the way of large files."""
    rows = "".join(f"  R{k}: {{kind: resistor, nodes: [n{k}, n{k + 1}], resistance: {k + 1}}}\n" for k in range(1000))
    ends = "  V: {kind: voltage_source, nodes: [n0, ground], voltage: 5}\n"
    file = read(f"components:\n{rows}{ends}  E: {{kind: resistor, nodes: [n1000, ground], resistance: 1}}\n")
    assert len(file.model.components) == 1002
