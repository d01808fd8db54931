"""A2: networks that are integrated too coarsely: ladders of storages, whose truth is a matrix exponential."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import expm

import cotree as ct
from faults.cases.judge import Array, Case, decade, off, pick, worst

DOMAINS = ("electrical", "translational", "rotational")


def ladder(
    domain: str, across: Array, through: Array, loss: float, begin: float, drive: tuple[float, float]
) -> ct.Model:
    """Across storages at nodes n0, n1, ..., through storages between neighbours, a loss and a source at the first node.

    ``through`` holds inductances: 1/stiffness of springs. ``loss`` is a conductance, or the damping of a damper.
    """
    m = ct.Model(f"{domain} ladder")
    amplitude, omega = drive
    law = f"{amplitude!r}*sin({omega!r}*t)"
    for k, size in enumerate(across):
        node, first = f"n{k}", begin if k == 0 else 0.0
        if domain == "electrical":
            m.add(ct.Capacitor(f"C{k}", (node, "ground"), capacitance=float(size), initial=first))
        elif domain == "translational":
            m.add(ct.translational.Mass(f"C{k}", (node, "ground"), mass=float(size), initial=first))
        else:
            m.add(ct.rotational.Inertia(f"C{k}", (node, "ground"), inertia=float(size), initial=first))
    for k, size in enumerate(through):
        ends = f"n{k}", f"n{k + 1}" if k + 1 < len(across) else "ground"
        if domain == "electrical":
            m.add(ct.Inductor(f"L{k}", ends, inductance=float(size)))
        elif domain == "translational":
            m.add(ct.translational.Spring(f"L{k}", ends, stiffness=float(1 / size)))
        else:
            m.add(ct.rotational.Spring(f"L{k}", ends, stiffness=float(1 / size)))
    if loss > 0:
        if domain == "electrical":
            m.add(ct.Resistor("R", ("n0", "ground"), resistance=1 / loss))
        else:
            damper = ct.translational.Damper if domain == "translational" else ct.rotational.Damper
            m.add(damper("R", "n0", "ground", damping=loss))
    if amplitude:
        if domain == "electrical":
            m.add(ct.CurrentSource("S", ("ground", "n0"), current=law))
        elif domain == "translational":
            m.add(ct.translational.ForceSource("S", ("ground", "n0"), force=law))
        else:
            m.add(ct.rotational.TorqueSource("S", ("ground", "n0"), torque=law))
    return m


def ladder_truth(
    across: Array, through: Array, loss: float, begin: float, drive: tuple[float, float], times: Array
) -> Array:
    """The across variables at even times: x(t + h) = exp(A h) x(t), with sine and cosine of the source as states."""
    n, k = len(across), len(through)
    A = np.zeros((n + k + 2, n + k + 2))
    for i in range(k):
        A[i, n + i] -= 1 / across[i]
        A[n + i, i] += 1 / through[i]
        if i + 1 < n:
            A[i + 1, n + i] += 1 / across[i + 1]
            A[n + i, i + 1] -= 1 / through[i]
    amplitude, omega = drive
    A[0, 0] -= loss / across[0]
    A[0, n + k] += amplitude / across[0]
    A[n + k, n + k + 1], A[n + k + 1, n + k] = omega, -omega
    x = np.zeros(n + k + 2)
    x[0], x[-1] = begin, 1.0
    step = expm(A * (times[1] - times[0]))
    rows = [x]
    for _ in times[1:]:
        rows.append(step @ rows[-1])
    return np.array(rows)[:, :n].T


def network(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A ladder over many periods, with a loose tolerance or a fine one."""
    domain = DOMAINS[index % 3]
    sections = int(rng.integers(1, 4))
    grounded = bool(rng.integers(2)) or sections == 1
    pace, impedance = decade(rng, -6, 3), decade(rng, -3, 5)
    across = pace / impedance * rng.uniform(0.5, 2.0, sections)
    through = pace * impedance * rng.uniform(0.5, 2.0, sections if grounded else sections - 1)
    begin = decade(rng, -3, 3)
    loss = pick(rng, 0.0, 0.0, 0.02) / impedance
    drive = (0.0, 0.0)
    if rng.integers(3) == 0:
        drive = (begin / impedance * rng.uniform(0.1, 0.5), rng.uniform(0.3, 1.5) / pace)
    t_end = pace * rng.uniform(60, 200)
    rtol = decade(rng, -3.0, -0.3) if wrong else decade(rng, -10, -6)
    integrator = pick(rng, "auto", "auto", "cvodes", "adams")
    times = np.linspace(0, t_end, 101)

    def run() -> Any:
        model = ladder(domain, across, through, loss, begin, drive)
        return model.simulate(t_end, points=101, rtol=rtol, integrator=integrator)

    def error(sol: Any) -> float:
        truth = ladder_truth(across, through, loss, begin, drive, times)
        name = {"electrical": "voltage", "translational": "velocity", "rotational": "angular_velocity"}[domain]
        return worst(*(off(sol[f"n{k}.{name}"], row) for k, row in enumerate(truth)))

    label = f"{domain} ladder of {sections}, rtol {rtol:.0e}, {integrator}"
    return Case("A2", label, not wrong, run, error)
