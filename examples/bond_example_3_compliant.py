"""How C joints come to ideal joints: the largest distance between the motions over 5 s, against the stiffness.

The distance falls as 1/stiffness. With R elements beside the C's the joints do not ring, and the steps of a stiff
integrator grow by one decade over six decades of stiffness (example 3). Without them (example 1, squares) the same
order is seen, but every swing of the joints must be followed: ten times the stiffness takes three times the steps.
"""

import runpy
import sys
from pathlib import Path

import numpy as np

import cotree as ct

HERE = Path(__file__).resolve().parent
EXAMPLES = runpy.run_path(str(HERE / "bond_example_3.py"))
TIMES = np.linspace(0, 5, 501)
STIFFNESSES = tuple(10.0**k for k in range(4, 11))
"""N/m and N m/rad."""


def undamped(case: int) -> ct.Model:
    """An example with C joints and no R beside them."""
    data = EXAMPLES["soft"](case).to_data()
    for part in data["components"].values():
        part.pop("damping", None)
        part.pop("turning_damping", None)
    return ct.Model.from_mapping(data)


def distances(case: int, stiffnesses: tuple[float, ...], damped: bool = True, rtol: float = 1e-10) -> list[float]:
    """The largest distance between the motions with C joints and with ideal joints, in m."""
    name = EXAMPLES["SHOWN"][case]
    ideal = EXAMPLES["graph"](case).simulate(5.0, times=TIMES, rtol=1e-11)[name]
    model = EXAMPLES["soft"](case) if damped else undamped(case)
    found = []
    for stiffness in stiffnesses:
        solution = model.simulate(5.0, times=TIMES, rtol=rtol, parameters={"stiffness": stiffness})
        found.append(float(np.linalg.norm(solution[name] - ideal, axis=1).max()))
    return found


def picture(path: str | Path) -> None:
    """Distance against stiffness for the three examples."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    with style():
        figure = Figure(figsize=(6.4, 4.6), layout="constrained")
        ax = figure.subplots()
        for case, colour in zip(EXAMPLES["CASES"], COLOURS, strict=False):
            found = distances(case, STIFFNESSES)
            ax.loglog(STIFFNESSES, found, "o-", color=colour, ms=4, label=f"example {case}, C and R")
        few = (1e4, 1e5, 1e6)
        ax.loglog(few, distances(1, few, damped=False, rtol=1e-9), "s--", color=COLOURS[0], mfc="none", ms=7,
                  label="example 1, C alone")  # fmt: skip
        ends = np.array([1e5, 1e10])
        ax.loglog(ends, 300 / ends, ":", color=INK, label="slope -1")
        ax.set(xlabel="stiffness (N/m, N m/rad)", ylabel="distance from ideal joints (m)")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"1e{round(np.log10(value))}")
        ax.grid(alpha=0.3)
        ax.legend()
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "bond_example_3_compliant.svg")
