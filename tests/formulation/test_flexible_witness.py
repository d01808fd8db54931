"""A flexible pendulum against a chain of rigid links and springs that shares nothing with Cotree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import cotree as ct
from formulation.flexible_models import AREA, I_XY, SECTION
from formulation.lumped_chain import converged

Array = NDArray[np.float64]
TIMES = np.linspace(0.0, 0.6, 13)
TIP = 0.1


@pytest.fixture(scope="module", params=[4e8, 1e8], ids=["firm", "soft"])
def witness(request: Any) -> tuple[float, Array]:
    """Young's modulus and the motion; the middle bends by 0.6 and 2.9 per cent of the length."""
    young = request.param
    given = {"length": 1.0, "bending": young * I_XY, "line": 1200 * AREA, "tip": TIP, "g": 9.81, "times": TIMES}
    motion, gap = converged(12, **given)
    assert gap < 2e-4
    return young, motion


def motion(young: float, **given: Any) -> Array:
    m = ct.Model("flexible pendulum", gravity=(0, -9.81, 0), planar=True)
    settings: dict[str, Any] = {"elements": 12, "deforms": ["xy"], "shear": False, "rotary": False}
    settings |= {"frames": {"mid": 0.5}, "masses": {"tip": {"at": "end", "mass": TIP}}}
    material = ct.Material(young=young, density=1200.0, poisson=0.3)
    m.add(ct.Beam("link", length=1.0, section=SECTION, material=material, **settings, **given))
    m.add(ct.Revolute("O", m.ground, "link.start"))
    solution = m.simulate(TIMES[-1], times=TIMES, rtol=1e-8, atol=1e-9)
    return np.array([solution[f"link.{frame}.position.{x}"] for frame in ("mid", "end") for x in "xy"])


FRAMES = {
    "pinned": {"shapes": "pinned"},
    "free": {"shapes": "free"},
    "interface, chord": {"attached": ("start", "end")},
    "interface, mean axes": {"attached": "mean"},
}


@pytest.mark.parametrize("name", FRAMES)
def test_the_motion_converges_to_the_chains(witness: tuple[float, Array], name: str) -> None:
    """With more modes the error falls to what second-order displacements leave out, which is of third order."""
    young, wanted = witness
    errors = [float(np.abs(motion(young, modes=modes, **FRAMES[name]) - wanted).max()) for modes in (1, 8)]
    bend = np.abs(wanted[0] * wanted[3] - wanted[1] * wanted[2]).max()  # of the middle from the chord, about
    assert errors[1] < max(errors[0] / 3, 15 * bend**3)
    assert errors[1] < 15 * bend**3 + 3e-5


def test_without_stiffening_it_does_not(witness: tuple[float, Array]) -> None:
    """The linear theory is wrong by terms of second order, which the witness sees."""
    young, wanted = witness
    full, none = (motion(young, shapes="pinned", modes=4, stiffening=s) for s in ("full", "none"))
    assert np.abs(none - wanted).max() > 30 * np.abs(full - wanted).max()
