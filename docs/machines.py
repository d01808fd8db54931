"""Numbers of machines for the validation page: largest errors against solutions without Cotree."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import cotree as ct

TESTS = Path(__file__).resolve().parents[1] / "tests"
Row = tuple[str, str, float, str, str]


def table() -> Iterator[str]:
    """The rows of the table; errors are rounded up to a power of ten."""
    sys.path.insert(0, str(TESTS))
    yield "| case | quantity | error | asked | source |"
    yield "|---|---|---|---|---|"
    for case, quantity, error, asked, source in (*by_hand(), *chain(), *clutch(), *feedback()):
        power = int(np.ceil(np.log10(max(error, 1e-12))))
        yield f"| {case} | {quantity} | below 1e{power:d} | {asked} | {source} |"


def off(sol: ct.Solution, right: Mapping[str, NDArray[np.float64]]) -> float:
    """The largest error of all results, each over its largest size."""
    return max(float(np.abs(sol[name] - values).max() / np.abs(values).max()) for name, values in right.items())


def by_hand() -> Iterator[Row]:
    """Four machines against equations written by hand."""
    from machines import models
    from machines.witness import Arm, Cart, Lift, SliderCrank

    source = "equations by hand, SciPy"
    with TemporaryDirectory() as folder:
        crank, cart, arm, lift = SliderCrank(), Cart().held_up(), Arm(), Lift()
        cases = (
            ("motor on a slider-crank, PI speed control", models.slider_crank(crank), crank, 1.5,
             {"O.angle": "angle", "O.angle_rate": "speed", "motor.electrical.current": "current"}),
            ("pendulum on a cart, motor, state feedback", models.cart(cart), cart, 2.0,
             {"slide.displacement": "x", "hinge.angle": "angle", "motor.electrical.current": "current"}),
            ("two links, the second motor on the first", models.arm(arm), arm, 0.8,
             {"shoulder.angle": "A", "elbow.angle": "B", "M1.electrical.current": "i1", "M2.electrical.current": "i2"}),
            ("hydraulic cylinder lifts an arm", models.lift(lift, Path(folder)), lift, 1.8,
             {"hinge.angle": "angle", "a.pressure": "p1", "b.pressure": "p2"}),
        )  # fmt: skip
        for name, model, witness, end, names in cases:
            times = np.linspace(0, end, 21)
            right = witness.run(times)
            sol = model.simulate(end, times=times, rtol=1e-10)
            what = ", ".join(names).replace("electrical.", "")
            yield name, what, off(sol, {key: right[value] for key, value in names.items()}), "1e-7", source
            yield name, "energy of every domain", max(each.error for each in sol.domains.values()), "1e-8", "balance"


def chain() -> Iterator[Row]:
    """Voltage, winding, shaft with torsion, gear and load."""
    from machines import test_chain as case

    states = case.exact()
    for where, load in (("as a network", case.LOAD), ("load on a joint", case.MOUNTED)):
        sol = case.chain(load, True).simulate(case.TIMES[-1], times=case.TIMES, rtol=1e-11)
        names = ("motor.electrical.current", "m.angular_velocity", "g.angular_velocity")
        error = off(sol, dict(zip(names, states[[0, 1, 3]], strict=True)))
        yield f"mechatronic chain, {where}", "current and speeds", error, "1e-8", "matrix exponential"


def clutch() -> Iterator[Row]:
    """An engine drives a drum through a clutch."""
    from machines import test_clutch as case

    sol = case.machine(True).simulate(case.END, points=37, rtol=1e-10)
    right = np.array([case.closed_form(t) for t in sol.t]).T
    speeds = dict(zip(("e.angular_velocity", "d.angular_velocity"), right, strict=False))
    yield "clutch on a joint", "speeds: slips, locks, slips", off(sol, speeds), "1e-8", "closed form"
    locks = abs(sol.events["clutch.sticks"][0] - case.LOCKED)
    yield "clutch on a joint", "time of locking (s)", float(locks), "1e-9", "closed form"


def feedback() -> Iterator[Row]:
    """Poles of the pendulum with its motor and feedback."""
    from machines import models
    from machines import test_feedback as case
    from machines.witness import POLES, Cart

    found = models.cart(Cart().held_up(), block=True).linearise(at=case.UPRIGHT).poles()
    yield "pendulum with feedback", "poles", case.nearest(found, np.array(POLES)), "1e-8", "designed"
