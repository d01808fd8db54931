"""The deployable examples: references are met, the files are the structures that functions make, scripts draw."""

import json
import runpy
from math import cos, pi, sin

import numpy as np
import pytest

import cotree as ct
from _cases import long_ones
from examples.runs import EXAMPLES, NAMES, check, command, run

KNOWN = json.loads((EXAMPLES / "deployable_reference.json").read_text(encoding="utf-8"))


def solved(name, **options):
    file, solution = run(f"deployable_{name}")
    return file.model.simulate(file.run.t_end, **(file.run.options() | options)) if options else solution


@pytest.mark.parametrize(
    "name", long_ones((n for n in NAMES if n.startswith("deployable")), ("deployable_mast", "deployable_scissor_ring"))
)
def test_example_runs_from_the_command_line(name):
    check(name)


@pytest.mark.parametrize(("start", "side"), [("up", 1.0), ("down", -1.0)])
def test_five_bar_meets_the_independent_solution(start, side):
    known = KNOWN["five_bar"]
    model = runpy.run_path(str(EXAMPLES / "deployable_five_bar.py"))["model"](start)
    assert model.components["B"].position[1] == "rise*sqrt(3)/2"
    solution = model.simulate(1.0, times=known["t"][:10], rtol=1e-10, integrator="adams")
    assert np.sign(solution["B.position.y"][0]) == side
    for name, result in (("x_B", "B.position.x"), ("v_Bx", "B.velocity.x"), ("y_C", "C.position.y")):
        column = [row[known["columns"].index(name)] for row in known[start][:10]]
        np.testing.assert_allclose(solution[result], column, rtol=0, atol=1e-6)


def test_ring_truss_meets_the_quadrature():
    """The paper's step: second order, 3e-6 m; at 8.89 s it is folded but for 7 mm."""
    known = KNOWN["ring_truss"]
    solution = solved("ring_truss", points=None, times=[*(row["t"] for row in known["table"]), 8.89])
    np.testing.assert_allclose(solution["L1.position.x"][:8], [row["R"] for row in known["table"]], rtol=0, atol=1e-5)
    np.testing.assert_allclose(solution["L2.position.z"][:8], [row["s"] for row in known["table"]], rtol=0, atol=1e-5)
    np.testing.assert_allclose(solution["L1.position.x"][8], known["state_at_8.890"]["R"], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "made"), [("ring_truss", "ring_truss"), ("reflector", "reflector")])
def test_files_are_what_the_functions_make(name, made):
    """Node by node and part by part, values of expressions included."""
    file, structure = ct.load(EXAMPLES / f"deployable_{name}.yaml"), getattr(ct.structures, made)()
    assert file.components.keys() == structure.components.keys()
    found, expected = file.component_values(), structure.component_values()
    assert {key for key in expected if not key.startswith("gravity")} <= found.keys()
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-12, abs=1e-12), key
    for name, part in file.components.items():
        other = structure.components[name]
        assert (part.kind, part.nodes()) == (other.kind, other.nodes())


def test_mast_goes_up_and_is_latched():
    """Half longerons at a hinge angle of 3.1 rad: a bay is 1.2 sin(1.55) m high, and nothing moves any more."""
    solution = solved("mast")
    assert sorted(solution.events) == ["latch_1", "latch_2"]
    for bay in (1, 2):
        closed = solution.t > solution.events[f"latch_{bay}"][0]
        np.testing.assert_allclose(solution[f"latch_{bay}.angle"][closed], 3.1, rtol=0, atol=1e-9)
        np.testing.assert_allclose(solution[f"F{bay}c.position.z"][-1], bay * 1.2 * sin(1.55), rtol=0, atol=1e-9)
    assert solution["kinetic_energy"].max() > 1.0
    assert solution["kinetic_energy"][-1] < 1e-12


def test_reflector_folds():
    """Node 5 ends where the chord with 0.1 rad left puts it: 8 m have become 8 sin(0.1) m."""
    solution = solved("reflector", step=1e-2)
    length = np.linalg.norm(solution["N9.position"] - solution["N1.position"], axis=1)
    assert length[0] == pytest.approx(8.0, abs=1e-12)
    assert length[-1] == pytest.approx(8 * sin(0.1), abs=5e-3)
    assert np.ptp(np.linalg.norm(solution["N5.position"] - solution["N14.position"], axis=1)) < 1e-9


def test_scissor_ring_opens_along_its_rays():
    """With the opening g: inner and outer nodes at a cos(g +- pi/6) / sin(pi/6); the stop holds 0.15 m between them."""
    solution = solved("scissor_ring")
    for k in (2, 4, 5):
        ray = np.array([cos((k - 1) * pi / 3), sin((k - 1) * pi / 3)])
        inner, outer = (solution[f"{name}{k}.position"][:, :2] @ ray for name in "IO")
        g = np.arcsin((outer - inner) / (2 * 0.5))  # difference 2 a sin g
        np.testing.assert_allclose(outer, 0.5 * np.cos(g - pi / 6) / sin(pi / 6), rtol=0, atol=1e-8)
        np.testing.assert_allclose(inner, 0.5 * np.cos(g + pi / 6) / sin(pi / 6), rtol=0, atol=1e-8)
    after = solution.t > solution.events["stop.least"][0]
    np.testing.assert_allclose(solution["stop.length"][after], 0.15, rtol=0, atol=1e-9)


def test_five_bar_through_the_command(tmp_path):
    report = tmp_path / "report.html"
    assert command("run", EXAMPLES / "deployable_five_bar.yaml", "--report", report) == 0
    assert 'id="shape"' in report.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["five_bar", "ring_truss", "reflector"])
def test_scripts_draw(name, tmp_path):
    runpy.run_path(str(EXAMPLES / f"deployable_{name}.py"))["picture"](tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").stat().st_size > 10_000
