"""Varying mass: momentum that leaves with the flow, against conservation laws and particles."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import cotree as ct
from cotree.errors import CotreeError, ModelError
from cotree.terminal.bodies import RigidBody
from cotree.terminal.joints import Revolute
from cotree.terminal.mechanics import BodyMotion
from cotree.terminal.shapes import rod
from cotree.terminal.varying import VaryingMass, VaryingPoint
from terminal.motions import T, fields, numbers, run

SEEDS = pytest.mark.parametrize("seed", range(3))


class Law:
    """The law of a body as functions of (t, v, w): mass matrix, the rest, powers."""

    def __init__(self, body: Any, gravity: Any = (0.0, 0.0, 0.0)) -> None:
        v, w, v_dot, w_dot = (ca.SX.sym(name, 3) for name in ("v", "w", "v_dot", "w_dot"))
        values = fields(body)
        motion = BodyMotion(v, w, v_dot, w_dot, ca.SX(ca.DM(gravity)))
        law = body.inertia_law(values, motion)
        balance, rates = ca.vertcat(law.force, law.moment), ca.vertcat(v_dot, w_dot)
        rest = ca.substitute(balance, rates, 0)
        kinetic_rate = ca.jtimes(law.kinetic, ca.vertcat(T, v, w), ca.vertcat(1, v_dot, w_dot))
        inputs = [T, ca.vertcat(v, w)]
        self.matrix = ca.Function("M", inputs, [ca.jacobian(balance, rates)])
        self.rest = ca.Function("h", inputs, [rest])
        self.kinetic_rate = ca.Function("k", [*inputs, rates], [kinetic_rate])
        self.flux_power = ca.Function("f", inputs, [body.flux_power(values, motion)])
        m_rate, first = body.flux(values)
        self.flux = ca.Function("flux", [T], [m_rate, first])

    def rates(self, t: float, twist: Any, applied: Any = 0.0) -> np.ndarray:
        """v' and w' under a force and moment."""
        return np.linalg.solve(np.array(self.matrix(t, twist)), applied - np.array(self.rest(t, twist)).ravel())


def rocket(**more: Any) -> VaryingMass:
    """A body that burns: everything changes with time, nothing is aligned with anything."""
    data: dict[str, Any] = {
        "mass": "5 - 0.8*t",
        "inertia": ("2 - 0.2*t", "1.8 - 0.1*t", "1.1 - 0.1*t", 0.05, "0.02*t", 0.0),
        "centre": ("0.3 + 0.1*t", -0.1, "0.05*t**2"),
        "outlet": (-1.0, 0.2, 0.1),
        "exhaust": (-30.0, 2.0, "5*t"),
    }
    return VaryingMass("R", **(data | more))


def test_tsiolkovsky() -> None:
    """Without forces the speed grows by exhaust * log(m0/m)."""
    for body in (
        VaryingPoint("R", mass="10*exp(-t/3) + 2", exhaust=(-2000.0, 0, 0)),
        VaryingMass("R", mass="10*exp(-t/3) + 2", inertia=(1, 1, 1), outlet=(0, 0, 0), exhaust=(-2000.0, 0, 0)),
    ):
        law = Law(body)

        def v_dot(t: float, _: Any, law: Law = law) -> list[float]:
            matrix, rest = np.array(law.matrix(t, np.zeros(6))), np.array(law.rest(t, np.zeros(6)))
            return [-rest[0, 0] / matrix[0, 0]]

        end = solve_ivp(v_dot, (0, 4), [0.0], rtol=1e-11, atol=1e-9).y[0, -1]
        assert end == pytest.approx(2000 * np.log(12 / (10 * np.exp(-4 / 3) + 2)), rel=1e-9)


def test_falling_chain_that_grows() -> None:
    """A drop that takes up mass at rest, m = k t from a small start: (m v)' = m g, so v = g t/2 for m0 = 0."""
    body = VaryingPoint("D", mass="2*t", exhaust=(0, 0, "-v_z"))
    v_z = ca.SX.sym("v_z")
    values = fields(body, {"v_z": v_z})
    v_dot = ca.SX.sym("v_dot", 3)
    motion = BodyMotion(ca.vertcat(0, 0, v_z), ca.SX.zeros(3), v_dot, ca.SX.zeros(3), ca.SX([0, 0, -9.81]))
    force = body.inertia_law(values, motion).force[2]
    rate = ca.Function("a", [T, v_z], [-ca.substitute(force, v_dot[2], 0) / ca.jacobian(force, v_dot[2])])
    for t in (0.5, 2.0):
        assert float(rate(t, -9.81 * t / 2)) == pytest.approx(-9.81 / 2, rel=1e-13)


def test_constant_mass_is_a_rigid_body() -> None:
    data: dict[str, Any] = {"mass": 3.0, "inertia": (0.4, 0.5, 0.6, 0.01, 0.02, 0.03), "centre": (0.1, 0.2, 0.3)}
    varying, rigid = VaryingMass("B", **data, exhaust=(9, 9, 9), outlet=(1, 1, 1)), RigidBody("B", **data)
    motion = BodyMotion(*(ca.SX(each) for each in np.random.default_rng(1).normal(size=(5, 3))))
    first, second = (body.inertia_law(fields(body), motion) for body in (varying, rigid))
    for name in ("force", "moment", "kinetic"):
        np.testing.assert_allclose(
            numbers(getattr(first, name)), numbers(getattr(second, name)), rtol=1e-12, atol=1e-12
        )


@SEEDS
def test_a_particle_that_moves_inside(seed: int) -> None:
    """No mass leaves: a particle runs out along a spoke. Its Coriolis and relative acceleration must be there."""
    rng = np.random.default_rng(seed)
    spoke, v, w, v_dot, w_dot = rng.normal(size=(5, 3))
    m0, mu, t = 2.0, 0.5, 0.7
    # place s(t) = spoke * (0.2 + t^2); the other mass is a ball about the origin
    place = f"(0.2 + t**2)*{mu / (m0 + mu)}"
    steiner = mu - mu**2 / (m0 + mu)
    gyration = 0.3 * np.eye(3)

    def entry(i: int, k: int) -> str:
        along = (spoke @ spoke) * (i == k) - spoke[i] * spoke[k]
        return f"{float(gyration[i, k])!r} + {float(steiner * along)!r}*(0.2 + t**2)**2"

    body = VaryingMass(
        "B",
        mass=m0 + mu,
        centre=tuple(f"{place}*({x!r})" for x in spoke.tolist()),
        inertia=tuple(entry(*pair) for pair in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))),
        outlet=(0, 0, 0),
    )
    motion = BodyMotion(*(ca.SX(each) for each in (v, w, v_dot, w_dot)), ca.SX.zeros(3))
    law = body.inertia_law(fields(body), motion)
    force, moment = ca.Function("f", [T], [law.force, law.moment])(t)
    r, r_rate, r_bend = spoke * (0.2 + t**2), spoke * 2 * t, spoke * 2
    origin = v_dot + np.cross(w, v)
    moving = origin + np.cross(w_dot, r) + np.cross(w, np.cross(w, r)) + 2 * np.cross(w, r_rate) + r_bend
    np.testing.assert_allclose(np.array(force).ravel(), m0 * origin + mu * moving, rtol=1e-12, atol=1e-12)
    ball = gyration @ w_dot + np.cross(w, gyration @ w)
    np.testing.assert_allclose(np.array(moment).ravel(), ball + np.cross(r, mu * moving), rtol=1e-11, atol=1e-11)


def test_momentum_of_body_and_exhaust_together_is_kept() -> None:
    """No force acts: what the body loses is what has left, in space and about a fixed point."""
    body = rocket()
    law = Law(body)
    values = fields(body)
    centre, outlet = ca.vertcat(*values.centre), ca.vertcat(*values.outlet)
    data = ca.Function("d", [T], [values.mass, centre, outlet, ca.vertcat(*values.exhaust), values.inertia])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        R, p, twist = y[:9].reshape(3, 3), y[9:12], y[12:18]
        v, w = twist[:3], twist[3:]
        _, _, o, exhaust, _ = (np.array(each) for each in data(t))
        m_rate = float(law.flux(t)[0])
        leaving = R @ (v + np.cross(w, o.ravel()) + exhaust.ravel())
        place = p + R @ o.ravel()
        spin = R @ np.cross(np.eye(3), w)
        gone = -m_rate * leaving
        return np.concatenate([spin.ravel(), R @ v, law.rates(t, twist), gone, np.cross(place, gone)])

    def momenta(t: float, y: np.ndarray) -> np.ndarray:
        R, p, v, w = y[:9].reshape(3, 3), y[9:12], y[12:15], y[15:18]
        m, c, o, _, J = (np.array(each) for each in data(t))
        c, o = c.ravel(), o.ravel()
        m_rate, first = (np.array(each).ravel() for each in law.flux(t))
        flow = first - m_rate * o
        linear = m.item() * (v + np.cross(w, c)) + flow
        angular = J @ w + np.cross(c, linear)
        total = R @ linear
        return np.concatenate([total + y[18:21], np.cross(p, total) + R @ angular + y[21:24]])

    start = np.concatenate(
        [
            Rotation.from_rotvec([0.3, -0.4, 1.0]).as_matrix().ravel(),
            [1, 2, 3],
            [4, -1, 2],
            [0.5, -0.8, 0.3],
            np.zeros(6),
        ]
    )
    run = solve_ivp(rates, (0, 2), start, rtol=1e-11, atol=1e-11, method="DOP853")
    np.testing.assert_allclose(momenta(2.0, run.y[:, -1]), momenta(0.0, start), rtol=1e-8, atol=1e-7)


@SEEDS
def test_origin_of_the_body_frame_does_not_matter(seed: int) -> None:
    """The same rocket described from a shifted origin feels the same force, and the moment about the new point."""
    rng = np.random.default_rng(seed)
    shift, v, w, v_dot, w_dot, g = rng.normal(size=(6, 3))
    first = rocket()
    moved = rocket(
        centre=tuple(f"{c} - ({s})" for c, s in zip(first.centre, shift.tolist(), strict=True)),
        outlet=tuple(np.array(first.outlet) - shift),
    )
    here = BodyMotion(*(ca.SX(each) for each in (v, w, v_dot, w_dot, g)))
    there = BodyMotion(*(ca.SX(e) for e in (v + np.cross(w, shift), w, v_dot + np.cross(w_dot, shift), w_dot, g)))
    laws = [body.inertia_law(fields(body), motion) for body, motion in ((first, here), (moved, there))]
    (f1, m1, k1), (f2, m2, k2) = (
        (np.array(each).ravel() for each in ca.Function("f", [T], [law.force, law.moment, law.kinetic])(0.9))
        for law in laws
    )
    np.testing.assert_allclose(f2, f1, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(m2, m1 - np.cross(shift, f1), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(k2, k1, rtol=1e-12)


@SEEDS
@pytest.mark.parametrize("body", [rocket(), VaryingPoint("P", mass="5 - t", exhaust=(1, "2*t", 3))])
def test_flux_power_closes_the_balance_of_kinetic_energy(body: Any, seed: int) -> None:
    """dT/dt = power of force and moment + flux power, whatever acts."""
    rng = np.random.default_rng(seed)
    twist, wanted = rng.normal(size=6), rng.normal(size=6)
    if isinstance(body, VaryingPoint):
        twist[3:] = wanted[3:] = 0.0
    law, t = Law(body), 0.8
    applied = np.array(law.matrix(t, twist)) @ wanted + np.array(law.rest(t, twist)).ravel()
    growth = float(law.kinetic_rate(t, twist, wanted))
    assert growth == pytest.approx(applied @ twist + float(law.flux_power(t, twist)), rel=1e-11)


def test_a_shape_of_varying_mass() -> None:
    body = VaryingMass("R", rod(length=2.0, mass="6 - t"))
    values = fields(body)
    mass, inertia = ca.Function("f", [T], [values.mass, values.inertia])(3.0)
    assert float(mass) == 3.0
    np.testing.assert_allclose(np.diag(np.array(inertia)), [0, 1, 1])
    body.check(body.values({}))
    assert body.spatial_inertia(values) is None


def test_mass_that_follows_a_measured_length() -> None:
    body = VaryingPoint("C", mass="rho*P.displacement", mass_rate="rho*P.displacement_rate")
    names = {"rho": ca.SX(2.0), "P.displacement": ca.SX(3.0), "P.displacement_rate": ca.SX(0.5)}
    assert float(ca.evalf(body.flux(fields(body, names))[0])) == 1.0
    for cls, more in ((VaryingPoint, {}), (VaryingMass, {"inertia": (1, 1, 1)})):
        with pytest.raises(ModelError, match="mass_rate"):
            cls("C", mass="2*P.displacement", **more)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: VaryingMass("R", inertia=(1, 1, 1)), r"R\.mass"),
        (lambda: VaryingMass("R", mass="5 - t"), r"R\.inertia"),
        (lambda: VaryingPoint("R", mass="5 - t", exhaust=3.0), r"R\.exhaust"),
        (lambda: rocket(centre=("O.angle", 0, 0)), r"O\.angle"),
    ],
)
def test_refuses(make: Any, message: str) -> None:
    with pytest.raises(CotreeError, match=message):
        make()


def test_constant_values_are_checked() -> None:
    with pytest.raises(ModelError, match="the value is -2"):
        VaryingPoint("R", mass=-2.0).values({})
    body = VaryingMass("R", mass=1.0, inertia=(1, 1, 5))
    with pytest.raises(ModelError, match="triangle"):
        body.check(body.values({}))


class TestMotion:
    TIMES = np.linspace(0, 5, 6)

    @pytest.mark.parametrize("turns", [False, True])
    def test_rocket_against_gravity(self, turns: bool) -> None:
        model = ct.Model("rocket")
        data: dict[str, Any] = {"mass": "10 - t", "exhaust": (0, 0, -100.0)}
        model.add(VaryingMass("r", inertia=(1, 1, 1), **data) if turns else VaryingPoint("r", **data))
        solution, t = run(model, self.TIMES), self.TIMES
        speed = 100 * np.log(10 / (10 - t)) - 9.81 * t
        height = 100 * (t - (10 - t) * np.log(10 / (10 - t))) - 9.81 * t**2 / 2
        np.testing.assert_allclose(solution["r.velocity.z"], speed, atol=1e-8)
        np.testing.assert_allclose(solution["r.position.z"], height, atol=1e-8)

    def test_jet_damping(self) -> None:
        """A slender rocket that spins across its axis and burns evenly: J' w - m' o^2 w + J w' = 0."""
        model = ct.Model("jet", gravity=(0, 0, 0))
        model.add(VaryingMass("r", mass="8 - t", inertia=(1, 1, "0.4*(8 - t)"), outlet=(-1.2, 0, 0)))
        model.add(Revolute("O", model.ground, "r", angle_rate=2.0))
        solution = run(model, self.TIMES)
        # J = 0.4 m: w'/w = (m' o^2 - J')/J = (m'/m) (1.44 - 0.4)/0.4
        power = (1.44 - 0.4) / 0.4
        np.testing.assert_allclose(solution["O.angle_rate"], 2 * ((8 - self.TIMES) / 8) ** power, rtol=1e-8)

    def test_energy_audit_closes(self) -> None:
        model = ct.Model("rocket")
        model.add(
            VaryingMass(
                "r",
                mass="10 - t",
                inertia=("2 - 0.1*t", 1, 1.5),
                centre=(0.1, 0, "0.1*t"),
                outlet=(0, 0, -1),
                exhaust=(1, 0, -100.0),
                angular_velocity=(0.1, 0.2, 0.3),
            )
        )
        assert run(model, self.TIMES).energy().error < 1e-8

    def test_cable_that_falls_from_a_heap(self) -> None:
        """The hanging end x picks up cable at rest: (x x')' = g x, so x'' = g/3 once it has begun that way."""
        g, x0 = 9.81, 0.5
        model = ct.Model("cable", gravity=(0, 0, -g), parameters={"rho": 2.0, "x0": x0})
        model.add(
            VaryingPoint(
                "c", mass="rho*(x0 - c.position.z)", mass_rate="-rho*c.velocity.z", exhaust=(0, 0, "-c.velocity.z"),
                velocity=(0, 0, -np.sqrt(2 * g * x0 / 3)),
            )
        )  # fmt: skip
        times = np.linspace(0, 1, 5)
        solution = run(model, times)
        expected = (np.sqrt(x0) + np.sqrt(g / 6) * times) ** 2
        np.testing.assert_allclose(x0 - solution["c.position.z"], expected, rtol=1e-9)
