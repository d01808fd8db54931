"""Plain words of YAML as values: text, numbers, truth values. What YAML would read as something else is refused.

YAML turns ``12:30`` into 750, ``010`` into 8 and ``2024-01-05`` into a date. Nobody who writes a model means that.
"""

from __future__ import annotations

import math
import re

MOST_DIGITS = 300
MAX_TEXT = 100_000
"""Longest single text in a file, in characters."""

_NULL = {"", "~", "null", "Null", "NULL"}
_TRUTH = {word: truth for truth, words in ((True, "true yes on"), (False, "false no off")) for word in words.split()}
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_GROUPED = re.compile(r"[-+]?[1-9][0-9]*(_[0-9]+)+\Z")
_DECIMAL = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?\Z")
_MAYBE = re.compile(r"[-+.0-9]")
_ODD = (
    (re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z"), "the number {0} is not finite"),
    (re.compile(r"[-+]?0[xob][0-9a-fA-F_]+\Z"), "'{0}' is no decimal number"),
    (re.compile(r"[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?\Z"), "YAML reads '{0}' as a number to the base of 60"),
    (re.compile(r"[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?([Tt \t].*)?\Z"), "YAML reads '{0}' as a date"),
)
QUOTES = "Write a number with digits and a point; put a name or a text in quotes"


class OddScalar(ValueError):
    """A word that YAML reads as something that nobody means; the message says what."""


def plain_value(text: str) -> object:
    """The value of a word without quotes: None, a truth value, a number, or the text itself."""
    if not text or not _MAYBE.match(text):
        if text in _NULL:
            return None
        truth = _TRUTH.get(text.lower()) if len(text) < 6 else None
        return text if truth is None or text not in (text.lower(), text.upper(), text.capitalize()) else truth
    if len(text) > MOST_DIGITS:
        if text.lstrip("+-").replace(".", "", 1).isdecimal():
            raise OddScalar(f"a number of {len(text)} digits")
        return text
    if _WHOLE.match(text) or _GROUPED.match(text):
        return int(text)
    if _DECIMAL.match(text):
        if re.match(r"[-+]?0[0-9]+\Z", text):
            raise OddScalar(f"'{text}' begins with a zero, which YAML reads as a number to the base of 8")
        if math.isinf(value := float(text)):
            raise OddScalar(f"the number {text[:40]} is too large")
        return value
    for pattern, found in _ODD:
        if pattern.match(text):
            raise OddScalar(found.format(text[:40]))
    return text
