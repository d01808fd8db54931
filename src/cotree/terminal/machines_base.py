"""What electrical and hydraulic machines share: windings, a moving part with its inertia, and heat of their losses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar

from cotree.errors import ModelError
from cotree.model import ROTATIONAL, THERMAL, TRANSLATIONAL, Port, Role, Value, quantity
from cotree.model.form import Form, or_null, said
from cotree.terminal.scalar import NODES, MultiPort

HEAT = Port(THERMAL, Role.STATIC, "thermal")
ROTOR = Port(ROTATIONAL, Role.ACROSS_STORAGE, "rotor")
MOVER = Port(TRANSLATIONAL, Role.ACROSS_STORAGE, "mover")
SHAFT = Port(ROTATIONAL, Role.STATIC, "shaft")
HEATED = {**said("nodes that the losses heat: the case, and the datum", or_null(NODES)), "refers": True}
"""Of the field with the nodes of a thermal port."""


class Machine(MultiPort):
    """What all machines share.

    The speed w of the moving part counts from the housing. Its inertia, where given, is an edge of its own from the
    moving node to the datum, so that it resists the absolute acceleration. Losses leave through the ``thermal`` port
    where its nodes are given, and dissipate otherwise.
    """

    moving: ClassVar[str] = "shaft"
    """Label of the mechanical port."""
    inert: ClassVar[tuple[str, str, str]] = ("rotor", "inertia", "initial_speed")
    """Label of the edge with the inertia, and the fields that hold the inertia and its speed at the start."""
    windings: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    """Labels of ports with a winding, and the fields that hold its inductance and its current at the start."""
    from_datum = ("rotor", "mover", "thermal")

    thermal: tuple[str, str] | None = field(default=None, kw_only=True, metadata=HEATED)
    datum: str = field(
        default="ground", kw_only=True, metadata={**said("datum, from which inertia counts speeds"), "refers": True}
    )

    def __post_init__(self) -> None:
        edge, inertia, start = self.inert
        self._needs(start, inertia)
        bare = set()
        for label, inductance, current in self.windings:
            self._needs(current, inductance)
            bare |= {label} if getattr(self, inductance) is None else set()
        absent = {edge} if getattr(self, inertia) is None else set()
        absent |= {"thermal"} if self.thermal is None else set()
        ports = [replace(port, role=Role.STATIC) if port.label in bare else port for port in self.ports]
        object.__setattr__(self, "ports", tuple(port for port in ports if port.label not in absent))
        super().__post_init__()

    def _needs(self, given: str, needed: str) -> None:
        if getattr(self, given) is not None and getattr(self, needed) is None:
            raise ModelError(
                f"{given} is given without {needed}",
                where=self.name,
                expected=f"both, since only what is stored has a value of its own at the start: {needed}",
                remedy=f"Give {needed}, or leave out {given}",
            )

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        pairs = []
        for port in self.ports:
            if port.label == self.inert[0]:
                pairs.append((self.pair(self.moving)[0], self.datum))
            else:
                pairs.append(self.pair(port.label))
        return tuple(pairs)

    @classmethod
    def forms(cls) -> dict[str, Form]:
        """The required ones first."""
        return dict(sorted(super().forms().items(), key=lambda pair: not pair[1].required))

    @classmethod
    def data_fields(cls) -> list[str]:
        return list(cls.forms())

    def to_data(self) -> dict[str, Any]:
        data = super().to_data()
        return {key: data[key] for key in ("kind", *self.data_fields()) if key in data}

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        at = self._at(e)
        residuals = self.core(v, at)
        edge, inertia, _ = self.inert
        if edge in at:
            residuals[edge] = at[edge].through - getattr(v, inertia) * at[edge].d_across
        if "thermal" in at:
            residuals["thermal"] = at["thermal"].through + self.lost(v, at)
        return [residuals[port.label] for port in self.ports]

    def core(self, v: Any, at: Mapping[str, Any]) -> dict[str, Any]:
        """The residuals of the ports but those of inertia and heat, by label."""
        raise NotImplementedError

    def lost(self, v: Any, at: Mapping[str, Any]) -> Any:
        """The power that turns into heat."""
        raise NotImplementedError

    def kept(self, v: Any, at: Mapping[str, Any]) -> Any:
        """The energy that is stored besides that of the moving mass."""
        return 0.0

    def loss(self, v: Any, *e: Any) -> Any:
        return 0.0 if self.thermal is not None else self.lost(v, self._at(e))

    def stored_energy(self, v: Any, *e: Any) -> Any:
        at = self._at(e)
        edge, inertia, _ = self.inert
        return self.kept(v, at) + (getattr(v, inertia) * at[edge].across ** 2 / 2 if edge in at else 0.0)

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        starts = {label: start for label, _, start in self.windings} | {self.inert[0]: self.inert[2]}
        return tuple(values.get(starts.get(port.label, "")) for port in self.ports)

    def _at(self, e: Sequence[Any]) -> dict[str, Any]:
        """The ports' variables by label."""
        return {port.label: terminal for port, terminal in zip(self.ports, e, strict=True)}


class Rotating(Machine):
    """A machine with a shaft."""

    inertia: Value | None = quantity(
        "kg m^2",
        "moment of inertia of the rotor; none where it is not given",
        symbol="J",
        range="positive",
        default=None,
        kw_only=True,
    )
    damping: Value = quantity(
        "N m s/rad", "viscous damping between shaft and housing", symbol="b", range="non-negative", default=0.0,
        kw_only=True, built_in="zero",
    )  # fmt: skip
    initial_speed: Value | None = quantity(
        "rad/s", "speed of the rotor at the start, 0 if not given", default=None, kw_only=True
    )


class Sliding(Machine):
    """A machine whose moving part goes along a line."""

    inert = ("mover", "mass", "initial_velocity")

    mass: Value | None = quantity(
        "kg",
        "mass of the moving part; none where it is not given",
        symbol="m",
        range="positive",
        default=None,
        kw_only=True,
    )
    damping: Value = quantity(
        "N s/m", "viscous damping of the moving part against the housing", symbol="b", range="non-negative",
        default=0.0, kw_only=True, built_in="zero",
    )  # fmt: skip
    initial_velocity: Value | None = quantity(
        "m/s", "velocity of the moving part at the start, 0 if not given", default=None, kw_only=True
    )


def winding(v: Any, port: Any, resistance: str = "resistance", inductance: str = "inductance") -> Any:
    """The voltage over resistance and inductance of a winding: R i + L di/dt."""
    own = getattr(v, inductance)
    return getattr(v, resistance) * port.through + (0.0 if own is None else own * port.d_through)


def magnetic(v: Any, port: Any, inductance: str = "inductance") -> Any:
    """The energy of a winding: L i^2 / 2."""
    own = getattr(v, inductance)
    return 0.0 if own is None else own * port.through**2 / 2
