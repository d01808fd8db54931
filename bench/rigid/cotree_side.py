"""Cotree's side of the comparison: the same mechanisms through the user's interface."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from bench.common import clocked
from bench.rigid.models import GROUND, Joint, Mechanism, chain
from bench.rigid.references import Motion, error

import cotree as ct
from cotree.errors import CotreeError
from cotree.solve.doubts import broken_redundancy
from cotree.solve.integrator import Options, choose
from cotree.solve.limits import Limits
from cotree.solve.problem import Problem
from cotree.solve.run import Run
from cotree.solve.sizes import Sizes, sizes
from cotree.terminal import forces, springs

OPEN = ("adams", "rk8", "rk45", "cvodes")
CLOSED = ("adams", "rk8", "rk45", "generalised_alpha")
TOLERANCES = [float(f"{a}e-{k}") for k in range(4, 13) for a in (10, 3)][1:]
"""From loose to tight, two for each power of ten."""
LONGEST = 3.0
"""Seconds above which a tolerance is not tried."""
SLOW_COMPILER = 8.0
"""Seconds of set-up after which no second integrator is compiled."""


def build(m: Mechanism) -> ct.Model:
    """The model: every joint and every named point is a frame of its body."""
    model = ct.Model(m.name, gravity=m.gravity, **({"planar": True} if m.planar else {}))
    frames: dict[str, dict[str, tuple[float, ...]]] = {body.name: {} for body in m.bodies}

    def frame(body: str, name: str, point: Any) -> None:
        if body != GROUND:
            frames[body][name] = tuple(m.local(body, point).tolist())

    for joint in m.joints:
        frame(joint.a, f"{joint.name}_a", joint.point)
        frame(joint.b, f"{joint.name}_b", joint.point)
    for spring in m.springs:
        frame(spring.a, f"{spring.name}_a", spring.point_a)
        frame(spring.b, f"{spring.name}_b", spring.point_b)
    for name, (body, point) in m.points.items():
        frame(body, f"at_{name}", point)
    bodies = {
        b.name: model.add(
            ct.RigidBody(
                b.name,
                mass=b.mass,
                inertia=b.inertia,
                frames=frames[b.name],
                position=b.centre,
                velocity=b.velocity,
                angular_velocity=b.spin,
            )
        )
        for b in m.bodies
    }

    def node(body: str, name: str, point: Any) -> Any:
        return model.ground.at(*point) if body == GROUND else bodies[body][name]

    for joint in m.joints:
        ends = [node(getattr(joint, k), f"{joint.name}_{k}", joint.point) for k in "ab"]
        model.add(_joint(joint, *ends))
        if joint.stiffness:
            law = {"stiffness": joint.stiffness, "rest": joint.target, "damping": joint.damping}
            model.add(springs.JointSpring(f"{joint.name}_spring", joint.name, **law))
        if joint.torque:
            model.add(forces.JointActuator(f"{joint.name}_motor", joint.name, effort=joint.torque))
    for s in m.springs:
        ends = [node(s.a, f"{s.name}_a", s.point_a), node(s.b, f"{s.name}_b", s.point_b)]
        model.add(springs.Spring(s.name, *ends, length=s.rest, stiffness=s.stiffness, damping=s.damping))
    return model


def _joint(joint: Joint, a: Any, b: Any) -> Any:
    if joint.kind == "revolute":
        return ct.Revolute(joint.name, a, b, axis=joint.axis, angle=0.0, angle_rate=joint.rate)
    if joint.kind == "prismatic":
        return ct.Prismatic(joint.name, a, b, axis=joint.axis, displacement=0.0, displacement_rate=0.0)
    if joint.kind == "universal":
        return ct.Universal(joint.name, a, b, axis_1=joint.axis, axis_2=joint.axis2, angle_1=0.0, angle_2=0.0)
    return ct.Spherical(joint.name, a, b, orientation=(1.0, 0.0, 0.0, 0.0))


class Timed:
    """A run that can be repeated: what `simulate` does, with the seconds inside the integrator apart."""

    def __init__(
        self, m: Mechanism, equations: Any, integrator: str, rtol: float, sized: Sizes | None = None, fast: bool = False
    ) -> None:
        """Make the run; sizes of the variables come from a rough one where they are not given."""
        self.m = m
        problem = Problem.of(equations)
        p = equations.p.start if equations.parameter_values is None else equations.parameter_values(None)
        method = choose(integrator, problem)
        run = Run(problem, method(problem, Options(1e-3, 1e-6, 100_000)), m.times, 0.0, p,
                  Sizes.ones(problem, 0.0), Limits.none(0.0))  # fmt: skip
        run.limits = run.find_limits(None)
        if sized is None:
            failed = run.go(None)
            if failed is not None:
                raise failed
            sized = sizes(problem, run.history(), run.limits.peaks)
        self.sizes = sized
        fine = method(problem, Options(rtol, rtol / 100, 1_000_000, compiled=fast))
        self.run = dataclasses.replace(run, method=fine, sizes=sized)
        self.seconds, self.evaluations = 0.0, 0
        clocked(fine, self)

    def go(self) -> tuple[Motion, float, int]:
        """Motion, seconds inside the integrator, and steps."""
        run = dataclasses.replace(
            self.run, times=[], rows=[], integrals=[], kept=[], steps=0, evaluations=0, stretches=0
        )
        self.seconds = 0.0
        failed = run.go(None) or broken_redundancy(run)
        if failed is not None:
            raise failed
        self.evaluations = run.evaluations
        sol = run.solution(0, None, 0, 0)
        assert sol is not None
        motion = {name: np.asarray(sol[f"{body}.at_{name}.position"]) for name, (body, _) in self.m.points.items()}
        return motion, self.seconds, run.steps


def rows(m: Mechanism, base: Motion, repeats: int, quick: bool) -> list[tuple[str, float, float, float]]:
    """How, error, seconds and set-up of every integrator at its loosest tolerance that meets the error.

    All run in CasADi's virtual machine; the two quickest also as compiled code, whose making counts as set-up. A second
    one is left out where the compiler takes long.
    """
    clock = time.perf_counter()
    equations = build(m).equations()
    written = time.perf_counter() - clock
    sized, found, result = None, list[tuple[float, str, int]](), list[tuple[str, float, float, float]]()
    for name in (OPEN if m.open else CLOSED)[: 2 if quick else None]:
        row, k, sized = loosest(m, base, equations, name, False, 0, sized, repeats)
        result.append((*row[:3], written + row[3]))
        found.append((row[2], name, k))
    for seconds, name, k in sorted(each for each in found if each[1] != "cvodes")[:2]:  # cvodes has no compiled form
        if math.isfinite(seconds):
            with own_cache() as folder:
                row, _, sized = loosest(m, base, equations, name, True, k, sized, repeats)
                if any(folder.glob("*.so")):  # otherwise there is no compiler
                    result.append((*row[:3], written + row[3]))
            if row[3] > SLOW_COMPILER:
                break
    return result


def loosest(
    m: Mechanism, base: Motion, equations: Any, name: str, fast: bool, k: int, sized: Sizes | None, repeats: int
) -> tuple[tuple[str, float, float, float], int, Sizes | None]:
    """The first tolerance from the k-th on that meets the error (how, error, seconds, set-up), its place, the sizes."""
    code, why, setup = "compiled" if fast else "interpreted", "not met", 0.0
    while k < len(TOLERANCES):
        jump, clock = 1, time.perf_counter()
        try:
            timed = Timed(m, equations, name, TOLERANCES[k], sized, fast)
            sized = timed.sizes
            motion, seconds, steps = timed.go()
            took, gap = time.perf_counter() - clock, error(m, motion, base)
            if gap <= m.target:
                again = min(timed.go()[1] for _ in range(repeats))
                setup = max(setup, took - again)  # code that was made for an earlier tolerance is used again
                return (f"{name}, rtol {TOLERANCES[k]:g}, {code}, {steps} steps", gap, again, setup), k, sized
            setup = max(setup, took)
            jump = 1 if gap < 10 * m.target else 2 if gap < 100 * m.target else 3
            if seconds > LONGEST and not fast:  # the first compiled run holds the compiler's time
                why = f"not met in {1e3 * LONGEST:.0f} ms"
                break
        except CotreeError as failure:
            why = " ".join(str(failure).split())[:120]
        k += jump
    return (f"{name}, {code}: {why}", math.inf, math.inf, 0.0), k, sized


@contextlib.contextmanager
def own_cache() -> Iterator[Path]:
    """An empty folder for compiled code, so that set-up is not shorter than the first time."""
    before = os.environ.get("COTREE_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COTREE_CACHE"] = folder
        try:
            yield Path(folder)
        finally:
            os.environ.pop("COTREE_CACHE")
            if before is not None:
                os.environ["COTREE_CACHE"] = before


def forward(m: Mechanism, q: np.ndarray, u: np.ndarray, repeats: int = 5) -> tuple[np.ndarray, float, float]:
    """Accelerations, microseconds in generated C (nan without a compiler) and in CasADi's virtual machine."""
    e = build(m).equations()
    arguments = [e.q.symbols, e.u.symbols, e.p.symbols]
    f = ca.Function("forward", arguments, [ca.densify(e.in_time(e.rates))], {"cse": True})
    p = e.p.start if e.parameter_values is None else e.parameter_values(None)
    found = np.asarray(f(q, u, p), dtype=float).ravel()
    calls = max(20, 20000 // len(q))
    given = [np.ascontiguousarray(v, dtype=float) for v in (q, u, p)]
    buffer, trigger = f.buffer()
    out = np.zeros(len(q))
    for k, v in enumerate(given):
        buffer.set_arg(k, memoryview(v))
    buffer.set_res(0, memoryview(out))
    vm = np.inf
    for _ in range(repeats):
        clock = time.perf_counter()
        for _ in range(calls // 10 + 1):
            trigger()
        vm = min(vm, (time.perf_counter() - clock) / (calls // 10 + 1))
    return found, 1e6 * native(f, given, found, calls, repeats), 1e6 * vm


HARNESS = """
typedef long long int casadi_int;
int forward(const double** arg, double** res, casadi_int* iw, double* w, int mem);
void loop(int n, const double** arg, double** res, casadi_int* iw, double* w)
{ for (int k = 0; k < n; ++k) forward(arg, res, iw, w, 0); }
"""


def native(f: ca.Function, given: list[np.ndarray], expected: np.ndarray, calls: int, repeats: int) -> float:
    """Seconds of one call in a loop of compiled C, -O3, or -O1 where that takes too long."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return math.nan
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        with contextlib.chdir(where):  # CasADi writes into the current folder
            f.generate("forward.c")
        (where / "loop.c").write_text(HARNESS, encoding="utf-8")
        made = where / "forward.so"
        optimised = "-O1" if f.n_instructions() > 20_000 else "-O3"
        command = [compiler, optimised, "-fPIC", "-shared", "-o", made, where / "forward.c", where / "loop.c", "-lm"]
        subprocess.run(command, check=True, capture_output=True)
        library = ctypes.CDLL(str(made))
        pointer = ctypes.POINTER(ctypes.c_double)
        out = np.zeros(len(expected))
        arg = (pointer * max(f.sz_arg(), 1))(*(v.ctypes.data_as(pointer) for v in given))
        res = (pointer * max(f.sz_res(), 1))(out.ctypes.data_as(pointer))
        iw, w = (ctypes.c_longlong * (f.sz_iw() + 1))(), (ctypes.c_double * (f.sz_w() + 1))()
        best = np.inf
        for _ in range(repeats):
            clock = time.perf_counter()
            library.loop(calls, arg, res, iw, w)
            best = min(best, (time.perf_counter() - clock) / calls)
        if not np.allclose(out, expected, rtol=1e-9):
            raise RuntimeError("the generated C computes something else")
    return float(best)


def four_bar() -> ct.Model:
    """Crank, coupler and follower, the crank turning at the start."""
    m = ct.Model("four-bar", gravity=(0, -9.81, 0))
    corner = np.array([(0.0, 0.0), (0.3, 0.0), (0.9, 0.9), (0.9, 0.0)])
    nodes, turns = [m.ground], [0.0]
    for name, along in zip(("crank", "coupler", "follower"), np.diff(corner, axis=0), strict=True):
        length = float(np.hypot(*along))
        frames = {"start": (-length / 2, 0, 0), "end": (length / 2, 0, 0)}
        body = m.add(ct.RigidBody(name, mass=1.0, inertia=(1e-4, length**2 / 12, length**2 / 12), frames=frames))
        nodes += [body["start"], body["end"]]
        turns.append(float(np.arctan2(along[1], along[0])))
    for k, name in enumerate("OAB"):
        first = {"angle_rate": 5.0, "fixed": ("angle", "angle_rate")} if k == 0 else {}
        m.add(ct.Revolute(name, nodes[2 * k], nodes[2 * k + 1], angle=turns[k + 1] - turns[k], **first))
    m.add(ct.Revolute("C", nodes[-1], m.ground.at(0.9, 0, 0)))
    return m


def command_line() -> float:
    """Wall seconds of `cotree run` for a four-bar, start-up of Python included; best of three."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "four_bar.yaml")
        four_bar().save(path)
        best = np.inf
        for _ in range(3):
            clock = time.perf_counter()
            command = [sys.executable, "-m", "cotree", "run", path, "--t-end", "1"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            best = min(best, time.perf_counter() - clock)
            if done.returncode:
                raise RuntimeError(done.stderr[-500:] or done.stdout[-500:])
    return float(best)


def chain_cost() -> tuple[float, float]:
    """Seconds inside the integrator for each evaluation of the rates, chains of 100 and 200 links falling for 0.2 s."""
    costs = []
    for links in (100, 200):
        m = chain(links, t_end=0.2)
        timed = Timed(m, build(m).equations(), "adams", 1e-6)
        timed.go()
        costs.append(min(timed.go()[1] / timed.evaluations for _ in range(5)))
    return costs[0], costs[1]


def targets(found: list[tuple[Mechanism, str, float]]) -> list[str]:
    """What the project aims at, met or missed; for what is missed, where the time goes."""
    lines = []
    for m, how, ratio in found:
        if not math.isfinite(ratio):
            lines.append(f"- {m.title}: no comparison with Exudyn")
            continue
        lines.append(f"- {m.title}: Exudyn takes {ratio:.2g} times as long (target 10: {verdict(ratio >= 10)})")
        if ratio < 10:
            lines.append(f"  - where the time goes: {profile(m, how)}")
    a, b = chain_cost()
    cost = f"{b / a:.3f} (target below 2.3: {verdict(b / a < 2.3)})"
    lines.append(f"- integrating 200 links over 100 links, for each evaluation of the rates: {cost}")
    try:
        wall = command_line()
        lines.append(f"- `cotree run` of a four-bar: {wall:.2f} s (target below 1.5 s: {verdict(wall < 1.5)})")
    except RuntimeError as failure:
        lines.append(f"- `cotree run` of a four-bar failed: {failure}")
    return lines


def verdict(good: bool) -> str:
    """Met or missed."""
    return "met" if good else "missed"


def profile(m: Mechanism, how: str) -> str:
    """Where the time of a run goes: equations, native functions, integration and outputs."""
    name, rest = how.split(", rtol ")
    rtol, fast = float(rest.split(",")[0]), ", compiled," in how
    with own_cache():
        clock = time.perf_counter()
        equations = build(m).equations()
        written = time.perf_counter() - clock
        clock = time.perf_counter()
        timed = Timed(m, equations, name, rtol, fast=fast)
        timed.go()
        first = time.perf_counter() - clock
        clock = time.perf_counter()
        _, inside, steps = timed.go()
        again = time.perf_counter() - clock
    each = 1e6 * inside / max(timed.evaluations, 1)
    return (
        f"equations {1e3 * written:.0f} ms, first run {1e3 * first:.0f} ms, again {1e3 * again:.1f} ms with outputs, "
        f"{1e3 * inside:.2f} ms of it in the integrator: {steps} steps, {timed.evaluations} rates, {each:.1f} us each"
    )
