"""Modulated elements: by time, states, flows, efforts, sensors and Python functions, against SciPy."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cotree as ct
import cotree.bond as b
from bond._graphs import graph, last, oscillator, reference

MODULATED = {
    "MR by time": (b.MR("X", resistance="1 + t"), lambda t, v, q: (1 + t) * v),
    "MR by a state": (b.MR("X", resistance="1 + 0.3*m.momentum**2"), lambda t, v, q: (1 + 0.3 * 4 * v**2) * v),
    "MR by a flow": (b.MR("X", resistance="1 + abs(j.flow)"), lambda t, v, q: (1 + abs(v)) * v),
    "MR by an effort": (b.MR("X", resistance="1 + k.effort"), lambda t, v, q: (1 + 3 * q) * v),
    "MR conductance": (b.MR("X", conductance="1 + k.displacement"), lambda t, v, q: v / (1 + q)),
    "MR law": (b.MR("X", effort="f*(1 + k.displacement)"), lambda t, v, q: v * (1 + q)),
    "MR law of the effort": (b.MR("X", flow="e*(1 + t)"), lambda t, v, q: v / (1 + t)),
    "MR function": (b.MR("X", resistance=lambda s: 1 + s("k.displacement")), lambda t, v, q: v * (1 + q)),
    "MSe by time": (b.MSe("X", effort="sin(3*t)"), lambda t, v, q: np.sin(3 * t)),
    "MSe by a state": (b.MSe("X", effort="-2*k.displacement"), lambda t, v, q: -2 * q),
    "MSe by its own flow": (b.MSe("X", effort="0.4*X.flow"), lambda t, v, q: 0.4 * v),
    "MSe function": (b.MSe("X", effort=lambda s: 0.4 * s("m.momentum")), lambda t, v, q: 0.8 * v),
}


@pytest.mark.parametrize("name", MODULATED)
def test_modulated_one_ports(name):
    element, effort = MODULATED[name]
    model = oscillator(b.C("k", stiffness=3.0), element)
    wanted = reference(lambda t, y: [(2 - 3 * y[1] - effort(t, *y)) / 2, y[0]], [0, 0])
    assert last(model, "m.flow") == pytest.approx(wanted[0], rel=1e-8)
    assert last(model, "k.displacement") == pytest.approx(wanted[1], rel=1e-8)


MODULI = {
    "time": ("1 + 0.5*sin(t)", lambda t, v, q: 1 + 0.5 * np.sin(t)),
    "displacement": ("1 + k.displacement", lambda t, v, q: 1 + q),
    "momentum": ("1 + 0.1*m.momentum", lambda t, v, q: 1 + 0.2 * v),
    "flow": ("1 + 0.1*j.flow", lambda t, v, q: 1 + 0.1 * v),
    "effort": ("1 + 0.1*k.effort", lambda t, v, q: 1 + 0.3 * q),
    "sensor": ("1 + where.value", lambda t, v, q: 1 + q),
    "function": (lambda signal: 1 + signal("k.displacement"), lambda t, v, q: 1 + q),
}


@pytest.mark.parametrize("name", MODULI)
@pytest.mark.parametrize("letter", ["MTF", "MGY"])
@pytest.mark.parametrize("behind", ["R", "I", "C"])
def test_modulated_two_ports_in_front_of_every_element(name, letter, behind):
    """The element behind is a resistance of 0.8, an inertia of 1.5 or a stiffness of 2.5, seen through n(t, v, q)."""
    text, n = MODULI[name]
    element = {"R": b.R("Y", resistance=0.8), "I": b.I("Y", inertia=1.5), "C": b.C("Y", stiffness=2.5)}[behind]
    model = oscillator(b.C("k", stiffness=3.0), b.Sensor("where", of="j", measures="displacement"))
    for part in ({"MTF": b.MTF, "MGY": b.MGY}[letter]("T", modulus=text), element):
        model.add(part)
    model.connect("j", "T")
    model.connect("T", "Y")
    step = 1e-7

    def rates(t, y):
        v, q, z = y  # z: momentum or displacement behind
        N, drive = n(t, v, q), 2 - 3 * q

        def along(a):  # dn/dt for an acceleration a
            return (n(t + step, v + step * a, q + step * v) - n(t - step, v - step * a, q - step * v)) / (2 * step)

        if letter == "MTF":
            if behind == "R":
                return [(drive - N * 0.8 * N * v) / 2, v, 0]
            if behind == "C":
                return [(drive - N * 2.5 * z) / 2, v, N * v]

            # an I behind: 2 a + N 1.5 (n v)' = drive, linear in a
            def rest(a):
                return 2 * a + N * 1.5 * (along(a) * v + N * a) - drive

            r0, r1 = rest(0.0), rest(1.0)
            return [-r0 / (r1 - r0), v, 0]
        if behind == "R":
            return [(drive - N * (N * v / 0.8)) / 2, v, 0]
        if behind == "I":
            return [(drive - N * z / 1.5) / 2, v, N * v]

        # a C behind: its effort is N v, its flow (N v)'/2.5
        def rest(a):
            return 2 * a + N * (along(a) * v + N * a) / 2.5 - drive

        r0, r1 = rest(0.0), rest(1.0)
        return [-r0 / (r1 - r0), v, 0]

    wanted = solve_ivp(rates, (0, 1), [0, 0, 0], rtol=1e-9, atol=1e-10).y[:2, -1]
    s = model.simulate(1.0, rtol=1e-10)
    assert [s["m.flow"][-1], s["k.displacement"][-1]] == pytest.approx(wanted, rel=1e-6)
    assert s.energy().error < 1e-8


def test_a_modulus_with_a_matrix_function_of_signals():
    """Turning axes: a mass in the plane with a damper in axes that turn with time."""
    text = [["cos(t)", "sin(t)"], ["-sin(t)", "cos(t)"]]

    def turn(signal):
        q = signal("clock.value")
        return [[ca.cos(q), ca.sin(q)], [-ca.sin(q), ca.cos(q)]]

    def rates(t, v):
        T = np.array([[np.cos(t), np.sin(t)], [-np.sin(t), np.cos(t)]])
        return np.array([1.0, 0.0]) - T.T @ np.diag([1.0, 3.0]) @ T @ v

    wanted = reference(rates, [0, 0], 2.0)
    for modulus in (text, turn):
        model = graph(
            b.Se("F", effort=[1.0, 0.0]), b.Junction1("j"), b.I("m", inertia=1.0), b.MTF("T", modulus=modulus),
            b.R("d", resistance=[1.0, 3.0]), b.Integrator("clock", input="1", initial=0), "F -> j -> m", "j -> T -> d",
        )  # fmt: skip
        s = model.simulate(2.0, rtol=1e-10)
        assert [s["m.flow.c1"][-1], s["m.flow.c2"][-1]] == pytest.approx(wanted, rel=1e-8)


def gear(n):
    """Inertias of 1 and 2 with a gear n between them; the second one is named first, so that it has the state."""
    return graph(
        b.I("J2", inertia=2.0), b.Se("S", effort=1.0), b.Junction1("w"), b.I("J1", inertia=1.0), b.TF("g", modulus="n"),
        "S -> w -> J1", "w -> g -> J2", parameters={"n": n},
    )  # fmt: skip


def test_a_ratio_that_a_run_makes_zero():
    model = gear(1.0)
    for n in (1.0, -2.0, 1e-3):
        found = model.simulate(1.0, points=3, parameters={"n": n}, rtol=1e-10)
        assert found["J1.flow"][-1] == pytest.approx(1 / (1 + 2 * n**2), rel=1e-7)
    with pytest.raises(
        ct.FormulationError, match=r"'g' was found by a factor that is zero now.* new value of n"
    ) as told:
        model.simulate(1.0, parameters={"n": 0.0})
    assert "Set n in the model itself" in str(told.value)
    assert gear(0.0).simulate(1.0, points=3)["J1.flow"][-1] == pytest.approx(1.0, rel=1e-7)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_an_inertia_that_a_run_makes_zero_or_negative(value):
    model = graph(
        b.Se("S", effort=1.0), b.Junction1("j"), b.I("m", inertia="k"), b.R("r", resistance=1.0),
        "S -> j -> m", "j -> r", parameters={"k": 1.0},
    )  # fmt: skip
    found = model.simulate(1.0, points=3, parameters={"k": 3.0}, rtol=1e-10)
    assert found["m.flow"][-1] == pytest.approx(1 - np.exp(-1 / 3), rel=1e-7)
    with pytest.raises(ct.FormulationError, match="'m' is zero, negative or not finite now, with the new value of k"):
        model.simulate(1.0, parameters={"k": value})
