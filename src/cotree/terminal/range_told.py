"""What there is to say of flexible bodies that come near the end of their theory, or leave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cotree.errors import CotreeError
from cotree.fem.doubled import MeshError
from cotree.model import Model
from cotree.system import Diagnostic, diagnose
from cotree.terminal.deformable import Deformable
from cotree.terminal.held_by import held_nodes, held_rows
from cotree.terminal.mesh_check import checked_mesh
from cotree.terminal.range import (
    ENOUGH,
    Range,
    deflection_range,
    largest_deflection,
    load_share,
    mode_errors,
    series_range,
)
from cotree.terminal.recovery import Deformation, body_deformation

LEVELS = ((0.2, "outside-theory"), (0.035, "deflection-off"), (ENOUGH, "deflection-doubt"))
"""Errors above which a diagnostic is given, largest first. Estimates may be too small by a third: a warning comes from
3.5 % on, so that no error of 5 % goes without."""
PLASTIC = 1.5
"""Stress over yield strength at which a solid rectangular section under bending flows as a whole."""
MODES_OFF = 0.05
"""Error of the deflection in a natural mode that is told; the frequency is off by half as much."""
Told = dict[str, float | int | str]
UNKNOWN = "more than can be told"


def range_diagnostics(model: Model, t: Any, results: Mapping[str, Any], *, modes: Any = None) -> tuple[Diagnostic, ...]:
    """What there is to say of the flexible bodies of a model, from results by name at some times.

    With the frequencies of natural ``modes`` in Hz results are those of a state, and of it moved along each mode.
    """
    said: list[Diagnostic] = []
    for name, body in model.components.items():
        if isinstance(body, Deformable) and f"{name}.position.x" in results:
            try:
                times = t if modes is None else np.arange(1.0 + len(modes))
                judged = _Judged(model, body, body_deformation(model, name, times, results))
                said += judged.told() if modes is None else judged.told_of_modes(modes)
            except (CotreeError, ValueError, ArithmeticError) as reason:  # a run is not lost for what watches it
                said.append(diagnose("range-unchecked", name, why=str(reason).rstrip(".")))
    return tuple(said)


class _Judged:
    """One body over a run."""

    def __init__(self, model: Model, body: Deformable, found: Deformation) -> None:
        self.model, self.body, self.found = model, body, found
        self.pieces = [piece.strained for piece in getattr(found, "pieces", ())]
        self.further: list[Diagnostic] = []

    def told(self) -> list[Diagnostic]:
        """Its error, its load beside the critical one, its stress beside the yield strength."""
        said = [*self._bent(), *self._buckles(), *self._yields(), *self.further]
        outside = [each for each in said if each.code == "outside-theory"]
        return [each for each in said if each.code != "outside-theory" or each is outside[0]]

    def told_of_modes(self, frequencies: Any) -> list[Diagnostic]:
        """From which natural mode on shapes are missing, and what the mesh does to the first."""
        errors = np.max([mode_errors(part) for part in self.pieces or [self.found]], axis=0)
        wrong = np.flatnonzero(errors > MODES_OFF)
        said = []
        if len(wrong):
            k = int(wrong[0])
            told: Told = {"mode": k + 1, "frequency": float(frequencies[k]), "error": float(errors[k])}
            told["remedy"] = _more_shapes(self.body)
            said.append(diagnose("modes-off", self.body.name, **told))
        mesh = None if self.pieces else self._mesh()
        first = 0.0 if mesh is None else mesh.first
        code = "mesh-coarse" if first > MODES_OFF else "mesh-doubt" if first > ENOUGH else None
        said += [] if code is None else [diagnose(code, self.body.name, error=first / 2)]
        return [*said, *self.further]

    def _supports(self) -> list[int]:
        return held_nodes(self.model, self.body, self.found.body.structure.names)

    def _mesh(self) -> MeshError | None:
        try:
            return checked_mesh(self.body, self.body.values(self.model.parameter_values()), self.model.folder)
        except CotreeError as reason:  # such as a mesh that is large
            self.further.append(diagnose("mesh-unchecked", self.body.name, why=str(reason).rstrip(".")))
            return None

    def _bent(self) -> list[Diagnostic]:
        worst = (
            series_range(self.pieces, self.found)
            if self.pieces
            else deflection_range(self.found, self._mesh, self._supports())
        )
        if worst is None:
            return []
        code = next((code for level, code in LEVELS if worst.error > level), None)
        return [] if code is None else [self._off(code, worst)]

    def _off(self, code: str, worst: Range) -> Diagnostic:
        share = f"{100 * worst.error:.0f}" if worst.error > 0.1 else f"{100 * worst.error:.2g}"
        error = UNKNOWN if np.isinf(worst.error) else f"about {share} %"
        why, remedy, segments = _reason(self.body, worst)
        told: Told = {"why": why, "time": worst.t, "deflection": worst.deflection, "error": error, "remedy": remedy}
        told |= {"segments": segments, "share": min(worst.error, 10.0)} if segments else {}
        return diagnose(code, self.body.name, **told)

    def _buckles(self) -> list[Diagnostic]:
        if self.pieces:  # neighbours hold a segment elastically; together they bend aside as the equations say
            return []
        structure = self.found.body.structure
        around = self.model, self.body, structure.names, len(structure.places)
        share, t = load_share(self.found, lambda: held_rows(*around))
        if share <= 1.0:
            return []
        if len(self.found.t) > 1:
            return [diagnose("critical-load", self.body.name, share=share, time=t)]
        why = f"its load is {share:.3g} times the first that buckles it, held as its joints hold it,"
        return [self._lost(why, t, "make it stiffer")]

    def _yields(self) -> list[Diagnostic]:
        uses = [use for part in self.pieces or [self.found] if (use := part.strength_used()) is not None]
        most = max(uses, key=lambda each: each.value, default=None)
        if most is None or most.value <= 1.0:
            return []
        if most.value > PLASTIC:
            why = f"its stress is {most.value:.3g} times the yield strength of its material"
            return [self._lost(why, most.t, "take a stronger section or material: it would stay bent")]
        x, y, z = most.place
        place = f"({x:.4g}, {y:.4g}, {z:.4g}) m"
        return [diagnose("yields", self.body.name, time=most.t, share=most.value, place=place)]

    def _lost(self, why: str, t: float, remedy: str) -> Diagnostic:
        moved = largest_deflection(self.found)[1]
        told: Told = {"why": why, "time": t, "deflection": moved, "error": UNKNOWN, "remedy": remedy}
        return diagnose("outside-theory", self.body.name, **told)


def _more_shapes(body: Deformable) -> str:
    return "take more modes" if body.shapes == "interface" else "take shapes='interface', or more modes"


def _reason(body: Deformable, worst: Range) -> tuple[str, str, int]:
    """Why a deflection is off, what to do, and into how many segments a beam may be cut for it, or 0."""
    if worst.cause == "shapes":
        why = "shapes that the body does not have would carry a part of its loads"
        return why, _more_shapes(body), 0
    if worst.cause == "mesh":
        return "twice as many elements bend differently", "take a finer mesh", 0
    if worst.cause == "strain":
        return f"it is stretched by {100 * worst.parts['strain']:.3g} %", "take a stiffer material or section", 0
    why = f"it turns by {np.degrees(worst.turn):.3g} degrees against its own frame"
    if not hasattr(body, "segments"):
        return why, "divide it into several bodies", 0
    count = body.pieces * worst.segments
    return why, f"cut it with segments={count}", count
