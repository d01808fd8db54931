"""Friction and stops: levels and signs, dissipation, and a smooth start."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import cotree as ct
from cotree.errors import ModelError
from cotree.terminal.bodies import RigidBody
from cotree.terminal.friction import BumpStop, JointFriction
from cotree.terminal.joints import Prismatic, Revolute
from terminal.motions import fields, number, run

HERE = SimpleNamespace()


def friction(rate: float, **data: float) -> float:
    part = JointFriction("f", "O", **data)  # type: ignore[arg-type]
    part.check(part.values({}))
    return number(part.force(fields(part), ca.SX(0.3), ca.SX(rate), HERE))


class TestFriction:
    def test_level_is_reached_and_acts_against_the_motion(self) -> None:
        assert friction(1.0, level=5.0) == pytest.approx(-5.0, rel=1e-12)
        assert friction(-1.0, level=5.0) == pytest.approx(5.0, rel=1e-12)
        assert friction(0.0, level=5.0) == 0.0
        assert friction(2.0, level=5.0, viscous=0.5) == pytest.approx(-6.0, rel=1e-12)

    def test_fades_below_the_regularising_speed(self) -> None:
        assert friction(1e-4, level=5.0, speed=1e-2) == pytest.approx(-0.05, rel=1e-4)

    def test_stribeck(self) -> None:
        """Static level between the two speeds, sliding level far above both."""
        data = {"level": 2.0, "static": 1.5, "stribeck": 0.5, "speed": 1e-4}
        assert friction(0.01, **data) == pytest.approx(-3.0, rel=1e-3)
        assert friction(0.5, **data) == pytest.approx(-2.0 * (1 + 0.5 / np.e), rel=1e-12)
        assert friction(5.0, **data) == pytest.approx(-2.0, rel=1e-12)

    @pytest.mark.parametrize("seed", range(3))
    def test_only_dissipates(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        for rate in rng.normal(size=5) * 10.0 ** rng.uniform(-4, 1, 5):
            assert rate * friction(rate, level=2.0, static=1.5, stribeck=0.5, speed=1e-3, viscous=0.1) < 0

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ({"level": 1.0, "static": 0.9}, "1 or more"),
            ({"level": 1.0, "static": 1.2}, "stribeck"),
            ({"level": 1.0, "static": 1.2, "stribeck": 1e-4}, "regularising speed"),
            ({"level": -1.0}, "the value is -1"),
            ({"level": 1.0, "speed": 0.0}, "the value is 0"),
            ({}, "no value is given"),
        ],
    )
    def test_refuses(self, data: dict[str, float], message: str) -> None:
        with pytest.raises(ModelError, match=message):
            friction(1.0, **data)


class TestBumpStop:
    DATA: dict[str, Any] = {"lower": -0.2, "upper": 0.5, "stiffness": 1e3, "power": 1.5, "damping": 0.4}  # noqa: RUF012

    @classmethod
    def functions(cls, **data: Any) -> ca.Function:
        """Force, its slopes, and the energy, of (x, rate)."""
        part = BumpStop("s", "P", **{**cls.DATA, **data})
        part.check(part.values({}))
        x, rate = ca.SX.sym("x"), ca.SX.sym("rate")
        v = fields(part)
        force, energy = part.force(v, x, rate, HERE), part.potential(v, x)
        slope = ca.jacobian(force, x)
        return ca.Function("f", [x, rate], [force, slope, ca.jacobian(slope, x), energy, ca.jacobian(energy, x)])

    def test_in_numbers(self) -> None:
        f = self.functions()
        assert float(f(0.54, 2.0)[0]) == pytest.approx(-1e3 * 0.04**1.5 * 1.8)
        assert float(f(-0.24, 2.0)[0]) == pytest.approx(1e3 * 0.04**1.5 * (1 - 0.8))
        for x in (-0.19, 0.0, 0.49):
            assert abs(float(f(x, 2.0)[0])) < 1e-30

    @pytest.mark.parametrize("power", [1.2, 1.5, 2.0, 3.0])
    @pytest.mark.parametrize("x", [-0.6, -0.2, 0.1, 0.5, 0.8])
    def test_energy_and_finite_derivatives(self, x: float, power: float) -> None:
        f = self.functions(power=power)
        force, slope, bend, energy, energy_slope = (float(each) for each in f(x, 0.0))
        assert np.isfinite([force, slope, bend]).all()
        assert energy_slope == pytest.approx(-force, rel=1e-12, abs=1e-12)
        assert energy == pytest.approx(quad(lambda s: -float(f(s, 0.0)[0]), 0.1, x, points=[-0.2, 0.5])[0], rel=1e-6)

    @pytest.mark.parametrize("end", [-0.2, 0.5])
    def test_starts_without_a_kink(self, end: float) -> None:
        f = self.functions()
        for near in (-1e-9, 0.0, 1e-9):
            force, slope = (float(each) for each in f(end + near, 3.0)[:2])
            assert abs(force) < 1e-9
            assert abs(slope) < 1e3 * 1.5 * 2.2 * 1e-9**0.5 * 1.01

    def test_damping_dissipates(self) -> None:
        f = self.functions()
        for x, rate in ((0.6, 1.0), (0.6, -1.0), (-0.3, 2.0), (-0.3, -2.0)):
            lost = -rate * (float(f(x, rate)[0]) - float(f(x, 0.0)[0]))
            assert lost > 0

    def test_one_side_alone(self) -> None:
        f = self.functions(lower=None)
        assert abs(float(f(-9.0, 0.0)[0])) < 1e-30
        assert float(f(0.6, 0.0)[0]) < 0

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ({"lower": None, "upper": None}, "neither stop"),
            ({"lower": 0.5}, "lower < upper"),
            ({"power": 1.0}, "more than 1"),
            ({"stiffness": 0.0}, "the value is 0"),
            ({"damping": -1.0}, "the value is -1"),
        ],
    )
    def test_refuses(self, data: dict[str, Any], message: str) -> None:
        with pytest.raises(ModelError, match=message):
            self.functions(**data)


def block(**start: float) -> ct.Model:
    """A mass of 2 kg on a straight guide, without gravity."""
    model = ct.Model("block", gravity=(0, 0, 0))
    model.add(RigidBody("b", mass=2.0, inertia=(1, 1, 1)))
    model.add(Prismatic("P", model.ground, "b", axis=(1, 0, 0), **start))  # type: ignore[arg-type]
    return model


class TestMotion:
    def test_sliding_block_slows_down_evenly(self) -> None:
        """a = -F/m while it slides; the loss is F times the way."""
        model, times = block(displacement_rate=3.0), np.linspace(0, 1, 5)
        model.add(JointFriction("f", "P", level=5.0))
        solution = run(model, times)
        way = 3 * times - 2.5 / 2 * times**2
        np.testing.assert_allclose(solution["P.displacement"], way, atol=1e-9)
        np.testing.assert_allclose(solution["f.force"], -5.0, rtol=1e-12)
        np.testing.assert_allclose(9.0 - solution["kinetic_energy"], 5 * way, atol=1e-8)
        assert solution.energy().error < 1e-8

    def test_pendulum_loses_what_friction_takes(self) -> None:
        model, times = ct.Model("pendulum"), np.linspace(0, 3, 13)
        model.add(RigidBody("b", mass=1.0, inertia=(0.1, 0.1, 0.1), centre=(1, 0, 0)))
        model.add(Revolute("O", model.ground, "b", axis=(0, 1, 0), angle=0.3))
        model.add(JointFriction("f", "O", level=0.5, viscous=0.1, speed=0.05))
        solution = run(model, times, rtol=1e-9)
        total = solution["kinetic_energy"] + solution["potential_energy"]
        assert (np.diff(total) < 0).all()
        np.testing.assert_allclose(solution.energy().dissipated, total[0] - total, atol=1e-7)

        def rates(t: float, y: Any) -> list[float]:
            friction = -0.5 * np.tanh(y[1] / 0.05) - 0.1 * y[1]
            return [y[1], (9.81 * np.cos(y[0]) + friction) / 1.1]

        expected = solve_ivp(rates, (0, 3), [0.3, 0], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853").y[0]
        np.testing.assert_allclose(solution["O.angle"], expected, atol=1e-7)

    def test_stop_gives_all_the_speed_back(self) -> None:
        """Without damping the block leaves as fast as it came; its deepest place follows from the energy."""
        model, times = block(displacement_rate=2.0), np.linspace(0, 1, 401)
        model.add(BumpStop("s", "P", upper=0.5, stiffness=4e4, power=1.5))
        solution = run(model, times)
        assert solution["P.displacement_rate"][-1] == pytest.approx(-2.0, rel=1e-7)
        deepest = (0.5 * 2 * 2**2 * 2.5 / 4e4) ** (1 / 2.5)
        assert solution["P.displacement"].max() - 0.5 == pytest.approx(deepest, rel=2e-3)

    def test_damped_stop_gives_back_less(self) -> None:
        """For F = k s^n (1 + d s') the rebound follows from both speeds alone, whatever k and n."""
        model, times = block(displacement_rate=-2.0), np.linspace(0, 1, 11)
        model.add(BumpStop("s", "P", lower=-0.5, stiffness=4e4, damping=0.3))
        solution = run(model, times)
        after, d, before = solution["P.displacement_rate"][-1], 0.3, 2.0
        # s'' = -(k/m) s^n (1 + d s'), so s' ds'/(1 + d s') = -(k/m) s^n ds: both ways cover the same s
        covered = lambda u: u / d - np.log(1 + d * u) / d**2  # noqa: E731
        assert covered(before) == pytest.approx(covered(-after), rel=1e-7)
        assert 0 < after < before
        assert solution.energy().error < 1e-7
