"""Model files that are damaged at random, the same way for the same number: as text, and as nested data."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).with_name("seeds")
SEEDS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yaml"))}
SELDOM = ("bond_compliant.yaml", "bond_frames.yaml", "bond_mechanics.yaml")
"""Files that take long to read."""

TOKEN = re.compile(r"[^\W\d][\w.]*|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|\s+|.", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")
CANARY = "fuzz_canary"
"""Hostile files try to make a file or a module of this name."""

_NUMBERS = """
    0 -0 1 -1 2 3 7 1e-300 5e-324 1e-12 1e12 1e300 1e308 -1e308 1e999 -1e999 .nan .inf -.inf nan inf 0x10 0o17 0b11
    1_000 12:30 12:30:45 1e 1.2.3 99999999999999999999999999 1e-400 0.1e1 007 +5 .5 5. 1/0 0/0 0**-1 (-1)**0.5
    10**10**10 9**9**9**9 100000 2147483648 1e5 300mm 300 mm 12 V 5 kN/m 30 deg 20 degC 3 apples mm m
"""
_WORDS = """
    null ~ true false yes no on off ground t pi e x y z A a.b.c a. .a ground.ground mass kind name nodes joint
    absolute steady components run masks bonds include for parameters gravity datum planar 1..3 3..1 1..999999999 i
    {i} {i-1} "" '' [] {} [[]] [{}] {a: 1} [1] [1,2,3] [1,[2]] [a,b] {kind: R} "->" A->A b1 sin cos( sin() sin(1,2)
    max(1) t.t __import__('os').system('touch+fuzz_canary') ().__class__ lambda:0 [x*x] x=1 a;b import fuzz_canary
    `id` $(id) ${HOME} ../../etc/passwd /etc/passwd fuzz_canary.yaml file:///etc/passwd C:\\x \\u0000 \\x41 rigid_body
    resistor bond.mask MTF 2026-11-16 2026-11-16T12:00:00Z !!str !!int !!binary !!set !!omap !!timestamp ! !local
    !!float !!null = <<
"""
NUMBERS, WORDS = _NUMBERS.split(), _WORDS.split()
UNICODE = [
    *"\xe9\u03c9\xb5\u03bc\xa0\u200b\u202e\ufeff\U0001f600\x00\x07\x85\u2028\ud7ff\ufffd\uff11\xb2\u2212\x09\x0d",
    "\r\n",
    "\x1b[31m",
    "\u0301",
]
LINES = [
    "---",
    "...",
    "--- # again",
    "%YAML 1.2",
    "%TAG ! tag:x,2000:",
    "? a",
    ": b",
    "- c",
    "? [a, b]\n: c",
    "&a",
    "*a",
    "<<: *a",
    "a: &a [1]",
    "b: *a",
    "a: &a {b: *a}",
    "<<: {kind: resistor}",
    "x: !!python/object/apply:os.system ['touch fuzz_canary']",
    "x: !!python/name:os.system",
    "x: !!python/module:fuzz_canary",
    "!!python/object/new:type {}",
    "a: !!binary aGk=",
    "a: |\n  text",
    "a: >\n  text",
    "a: |9\n x",
    "\ttab: 1",
    "# comment",
    "a: 'unclosed",
    'a: "unclosed',
    "a: [1, 2",
    "a: {b: 1",
    "a: b: c",
    "a:b",
    ": a",
    "a: @b",
    "a: %b",
    "a: `b`",
    'a: "\\q"',
    "a: !<x> y",
    "? ? ? a",
    "- - - a",
    "[" * 40,
    "{" * 40,
    "[" * 2000,
    "- " * 800 + "a",
    "a: " * 30,
    "{a: " * 300,
    "x" * 5000,
    "a: " + "9" * 5000,
    "a: 1e" + "9" * 300,
    "include: [nowhere.yaml]",
    "include: ../../etc/passwd",
    "include: [m.yaml]",
    "include: [part_stage.yaml, {file: part_drive.yaml, as: a}]",
    "include: /dev/zero",
    "include: language_include.yaml",
    "include: {file: m.yaml, as: left, with: {a: 1}}",
    "  'r{i}': {for: {i: 1..3}, kind: resistor, nodes: ['{i}', ground], resistance: i}",
    "  'r{i}': {for: {i: 1..99999999}, kind: resistor, nodes: ['{i}', ground], resistance: i}",
    "  'r{i}{j}': {for: {i: 1..3000, j: 1..3000}, kind: resistor, nodes: ['{i}', ground], resistance: '{j}'}",
    "run: {t_end: 1, start: steady}",
    "gravity: [0, 0]",
    "planar: maybe",
    "datum: []",
    "parameters: {t: 1, pi: 3, a: a}",
    "parameters: {a: b, b: a}",
    "  weld: {kind: weld, frame_a: ground, frame_b: ground}",
    "masks: {m: {components: {m: {kind: mask, graph: m}}}}",
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    0.5,
    -0.0,
    1e-300,
    1e300,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    10**30,
    "",
    " ",
    "t",
    "x",
    "ground",
    "1",
    "nan",
    "1/0",
    "0*t",
    "sin(t)",
    "a.b",
    "a.b.c",
    "A -> A",
    "a ->",
    "300 mm",
    "12 V",
    "30 deg",
    "5 parsec",
    "steady",
    [],
    [[]],
    {},
    [None],
    [1],
    [1, 2, 3],
    [0, 0, 0],
    [1, 2, 3, 4],
    [[1, 2], [3]],
    [[1, 2], [3, 4]],
    ["a", "b"],
    ["ground", "ground"],
    [True],
    [{}],
    {"a": 1},
    {"a": None},
    {"kind": "resistor"},
    {"": ""},
    {"position": [1, 2, 3]},
    {"rod": {"length": 1, "mass": 1}},
    {"grid": {"size": [1, 1], "cells": [1, 1]}},
    {"grid": {"size": [1, 1], "cells": [10**6, 10**6]}},
    {"file": "nowhere.vtk"},
    {"file": "/etc/passwd"},
    {"file": "/dev/zero"},
    {"file": "/dev/stdin"},
    [1e300, 1e300, 1e300],
    [1e-300] * 3,
    ["t", "t", "t"],
    "9" * 400,
    "x" * 3000,
    "+".join("x" * 900),
    "(" * 150 + "1" + ")" * 150,
    [[0, 0]],
    [[0, 0], [0, 1]],
    [[1, 0], [0, 1]],
    10**6,
    10**9,
    2**63,
    {"i": "1..3"},
    {"i": "1..99999999"},
    "{i}",
    "é",
    "\u202e",
    "a\nb",
    "\x1b[31m",
]


def mutant(number: int) -> tuple[str, str]:
    """The name of a file, and its text with one to four mistakes in it; some are written as JSON."""
    rng = random.Random(number)
    (name,) = rng.choices(list(SEEDS), [0.2 if name in SELDOM else 1.0 for name in SEEDS])
    return damaged(rng, name, SEEDS[name], DATA[name])


def damaged(rng: random.Random, name: str, text: str, data: Any) -> tuple[str, str]:
    """A file with one to four mistakes in it: its name may end in another way, for JSON."""
    if rng.random() < 0.5:
        return name, _text(rng, text)
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        data = rng.choice(_STRUCTURE)(rng, data)
    if rng.random() < 0.15 and not name.startswith("part_"):
        text = json.dumps(data, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1)))
        return f"{name[:-5]}.json", _text(rng, text) if rng.random() < 0.4 else text
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
    return name, _text(rng, text) if rng.random() < 0.1 else text


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes no anchors: every place has its own copy."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _names(data: Any) -> Any:
    """The data as Cotree reads them: YAML takes ``on`` for a truth value."""
    if isinstance(data, list):
        return [_names(item) for item in data]
    return (
        {"on" if key is True else str(key): _names(item) for key, item in data.items()}
        if isinstance(data, dict)
        else data
    )


DATA = {name: _names(yaml.safe_load(text)) for name, text in SEEDS.items()}

# -- as text -----------------------------------------------------------------------------------------------------------


def _text(rng: random.Random, text: str) -> str:
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        text = rng.choice(_TEXT)(rng, text)
    return text


def _characters(rng: random.Random, text: str) -> str:
    """Some characters are lost, doubled or changed."""
    at = rng.randrange(len(text) + 1)
    to = min(len(text), at + rng.choice((0, 1, 1, 1, 2, 5, 40)))
    new = rng.choice(
        ("", text[at:to] * 2, rng.choice(UNICODE), chr(rng.randrange(1, 127)), rng.choice("[]{}:,-#&*!|>'\"%@`\\ \n"))
    )
    return text[:at] + new + text[to:]


def _tokens(rng: random.Random, text: str) -> str:
    """A word or sign is lost, doubled, swapped with another, or replaced."""
    tokens = TOKEN.findall(text) or [""]
    words = [k for k, token in enumerate(tokens) if not token.isspace()] or [0]
    a, b = rng.choice(words), rng.choice(words)
    match rng.randrange(4):
        case 0:
            tokens[a] = ""
        case 1:
            tokens[a] = f"{tokens[a]}{rng.choice(('', ' '))}{tokens[a]}"
        case 2:
            tokens[a], tokens[b] = tokens[b], tokens[a]
        case _:
            tokens[a] = rng.choice(
                (rng.choice(WORDS), tokens[b], rng.choice(TOKEN.findall(rng.choice(list(SEEDS.values())))))
            )
    return "".join(tokens)


def _numbers(rng: random.Random, text: str) -> str:
    """A number becomes a strange one."""
    found = list(NUMBER.finditer(text))
    if not found:
        return text
    at = rng.choice(found)
    return text[: at.start()] + rng.choice(NUMBERS) + text[at.end() :]


def _lines(rng: random.Random, text: str) -> str:
    """A line is lost, doubled, moved, shifted, strange, or from another file."""
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(7):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case 2:
            lines[a], lines[b] = lines[b], lines[a]
        case 3:
            lines[a] = rng.choice((" ", "  ", "\t", "    ")) + lines[a]
        case 4:
            lines[a] = lines[a][rng.choice((1, 2, 4)) :]
        case 5:
            lines.insert(a, rng.choice(LINES))
        case _:
            lines.insert(a, rng.choice(rng.choice(list(SEEDS.values())).split("\n")))
    return "\n".join(lines)


def _cut(rng: random.Random, text: str) -> str:
    """The file ends early, or goes on as another one."""
    head = text[: rng.randrange(len(text) + 1)]
    other = rng.choice(list(SEEDS.values()))
    return head + rng.choice(("", "\n---\n" + other, other[rng.randrange(len(other)) :]))


_TEXT: list[Callable[[random.Random, str], str]] = [_characters, _tokens, _tokens, _numbers, _numbers, _lines, _cut]

# -- as data -----------------------------------------------------------------------------------------------------------


def places(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in nested data, but the whole."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def _at(data: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        data = data[key]
    return data


def _somewhere(rng: random.Random, data: Any) -> tuple[Any, Any]:
    """What holds a random entry, and its key; shallow entries are as likely as deep ones."""
    found = list(places(data))
    if not found:
        return {"name": "nothing is left"}, "name"
    depth = rng.choice(sorted({len(path) for path in found}))
    path = rng.choice([path for path in found if len(path) == depth])
    return _at(data, path[:-1]), path[-1]


def _replace(rng: random.Random, data: Any) -> Any:
    owner, key = _somewhere(rng, data)
    owner[key] = copy.deepcopy(rng.choice(VALUES))
    return data


def _remove(rng: random.Random, data: Any) -> Any:
    owner, key = _somewhere(rng, data)
    del owner[key]
    return data


def _rename(rng: random.Random, data: Any) -> Any:
    """A key gets another name; the entries keep their order."""
    owner, key = _somewhere(rng, data)
    if isinstance(owner, dict):
        new = rng.choice((*WORDS, *(str(path[-1]) for path in places(data))))
        entries = [(new if name == key else name, value) for name, value in owner.items()]
        owner.clear()
        owner.update(entries)
    return data


def _swap(rng: random.Random, data: Any) -> Any:
    (one, a), (two, b) = _somewhere(rng, data), _somewhere(rng, data)
    first, second = copy.deepcopy(one[a]), copy.deepcopy(two[b])
    one[a] = second
    if b in two if isinstance(two, dict) else b < len(two):
        two[b] = first
    return data


def _graft(rng: random.Random, data: Any) -> Any:
    """An entry of another file stands in place of one, or beside it."""
    other = DATA[rng.choice(list(DATA))]
    giver, theirs = _somewhere(rng, other)
    owner, key = _somewhere(rng, data)
    if isinstance(owner, dict) and isinstance(theirs, str) and rng.random() < 0.6:
        key = theirs
    owner[key] = copy.deepcopy(giver[theirs])
    return data


def _kind(rng: random.Random, data: Any) -> Any:
    """A component becomes one of another kind, as likely as not with the values of that kind beside its own."""
    parts = data.get("components") if isinstance(data, dict) else None
    parts = [part for part in parts.values() if isinstance(part, dict)] if isinstance(parts, dict) else []
    others = [part for each in DATA.values() for part in each["components"].values()]
    if parts:
        part, other = rng.choice(parts), copy.deepcopy(rng.choice(others))
        part.update(other if rng.random() < 0.5 else {"kind": other["kind"]})
    return data


def _nest(rng: random.Random, data: Any) -> Any:
    owner, key = _somewhere(rng, data)
    for _ in range(rng.choice((1, 1, 2, 5, 60))):
        owner[key] = [owner[key]] if rng.random() < 0.5 else {rng.choice(("a", "kind", "x")): owner[key]}
    return data


def _lengthen(rng: random.Random, data: Any) -> Any:
    """A list or mapping gets further entries like its own."""
    owner, key = _somewhere(rng, data)
    for k in range(rng.choice((1, 2, 30))):
        if isinstance(owner, list):
            owner.append(copy.deepcopy(owner[key]))
        else:
            owner[f"{key}{k}"] = copy.deepcopy(owner[key])
    return data


_STRUCTURE: list[Callable[[random.Random, Any], Any]] = [
    _replace,
    _replace,
    _replace,
    _remove,
    _rename,
    _swap,
    _graft,
    _graft,
    _kind,
    _kind,
    _nest,
    _lengthen,
]
