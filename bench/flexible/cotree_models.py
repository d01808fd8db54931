"""Cotree's models of both flexible mechanisms, through the user's interface.

All beams are those of Euler and Bernoulli (no shear, no rotary inertia) with a consistent mass, bending in the plane.
One beam a link takes the modes of the peer's floating frame: clamped at the hub, pinned on the chord. `pieces` cut a
link into beams that are welded to each other, each with its frame on its own chord and Craig and Bampton's shapes, so
that every piece bends little where the link as a whole bends much.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bench.flexible.references import Curves, FourBar, SpinUp

import cotree as ct


@dataclass(frozen=True)
class Form:
    """How a link is modelled: pieces, vibration modes of each, finite elements of each, stiffening, axial stretch."""

    modes: int
    stiffening: str
    elements: int = 8
    pieces: int = 1
    axial: bool = False

    def __str__(self) -> str:
        """The choices for the table."""
        beams = "one beam" if self.pieces == 1 else f"{self.pieces} beams in series"
        static = ("2 static shapes and " if not self.axial else "3 static shapes and ") if self.pieces > 1 else ""
        each = " each" if self.pieces > 1 else ""
        modes = f"{static}{self.modes} mode{'s' if self.modes != 1 else ''}{each}"
        return f"{beams}, {modes}, {self.elements} elements{each}, stiffening {self.stiffening}"


def spin_up(form: Form) -> ct.Model:
    """The cantilever on its driven hub."""
    m = SpinUp()
    model = ct.Model("spin-up", gravity=(0, 0, 0), planar=True)
    second = m.bending / m.axial  # of a section of 1 m^2, whose material has E A and m
    common = _common(form, area=1.0, second=second, young=m.axial, density=m.mass)
    w, rise = m.speed, m.rise
    angle = f"{w}*(t**2/{2 * rise} + {rise}*(cos(2*pi*t/{rise}) - 1)/(4*pi**2))"
    if form.pieces == 1:
        model.add(ct.Beam("beam", length=m.length, shapes="clamped", **common))
        model.add(ct.Revolute("hub", model.ground, "beam.start", axis=(0, 0, 1)))
    else:
        model.add(ct.RigidBody("disc", mass=1.0, inertia=(1.0, 1.0, 1.0)))
        model.add(ct.Revolute("hub", model.ground, "disc", axis=(0, 0, 1)))
        _series(model, "beam", m.length, form, common)
        model.add(ct.Weld("clamp", "disc", "beam0.start"))
    model.add(ct.Drive("motor", on="hub", angle=angle))
    return model


def four_bar(form: Form | None) -> ct.Model:
    """Rigid crank, elastic coupler and follower; both rigid, too, where no form is given."""
    m, z = FourBar(), (0, 0, 1)
    model = ct.Model("four-bar", gravity=(0, 0, 0), planar=True)
    half = m.crank / 2
    crank = ct.rod(length=m.crank, mass=1.0, radius=0.01)
    model.add(ct.RigidBody("crank", crank, frames={"O": (-half, 0, 0), "A": (half, 0, 0)}))
    for name, length in (("AB", m.coupler), ("BC", m.follower)):
        if form is None:
            frames = {"start": (-length / 2, 0, 0), "end": (length / 2, 0, 0)}
            model.add(ct.RigidBody(name, ct.rod(length=length, mass=m.density * m.area * length), frames=frames))
            continue
        common = _common(form, area=m.area, second=m.second, young=m.young, density=m.density)
        if form.pieces == 1:
            model.add(ct.Beam(name, length=length, shapes="pinned", frames={"mid": length / 2}, **common))
        else:
            _series(model, name, length, form, common)
    first, last = ("", "") if form is None or form.pieces == 1 else ("0", str(form.pieces - 1))
    model.add(ct.Revolute("O", model.ground, "crank.O", axis=z))
    model.add(ct.Revolute("A", "crank.A", f"AB{first}.start", axis=z, angle=1.0))
    model.add(ct.Revolute("B", f"AB{last}.end", f"BC{first}.start", axis=z, angle=-1.6))
    model.add(ct.Revolute("C", f"BC{last}.end", model.ground.at(m.ground, 0, 0), axis=z))
    model.add(ct.Drive("motor", on="O", angle=f"{m.speed}*t"))
    return model


def _common(form: Form, *, area: float, second: float, young: float, density: float) -> dict[str, Any]:
    section = ct.section.general(area=area, iy=second, iz=second, torsion=2 * second, shear_y=0.9, shear_z=0.9)
    return {
        "section": section,
        "material": ct.Material(young=young, density=density, poisson=0.3),
        "elements": form.elements,
        "modes": form.modes,
        "stiffening": form.stiffening,
        "deforms": ["xy", "axial"] if form.axial else ["xy"],
        "shear": False,
        "rotary": False,
    }


def _series(model: ct.Model, name: str, length: float, form: Form, common: dict[str, Any]) -> None:
    """Pieces of one link, welded end to start, each with its frame on its chord; the link's middle is between two."""
    each = length / form.pieces
    for k in range(form.pieces):
        frames = {"mid": each / 2} if form.pieces % 2 and k == form.pieces // 2 else {}
        model.add(ct.Beam(f"{name}{k}", length=each, attached=("start", "end"), frames=frames, **common))
        if k:
            model.add(ct.Weld(f"{name}_weld{k}", f"{name}{k - 1}.end", f"{name}{k}.start"))


def spin_up_curves(form: Form, sol: Any) -> Curves:
    """The tip's offset across the hub's axis."""
    if form.pieces == 1:
        return {"tip": np.asarray(sol["beam.end.deflection.y"])}
    angle = SpinUp().angle(np.asarray(sol.t))
    x, y = (np.asarray(sol[f"beam{form.pieces - 1}.end.position.{c}"]) for c in "xy")
    return {"tip": np.cos(angle) * y - np.sin(angle) * x}


def four_bar_curves(form: Form, sol: Any) -> Curves:
    """Offsets of the middles from the chords."""
    if form.pieces == 1:
        return {name: np.asarray(sol[f"{name}.mid.offset.y"]) for name in ("AB", "BC")}
    half, odd = divmod(form.pieces, 2)
    middle = f"{half}.mid" if odd else f"{half - 1}.end"

    def place(name: str) -> np.ndarray:
        return np.array([sol[f"{name}.position.{c}"] for c in "xy"])

    curves = {}
    for name in ("AB", "BC"):
        start, end = place(f"{name}0.start"), place(f"{name}{form.pieces - 1}.end")
        chord, arm = end - start, place(f"{name}{middle}") - start
        curves[name] = (chord[0] * arm[1] - chord[1] * arm[0]) / np.hypot(*chord)
    return curves


MODELS = {"spin_up": (spin_up, spin_up_curves), "four_bar": (four_bar, four_bar_curves)}
