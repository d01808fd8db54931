"""Right runs raise no alarm: drivers that switch, domains that move next to nothing, bodies that turn on the spot."""

from __future__ import annotations

import numpy as np
import pytest

import cotree as ct


def grave(sol: ct.Solution) -> list[str]:
    return [each.text for each in sol.diagnostics if each.grave]


# -- equations between positions are judged with the modes of their time -----------------------------------------------


def crane(distance: str, size: float = 1.0) -> ct.Model:
    m = ct.Model("crane", gravity=(0, -9.81 * size, 0))
    shape = ct.box(size=(size, size, size), mass=2000)
    frames = {"hook": (0, 0.5 * size, 0)}
    m.add(ct.RigidBody("box", shape, frames=frames, position=(0.3 * size, -10.5 * size, 0)))
    m.add(ct.FrameDrive("rope", m.ground, "box.hook", distance=f"{size}*({distance})"))
    return m


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize(
    ("law", "course"),
    [
        ("10-0.1*(t-2)**2*step(t-2)", lambda t: 10 - 0.1 * (t - 2) ** 2 * (t > 2)),
        ("10-0.1*min((t-4)**3, 0)", lambda t: 10 - 0.1 * np.minimum((t - 4) ** 3, 0)),
        ("10-0.02*abs(t-3)**3", lambda t: 10 - 0.02 * np.abs(t - 3) ** 3),
    ],
)
def test_a_rope_whose_law_switches_holds(law, course, size):
    sol = crane(law, size).simulate(6.0, points=61)
    length = np.linalg.norm(sol["box.hook.position"], axis=1) / size
    np.testing.assert_allclose(length, course(sol.t), rtol=1e-9)
    assert not grave(sol)


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_a_four_bar_whose_drive_switches_holds(tree):
    m = ct.Model("four-bar", gravity=(0, -9.81, 0))
    for name, length in {"crank": 0.3, "coupler": 0.9, "follower": 0.75}.items():
        ends = {"l": (-length / 2, 0, 0), "r": (length / 2, 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length, mass=1.0, radius=0.01), frames=ends))
    m.add(ct.Revolute("O", m.ground, "crank.l"))
    m.add(ct.Revolute("A", "crank.r", "coupler.l", angle=0.9))
    m.add(ct.Revolute("B", "coupler.r", "follower.l", angle=-1.8))
    m.add(ct.Revolute("C", "follower.r", m.ground.at(0.9, 0, 0)))
    m.add(ct.Drive("motor", "O", angle="2*(t-1)**2*step(t-1)"))
    sol = m.simulate(3.0, points=31, tree=tree)
    np.testing.assert_allclose(sol["O.angle"], 2 * (sol.t - 1) ** 2 * (sol.t > 1), atol=1e-9)
    assert not grave(sol)


# -- a domain that moves next to nothing -------------------------------------------------------------------------------


def arm(size: float = 1.0) -> ct.Model:
    m = ct.Model("arm", gravity=(0, -9.81 * size, 0))
    shape = ct.rod(length=size, mass=size**3, radius=0.01 * size)
    m.add(ct.RigidBody("b", shape, frames={"l": (-0.5 * size, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, "b.l", angle=-1.2))
    m.add(ct.rotational.Axis("ax", ("s", "ground"), on="O"))
    return m


IDLE = {
    "stop": lambda unit: ct.rotational.EndStop("p", ("s", "ground"), stiffness=1e4 * unit, lower=-3, upper=1),
    "damper": lambda unit: ct.rotational.Damper("p", ("s", "ground"), damping=1e-9 * unit),
    "friction": lambda unit: ct.rotational.Friction("p", ("s", "ground"), torque=1e-12 * unit),
    "inertia": lambda unit: ct.rotational.Inertia("p", ("s", "ground"), inertia=1e-6 * unit),
}


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("part", IDLE)
def test_a_domain_that_moves_next_to_nothing_is_not_judged_by_rounding(part, size):
    m = arm(size)
    m.add(IDLE[part](size**5))
    sol = m.simulate(5.0, points=51)
    assert sol.audit.error < 1e-6
    assert not grave(sol)
    assert max(each.error for each in sol.domains.values()) < 3e-3


@pytest.mark.parametrize("options", [{"rtol": 1e-12}, {"rtol": 1e-6}, {"integrator": "rk4", "step": 0.02}])
def test_whatever_the_tolerance_or_step(options):
    m = arm()
    m.add(IDLE["damper"](1.0))
    sol = m.simulate(5.0, points=51, **options)
    assert not [each for each in sol.diagnostics if each.code == "domain-energy-open"]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("stiffness", [1e-4, 1e-2])
def test_a_domain_with_a_wrong_law_is_told_with_its_time(stiffness, size, monkeypatch):
    """A spring that books twice what it stores, beside an arm that moves a thousand times as much."""
    right = ct.rotational.Spring.stored_energy
    monkeypatch.setattr(ct.rotational.Spring, "stored_energy", lambda *given: 2 * right(*given))
    m = arm(size)
    m.add(ct.rotational.Spring("p", ("s", "ground"), stiffness=stiffness * size**5))
    sol = m.simulate(5.0, points=51)
    (found,) = (each for each in sol.diagnostics if each.code.endswith("energy-open"))
    assert found.code == "energy-open" or found.subjects == ("rotational",)
    assert found.data["error"] > 3e-3
    assert 0 < found.data["time"] <= 1.0
    assert f"t = {found.data['time']:g} s" in found.text


# -- bodies that turn on the spot --------------------------------------------------------------------------------------


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
def test_a_flywheel_holds(size, tree):
    m = ct.Model("wheel", gravity=(0, 0, -9.81 * size))
    m.add(ct.RigidBody("w", ct.cylinder(length=0.1 * size, radius=0.3 * size, mass=10, axis="z")))
    m.add(ct.Revolute("J", m.ground, "w", angle_rate=10))
    sol = m.simulate(2.0, points=21, tree=tree)
    assert sol["J.angle"][-1] == pytest.approx(20.0, rel=1e-7)
    assert not grave(sol)


@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_a_gimbal_holds(tree):
    m = ct.Model("gimbal", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("ring", mass=1.0, inertia=(0.02, 0.01, 0.01)))
    m.add(ct.RigidBody("rotor", ct.cylinder(length=0.02, radius=0.1, mass=2, axis="z")))
    m.add(ct.Revolute("J1", m.ground, "ring", axis=(1, 0, 0), angle_rate=0.5))
    m.add(ct.Revolute("J2", "ring", "rotor", angle_rate=30))
    sol = m.simulate(2.0, points=21, tree=tree)
    assert not [each for each in sol.diagnostics if each.code == "constraint-open"]
