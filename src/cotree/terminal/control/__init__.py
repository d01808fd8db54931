"""Blocks of signals: arithmetic, limits, controllers in continuous time and sampled ones, sensors."""

from cotree.terminal.control.arithmetic import Gain, Product, Sum
from cotree.terminal.control.base import Block
from cotree.terminal.control.feedback import Sensor, StateFeedback
from cotree.terminal.control.function import Function
from cotree.terminal.control.limits import DeadBand, RateLimiter, Relay, Saturation, Table
from cotree.terminal.control.linear import Delay, Integrator, StateSpace, TransferFunction
from cotree.terminal.control.pid import Pid
from cotree.terminal.control.sampled import SampledDelay, SampledPid, SampledStateSpace, SampleHold

__all__ = [
    "Block",
    "DeadBand",
    "Delay",
    "Function",
    "Gain",
    "Integrator",
    "Pid",
    "Product",
    "RateLimiter",
    "Relay",
    "SampleHold",
    "SampledDelay",
    "SampledPid",
    "SampledStateSpace",
    "Saturation",
    "Sensor",
    "StateFeedback",
    "StateSpace",
    "Sum",
    "Table",
    "TransferFunction",
]
