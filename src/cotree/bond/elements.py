"""The elements of bond graphs: storages I and C, dissipators R, sources Se and Sf, and their modulated forms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca

from cotree.bond.structure import STORAGES, UNITS, Vertex
from cotree.bond.values import (
    MOST,
    as_law,
    check_potential,
    check_regular,
    check_storing,
    plain,
    shape_width,
    shaped,
    shaped_entries,
    square,
)
from cotree.errors import ModelError, listing, nearest
from cotree.model import Component
from cotree.model.form import VALUE, WHOLE, Form, Schema, either, or_null, said, several
from cotree.model.form import value as value_schema
from cotree.model.quantity import MISSING, Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening


LAW = either(VALUE, several(VALUE, 1))
"""An expression, or one for each component of a multibond."""
WIDTH = said("width of its bonds, where nothing else tells it", {**WHOLE, "minimum": 1, "maximum": MOST})


def shaped_schema(info: Quantity) -> Schema:
    """A number, a vector or a matrix."""
    each = value_schema(info)
    return either(each, several(each, 1), several(several(each, 1), 1))


def constant(meaning: str, range: str = "finite") -> Quantity:
    """A constant of an element; its expression may hold the values of the mask around it."""
    return Quantity("", range, False, meaning, measured=True, free=True)


def modulation(meaning: str, unit: str = "") -> Quantity:
    """A value that may depend on time and signals."""
    return Quantity(unit, "finite", True, meaning, measured=True, free=not unit)


class BondPart(Component):
    """Whatever may stand in a bond graph. ``shapes`` are its fields that hold a number, a vector or a matrix."""

    bonded: ClassVar[bool] = True
    shapes: ClassVar[Mapping[str, Quantity]] = {}
    texts: ClassVar[tuple[str, ...]] = ()
    """Fields that hold laws: expressions of their own variable, or Python functions."""
    framed: ClassVar[bool] = False
    """Whether it has frames, whose positions and rotations must be known."""
    paths: ClassVar[tuple[str, ...]] = ()
    """Fields that hold names of other parts."""

    def __post_init__(self) -> None:
        for f in fields(self):
            if isinstance(getattr(self, f.name), list) or f.name in self.shapes:
                given = plain(getattr(self, f.name))
                object.__setattr__(self, f.name, MISSING if given is None and f.default is MISSING else given)
        super().__post_init__()
        for name in self.texts:
            law: Any = getattr(self, name)
            each = law if isinstance(law, tuple) else () if law is None or callable(law) else (law,)
            if not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in each):
                expected = "an expression, or a list of them, one for each component"
                raise ModelError(f"found {law!r}", where=f"{self.name}.{name}", expected=expected)

    def node_pairs(self) -> tuple[tuple[str, str], ...]:
        return ()

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        result = super().entries()
        for name, info in self.shapes.items():
            given = getattr(self, name)
            if given is not None and not callable(given):
                result |= shaped_entries(name, given, info, self.name)
        return result

    @classmethod
    def scoped_fields(cls) -> tuple[str, ...]:
        """Fields whose expressions may hold parameters and signals of the mask around it."""
        return (*cls.shapes, *cls.texts)

    def bundle(self, port: str) -> tuple[tuple[str, int | None], ...]:
        """The bonds that a connection to a port stands for, each by a suffix and its width where it is known."""
        return (("", None),)

    def port_names(self) -> tuple[str, ...]:
        """The names of its ports; a part with one port, or a junction, has none."""
        return ()

    def shaped(self, name: str, v: Mapping[str, Any]) -> ca.SX | None:
        """A field in symbols: a scalar, a column or a matrix; None where it is not given."""
        return shaped(name, getattr(self, name), v)

    def required(self, name: str, v: Mapping[str, Any]) -> ca.SX:
        """A field in symbols that must be given."""
        value = self.shaped(name, v)
        if value is None:
            raise ModelError(f"no {name} is given", where=self.name, expected=self.call_example(self.name))
        return value

    def given(self, name: str, make: Opening, path: str, v: Mapping[str, Any]) -> ca.SX:
        """A field in symbols that may also be a Python function of signals."""
        value = getattr(self, name)
        return make.call(value, path) if callable(value) else self.required(name, v)

    def to_data(self) -> dict[str, Any]:
        for f in fields(self):
            if callable(getattr(self, f.name)) and getattr(self, f.name) is not MISSING:
                raise ModelError(
                    f"its {f.name} is a Python function, which a file cannot hold",
                    where=self.name,
                    remedy=f"Give {f.name} as an expression, or keep the model in Python",
                )
        return super().to_data()

    @classmethod
    def forms(cls) -> dict[str, Form]:
        return {key: cls.shaped_form(key, form) if key in cls.shapes else form for key, form in super().forms().items()}

    @classmethod
    def shaped_form(cls, key: str, form: Form) -> Form:
        """What a file may hold for one of its ``shapes``: a number, a vector or a matrix."""
        info = cls.shapes[key]
        return replace(form, meaning=form.meaning or info.meaning, schema=or_null(shaped_schema(info)), info=info)

    @classmethod
    def call_example(cls, name: str) -> str:
        given = [
            f"{f.name}=..." for f in fields(cls) if f.name != "name" and (f.default is MISSING or f.name in cls.shapes)
        ]
        return f"{cls.__name__}({', '.join([repr(name), *given[:3]])})"

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        """Put its vertices, bonds and signals into the opened graph under the name ``path``."""
        raise NotImplementedError


class Element(BondPart):
    """A vertex of a bond graph. ``width`` may be left out where a value or another element tells it."""

    letter: ClassVar[str] = ""
    modulated: ClassVar[bool] = False
    width: int | None = field(default=None, kw_only=True, metadata=WIDTH)
    domain: str | None = field(
        default=None,
        kw_only=True,
        metadata=said("domain, for the units of results", {"enum": [name for name in UNITS if name]}),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width is not None and not (type(self.width) is int and 1 <= self.width <= MOST):
            raise ModelError(
                f"the width is {self.width!r}", where=self.name, expected=f"a whole number from 1 to {MOST}"
            )
        if self.domain is not None and (self.domain not in UNITS or not self.domain):
            known = [name for name in UNITS if name]
            raise ModelError(
                f"there is no domain {self.domain!r}", where=f"{self.name}.domain",
                expected=f"one of {listing(known)}", remedy=nearest(str(self.domain), known),
            )  # fmt: skip

    def own_width(self) -> int | None:
        """The width that the element's own values tell."""
        told = {n for name in (*self.shapes, *self.texts) if (n := shape_width(getattr(self, name))) is not None}
        told |= {self.width} if self.width is not None else set()
        if len(told) > 1:
            raise ModelError(
                f"values of widths {listing(map(str, sorted(told)))}", where=self.name, expected="one width"
            )
        return next(iter(told), None)

    def vertex(self, make: Opening, path: str, v: Mapping[str, Any], **law: Any) -> None:
        """Add the vertex."""
        if law.get("law") is not None:
            v = {**v, "law": law["law"](ca.SX.sym("x", make.width(self, path)))}
        used, stores = make.used(v), self.letter in STORAGES
        if used and not self.modulated:
            remedy = (
                "Put an MTF between it and the junction" if stores else f"Use M{self.letter}, the modulated element"
            )
            raise ModelError(
                f"its value depends on the signal {listing(used)}",
                where=path,
                expected=f"a constant {self.letter}",
                remedy=remedy,
            )
        if stores and make.timed(v):
            raise ModelError(
                "its law depends on time", where=path, expected=f"a constant {self.letter}, so that it keeps energy",
                remedy="Put an MTF between it and the junction",
            )  # fmt: skip
        if self.modulated and not used and not make.timed(v):
            make.unmodulated(path, f"M{self.letter}", self.letter)
        make.vertex(Vertex(path, self.letter, self.modulated, domain=self.domain or "", used=used, **law))


def one_of(element: Element, names: Collection[str]) -> str:
    """The one of several fields that is given."""
    given = [name for name in names if getattr(element, name) is not None]
    if len(given) != 1:
        raise ModelError(
            f"{listing(given)} are given" if given else f"none of {listing(names)} is given",
            where=element.name,
            expected=f"one of {listing(names)}",
        )
    return given[0]


def optional(meaning: str = "", schema: Schema | None = None) -> Any:
    """A field that may be left out."""
    return field(default=None, kw_only=True, metadata=said(meaning, schema))


class Storage(Element):
    """What I and C share: one law out of several, and two ways to give the start."""

    laws: ClassVar[tuple[str, ...]] = ()
    starts: ClassVar[tuple[str, str]] = ("", "")

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self, self.laws)
        if all(getattr(self, name) is not None for name in self.starts):
            raise ModelError(f"{' and '.join(self.starts)} are given", where=self.name, expected="one of the two")

    def storage(self, make: Opening, path: str, v: Mapping[str, Any], width: int, law: Mapping[str, Any]) -> None:
        """Add the vertex with its start."""
        start, other = (_wide(self.shaped(name, v), width) for name in self.starts)
        self.vertex(make, path, v, width=width, start=start, start_conjugate=other, **law)


class I(Storage):  # noqa: E742
    """Stores momentum: p = inertia * f, or f = ``flow``, an expression of ``p`` or a Python function of it.

    The momentum at the start is ``momentum``, or that of ``initial_flow``; zero if neither is given.
    """

    kind = "bond.I"
    letter = "I"
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "inertia": constant("momentum over flow"),
        "momentum": constant("momentum at the start"),
        "initial_flow": constant("flow at the start"),
    }
    texts = ("flow",)
    laws = ("inertia", "flow")
    starts = ("momentum", "initial_flow")
    example: ClassVar[Mapping[str, Any]] = {"inertia": 2.0}
    inertia: Any = optional()
    flow: Any = optional("flow as an expression of the momentum p", LAW)
    momentum: Any = optional()
    initial_flow: Any = optional()

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        n = make.width(self, path)
        law: dict[str, Any] = {}
        if self.flow is not None:
            law["law"] = as_law(self.flow, "p", n, f"{path}.flow", make.values)
            check_potential(law["law"], n, f"{path}.flow", make.values)
        else:
            law["matrix"] = square(self.required("inertia", v), n, f"{path}.inertia")
            check_regular(law["matrix"], f"{path}.inertia", make.values)
            check_storing(law["matrix"], f"{path}.inertia", make.values, "flow='-2*p'")
        self.storage(make, path, v, n, law)


class C(Storage):
    """Stores displacement: q = compliance * e, or e = stiffness * q, or e = ``effort``, an expression of ``q``.

    The displacement at the start is ``displacement``, or that of ``initial_effort``; zero if neither is given.
    """

    kind = "bond.C"
    letter = "C"
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "compliance": constant("displacement over effort"),
        "stiffness": constant("effort over displacement"),
        "displacement": constant("displacement at the start"),
        "initial_effort": constant("effort at the start"),
    }
    texts = ("effort",)
    laws = ("compliance", "stiffness", "effort")
    starts = ("displacement", "initial_effort")
    example: ClassVar[Mapping[str, Any]] = {"stiffness": 2.0}
    compliance: Any = optional()
    stiffness: Any = optional()
    effort: Any = optional("effort as an expression of the displacement q", LAW)
    displacement: Any = optional()
    initial_effort: Any = optional()

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        n = make.width(self, path)
        law: dict[str, Any] = {}
        if self.effort is not None:
            law["law"] = as_law(self.effort, "q", n, f"{path}.effort", make.values)
            check_potential(law["law"], n, f"{path}.effort", make.values)
        elif self.stiffness is not None:
            law["matrix"] = square(self.required("stiffness", v), n, f"{path}.stiffness")
            check_storing(law["matrix"], f"{path}.stiffness", make.values, "effort='-2*q'")
        else:
            where = f"{path}.compliance"
            given = self.required("compliance", v)
            whole = square(given, n, where)
            check_regular(whole, where, make.values)
            check_storing(whole, where, make.values, "effort='-2*q'")
            law["matrix"] = square(1 / given, n, where) if min(given.shape) == 1 else ca.inv(whole)
        self.storage(make, path, v, n, law)


class R(Element):
    """Dissipates: e = resistance * f, f = conductance * e, e = ``effort`` of ``f``, or f = ``flow`` of ``e``."""

    kind = "bond.R"
    letter = "R"
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "resistance": constant("effort over flow"),
        "conductance": constant("flow over effort"),
    }
    texts = ("effort", "flow")
    example: ClassVar[Mapping[str, Any]] = {"resistance": 2.0}
    resistance: Any = optional()
    conductance: Any = optional()
    effort: Any = optional("effort as an expression of the flow f", LAW)
    flow: Any = optional("flow as an expression of the effort e", LAW)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self, ("resistance", "conductance", "effort", "flow"))

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        n = make.width(self, path)
        law: dict[str, Any] = {}
        if self.resistance is not None:
            given = self.given("resistance", make, path, v)
            law["matrix"], v = square(given, n, f"{path}.resistance"), {**v, "resistance": given}
        elif self.effort is not None:
            law["law"] = as_law(self.effort, "f", n, f"{path}.effort", make.values)
        elif self.flow is not None:
            law |= {"law": as_law(self.flow, "e", n, f"{path}.flow", make.values), "gives": "flow"}
        else:
            matrix = square(self.given("conductance", make, path, v), n, f"{path}.conductance")
            law |= {"law": lambda e: ca.mtimes(matrix, e), "gives": "flow"}
        self.vertex(make, path, v, width=n, **law)


class MR(R):
    """An R whose values may depend on time and signals: ``resistance="2 + abs(j.flow)"``."""

    kind = "bond.MR"
    modulated = True
    shapes: ClassVar[Mapping[str, Quantity]] = {
        "resistance": modulation("effort over flow"),
        "conductance": modulation("flow over effort"),
    }


class Source(Element):
    """A source of effort or flow; its one value has the name of what it sets."""

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self, self.shapes)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        n = make.width(self, path)
        (name,) = self.shapes
        value = self.given(name, make, path, v)
        self.vertex(make, path, {**v, name: value}, width=n, value=_wide(value, n))


class Se(Source):
    """A source of effort, a function of time: ``effort="5*sin(2*pi*t)"``.

    The result and the signal ``flow`` of a source are those of its bond: positive where power leaves the source along a
    half arrow that points away from it. All other elements count the flow that enters them.
    """

    kind = "bond.Se"
    letter = "Se"
    shapes: ClassVar[Mapping[str, Quantity]] = {"effort": modulation("effort that it sets")}
    example: ClassVar[Mapping[str, Any]] = {"effort": 1.0}
    effort: Any = optional()


class MSe(Se):
    """A source whose effort depends on signals: ``effort="-5*theta.value"``."""

    kind = "bond.MSe"
    modulated = True


class Sf(Source):
    """A source of flow, a function of time: the flow of its bond, along the half arrow.

    The result and the signal ``flow`` are what it sets, with its sign: ``Sf("s", flow=1)`` has ``s.flow`` = 1.
    """

    kind = "bond.Sf"
    letter = "Sf"
    shapes: ClassVar[Mapping[str, Quantity]] = {"flow": modulation("flow that it sets")}
    example: ClassVar[Mapping[str, Any]] = {"flow": 1.0}
    flow: Any = optional()


class MSf(Sf):
    """A source whose flow depends on signals."""

    kind = "bond.MSf"
    modulated = True


def _wide(value: ca.SX | None, width: int) -> ca.SX | None:
    """A value for each component; a scalar serves all."""
    if value is None or value.shape == (width, 1):
        return value
    return ca.repmat(value, width, 1)
