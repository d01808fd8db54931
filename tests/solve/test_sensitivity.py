"""Exact sensitivities against closed forms, against differences of a four-bar by hand, and of assembled starts."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct
from cotree.errors import ResultError, SolveError
from cotree.solve.sensitivity import sensitivities
from cotree.solve.simulate import simulate
from cotree.terminal.bodies import PointMass, RigidBody
from cotree.terminal.forces import PointForce
from cotree.terminal.joints import Prismatic, Revolute, Spherical
from cotree.terminal.springs import JointSpring
from solve import four_bar

TIMES = np.linspace(0, 1, 11)


def differences(function: object, h: float) -> np.ndarray:
    """The derivative at zero by differences of fourth order."""
    near, far = (np.asarray(function(k * h)) - np.asarray(function(-k * h)) for k in (1, 2))  # type: ignore[operator]
    return (8 * near - far) / (12 * h)


def motion(crank: float = 0.0, mass: float = 0.0, start: float = 0.0, rate: float = 0.0) -> np.ndarray:
    """Angle and speed of the four-bar by hand, with changed values."""
    reference = four_bar.Reference(0.3 + crank, (1.0, 3.0 + mass, 2.0))
    return np.array(reference.motion(0.3 + start, 2.0 + rate, TIMES))


@pytest.fixture(scope="module")
def by_hand() -> dict[str, np.ndarray]:
    changed = {"L": "crank", "coupler.mass": "mass", "a0": "start", "O.angle_rate": "rate"}
    return {name: differences(lambda d, key=key: motion(**{key: d}), 1e-3) for name, key in changed.items()}


@pytest.mark.parametrize("tree", four_bar.TREES)
def test_closed_loop_against_the_equation_by_hand(tree: str, by_hand: dict[str, np.ndarray]) -> None:
    equations = four_bar.model(rate=2.0, fixed=("angle", "angle_rate")).equations(tree)
    outputs = ("O.angle", "O.angle_rate")
    found = sensitivities(equations, outputs, by_hand, 1.0, points=11, rtol=1e-10)
    for name, slopes in by_hand.items():
        for k, output in enumerate(outputs):
            np.testing.assert_allclose(found[output, name], slopes[k], atol=1e-6 * np.abs(slopes[k]).max())
    assert found.unit("O.angle", "coupler.mass") == "rad/kg"
    assert found.unit("O.angle", "O.angle_rate") == "rad/(rad/s)"
    np.testing.assert_allclose(found.values["O.angle"], motion()[0], atol=1e-8)


def test_reactions_against_differences_of_runs() -> None:
    equations = four_bar.model(rate=2.0, fixed=("angle",)).equations()
    outputs = ["C.force.x", "O.force.y", "B.angle", "coupler.B.acceleration.x", "kinetic_energy"]
    found = sensitivities(equations, outputs, ["L", "gravity.y"], 0.8, points=5, rtol=1e-10)
    for name, value in (("L", 0.3), ("gravity.y", -four_bar.G)):

        def run(d: float, name: str = name, value: float = value) -> np.ndarray:
            sol = simulate(equations, 0.8, points=5, rtol=1e-12, parameters={name: value + d})
            return np.array([sol[output] for output in outputs])

        by_runs = differences(run, 1e-3 * abs(value))
        for k, output in enumerate(outputs):
            scale = np.abs(by_runs[k]).max()
            np.testing.assert_allclose(found[output, name], by_runs[k], atol=1e-6 * scale)


def test_falling_body() -> None:
    """z = h + v t - g t^2 / 2, and a force of F sin(t) along x: x'' = F sin(t) / m."""
    m = ct.Model("stone", parameters={"h": 2.0, "v": 1.0, "F": 3.0})
    m.add(PointMass("stone", mass=0.5, position=(0, 0, "h"), velocity=(0, 0, "v")))
    m.add(PointForce("wind", "stone", force=("F*sin(t)", 0, 0)))
    wrt = ["h", "v", "gravity.z", "F", "stone.mass"]
    found = sensitivities(m.equations(), ["stone.position.z", "stone.position.x"], wrt, 1.0, points=11, rtol=1e-11)
    t = found.t
    for name, slope in (("h", 1 + 0 * t), ("v", t), ("gravity.z", t**2 / 2), ("F", 0 * t), ("stone.mass", 0 * t)):
        np.testing.assert_allclose(found["stone.position.z", name], slope, atol=1e-9)
    drift = t - np.sin(t)
    np.testing.assert_allclose(found["stone.position.x", "F"], drift / 0.5, atol=1e-9)
    np.testing.assert_allclose(found["stone.position.x", "stone.mass"], -3 * drift / 0.25, atol=1e-8)


def oscillator(**start: float) -> ct.Model:
    m = ct.Model("oscillator", gravity=(0, 0, 0))
    m.add(PointMass("m", mass=2.0))
    m.add(Prismatic("P", m.ground, "m", axis=(1, 0, 0), **start))
    m.add(JointSpring("s", "P", stiffness=50.0))
    return m


def test_oscillator() -> None:
    """x = x0 cos wt + v0/w sin wt with w = 5; start values that the model does not give are the assembled ones."""
    equations = oscillator(displacement=0.4).equations()
    wrt = ["P.displacement", "P.displacement_rate", "s.stiffness"]
    found = sensitivities(equations, ["P.displacement"], wrt, 2.0, points=21, rtol=1e-11)
    t = found.t
    np.testing.assert_allclose(found["P.displacement", wrt[0]], np.cos(5 * t), atol=1e-8)
    np.testing.assert_allclose(found["P.displacement", wrt[1]], np.sin(5 * t) / 5, atol=1e-8)
    by_stiffness = -0.4 * t * np.sin(5 * t) / (2 * 2.0 * 5)
    np.testing.assert_allclose(found["P.displacement", wrt[2]], by_stiffness, atol=1e-9)


def test_a_step_in_time_is_passed_and_a_shifted_one_refused() -> None:
    m = ct.Model("pushed", gravity=(0, 0, 0), parameters={"F": 2.0, "late": 0.5})
    m.add(PointMass("m", mass=1.0))
    m.add(PointForce("push", "m", force=("F*step(t - late)", 0, 0)))
    equations = m.equations()
    found = sensitivities(equations, ["m.position.x"], ["F"], 1.0, points=5)
    np.testing.assert_allclose(found["m.position.x", "F"], np.maximum(found.t - 0.5, 0) ** 2 / 2, atol=1e-10)
    with pytest.raises(SolveError, match="late shifts the time"):
        sensitivities(equations, ["m.position.x"], ["late"], 1.0)


def loose_loop() -> ct.Model:
    """Three approximate angles that do not close the loop: the start is a compromise between them."""
    return four_bar.model(fixed=(), rate=1.0)


def spatial_loop() -> ct.Model:
    m = ct.Model("RSSR", parameters={"a": 0.4, "b": 1.6})
    inertia = (0.1, 0.1, 0.1)
    crank = m.add(RigidBody("crank", mass=1.0, inertia=inertia, frames={"S": ("a", 0, 0)}))
    rod = m.add(RigidBody("rod", mass=1.0, inertia=inertia, frames={"p": ("-b/2", 0, 0), "q": ("b/2", 0, 0)}))
    rocker = m.add(RigidBody("rocker", mass=1.0, inertia=inertia, frames={"S": (0, 0.9, 0)}))
    m.add(Revolute("O", m.ground, crank.name, axis=(0, 0, 1), angle=0.7, angle_rate=1.5, fixed=("angle", "angle_rate")))
    m.add(Spherical("S1", crank["S"], rod["p"], orientation=(0.9, 0.1, -0.3, 0.2)))
    m.add(Spherical("S2", rod["q"], rocker["S"]))
    m.add(Revolute("C", m.ground.at(1.4, 0.2, 0.3), rocker.name, axis=(1, 0, 0), angle=0.4))
    return m


@pytest.mark.parametrize(
    ("make", "wrt"),
    [(loose_loop, ["L", "a0", "A.angle", "O.angle_rate"]), (spatial_loop, ["a", "b", "O.angle", "O.angle_rate"])],
)
@pytest.mark.parametrize("tree", four_bar.TREES)
def test_start_of_a_loop(make: object, wrt: list[str], tree: str) -> None:
    """Derivatives at the start itself, against differences of assembled starts."""
    equations = make().equations(tree)  # type: ignore[operator]
    assert equations.assemble is not None
    outputs = [n for n in equations.outputs if n.endswith((".position.x", ".position.y", ".velocity.x", ".velocity.z"))]
    found = sensitivities(equations, outputs, wrt, 1e-6, times=[0.0])
    for name in wrt:
        k = equations.p.names.index(name)

        def at(d: float, k: int = k) -> np.ndarray:
            changed = {equations.p.names[k]: equations.p.start[k] + d}
            sol = simulate(equations, 1e-6, times=[0.0], parameters=changed)
            return np.array([sol[output][0] for output in outputs])

        slope = differences(at, 2e-4)
        got = np.array([found[output, name][0] for output in outputs])
        np.testing.assert_allclose(got, slope, atol=2e-7 * max(1.0, np.abs(slope).max()))


def test_names() -> None:
    equations = oscillator().equations()
    with pytest.raises(SolveError, match=r"no result 'P\.place'"):
        sensitivities(equations, ["P.place"], ["s.stiffness"], 1.0)
    with pytest.raises(SolveError, match=r"no parameter or start value 's\.stifness'"):
        sensitivities(equations, ["P.displacement"], ["s.stifness"], 1.0)
    found = sensitivities(equations, "P.displacement", "s.stiffness", 1.0, points=2)
    with pytest.raises(ResultError, match="no sensitivity"):
        found["P.displacement", "m.mass"]
