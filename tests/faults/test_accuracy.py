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
    m.add(ct.Capacitor("C", ("a", "ground"), capacitance=scale, initial=scale**-0.5))
    m.add(ct.Inductor("L", ("a", "ground"), inductance=1 / scale))
    return m


def sliding(scale: float) -> ct.Model:
    m = ct.Model("mass and spring")
    m.add(ct.translational.Mass("C", ("a", "ground"), mass=scale, initial=scale**-0.5))
    m.add(ct.translational.Spring("L", ("a", "ground"), stiffness=scale))
    return m


def turning(scale: float) -> ct.Model:
    m = ct.Model("rotor")
    m.add(ct.rotational.Inertia("C", ("a", "ground"), inertia=scale, initial=scale**-0.5))
    m.add(ct.rotational.Spring("L", ("a", "ground"), stiffness=scale))
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
    m.add(ct.rotational.Axis("axle", ("s", "ground"), on="hinge"))
    m.add(ct.rotational.Spring("wire", ("s", "ground"), stiffness=1.0))
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


# -- what cannot be told from parts of a run ---------------------------------------------------------------------------


def chain(count: int, angle: float = 0.1) -> ct.Model:
    m = ct.Model("chain", gravity=(0, -9.81, 0))
    at = m.ground
    for k in range(count):
        shape = ct.rod(length=1.0, mass=1.0, radius=0.01)
        rod = m.add(ct.RigidBody(f"r{k}", shape, frames={"l": (-0.5, 0, 0), "r": (0.5, 0, 0)}))
        m.add(ct.Revolute(f"J{k}", at, rod["l"], angle=angle))
        at = rod["r"]
    return m


def stopped_pendulum() -> ct.Model:
    """A chaotic double pendulum whose first joint has a spring and stops."""
    m = chain(2)
    m.add(ct.rotational.Axis("axle", ("s", "ground"), on="J0"))
    m.add(ct.rotational.Spring("spring", ("s", "ground"), stiffness=2.0))
    m.add(ct.rotational.EndStop("stop", ("s", "ground"), stiffness=1e3, lower=-3.0, upper=1.0))
    return m


def bouncing(stiffness: float) -> ct.Model:
    m = ct.Model("bouncing mass")
    m.add(ct.translational.Mass("m", ("a", "ground"), mass=1.0, initial=1.0))
    m.add(ct.translational.EndStop("e", ("a", "ground"), stiffness=stiffness, lower=-0.3, upper=0.5))
    return m


def error(model: ct.Model, name: str, t_end: float, **options: object) -> tuple[float, ct.Solution]:
    """The error of a result as a part of its range, and the run."""
    exact, sol = model.simulate(t_end, rtol=1e-13)[name], model.simulate(t_end, **options)
    return float(np.abs(sol[name] - exact).max() / np.ptp(exact)), sol


@pytest.mark.parametrize(("t_end", "rtol"), [(10.0, 1e-6), (12.0, 1e-8)])
def test_a_chaotic_machine_with_stops_is_doubted(t_end, rtol):
    off, sol = error(stopped_pendulum(), "J1.angle", t_end, rtol=rtol)
    assert off > 0.1
    assert codes(sol) == {"inaccurate"}


@pytest.mark.parametrize("stiffness", [1e3, 1e5])
@pytest.mark.parametrize("points", [7, 501])
def test_a_mass_that_bounces_too_late_is_doubted(stiffness, points):
    times = np.linspace(0, 60.0, points)
    exact, coarse, fine = (bouncing(stiffness).simulate(60.0, times=times, rtol=each) for each in (1e-11, 1e-5, 1e-8))
    coarse_off, fine_off = (np.abs(each["e.displacement"] - exact["e.displacement"]).max() for each in (coarse, fine))
    assert coarse_off > 0.005 * 0.8  # of the range
    assert codes(coarse) == {"inaccurate"}
    assert fine_off < 1e-3 * 0.8
    assert not codes(fine)


def test_a_machine_with_stops_is_not_doubted_as_long_as_it_is_right():
    off, sol = error(stopped_pendulum(), "J1.angle", 3.0)
    assert off < 1e-6
    assert not codes(sol)


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_a_chain_is_doubted_in_every_tree(tree):
    """In the absolute tree it has more states than growth is looked at for."""
    off, sol = error(chain(5), "J4.angle", 9.0, tree=tree)
    assert off > 0.05
    assert codes(sol) == {"inaccurate"}
    assert not codes(chain(5).simulate(0.5, tree=tree))


@pytest.mark.parametrize("integrator", ["auto", "adams", "cvodes"])
def test_a_step_that_a_method_ignores_does_not_switch_the_check_off(integrator):
    m = ct.Model("upright", gravity=(0, -9.81, 0))
    m.add(ct.RigidBody("b", ct.rod(length=1.0, mass=1.0, radius=0.01), frames={"l": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "b.l", angle=np.pi / 2 - 1e-7))
    runs = [m.simulate(12.0, integrator=integrator, **options) for options in ({}, {"step": 0.02})]
    assert np.array_equal(runs[0]["O.angle"], runs[1]["O.angle"])
    found = [[each.text for each in sol.diagnostics if each.code == "inaccurate"] for sol in runs]
    assert found[0] == found[1] != []
    assert "rtol" in found[1][0]


def test_a_fixed_step_is_still_halved():
    sol = double_pendulum(1.0, 1.0).simulate(6.0, integrator="rk4", step=0.05)
    assert "inaccurate" in codes(sol)
    assert any("half the step, 0.025 s" in each.text for each in sol.diagnostics)


# -- results that are constant -----------------------------------------------------------------------------------------


def door(size: float, speed: float, hinges: int) -> ct.Model:
    heights = (0.0, 0.8 * size, -0.8 * size)[:hinges]
    m = ct.Model("door", gravity=(0, 0, -9.81 * size))
    shape = ct.box(size=(0.9 * size, 0.04 * size, 2 * size), mass=30.0)
    m.add(ct.RigidBody("d", shape, frames={f"h{k}": (-0.45 * size, 0, z) for k, z in enumerate(heights)}))
    for k, z in enumerate(heights):
        m.add(ct.Revolute(f"h{k}", m.ground.at(0, 0, z), f"d.h{k}", angle_rate=speed))
    return m


@pytest.mark.parametrize("rtol", [1e-8, 1e-10])
@pytest.mark.parametrize("speed", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize(("size", "hinges"), [(1e-6, 1), (1e-3, 3), (1.0, 1), (1.0, 3), (1e3, 1)])
def test_a_door_that_turns_evenly_is_not_doubted(size, speed, hinges, rtol):
    """Its angular velocity and its energy have no range but their errors."""
    sol = door(size, speed, hinges).simulate(1.0, tree="absolute", rtol=rtol)
    np.testing.assert_allclose(sol["h0.angle"], speed * sol.t, atol=1e-5 * speed)
    assert not codes(sol)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_where_it_is_wrong_it_is_doubted_in_every_unit(size):
    sol = door(size, 100.0, 1).simulate(1.0, tree="absolute", rtol=1e-4)
    assert np.abs(sol["h0.angle"] - 100.0 * sol.t).max() > 0.02  # of a turn, which positions show
    assert "inaccurate" in codes(sol)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_a_coasting_cart_with_a_pendulum_at_rest_is_not_doubted(size, tree):
    m = ct.Model("cart", gravity=(0, -9.81 * size, 0))
    m.add(ct.RigidBody("c", ct.box(size=(size, 0.2 * size, 0.2 * size), mass=30.0)))
    shape = ct.rod(length=size, mass=1.0, radius=0.01 * size)
    m.add(ct.RigidBody("p", shape, frames={"t": (-0.5 * size, 0, 0)}))
    m.add(ct.Prismatic("s", m.ground, "c", axis=(1, 0, 0), displacement_rate=2 * size))
    m.add(ct.Revolute("O", "c", "p.t", angle=-np.pi / 2))
    assert not codes(m.simulate(2.0, tree=tree))


# -- what is not checked -----------------------------------------------------------------------------------------------


def unchecked(sol: ct.Solution) -> list[str]:
    return [each.data["why"] for each in sol.diagnostics if each.code == "accuracy-unchecked"]


def test_a_finer_run_that_fails_is_noted(monkeypatch):
    def fails(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("cotree.solve.rerun._suspicion", fails)
    assert unchecked(double_pendulum(1.0, 1.0).simulate(0.5)) == ["a finer run fails"]


def test_a_run_that_is_too_long_to_be_made_again_is_noted(monkeypatch):
    monkeypatch.setattr("cotree.solve.rerun.CHEAP", 1.0)
    sol = bouncing(1e3).simulate(60.0, rtol=1e-5)
    assert unchecked(sol) == ["a finer run would be too long"]
    assert not codes(sol)


def test_a_sampled_python_function_is_not_called_again_for_it():
    calls = []

    def law(t: float, inputs: object) -> float:
        calls.append(t)
        return 0.0

    m = bouncing(1e3)
    m.add(ct.control.Function("f", function=law, inputs=["t"], period=0.5))
    assert unchecked(m.simulate(2.0)) == ["a second run would call sampled Python functions again"]
    assert len(calls) == 5


@pytest.mark.slow
def test_vibrations_that_are_late_are_doubted_at_the_default_tolerance():
    """A crank of 1e6 N on a bearing without a body between: forces are off by a seventh of their range."""
    model = ct.load(Path(__file__).parents[1] / "golden" / "models" / "bond_mechanics.yaml")
    coarse, fine = (model.simulate(1.0, rtol=rtol) for rtol in (1e-8, 1e-11))
    off = np.abs(coarse["O.force.y"] - fine["O.force.y"]).max() / np.ptp(fine["O.force.y"])
    assert off > 0.1
    assert codes(coarse) == {"inaccurate"}
    assert not codes(fine)
