"""Force elements of a mechanism: sources of effort by the laws of the elements.

An element between two frames acts on the motion of b seen from a; one along a joint's coordinate is bonded to the
joint's port. What it stores counts as potential energy, what is left of its power as dissipated or supplied.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.branch.base import Between, Wrapped, beside, is_given, joint_beside
from cotree.bond.branch.joints import OfJoint
from cotree.bond.mechanics.base import DOMAINS, components, junction, one_port
from cotree.bond.structure import Vertex
from cotree.maths.symbolic import substitute
from cotree.model import Component
from cotree.terminal.mechanics import Element, JointForce, Motion, OnJoint
from cotree.terminal.springs import JointDamper, JointSpring

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

FORCE = {"translation": ("force", "N"), "rotation": ("torque", "N m")}
"""What a coordinate's force is called, and its unit."""


def remainder(supplies: bool) -> str:
    """What the power of an element counts as."""
    return "supplied" if supplies else "dissipated"


class OfForce(Between):
    """A force element between the frames a and b."""

    kind = "bond.of_force"
    wraps: ClassVar[type[Component]] = Element

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        C, d = self.pose(make, path)
        part, values, here = self.component, self.fields_of(v), SimpleNamespace(t=make.values.t)
        rate, spin = ca.SX.sym("d_dot", 3), ca.SX.sym("omega", 3)
        motion = Motion(d, C, rate, spin)
        wrench = part.wrench(values, motion, here)
        efforts = {"translation": ca.SX(wrench.force), "rotation": ca.SX(wrench.torque)}
        own = {"translation": rate, "rotation": spin}
        every = ca.veccat(*efforts.values())
        words = tuple(w for w in efforts if not efforts[w].is_zero() or ca.depends_on(every, own[w]))
        flows = {w: make.signal(f"{path}.{w}.source.flow", 3) if w in words else ca.SX.zeros(3) for w in own}
        here_now = ca.veccat(*flows.values())
        efforts = {w: substitute(e, ca.veccat(*own.values()), here_now) for w, e in efforts.items()}
        self.open_relative(make, path, C, d, words)
        potential = ca.SX(part.potential(values, motion))
        for k, word in enumerate(words):
            stored = potential if k == 0 and not potential.is_constant() else None
            used = make.used({"effort": efforts[word]})
            one_port(
                make, f"{path}.{word}.source", "Se", f"{path}.{word}", 3, value=-ca.densify(efforts[word]),
                modulated=not is_given(make, efforts[word]), domain=DOMAINS[word], used=used, potential=stored,
                remainder=remainder(part.supplies), text=part.kind.rpartition(".")[2],
            )  # fmt: skip
        power = sum((ca.dot(efforts[w], flows[w]) for w in words), ca.SX(0))
        for word, (name, unit) in FORCE.items():
            components(make, f"{path}.{name}", ca.densify(efforts[word]), unit)
        make.output(f"{path}.power", power, "W")


class OnAxis(Wrapped):
    """Something that is bonded to a joint's port along one coordinate."""

    wraps: ClassVar[type[Component]] = OnJoint

    def along(self, make: Opening, path: str) -> tuple[ca.SX, ca.SX, str]:
        """The coordinate, its rate, and whether it is a rotation or a translation."""
        joint = joint_beside(make, path, self.component.on, OfJoint)
        chosen = self.component.chosen(joint.component)
        name = f"{beside(path, self.component.on)}.{chosen}"
        group = next(c.group for c in joint.component.coordinates if c.name == chosen)
        return make.signal(name), make.signal(f"{name}_rate"), group

    def report(self, make: Opening, path: str, force: ca.SX, rate: ca.SX, group: str) -> None:
        """Its force or torque, and the power that it puts into the mechanism."""
        name, unit = FORCE[group]
        make.output(f"{path}.{name}", force, unit)
        make.output(f"{path}.power", force * rate, "W")


class OfJointForce(OnAxis):
    """A force or torque along a joint's coordinate; its bond points to the joint.

    A linear spring is a C, a linear damper an R; everything else is a source of effort by its law.
    """

    kind = "bond.of_joint_force"
    wraps: ClassVar[type[Component]] = JointForce

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        part, values = self.component, self.fields_of(v)
        x, rate, group = self.along(make, path)
        force = ca.SX(part.force(values, x, rate, SimpleNamespace(t=make.values.t)))
        self.report(make, path, force, rate, group)
        linear = (isinstance(part, JointSpring) and values.stiffness is not None) or (
            isinstance(part, JointDamper) and values.damping is not None
        )
        if linear:
            self._linear(make, path, values, x, DOMAINS[group])
            return
        potential = ca.SX(part.potential(values, x))
        make.vertex(
            Vertex(
                path, "Se", not is_given(make, force), width=1, value=force, domain=DOMAINS[group],
                used=make.used({"effort": force}), text=part.kind.rpartition(".")[2],
                potential=None if potential.is_constant() else potential, remainder=remainder(part.supplies),
            )
        )  # fmt: skip

    def _linear(self, make: Opening, path: str, values: Any, x: ca.SX, domain: str) -> None:
        """The elements of a linear spring or damper on a junction 1, which its bond leaves."""
        junction(make, path, width=1)
        stiffness, damping, preload = (getattr(values, name, None) for name in ("stiffness", "damping", "preload"))
        if stiffness is not None:
            law: dict[str, Any] = {"matrix": ca.SX(stiffness), "displacement": x - ca.SX(values.rest)}
            one_port(make, f"{path}.spring", "C", path, 1, domain=domain, text="k", **law)
        if damping is not None and not ca.SX(damping).is_zero():
            one_port(make, f"{path}.damper", "R", path, 1, matrix=ca.SX(damping), domain=domain, text="c")
        if preload is not None and not ca.SX(preload).is_zero():
            stored = ca.SX(preload) * (x - ca.SX(values.rest))
            one_port(make, f"{path}.preload", "Se", path, 1, value=ca.SX(preload), potential=stored, domain=domain)
