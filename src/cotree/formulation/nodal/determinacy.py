"""Determinacy of a structure: its modes, mechanisms and states of self-stress (Pellegrino and Calladine 1986).

With A the first-order equations of everything rigid (Xiang 2015, eq. 36): mechanisms are A d = 0, their number is
p = n - rank(A) (eq. 40); states of self-stress are A^T w = 0, as many as there are redundant equations. For a truss of
b bars this is Maxwell's count with Calladine's correction, m - s = n - b.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import CotreeError, ModelError, listing, nearest
from cotree.formulation.nodal.determinacy_report import Determinacy, Mechanism, SelfStress, count_of
from cotree.formulation.nodal.prestress import Prestress, followed, prestress, some_motion
from cotree.formulation.nodal.rank import independent_rows
from cotree.formulation.nodal.start import Start
from cotree.formulation.nodal.structure import NodalStructure, Row, lock_name
from cotree.maths.symbolic import column
from cotree.model import Model
from cotree.terminal.nodal.bars import Bar
from cotree.terminal.nodal.base import Held
from cotree.terminal.nodal.bodies import Body
from cotree.terminal.nodal.cables import ElasticCable, ForceCable, MotorCable, path_length
from cotree.terminal.nodal.gears import Gear
from cotree.terminal.nodal.locks import Lock

__all__ = ["Determinacy", "Mechanism", "SelfStress", "determinacy"]

Array = NDArray[np.float64]

SHOWN = 1200
"""Coordinates up to which mechanisms and states of self-stress are worked out unasked."""
SMALL = 1e-9
"""What counts as zero in unit shapes and forces."""

NO_MECHANISM = "There is no internal mechanism."
ALL_FINITE = "All mechanisms are finite, since no equation is redundant."

KINDS = ((Bar, "bars"), (Body, "bodies"), (Gear, "gears"), (MotorCable, "cables"), (ForceCable, "cables"),
         (ElasticCable, "cables"), (Lock, "latches"), (Held, "supports"))  # fmt: skip


def determinacy(
    given: Model | NodalStructure,
    *,
    closed: Collection[str] = (),
    cables: bool = False,
    shapes: bool | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Determinacy:
    """The mode report of a structure at its start, with the latches and stops named in ``closed`` holding.

    With ``cables`` those of given tension and elastic ones count as members that keep their length, as in the analysis
    of a tensegrity; a prestress then has to pull them. Mechanisms and states of self-stress are worked out up to 1,200
    coordinates, or where ``shapes`` is true; without them only the numbers are. ``parameters`` change values by name.
    """
    s = given if isinstance(given, NodalStructure) else NodalStructure(given)
    parts = [part for part in s.model.components.values() if isinstance(part, Lock)]
    known = [lock_name(part, label) for part in parts for label in part.labels()]
    unknown = [name for name in closed if name not in known]
    if unknown:
        raise ModelError(
            f"there is no latch or stop '{unknown[0]}'",
            where="closed",
            expected=f"some of {listing(known)}" if known else "none: the structure has no latch and no stop",
            remedy=nearest(unknown[0], known),
        )
    return _Analysis(s, tuple(closed), cables, parameters).report(s.q.numel() <= SHOWN if shapes is None else shapes)


class _Analysis:
    """The matrices of one structure at its start."""

    def __init__(
        self, s: NodalStructure, closed: tuple[str, ...], cables: bool, parameters: Mapping[str, float] | None
    ) -> None:
        self.s = s
        rows = s.rows(closed)
        _ = s.forces  # reads all expressions, which may add modes
        modes = column([mode.value for mode in s.values.modes])
        self.p = s.values.numbers(parameters)
        self.place = Start(s, rows, modes).closed(np.asarray(s.given(self.p)[0], dtype=float).ravel(), self.p, 0.0)
        if cables:
            rows = [*rows, *self._members()]
        if s.dim == 2:  # what holds a node in the plane is no equation here
            rows = [row for row in rows if ca.jacobian(row.value, s.q).nnz()]
        self.rows = rows
        self.start = Start(s, rows, modes)
        self.matrix = self.start.parts(self.place, self.p, 0.0)[1]
        self.parts = {placed.part.name: placed for placed in s.parts}
        groups = _groups(rows)
        self.kept, self.dropped = independent_rows(self.matrix, groups) if rows else ([], [])

    def _members(self) -> list[Row]:
        """Cables as members that keep the lengths of the start."""
        found = []
        for placed in self.s.parts:
            if isinstance(placed.part, (ForceCable, ElasticCable)):
                length = path_length(placed.at.x)
                now = float(ca.Function("length", [self.s.q], [length])(self.place))
                found.append(Row(placed.part.name, "length", length - now))
        return found

    def report(self, shapes: bool) -> Determinacy:
        """Everything together."""
        s = self.s
        equations: dict[str, int] = {}
        redundant: dict[str, int] = {}
        for row in self.rows:
            kind = _kind(self.parts[row.owner].part)
            equations[kind] = equations.get(kind, 0) + 1
        for k in self.dropped:
            redundant[self.rows[k].owner] = redundant.get(self.rows[k].owner, 0) + 1
        bodies = sum(s.dim * len(form.nodes) for form in s.bodies.values())
        whole = self._whole()
        found = self._shapes(whole) if shapes else self._unseen(whole.shape[1])
        return Determinacy(
            s.model.name, s.real, len(s.names) - s.real, s.q.numel(), equations,
            sum(equations.values()) - equations.get("bodies", 0) + bodies, len(self.kept),
            states=len(self.dropped), redundant=redundant, **found,
        )  # fmt: skip

    def _unseen(self, whole: int) -> dict[str, Any]:
        """What can be said without shapes."""
        words = "Whether the mechanisms are finite was not looked at: ask for shapes."
        if self.s.q.numel() == len(self.kept) + whole:
            words = NO_MECHANISM
        elif not self.dropped:
            words = ALL_FINITE
        return {"whole": whole, "stability": words}

    def _whole(self) -> Array:
        """Orthonormal motions of the whole as one rigid body that the equations allow to first order, as columns."""
        d, count = self.s.dim, len(self.s.names)
        x = self.place.reshape(count, d)
        x = x - x.mean(axis=0)
        fields = [np.tile(np.eye(d)[k], count) for k in range(d)]
        for a, b in ((0, 1), (1, 2), (2, 0))[: 3 if d == 3 else 1]:
            turn = np.zeros((count, d))
            turn[:, a], turn[:, b] = -x[:, b], x[:, a]
            fields.append(turn.ravel())
        left, sizes, _ = np.linalg.svd(np.array(fields).T, full_matrices=False)
        basis = left[:, sizes > SMALL * sizes[0]]
        if not self.rows:
            return np.asarray(basis)
        moved = self.matrix @ basis
        _, sizes, right = np.linalg.svd(moved, full_matrices=len(moved) < moved.shape[1])
        held = int((sizes > SMALL * max(1.0, float(sizes.max(initial=0.0)))).sum())
        return np.asarray(basis @ right[held:].T)

    def _shapes(self, whole: Array) -> dict[str, Any]:
        """Mechanisms, states of self-stress, and what they make of each other."""
        free = self._free()
        states = self._states()
        forms, size = self._forms(states, free)
        held = any(np.abs((free.T @ whole).T @ form).max(initial=0.0) > SMALL * size for form in forms)
        if held:  # the supports let the whole move infinitesimally only: one more mechanism to look at
            whole = whole[:, :0]
        inner = _beside(free, whole)
        within = free.T @ inner
        found = prestress([within.T @ form @ within for form in forms], inner, self._pulls(states), size)
        best = None
        if found.factors is not None:
            best = SelfStress(_scaled(self._results((states @ found.factors)[:, None])[0], turned=False))
        stresses = tuple(SelfStress(_scaled(forces)) for forces in self._results(states))
        loose, words = self._judge(found, inner, states)
        return {
            "whole": whole.shape[1],
            "stability": words,
            "mechanisms": (
                *self._named(whole, True, self._moves(whole)),
                *self._named(
                    found.stiff, False, ["undecided" if best is None else "infinitesimal"] * len(found.stiff.T)
                ),
                *self._named(found.loose, False, loose),
            ),
            "stresses": (best,) if best is not None and len(stresses) == 1 else stresses,
            "prestress": best,
        }

    def _free(self) -> Array:
        """Orthonormal displacements with A d = 0, as columns (eq. 40)."""
        if not self.kept:
            return np.eye(self.s.q.numel())
        turned = np.linalg.qr(self.matrix[self.kept].toarray().T, mode="complete")[0]
        return np.asarray(turned[:, len(self.kept) :])

    def _states(self) -> Array:
        """Multipliers with A^T lambda = 0, as columns: one for each redundant equation, the largest is 1."""
        states = np.zeros((len(self.rows), len(self.dropped)))
        if self.dropped:
            full = self.matrix.toarray()
            states[self.dropped, range(len(self.dropped))] = 1.0
            states[self.kept] = -np.linalg.lstsq(full[self.kept].T, full[self.dropped].T, rcond=None)[0]
            states /= np.abs(states).max(axis=0)
        return states

    def _forms(self, states: Array, free: Array) -> tuple[list[Array], float]:
        """The geometric stiffness of each state on the free displacements, -sum lambda_j H_j, and its largest entry."""
        if not states.shape[1] or not free.shape[1]:
            return [], 0.0
        s = self.s
        factors = ca.SX.sym("factors", len(self.rows))
        work = ca.dot(factors, column([row.value for row in self.rows]))
        second = ca.hessian(work, s.q)[0]
        known = [s.q, s.t, s.values.p.symbols, s.values.mode_symbols, factors]
        modes = self.start.mode_values(self.p, 0.0)
        evaluate = ca.Function("second", known, [second])
        matrices = [np.asarray(evaluate(self.place, 0.0, self.p, modes, state)) for state in states.T]
        size = max(float(np.abs(matrix).max()) for matrix in matrices)
        return [-free.T @ (matrix @ free) for matrix in matrices], size

    def _pulls(self, states: Array) -> Array:
        """Tensions of the cables in each state."""
        cables = [k for k, row in enumerate(self.rows) if _kind(self.parts[row.owner].part) == "cables"]
        return -states[cables]

    def _closed(self, place: Array) -> Array | None:
        try:
            return self.start.closed(place, self.p, 0.0)
        except CotreeError:
            return None

    def _moves(self, shapes: Array) -> list[str]:
        """Whether each shape is finite, as far as numbers can tell."""
        if not self.dropped:
            return ["finite"] * shapes.shape[1]
        return ["finite" if moves else "undecided" for moves in followed(shapes, self.place, self._closed)]

    def _judge(self, found: Prestress, inner: Array, states: Array) -> tuple[list[str], str]:
        """What the mechanisms are that no state of self-stress stiffens, and a sentence on all of them."""
        loose = self._moves(found.loose)
        if not inner.shape[1]:
            return loose, NO_MECHANISM
        if not self.dropped:
            return loose, ALL_FINITE
        words = []
        if found.factors is not None:
            forces = self._results((states @ found.factors)[:, None])[0]
            stiffness = found.least / max(max(map(abs, forces.values()), default=1.0), 1e-300)
            number = found.stiff.shape[1]
            which = "every mechanism is" if not loose else f"{number} mechanism{' is' if number == 1 else 's are'}"
            words.append(
                f"{which} infinitesimal: a prestress stiffens {'it' if number == 1 else 'them'} "
                f"(by at least {stiffness:.3g} N/m for a largest force of 1 N)"
            )
        elif found.stiff.shape[1]:
            pulling = " while it pulls all cables" if len(self._pulls(states)) else ""
            words.append(
                f"No prestress stiffens all mechanisms{pulling}"
                if found.decided
                else "No prestress was found that stiffens all mechanisms, and the search was not finished"
            )
            if some_motion(found.stiff, self.place, self._closed):
                words.append("the structure could be moved along some of them, so it is not rigid")
            else:
                words.append("terms of second order do not decide whether they are finite")
        if loose:
            moved = loose.count("finite")
            words.append(
                f"no state of self-stress resists {count_of(len(loose), 'mechanism')}; "
                f"{moved} of {len(loose)} could be followed over a finite motion"
            )
        text = "; ".join(words)
        return loose, f"{text[0].upper()}{text[1:]}."

    def _named(self, shapes: Array, whole: bool, motions: list[str]) -> list[Mechanism]:
        """Shapes by node."""
        s = self.s
        found = []
        for shape, motion in zip(shapes.T, motions, strict=True):
            moves = np.zeros((s.real, 3))
            moves[:, : s.dim] = shape.reshape(-1, s.dim)[: s.real]
            moves[np.abs(moves) < SMALL] = 0.0
            named = {name: (float(x), float(y), float(z)) for name, (x, y, z) in zip(s.names, moves, strict=False)}
            found.append(Mechanism(whole, motion, named))
        return found

    def _results(self, states: Array) -> list[dict[str, float]]:
        """The forces of each state by the names of the results; those inside rigid bodies have no meaning."""
        s = self.s
        factors = ca.SX.sym("factors", len(self.rows))
        places: dict[str, list[int]] = {}
        for k, row in enumerate(self.rows):
            places.setdefault(row.owner, []).append(k)
        named: dict[str, ca.SX] = {}
        for owner, rows in places.items():
            placed = self.parts[owner]
            if isinstance(placed.part, Held):
                force = self._whole_force(placed.part, rows, factors)
                for name, (value, unit) in placed.part.results(placed.v, placed.at, force).items():
                    if unit in ("N", "N m"):
                        named[f"{owner}.{name}"] = value
            elif isinstance(placed.part, (ForceCable, ElasticCable)):
                named[f"{owner}.tension"] = -factors[rows[0]]
        known = [s.q, s.t, s.values.p.symbols, s.values.mode_symbols, factors]
        evaluate = ca.Function("forces", known, [ca.densify(column(list(named.values())))])
        modes = self.start.mode_values(self.p, 0.0)
        found = []
        for state in states.T:
            values = np.asarray(evaluate(self.place, 0.0, self.p, modes, state), dtype=float).ravel()
            found.append(dict(zip(named, (float(value) for value in values), strict=True)))
        return found

    def _whole_force(self, part: Any, rows: list[int], factors: ca.SX) -> ca.SX:
        """The multipliers of all equations of a part; those that say nothing in the plane are zero."""
        labels = [self.rows[k].label for k in rows]
        return ca.vertcat(*(factors[rows[labels.index(x)]] if x in labels else ca.SX(0) for x in part.labels()))


def _kind(part: Any) -> str:
    return next(word for each, word in KINDS if isinstance(part, each))


def _groups(rows: list[Row]) -> list[int]:
    """How many equations each part has, in order."""
    groups: list[int] = []
    for k, row in enumerate(rows):
        if k and rows[k - 1].owner == row.owner:
            groups[-1] += 1
        else:
            groups.append(1)
    return groups


def _beside(everything: Array, some: Array) -> Array:
    """An orthonormal basis of the part of a space that is across some of its vectors."""
    if not some.shape[1]:
        return everything
    _, sizes, right = np.linalg.svd(some.T @ everything)
    return np.asarray(everything @ right[int((sizes > 0.5).sum()) :].T)


def _scaled(forces: Mapping[str, float], turned: bool = True) -> dict[str, float]:
    """Forces over the largest, the first positive where the sign is free; zero but for rounding is left out."""
    size = max((abs(force) for force in forces.values()), default=0.0)
    shown = {name: force / size for name, force in forces.items() if size > 0 and abs(force) > SMALL * size}
    sign = -1.0 if turned and next(iter(shown.values()), 1.0) < 0 else 1.0
    return {name: sign * force for name, force in shown.items()}
