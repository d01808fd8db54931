"""A hydraulic cylinder with two chambers of compressible oil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cotree.errors import ModelError
from cotree.model import HYDRAULIC, TRANSLATIONAL, Port, Role, Value, quantity
from cotree.model.switching import SwitchLaw
from cotree.terminal.scalar import MultiPort
from cotree.terminal.stops import Stop


class TwoChambers(MultiPort):
    """A piston between two chambers that stops at both ends of its stroke.

    V_1 = V_d + A_1 s and V_2 = V_d + A_2 (stroke - s), with s = x - offset how far the piston is out. F = p_1 A_1 -
    p_2 A_2 and the stops push the ends of the ``piston`` port apart.
    """

    positions = ("piston",)
    holding = ("at_retracted", "at_extended")
    head: tuple[str, str]
    rod: tuple[str, str]
    piston: tuple[str, str]
    head_area: Value = quantity("m^2", "area of the piston in the head chamber", symbol="A_1", range="positive")
    rod_area: Value = quantity("m^2", "area of the piston in the rod chamber", symbol="A_2", range="positive")
    stroke: Value = quantity("m", "way of the piston between the stops", range="positive")
    offset: Value = quantity("m", "position of the piston port where the piston is fully retracted")
    dead_volume: Value = quantity(
        "m^3", "volume of each chamber that the piston leaves", symbol="V_d", range="positive"
    )
    leakage: Value = quantity("m^3/(s Pa)", "flow past the piston for each pascal", symbol="G", range="non-negative")
    stop_stiffness: Value = quantity("N/m", "stiffness of the stops", symbol="k", range="positive")
    stop_damping: Value = quantity("N s/m", "damping of the stops", symbol="c", range="non-negative")
    initial_head: Value | None = quantity(
        "Pa", "pressure in the head chamber at the start, 0 if not given", default=None, kw_only=True
    )
    initial_rod: Value | None = quantity(
        "Pa", "pressure in the rod chamber at the start, 0 if not given", default=None, kw_only=True
    )
    initial_position: Value | None = quantity(
        "m", "position at the start where no line or joint gives it; retracted if not given", default=None, kw_only=True
    )

    def check(self, values: Mapping[str, float]) -> None:
        low, high = values["offset"], values["offset"] + values["stroke"]
        if not low <= (start := values.get("initial_position", low)) <= high:
            raise ModelError(
                f"the piston starts at {start:g} m",
                where=f"{self.name}.initial_position",
                expected=f"from {low:g} m (retracted) to {high:g} m (extended)",
            )

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        return values.get("initial_head"), values.get("initial_rod"), None

    def position_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (values.get("initial_position", values["offset"]),)

    def volumes(self, v: Any, x: Any) -> tuple[Any, Any]:
        """The two volumes at a position."""
        out = x - v.offset
        return v.dead_volume + v.head_area * out, v.dead_volume + v.rod_area * (v.stroke - out)

    def stops(self, v: Any, piston: Any) -> tuple[Stop, Stop]:
        """The stop where the piston is retracted, and the one where it is extended."""
        k, c, out = v.stop_stiffness, v.stop_damping, piston.position - v.offset
        return (
            Stop(-out, -piston.across, k, c, v.at_retracted),
            Stop(out - v.stroke, piston.across, k, c, v.at_extended),
        )

    def force(self, v: Any, *e: Any) -> Any:
        """What pushes the ends of the piston port apart."""
        low, high = self.stops(v, e[2])
        return e[0].across * v.head_area - e[1].across * v.rod_area + low.force - high.force

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        low, high = self.stops(v, e[2])
        return (*low.switches("at_retracted", "retracted"), *high.switches("at_extended", "extended"))


class Cylinder(TwoChambers):
    """Q_1 = V_1 / beta dp_1/dt + A_1 u + G (p_1 - p_2), Q_2 = V_2 / beta dp_2/dt - A_2 u - G (p_1 - p_2).

    u is the speed of the piston outwards. V_1 = V_d + A_1 s and V_2 = V_d + A_2 (stroke - s), with s = x - offset how
    far it is out; F = p_1 A_1 - p_2 A_2 and the stops push the ends of the ``piston`` port apart, and no stop pulls.

    These are the usual laws, with flows at the pressure of the chamber. They leave out the energy p^2 / (2 beta) that
    each volume of compressed oil carries with it, so the balance books (p_1^2 A_1 - p_2^2 A_2) u / (2 beta) as if it
    were a (negative) loss: p / (2 beta) of the power p A u, 0.7 % at 200 bar and 1.4 GPa.
    """

    ports = (
        Port(HYDRAULIC, Role.ACROSS_STORAGE, "head"),
        Port(HYDRAULIC, Role.ACROSS_STORAGE, "rod"),
        Port(TRANSLATIONAL, Role.STATIC, "piston"),
    )
    kind = "hydraulic.cylinder"
    bulk_modulus: Value = quantity("Pa", "bulk modulus of the oil", symbol=r"\beta", range="positive")

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        (v1, v2), u = self.volumes(v, e[2].position), e[2].across
        leak = v.leakage * (e[0].across - e[1].across)
        return [
            e[0].through - v1 / v.bulk_modulus * e[0].d_across - v.head_area * u - leak,
            e[1].through - v2 / v.bulk_modulus * e[1].d_across + v.rod_area * u + leak,
            e[2].through + self.force(v, *e),
        ]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        v1, v2 = self.volumes(v, e[2].position)
        oil = (v1 * e[0].across ** 2 + v2 * e[1].across ** 2) / (2 * v.bulk_modulus)
        return oil + sum(stop.energy for stop in self.stops(v, e[2]))

    def loss(self, v: Any, *e: Any) -> Any:
        p1, p2, u = e[0].across, e[1].across, e[2].across
        carried = (p1**2 * v.head_area - p2**2 * v.rod_area) * u / (2 * v.bulk_modulus)
        return v.leakage * (p1 - p2) ** 2 - carried + sum(stop.loss for stop in self.stops(v, e[2]))
