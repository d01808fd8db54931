"""Series of data from files: units in the heads of columns, and words of other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.errors import ModelError


@pytest.mark.parametrize(
    ("head", "entry", "factor"),
    [
        ("t,z [mm]", "column: z", 1e-3),
        ("t [s],z (mm)", "column: z (mm), time: 't [s]'", 1e-3),
        ("t [ms],z", "column: z, unit: mm", 1e-3),
        ("t,z [raw]", "column: 'z [raw]'", 1.0),
    ],
)
def test_a_unit_in_the_head_of_a_column_counts(head: str, entry: str, factor: float, tmp_path: Path) -> None:
    t = [0, 1, 2, 3]
    text = "\n".join([head, *(f"{1000 * k if '[ms]' in head else k},{10 * k}" for k in t)])
    (tmp_path / "road.csv").write_text(text, encoding="utf-8")
    time = "" if "time" in entry else ", time: t"
    (tmp_path / "m.yaml").write_text(
        f"gravity: [0, 0, 0]\ndata: {{r: {{file: road.csv, {entry}{time}}}}}\n"
        "components:\n  b: {kind: rigid_body, mass: 1, inertia: [1, 1, 1]}\n"
        "  P: {kind: prismatic, frame_a: ground, frame_b: b, axis: x}\n  D: {kind: drive, on: P, displacement: r}\n",
        encoding="utf-8",
    )
    sol = ct.load(tmp_path / "m.yaml").simulate(3.0, points=4)
    np.testing.assert_allclose(sol["P.displacement"], 10 * factor * np.array(t), rtol=1e-12)


def test_a_unit_that_the_head_contradicts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "road.csv").write_text("t,z [mm]\n0,0\n1,1\n", encoding="utf-8")
    (tmp_path / "m.yaml").write_text(
        "data: {r: {file: road.csv, time: t, column: z, unit: m}}\n"
        "components:\n  R: {kind: resistor, nodes: [a, ground], resistance: 1}\n",
        encoding="utf-8",
    )
    with pytest.raises(ct.FileError, match=r"unit is 'm', and the column is 'z \[mm\]' in 'road.csv'"):
        ct.load(tmp_path / "m.yaml")


def test_words_of_other_programs() -> None:
    m = ct.Model("m")
    with pytest.raises(ModelError, match="Did you mean 'spline'"):
        m.data("r", [0, 1, 2], [0, 1, 0], interpolation="cubic")
    with pytest.raises(ModelError, match=r"numpy\.loadtxt"):
        m.data("r", "road.csv", "z")
