"""Rows of the validation page on section forces and stress: the largest errors over all choices of coordinates."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from terminal import stress_cases as cases

Row = tuple[str, str, str, str, str, str]


def rows() -> Iterator[Row]:
    """Case, reference, number of choices, largest error, error asked for, test."""
    every, name = f"{len(cases.EVERY)}, all of `shapes` and `deforms`", "test_section_forces_are_those_of_beam_theory"
    for load in cases.LOADS:
        errors = [cases.bar_error(load, *each) for each in cases.EVERY]
        yield f"bar, {load}", "beam theory", every, _below(errors), "1e-6", name
    errors = [cases.blade_error(cases.blade(*each)[1]) for each in cases.EVERY]
    name = "test_a_rotating_blade_pulls_at_its_root"
    yield "rotating blade, stress from root to tip", "closed form", every, _below(errors), "1e-3", name
    for share in (0.1, 0.5):
        errors = [cases.column_error(options, share) for options, _ in cases.COLUMNS]
        case, name = f"beam-column at {share:g} of its Euler load, moment", "test_a_beam_column"
        yield case, "closed form", f"{len(errors)}", _below(errors), "1e-3", name
    few = "2, interface and clamped"
    for which, said in (("L", "L-frame"), ("curved", "curved frame of three beams")):
        sums, whole = zip(*(cases.frame_errors(which, options) for options in cases.REDUCED), strict=True)
        name = "test_a_frame_of_beams_against_the_whole_mesh_and_statics"
        yield f"{said}, section forces", "statics", few, _below(sums), "1e-3", name
        yield f"{said}, stress", "finite elements unreduced", few, _below(whole), "1e-3", name
    for load in cases.STRIP:
        models = [cases.strip(options, load) for options in cases.REDUCED]
        errors = [cases.strip_error(model, model.static_equilibrium(), load) for model in models]
        asked = "2e-3, by the mesh" if load == "bent" else "1e-3"
        yield f"plate strip, {load}", "closed form", few, _below(errors), asked, "test_a_plate_strip"
    for load in cases.PANEL:
        errors = [cases.panel_error(options, load) for options in cases.REDUCED]
        case, name = f"square panel, {load}, stress", "test_a_panel_against_the_whole_mesh"
        yield case, "finite elements unreduced", few, _below(errors), "1e-3", name


def _below(errors: Iterable[float]) -> str:
    """The largest error, rounded up: to a digit, or to a power of ten where it is rounding."""
    worst = max(*errors, 1e-12)
    power = int(np.floor(np.log10(worst)))
    digit = int(np.ceil(worst / 10.0**power))
    return f"below {digit if power >= -9 and digit < 10 else 1}e{power if power >= -9 and digit < 10 else power + 1}"


if __name__ == "__main__":
    for row in rows():
        print("| " + " | ".join(row) + " |", flush=True)
