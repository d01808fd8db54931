"""Bond graphs in model files: bonds written short, and masks.

components:
  V: {kind: Se, effort: 5}
  j: {kind: 1}
  M: {kind: mask, graph: motor, values_of: {K: 0.05}}
bonds: [V -> j, j -> M.supply]            # numbered b1, b2, ...; or by name: {b1: V -> j, b2: [j, M.supply]}
masks:
  motor: {ports: {supply: i}, parameters: {K: null}, components: {...}, bonds: [...]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cotree.errors import ModelError, listing, nearest
from cotree.model import KINDS, find_kind
from cotree.model.kinds import PARTS

if TYPE_CHECKING:
    from cotree.bond.elements import BondPart
    from cotree.bond.junctions import Bond
    from cotree.bond.masks import Graph

GRAPH_KEYS = ("ports", "parameters", "components", "bonds")
DEEPEST = 20
"""Most masks inside each other."""
MASK = "bond.mask"


def bonds_of(given: Any, taken: Mapping[str, Any]) -> Iterator[tuple[str, str | int, Callable[[], Bond]]]:
    """Each bond of an entry: its name, its place in the entry, and how to make it."""
    if given is None:
        return
    if isinstance(given, list):
        from cotree.bond.masks import next_bond

        names: dict[str, Any] = dict(taken)
        for place, each in enumerate(given):
            name = next_bond(names)
            names[name] = each
            yield name, place, lambda name=name, each=each: bond_from(name, each)  # type: ignore[misc]
        return
    if not isinstance(given, dict):
        raise ModelError(f"bonds is {given!r}", expected="a list such as [V -> j, j -> R], or bonds by name")
    for name, each in given.items():
        yield str(name), name, lambda name=name, each=each: bond_from(str(name), each)  # type: ignore[misc]


def bond_from(name: str, given: Any) -> Bond:
    """A bond as files write it."""
    from cotree.bond.junctions import Bond

    expected = f"{name}: tail -> head, or {name}: {{tail: ..., head: ..., width: ...}}"
    width = None
    if isinstance(given, dict):
        unknown = [key for key in given if key not in ("tail", "head", "width")]
        if unknown or not {"tail", "head"} <= given.keys():
            raise ModelError(f"found {given!r}", where=f"bond {name}", expected=expected)
        ends, width = [given["tail"], given["head"]], given.get("width")
    elif isinstance(given, str):
        ends = [end.strip() for end in given.split("->")]
    else:
        ends = list(given) if isinstance(given, (list, tuple)) else []
    if len(ends) != 2 or not all(isinstance(end, (str, int)) and not isinstance(end, bool) for end in ends):
        raise ModelError(f"found {given!r}", where=f"bond {name}", expected=expected)
    return Bond(name, str(ends[0]), str(ends[1]), width=width)


def read_masks(given: Mapping[str, Any], before: Mapping[str, Graph] | None = None) -> dict[str, Graph]:
    """The masks of a file by name; one may use those before it."""
    masks = dict(before or {})
    for name, entry in given.items():
        masks[str(name)] = read_graph(str(name), entry, masks)
    return masks


def read_graph(name: str, entry: Any, masks: Mapping[str, Graph], depth: int = 0) -> Graph:
    """The graph of a mask."""
    from cotree.bond.masks import Graph

    where = f"mask {name}"
    if depth > DEEPEST:
        raise ModelError(f"more than {DEEPEST} masks inside each other", where=where)
    if not isinstance(entry, dict):
        raise ModelError(f"found {entry!r}", where=where, expected=f"a mapping with {listing(GRAPH_KEYS)}")
    for key in entry:
        if key not in (*GRAPH_KEYS, "name"):
            raise ModelError(
                f"unknown entry '{key}'", where=where, expected=f"one of {listing(GRAPH_KEYS)}",
                remedy=nearest(str(key), GRAPH_KEYS),
            )  # fmt: skip
    ports, parameters, parts = (_names(entry.get(key), f"{where}.{key}") for key in GRAPH_KEYS[:3])
    for port, end in ports.items():
        if not isinstance(end, (str, int)) or isinstance(end, bool):
            raise ModelError(
                f"port '{port}' is {end!r}", where=where, expected="the name of an element inside, or element.port"
            )
    graph = Graph(name, {port: str(end) for port, end in ports.items()}, dict(parameters))
    try:
        for part, data in parts.items():
            graph.add(read_part(part, data, masks, depth + 1))
        for _, _, make in bonds_of(entry.get("bonds"), graph.components):
            graph.add(make())
    except ModelError as error:
        error.within(where)
        raise
    return graph


def _names(given: Any, where: str) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ModelError(f"found {given!r}", where=where, expected="name: value entries")
    return {str(name): value for name, value in given.items()}


def read_part(name: str, data: Any, masks: Mapping[str, Graph], depth: int = 0) -> BondPart:
    """A part of a bond graph from its entry."""
    from cotree.bond.elements import BondPart
    from cotree.bond.masks import Mask

    if not isinstance(data, dict):
        raise ModelError(f"found {data!r}", where=name, expected="{kind: ..., ...}")
    kind = find_kind(kind_name(data.get("kind")), name, [key for key in data if key != "kind"])
    if not issubclass(kind, BondPart):
        raise ModelError(f"{kind.kind} is no part of a bond graph", where=name)
    values = {key: value for key, value in data.items() if key != "kind"}
    if issubclass(kind, Mask):
        values["graph"] = _graph(name, values.get("graph"), masks, depth)
    return kind.from_data(name, values)


def check_bonded(name: str, data: Mapping[str, Any]) -> None:
    """Refuse a component of networks in a file that has bonds, and name the part of bond graphs with its law."""
    from cotree.bond.network_table import PART_OF

    kind = find_kind(kind_name(data.get("kind")), name, [key for key in data if key != "kind"])
    if kind.bonded:
        return
    pair = PART_OF.get(kind)
    letter = getattr(pair.part, "letter", "") if pair is not None else ""
    own = f"'{pair.part.kind}'" + (f", or its element '{letter}'" if letter else "") if pair is not None else ""
    known = [each.removeprefix("bond.") for each, cls in KINDS.items() if cls.bonded]
    close = nearest(kind.kind.rpartition(".")[2], known)  # revolute: revolute_joint
    raise ModelError(
        f"{kind.kind} is no part of a bond graph, and this file has bonds", where=name,
        expected="parts of bond graphs only", remedy=f"Use {own}" if own else close,
    )  # fmt: skip


def check_unbonded(name: str, data: Mapping[str, Any]) -> None:
    """Refuse a word that means a part of bond graphs where a block of signals has it too, in a file without bonds."""
    kind = data.get("kind")
    if str(kind) not in PARTS and "." not in str(kind) and f"control.{kind}" in KINDS and f"bond.{kind}" in KINDS:
        raise ModelError(
            f"'{kind}' alone is a part of bond graphs, and this file has no bonds", where=name,
            expected="parts of networks and mechanisms, and blocks", remedy=f"Write control.{kind}",
        )  # fmt: skip


def _graph(name: str, given: Any, masks: Mapping[str, Graph], depth: int) -> Graph:
    if isinstance(given, dict):
        return read_graph(str(given.get("name", name)), given, masks, depth)
    if not isinstance(given, str) or given not in masks:
        raise ModelError(
            f"there is no mask '{given}'", where=f"{name}.graph",
            expected=f"one of {listing(masks)}" if masks else "a mask under masks:", remedy=nearest(str(given), masks),
        )  # fmt: skip
    return masks[given]


def kind_name(given: Any) -> Any:
    """A kind as files write it: junctions may be the numbers 0 and 1."""
    return (
        f"bond.{given}" if type(given) is int and given in (0, 1) else f"bond.{given}" if given in ("0", "1") else given
    )


def write_bonds(data: dict[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a model with its bonds and masks in sections of their own."""
    from cotree.bond.junctions import Bond
    from cotree.bond.masks import bond_data, graph_data

    bonds = {name: bond_data(part) for name, part in components.items() if isinstance(part, Bond)}
    masks: dict[str, Graph] = {}
    for graph in _graphs(components):
        if masks.setdefault(graph.name, graph) is not graph and graph_data(masks[graph.name]) != graph_data(graph):
            raise ModelError(
                f"two masks with the name '{graph.name}' hold different graphs", where=f"mask {graph.name}",
                expected="a name of its own for every graph", remedy="Rename one",
            )  # fmt: skip
    parts = {name: _named(entry) for name, entry in data["components"].items() if name not in bonds}
    plain = ("components", "datum") if data["datum"] == "ground" else ("components",)
    own = {key: value for key, value in data.items() if key not in plain}
    shared: dict[str, Any] = {}
    for name, graph in masks.items():
        inside = graph_data(graph)
        inside["components"] = {part: _named(entry) for part, entry in inside["components"].items()}
        shared.setdefault("masks", {})[name] = inside
    return {**own, **shared, "components": parts, "bonds": bonds}


def _graphs(components: Mapping[str, Any]) -> Iterator[Graph]:
    """Every graph that masks use, inner ones first."""
    from cotree.bond.masks import Mask

    for part in components.values():
        if isinstance(part, Mask):
            yield from _graphs(part.graph.components)
            yield part.graph


def _named(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry whose mask goes by its name."""
    graph = entry.get("graph")
    return {**entry, "graph": graph["name"]} if isinstance(graph, dict) else entry
