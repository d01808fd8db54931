"""Node 5 of the reflector, where panels 2 and 3 meet (Xiang 2015, fig. 9), by both methods at the paper's step.

The reading of the structure is in the model file, so the curves can be compared with those of the paper in their course
only. `corrected` with 0.01 s is indistinguishable from `corrected` with 0.002 s. `paper` goes another way, and smaller
steps do not bring it nearer: eq. 28 and 32 take inertia and arms as constant within a step, which drops accelerations
that grow with the square of the speed. For panels whose nodes are not balanced about the centroid they matter.
"""

import sys
from pathlib import Path

import cotree as ct

HERE = Path(__file__).resolve().parent
VIEW = (60.0, -84.0)
"""Elevation and azimuth of the drawing."""
METHODS = {
    "corrected, 2 ms": ("corrected", 2e-3),
    "corrected, 10 ms": ("corrected", 1e-2),
    "paper, 10 ms": ("paper", 1e-2),
}


def picture(path: str | Path) -> None:
    """Coordinates, velocities and accelerations of node 5."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, save, style

    model = ct.load(HERE / "deployable_reflector.yaml")
    with style():
        figure = Figure(figsize=(8.6, 6.4), layout="constrained")
        axes = figure.subplots(3, 2, sharex=True)
        for (word, (integrator, step)), colour, look in zip(METHODS.items(), COLOURS, ("-", "--", ":"), strict=False):
            solution = model.simulate(9.07, points=454, integrator=integrator, step=step)
            for row, what in zip(axes, ("position", "velocity", "acceleration"), strict=True):
                for ax, x in zip(row, "xy", strict=True):
                    ax.plot(solution.t, solution[f"N5.{what}.{x}"], color=colour, ls=look, lw=1.6, label=word)
        for row, unit in zip(axes, ("m", "m/s", "m/s²"), strict=True):
            for ax, x in zip(row, "xy", strict=True):
                ax.set_ylabel(f"{x} ({unit})")
        for ax in axes[2]:
            ax.set(xlabel="time (s)", xlim=(0, 9.07))
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "deployable_reflector.svg")
