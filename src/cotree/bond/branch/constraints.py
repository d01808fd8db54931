"""What holds a mechanism besides its joints: constraints between frames, couplings of joints, and drivers.

Each is a source of flow at the end of transformers; its effort is the reaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.branch.base import Between, Wrapped, beside, is_given, joint_beside
from cotree.bond.branch.forces import FORCE, OnAxis
from cotree.bond.branch.joints import OfJoint
from cotree.bond.mechanics.base import DOMAINS, components, junction, one_port, transformer
from cotree.bond.structure import Vertex
from cotree.errors import ModelError
from cotree.maths.rotation import skew
from cotree.maths.symbolic import substitute
from cotree.model import Component
from cotree.terminal.mechanics import ORIENTATION, Constraint, Coupling, Driver, Motion

if TYPE_CHECKING:
    from cotree.bond.opening import Opening


class OfConstraint(Between):
    """Equations between the motions of two frames (Richard 2012, eq. 26): Sf at transformers with their gradients."""

    kind = "bond.of_constraint"
    wraps: ClassVar[type[Component]] = Constraint

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        C, d = self.pose(make, path)
        rows = {"held": self._held(make, v, C, d), "rolling": self._rolling(v, C, d)}
        gradients = [row[w] for row in rows.values() if row is not None for w in DOMAINS]
        words = tuple(w for k, w in enumerate(DOMAINS) if any(not g.is_zero() for g in gradients[k::2]))
        self.open_relative(make, path, C, d, words)
        total = {w: ca.SX.zeros(3) for w in DOMAINS}
        power = ca.SX(0)
        for name, row in rows.items():
            if row is None:
                continue
            count = row["value"].numel()
            zero = junction(make, f"{path}.{name}", "0", count)
            for word in words:
                if not row[word].is_zero():
                    matrix = ca.densify(row[word])
                    modulated = not matrix.is_constant()
                    transformer(make, f"{path}.{name}.{word}", matrix, f"{path}.{word}", zero, modulated=modulated)
            one_port(
                make, f"{path}.{name}.reaction", "Sf", zero, count, value=row["value"], gap=row["gap"],
                modulated=not is_given(make, row["value"]), domain=DOMAINS[words[-1]],
            )  # fmt: skip
            effort = make.reported(f"{path}.{name}.reaction.effort", count)
            for word in words:
                total[word] -= ca.mtimes(row[word].T, effort)
            power -= ca.dot(effort, row["value"])
        for word, (name, unit) in FORCE.items():
            components(make, f"{path}.{name}", total[word], unit)
        if not power.is_zero():
            make.output(f"{path}.power", power, "W")

    def _held(self, make: Opening, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, Any] | None:
        """Position equations: gradients by velocity and angular velocity in a, the flow that time asks for, the gap."""
        part, values = self.component, self.fields_of(v)
        d_, C_ = ca.SX.sym("d", 3), ca.SX.sym("C", 3, 3)
        phi = ca.vertcat(part.closure(values, d_, C_), part.alignment(values, C_))
        if not phi.numel():
            return None
        spins = ca.horzcat(*(ca.vec(ca.mtimes(skew(e), C_)) for e in ca.horzsplit(ca.SX.eye(3))))
        by_spin = ca.mtimes(ca.jacobian(phi, ca.vec(C_)), spins)
        all_parts = ca.horzcat(phi, ca.jacobian(phi, d_), by_spin, ca.jacobian(phi, make.values.t))
        now = substitute(all_parts, ca.vertcat(d_, ca.vec(C_)), ca.densify(ca.vertcat(d, ca.vec(C))))
        return {"gap": now[:, 0], "translation": now[:, 1:4], "rotation": now[:, 4:7], "value": -ca.densify(now[:, 7])}

    def _rolling(self, v: Mapping[str, Any], C: ca.SX, d: ca.SX) -> dict[str, Any] | None:
        """Equations between velocities that are no rates of position equations."""
        rate, spin = ca.SX.sym("d_dot", 3), ca.SX.sym("omega", 3)
        psi = ca.SX(self.component.rolling(self.fields_of(v), Motion(d, C, rate, spin)))
        if not psi.numel():
            return None
        value = ca.SX.zeros(psi.numel())
        gradients = {"translation": ca.jacobian(psi, rate), "rotation": ca.jacobian(psi, spin)}
        return {"gap": None, "value": value, **gradients}


class OfCoupling(Wrapped):
    """sum of factor * coordinate = constant: transformers from the joints' ports to a junction 0, held by Sf = 0.

    Its ports are ``term_1``, ``term_2``, ... in the order of the coupling's terms.
    """

    kind = "bond.of_coupling"
    wraps: ClassVar[type[Component]] = Coupling

    def port_names(self) -> tuple[str, ...]:
        return tuple(f"term_{k + 1}" for k in range(self.count))

    @property
    def count(self) -> int:
        """How many coordinates it couples."""
        return len(getattr(self.component, "factors", (0, 0)))

    def bundle(self, port: str) -> tuple[tuple[str, int | None], ...]:
        return (("", 1),)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        values = self.fields_of(v)
        zero = junction(make, f"{path}.sum", "0", 1)
        gap = -ca.SX(0 if values.offset is None else values.offset)
        domain = ""
        for k, (joint, wanted, factor) in enumerate(self.component.terms(values)):
            part = joint_beside(make, path, joint, OfJoint)
            name = wanted or only_coordinate(part)
            gap += factor * make.signal(f"{beside(path, joint)}.{name}")
            port = f"term_{k + 1}"
            make.expose(path, port, "", junction(make, f"{path}.{port}", width=1))
            transformer(make, f"{path}.factor_{k + 1}", ca.SX(factor), f"{path}.{port}", zero, modulated=False)
        one_port(make, f"{path}.reaction", "Sf", zero, 1, value=ca.SX.zeros(1), gap=gap, domain=domain, text="0")


def only_coordinate(part: OfJoint) -> str:
    """The one scalar coordinate of a joint."""
    scalars = [c.name for c in part.component.coordinates if c.name != ORIENTATION]
    if len(scalars) != 1:
        raise ModelError(f"the joint '{part.name}' has {len(scalars)} coordinates", expected="one, or the name of one")
    return str(scalars[0])


class OfDriver(OnAxis):
    """A coordinate or its speed over time: a source of flow; its bond points to the joint."""

    kind = "bond.of_driver"
    wraps: ClassVar[type[Component]] = Driver

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        x, rate, group = self.along(make, path)
        course = ca.SX(self.component.course(self.fields_of(v)))
        speed = course if self.component.of_speed else ca.jacobian(course, make.values.t)
        gap = None if self.component.of_speed else course - x  # its own flow counts into the source
        make.vertex(
            Vertex(path, "Sf", width=1, value=ca.densify(speed), gap=gap, domain=DOMAINS[group], text="drive")
        )  # fmt: skip
        self.report(make, path, make.reported(f"{path}.effort"), rate, group)
