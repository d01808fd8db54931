"""What a drawing of a bond graph shows at some level: symbols, bonds and signal bonds as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import casadi as ca

from cotree.bond import Block, Bond, Integrator, Mask, Sensor
from cotree.bond.causality import assign
from cotree.bond.elements import BondPart, Element
from cotree.bond.opening import open_graph
from cotree.bond.structure import JUNCTIONS, BondStructure, Line, Vertex
from cotree.errors import ModelError, listing, nearest
from cotree.model import Model

Stroke = Literal["tail", "head", "mixed"] | None

_DETECTORS = {"effort": "De", "flow": "Df", "momentum": "Dp", "displacement": "Dq"}


@dataclass(frozen=True)
class Symbol:
    """An element ``I: m``, a junction with its name beside it, or a box with a name: a mask, a block."""

    name: str
    letter: str = ""
    text: str = ""
    box: bool = False

    @property
    def junction(self) -> bool:
        """Whether its name stands beside it."""
        return self.letter in JUNCTIONS and not self.box

    @property
    def shown(self) -> str:
        """The text at its place."""
        if self.junction:
            return self.letter
        return f"{self.letter}: {self.text}" if self.letter and self.text else self.letter or self.text


@dataclass(frozen=True)
class Arrow:
    """A bond; ``wide`` ones are multibonds with ``width`` printed beside, ``stroke`` is the end of the causal bar."""

    name: str
    tail: str
    head: str
    wide: bool = False
    stroke: Stroke = None
    label: str = ""
    width: str = ""


@dataclass(frozen=True)
class Activated:
    """A signal bond."""

    tail: str
    head: str

    @property
    def name(self) -> str:
        """Its ends."""
        return f"{self.tail} -> {self.head}"


@dataclass(frozen=True)
class Picture:
    """All that is drawn."""

    symbols: tuple[Symbol, ...]
    arrows: tuple[Arrow, ...] = ()
    signals: tuple[Activated, ...] = ()
    title: str = ""

    @property
    def bonds(self) -> tuple[Arrow | Activated, ...]:
        """All bonds, the signal bonds last."""
        return (*self.arrows, *self.signals)


def picture_of(model: Model, level: str = "masks") -> Picture:
    """What to draw of a model: its top level with ``masks`` as boxes, all ``open``, or the inside of a mask by name."""
    parts = dict(parts_of(model))
    if level in ("masks", "open"):
        inside, whole, title = "", level == "open", model.name
    else:
        part = parts.get(level)
        if part is None or isinstance(part, (Element, Bond, Sensor, Block, Integrator)):
            masks = [
                path for path, each in parts.items() if not isinstance(each, (Element, Bond, Sensor, Block, Integrator))
            ]
            raise ModelError(
                f"'{level}' is no mask", where=f"level of the drawing of {model.name}",
                expected=f"masks, open, or one of {listing(masks)}" if masks else "masks or open: there is no mask",
                remedy=nearest(level, ["masks", "open", *masks]),
            )  # fmt: skip
        inside, whole, title = f"{level}.", not isinstance(part, Mask), f"{model.name}: {level}"
    return _View(open_graph(model), parts, inside, whole).picture(title)


def parts_of(model: Model) -> Iterator[tuple[str, BondPart]]:
    """All parts with their paths, those inside masks included."""

    def walk(path: str, part: BondPart) -> Iterator[tuple[str, BondPart]]:
        yield path, part
        if isinstance(part, Mask):
            for inner in part.graph.components.values():
                yield from walk(f"{path}.{inner.name}", inner)

    for component in model.components.values():
        if isinstance(component, BondPart):
            yield from walk(component.name, component)


class _View:
    """The opened graph, seen at one level."""

    def __init__(self, structure: BondStructure, parts: dict[str, BondPart], inside: str, whole: bool) -> None:
        self.structure, self.parts, self.inside, self.whole = structure, parts, inside, whole
        self.causality = assign(structure)
        self.symbols: dict[str, Symbol] = {}

    def picture(self, title: str) -> Picture:
        for name, vertex in self.structure.vertices.items():
            self._add(name, vertex)
        self._add_signal_parts()
        arrows = self._arrows()
        return Picture(tuple(self.symbols.values()), tuple(arrows), tuple(self._signals()), title)

    def child(self, path: str) -> str | None:
        """The symbol of this level that a path belongs to; None where it is outside."""
        if not path.startswith(self.inside):
            return None
        return path if self.whole else self.inside + path[len(self.inside) :].partition(".")[0]

    def _short(self, path: str) -> str:
        return path.removeprefix(self.inside)

    def _add(self, name: str, vertex: Vertex) -> None:
        place = self.child(name)
        if place is None or place in self.symbols:
            return
        part = self.parts.get(place)
        short = self._short(place)
        if self.whole or isinstance(part, Element):
            text = vertex.text or short
            self.symbols[place] = Symbol(place, vertex.shown, short if vertex.letter in JUNCTIONS else text)
        else:
            self.symbols[place] = Symbol(place, "", short, box=True)

    def _add_signal_parts(self) -> None:
        for path, part in self.parts.items():
            place = self.child(path)
            if place is None or place in self.symbols or (place != path and not self.whole):
                continue
            if isinstance(part, Sensor):
                self.symbols[path] = Symbol(path, _DETECTORS[part.measures], self._short(path))
            elif isinstance(part, Integrator):
                self.symbols[path] = Symbol(path, "∫", self._short(path), box=True)
            elif isinstance(part, Block):
                self.symbols[path] = Symbol(path, "f", self._short(path), box=True)

    # -- bonds -----------------------------------------------------------------------------------------------------

    def _bond_of(self, line: Line) -> str:
        """The bond that the user drew, of which a line is one multibond; or the line itself inside a library mask."""
        path = line.name
        while path:
            if isinstance(self.parts.get(path), Bond):
                return path
            path = path.rpartition(".")[0]
        return line.name

    def _arrows(self) -> list[Arrow]:
        groups: dict[tuple[str, str, str], list[Line]] = {}
        for line in self.structure.lines.values():
            tail, head = self.child(line.tail[0]), self.child(line.head[0])
            if tail is None and head is None:
                continue
            bond = self._bond_of(line)
            if tail is not None and head is not None:
                if not self.whole and self.child(bond) != bond:
                    continue  # inside a mask that is drawn as a box
            else:
                port = f"{line.name if self.whole else bond}/{'head' if tail is None else 'tail'}"
                self.symbols.setdefault(port, Symbol(port, "", self._port(bond, head is not None), box=False))
                tail, head = tail or port, head or port
            groups.setdefault((line.name if self.whole else bond, tail, head), []).append(line)
        return [self._arrow(name, tail, head, lines) for (name, tail, head), lines in groups.items()]

    def _port(self, bond: str, entering: bool) -> str:
        """The name of the mask's port where a bond from outside ends."""
        part = self.parts.get(bond)
        if isinstance(part, Bond):
            prefix = bond.rpartition(".")[0]
            end = part.head if entering else part.tail
            full = f"{prefix}.{end}" if prefix else end
            if full.startswith(self.inside):
                return full.removeprefix(self.inside)
            mask = self.parts.get(self.inside[:-1])
            if f"{full}." == self.inside and isinstance(mask, Mask):
                return next(iter(mask.graph.ports), bond)
        return bond

    def _arrow(self, name: str, tail: str, head: str, lines: list[Line]) -> Arrow:
        widths = [line.width for line in lines]
        same = len(set(widths)) == 1
        width = "" if widths == [1] else f"{widths[0]}" if len(lines) == 1 else ""
        if len(lines) > 1:
            width = f"{len(lines)}×{widths[0]}" if same else "+".join(map(str, widths))
        strokes = {self._stroke(line) for line in lines}
        stroke: Stroke = strokes.pop() if len(strokes) == 1 else "mixed"
        bond = self._bond_of(lines[0])
        # Inside library masks, bonds of one element go without names; in the whole graph all of them do.
        named = isinstance(self.parts.get(bond), Bond) or (self.inside and name not in (f"{tail}.bond", f"{head}.bond"))
        label = self._short(name if self.inside else bond) if named else ""
        return Arrow(name, tail, head, sum(widths) > 1, stroke, label, width)

    def _stroke(self, line: Line) -> Stroke:
        found = self.causality.strokes.get(line.name)
        return found if found in ("tail", "head") else None if found is None else "mixed"  # type: ignore[return-value]

    # -- signals ---------------------------------------------------------------------------------------------------

    def _signals(self) -> list[Activated]:
        found: dict[tuple[str, str], Activated] = {}
        for source, user in self._uses():
            tail, head = self.child(source), self.child(user)
            if tail is None or head is None or tail == head or not {tail, head} <= set(self.symbols):
                continue
            found.setdefault((tail, head), Activated(tail, head))
        return list(found.values())

    def _uses(self) -> Iterator[tuple[str, str]]:
        """Where each signal comes from and where it goes, as paths in the opened graph."""
        structure = self.structure
        for path, (of, measures) in structure.sensors.items():
            source = self._source(f"{of}.{measures}")
            if source:
                yield source, path
        for name, vertex in structure.vertices.items():
            values = [each for each in (vertex.matrix, vertex.value) if each is not None]
            for signal in {**dict.fromkeys(vertex.used), **dict.fromkeys(self._named(values))}:
                source = self._source(signal)
                if source:
                    yield source, name
        for signal, output in structure.definitions.items():
            yield from self._into(self._owner(signal), [output.expression])
        for integral in structure.integrals:
            yield from self._into(integral.owner, [integral.rate])

    def _into(self, user: str, values: list[ca.SX]) -> Iterator[tuple[str, str]]:
        if isinstance(self.parts.get(user), (Block, Integrator)):
            for signal in self._named(values):
                source = self._source(signal)
                if source:
                    yield source, user

    def _named(self, values: list[ca.SX]) -> list[str]:
        """The signals in some values, in a fixed order."""
        if not values:
            return []
        known = self.structure.signals
        own = {
            name for integral in self.structure.integrals for name in integral.names if self._is_part(integral.owner)
        }
        return [s.name() for s in ca.symvar(ca.veccat(*values)) if s.name() in known or s.name() in own]

    def _is_part(self, path: str) -> bool:
        return isinstance(self.parts.get(path), Integrator)

    def _owner(self, signal: str) -> str:
        """The part that a signal belongs to: ``w`` of ``w.value.x``."""
        known: tuple[Callable[[str], bool], ...] = (
            self.structure.vertices.__contains__, self.structure.lines.__contains__,
            self.structure.sensors.__contains__, self.parts.__contains__,
        )  # fmt: skip
        path = signal
        while path and not any(test(path) for test in known):
            path = path.rpartition(".")[0]
        return path

    def _source(self, signal: str) -> str:
        """The vertex, sensor, block or integrator that a signal comes from; for a bond the junction that sets it."""
        owner = self._owner(signal)
        line = self.structure.lines.get(owner)
        if line is None:
            return owner
        ends = [line.tail[0], line.head[0]]
        wanted = "0" if ".effort" in signal else "1"
        return next((end for end in ends if self.structure.vertices[end].letter == wanted), ends[0])
