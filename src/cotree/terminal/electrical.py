"""Electrical components: voltage is across, current is through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import ELECTRICAL, Port, Role, Signal, Value, quantity, signal
from cotree.model.switching import SwitchLaw
from cotree.terminal.scalar import (
    AcrossSource,
    AcrossStorage,
    Dissipator,
    IdealGyrator,
    IdealTransformer,
    MultiPort,
    OnePort,
    ThroughSource,
    ThroughStorage,
)

LEAKING = 1e-3
"""Voltage in V whose leakage an ideal diode does not tell from no current."""


class Resistor(Dissipator):
    """v = R i."""

    ports = (Port(ELECTRICAL, Role.STATIC),)
    resistance: Value = quantity("ohm", "resistance", symbol="R", range="positive")

    def resistance_of(self, v: Any) -> Any:
        return v.resistance


class Capacitor(AcrossStorage):
    """i = C dv/dt; ``initial`` in V."""

    ports = (Port(ELECTRICAL, Role.ACROSS_STORAGE),)
    capacitance: Value = quantity("F", "capacitance", symbol="C", range="positive")

    def capacity(self, v: Any) -> Any:
        return v.capacitance


class Inductor(ThroughStorage):
    """v = L di/dt (McPhee 1996, eq. 14); ``initial`` in A."""

    ports = (Port(ELECTRICAL, Role.THROUGH_STORAGE),)
    inductance: Value = quantity("H", "inductance", symbol="L", range="positive")

    def inertance(self, v: Any) -> Any:
        return v.inductance


class VoltageSource(AcrossSource):
    """v = voltage(t), from minus to plus."""

    ports = (Port(ELECTRICAL, Role.ACROSS_SOURCE),)
    voltage: Signal = signal("V", "voltage of plus over minus", measured=True)

    def signal(self, v: Any) -> Any:
        return v.voltage


class CurrentSource(ThroughSource):
    """i = current(t), from plus through the source to minus: it drives current into the node ``minus``."""

    ports = (Port(ELECTRICAL, Role.THROUGH_SOURCE),)
    current: Signal = signal("A", "current from plus to minus through the source", measured=True)

    def signal(self, v: Any) -> Any:
        return v.current


class Switch(OnePort):
    """A resistance that changes between two values; ``closed`` is 1 when closed and 0 when open.

    i = (c / R_on + (1 - c) / R_off) v, with c = ``closed`` held between 0 and 1: values between blend the two
    conductances, values beyond count as 0 or 1.
    """

    ports = (Port(ELECTRICAL, Role.STATIC),)
    closed: Signal = signal("", "1 closed, 0 open; for example step(t - 0.1)", measured=True)
    on_resistance: Value = quantity("ohm", "resistance when closed", symbol="R_on", range="positive")
    off_resistance: Value = quantity("ohm", "resistance when open", symbol="R_off", range="positive")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        closed = v.closed
        given = self.expressions["closed"]
        alone = getattr(closed, "is_symbolic", bool)() and closed.name() != "t" and not given.measured
        if (
            given.depends_on_time or given.measured
        ) and not alone:  # step or pulse alone: 0 or 1; constants are checked
            from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

            closed = SYMBOLIC["min"](SYMBOLIC["max"](closed, 0.0), 1.0)
        conductance = closed / v.on_resistance + (1 - closed) / v.off_resistance
        return [e[0].through - conductance * e[0].across]

    def check(self, values: Mapping[str, float]) -> None:
        if not 0 <= values.get("closed", 0.0) <= 1:
            raise ModelError(f"closed is {values['closed']:g}", where=self.name, expected="1 (closed) or 0 (open)")


class Diode(OnePort):
    """i = I_s (exp(v / V_T) - 1) + G v, conducting from plus to minus (Shockley, with a leakage G).

    The leakage must be given: between two blocking diodes it alone fixes the voltage of their node. Beyond 40 thermal
    voltages the exponential goes on along its tangent, so that trial values of a solver stay finite.
    """

    ports = (Port(ELECTRICAL, Role.STATIC),)
    saturation_current: Value = quantity("A", "saturation current", symbol="I_s", range="positive")
    thermal_voltage: Value = quantity("V", "emission coefficient times k T / q", symbol="V_T", range="positive")
    leakage: Value = quantity("S", "conductance in parallel", symbol="G", range="non-negative")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        from cotree.maths.symbolic import limited_exp  # a model is built without loading CasADi

        growth = limited_exp(e[0].across / v.thermal_voltage, limit=40.0)
        return [e[0].through - v.saturation_current * (growth - 1) - v.leakage * e[0].across]


class IdealDiode(OnePort):
    """v = V_f + R_on (i - V_f / R_off) while it conducts, i = v / R_off while it blocks; it conducts where v > V_f.

    It conducts from plus to minus. Every change is an event, so that each stretch between is linear. It blocks again
    when its current falls below V_f / R_off by the leakage of 1 mV: otherwise rounding could let it change for ever.
    """

    ports = (Port(ELECTRICAL, Role.STATIC),)
    holding = ("conducting",)
    example: ClassVar[Mapping[str, Any]] = {"on_resistance": 0.01, "off_resistance": 1e6, "forward_voltage": 0.6}
    on_resistance: Value = quantity("ohm", "resistance while it conducts", symbol="R_on", range="positive")
    off_resistance: Value = quantity("ohm", "resistance while it blocks", symbol="R_off", range="positive")
    forward_voltage: Value = quantity(
        "V", "voltage above which it conducts", symbol="V_f", range="non-negative", default=0.0, built_in="zero"
    )

    def check(self, values: Mapping[str, float]) -> None:
        if values["on_resistance"] >= values["off_resistance"]:
            raise ModelError(
                f"it conducts with {values['on_resistance']:g} ohm and blocks with {values['off_resistance']:g} ohm",
                where=self.name,
                expected="on_resistance < off_resistance",
            )

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        above = v.conducting * (e[0].across - v.forward_voltage) * (1 / v.on_resistance - 1 / v.off_resistance)
        return [e[0].through - e[0].across / v.off_resistance - above]

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        above = e[0].across - v.forward_voltage
        return [
            SwitchLaw("conducts", (1 - v.conducting) * above, {"conducting": 1.0}),
            SwitchLaw(
                "blocks", -v.conducting * (above / v.on_resistance + LEAKING / v.off_resistance), {"conducting": 0.0}
            ),
        ]


class Transformer(IdealTransformer):
    """v_1 = n v_2, i_2 = -n i_1, with n the ratio of primary to secondary turns."""

    ports = (Port(ELECTRICAL, Role.STATIC, "primary"), Port(ELECTRICAL, Role.STATIC, "secondary"))
    primary: tuple[str, str]
    secondary: tuple[str, str]
    ratio: Value = quantity("", "turns of the primary over turns of the secondary", symbol="n", range="non-zero")

    def ratio_of(self, v: Any) -> Any:
        return v.ratio


class Gyrator(IdealGyrator):
    """v_2 = r i_1, v_1 = -r i_2."""

    ports = (Port(ELECTRICAL, Role.STATIC, "primary"), Port(ELECTRICAL, Role.STATIC, "secondary"))
    primary: tuple[str, str]
    secondary: tuple[str, str]
    resistance: Value = quantity("ohm", "gyration resistance", symbol="r", range="non-zero")

    def gyration(self, v: Any) -> Any:
        return v.resistance


class OperationalAmplifier(MultiPort):
    """Ideal: no voltage and no current at the input, any voltage and current at the output (a nullor).

    With ``gain`` given, v_output = gain * v_input.
    """

    ports = (Port(ELECTRICAL, Role.STATIC, "input"), Port(ELECTRICAL, Role.STATIC, "output"))
    supplies = True
    input: tuple[str, str]
    output: tuple[str, str]
    gain: Value | None = quantity(
        "", "open-loop gain; ideal where it is not given", symbol="G", range="positive", default=None
    )

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        if self.gain is None:
            return [e[0].across, e[0].through]
        return [e[1].across - v.gain * e[0].across, e[0].through]


class MutualInductance(MultiPort):
    """Two coupled windings: v_1 = L_1 di_1/dt + M di_2/dt and v_2 = M di_1/dt + L_2 di_2/dt."""

    ports = (
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "primary"),
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "secondary"),
    )
    primary: tuple[str, str]
    secondary: tuple[str, str]
    primary_inductance: Value = quantity("H", "inductance", symbol="L_1", range="positive")
    secondary_inductance: Value = quantity("H", "inductance", symbol="L_2", range="positive")
    mutual: Value = quantity("H", "mutual inductance", symbol="M")
    initial_primary: Value | None = quantity("A", "primary current at the start", default=None)
    initial_secondary: Value | None = quantity("A", "secondary current at the start", default=None)

    def check(self, values: Mapping[str, float]) -> None:
        limit = (values["primary_inductance"] * values["secondary_inductance"]) ** 0.5
        if abs(values["mutual"]) >= limit:
            raise ModelError(
                f"the mutual inductance is {values['mutual']:g} H",
                where=self.name,
                expected=f"a magnitude below the geometric mean of the two inductances, {limit:g} H",
                remedy="For windings without leakage use an ideal transformer with an inductor at its primary",
            )

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        d1, d2 = e[0].d_through, e[1].d_through
        return [
            e[0].across - v.primary_inductance * d1 - v.mutual * d2,
            e[1].across - v.mutual * d1 - v.secondary_inductance * d2,
        ]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        i1, i2 = e[0].through, e[1].through
        return v.primary_inductance * i1**2 / 2 + v.mutual * i1 * i2 + v.secondary_inductance * i2**2 / 2

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        return values.get("initial_primary"), values.get("initial_secondary")
