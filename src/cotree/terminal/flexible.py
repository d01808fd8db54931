"""Flexible bodies: straight beams, and any mesh of beams and thin shells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem.material import Material, material_from_data
from cotree.fem.section import Section, section_from_data
from cotree.model import Frame, Value, quantity
from cotree.model.quantity import MISSING, Quantity, finite
from cotree.terminal.checked import flag, mapping, names, numbers
from cotree.terminal.deformable import DEGREES, CentreOfMass, Deformable, Prepared, degrees_of

PLANES = {"axial": "x", "torsion": "rx", "xy": "y rz", "xz": "z ry"}
"""The deformations of a beam and the degrees of freedom that they move."""
SAME = 1e-9
"""Part of a beam's length within which two places are one."""


class Beam(Deformable):
    """A straight beam along x from its frame ``start`` to its frame ``end``; further frames lie on it at given x.

    ``deforms`` leaves out what shall stay rigid: of ``axial``, ``torsion``, bending in the planes ``xy`` and ``xz``.
    The section's y axis is the body's y axis turned about x by ``roll``. Without ``shear`` and ``rotary`` it is a beam
    of Euler and Bernoulli. ``mass`` is ``consistent`` with the stiffness, or ``linear`` between nodes (Richard 2012,
    eq. 50). ``masses`` are rigid lumps on frames: ``{tip: {at: end, mass: 2}}``.
    """

    length: Value = quantity("m", "length", range="positive", default=MISSING, built_in="table")
    section: Section = field(default=MISSING, kw_only=True)
    material: Material = field(default=MISSING, kw_only=True)
    elements: int = field(default=MISSING, kw_only=True)
    deforms: Sequence[str] = field(default=tuple(PLANES), kw_only=True)
    shear: bool = field(default=True, kw_only=True)
    rotary: bool = field(default=True, kw_only=True)
    mass: Literal["consistent", "linear"] = field(default="consistent", kw_only=True)
    offset: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)
    roll: Value = quantity("rad", "turn of the section about x", default=0.0, built_in="table")

    def __post_init__(self) -> None:
        for name in ("section", "material", "elements"):
            if getattr(self, name) is MISSING:
                raise ModelError("it is not given", where=f"{self.name}.{name}", expected=self.call_example(self.name))
        object.__setattr__(self, "section", section_from_data(self.section, f"{self.name}.section"))
        object.__setattr__(self, "material", material_from_data(self.material, f"{self.name}.material"))
        _whole(self.elements, f"{self.name}.elements", 1, 10_000)
        self._choice("mass", ("consistent", "linear"))
        deforms = names(self.deforms, f"{self.name}.deforms", f"some of {listing(PLANES)}")
        if not deforms or not set(deforms) <= set(PLANES):
            expected = f"some of {listing(PLANES)}"
            raise ModelError(f"found {self.deforms!r}", where=f"{self.name}.deforms", expected=expected)
        object.__setattr__(self, "deforms", deforms)
        offset = numbers(self.offset, 2, f"{self.name}.offset", "two lengths (y, z) in m")
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
        super().__post_init__()

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
        return ["start", "end", *(name for name in self._at_nodes() if name in (joined or ()))]

    def recipe(self, values: Mapping[str, float]) -> tuple[Any, ...]:
        return (
            values["length"], values["roll"], self._stations(values).tolist(), repr(self.section.to_data()),
            repr(self.material.to_data()), self.elements, self.deforms, self.shear, self.rotary, self.mass, self.offset,
        )  # fmt: skip

    def _at_nodes(self) -> list[str]:
        return [name for name, frame in self.frames.items() if not isinstance(frame, CentreOfMass)]

    def chord(self) -> tuple[str, str] | None:
        return "start", "end"

    def _stations(self, values: Mapping[str, float]) -> Any:
        """Places of the nodes: evenly spaced, and one at every frame."""
        length = values["length"]
        found = list(np.linspace(0.0, length, self.elements + 1))
        for name in self._at_nodes():
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

        stations = self._stations(values)
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
        nodes = {
            name: int(np.argmin(np.abs(stations - values[f"{name}.x"]))) for name in ("start", "end", *self._at_nodes())
        }
        families = [beams, *lumps(self, places, nodes)]
        still = [d for name, moves in PLANES.items() if name not in self.deforms for d in moves.split()]
        held = [6 * node + DEGREES.index(d) for node in range(len(places)) for d in still]
        return Prepared(Structure(places, families, names=nodes), nodes, tuple(held))


class FlexibleBody(Deformable):
    """A body meshed with thin shells (triangles, with ``plate``), beams (lines, with ``section``, ``material``), both.

    The body's axes are those of the mesh. ``frames`` are at nodes: a node's number or its place. ``rigid`` ties nodes
    to a frame as one rigid piece: ``{root: left}`` with a set of the mesh, or a list of nodes; such a frame may lie
    where the mesh has no node. ``held`` keeps degrees of freedom at zero: ``{left: "z rx"}``.
    """

    mesh: Any = field(default=MISSING, kw_only=True)
    plate: Any = field(default=None, kw_only=True)
    section: Any = field(default=None, kw_only=True)
    material: Any = field(default=None, kw_only=True)
    rigid: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    held: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    direction: tuple[float, float, float] = field(default=(1.0, 0.0, 0.0), kw_only=True)
    rotary: bool = field(default=True, kw_only=True)
    shear: bool = field(default=True, kw_only=True)
    mass: Literal["consistent", "linear"] = field(default="consistent", kw_only=True)

    def __post_init__(self) -> None:
        from cotree.fem.mesh import mesh_from_data
        from cotree.fem.plate import plate_from_data

        if self.mesh is MISSING:
            raise ModelError(
                "no mesh is given", where=f"{self.name}.mesh", expected="{grid: {size: [2, 1], cells: ...}}"
            )
        object.__setattr__(self, "mesh", mesh_from_data(self.mesh, f"{self.name}.mesh"))
        for name, read in (
            ("plate", plate_from_data),
            ("section", section_from_data),
            ("material", material_from_data),
        ):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read(getattr(self, name), f"{self.name}.{name}"))
        self._choice("mass", ("consistent", "linear"))
        for name in ("shear", "rotary"):
            flag(getattr(self, name), f"{self.name}.{name}")
        direction = numbers(self.direction, 3, f"{self.name}.direction", "three numbers")
        object.__setattr__(self, "direction", direction)
        for name in ("rigid", "held"):
            mapping(getattr(self, name), f"{self.name}.{name}", "names with nodes: {root: left}")
        needed = [("plate",)] * bool(len(self.mesh.triangles)) + [("section", "material")] * bool(len(self.mesh.lines))
        for name in (name for group in needed for name in group):
            if getattr(self, name) is None:
                what = "triangles" if name == "plate" else "lines"
                raise ModelError(
                    f"the mesh has {what}, but no {name} is given", where=self.name, expected=f"{name} = ..."
                )
        given_frames = mapping(self.frames, f"{self.name}.frames", "frames by name")
        frames = {name: self._frame(name, given) for name, given in given_frames.items()}
        object.__setattr__(self, "frames", frames)
        for name in self.rigid:
            if name not in frames:
                raise ModelError(
                    f"there is no frame '{name}' to tie nodes to",
                    where=f"{self.name}.rigid",
                    expected=f"one of {listing(frames)}" if frames else "a frame of the body: it has none",
                )
        super().__post_init__()

    def _frame(self, name: str, given: Any) -> Frame:
        if given == CentreOfMass.NAME:
            return CentreOfMass()
        node = given.get("node") if isinstance(given, Mapping) else given
        if isinstance(node, (int, np.integer)) and not isinstance(node, bool):
            if not 0 <= node < len(self.mesh.nodes):
                raise ModelError(
                    f"node {node} is not in the mesh",
                    where=f"{self.name}.{name}",
                    expected=f"a number from 0 to {len(self.mesh.nodes) - 1}",
                )
            rest = {key: v for key, v in given.items() if key != "node"} if isinstance(given, Mapping) else {}
            return Frame.of({"position": tuple(self.mesh.nodes[node].tolist()), **rest}, f"{self.name}.{name}")
        return Frame.of(given, f"{self.name}.{name}")

    def places(self) -> Mapping[str, Frame]:
        return self.frames

    def to_data(self) -> dict[str, Any]:
        data = super().to_data() | {"mesh": self.mesh.to_data()}
        for name in ("plate", "section", "material"):
            if getattr(self, name) is not None:
                data[name] = getattr(self, name).to_data()
        for name in ("rigid", "held"):
            data.pop(name, None)
            if getattr(self, name):
                data[name] = {key: list(v) if isinstance(v, tuple) else v for key, v in getattr(self, name).items()}
        return data

    def recipe(self, values: Mapping[str, float]) -> tuple[Any, ...]:
        parts = [getattr(self, name) for name in ("plate", "section", "material")]
        mesh, places = self.mesh, {name: values[name] for name in values if name.partition(".")[0] in self.frames}
        return (
            mesh.nodes, mesh.lines, mesh.triangles, sorted((k, list(v)) for k, v in mesh.sets.items()),
            repr([None if part is None else part.to_data() for part in parts]), sorted(places.items()),
            repr(dict(self.rigid)), repr(dict(self.held)), self.direction, self.rotary, self.shear, self.mass,
        )  # fmt: skip

    def prepare(self, values: Mapping[str, float]) -> Prepared:
        from cotree.fem.beam import Beams
        from cotree.fem.shell import Shells
        from cotree.fem.structure import Structure, Tie

        mesh = self.mesh
        places, nodes, ties = mesh.nodes, {}, []
        for name, frame in self.frames.items():
            if isinstance(frame, CentreOfMass):
                continue
            point = np.array([values[f"{name}.{x}"] for x in "xyz"])
            if name not in self.rigid:
                nodes[name] = self._at(point, name)
                continue
            slaves = self._nodes(self.rigid[name], "rigid")
            gaps = np.linalg.norm(places - point, axis=1)
            master = int(np.argmin(gaps))
            if gaps[master] > SAME * max(1.0, float(np.ptp(mesh.nodes, axis=0).max())):
                places, master = np.vstack([places, point]), len(places)
            nodes[name] = master
            ties.append(Tie(master, tuple(node for node in slaves if node != master)))
        families: list[Any] = []
        if len(mesh.triangles):
            families.append(Shells(places, mesh.triangles, self.plate, direction=self.direction, rotary=self.rotary))
        if len(mesh.lines):
            families.append(
                Beams(
                    places,
                    mesh.lines,
                    self.section,
                    self.material,
                    shear=self.shear,
                    rotary=self.rotary,
                    mass=self.mass,
                )
            )
        families += lumps(self, places, nodes)
        held = [
            6 * node + degree
            for where, which in self.held.items()
            for node in self._nodes(where, "held")
            for degree in degrees_of(which, f"{self.name}.held")
        ]
        return Prepared(Structure(places, families, ties=ties, names=nodes), nodes, tuple(held))

    def _at(self, point: Any, name: str) -> int:
        try:
            return int(self.mesh.node_at(point))
        except ModelError as reason:
            raise ModelError(
                reason.found, where=f"{self.name}.{name}", expected=reason.expected, remedy=reason.remedy
            ) from None

    def _nodes(self, given: Any, what: str) -> list[int]:
        """Nodes by the name of a set or of a frame, by number, or by a list of numbers."""
        if isinstance(given, str):
            if given in self.mesh.sets:
                return [int(node) for node in self.mesh.sets[given]]
            raise ModelError(
                f"the mesh has no set '{given}'",
                where=f"{self.name}.{what}",
                expected=f"one of {listing(self.mesh.sets)}"
                if self.mesh.sets
                else "a list of nodes: the mesh has no sets",
            )
        numbers = [given] if isinstance(given, int) else list(given)
        for number in numbers:
            _whole(number, f"{self.name}.{what}", 0, len(self.mesh.nodes) - 1)
        return numbers


def lumps(body: Deformable, places: Any, nodes: Mapping[str, int]) -> list[Any]:
    """The family of a body's rigid lumps; none where it has none."""
    from cotree.fem.element import Lumps

    where = f"{body.name}.masses"
    at, mass, inertia, centre = [], [], [], []
    for name, given in body.masses.items():
        if not isinstance(given, Mapping) or not set(given) <= {"at", "mass", "inertia", "centre"}:
            raise ModelError(
                f"found {given!r}", where=where, expected="{at: frame, mass: 1, inertia: [..], centre: [..]}"
            )
        if given.get("at") not in nodes:
            raise ModelError(f"'{name}' is at {given.get('at')!r}", where=where, expected=f"one of {listing(nodes)}")
        value = finite(given.get("mass", MISSING), f"{where}.{name}.mass", "a positive number in kg")
        if value <= 0:
            raise ModelError(f"the mass is {value:g}", where=f"{where}.{name}", expected="a positive number in kg")
        listed = given.get("inertia", (0.0, 0.0, 0.0))
        count = 6 if hasattr(listed, "__len__") and len(listed) == 6 else 3
        flat = numbers(listed, count, f"{where}.{name}.inertia", "3 moments (xx, yy, zz), or 6 with xy, xz, yz")
        xx, yy, zz, xy, xz, yz = (*flat, 0.0, 0.0, 0.0)[:6]
        moments = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        principal = np.linalg.eigvalsh(moments)
        if principal[0] < -1e-12 * abs(principal[2]) or principal[0] + principal[1] < principal[2] * (1 - 1e-9):
            raise ModelError(
                f"the inertia is {given.get('inertia')!r}",
                where=f"{where}.{name}",
                expected="3 or 6 moments of a real body: the sum of any two at least as large as the third",
            )
        at.append(nodes[given["at"]])
        mass.append(value)
        inertia.append(moments)
        arm = numbers(given.get("centre", (0.0, 0.0, 0.0)), 3, f"{where}.{name}.centre", "three lengths in m")
        centre.append(np.array(arm))
    return [Lumps(places, at, mass, inertia, centre)] if at else []


def _whole(given: Any, where: str, least: int, most: int) -> None:
    if not isinstance(given, (int, np.integer)) or isinstance(given, bool) or not least <= given <= most:
        raise ModelError(f"found {given!r}", where=where, expected=f"a whole number from {least} to {most}")


def _on_beam(frame: Frame) -> Any:
    """A frame of a beam as plain data."""
    data = frame.to_data()
    if isinstance(data, str):
        return data
    if isinstance(data, dict):
        return {"at": data["position"][0], "axis": data["axis"], "angle": data["angle"]}
    return data[0] if not any(data[1:]) else data


__all__ = ["PLANES", "Beam", "FlexibleBody", "Quantity", "lumps"]
