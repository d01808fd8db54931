"""Ring trusses of many sides, each in a process of its own: seconds for a step, set-up and peak memory, as JSON.

python bench/nodal/scaling.py cotree 1000 900     # or exudyn; sides and steps
python bench/nodal/scaling.py parts 1000          # where the time of a step goes
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (after the number of threads is set)

CLOCK = "COTREE_BENCH_CLOCK"
"""Set to cpu: seconds of the processor in place of those of the wall, for a machine that is busy with other things."""
if os.environ.get(CLOCK) == "cpu":

    def _cpu() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(each.ru_utime + each.ru_stime for each in used)

    time.perf_counter = _cpu

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.common import measure, quiet  # noqa: E402
from bench.nodal.reference import Ring  # noqa: E402

END, STEPS = 8.9, 900
"""Seconds and steps of a run: ten sides are folded at 8.9074 s."""
STEP = END / STEPS
EACH = 10
"""Steps in an interval of the output's grid."""
WARM = 20
"""Steps of a first run, in which Cotree makes its native functions and Exudyn's ways are compared."""
PATIENCE = 240.0
"""Longest time in s for one truss."""


def cotree(sides: int, steps: int = STEPS) -> dict[str, Any]:
    """Generalised-alpha, interpreted: what `simulate(..., integrator="generalised_alpha", step=...)` does."""
    from bench.nodal.cotree_side import Setting, Truss

    ring = Ring(sides)
    truss = Truss(ring, ring.reference(WARM * STEP, WARM // EACH), rough=False)
    before = time.perf_counter()
    warm = truss.timed(Setting("generalised_alpha", steps=WARM))
    warm.go()
    first, inside = time.perf_counter() - before, warm.seconds
    warm.go()
    truss.reference = ring.reference(steps * STEP, steps // EACH)
    timed = truss.timed(Setting("generalised_alpha", steps=steps))
    clock = time.perf_counter()
    run, sol = timed.go()
    whole = time.perf_counter() - clock
    return {
        "equations": truss.written, "code": first, "seconds": timed.seconds, "whole": whole, "steps": run.steps,
        "error": truss.reference.error(truss.curves(sol)), "peak": peak(), "how": "generalised-alpha, radius 0.9",
        "native": inside - warm.seconds,
    }  # fmt: skip


def exudyn(sides: int, steps: int = STEPS) -> dict[str, Any]:
    """Exudyn's quickest way for some steps, then all of them with it; sparse solvers, the same method and step."""
    from bench.nodal.exudyn_peer import Model, Way

    ring = Ring(sides)
    ways = [Way("bars", linear="EigenSparse", tolerance=tolerance) for tolerance in (1e-4, 1e-6)]
    ways += [Way("bars", linear="EigenSparse", modified=False, tolerance=1e-4)]
    if sides <= 300:  # one large matrix is slower beyond
        ways += [Way("whole", linear="EigenSparse", tolerance=tolerance) for tolerance in (1e-4, 1e-6)]
    if sides <= 30:
        ways += [Way("whole", tolerance=tolerance) for tolerance in (1e-4, 1e-6)]
    few = steps // 10 if sides <= 100 else WARM
    short = ring.reference(few * STEP, few // EACH)
    with quiet():
        models = {form: Model(ring, form) for form in ("whole", "bars")}
        tried = {way: measure(models[way.form], way, few, short) for way in ways}
    order = sorted((way for way in ways if tried[way][0] < 1e-4), key=lambda way: tried[way][1])
    full = ring.reference(steps * STEP, steps // EACH)
    finalists = order[: 3 if sides <= 100 else 2 if sides <= 300 else 1]
    done: dict[Way, tuple[float, float]] = {}
    for way in finalists:
        if tried[way][1] / few * steps < PATIENCE / 3:
            with quiet():
                done[way] = measure(models[way.form], way, steps, full)
    good = {way: found for way, found in done.items() if found[0] < 1e-4}
    if not good:
        way = order[0]
        return {"seconds": tried[way][1], "steps": few, "error": tried[way][0], "how": str(way), "peak": peak(),
                "setup": models[way.form].seconds_setup}  # fmt: skip
    way = min(good, key=lambda each: good[each][1])
    return {"seconds": good[way][1], "steps": steps, "error": good[way][0], "how": str(way), "peak": peak(),
            "setup": models[way.form].seconds_setup}  # fmt: skip


def parts(sides: int, name: str = "generalised_alpha") -> dict[str, Any]:
    """Milliseconds of the functions of one step, called alone, and of linear solvers on Newton's matrix."""
    from bench.nodal.cotree_side import Setting, Truss

    ring = Ring(sides)
    steps = STEPS if sides <= 100 else 10 * EACH
    truss = Truss(ring, ring.reference(steps * STEP, steps // EACH), rough=False)
    timed = truss.timed(Setting(name, steps=steps))
    timed.go()
    timed.go()
    method: Any = timed.run.method
    result: dict[str, Any] = {"step": 1e3 * timed.seconds / steps}
    for each in method.attempt.find_functions():
        if each.name() in WATCHED[name] and each.name() not in result:
            result[each.name()] = alone(each)
    return result


WATCHED = {
    "generalised_alpha": ("parts", "correction", "velocity_correction", "after", "powers", "judge"),
    "paper": ("once", "renewed", "equations", "frame", "slopes", "mass", "force", "powers", "judge"),
    "corrected": ("once", "renewed", "terms", "frame", "slopes", "powers", "judge"),
}


def alone(function: Any) -> float:
    """Milliseconds of one call; its arguments are random numbers near zero, since only the time matters."""
    buffer, call = function.buffer()
    rng = np.random.default_rng(0)
    kept = [rng.uniform(0.1, 1.0, max(function.nnz_in(k), 1)) for k in range(function.n_in())]
    kept += [np.zeros(max(function.nnz_out(k), 1)) for k in range(function.n_out())]
    for k in range(function.n_in()):
        buffer.set_arg(k, memoryview(kept[k]))
    for k in range(function.n_out()):
        buffer.set_res(k, memoryview(kept[function.n_in() + k]))
    best, left = math.inf, time.perf_counter() + 0.5
    while time.perf_counter() < left or not math.isfinite(best):
        clock = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - clock)
    return 1e3 * best


def peak() -> float:
    """Most memory of this process so far, GB; what the one that started it had does not count where Linux tells."""
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="utf-8").splitlines() if status.exists() else []
    found = [line.split()[1] for line in lines if line.startswith("VmHWM")]
    return float(found[0] if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1e6


def apart(what: str, *numbers: int | str) -> dict[str, Any] | None:
    """The same in a process of its own; None where it fails or takes too long."""
    command = [sys.executable, __file__, what, *(str(each) for each in numbers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as failure:
        print(failure.stderr[-400:], file=sys.stderr)
        return None
    return dict(json.loads(done.stdout.splitlines()[-1]))


def exponent(sides: list[int], seconds: list[float]) -> float:
    """The power of the number of sides with which the time grows, by least squares."""
    return float(np.polyfit(np.log(sides), np.log(seconds), 1)[0])


if __name__ == "__main__":
    kinds = {"cotree": cotree, "exudyn": exudyn, "parts": parts}
    given = [int(each) if each.isdigit() else each for each in sys.argv[2:]]
    print(json.dumps(kinds[sys.argv[1]](*given)))  # type: ignore[operator]
