"""Straight flexible beams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem.material import Material, material_from_data
from cotree.fem.section import Section, section_from_data
from cotree.model import Frame, Value, quantity
from cotree.model.form import WHOLE, either, one_of, said, several
from cotree.model.quantity import MISSING, finite
from cotree.terminal.checked import DEGREES, check_segments, flag, mapping, names, numbers, whole_number
from cotree.terminal.deformable import CentreOfMass, Deformable, Prepared
from cotree.terminal.flexible_sheet import (
    AUTO,
    MASS,
    MATERIAL,
    MOST_SEGMENTS,
    MOST_STATIONS,
    OFFSET,
    ROTARY,
    SECTION,
    SEGMENTS,
    SHEAR,
    STATIONS,
)
from cotree.terminal.lumps import lumps

if TYPE_CHECKING:
    from cotree.fem.internal import Internal

PLANES = {"axial": "x", "torsion": "rx", "xy": "y rz", "xz": "z ry"}
"""The deformations of a beam and the degrees of freedom that they move."""
SAME = 1e-9
"""Part of a beam's length within which two places are one."""
MOST = 10_000
"""Most elements of a beam."""


class Beam(Deformable):
    """A straight beam along x from its frame ``start`` to its frame ``end``; further frames lie on it at given x.

    ``deforms`` leaves out what shall stay rigid: of ``axial``, ``torsion``, bending in the planes ``xy`` and ``xz``.
    The section's y axis is the body's y axis turned about x by ``roll``. Without ``shear`` and ``rotary`` it is a beam
    of Euler and Bernoulli. ``mass`` is ``consistent`` with the stiffness, or ``linear`` between nodes (Richard 2012,
    eq. 50). ``masses`` are rigid lumps on frames: ``{tip: {at: end, mass: 2}}``. At ``stations``, a number of places,
    even from start to end, or a list of them, section forces and stress are results: ``boom.axial``,
    ``boom.moment_y``, ``boom.mises``.

    ``segments`` cuts the beam into so many bodies of equal length, welded end to start, each with the linear theory in
    a frame of its own: for rotations beyond a few tenths. Frames, lumps, results and pictures stay those of one beam.
    ``elements`` counts those of the whole beam; each segment has its share, rounded up. ``shapes``, ``modes``,
    ``below``, ``deforms`` and ``stiffening`` hold for every segment, whose interface are its ends and the frames on it
    that would belong to the interface of one beam. ``damping`` is that of the modes of the whole straight beam. With
    ``segments="auto"`` the static equilibrium, or a first run, decides the number, which then stands in the model. The
    beam's own frame sits on one of its frames (``attached``, by default ``start``). Elastic coordinates are called
    ``segment1.mode1``.
    """

    kind: ClassVar[str] = "beam"
    example: ClassVar[Mapping[str, Any]] = {
        "length": 0.5,
        "section": {"circle": {"radius": 0.01}},
        "material": {"young": 2.1e11, "density": 7850.0, "poisson": 0.3},
        "elements": 2,
        "modes": 1,
    }

    length: Value = quantity("m", "length", range="positive", default=MISSING, built_in="table")
    section: Section = field(default=MISSING, kw_only=True, metadata=SECTION)
    material: Material = field(default=MISSING, kw_only=True, metadata=MATERIAL)
    elements: int = field(
        default=MISSING, kw_only=True, metadata=said("number of elements", {**WHOLE, "minimum": 1, "maximum": MOST})
    )
    deforms: Sequence[str] = field(
        default=tuple(PLANES),
        kw_only=True,
        metadata=said("deformations that it has", either(one_of(PLANES), several(one_of(PLANES), 1))),
    )
    shear: bool = field(default=True, kw_only=True, metadata=SHEAR)
    rotary: bool = field(default=True, kw_only=True, metadata=ROTARY)
    mass: Literal["consistent", "linear"] = field(default="consistent", kw_only=True, metadata=MASS)
    offset: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True, metadata=OFFSET)
    roll: Value = quantity("rad", "turn of the section about x", default=0.0, built_in="table")
    stations: int | Sequence[float] = field(default=3, kw_only=True, metadata=STATIONS)
    segments: int | Literal["auto"] = field(default=1, kw_only=True, metadata=SEGMENTS)

    def __post_init__(self) -> None:
        for name in ("section", "material", "elements"):
            if getattr(self, name) is MISSING:
                raise ModelError("it is not given", where=f"{self.name}.{name}", expected=self.call_example(self.name))
        object.__setattr__(self, "section", section_from_data(self.section, f"{self.name}.section"))
        object.__setattr__(self, "material", material_from_data(self.material, f"{self.name}.material"))
        whole_number(self.elements, f"{self.name}.elements", 1, MOST)
        object.__setattr__(self, "stations", _checked_stations(self.stations, f"{self.name}.stations"))
        self._choice("mass", ("consistent", "linear"))
        expected = f"some of {listing(PLANES)}, each once"
        deforms = names(self.deforms, f"{self.name}.deforms", expected)
        if not deforms or not set(deforms) <= set(PLANES) or len(set(deforms)) < len(deforms):
            raise ModelError(f"found {self.deforms!r}", where=f"{self.name}.deforms", expected=expected)
        object.__setattr__(self, "deforms", deforms)
        offset = numbers(self.offset, 2, f"{self.name}.offset", "two lengths (y, z) in m", "m")
        object.__setattr__(self, "offset", offset)
        flag(self.shear, f"{self.name}.shear")
        if not flag(self.rotary, f"{self.name}.rotary") and "torsion" in deforms and self.shapes == "interface":
            raise ModelError(
                "without rotary inertia the beam has none in torsion, either",
                where=f"{self.name}.rotary",
                remedy="Leave 'torsion' out of deforms, or keep rotary inertia",
            )
        given_frames = mapping(self.frames, f"{self.name}.frames", "frames by name")
        frames = {name: self._frame(name, given) for name, given in given_frames.items()}
        object.__setattr__(self, "frames", frames)
        for name in frames:
            if name in ("start", "end"):
                raise ModelError(f"the frame '{name}' is the beam's own", where=self.name, remedy="Choose another name")
        if self.segments != AUTO:
            whole_number(self.segments, f"{self.name}.segments", 1, MOST_SEGMENTS, ", or 'auto'")
        super().__post_init__()
        if self.segments == AUTO:
            check_segments(2, MOST, self.attached, self.frames, self.at_nodes(), self.name)
        elif self.pieces > 1:
            check_segments(self.pieces, self.elements, self.attached, self.frames, self.at_nodes(), self.name)

    @property
    def pieces(self) -> int:
        return self.segments if isinstance(self.segments, int) else 1

    @property
    def decided_pieces(self) -> int:
        """How many bodies it is cut into, refused where nothing has decided it."""
        if not isinstance(self.segments, int):
            raise ModelError(
                "it is not decided into how many segments the beam is cut",
                where=f"{self.name}.segments",
                expected="a number",
                remedy="Give one, or simulate the model: a first run decides it",
            )
        return self.segments

    @property
    def own_frame(self) -> str:
        """The frame that carries the beam's own where it has segments."""
        return self.attached or "start"

    def _frame(self, name: str, given: Any) -> Frame:
        """A frame at a place along the beam: a number, or a mapping with at, axis and angle."""
        if isinstance(given, Frame):
            return given
        if given == CentreOfMass.NAME:
            return CentreOfMass()
        if isinstance(given, Mapping) and "at" in given:
            rest = {key: value for key, value in given.items() if key != "at"}
            return Frame.of({"position": (given["at"], 0.0, 0.0), **rest}, f"{self.name}.{name}")
        if isinstance(given, (int, float, str)) and not isinstance(given, bool):
            return Frame((given, 0.0, 0.0))
        return Frame.of(given, f"{self.name}.{name}")

    def places(self) -> Mapping[str, Frame]:
        ends = {"start": Frame((0.0, 0.0, 0.0)), "end": Frame((self.length, 0.0, 0.0))}
        return ends | dict(self.frames)

    def to_data(self) -> dict[str, Any]:
        data = super().to_data() | {"section": self.section.to_data(), "material": self.material.to_data()}
        if self.frames:
            data["frames"] = {name: _on_beam(frame) for name, frame in self.frames.items()}
        return data

    def default_attachment(self) -> Any:
        return ("start", "end") if self.shapes == "pinned" else "start"

    def default_interface(self, joined: Sequence[str] | None) -> Sequence[str]:
        return ["start", "end", *(name for name in self.at_nodes()[2:] if name in (joined or ()))]

    def recipe(self, values: Mapping[str, float]) -> tuple[Any, ...]:
        return (
            values["length"], values["roll"], self.node_places(values), self.section, self.material, self.elements,
            self.deforms, self.shear, self.rotary, self.mass, self.offset, self.stations,
        )  # fmt: skip

    def station_places(self, values: Mapping[str, float]) -> list[float]:
        """Places along the beam in m where section forces are results."""
        length, given = values["length"], self.stations
        if isinstance(given, int):
            return [0.0] if given == 1 else np.linspace(0.0, length, given).tolist()
        for x in given:
            if not -SAME * length <= x <= length * (1 + SAME):
                raise ModelError(
                    f"a station is at {x:g} m", where=f"{self.name}.stations", expected=f"places from 0 to {length:g} m"
                )
        return [float(np.clip(x, 0.0, length)) for x in given]

    def carried(self, prepared: Prepared, internal: Internal, values: Mapping[str, float]) -> tuple[Any, Any]:
        from cotree.fem.beam import Beams
        from cotree.fem.stations import station_tables

        beams, wanted = prepared.structure.families[0], self.station_places(values)
        if not wanted or not isinstance(beams, Beams):
            return super().carried(prepared, internal, values)
        nodes, found = self.node_places(values), []
        for x in wanted:
            element = max(int(np.searchsorted(nodes, x - SAME * values["length"])) - 1, 0)
            found.append((element, float((x - nodes[element]) / (nodes[element + 1] - nodes[element]))))
        return station_tables(internal, beams, found)

    def finer(self) -> Beam:
        """The same beam with twice as many elements, up to the most."""
        return replace(self, elements=min(2 * self.elements, MOST))

    def chord(self) -> tuple[str, str] | None:
        return "start", "end"

    def node_places(self, values: Mapping[str, float]) -> Any:
        """Places of the nodes: evenly spaced, and one at every frame."""
        length = values["length"]
        found = list(np.linspace(0.0, length, self.elements + 1))
        for name in self.at_nodes()[2:]:
            x, across = values[f"{name}.x"], (values[f"{name}.y"], values[f"{name}.z"])
            if not -SAME * length <= x <= length * (1 + SAME) or any(across):
                raise ModelError(
                    f"the frame is at ({x:g}, {across[0]:g}, {across[1]:g}) m",
                    where=f"{self.name}.{name}",
                    expected=f"a place on the beam: x from 0 to {length:g} m, y = z = 0",
                )
            if min(abs(x - other) for other in found) > SAME * length:
                found.append(x)
        return np.array(sorted(found))

    def prepare(self, values: Mapping[str, float]) -> Prepared:
        from cotree.fem.beam import Beams
        from cotree.fem.structure import Structure

        stations = self.node_places(values)
        places = np.column_stack([stations, np.zeros((len(stations), 2))])
        count = len(stations) - 1
        lines = np.column_stack([np.arange(count), np.arange(1, count + 1)])
        roll = values["roll"]
        beams = Beams(
            places,
            lines,
            self.section,
            self.material,
            orientation=(0.0, np.cos(roll), np.sin(roll)),
            offset=self.offset,
            shear=self.shear,
            rotary=self.rotary,
            mass=self.mass,
        )
        nodes = {name: int(np.argmin(np.abs(stations - values[f"{name}.x"]))) for name in self.at_nodes()}
        families = [beams, *lumps(self.masses, places, nodes)]
        left_out = [d for name, moves in PLANES.items() if name not in self.deforms for d in moves.split()]
        still = [6 * node + DEGREES.index(d) for node in range(len(places)) for d in left_out]
        return Prepared(Structure(places, families, names=nodes), nodes, still=tuple(still))


def _checked_stations(given: Any, where: str) -> int | tuple[float, ...]:
    """A number of stations, or their places in order."""
    if isinstance(given, list | tuple | np.ndarray):
        if len(given) > MOST_STATIONS:
            raise ModelError(f"there are {len(given)} stations", where=where, expected=f"at most {MOST_STATIONS}")
        return tuple(sorted(finite(x, where, "places along the beam in m", "m") for x in given))
    whole_number(given, where, 0, MOST_STATIONS)
    return int(given)


def _on_beam(frame: Frame) -> Any:
    """A frame of a beam as plain data."""
    data = frame.to_data()
    if isinstance(data, str):
        return data
    if isinstance(data, dict) and not any(data["position"][1:]):
        return {"at": data["position"][0], "axis": data["axis"], "angle": data["angle"]}
    return data[0] if isinstance(data, list) and not any(data[1:]) else data
