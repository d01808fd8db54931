"""Flexible bodies that leave the range of their theory say so, with the size of the error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.fem.store import forget
from cotree.terminal.held_by import held_rows
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

    monkeypatch.setattr("cotree.terminal.range_told.deflection_range", fails)
    rest = cantilever(0.05).static_equilibrium()
    assert "it is not checked whether 'beam' stays in the range of its theory: the mesh falls apart" in rest.notes


def strut(share: float, **options: Any) -> ct.Model:
    """A steel strut pressed along its axis against a slider, by a part of Euler's load."""
    m = ct.Model("strut", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    m.add(ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, elements=8, modes=2, **options))
    m.add(ct.RigidBody("slider", mass=1, inertia=(1, 1, 1)))
    m.add(ct.Revolute("a", m.ground, "beam.start", axis=(0, 1, 0)))
    m.add(ct.Prismatic("guide", m.ground, "slider", axis=(1, 0, 0), displacement=1.0))
    m.add(ct.Revolute("b", "slider", "beam.end", axis=(0, 1, 0)))
    m.add(ct.PointForce("press", "slider", force=(-share * np.pi**2 * BENDING, 0, 0)))
    return m


def test_a_strut_below_and_above_its_critical_load() -> None:
    """Without a load across it stays straight in the run: only the watch sees it."""
    for share, told in ((0.45, False), (1.3, True)):
        m = strut(share)
        sol = m.simulate(0.1, points=101, rtol=1e-6)
        assert ("critical-load" in {each.code for each in sol.diagnostics}) is told


def test_supports_count_as_springs_and_joints_hold_them() -> None:
    """A mast with a wire at its top buckles as one that is held there, not as one that stands free."""
    m = cantilever(0.0)
    m.add(ct.PointForce("press", "beam.end", force=(-1.2 * np.pi**2 / 4 * BENDING, 0, 0)))
    free = held_rows(m, m.components["beam"], {"start": 0, "end": 8}, 9)  # type: ignore[arg-type]
    m.add(ct.Spring("wire", m.ground.at(1, 0, 1), "beam.end", stiffness=1e5, length=1.0))
    wired = held_rows(m, m.components["beam"], {"start": 0, "end": 8}, 9)  # type: ignore[arg-type]
    assert (free.shape[0], wired.shape[0]) == (6, 9)
    assert "critical-load" not in {each.code for each in m.simulate(0.05, points=11, rtol=1e-6).diagnostics}


@pytest.mark.parametrize(("share", "code"), [(0.9, None), (1.2, "yields"), (1.8, "outside-theory")])
def test_stress_above_the_yield_strength(share: float, code: str | None) -> None:
    """A cantilever with a force at its end: M / W at the root."""
    force = 20.0
    stress = 6 * force / (WIDTH * HEIGHT**2)
    material = ct.Material(2.1e11, 7850, poisson=0.3, yield_strength=stress / share)
    m = ct.Model("yields", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=WIDTH, height=HEIGHT)
    m.add(ct.Beam("beam", length=1.0, section=section, material=material, elements=4, modes=0))
    m.add(ct.Weld("wall", m.ground, "beam.start"))
    m.add(ct.PointForce("push", "beam.end", force=(0, 0, force)))
    said = [each for each in m.static_equilibrium().diagnostics if each.code in {"yields", *TOLD}]
    assert [each.code for each in said if each.code != "deflection-doubt"] == ([code] if code else [])
    if code == "yields":
        assert said[0].data["share"] == pytest.approx(share, rel=0.01)


def test_a_rubber_bar_that_is_stretched() -> None:
    m = ct.Model("rubber", gravity=(0, 0, 0))
    material = ct.Material(1e6, 1000, poisson=0.45)
    section = ct.section.rectangle(width=0.02, height=0.02)
    m.add(ct.Beam("bar", length=0.1, section=section, material=material, elements=4, modes=0))
    m.add(ct.Weld("wall", m.ground, "bar.start"))
    m.add(ct.PointForce("pull", "bar.end", force=(40.0, 0, 0)))
    (said,) = (each for each in m.static_equilibrium().diagnostics if each.code in TOLD)
    assert (said.code, said.data["why"]) == ("deflection-off", "it is stretched by 10 %")


def test_modes_that_lack_shapes_and_meshes_that_are_coarse() -> None:
    """A frequency is off by half of what the deflection lacks."""
    fine = cantilever(0.0, modes=20, elements=40).modes(about="start").frequencies
    found = cantilever(0.0, modes=2).modes(about="start")
    (said,) = (each for each in found.diagnostics if each.code == "modes-off")
    first = int(said.data["mode"]) - 1
    assert np.abs(found.frequencies / fine[: len(found)] - 1)[:first].max() < 0.025
    assert found.frequencies[first] > 1.1 * fine[first]
    coarse = cantilever(0.0, modes=2, shapes="clamped", elements=1).modes(about="start")
    (said,) = (each for each in coarse.diagnostics if each.code == "mesh-doubt")
    assert float(said.data["error"]) == pytest.approx(coarse.frequencies[0] / fine[0] - 1, rel=0.5)


def test_linear_models_and_modes_are_about_a_state_inside_its_theory() -> None:
    bent = cantilever(2.0)
    assert "outside-theory" in {each.code for each in bent.modes().diagnostics}
    assert "outside-theory" in {each.code for each in bent.linearise(at="steady", outputs=()).diagnostics}
    assert not codes(cantilever(0.05).linearise(at="steady", outputs=()))


def test_segments_are_chosen_by_statics() -> None:
    for load, least in ((0.05, 1), (2.0, 3)):
        m = cantilever(load, segments="auto")
        rest = m.static_equilibrium()
        count = m.components["beam"].segments  # type: ignore[attr-defined]
        assert (count == 1) is (least == 1)
        assert count >= least
        assert rest["beam.end.deflection.z"] == pytest.approx(elastica(load)[1], rel=1e-3)
        assert ("segments-chosen" in {each.code for each in rest.diagnostics}) is (least > 1)


@pytest.mark.slow
def test_segments_are_chosen_by_a_run() -> None:
    soft = ct.Material(2e6, 1000, poisson=0.3)
    m = ct.Model("soft", gravity=(0, 0, -9.81))
    section = ct.section.rectangle(width=0.05, height=0.02)
    m.add(ct.Beam("rod", length=1.0, section=section, material=soft, elements=8, modes=0, segments="auto"))
    m.add(ct.Weld("wall", m.ground, "rod.start"))
    sol = m.simulate(0.4, points=41, rtol=1e-6, integrator="generalised_alpha", step=2e-3)
    assert m.components["rod"].segments > 1  # type: ignore[attr-defined]
    assert "segments-chosen" in {each.code for each in sol.diagnostics}
    assert "outside-theory" not in {each.code for each in sol.diagnostics}
    assert ct.Model.from_mapping(m.to_data()).components["rod"].segments == m.components["rod"].segments  # type: ignore[attr-defined]


def test_segments_that_nothing_decides_are_refused() -> None:
    m = ct.Model("falls", gravity=(0, 0, -9.81))
    section = ct.section.rectangle(width=0.05, height=0.02)
    m.add(ct.Beam("rod", length=1.0, section=section, material=ct.STEEL, elements=4, modes=0, segments="auto"))
    m.add(ct.Free("free", m.ground, "rod.start"))
    with pytest.raises(ct.ModelError, match="into how many segments rod is cut"):
        m.modes()
    assert m.components["rod"].segments == "auto"  # type: ignore[attr-defined]
    with pytest.raises(
        ct.ModelError, match=r"rod.segments: found 'many'. Expected a whole number from 1 to 200, or 'auto'"
    ):
        ct.Beam("rod", length=1.0, section=section, material=ct.STEEL, elements=4, segments="many")  # type: ignore[arg-type]


def test_a_large_mesh_is_judged_without_a_finer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plate strip that bends too far says so, and that its mesh is not compared."""
    monkeypatch.setattr("cotree.terminal.mesh_check.MOST", 10)
    forget()
    m = ct.Model("strip", gravity=(0, 0, 0))
    m.add(
        ct.FlexibleBody(
            "strip",
            mesh={"grid": {"size": [1.0, 0.1], "cells": [10, 2], "origin": [0, -0.05, 0]}},
            plate=ct.Plate(0.01, ct.Material(1e10, 1000, poisson=0.0)),
            frames={"start": [0, 0, 0], "end": [1, 0, 0]},
            rigid={"start": "left", "end": "right"},
            attached="start",
            modes=0,
        )
    )
    m.add(ct.Weld("wall", m.ground, "strip.start"))
    m.add(ct.PointForce("push", "strip.end", force=(0, 0, 1e10 * 0.1 * 0.01**3 / 12)))
    found = {each.code: each.text for each in m.static_equilibrium().diagnostics}
    assert "deflection-off" in found
    assert "the mesh of 'strip' is not compared with a finer one" in found["mesh-unchecked"]
