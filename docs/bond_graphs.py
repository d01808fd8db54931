"""Numbers of bond graphs for the validation page: each against a closed form or an independent solution."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from math import asin, cos, sin
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

import cotree as ct
from cotree.bond.causality import assign
from cotree.bond.opening import open_graph
from cotree.bond.structure import JUNCTIONS

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
FIGURES: dict[str, Any] = runpy.run_path(str(EXAMPLES / "bond_example_3.py"))
STIFF: dict[str, Any] = runpy.run_path(str(EXAMPLES / "bond_example_3_compliant.py"))

FIGURES_OF_MASKS = {
    "body": ("bond_example_1", "m1"),
    "spherical": ("bond_example_1_compliant", "J2"),
}
"""Pictures of the method page, each the inside of a mask of an example."""

Row = tuple[str, str, str, str, str, str]


def rows() -> Iterator[Row]:
    """Case, quantity, reference, what Cotree gives, what is asked, source."""
    yield from ideal()
    yield from soft()
    yield from free_body()
    yield from textbook()
    yield from power()
    yield from motor()


def figures(folder: Path) -> None:
    """Masks of the paper's figures, opened, for the method page."""
    for figure, (name, mask) in FIGURES_OF_MASKS.items():
        ct.load(EXAMPLES / f"{name}.yaml").draw(folder / "images" / f"bond_{figure}.svg", level=mask)


def within(distance: float, floor: float = 1e-9) -> str:
    """A distance rounded up to one digit; what is below the floor depends on the processor."""
    distance = max(distance, floor)
    power = int(np.floor(np.log10(distance)))
    digit = int(np.ceil(distance / 10.0**power - 1e-9))
    return f"within {digit}e{power}" if digit < 10 else f"within 1e{power + 1}"


def ideal() -> Iterator[Row]:
    """Filippini 2007, figs. 9-11, 14-16, 19-21, with ideal joints."""
    times = np.linspace(0, 5, 101)
    for case in FIGURES["CASES"]:
        name, known = FIGURES["SHOWN"][case], FIGURES["reference"](case)
        graph = FIGURES["graph"](case)
        found = graph.simulate(5.0, times=known["t"], rtol=1e-11)[name]
        off = float(np.abs(found - known["position"]).max())
        said = f"{name} at 7 instants to 5 s, ideal joints (m)"
        yield f"example {case}", said, "table", within(off), "1e-8", "two hand derivations, two programs"
        found = graph.simulate(5.0, times=times, rtol=1e-11)[name]
        for word, other in (
            ("branch formulation", FIGURES["branch"](case)),
            ("its `to_bond_graph()`", FIGURES["branch"](case).to_bond_graph()),
        ):
            off = float(np.abs(other.simulate(5.0, times=times, rtol=1e-11)[name] - found).max())
            yield f"example {case}", f"{name} to 5 s, ideal joints (m)", word, within(off), "1e-8", "another form"


def soft() -> Iterator[Row]:
    """C joints against ideal ones over the stiffness."""
    for case in FIGURES["CASES"]:
        stiffnesses = STIFF["STIFFNESSES"]
        distances = STIFF["distances"](case, stiffnesses)
        name = FIGURES["SHOWN"][case]
        range_ = f"1e{np.log10(stiffnesses[0]):.0f} to 1e{np.log10(stiffnesses[-1]):.0f}"
        shown = ", ".join(f"{x:.1e}".replace("e-0", "e-") for x in distances)
        said = f"{name} to 5 s, C joints of {range_} N/m, N m/rad by tens (m)"
        yield f"example {case}", said, "ideal joints", shown, "", "the same graph"
        orders = ", ".join(f"{x:.2f}" for x in np.log10(np.divide(distances[:-1], distances[1:])))
        yield f"example {case}", "order in 1/stiffness, from decade to decade", "one", orders, "", "the same graph"


def free_body() -> Iterator[Row]:
    """The rigid body mask alone (fig. 1), asymmetric and free, over 10 s."""
    inertia = np.array([[1.5, 0.1, -0.2], [0.1, 2.2, 0.15], [-0.2, 0.15, 1.1]])
    spin = np.array([0.7, -1.1, 2.3])
    model = ct.Model("free body", gravity=(0, 0, 0))
    moments = (1.5, 2.2, 1.1, 0.1, -0.2, 0.15)
    model.add(ct.bond.mechanics.Body("B", mass=2.5, inertia=moments, angular_velocity=tuple(spin.tolist())))
    times = np.linspace(0, 10, 101)
    solution = model.simulate(10.0, times=times, rtol=1e-11)

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        turn, w = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(turn @ _cross(w)).ravel(), np.linalg.solve(inertia, np.cross(inertia @ w, w))])

    exact = solve_ivp(rate, (0, 10), [*np.eye(3).ravel(), *spin], "DOP853", times, rtol=1e-12, atol=1e-13).y.T
    turns = np.array([_turn(e) for e in solution["B.orientation"]])
    momentum = np.einsum("tij,tj->ti", turns, solution["B.J.momentum"])
    case, kinetic = "free body", solution["kinetic_energy"]
    off = float(np.abs(kinetic / kinetic[0] - 1).max())
    yield case, "kinetic energy over 10 s (relative)", "constant", within(off), "1e-9", "conservation"
    off = float(np.abs(momentum - inertia @ spin).max())
    yield case, "angular momentum in world axes over 10 s (N m s)", "constant", within(off), "1e-8", "conservation"
    off = float(np.abs(turns.reshape(-1, 9) - exact[:, :9]).max())
    yield case, "rotation matrix over 10 s", "curve", within(off), "1e-8", "Euler's equations, DOP853"


def _cross(w: np.ndarray) -> np.ndarray:
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def _turn(e: np.ndarray) -> np.ndarray:
    cross = _cross(e[1:])
    return np.eye(3) + 2 * e[0] * cross + 2 * cross @ cross


def textbook() -> Iterator[Row]:
    """Causality of textbook graphs: order, storages in derivative causality, algebraic loops, conflicts."""
    sys.path.insert(0, str(ROOT / "tests"))
    from bond.textbook import TEXTBOOK

    said = "order, derivative storages, algebraic loops, conflicts of sources"
    for name, known in TEXTBOOK.items():
        found = assign(open_graph(known.make()))
        loops = [loop.kind for loop in found.loops].count("algebraic")
        counts = found.order, len(found.derivative), loops, len(found.conflicts)
        expected = known.order, len(known.derivative), known.algebraic, int(not known.solvable)
        shown, asked = (", ".join(map(str, each)) for each in (counts, expected))
        yield name.replace("_", " "), said, asked, shown, "the same", "textbook form"


def power() -> Iterator[Row]:
    """The power that junctions, transformers, gyrators and gyristors of the opened graphs take in, over a run."""
    for name in ("bond_example_1", "bond_example_3", "bond_example_3_compliant", "bond_motor_slider_crank"):
        model = ct.load(EXAMPLES / f"{name}.yaml")
        structure = open_graph(model)
        solution = model.simulate(1.0, points=21)
        carried = {
            line.name: _product(solution, line.name, line.width)
            for line in structure.lines.values()
            if _known(solution, line.name, line.width)
        }
        worst, count = 0.0, 0
        largest = max(float(np.abs(values).max()) for values in carried.values())
        for vertex in structure.vertices.values():
            lines = structure.around[vertex.name]
            if vertex.letter in (*JUNCTIONS, "TF", "GY", "GR", "Split") and all(line.name in carried for line in lines):
                if vertex.letter in JUNCTIONS and len(lines) < 2:
                    continue
                total = sum((1 if line.enters(vertex.name) else -1) * carried[line.name] for line in lines)
                worst, count = max(worst, float(np.abs(total).max())), count + 1
        said = f"power into each of {count} junctions, TF, GY and GR, over the largest of a bond"
        yield name.removeprefix("bond_").replace("_", " "), said, "0", within(worst / largest, 1e-12), "1e-10", "power"


def _parts(width: int) -> tuple[str, ...]:
    return ("",) if width == 1 else (".x", ".y", ".z") if width == 3 else tuple(f".c{k + 1}" for k in range(width))


def _known(solution: ct.Solution, line: str, width: int) -> bool:
    return all(f"{line}.{what}{part}" in solution for what in ("effort", "flow") for part in _parts(width))


def _product(solution: ct.Solution, line: str, width: int) -> np.ndarray:
    return sum(solution[f"{line}.effort{part}"] * solution[f"{line}.flow{part}"] for part in _parts(width))  # type: ignore[return-value]


def motor() -> Iterator[Row]:
    """The DC motor on a slider-crank against Lagrange's equation of the crank angle, with the current beside it."""
    r, rod, g = 0.05, 0.15, 9.81
    resistance, inductance, k, rotor, bearing = 1.2, 8e-3, 0.08, 1e-4, 2e-4

    def geometry(angle: float) -> tuple[float, float]:
        """Inertia about the crank's axis, and d(slide)/d(angle)."""
        tilt = asin(r / rod * sin(angle))
        tilting = r * cos(angle) / (rod * cos(tilt))
        slide = -r * sin(angle) - rod * sin(tilt) * tilting
        along, across = -r * sin(angle) - rod / 2 * sin(tilt) * tilting, r * cos(angle) / 2  # of the rod's centre
        mass = 5e-5 + 0.2 * (r / 2) ** 2 + rotor + 0.3 * (along**2 + across**2) + 6e-4 * tilting**2 + 0.5 * slide**2
        return mass, slide

    def rate(_: float, y: np.ndarray) -> list[float]:
        angle, speed, current = y
        step = 1e-5
        mass, slide = geometry(angle)
        slope = (geometry(angle + step)[0] - geometry(angle - step)[0]) / (2 * step)
        weight = -g * cos(angle) * (0.2 * r / 2 + 0.3 * r / 2)
        torque = k * current - bearing * speed - 2 * slide**2 * speed + weight
        acceleration = (torque - slope * speed**2 / 2) / mass
        return [speed, acceleration, (12 - resistance * current - k * speed) / inductance]

    times = np.linspace(0, 0.5, 11)
    exact = solve_ivp(rate, (0, 0.5), [0.3, 0, 0], "DOP853", times, rtol=1e-11, atol=1e-12).y
    solution = ct.load(EXAMPLES / "bond_motor_slider_crank.yaml").simulate(0.5, times=times, rtol=1e-11)
    case, source = "DC motor and slider-crank", "Lagrange, DOP853"
    for name, said, values in (("O.angle", "crank angle to 0.5 s (rad)", exact[0]),
                               ("M.coil.flow", "current to 0.5 s (A)", exact[2])):  # fmt: skip
        yield case, said, "curve", within(float(np.abs(solution[name] - values).max())), "1e-7", source


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(row))
