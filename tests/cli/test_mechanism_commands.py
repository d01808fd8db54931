"""The command line with mechanisms: what it prints, what it writes, how it fails."""

from pathlib import Path

import numpy as np
import pytest

import cotree as ct

EXAMPLES = Path(__file__).parents[2] / "examples"
FOUR_BAR, SLIDER = EXAMPLES / "four_bar.yaml", EXAMPLES / "slider_crank.yaml"


def test_run_prints_degrees_of_freedom_and_redundancy(cotree):
    done = cotree("run", FOUR_BAR, "--t-end", 0.2)
    assert (done.returncode, done.err) == (0, "")
    for piece in (
        "Four-bar mechanism: 11 nodes, 20 edges, 10 in the tree, 6 states",
        "3 speeds, 2 independent constraint equations, 1 degree of freedom",
        "'C' adds 3 redundant equations: planar loop",
        "O.angle",
        "O.force.y",
        "the balance closes to",
    ):
        assert piece in done.out


def test_the_driven_slider_crank_follows_its_drive(cotree, tmp_path):
    """x = r cos(phi) + sqrt(l^2 - r^2 sin^2(phi)) with phi as the file says."""
    done = cotree("run", SLIDER, "-q", "-o", tmp_path / "a.h5", "--points", 101)
    assert (done.returncode, done.out, done.err) == (0, "", "")
    s = ct.Solution.from_hdf5(tmp_path / "a.h5")
    phi = 20 * s.t - 20 / 8 * (1 - np.exp(-8 * s.t))
    wanted = 0.05 * np.cos(phi) + np.sqrt(0.15**2 - 0.05**2 * np.sin(phi) ** 2)
    assert np.abs(s["piston.position.x"] - wanted).max() < 1e-7
    assert np.abs(s["main.angle"] - phi).max() < 1e-12


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ([], "3 speeds, 2 independent"),
        (["--tree", "absolute"], "18 speeds, 17 independent"),
        (["--rotation-tree", "absolute"], "9 speeds, 8 independent"),
        (["--into-tree", "C"], "3 speeds, 2 independent"),
    ],
)
def test_the_tree_changes_the_coordinates_and_not_the_motion(cotree, options, counts, tmp_path):
    done = cotree("run", FOUR_BAR, "--t-end", 0.5, "--points", 3, "--rtol", 1e-10, "-o", tmp_path / "a.h5", *options)
    assert done.returncode == 0
    assert counts in done.out
    s = ct.Solution.from_hdf5(tmp_path / "a.h5")
    reference = ct.load(FOUR_BAR).simulate(0.5, points=3, rtol=1e-11)
    for name in ("coupler.position.x", "B.angle", "O.force.y"):
        assert s[name][-1] == pytest.approx(reference[name][-1], rel=1e-6)


def test_the_file_chooses_the_tree_and_the_command_line_overrides_it(cotree, tmp_path):
    text = FOUR_BAR.read_text().replace("run:\n", "run:\n  tree: [joint, absolute]\n")
    (tmp_path / "m.yaml").write_text(text)
    assert "9 speeds, 8 independent" in cotree("run", tmp_path / "m.yaml", "--t-end", 0.01).out
    assert "3 speeds, 2 independent" in cotree("run", tmp_path / "m.yaml", "--t-end", 0.01, "--tree", "joint").out


def test_without_a_plot_the_joint_coordinates_are_shown(cotree, tmp_path):
    text = FOUR_BAR.read_text().partition("run:")[0]
    (tmp_path / "m.yaml").write_text(text)
    lines = cotree("run", tmp_path / "m.yaml", "--t-end", 0.01, "--tree", "absolute").out.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("result")) + 1
    assert [line.split()[0] for line in lines[first : first + 4]] == ["O.angle", "A.angle", "B.angle", "C.angle"]


def test_graph_shows_dependent_edges_and_draws_both_trees(cotree, tmp_path):
    done = cotree("graph", FOUR_BAR, "--rotation-tree", "absolute", "-o", tmp_path / "g.svg")
    assert done.returncode == 0
    assert "N7 dependent virtual work: 6" in done.out
    assert "Tree of rotations" in done.out
    for name in ("g.svg", "g-rotation.svg"):
        assert "A.work1" in (tmp_path / name).read_text()


def test_graph_says_how_to_see_whole_lists(cotree):
    cut = cotree("graph", FOUR_BAR, "--most", 5, "--tree", "random", "--seed", 1).out
    assert "... and 15 more edges" in cut
    assert cut.endswith("Lists are cut: --most 50 shows more\n")
    whole = cotree("graph", FOUR_BAR).out
    assert "follower.C, pivot, O, A, B\n" in whole
    assert "more" not in whole
    assert "a seed with --tree random only" in cotree("graph", FOUR_BAR, "--seed", 1).err


def test_equations_as_text_latex_and_c(cotree, tmp_path):
    whole = cotree("equations", FOUR_BAR).out
    assert "C.displacement - pivot.displacement + O.displacement" in whole
    assert "M[3,3] = follower.mass*l3**2/3" in whole
    latex = cotree("equations", FOUR_BAR, "--latex").out
    assert r"M_{33} = \frac{m_{\mathrm{follower}} l_{3}^{2}}{3}" in latex
    assert r"\delta W_{\mathrm{pivot}} + \delta W_{\mathrm{C}} = 0" in latex
    done = cotree("equations", FOUR_BAR, "--c", tmp_path / "m.c")
    assert done.out.startswith("written: ")
    assert "four_bar_mechanism_mass_matrix" in (tmp_path / "m.c").read_text()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("frame_b: crank.O", "frame_b: crank.P"), "m.yaml:14:49: O: the body 'crank' has no frame 'P'"),
        (("follower.C", "folower.C"), "m.yaml:17:32: C: there is no frame 'folower.C'"),
        (("[-l1/2, 0, 0]", "[-l1/2, 0]"), "m.yaml:10:79: crank.O: found ('-l1/2', 0). Expected 3 numbers in m"),
        (("O.angle, A", "O.angel, A"), "m.yaml:20:11: there is no result 'O.angel' to plot"),
        (("[0.9, 0, 0]", "[9, 0, 0]"), "m.yaml:"),
    ],
)
def test_a_wrong_file_gives_one_message_with_its_line(cotree, change, message, tmp_path):
    (tmp_path / "m.yaml").write_text(FOUR_BAR.read_text().replace(*change))
    done = cotree("run", "m.yaml", cwd=tmp_path)
    assert done.returncode != 0
    assert message in done.err
    assert done.err.startswith("error: ")
    assert done.err.count("error") == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", FOUR_BAR, "--tree", "oak"], "no preference for trees is named 'oak'"),
        (["run", EXAMPLES / "dc_motor.yaml", "--rotation-tree", "joint"], "a network has one tree"),
        (["equations", FOUR_BAR, "--c", "m.txt"], "ends in .c"),
        (["run", FOUR_BAR, "--set", "crank.mass=-1"], "four_bar.yaml: crank.mass: the value is -1"),
        (["run", FOUR_BAR, "--into-tree", "A.work1"], "Pin 'A.work1' into the cotree"),
    ],
)
def test_wrong_options_give_one_message(cotree, arguments, message, tmp_path):
    done = cotree(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
