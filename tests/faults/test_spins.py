"""Rotations without inertia are named before anything runs, and idle ones are left out (B4, B5, B7)."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import pytest

import cotree as ct
from cotree.cli import main

JOINTS = {
    "spherical": lambda m: m.add(ct.Spherical("J", m.ground, "rod.end")),
    "universal": lambda m: m.add(ct.Universal("J", m.ground, "rod.end")),
    "its own axis": lambda m: m.add(ct.Revolute("J", m.ground, "rod.end", axis=(0, 1, 0))),
    "cylindrical": lambda m: m.add(ct.Cylindrical("J", m.ground, "rod.end", axis=(0, 1, 0))),
    "free": lambda m: None,
}


def thin(joint: str, radius: float = 0.0, scale: float = 1.0, axis: str = "y") -> ct.Model:
    """A rod along y on a joint that leaves its own axis free."""
    m = ct.Model("rod", gravity=(0, 0, -9.81 * scale))
    shape = ct.rod(length=scale, mass=scale**3, axis=axis, radius=radius * scale)
    m.add(ct.RigidBody("rod", shape, frames={"end": (0, -scale / 2, 0)}))
    JOINTS[joint](m)
    return m


def codes(diagnostics, code: str) -> list:
    return [each for each in diagnostics if each.code == code]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("joint", JOINTS)
def test_body_axis_and_remedy_are_named_before_anything_runs(joint, scale):
    m = thin(joint, scale=scale)
    (found,) = codes(m.equations().diagnostics, "no-inertia")
    assert (found.severity, found.subjects, found.data["axis"]) == ("error", ("rod",), "y")
    with pytest.raises(ct.FormulationError) as caught:
        m.simulate(1.0)
    for word in ("rod", "axis y", "radius"):
        assert word in str(caught.value)
    assert caught.value.where == "rod"


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize("joint", JOINTS)
def test_a_radius_is_the_remedy(joint, tree):
    m = thin(joint, radius=1e-3)
    assert not codes(m.equations(tree).diagnostics, "no-inertia")
    assert m.simulate(0.2, points=3, tree=tree).complete
    assert codes(thin(joint).equations(tree).diagnostics, "no-inertia")


def test_thin_rods_that_are_held_run_as_before():
    """A pendulum on a hinge across its axis, under every tree: the mass matrix alone is singular, the motion is not."""
    m = ct.Model("pendulum", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("rod", ct.rod(length=1, mass=1, axis="y"), frames={"end": (0, -0.5, 0)}))
    m.add(ct.Revolute("J", m.ground, "rod.end", axis=(1, 0, 0)))
    found = [m.simulate(1.0, points=5, tree=tree)["J.angle"] for tree in ("joint", "absolute")]
    np.testing.assert_allclose(*found, atol=1e-6)


def test_a_rotor_on_the_joint_gives_the_inertia():
    m = thin("its own axis")
    m.add(ct.rotational.Inertia("rotor", ("shaft", "ground"), inertia=2.0))
    m.add(ct.rotational.Axis("mount", ("shaft", "ground"), on="J"))
    m.add(ct.rotational.TorqueSource("motor", ("shaft", "ground"), torque=3.0))
    sol = m.simulate(2.0, points=3)
    assert abs(sol["J.angle"][-1]) == pytest.approx(3.0 / 2.0 * 2.0**2 / 2, rel=1e-6)


def test_the_check_command_names_it(tmp_path, monkeypatch, capsys):
    path = thin("spherical").save(tmp_path / "rod.yaml")
    monkeypatch.setattr("sys.argv", ["cotree", "check", str(path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code
    text = capsys.readouterr().err
    for word in ("rod", "axis y", "radius"):
        assert word in text


def tie_rod(radius: float, joint: str = "universal") -> ct.Model:
    """A rocker on a hinge, held by a spring, and a tie rod from it to a slider with a weight."""
    m = ct.Model("tie rod", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("rocker", ct.box(size=(0.4, 0.05, 0.05), mass=2), frames={"b": (0.3, 0, 0)}))
    ends = {"t": (0, 0, 0.25), "u": (0, 0, -0.25)}
    m.add(ct.RigidBody("tie", ct.rod(length=0.5, mass=0.3, axis="z", radius=radius), frames=ends))
    m.add(ct.RigidBody("block", ct.box(size=(0.1, 0.1, 0.1), mass=1)))
    m.add(ct.Revolute("O", m.ground, "rocker", axis=(0, 1, 0)))
    m.add(ct.JointSpring("k", "O", stiffness=60.0))
    m.add(ct.Spherical("S", "rocker.b", "tie.t"))
    m.add(ct.Spherical("U", "tie.u", "block"))
    m.add(ct.Prismatic("P", m.ground.at(0.3, 0, -0.5), "block", axis=(0, 0, 1)))
    return m


def test_statics_leave_the_spin_out_with_a_note():
    rest, thick = tie_rod(0.0).static_equilibrium(), tie_rod(1e-4).static_equilibrium()
    (found,) = codes(rest.diagnostics, "spin-left-out")
    assert (found.subjects, found.data["axis"]) == (("tie",), "z")
    assert found.text in rest.notes
    assert rest.stable
    for name in ("O.angle", "P.displacement", "S.force.z"):
        assert rest[name] == pytest.approx(thick[name], rel=1e-6, abs=1e-9)
    assert not codes(thick.diagnostics, "spin-left-out")


@pytest.mark.parametrize("joint", ["spherical", "universal"])
def test_statics_do_not_claim_that_nothing_holds_it(joint):
    rest = thin(joint).static_equilibrium()
    np.testing.assert_allclose(rest["rod.position"], [0, 0, -0.5], atol=1e-9)
    assert codes(rest.diagnostics, "spin-left-out")


def test_what_has_really_no_equilibrium_is_still_said():
    with pytest.raises(ct.SolveError, match="no static equilibrium"):
        thin("free").static_equilibrium()


def test_a_spring_about_the_axis_is_no_idle_spin():
    m = thin("its own axis")
    m.add(ct.JointSpring("k", "J", stiffness=10.0))
    m.add(ct.JointActuator("T", "J", effort=2.0))
    rest = m.static_equilibrium()
    assert rest["J.angle"] == pytest.approx(0.2, rel=1e-9)
    assert not codes(rest.diagnostics, "spin-left-out")
    with pytest.raises(ct.FormulationError, match="radius"):  # its frequency would be infinite
        m.modes()


def test_an_axis_that_is_free_at_the_start_only_is_not_held():
    """On a universal joint whose first axis is the rod's: once it swings about the second, the first moves it."""
    m = ct.Model("rod", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("rod", ct.rod(length=1, mass=1, axis="x"), frames={"end": (-0.5, 0, 0)}))
    m.add(ct.Universal("J", m.ground, "rod.end"))
    rest = m.static_equilibrium()
    assert rest["rod.position.z"] == pytest.approx(-0.5, abs=1e-9)
    assert not codes(rest.diagnostics, "spin-left-out")


@pytest.mark.parametrize("radius", [0.0, 1e-6, 1e-3, 0.02])
@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, -9.81), (0, -6.0, -7.0), (-9.81, 0, 0), (0.5, -9.0, 0)])
def test_the_equilibrium_does_not_depend_on_a_radius(gravity, radius):
    """A rod along the first axis of a universal joint hangs along the weight, however thin it is."""
    m = ct.Model("rod", gravity=gravity)
    m.add(ct.RigidBody("rod", ct.rod(length=1, mass=1, radius=radius), frames={"end": (-0.5, 0, 0)}))
    m.add(ct.Universal("J", m.ground, "rod.end"))
    rest = m.static_equilibrium()
    size = float(np.linalg.norm(gravity))
    np.testing.assert_allclose(rest["rod.position"], 0.5 * np.array(gravity) / size, atol=1e-9)
    assert rest.stability == ("stable" if any(gravity[1:]) else "neutral")  # along the first axis it may turn
    if not gravity[0]:
        found = m.modes()
        exact = sqrt(size * 0.5 / (1 / 3 + radius**2 / 4)) / (2 * pi)
        np.testing.assert_allclose(found.frequencies, [exact, exact], rtol=1e-8)
        assert not [each for each in found.diagnostics if each.grave]


@pytest.mark.parametrize("first", ["universal", "revolute"])
def test_a_chain_of_thin_rods_hangs_down(first):
    m = ct.Model("chain", gravity=(0, -9.81, 0))
    for k in (1, 2):
        ends = {"l": (-0.5, 0, 0), "r": (0.5, 0, 0)}
        m.add(ct.RigidBody(f"rod_{k}", ct.rod(length=1, mass=1), frames=ends))
    m.add((ct.Universal if first == "universal" else ct.Revolute)("A", m.ground, "rod_1.l"))
    m.add(ct.Universal("B", "rod_1.r", "rod_2.l"))
    rest = m.static_equilibrium()
    np.testing.assert_allclose(rest["rod_2.position"], [0, -1.5, 0], atol=1e-9)


def test_modes_and_linear_models_leave_the_spin_out():
    m = thin("spherical")
    exact = sqrt(1.5 * 9.81) / (2 * pi)
    found = m.modes()
    np.testing.assert_allclose(found.frequencies, [exact, exact], rtol=1e-9)
    assert codes(found.diagnostics, "spin-left-out")
    linear = m.linearise(at="steady")
    np.testing.assert_allclose(np.sort(np.abs(linear.poles().imag))[-4:], 2 * pi * exact, rtol=1e-6)
    assert codes(linear.diagnostics, "spin-left-out")


# -- B5 ------------------------------------------------------------------------------------------------------------


def rssr(radius: float = 0.01, drive: bool = True) -> ct.Model:
    """Crank and rocker about different axes, with a coupler between spherical joints."""
    m = ct.Model("RSSR", gravity=(0, 0, -9.81))
    for name, length, thick in (("crank", 0.2, 0.01), ("coupler", 1.0, radius), ("rocker", 0.6, 0.01)):
        frames = {"A": (-length / 2, 0, 0), "B": (length / 2, 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length, mass=1, radius=thick), frames=frames))
    m.add(ct.Revolute("O", m.ground, "crank.A"))
    m.add(ct.Spherical("S1", "crank.B", "coupler.A"))
    m.add(ct.Spherical("S2", "coupler.B", "rocker.B"))
    m.add(ct.Revolute("C", m.ground.at(0.9, 0.2, 0, axis=(0, 1, 0), angle=-pi / 2), "rocker.A", angle=0.3))
    if drive:
        m.add(ct.Drive("D", "O", angle="0.5*t"))
    return m


@pytest.mark.parametrize("radius", [0.01, 0.0])
@pytest.mark.parametrize("tree", ["joint", "absolute"])
def test_kinematics_of_an_rssr_need_one_drive(radius, tree):
    """The closure |B_crank - B_rocker| = 1 m says where the rocker is; the driver's torque is that of a simulation."""
    sol = rssr(radius).kinematics(2.0, points=11, tree=tree)
    (found,) = codes(sol.diagnostics, "spin-left-out")
    assert (found.subjects, found.data["axis"]) == (("coupler",), "x")
    gap = np.linalg.norm(sol["crank.B.position"] - sol["rocker.B.position"], axis=1)
    np.testing.assert_allclose(gap, 1.0, atol=1e-7)
    np.testing.assert_allclose(sol["O.angle"], 0.5 * sol.t, atol=1e-9)
    spin = np.einsum("ij,ij->i", sol["coupler.angular_velocity"], sol["coupler.B.position"] - sol["coupler.A.position"])
    np.testing.assert_allclose(spin, 0.0, atol=1e-7)
    if radius:
        run = rssr(radius).simulate(2.0, points=11)
        np.testing.assert_allclose(sol["C.angle"], run["C.angle"], atol=1e-6)
        np.testing.assert_allclose(sol["D.torque"], run["D.torque"], atol=1e-4 * np.ptp(run["D.torque"]))


def test_only_what_matters_is_asked_for():
    with pytest.raises(ct.SolveError, match=r"1 degree of freedom is not driven: O\.angle may move"):
        rssr(drive=False).kinematics(1.0)


def test_inverse_dynamics_of_an_rssr():
    found = rssr(0.0).inverse_dynamics(1.0, points=6)
    reference = rssr(1e-4).simulate(1.0, points=6)
    np.testing.assert_allclose(found["O.angle"], reference["D.torque"], atol=1e-4 * np.ptp(reference["D.torque"]))


def test_a_wheel_that_is_not_driven_is_no_idle_spin():
    m = ct.Model("wheel", gravity=(0, 0, -9.81))
    m.add(ct.RigidBody("wheel", ct.cylinder(radius=0.1, length=0.02, mass=1)))
    m.add(ct.Revolute("O", m.ground, "wheel"))
    with pytest.raises(ct.SolveError, match=r"O\.angle"):
        m.kinematics(1.0)


def test_two_couplers_are_both_named():
    """A platform on two hinges driven through two couplers."""
    m = rssr()
    ends = {"A": (-0.45, 0, 0), "B": (0.45, 0, 0)}
    m.add(ct.RigidBody("coupler_2", ct.rod(length=0.9, mass=1, radius=0.01), frames=ends))
    m.add(ct.RigidBody("arm", ct.rod(length=0.5, mass=1, radius=0.01), frames={"A": (-0.25, 0, 0), "B": (0.25, 0, 0)}))
    m.add(ct.Spherical("S3", "crank.B", "coupler_2.A"))
    m.add(ct.Spherical("S4", "coupler_2.B", "arm.B"))
    m.add(ct.Revolute("E", m.ground.at(-0.5, 0.3, 0, axis=(0, 1, 0), angle=-pi / 2), "arm.A", angle=0.3))
    sol = m.kinematics(1.0, points=5)
    assert {each.subjects[0] for each in codes(sol.diagnostics, "spin-left-out")} == {"coupler", "coupler_2"}


def rocking(coupler: float, pivot: tuple[float, float, float] = (1.0, 0.3, 0.0), tilt: float = 0.0) -> ct.Model:
    """A crank of 0.3 m about z and a rocker of 0.8 m about x, driven at 2 rad/s."""
    m = ct.Model("RSSR", gravity=(0, 0, -9.81))
    for name, length, axis in (("crank", 0.3, "x"), ("coupler", coupler, "x"), ("rocker", 0.8, "y")):
        end = np.array([1.0, 0, 0] if axis == "x" else [0, 1.0, 0]) * length / 2
        frames = {"l": tuple(-end), "r": tuple(end)}
        m.add(ct.RigidBody(name, ct.rod(length=length, mass=1, radius=0.01, axis=axis), frames=frames))
    m.add(ct.Revolute("O", m.ground, "crank.l"))
    m.add(ct.Spherical("A", "crank.r", "coupler.l"))
    m.add(ct.Spherical("B", "coupler.r", "rocker.r"))
    ground = m.ground.at(*pivot, axis=(0, 0, 1), angle=tilt)
    m.add(ct.Revolute("C", ground, "rocker.l", axis=(1, 0, 0), angle=1.1))
    m.add(ct.Drive("D", on="O", angle="2*t"))
    return m


def dead(coupler: float, pivot: tuple[float, float, float], tilt: float) -> float:
    """The first time at which no angle of the rocker closes the loop."""
    t = np.linspace(0, 2, 200_001)[:, None]
    crank = 0.3 * np.hstack([np.cos(2 * t), np.sin(2 * t), 0 * t]) - pivot
    # |crank - 0.8 (e cos + z sin)|^2 = coupler^2 has a solution where the part in the rocker's plane is long enough.
    e = np.array([-np.sin(tilt), np.cos(tilt), 0.0])
    needed = ((crank**2).sum(axis=1) + 0.8**2 - coupler**2) / 1.6
    return float(t[np.argmax(np.abs(needed) > np.hypot(crank @ e, crank[:, 2])), 0])


@pytest.mark.parametrize("tree", ["joint", "absolute"])
@pytest.mark.parametrize(
    ("coupler", "pivot", "tilt"),
    [(1.2, (1.0, 0.3, 0.0), 0.0), (1.18, (1.0, 0.3, 0.1), 0.2), (1.15, (0.9, 0.25, 0.0), -0.1)],
)
def test_kinematics_stop_at_a_dead_point_of_an_rssr(coupler, pivot, tilt, tree):
    """A run would creep towards it without end; the results before it are those of a shorter run."""
    end = dead(coupler, pivot, tilt)
    assert 0.1 < end < 0.9
    m = rocking(coupler, pivot, tilt)
    with pytest.raises(ct.SolveError, match="cannot follow its drivers beyond t = ") as caught:
        m.kinematics(1.0, points=101, tree=tree)
    told = float(str(caught.value).split("t = ")[1].split()[0])
    assert end - 0.002 < told <= end
    before = caught.value.solution
    assert not before.complete
    assert before.t[-1] == pytest.approx(np.floor(100 * told) / 100)
    reference = m.kinematics(0.1, points=11, tree=tree)
    np.testing.assert_allclose(before["C.angle"][:11], reference["C.angle"], atol=1e-6)
