"""Cotree's side of the comparison: the cheapest setting that meets the error, over forms, methods and tolerances.

What is timed is a run that can be repeated: equations, code and the sizes of the variables are there. `seconds` are
those inside the integrator, with the states at the output times; `whole` adds assembly at the start, projection, all
outputs and the solution.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.common import clocked, loosest_of
from bench.flexible.cotree_models import MODELS, Form
from bench.flexible.references import Curves, Reference
from bench.rigid.cotree_side import own_cache

from cotree.errors import CotreeError
from cotree.solve.doubts import broken_redundancy
from cotree.solve.integrator import INTEGRATORS, Options
from cotree.solve.limits import Limits
from cotree.solve.native import compiler
from cotree.solve.problem import Problem
from cotree.solve.run import Run
from cotree.solve.simulate import ROUGH, _rough_grid
from cotree.solve.sizes import Sizes, sizes

ADAPTIVE = ("adams", "rk45", "rk8", "cvodes")
STEPPED = ("rk4", "generalised_alpha", "energy")
STIFF = ("generalised_alpha", "cvodes", "energy")
COMPILED = ("adams", "rk45", "rk8", "rk4", "generalised_alpha", "energy")
TOLERANCES = [float(f"{a}e-{k}") for k in range(2, 11) for a in (10, 3)][1:]
"""From loose to tight, two for each power of ten."""
MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128)
"""Steps in an interval of the reference's grid, for methods with a fixed step."""
FASTEST = 3
"""Interpreted runs, quickest first, that are tried as compiled code."""
FLOOR = 1e-6
"""Tolerance of the run that finds how far a form is from the reference."""
FINE = 64
"""Steps in an interval of the grid for the same, where the form is stiff."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A method with its tolerance, or its number of steps where they are fixed; interpreted or compiled."""

    integrator: str
    rtol: float = 1e-6
    steps: int | None = None
    compiled: bool = False

    def __str__(self) -> str:
        """The settings for the table."""
        how = f"rtol {self.rtol:g}" if self.steps is None else f"{self.steps} even steps"
        return f"{self.integrator}, {how}, {'compiled' if self.compiled else 'interpreted'}"


@dataclasses.dataclass(frozen=True)
class Found:
    """One setting that was tried: its error in m, seconds in the integrator and of the whole run, set-up, work."""

    form: Form
    setting: Setting
    error: float
    seconds: float
    whole: float = math.inf
    setup: float = 0.0
    steps: int = 0
    evaluations: int = 0
    why: str = ""
    made: Mechanism | None = dataclasses.field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """How it was run."""
        if not math.isfinite(self.seconds):
            return f"{self.form}, {self.setting.integrator}: {self.why or 'not met'}"
        steps = f", {self.steps} steps" if self.setting.steps is None else ""
        return f"{self.form}, {self.setting}{steps}"


class Mechanism:
    """A model in one form against one reference: its equations, and runs of it with any setting."""

    def __init__(self, name: str, form: Form, reference: Reference) -> None:
        """Write the equations; the rough run finds the sizes of all variables."""
        self.form, self.reference = form, reference
        build, self._curves = MODELS[name]
        clock = time.perf_counter()
        self.model = build(form)
        self.equations = self.model.equations()
        self.written = time.perf_counter() - clock
        self.problem = Problem.of(self.equations)
        given = self.equations.parameter_values
        self.p = self.equations.p.start if given is None else given(None)
        end = float(reference.times[-1])
        rough = INTEGRATORS["adams"](self.problem, Options(ROUGH, 1e-3 * ROUGH, 100_000))
        run = Run(self.problem, rough, _rough_grid(0.0, end), 0.0, self.p, Sizes.ones(self.problem, 0.0),
                  Limits.none(0.0))  # fmt: skip
        run.limits = run.find_limits(end)  # the sources are smooth: no longest step
        failed = run.go(None)
        if failed is not None and not run.times:  # as in `simulate`: a stiff form may end early
            raise failed
        self.limits, self.sizes = run.limits, sizes(self.problem, run.history(), run.limits.peaks)
        self.prepared = time.perf_counter() - clock

    def timed(self, setting: Setting) -> Timed:
        """A run that can be repeated."""
        return Timed(self, setting)

    def curves(self, sol: Any) -> Curves:
        """The deflections that are compared."""
        return self._curves(self.form, sol)


class Timed:
    """A run with one setting, to be repeated."""

    def __init__(self, mechanism: Mechanism, setting: Setting) -> None:
        """Make the method; its native code is made in the first run."""
        self.mechanism = m = mechanism
        end = float(m.reference.times[-1])
        step = None if setting.steps is None else end / setting.steps
        options = Options(setting.rtol, setting.rtol / 100, 1_000_000, step=step, compiled=setting.compiled)
        kind = INTEGRATORS[setting.integrator]
        if reason := kind.suits(m.problem):
            raise CotreeError(reason)
        method: Any = kind(m.problem, options)
        self.run = Run(m.problem, method, m.reference.times, 0.0, m.p, m.sizes, m.limits)
        self.seconds = 0.0
        clocked(method, self)

    def go(self) -> tuple[Run, Any]:
        """The run and its solution; the seconds inside the integrator are kept."""
        fresh: dict[str, Any] = {"steps": 0, "evaluations": 0, "stretches": 0}
        run = dataclasses.replace(self.run, times=[], rows=[], integrals=[], kept=[], **fresh)
        self.seconds = 0.0
        failed = run.go(None) or broken_redundancy(run)
        if failed is not None:
            raise failed
        return run, run.solution(0.0, None, 0.0, 0.0)

    def measured(self, setting: Setting, repeats: int) -> Found:
        """Error, seconds and work; best of the repeats after a first run, whose excess is set-up."""
        m = self.mechanism
        clock = time.perf_counter()
        run, sol = self.go()
        first, once = time.perf_counter() - clock, self.seconds
        error = m.reference.error(m.curves(sol))
        inside, whole = [once], [first]
        for _ in range(repeats):
            clock = time.perf_counter()
            self.go()
            whole.append(time.perf_counter() - clock)
            inside.append(self.seconds)
        setup = m.prepared + first - min(whole)
        return Found(m.form, setting, error, min(inside), min(whole), setup, run.steps, run.evaluations, made=m)


def attempt(mechanism: Mechanism, setting: Setting, repeats: int = 1) -> Found:
    """A run with a setting, or the reason why there is none."""
    try:
        return mechanism.timed(setting).measured(setting, repeats)
    except CotreeError as failure:
        why = " ".join(str(failure).split())[:100]
        return Found(mechanism.form, setting, math.inf, math.inf, why=why)


def loosest(mechanism: Mechanism, name: str, targets: tuple[float, ...], longest: float) -> dict[float, Found]:
    """For each error asked for, the loosest setting of a method that meets it; see `loosest_of`."""
    count, stepped = mechanism.reference.intervals, name in STEPPED

    def tried(k: int) -> Found:
        return attempt(mechanism, Setting(name, steps=k * count) if stepped else Setting(name, TOLERANCES[k]))

    return loosest_of(MULTIPLES if stepped else range(len(TOLERANCES)), tried, stepped, targets, longest)


def methods(form: Form) -> tuple[str, ...]:
    """The methods to try: no explicit ones where axial waves run through short pieces."""
    return STIFF if form.axial else (*ADAPTIVE, *STEPPED)


def finest(form: Form, reference: Reference) -> Setting:
    """A setting whose own error is small beside that of a form."""
    return Setting("generalised_alpha", steps=FINE * reference.intervals) if form.axial else Setting("adams", FLOOR)


def search(
    name: str,
    reference: Reference,
    forms: tuple[Form, ...],
    targets: tuple[float, ...],
    *,
    repeats: int,
    longest: float,
    quick: bool = False,
) -> dict[float, list[Found]]:
    """For each error asked for, all settings that meet it, quickest first.

    Every form and method runs interpreted; the quickest of them then as compiled code with the same settings.
    """
    met: dict[float, list[Found]] = {target: [] for target in targets}
    made: dict[Form, Mechanism] = {}
    for form in forms:
        made[form] = mechanism = Mechanism(name, form, reference)
        floor = attempt(mechanism, finest(form, reference)).error  # what the form itself allows
        able = tuple(target for target in targets if floor < target)
        for integrator in methods(form)[:: 3 if quick else 1] if able else ():
            for target, found in loosest(mechanism, integrator, able, longest).items():
                met[target].append(found)
        for target in targets:
            if target not in able:
                why = f"not met, the form is {floor:.1e} m away"
                met[target].append(Found(form, Setting("all methods"), math.inf, math.inf, why=why))
    with own_cache():
        setups: dict[tuple[Form, str], float] = {}
        for target, every in met.items():
            every.sort(key=lambda each: each.seconds)
            for k, each in enumerate(every[:2]):
                if math.isfinite(each.seconds):
                    every[k] = attempt(made[each.form], each.setting, repeats)
            able_to = [each for each in every if math.isfinite(each.seconds) and each.setting.integrator in COMPILED]
            for each in able_to[: 1 if quick or any(each.form.axial for each in able_to) else FASTEST]:
                fast = compiled(made[each.form], each, repeats, setups)
                if fast is not None and fast.error <= target:
                    every.append(fast)
            every.sort(key=lambda each: each.seconds)
    return met


def compiled(mechanism: Mechanism, found: Found, repeats: int, setups: dict[tuple[Form, str], float]) -> Found | None:
    """The same setting as compiled code; None where there is no compiler.

    Code serves all tolerances, so that its making counts as set-up even where an earlier run made it.
    """
    name = found.setting.integrator
    if compiler() is None:
        return None
    result = attempt(mechanism, dataclasses.replace(found.setting, compiled=True), repeats)
    setups[found.form, name] = setup = max(setups.get((found.form, name), 0.0), result.setup)
    return dataclasses.replace(result, setup=setup) if math.isfinite(result.seconds) else None


def profile(mechanism: Mechanism, setting: Setting, repeats: int = 3) -> dict[str, float]:
    """Milliseconds of the parts of one call of `simulate` whose equations are there, and of a repeated one."""
    parts: dict[str, float] = {}
    watched: list[tuple[type, str, str]] = [(Run, "go", "go"), (Run, "_outputs", "outputs"),
                                            (Run, "_start_values", "start"), (Run, "find_limits", "limits"),
                                            (Run, "solution", "solution")]  # fmt: skip
    end = float(mechanism.reference.times[-1])
    options: dict[str, Any] = {"times": mechanism.reference.times, "integrator": setting.integrator}
    options |= {"rtol": setting.rtol, "compiled": setting.compiled}
    options |= {"step": end / setting.steps} if setting.steps else {}
    from cotree.solve.simulate import simulate

    simulate(mechanism.equations, end, **options)  # makes the native code
    best = math.inf
    for _ in range(repeats):
        spent: dict[str, float] = {}
        with contextlib.ExitStack() as stack:
            for owner, method, name in watched:
                stack.enter_context(watch(owner, method, name, spent))
            kind = INTEGRATORS[setting.integrator]
            stack.enter_context(watch(kind, "integrate", "integrate", spent))
            if setting.integrator != "adams":
                stack.enter_context(watch(INTEGRATORS["adams"], "integrate", "rough integrate", spent))
            clock = time.perf_counter()
            simulate(mechanism.equations, end, **options)
            whole = time.perf_counter() - clock
        if whole < best:
            best, parts = whole, {"simulate": whole} | spent
    return {name: 1e3 * seconds for name, seconds in parts.items()}


@contextlib.contextmanager
def watch(owner: type, method: str, name: str, spent: dict[str, float]) -> Iterator[None]:
    """Add the seconds inside a method to what is spent under a name."""
    own = method in vars(owner)
    inner: Callable[..., Any] = getattr(owner, method)

    def timed(*given: Any, **named: Any) -> Any:
        clock = time.perf_counter()
        try:
            return inner(*given, **named)
        finally:
            spent[name] = spent.get(name, 0.0) + time.perf_counter() - clock

    setattr(owner, method, timed)
    try:
        yield
    finally:
        if own:
            setattr(owner, method, inner)
        else:
            delattr(owner, method)


def profile_line(mechanism: Mechanism, found: Found) -> str:
    """Where the time of one call goes, for the page."""
    parts = profile(mechanism, found.setting)
    inside = 1e3 * found.seconds
    named = [f"{name} {value:.2g}" for name, value in parts.items() if name != "simulate"]
    return (
        f"{found.setting}: {inside:.2g} ms in the integrator ({found.steps} steps), {1e3 * found.whole:.2g} ms the "
        f"repeated run, {parts['simulate']:.3g} ms `simulate` with equations at hand, of which {', '.join(named)} ms "
        "(rough run included; outputs and integration are parts of go)"
    )


def step_cost(mechanism: Mechanism, setting: Setting, repeats: int = 5) -> float:
    """Seconds inside the integrator for each step."""
    timed = mechanism.timed(setting)
    timed.go()
    best = math.inf
    for _ in range(repeats):
        run, _ = timed.go()
        best = min(best, timed.seconds / max(run.steps, 1))
    return best
