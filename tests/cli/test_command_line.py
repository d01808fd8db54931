"""The command line: what it prints, what it writes, how it fails."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cotree as ct

EXAMPLE = Path(__file__).parents[2] / "examples" / "mcphee_network.yaml"


def test_version_and_help(cotree):
    assert cotree("--version").out.strip() == ct.__version__
    listed = cotree("--help").out
    assert all(command in listed for command in ("run", "graph", "equations"))


def test_run_prints_a_summary(cotree):
    done = cotree("run", EXAMPLE)
    assert done.returncode == 0
    assert done.err == ""
    for piece in ("McPhee's network: 6 nodes, 7 edges", "C6.voltage", "the balance closes to", "cvodes"):
        assert piece in done.out


def test_run_writes_results_and_changes_values(cotree, tmp_path):
    done = cotree(
        "run", EXAMPLE, "--set", "f0=0", "--set", "R3.resistance=7", "-q", "-o", tmp_path / "a.h5", "--points", 11
    )
    assert (done.returncode, done.out) == (0, "")
    solution = ct.Solution.from_hdf5(tmp_path / "a.h5")
    assert len(solution) == 11
    assert solution.parameters["R3.resistance"] == 7.0
    assert np.abs(solution["C6.voltage"]).max() == 0.0  # sin(0) drives nothing


def test_run_writes_csv_with_units(cotree, tmp_path):
    assert cotree("run", EXAMPLE, "-q", "-o", tmp_path / "a.csv", "--t-end", 0.1).returncode == 0
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].startswith("t [s],L1.voltage [V],L1.current [A],L1.power [W]")
    assert len(lines) == 1002


def test_graph_shows_the_tree_and_draws_it(cotree, tmp_path):
    done = cotree("graph", EXAMPLE, "--into-tree", "L1", "-o", tmp_path / "g.svg")
    assert done.returncode == 0
    branches = next(line for line in done.out.splitlines() if "branches" in line)
    assert "L1" in branches.partition(":")[2]
    assert "L1" in (tmp_path / "g.svg").read_text()


def test_equations_of_edges_and_of_the_whole_model(cotree):
    assert cotree("equations", EXAMPLE, "--edge", "V7").out == "V7.current - L1.current = 0\n"
    assert cotree("equations", EXAMPLE, "--edge", "L1", "--latex").out == (
        r"v_{\mathrm{L1}} - v_{\mathrm{R4}} - v_{\mathrm{R5}} + v_{\mathrm{V7}} = 0" + "\n"
    )
    whole = cotree("equations", EXAMPLE).out
    assert "R3.voltage - R3.resistance*R3.current = 0" in whole
    assert "d(C6.voltage)/dt = -L2.current/C6.capacitance" in whole
    assert r"\dot{v_{\mathrm{C6}}} = -\frac{i_{\mathrm{L2}}}{C_{6}}" in cotree("equations", EXAMPLE, "--latex").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["run", "nothing.yaml"], 2, "cannot read nothing.yaml: No such file or directory"),
        (["run", EXAMPLE, "--set", "R3.resistance"], 2, "Expected NAME=VALUE"),
        (["run", EXAMPLE, "--set", "R3.resistanc=5"], 2, "Did you mean 'resistance'?"),
        (["run", EXAMPLE, "--set", "R3.resistance=-5"], 2, "R3.resistance: the value is -5"),
        (["run", EXAMPLE, "--out", "a.xlsx"], 2, "ends in .h5 or .csv"),
        (["run", EXAMPLE, "--report", "a.pdf"], 2, "ends in .html"),
        (["run", EXAMPLE, "--integrator", "euler"], 2, "mcphee_network.yaml: there is no integrator 'euler'"),
        (["run", EXAMPLE, "--rtol", "0"], 2, "the tolerance rtol is 0"),
        (["run", EXAMPLE, "--t-end", "-1"], 2, "Expected an end after the start"),
        (["graph", EXAMPLE, "--tree", "oak"], 2, "no preference for trees is named 'oak'"),
        (["graph", EXAMPLE, "--into-tree", "R9"], 2, "R9"),
        (["equations", EXAMPLE, "--edge", "L9"], 2, "L9"),
    ],
)
def test_wrong_input_gives_one_message_and_no_traceback(cotree, arguments, code, message, tmp_path):
    done = cotree(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert message in done.err
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_failed_run_keeps_what_it_had(cotree, tmp_path):
    (tmp_path / "m.yaml").write_text(
        "components:\n"
        "  V: {kind: voltage_source, nodes: [a, ground], voltage: sqrt(1 - t)}\n"
        "  R: {kind: resistor, nodes: [a, b], resistance: 1}\n"
        "  C: {kind: capacitor, nodes: [b, ground], capacitance: 1}\n"
        "run: {t_end: 2, points: 201}\n"
    )
    done = cotree("run", "m.yaml", "-q", "-o", "a.h5", cwd=tmp_path)
    assert done.returncode == 1
    told = re.search(r"V\.voltage has no finite value at t = ([\d.]+) s", done.err)
    assert told
    assert 1.0 < float(told[1]) <= 1.01  # sqrt(1 - t), with an output every 0.01 s
    solution = ct.Solution.from_hdf5(tmp_path / "a.h5")
    assert not solution.complete
    assert solution.t[-1] == pytest.approx(1.0)


def test_a_misspelt_plot_is_told_before_the_run(cotree, tmp_path):
    (tmp_path / "m.yaml").write_text(
        "components:\n"
        "  V: {kind: voltage_source, nodes: [a, ground], voltage: 1}\n"
        "  R: {kind: resistor, nodes: [a, ground], resistance: 1}\n"
        "run:\n  t_end: 1\n  plot:\n    - [t, R.power]\n    - R.curent\n"
    )
    done = cotree("run", "m.yaml", "-o", "a.h5", cwd=tmp_path)
    assert done.returncode == 2
    assert done.err.startswith("error: m.yaml:8:7: there is no result 'R.curent' to plot. Expected one of R.voltage")
    assert "Did you mean 'R.current'?" in done.err
    assert not (tmp_path / "a.h5").exists()


def test_errors_of_the_topology_name_the_file(cotree, tmp_path):
    source = "{kind: voltage_source, nodes: [a, ground], voltage: 1}"
    (tmp_path / "m.yaml").write_text(f"components:\n  V: {source}\n  W: {source}\nrun: {{t_end: 1}}\n")
    done = cotree("run", "m.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.err.startswith("error: m.yaml")
    assert "the voltage sources" in done.err


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "cotree", "--version"], capture_output=True, text=True)
    assert done.stdout.strip() == ct.__version__


def test_determinacy_of_a_structure_and_of_something_else(cotree, tmp_path):
    file = tmp_path / "square.yaml"
    corners = {"A": "[0, 0, 0]", "B": "[1, 0, 0]", "C": "[1, 1, 0]", "D": "[0, 1, 0]"}
    nodes = "\n".join(f"  {name}: {{kind: nodal.node, position: {place}}}" for name, place in corners.items())
    bars = "\n".join(
        f"  {a}{b}: {{kind: nodal.bar, node_a: {a}, node_b: {b}, mass: 1}}" for a, b in ("AB", "BC", "CD", "DA")
    )
    file.write_text(f"name: square\nplanar: true\ncomponents:\n{nodes}\n{bars}\n")
    done = cotree("determinacy", file)
    assert done.returncode == 0
    assert "rank 4: 4 independent modes = 3 motions of the whole + 1 internal mechanism" in done.out
    failed = cotree("determinacy", EXAMPLE)
    assert failed.returncode == 2
    assert "the model is no structure in nodal coordinates" in failed.err
