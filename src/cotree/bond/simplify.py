"""Simpler bond graphs with the same motion: junctions contracted, chains of two-ports made one.

- Two 1 junctions that a bond joins have one flow, two 0 junctions one effort: each pair becomes one junction.
- A junction with two bonds that point the same way only passes them on, and is left out. A 0 junction does so for bonds
  that point against each other, too, where the flow may be counted the other way.
- TF behind TF is a TF, GY behind GY a TF, and one behind the other a GY, where they are constant and scalar.

What an expression, a sensor or a mask names is never touched. Everything that stays keeps its name and its results.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from typing import TypeGuard, TypeVar

from cotree.bond.domains import OnePort
from cotree.bond.elements import BondPart, C, I, R
from cotree.bond.junctions import GY, TF, Bond, Junction0, Junction1
from cotree.errors import ModelError
from cotree.model import Expression, Model
from cotree.model.expression import without_unit

M = TypeVar("M", bound=Model)


def simplify(model: M, keep: Collection[str] = ()) -> M:
    """The model's bond graph in simpler form; junctions and bonds named in ``keep`` stay.

    Masks are left as they are, and so is what is between frames of a mechanism.
    """
    strange = [c for c in model.components.values() if not isinstance(c, BondPart)]
    if strange:
        raise ModelError(
            f"'{strange[0].name}' ({strange[0].kind}) is no part of a bond graph", where=strange[0].name,
            expected="bond-graph parts only",
        )  # fmt: skip
    work = _Work(model, keep)
    work.run()
    result = rebuilt(model)
    for part in work.parts.values():
        result.add(part)
    return result


def rebuilt(model: M, datum: str | None = None) -> M:
    """An empty model of the same kind, with the same name, parameters, datums and gravity.

    Inertias that were to be repaired have been.
    """
    gravity = None if model.gravity is None else [model.gravity.expressions[axis].text for axis in "xyz"]
    given = [None if g is None else _number(g) for g in gravity] if gravity else None
    parameters = {name: _number(expression.text) for name, expression in model.parameters.items()}
    made = type(model)(
        model.name,
        datum=datum or model.datums,
        parameters=parameters,
        gravity=given,
        planar=model.planar,
        inertia="keep" if model.inertia == "repair" else model.inertia,
    )
    made.folder = model.folder
    return made


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


class _Work:
    """The graph while it is being simplified."""

    def __init__(self, model: Model, keep: Collection[str]) -> None:
        self.parts: dict[str, BondPart] = {n: c for n, c in model.components.items() if isinstance(c, BondPart)}
        self.kept = {*keep, *_named(self.parts.values())}
        self.at: dict[str, dict[str, None]] = {}
        for bond in self._bonds():
            for end in (bond.tail, bond.head):
                self.at.setdefault(end.partition(".")[0], {})[bond.name] = None

    def _bonds(self) -> Iterator[Bond]:
        return (part for part in self.parts.values() if isinstance(part, Bond))

    def bond(self, name: str) -> Bond:
        """A bond by name."""
        part = self.parts[name]
        assert isinstance(part, Bond)
        return part

    def run(self) -> None:
        """Apply all rules until none fits."""
        todo = dict.fromkeys(self.parts)
        while todo:
            name = next(iter(todo))
            del todo[name]
            part = self.parts.get(name)
            if part is None:
                continue
            if isinstance(part, Bond):
                touched = self._contract(part) or self._chain(part)
            elif isinstance(part, Junction0):
                touched = self._through(part)
            else:
                continue
            todo |= dict.fromkeys(touched)

    def _junction(self, end: str) -> Junction0 | None:
        part = self.parts.get(end)
        return part if isinstance(part, Junction0) else None

    def _around(self, *names: str) -> list[str]:
        """What may have become simpler: some vertices, their bonds and what is beyond them."""
        found: dict[str, None] = {}
        for name in names:
            found[name] = None
            for bond in self.at.get(name, ()):
                found[bond] = None
                for end in (self.bond(bond).tail, self.bond(bond).head):
                    found[end.partition(".")[0]] = None
        return [name for name in found if name in self.parts]

    def _drop(self, bond: Bond) -> None:
        for end in (bond.tail, bond.head):
            self.at[end.partition(".")[0]].pop(bond.name, None)
        del self.parts[bond.name]

    def _put(self, bond: Bond, **ends: str) -> None:
        """A bond with other ends, or other values."""
        new = dataclasses.replace(bond, **ends)  # type: ignore[arg-type]
        for end in (bond.tail, bond.head):
            self.at[end.partition(".")[0]].pop(bond.name, None)
        self.parts[bond.name] = new
        for end in (new.tail, new.head):
            self.at.setdefault(end.partition(".")[0], {})[bond.name] = None

    # -- junctions -----------------------------------------------------------------------------------------------

    def _contract(self, bond: Bond) -> list[str]:
        """Make two junctions of one kind that a bond joins into one."""
        first, second = self._junction(bond.tail), self._junction(bond.head)
        if first is None or second is None or bond.name in self.kept or _letter(first) != _letter(second):
            return []
        if first.name == second.name:  # a bond from a junction to itself carries nothing
            self._drop(bond)
            return self._around(first.name)
        stays, goes = (second, first) if first.domain is None and second.domain is not None else (first, second)
        if goes.name in self.kept:
            stays, goes = goes, stays
        if goes.name in self.kept:
            return []
        if stays.width is None and goes.width is not None:
            self.parts[stays.name] = dataclasses.replace(stays, width=goes.width)
        self._drop(bond)
        for name in list(self.at[goes.name]):
            other = self.bond(name)
            ends = {end: stays.name for end in ("tail", "head") if getattr(other, end) == goes.name}
            self._put(other, **ends)
        del self.parts[goes.name], self.at[goes.name]
        return self._around(stays.name)

    def _through(self, junction: Junction0) -> list[str]:
        """Leave out a junction that passes one bond on as another."""
        names = list(self.at.get(junction.name, ()))
        if junction.name in self.kept or len(names) != 2:
            return []
        first, second = (self.bond(name) for name in names)
        if first.tail == second.head == junction.name:
            first, second = second, first
        if first.head == second.tail == junction.name:
            stays, goes = (first, second) if first.name in self.kept else (second, first)
            tail, head = first.tail, second.head
        elif _letter(junction) == "0" and first.head == second.head:  # f_1 + f_2 = 0: one of them is turned
            stays, goes = (first, second) if self._turns(second.tail) else (second, first)
            tail, head = stays.tail, self._explicit(goes.tail, "2")
            if not self._turns(goes.tail):
                return []
        elif _letter(junction) == "0" and first.tail == second.tail:
            stays, goes = (second, first) if self._turns(first.head) else (first, second)
            tail, head = self._explicit(goes.head, "1"), stays.head
            if not self._turns(goes.head):
                return []
        else:
            return []
        ends = tail.partition(".")[0], head.partition(".")[0]
        if goes.name in self.kept or (ends[0] == ends[1] and self._junction(ends[0]) is None):
            return []
        width = stays.width or goes.width or junction.width
        self._drop(goes)
        self._put(dataclasses.replace(stays, width=width), tail=tail, head=head)
        del self.parts[junction.name], self.at[junction.name]
        return [stays.name, *self._around(*ends)]

    def _turns(self, end: str) -> bool:
        """Whether a vertex is as it was when its bond points the other way and counts the flow so.

        A source is not: its results show the flow along its bond.
        """
        part = self.parts[end.partition(".")[0]]
        if isinstance(part, OnePort):
            return part.letter in ("I", "C", "R")
        if isinstance(part, Junction0):
            return _letter(part) == "0"
        return isinstance(part, (I, C, R, TF))

    def _explicit(self, end: str, port: str) -> str:
        """The end with the name of its port, where the direction of its bond told it so far."""
        return f"{end}.{port}" if isinstance(self.parts.get(end), TF) else end

    # -- chains of two-ports -------------------------------------------------------------------------------------

    def _chain(self, bond: Bond) -> list[str]:
        """Make two two-ports behind each other into one."""
        ends = bond.tail.partition("."), bond.head.partition(".")
        first, second = self.parts.get(ends[0][0]), self.parts.get(ends[1][0])
        if not _plain(first) or not _plain(second) or bond.name in self.kept or first is second:
            return []
        if ends[0][2] not in ("", "2") or ends[1][2] not in ("", "1") or {first.name, second.name} & self.kept:
            return []
        onward = [self.bond(name) for name in self.at[second.name] if name != bond.name]
        if len(onward) != 1:
            return []
        (after,) = onward
        end = "tail" if after.tail.partition(".")[0] == second.name else "head"
        port = getattr(after, end).partition(".")[2]
        self.parts[first.name] = _product(first, second)
        self._drop(bond)
        self._put(after, **{end: f"{first.name}.{port}" if port else first.name})
        del self.parts[second.name], self.at[second.name]
        return self._around(first.name)


def _letter(junction: Junction0) -> str:
    return "1" if isinstance(junction, Junction1) else "0"


def _plain(part: BondPart | None) -> TypeGuard[TF]:
    """Whether a part is a constant scalar TF or GY."""
    return type(part) in (TF, GY) and isinstance(part, TF) and isinstance(part.modulus, (int, float, str))


def _product(first: TF, second: TF) -> TF:
    """One two-port for two of them behind each other.

    TF TF: f_3 = b a f_1. TF GY: e_3 = b f_2 = b a f_1. GY TF: e_2 = a f_1 = b e_3. GY GY: e_2 = a f_1 = b f_3.
    """
    a, b = without_unit(first.modulus), without_unit(second.modulus)
    same = isinstance(first, GY) == isinstance(second, GY)
    if isinstance(first, GY):
        modulus = a / b if not isinstance(a, str) and not isinstance(b, str) else f"({a})/({b})"
    else:
        modulus = b * a if not isinstance(a, str) and not isinstance(b, str) else f"({b})*({a})"
    domain = first.domain if first.domain == second.domain else None
    width = first.width or second.width
    return (TF if same else GY)(first.name, modulus=modulus, width=width, domain=domain)


def _named(parts: Collection[BondPart]) -> set[str]:
    """Names of parts that expressions, sensors and masks use."""
    found: set[str] = set()
    for part in parts:
        for name in part.paths:
            given = getattr(part, name)
            found |= {each.partition(".")[0] for each in (given if isinstance(given, tuple) else (given,))}
        for expression in part.expressions.values():
            found |= {each.partition(".")[0] for each in expression.measured}
        for name in part.texts:
            given = getattr(part, name)
            for each in given if isinstance(given, tuple) else (given,):
                if isinstance(each, str):
                    found |= {used.partition(".")[0] for used in Expression(each).measured}
    return found
