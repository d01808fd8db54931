"""The mode report of a structure: what `determinacy` finds, with a text for reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cotree.errors import listing
from cotree.maths.viewed import Viewed

PRINTED = 6
"""Mechanisms and states that are printed."""


@dataclass(frozen=True)
class Mechanism(Viewed):
    """A displacement that changes no length to first order; the shapes of a structure are orthonormal."""

    whole: bool
    """Whether the structure moves as one rigid body."""
    motion: str
    """``finite``, ``infinitesimal`` or ``undecided``."""
    shape: Mapping[str, tuple[float, float, float]]
    """The displacement of each node."""


@dataclass(frozen=True)
class SelfStress(Viewed):
    """Forces that balance each other without any load; the largest is 1 N (or 1 N m)."""

    forces: Mapping[str, float]
    """By the names of the results: ``AB.force`` (tension positive), ``S.force.x`` (on the node), ``G.torque``."""


@dataclass(frozen=True)
class Determinacy(Viewed):
    """The mode report of a structure at its start position."""

    name: str
    nodes: int
    added: int
    """Points that are added to describe rigid bodies with few nodes; each has coordinates and equations of its own."""
    freedoms: int
    """Nodal degrees of freedom n, those of the added points with them."""
    equations: Mapping[str, int]
    """How many equations bars, bodies, supports, gears, cables and closed latches give; a body of k points gives 3k - 6
    (2k - 3 in the plane), which are independent of each other."""
    paper_equations: int
    """The rows of A as Xiang 2015 counts them (eq. 38): three (two) for each node of a body; other parts as here."""
    rank: int
    whole: int
    """Motions of the whole as one rigid body."""
    states: int
    """States of self-stress: redundant equations."""
    redundant: Mapping[str, int]
    """Redundant equations by the part that may be left out."""
    stability: str
    """What is known of the internal mechanisms, in one sentence."""
    mechanisms: tuple[Mechanism, ...] = ()
    stresses: tuple[SelfStress, ...] = ()
    prestress: SelfStress | None = None
    """A prestress that stiffens every infinitesimal mechanism."""

    @property
    def modes(self) -> int:
        """Independent displacement modes p = n - rank (Xiang 2015, eq. 40)."""
        return self.freedoms - self.rank

    @property
    def internal(self) -> int:
        """Mechanisms besides motions of the whole."""
        return self.modes - self.whole

    @property
    def kind(self) -> str:
        """The four types of Pellegrino and Calladine 1986, table 1; motions of the whole are not counted."""
        static = "statically determinate" if not self.states else "statically indeterminate"
        return f"{static}, kinematically {'determinate' if not self.internal else 'indeterminate'}"

    def __repr__(self) -> str:
        counts = (
            f"{self.freedoms} freedoms, rank {self.rank}, {len(self.mechanisms)} mechanisms, {self.states} self-stress"
        )
        return f"<Determinacy of '{self.name}': {counts}>"

    def _view(self) -> str:
        return str(self)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} of {kind}" for kind, count in self.equations.items() if count)
        total = sum(self.equations.values())
        added = f" (and {count_of(self.added, 'point')} added for bodies)" if self.added else ""
        paper = f"; Xiang 2015, eq. 38 counts {self.paper_equations}" if self.paper_equations != total else ""
        lines = [
            f"{self.name}: {self.kind}",
            f"  {count_of(self.nodes, 'node')}{added}, n = {self.freedoms} nodal degrees of freedom",
            f"  {count_of(total, 'equation')}{': ' + counts if counts else ''}{paper}",
            f"  rank {self.rank}: {count_of(self.modes, 'independent mode')} = {count_of(self.whole, 'motion')} of the "
            f"whole + {count_of(self.internal, 'internal mechanism')}",
            f"  {count_of(self.states, 'state')} of self-stress"
            + (f": redundant {listing(_each(self.redundant), 6)}" if self.redundant else ""),
        ]
        if self.internal:
            lines.append(f"  {self.stability}")
        inner = [each for each in self.mechanisms if not each.whole]
        for k, mechanism in enumerate(inner[:PRINTED], 1):
            lines.append(f"  mechanism {k} ({mechanism.motion}): {_shape(mechanism.shape)}")
        for k, state in enumerate(self.stresses[:PRINTED], 1):
            lines.append(f"  self-stress {k}: {_forces(state.forces)}")
        if self.prestress is not None and self.states > 1:
            lines.append(f"  stiffening prestress: {_forces(self.prestress.forces)}")
        return "\n".join(lines)


def count_of(number: int, word: str) -> str:
    """``3 bars``, ``1 bar``, ``no bars``."""
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"


def _each(redundant: Mapping[str, int]) -> list[str]:
    return [f"'{name}'" if count == 1 else f"'{name}' ({count})" for name, count in redundant.items()]


def _shape(shape: Mapping[str, tuple[float, float, float]]) -> str:
    """The nodes that move most."""
    order = sorted((name for name in shape if any(shape[name])), key=lambda name: -sum(x * x for x in shape[name]))
    moving = [f"{name} ({', '.join(f'{x:.3g}' for x in shape[name])})" for name in order]
    return listing(moving, 8) or "no node moves: bodies turn about their nodes"


def _forces(forces: Mapping[str, float]) -> str:
    return listing([f"{name} {force:+.4g}" for name, force in forces.items()], 14)
