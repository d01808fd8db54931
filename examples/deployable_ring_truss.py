"""Node histories of the ring truss (Xiang 2015, fig. 12) and the errors of both methods over the step.

The symmetric motion is one quadrature, which gives the dots: radius R and rise s. Left: a node that rises, at the
paper's step of 0.01 s. Right: the largest error of R at t = 1, 2, ..., 8 s. `paper`, the printed equations, is of first
order, `corrected` of second. At 0.1 s, where the paper reports that its calculation failed, both still run here, since
the iteration of a step converges and redundant or nearly redundant equations are damped; `paper` is then off by 2 mm
with lengths that have drifted, and a warning says that the energy balance is open.
"""

import json
import sys
from pathlib import Path

import numpy as np

import cotree as ct

HERE = Path(__file__).resolve().parent
STEPS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


def reference() -> dict:
    """Radius and rise by quadrature."""
    return json.loads((HERE / "deployable_reference.json").read_text(encoding="utf-8"))["ring_truss"]


def error(integrator: str, step: float) -> float:
    """The largest error of the radius at the times of the reference."""
    known = reference()["table"]
    model = ct.load(HERE / "deployable_ring_truss.yaml")
    solution = model.simulate(8.0, times=[row["t"] for row in known], integrator=integrator, step=step)
    return float(np.abs(solution["L1.position.x"] - [row["R"] for row in known]).max())


def picture(path: str | Path) -> None:
    """Coordinates, velocities and accelerations of a rising node; errors over the step."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    known = reference()["table"]
    model = ct.load(HERE / "deployable_ring_truss.yaml")
    angle = np.pi / 5
    with style():
        figure = Figure(figsize=(8.6, 6.2), layout="constrained")
        grid = figure.add_gridspec(3, 2, width_ratios=(1.25, 1))
        axes = [figure.add_subplot(grid[k, 0]) for k in range(3)]
        orders = figure.add_subplot(grid[:, 1])
        solution = model.simulate(8.89, points=890, integrator="corrected", step=1e-2)
        for ax, what in zip(axes, ("position", "velocity", "acceleration"), strict=True):
            radial = np.cos(angle) * solution[f"L2.{what}.x"] + np.sin(angle) * solution[f"L2.{what}.y"]
            ax.plot(solution.t, radial, color=COLOURS[0], label="radial")
            ax.plot(solution.t, solution[f"L2.{what}.z"], color=COLOURS[1], label="z")
        for ax, names in zip(axes, (("R", "s"), ("Rdot", "sdot")), strict=False):
            for name in names:
                values = [row[name] for row in known]
                ax.plot([row["t"] for row in known], values, "o", color=INK, ms=3.6, mfc="white", label="quadrature")
        for ax, word in zip(axes, ("coordinates (m)", "velocities (m/s)", "accelerations (m/s²)"), strict=True):
            ax.set(ylabel=word, xlim=(0, 9))
            ax.tick_params(labelbottom=ax is axes[2])
        axes[0].set_title("node L2, corrected, step 0.01 s")
        axes[2].set(xlabel="time (s)")
        handles, labels = axes[0].get_legend_handles_labels()
        axes[0].legend(handles[:3], labels[:3], loc="center left")
        for word, colour, mark in (("paper", COLOURS[1], "s"), ("corrected", COLOURS[0], "o")):
            found = [error(word, step) for step in STEPS]
            rate = np.polyfit(np.log(STEPS), np.log(found), 1)[0]
            orders.loglog(STEPS, found, color=colour, marker=mark, ms=4.5, label=f"{word}: order {rate:.2f}")
        orders.set(xlabel="step (s)", ylabel="error of the radius (m)", title="errors up to 8 s")
        for axis in (orders.xaxis, orders.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:.0e}".replace("e-0", "e-"))
        orders.legend(loc="lower right")
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "deployable_ring_truss.svg")
