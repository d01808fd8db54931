"""A DC motor on a slider-crank as one bond graph, against the network of the motor and the mechanism joined by hand."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import cotree as ct
from _repo import ROOT
from cotree.solve.mechanism import Mechanism

R, L, K, J, C = 1.2, 8e-3, 0.08, 1e-4, 2e-4
CRANK, ROD = 0.05, 0.15
TIMES = np.linspace(0.0, 0.5, 11)


def armature() -> ct.Model:
    """The motor's electrical side, with the voltage that its rotation induces as a source."""
    model = ct.Model("armature")
    model.add(ct.VoltageSource("V", ("in", "ground"), voltage=12))
    model.add(ct.Resistor("R", ("in", "a"), resistance=R))
    model.add(ct.Inductor("L", ("a", "b"), inductance=L))
    model.add(ct.VoltageSource("emf", ("b", "ground"), voltage=0))
    return model


def mechanism() -> ct.Model:
    """The slider-crank with the rotor's inertia on the crank, driven by a torque that is a parameter."""
    model = ct.Model("slider-crank", gravity=(0, -9.81, 0))
    r, rod = CRANK / 2, ROD / 2
    turning = (1e-4, 5e-5, 5e-5 + J)  # only the last counts in a plane
    model.add(ct.RigidBody("crank", mass=0.2, inertia=turning, frames={"O": (-r, 0, 0), "A": (r, 0, 0)}))
    model.add(ct.RigidBody("rod", mass=0.3, inertia=(1e-5, 6e-4, 6e-4), frames={"A": (-rod, 0, 0), "B": (rod, 0, 0)}))
    model.add(ct.RigidBody("slider", mass=0.5, inertia=(1e-4, 1e-4, 1e-4)))
    model.add(ct.Revolute("O", "ground", "crank.O", angle=0.3, fixed=("angle",)))
    model.add(ct.Revolute("A", "crank.A", "rod.A", angle=-0.4))
    model.add(ct.Revolute("B", "rod.B", "slider", angle=0.1))
    model.add(ct.Prismatic("X", "ground", "slider", axis=(1, 0, 0)))
    model.add(ct.JointActuator("motor", "O", effort=0.0))
    model.add(ct.JointDamper("bearing", "O", damping=C))
    model.add(ct.JointDamper("friction", "X", damping=2))
    return model


@pytest.fixture(scope="module")
def joined() -> dict[str, np.ndarray]:
    """Current, crank angle and slide of network and mechanism, each with the other's effort put in."""
    network, machine = armature().equations(), mechanism().equations()
    inputs = dict(zip(network.inputs.names, range(len(network.inputs)), strict=True))
    current = ca.Function("current", [network.u.symbols, network.inputs.symbols, network.p.symbols], [network.rates])
    place = machine.p.names.index("motor.effort")
    accelerations = Mechanism.of(machine).accelerations
    kinematics = ca.Function("kinematics", [machine.q.symbols, machine.u.symbols], [machine.kinematics])
    turning = machine.u.names.index("O.angle_rate")
    nq, nu = len(machine.q), len(machine.u)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, u, i = y[:nq], y[nq : nq + nu], y[-1:]
        p = machine.p.start.copy()
        p[place] = K * i[0]
        given = np.zeros(len(inputs))
        given[inputs["V.voltage"]], given[inputs["emf.voltage"]] = 12.0, K * u[turning]
        parts = kinematics(q, u), accelerations(t, q, u, p, 0)[0], current(i, given, network.p.start)
        return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts])

    q0, u0 = machine.assemble(machine.p.start, 0.0)
    found = solve_ivp(rates, (0, TIMES[-1]), [*q0, *u0, 0.0], "DOP853", TIMES, rtol=1e-11, atol=1e-12)
    names = {name: found.y[k] for k, name in enumerate(machine.q.names)}
    return names | {"current": found.y[-1], "rate": found.y[nq + turning]}


def test_one_bond_graph_equals_network_and_mechanism(joined: dict[str, np.ndarray]) -> None:
    model = ct.load(ROOT / "examples" / "bond_motor_slider_crank.yaml")
    solution = model.simulate(TIMES[-1], times=TIMES, rtol=1e-11)
    assert np.abs(solution["O.angle"] - joined["O.angle"]).max() < 1e-8
    assert np.abs(solution["O.angle_rate"] - joined["rate"]).max() < 1e-6  # up to 160 rad/s
    assert np.abs(solution["M.coil.flow"] - joined["current"]).max() < 1e-7  # up to 9 A
    assert solution.energy().error < 1e-9
    angle = solution["O.angle"]
    slide = CRANK * np.cos(angle) + np.sqrt(ROD**2 - (CRANK * np.sin(angle)) ** 2)
    assert np.abs(solution["X.slide"] - slide).max() < 1e-10
