"""Commands beside `run`: check, modes, statics, kinematics, report, plot, new, list, schema, bench."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import cotree as ct

EXAMPLES = Path(__file__).parents[2] / "examples"
SLIDER = EXAMPLES / "slider_crank.yaml"
CIRCUIT = """\
name: RLC
components:
  V: {kind: voltage_source, nodes: [a, ground], voltage: 6}
  R: {kind: resistor, nodes: [a, b], resistance: 30}
  L: {kind: inductor, nodes: [b, c], inductance: 10 mH}
  C: {kind: capacitor, nodes: [c, ground], capacitance: 4 uF}
  load: {kind: resistor, nodes: [c, ground], resistance: 1e9}
run: {t_end: 5 ms}
"""
HANGING = """\
name: hanging mass
components:
  m: {kind: rigid_body, shape: {sphere: {radius: 0.1, mass: 2}}}
  guide: {kind: prismatic, frame_a: ground, frame_b: m, axis: [0, 0, 1], displacement: -0.5}
  k: {kind: joint_spring, on: guide, stiffness: 100}
run: {t_end: 1}
"""


@pytest.fixture
def here(tmp_path):
    (tmp_path / "c.yaml").write_text(CIRCUIT)
    (tmp_path / "m.yaml").write_text(HANGING)
    return tmp_path


def data(done, code=0):
    assert (done.returncode, done.err) == (code, "")
    return json.loads(done.out)


def test_check_tells_counts_freedom_and_defaults(cotree, here):
    done = cotree("check", "m.yaml", "c.yaml", cwd=here)
    assert (done.returncode, done.err) == (0, "")
    for piece in (
        "m.yaml: hanging mass: ok",
        "1 degree of freedom",
        "gravity (0, 0, -9.81) m/s^2 (default)",
        "t_end 0.005, points 501 (default), integrator auto (default), rtol 1e-08 (default)",
        "2 states: L.current, C.voltage",
    ):
        assert piece in done.out
    assert cotree("check", "m.yaml", "c.yaml", "-q").out == ""


def test_check_goes_on_after_a_wrong_file(cotree, here):
    (here / "w.yaml").write_text(CIRCUIT.replace("kind: resistor", "kind: resitor", 1))
    (here / "p.yaml").write_text(HANGING.replace("{t_end: 1}", "{plot: [k.lenght]}"))
    told = json.loads(cotree("check", "w.yaml", "c.yaml", "p.yaml", "--json", cwd=here).out)
    assert [each["ok"] for each in told] == [False, True, False]
    assert {key: told[0][key] for key in ("file", "line", "column")} == {"file": "w.yaml", "line": 4, "column": 13}
    assert "resitor" in told[0]["found"]
    assert "resistor" in told[0]["remedy"]
    assert (told[2]["file"], told[2]["line"]) == ("p.yaml", 6)
    done = cotree("check", "w.yaml", "c.yaml", "p.yaml")
    assert done.returncode == 2
    assert "c.yaml: RLC: ok" in done.out
    assert done.err.count("error: ") == 2


def test_check_finds_a_mechanism_that_cannot_be_put_together(cotree, here):
    text = (EXAMPLES / "four_bar.yaml").read_text()
    (here / "far.yaml").write_text(text.replace("[0.9, 0, 0]", "[9, 0, 0]"))
    done = cotree("check", "far.yaml", cwd=here)
    assert done.returncode == 1
    assert done.err.startswith("error: far.yaml")


def test_modes_of_a_pendulum_and_of_a_circuit(cotree, here):
    """f = sqrt(g/l)/(2 pi); f = 1/(2 pi sqrt(L C)) and zeta = R/2 sqrt(C/L)."""
    told = data(cotree("modes", EXAMPLES / "pendulum.yaml", "--set", "rod.length=0.5", "--json"))
    assert told["stable"]
    assert [mode["frequency"] for mode in told["modes"]] == pytest.approx([math.sqrt(9.81 / 0.5) / (2 * math.pi)])
    (mode,) = data(cotree("modes", "c.yaml", "--json", cwd=here))["modes"]
    assert mode["frequency"] == pytest.approx(1 / (2 * math.pi * math.sqrt(10e-3 * 4e-6)), rel=1e-6)
    assert mode["damping"] == pytest.approx(30 / 2 * math.sqrt(4e-6 / 10e-3), rel=1e-6)
    assert cotree("modes", "c.yaml").out.splitlines()[1].split() == [
        "mode",
        "frequency",
        "[Hz]",
        "damping",
        "moves",
        "most",
    ]
    assert "Did you mean 'start'?" in cotree("modes", "c.yaml", "--about", "strat").err


def test_statics_of_a_spring_and_of_a_divider(cotree, here):
    """The spring gives way by m g / k; an inductor is a wire and a capacitor a gap."""
    told = data(cotree("statics", "m.yaml", "--json", cwd=here))
    assert told["stability"] == "stable"
    assert told["values"]["guide.displacement"] == pytest.approx(-2 * 9.81 / 100)
    assert "guide.displacement  m     -0.1962" in cotree("statics", "m.yaml").out
    told = data(cotree("statics", "c.yaml", "--set", "load.resistance=60 ohm", "--json"))
    assert told["values"]["C.voltage"] == pytest.approx(4.0)
    assert told["units"]["C.voltage"] == "V"


def test_kinematics_writes_what_the_geometry_says(cotree, here):
    done = cotree("kinematics", SLIDER, "--points", 101, "-o", here / "k.h5", "-q")
    assert (done.returncode, done.out, done.err) == (0, "", "")
    s = ct.Solution.from_hdf5(here / "k.h5")
    phi = 20 * s.t - 20 / 8 * (1 - np.exp(-8 * s.t))
    assert (
        np.abs(s["piston.position.x"] - 0.05 * np.cos(phi) - np.sqrt(0.15**2 - (0.05 * np.sin(phi)) ** 2)).max() < 1e-12
    )
    done = cotree("kinematics", "m.yaml", cwd=here)
    assert done.returncode == 1
    assert "guide.displacement may move" in done.err


def test_report_and_plots_from_stored_results_and_from_a_model(cotree, here):
    assert cotree("run", "c.yaml", "-q", "-o", "r.h5", cwd=here).returncode == 0
    assert cotree("report", "r.h5").out == "written: r.html\n"
    page = (here / "r.html").read_text()
    assert "RLC" in page
    assert "C.voltage" in page
    assert cotree("plot", "r.h5", "C.voltage", "*.current").out == "written: r.svg\n"
    drawn = (here / "r.svg").read_text()
    assert all(name in drawn for name in ("C.voltage", "L.current", "load.current"))
    assert data(cotree("plot", "c.yaml", "C.voltage", "-o", "p/f.png", "--json"))["written"] == ["p/f.png"]
    assert (here / "p" / "f.png").read_bytes().startswith(b"\x89PNG")
    assert cotree("plot", "r.h5", "C.voltage", "--x", "L.current", "-o", "x.svg").returncode == 0
    assert "L.current (mA)" in (here / "x.svg").read_text()
    listed = cotree("plot", "r.h5").out
    assert listed == cotree("plot", "c.yaml").out
    assert "C.voltage" in listed
    for arguments, message in (
        (["plot", "r.h5", "C.volt"], "Did you mean 'C.voltage'?"),
        (["plot", "r.h5", "*.volt"], "there is no result '*.volt'"),
        (["plot", "c.yaml", "C.voltage", "--x", "R.curent"], "Did you mean 'R.current'?"),
        (["plot", "r.h5", "C.voltage", "-o", "a.txt"], "ends in .svg or .png or .pdf"),
        (["report", "r.h5", "--t-end", "3"], "Expected a model file"),
        (["report", "c.yaml", "-o", "a.pdf"], "ends in .html"),
    ):
        done = cotree(*arguments)
        assert done.returncode == 2
        assert message in done.err


def test_new_lists_writes_and_never_overwrites(cotree, tmp_path):
    assert "pendulum" in cotree("new", cwd=tmp_path).out
    done = cotree("new", "pendulum", "mine.yaml")
    assert done.out == "written: mine.yaml\nrun it with: cotree run mine.yaml\n"
    assert cotree("check", "mine.yaml").returncode == 0
    (tmp_path / "mine.yaml").write_text("precious")
    assert "mine.yaml exists already" in cotree("new", "pendulum", "mine.yaml").err
    assert (tmp_path / "mine.yaml").read_text() == "precious"
    assert cotree("new", "pendulum", "mine.yaml", "--force").returncode == 0
    assert "Did you mean 'pendulum'?" in cotree("new", "pendlum").err
    assert [each.name for each in tmp_path.iterdir()] == ["mine.yaml"]


def test_list_shows_kinds_and_the_parameters_of_one(cotree):
    every = cotree("list").out
    assert "resistor" in every
    one = cotree("list", "resistor").out
    assert next(line for line in one.splitlines() if line.startswith("resistance")).split()[1:5] == [
        "number", "ohm", "positive", "required",
    ]  # fmt: skip
    (entry,) = data(cotree("list", "resistor", "--json"))
    assert entry["fields"][-1]["unit"] == "ohm"
    assert "cvodes" in cotree("list", "--integrators").out
    assert "sqrt(x)" in cotree("list", "--functions").out
    assert "psi" in cotree("list", "--units").out
    assert "Did you mean 'revolute'?" in cotree("list", "revolude").err


def test_schema_is_printed_or_written(cotree, tmp_path):
    schema = data(cotree("schema"))
    assert schema["$schema"].endswith("2020-12/schema")
    assert cotree("schema", "-o", tmp_path / "s.json").returncode == 0
    assert json.loads((tmp_path / "s.json").read_text()) == schema


def test_bench_compares_at_equal_error(cotree, here):
    """The error of each run is checked against the closed form of a damped oscillation, not against the reference."""
    options = ["--integrator", "adams", "--integrator", "rk45", "--repeat", 1, "--error", 1e-5, "--json"]
    told = data(cotree("bench", "m.yaml", *options, cwd=here))
    assert {row["integrator"] for row in told["runs"]} == {"adams", "rk45"}
    assert {row["tree"] for row in told["runs"]} == {"joint", "absolute"}
    for row in told["runs"]:
        assert row["error"] <= 1e-5
        assert row["steps"] > 0
        s = ct.load(here / "m.yaml").simulate(
            1, points=101, tree=row["tree"], integrator=row["integrator"], rtol=row["rtol"]
        )
        w, rest = math.sqrt(100 / 2), -2 * 9.81 / 100
        right = rest + (-0.5 - rest) * np.cos(w * s.t)
        assert np.abs(s["guide.displacement"] - right).max() <= 1.1e-5 * np.ptp(right)
    done = cotree("bench", "m.yaml", "--integrator", "euler")
    assert done.returncode == 2
    assert "there is no integrator 'euler'" in done.err


def test_check_refuses_a_run_that_is_longer_than_its_data(cotree, tmp_path):
    (tmp_path / "u.csv").write_text("t,u\n0,0\n1,1\n2,0\n", encoding="utf-8")
    text = "data: {u: {file: u.csv, time: t, column: u, unit: V}}\ncomponents:\n"
    text += "  V: {kind: voltage_source, nodes: [a, ground], voltage: u}\n"
    text += "  R: {kind: resistor, nodes: [a, ground], resistance: 1}\n"
    for end, code in ((2, 0), (3, 2)):
        (tmp_path / "m.yaml").write_text(f"{text}run: {{t_end: {end}}}\n", encoding="utf-8")
        done = cotree("check", tmp_path / "m.yaml")
        assert done.returncode == code
    assert "its points reach from 0 to 2, and values from 0 to 3 are asked for" in done.err
