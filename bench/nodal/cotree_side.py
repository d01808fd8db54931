"""Cotree's side: ring trusses with one method and any step or tolerance, and the cheapest setting for an error."""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import numpy as np
from bench.common import loosest_of
from bench.flexible.cotree_side import TOLERANCES, Found, Setting, attempt
from bench.flexible.references import Curves, Reference
from bench.nodal.reference import Ring

from cotree.solve import displacement_modes, xiang  # noqa: F401  (each registers)
from cotree.solve.integrator import INTEGRATORS, Options
from cotree.solve.limits import Limits
from cotree.solve.native import compiler
from cotree.solve.problem import Problem
from cotree.solve.run import Run
from cotree.solve.simulate import ROUGH, _rough_grid
from cotree.solve.sizes import Sizes, sizes
from cotree.structures import ring_truss

STEPPED = ("paper", "corrected", "generalised_alpha", "energy", "rk4")
ADAPTIVE = ("adams", "rk8")
MULTIPLES = (
    *(1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 18, 20, 24, 32, 36, 40, 48, 64, 72, 80, 96, 128, 144, 160, 192, 256, 288),
    *(320, 384, 512, 576),
)
"""Steps in an interval of the reference's grid: in doubling families, so that every step has its half."""


class Truss:
    """A ring truss against its reference: what `bench.flexible.cotree_side.Timed` asks of a mechanism."""

    def __init__(self, ring: Ring, reference: Reference, rough: bool = True) -> None:
        """Write the equations; a rough run finds the sizes of all variables, which even steps do not need."""
        self.form: Any = f"{ring.sides} sides"
        self.reference = reference
        clock = time.perf_counter()
        self.model = ring_truss(
            ring.sides, edge=ring.edge, height=ring.height, density=ring.density, tension=ring.tension
        )
        self.built = time.perf_counter() - clock
        self.equations = self.model.equations()
        self.written = time.perf_counter() - clock
        self.problem = Problem.of(self.equations)
        given = self.equations.parameter_values
        self.p = self.equations.p.start if given is None else given(None)
        self.sizes, self.limits = Sizes.ones(self.problem, 0.0), Limits.none(0.0)
        if rough:
            end = float(reference.times[-1])
            method = INTEGRATORS["adams"](self.problem, Options(ROUGH, 1e-3 * ROUGH, 100_000))
            run = Run(self.problem, method, _rough_grid(0.0, end), 0.0, self.p, self.sizes, self.limits)
            run.limits = run.find_limits(end)
            failed = run.go(None)
            if failed is not None:
                raise failed
            self.limits, self.sizes = run.limits, sizes(self.problem, run.history(), run.limits.peaks)
        self.prepared = time.perf_counter() - clock

    def timed(self, setting: Setting) -> Any:
        """A run that can be repeated."""
        from bench.flexible.cotree_side import Timed

        return Timed(self, setting)  # type: ignore[arg-type]

    def curves(self, sol: Any) -> Curves:
        """Radius of a held corner, rise of the next one."""
        radius = np.hypot(sol["L1.position.x"], sol["L1.position.y"])
        return {"radius": np.asarray(radius), "rise": np.asarray(sol["L2.position.z"])}


def tried(truss: Truss, setting: Setting, repeats: int = 1) -> Found:
    """One setting."""
    return attempt(truss, setting, repeats)  # type: ignore[arg-type]


def loosest(truss: Truss, name: str, targets: tuple[float, ...], longest: float) -> dict[float, Found]:
    """For each error asked for, the loosest setting of a method that meets it; see `loosest_of`."""
    count, every, stepped = truss.reference.intervals, dict[int, Found](), name in STEPPED

    def one(k: int) -> Found:
        setting = Setting(name, steps=k * count) if stepped else Setting(name, TOLERANCES[k])
        every[k] = tried(truss, setting, 0)
        return every[k]

    met = loosest_of(MULTIPLES if stepped else range(len(TOLERANCES)), one, stepped, targets, longest)
    least = min(found.error for found in every.values())
    why = next((found.why for found in every.values() if found.why), "")
    for target in targets:
        if target not in met:
            said = (
                f"not met by a step and its half in {longest:g} s, least {least:.1e} m" if math.isfinite(least) else why
            )
            met[target] = Found(truss.form, Setting(name), math.inf, math.inf, why=said)
    return met


def search(
    truss: Truss,
    targets: tuple[float, ...],
    repeats: int,
    longest: float,
    names: tuple[str, ...],
    setups: dict[str, float],
) -> dict[float, list[Found]]:
    """For each error all methods, quickest first: interpreted, and those that are not far behind compiled as well."""
    met: dict[float, list[Found]] = {target: [] for target in targets}
    for name in names:
        for target, found in loosest(truss, name, targets, longest).items():
            known = math.isfinite(found.seconds)
            met[target].append(tried(truss, found.setting, repeats) if known else found)
    for target, every in met.items():
        every.sort(key=lambda each: each.seconds)
        able = [each for each in every if math.isfinite(each.seconds)]
        for each in able if compiler() is not None else ():
            if each.seconds < 2 * able[0].seconds:
                fast = code(truss, each.setting, repeats, setups)
                every += [fast] if fast.error <= target else []
        every.sort(key=lambda each: each.seconds)
    return met


def code(truss: Truss, setting: Setting, repeats: int, setups: dict[str, float]) -> Found:
    """The same setting as compiled code; its making counts as set-up even where an earlier run made it."""
    found = tried(truss, dataclasses.replace(setting, compiled=True), repeats)
    setups[setting.integrator] = setup = max(setups.get(setting.integrator, 0.0), found.setup)
    return dataclasses.replace(found, setup=setup)
