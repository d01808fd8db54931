"""Finite-element preprocessor: meshes, beams, thin shells, assembly, modes, and the tables of flexible bodies."""
