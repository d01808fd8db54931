"""C code of the equations, compiled and called, against equations written by hand."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from formulation.test_branch_explain import by_hand, double_pendulum, four_bar

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
    m.add(ct.VoltageSource("V", "in", "ground", voltage="3*sin(t)"))
    m.add(ct.Resistor("R", "in", "out", resistance=20.0))
    m.add(ct.Capacitor("C", "out", "ground", capacitance=1e-3))
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


def compiled(source: Path, folder: Path) -> ctypes.CDLL:
    target = folder / f"{source.stem}.so"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", str(source), "-o", str(target), "-lm"], check=True)
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
