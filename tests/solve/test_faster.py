"""The note that names a faster method: true where it is said, and silent where the method would be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.solve.faster import FEWER, FROM_ZERO, LOADED, RATED, SAME, _short, _turns
from cotree.system import Diagnostic

DOWN = (0.0, -9.81, 0.0)
SOFT = ct.Material(young=4e8, density=1200.0, poisson=0.3)
SLOW = "(35*s**4 - 84*s**5 + 70*s**6 - 20*s**7)"
"""From 0 to 1 with accelerations and jerks that begin and end with 0."""


def over(seconds: float) -> str:
    return SLOW.replace("s", f"min(t/{seconds:g}, 1)")


def crane(**more: Any) -> ct.Model:
    """A boom of steel that is luffed within 8 s, with 2 t on a rope."""
    m = ct.Model("crane", gravity=DOWN)
    section = ct.section.tube(outer=0.15, inner=0.14)
    m.add(ct.Beam("boom", length=10.0, section=section, material=ct.STEEL, elements=8, modes=2, deforms=["xy"], **more))
    m.add(ct.RigidBody("load", ct.box(size=(1, 1, 1), mass=2000.0), frames={"eye": (0, 3.0, 0)}))
    m.add(ct.Revolute("luff", m.ground, "boom.start", angle=0.6))
    m.add(ct.Revolute("hook", "boom.end", "load.eye", angle=-0.6))
    m.add(ct.Drive("winch", "luff", angle="0.6 + 0.3*(min(t/8, 1) - sin(2*pi*min(t/8, 1))/(2*pi))"))
    return m


def stiff_arm() -> ct.Model:
    """A short arm of steel that lifts 2 kg within 2 s."""
    m = ct.Model("stiff arm", gravity=DOWN)
    section = ct.section.rectangle(0.02, 0.02)
    m.add(ct.Beam("arm", length=0.5, section=section, material=ct.STEEL, elements=4, modes=1, deforms=["xy"]))
    m.add(ct.RigidBody("load", ct.box(size=(0.1, 0.1, 0.1), mass=2.0)))
    m.add(ct.Revolute("O", m.ground, "arm.start", angle=-1.4))
    m.add(ct.Weld("grip", "arm.end", "load"))
    m.add(ct.Drive("motor", "O", angle=f"-1.4 + 1.4*{over(2.0)}"))
    return m


def plucked() -> ct.Model:
    """A beam whose vibration is the motion."""
    m = ct.Model("plucked", gravity=(0, 0, 0))
    section, start = ct.section.rectangle(0.01, 0.01), {"mode1": 0.005, "mode3": 0.002}
    more: dict[str, Any] = {"elements": 4, "modes": 3, "shapes": "clamped", "deforms": ["xy"], "elastic": start}
    m.add(ct.Beam("b", length=1.0, section=section, material=ct.STEEL, **more))
    m.add(ct.Weld("wall", m.ground, "b.start"))
    return m


def soft_pendulum() -> ct.Model:
    m = ct.Model("soft", gravity=DOWN)
    section = ct.section.rectangle(0.02, 0.03)
    m.add(ct.Beam("b", length=1.0, section=section, material=SOFT, elements=3, modes=1, deforms=["xy"]))
    m.add(ct.Revolute("O", m.ground, "b.start"))
    return m


def hard_spring() -> ct.Model:
    """No flexible body: a pendulum that is hung on a hard spring."""
    m = ct.Model("hard spring", gravity=DOWN)
    m.add(ct.RigidBody("hanger", ct.box(size=(0.1, 0.1, 0.1), mass=0.1)))
    m.add(ct.RigidBody("bob", ct.box(size=(0.1, 0.1, 0.1), mass=1.0), frames={"eye": (0, 0.5, 0)}))
    m.add(ct.Prismatic("slide", m.ground, "hanger", axis=(0, 1, 0)))
    m.add(ct.Revolute("O", "hanger", "bob.eye", angle=0.5))
    m.add(ct.JointSpring("hold", "slide", stiffness=1e7, rest=0.0))
    return m


def struck() -> ct.Model:
    """A beam that is hit for half a millisecond."""
    m = ct.Model("struck", gravity=(0, 0, 0))
    section = ct.section.rectangle(0.02, 0.02)
    m.add(ct.Beam("b", length=1.0, section=section, material=ct.STEEL, elements=8, modes=3))
    m.add(ct.Weld("wall", m.ground, "b.start"))
    m.add(ct.PointForce("hit", "b.end", force=(0, "1000*exp(-((t - 1e-3)/2e-4)**2)", 0)))
    return m


def told(solution: ct.Solution) -> list[Diagnostic]:
    return [each for each in solution.diagnostics if each.code == "faster-method"]


@pytest.mark.parametrize(("make", "t_end"), [(crane, 12.0), (stiff_arm, 2.0)])
def test_the_method_that_is_named_gives_the_same_results(make: Any, t_end: float) -> None:
    m = make()
    sol = m.simulate(t_end, start="steady")
    (said,) = told(sol)
    step = float(said.data["step"])
    assert (
        f'integrator="generalised_alpha", step={step:g} (--integrator generalised_alpha --step {step:g})' in said.text
    )
    assert said.severity == "note"
    other = m.simulate(t_end, start="steady", integrator="generalised_alpha", step=step)
    assert other.statistics.steps == said.data["fewer"] <= sol.statistics.steps / FEWER * 1.01
    assert sol.statistics.steps == said.data["count"]
    largest: dict[str, float] = {}
    for name, unit in sol.units.items():
        largest[unit] = max(largest.get(unit, 0.0), float(np.ptp(sol.values[name])))
    for name, unit in sol.units.items():
        if unit.endswith("/s^2") or ".orientation." in name:
            continue
        zero = [0.0] if unit in FROM_ZERO else []
        span = max(float(np.ptp([*sol.values[name], *zero])), 0.01 * largest[unit], 1e-9)
        allowed = RATED if unit.endswith("/s") or unit == "W" else LOADED if zero else SAME
        assert np.abs(other.values[name] - sol.values[name]).max() <= 1.2 * allowed * span, name
    assert told(other) == []


SILENT: dict[str, tuple[Any, float, dict[str, Any]]] = {
    "it starts unstrained and rings": (crane, 6.0, {}),
    "its vibration is the motion": (plucked, 4.0, {}),
    "it is soft": (soft_pendulum, 3.0, {}),
    "nothing is flexible": (hard_spring, 2.0, {}),
    "it is struck": (struck, 0.2, {}),
    "more digits are asked for": (crane, 12.0, {"start": "steady", "rtol": 1e-9}),
    "it is short": (crane, 1.0, {"start": "steady"}),
    "the method is implicit": (crane, 6.0, {"start": "steady", "integrator": "cvodes"}),
}


@pytest.mark.parametrize("why", SILENT)
def test_nothing_is_said_where(why: str) -> None:
    make, t_end, options = SILENT[why]
    assert told(make().simulate(t_end, **options)) == []


def test_steps_have_one_digit_and_turns_are_counted() -> None:
    assert [_short(step) for step in (0.0049, 0.01, 3.7e-5, 20.0, 0.3)] == [0.004, 0.01, 3e-5, 20.0, 0.3]
    t = np.linspace(0.0, 1.0, 1001)
    assert _turns(np.sin(2 * np.pi * 5 * t) + 1e-3 * np.sin(2 * np.pi * 80 * t), 0.02) == 11
    assert _turns(t, 0.01) == 1
