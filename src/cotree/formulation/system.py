"""The one contract between formulations and solvers: `SystemEquations`.

Every formulation returns this object and every solver accepts only this object. All expressions are CasADi ``SX`` in
the symbols listed here, so derivatives, sparsity and native code follow.

    q' = N(q) u                                 kinematics
    r(q, u, u', w, lambda, t, p) = 0            residual, or u' given explicitly
    0 = g(q, u, w, t, p)                        algebraic equations for w (index 1)
    0 = Phi(q, t, p)                            constraints, with multipliers lambda

A scalar network has no q and no constraints: its states are the ``u``. Inputs s(t) are kept as symbols, so that a
linearisation can differentiate with respect to them; their rates s'(t) appear where a storage is tied to a source.
Switching values m (modes) are constant between the break points in time, so that every stretch is smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import CotreeError, listing
from cotree.maths.lookup import slopes
from cotree.maths.symbolic import substitute, symbols
from cotree.maths.viewed import Table, Viewed
from cotree.system import Diagnostic, notes_of


def rate_name(name: str) -> str:
    """How the time derivative of a variable is called: ``d(C6.voltage)/dt``."""
    return f"d({name})/dt"


BANKED = "law_energy"
"""The integral of the power that force laws store beyond the potential energy; it belongs to the stored energy."""


def turns_name(name: str) -> str:
    """The integral that counts the turns of an angle."""
    return f"{name} turned"


@dataclass(frozen=True)
class Variables(Viewed):
    """A column of named symbols with units and start values."""

    symbols: ca.SX
    names: tuple[str, ...]
    units: tuple[str, ...]
    start: NDArray[np.float64]

    @classmethod
    def make(cls, names: Sequence[str], units: Sequence[str], start: Sequence[float] | None = None) -> Variables:
        """Fresh symbols with these names; start values are zero where none are given."""
        values = np.zeros(len(names)) if start is None else np.asarray(start, dtype=float)
        return cls(symbols(names), tuple(names), tuple(units), values)

    def __repr__(self) -> str:
        return f"<Variables: {listing(self.names, 6) or 'none'}>"

    def _view(self) -> Table | str:
        rows = zip(self.names, self.units, map(float, self.start), strict=True)
        return Table(("variable", "unit", "start"), rows, len(self))

    def __len__(self) -> int:
        return len(self.names)


def nothing() -> Variables:
    """An empty column of variables."""
    return Variables.make((), ())


@dataclass(frozen=True)
class Output(Viewed):
    """A named result: its expression and unit."""

    expression: ca.SX
    unit: str
    near: ca.SX | None = None
    """For an angle that is known up to full turns: the value near which it starts. Its turns are counted by an integral
    of the name `turns_name`."""


@dataclass(frozen=True)
class Mode:
    """A switching value: constant between break points, its value taken in the middle of each stretch."""

    text: str
    value: ca.SX
    """The value as a function of t and p."""
    times: Callable[[NDArray[np.float64], float, float], NDArray[np.float64]]
    """Break points for parameter values p, between two times."""
    refused: Callable[[float], CotreeError] | None = None
    """The error for a time at which the value is no number; there is none for values that always are."""


@dataclass(frozen=True)
class Energy:
    """Stored energy, and the powers that leave by dissipation and enter by supply."""

    stored: ca.SX
    dissipation: ca.SX
    supply: ca.SX


@dataclass(frozen=True)
class SmoothInput:
    """An input whose rate enters the equations, so it must not jump; ``why`` says what is tied to it."""

    index: int
    why: str
    needs: str = "an infinite flow"
    remedy: str = "Add a small resistance beside the storage, or let the source ramp"
    driver: str = ""
    """A driver whose speed may jump: all speeds then jump with it, as in an impact, and a note says so."""


@dataclass(frozen=True)
class Mechanics:
    """What a mechanical formulation says beyond first-order equations.

        balance:       M(q) u' + h(q, u, t) - Q - G^T lambda = 0           one row for each speed
        position:      Phi(q, t) = 0                                       holonomic constraints
        velocity:      dPhi/dt = G_h u + Phi_t = 0, then Psi(q, u, t) = 0  all constraints; d(velocity)/du = G
        acceleration:  d(velocity)/dt = 0

    ``lambda`` has one entry for each row of ``velocity``; ``G^T lambda`` is the generalised force of the constraints on
    the system. All expressions are in t, q, u, u', lambda, p and the modes.
    """

    balance: ca.SX
    position: ca.SX
    velocity: ca.SX
    acceleration: ca.SX
    quaternions: tuple[tuple[int, int], ...]
    """Places of Euler parameters in q, and of their three speeds (turned axes) in u."""
    kinetic: ca.SX
    potential: ca.SX
    lengths: tuple[bool, ...] = ()
    """Which equations between positions are lengths, in m, and no angles or directions."""
    left_out: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """Equations between positions that were left out as redundant; they must stay zero."""
    left_out_names: tuple[str, ...] = ()
    left_out_lengths: tuple[bool, ...] = ()
    """Which of them are lengths, in m, and no angles or directions."""
    elastic: int = 0
    """How many of the coordinates are elastic."""
    gyration: ca.SX = field(default_factory=lambda: ca.SX(0))
    """The largest radius of gyration of a rigid body, of p alone: the size of what turns on the spot."""


@dataclass(frozen=True)
class Lock:
    """A latch or a stop: an equation ``gap`` = 0 between positions that begins to hold when the gap closes.

    A latch closes from either side and for good. A stop closes where its gap falls (``side`` 1) or rises (-1) to zero,
    and opens again when it would have to pull.
    """

    name: str
    """``L`` of a latch, ``S.least`` of a stop."""
    measure: str
    """The result that is compared with the limit."""
    gap: ca.SX
    """Measure less limit, in t, q, p and the modes."""
    side: int = 0
    """0 for a latch."""
    restitution: ca.SX = field(default_factory=lambda: ca.SX(0))
    pull: tuple[str, int] = ("", 1)
    """The result, and its sign, that turns positive when a closed stop would have to pull."""
    ends: bool = False
    """Whether the run ends there."""


@dataclass(frozen=True)
class Switch:
    """What happens when ``guard`` becomes positive: held values change, and states may jump.

    It happens again at once where the guard is still positive after the change.
    """

    name: str
    guard: ca.SX
    """In t, q, u, u', w, x, the inputs, p and the modes with the held values."""
    held: Mapping[int, ca.SX]
    """New held values by their places among the held ones, from what was just before."""
    states: Mapping[int, ca.SX] = field(default_factory=dict)
    """New states by their places in (q, u, x), from what was just before."""


@dataclass(frozen=True)
class Sample:
    """New held values at the times ``offset + k period``, k = 0, 1, ..., all at once from what was just before."""

    name: str
    period: ca.SX
    """Of p alone, as the offset."""
    offset: ca.SX
    held: Mapping[int, ca.SX]
    call: Callable[[float, Sequence[float]], Sequence[float]] | None = None
    """A Python function ``call(t, inputs)`` that gives the held values instead, in the order of their places."""
    inputs: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """What the function is given."""


@dataclass(frozen=True)
class Fading:
    """A friction along a joint's coordinate that fades below a speed instead of sticking."""

    name: str
    coordinate: str
    """The result along which it acts; its rate is the result of that name and ``_rate``."""
    speed: ca.SX
    """Of p alone."""
    driven: bool = False
    """Whether a driver moves the joint along it."""


@dataclass(frozen=True)
class DomainEnergy:
    """The energy of one domain: d(stored)/dt = supply - dissipation + received."""

    stored: ca.SX
    dissipation: ca.SX
    supply: ca.SX
    received: ca.SX
    """Power from the other domains, through transducers, joints' axes and as heat of losses."""


@dataclass(frozen=True)
class SystemEquations(Viewed):
    """The equations of one model in named symbols; see the module's text for their form."""

    name: str
    t: ca.SX
    p: Variables
    u: Variables
    u_dot: ca.SX
    rates: ca.SX
    """u' as an explicit expression of t, q, u, w, s, s', m, p."""
    energy: Energy
    outputs: Mapping[str, Output]
    q: Variables = field(default_factory=nothing)
    kinematics: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    w: Variables = field(default_factory=nothing)
    algebraic: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    multipliers: Variables = field(default_factory=nothing)
    constraints: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    inputs: Variables = field(default_factory=nothing)
    input_rates: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    signals: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """The inputs as functions of t, p and m."""
    modes: tuple[Mode, ...] = ()
    mode_symbols: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """Symbols of the modes, and after them those of the held values."""
    held: Variables = field(default_factory=nothing)
    """Values that are constant between events."""
    held_start: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """Held values at the start, of t and p; switches that are due then act at once."""
    switches: tuple[Switch, ...] = ()
    samples: tuple[Sample, ...] = ()
    x: Variables = field(default_factory=nothing)
    """States of networks and signals beside a mechanism; without one they are among the u."""
    x_rates: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
    """x' as an expression of t, q, u, u', w, x, s, s', m, p."""
    domains: Mapping[str, DomainEnergy] = field(default_factory=dict)
    """The energy of every domain, where the model has several."""
    smooth_inputs: tuple[SmoothInput, ...] = ()
    integrals: Mapping[str, Output] = field(default_factory=dict)
    """Rates that are integrated along with the motion, by the name of the integral; the unit is the integral's."""
    unbooked: tuple[str, ...] = ()
    """Parts with a law of their own, whose work may count as dissipated though it comes back."""
    laws: Mapping[str, ca.SX] = field(default_factory=dict)
    """Expressions of the model that follow the motion, by the field that holds each."""
    law_units: Mapping[str, str] = field(default_factory=dict)
    """The unit of what a part with a law or a source gives, by the part's name."""
    behind: tuple[ca.SX, ca.SX] = field(default_factory=lambda: (ca.SX(0, 1), ca.SX(0, 1)))
    """Symbols of the laws that are no variables here, and what stands behind each."""
    parameter_values: Callable[[Mapping[str, float] | None], NDArray[np.float64]] | None = None
    """Checked numeric p, with changes by name."""
    start: Callable[[NDArray[np.float64], float], NDArray[np.float64]] | None = None
    """Start values of u for numeric p at a time; those the user gave are kept."""
    assemble: Callable[..., tuple[NDArray[np.float64], NDArray[np.float64]]] | None = None
    """Consistent q and u of a mechanism for numeric p at a time, with start values changed by name."""
    moved: Callable[..., tuple[Diagnostic, ...]] | None = None
    """What the consistent start has moved, for the same arguments as `assemble`."""
    judged: Callable[..., tuple[Diagnostic, ...]] | None = None
    """What there is to say of the range of a theory, from times and results by name, or from those of natural modes."""
    start_names: tuple[str, ...] = ()
    """Names besides those of q and u whose start values may be given: angles that follow from them."""
    mechanics: Mechanics | None = None
    """Second-order form and constraints, where the model is a mechanism."""
    pulls: tuple[str, ...] = ()
    """Results that cannot be negative: tensions of cables that never go slack."""
    locks: tuple[Lock, ...] = ()
    """Latches and stops."""
    closed: tuple[str, ...] = ()
    """Those of them that hold in these equations."""
    locked: Callable[..., SystemEquations] | None = None
    """The equations with others closed: ``locked(names, q, t, p)`` at positions that meet them."""
    nodal: Any = None
    """The structure behind equations in nodal coordinates."""
    fading: tuple[Fading, ...] = ()
    """Frictions that let joints creep."""
    spins: Any = None
    """Finds rotations of bodies that nothing else feels (`branch.spins.Spins`)."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What the formulation has to say: counts, dependent storages, redundant equations, what it leaves out."""

    def __repr__(self) -> str:
        columns = {"q": self.q, "u": self.u, "x": self.x, "w": self.w}
        counts = ", ".join(f"{len(each)} {letter}" for letter, each in columns.items() if len(each))
        return f"<SystemEquations of '{self.name}': {counts or 'no variables'}, {len(self.outputs)} results>"

    def _view(self) -> Table | str:
        letters = {"q": self.q, "u": self.u, "x": self.x, "w": self.w, "multiplier": self.multipliers}
        rows = [(letter, name, unit) for letter, each in letters.items()
                for name, unit in zip(each.names, each.units, strict=True)]  # fmt: skip
        return Table(("", "variable", "unit"), rows, len(rows))

    @cached_property
    def residual(self) -> ca.SX:
        """r(u', ...): the balance of a mechanism, and u' - rates otherwise."""
        return self.mechanics.balance if self.mechanics else self.u_dot - self.rates

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of the diagnostics."""
        return notes_of(self.diagnostics)

    @property
    def state_names(self) -> tuple[str, ...]:
        """The names of all states (q, u, x)."""
        return self.q.names + self.u.names + self.x.names

    @property
    def state_units(self) -> tuple[str, ...]:
        """Their units."""
        return self.q.units + self.u.units + self.x.units

    @property
    def eventful(self) -> bool:
        """Whether anything changes at once on the way: switches or samples."""
        return bool(self.switches or self.samples)

    def mass_matrix(self) -> ca.SX:
        """dr/du'."""
        return slopes(self.residual, self.u_dot)

    def constraint_jacobian(self) -> ca.SX:
        """G: the derivative of all velocity equations of a mechanism by u, one row for each; without any no rows."""
        return slopes(self.mechanics.velocity, self.u.symbols) if self.mechanics else ca.SX(0, len(self.u))

    def bias(self) -> ca.SX:
        """r with u' = 0."""
        return substitute(self.residual, self.u_dot, 0)

    @cached_property
    def straight_signals(self) -> bool:
        """Whether every given signal is a straight line in time between the breaks of its modes."""
        slope = ca.jacobian(self.signals, self.t)
        return not ca.depends_on(slope, self.t) if slope.nnz() else True

    @cached_property
    def steady_signals(self) -> bool:
        """Whether no given signal changes with time."""
        return not self.signals.numel() or not ca.depends_on(self.signals, ca.vertcat(self.t, self.mode_symbols))

    @cached_property
    def linear_algebraic(self) -> bool:
        """Whether the algebraic equations are linear in w, so that one sparse solution eliminates them."""
        return not len(self.w) or not ca.depends_on(self.algebraic_matrix, self.w.symbols)

    @cached_property
    def algebraic_matrix(self) -> ca.SX:
        """dg/dw."""
        return slopes(self.algebraic, self.w.symbols)

    def near_angles(self) -> dict[str, ca.SX]:
        """Outputs that are known up to full turns, with the value near which each starts."""
        return {name: each.near for name, each in self.outputs.items() if each.near is not None}

    def explicit(self, expression: ca.SX) -> ca.SX:
        """The expression with u' replaced by its own, where u' is explicit and not among the algebraic variables."""
        if self.mechanics is None or len(self.w) or not ca.depends_on(expression, self.u_dot):
            return expression
        return substitute(expression, self.u_dot, self.rates)

    def in_time(self, expression: ca.SX) -> ca.SX:
        """The expression with the inputs and their rates replaced by their signals: a function of t, q, u, w, p, m."""
        known = ca.vertcat(self.inputs.symbols, self.input_rates)
        if not known.numel() or not ca.depends_on(expression, known):
            return expression
        rates = ca.jacobian(self.signals, self.t)
        return substitute(expression, known, ca.vertcat(self.signals, rates))
