"""Volumes of oil and gas: what a circuit stores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import HYDRAULIC, Port, Role, Value, quantity
from cotree.model.switching import SwitchLaw
from cotree.terminal.scalar import AcrossStorage


class Volume(AcrossStorage):
    """Q = V / beta dp/dt: a closed volume of oil; ``initial`` in Pa."""

    ports = (Port(HYDRAULIC, Role.ACROSS_STORAGE),)
    kind = "hydraulic.volume"
    volume: Value = quantity("m^3", "volume of oil", symbol="V", range="positive")
    bulk_modulus: Value = quantity("Pa", "bulk modulus of the oil", symbol=r"\beta", range="positive")

    def capacity(self, v: Any) -> Any:
        return v.volume / v.bulk_modulus


class Tank(AcrossStorage):
    """Q = A / (rho g) dp/dt: an open tank with upright walls; its level is p / (rho g).

    The start is given as a pressure (``initial``, in Pa) or as a ``level``.
    """

    ports = (Port(HYDRAULIC, Role.ACROSS_STORAGE),)
    kind = "hydraulic.tank"
    area: Value = quantity("m^2", "area of the surface", symbol="A", range="positive")
    density: Value = quantity("kg/m^3", "density of the fluid", symbol=r"\rho", range="positive")
    gravity: Value = quantity("m/s^2", "acceleration of free fall", symbol="g", range="positive")
    level: Value | None = quantity("m", "level at the start, 0 if not given", default=None)

    def capacity(self, v: Any) -> Any:
        return v.area / (v.density * v.gravity)

    def check(self, values: Mapping[str, float]) -> None:
        if "level" in values and "initial" in values:
            raise ModelError(
                "the start is given twice, as initial and as level", where=self.name, remedy="Keep one of the two"
            )

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        if "level" in values:
            return (values["level"] * values["density"] * values["gravity"],)
        return (values.get("initial"),)


class GasAccumulator(AcrossStorage):
    """Q = (C + V / (n (p + p_a))) dp/dt, with the volume V of gas from (p + p_a) V^n = (p_0 + p_a) V_0^n.

    Up to the precharge p_0 the gas fills the shell, and only the oil in the inlet is pressed together: C is its volume
    over its bulk modulus. n is 1 for slow changes at constant temperature and 1.4 for fast ones of nitrogen.
    """

    ports = (Port(HYDRAULIC, Role.ACROSS_STORAGE),)
    kind = "hydraulic.gas_accumulator"
    holding = ("filled",)
    example: ClassVar[Mapping[str, Any]] = {"exponent": 1.2}
    gas_volume: Value = quantity("m^3", "volume of the gas up to the precharge", symbol="V_0", range="positive")
    precharge: Value = quantity("Pa", "pressure of the gas without oil, over the datum", symbol="p_0", range="positive")
    exponent: Value = quantity("", "polytropic exponent, from 1 to 1.4", symbol="n", range="positive")
    atmosphere: Value = quantity("Pa", "absolute pressure of the datum", symbol="p_a", range="positive")
    inlet_volume: Value = quantity("m^3", "volume of the oil in the inlet", range="positive")
    bulk_modulus: Value = quantity("Pa", "bulk modulus of this oil", symbol=r"\beta", range="positive")

    def check(self, values: Mapping[str, float]) -> None:
        if values["exponent"] < 1:
            raise ModelError(
                f"the exponent is {values['exponent']:g}", where=f"{self.name}.exponent", expected="1 or more"
            )

    def _squeeze(self, v: Any, pressure: Any) -> Any:
        """ln(V_0 / V)."""
        from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

        ratio = (pressure + v.atmosphere) / (v.precharge + v.atmosphere)
        return SYMBOLIC["log"](SYMBOLIC["max"](ratio, 0.5)) / v.exponent  # below 1 there is no oil

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        from cotree.maths.symbolic import SYMBOLIC

        pressure = e[0].across
        gas = v.gas_volume * SYMBOLIC["exp"](-self._squeeze(v, pressure))
        capacity = v.inlet_volume / v.bulk_modulus + v.filled * gas / (v.exponent * (pressure + v.atmosphere))
        return [e[0].through - capacity * e[0].d_across]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        from cotree.maths.symbolic import SYMBOLIC, growth

        z = self._squeeze(v, e[0].across)
        absolute = v.precharge + v.atmosphere
        gas = absolute * growth(z, v.exponent - 1) - v.atmosphere * (1 - SYMBOLIC["exp"](-z))
        return v.inlet_volume / v.bulk_modulus * e[0].across ** 2 / 2 + v.filled * v.gas_volume * gas

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        over = e[0].across - v.precharge
        return (
            SwitchLaw("fills", (1 - v.filled) * over, {"filled": 1.0}),
            SwitchLaw("empties", -v.filled * over, {"filled": 0.0}),
        )
