"""Opening a bond graph: masks are taken apart, bonds find their ends and widths, and every law gets its symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from cotree.bond.elements import BondPart, Element
from cotree.bond.junctions import TF, Bond
from cotree.bond.masks import Mask
from cotree.bond.signals import Block, Integrator, Sensor
from cotree.bond.structure import BondStructure, Integral, Line, Vertex, component_names, labels
from cotree.bond.values import shape_width
from cotree.bond.widths import find_widths
from cotree.errors import ModelError, listing, nearest
from cotree.formulation.system import Output
from cotree.formulation.values import Values
from cotree.maths.symbolic import substitute
from cotree.model import Model
from cotree.model.quantity import quantities

MOST_PARTS = 20_000


class Signals(Mapping[str, ca.SX]):
    """A placeholder for every signal that an expression names; whether it exists is found out later."""

    def __init__(self) -> None:
        self.made: dict[str, ca.SX] = {}
        self.fixed: dict[str, ca.SX] = {}
        """Values of the parameters of masks, by path."""

    def __getitem__(self, name: str) -> ca.SX:
        return self.fixed[name] if name in self.fixed else self.made.setdefault(name, ca.SX.sym(name))

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


@dataclass(frozen=True)
class Leaf:
    """A part that is no mask of the user, with its place in the whole graph and its values in symbols."""

    path: str
    part: BondPart
    v: Mapping[str, Any]
    owner: str


@dataclass(frozen=True)
class Wire:
    """A bond as the user drew it, between leaves and their ports."""

    path: str
    tail: tuple[str, str]
    head: tuple[str, str]
    width: int | None
    owner: str

    def __str__(self) -> str:
        return f"bond {self.path} ({self.tail[0]} -> {self.head[0]})"


def open_graph(model: Model) -> BondStructure:
    """The bond graph of a model with all masks opened."""
    return Opening(model).run()


class Opening:
    """One opening; parts put their vertices, bonds and signals here."""

    def __init__(self, model: Model) -> None:
        self.model = model
        strange = [c for c in model.components.values() if not c.bonded]
        if strange:
            raise ModelError(
                f"'{strange[0].name}' ({strange[0].kind}) is no part of a bond graph", where=strange[0].name,
                expected="bond-graph parts only", remedy="Turn the other model into a bond graph with to_bond_graph()",
            )  # fmt: skip
        model.check()
        self.values = Values(model)
        self.placeholders = Signals()
        self.values.measures = self.placeholders
        self.structure = BondStructure(model.name, self.values, signals=self.placeholders.made)
        self.leaves: dict[str, Leaf] = {}
        self.wires: list[Wire] = []
        self.exposed: dict[str, tuple[str, str]] = {}
        self.aliases: dict[str, tuple[str, str]] = {}
        self.reached: set[str] = set()
        self._mask_ports: dict[str, tuple[str, ...]] = {}
        self._bonds: list[tuple[str, Bond, str]] = []
        self._widths: dict[str, int] = {}
        self._parameters: dict[str, tuple[ca.SX, ca.SX]] = {}
        self._owner = ""

    def run(self) -> BondStructure:
        """Open everything."""
        entries: dict[str, Mapping[str, Any]] = {}
        for component in self.model.components.values():
            if isinstance(component, Mask):
                entries[component.name] = self.values.entries(component)
                self._fix(component.name, component, entries[component.name])
        for component in self.model.components.values():
            assert isinstance(component, BondPart)
            v = entries[component.name] if component.name in entries else self.values.entries(component)
            self._flatten(component.name, component, v, component.name)
        self._join()
        self._widths = find_widths(self.leaves, self.wires)
        self._place()
        for leaf in self.leaves.values():
            self._owner = leaf.owner
            leaf.part.open(self, leaf.path, leaf.v)
            self._check_constant(leaf)
        for wire in self.wires:
            self._connect(wire)
        from cotree.bond.soundness import check_structure

        check_structure(self)
        return self.structure

    def _check_constant(self, leaf: Leaf) -> None:
        """Refuse signals in values that are constants, such as those of the start."""
        constants = {name: leaf.v.get(name) for name, info in quantities(leaf.part).items() if not info.signal}
        if not self.used(constants):
            return
        name = next(name for name, value in constants.items() if self.used({name: value}))
        raise ModelError(
            f"the value depends on {listing(self.used({name: constants[name]}))}, which changes with time",
            where=f"{leaf.path}.{name}",
            expected="a constant: a number, or an expression of parameters",
        )

    # -- taking masks apart --------------------------------------------------------------------------------------

    def _flatten(self, path: str, part: BondPart, v: Mapping[str, Any], owner: str) -> None:
        if len(self.leaves) > MOST_PARTS:
            raise ModelError(f"more than {MOST_PARTS} parts", where=owner, expected="a smaller graph")
        if isinstance(part, Bond):
            self._bonds.append((path, part, owner))
            return
        if not isinstance(part, Mask):
            self.leaves[path] = Leaf(path, part, v, owner)
            return
        for inner in part.inside(path):
            self._flatten(f"{path}.{inner.name}", inner, self._inside(path, inner, v), owner)
        self._mask_ports[path] = tuple(part.graph.ports)
        for port, end in part.graph.ports.items():
            self.aliases[f"{path}.{port}"] = (f"{path}.{end}", f"port '{port}' of {path}")

    def _fix(self, path: str, mask: Mask, v: Mapping[str, Any]) -> None:
        """Find the values of a mask's parameters, and of those inside it."""
        own = {f"{path}.{name}": ca.SX(v[name]) for name in mask.own()}
        symbols = ca.vertcat(ca.SX(0, 1), *(self.placeholders[name] for name in own))
        self._parameters[path] = symbols, ca.vertcat(ca.SX(0, 1), *own.values())
        for inner in mask.inside(path):
            if isinstance(inner, Mask):
                self._fix(f"{path}.{inner.name}", inner, self._inside(path, inner, v))
        for name, value in own.items():
            self.placeholders.made.pop(name, None)
            self.placeholders.fixed[name] = value

    def _inside(self, path: str, inner: BondPart, v: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a part of the mask at ``path``."""
        symbols, known = self._parameters[path]
        start = f"{inner.name}."
        return {
            key.removeprefix(start): value if value is None else substitute(ca.SX(value), symbols, known)
            for key, value in v.items()
            if key.startswith(start)
        }

    def _join(self) -> None:
        """Find the ends of all bonds."""
        for path, bond, owner in self._bonds:
            prefix = path.rpartition(".")[0]
            ends = [self._end(prefix, path, end) for end in (bond.tail, bond.head)]
            (tail, tail_port), (head, head_port) = ends
            if tail == head and (tail_port == head_port or not tail_port or not head_port):
                raise ModelError(
                    f"it begins and ends at '{tail}'", where=f"bond {path}", expected="two different elements as ends"
                )
            if isinstance(self.leaves[tail].part, TF) and not tail_port:
                tail_port = "2"
            if isinstance(self.leaves[head].part, TF) and not head_port:
                head_port = "1"
            self.wires.append(Wire(path, (tail, tail_port), (head, head_port), bond.width, owner))

    def _end(self, scope: str, bond: str, given: str) -> tuple[str, str]:
        """The leaf and the port that a bond's end names; ``scope`` is the mask that the bond stands in."""
        full, through = f"{scope}.{given}" if scope else given, ""
        for _ in range(100):
            if full in self.aliases:
                self.reached.add(full)
                scope, through = full.rpartition(".")[0], self.aliases[full][1]
                full = self.aliases[full][0]
                continue
            if full in self._mask_ports:
                ports = self._mask_ports[full]
                if len(ports) == 1:
                    full = f"{full}.{ports[0]}"
                    continue
                raise ModelError(
                    f"it ends at the mask '{given}' without a port", where=f"bond {bond}",
                    expected=f"one of {listing([f'{given}.{port}' for port in ports])}",
                )  # fmt: skip
            first, _, port = (full.removeprefix(f"{scope}.") if scope else full).partition(".")
            mask = f"{scope}.{first}" if scope else first
            if mask in self._mask_ports:
                ports = self._mask_ports[mask]
                raise ModelError(
                    f"the mask '{mask}' has no port '{port}'", where=f"bond {bond}",
                    expected=f"one of {listing(ports)}" if ports else "a mask with ports", remedy=nearest(port, ports),
                )  # fmt: skip
            if full in self.leaves:
                return self._port(full, "", bond)
            owner, _, port = full.rpartition(".")
            if owner in self.leaves:
                return self._port(owner, port, bond)
            if through:
                known = [name.removeprefix(f"{scope}.") for name in self.leaves if name.startswith(f"{scope}.")]
                raise ModelError(
                    f"the {through} leads to '{full}', which does not exist", where=f"bond {bond}",
                    expected="an element inside the mask, or element.port",
                    remedy=nearest(full.removeprefix(f"{scope}."), known),
                )  # fmt: skip
            break
        inside = bond.rpartition(".")[0]
        start = f"{inside}." if inside else ""
        every = [name.removeprefix(start) for name in (*self.leaves, *self._mask_ports) if name.startswith(start)]
        known = [name for name in every if "." not in name]
        raise ModelError(
            f"it ends at '{given}', which does not exist", where=f"bond {bond}",
            expected="the name of an element, or element.port",
            remedy=nearest(given, known) or f"The elements are {listing(known)}",
        )  # fmt: skip

    def _port(self, path: str, port: str, bond: str) -> tuple[str, str]:
        part = self.leaves[path].part
        known = part.port_names()
        chosen = isinstance(part, TF) and not port  # by the direction of the bond
        if (port and port not in known) or (known and not port and len(known) > 1 and not chosen):
            raise ModelError(
                f"{path} has no port '{port}'" if port else f"it ends at '{path}' without a port",
                where=f"bond {bond}",
                expected=f"one of {listing([f'{path}.{each}' for each in known])}" if known else f"{path} alone",
                remedy=nearest(port, known),
            )
        return path, port or (known[0] if len(known) == 1 else "")

    # -- what parts use when they open ---------------------------------------------------------------------------

    def width(self, part: Element, path: str) -> int:
        """The width of an element, by its own values or by its bond."""
        return self._widths.get(path, 1)

    def vertex(self, vertex: Vertex) -> None:
        """Add a vertex."""
        width = vertex.width if vertex.width is not None else self._widths.get(vertex.name)
        self.structure.vertices[vertex.name] = replace(vertex, owner=self._owner, width=width)

    def bond(self, name: str, tail: str | tuple[str, str], head: str | tuple[str, str], width: int) -> None:
        """Add a bond inside a part, between vertices or their ports."""
        ends = [end if isinstance(end, tuple) else (end, "") for end in (tail, head)]
        for k, end in enumerate(ends):
            if self.structure.vertices[end[0]].letter in ("TF", "GY") and not end[1]:
                ends[k] = (end[0], "21"[k])
        self.structure.lines[name] = Line(name, ends[0], ends[1], width, self._owner)

    def expose(self, path: str, port: str, suffix: str, vertex: str, vertex_port: str = "") -> None:
        """Say where a bond to a port of the part at ``path`` ends; ``suffix`` is that of the port's bundle."""
        self.exposed[f"{path}.{port}/{suffix}"] = (vertex, vertex_port)

    def integral(self, integral: Integral) -> None:
        """Add a state."""
        self.structure.integrals.append(integral)

    def define(self, name: str, output: Output) -> None:
        """Give a signal by an expression of others."""
        self.structure.definitions[name] = output

    def output(self, name: str, expression: ca.SX, unit: str) -> None:
        """Add a result."""
        self.structure.outputs[name] = Output(expression, unit)

    def rate_output(self, name: str, of: str, unit: str) -> None:
        """Add a result that is the rate of another one."""
        self.structure.rates[name] = (of, unit)

    def signal(self, name: str, width: int = 1) -> ca.SX:
        """The placeholder of a signal, or a column of them."""
        if width == 1:
            return self.placeholders[name]
        return ca.vertcat(*(self.placeholders[f"{name}.{label}"] for label in labels(width)))

    def reported(self, name: str, width: int = 1) -> ca.SX:
        """The placeholder of an effort or flow that only results need, or a column of them."""
        names = component_names(name, width)
        return ca.vertcat(*(self.structure.reported.setdefault(each, ca.SX.sym(each)) for each in names))

    def sensor(self, path: str, of: str, measures: str) -> None:
        """Add a sensor; what it measures is looked up when all bonds are there."""
        self.structure.sensors[path] = (of, measures)

    def call(self, function: Callable[..., Any], path: str, inputs: tuple[str, ...] = ()) -> ca.SX:
        """A Python function on symbols: of its inputs, or of a way to look up signals where it has none."""
        around = path.rpartition(".")[0]

        def signal(name: str, width: int = 1) -> ca.SX:
            return self.signal(f"{around}.{name}" if around else name, width)

        try:
            given = [self.signal(name, self._signal_width(name)) for name in inputs]
            result = function(*given) if inputs else function(signal)
            if isinstance(result, (list, tuple)):
                rows = [ca.horzcat(*row) if isinstance(row, (list, tuple)) else row for row in result]
                result = ca.vertcat(*rows)
            return ca.SX(result)
        except (TypeError, ValueError, NotImplementedError, RuntimeError) as reason:
            raise ModelError(
                f"the Python function cannot be used: {reason}",
                where=path,
                expected="CasADi expressions of its signals",
            ) from None

    def _signal_width(self, name: str) -> int:
        """How many components a signal has, as far as its own part tells."""
        owner = name.rpartition(".")[0]
        part = self.leaves[owner].part if owner in self.leaves else None
        if isinstance(part, Sensor):
            return self._signal_width(f"{part.of}.{part.measures}")
        if isinstance(part, (Block, Integrator)):
            return shape_width(part.value if isinstance(part, Block) else part.input) or 1
        vertex = self.structure.vertices.get(owner)
        inner = None if vertex is None else vertex.width
        return self._widths.get(owner, self._widths.get(f"{owner}/", inner or 1))

    def used(self, v: Mapping[str, Any]) -> tuple[str, ...]:
        """The signals that some values depend on."""
        every = [value for value in v.values() if isinstance(value, ca.SX) and not value.is_constant()]
        if not every or not self.placeholders.made:
            return ()
        made = self.placeholders.made  # a placeholder has the name of its signal
        own = [(symbol, made.get(symbol.name())) for symbol in ca.symvar(ca.veccat(*every))]
        return tuple(s.name() for s, known in own if known is not None and known.element_hash() == s.element_hash())

    def timed(self, v: Mapping[str, Any]) -> bool:
        """Whether some values depend on time."""
        time = ca.vertcat(self.values.t, self.values.mode_symbols)
        return any(isinstance(value, ca.SX) and ca.depends_on(value, time) for value in v.values())

    def unmodulated(self, path: str, letter: str, plain: str) -> None:
        """Refuse a modulated element that no signal reaches."""
        at = [wire for wire in self.wires if path in (wire.tail[0], wire.head[0])]
        raise ModelError(
            f"the modulation of the {letter} '{path}' is not connected: no signal reaches it",
            where=str(at[0]) if at else path,
            expected="an expression that holds a signal or t, such as '0.1*sin(angle.value)'",
            remedy=f"Use {plain} for a constant",
        )

    # -- bonds ---------------------------------------------------------------------------------------------------

    def _place(self) -> None:
        """Find positions and rotations of all frames, where there are any."""
        if any(leaf.part.framed for leaf in self.leaves.values()):
            from cotree.bond.poses import place

            place(self)

    def _connect(self, wire: Wire) -> None:
        self._owner = wire.owner
        bundles = [self.leaves[leaf].part.bundle(port) for leaf, port in (wire.tail, wire.head)]
        if len(bundles[0]) != len(bundles[1]):
            one, many = (wire.tail, wire.head) if len(bundles[0]) < len(bundles[1]) else (wire.head, wire.tail)
            raise ModelError(
                f"{many[0]}.{many[1]} is a frame with two multibonds, and {one[0]} is no frame",
                where=str(wire), expected="frames at both ends, or none",
            )  # fmt: skip
        for (suffix, own), (_, other) in zip(*bundles, strict=True):
            ends = [self.exposed.get(f"{leaf}.{port}/{suffix}", (leaf, port)) for leaf, port in (wire.tail, wire.head)]
            width = own or other or self._widths.get(f"{wire.path}/", 1)
            name = f"{wire.path}.{suffix}" if suffix else wire.path
            self.structure.lines[name] = Line(name, ends[0], ends[1], width, wire.owner)
