"""Flexible bodies of any mesh of beams and thin shells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ModelError, listing, nearest
from cotree.fem.material import material_from_data
from cotree.fem.section import section_from_data
from cotree.model import Frame
from cotree.model.form import said
from cotree.model.quantity import MISSING
from cotree.terminal.checked import DEGREES, degrees_of, flag, mapping, numbers, whole_number
from cotree.terminal.deformable import CentreOfMass, Deformable, Prepared
from cotree.terminal.flexible_sheet import (
    HELD,
    MASS,
    MATERIAL,
    MESH,
    OFFSET,
    PLATE,
    RIGID,
    ROTARY,
    SECTION,
    SHEAR,
)
from cotree.terminal.lumps import lumps

SAME = 1e-9
"""Part of the size of a mesh within which two places are one."""


class FlexibleBody(Deformable):
    """A body meshed with thin shells (triangles, with ``plate``), beams (lines, with ``section``, ``material``), both.

    The body's axes are those of the mesh. ``frames`` are at nodes: a node's number or its place. ``rigid`` ties nodes
    to a frame as one rigid piece: ``{root: left}`` with a set of the mesh, or a list of nodes; such a frame may lie
    where the mesh has no node. ``held`` keeps degrees of freedom of sets at zero: ``{left: "z rx"}``.

    ``direction`` is the material direction of plates. The section's y axis lies near ``section_y`` in every line; if it
    is not given, across the body's z. ``offset`` (y, z) leads from the nodes to the centroid of the section.
    """

    example: ClassVar[Mapping[str, Any]] = {
        "mesh": {"grid": {"size": [1.0, 1.0], "cells": [2, 2]}},
        "plate": {"thickness": 0.01, "material": {"young": 2.1e11, "density": 7850.0, "poisson": 0.3}},
        "frames": {"p": [0.0, 0.5, 0.0], "q": [1.0, 1.0, 0.0]},
        "attached": "p",
        "modes": 2,
    }

    mesh: Any = field(default=MISSING, kw_only=True, metadata=MESH)
    plate: Any = field(default=None, kw_only=True, metadata=PLATE)
    section: Any = field(default=None, kw_only=True, metadata=SECTION)
    material: Any = field(default=None, kw_only=True, metadata=MATERIAL)
    rigid: Mapping[str, Any] = field(
        default_factory=dict,
        kw_only=True,
        metadata=RIGID,
    )
    held: Mapping[str, Any] = field(
        default_factory=dict,
        kw_only=True,
        metadata=HELD,
    )
    direction: tuple[float, float, float] = field(
        default=(1.0, 0.0, 0.0), kw_only=True, metadata=said("material direction of plates")
    )
    section_y: tuple[float, float, float] | None = field(
        default=None, kw_only=True, metadata=said("vector near the section's y axis")
    )
    offset: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True, metadata=OFFSET)
    rotary: bool = field(default=True, kw_only=True, metadata=ROTARY)
    shear: bool = field(default=True, kw_only=True, metadata=SHEAR)
    mass: Literal["consistent", "linear"] = field(default="consistent", kw_only=True, metadata=MASS)

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
        for name in ("direction", "section_y"):
            if name == "direction" or self.section_y is not None:
                object.__setattr__(self, name, self._vector(name))
        offset = numbers(self.offset, 2, f"{self.name}.offset", "two lengths (y, z) in m", "m")
        object.__setattr__(self, "offset", offset)
        self._check_parts()
        if self.section_y is not None:
            self._check_across(np.array(self.section_y))
        given_frames = mapping(self.frames, f"{self.name}.frames", "frames by name")
        frames = {name: self._frame(name, given) for name, given in given_frames.items()}
        object.__setattr__(self, "frames", frames)
        self._check_nodes()
        super().__post_init__()

    def _vector(self, name: str) -> tuple[float, ...]:
        given, where, expected = getattr(self, name), f"{self.name}.{name}", "a vector: three numbers, not all zero"
        found = numbers(given, 3, where, expected)
        if not any(found):
            raise ModelError(f"found {given!r}", where=where, expected=expected)
        return found

    def _check_parts(self) -> None:
        """What triangles and lines need is there, and nothing is given for what the mesh does not have."""
        default = {each.name: each.default for each in fields(self)}
        for what, count, required, others in (
            ("triangles", len(self.mesh.triangles), ("plate",), ("direction",)),
            ("lines", len(self.mesh.lines), ("section", "material"), ("shear", "mass", "section_y", "offset")),
        ):
            for name in required if count else ():
                if getattr(self, name) is None:
                    raise ModelError(
                        f"the mesh has {what}, but no {name} is given", where=self.name, expected=f"{name} = ..."
                    )
            for name in () if count else (*required, *others):
                if getattr(self, name) != default[name]:
                    raise ModelError(
                        f"it is given, but the mesh has no {what} that it could belong to",
                        where=f"{self.name}.{name}",
                        remedy=f"Leave out {name}, or add {what} to the mesh",
                    )

    def _check_across(self, vector: NDArray[np.float64]) -> None:
        """The section's y axis lies across every line."""
        along = np.diff(self.mesh.nodes[self.mesh.lines], axis=1)[:, 0]
        size = np.linalg.norm(along, axis=1) * np.linalg.norm(vector)
        wrong = np.flatnonzero(np.linalg.norm(np.cross(along, vector), axis=1) <= 1e-6 * size)
        if wrong.size:
            raise ModelError(
                f"line {wrong[0]} of the mesh runs along it",
                where=f"{self.name}.section_y",
                expected="a vector across every line",
            )

    def _check_nodes(self) -> None:
        """Put what is tied and held into one form: sets by name or numbers of nodes, and names of degrees."""
        rigid = mapping(self.rigid, f"{self.name}.rigid", "frames with a set or a list of nodes: {root: left}")
        for name, given in rigid.items():
            self._known(name, "rigid")
            found = self._nodes(given, f"{self.name}.rigid.{name}")
            rigid[name] = given if isinstance(given, str) else found
        object.__setattr__(self, "rigid", rigid)
        held = mapping(self.held, f"{self.name}.held", "sets of nodes with degrees of freedom: {left: 'x y z'}")
        for name, given in held.items():
            self._nodes(name, f"{self.name}.held")
            held[name] = tuple(DEGREES[degree] for degree in degrees_of(given, f"{self.name}.held.{name}"))
        object.__setattr__(self, "held", held)

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
        data = {name: value for name, value in data.items() if name not in ("rigid", "held")}
        if self.rigid:
            data["rigid"] = {name: list(v) if isinstance(v, tuple) else v for name, v in self.rigid.items()}
        if self.held:
            data["held"] = {name: " ".join(degrees) for name, degrees in self.held.items()}
        return data

    def recipe(self, values: Mapping[str, float]) -> tuple[Any, ...]:
        parts = [getattr(self, name) for name in ("plate", "section", "material")]
        mesh = self.mesh
        return (
            mesh.nodes, mesh.lines, mesh.triangles, {name: np.array(nodes) for name, nodes in mesh.sets.items()}, parts,
            self.rigid, self.held, self.direction, self.rotary, self.shear, self.mass, self.section_y, self.offset,
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
            slaves = self._nodes(self.rigid[name], f"{self.name}.rigid.{name}")
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
                    orientation=self.section_y,
                    offset=self.offset,
                    shear=self.shear,
                    rotary=self.rotary,
                    mass=self.mass,
                )
            )
        families += lumps(self.masses, places, nodes)
        held = [
            6 * node + DEGREES.index(degree)
            for name, which in self.held.items()
            for node in self.mesh.sets[name]
            for degree in which
        ]
        return Prepared(Structure(places, families, ties=ties, names=nodes), nodes, held=tuple(held))

    def finer(self) -> FlexibleBody:
        """The same body with a new node in the middle of every edge; nodes between rigid ones are rigid, too."""
        from cotree.fem.refine import refined

        tied = [self._nodes(given, f"{self.name}.rigid.{name}") for name, given in self.rigid.items()]
        mesh, groups = refined(self.mesh, tied)
        return replace(self, mesh=mesh, rigid=dict(zip(self.rigid, groups, strict=True)))

    def _at(self, point: Any, name: str) -> int:
        try:
            return int(self.mesh.node_at(point))
        except ModelError as reason:
            raise ModelError(
                reason.found, where=f"{self.name}.{name}", expected=reason.expected, remedy=reason.remedy
            ) from None

    def _nodes(self, given: Any, where: str) -> tuple[int, ...]:
        """Nodes by the name of a set, by number, or by a list of numbers."""
        sets, several = self.mesh.sets, given
        if isinstance(given, str):
            if given not in sets:
                raise ModelError(
                    f"the mesh has no set '{given}'",
                    where=where,
                    expected=f"one of {listing(sets)}" if sets else "a list of nodes: the mesh has no sets",
                    remedy=nearest(given, sets),
                )
            several = sets[given]
        elif isinstance(given, int | np.integer) and not isinstance(given, bool):
            several = (given,)
        listed = isinstance(several, list | tuple | range) or (isinstance(several, np.ndarray) and several.ndim == 1)
        if not listed or not len(several):
            raise ModelError(
                "the set has no nodes" if isinstance(given, str) else f"found {given!r}",
                where=where,
                expected="a set of the mesh, or a list of at least one node",
            )
        for node in several:
            whole_number(node, where, 0, len(self.mesh.nodes) - 1)
        return tuple(int(node) for node in several)
