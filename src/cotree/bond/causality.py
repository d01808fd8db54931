"""Causality: which end of each bond sets the effort and which the flow, and why.

Sequential causality assignment (Karnopp, Margolis and Rosenberg): sources first, then storages with the causality that
is preferred, then resistors, then whatever is left; after each choice everything that follows from it at the junctions,
transformers and gyrators. It works on the scalar components of multibonds, so that one bond may be mixed. The stroke is
at the end that receives the effort.

Nothing is refused here: a storage in derivative causality, an algebraic loop or a conflict is recorded with the
elements that cause it, and the equations solve what can be solved.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from cotree.bond.causality_board import Board, Break, Conflict, Reason, one_port
from cotree.bond.causality_loops import Loop, find_loops
from cotree.bond.causality_rules import Atom, Relation, ends_at, other_end
from cotree.bond.causality_whole import Whole
from cotree.bond.structure import ONE_PORTS, SOURCES, STORAGES, BondStructure, component_names
from cotree.errors import FormulationError, listing
from cotree.maths.viewed import Viewed

GIVES: Mapping[str, str] = {"Se": "effort", "Sf": "flow", "GR": "effort", "I": "flow", "C": "effort", "R": "effort"}
"""What each one-port gives where it may choose; for storages in integral causality."""
OPPOSITE: Mapping[str, str] = {"effort": "flow", "flow": "effort"}


@dataclass
class Causality(Viewed):
    """The strokes of an opened graph with their reasons, and what they tell."""

    structure: BondStructure
    components: dict[str, tuple[str, ...]]
    """For each bond and component the end with the stroke, ``tail`` or ``head``: the end that receives the effort."""
    reasons: list[Reason]
    integral: tuple[str, ...]
    """Storages in integral causality; components by name where a multibond has several."""
    derivative: dict[str, tuple[str, ...]]
    """Storages in derivative causality, each with the elements that force it."""
    conflicts: list[Conflict]
    relations: list[Relation] = field(default_factory=list, repr=False)

    @property
    def order(self) -> int:
        """The number of storages in integral causality: the order of the state equations."""
        return len(self.integral)

    @cached_property
    def strokes(self) -> dict[str, str]:
        """For each bond the end with the stroke, or ``mixed``."""
        return {name: ends[0] if len(set(ends)) == 1 else "mixed" for name, ends in self.components.items()}

    @cached_property
    def by_atom(self) -> dict[Atom, str]:
        """The end with the stroke for each scalar component."""
        return {(name, k): end for name, ends in self.components.items() for k, end in enumerate(ends)}

    @cached_property
    def loops(self) -> list[Loop]:
        """Algebraic loops, and loops that storages in derivative causality bring."""
        return find_loops(self.structure, self.relations, self.by_atom)

    def text(self) -> str:
        """The assignment step by step, and what follows from it."""
        lines = [f"Causality of '{self.structure.name}': order {self.order}.", ""]
        lines += [f"{number:3d}. {reason}" for number, reason in enumerate(self.reasons, 1)]
        lines += ["", f"Integral causality: {listing(self.integral, 40) or 'none'}."]
        for name, forced in self.derivative.items():
            lines.append(f"Derivative causality: {name}, forced by {self._told(forced)}.")
        lines += [f"Conflict: {conflict}." for conflict in self.conflicts]
        lines += [f"{loop}." for loop in self.loops]
        if not (self.derivative or self.conflicts or self.loops):
            lines.append("No derivative causality, no conflicts, no algebraic loops: explicit state equations.")
        return "\n".join(lines)

    def _told(self, names: Collection[str]) -> str:
        return listing([f"{self.structure.vertices[name].shown} '{name}'" for name in names]) or "preference"

    def __repr__(self) -> str:
        counts = f"{len(self.integral)} integral, {len(self.derivative)} derivative, {len(self.conflicts)} conflicts"
        return f"<Causality of '{self.structure.name}': {counts}>"

    def _view(self) -> str:
        return self.text()

    def __str__(self) -> str:
        return self.text()


def assign(structure: BondStructure, prefer: str = "integral", free: Collection[str] = ()) -> Causality:
    """Sequential causality assignment; storages prefer ``integral`` or ``derivative`` causality.

    Sources in ``free`` set nothing in advance and take what the storages leave, as if they were dualised.
    """
    if prefer not in ("integral", "derivative"):
        raise FormulationError(f"the preferred causality is {prefer!r}", expected="'integral' or 'derivative'")
    found = _Assignment(structure, prefer, free).run()
    if any(conflict.kind != "sources" for conflict in found.conflicts):
        return _Assignment(structure, prefer, free, Whole(structure)).run()
    return found


class _Assignment:
    """One run of the assignment."""

    def __init__(
        self, structure: BondStructure, prefer: str, free: Collection[str], whole: Whole | None = None
    ) -> None:
        self.structure = structure
        self.board = Board(structure)
        self.prefer = prefer
        self.free = set(free)
        self.whole = whole
        """Asked before each choice, where the laws one by one have led to a conflict."""
        self._heard = 0
        one_ports = [name for name, vertex in structure.vertices.items() if vertex.letter in ONE_PORTS]
        self._owners = {bond: (name, end) for name in one_ports for bond, end, _ in ends_at(structure, name)}
        """The element at each bond that has one, and at which end."""

    def run(self) -> Causality:
        """Assign all strokes."""
        vertices = self.structure.vertices
        self.board.begin()
        for name, vertex in vertices.items():
            if vertex.letter in (*SOURCES, "GR") and name not in self.free:
                self._must(name)
        storages = [name for name, vertex in vertices.items() if vertex.letter in STORAGES]
        if self.board.one_way:
            for name in storages:
                self._storage(name, forward=True)
        for name in storages:
            self._storage(name)
        for name, vertex in vertices.items():
            if vertex.letter == "R":
                gives = vertex.gives if vertex.law is not None else GIVES["R"]
                self._choose(
                    name, one_port(self.structure, name, gives), f"R '{name}' takes what is left: it sets the {gives}"
                )
        for name in self.free:
            gives = GIVES[vertices[name].letter]
            self._choose(
                name, one_port(self.structure, name, gives), f"{vertices[name].shown} '{name}' sets the {gives}"
            )
        self._rest()
        return self._result()

    def _must(self, name: str) -> None:
        """A source sets its variable, and a gyristor its effort."""
        board, shown = self.board, self.structure.vertices[name].shown
        gives = GIVES[self.structure.vertices[name].letter]
        wanted = one_port(self.structure, name, gives)
        against = [atom for atom, stroke in wanted.items() if board.strokes.get(atom, stroke) != stroke]
        if against:
            board.against(name, against, gives, board.roots(against))
        left, refused = self._sorted({atom: wanted[atom] for atom in wanted if atom not in board.strokes})
        board.settle(left, name, f"{shown} '{name}' sets the {gives} of {{takers}}")
        if refused:
            blame = tuple(each for found in refused.values() for each in found)
            board.against(name, list(refused), gives, blame)
            opposite = {atom: other_end(wanted[atom]) for atom in refused}
            board.settle(opposite, name, f"{shown} '{name}' must give way at {{takers}}", blame=blame)

    def _storage(self, name: str, forward: bool = False) -> None:
        letter = self.structure.vertices[name].letter
        gives = GIVES[letter] if self.prefer == "integral" else OPPOSITE[GIVES[letter]]
        told = f"{letter} '{name}' in {self.prefer} causality sets the {gives}"
        self._choose(name, one_port(self.structure, name, gives), told, forward)

    def _choose(self, name: str, wanted: Mapping[Atom, str], told: str, forward: bool = False) -> None:
        """Set what an element wants where it is still open: the whole bond, or else component by component.

        With ``forward`` it waits where flow would go backwards through a modulus without an inverse.
        """
        board, told = self.board, f"{told} of {{takers}}"
        left = {atom: stroke for atom, stroke in wanted.items() if atom not in board.strokes}
        left, refused = self._sorted(left)
        try:
            board.attempt(left, name, told, forward)
        except Break as reason:
            if len(left) == 1:
                self._refused(name, left, told, reason)
                return
            for atom, stroke in left.items():
                if atom not in board.strokes:
                    try:
                        board.attempt({atom: stroke}, name, told, forward)
                    except Break as why:
                        self._refused(name, {atom: stroke}, told, why)
        for atom, blame in refused.items():
            if atom not in board.strokes and not forward:
                self._refused(name, {atom: wanted[atom]}, told, Break(blame))

    def _sorted(self, wanted: dict[Atom, str]) -> tuple[dict[Atom, str], dict[Atom, tuple[str, ...]]]:
        """What an element wants and the whole graph allows, and the rest with the elements that stand against it."""
        if self.whole is None:
            return wanted, {}
        for atom in list(self.board.strokes)[self._heard :]:
            if atom[0] in self._owners:
                self.whole.take(self._given(atom, self.board.strokes[atom]), atom)
        self._heard = len(self.board.strokes)
        trial, allowed, refused = self.whole.copy(), {}, {}
        for atom, stroke in wanted.items():
            what = self._given(atom, stroke)
            if atom[0] not in self._owners or trial.take(what, atom):
                allowed[atom] = stroke
            else:
                found = {self._owners[bond][0] for bond, _ in trial.settled_by(what, atom)}
                refused[atom] = tuple(name for name in self.structure.vertices if name in found)
        return allowed, refused

    def _given(self, atom: Atom, stroke: str) -> str:
        """What the element at a bond gives with a stroke."""
        _, end = self._owners.get(atom[0], ("", "tail"))
        return "flow" if stroke == end else "effort"

    def _refused(self, name: str, wanted: Mapping[Atom, str], told: str, reason: Break) -> None:
        """An element that cannot have what it wants takes the opposite; where that breaks a law too, it is recorded."""
        if reason.backwards:
            return
        board = self.board
        blame = tuple(each for each in reason.blame if each != name)
        shown = self.structure.vertices[name].shown
        opposite = {atom: other_end(stroke) for atom, stroke in wanted.items()}
        try:
            told_so = f"{shown} '{name}' must give way at {{takers}} to {board.told(blame)}"
            board.attempt(opposite, name, told_so, blame=blame)
        except Break:
            board.settle(wanted, name, told)

    def _rest(self) -> None:
        """Bonds that no element decides: first forwards through moduli without inverse, then along the half arrow."""
        board = self.board
        for relation in board.relations:
            if relation.one_way:
                name = relation.vertex
                shown = self.structure.vertices[name].shown
                wanted = {member.atom: member.stroke(True) for member in relation.members[: relation.inputs]}
                self._choose(name, wanted, f"{shown} '{name}' has no inverse and takes the flow")
        for line in self.structure.lines.values():
            wanted = {(line.name, k): "head" for k in range(line.width)}
            self._choose(line.tail[0], wanted, "nothing else decides: effort goes along the half arrow")

    def _result(self) -> Causality:
        board = self.board
        integral: list[str] = []
        derivative: dict[str, tuple[str, ...]] = {}
        for name, vertex in self.structure.vertices.items():
            if vertex.letter not in STORAGES:
                continue
            wanted = one_port(self.structure, name, GIVES[vertex.letter])
            for (atom, stroke), part in zip(wanted.items(), component_names(name, len(wanted)), strict=True):
                if board.strokes[atom] == stroke:
                    integral.append(part)
                else:
                    derivative[part] = tuple(each for each in board.roots([atom]) if each != name)
        ends = {
            line.name: tuple(board.strokes[line.name, k] for k in range(line.width))
            for line in self.structure.lines.values()
        }
        return Causality(
            self.structure, ends, board.reasons(), tuple(integral), derivative, board.conflicts, board.relations
        )
