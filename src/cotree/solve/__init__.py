"""Solvers of system equations: simulation, kinematics, statics, linearisation, modes, sensitivities."""

from cotree.model.event import Event
from cotree.solve.integrator import INTEGRATORS, Integrator, Options
from cotree.solve.inverse import InverseDynamics, actuated_model, driven_model, inverse_dynamics
from cotree.solve.kinematics import kinematics
from cotree.solve.linear import LinearSystem, linearise
from cotree.solve.modes import Modes, modes
from cotree.solve.recording import Recording
from cotree.solve.sensitivity import Sensitivities, sensitivities
from cotree.solve.simulate import simulate
from cotree.solve.statics import Equilibrium, static_equilibrium

__all__ = [
    "INTEGRATORS",
    "Equilibrium",
    "Event",
    "Integrator",
    "InverseDynamics",
    "LinearSystem",
    "Modes",
    "Options",
    "Recording",
    "Sensitivities",
    "actuated_model",
    "driven_model",
    "inverse_dynamics",
    "kinematics",
    "linearise",
    "modes",
    "sensitivities",
    "simulate",
    "static_equilibrium",
]
