"""What in an entry names other things, and what is an expression: the classes of the components tell.

A field that is given by its place in Python, such as ``frame_a`` or ``on``, names nodes, frames or components, and so
does one that says so itself. Physical values are expressions, wherever they stand inside of a field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from cotree.errors import ModelError
from cotree.io.bond_file import kind_name
from cotree.io.patterns import renamed
from cotree.model import KINDS, Component, find_kind
from cotree.terminal.characteristic import OWN

if TYPE_CHECKING:
    from cotree.bond.elements import BondPart

Change = Callable[[str], str]
POINTERS = ("on", "of", "frame_a", "frame_b")
"""Fields of parts of networks that name components or frames, not nodes."""


def kind_of(entry: Any) -> type[Component] | None:
    """The class of an entry; None where it has none, which is told when it is read."""
    try:
        return find_kind(kind_name(entry.get("kind")), "", [key for key in entry if key != "kind"])
    except (ModelError, AttributeError, TypeError):
        return None


def reference_keys(kind: type[Component]) -> frozenset[str]:
    """The keys of a kind that name nodes, frames or other components."""
    return _reference_keys(kind.kind)


@lru_cache(maxsize=1024)
def _reference_keys(name: str) -> frozenset[str]:
    kind = KINDS[name]
    labels = {port.label for port in kind.ports}
    own = {
        f.name
        for f in dataclasses.fields(kind)
        if f.name != "name"
        and "quantity" not in f.metadata
        and (("str" in str(f.type) and (not f.kw_only or f.name in (*POINTERS, *labels))) or f.metadata.get("refers"))
    }
    return frozenset(own | set(getattr(kind, "paths", ())) | ({"nodes"} if kind.ports else set()))


def node_keys(kind: type[Component]) -> frozenset[str]:
    """The keys of a kind that name nodes of a network."""
    return frozenset(key for key in reference_keys(kind) if kind.ports and key not in POINTERS)


def network_nodes(entries: Iterable[Any]) -> set[str]:
    """The nodes of networks that some entries name."""
    found: set[str] = set()
    for entry in entries:
        kind = kind_of(entry)
        for key in node_keys(kind) if kind is not None else ():
            given = entry.get(key)
            found |= {str(each) for each in (given if isinstance(given, list) else [given]) if each is not None}
    return found


@lru_cache(maxsize=1024)
def _forms(name: str) -> dict[str, Any]:
    """The JSON Schema of each key of a kind."""
    return {key: form.schema for key, form in KINDS[name].forms().items()}


def law_keys(kind: type[Component]) -> Collection[str]:
    """The keys of a kind whose expressions have variables of their own."""
    return getattr(kind, "texts", ())


def with_formulas(kind: type[Component], entry: Mapping[str, Any], change: Callable[[str, str], str]) -> dict[str, Any]:
    """An entry with its expressions changed; ``change`` gets the key and the text."""
    if kind.bonded:
        keys = cast("type[BondPart]", kind).scoped_fields()
        return {
            key: _every(value, lambda text, key=key: change(key, text)) if key in keys else value  # type: ignore[misc]
            for key, value in entry.items()
        }
    forms, laws = _forms(kind.kind), law_keys(kind)
    result: dict[str, Any] = {}
    for key, value in entry.items():
        if key in laws and isinstance(value, str):
            result[key] = change(key, value)
        elif key == "kind" or (key in reference_keys(kind) and not isinstance(value, dict)):
            result[key] = value
        else:
            result[key] = _valued(forms.get(key, {}), value, lambda text, key=key: change(key, text))  # type: ignore[misc]
    return result


def _every(value: Any, change: Change) -> Any:
    """All texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_every(each, change) for each in value]
    return {key: _every(each, change) for key, each in value.items()} if isinstance(value, dict) else value


def _valued(schema: Any, value: Any, change: Change) -> Any:
    """The texts changed that are values by their schema."""
    several = _alternatives(schema)
    if isinstance(value, str):
        numeric = any({"number", "string"} <= set(_types(each)) for each in several)
        word = any(value in each.get("enum", ()) for each in several)
        return change(value) if numeric and not word else value
    if isinstance(value, (list, tuple)):
        items = {"anyOf": [each["items"] for each in several if isinstance(each.get("items"), dict)]}
        return [_valued(items, each, change) for each in value]
    if isinstance(value, dict):
        return {key: _valued({"anyOf": _inside(several, key)}, each, change) for key, each in value.items()}
    return value


def _types(schema: Mapping[str, Any]) -> Collection[str]:
    kinds = schema.get("type", ())
    return (kinds,) if isinstance(kinds, str) else kinds


def _inside(several: list[dict[str, Any]], key: str) -> list[Any]:
    found = []
    for each in several:
        other = each.get("additionalProperties")
        inner = each.get("properties", {}).get(key, other if isinstance(other, dict) else None)
        found += [] if inner is None else [inner]
    return found


def _alternatives(schema: Any) -> list[dict[str, Any]]:
    if not isinstance(schema, dict):
        return []
    inner = [each for part in schema.get("anyOf", ()) for each in _alternatives(part)]
    return inner or [schema]


def _own_variables(kind: type[Component]) -> tuple[str, ...]:
    """What the laws of a kind are written in."""
    if not kind.bonded:
        return OWN
    from cotree.bond.masks import ARGUMENTS

    return ARGUMENTS


@dataclass(frozen=True)
class Renaming:
    """New names for everything in an included file: a prefix, and names outside that stand for names inside."""

    prefix: str
    join: Mapping[str, str]
    components: Collection[str]
    parameters: Collection[str]
    masks: Collection[str]
    datums: Collection[str]
    nodes: Collection[str] = ()
    """Nodes of networks in the file."""

    def name(self, name: str) -> str:
        """The new name of something that the file holds."""
        return f"{self.prefix}_{name}" if self.prefix else name

    def reference(self, given: Any, network: bool = False) -> Any:
        """The new name of a node, frame or component that is referred to; what the file does not hold stays."""
        if isinstance(given, (list, tuple)):
            return [self.reference(each, network) for each in given]
        if isinstance(given, dict):
            return {self.signal(key): value for key, value in given.items()}
        if not isinstance(given, (str, int)) or isinstance(given, bool):
            return given
        text = str(given)
        head, known = text.partition(".")[0], text
        while known:
            if known in self.join:
                return self.join[known] + text[len(known) :]
            known = known.rpartition(".")[0]
        if network:
            return given if text in self.datums else self.name(text)
        return self.name(text) if head in self.components else given

    def signal(self, given: Any) -> Any:
        """The new name of a result, of a component or at a node: ``a.voltage``, of a node that may have dots itself."""
        node = given.rpartition(".")[0] if isinstance(given, str) else ""
        while node and node not in self.nodes:
            node = node.rpartition(".")[0]
        return self.reference(given, bool(node) and node not in self.datums)

    def formula(self, text: str, own: Collection[str] = ()) -> str:
        """An expression with the new names of parameters and measured quantities."""

        def new(head: str, rest: str) -> str:
            if head in self.parameters and head not in own:
                return self.name(head) + rest
            return str(self.signal(head + rest)) if rest else head

        return renamed(text, new, self.parameters)

    def entry(self, entry: Any) -> Any:
        """An entry of a component with its new names."""
        kind = kind_of(entry)
        if kind is None:
            return entry
        laws = law_keys(kind)
        own = _own_variables(kind)
        entry = with_formulas(kind, entry, lambda key, text: self.formula(text, own if key in laws else ()))
        keys, nodes = reference_keys(kind), node_keys(kind)
        entry = {key: self.reference(value, key in nodes) if key in keys else value for key, value in entry.items()}
        return self.mask(entry) if kind.bonded else entry

    def mask(self, entry: Any) -> Any:
        """A mask, or a part that uses one, with the new names of the masks in it."""
        if not isinstance(entry, dict):
            return entry
        result = dict(entry)
        if isinstance(graph := entry.get("graph"), str) and graph in self.masks:
            result["graph"] = self.name(graph)
        if isinstance(parts := entry.get("components"), dict):
            result["components"] = {name: self.mask(part) for name, part in parts.items()}
        return result

    def bond(self, given: Any) -> Any:
        """A bond with the new names of its ends."""
        if isinstance(given, str):
            return " -> ".join(self.reference(end.strip()) for end in given.split("->"))
        if isinstance(given, dict):
            return {key: self.reference(end) if key in ("tail", "head") else end for key, end in given.items()}
        return self.reference(given)
