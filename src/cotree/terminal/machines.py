"""Machines between domains: motors and generators, solenoid and voice coil, hydraulic pump and motor.

Every port is passive: ``across * through`` is the power into the machine. A machine that drives its shaft takes a
negative torque there, and the same machine driven by its shaft is a generator, or a pump.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import ELECTRICAL, TRANSLATIONAL, Port, Role, Value, quantity
from cotree.terminal.machines_base import HEAT, MOVER, ROTOR, SHAFT, Machine, Rotating, Sliding, magnetic, winding
from cotree.terminal.machines_hydraulic import HydraulicMotor, Pump
from cotree.terminal.machines_solenoid import Solenoid

__all__ = ["DCMotor", "ExcitedMotor", "HydraulicMotor", "Pump", "Solenoid", "Synchronous", "VoiceCoil"]


class _DirectCurrent(Machine):
    """v = R i + L di/dt + K w, and K i drives the moving part."""

    windings = (("electrical", "inductance", "initial_current"),)

    def core(self, v: Any, at: Mapping[str, Any]) -> dict[str, Any]:
        electrical, moving = at["electrical"], at[self.moving]
        return {
            "electrical": electrical.across - winding(v, electrical) - v.constant * moving.across,
            self.moving: moving.through + v.constant * electrical.through - v.damping * moving.across,
        }

    def lost(self, v: Any, at: Mapping[str, Any]) -> Any:
        return v.resistance * at["electrical"].through ** 2 + v.damping * at[self.moving].across ** 2

    def kept(self, v: Any, at: Mapping[str, Any]) -> Any:
        return magnetic(v, at["electrical"])


class DCMotor(_DirectCurrent, Rotating):
    """A DC motor with a constant field: v = R i + L di/dt + K w, torque on the shaft K i - b w.

    w is the speed of the shaft against the housing. The rotor's inertia counts from the datum: J dw_abs/dt. The losses
    R i^2 + b w^2 leave as heat through the thermal port, where its nodes are given. Driven by its shaft it is a
    generator: the current is then negative, and K w the voltage without load.
    """

    ports = (Port(ELECTRICAL, Role.THROUGH_STORAGE, "electrical"), SHAFT, ROTOR, HEAT)
    kind = "machines.dc_motor"
    electrical: tuple[str, str]
    shaft: tuple[str, str]
    resistance: Value = quantity("ohm", "resistance of the armature", symbol="R", range="positive")
    inductance: Value | None = quantity(
        "H",
        "inductance of the armature; none where it is not given",
        symbol="L",
        range="positive",
        default=None,
        kw_only=True,
    )
    constant: Value = quantity("V s/rad", "machine constant, the same in N m/A", symbol="K", range="non-zero")
    initial_current: Value | None = quantity("A", "current at the start, 0 if not given", default=None, kw_only=True)


class VoiceCoil(_DirectCurrent, Sliding):
    """A coil in a constant field: v = R i + L di/dt + K u, force on the coil K i - b u.

    u is the velocity of the coil against the magnet. The coil's mass counts from the datum: m du_abs/dt. R i^2 + b u^2
    leaves as heat through the thermal port, where its nodes are given.
    """

    moving = "coil"
    ports = (
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "electrical"),
        Port(TRANSLATIONAL, Role.STATIC, "coil"),
        MOVER,
        HEAT,
    )
    electrical: tuple[str, str]
    coil: tuple[str, str]
    resistance: Value = quantity("ohm", "resistance of the coil", symbol="R", range="positive")
    inductance: Value | None = quantity(
        "H",
        "inductance of the coil; none where it is not given",
        symbol="L",
        range="positive",
        default=None,
        kw_only=True,
    )
    constant: Value = quantity("V s/m", "coil constant, the same in N/A", symbol="K", range="non-zero")
    initial_current: Value | None = quantity("A", "current at the start, 0 if not given", default=None, kw_only=True)


class ExcitedMotor(Rotating):
    """A DC motor with a field winding: v_a = R_a i_a + L_a di_a/dt + K i_f w, v_f = R_f i_f + L_f di_f/dt.

    The torque on the shaft is K i_f i_a - b w, with w the speed of the shaft against the housing; the rotor's inertia
    counts from the datum. Armature and field in series or in parallel make a series or a shunt motor. The losses
    R_a i_a^2 + R_f i_f^2 + b w^2 leave as heat through the thermal port, where its nodes are given. Driven by its shaft
    it is a generator.
    """

    windings = (
        ("armature", "armature_inductance", "initial_armature"),
        ("field", "field_inductance", "initial_field"),
    )
    ports = (
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "armature"),
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "field"),
        SHAFT,
        ROTOR,
        HEAT,
    )
    armature: tuple[str, str]
    field: tuple[str, str]
    shaft: tuple[str, str]
    armature_resistance: Value = quantity("ohm", "resistance of the armature", symbol="R_a", range="positive")
    armature_inductance: Value | None = quantity(
        "H",
        "inductance of the armature; none where it is not given",
        symbol="L_a",
        range="positive",
        default=None,
        kw_only=True,
    )
    field_resistance: Value = quantity("ohm", "resistance of the field winding", symbol="R_f", range="positive")
    field_inductance: Value | None = quantity(
        "H",
        "inductance of the field winding; none where it is not given",
        symbol="L_f",
        range="positive",
        default=None,
        kw_only=True,
    )
    constant: Value = quantity("N m/A^2", "torque over the product of the currents", symbol="K", range="non-zero")
    initial_armature: Value | None = quantity(
        "A", "armature current at the start, 0 if not given", default=None, kw_only=True
    )
    initial_field: Value | None = quantity(
        "A", "field current at the start, 0 if not given", default=None, kw_only=True
    )

    def core(self, v: Any, at: Mapping[str, Any]) -> dict[str, Any]:
        armature, excited, shaft = at["armature"], at["field"], at["shaft"]
        flux = v.constant * excited.through
        return {
            "armature": armature.across
            - winding(v, armature, "armature_resistance", "armature_inductance")
            - flux * shaft.across,
            "field": excited.across - winding(v, excited, "field_resistance", "field_inductance"),
            "shaft": shaft.through + flux * armature.through - v.damping * shaft.across,
        }

    def lost(self, v: Any, at: Mapping[str, Any]) -> Any:
        copper = v.armature_resistance * at["armature"].through ** 2 + v.field_resistance * at["field"].through ** 2
        return copper + v.damping * at["shaft"].across ** 2

    def kept(self, v: Any, at: Mapping[str, Any]) -> Any:
        return magnetic(v, at["armature"], "armature_inductance") + magnetic(v, at["field"], "field_inductance")


class Synchronous(Rotating):
    """A synchronous machine in dq axes: v_d = R i_d + L_d di_d/dt - p w L_q i_q, v_q = R i_q + L_q di_q/dt + p w psi_d.

    psi_d = L_d i_d + psi, and the torque on the shaft is p (psi i_q + (L_d - L_q) i_d i_q) - b w, with w the speed of
    the shaft against the housing; the rotor's inertia counts from the datum. The axes are those of the power-invariant
    transform, so that v_d i_d + v_q i_q is the power of all three phases: currents and voltages are sqrt(3/2) times the
    peak values of a phase, and psi is sqrt(3/2) times the peak flux linkage of a phase. The losses
    R (i_d^2 + i_q^2) + b w^2 leave as heat through the thermal port, where its nodes are given. Driven by its shaft it
    is a generator; without magnets (psi = 0) a reluctance machine.
    """

    windings = (("d", "d_inductance", "initial_d"), ("q", "q_inductance", "initial_q"))
    ports = (
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "d"),
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "q"),
        SHAFT,
        ROTOR,
        HEAT,
    )
    example: ClassVar[Mapping[str, Any]] = {"pole_pairs": 4}
    d: tuple[str, str]
    q: tuple[str, str]
    shaft: tuple[str, str]
    pole_pairs: Value = quantity("", "number of pole pairs", symbol="p", range="positive")
    resistance: Value = quantity("ohm", "resistance of a phase", symbol="R", range="positive")
    d_inductance: Value = quantity("H", "inductance along the magnets", symbol="L_d", range="positive")
    q_inductance: Value = quantity("H", "inductance across the magnets", symbol="L_q", range="positive")
    flux: Value = quantity("Wb", "flux linkage of the magnets", symbol="psi", range="non-negative")
    initial_d: Value | None = quantity(
        "A", "current of the d axis at the start, 0 if not given", default=None, kw_only=True
    )
    initial_q: Value | None = quantity(
        "A", "current of the q axis at the start, 0 if not given", default=None, kw_only=True
    )

    def check(self, values: Mapping[str, float]) -> None:
        if (pairs := values["pole_pairs"]) != int(pairs):
            raise ModelError(f"found {pairs:g}", where=f"{self.name}.pole_pairs", expected="a whole number")

    def core(self, v: Any, at: Mapping[str, Any]) -> dict[str, Any]:
        d, q, shaft = at["d"], at["q"], at["shaft"]
        electrical_speed = v.pole_pairs * shaft.across
        flux_d, flux_q = v.d_inductance * d.through + v.flux, v.q_inductance * q.through
        return {
            "d": d.across - winding(v, d, inductance="d_inductance") + electrical_speed * flux_q,
            "q": q.across - winding(v, q, inductance="q_inductance") - electrical_speed * flux_d,
            "shaft": shaft.through
            + v.pole_pairs * (flux_d * q.through - flux_q * d.through)
            - v.damping * shaft.across,
        }

    def lost(self, v: Any, at: Mapping[str, Any]) -> Any:
        currents = at["d"].through ** 2 + at["q"].through ** 2
        return v.resistance * currents + v.damping * at["shaft"].across ** 2

    def kept(self, v: Any, at: Mapping[str, Any]) -> Any:
        return magnetic(v, at["d"], "d_inductance") + magnetic(v, at["q"], "q_inductance")
