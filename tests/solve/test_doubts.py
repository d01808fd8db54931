"""What a run of a mechanism says when something is not right."""

import numpy as np
import pytest

import cotree as ct
from benchmarks.rigid_models import n_four_bars


def skew_loop() -> ct.Model:
    """A planar four-bar whose last pin can be lifted out of the plane by a parameter."""
    m = ct.Model("loop", gravity=(0, -9.81, 0), parameters={"lift": 0.0})
    bars = {}
    for name, length in (("crank", 0.3), ("coupler", 0.9), ("follower", 0.75)):
        frames = {"a": (-length / 2, 0, 0), "b": (length / 2, 0, 0)}
        bars[name] = m.add(ct.RigidBody(name, ct.rod(length=length, mass=1.0, radius=0.01), frames=frames))
    m.add(ct.Revolute("O", m.ground, bars["crank"]["a"], angle=0.3))
    m.add(ct.Revolute("A", bars["crank"]["b"], bars["coupler"]["a"], angle=0.5))
    m.add(ct.Revolute("B", bars["coupler"]["b"], bars["follower"]["a"], angle=-2.4))
    m.add(ct.Revolute("C", bars["follower"]["b"], m.ground.at(0.9, 0, "lift")))
    return m


def test_an_equation_that_was_left_out_must_still_hold() -> None:
    m = skew_loop()
    assert m.simulate(0.1, points=3).complete
    with pytest.raises(ct.SolveError) as caught:
        m.simulate(0.1, points=3, parameters={"lift": 0.01})
    assert "C" in str(caught.value)


def test_a_broken_energy_balance_is_noted() -> None:
    """A step far too long for the motion: the audit tells."""
    m = n_four_bars(2)
    coarse = m.simulate(2.0, integrator="rk4", step=0.2, points=11, atol=1e-6)
    assert coarse.energy().error > 1e-3
    assert "energy-open" in [each.code for each in coarse.diagnostics]
    fine = m.simulate(2.0, points=11)
    assert not any(each.grave for each in fine.diagnostics)


def test_results_are_kept_up_to_a_lost_value() -> None:
    m = ct.Model("arm")
    arm = m.add(ct.RigidBody("arm", ct.rod(length=1.0, mass=1.0), frames={"a": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, arm["a"], axis=(0, 1, 0)))
    m.add(ct.JointActuator("push", on="O", effort="sqrt(1 - O.angle)"))
    with pytest.raises(ct.SolveError, match=r"push\.torque has no finite value at t = 0\.34") as caught:
        m.simulate(2.0, max_steps=5_000)
    kept = caught.value.solution
    assert not kept.complete
    assert 0.3 < kept.t[-1] < 0.35
    assert np.isfinite(kept["O.angle"]).all()
