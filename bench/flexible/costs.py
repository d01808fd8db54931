"""What elastic coordinates cost: one evaluation, one step, and the preparation of meshes.

python bench/flexible/costs.py panel 100 20     # seconds and memory of one panel, as JSON
"""

from __future__ import annotations

import json
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

ROOT = Path(__file__).resolve().parents[2]
sys.path += [path for path in (str(ROOT), str(ROOT / "src")) if path not in sys.path]

import cotree as ct  # noqa: E402

POINTS = 2000
"""Evaluations in one native call."""
STEPS = 1440
"""Even steps over two turns of the four-bar."""


def evaluation(form: Any, repeats: int = 7) -> dict[str, float]:
    """Instructions of the four-bar's settled accelerations, their microseconds, and those of a step of the run.

    Settled accelerations are what a closed mechanism's rates are: one Newton step onto the constraints, velocities on
    them, accelerations and multipliers. They are evaluated along the motion's first degrees of crank angle.
    """
    from bench.flexible import cotree_side, references
    from bench.flexible.cotree_models import four_bar
    from bench.rigid.cotree_side import own_cache

    from cotree.solve.mechanism import Mechanism
    from cotree.solve.native import compiled, compiler
    from cotree.solve.problem import Problem

    equations = four_bar(form).equations()
    function = Mechanism.of(equations).settled(1)
    p = equations.p.start if equations.parameter_values is None else equations.parameter_values(None)
    x = np.concatenate(equations.assemble(p, 0.0)) if equations.assemble else np.zeros(0)
    times = np.linspace(0.0, 1e-4, POINTS)[None, :]
    modes = np.zeros(equations.mode_symbols.numel())
    given = [times, *(np.repeat(np.asarray(v, dtype=float)[:, None], POINTS, axis=1) for v in (x, p, modes))]

    def microseconds(f: Any) -> float:
        mapped, best = f.map(POINTS), np.inf
        for _ in range(repeats):
            clock = time.perf_counter()
            mapped(*given)
            best = min(best, time.perf_counter() - clock)
        return 1e6 * float(best) / POINTS

    result = {
        "speeds": len(equations.u),
        "instructions": function.n_instructions(),
        "rates": Problem.of(equations).dae_length,
        "interpreted us": microseconds(function),
    }
    reference = references.four_bar("linear_2_modes")
    mechanism = cotree_side.Mechanism("four_bar", form, reference)
    for code in ("interpreted", "compiled"):
        fast = code == "compiled"
        if fast and compiler() is None:
            continue
        with own_cache():
            if fast:
                result["compiled us"] = microseconds(compiled(function))
            for name in ("rk4", "generalised_alpha"):
                setting = cotree_side.Setting(name, steps=STEPS, compiled=fast)
                result[f"{name} {code} us"] = 1e6 * cotree_side.step_cost(mechanism, setting, repeats)
    return result


def panel(cells: int, modes: int) -> ct.FlexibleBody:
    """A square panel of 2 x 2 m as in Richard 2012, section 5.2: two rigid edges, one of them an interface."""
    return ct.FlexibleBody(
        "panel",
        mesh=ct.mesh.grid(size=(2, 2), cells=(cells, cells)),
        plate=ct.Plate(0.003, ct.STEEL),
        frames={"root": (0, 1, 0), "tip": (2, 1, 0), "centre": (1, 1, 0)},
        rigid={"root": "left", "tip": "right"},
        interface={"tip": "z ry"},
        attached="root",
        modes=modes,
    )


def prepare(cells: int, modes: int, repeats: int) -> dict[str, float]:
    """Seconds from the description to the tables, first and best again, with nothing kept; peak memory in GB."""
    from cotree.fem.store import forget

    seconds = []
    for _ in range(repeats):
        forget()
        clock = time.perf_counter()
        body = panel(cells, modes)
        tables = body.tables(body.values({}))
        seconds.append(time.perf_counter() - clock)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    triangles, shapes = len(body.mesh.triangles), len(tables.names)
    return {
        "triangles": triangles,
        "shapes": shapes,
        "first": seconds[0],
        "again": min(seconds[1:] or seconds),
        "peak": peak / 1e9,
    }


def assemble(cells: int) -> dict[str, float]:
    """Seconds to assemble stiffness and mass of a panel, and its degrees of freedom."""
    from cotree.fem.shell import Shells
    from cotree.fem.structure import Structure

    mesh = ct.mesh.grid(size=(2, 2), cells=(cells, cells))
    clock = time.perf_counter()
    shells = Shells(mesh.nodes, mesh.triangles, ct.Plate(0.003, ct.STEEL))
    structure = Structure(mesh.nodes, [shells])
    degrees = structure.stiffness.shape[0]
    assert structure.mass.shape[0] == degrees
    seconds = time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"degrees": degrees, "first": seconds, "peak": peak / 1e9}


def apart(*arguments: Any) -> dict[str, float]:
    """One of these measured in a process of its own, so that its peak memory is its own."""
    command = [sys.executable, str(Path(__file__).resolve()), *map(str, arguments)]
    where = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=where)
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print one measurement as JSON."""
    kind, *rest = sys.argv[1:]
    numbers = [int(each) for each in rest]
    print(json.dumps(prepare(*numbers) if kind == "panel" else assemble(*numbers)))


if __name__ == "__main__":
    main()
