"""Energy and constraint errors are judged for every kind of model, without a unit: entries A2 and A3."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct


def codes(sol: ct.Solution) -> set[str]:
    return {each.code for each in sol.diagnostics if each.grave}


# -- A2: networks, bond graphs and machines --------------------------------------------------------------------------


def electric(scale: float) -> ct.Model:
    m = ct.Model("LC")
    m.add(ct.electrical.Capacitor("C", "a", "ground", capacitance=scale, initial=scale**-0.5))
    m.add(ct.electrical.Inductor("L", "a", "ground", inductance=1 / scale))
    return m


def sliding(scale: float) -> ct.Model:
    m = ct.Model("mass and spring")
    m.add(ct.translational.Mass("C", "a", "ground", mass=scale, initial=scale**-0.5))
    m.add(ct.translational.Spring("L", "a", "ground", stiffness=scale))
    return m


def turning(scale: float) -> ct.Model:
    m = ct.Model("rotor")
    m.add(ct.rotational.Inertia("C", "a", "ground", inertia=scale, initial=scale**-0.5))
    m.add(ct.rotational.Spring("L", "a", "ground", stiffness=scale))
    return m


WORLDS = {"electric": electric, "sliding": sliding, "turning": turning}
STATES = {"electric": "C.voltage", "sliding": "C.velocity", "turning": "C.angular_velocity"}


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("rtol", [1e-3, 1e-2, 0.5])
def test_a_coarse_oscillator_is_doubted(world, scale, rtol):
    sol = WORLDS[world](scale).simulate(100.0, rtol=rtol)
    off = np.abs(sol[STATES[world]] * scale**0.5 - np.cos(sol.t)).max() / 2  # the range is from -1 to 1
    assert off > 0.01 or rtol < 1e-2
    assert codes(sol) & {"energy-open", "inaccurate"} or off < 0.01


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("world", WORLDS)
def test_a_fine_oscillator_is_not(world, scale):
    sol = WORLDS[world](scale).simulate(100.0)
    assert np.abs(sol[STATES[world]] * scale**0.5 - np.cos(sol.t)).max() < 1e-4
    assert not codes(sol)


@pytest.mark.parametrize("rtol", [3e-2, 1e-9])
def test_a_machine_is_judged(rtol):
    """A disc on a hinge, held by a torsion spring of the network that is mounted on the hinge."""
    m = ct.Model("machine", gravity=(0, 0, 0))
    m.add(ct.RigidBody("disc", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    m.add(ct.Revolute("hinge", m.ground, "disc", angle_rate=1.0))
    m.add(ct.mounts.RotationalAxis("axle", "s", "ground", on="hinge"))
    m.add(ct.rotational.Spring("wire", "s", "ground", stiffness=1.0))
    sol = m.simulate(60.0, rtol=rtol)
    off = np.abs(sol["hinge.angle_rate"] - np.cos(sol.t)).max()
    assert (off > 0.01) == bool(codes(sol)) == (rtol > 1e-3)


# -- A3: the same verdict in every unit ------------------------------------------------------------------------------


def double_pendulum(length: float, mass: float) -> ct.Model:
    """Two rods that fall from the side; gravity goes with the length, so the motion is the same in every unit."""
    m = ct.Model("double pendulum", gravity=(0, -9.81 * length, 0))
    at = m.ground
    for k in (1, 2):
        shape = ct.rod(length=length, mass=mass, radius=length / 100)
        rod = m.add(ct.RigidBody(f"rod{k}", shape, frames={"l": (-length / 2, 0, 0), "r": (length / 2, 0, 0)}))
        m.add(ct.Revolute(f"J{k}", at, rod["l"], angle=1.0 if k == 1 else 0.4))
        at = rod["r"]
    return m


SIZES = [(1e-9, 1e-12), (1e-5, 1e-9), (1.0, 1.0), (1e3, 1e6), (1e9, 1e15)]


@pytest.mark.parametrize(("rtol", "wrong"), [(0.3, True), (1e-2, True), (1e-8, False)])
def test_a_double_pendulum_gets_one_verdict_in_every_unit(rtol, wrong):
    for length, mass in SIZES:
        sol = double_pendulum(length, mass).simulate(6.0, rtol=rtol)
        assert bool(codes(sol)) == wrong, (length, mass, sol.energy().error)


def four_bar(scale: float) -> ct.Model:
    m = ct.Model("four-bar", gravity=(0, -9.81 * scale, 0))
    for name, length in {"crank": 0.3, "coupler": 0.9, "follower": 0.75}.items():
        ends = {"l": (-length * scale / 2, 0, 0), "r": (length * scale / 2, 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length * scale, mass=1.0, radius=0.01 * scale), frames=ends))
    m.add(ct.Revolute("O", m.ground, "crank.l", angle=0.3, fixed=["angle"]))
    m.add(ct.Revolute("A", "crank.r", "coupler.l", angle=0.5))
    m.add(ct.Revolute("B", "coupler.r", "follower.l", angle=-1.5))
    m.add(ct.Revolute("C", "follower.r", m.ground.at(0.9 * scale, 0, 0)))
    return m


@pytest.fixture(scope="module")
def at_one_metre() -> np.ndarray:
    return four_bar(1.0).simulate(2.0, points=21, rtol=1e-11)["O.angle"]


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e3, 1e6, 1e9])
def test_a_four_bar_of_any_size_moves_like_that_of_a_metre(scale, tree, at_one_metre):
    sol = four_bar(scale).simulate(2.0, points=21, tree=tree)
    np.testing.assert_allclose(sol["O.angle"], at_one_metre, atol=1e-5)
    assert not codes(sol)


def test_equations_between_positions_are_judged_by_the_size_of_the_mechanism():
    """A method that lets lengths drift is warned about by the same share of a micrometre and of a kilometre."""
    found = []
    for scale in (1e-6, 1.0, 1e3):
        m = ct.Model("pendulum", gravity=(0, 0, -9.81 * scale))
        n = ct.nodal
        m.add(n.Node("O", position=(0, 0, 0)))
        m.add(n.Fixed("held", "O"))
        m.add(n.Node("A", position=(scale, 0, 0), mass=1.0))
        m.add(n.Bar("bar", "O", "A", mass=0.1))
        sol = m.simulate(1.0, integrator="paper", step=0.05)
        (drift,) = (each for each in sol.diagnostics if each.code == "drift")
        found.append((drift.severity, drift.data["distance"] / scale))
    assert len({severity for severity, _ in found}) == 1
    np.testing.assert_allclose([share for _, share in found], found[1][1], rtol=1e-3)


@pytest.mark.parametrize(("t_end", "rtol"), [(10.0, 1e-4), (20.0, 1e-6), (20.0, 1e-8), (30.0, 1e-8)])
@pytest.mark.parametrize("points", [11, 501])
def test_a_chaotic_motion_is_doubted_though_its_energy_holds(t_end, rtol, points):
    """The error of each step grows by orders of magnitude: energies and single intervals show nothing of it."""
    model, times = double_pendulum(1.0, 1.0), np.linspace(0, t_end, points)
    sol, exact = (model.simulate(t_end, times=times, rtol=each) for each in (rtol, 1e-13))
    off = np.abs(sol["J2.angle"] - exact["J2.angle"]).max() / np.ptp(exact["J2.angle"])
    assert off > 0.01
    assert "inaccurate" in codes(sol)


@pytest.mark.parametrize(("t_end", "rtol"), [(2.0, 1e-6), (3.0, 1e-8), (6.0, 1e-11)])
def test_as_long_as_its_errors_are_small_it_is_not(t_end, rtol):
    assert not codes(double_pendulum(1.0, 1.0).simulate(t_end, rtol=rtol))


@pytest.mark.slow
def test_vibrations_that_are_late_are_doubted_at_the_default_tolerance():
    """A crank of 1e6 N on a bearing without a body between: forces are off by a seventh of their range."""
    model = ct.load(Path(__file__).parents[1] / "golden" / "models" / "bond_mechanics.yaml")
    coarse, fine = (model.simulate(1.0, rtol=rtol) for rtol in (1e-8, 1e-11))
    off = np.abs(coarse["O.force.y"] - fine["O.force.y"]).max() / np.ptp(fine["O.force.y"])
    assert off > 0.1
    assert codes(coarse) == {"inaccurate"}
    assert not codes(fine)
