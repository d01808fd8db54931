"""Sources that sleep for most of a run, systems that grow from nothing, and graphs without a chord."""

import numpy as np
import pytest
from scipy.integrate import quad

import cotree
from _samples import samples
from cotree import Capacitor, CurrentSource, OperationalAmplifier, Resistor, VoltageSource
from cotree.errors import CotreeError, SolveError
from cotree.model import KINDS
from cotree.terminal.scalar import OnePort

x = cotree.translational


def oscillator(force):
    """m = 1, k = 4, b = 1."""
    m = cotree.Model("oscillator")
    m.add(x.ForceSource("F", ("ground", "a"), force=force))
    m.add(x.Mass("m", ("a", "ground"), mass=1.0))
    m.add(x.Spring("k", ("a", "ground"), stiffness=4.0))
    m.add(x.Damper("d", ("a", "ground"), damping=1.0))
    return m


def answer(t, force, around):
    """Displacement by the convolution of the force with the impulse response."""
    w = np.sqrt(4 - 0.25)
    lower, upper = max(0.0, around[0]), min(t, around[1])
    if upper <= lower:
        return 0.0
    return quad(
        lambda s: np.exp(-(t - s) / 2) * np.sin(w * (t - s)) / w * force(s), lower, upper, epsabs=1e-14, limit=200
    )[0]


@pytest.mark.parametrize("width", [1.0, 0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("options", [{}, {"atol": 1e-12}, {"points": 11}])
def test_a_bump_in_the_middle_of_a_run_is_seen(width, options):
    solution = oscillator(f"exp(-((t - 5)/{width})**2)").simulate(10.0, **options)
    window = (5 - 12 * width, 5 + 12 * width)
    exact = [answer(t, lambda s: np.exp(-(((s - 5) / width) ** 2)), window) for t in solution.t[:: len(solution) // 10]]
    found = solution["a.displacement"][:: len(solution) // 10]
    assert np.abs(found - exact).max() < 1e-6 * max(np.abs(exact))


@pytest.mark.parametrize(
    ("voltage", "exact"),
    [
        # tau = 0.1: after the flank, 1 - exp(-s/tau) of the plateau; the times of the flanks are known to 1e-6 s
        ("tanh(1e6*(t - 50.0003))/2 + 1/2", lambda t: 1 - np.exp(-(t - 50.0003) / 0.1)),
        # a ramp r(t) = t gives t - tau (1 - exp(-t/tau))
        (
            "ramp(t - 50) - ramp(t - 50.05)",
            lambda t: 0.05 + 0.1 * (np.exp(-(t - 50) / 0.1) - np.exp(-(t - 50.05) / 0.1)),
        ),
    ],
)
def test_a_flank_late_in_a_long_run_is_seen(voltage, exact):
    m = cotree.Model("RC")
    m.add(VoltageSource("V", ("a", "ground"), voltage=voltage))
    m.add(Resistor("R", ("a", "b"), resistance=1.0))
    m.add(Capacitor("C", ("b", "ground"), capacitance=0.1))
    times = [40.0, 50.1, 50.2, 50.4, 51.0, 100.0]
    solution = m.simulate(100.0, times=times)
    assert abs(solution["C.voltage"][0]) < 1e-9
    np.testing.assert_allclose(
        solution["C.voltage"][1:], [exact(t) for t in times[1:]], atol=2e-5 if "tanh" in voltage else 1e-8
    )


@pytest.mark.slow
def test_a_pulse_shorter_than_the_samples_is_found_with_and_without_max_step():
    m = oscillator("exp(-((t - 5.0002)/2e-5)**2)")
    area, w = 2e-5 * np.sqrt(np.pi), np.sqrt(4 - 0.25)
    right = area * np.exp(-0.4999) * np.sin(0.9998 * w) / w
    for options in ({}, {"max_step": 1e-5, "max_steps": 1_000_000, "atol": 1e-12, "rtol": 1e-7}):
        found = m.simulate(10.0, times=[6.0], **options)["a.displacement"][0]
        assert found == pytest.approx(right, rel=1e-4 if options else 1e-2)
    with pytest.raises(SolveError, match="max_step"):
        m.simulate(10.0, max_step=-1.0)


def unstable():
    """A negative resistance: the voltage grows as 1e-4 (exp(1e4 t) - 1)."""
    m = cotree.Model("unstable")
    m.add(Capacitor("C", ("p", "ground"), capacitance=1e-3))
    m.add(Resistor("R2", ("p", "o"), resistance=0.1))
    m.add(Resistor("R3", ("n", "ground"), resistance=1.0))
    m.add(Resistor("R4", ("n", "o"), resistance=1.0))
    m.add(OperationalAmplifier("U", ("p", "n"), ("o", "ground")))
    m.add(CurrentSource("I", ("ground", "p"), current=1e-3))
    return m


def test_growth_over_forty_decades_is_followed():
    solution = unstable().simulate(0.01, rtol=1e-9)
    exact = 1e-4 * np.expm1(1e4 * solution.t)
    np.testing.assert_allclose(solution["C.voltage"][1:], exact[1:], rtol=1e-4)  # 100 time constants amplify 1e-9


def test_growth_beyond_all_numbers_ends_in_an_error():
    with pytest.raises(SolveError) as caught:
        unstable().simulate(1.0)
    assert np.isfinite(caught.value.solution["C.voltage"]).all()


SAMPLES = {each.kind: each for each in reversed(samples())}
ALONE = sorted(kind for kind, cls in KINDS.items() if issubclass(cls, OnePort))


@pytest.mark.parametrize("kind", ALONE)
def test_a_component_alone_gives_a_solution_or_a_cotree_error(kind):
    cls = KINDS[kind]
    m = cotree.Model("alone")
    made = SAMPLES.get(kind)
    if made is None:
        fields = {f: 0.5 for f in cls.data_fields() if f not in ("nodes", "initial")}
    else:
        fields = {key: value for key, value in made.to_data().items() if key not in ("kind", "nodes", "initial")}
        m.parameter("k", 0.3)
    m.add(cls.from_data("X", {"nodes": ["a", "ground"], **fields}))
    try:
        solution = m.simulate(1.0, points=3)
    except CotreeError as error:
        assert "X" in str(error)  # noqa: PT017
    else:
        assert solution.complete


def test_a_source_that_drives_nothing():
    """Two transformers that allow no voltage at all: every power is zero by structure."""
    m = cotree.Model("nothing")
    m.add(CurrentSource("I", ("ground", "n1"), current="cos(2*t)"))
    m.add(Resistor("R0", ("n1", "ground"), resistance=0.7))
    m.add(Resistor("R1", ("n2", "ground"), resistance=0.7))
    m.add(cotree.Transformer("T0", ("n1", "ground"), ("ground", "n2"), ratio=-2.0))
    m.add(cotree.Transformer("T1", ("n1", "ground"), ("n1", "n2"), ratio=-2.0))
    solution = m.simulate(1.0, points=5)
    assert np.abs(solution["n1.voltage"]).max() == 0.0
    np.testing.assert_allclose(solution["T0.primary.power"] + solution["T0.secondary.power"], 0.0, atol=1e-15)


def test_a_free_mass_keeps_its_speed():
    m = cotree.Model("free")
    m.add(x.Mass("m", ("a", "ground"), mass=2.0, initial=3.0))
    solution = m.simulate(2.0, points=5)
    np.testing.assert_allclose(solution["a.displacement"], 3.0 * solution.t, atol=1e-9)
    assert solution.energy().error < 1e-12
