"""Cotree: flexible multibody and multi-domain systems from one linear graph.

Everything in the tree becomes a coordinate, everything in the cotree becomes an equation. A name is loaded when it is
first used, so importing the package costs nothing (`cotree._names` has the table).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cotree._names import HOME, MODULES
from cotree._version import __version__

if TYPE_CHECKING:
    from cotree import bond, structures
    from cotree.api import Model, load, read_mesh, rebuild, resume
    from cotree.errors import (
        CotreeError,
        ExpressionError,
        FileError,
        FormulationError,
        GraphError,
        ModelError,
        ResultError,
        SolveError,
    )
    from cotree.facade.solution import Solution
    from cotree.fem import mesh, section
    from cotree.fem.beam import Beams
    from cotree.fem.material import ALUMINIUM, STEEL, Material
    from cotree.fem.plate import Laminate, Orthotropic, Plate, layered
    from cotree.fem.shell import Shells
    from cotree.fem.structure import Structure, Support, Tie
    from cotree.model.event import Event
    from cotree.model.world import Frame, GroundFrame
    from cotree.results.energy import EnergyAudit
    from cotree.terminal import (
        control,
        electrical,
        hydraulic,
        machines,
        mounts,
        nodal,
        pneumatic,
        rotational,
        thermal,
        transducer,
        translational,
    )
    from cotree.terminal.beam import Beam
    from cotree.terminal.bodies import PointMass, RigidBody
    from cotree.terminal.constraints import (
        ConstantDistance,
        Coupled,
        Gear,
        ParallelAxes,
        PointOnLine,
        PointOnPlane,
        RackAndPinion,
        RollingDisc,
    )
    from cotree.terminal.drivers import Drive, FrameDrive, SpeedDrive
    from cotree.terminal.electrical import (
        Capacitor,
        CurrentSource,
        Diode,
        Gyrator,
        Inductor,
        MutualInductance,
        OperationalAmplifier,
        Resistor,
        Switch,
        Transformer,
        VoltageSource,
    )
    from cotree.terminal.flexible import FlexibleBody
    from cotree.terminal.forces import ForceBetween, JointActuator, PointForce, PointTorque
    from cotree.terminal.friction import BumpStop, JointFriction
    from cotree.terminal.joints import (
        Cylindrical,
        Free,
        Planar,
        Prismatic,
        Revolute,
        Screw,
        Slide,
        Spherical,
        Universal,
        Weld,
    )
    from cotree.terminal.shapes import box, cylinder, rod, sphere, tube
    from cotree.terminal.springs import Bushing, Damper, JointDamper, JointSpring, Spring
    from cotree.terminal.transducer import Piston, RotationalEMF, TranslationalEMF, Wheel
    from cotree.terminal.varying import VaryingMass, VaryingPoint

__all__ = [
    "ALUMINIUM", "STEEL", "Beam", "Beams", "BumpStop", "Bushing", "Capacitor", "ConstantDistance", "CotreeError",
    "Coupled", "CurrentSource", "Cylindrical", "Damper", "Diode", "Drive", "EnergyAudit", "Event", "ExpressionError",
    "FileError", "FlexibleBody", "ForceBetween", "FormulationError", "Frame", "FrameDrive", "Free", "Gear",
    "GraphError", "GroundFrame", "Gyrator", "Inductor", "JointActuator", "JointDamper", "JointFriction",
    "JointSpring", "Laminate", "Material", "Model", "ModelError", "MutualInductance", "OperationalAmplifier",
    "Orthotropic", "ParallelAxes", "Piston", "Planar", "Plate", "PointForce", "PointMass", "PointOnLine",
    "PointOnPlane", "PointTorque", "Prismatic", "RackAndPinion", "Resistor", "ResultError", "Revolute", "RigidBody",
    "RollingDisc", "RotationalEMF", "Screw", "Shells", "Slide", "Solution", "SolveError", "SpeedDrive", "Spherical",
    "Spring", "Structure", "Support", "Switch", "Tie", "Transformer", "TranslationalEMF", "Universal", "VaryingMass",
    "VaryingPoint", "VoltageSource", "Weld", "Wheel", "__version__", "bond", "box", "control", "cylinder",
    "electrical", "hydraulic", "layered", "load", "machines", "mesh", "mounts", "nodal", "pneumatic", "read_mesh",
    "rebuild", "resume", "rod", "rotational", "section", "sphere", "structures", "thermal", "transducer",
    "translational", "tube",
]  # fmt: skip

ELSEWHERE = {
    "body": "RigidBody", "rigid": "RigidBody", "hinge": "Revolute", "pin": "Revolute", "slider": "Prismatic",
    "ball": "Spherical", "ballsocket": "Spherical", "hooke": "Universal", "fixed": "Weld", "fixedjoint": "Weld",
    "motor": "Drive", "driver": "Drive", "force": "PointForce", "torque": "PointTorque", "pointmass": "PointMass",
    "springdamper": "Spring", "system": "Model", "plane": "PointOnPlane",
}  # fmt: skip
"""Parts by the names that other programs use."""


def __getattr__(name: str) -> Any:
    if name in HOME:
        found = getattr(import_module(HOME[name]), name)
    elif name in MODULES:
        found = import_module(MODULES[name])
    else:
        raise AttributeError(_unknown(name))
    globals()[name] = found
    return found


def _unknown(name: str) -> str:
    if name.startswith("_"):
        return f"module 'cotree' has no attribute '{name}'"
    from cotree.errors import nearest

    rooms = (room for room, module in MODULES.items() if module == f"cotree.terminal.{room}")
    inside = [f"cotree.{room}.{name}" for room in rooms if hasattr(__getattr__(room), name)]
    meant = ELSEWHERE.get(name.lower())
    inside = [f"cotree.{meant}", *inside] if meant else inside
    hint = f"did you mean {' or '.join(inside)}?" if inside else nearest(name, __all__)
    return f"cotree has no '{name}'; {hint}".rstrip("; ")


def __dir__() -> list[str]:
    return list(__all__)
