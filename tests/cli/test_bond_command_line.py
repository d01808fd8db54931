"""The command line with bond graphs: run, graph, equations and what they say about mistakes."""

from functools import partial

import numpy as np
import pytest

import cotree as ct

MOTOR = """\
name: DC motor
parameters: {V: 12}
masks:
  motor:
    ports: {supply: i, shaft: w}
    parameters: {K: null, Ra: 1.5}
    components:
      i: {kind: 1}
      R: {kind: R, resistance: Ra, domain: electrical}
      L: {kind: I, inertia: 0.01}
      g: {kind: GY, modulus: K}
      w: {kind: 1}
    bonds: [i -> R, i -> L, i -> g, g -> w]
components:
  source: {kind: Se, effort: V}
  M: {kind: mask, graph: motor, values_of: {K: 0.5}}
  J: {kind: I, inertia: 0.1, domain: rotational}
  d: {kind: R, resistance: 0.2}
  shaft: {kind: 1}
  speed: {kind: sensor, of: J, measures: flow}
bonds: {b1: source -> M.supply, b2: M.shaft -> shaft, b3: shaft -> J, b4: shaft -> d}
run: {t_end: 20, rtol: 1.0e-10, plot: [J.flow, speed.value]}
"""


@pytest.fixture
def cotree(cotree, tmp_path):
    """Run a command where the model is."""
    (tmp_path / "m.yaml").write_text(MOTOR)
    return partial(cotree, cwd=tmp_path)


def test_run_prints_states_results_and_energy(cotree):
    done = cotree("run", "m.yaml")
    assert (done.returncode, done.err) == (0, "")
    for piece in (
        "DC motor: bond graph of 6 parts and 4 bonds",
        "2 states",
        "J.flow",
        "speed.value",
        "the balance closes to",
    ):
        assert piece in done.out


def test_values_change_on_the_command_line(cotree, tmp_path):
    """At rest V = Ra i + K w and K i = d w."""
    for changes, (V, K, Ra, d) in (
        ([], (12, 0.5, 1.5, 0.2)),
        (["V=6", "M.K=0.7"], (6, 0.7, 1.5, 0.2)),
        (["M.Ra=3", "d.resistance=0.1"], (12, 0.5, 3, 0.1)),
    ):
        sets = [each for change in changes for each in ("--set", change)]
        done = cotree("run", "m.yaml", "-q", "-o", "a.h5", *sets)
        assert (done.returncode, done.out, done.err) == (0, "", "")
        speed = ct.Solution.from_hdf5(tmp_path / "a.h5")["J.flow"][-1]
        assert speed == pytest.approx(V * K / (K * K + Ra * d), rel=1e-6)


def test_a_value_that_does_not_exist_is_told(cotree):
    done = cotree("run", "m.yaml", "--set", "M.Kk=1")
    assert done.returncode == 2
    assert "m.yaml: M: bond.mask has no field 'Kk'" in done.err
    assert "Traceback" not in done.err


def test_csv_and_integrators(cotree, tmp_path):
    done = cotree("run", "m.yaml", "-q", "-o", "a.csv", "--t-end", 1, "--points", 5, "--integrator", "idas")
    assert done.returncode == 0
    head = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert "M.L.momentum" in head
    table = np.genfromtxt(tmp_path / "a.csv", delimiter=",", names=True, deletechars="")
    assert len(table) == 5


def test_equations_are_printed_as_text_and_latex(cotree):
    done = cotree("equations", "m.yaml")
    assert done.returncode == 0
    for piece in ("Bond graph", "1 Se", "Causality", "2 states: M.L.momentum, J.momentum", "Start"):
        assert piece in done.out
    done = cotree("equations", "m.yaml", "--latex")
    assert done.returncode == 0
    inside = done.out.split("\\begin{gather*}\n")[1].split("\n\\end{gather*}")[0]
    lines = inside.splitlines()
    assert len(lines) == 3
    assert all(line.startswith(r"\dot{p}_{") for line in lines[:2])
    assert lines[2] == r"e_{\mathrm{source}} = \mathrm{V}"
    done = cotree("equations", "m.yaml", "--edge", "J")
    assert (done.returncode, done.out) == (2, "")
    assert "a bond graph has bonds and junctions" in done.err


def test_the_graph_command_shows_causality(cotree):
    done = cotree("graph", "m.yaml")
    assert (done.returncode, done.err) == (0, "")
    for piece in ("J", "M.L", "integral", "order"):
        assert piece in done.out


@pytest.mark.parametrize(("name", "sign"), [("a.svg", "<svg"), ("a.tex", "tikzpicture")])
@pytest.mark.parametrize("level", ["masks", "open", "M"])
def test_the_graph_is_drawn(cotree, tmp_path, name, sign, level):
    done = cotree("graph", "m.yaml", "-o", name, "--level", level)
    assert (done.returncode, done.err) == (0, "")
    assert sign in (tmp_path / name).read_text()


@pytest.mark.parametrize("options", [["--tree", "joint"], ["--into-tree", "J"], ["--rotation-tree", "absolute"]])
def test_a_bond_graph_has_no_tree(cotree, options):
    done = cotree("run", "m.yaml", *options)
    assert done.returncode == 2
    assert f"the tree {options[1]}. Expected none: a bond graph has causality instead of a tree." in done.err


MISTAKES = {
    "kind": ("kind: I, inertia: 0.1", "kind: II, inertia: 0.1", "m.yaml:17:13: J: there is no kind of component 'II'"),
    "bond": ("b3: shaft -> J", "b3: shaft -> K", "m.yaml:21:68: bond b3: it ends at 'K', which does not exist"),
    "plot": ("plot: [J.flow", "plot: [J.flw", "m.yaml:22:40: there is no result 'J.flw' to plot"),
    "conflict": (
        "d: {kind: R, resistance: 0.2}", "d: {kind: Sf, flow: 1}\n  d2: {kind: Sf, flow: 2}",
        "are in conflict: they set the same flow",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_one_message(cotree, tmp_path, name):
    old, new, message = MISTAKES[name]
    text = MOTOR.replace(old, new)
    text = text.replace("b4: shaft -> d", "b4: d -> shaft, b5: d2 -> shaft") if name == "conflict" else text
    (tmp_path / "m.yaml").write_text(text)
    done = cotree("run", "m.yaml")
    assert done.returncode == 2
    assert message in done.err
    assert done.err.startswith("error: m.yaml")
    assert "Traceback" not in done.err


def test_a_report_holds_equations_and_plots(cotree, tmp_path):
    done = cotree("run", "m.yaml", "-q", "--report", "r.html", "--t-end", 1)
    assert (done.returncode, done.err) == (0, "")
    text = (tmp_path / "r.html").read_text()
    for piece in ("DC motor", "J.flow"):
        assert piece in text
