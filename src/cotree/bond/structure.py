"""A bond graph with all its masks opened: vertices with their laws in symbols, joined by bonds.

A bond carries an effort and a flow of the same width; their product is the power from its tail to its head. An element
counts the power that enters it: its own flow is the bond's where the bond's head is at the element, and minus that
where its tail is; results show the flow of a source along its bond, as it sets it. A junction 1 has one flow and a sum
of efforts, a junction 0 one effort and a sum of flows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca

from cotree.formulation.system import Output
from cotree.formulation.values import Values

STORAGES = ("I", "C")
SOURCES = ("Se", "Sf")
ONE_PORTS = ("I", "C", "R", "Se", "Sf", "GR")
TWO_PORTS = ("TF", "GY")
JUNCTIONS = ("0", "1")
XYZ = ("x", "y", "z")

UNITS: Mapping[str, tuple[str, str, str, str]] = {
    "electrical": ("V", "A", "V s", "C"),
    "translational": ("N", "m/s", "N s", "m"),
    "rotational": ("N m", "rad/s", "N m s", "rad"),
    "hydraulic": ("Pa", "m^3/s", "Pa s", "m^3"),
    "thermal": ("K", "W", "K s", "J"),
    "": ("", "", "", ""),
}
"""Units of effort, flow, momentum and displacement by domain. Thermal bonds carry temperature and heat flow, whose
product is no power: they are pseudo-bonds."""


def labels(width: int) -> tuple[str, ...]:
    """How the components of a multibond are called: x, y, z, or c1, c2, ..."""
    return XYZ if width == len(XYZ) else tuple(f"c{k + 1}" for k in range(width))


def component_names(name: str, width: int) -> tuple[str, ...]:
    """``name`` of a scalar, ``name.x`` ... of a vector."""
    return (name,) if width == 1 else tuple(f"{name}.{label}" for label in labels(width))


@dataclass(frozen=True)
class Line:
    """A bond of the opened graph; its ends are a vertex and one of its ports."""

    name: str
    tail: tuple[str, str]
    head: tuple[str, str]
    width: int
    owner: str = ""
    """The component that it belongs to: the bond itself, or the mask that holds it."""

    def other(self, vertex: str) -> str:
        """The vertex at the other end."""
        return self.tail[0] if self.head[0] == vertex else self.head[0]

    def enters(self, vertex: str) -> bool:
        """Whether its head is at the vertex."""
        return self.head[0] == vertex

    def __str__(self) -> str:
        return f"bond {self.name} ({self.tail[0]} -> {self.head[0]})"


@dataclass(frozen=True)
class Vertex:
    """An element or a junction with its law.

    What the fields mean depends on the letter:

    - ``I``: momentum = ``matrix`` flow, or flow = ``law``(momentum);
    - ``C``: effort = ``matrix`` displacement, or effort = ``law``(displacement);
    - ``R``: effort = ``matrix`` flow, or ``law``: effort of flow, or flow of effort where ``gives`` is ``flow``;
    - ``Se``, ``Sf``: ``value``;  - ``GR``: effort = ``matrix`` flow with a skew matrix;
    - ``TF``: flow_2 = ``matrix`` flow_1;  - ``GY``: effort_2 = ``matrix`` flow_1; port 1 counts in, port 2 out;
    - ``Split``: the flow of port ``whole`` is those of ports 1, 2, ... one after the other.
    """

    name: str
    letter: str
    """I, C, R, Se, Sf, GR, TF, GY, 0, 1 or Split."""
    modulated: bool = False
    owner: str = ""
    """The top component that it belongs to."""
    width: int | None = None
    """Of a one-port or a junction; found from the bonds where None."""
    matrix: ca.SX | None = None
    near: ca.SX | None = None
    """Of a TF whose matrix changes little, by the gaps of a C joint: a constant one, by which pivots are chosen."""
    law: Callable[[ca.SX], ca.SX] | None = None
    gives: str = "effort"
    value: ca.SX | None = None
    start: ca.SX | None = None
    """Momentum of an I or displacement of a C at the start."""
    start_conjugate: ca.SX | None = None
    """Flow of an I or effort of a C at the start."""
    loose: bool = False
    """Whether its start value gives way where others fix it: no user gave it."""
    parts: tuple[int, ...] = ()
    """Widths of the parts of a Split."""
    domain: str = ""
    text: str = ""
    """What a drawing writes beside the letter: ``m``, ``R = 5``."""
    displacement: ca.SX | None = None
    """Of a C whose displacement follows from coordinates, so that it is no state: a spring between two points."""
    potential: ca.SX | None = None
    """Energy behind an effort source such as a weight; its power is then stored instead of supplied."""
    remainder: str = ""
    """What its power counts as, less the rate of what it stores: ``dissipated``, ``supplied``, or nothing."""
    gap: ca.SX | None = None
    """Of a flow source that closes a loop: the displacement whose rate is its flow less its value, zero when closed."""
    preferred: bool = False
    """Whether its flow is wanted as a speed of the equations: the rate of a joint's coordinate."""
    speeds: tuple[str, ...] = ()
    """How the flows of its bond are called where they are speeds of the equations: ``J1.angle_rate``."""
    open_ended: bool = False
    """Whether a junction may have fewer than two bonds: a frame that nothing is mounted on."""
    used: tuple[str, ...] = ()
    """Names of the signals that modulate it."""

    @property
    def modulus(self) -> ca.SX:
        """The matrix of a linear law."""
        assert self.matrix is not None
        return self.matrix

    @property
    def given(self) -> ca.SX:
        """The value of a source."""
        assert self.value is not None
        return self.value

    @property
    def shown(self) -> str:
        """The letter as drawings write it: ``MTF`` for a modulated TF."""
        return f"M{self.letter}" if self.modulated or self.letter == "GR" else self.letter


@dataclass(frozen=True)
class Integral:
    """A state that is the integral of signals: ``names`` with units, start values and rates."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    symbols: ca.SX
    start: ca.SX
    rate: ca.SX
    owner: str
    rotation: str = ""
    """Of Euler parameters: the vertex whose three flows are the angular velocity in the turned axes."""


@dataclass(frozen=True)
class StartWish:
    """A start value of a joint that closes a loop, and what it is the value of: a coordinate, or a vertex's flow."""

    name: str
    value: ca.SX
    length: bool
    """Whether it is a displacement or a velocity, and no angle."""
    now: ca.SX | None = None
    flow: str = ""


@dataclass
class BondStructure:
    """The opened graph: vertices, bonds, integrals, and signals by name.

    ``signals`` are placeholders for what is known later (``mass.momentum``, ``b3.flow.x``); ``definitions`` give some
    of them by expressions of others; ``outputs`` are further results in the same placeholders.
    """

    name: str
    values: Values
    vertices: dict[str, Vertex] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict)
    integrals: list[Integral] = field(default_factory=list)
    signals: dict[str, ca.SX] = field(default_factory=dict)
    definitions: dict[str, Output] = field(default_factory=dict)
    outputs: dict[str, Output] = field(default_factory=dict)
    reported: dict[str, ca.SX] = field(default_factory=dict)
    """Placeholders for efforts and flows that only ``outputs`` hold, so that no equation needs them."""
    rates: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Results that are rates of others: the other one, and the unit."""
    sensors: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What each sensor measures: a bond or vertex, and effort, flow, momentum or displacement."""
    fixed: set[str] = field(default_factory=set)
    """Coordinates and speeds whose start values closing a loop must not change."""
    kept: set[str] = field(default_factory=set)
    """Coordinates and speeds whose start values were given: closing a loop moves others first."""
    wishes: list[StartWish] = field(default_factory=list)
    """Start values that were given for what is no coordinate: joints that close a loop."""
    placed: dict[str, Any] = field(default_factory=dict)
    """Positions and rotations of the frames of a mechanism, by name."""

    @cached_property
    def around(self) -> dict[str, list[Line]]:
        """The bonds at each vertex."""
        found: dict[str, list[Line]] = {name: [] for name in self.vertices}
        for line in self.lines.values():
            for end in (line.tail, line.head):
                found[end[0]].append(line)
        return found

    def at(self, vertex: str, port: str) -> Line:
        """The bond at a port."""
        return next(line for line in self.around[vertex] if (vertex, port) in (line.tail, line.head))

    def width(self, vertex: str) -> int:
        """The width of a one-port or a junction."""
        return self.around[vertex][0].width

    def domain(self, line: str) -> str:
        """The domain of a bond, where an element beyond junctions gives it."""
        return self._domains.get(line, "")

    @cached_property
    def _domains(self) -> dict[str, str]:
        """Domains spread from elements over the junctions."""
        found: dict[str, str] = {}
        todo = [(line.name, v.domain) for v in self.vertices.values() if v.domain for line in self.around[v.name]]
        while todo:
            name, domain = todo.pop()
            if name in found:
                continue
            found[name] = domain
            line = self.lines[name]
            for end in (line.tail[0], line.head[0]):
                if self.vertices[end].letter in (*JUNCTIONS, "Split"):
                    todo += [(each.name, domain) for each in self.around[end] if each.name not in found]
        return found
