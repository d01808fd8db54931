"""What all flexible bodies share: how they are described, and how their tables are made and found again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from cotree.errors import ModelError, listing, nearest
from cotree.fem.tables import Tables
from cotree.model import Frame, Value
from cotree.model.form import (
    ABOVE_ZERO,
    FRAME,
    TEXT,
    VALUE,
    VECTOR,
    either,
    entries,
    named,
    one_of,
    or_null,
    said,
    several,
)
from cotree.model.quantity import Quantity, finite
from cotree.terminal.checked import DEGREES, degrees_of, frame_names, mapping, mode_numbers, names, plain, ratios
from cotree.terminal.lumps import LUMP, checked_lumps
from cotree.terminal.mechanics import XYZ, Body, BodyMotion, Connection, Inertia, start_vector

if TYPE_CHECKING:
    from cotree.fem.internal import Internal
    from cotree.fem.reduction import Basis
    from cotree.fem.reference import Reference
    from cotree.fem.structure import Structure

SHAPES = ("interface", "clamped", "pinned", "free", "nodal")
STIFFENING = ("full", "rigid", "none")
PLACE = Quantity("m", "finite", False, "place of a frame in the undeformed body", built_in="table")
MEAN = "mean"
NAMES = either(TEXT, several(TEXT, 1))
INTERFACE = either(TEXT, several(TEXT), named(or_null(NAMES)))
TURNED = entries(dict.fromkeys(("at", "node", "angle"), VALUE) | {"axis": or_null(VECTOR)})
"""A frame of a beam by its place along it, or of a mesh by its node."""


class CentreOfMass(Frame):
    """The moving centre of mass, with the axes of the body: a force there is a force on every unit of mass."""

    NAME: ClassVar[str] = "centre_of_mass"

    def to_data(self) -> Any:
        """The name by which it is asked for."""
        return self.NAME


@dataclass(frozen=True)
class Prepared:
    """A flexible body as finite elements."""

    structure: Structure
    nodes: Mapping[str, int]
    """Nodes of the frames, by name."""
    held: tuple[int, ...] = ()
    """Degrees of freedom that supports hold, which carry loads."""
    still: tuple[int, ...] = ()
    """Degrees of freedom that are left out of the deformation; loads along them act on the body all the same."""


class Deformable(Body):
    """Base of flexible bodies: a frame that floats on a deforming mesh, and elastic coordinates.

    ``shapes`` says what the elastic coordinates are:

    - ``interface``: static shapes of the frames in ``interface`` (by default those that joints and forces sit on, and
      the ends of a beam) and vibration modes of the body that is held there (Craig, Bampton); right whatever the body
      is joined to;
    - ``clamped``, ``pinned``, ``free``: vibration modes of the body held at a frame, at both ends of a chord, or not;
    - ``nodal``: all degrees of freedom of all nodes.

    ``modes`` is the number of vibration modes, or a list of their numbers from 1; ``below`` takes all up to a
    frequency in Hz. ``attached`` is the frame that carries the body's own frame, two frames for the chord between
    them, or ``mean`` for mean axes. ``damping`` is the part of critical damping of every mode, or a list of them; the
    material's viscosity adds to it. A frame given as ``centre_of_mass`` follows the mass.

    ``stiffening`` is ``full`` (the second-order displacement of all points, which stiffens and shortens), ``rigid``
    (geometric stiffness under the forces of the rigid motion), or ``none``.
    """

    flexible: ClassVar[bool] = True

    kind: ClassVar[str] = ""

    frames: Mapping[str, Any] = field(
        default_factory=dict,
        kw_only=True,
        metadata=said("places on the undeformed body, or centre_of_mass", named(either(VALUE, FRAME, TURNED))),
    )
    shapes: str = field(
        default="interface", kw_only=True, metadata=said("what the elastic coordinates are", one_of(SHAPES))
    )
    modes: int | Sequence[int] | None = field(
        default=None, kw_only=True, metadata=said("number of vibration modes, or a list of their numbers from 1")
    )
    below: float | None = field(
        default=None, kw_only=True, metadata=said("highest frequency of a vibration mode in Hz", ABOVE_ZERO)
    )
    interface: Any = field(
        default=None,
        kw_only=True,
        metadata=said("frames that static shapes belong to; with degrees of freedom: {tip: z ry}", INTERFACE),
    )
    attached: Any = field(
        default=None,
        kw_only=True,
        metadata=said("frame that carries the body's own, two for a chord, or mean", NAMES),
    )
    damping: Any = field(
        default=None,
        kw_only=True,
        metadata=said("part of critical damping of every mode, or one for each", either(VALUE, several(VALUE, 1))),
    )
    stiffening: str = field(
        default="full", kw_only=True, metadata=said("terms of second order in the deformation", one_of(STIFFENING))
    )
    masses: Mapping[str, Any] = field(
        default_factory=dict, kw_only=True, metadata=said("rigid lumps on frames", named(LUMP))
    )
    elastic: Mapping[str, float] = field(
        default_factory=dict, kw_only=True, metadata=said("elastic coordinates at the start, by name")
    )
    elastic_rate: Mapping[str, float] = field(
        default_factory=dict, kw_only=True, metadata=said("rates of elastic coordinates at the start, by name")
    )
    position: tuple[Value, Value, Value] | None = start_vector("m", "position")
    orientation: tuple[Value, ...] | None = start_vector("", "Euler parameters", "e0 e1 e2 e3")
    velocity: tuple[Value, Value, Value] | None = start_vector("m/s", "velocity")
    angular_velocity: tuple[Value, Value, Value] | None = start_vector("rad/s", "angular velocity in body axes")

    def __post_init__(self) -> None:
        self._choice("shapes", SHAPES)
        self._choice("stiffening", STIFFENING)
        taken = [each.name for each in fields(self)]
        frame_names(mapping(self.frames, f"{self.name}.frames", "frames by name"), self.name, taken)
        for name in ("elastic", "elastic_rate"):
            given = mapping(getattr(self, name), f"{self.name}.{name}", "values by name, such as {mode1: 0.01}")
            for coordinate, value in given.items():
                finite(value, f"{self.name}.{name}.{coordinate}", "a number")
        object.__setattr__(self, "masses", checked_lumps(self.masses, self.at_nodes(), self.name))
        given_below: Any = self.below
        if isinstance(given_below, str):
            below = finite(given_below, f"{self.name}.below", "a positive frequency in Hz", "Hz")
            object.__setattr__(self, "below", below)
        modes = mode_numbers(self.modes, self.below, self.shapes, self.name)
        object.__setattr__(self, "modes", modes)
        object.__setattr__(self, "damping", ratios(self.damping, f"{self.name}.damping"))
        if modes is not None and self.below is None and self.shapes != "interface":
            self.check_damping((modes if isinstance(modes, int) else len(modes)) * self.pieces)
        self._check_interface()
        super().__post_init__()

    def _check_interface(self) -> None:
        where, known = f"{self.name}.attached", f"a frame, two for a chord, or '{MEAN}'"
        if self.attached is not None:
            carriers = names(self.attached, where, known)
            if len(carriers) not in (1, 2) or len(set(carriers)) < len(carriers):
                raise ModelError(f"found {self.attached!r}", where=where, expected=known)
            for name in carriers:
                if name != MEAN or len(carriers) == 2:
                    self._known(name, "attached")
            object.__setattr__(self, "attached", self.attached if isinstance(self.attached, str) else carriers)
        if self.interface is None:
            return
        where = f"{self.name}.interface"
        if self.shapes != "interface":
            raise ModelError(
                f"an interface is given, but the shapes are {self.shapes}",
                where=where,
                remedy="Leave it out, or say shapes='interface'",
            )
        expected = "names of frames, or frames with degrees of freedom: {tip: 'z ry'}"
        given: Any = self.interface
        if isinstance(given, Mapping):
            chosen = {
                name: degrees_of(which, f"{where}.{name}") for name, which in mapping(given, where, expected).items()
            }
            given = {name: " ".join(DEGREES[degree] for degree in degrees) for name, degrees in chosen.items()}
        elif not isinstance(given, str):
            given = names(given, where, expected)
        for name in (given,) if isinstance(given, str) else given:
            self._known(name, "interface")
        object.__setattr__(self, "interface", given)

    def check_damping(self, count: int) -> None:
        """As many ratios as modes."""
        if isinstance(self.damping, tuple) and len(self.damping) != count:
            raise ModelError(
                f"{len(self.damping)} damping ratios are given",
                where=f"{self.name}.damping",
                expected=f"one for all modes, or {count}, one for each elastic coordinate of the body",
            )

    def _choice(self, name: str, allowed: Sequence[str]) -> None:
        given = getattr(self, name)
        if given not in allowed:
            raise ModelError(
                f"found {given!r}",
                where=f"{self.name}.{name}",
                expected=f"one of {listing(allowed)}",
                remedy=nearest(str(given), allowed),
            )

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    @property
    def pieces(self) -> int:
        """How many bodies it is cut into."""
        return 1

    # -- frames ----------------------------------------------------------------------------------------------------

    def places(self) -> Mapping[str, Frame]:
        raise NotImplementedError

    def at_nodes(self) -> list[str]:
        """The frames that lie at nodes."""
        return [name for name, frame in self.places().items() if not isinstance(frame, CentreOfMass)]

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        for name, frame in self.places().items():
            own = frame.entries(name, self.name)
            result |= {f"{name}.{x}": (PLACE, own.pop(f"{name}.{x}")[1]) for x in XYZ}
            result |= own
        return result

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        for name in ("frames", "masses", "elastic", "elastic_rate"):
            data.pop(name, None)
            if getattr(self, name):
                data[name] = {key: plain(value) for key, value in getattr(self, name).items()}
        return data

    # -- tables ----------------------------------------------------------------------------------------------------

    def prepare(self, values: Mapping[str, float]) -> Prepared:
        """The body as finite elements, from the numbers of its fields."""
        raise NotImplementedError

    def finer(self) -> Deformable:
        """The same body with twice as many elements along every edge."""
        raise NotImplementedError

    def recipe(self, values: Mapping[str, float]) -> tuple[Any, ...]:
        """Everything that the tables depend on, for their key."""
        raise NotImplementedError

    def default_attachment(self) -> Any:
        """The frame that carries the body's own where nothing is said."""
        raise ModelError(
            "it is not said what carries the body's own frame",
            where=f"{self.name}.attached",
            expected=f"one of its frames ({listing(self.places())}), two for a chord, or '{MEAN}'",
        )

    def tables(
        self, values: Mapping[str, float], folder: str | None = None, joined: Sequence[str] | None = None
    ) -> Tables:
        """The constant tables, computed once and kept under their content's hash.

        ``joined`` are the frames that joints and forces of the model sit on; None for a body by itself.
        """
        from cotree.fem.store import content_hash, stored

        kept = self
        if self.interface is None and self.shapes == "interface":
            kept = replace(self, interface=tuple(self.default_interface(joined)))
        try:
            key = content_hash(type(self).kind, *self.recipe(values), *kept.choices(values))
            result = stored(folder, key, lambda: kept._compute(values))
        except ModelError as error:
            if error.where != self.name and not error.where.startswith(f"{self.name}."):
                error.where = f"{self.name}: {error.where}" if error.where else self.name
                error.args = (error.message,)
            raise
        self._check_start(result)
        return result

    def joined(self, parts: Iterable[Any]) -> list[str]:
        """The frames of this body that joints, constraints and forces among some components sit on."""
        ends = {
            getattr(part, end, "") for part in parts if isinstance(part, Connection) for end in ("frame_a", "frame_b")
        }
        return [name for name in self.places() if f"{self.name}.{name}" in ends]

    def choices(self, values: Mapping[str, float]) -> tuple[Any, ...]:
        """What the tables depend on besides the mesh, for their key."""
        at_nodes = self.at_nodes()
        places = {name: [values[f"{name}.{x}"] for x in XYZ] if name in at_nodes else None for name in self.places()}
        return (
            places, self.shapes, self.modes, self.below, self.interface, self.attached, self.damping, self.stiffening,
            self.masses,
        )  # fmt: skip

    def _compute(self, values: Mapping[str, float]) -> Tables:
        from cotree.fem.store import keep_mesh
        from cotree.fem.tables import centre_of_mass, tables

        prepared = self.prepare(values)
        reference = self.reference(prepared)
        basis = self.basis(prepared, reference)
        self.check_damping(len(basis.names))
        found = tables(
            prepared.structure,
            basis,
            prepared.nodes,
            reference=reference,
            held=prepared.held,
            damping_ratio=self.damping,
            second_order=self.stiffening != "none",
        )
        internal = self.internal(prepared, found.shapes)
        carried, carried_2 = self.carried(prepared, internal, values)
        found = replace(found, carried=carried, carried_2=carried_2)
        centres = [name for name, frame in self.places().items() if isinstance(frame, CentreOfMass)]
        found = replace(found, frames={**found.frames, **{name: centre_of_mass(found) for name in centres}})
        keep_mesh(found, (prepared, internal), prepared.structure.size)
        return found

    def internal(self, prepared: Prepared, shapes: Any) -> Internal:
        """The mesh that carries loads on the body and on its frames at nodes."""
        from cotree.fem.internal import Internal

        return Internal(
            prepared.structure,
            self.reference(prepared),
            shapes,
            list(prepared.nodes.values()),
            held=prepared.held,
            second_order=self.stiffening != "none",
        )

    def carried(self, prepared: Prepared, internal: Internal, values: Mapping[str, float]) -> tuple[Any, Any]:
        """Section forces at stations by unit loads (`cotree.fem.stations`); none unless a body has stations."""
        return np.zeros((0, 0)), np.zeros((0, 0, 0))

    def _check_start(self, tables: Tables) -> None:
        for field_name in ("elastic", "elastic_rate"):
            for name in getattr(self, field_name):
                if name not in tables.names:
                    raise ModelError(
                        f"there is no elastic coordinate '{name}'",
                        where=f"{self.name}.{field_name}",
                        expected=f"one of {listing(tables.names)}",
                        remedy=nearest(str(name), tables.names),
                    )

    def reference(self, prepared: Prepared) -> Reference:
        """How the body's frame sits on the mesh."""
        from cotree.fem.reference import Reference

        carriers = self.carriers()
        if carriers == MEAN:
            return Reference.mean()
        nodes = [prepared.nodes[name] for name in carriers]
        return Reference.node(nodes[0]) if len(nodes) == 1 else Reference.chord(nodes[0], nodes[1])

    def basis(self, prepared: Prepared, reference: Reference) -> Basis:
        """The shapes of the elastic coordinates."""
        from cotree.fem.reduction import craig_bampton, nodal, vibration

        wanted = {"clamped": "node", "pinned": "chord", "free": "mean"}.get(self.shapes)
        if wanted is not None and reference.kind != wanted:
            says = {"node": "one frame", "chord": "two frames", "mean": f"'{MEAN}'"}
            raise ModelError(
                f"the shapes are {self.shapes}, but the body is attached to {self.attached!r}",
                where=f"{self.name}.attached",
                expected=f"{says[wanted]} for {self.shapes} shapes",
            )
        structure, held = prepared.structure, (*prepared.held, *prepared.still)
        if self.shapes == "nodal":
            return nodal(structure, reference, held=held)
        modes: Any = self.modes
        if self.shapes != "interface":
            return vibration(structure, reference, modes, below=self.below, held=held)
        return craig_bampton(structure, reference, self._interface(prepared), modes, below=self.below, held=held)

    def _interface(self, prepared: Prepared) -> dict[int, list[int]]:
        """Degrees of freedom of the interface by node; what the frame holds anyway counts for nothing."""
        given: Any = self.default_interface(None) if self.interface is None else self.interface
        given = [given] if isinstance(given, str) else given
        chosen = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, "all")
        return {prepared.nodes[name]: degrees_of(which, f"{self.name}.interface") for name, which in chosen.items()}

    def default_interface(self, joined: Sequence[str] | None) -> Sequence[str]:
        """The frames that static shapes belong to where nothing is said: those that something sits on."""
        return [name for name in self.at_nodes() if joined is None or name in joined]

    @property
    def has_fixed_frame(self) -> bool:
        """Whether the body's own frame is fixed to a point of the body."""
        carriers = self.carriers()
        return carriers != MEAN and len(carriers) == 1

    def carriers(self) -> Any:
        """The frame that carries the body's own in a list, the two ends of its chord, or ``mean``."""
        given = self.attached
        if given is None:
            given = MEAN if self.shapes == "free" else self.default_attachment()
        return MEAN if given == MEAN else [given] if isinstance(given, str) else list(given)

    def chord(self) -> tuple[str, str] | None:
        """The frames at the ends of a slender body, from whose line offsets are measured."""
        return None

    def _known(self, name: str, what: str) -> None:
        """Refuse the name of a frame that is not there, or at no node."""
        known = self.at_nodes()
        if name in known:
            return
        centre = name in self.places()
        raise ModelError(
            f"the frame '{name}' follows the centre of mass, which is no point of the body"
            if centre
            else f"there is no frame '{name}'",
            where=f"{self.name}.{what}",
            expected=f"one of {listing(known)}" if known else "a frame of the body: it has none",
            remedy="" if centre else nearest(name, known) or f"Add it to frames of '{self.name}'",
        )

    # -- law -------------------------------------------------------------------------------------------------------

    def elastic_start(self, name: str) -> tuple[float, float]:
        """Value and rate of an elastic coordinate at the start."""
        return float(self.elastic.get(name, 0.0)), float(self.elastic_rate.get(name, 0.0))

    def inertia_law(self, v: Any, motion: BodyMotion) -> Inertia:
        return v.floating.law(motion, motion.elastic_dot)  # type: ignore[no-any-return]

    def weight(self, v: Any) -> tuple[ca.SX, ca.SX]:
        return ca.SX(v.floating.tables.mass), v.floating.blocks.c / v.floating.tables.mass
