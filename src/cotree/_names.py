"""Where the public names of `cotree` are defined. A module is imported when one of its names is first used.

The block under ``TYPE_CHECKING`` in ``cotree/__init__.py`` repeats the table for type checkers and editors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names are in the modules ``homes``: each is imported at its first use."""

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(import_module(homes[name]), name)

    return load


HOMES: dict[str, tuple[str, ...]] = {
    "cotree.api": ("Model", "load", "read_mesh", "rebuild", "resume"),
    "cotree.facade.solution": ("Solution",),
    "cotree.errors": (
        "CotreeError", "ExpressionError", "FileError", "FormulationError", "GraphError", "ModelError", "ResultError",
        "SolveError",
    ),
    "cotree.fem.beam": ("Beams",),
    "cotree.fem.material": ("ALUMINIUM", "STEEL", "Material"),
    "cotree.fem.plate": ("Laminate", "Orthotropic", "Plate", "layered"),
    "cotree.fem.shell": ("Shells",),
    "cotree.fem.structure": ("Structure", "Support", "Tie"),
    "cotree.model.event": ("Event",),
    "cotree.model.world": ("Frame", "GroundFrame"),
    "cotree.results.energy": ("EnergyAudit",),
    "cotree.terminal.beam": ("Beam",),
    "cotree.terminal.bodies": ("PointMass", "RigidBody"),
    "cotree.terminal.constraints": (
        "ConstantDistance", "Coupled", "Gear", "ParallelAxes", "PointOnLine", "PointOnPlane", "RackAndPinion",
        "RollingDisc",
    ),
    "cotree.terminal.drivers": ("Drive", "FrameDrive", "SpeedDrive"),
    "cotree.terminal.electrical": (
        "Capacitor", "CurrentSource", "Diode", "Gyrator", "Inductor", "MutualInductance", "OperationalAmplifier",
        "Resistor", "Switch", "Transformer", "VoltageSource",
    ),
    "cotree.terminal.flexible": ("FlexibleBody",),
    "cotree.terminal.forces": ("ForceBetween", "JointActuator", "PointForce", "PointTorque"),
    "cotree.terminal.friction": ("BumpStop", "JointFriction"),
    "cotree.terminal.joints": (
        "Cylindrical", "Free", "Planar", "Prismatic", "Revolute", "Screw", "Slide", "Spherical", "Universal", "Weld",
    ),
    "cotree.terminal.shapes": ("box", "cylinder", "rod", "sphere", "tube"),
    "cotree.terminal.springs": ("Bushing", "Damper", "JointDamper", "JointSpring", "Spring"),
    "cotree.terminal.transducer": ("Piston", "RotationalEMF", "TranslationalEMF", "Wheel"),
    "cotree.terminal.varying": ("VaryingMass", "VaryingPoint"),
}  # fmt: skip
"""The names that each module gives to `cotree`."""

MODULES = {
    "bond": "cotree.bond", "structures": "cotree.structures", "mesh": "cotree.fem.mesh",
    "section": "cotree.fem.section",
    **{room: f"cotree.terminal.{room}" for room in (
        "control", "electrical", "hydraulic", "machines", "mounts", "nodal", "pneumatic", "rotational", "thermal",
        "transducer", "translational",
    )},
}  # fmt: skip
"""Modules by the short names that `cotree` gives them."""

HOME = {name: module for module, names in HOMES.items() for name in names}
"""The module of each name."""
