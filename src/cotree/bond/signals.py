"""Signals: sensors of effort, flow, momentum and displacement, blocks, and integrators.

A signal has a name with a dot: ``mass.momentum``, ``b3.flow``, ``w.value`` of a sensor or block named ``w``; components
of a multibond are ``w.value.x``, ``.y``, ``.z`` (or ``.c1``, ``.c2``, ... for widths other than three).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.elements import BondPart, modulation, optional
from cotree.bond.structure import Integral, component_names
from cotree.bond.values import shape_width
from cotree.errors import ModelError, listing
from cotree.formulation.system import Output
from cotree.model.form import one_of, said
from cotree.model.quantity import Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

MEASURES = ("effort", "flow", "momentum", "displacement")


class Sensor(BondPart):
    """Measures ``effort``, ``flow``, ``momentum`` or ``displacement`` of a bond, element or junction ``of``.

    The signal is ``name.value``. Momentum and displacement of what is no storage are integrals of effort and flow from
    the start of the run.
    """

    kind = "bond.sensor"
    paths = ("of",)
    example: ClassVar[Mapping[str, Any]] = {"of": "b1", "measures": "flow"}
    of: str = field(default="", kw_only=True, metadata=said("bond, element or junction that it looks at"))
    measures: str = field(default="", kw_only=True, metadata=said("what it measures", one_of(MEASURES)))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measures not in MEASURES:
            raise ModelError(f"it measures {self.measures!r}", where=self.name, expected=f"one of {listing(MEASURES)}")
        if not isinstance(self.of, str) or not self.of:
            raise ModelError("it measures nothing", where=self.name, expected="of: the name of a bond or an element")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        make.sensor(path, self.of, self.measures)


class Block(BondPart):
    """A signal ``name.value`` from others: an expression, or a list of them for a vector.

    A Python function is called with the signals of ``inputs``, each a column of its components.
    """

    kind = "bond.block"
    shapes: ClassVar[Mapping[str, Quantity]] = {"value": modulation("value of the signal")}
    paths = ("inputs",)
    example: ClassVar[Mapping[str, Any]] = {"value": "t"}
    value: Any = optional()
    inputs: tuple[str, ...] = field(default=(), kw_only=True, metadata=said("signals that a Python function takes"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.value is None:
            raise ModelError("no value is given", where=self.name, expected="an expression such as '2*w.value'")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        value = make.call(self.value, path, self.inputs) if callable(self.value) else self.required("value", v)
        for name, each in zip(component_names(f"{path}.value", value.numel()), ca.vertsplit(value), strict=True):
            make.define(name, Output(each, ""))


class Integrator(BondPart):
    """A signal ``name.value`` whose rate is ``input``, an expression or a list of them; ``initial`` at the start."""

    kind = "bond.integrator"
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "input": modulation("rate of the signal"),
        "initial": modulation("value at the start"),
    }
    example: ClassVar[Mapping[str, Any]] = {"input": "t", "initial": 0.5}
    input: Any = optional()
    initial: Any = optional()
    unit: str = field(default="", kw_only=True, metadata=said("unit of the signal"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.input is None or self.initial is None:
            missing = "input" if self.input is None else "initial"
            raise ModelError(f"no {missing} is given", where=self.name, expected="input: a signal, initial: a value")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        rate, start = self.required("input", v), self.required("initial", v)
        n = shape_width(self.input) or 1
        if used := make.used({"initial": start}):
            raise ModelError(
                f"its initial value depends on the signal {listing(used)}", where=path,
                expected="a number, or an expression of parameters",
            )  # fmt: skip
        if start.numel() not in (1, n):
            raise ModelError(f"{start.numel()} start values for {n} signals", where=path, expected=str(n))
        names = component_names(f"{path}.value", n)
        symbols = ca.vertcat(*(ca.SX.sym(name) for name in names))
        make.integral(Integral(names, (self.unit,) * n, symbols, ca.SX.zeros(n) + start, rate, path))
