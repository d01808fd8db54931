"""x_B and v_Bx of the five-bar linkage over 2 s (Xiang 2015, fig. 6), from both starts.

Dots are independent solutions (in angles, as a Cartesian DAE and by Radau's method, which agree to 1e-11). The paper's
own method, `paper`, is of first order and lets lengths drift; with the balance at the end of the step and lengths kept,
`corrected` is of second order. Bars line up at 0.72 s, where errors grow.
"""

import json
import sys
from pathlib import Path

import cotree as ct

HERE = Path(__file__).resolve().parent
STARTS = {"up": 1, "down": -1}
METHODS = {"corrected": ("corrected", 2e-3), "paper": ("paper", 1e-2)}


def model(start: str = "up") -> ct.Model:
    """The linkage of the model file, above or below its fixed points."""
    data = ct.load(HERE / "deployable_five_bar.yaml").to_data()
    data["parameters"]["rise"] = STARTS[start]
    return ct.Model.from_mapping(data)


def reference() -> dict:
    """Independent solutions every 0.1 s."""
    return json.loads((HERE / "deployable_reference.json").read_text(encoding="utf-8"))["five_bar"]


def picture(path: str | Path) -> None:
    """Position and velocity of B from both starts."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    known = reference()
    with style():
        figure = Figure(figsize=(8.6, 5.4), layout="constrained")
        axes = figure.subplots(2, 2, sharex=True, sharey="row")
        for column, start in enumerate(STARTS):
            for (word, (integrator, step)), colour, look in zip(METHODS.items(), COLOURS, ("-", "--"), strict=False):
                solution = model(start).simulate(2.0, points=401, integrator=integrator, step=step)
                for ax, name in zip(axes[:, column], ("B.position.x", "B.velocity.x"), strict=True):
                    label = f"{word}, step {1000 * step:g} ms"
                    ax.plot(solution.t, solution[name], color=colour, ls=look, lw=1.4, label=label)
            for ax, name in zip(axes[:, column], ("x_B", "v_Bx"), strict=True):
                values = [row[known["columns"].index(name)] for row in known[start]]
                ax.plot(known["t"], values, "o", color=INK, ms=3.4, mfc="white", label="reference")
            axes[0, column].set_title(f"start {start}")
            axes[1, column].set(xlabel="time (s)", xlim=(0, 2))
        axes[0, 0].set_ylabel("x of B (m)")
        axes[1, 0].set_ylabel("velocity of B along x (m/s)")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "deployable_five_bar.svg")
