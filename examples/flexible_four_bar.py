"""Deflections of the flexible four-bar over two turns, by theories that keep more and more of the truth.

At this speed the pin forces reach a good part of the Euler load. Linear theory, which the paper uses with two modes,
overshoots in the coupler by two thirds; the axial force of the rigid motion mends most of it; the second-order
displacements of `stiffening: full` and the stretch of the links come within 5 per cent of the converged
large-deformation solution (the elastica, computed without Cotree).
"""

import json
import sys
from math import pi
from pathlib import Path

import cotree as ct

HERE = Path(__file__).resolve().parent
STRETCHED = {"shapes": "interface", "attached": ["start", "end"], "interface": {"end": "x"}, "deforms": ["xy", "axial"]}
THEORIES = {
    "linear": {"stiffening": "none"},
    "axial force of the rigid motion": {"stiffening": "rigid"},
    "second order (full)": {},
    "full, shear and rotary inertia": {"shear": True, "rotary": True},
    "full, links stretch": STRETCHED,
}


def model(**changes) -> ct.Model:
    """The mechanism of the model file with other links."""
    data = ct.load(HERE / "flexible_four_bar.yaml").to_data()
    for link in ("AB", "BC"):
        data["components"][link] |= changes
    return ct.Model.from_mapping(data)


def reference() -> dict:
    """Independent solutions every 5 degrees of the crank."""
    return json.loads((HERE / "flexible_reference.json").read_text(encoding="utf-8"))["four_bar"]


def picture(path: str | Path) -> None:
    """Both mid-link deflections against the crank's angle."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    known = reference()
    with style():
        figure = Figure(figsize=(8.6, 6.2), layout="constrained")
        axes = figure.subplots(2, 1, sharex=True)
        for (name, changes), colour in zip(THEORIES.items(), COLOURS, strict=False):
            solution = model(**changes).simulate(4 * pi / 210, points=361)
            for ax, link in zip(axes, ("AB", "BC"), strict=True):
                offset = 1000 * solution[f"{link}.mid.offset.y"]
                ax.plot(solution["O.angle"] * 180 / pi, offset, color=colour, lw=1.2, label=name)
        for ax, link in zip(axes, ("AB", "BC"), strict=True):
            values = [1000 * value for value in known["extensible_elastica_converged"][link]]
            ax.plot(known["crank_deg"], values, ".", color=INK, ms=3.5, label="large deformation (reference)")
            ax.set_ylabel(f"middle of {link} from its chord (mm)")
        axes[1].set(xlabel="crank angle (degrees)", xticks=range(0, 721, 90), xlim=(0, 720))
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "flexible_four_bar.svg")
