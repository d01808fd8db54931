"""Networks: Cotree against SciPy, and against ngspice where it is installed, on the same model at the same error.

    python bench/network.py

The model is a line of resistors, inductors and capacitors driven by a sine. The error is the largest error of the last
node's voltage on the output grid, against the exact solution by modes. For each program the loosest tolerance (SciPy,
Cotree) or the longest step (ngspice) that meets the error is taken; times are of the simulation, and for Cotree also of
writing the equations. SciPy gets the state matrices ready made and runs its best method for the size.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import cotree as ct

ERROR = 1e-6
R, L, C, OMEGA, T_END, POINTS = 0.1, 1.0, 1.0, 0.7, 40.0, 401


def line(sections: int) -> ct.Model:
    """R and L in series, C to ground, again and again."""
    m = ct.Model("line")
    m.add(ct.VoltageSource("V", ("n0", "ground"), voltage=f"sin({OMEGA}*t)"))
    for k in range(1, sections + 1):
        m.add(ct.Resistor(f"R{k}", (f"n{k - 1}", f"m{k}"), resistance=R))
        m.add(ct.Inductor(f"L{k}", (f"m{k}", f"n{k}"), inductance=L))
        m.add(ct.Capacitor(f"C{k}", (f"n{k}", "ground"), capacitance=C))
    m.add(ct.Resistor("RL", (f"n{sections}", "ground"), resistance=1.0))
    return m


def matrices(sections: int) -> tuple[np.ndarray, np.ndarray]:
    """x' = A x + B sin(omega t), x = inductor currents, then capacitor voltages; written by hand."""
    n = sections
    A, B = np.zeros((2 * n, 2 * n)), np.zeros(2 * n)
    for k in range(n):
        A[k, k], A[k, n + k] = -R / L, -1 / L
        A[n + k, k] = 1 / C
        if k:
            A[k, n + k - 1], A[n + k - 1, k] = 1 / L, -1 / C
    A[2 * n - 1, 2 * n - 1] -= 1 / C
    B[0] = 1 / L
    return A, B


def exact(sections: int, t: np.ndarray) -> np.ndarray:
    """The last node's voltage: a steady sinusoid and the modes that meet the start."""
    A, B = matrices(sections)
    steady = np.linalg.solve(1j * OMEGA * np.eye(len(A)) - A, B)
    values, vectors = np.linalg.eig(A)
    modes = np.linalg.solve(vectors, -steady.imag)
    return np.imag(steady[-1] * np.exp(1j * OMEGA * t)) + np.real((vectors[-1] * modes) @ np.exp(np.outer(values, t)))


def cotree_run(model: ct.Model, reference: np.ndarray) -> tuple[float, float, str]:
    """Seconds of the run, seconds of the equations, and the tolerance that meets the error."""
    last = f"n{(len(model.components) - 2) // 3}.voltage"
    for rtol in 10.0 ** -np.arange(5.0, 13.0):
        sol = model.simulate(T_END, points=POINTS, rtol=rtol)
        if np.abs(sol[last] - reference).max() <= ERROR:
            return sol.statistics.seconds_integration, sol.statistics.seconds_formulation, f"rtol {rtol:.0e}"
    return np.nan, np.nan, "not met"


def scipy_run(sections: int, t: np.ndarray, reference: np.ndarray) -> tuple[float, str]:
    """Seconds of the fastest of three methods that meets the error."""
    A, B = matrices(sections)
    best = (np.inf, "not met")
    for method in ("DOP853", "LSODA", "BDF"):
        for rtol in 10.0 ** -np.arange(5.0, 12.0):
            clock = time.perf_counter()
            options = {"rtol": rtol, "atol": rtol / 100, **({"jac": A} if method == "BDF" else {})}
            start = np.zeros(len(A))
            sol = solve_ivp(lambda s, x: A @ x + B * np.sin(OMEGA * s), (0, T_END), start, method, t, **options)
            seconds = time.perf_counter() - clock
            if seconds > 20 * best[0]:
                break
            if np.abs(sol.y[-1] - reference).max() <= ERROR:
                best = min(best, (seconds, f"{method}, rtol {rtol:.0e}"))
                break
    return best


def ngspice_run(sections: int, reference: np.ndarray) -> tuple[float, str]:
    """Wall seconds of ngspice in batch mode, less those of reading the same circuit without analysing it."""
    t = np.linspace(0, T_END, POINTS)
    deck = ["line", f"V1 n0 0 SIN(0 1 {OMEGA / (2 * np.pi)!r})"]
    for k in range(1, sections + 1):
        deck += [f"R{k} n{k - 1} m{k} {R}", f"L{k} m{k} n{k} {L} IC=0", f"C{k} n{k} 0 {C} IC=0"]
    deck += [f"RL n{sections} 0 1", ".options reltol=1e-9 vntol=1e-12 abstol=1e-14", ".control", "set numdgt=15"]
    end = ["quit", ".endc", ".end"]
    with tempfile.TemporaryDirectory() as folder:
        idle = spice(folder, [*deck, *end])
        for step in (1e-1, 1e-2, 1e-3, 1e-4):
            tran = [f"tran {T_END / (POINTS - 1)} {T_END} 0 {step} uic", f"wrdata {folder}/out v(n{sections})"]
            seconds = spice(folder, [*deck, *tran, *end]) - idle
            data = np.loadtxt(next(Path(folder).glob("out*")))
            if np.abs(np.interp(t, data[:, 0], data[:, 1]) - reference).max() <= ERROR:
                return seconds, f"trapezoidal, step {step:g}"
    return np.nan, "not met"


def spice(folder: str, deck: list[str]) -> float:
    """Run a deck and return its wall seconds."""
    Path(folder, "deck.cir").write_text("\n".join(deck) + "\n", encoding="utf-8")
    clock = time.perf_counter()
    subprocess.run(["ngspice", "-b", f"{folder}/deck.cir"], capture_output=True, timeout=600, check=False)
    return time.perf_counter() - clock


def row(name: str, seconds: float, base: float, how: str) -> str:
    """One line of the table."""
    return f"  {name:<34}{1e3 * seconds:>10.1f} ms {seconds / base:>8.1f} x   {how}"


def main() -> None:
    """Print a table for each size."""
    peers: list[tuple[str, Callable[..., tuple[float, str]]]] = []
    if shutil.which("ngspice"):
        peers.append(("ngspice", ngspice_run))
    t = np.linspace(0, T_END, POINTS)
    for sections in (2, 10, 100):
        reference, model = exact(sections, t), line(sections)
        model.simulate(0.1, points=2)  # imports are not part of the comparison
        run, write, how = cotree_run(model, reference)
        print(f"line of {sections} sections, {2 * sections} states, error {ERROR:g}")
        print(row("Cotree, run", run, run, how))
        print(row("Cotree, equations and run", run + write, run, how))
        print(row("SciPy on hand-written matrices", *_with(scipy_run(sections, t, reference), run)))
        for name, peer in peers:
            print(row(name, *_with(peer(sections, reference), run)))


def _with(result: tuple[float, str], base: float) -> tuple[float, float, str]:
    return result[0], base, result[1]


if __name__ == "__main__":
    main()
