"""What the user says: models, components, quantities and expressions. Data only."""

from cotree.model.component import Component, Port
from cotree.model.edge import (
    DISPLACEMENT,
    ELECTRICAL,
    HYDRAULIC,
    PNEUMATIC,
    ROTATIONAL,
    THERMAL,
    TRANSLATIONAL,
    VIRTUAL_WORK,
    Domain,
    Edge,
    Kind,
    Role,
)
from cotree.model.expression import Expression
from cotree.model.kinds import KINDS, find_kind
from cotree.model.model import Model
from cotree.model.quantity import MISSING, Quantity, Signal, Value, quantities, quantity, signal, vector
from cotree.model.world import Frame, Ground, GroundFrame

__all__ = [
    "DISPLACEMENT",
    "ELECTRICAL",
    "HYDRAULIC",
    "KINDS",
    "MISSING",
    "PNEUMATIC",
    "ROTATIONAL",
    "THERMAL",
    "TRANSLATIONAL",
    "VIRTUAL_WORK",
    "Component",
    "Domain",
    "Edge",
    "Expression",
    "Frame",
    "Ground",
    "GroundFrame",
    "Kind",
    "Model",
    "Port",
    "Quantity",
    "Role",
    "Signal",
    "Value",
    "find_kind",
    "quantities",
    "quantity",
    "signal",
    "vector",
]  # fmt: skip
