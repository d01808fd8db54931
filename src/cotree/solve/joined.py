"""The parts of a run as one solution: phases between impacts, and what was computed before a run went on."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.formulation.system import Switch
from cotree.model.event import Event
from cotree.results import Solution
from cotree.results.energy import domain_audits, left_by
from cotree.solve.diagnostics import energies
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

TOGETHER = ("energy-open", "kink-energy", "domain-energy-open", "negative-dissipation", "closes")
"""Diagnostics of the whole run."""


def joined(
    parts: Sequence[Solution],
    offsets: Sequence[tuple[float, float]],
    grid: Array,
    own: Sequence[Event | Switch],
    closings: Mapping[str, Sequence[float]],
    complete: bool,
) -> Solution | None:
    """All parts on the grid that was asked for; None where an incomplete run has no point on it.

    ``offsets`` are the energies dissipated and supplied before each part.
    """
    keep = [np.isin(part.t, grid) for part in parts]
    if complete:
        keep[-1][-1] = True  # where a stop or an event ended the run
    if not any(mask.any() for mask in keep):
        return None

    def column(of: Callable[[Solution], Any]) -> Array:
        return np.concatenate([np.asarray(of(part))[mask] for part, mask in zip(parts, keep, strict=True)])

    first, names, t = parts[0], tuple(parts[-1].values), column(lambda part: part.t)
    dissipated, supplied = [], []
    for part, mask, (loss, work) in zip(parts, keep, offsets[: len(parts)], strict=True):
        dissipated.append(part.audit.dissipated[mask] + loss)
        supplied.append(part.audit.supplied[mask] + work)
    mechanical = first.audit.kinetic is not None
    audit = dataclasses.replace(
        first.audit,
        t=t,
        stored=column(lambda part: part.audit.stored),
        dissipated=np.concatenate(dissipated),
        supplied=np.concatenate(supplied),
        kinetic=max((part.audit.kinetic or 0.0) for part in parts) if mechanical else None,
    )
    events, values = {}, {}
    for name in (event.name for event in own):
        events[name] = np.concatenate([part.events[name] for part in parts])
        values[name] = {key: np.concatenate([part.event_values[name][key] for part in parts]) for key in names}
    statistics = dataclasses.replace(
        first.statistics,
        **{what: sum(getattr(part.statistics, what) for part in parts) for what in (
            "steps", "evaluations", "stretches", "seconds_formulation", "seconds_integration"
        )},
    )  # fmt: skip
    together = {name: column(lambda part, name=name: part.values[name]) for name in names}  # type: ignore[misc]
    step = None if first.origin is None else first.origin.options.get("step")
    left = left_by(statistics.rtol, statistics.steps, step)
    said = _said(parts)
    closed = [diagnose("closes", name, times=_times(times)) for name, times in closings.items()]
    return dataclasses.replace(
        parts[-1],
        t=t,
        values=together,
        audit=audit,
        statistics=statistics,
        diagnostics=(*said, *energies(audit, domain_audits(t, together, left), said), *closed),
        complete=complete,
        events=events | {name: np.array(times) for name, times in closings.items()},
        event_values=values,
    )


def _said(parts: Sequence[Solution]) -> list[Diagnostic]:
    """What the first part says, and warnings and drifts of the others; energies are judged together."""
    found: dict[tuple[str, tuple[str, ...]], Diagnostic] = {}
    for k, part in enumerate(parts):
        for each in part.diagnostics:
            if each.code in TOGETHER or (k and not each.grave and each.code != "drift"):
                continue
            key = each.code, each.subjects
            if key not in found or (each.code == "drift" and each.data["distance"] > found[key].data["distance"]):  # type: ignore[operator]
                found[key] = each
    return list(found.values())


def _times(times: Sequence[float]) -> str:
    shown = ", ".join(f"{time:.6g}" for time in times[:5])
    return shown if len(times) <= 5 else f"{shown}, ... ({len(times)} times)"
