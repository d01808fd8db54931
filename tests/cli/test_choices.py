"""Options that all commands share: changed values, formulations, trees; and where a run starts from."""

import json
import signal
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.cli.progress import Progress

EXAMPLES = Path(__file__).parents[2] / "examples"
SLIDER, MOTOR, FIVE_BAR = (EXAMPLES / f"{name}.yaml" for name in ("slider_crank", "dc_motor", "deployable_five_bar"))


def final(done):
    assert (done.returncode, done.err) == (0, "")
    return json.loads(done.out)["final"]


@pytest.mark.parametrize(
    ("settings", "r", "rod"),
    [
        (["r=0.04"], 0.04, 0.15),
        (["r=40mm", "l=5 in"], 0.04, 0.127),
        (["l=3*r", "r=4 cm"], 0.04, 0.12),
        (["l = r + 0.1"], 0.05, 0.15),
    ],
)
def test_values_are_set_with_units_and_expressions(cotree, settings, r, rod):
    sets = [each for setting in settings for each in ("--set", setting)]
    found = final(cotree("kinematics", SLIDER, *sets, "--json"))
    phi = 20 - 20 / 8 * (1 - np.exp(-8))
    assert found["piston.position.x"] == pytest.approx(
        r * np.cos(phi) + np.sqrt(rod**2 - (r * np.sin(phi)) ** 2), rel=1e-9
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["r=5V", "crank.mass=5"], "crank.pin.x: the parameter 'r' (5V) is a voltage. Expected a length"),
        (["crank.mass=5 m"], "crank.mass: '5 m' is a length. Expected a mass"),
        (["r=5 mmm"], "there is no unit 'mmm'"),
        (["r"], "--set r. Expected NAME=VALUE"),
        (["r="], "Expected NAME=VALUE"),
        (["r=1", "r=2"], "--set r is given twice"),
        (["r=l", "l=r"], "they refer to each other"),
        (["crank.mas=2"], "crank: rigid_body has no field 'mas'"),
        (["r=__import__('os')"], "__import__"),
        (["crank=2"], "'crank' is a component. Expected one of its fields"),
        (["crnk.mass=2"], "there is no component 'crnk'. Did you mean 'crank"),
        (["crank.pin.w=2"], "crank.pin.w: there is no 'w' in a list of 3. Expected x, y, z"),
        (["crank.shape.cylinder.mass=-2"], "slider_crank.yaml: crank.mass: the value is -2"),
        (["gravity=[1, 2]"], "slider_crank.yaml: gravity is [1, 2]. Expected three numbers"),
    ],
)
def test_wrong_settings_are_told(cotree, settings, message, tmp_path):
    sets = [each for setting in settings for each in ("--set", setting)]
    done = cotree("check", SLIDER, *sets, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.err


def test_the_formulation_changes_the_equations_and_not_the_motion(cotree):
    """The same piston, shaft and energy by two formulations each."""
    for file, formulation, names, options in (
        (SLIDER, "bond", ["piston.position.x", "motor.torque"], ["--t-end", "0.2"]),
        (MOTOR, "bond", ["L.current", "shaft.angular_velocity"], ["--set", "R.resistance=2 ohm"]),
        (FIVE_BAR, "branch", ["kinetic_energy"], ["--t-end", "0.3", "--set", "mass=1"]),
    ):
        plain = final(cotree("run", file, *options, "--points", 3, "--rtol", 1e-10, "--json"))
        other = json.loads(
            cotree("run", file, *options, "--points", 3, "--rtol", 1e-10, "--json", "--formulation", formulation).out
        )
        assert other["formulation"] == formulation
        for name in names:
            assert other["final"][name] == pytest.approx(plain[name], rel=1e-6)


@pytest.mark.parametrize(
    ("file", "formulation", "message"),
    [
        (MOTOR, "nodal", "the network 'DC motor' cannot be written in the formulation 'nodal'"),
        (EXAMPLES / "flexible_four_bar.yaml", "bond", "'AB' (beam) is flexible"),
        (EXAMPLES / "bond_example_1.yaml", "network", "'G' has no counterpart"),
        (MOTOR, "bnod", "Did you mean 'bond'?"),
    ],
)
def test_what_cannot_be_converted_is_named(cotree, file, formulation, message):
    done = cotree("check", file, "--formulation", formulation)
    assert done.returncode == 2
    assert message in done.err


def test_the_tree_of_the_file_is_kept_by_its_name(cotree, tmp_path):
    text = (EXAMPLES / "four_bar.yaml").read_text()
    (tmp_path / "m.yaml").write_text(text.replace("run:\n", "run:\n  tree: absolute\n"))
    for options, speeds in (([], 18), (["--tree", "file"], 18), (["--tree", "joint"], 3)):
        (told,) = json.loads(cotree("check", tmp_path / "m.yaml", *options, "--json").out)
        assert told["speeds"] == speeds
        assert told["degrees_of_freedom"] == 1


def test_a_run_goes_on_from_stored_results(cotree, tmp_path):
    four_bar = EXAMPLES / "four_bar.yaml"
    whole = final(cotree("run", four_bar, "--t-end", "400 ms", "--rtol", 1e-10, "--json", "-o", tmp_path / "a.h5"))
    options = ["--t-end", 0.4, "--rtol", 1e-10, "--json"]
    for state in (f"{tmp_path / 'a.h5'}@200ms", f"{tmp_path / 'a.h5'}@0.2"):
        second = cotree("run", four_bar, *options, "--start-from", state)
        assert json.loads(second.out)["t_start"] == pytest.approx(0.2)
        for name in ("O.angle", "O.angle_rate", "coupler.position.x"):
            assert final(second)[name] == pytest.approx(whole[name], rel=1e-7)
    done = cotree("run", four_bar, *options[:2], "--start-from", tmp_path / "a.h5")
    assert done.returncode == 2
    assert "Expected an end after the start" in done.err
    assert "there is no file" in cotree("run", four_bar, "--start-from", "b.h5").err


@pytest.fixture
def stopped(cotree, monkeypatch, tmp_path):
    """A run that somebody stopped after its first piece, with its file."""

    def stop(fraction):
        if fraction > 0.01:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "__enter__", lambda self: stop)
        patch.setattr(Progress, "__exit__", lambda self, *reason: None)
        done = cotree("run", MOTOR, "-o", "run.h5", "--report", "run.html", cwd=tmp_path)
    assert done.returncode == 130
    return done


def test_an_interrupted_run_is_kept_and_told(stopped, tmp_path):
    assert "interrupted at t = " in stopped.err
    assert "written: run.h5" in stopped.out
    s = ct.Solution.from_hdf5(tmp_path / "run.h5")
    assert not s.complete
    assert 1 < len(s) < 501
    assert "L.current" in (tmp_path / "run.html").read_text()


@pytest.mark.parametrize("arguments", [["run.h5"], [MOTOR, "-o", "run.h5"]])
def test_an_interrupted_run_is_finished(cotree, stopped, arguments):
    done = cotree("run", *arguments, "--resume")
    assert (done.returncode, done.err) == (0, "")
    assert "501 output times to 3 s" in done.out
    s = ct.Solution.from_hdf5("run.h5")
    whole = ct.load(MOTOR).simulate(3)
    assert np.abs(s["L.current"] - whole["L.current"]).max() < 1e-7
    done = cotree("run", *arguments, "--resume")
    assert done.returncode == 0
    assert done.out.startswith("run.h5 is complete to 3 s: there is nothing to resume")


def test_a_run_is_not_resumed_with_other_options(cotree, stopped, tmp_path):
    for arguments, message in (
        (["run.h5", "--resume", "--rtol", 1e-6], "the run was begun with 1e-08"),
        ([MOTOR, "-o", "run.h5", "--resume", "--set", "R.resistance=2"], "R.resistance"),
        ([MOTOR, "--resume"], "--resume without a results file"),
        (["other.h5", "--resume"], "there is no file other.h5"),
        (["run.h5"], "run.h5 holds results"),
    ):
        before = (tmp_path / "run.h5").read_bytes()
        done = cotree("run", *arguments)
        assert done.returncode == 2
        assert message in done.err
        assert (tmp_path / "run.h5").read_bytes() == before


def test_what_is_given_again_is_compared_with_the_run(cotree, tmp_path):
    """Model, formulation, tree and values, also where the file is complete; the run's own tree is told and drawn."""
    bar = (EXAMPLES / "four_bar.yaml").read_text()
    for name, text in (("a.yaml", bar), ("renamed.yaml", bar), ("other.yaml", bar.replace("9.81", "9.71"))):
        (tmp_path / name).write_text(text)
    options = ["--t-end", "10ms", "--points", 3, "--tree", "absolute"]
    assert cotree("run", "a.yaml", "-o", "run.h5", *options, cwd=tmp_path).returncode == 0
    before = (tmp_path / "run.h5").read_bytes()
    model = ct.load(tmp_path / "a.yaml")
    value, number = next(iter(ct.Solution.from_hdf5("run.h5").parameters.items()))
    for arguments, message in (
        (["other.yaml", "-o", "run.h5"], "gravity"),
        (["a.yaml", "-o", "run.h5", "--formulation", "bond"], "the run was begun with branch"),
        (["run.h5", "--formulation", "bond"], "the run was begun with branch"),
        (["a.yaml", "-o", "run.h5", "--tree", "joint"], "--tree joint, but the run was begun with another tree"),
        (["run.h5", "--tree", "joint"], "--tree joint, but the run was begun with another tree"),
        (["run.h5", "--tree", "foo"], "foo"),
        (["run.h5", "--rotation-tree", "joint"], "another tree"),
        (["run.h5", "--set", f"{value}={number + 1}"], f"--resume with {value} = "),
        (["a.yaml", "-o", "none.h5"], "Leave out --resume to begin the run"),
    ):
        done = cotree("run", *arguments, "--resume")
        assert (done.returncode, done.out) == (2, ""), arguments
        assert message in done.err
    for arguments in (
        ["renamed.yaml", "-o", "run.h5"],
        ["run.h5", "--tree", "absolute", "--formulation", "branch", "--set", f"{value}={number!r}", "--t-end", "10 ms"],
        ["a.yaml", "-o", "run.h5", "--tree", "absolute", "--set", f"{value}={number!r}"],
    ):
        done = cotree("run", *arguments, "--resume")
        assert (done.returncode, done.err) == (0, "")
        assert f"{len(model.tree('absolute').branches)} in the tree" in done.out
    assert (tmp_path / "run.h5").read_bytes() == before
    drawn = list[object]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ct.Model, "report", lambda self, solution, path, tree, plots: drawn.append(tree))
        assert cotree("run", "a.yaml", "-o", "run.h5", "--resume", "--report", "a.html").returncode == 0
    assert {*drawn[0].branches} == {*model.tree("absolute").branches}
    assert {*drawn[0].branches} != {*model.tree("joint").branches}
