"""The strokes while they are being set: each with its cause, what follows from it at the laws, and the way back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cotree.bond.causality_rules import Atom, Relation, ends_at, other_end, relations
from cotree.bond.structure import SOURCES, BondStructure, component_names
from cotree.errors import listing


@dataclass(frozen=True)
class Reason:
    """Why some strokes are where they are."""

    vertex: str
    """The element or junction whose law or preference decides."""
    text: str
    strokes: tuple[tuple[str, int, str], ...]
    """Bond, component, and the end with the stroke."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Conflict:
    """Elements that impose the same variable."""

    kind: str
    """``sources``: only sources take part, so there is no solution. ``closure``: one of them closes a kinematic loop.
    ``structure``: whatever else; the equations are solved together."""
    bond: str
    vertex: str
    elements: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Cause:
    """What decided a stroke: other strokes at a law, or an element of its own accord."""

    parents: tuple[Atom, ...] = ()
    element: str = ""
    blame: tuple[str, ...] = ()
    """Elements that kept an element from what it prefers."""


@dataclass
class Event:
    """Strokes that one law or element sets in one go; those of the components of a multibond are told together."""

    episode: int
    vertex: str
    template: str
    givers: list[Atom] = field(default_factory=list)
    takers: list[Atom] = field(default_factory=list)

    @property
    def key(self) -> tuple[object, ...]:
        bonds = [tuple(dict.fromkeys(bond for bond, _ in side)) for side in (self.givers, self.takers)]
        return (self.episode, self.vertex, self.template, *bonds)


class Break(Exception):
    """A trial that a law forbids, with the elements that stand against it; none where flow would go backwards."""

    def __init__(self, blame: tuple[str, ...] = (), backwards: bool = False) -> None:
        super().__init__()
        self.blame, self.backwards = blame, backwards


class Board:
    """The strokes of an opened graph."""

    def __init__(self, structure: BondStructure) -> None:
        self.structure = structure
        self.relations = relations(structure)
        self.at: dict[Atom, list[int]] = {
            (line.name, k): [] for line in structure.lines.values() for k in range(line.width)
        }
        for place, relation in enumerate(self.relations):
            for member in relation.members:
                self.at[member.atom].append(place)
        self.strokes: dict[Atom, str] = {}
        self.causes: dict[Atom, Cause] = {}
        self.events: list[Event] = []
        self.conflicts: list[Conflict] = []
        self.one_way = any(relation.one_way for relation in self.relations)
        self._broken: set[int] = set()
        self._episode = 0

    # -- setting strokes -----------------------------------------------------------------------------------------

    def attempt(
        self, wanted: Mapping[Atom, str], vertex: str, template: str,
        forward: bool = False, blame: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Set strokes and all that follows, or set nothing and raise `Break`."""
        atoms, events = len(self.strokes), len(self.events)
        try:
            self.settle(wanted, vertex, template, trial=True, forward=forward, blame=blame)
        except Break:
            for atom in list(self.strokes)[atoms:]:
                del self.strokes[atom], self.causes[atom]
            del self.events[events:]
            raise

    def settle(
        self, wanted: Mapping[Atom, str], vertex: str, template: str,
        trial: bool = False, forward: bool = False, blame: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        """Set the strokes that an element wants and all that follows from them; record what is against a law."""
        self._episode += 1
        todo: deque[int] = deque()
        atoms = [atom for atom in wanted if atom not in self.strokes]
        for atom in atoms:
            self._put(atom, wanted[atom], Cause(element=vertex, blame=blame), todo)
        if atoms:
            self.events.append(Event(self._episode, vertex, template, takers=atoms))
        self._follow(todo, trial, forward)

    def begin(self) -> None:
        """Set what the laws settle by themselves: rows of zeros in a modulus, junctions with one bond."""
        self._follow(deque(range(len(self.relations))), False, False)

    def _put(self, atom: Atom, stroke: str, cause: Cause, todo: deque[int]) -> None:
        self.strokes[atom], self.causes[atom] = stroke, cause
        todo.extend(self.at[atom])

    def _follow(self, todo: deque[int], trial: bool, forward: bool) -> None:
        while todo:
            place = todo.popleft()
            relation = self.relations[place]
            found = relation.consequences(self.strokes)
            if found.broken and place not in self._broken:
                blame = self.roots(relation.members[k].atom for k in found.broken)
                if trial:
                    raise Break(blame)
                self._broken.add(place)
                self.conflicts.append(self._conflict(relation, found.broken, blame))
            for k, received, parents in found.settled:
                member = relation.members[k]
                if member.atom in self.strokes:  # a bond from a junction to itself
                    continue
                givers = tuple(relation.members[i].atom for i in parents)
                cause = Cause(givers, "" if givers else relation.vertex)
                self._put(member.atom, member.stroke(received), cause, todo)
                self._tell(relation, k, received, parents)
            if forward and relation.reversed(self.strokes):
                raise Break(backwards=True)

    def _tell(self, relation: Relation, k: int, received: bool, parents: tuple[int, ...]) -> None:
        """Note what a law has settled."""
        vertex = self.structure.vertices[relation.vertex]
        givers = [relation.members[i].atom for i in parents]
        sets = "flow" if received == relation.members[k].flipped else "effort"
        common = {"1": "flow", "0": "effort"}.get(vertex.letter)
        if common is not None and givers and sets == common:
            template = f"junction '{vertex.name}': {{givers}} {{set}} its {common}, so {{takers}} {{receive}} it"
        elif common is not None:
            others = "effort" if common == "flow" else "flow"
            of = f"{{givers}} {{bring}} {others}s of their own" if givers else "nothing else is mounted there"
            template = f"junction '{vertex.name}': {of}, so {{takers}} must set its {common}"
        elif not givers:
            template = f"{vertex.shown} '{vertex.name}' sets the {sets} of {{takers}}, which is zero"
        else:
            first = relation.members[parents[0]]
            takes = "effort" if self.strokes[first.atom] == first.end else "flow"
            template = (
                f"{vertex.shown} '{vertex.name}' takes the {takes} of {{givers}} and sets the {sets} of {{takers}}"
            )
        last = self.events[-1] if self.events else None
        event = Event(self._episode, vertex.name, template, givers, [relation.members[k].atom])
        if (
            last is not None
            and last.episode == self._episode
            and last.template == template
            and last.givers == event.givers
        ):
            last.takers += event.takers
        else:
            self.events.append(event)

    # -- conflicts -----------------------------------------------------------------------------------------------

    def against(self, vertex: str, atoms: Sequence[Atom], variable: str, elements: Iterable[str]) -> None:
        """Record that an element must set a variable that is set already."""
        shown = self.structure.vertices[vertex].shown
        blame = tuple(name for name in dict.fromkeys(elements) if name != vertex)
        text = f"{shown} '{vertex}' must set the {variable} of {self.named(atoms)}"
        text += f", which is settled by {self.told(blame)} already" if blame else ", which is settled already"
        every = (vertex, *blame)
        self.conflicts.append(Conflict(self._kind(every), atoms[0][0], vertex, every, text))

    def _conflict(self, relation: Relation, members: list[int], elements: tuple[str, ...]) -> Conflict:
        vertex = self.structure.vertices[relation.vertex]
        atoms = [relation.members[k].atom for k in members]
        received = relation.members[members[0]].received(self.strokes[atoms[0]])
        common = {"1": "flow", "0": "effort"}.get(vertex.letter)
        who = f" ({self.told(elements)})" if elements else ""
        if common is None:
            variable = "flow" if received else "effort"
            problem = (
                f"{vertex.shown} '{vertex.name}': the {variable} of {self.named(atoms)} cannot all be set from outside"
            )
        elif received == (common == "flow"):
            problem = f"junction '{vertex.name}': {self.named(atoms)} each set its {common}"
        else:
            problem = f"junction '{vertex.name}': none of {self.named(atoms)} sets its {common}"
        return Conflict(self._kind(elements), atoms[-1][0], vertex.name, elements, problem + who)

    def _kind(self, elements: Iterable[str]) -> str:
        every = [self.structure.vertices[name] for name in elements]
        if any(vertex.gap is not None for vertex in every):
            return "closure"
        return "sources" if every and all(vertex.letter in SOURCES for vertex in every) else "structure"

    # -- looking back --------------------------------------------------------------------------------------------

    def roots(self, atoms: Iterable[Atom]) -> tuple[str, ...]:
        """The elements that decided some strokes, found by following the causes back, in the order of their choices."""
        found: set[str] = set()
        seen: set[Atom] = set()
        todo = list(atoms)
        while todo:
            atom = todo.pop()
            if atom in seen:
                continue
            seen.add(atom)
            cause = self.causes[atom]
            found |= {cause.element, *cause.blame} - {""}
            todo += cause.parents
        return tuple(name for name in self.structure.vertices if name in found)

    def told(self, names: Sequence[str]) -> str:
        """Elements with their letters."""
        return listing([f"{self.structure.vertices[name].shown} '{name}'" for name in names])

    def named(self, atoms: Iterable[Atom]) -> str:
        """Bonds, or some of their components: ``b1, b2.x``."""
        parts: dict[str, set[int]] = {}
        for bond, k in atoms:
            parts.setdefault(bond, set()).add(k)
        names: list[str] = []
        for bond, held in parts.items():
            width = self.structure.lines[bond].width
            every = component_names(bond, width)
            names += [bond] if len(held) == width else [every[k] for k in sorted(held)]
        return listing(names, 12)

    def reasons(self) -> list[Reason]:
        """All events in their order, components of a multibond together."""
        merged: dict[tuple[object, ...], Event] = {}
        for event in self.events:
            held = merged.setdefault(event.key, Event(event.episode, event.vertex, event.template))
            held.givers += event.givers
            held.takers += event.takers
        return [self._reason(event) for event in merged.values()]

    def _reason(self, event: Event) -> Reason:
        one_giver, one_taker = (len({bond for bond, _ in side}) == 1 for side in (event.givers, event.takers))
        text = event.template.format(
            givers=self.named(event.givers), takers=self.named(event.takers),
            set="sets" if one_giver else "set", bring="brings" if one_giver else "bring",
            receive="receives" if one_taker else "receive",
        )  # fmt: skip
        text = text.replace("brings efforts of their own", "brings an effort of its own")
        text = text.replace("brings flows of their own", "brings a flow of its own")
        return Reason(event.vertex, text, tuple((*atom, self.strokes[atom]) for atom in event.takers))


def one_port(structure: BondStructure, vertex: str, gives: str) -> dict[Atom, str]:
    """The strokes of the bond of a one-port that gives ``effort``, or ``flow``."""
    ((bond, end, _),) = ends_at(structure, vertex)
    stroke = end if gives == "flow" else other_end(end)
    return {(bond, k): stroke for k in range(structure.lines[bond].width)}
