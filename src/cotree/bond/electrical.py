"""Electrical parts of bond graphs: voltage is the effort, current the flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.domains import (
    EffortNode,
    OnePort,
    TwoPort,
    needed,
    own_flow,
    sheet,
    show,
    show_end,
    signal,
    value,
)
from cotree.bond.elements import BondPart, optional
from cotree.bond.structure import Vertex
from cotree.errors import ModelError
from cotree.maths.symbolic import SYMBOLIC, limited_exp
from cotree.model.quantity import Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening


class Node(EffortNode):
    """A 0 junction with one voltage."""

    kind = "bond.electrical.node"
    domain: ClassVar[str] = "electrical"  # type: ignore[misc]


class Part(OnePort):
    """A scalar electrical element."""

    domain: ClassVar[str] = "electrical"  # type: ignore[misc]


class Resistor(Part):
    """v = R i."""

    kind = "bond.electrical.resistor"
    letter = "R"
    shapes = sheet(resistance=value("ohm", "resistance", "R", "positive"))
    resistance: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["resistance"]}


class Capacitor(Part):
    """i = C dv/dt."""

    kind = "bond.electrical.capacitor"
    letter = "C"
    shapes = sheet(
        capacitance=value("F", "capacitance", "C", "positive"),
        initial_voltage=value("V", "voltage at the start, 0 if not given"),
    )
    capacitance: Any = needed()
    initial_voltage: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": 1 / v["capacitance"], "start_conjugate": v.get("initial_voltage")}


class Inductor(Part):
    """v = L di/dt."""

    kind = "bond.electrical.inductor"
    letter = "I"
    shapes = sheet(
        inductance=value("H", "inductance", "L", "positive"),
        initial_current=value("A", "current at the start, 0 if not given"),
    )
    inductance: Any = needed()
    initial_current: Any = optional()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"matrix": v["inductance"], "start_conjugate": v.get("initial_current")}


class VoltageSource(Part):
    """v = voltage(t)."""

    kind = "bond.electrical.voltage_source"
    letter = "Se"
    shapes = sheet(voltage=signal("V", "voltage that it sets"))
    voltage: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["voltage"]}


class CurrentSource(Part):
    """i = current(t) along its bond."""

    kind = "bond.electrical.current_source"
    letter = "Sf"
    shapes = sheet(current=signal("A", "current along its bond"))
    current: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        return {"value": v["current"]}


class Diode(Part):
    """i = I_s (exp(v / V_T) - 1) + G v for the current that enters it (Shockley, with a leakage G).

    Beyond 40 thermal voltages the exponential goes on along its tangent, so that trial values of a solver stay finite.
    """

    kind = "bond.electrical.diode"
    letter = "R"
    shapes = sheet(
        saturation_current=value("A", "saturation current", "I_s", "positive"),
        thermal_voltage=value("V", "emission coefficient times k T / q", "V_T", "positive"),
        leakage=value("S", "conductance in parallel", "G", "non-negative"),
    )
    saturation_current: Any = needed()
    thermal_voltage: Any = needed()
    leakage: Any = needed()

    def constitutive(self, v: Mapping[str, ca.SX]) -> dict[str, Any]:
        def current(e: ca.SX) -> ca.SX:
            growth = limited_exp(e / v["thermal_voltage"], limit=40.0)
            return ca.SX(v["saturation_current"] * (growth - 1) + v["leakage"] * e)

        return {"law": current, "gives": "flow"}


class Switch(Part):
    """i = (c / R_on + (1 - c) / R_off) v, with c = ``closed`` held between 0 (open) and 1 (closed)."""

    kind = "bond.electrical.switch"
    letter = "R"
    shapes = sheet(
        closed=signal("", "1 closed, 0 open; for example step(t - 0.1)"),
        on_resistance=value("ohm", "resistance when closed", "R_on", "positive"),
        off_resistance=value("ohm", "resistance when open", "R_off", "positive"),
    )
    closed: Any = needed()
    on_resistance: Any = needed()
    off_resistance: Any = needed()

    def check(self, values: Mapping[str, float]) -> None:
        if not 0 <= values.get("closed", 0.0) <= 1:
            raise ModelError(f"closed is {values['closed']:g}", where=self.name, expected="1 (closed) or 0 (open)")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        g = self.values_given(v)
        closed = SYMBOLIC["min"](SYMBOLIC["max"](g["closed"], 0.0), 1.0)
        conductance = closed / g["on_resistance"] + (1 - closed) / g["off_resistance"]
        used = make.used(v)
        modulated = bool(used) or make.timed(v)
        make.vertex(
            Vertex(
                path, self.letter, modulated, width=1, domain="electrical", used=used,
                law=lambda e: conductance * e, gives="flow",
            )
        )  # fmt: skip
        show(make, path, "electrical")


class Amplifier(Part):
    """A source of voltage = gain * ``input``, an expression of signals such as ``"p.effort - m.effort"``.

    Without ``gain`` it is ideal: it sets whatever voltage makes its input zero. Its input takes no current, so it is no
    power-conserving element; its output supplies.
    """

    kind = "bond.electrical.amplifier"
    letter = "Se"
    modulated = True
    shapes = sheet(
        input=signal("V", "voltage at the input, as an expression of signals"),
        gain=value("", "open-loop gain; ideal where it is not given", "G", "positive"),
    )
    input: Any = needed()
    gain: Any = optional()

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        g = self.values_given(v)
        own = make.signal(f"{path}.effort")
        wanted = g["gain"] * g["input"] if "gain" in g else own + g["input"]  # ideal: e = e + input holds for input = 0
        self.vertex(make, path, v, width=1, value=wanted)
        into = own_flow(make, path, source=True)
        for name, voltage, current in (("input", g["input"], ca.SX(0)), ("output", own, into)):
            make.output(f"{path}.{name}.voltage", voltage, "V")
            make.output(f"{path}.{name}.current", current, "A")
            make.output(f"{path}.{name}.power", voltage * current, "W")
        show(make, path, "electrical", source=True)


class Transformer(TwoPort):
    """v_1 = n v_2, with n the ratio of primary to secondary turns."""

    kind = "bond.electrical.transformer"
    domain: ClassVar[str] = "electrical"  # type: ignore[misc]
    domains = ("electrical", "electrical")
    shapes = sheet(ratio=value("", "turns of the primary over turns of the secondary", "n", "non-zero"))
    ratio: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return v["ratio"]


class Gyrator(TwoPort):
    """v_2 = r i_1, and v_1 = r i_2 with i_2 counted out."""

    kind = "bond.electrical.gyrator"
    letter = "GY"
    domain: ClassVar[str] = "electrical"  # type: ignore[misc]
    domains = ("electrical", "electrical")
    shapes = sheet(resistance=value("ohm", "gyration resistance", "r", "non-zero"))
    resistance: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return v["resistance"]


class DCMotor(TwoPort):
    """torque = K i and v = K w: the ideal core of a DC machine, from ``electrical`` (1) to ``rotational`` (2)."""

    kind = "bond.electrical.dc_motor"
    letter = "GY"
    ends = ("electrical", "rotational")
    domains = ("electrical", "rotational")
    shapes = sheet(constant=value("V s/rad", "machine constant, the same in N m/A", "K", "non-zero"))
    constant: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return v["constant"]


class VoiceCoil(TwoPort):
    """force = K i and v = K u: the ideal core of a voice coil, from ``electrical`` (1) to ``translational`` (2)."""

    kind = "bond.electrical.voice_coil"
    letter = "GY"
    ends = ("electrical", "translational")
    domains = ("electrical", "translational")
    shapes = sheet(constant=value("V s/m", "coil constant, the same in N/A", "K", "non-zero"))
    constant: Any = needed()

    def modulus_of(self, v: Mapping[str, ca.SX]) -> ca.SX:
        return v["constant"]


class CoupledInductors(BondPart):
    """Two coupled windings, an I of width 2 behind a split: flux = [[L_1, M], [M, L_2]] current."""

    kind = "bond.electrical.coupled_inductors"
    shapes: ClassVar[Mapping[str, Quantity]] = sheet(
        primary_inductance=value("H", "inductance", "L_1", "positive"),
        secondary_inductance=value("H", "inductance", "L_2", "positive"),
        mutual=value("H", "mutual inductance", "M"),
        initial_primary=value("A", "primary current at the start, 0 if not given"),
        initial_secondary=value("A", "secondary current at the start, 0 if not given"),
    )
    primary_inductance: Any = needed()
    secondary_inductance: Any = needed()
    mutual: Any = needed()
    initial_primary: Any = optional()
    initial_secondary: Any = optional()

    def port_names(self) -> tuple[str, ...]:
        return ("primary", "secondary")

    def bundle(self, port: str) -> tuple[tuple[str, int | None], ...]:
        return (("", 1),)

    def check(self, values: Mapping[str, float]) -> None:
        if not {"primary_inductance", "secondary_inductance", "mutual"} <= values.keys():
            return
        limit = (values["primary_inductance"] * values["secondary_inductance"]) ** 0.5
        if abs(values["mutual"]) >= limit:
            raise ModelError(
                f"the mutual inductance is {values['mutual']:g} H",
                where=self.name,
                expected=f"a magnitude below the geometric mean of the two inductances, {limit:g} H",
                remedy="For windings without leakage use an ideal transformer with an inductor at its primary",
            )

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        l1, l2, mutual = (ca.SX(v[name]) for name in ("primary_inductance", "secondary_inductance", "mutual"))
        matrix = ca.vertcat(ca.horzcat(l1, mutual), ca.horzcat(mutual, l2))
        starts = [self.shaped(name, v) for name in ("initial_primary", "initial_secondary")]
        start = ca.vertcat(*(ca.SX(0) if each is None else each for each in starts))
        known = any(each is not None for each in starts)
        split = f"{path}.split"
        make.vertex(
            Vertex(path, "I", width=2, domain="electrical", matrix=matrix, start_conjugate=start if known else None)
        )
        make.vertex(Vertex(split, "Split", parts=(1, 1), domain="electrical"))
        make.bond(f"{path}.windings", (split, "whole"), path, 2)
        for number, end in zip("12", self.port_names(), strict=True):
            make.expose(path, end, "", split, number)
            show_end(make, path, (number, end), "electrical")
