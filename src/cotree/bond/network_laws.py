"""The components of networks that have the laws of bond-graph elements, with their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cotree.bond.domains import OnePort, TwoPort
from cotree.bond.electrical import CoupledInductors, Diode, Switch
from cotree.bond.elements import BondPart, C, Element, I, R, Se, Sf
from cotree.bond.junctions import GY, TF
from cotree.bond.network_table import COMPONENT_OF, PAIRS, Pair, flow_is_across
from cotree.errors import ModelError
from cotree.model import Component
from cotree.model.expression import without_unit
from cotree.terminal import electrical, rotational, transducer, translational


@dataclass(frozen=True)
class Law:
    """A component of networks without its name and nodes; ``ends`` are the labels of its ports in the part's order."""

    component: type[Component]
    values: Mapping[str, Any]
    ends: tuple[str, ...] = ()
    turned: tuple[bool, ...] = ()
    """Ports whose across and through variables both count the other way."""


GENERIC: Mapping[tuple[str, str], Pair] = {
    (pair.part.letter, pair.part.domain): pair
    for pair in PAIRS
    if issubclass(pair.part, OnePort) and not issubclass(pair.part, (Diode, Switch))
}
"""Pairs by letter and domain; the first field is the coefficient or the signal."""


def arithmetic(template: str, **values: Any) -> Any:
    """An expression of values such as ``a/b``: a number where all of them are numbers."""
    if all(isinstance(value, (int, float)) for value in values.values()):
        a, b = float(values["a"]), float(values.get("b", 1.0))
        return a / b if "/" in template else a * b
    return (
        template.replace("a", "{a}")
        .replace("b", "{b}")
        .format(**{k: f"({without_unit(v)})" for k, v in values.items()})
    )


def one_port(part: Element, domain: str, where: str) -> Law:
    """The component for a one-port of a domain."""
    known = COMPONENT_OF.get(type(part))
    if known is not None:
        return Law(known.component, _fields(part, known))
    pair = GENERIC.get((part.letter, domain))
    timed = isinstance(part, (Se, Sf)) or not part.modulated
    if pair is None or not isinstance(part, (I, C, R, Se, Sf)) or not timed:
        raise refusal(part, where, f"the {domain} {'M' if part.modulated else ''}{part.letter}")
    coefficient = next(iter(pair.fields))
    values: dict[str, Any] = {}
    if isinstance(part, (Se, Sf)):
        return Law(pair.component, {coefficient: _scalar(getattr(part, next(iter(part.shapes))))})
    nonlinear = [name for name in part.texts if getattr(part, name) is not None]
    if nonlinear:
        raise refusal(part, where, f"the nonlinear law {nonlinear[0]} = {getattr(part, nonlinear[0])!r}")
    if isinstance(part, R):
        over = part.resistance is not None
        given = _scalar(part.resistance if over else part.conductance)
        values[coefficient] = given if over else arithmetic("a/b", a=1.0, b=given)
    elif isinstance(part, I):
        inertia = _scalar(part.inertia)
        values[coefficient] = inertia
        if part.initial_flow is not None:
            values["initial"] = _scalar(part.initial_flow)
        elif part.momentum is not None:
            values["initial"] = arithmetic("a/b", a=_scalar(part.momentum), b=inertia)
    else:
        values |= _compliance(part, coefficient, flow_is_across(domain))
    return Law(pair.component, values)


def _compliance(part: C, coefficient: str, stiff: bool) -> dict[str, Any]:
    """The values of a C; networks give stiffnesses of springs and capacities of all others."""
    given_stiff = part.stiffness is not None
    given = _scalar(part.stiffness if given_stiff else part.compliance)
    values = {coefficient: given if given_stiff == stiff else arithmetic("a/b", a=1.0, b=given)}
    if part.initial_effort is not None:
        values["initial"] = _scalar(part.initial_effort)
    elif part.displacement is not None:
        values["initial"] = arithmetic("a*b" if given_stiff else "a/b", a=_scalar(part.displacement), b=given)
    return values


def _fields(part: BondPart, pair: Pair) -> dict[str, Any]:
    values = {name: getattr(part, own) for name, own in pair.fields.items() if getattr(part, own) is not None}
    for own in ("initial_extension", "initial_angle"):
        if getattr(part, own, None) is not None:
            values["initial"] = arithmetic("a*b", a=getattr(part, own), b=part.stiffness)  # type: ignore[attr-defined]
    return values


def several_ports(part: BondPart, domains: tuple[str, ...], where: str) -> Law:
    """The component for a two-port, or for coupled inductors, between domains."""
    known = COMPONENT_OF.get(type(part))
    if known is not None and isinstance(part, CoupledInductors):
        return Law(known.component, _fields(part, known), part.port_names(), (False, False))
    if known is not None and isinstance(part, TwoPort):
        return Law(known.component, _fields(part, known), part.ends, (False, flow_is_across(domains[1])))
    if not isinstance(part, TF) or isinstance(part, TwoPort) or part.modulated:
        raise refusal(part, where, f"{part.kind} between {' and '.join(domains)}")
    letter = "GY" if isinstance(part, GY) else "TF"
    found = TWO_PORTS.get((letter, *domains))  # type: ignore[arg-type]
    if found is None:
        raise refusal(part, where, f"the {letter} from {domains[0]} to {domains[1]}")
    component, field, ends, inverse = found
    modulus = _scalar(part.modulus)
    value = arithmetic("a/b", a=1.0, b=modulus) if inverse else modulus
    both = letter == "TF" and flow_is_across(domains[0]) and not flow_is_across(domains[1])
    return Law(component, {field: value}, ends, (both, flow_is_across(domains[1])))


_TWO = ("primary", "secondary")
TWO_PORTS: Mapping[tuple[str, str, str], tuple[type[Component], str, tuple[str, str], bool]] = {
    ("TF", "electrical", "electrical"): (electrical.Transformer, "ratio", _TWO, False),
    ("GY", "electrical", "electrical"): (electrical.Gyrator, "resistance", _TWO, False),
    ("TF", "translational", "translational"): (translational.Lever, "ratio", _TWO, True),
    ("TF", "rotational", "rotational"): (rotational.Gear, "ratio", _TWO, True),
    ("TF", "rotational", "translational"): (transducer.Wheel, "radius", ("rotational", "translational"), False),
    ("TF", "translational", "rotational"): (transducer.Wheel, "radius", ("translational", "rotational"), True),
    ("TF", "hydraulic", "translational"): (transducer.Piston, "area", ("hydraulic", "translational"), True),
    ("TF", "translational", "hydraulic"): (transducer.Piston, "area", ("translational", "hydraulic"), False),
    ("GY", "electrical", "rotational"): (transducer.RotationalEMF, "constant", ("electrical", "rotational"), False),
    ("GY", "rotational", "electrical"): (transducer.RotationalEMF, "constant", ("rotational", "electrical"), False),
    ("GY", "electrical", "translational"): (
        transducer.TranslationalEMF, "constant", ("electrical", "translational"), False,
    ),
    ("GY", "translational", "electrical"): (
        transducer.TranslationalEMF, "constant", ("translational", "electrical"), False,
    ),
}  # fmt: skip
"""Component, its field, its ports in the order 1, 2, and whether its value is one over the modulus."""


def _scalar(value: Any) -> Any:
    """The value of a bond of width one."""
    while isinstance(value, (tuple, list)):
        (value,) = value
    return value


def refusal(part: BondPart, where: str, found: str) -> ModelError:
    """What has no counterpart among the components of networks."""
    return ModelError(
        f"{found} has no counterpart among the components of networks", where=f"{where} ({part.kind})",
        expected="constant scalar I, C, R, Se, Sf, TF and GY, and the parts of the domains that networks have, too",
        remedy="Keep it in the bond graph",
    )  # fmt: skip
