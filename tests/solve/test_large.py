"""Large networks against SciPy's sparse solutions: a line of a thousand sections, a grid of nine hundred nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import expm_multiply, spsolve

import cotree
from cotree import Capacitor, CurrentSource, Resistor, VoltageSource

SECTIONS = 1000


def rc_line() -> cotree.Model:
    """1 V steps onto a thousand sections of R = 1 and C = 1e-3."""
    m = cotree.Model("line")
    m.add(VoltageSource("V", ("n0", "ground"), voltage=1.0))
    for k in range(1, SECTIONS + 1):
        m.add(Resistor(f"R{k}", (f"n{k - 1}", f"n{k}"), resistance=1.0))
        m.add(Capacitor(f"C{k}", (f"n{k}", "ground"), capacitance=1e-3))
    return m


@pytest.mark.slow
def test_line_of_a_thousand_sections() -> None:
    sol = rc_line().simulate(t_end=1.0, points=5, rtol=1e-8)
    main = np.full(SECTIONS, -2.0)
    main[-1] = -1.0
    A = 1e3 * sp.diags([np.ones(SECTIONS - 1), main, np.ones(SECTIONS - 1)], [-1, 0, 1], format="csc")
    b = np.zeros(SECTIONS)
    b[0] = 1e3
    rest = spsolve(A, -b)
    for k, t in enumerate(sol.t):
        exact = rest - expm_multiply(A * t, rest)
        ours = np.array([sol[f"C{n}.voltage"][k] for n in range(1, SECTIONS + 1)])
        np.testing.assert_allclose(ours, exact, atol=1e-6)


def cell(k: int, side: int) -> tuple[int, int]:
    """Where the capacitor k = 1..4 sits."""
    return side * k // 5, side - 1 - side * k // 6


def grid(side: int, twins: bool) -> cotree.Model:
    """Resistors between neighbours, V at a corner, I in the middle, four capacitors; twins: one of them is doubled."""
    m = cotree.Model("grid")
    m.add(VoltageSource("V", ("n0_0", "ground"), voltage="sin(t)"))
    m.add(CurrentSource("I", ("ground", f"n{side // 2}_{side // 2}"), current="cos(2*t)"))
    for i in range(side):
        for j in range(side):
            if i + 1 < side:
                m.add(Resistor(f"Rv{i}_{j}", (f"n{i}_{j}", f"n{i + 1}_{j}"), resistance=1.0 + 0.01 * i))
            if j + 1 < side:
                m.add(Resistor(f"Rh{i}_{j}", (f"n{i}_{j}", f"n{i}_{j + 1}"), resistance=1.0 + 0.01 * j))
    for k in range(1, 5):
        m.add(Capacitor(f"C{k}", ("n{}_{}".format(*cell(k, side)), "ground"), capacitance=0.1 * k))
    if twins:
        m.add(Capacitor("twin", ("n{}_{}".format(*cell(1, side)), "ground"), capacitance=0.3))
    return m


def grid_response(omega: float, side: int, twins: bool) -> tuple[np.ndarray, np.ndarray]:
    """Node potentials for a unit of V and for a unit of I: sparse nodal analysis with n0_0 held."""
    n = side * side
    Y = sp.lil_matrix((n, n), dtype=complex)
    for i in range(side):
        for j in range(side):
            for a, b, r in ((i + 1, j, 1.0 + 0.01 * i), (i, j + 1, 1.0 + 0.01 * j)):
                if a < side and b < side:
                    p, q = i * side + j, a * side + b
                    Y[p, p] += 1 / r
                    Y[q, q] += 1 / r
                    Y[p, q] -= 1 / r
                    Y[q, p] -= 1 / r
    for k in range(1, 5):
        i, j = cell(k, side)
        Y[i * side + j, i * side + j] += 1j * omega * (0.1 * k + (0.3 if twins and k == 1 else 0.0))
    Y = Y.tocsc()
    free = np.arange(1, n)
    drive = np.zeros(n, complex)
    drive[side // 2 * side + side // 2] = 1.0
    by_voltage, by_current = np.zeros(n, complex), np.zeros(n, complex)
    by_voltage[0] = 1.0
    inner = Y[free][:, free]
    by_voltage[free] = spsolve(inner, -Y[free][:, [0]].toarray().ravel())
    by_current[free] = spsolve(inner, drive[free])
    return by_voltage, by_current


@pytest.mark.parametrize("side", [8, pytest.param(30, marks=pytest.mark.slow)])
@pytest.mark.parametrize("twins", [False, True])
def test_grid_of_resistors_with_some_capacitors(side: int, twins: bool) -> None:
    """An algebraic loop over the whole grid; two capacitors in parallel must not make the formulation explode.

    At 100 s every mode has died out (the slowest lasts about a second) and the steady oscillation remains.
    """
    m = grid(side, twins)
    assert len(m.equations().u) == 4
    times = [0.0, 100.0, 100.7, 101.9]
    sol = m.simulate(t_end=102.0, times=times, rtol=1e-9)
    v, c = grid_response(1.0, side, twins)[0], grid_response(2.0, side, twins)[1]
    for k, t in enumerate(times[1:], start=1):
        exact = np.imag(v * np.exp(1j * t)) + np.real(c * np.exp(2j * t))
        ours = np.array([sol[f"n{i}_{j}.voltage"][k] for i in range(side) for j in range(side)])
        np.testing.assert_allclose(ours, exact, atol=1e-6)
