"""The beam's tip with and without motion-induced stiffening.

Without it the centrifugal force has nothing against it but the bending stiffness, and beats it for good when the hub
turns faster than the beam's first frequency (3.8 rad/s, at 8.5 s): the beam bends without limit. The points are the
converged elastica, computed without Cotree.
"""

import sys
from pathlib import Path

import cotree as ct

HERE = Path(__file__).resolve().parent
ELASTICA = {5.0: -0.46844, 6.76: -0.57377, 7.5: -0.55893, 10.0: -0.36251, 12.5: -0.11256}


def model(**changes) -> ct.Model:
    """The model file with another beam."""
    data = ct.load(HERE / "flexible_spin_up.yaml").to_data()
    data["components"]["beam"] |= changes
    return ct.Model.from_mapping(data)


def picture(path: str | Path) -> None:
    """The tip's deflection over time."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    with style():
        figure = Figure(figsize=(7.4, 3.3), layout="constrained")
        ax = figure.subplots()
        stiff, soft = model().simulate(20.0, points=401), model(stiffening="none").simulate(8.5, points=171)
        ax.plot(stiff.t, stiff["beam.end.deflection.y"], color=COLOURS[0], label="stiffening: full")
        ax.plot(soft.t, soft["beam.end.deflection.y"], color=COLOURS[1], label="stiffening: none")
        ax.plot(*zip(*ELASTICA.items(), strict=True), "o", color=INK, ms=4, label="elastica (reference)")
        ax.set(xlabel="time (s)", ylabel="deflection of the tip (m)", xlim=(0, 20), ylim=(-1.5, 0.1))
        ax.legend()
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "flexible_spin_up.svg")
