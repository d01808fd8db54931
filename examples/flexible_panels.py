"""Deflections of both panels' centres, as shells and as strips, and the spectrum of what is left after 14 s.

Points are an independent large-rotation solution of the strips. A plate is a little softer than a strip, because its
free side edges let it curve across, so that the two drift apart in phase. The dotted lines in the spectrum are the
natural frequencies of the deployed structure, from `modes(t=20)`; with three elastic modes of the symmetric motion
below 4 Hz, nothing else is left.
"""

import json
import sys
from math import pi
from pathlib import Path

import numpy as np

import cotree as ct

HERE = Path(__file__).resolve().parent
DRAWN = {"flexible_panels": ("shells, 32 triangles a panel", "z"), "flexible_panel_strips": ("beam strips", "y")}


def reference() -> dict:
    """Independent solution of the strips, every second."""
    return json.loads((HERE / "flexible_reference.json").read_text(encoding="utf-8"))["two_panels_as_strips"]


def spectrum(t, values, least=0.02, most=4.0, count=800):
    """Amplitudes of a record over frequency (Hz), through a Hann window."""
    frequencies = np.linspace(least, most, count)
    window = np.hanning(len(t))
    waves = np.exp(-2j * pi * np.outer(frequencies, t))
    return frequencies, 2 * np.abs(waves @ (window * (values - values.mean()))) / window.sum()


def picture(path: str | Path) -> None:
    """Centre deflections over time, and spectra of the residual vibration."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    known = reference()
    with style():
        figure = Figure(figsize=(8.6, 7.4), layout="constrained")
        axes = figure.subplots(3, 1)
        for (stem, (name, axis)), colour in zip(DRAWN.items(), COLOURS, strict=False):
            model = ct.load(HERE / f"{stem}.yaml")
            solution = model.simulate(34.0, points=1701, rtol=1e-7)
            for ax, panel in zip(axes, ("panel1", "panel2"), strict=False):
                shown = solution.t <= 20
                deflection = solution[f"{panel}.centre.deflection.{axis}"]
                ax.plot(solution.t[shown], 1000 * deflection[shown], color=colour, lw=1.2, label=name)
            late = solution.t >= 14
            rest = solution[f"panel1.centre.deflection.{axis}"][late]
            axes[2].semilogy(*spectrum(solution.t[late], 1000 * rest), color=colour, lw=1.2)
            for frequency in model.modes(t=20.0).frequencies[:3]:
                axes[2].axvline(frequency, color=colour, lw=0.8, ls=":")
        for ax, panel in zip(axes, ("panel1", "panel2"), strict=False):
            values = [1000 * value for value in known["large_rotation"][panel]]
            ax.plot(known["t"], values, ".", color=INK, ms=5, label="strips, large rotations (reference)")
            ax.axvline(14, color=INK, lw=0.8, ls=":")
            ax.set(xlabel="time (s)", ylabel=f"centre of {panel} (mm)", xlim=(0, 20))
        label = "centre of panel1 (mm)\nfrom 14 to 34 s"
        axes[2].set(xlabel="frequency (Hz)", ylabel=label, xlim=(0, 4), ylim=(1e-5, 20))
        axes[2].yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "flexible_panels.svg")
