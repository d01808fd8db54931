"""Flexible bodies against rigid ones, beam theory, published frequencies, momentum, and each other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

import cotree as ct
from cotree.fem.tables import Tables
from cotree.terminal.floating import Floating
from cotree.terminal.forces import PointForce, PointTorque
from formulation.flexible_models import AREA, DOWN, FIRM, I_XY, I_XZ, SECTION, beam

Array = NDArray[np.float64]
LINE = FIRM.density * AREA
SLENDER = {"shear": False, "rotary": False}


def cantilever(*, gravity: Any = (0, 0, 0), **given: Any) -> ct.Model:
    m = ct.Model("cantilever", gravity=gravity)
    beam(m, "beam", 1.0, **({"material": FIRM, "elements": 6, "modes": 3} | given))
    m.add(ct.Weld("root", m.ground, "beam.start"))
    return m


# -- rigid limit -----------------------------------------------------------------------------------------------------


def spatial_pendulum(link: ct.RigidBody | ct.Beam) -> ct.Model:
    m = ct.Model("pendulum", gravity=DOWN)
    m.add(link)
    m.add(ct.RigidBody("bob", ct.sphere(radius=0.1, mass=1.0), frames={"p": (-0.2, 0, 0)}))
    m.add(ct.Spherical("S", m.ground, "link.start", orientation=(0.9, 0.2, -0.1, 0.3), angular_velocity=(1, -0.5, 2)))
    m.add(ct.Universal("U", "link.end", "bob.p", angle_1=0.4))
    return m


@pytest.mark.parametrize("shapes", ["interface", "clamped", "pinned", "free"])
def test_a_very_stiff_beam_moves_like_the_rigid_body_with_its_mass(shapes: str) -> None:
    """Swapping one for the other changes one line. The material's damping ends the vibration of the sudden start."""
    stiff = ct.Material(young=2e14, density=7800.0, poisson=0.3)
    ends = {"start": (-0.5, 0, 0), "end": (0.5, 0, 0)}
    rigid = ct.RigidBody("link", ct.box(size=(1.0, 0.02, 0.03), mass=7800 * AREA), frames=ends)
    flexible = ct.Beam("link", length=1.0, section=SECTION, material=stiff, elements=4, modes=2, shapes=shapes,
                       damping=0.7)  # fmt: skip
    wanted = spatial_pendulum(rigid).simulate(0.5, points=6, rtol=1e-10, atol=1e-11)
    found = spatial_pendulum(flexible).simulate(0.5, points=6, rtol=1e-9, atol=1e-11, integrator="cvodes")
    for name in ("bob.position", "bob.velocity", "link.end.position"):
        np.testing.assert_allclose(found[name], wanted[name], atol=3e-5)
    for name in ("S.force", "U.force"):
        np.testing.assert_allclose(found[name][1:], wanted[name][1:], atol=3e-3 * np.abs(wanted[name]).max())


# -- statics ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", ["interface", "nodal"])
def test_tip_loads_bend_as_beam_theory_says(shapes: str) -> None:
    """Static shapes are complete for loads at the interface: P L^3 / 3 EI, M L^2 / 2 EI, and the reactions."""
    m = cantilever(shapes=shapes, shear=False, elements=3, stiffening="none")
    m.add(PointForce("push", "beam.end", force=(0, 0.003, 0.002)))
    m.add(PointTorque("turn", "beam.end", torque=(0, 0, 0.001)))
    rest = m.static_equilibrium(seek="nearest")
    y, z = 0.003 / (3 * FIRM.young * I_XY) + 0.001 / (2 * FIRM.young * I_XY), 0.002 / (3 * FIRM.young * I_XZ)
    np.testing.assert_allclose(rest["beam.end.deflection"], [0, y, z], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rest["root.force"], [0, -0.003, -0.002], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(rest["root.torque"], [0, 0.002, -0.004], rtol=1e-9, atol=1e-7)


def test_own_weight_bends_as_beam_theory_says() -> None:
    m = cantilever(gravity=(0, 0, -1.0), shear=False, deforms=["xz"], stiffening="none")
    rest = m.static_equilibrium(seek="nearest")
    assert rest["beam.end.deflection.z"] == pytest.approx(-LINE / (8 * FIRM.young * I_XZ), rel=1e-9)
    assert rest["root.force.z"] == pytest.approx(LINE, rel=1e-12)
    assert rest["root.torque.y"] == pytest.approx(-LINE / 2, rel=1e-9)


# -- frequencies -----------------------------------------------------------------------------------------------------


def roots(function: Any, count: int) -> Array:
    x = np.linspace(0.1, 20.0, 4000)
    found = [brentq(function, a, b) for a, b in pairwise(x) if function(a) * function(b) < 0]
    return np.array(found[:count])


@pytest.mark.parametrize("ratio", [0.0, 0.3, 2.0])
def test_cantilever_with_a_mass_at_its_tip(ratio: float) -> None:
    """1 + cosh b cos b + mu b (cos b sinh b - sin b cosh b) = 0."""
    m = cantilever(deforms=["xy"], modes=5, elements=12, **SLENDER)
    if ratio:
        m.add(ct.RigidBody("tip", mass=ratio * LINE, inertia=(1e-12, 1e-12, 1e-12)))
        m.add(ct.Weld("W", "beam.end", "tip"))

    def equation(b: float) -> float:
        bends = np.cos(b) * np.sinh(b) - np.sin(b) * np.cosh(b)
        return float(1 + np.cosh(b) * np.cos(b) + ratio * b * bends)

    wanted = roots(equation, 3) ** 2 * np.sqrt(FIRM.young * I_XY / LINE) / (2 * np.pi)
    np.testing.assert_allclose(m.modes(about="start").frequencies[:3], wanted, rtol=5e-4)


@pytest.mark.parametrize(
    "given", [{"modes": 6}, {"shapes": "free", "modes": 4}, {"attached": "mean", "modes": 4}, {"shapes": "nodal"}]
)
def test_a_free_beam(given: dict[str, Any]) -> None:
    """cosh b cos b = 1, whatever carries the body's frame; the motions as a rigid body have no frequency."""
    m = ct.Model("free", gravity=(0, 0, 0))
    beam(m, "beam", 1.0, material=FIRM, elements=8, deforms=["xy", "xz"], shear=False, **given)
    found = m.modes(about="start").frequencies
    b = roots(lambda b: float(np.cosh(b) * np.cos(b) - 1), 2)
    scale = np.sqrt(FIRM.young / LINE) / (2 * np.pi)
    wanted = np.sort(np.concatenate([b**2 * np.sqrt(i) * scale for i in (I_XY, I_XZ)]))
    still = np.count_nonzero(found < 1e-3 * wanted[0])
    assert still == 6
    np.testing.assert_allclose(found[6:8], wanted[:2], rtol=6e-3)  # rotary inertia is in the beam, not in the formula


@pytest.mark.parametrize(("speed", "flap"), [(0.0, 3.5160), (3.0, 4.7973), (6.0, 7.3604)])
def test_a_rotating_beam_grows_stiffer(speed: float, flap: float) -> None:
    """Wright, Smith, Thresher, Wang 1982, out of the plane of rotation; in the plane the square is less by speed^2."""
    for plane, inertia in (("xz", I_XZ), ("xy", I_XY)):
        unit = np.sqrt(LINE / (FIRM.young * inertia))
        m = ct.Model("rotor", gravity=(0, 0, 0))
        beam(m, "beam", 1.0, material=FIRM, elements=10, modes=6, shapes="clamped", deforms=[plane], **SLENDER)
        m.add(ct.Revolute("hub", m.ground, "beam.start"))
        m.add(ct.Drive("motor", on="hub", angle=f"{speed / unit}*t"))
        poles = m.linearise(outputs=["beam.end.deflection.y"]).poles().imag * unit
        wanted = flap if plane == "xz" else np.sqrt(flap**2 - speed**2)
        assert min(poles[poles > 0]) == pytest.approx(wanted, abs=4e-4)


def test_a_beam_welded_from_two_is_one() -> None:
    found = []
    for parts in (1, 2):
        m = ct.Model("welded", gravity=(0, 0, 0))
        for k in range(parts):
            beam(m, f"b{k}", 1.0 / parts, material=FIRM, elements=12 // parts, modes=16 // parts)
        m.add(ct.Weld("root", m.ground, "b0.start"))
        if parts == 2:
            m.add(ct.Weld("seam", "b0.end", "b1.start"))
        found.append(m.modes(about="start").frequencies[:6])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3)


# -- motion ----------------------------------------------------------------------------------------------------------


def swing(**given: Any) -> Array:
    """Where the tip of a pendulum with a welded bob is, how far its middle bends, and the angle of its chord."""
    m = ct.Model("pendulum", gravity=DOWN, planar=True)
    settings = {"elements": 4, "deforms": ["xy"], "frames": {"mid": 0.5}, "material": FIRM}
    beam(m, "link", 1.0, **settings, **given)
    m.add(ct.RigidBody("bob", ct.sphere(radius=0.1, mass=0.3)))
    m.add(ct.Revolute("O", m.ground, "link.start", angle_rate=0.5))
    m.add(ct.Weld("W", "link.end", "bob"))
    s = m.simulate(0.3, points=4, rtol=1e-8, atol=1e-9)
    return np.array([s["link.end.position.x"], s["link.end.position.y"], s["link.mid.offset.y"]])


def test_all_descriptions_converge_to_each_other() -> None:
    """Nodal and modal, whatever carries the body's frame; what is left is the third order in the deformation."""
    nodal = swing(shapes="nodal", attached=("start", "end"))
    for shapes in ("interface", "clamped", "pinned", "free"):
        np.testing.assert_allclose(swing(shapes=shapes, modes=4), nodal, atol=6e-5)
    for attached in ("mean", "end"):
        np.testing.assert_allclose(swing(modes=3, attached=attached), nodal, atol=4e-6)


def momenta(solution: ct.Solution, tables: Tables, stiffening: str) -> Array:
    """Momentum and angular momentum about the origin of the world, from the tables."""
    n = len(tables.names)
    q, u = ca.SX.sym("q", n), ca.SX.sym("u", n)
    k = Floating(tables, q, u, stiffening).blocks
    blocks = ca.Function("blocks", [q], [k.c, k.J, k.A, k.H])
    result = []
    for i in range(len(solution.t)):
        now = {name: solution[name][i] for name in solution.names if name.startswith("beam.")}
        c, J, A, H = (np.asarray(part, dtype=float) for part in blocks([now[f"beam.{name}"] for name in tables.names]))
        rates = np.array([now[f"beam.{name}_rate"] for name in tables.names])
        e = [now[f"beam.orientation.e{j}"] for j in range(4)]
        K = np.array([[0, -e[3], e[2]], [e[3], 0, -e[1]], [-e[2], e[1], 0]])
        R = np.eye(3) + 2 * e[0] * K + 2 * K @ K
        r, v, w = (
            np.array([now[f"beam.{what}.{x}"] for x in "xyz"]) for what in ("position", "velocity", "angular_velocity")
        )
        v, w = R.T @ v, R.T @ w
        p = tables.mass * v + np.cross(w, c.ravel()) + A @ rates
        h = np.cross(c.ravel(), v) + J @ w + H @ rates
        result.append(np.concatenate([R @ p, R @ h + np.cross(r, R @ p)]))
    return np.array(result)


@pytest.mark.parametrize(
    "given",
    [{"modes": 0}, {"shapes": "free"}, {"shapes": "pinned"}, {"shapes": "clamped"}, {"modes": 0, "stiffening": "none"}],
)
def test_a_free_body_keeps_its_momentum(given: dict[str, Any]) -> None:
    m = ct.Model("free flight", gravity=(0, 0, 0))
    start = {"velocity": (1, 0.5, -0.3), "angular_velocity": (2, 3, -1), "elastic": {"mode1": 0.01, "mode2": -0.01}}
    body = beam(m, "beam", 1.0, material=FIRM, frames={"G": "centre_of_mass"}, **({"modes": 2} | given), **start)
    solution = m.simulate(0.1, points=5, rtol=1e-10, atol=1e-11)
    tables = body.tables(body.values({}))
    found = momenta(solution, tables, body.stiffening)
    np.testing.assert_allclose(found, np.broadcast_to(found[0], found.shape), atol=1e-8)
    np.testing.assert_allclose(tables.mass * solution["beam.G.velocity"], found[:, :3], atol=1e-12)
    assert solution.energy().error < 1e-8


def test_a_force_at_the_moving_centre_of_mass_is_a_weight() -> None:
    found = []
    for gravity in (DOWN, (0, 0, 0)):
        m = ct.Model("weight", gravity=gravity)
        beam(m, "beam", 1.0, material=FIRM, frames={"G": "centre_of_mass"}, deforms=["xy", "xz"])
        m.add(ct.Spherical("S", m.ground, "beam.start"))
        if gravity != DOWN:
            m.add(PointForce("weight", "beam.G", force=(0, -9.81 * LINE, 0)))
        s = m.simulate(0.1, points=3, rtol=1e-10, atol=1e-11)
        found.append(np.concatenate([s["beam.end.position"].ravel(), s["S.force"].ravel(), s["beam.mode1"]]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)


@pytest.mark.parametrize(("viscosity", "ratio"), [(0.0, 0.02), (2e-4, None), (2e-4, [0.01, 0.3])])
def test_a_free_vibration_decays(viscosity: float, ratio: Any) -> None:
    """Part of critical damping: what is given for the mode, and tau omega / 2 of the material (Kelvin, Voigt)."""
    material = ct.Material(young=4e9, density=1200.0, poisson=0.3, viscosity=viscosity)
    m = cantilever(material=material, damping=ratio, shapes="clamped", modes=2, deforms=["xy"], elastic={"mode1": 1e-5})
    modes = m.modes(about="start")
    omega = 2 * np.pi * modes.frequencies[0]
    given = 0.0 if ratio is None else ratio if isinstance(ratio, float) else ratio[0]
    zeta = given + viscosity * omega / 2
    assert modes.damping[0] == pytest.approx(zeta, rel=1e-6)
    period = 2 * np.pi / omega / np.sqrt(1 - zeta**2)
    q = m.simulate(4 * period, points=5, rtol=1e-10, atol=1e-16)["beam.mode1"]
    decay = zeta / np.sqrt(1 - zeta**2) * 2 * np.pi
    np.testing.assert_allclose(q[1:] / q[:-1], np.exp(-decay), rtol=1e-5)
