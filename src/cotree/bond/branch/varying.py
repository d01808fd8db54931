"""Bodies of varying mass: an I with a matrix that changes, and the flow of mass as a modulated source of effort.

With P = M(t) f the effort of the I is P' = M f' + M' f. What the law of the body has besides M f' comes from a source:
the gyroscopic terms, thrust and jet damping, less M' f. What is left of the power of all of them over the rate of the
stored energy is supplied with the flow of mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.branch.bodies import OfBody, gravity
from cotree.bond.mechanics.base import is_zero, junction, one_port
from cotree.bond.motions import BodyPlace
from cotree.bond.structure import Vertex
from cotree.maths.symbolic import substitute
from cotree.terminal.mechanics import Body, BodyMotion
from cotree.terminal.varying import VaryingMass, VaryingPoint, time_rate

if TYPE_CHECKING:
    from cotree.bond.opening import Opening


class OfVaryingBody(OfBody):
    """A body or a point whose mass changes; its I belongs to the body's own frame."""

    kind = "bond.of_varying_body"
    example: ClassVar[Mapping[str, Any]] = {"component": {"kind": "varying_point", "mass": "2 - t"}}

    @classmethod
    def fits(cls, body: Body) -> bool:
        return isinstance(body, (VaryingMass, VaryingPoint))

    def open_inertia(
        self, make: Opening, path: str, v: Mapping[str, Any], placed: BodyPlace, own: tuple[str, str]
    ) -> None:
        spin, move = own
        at, domain, start = move, "translational", placed.pose.start
        begin = start.v
        if self.component.turns:
            at, domain, begin = junction(make, f"{path}.motion", width=6), "", ca.vertcat(start.v, start.w)
            make.vertex(Vertex(f"{path}.both", "Split", parts=(3, 3)))
            make.bond(f"{path}.both.translation", move, (f"{path}.both", "1"), 3)
            make.bond(f"{path}.both.rotation", spin, (f"{path}.both", "2"), 3)
            make.bond(f"{path}.both.bond", (f"{path}.both", "whole"), at, 6)
        matrix, effort = self._law(make, path, v, at)
        width = matrix.shape[0]
        one_port(
            make, f"{path}.m", "I", at, width, matrix=matrix, start_conjugate=begin if placed.free else None,
            domain=domain, text="m(t)", remainder="supplied",
        )  # fmt: skip
        used = make.used({"effort": effort})
        one_port(
            make, f"{path}.flow", "Se", at, width, value=effort, modulated=True, domain=domain, used=used,
            remainder="supplied",
        )  # fmt: skip
        g, R = gravity(make), placed.pose.R
        if not is_zero(g):
            mass, centre = self.component.weight(self.fields_of(v))
            force = mass * ca.mtimes(R.T, g)
            one_port(
                make, f"{path}.weight", "Se", at, width, out=True, modulated=True, domain=domain, text="m g",
                value=ca.vertcat(force, ca.cross(centre, force))[:width], remainder="supplied",
                potential=-mass * ca.dot(g, placed.pose.r + ca.mtimes(R, centre)),
            )  # fmt: skip

    def _law(self, make: Opening, path: str, v: Mapping[str, Any], at: str) -> tuple[ca.SX, ca.SX]:
        """M, and the effort of the law without M f', less M' f."""
        width = 6 if self.component.turns else 3
        mass = ca.SX.sym("mass")
        values: Any = SimpleNamespace(**self.component.gather({**v, "mass": mass}))
        rates, zero = ca.SX.sym("rates", 6), ca.SX.zeros(3)
        flow = ca.vertcat(make.signal(f"{at}.flow", width), zero)[:6]
        motion = BodyMotion(flow[:3], flow[3:], rates[:3], rates[3:], zero)

        def law(values: Any) -> ca.SX:
            inertia = self.component.inertia_law(values, motion)
            return ca.SX(ca.vertcat(inertia.force, inertia.moment))[:width]

        matrix = ca.densify(ca.jacobian(law(values), rates[:width]))
        given = self.fields_of(v)
        m_rate, _ = self.component.flux(given)
        change = ca.reshape(ca.jacobian(ca.vec(matrix), mass), width, width) * m_rate + time_rate(matrix)
        effort = substitute(law(given), rates, ca.SX.zeros(6)) - ca.mtimes(change, flow[:width])
        now = ca.SX(given.mass)
        return substitute(matrix, mass, now), ca.densify(substitute(effort, mass, now))
