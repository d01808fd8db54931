"""Ideal components between two domains: no power is lost."""

from __future__ import annotations

from typing import Any

from cotree.model import ELECTRICAL, HYDRAULIC, ROTATIONAL, TRANSLATIONAL, Port, Role, Value, quantity
from cotree.terminal.scalar import IdealGyrator, IdealTransformer


class RotationalEMF(IdealTransformer):
    """v = K w and T = -K i: the ideal core of a DC machine."""

    ports = (Port(ELECTRICAL, Role.STATIC, "electrical"), Port(ROTATIONAL, Role.STATIC, "rotational"))
    kind = "rotational_emf"
    electrical: tuple[str, str]
    rotational: tuple[str, str]
    constant: Value = quantity("V s/rad", "machine constant, the same in N m/A", symbol="K", range="non-zero")

    def ratio_of(self, v: Any) -> Any:
        return v.constant


class TranslationalEMF(IdealTransformer):
    """v = K u and F = -K i, with u the velocity: the ideal core of a voice coil."""

    ports = (Port(ELECTRICAL, Role.STATIC, "electrical"), Port(TRANSLATIONAL, Role.STATIC, "translational"))
    kind = "translational_emf"
    electrical: tuple[str, str]
    translational: tuple[str, str]
    constant: Value = quantity("V s/m", "coil constant, the same in N/A", symbol="K", range="non-zero")

    def ratio_of(self, v: Any) -> Any:
        return v.constant


class Wheel(IdealTransformer):
    """u = r w and T = -r F: a wheel on the ground, a drum with its rope, a pinion on its rack."""

    ports = (Port(TRANSLATIONAL, Role.STATIC, "translational"), Port(ROTATIONAL, Role.STATIC, "rotational"))
    translational: tuple[str, str]
    rotational: tuple[str, str]
    radius: Value = quantity("m", "rolling radius", symbol="r", range="non-zero")

    def ratio_of(self, v: Any) -> Any:
        return v.radius


class Piston(IdealGyrator):
    """Q = A u and F = -A p: a cylinder without leakage."""

    ports = (Port(HYDRAULIC, Role.STATIC, "hydraulic"), Port(TRANSLATIONAL, Role.STATIC, "translational"))
    hydraulic: tuple[str, str]
    translational: tuple[str, str]
    area: Value = quantity("m^2", "piston area", symbol="A", range="non-zero")

    def gyration(self, v: Any) -> Any:
        return 1 / v.area
