"""Series of data where expressions stand: drives, forces, sources, roads, tools; in Python and in files."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

import cotree as ct
from cotree.api import rebuild
from cotree.errors import CotreeError, ModelError
from cotree.io.c_code import write_c
from cotree.maths.lookup import Lookup
from cotree.maths.pieces import DEGREES, OUTSIDE, Pieces

EARTH = (0, -9.81, 0)


def cart(effort: str = "", displacement: str = "", **data: Any) -> ct.Model:
    """A mass of 2 kg on a slide, pushed or driven along x."""
    m = ct.Model("cart", parameters={"v": 1.0, "k": 2.0})
    if data:
        m.data("sig", **data)
    m.add(ct.RigidBody("b", mass=2.0, inertia=(1, 1, 1)))
    m.add(ct.Prismatic("P", "ground", "b", axis=(1, 0, 0)))
    m.add(ct.JointActuator("F", "P", effort=effort) if effort else ct.Drive("F", "P", displacement=displacement))
    return m


@pytest.mark.parametrize(("interpolation", "order"), [("spline", 4), ("quintic", 6), ("linear", 2), ("step", 1)])
def test_orders_against_closed_forms(interpolation: str, order: int) -> None:
    x = np.linspace(0.3, 2.7, 501)
    for derivative in range(min(order - 1, 2) + (order > 1)):
        errors = []
        for n in (40, 80, 160):
            t = np.linspace(0, 3, n + 1)
            pieces = Pieces.through(t, np.exp(np.sin(2 * t)), interpolation, "error")
            exact = [
                np.exp(np.sin(2 * x)),
                2 * np.cos(2 * x) * np.exp(np.sin(2 * x)),
                4 * (np.cos(2 * x) ** 2 - np.sin(2 * x)) * np.exp(np.sin(2 * x)),
            ][derivative]
            errors.append(np.abs(pieces(x, derivative) - exact).max())
        measured = np.log2(errors[-2] / errors[-1])
        assert measured == pytest.approx(order - derivative, abs=0.35), (interpolation, derivative)


def test_monotone_does_not_overshoot() -> None:
    pieces = Pieces.through(np.arange(5.0), np.array([0.0, 0, 1, 1, 3]), "monotone", "hold")
    values = pieces(np.linspace(-1, 6, 701))
    assert np.diff(values).min() >= -1e-15
    assert (values[0], values[-1]) == (0, 3)


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("interpolation", DEGREES)
def test_symbolic_values_have_exact_derivatives_of_every_order(interpolation: str, outside: str) -> None:
    x, y = np.array([0, 0.5, 1.3, 2, 2.2, 3.1, 4.0]), np.array([0, 0.5, 1, 0.8, -0.2, 0.1, 0])
    pieces = Pieces.through(x, y, interpolation, outside)
    t = ca.SX.sym("t")
    found = [Lookup(pieces, "road").value(t)]
    for _ in range(4):
        found.append(ca.jacobian(found[-1], t))
    f = ca.Function("f", [t], found)
    reverse = ca.Function("g", [t], [ca.gradient(found[1], t)])
    for at in (*np.linspace(-3, 9, 40), *x):
        np.testing.assert_array_equal([float(each) for each in f(at)], [pieces(at, k) for k in range(5)])
        assert float(reverse(at)) == pytest.approx(float(pieces(at, 2)), rel=1e-12)


def test_the_cubic_spline_is_that_of_scipy() -> None:
    x = np.sort(np.random.default_rng(0).uniform(0, 1, 30))
    y = np.cos(9 * x)
    pieces, scipy = Pieces.through(x, y, "spline", "error"), make_interp_spline(x, y, k=3)
    at = np.linspace(x[0], x[-1], 400)
    for order in range(3):
        np.testing.assert_allclose(pieces(at, order), scipy(at, order), rtol=1e-8, atol=1e-8)


def test_names_calls_and_rates_equal_the_same_expression() -> None:
    t = np.linspace(0, 3, 301)
    data = {"times": t, "values": 100 * np.sin(2 * t), "unit": "mm", "outside": "hold", "interpolation": "quintic"}
    got = cart("sig + k*sig(v*t/2) + sig.rate + 0.1*sig.rate.rate(3 - t)", **data).simulate(2.0, points=11, rtol=1e-9)
    same = "0.1*sin(2*t) + k*0.1*sin(v*t) + 0.2*cos(2*t) - 0.04*sin(6 - 2*t)"
    want = cart(same).simulate(2.0, points=11, rtol=1e-9)
    np.testing.assert_allclose(got["P.displacement"], want["P.displacement"], atol=1e-7)


def test_a_step_and_a_line_are_integrated_exactly_between_their_kinks() -> None:
    times, values = [0.0, 0.3, 0.9, 2.0], [1.0, -2.0, 4.0, 0.0]
    got = cart("sig", times=times, values=values, interpolation="step").simulate(2.0, points=2)
    speed = (0.3 * 1 - 0.6 * 2 + 1.1 * 4) / 2
    assert got["P.displacement_rate"][-1] == pytest.approx(speed, rel=1e-12)
    got = cart("sig", times=times, values=values, interpolation="linear").simulate(2.0, points=2)
    assert got["P.displacement_rate"][-1] == pytest.approx((0.3 * -0.5 + 0.6 * 1 + 1.1 * 2) / 2, rel=1e-9)


def test_a_drive_with_kinks_is_refused_as_its_expression_would_be() -> None:
    with pytest.raises(CotreeError, match=r"speed jumps .* at t = 0.5 s"):
        cart(displacement="sig", times=[0, 0.5, 1], values=[0, 1, 0], interpolation="linear").simulate(1.0)


def test_repeated_data() -> None:
    t = np.linspace(0, 1, 41)
    got = cart("sig", times=t, values=np.sin(2 * np.pi * t), outside="repeat").simulate(3.0, points=7, rtol=1e-9)
    want = cart("sin(2*pi*t)").simulate(3.0, points=7, rtol=1e-9)
    np.testing.assert_allclose(got["P.displacement"], want["P.displacement"], atol=2e-5)


def test_leaving_the_points_is_an_error_in_every_analysis() -> None:
    m = cart(displacement="sig", times=[0, 1, 2], values=[0, 1, 0])
    for call in (lambda: m.simulate(3.0), lambda: m.kinematics(3.0), lambda: m.inverse_dynamics(3.0)):
        with pytest.raises(ModelError, match="sig: its points reach from 0 to 2"):
            call()
    with pytest.raises(ModelError, match="outside: hold, extend or repeat"):
        cart("sig(P.displacement)", times=[0, 1], values=[0, 1]).simulate(1.0)


def test_unknown_functions_and_wrong_dimensions() -> None:
    data: dict[str, Any] = {"times": [0, 1, 2], "values": [0, 1, 0], "unit": "mm"}
    with pytest.raises(CotreeError, match=r"the function 'sigg'.*Did you mean 'sig'"):
        cart("sigg(t)", **data).simulate(1.0)
    with pytest.raises(CotreeError, match=r"the data 'sig' \(mm\) is a length"):
        cart("sig", **data).simulate(1.0)
    m = cart("0", **data)
    with pytest.raises(CotreeError, match="depends on time"):
        m.add(ct.RigidBody("c", mass="sig", inertia=(1, 1, 1)))
    with pytest.raises(ModelError, match="is taken"):
        cart("0", **data).data("k", [0, 1], [0, 1])


def pendulum(angle: str, points: int = 0) -> ct.Model:
    m = ct.Model("pendulum", gravity=EARTH)
    if points:
        t = np.linspace(0, 2, points)
        m.data("swing", t, 0.3 * np.sin(3 * t))
    m.add(ct.RigidBody("arm", mass=1.0, inertia=(0.01, 0.01, 0.01), frames={"O": (-0.15, 0, 0)}))
    m.add(ct.Revolute("O", "ground", "arm.O"))
    m.add(ct.Drive("D", "O", angle=angle))
    return m


def check_pendulum(points: int) -> None:
    t = np.linspace(0, 2, points)
    exact = make_interp_spline(t, 0.3 * np.sin(3 * t), k=3)
    sol = pendulum("swing", points).kinematics(2.0, points=41)
    a, alpha = exact(sol.t), exact(sol.t, 2)
    np.testing.assert_allclose(sol["arm.angular_acceleration.z"], alpha, atol=1e-12 * points**1.2)
    torque = (0.01 + 0.15**2) * alpha + 9.81 * 0.15 * np.cos(a)
    np.testing.assert_allclose(sol["D.torque"], torque, atol=1e-12 * points**1.2)


def test_a_joint_follows_points_with_exact_accelerations() -> None:
    check_pendulum(1001)


@pytest.mark.slow
def test_a_joint_follows_a_hundred_thousand_points() -> None:
    check_pendulum(100_001)
    sol = pendulum("swing", 100_001).simulate(2.0, points=21)
    np.testing.assert_allclose(sol["O.angle"], 0.3 * np.sin(3 * sol.t), atol=1e-12)


@pytest.mark.slow
def test_a_million_points() -> None:
    t = np.linspace(0, 10, 1_000_001)
    sol = cart("sig", times=t, values=np.sin(t)).simulate(10.0, points=11, rtol=1e-8)
    np.testing.assert_allclose(sol["P.displacement"], (sol.t - np.sin(sol.t)) / 2, atol=1e-6)


CAR = """
name: quarter car
gravity: [0, 0, -9.81]
data:
  road: {file: road.csv, time: t, column: z, unit: mm, outside: hold}
components:
  wheel: {kind: rigid_body, mass: 40, inertia: [1, 1, 1]}
  body: {kind: rigid_body, mass: 400, inertia: [1, 1, 1]}
  G: {kind: prismatic, frame_a: ground, frame_b: wheel, axis: [0, 0, 1]}
  S: {kind: prismatic, frame_a: wheel, frame_b: body, axis: [0, 0, 1]}
  tyre: {kind: joint_actuator, on: G, effort: 2e5*(road - G.displacement) + 100*(road.rate - G.displacement_rate)}
  spring: {kind: joint_actuator, on: S, effort: -2e4*S.displacement - 1500*S.displacement_rate}
"""
ROAD = "0.02*sin(5*t)**2"


@pytest.fixture
def car(tmp_path: Path) -> Path:
    t = np.linspace(0, 2, 2001)
    np.savetxt(tmp_path / "road.csv", np.c_[t, 20 * np.sin(5 * t) ** 2], "%.17g", ",", header="t,z", comments="")
    (tmp_path / "car.yaml").write_text(CAR, encoding="utf-8")
    return tmp_path / "car.yaml"


def test_a_measured_road_equals_the_same_road_as_an_expression(car: Path, tmp_path: Path) -> None:
    sol = ct.load(car).simulate(2.0, points=101, rtol=1e-9)
    text = CAR.replace("road.rate", "0.2*sin(5*t)*cos(5*t)").replace("(road ", f"({ROAD} ")
    (tmp_path / "same.yaml").write_text(text, encoding="utf-8")
    want = ct.load(tmp_path / "same.yaml").simulate(2.0, points=101, rtol=1e-9)
    np.testing.assert_allclose(sol["S.displacement"], want["S.displacement"], atol=1e-8)


def test_models_with_data_are_saved_stored_and_pickled(car: Path, tmp_path: Path) -> None:
    m = ct.load(car)
    want = m.simulate(1.0, points=11)["G.displacement"]
    m.save(tmp_path / "again.yaml")
    assert "file: road.csv" in (tmp_path / "again.yaml").read_text()
    (tmp_path / "sub").mkdir()
    m.save(tmp_path / "sub" / "alone.yaml")  # its own points, as the file lies outside of the folder
    for path in (tmp_path / "again.yaml", tmp_path / "sub" / "alone.yaml"):
        np.testing.assert_array_equal(ct.load(path).simulate(1.0, points=11)["G.displacement"], want)
    again = pickle.loads(pickle.dumps(ct.load(car)))
    np.testing.assert_array_equal(again.simulate(1.0, points=11)["G.displacement"], want)
    sol = m.simulate(1.0, points=11)
    sol.to_hdf5(tmp_path / "run.h5")
    rebuilt, _ = rebuild(ct.Solution.from_hdf5(tmp_path / "run.h5"))
    np.testing.assert_array_equal(rebuilt.simulate(1.0, points=11)["G.displacement"], want)


def test_an_included_file_brings_its_data(car: Path, tmp_path: Path) -> None:
    text = "gravity: [0, 0, -9.81]\ninclude: {file: car.yaml, as: left}\n"
    (tmp_path / "both.yaml").write_text(text, encoding="utf-8")
    m = ct.load(tmp_path / "both.yaml")
    assert list(m.series) == ["left_road"]
    want = ct.load(car).simulate(0.5, points=3)["G.displacement"]
    np.testing.assert_allclose(m.simulate(0.5, points=3)["left_G.displacement"], want, atol=1e-12)


def turning(t: np.ndarray) -> np.ndarray:
    return np.c_[0.8 * np.sin(2 * t), 0.5 * t, np.cos(3 * t) - 1]


@pytest.mark.parametrize("how", ["quaternion", "vector", "euler"])
def test_a_tool_follows_a_path_with_orientation_from_a_file(how: str, tmp_path: Path) -> None:
    t = np.linspace(0, 2, 401)
    turns = Rotation.from_rotvec(turning(t))
    columns = {
        "quaternion": turns.as_quat()[:, [3, 0, 1, 2]] * np.where(np.arange(len(t)) % 2, 1, -1)[:, None],
        "vector": np.degrees(turning(t)),
        "euler": np.degrees(turns.as_euler("XYZ")),
    }[how]
    names = ["a", "b", "c", "d"][: columns.shape[1]]
    table = np.c_[t, 0.3 * np.cos(t), columns]
    np.savetxt(tmp_path / "path.csv", table, "%.17g", ";", header=";".join(["t", "x", *names]), comments="")
    unit = "" if how == "quaternion" else ", unit: deg"
    (tmp_path / "tool.yaml").write_text(
        f"""
gravity: [0, 0, -9.81]
data:
  x: {{file: path.csv, time: t, column: x}}
  tool: {{file: path.csv, time: t, columns: [{", ".join(names)}], rotation: {how}{unit}, interpolation: quintic}}
components:
  hand: {{kind: rigid_body, mass: 2, inertia: [0.1, 0.2, 0.25]}}
  F: {{kind: free, frame_a: ground, frame_b: hand, x: 0.3}}
  D: {{kind: frame_drive, frame_a: ground, frame_b: hand, x: x, y: 0, z: 0, orientation: tool}}
""",
        encoding="utf-8",
    )
    sol = ct.load(tmp_path / "tool.yaml").kinematics(2.0, points=41)
    e = np.array([sol[f"hand.orientation.e{k}"] for k in range(4)]).T
    assert np.abs(np.linalg.norm(e, axis=1) - 1).max() < 1e-14
    found = Rotation.from_quat(e[:, [1, 2, 3, 0]])
    assert (found.inv() * Rotation.from_rotvec(turning(sol.t))).magnitude().max() < 1e-12
    h, at = 1e-4, sol.t[1:-1]
    ends = [Rotation.from_rotvec(turning(at + step)) for step in (-h, h)]
    spin = (ends[1] * ends[0].inv()).as_rotvec() / (2 * h)
    omega = np.array([sol[f"F.omega.{axis}"] for axis in "xyz"]).T[1:-1]
    assert np.abs(np.linalg.norm(omega, axis=1) - np.linalg.norm(spin, axis=1)).max() < 1e-6


def test_orientation_alone_by_expressions() -> None:
    m = ct.Model("turn", gravity=(0, 0, 0))
    m.add(ct.RigidBody("b", mass=1.0, inertia=(0.1, 0.2, 0.25)))
    m.add(ct.Spherical("S", "ground", "b"))
    m.add(ct.FrameDrive("D", "ground", "b", orientation=("2*cos(t/2)", 0, 0, "2*sin(t/2)")))
    sol = m.kinematics(1.0, points=5)
    np.testing.assert_allclose(sol["b.orientation.e3"], np.sin(sol.t / 2), atol=1e-12)
    np.testing.assert_allclose(sol["D.torque.z"], 0, atol=1e-12)


def test_sources_and_blocks_follow_data() -> None:
    m = ct.Model("rc")
    t = np.linspace(0, 1, 201)
    m.data("u", t, 5 * np.sin(3 * t), unit="V")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="u"))
    m.add(ct.Resistor("R", ("a", "b"), resistance=2.0))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance=0.1))
    sol = m.simulate(1.0, points=11, rtol=1e-9)
    a, w = 5.0, 3.0
    exact = 5 * a / (a**2 + w**2) * (a * np.sin(w * sol.t) - w * np.cos(w * sol.t) + w * np.exp(-a * sol.t))
    np.testing.assert_allclose(sol["C.voltage"], exact, atol=1e-6)


def test_sensitivities_with_data() -> None:
    t = np.linspace(0, 4, 401)
    m = cart("k*sig(v*t)", times=t, values=np.sin(t))
    found = m.sensitivities(["P.displacement"], ["k", "v"], 2.0, points=5)
    k, v, at = 2.0, 1.0, found.t
    np.testing.assert_allclose(found["P.displacement", "k"], (v * at - np.sin(v * at)) / 2, atol=1e-5)
    by_v = k / 2 * (-2 * (v * at - np.sin(v * at)) / v**3 + (at - at * np.cos(v * at)) / v**2)
    np.testing.assert_allclose(found["P.displacement", "v"], by_v, atol=1e-5)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("interpolation", ["spline", "linear"])
def test_c_code_with_data(interpolation: str, tmp_path: Path) -> None:
    import subprocess

    t = np.linspace(0, 2, 2501)
    m = cart("sig + 0.5*sig.rate(2 - t)", times=t, values=np.sin(t), interpolation=interpolation)
    e = m.equations()
    write_c(e, tmp_path / "cart.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", tmp_path / "cart.c", "-o", tmp_path / "c.so", "-lm"], check=True)
    f = ca.external("cart_accelerations", str(tmp_path / "c.so"))
    for now in (0.123, 1.0, 1.9):
        modes = [
            float(mode.value if not ca.symvar(mode.value) else ca.Function("m", [e.t], [mode.value])(now))
            for mode in e.modes
        ]
        got = float(f(now, [0], [0], e.p.start, modes)[0])
        want = (np.sin(now) + 0.5 * np.cos(2 - now)) / 2
        assert got == pytest.approx(want, abs=1e-3 if interpolation == "linear" else 1e-6)


GAP = "t,z\n" + "".join(f"{k + (50 if k > 30 else 0)},1\n" for k in range(60))
BAD: list[tuple[str, str, str]] = [
    ("t,z\n0,1\n2,1\n1,3\n", "", r"the time at line 4 of 'd.csv' is 1, not after 2"),
    ("t,z\n0,1\n1,nan\n2,3\n", "", r"the value at line 3 of 'd.csv' is nan"),
    ("t,z\n0,1\n1,\n2,3\n", "", r"line 3 of 'd.csv' has no value in column 'z'"),
    ("t,z\n0,1\n1,abc\n2,3\n", "", r"line 3 of 'd.csv' has 'abc' in column 'z'"),
    ("t,z\n0,1\n", "", r"it has 1 point\b"),
    ("t,y\n0,1\n1,2\n", "", r"'d.csv' has no column 'z'. Expected one of t, y"),
    ("t,z\n0,1\n1,2\n", ", unit: mmm", "mmm"),
    (
        "t,z\n" + "".join(f"{k + (50 if k > 30 else 0)},1\n" for k in range(60)),
        "",
        "a gap from 30 to 81, before line 33",
    ),
    ("", "", "'d.csv' is empty"),
    ("t,z\n0,1\n1,2\n", ", interpolation: cubic", "one of spline, quintic, monotone, linear, step"),
    ("t,z\n0,1\n1,2\n", ", outside: repeat", "the same value at both ends"),
]


@pytest.mark.parametrize(("text", "more", "message"), BAD)
def test_bad_data(text: str, more: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(text, encoding="utf-8")
    check_refused(tmp_path, f"{{file: d.csv, time: t, column: z{more}}}", message)


def check_refused(folder: Path, entry: str, message: str) -> None:
    model = folder / "m.yaml"
    parts = "components: {R: {kind: resistor, nodes: [a, ground], resistance: 1}}"
    model.write_text(f"data:\n  road: {entry}\n{parts}\n", encoding="utf-8")
    with pytest.raises(CotreeError, match=message) as caught:
        ct.load(model)
    assert "m.yaml:2" in str(caught.value)
    assert "road" in str(caught.value)


def test_files_that_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.csv").open("wb") as file:
        file.truncate(2_000_000_000)  # a hole, which takes no room
    check_refused(tmp_path, "{file: big.csv, time: t, column: z}", "'big.csv' has 2000000000 bytes")
    check_refused(tmp_path, "{file: none.csv, time: t, column: z}", "there is no file 'none.csv'")
    check_refused(tmp_path, "{file: ../x.csv, time: t, column: z}", "outside of the folder")
    check_refused(tmp_path, "{file: x.exe, time: t, column: z}", "no file of data by its name")
    check_refused(tmp_path, "{file: big.csv, tim: t, column: z}", "unknown entry 'tim'")
    check_refused(tmp_path, "{points: 3, packed: abc}", "packed points cannot be read")


def test_parquet_and_matlab(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    from scipy.io import savemat

    t = np.linspace(0, 1, 51)
    pandas.DataFrame({"t": 1000 * t, "z": np.sin(t)}).to_parquet(tmp_path / "d.parquet")
    savemat(tmp_path / "d.mat", {"t": 1000 * t, "z": np.sin(t), "w": np.eye(3)})
    for file in ("d.parquet", "d.mat"):
        text = f"data: {{u: {{file: {file}, time: t, time_unit: ms, column: z, unit: kV}}}}\n"
        text += "components: {V: {kind: voltage_source, nodes: [a, ground], voltage: u},"
        text += " R: {kind: resistor, nodes: [a, ground], resistance: 1}}\n"
        (tmp_path / "m.yaml").write_text(text, encoding="utf-8")
        sol = ct.load(tmp_path / "m.yaml").simulate(1.0, points=6)
        np.testing.assert_allclose(sol["R.voltage"], 1000 * np.sin(sol.t), atol=1e-4)
        check_refused(tmp_path, f"{{file: {file}, time: t, column: q}}", "has no column 'q'")
    check_refused(tmp_path, "{file: d.mat, time: t, column: w}", "no vector of numbers")


def test_pandas_series() -> None:
    pandas = pytest.importorskip("pandas")
    t = np.linspace(0, 1, 21)
    m = ct.Model("m")
    assert m.data("u", pandas.Series(t**2, index=t)) == "u"
    assert m.data("w", pandas.Series(t**2, index=pandas.to_timedelta(t, unit="s"))) == "w"
    np.testing.assert_allclose(m.series["w"].x, t, atol=1e-12)
    for times, values, message in (
        ([0, 1, 2], [0, 1], "3 times and 2 values"),
        ([0, 2, 1], [0, 1, 2], "at point 3 is 1"),
        ([0, 1], ["a", "b"], "no numbers"),
    ):
        with pytest.raises(ModelError, match=message):
            m.data("x", times, values)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_compiled_equations_with_data(car: Path) -> None:
    m = ct.load(car)
    want, sol = (m.simulate(0.5, points=11, compiled=compiled) for compiled in (False, True))
    np.testing.assert_allclose(sol["S.displacement"], want["S.displacement"], rtol=1e-9, atol=1e-13)
