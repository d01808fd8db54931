"""Machines: a motor-driven slider-crank under a sampled controller, and what a thousand events a second cost.

    python bench/machines.py [--quick]

The crank's angle is compared with equations written by hand and integrated by SciPy at 1e-12. SciPy then runs the same
equations at the tolerance that meets the error; Exudyn, where it is installed, runs its own planar model, whose motor
is a matrix, with Python at the samples only. Times are processor seconds of whole runs with machine code on one
thread, best of several; writing the equations and compiling them is apart. Compiled code is kept, so a second run
compiles nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from math import cos, sin
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path[:1] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tests")]  # in the place of this folder

import numpy as np  # noqa: E402  (after the number of threads is set)
from bench.common import quiet, versions  # noqa: E402

import cotree as ct  # noqa: E402
from machines.models import crank_drive, crank_parts, of, sampled_slider_crank, slider_crank  # noqa: E402
from machines.witness import G, SampledSliderCrank  # noqa: E402

ERROR = 1e-6
PERIOD = 1e-3
TOLERANCES = [10.0**-k for k in range(4, 11)]


def best(run: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Seconds of the fastest of several runs, and what it gave."""
    found = []
    for _ in range(repeats):
        clock = time.process_time()
        result = run()
        found.append((time.process_time() - clock, result))
    return min(found, key=lambda each: each[0])


def cotree_run(w: SampledSliderCrank, right: np.ndarray) -> None:
    """The loosest tolerance that meets the error, with a hundred outputs and with one at every sample."""
    model, end = sampled_slider_crank(w, PERIOD), (len(right) - 1) * PERIOD
    clock = time.perf_counter()
    model.equations()
    written = time.perf_counter() - clock
    clock = time.perf_counter()
    model.simulate(end, points=101, compiled=True)
    first = time.perf_counter() - clock
    print(f"  equations written in {1e3 * written:.0f} ms; first run, with compiling where needed, {first:.2f} s")
    for points in (101, len(right)):
        exact = right[:: (len(right) - 1) // (points - 1)]
        for rtol in TOLERANCES:
            seconds, sol = best(
                lambda rtol=rtol, points=points: model.simulate(end, points=points, rtol=rtol, compiled=True)
            )
            error = float(np.abs(sol["O.angle"] - exact).max())
            if error <= ERROR:
                break
        how = f"{sol.statistics.integrator}, rtol {rtol:.0e}, {sol.statistics.steps} steps"
        row("Cotree", seconds, end, error, f"{how}; {len(sol.names)} results at {points} times")


def scipy_run(w: SampledSliderCrank, samples: int, right: np.ndarray) -> None:
    """SciPy on hand-written equations: one call for each sample."""
    for method in ("RK45", "DOP853"):
        for rtol in TOLERANCES:
            seconds, found = best(lambda m=method, r=rtol: w.sampled(samples, r, m), 1)
            error = float(np.abs(found["angle"] - right).max())
            if error <= ERROR:
                row(f"SciPy {method}, by hand", seconds, samples * PERIOD, error, f"rtol {rtol:.0e}")
                break


def exudyn_run(w: SampledSliderCrank, samples: int, right: np.ndarray) -> None:
    """Exudyn with one, four and sixteen steps for each sample."""
    try:
        sys.exudynFast = True  # type: ignore[attr-defined]
        with quiet():
            import exudyn as exu
    except ImportError:
        print("  Exudyn is not installed")
        return
    for steps in (1, 4, 16):
        angles, seconds = exudyn_angles(exu, w, samples, steps)
        error = float(np.abs(angles - right).max())
        row("Exudyn, planar", seconds, samples * PERIOD, error, f"trapezoidal rule, index 2, {steps} steps a sample")


def exudyn_angles(exu: Any, w: SampledSliderCrank, samples: int, steps: int) -> tuple[np.ndarray, float]:
    """The crank's angle at the samples and the solver's seconds.

    The winding is a coordinate, its charge, with mass L and damping R; an antisymmetric damping matrix couples its rate
    to the crank's. Only the controller is Python.
    """
    import exudyn.itemInterface as items

    container = exu.SystemContainer()
    mbs = container.AddSystem()
    rod, f1, _, x, x1, _, xc1, _, yc1, _ = w.places(w.angle)
    a, s, ratio = w.angle, w.speed, w.gear * w.constant

    def body(mass: float, inertia: float, place: list[float], rate: list[float]) -> tuple[int, int]:
        node = mbs.AddNode(items.NodeRigidBody2D(referenceCoordinates=place, initialVelocities=rate))
        number = mbs.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        whole = mbs.AddMarker(items.MarkerBodyMass(bodyNumber=number))
        mbs.AddLoad(items.LoadMassProportional(markerNumber=whole, loadVector=[0, -G, 0]))
        return node, number

    def place(number: int, along: float) -> int:
        return mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=number, localPosition=[along, 0, 0]))

    def coordinate(node: int, which: int) -> int:
        return mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=which))

    ground = place(mbs.AddObject(items.ObjectGround()), 0)
    crank_node, crank = body(
        w.m1, w.J1 + w.gear**2 * w.rotor, [w.s1 * cos(a), w.s1 * sin(a), a], [-w.s1 * sin(a) * s, w.s1 * cos(a) * s, s]
    )
    centre = [w.r * cos(a) + w.s2 * cos(rod), w.r * sin(a) + w.s2 * sin(rod), rod]
    _, bar = body(w.m2, w.J2, centre, [xc1 * s, yc1 * s, f1 * s])
    slider_node, slider = body(w.m3, 1e-3, [x, 0, 0], [x1 * s, 0, 0])
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[ground, place(crank, -w.s1)]))
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[place(crank, w.r - w.s1), place(bar, -w.s2)]))
    mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[place(bar, w.rod - w.s2), place(slider, 0)]))
    mbs.AddObject(items.ObjectJointPrismatic2D(markerNumbers=[ground, place(slider, 0)]))
    fixed = coordinate(mbs.AddNode(items.NodePointGround()), 0)
    drag = items.ObjectConnectorCoordinateSpringDamper(markerNumbers=[fixed, coordinate(slider_node, 0)], damping=w.c)
    mbs.AddObject(drag)
    charge = mbs.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0], initialCoordinates=[0.0], initialCoordinates_t=[0.0], numberOfODE2Coordinates=1
        )
    )
    mass, damping = np.zeros((4, 4)), np.zeros((4, 4))
    mass[0, 0], damping[0, 0], damping[3, 3] = w.inductance, w.resistance, w.friction * w.gear**2
    damping[0, 3], damping[3, 0] = ratio, -ratio
    motor = items.ObjectGenericODE2(
        nodeNumbers=[charge, crank_node], massMatrix=mass, stiffnessMatrix=np.zeros((4, 4)), dampingMatrix=damping
    )
    mbs.AddObject(motor)
    voltage = mbs.AddLoad(items.LoadCoordinate(markerNumber=coordinate(charge, 0), load=0.0))
    step, total = w.period / steps, 0.0

    def control(mbs: Any, t: float) -> bool:
        nonlocal total
        if (round(t / step) - 1) % steps == 0:
            error = w.target - mbs.GetNodeOutput(crank_node, exu.OutputVariableType.Coordinates_t)[2]
            total += w.period * error
            mbs.SetLoadParameter(voltage, "load", w.p * error + w.k * total)
        return True

    mbs.SetPreStepUserFunction(control)
    what = exu.OutputVariableType.Coordinates
    sensor = mbs.AddSensor(items.SensorNode(nodeNumber=crank_node, outputVariableType=what, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = w.period
    run = settings.timeIntegration
    run.endTime, run.numberOfSteps, run.verboseMode = samples * w.period, samples * steps, 0
    run.automaticStepSize = run.adaptiveStep = False
    run.newton.useModifiedNewton = True
    run.newton.relativeTolerance, run.newton.absoluteTolerance = 1e-8, 1e-10
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    run.solverType = kind = exu.DynamicSolverType.TrapezoidalIndex2
    clock = time.process_time()
    with quiet():
        mbs.SolveDynamic(settings, solverType=kind)
    seconds = time.process_time() - clock
    return np.array(mbs.GetSensorStoredData(sensor))[:, 3] + w.angle, seconds


def rectifier(switching: bool) -> ct.Model:
    """A source of 500 Hz that charges a capacitor through a diode that opens and closes, or through its resistance."""
    diode = {"kind": "ideal_diode", "on_resistance": 0.1, "off_resistance": 1e5}
    valve = diode if switching else {"kind": "resistor", "resistance": 0.1}
    parts = {
        "V": {"kind": "voltage_source", "nodes": ["a", "ground"], "voltage": "10*sin(2*pi*500*t)"},
        "D": {**valve, "nodes": ["a", "b"]},
        "C": {"kind": "capacitor", "nodes": ["b", "ground"], "capacitance": 1e-4},
        "R": {"kind": "resistor", "nodes": ["b", "ground"], "resistance": 20.0},
    }
    return ct.Model.from_mapping({"name": "rectifier", "components": parts})


def shaken(switching: bool) -> ct.Model:
    """A block on a rail, shaken at 250 Hz against dry friction, which sticks and slips, or against a damper."""
    rub = (
        {"kind": "translational.friction", "force": 4.0}
        if switching
        else {"kind": "translational.damper", "damping": 9}
    )
    parts = {
        "block": {"kind": "rigid_body", "mass": 2.0, "inertia": [0.1, 0.1, 0.1]},
        "rail": {"kind": "prismatic", "frame_a": "ground", "frame_b": "block", "axis": [1, 0, 0]},
        "shaker": {"kind": "joint_actuator", "on": "rail", "effort": "20*sin(2*pi*250*t)"},
        "mount": {"kind": "translational.axis", "nodes": ["b", "ground"], "on": "rail"},
        "rub": {**rub, "nodes": ["b", "ground"]},
    }
    return ct.Model.from_mapping({"name": "block", "components": parts})


def pulsed(w: SampledSliderCrank, voltage: str) -> ct.Model:
    """The slider-crank with a given voltage: its breaks in time are known beforehand."""
    return of("pulsed slider-crank", crank_parts(w) | crank_drive(w, voltage), planar=True)


def events() -> None:
    """Runs of one second with a thousand events and without; those without also by the method of the others."""
    print("a thousand events in a second, 101 outputs, rtol 1e-8")
    w = SampledSliderCrank(period=PERIOD)
    cases = {
        "rectifier of 500 Hz": (rectifier(True), rectifier(False)),
        "block shaken at 250 Hz": (shaken(True), shaken(False)),
        "slider-crank, 500 Hz pulses": (pulsed(w, "24*pulse(t, 0.0008, 0.002)"), pulsed(w, "9.6")),
        "slider-crank, 1 kHz controller": (sampled_slider_crank(w, PERIOD), slider_crank(w, planar=True)),
    }
    for name, (eventful, smooth) in cases.items():
        seconds, method, count = spent(eventful, "auto")
        print(f"  {name:<34}{1e3 * seconds:>8.1f} ms by {method}, {count} switches")
        for other in ("auto", method):
            plain, by, _ = spent(smooth, other)
            print(f"  {'  without events':<34}{1e3 * plain:>8.1f} ms by {by}: {seconds / plain:.1f} x")


def spent(model: ct.Model, method: str) -> tuple[float, str, int]:
    """Seconds of a run of one second with machine code, the method, and how often something switched."""

    def run() -> ct.Solution:
        return model.simulate(1.0, points=101, compiled=True, integrator=method)

    run()  # what is compiled is compiled here
    seconds, sol = best(run)
    return seconds, sol.statistics.integrator, sum(len(times) for times in sol.events.values())


def row(name: str, seconds: float, end: float, error: float, how: str) -> None:
    """One line of the table."""
    print(f"  {name:<26}{1e3 * seconds:>10.1f} ms{end / seconds:>10.1f} x real time   error {error:.1e} rad   {how}")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description="Machines against peers, and the cost of events.")
    parser.add_argument("--quick", action="store_true", help="1 s instead of 10 s")
    end = 1.0 if parser.parse_args().quick else 10.0
    print(versions())
    w, samples = SampledSliderCrank(period=PERIOD), round(end / PERIOD)
    right = w.sampled(samples)["angle"]
    print(f"motor on a slider-crank, {end:g} s, controller of {1 / PERIOD:g} Hz, error {ERROR:g} rad")
    cotree_run(w, right)
    scipy_run(w, samples, right)
    exudyn_run(w, samples, right)
    events()


if __name__ == "__main__":
    main()
