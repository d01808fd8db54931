"""Simulation: options checked, sizes of the variables found by a rough run, then the run itself."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cotree.errors import FileError, ModelError, OptionError, SolveError, listing
from cotree.formulation import SystemEquations
from cotree.model.event import Event
from cotree.model.helpful import helpful
from cotree.model.quantity import Given, Time, seconds
from cotree.results import Restart, Solution
from cotree.solve.diagnostics import creeping, with_units
from cotree.solve.doubts import broken_redundancy, pushing_cable
from cotree.solve.events import Watch, checked_events
from cotree.solve.faster import faster
from cotree.solve.hybrid_scout import scout
from cotree.solve.integrator import Integrator, Options, choose
from cotree.solve.joined import joined
from cotree.solve.limits import Limits
from cotree.solve.methods import INTEGRATORS
from cotree.solve.native import instructions, worth_compiling
from cotree.solve.path import Path
from cotree.solve.problem import Problem
from cotree.solve.recording import Recording
from cotree.solve.rerun import FEWEST, inaccurate, stepped_over, unchecked
from cotree.solve.run import Progress, Run
from cotree.solve.sizes import Sizes, sizes
from cotree.solve.stepping import Stepping
from cotree.solve.tangent import state_numbers

Array = NDArray[np.float64]

DEFAULT_POINTS = 501
ROUGH = 1e-3
"""Relative tolerance of the rough run."""
ROUGH_POINTS = 51
OFF, FINER = 0.2, 100
"""Energy error of a rough run that tells nothing of sizes, as vibrations have grown, and how much finer the next is."""
EARLY = "interrupted before the run began, while the sizes of its variables were sought"
TIGHTER = 4
"""Evaluations of a run for each one of the rough run, roughly."""


@helpful
def simulate(
    equations: SystemEquations,
    t_end: Time,
    *,
    t_start: Time = 0.0,
    points: int | None = None,
    times: Sequence[Time] | Array | None = None,
    parameters: Mapping[str, float] | None = None,
    start: Given | str | None = None,
    integrator: str = "auto",
    rtol: float = 1e-8,
    atol: float | None = None,
    max_steps: int = 100_000,
    max_step: Time | None = None,
    step: Time | None = None,
    spectral_radius: float = 0.9,
    compiled: bool | None = None,
    progress: Progress | None = None,
    events: Sequence[Event] | Event = (),
    seconds_formulation: float = 0.0,
    record: Recording | None = None,
) -> Solution:
    """Integrate equations and return all outputs on a grid; the options are those of `Model.simulate`.

    ``progress`` is called with the part that is done, 0 to 1. ``record`` says where the run comes from, which file it
    is written to while it goes on, and what an earlier run has done of it. What switches on the way is found and
    recorded as an event under its name, with all results right after it; each controller acts at its own times. Such
    models are integrated by ``rk45``, or where they are stiff by ``rodas``.
    """
    t_start, t_end = seconds(t_start, "t_start"), seconds(t_end, "t_end")
    max_step = None if max_step is None else seconds(max_step, "max_step")
    step = None if step is None else seconds(step, "step")
    begin = state_numbers(equations, start)
    if progress is not None and not callable(progress):
        raise OptionError(
            f"progress is {progress!r}", expected="a function that is called with the part that is done, 0 to 1"
        )
    options: dict[str, Any] = {
        "rtol": rtol, "atol": atol, "max_steps": max_steps, "max_step": max_step, "step": step,
        "spectral_radius": spectral_radius, "compiled": compiled, "integrator": integrator, "parameters": parameters,
    }  # fmt: skip
    grid = output_grid(t_start, t_end, points, times)
    watched = checked_events(events)
    for name in sorted({event.name for event in watched} & {switch.name for switch in equations.switches}):
        raise ModelError(f"an event is called '{name}', as a switch of the model is", expected="another name")
    record = Recording() if record is None else record
    asked = {"points": len(grid)} if times is None else {"times": grid}
    given = {"t_end": t_end, "t_start": t_start, **asked, "start": begin, **options, "events": watched}
    try:
        record.begin(grid, (*watched, *equations.switches), seconds_formulation, given)
        record.check(equations, _numbers(equations, parameters))
        found = _whole(equations, t_start, begin, watched, progress, seconds_formulation, record, options)
        return record.finished(found)
    except SolveError as error:
        if isinstance(error.solution, Solution) and error.solution is not record.past:
            try:
                error.solution = record.finished(error.solution)
            except FileError as reason:
                error.solution = reason.solution
                error.add_note(str(reason))
        raise
    finally:
        record.close()


def _whole(
    equations: SystemEquations,
    t_start: float,
    start: Mapping[str, float] | str | None,
    watched: Sequence[Event],
    progress: Progress | None,
    seconds_formulation: float,
    record: Recording,
    options: dict[str, Any],
) -> Solution:
    """The whole run, in phases where there are latches and stops, together with what was done before."""
    grid, drifts = record.grid, list[float]()
    span = float(grid[-1]) - t_start or 1.0

    def one(
        part: SystemEquations, left: Array, t: float, given: Any, more: Sequence[Event], at: Restart | None
    ) -> Solution:
        report = None if progress is None else lambda done: progress((t + done * (left[-1] - t) - t_start) / span)
        held = bool(part.locks) and len(part.u) == len(part.multipliers) and options["integrator"].startswith("energy")
        own = options | ({"integrator": "generalised_alpha"} if held else {})  # no energy moves any more
        seconds = seconds_formulation if t == t_start or at is not None else 0.0
        return _one(part, left, t, given, more, report, seconds, drifts, record, at, **own)

    if equations.locks and (equations.eventful or len(equations.x)):
        beside = "switches or samples" if equations.eventful else "networks or signals"
        raise SolveError(
            f"{listing([lock.name for lock in equations.locks])} cannot close in a model with {beside}",
            expected="latches and stops in a mechanism alone",
            remedy="Use an end stop with a stiffness, such as translational.end_stop on the joint's axis",
        )
    if equations.locks:
        if start == "steady" and record.at is None:
            from cotree.solve.statics import static_equilibrium  # few runs need it

            start = static_equilibrium(equations, t=t_start, parameters=options["parameters"]).state
        from cotree.solve.phases import simulate_phases  # few runs need it

        p = _numbers(equations, options["parameters"])
        return simulate_phases(equations, t_start, watched, one, start, p, drifts, record)
    if record.past is None or record.at is None:
        return one(equations, grid, t_start, start, watched, None)

    def together(part: Solution | None, complete: bool) -> Solution | None:
        parts = [each for each in (record.past, part) if each is not None]
        return joined(parts, [(0.0, 0.0)] * 2, grid, (*watched, *equations.switches), {}, complete)

    drifts.append(float(record.at.said["drift"]))
    left = grid[record.at.rows :]
    try:
        part = one(equations, left, record.at.t, None, watched, record.at) if len(left) else None
    except SolveError as error:
        rest = error.solution
        error.solution = together(rest, False) if isinstance(rest, Solution) else record.past
        raise
    found = together(part, True)
    assert found is not None
    return found


def _one(
    equations: SystemEquations,
    grid: Array,
    t_start: float,
    start: Mapping[str, float] | str | None,
    watched: Sequence[Event],
    progress: Progress | None,
    seconds_formulation: float,
    drifts: list[float],
    record: Recording,
    at: Restart | None,
    *,
    integrator: str,
    rtol: float,
    atol: float | None,
    max_steps: int,
    max_step: float | None,
    step: float | None,
    spectral_radius: float,
    compiled: bool | None,
    parameters: Mapping[str, float] | None,
) -> Solution:
    """One run of equations that stay the same; ``drifts`` takes up by how much positions have drifted.

    With ``at`` an earlier run goes on there.
    """
    clock = time.perf_counter()
    _check_tolerances(rtol, atol)
    if not isinstance(max_steps, int) or max_steps < 1:
        raise OptionError(f"max_steps is {max_steps!r}", expected="a positive whole number")
    if max_step is not None and not (isinstance(max_step, (int, float)) and max_step > 0):
        raise OptionError(f"max_step is {max_step!r}", expected="a positive number in s")
    own: dict[str, Any] = {"spectral_radius": _radius(spectral_radius)}
    own["compiled"] = bool(compiled if at is None else at.said["compiled"])
    problem = Problem.of(equations)
    p = _numbers(equations, parameters)
    if start == "steady" and equations.mechanics is not None:
        from cotree.solve.statics import static_equilibrium  # few runs need it

        start = static_equilibrium(equations, t=t_start, parameters=parameters).state
    method = choose(integrator if at is None else at.said["integrator"], problem, _step(step))
    own["step"] = step = step if issubclass(method, Stepping) else None  # others choose their own
    fine = method(problem, Options(rtol, rtol / 100 if atol is None else atol, max_steps, **own))
    run = Run(problem, fine, grid, t_start, p, Sizes.ones(problem, t_start), Limits.none(t_start), progress)
    run.record, run.asked = record, record.grid
    run.pieces.heed(instructions(problem.dae), fine.goes_on, isinstance(fine, Stepping))
    if at is not None:
        run.sizes, run.limits, run.begin = Sizes.unpacked(at.numbers), Limits.unpacked(at.numbers), at.said["begin"]
    else:
        run.limits = run.find_limits(max_step)
        record.announce(run)
    if at is None and equations.eventful:
        try:
            scout(run, start, integrator == "auto", compiled, atol is not None)
        except KeyboardInterrupt:
            record.keep_head()
            raise SolveError(EARLY) from None
    elif at is None and atol is None and step is None:  # even steps need no sizes
        trial, failed = _scouted(
            run,
            method if equations.mechanics is None or not problem.eliminated else INTEGRATORS["adams"],
            start,
            fine.options,
        )
        history = trial.history()
        assert history is not None
        rows = 1 + len(equations.outputs)
        history = replace(history, outputs=history.outputs[:rows], z=history.z[: problem.sizes["z"]])
        run.sizes = sizes(problem, history, run.limits.peaks)
        if failed is None and not isinstance(fine, Stepping):  # which may need many more steps than the scout
            run.pieces.rate = (TIGHTER * trial.steps + 1) / (float(grid[-1]) - t_start or 1.0)
        if compiled is None and equations.mechanics is not None and len(history.t) > 1:
            expected = TIGHTER * trial.evaluations
            run.method = method(problem, replace(fine.options, compiled=worth_compiling(problem.dae_length, expected)))
    if watched:
        run.watch = Watch(equations, watched)
        run.pieces.stopping = run.watch.stopping
        run.grid = run.watch.grid(run)
    if step is None and len(record.grid) < FEWEST:
        run.path = Path(np.linspace(t_start if run.begin is None else run.begin, float(grid[-1]), FEWEST))
    stopped = error = run.go(start, at)
    if at is not None:
        run.method.worst = max(run.method.worst, float(at.said["drift"]))
    drifts.append(run.method.worst)
    if not run.method.worst:  # what a method lets drift says nothing about the model
        error = error or broken_redundancy(run)
    solution = run.solution(rtol, atol, seconds_formulation, time.perf_counter() - clock)
    if solution is not None and error is None:
        further = with_units(run, stepped_over(run)) + inaccurate(run, start) if at is None else unchecked(run)
        further += creeping(run, solution.values, solution.t)
        further += faster(run, start, solution.diagnostics + further) if at is None else ()
        if equations.judged is not None:
            further += equations.judged(solution.t, solution.values)
        solution = replace(solution, diagnostics=solution.diagnostics + further)
    if run.watch is not None and solution is not None:
        solution, ended = run.watch.finish(run, solution, grid)
        error = None if ended else error
    pushed = pushing_cable(equations, solution) if solution is not None and error is None else None
    if pushed is not None:
        raise pushed
    if error is not None or solution is None:
        failure = error or SolveError("nothing was computed")
        failure.solution = solution
        if stopped is not None and solution is not None:
            restart = run.restart()
            failure.solution = replace(solution, restart=None if restart is None else record.placed(restart))
        raise failure
    return solution


def _scouted(
    run: Run, scout: type[Integrator], start: Mapping[str, float] | str | None, options: Options
) -> tuple[Run, SolveError | None]:
    """A rough run, and why it ended early; finer where its energies tell that it is wrong."""
    rtol = max(options.rtol, ROUGH)
    while True:
        rough = scout(run.problem, Options(rtol, 1e-3 * rtol, options.max_steps))
        grid = _rough_grid(run.t_start, float(run.grid[-1]))
        trial = Run(run.problem, rough, grid, run.t_start, run.p, run.sizes, run.limits)
        failed = trial.go(start)
        if trial.interrupted:
            if run.record is not None:
                run.record.keep_head()
            raise SolveError(EARLY)
        found = trial.solution(rtol, None, 0.0, 0.0)
        if found is None:
            raise failed or SolveError("nothing was computed")
        vibrates = run.problem.equations.mechanics is not None and found.audit.error > OFF
        if not vibrates or rtol <= options.rtol:
            return trial, failed
        rtol = max(options.rtol, rtol / FINER)


def _step(step: float | None) -> float | None:
    if step is not None and not (isinstance(step, (int, float)) and 0 < step < np.inf):
        raise OptionError(f"step is {step!r}", expected="a positive number in s")
    return step


def _radius(radius: float) -> float:
    if isinstance(radius, bool) or not isinstance(radius, (int, float)) or not 0 <= radius <= 1:
        raise OptionError(f"spectral_radius is {radius!r}", expected="a number from 0 to 1")
    return float(radius)


def output_grid(t_start: Time, t_end: Time, points: int | None, times: Sequence[Time] | Array | None) -> Array:
    """The output times, checked."""
    t_start, t_end = seconds(t_start, "t_start"), seconds(t_end, "t_end")
    for name, value in (("t_end", t_end), ("t_start", t_start)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise OptionError(f"{name} is {value!r}", expected="a number in s")
    if points is not None and (isinstance(points, bool) or not isinstance(points, (int, np.integer))):
        raise OptionError(f"points is {points!r}", expected="a whole number")
    if not (np.isfinite(t_start) and np.isfinite(t_end) and t_end > t_start):
        raise OptionError(f"a run from {t_start} s to {t_end} s", expected="an end after the start")
    if times is None:
        count = DEFAULT_POINTS if points is None else points
        if not 2 <= count <= 10_000_000:
            raise OptionError(f"{count} output points", expected="between 2 and 10,000,000")
        return np.linspace(t_start, t_end, count)
    try:
        texts = not isinstance(times, np.ndarray) and any(isinstance(each, str) for each in times)
        grid = np.asarray([seconds(each, "times") for each in times] if texts else times, dtype=float)
    except (TypeError, ValueError):
        grid = np.zeros(0)
    if (
        grid.ndim != 1
        or not len(grid)
        or not np.isfinite(grid).all()
        or np.any(np.diff(grid) <= 0)
        or grid[0] < t_start
        or grid[-1] > t_end
    ):
        raise OptionError("the output times are not usable", expected=f"increasing times from {t_start} to {t_end} s")
    return grid


def _rough_grid(t_start: float, t_end: float) -> Array:
    """Points of the rough run: even, and closer together near the start, where things may grow fast."""
    parts = np.concatenate([np.logspace(-6, -2, 9), np.linspace(0, 1, ROUGH_POINTS)])
    return np.unique(t_start + (t_end - t_start) * parts)


def _check_tolerances(rtol: float, atol: float | None) -> None:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not isinstance(value, (int, float, np.floating)):
            raise OptionError(f"the tolerance {name} is {value!r}", expected="a number")
    if not 1e-14 <= rtol < 1:
        raise OptionError(f"the tolerance rtol is {rtol:g}", expected="a number from 1e-14 to below 1")
    if atol is not None and not 0 < atol < np.inf:
        expected = "a positive number, or none for automatic scaling"
        raise OptionError(f"the tolerance atol is {atol:g}", expected=expected)


def _numbers(equations: SystemEquations, changes: Mapping[str, float] | None) -> Array:
    if equations.parameter_values is None:
        return equations.p.start
    return equations.parameter_values(changes)
