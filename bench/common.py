"""What the benches share: silence for native code, clocks, runs of a peer, and the search for the loosest setting."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No output of native code: peers print banners, warnings and failures."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            for number, one in enumerate(kept, 1):
                os.dup2(one, number)
                os.close(one)


def clocked(method: Any, owner: Any) -> None:
    """Add the time that an integrator takes to ``owner.seconds``."""
    inner = method.integrate

    def integrate(*given: Any) -> Any:
        clock = time.perf_counter()
        try:
            return inner(*given)
        finally:
            owner.seconds += time.perf_counter() - clock

    method.integrate = integrate


def versions() -> str:
    """What was compared, and on what."""
    found = []
    for name in ("cotree", "exudyn", "casadi", "scipy"):
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            found.append(f"{name} {'from source' if name == 'cotree' else 'not installed'}")
    return f"{', '.join(found)}; Python {platform.python_version()}, {os.cpu_count()} cores, one thread each"


def exudyn_run(exu: Any, mbs: Any, sensors: Mapping[Any, Any], way: Any, steps: int, reference: Any) -> Any:
    """Places of Exudyn's sensors on the reference's grid by name, and the seconds of its solver.

    ``way`` says how it is used; ``steps`` is a multiple of the grid's intervals.
    """
    import numpy as np

    grid = reference.times
    s = exu.SimulationSettings()
    s.solution.file.write = False
    s.solution.sensors.writePeriod = grid[-1] / reference.intervals
    t = s.timeIntegration
    t.endTime, t.numberOfSteps, t.verboseMode = grid[-1], steps, 0
    t.automaticStepSize = t.adaptiveStep = False
    t.newton.useModifiedNewton = way.modified
    t.newton.relativeTolerance, t.newton.absoluteTolerance = way.tolerance, way.floor
    t.generalizedAlpha.spectralRadius = way.radius
    s.linearSolver.solverType = getattr(exu.LinearSolverType, way.linear)
    s.linearSolver.reuseAnalyzedPattern = way.linear == "EigenSparse"
    s.linearSolver.showCausingItems = False
    s.parallel.numberOfThreads = 1
    two = way.solver == "index 2"
    kind = exu.DynamicSolverType.TrapezoidalIndex2 if two else exu.DynamicSolverType.GeneralizedAlpha
    t.solverType = kind
    clock = time.perf_counter()
    mbs.SolveDynamic(s, solverType=kind)
    seconds = time.perf_counter() - clock
    places = {}
    for name, sensor in sensors.items():
        data = np.array(mbs.GetSensorStoredData(sensor))
        if len(data) != len(grid) or np.abs(data[:, 0] - grid).max() > 1e-9 * grid[-1]:
            raise RuntimeError(f"output is not on the grid: {len(data)} rows")
        places[name] = data[:, 1:4]
    return places, seconds


def measure(model: Any, way: Any, steps: int, reference: Any, repeats: int = 1) -> tuple[float, float]:
    """Error in m of a peer's model and its seconds, best of the repeats; both infinite where a run fails."""
    best, found = math.inf, math.inf
    for _ in range(repeats):
        try:
            curves, seconds = model.run(way, steps, reference)
        except Exception:
            return math.inf, math.inf
        best, found = min(best, seconds), reference.error(curves)
    return found, best


def loosest_of(
    settings: Iterable[int], attempt: Callable[[int], Any], stepped: bool, targets: Iterable[float], longest: float
) -> dict[float, Any]:
    """For each error asked for, the loosest of ever finer settings that meets it and whose next, too, does.

    The next is half the step, or the next tolerance. No shorter step is tried after one that took too long.
    """
    wanted, met, every = tuple(targets), dict[float, Any](), dict[int, Any]()
    for k in settings:
        every[k] = found = attempt(k)
        before = every.get(k // 2 if stepped else k - 1)
        if before is not None and not (stepped and k % 2):
            for target in wanted:
                if max(found.error, before.error) <= target:
                    met.setdefault(target, before)
        if len(met) == len(wanted) or (math.isfinite(found.seconds) and found.seconds > longest):
            break
    return met
