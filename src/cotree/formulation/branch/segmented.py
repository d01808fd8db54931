"""A beam of several segments in the graph of a mechanism.

The graph holds one body with its frames, as for any other beam. Its segments are bodies of the topology, welded to each
other by links that are in every tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import casadi as ca

from cotree.formulation.branch.places import (
    Flexible,
    Place,
    check_flat,
    deformed_places,
    flexible_body,
    flexible_of,
)
from cotree.formulation.values import Values
from cotree.model import Model, quantities
from cotree.terminal.beam import Beam
from cotree.terminal.bodies import frame_of
from cotree.terminal.deformable import Deformable
from cotree.terminal.floating import Floating
from cotree.terminal.joints import Weld
from cotree.terminal.mechanics import Body
from cotree.terminal.segments import Chain, called, prepared, with_start


@dataclass(frozen=True)
class Segmented:
    """The segments of one beam: bodies of the topology by their numbers, and its frames."""

    chain: Chain
    numbers: tuple[int, ...]
    flexible: tuple[Flexible, ...]
    places: dict[str, Place]

    @property
    def name(self) -> str:
        """The name of the beam."""
        return self.chain.beam.name

    @property
    def body(self) -> Beam:
        """The beam as the model has it."""
        return self.chain.beam

    @property
    def law(self) -> Chain:
        """Where its results come from."""
        return self.chain

    def welds(self) -> list[tuple[Weld, Place, Place]]:
        """The welds between the segments, with the places that they hold together."""
        name, found = self.name, []
        ends = [self._end(k, "end") for k in range(len(self.numbers))]
        starts = [self._end(k, "start") for k in range(len(self.numbers))]
        for k, (a, b) in enumerate(zip(ends, starts[1:], strict=False), 1):
            weld = called(
                Weld("cut", f"{self.flexible[k - 1].name}.end", f"{self.flexible[k].name}.start"), f"{name}.cut{k}"
            )
            found.append((weld, a, b))
        return found

    def _end(self, k: int, name: str) -> Place:
        floating = self.flexible[k].floating
        node = floating.place(floating.tables.frames[name])
        return Place(self.numbers[k], node.position, node.rotation, node.rate, node.spin, node, ca.SX.eye(3), False)

    def bodies(self) -> list[Beam]:
        """The segments as bodies of the topology."""
        return [called(part.body, part.name) for part in self.chain.parts]

    def fields(self) -> dict[str, Any]:
        """The values of the segments, by name, as their laws take them."""
        return {each.name: SimpleNamespace(floating=each.floating) for each in self.flexible}


def deforming(
    model: Model, body: Body, values: Values, k: int, count: int
) -> tuple[dict[str, Place], dict[int, Flexible], Segmented | None]:
    """The frames of a flexible body, its elastic coordinates by the number of their body, and its segments if cut."""
    assert isinstance(body, Deformable)
    if isinstance(body, Beam) and body.decided_pieces > 1:
        cut = segmented(model, body, values, k, count)
        return cut.places, dict(zip(cut.numbers, cut.flexible, strict=True)), cut
    own = flexible_body(model, body)
    return deformed_places(k, body, own.floating, values), {k: own}, None


def segmented(model: Model, beam: Beam, values: Values, first: int, more: int) -> Segmented:
    """A beam as segments; the first body has the number ``first``, the others begin at ``more``."""
    numbers = beam.values(model.parameter_values())
    joined = beam.joined(model.components.values())
    parts, flexible = [], []
    for part, tables in prepared(beam, numbers, model.folder, joined):
        check_flat(model, beam.name, tables)
        parts.append(part)
        flexible.append(flexible_of(part.name, part.body, tables))
    chain = Chain(beam, tuple(parts), tuple(each.floating for each in flexible)).damped()
    chain = replace(chain, parts=tuple(with_start(beam, parts, chain.names)))
    flexible = [replace(each, floating=own) for each, own in zip(flexible, chain.floating, strict=True)]
    bodies = (first, *range(more, more + len(parts) - 1))
    inner = [name for name in quantities(beam) if name.partition(".")[0] in beam.places()]
    entries = values.entries(beam, inner)
    node, away = chain.own_frame()
    rate = node.rate + ca.cross(node.spin, away)
    carrier = bodies[chain.carrier]
    places = {beam.name: Place(carrier, node.position + away, node.rotation, rate, node.spin, node, aligns=False)}
    for k, part, each in zip(bodies, parts, flexible, strict=True):
        for name in part.frames:
            places[f"{beam.name}.{name}"] = _place(k, each.floating, name, frame_of(entries, name)[1])
    order = [beam.name, *(f"{beam.name}.{name}" for name in beam.places())]
    return Segmented(chain, bodies, tuple(flexible), {name: places[name] for name in order})


def _place(k: int, floating: Floating, name: str, base: ca.SX) -> Place:
    node = floating.place(floating.tables.frames[name])
    return Place(k, node.position, ca.mtimes(node.rotation, base), node.rate, node.spin, node, base, False)
