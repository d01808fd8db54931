"""Structures of bars and rigid bodies joined by pins, in nodal coordinates (Xiang, Wu, Zhou 2015)."""

from cotree.terminal.nodal.bars import Bar
from cotree.terminal.nodal.base import Node
from cotree.terminal.nodal.bodies import Body
from cotree.terminal.nodal.cables import ElasticCable, ForceCable, MotorCable
from cotree.terminal.nodal.forces import BodyLoad, Damper, Force, Spring
from cotree.terminal.nodal.gears import Gear
from cotree.terminal.nodal.locks import Latch, Stop
from cotree.terminal.nodal.supports import Fixed, KeepDirection, Moved, OnLine, OnPlane

__all__ = [
    "Bar",
    "Body",
    "BodyLoad",
    "Damper",
    "ElasticCable",
    "Fixed",
    "Force",
    "ForceCable",
    "Gear",
    "KeepDirection",
    "Latch",
    "MotorCable",
    "Moved",
    "Node",
    "OnLine",
    "OnPlane",
    "Spring",
    "Stop",
]
