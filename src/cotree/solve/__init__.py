"""Solvers of system equations: simulation, kinematics, statics, linearisation, modes, sensitivities.

Each analysis is a module, loaded when it is used: `cotree.solve.simulate.simulate`, `cotree.solve.modes.modes`.
"""
