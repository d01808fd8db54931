"""Arrays of components by pattern: one entry with ``for`` stands for many.

"link{i}": {for: {i: 2..10}, kind: rigid_body, shape: {rod: {length: 0.1*i, mass: 1}}, frames: {A: [0, 0, 0]}}
"J{i}": {for: {i: 2..10}, kind: revolute, frame_a: "link{i-1}.B", frame_b: "link{i}.A"}

An index counts through a range ``first..last`` or a list. In names and texts ``{i}``, ``{i-1}``, ``{2*i}`` stand for
numbers; in expressions the index may also stand by itself. Several indices give all their combinations. What differs
at the first or the last one is written as an entry of its own.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from cotree.errors import ModelError, listing
from cotree.maths.functions import ARITY, CONSTANTS
from cotree.model import Expression
from cotree.model.expression import syntax_tree

FOR = "for"
MOST = 100_000
"""Most entries that the patterns of a model may stand for."""
_RANGE = re.compile(r"\s*(-?\d{1,12})\s*\.\.\s*(-?\d{1,12})\s*\Z")
_BRACES = re.compile(r"\{([^{}]*)\}")
_TAKEN = {"x", "y", "z", "t", *ARITY, *CONSTANTS}
_EXAMPLE = "an index with its range, such as {i: 1..10}, or a list, such as {side: [left, right]}"

Indices = Mapping[str, int | str]


def instances(entry: Any, where: str) -> Iterator[Indices]:
    """The indices of every instance of an entry; one without any where it is no pattern."""
    if not isinstance(entry, dict) or FOR not in entry:
        yield {}
        return
    given = entry[FOR]
    if not isinstance(given, dict) or not given:
        raise ModelError(f"for is {given!r}", where=where, expected=_EXAMPLE)
    ranges = [_range(name, values, where) for name, values in given.items()]
    count = 1
    for each in ranges:
        count *= len(each)
    if count > MOST:
        raise ModelError(f"the pattern stands for {count} entries", where=where, expected=f"at most {MOST}")
    for values in itertools.product(*ranges):
        yield dict(zip(given, values, strict=True))


def _range(name: Any, given: Any, where: str) -> range | list[int | str]:
    if not isinstance(name, str) or not name.isidentifier() or name in _TAKEN:
        raise ModelError(
            f"the index {name!r} cannot be used",
            where=where,
            expected="letters, digits and _, and not x, y, z, t, a constant or a function",
        )
    if isinstance(given, list) and given and all(type(each) in (int, str) for each in given):
        return given
    found = _RANGE.match(given) if isinstance(given, str) else None
    if found is None:
        raise ModelError(f"the index {name} is {given!r}", where=where, expected=_EXAMPLE)
    first, last = int(found[1]), int(found[2])
    if last < first:
        raise ModelError(f"the index {name} runs from {first} to {last}", where=where, expected="a range that rises")
    return range(first, last + 1)


def filled(value: Any, indices: Indices, where: str) -> Any:
    """Data with the braces in all texts and names filled in."""
    if isinstance(value, str):
        return _BRACES.sub(lambda match: _number(match[1], indices, where), value) if "{" in value else value
    if isinstance(value, list):
        return [filled(each, indices, where) for each in value]
    if isinstance(value, dict):
        return {filled(key, indices, where): filled(each, indices, where) for key, each in value.items()}
    return value


def put_in(text: str, indices: Indices) -> str:
    """An expression with the indices as numbers."""
    numbers = {
        name: str(value) if value >= 0 else f"({value})" for name, value in indices.items() if isinstance(value, int)
    }
    return renamed(text, lambda name, rest: name + rest if rest else numbers.get(name, name))


_CALL = re.compile(r"(?<![\w.])([^\W\d]\w*)((?:\.\w+)*)(?=\s*\()")
_NAME = re.compile(r"(?<![\w.])([^\W\d]\w*)((?:\.\w+)*)(?!\s*\()(?![\w.])")


def renamed(text: str, new: Callable[[str, str], str], calls: Collection[str] = ()) -> str:
    """An expression with other names: ``new`` gets the first word of a name and the rest behind it, with its dot.

    What is called keeps its name, unless it is one of ``calls``.
    """
    try:
        if Expression(text).dimension is not None:
            return text
    except ModelError:
        return text  # told where it is read
    text = _NAME.sub(lambda match: new(match[1], match[2]), text)
    return _CALL.sub(lambda m: new(m[1], m[2]) if m[1] in calls else m[0], text) if calls else text


def _number(text: str, indices: Indices, where: str) -> str:
    """What stands for the braces: a word of a list, or the value of integer arithmetic on indices."""
    if text.strip() in indices:
        return str(indices[text.strip()])
    try:
        tree = syntax_tree(text) if len(text) <= 60 else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    value = None if tree is None else _whole(tree, indices)
    if value is None:
        raise ModelError(
            f"found '{{{text[:60]}}}'",
            where=where,
            expected=f"whole numbers and {listing(indices)} with + - * %, such as {{{next(iter(indices))}-1}}",
        )
    return str(value)


def _whole(node: ast.expr, indices: Indices) -> int | None:
    match node:
        case ast.Constant(value=int() as value) if not isinstance(value, bool) and abs(value) < 10**9:
            return value
        case ast.Name(id=name):
            value = indices.get(name)  # type: ignore[assignment]
            return value if isinstance(value, int) else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _whole(operand, indices)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Mod() as op, right=right):
            a, b = _whole(left, indices), _whole(right, indices)
            if a is None or b is None or (isinstance(op, ast.Mod) and b == 0):
                return None
            return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}.get(type(op), a % b if b else 0)
    return None
