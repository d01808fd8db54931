"""A pipe: friction, inertia and, where asked, compressibility of the fluid in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any

from cotree.errors import ModelError
from cotree.model import HYDRAULIC, Port, Role, Value, quantity
from cotree.model.component import settled
from cotree.model.form import said
from cotree.terminal.scalar import OnePort

LAMINAR, TURBULENT = 2000.0, 4000.0
"""Reynolds numbers up to which the flow is laminar, and from which it is turbulent."""
MOST_LUMPS = 200


class Pipe(OnePort):
    """p = rho L / A dQ/dt + p_f(Q) in a round pipe of length L and area A = pi d^2 / 4.

    Friction p_f: 128 mu L / (pi d^4) Q up to a Reynolds number of 2000 (Hagen-Poiseuille), f L / d rho Q |Q| / (2 A^2)
    from 4000 with f after Haaland (1983), and a smooth blend between. With ``lumps`` n there are n pieces of pipe
    between n + 1 volumes of compressible fluid, V / n / beta each and half of it at both ends.
    """

    ports = (Port(HYDRAULIC, Role.THROUGH_STORAGE),)
    kind = "hydraulic.pipe"
    length: Value = quantity("m", "length", symbol="L", range="positive")
    diameter: Value = quantity("m", "inner diameter", symbol="d", range="positive")
    density: Value = quantity("kg/m^3", "density of the fluid", symbol=r"\rho", range="positive")
    viscosity: Value = quantity("Pa s", "dynamic viscosity of the fluid", symbol=r"\mu", range="positive")
    roughness: Value = quantity(
        "m", "roughness of the wall, 0 for a smooth one", symbol=r"\epsilon", range="non-negative"
    )
    initial: Value | None = quantity("m^3/s", "flow at the start, 0 if not given", default=None)
    lumps: int | None = field(
        default=None, kw_only=True, metadata=said("number of pieces; without it the fluid is incompressible")
    )
    bulk_modulus: Value | None = quantity(
        "Pa", "bulk modulus of the fluid, needed with lumps", symbol=r"\beta", range="positive", default=None
    )
    initial_pressure: Value | None = quantity("Pa", "pressure in the volumes at the start", default=None)
    datum: str = field(
        default="ground", kw_only=True, metadata=said("datum that the volumes are against") | {"refers": True}
    )

    def __post_init__(self) -> None:
        n = settled(self.lumps)
        if n is not None and (type(n) is not int or not 1 <= n <= MOST_LUMPS):
            raise ModelError(
                f"found {n!r}", where=f"{self.name}.lumps", expected=f"a whole number from 1 to {MOST_LUMPS}"
            )
        super().__post_init__()
        if (n is None) != (self.bulk_modulus is None):
            raise ModelError(
                "one of lumps and bulk_modulus is given without the other",
                where=self.name,
                expected="both for a compressible fluid, neither for an incompressible one",
            )
        if n is None and self.initial_pressure is not None:
            raise ModelError(
                "there are no volumes that could start with a pressure",
                where=f"{self.name}.initial_pressure",
                remedy="Give lumps and bulk_modulus, or leave it out",
            )
        if n is not None:
            pieces = tuple(Port(HYDRAULIC, Role.THROUGH_STORAGE, f"piece_{k + 1}") for k in range(n))
            volumes = tuple(Port(HYDRAULIC, Role.ACROSS_STORAGE, f"volume_{k}") for k, _, _ in self._volumes())
            object.__setattr__(self, "ports", pieces + volumes)

    def _nodes(self) -> list[str]:
        """The nodes from end to end."""
        return [self.plus, *(f"{self.name}.node_{k}" for k in range(1, self.lumps or 1)), self.minus]

    def _volumes(self) -> list[tuple[int, str, float]]:
        """Number, node and part of the whole of each volume; an end at the datum has none."""
        if (n := self.lumps) is None:
            return []
        parts = [0.5 / n, *[1 / n] * (n - 1), 0.5 / n]
        every = zip(range(n + 1), self._nodes(), parts, strict=True)
        return [(k, node, part) for k, node, part in every if node != self.datum]

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return (*pairwise(self._nodes()), *((node, self.datum) for _, node, _ in self._volumes()))

    def inertance(self, v: Any) -> Any:
        """rho L / A."""
        return v.density * v.length / (math.pi * v.diameter**2 / 4)

    def friction(self, v: Any, flow: Any) -> Any:
        """Pressure lost along the whole length at this flow."""
        from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

        size, most, log = SYMBOLIC["abs"](flow), SYMBOLIC["max"], SYMBOLIC["log"]
        area = math.pi * v.diameter**2 / 4
        reynolds = v.density * size * v.diameter / (area * v.viscosity)
        above = most(reynolds, LAMINAR)
        rough = (v.roughness / (3.7 * v.diameter)) ** 1.11
        root = -1.8 / math.log(10.0) * log(rough + 6.9 / above)
        laminar = 128 * v.viscosity * v.length / (math.pi * v.diameter**4)
        turbulent = v.length / v.diameter * v.density * size / (2 * area**2 * root**2)
        x = SYMBOLIC["min"]((above - LAMINAR) / (TURBULENT - LAMINAR), 1.0)
        return flow * (laminar + (turbulent - laminar) * x**3 * (10 - 15 * x + 6 * x**2))

    def law(self, v: Any, *e: Any) -> Sequence[Any]:
        n = self.lumps or 1
        inertance = self.inertance(v) / n
        pieces = [piece.across - inertance * piece.d_through - self.friction(v, piece.through) / n for piece in e[:n]]
        return pieces + [edge.through - c * edge.d_across for c, edge in self._filled(v, e)]

    def _filled(self, v: Any, e: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The capacity and the edge of each volume."""
        n = self.lumps or 1
        parts = [part for _, _, part in self._volumes()]
        whole = math.pi * v.diameter**2 / 4 * v.length
        return [(part * whole / v.bulk_modulus, edge) for part, edge in zip(parts, e[n:], strict=True)]

    def stored_energy(self, v: Any, *e: Any) -> Any:
        n = self.lumps or 1
        moving = sum(self.inertance(v) / n * piece.through**2 / 2 for piece in e[:n])
        return moving + sum(c * edge.across**2 / 2 for c, edge in self._filled(v, e))

    def loss(self, v: Any, *e: Any) -> Any:
        n = self.lumps or 1
        return sum(self.friction(v, piece.through) * piece.through / n for piece in e[:n])

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        flow, pressure = values.get("initial"), values.get("initial_pressure")
        return (flow,) * (self.lumps or 1) + (pressure,) * len(self._volumes())
