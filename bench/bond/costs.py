"""What one form of a mechanism costs: equations, one evaluation of the right-hand side, whole runs at an error."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from bench.bond.models import Pair
from bench.common import loosest_of
from bench.rigid.cotree_side import TOLERANCES, Timed, native, own_cache
from numpy.typing import NDArray

import cotree as ct
from cotree.errors import CotreeError
from cotree.solve.problem import Problem

Array = NDArray[np.float64]

METHODS = ("adams", "rk8")
TARGETS = (1e-6, 1e-8)
"""Errors asked for, m."""
NEAR = 0.01
"""How far from the start evaluations are taken: the sine of zero would be too cheap."""
LONGEST = 3.0
"""Seconds above which no tighter tolerance is tried."""


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of the right-hand side: instructions, and microseconds in both kinds of code."""

    instructions: int
    interpreted: float
    compiled: float


CODES = ("interpreted", "compiled")


@dataclass(frozen=True)
class Whole:
    """A run: its tolerance, error, seconds in the integrator, steps and evaluations."""

    rtol: float
    error: float
    seconds: float
    steps: int
    evaluations: int


Met = dict[float, Whole]
"""The run that meets each error asked for."""


class Form:
    """A mechanism in one of its two forms."""

    def __init__(self, pair: Pair, model: ct.Model, seconds_made: float) -> None:
        self.pair, self.model = pair, model
        clock = time.perf_counter()
        self.equations = model.equations()
        self.setup = seconds_made + time.perf_counter() - clock

    def motion(self, rtol: float) -> Array:
        """Everything that is watched, converged."""
        solution = self.model.simulate(self.pair.t_end, times=self.pair.times, rtol=rtol)
        return np.hstack([solution[name] for name in self.pair.watched])

    def evaluation(self, repeats: int) -> Evaluation:
        """The cost of one evaluation, best of several rounds."""
        problem = Problem.of(self.equations)
        dae, e = problem.dae, self.equations
        p = e.p.start if e.parameter_values is None else e.parameter_values(None)
        size = problem.sizes
        scales = size["x"] + size["z"] + size["quad"]
        parts = [p, np.zeros(size["m"]), np.zeros(size["table"]), [0.0, 1.0], np.ones(scales)]
        start = np.concatenate([e.q.start, e.u.start])
        start += NEAR * np.random.default_rng(1).uniform(size=len(start))
        given = [np.zeros(1), start, np.zeros(size["z"]), np.concatenate(parts), np.zeros(0)]
        kind = ca.SX if dae.is_a("SXFunction") else ca.MX
        symbols = [kind.sym(dae.name_in(k), dae.sparsity_in(k)) for k in range(dae.n_in())]
        f = ca.Function("forward", symbols, [ca.vertcat(*dae.call(symbols))])
        expected = np.asarray(f.call(given)[0], dtype=float).ravel()
        assert np.isfinite(expected).all()
        buffer, trigger = f.buffer()
        out = np.zeros(len(expected))
        for k, value in enumerate(given):
            buffer.set_arg(k, memoryview(value))
        buffer.set_res(0, memoryview(out))
        best, calls = math.inf, 200
        for _ in range(30 * repeats):
            clock = time.perf_counter()
            for _ in range(calls):
                trigger()
            best = min(best, (time.perf_counter() - clock) / calls)
        fast = native(f, given, expected, 2_000, 30 * repeats)
        return Evaluation(problem.dae_length, 1e6 * best, 1e6 * fast)

    def search(self, exact: Array, method: str, fast: bool) -> dict[float, tuple[Whole, Grid]]:
        """For each error asked for, the loosest tolerance that meets it together with the next one, and its run."""
        sized: Any = None
        runs: dict[float, Grid] = {}

        def attempt(k: int) -> Whole:
            nonlocal sized
            rtol = TOLERANCES[k]
            try:
                runs[rtol] = run = Grid(self.pair, self.equations, method, rtol, sized, fast)
                sized = run.sizes
                if fast and len(runs) == 1:
                    run.moved()  # the compiler's time
                motion, seconds, steps = run.moved()
            except CotreeError:
                return Whole(rtol, math.inf, math.inf, 0, 0)
            return Whole(rtol, float(np.abs(motion - exact).max()), seconds, steps, run.evaluations)

        found = loosest_of(range(len(TOLERANCES)), attempt, False, TARGETS, LONGEST)
        return {target: (whole, runs[whole.rtol]) for target, whole in found.items()}


class Grid(Timed):
    """A run whose watched results are on the pair's grid."""

    def __init__(self, pair: Pair, *options: Any) -> None:
        super().__init__(pair, *options)  # type: ignore[arg-type]  # of the mechanism only its times are used
        self.pair = pair

    def moved(self) -> tuple[Array, float, int]:
        """What is watched, seconds inside the integrator, and steps."""
        run = dataclasses.replace(
            self.run, times=[], rows=[], integrals=[], kept=[], steps=0, evaluations=0, stretches=0
        )
        self.seconds = 0.0
        failed = run.go(None)
        if failed is not None:
            raise failed
        self.evaluations = run.evaluations
        solution = run.solution(0, None, 0, 0)
        assert solution is not None
        return np.hstack([solution[name] for name in self.pair.watched]), self.seconds, run.steps


def evaluations(forms: Mapping[str, Form], repeats: int) -> dict[str, Evaluation]:
    """The cost of one evaluation of each form; they take turns, so that a busy machine slows all alike."""
    found: dict[str, list[Evaluation]] = {name: [] for name in forms}
    for _ in range(3):
        for name, form in forms.items():
            found[name].append(form.evaluation(repeats))
    return {
        name: Evaluation(every[0].instructions, *(min(getattr(each, key) for each in every) for key in CODES))
        for name, every in found.items()
    }


def search(forms: Mapping[str, Form], exact: Array, method: str, fast: bool, repeats: int) -> dict[str, Met]:
    """What each form needs for each error; the quickest of several runs, in which the forms take turns."""
    found = {name: form.search(exact, method, fast) for name, form in forms.items()}
    best: dict[str, Met] = {name: {} for name in forms}
    for _ in range(repeats):
        for name, runs in found.items():
            for target, (whole, run) in runs.items():
                seconds = run.moved()[1]
                before = best[name].get(target)
                if before is None or seconds < before.seconds:
                    best[name][target] = dataclasses.replace(whole, seconds=seconds)
    return best


def forms(pair: Pair) -> dict[str, Form]:
    """Both forms of a mechanism, each made three times; the quickest set-up counts."""
    made = {}
    for name, build in (("bond graph", pair.graph), ("branch", pair.branch)):
        tries = []
        for _ in range(3):
            clock = time.perf_counter()
            model = build()
            tries.append(Form(pair, model, time.perf_counter() - clock))
        made[name] = min(tries, key=lambda form: form.setup)
    return made


__all__ = ["METHODS", "TARGETS", "Evaluation", "Form", "Whole", "evaluations", "forms", "own_cache", "search"]
