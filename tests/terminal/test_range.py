"""Flexible bodies that leave the range of their theory say so, with the size of the error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.terminal.range import deflection_range

sys.path.insert(0, str(Path(__file__).parents[1] / "fem"))
from test_large import BENDING, HEIGHT, WIDTH, elastica

TOLD = {"deflection-doubt", "deflection-off", "outside-theory"}


def cantilever(load: float, moment: float = 0.0, **options: Any) -> ct.Model:
    """A steel beam of 1 m with a tip force P L^2 / EI = load and an end moment M L / EI."""
    m = ct.Model("cantilever", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    chosen = {"elements": 8, "modes": 0, **options}
    m.add(ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, **chosen))
    m.add(ct.Weld("wall", m.ground, "beam.start"))
    m.add(ct.PointForce("push", "beam.end", force=(0, 0, load * BENDING)))
    m.add(ct.PointTorque("turn", "beam.end", torque=(0, -moment * BENDING, 0)))
    return m


def codes(found: Any) -> set[str]:
    return {each.code for each in found.diagnostics} & TOLD


@pytest.mark.parametrize(
    ("load", "code"),
    [(0.05, None), (0.2, None), (0.5, "deflection-doubt"), (1.0, "deflection-off"), (2.0, "outside-theory"),
     (10.0, "outside-theory")],
)  # fmt: skip
def test_the_error_of_a_tip_force_is_that_of_the_elastica(load: float, code: str | None) -> None:
    m = cantilever(load)
    rest = m.static_equilibrium()
    assert codes(rest) == ({code} if code else set())
    exact = elastica(load)
    truth = abs(rest["beam.end.deflection.z"] - exact[1]) / exact[1]
    found = deflection_range(m.deformation(rest, "beam"))
    assert found is not None
    if code:
        assert truth / 1.5 < found.error < 1.5 * truth


@pytest.mark.parametrize("turn", [0.3, 1.0, 2.0])
def test_the_error_of_an_end_moment_is_that_of_a_circle(turn: float) -> None:
    m = cantilever(0.0, turn)
    rest = m.static_equilibrium()
    exact = (1 - np.cos(turn)) / turn
    truth = abs(rest["beam.end.deflection.z"] - exact) / exact
    found = deflection_range(m.deformation(rest, "beam"))
    assert found is not None
    assert truth / 3 < found.error < 3 * truth


def test_the_remedy_of_the_message_works() -> None:
    for load in (1.0, 2.0, 5.0):
        (said,) = (each for each in cantilever(load).static_equilibrium().diagnostics if each.code in TOLD)
        remedy = str(said.data["remedy"])
        assert remedy.startswith("cut it with segments=")
        count = int(remedy.rpartition("=")[2])
        rest = cantilever(load, segments=count, elements=2 * count).static_equilibrium()
        assert not codes(rest) - {"deflection-doubt"}
        assert rest["beam.end.deflection.z"] == pytest.approx(elastica(load)[1], rel=0.02)


def test_shapes_that_are_missing_are_named() -> None:
    """Pinned shapes have no moment at the root: a small load bends a clamped beam by a quarter too little."""
    wrong, right = cantilever(0.05, shapes="pinned", modes=3), cantilever(0.05)
    (said,) = (each for each in wrong.static_equilibrium().diagnostics if each.code in TOLD)
    assert "shapes='interface'" in said.text
    here, there = (each.static_equilibrium()["beam.end.position.z"] for each in (wrong, right))
    truth = abs(here - there) / there
    error = float(str(said.data["error"]).split()[1]) / 100
    assert truth / 1.5 < error < 1.5 * truth
    assert not codes(right.static_equilibrium())


def test_runs_are_watched_and_their_results_are_marked() -> None:
    sol = cantilever(2.0).simulate(0.3, points=11)
    assert codes(sol) == {"outside-theory"}
    assert sol.label("beam.end.deflection.z") == "beam.end.deflection.z (outside its theory)"
    assert sol.label("wall.force.z") == "wall.force.z"
    assert not codes(cantilever(0.05, modes=3).simulate(0.1, points=11))


def test_the_command_line_has_an_exit_code_for_it(tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    cantilever(2.0).save(path)
    for command in (("run", str(path), "--t-end", "0.2"), ("statics", str(path))):
        done = subprocess.run([sys.executable, "-m", "cotree", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 3, done.stderr
        assert "'beam' is outside its theory: it turns by" in done.stdout


def test_a_body_that_cannot_be_judged_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise ct.ModelError("the mesh falls apart")

    monkeypatch.setattr("cotree.terminal.range.deflection_range", fails)
    rest = cantilever(0.05).static_equilibrium()
    assert "it is not checked whether 'beam' stays in the range of its theory: the mesh falls apart" in rest.notes
