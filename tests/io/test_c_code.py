"""C code of the equations, compiled and called, against equations written by hand."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.formulation import SystemEquations
from cotree.io.c_code import MOST_LISTED, quoted_text
from cotree.solve.problem import Problem
from formulation.test_branch_explain import by_hand, double_pendulum, four_bar
from machines.models import crank_parts, of, sampled_slider_crank, slider_crank
from machines.witness import SliderCrank

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")


def test_c_code_computes_what_is_written_by_hand(tmp_path: Path) -> None:
    m = double_pendulum()
    library = compiled(m.to_c(tmp_path / "d.c"), tmp_path)
    e = m.equations()
    q, u = np.array([0.7, -1.1]), np.array([0.4, 2.0])
    M, h = by_hand(q, u)
    p, none = e.p.start, np.zeros(1)
    assert call(library, "double_pendulum_mass_matrix", [0.0, q, p, none], 4) == pytest.approx(M.ravel(), rel=1e-13)
    assert call(library, "double_pendulum_bias", [0.0, q, u, p, none], 2) == pytest.approx(h, rel=1e-12)
    found = call(library, "double_pendulum_accelerations", [0.0, q, u, p, none], 2, 0)
    assert found == pytest.approx(-np.linalg.solve(M, h), rel=1e-11)
    residual = call(library, "double_pendulum_residual", [0.0, q, u, found, none, p, none], 2)
    assert residual == pytest.approx([0.0, 0.0], abs=1e-11)
    assert list((ctypes.c_double * 2).in_dll(library, "double_pendulum_q")) == pytest.approx([0.3, 0.5])


def test_c_code_of_a_closed_loop_keeps_it_closed(tmp_path: Path) -> None:
    """u' and lambda from C satisfy the balance, and G u' follows from differences of G u along the motion."""
    m = four_bar()
    library = compiled(m.to_c(tmp_path / "f.c"), tmp_path)
    e = m.equations()
    q, p, none = e.q.start, e.p.start, np.zeros(1)

    def f(word: str, arguments: list[object], *sizes: int) -> np.ndarray:
        return call(library, f"four_bar_mechanism_{word}", arguments, *sizes)

    assert f("constraints", [0.0, q, p, none], 2) == pytest.approx([0.0, 0.0], abs=1e-12)
    G = f("constraint_matrix", [0.0, q, p, none], 6).reshape(3, 2).T
    u = np.linalg.svd(G)[2][2]  # the one direction that the loop leaves free
    assert f("constraint_rates", [0.0, q, u, p, none], 2) == pytest.approx([0.0, 0.0], abs=1e-12)
    both = f("accelerations", [0.0, q, u, p, none], 3, 2)
    a, lam = both[:3], both[3:]
    M = f("mass_matrix", [0.0, q, p, none], 9).reshape(3, 3)
    h = f("bias", [0.0, q, u, p, none], 3)
    assert M @ a + h == pytest.approx(G.T @ lam, abs=1e-10)
    step = 1e-5
    ahead, back = (f("constraint_rates", [0.0, q + s * u, u + s * a, p, none], 2) for s in (step, -step))
    assert (ahead - back) / (2 * step) == pytest.approx([0.0, 0.0], abs=1e-8)


def test_c_code_of_a_network(tmp_path: Path) -> None:
    """d(C.voltage)/dt = (V - C.voltage)/(R C) with V = 3 sin(t)."""
    m = ct.Model("RC")
    m.add(ct.VoltageSource("V", ("in", "ground"), voltage="3*sin(t)"))
    m.add(ct.Resistor("R", ("in", "out"), resistance=20.0))
    m.add(ct.Capacitor("C", ("out", "ground"), capacitance=1e-3))
    library = compiled(m.to_c(tmp_path / "rc.c"), tmp_path)
    p = m.equations().p.start
    found = call(library, "rc_rates", [0.5, [0.25], [], p, []], 1)
    assert found == pytest.approx([(3 * np.sin(0.5) - 0.25) / 0.02], rel=1e-13)


def test_the_head_names_every_argument_and_cannot_be_broken_by_a_name(tmp_path: Path) -> None:
    m = double_pendulum()
    m.name = "7 */ int x;"
    text = m.to_c(tmp_path / "x.c").read_text()
    compiled(tmp_path / "x.c", tmp_path)
    head = text[: text.index("*/\n")]
    assert "model_7_int_x_mass_matrix(t, q, p, m) -> M[2 x 2]: mass matrix M" in head
    assert " * q[1]  Q.angle = 0.5 rad" in head
    assert " * p[0]  g = 9.81" in head


# -- results -----------------------------------------------------------------------------------------------------------


def boom(**more: Any) -> ct.Model:
    """A driven beam in space with a mass at its end, a joint with an axis askew and stations."""
    m = ct.Model("boom", gravity=(0, -9.81, 0))
    chosen = {"elements": 2, "modes": 0, "stations": 3, "frames": {"mid": 0.5}, **more}
    section = ct.section.tube(outer=0.03, inner=0.025)
    m.add(ct.Beam("boom", length=1.0, section=section, material=ct.ALUMINIUM, **chosen))
    m.add(ct.RigidBody("load", ct.box(size=(0.1, 0.1, 0.1), mass=3.0)))
    m.add(ct.Revolute("hub", m.ground, "boom.start", axis=(0, 0.6, 0.8)))
    m.add(ct.Weld("grip", "boom.end", "load"))
    m.add(ct.Drive("motor", "hub", angle="0.8*(1 - cos(3*t))"))
    m.add(ct.PointForce("push", "boom.mid", force=("4*sin(20*t)", 3.0, 0.0)))
    return m


def free_boom() -> ct.Model:
    """An open chain: accelerations are explicit, and nothing is held by multipliers."""
    m = ct.Model("free boom")
    section = ct.section.rectangle(width=0.01, height=0.02)
    m.add(ct.Beam("boom", length=0.8, section=section, material=ct.STEEL, elements=2, modes=1, stations=2))
    m.add(ct.Spherical("ball", m.ground, "boom.start", angular_velocity=(0.0, 1.0, 2.0)))
    return m


def rectified() -> ct.Model:
    """A motor behind a diode: the network has a nonlinear loop of its own."""
    network: dict[str, Any] = {
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": "12*sin(30*t)"},
        "R": {"kind": "resistor", "nodes": ["a", "n"], "resistance": 1.0},
        "D": {
            "kind": "diode", "nodes": ["n", "ground"], "saturation_current": 1e-9, "thermal_voltage": 0.05,
            "leakage": 1e-9,
        },
        "L": {"kind": "inductor", "nodes": ["n", "b"], "inductance": 0.01},
        "K": {
            "kind": "rotational_emf", "electrical": ["b", "ground"], "rotational": ["shaft", "ground"], "constant": 0.5,
        },
        "mount": {"kind": "rotational.axis", "nodes": ["shaft", "ground"], "on": "O"},
    }  # fmt: skip
    return of("rectified", {**crank_parts(SliderCrank()), **network})


RUNS: dict[str, tuple[Callable[[], ct.Model], float]] = {
    "a driven beam": (boom, 0.02),
    "a beam that bends in one plane": (lambda: boom(deforms=["xy"]), 0.5),
    "a beam of two segments": (lambda: boom(segments=2, deforms=["xy"]), 0.02),
    "a beam on a ball joint": (free_boom, 0.01),
    "a rigid four-bar": (four_bar, 0.5),
    "a machine": (lambda: slider_crank(SliderCrank()), 0.2),
    "a machine that samples": (lambda: sampled_slider_crank(SliderCrank(), 0.02), 0.11),
    "a machine with a loop of a diode": (rectified, 0.1),
    "a bond graph with sources": (lambda: ct.load(EXAMPLES / "bond_motor_slider_crank.yaml"), 0.05),
    "a circuit with a loop of diodes": (lambda: ct.load(EXAMPLES / "rectifier.yaml"), 0.03),
}


@pytest.mark.parametrize("case", RUNS)
def test_results_in_c_are_those_of_a_run(case: str, tmp_path: Path) -> None:
    make, t_end = RUNS[case]
    m = make()
    e, sol = m.equations(), m.simulate(t_end, points=8)
    library = compiled(m.to_c(tmp_path / "model.c"), tmp_path, "-O0")
    name = next(line for line in (tmp_path / "model.c").read_text().splitlines() if "_output_count = " in line)
    name = name.removeprefix("const int ").partition("_output_count")[0]
    count = ctypes.c_int.in_dll(library, f"{name}_output_count").value
    names, units = (
        [each.decode() for each in (ctypes.c_char_p * count).in_dll(library, f"{name}_output_{word}")]
        for word in ("names", "units")
    )
    assert dict(zip(names, units, strict=True)) == {
        each: unit for each, unit in sol.units.items() if each not in e.integrals
    }
    values = np.array([sol.values[each] for each in names])
    signless = [".orientation.e" in each for each in names]  # both signs are one rotation
    for k in range(len(sol.t)):
        found = call(library, f"{name}_outputs", arguments(library, name, e, sol, k), count)
        found[signless] *= np.sign(found[signless] * values[signless, k])
        for unit in set(units):
            own = [row for row, each in enumerate(units) if each == unit]
            like = ["N", "N m"] if unit == "N m" else [unit]  # a planar pin has forces, and torques of rounding
            size = np.abs(values[[each in like for each in units]]).max()
            assert found[own] == pytest.approx(values[own, k], rel=0, abs=1e-11 * size), unit


def arguments(library: ctypes.CDLL, name: str, e: SystemEquations, sol: ct.Solution, k: int) -> list[Any]:
    """What the results depend on, at an output time of a run; accelerations come from C, too."""
    t, p = float(sol.t[k]), e.p.start
    q, u, x = ([sol.values[each][k] for each in column.names] for column in (e.q, e.u, e.x))
    m = np.asarray(Problem.of(e).mode_values(t, p), dtype=float).ravel()
    m[len(e.modes) :] = [sol.values[each][k] for each in e.held.names]
    if e.mechanics is None:
        return [t, u, algebraic(e, t, u, p, m), p, m]
    sizes = len(e.u), len(e.multipliers)
    w = [sol.values[each][k] for each in e.w.names[sum(sizes) :]]
    state = [t, q, u, *(each for each in (x, w) if each)]
    both = call(library, f"{name}_accelerations", [*state, p, m], *sizes)
    return [*state, both[: sizes[0]], both[sizes[0] :], p, m]


def algebraic(e: SystemEquations, t: float, x: Any, p: np.ndarray, m: np.ndarray) -> np.ndarray:
    """The algebraic variables of a network, by Newton's rule."""
    w = np.zeros(len(e.w))
    for _ in range(100 if len(w) else 0):
        g, matrix = (np.asarray(each) for each in Problem.of(e).algebraic_parts(t, x, w, p, m))
        w = w - np.linalg.solve(matrix, g).ravel()
    return w


def test_the_head_lists_the_results(tmp_path: Path) -> None:
    text = boom(deforms=["xy"]).to_c(tmp_path / "boom.c").read_text()
    head = text[: text.index("*/\n")]
    assert "boom_outputs(t, q, u, u_dot, lambda, p, m) -> y[" in head
    lines = [line for line in head.splitlines() if line.startswith(" * y[")]
    names = text[text.index("boom_output_names[") :].splitlines()[1:]
    for what in ("boom.axial.1 N", "boom.moment.2 N m", "boom.mises.3 Pa"):
        (row,) = (line for line in lines if line.endswith(f"  {what}"))
        assert names[int(row[row.index("[") + 1 : row.index("]")])] == f'  "{what.partition(" ")[0]}",'
    assert len(lines) <= MOST_LISTED


def test_texts_are_safe_in_c(tmp_path: Path) -> None:
    texts = ['a "b" \\', "??/ ??=", "Winkel α\n1", "*/ /*", "%s\t", ""]
    source = tmp_path / "texts.c"
    quoted = ", ".join(quoted_text(text) for text in texts)
    source.write_text(f"const char* texts[{len(texts)}] = {{{quoted}}};\n")
    assert source.read_text().isascii()
    subprocess.run(["gcc", "-trigraphs", "-shared", "-fPIC", str(source), "-o", str(tmp_path / "t.so")], check=True)
    found = (ctypes.c_char_p * len(texts)).in_dll(ctypes.CDLL(str(tmp_path / "t.so")), "texts")
    assert [each.decode() for each in found] == texts


def compiled(source: Path, folder: Path, level: str = "-O1") -> ctypes.CDLL:
    target = folder / f"{source.stem}.so"
    subprocess.run(["gcc", level, "-shared", "-fPIC", str(source), "-o", str(target), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def call(library: ctypes.CDLL, name: str, arguments: list[object], *sizes: int) -> np.ndarray:
    """Call a function with CasADi's interface; the results one after the other."""
    integer, real = ctypes.c_longlong, ctypes.c_double
    needed = [integer() for _ in range(4)]
    getattr(library, f"{name}_work")(*(ctypes.byref(n) for n in needed))
    columns = [np.atleast_1d(np.asarray(argument, dtype=float)).copy() for argument in arguments]
    results = [np.zeros(max(size, 1)) for size in sizes]
    pointer = ctypes.POINTER(real)
    given = (pointer * max(needed[0].value, 1))(*(c.ctypes.data_as(pointer) for c in columns))
    found = (pointer * max(needed[1].value, 1))(*(r.ctypes.data_as(pointer) for r in results))
    whole, scratch = (integer * max(needed[2].value, 1))(), (real * max(needed[3].value, 1))()
    assert getattr(library, name)(given, found, whole, scratch, 0) == 0
    return np.concatenate([r[:size] for r, size in zip(results, sizes, strict=True)])
