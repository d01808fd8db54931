"""What every integrator offers: a smooth stretch integrated natively on an output grid."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.errors import OptionError, SolveError, nearest
from cotree.solve.problem import Problem, Scale

Array = NDArray[np.float64]

DENSE = 20
"""States from which a tabulated linear system, whose matrix is full, is solved by LAPACK."""

STIFF_RATE = 2e3
"""Decay rate in 1/s beyond which a mechanism is integrated by an implicit method."""
FEW = 40
"""Most states of a machine for which a method of one step is cheaper at the same error, and closes the audit better."""
STIFF_STATES = 200
"""Most states for which the decay rates are looked at."""

INTEGRATORS: dict[str, type[Integrator]] = {}
"""Every integrator by its name."""
EVENTFUL: dict[str, type[Integrator]] = {}
"""Those that stop at switches and samples."""


@dataclass(frozen=True)
class Options:
    """Options common to all integrators."""

    rtol: float = 1e-8
    atol: float = 1e-10
    """In units of each variable's scale."""
    max_steps: int = 100_000
    """Most steps between two output points."""
    step: float | None = None
    """Length of a step in s, for methods with a fixed one."""
    compiled: bool = False
    """Whether the right-hand sides are compiled to machine code, by methods that can use it."""
    spectral_radius: float = 0.9
    """What generalised-alpha leaves of the fastest oscillations in one step."""


@dataclass
class Switched:
    """Switches that have acted: their numbers, and times, states, algebraic variables and integrals right after."""

    which: NDArray[np.int64]
    t: Array
    x: Array
    z: Array
    quad: Array


@dataclass
class Stretch:
    """States, algebraic variables and integrals at the output times of one call, one column for each time."""

    x: Array
    z: Array
    quad: Array
    steps: int
    evaluations: int
    switched: Switched | None = None


class Stopped(RuntimeError):
    """A run that cannot go on for a reason that is known."""

    def __init__(self, error: SolveError) -> None:
        super().__init__(str(error))
        self.error = error


class Integrator(ABC):
    """One method of time integration. A subclass with a ``name`` registers itself."""

    name: ClassVar[str] = ""
    settles: ClassVar[bool] = True
    """Whether results of a mechanism are taken on its constraints, instead of where the method is."""
    goes_on: ClassVar[bool] = False
    """Whether a call goes on with the memory of the one before."""
    eventful: ClassVar[bool] = False
    """Whether it stops at switches and samples."""
    needs_step: ClassVar[bool] = False
    """Whether the length of its steps has to be given."""
    worst: float = 0.0
    """The largest error of an equation between positions, of methods that let them drift."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.name:
            return
        INTEGRATORS.setdefault(cls.name, cls)
        if cls.eventful:
            EVENTFUL[cls.name] = cls

    def __init__(self, problem: Problem, options: Options) -> None:
        self.problem, self.options = problem, options

    @classmethod
    @abstractmethod
    def suits(cls, problem: Problem) -> str:
        """Empty if the method can integrate the problem, otherwise the reason why not."""

    def with_step(self, step: float) -> Integrator | None:
        """The same method with a fixed step, for places where it cannot adapt; None where it has none."""
        return None

    def twin(self) -> Integrator:
        """The same method without its memory."""
        return type(self)(self.problem, self.options)

    def beginning(self, t: float, z: Array, p: Array, start: Mapping[str, float] | str | None = None) -> Array:
        """z at the start of a run; methods that stop at events keep more there than algebraic variables."""
        return z

    def apart(self, z: Array, m: Array) -> tuple[Array, Array]:
        """The algebraic variables, and the modes with the held values, for one time or a column for each."""
        return z, m

    def eliminated(self, t: Array, x: Array, p: Array, m: Array) -> Any:
        """Algebraic variables that enter linearly, one column for each time."""
        return self.problem.linear_w(t, x, p, m, self.problem.table(p, m))

    def memory(self) -> Array:
        """What the method keeps beside the states from one call to the next; nothing for most."""
        return np.zeros(0)

    def recall(self, t: float, x: Array, p: Array, m: Array, scale: Array, memory: Array) -> None:
        """Go on at a state with the memory that an earlier run had there; most methods begin anew with every call."""
        return None

    @abstractmethod
    def integrate(
        self, t0: float, times: Array, x: Array, z: Array, p: Array, m: Array, scale: Scale, max_step: float
    ) -> Stretch:
        """Integrate from t0 to the last of ``times``; raises RuntimeError where the method gives up."""


class SundialsIntegrator(Integrator):
    """CVODES and IDAS through CasADi: variable order, variable step, the time loop in native code."""

    plugin: ClassVar[str] = ""
    """CasADi's name of the native integrator, where it is not that of the method."""

    def __init__(self, problem: Problem, options: Options) -> None:
        super().__init__(problem, options)
        self._made: dict[tuple[tuple[float, ...], float], ca.Function] = {}

    def settings(self) -> dict[str, Any]:
        """Options of the native integrator."""
        dense = self.problem.linear and self.problem.x.numel() > DENSE and ca.has_linsol("lapacklu")
        return {
            **({"linear_solver": "lapacklu"} if dense else {}),
            "reltol": self.options.rtol,
            "abstol": self.options.atol,
            "max_num_steps": self.options.max_steps,
            "quad_err_con": True,
            "disable_internal_warnings": True,
        }

    def integrate(
        self, t0: float, times: Array, x: Array, z: Array, p: Array, m: Array, scale: Scale, max_step: float
    ) -> Stretch:
        length = float(times[-1] - t0)
        solver = self._solver(_relative(t0, times), float(f"{max_step / length:.3g}"))
        states = x / scale.x if len(x) else np.zeros(1)
        given = np.concatenate([p, m, self.problem.table(p, m), [t0, length], scale.x, scale.z, scale.quad])
        with redirect_stderr(StringIO()):  # the native solvers write there what the error says better
            result = solver(x0=states, z0=z / scale.z, p=given)
        xs, zs, quad = (
            np.asarray(result[key], dtype=float) * size[:, None]
            for key, size in (("xf", scale.x), ("zf", scale.z), ("qf", scale.quad))
        )
        if not (np.isfinite(xs).all() and np.isfinite(zs).all() and np.isfinite(quad).all()):
            raise RuntimeError("a value is not finite")
        stats = solver.stats()
        return Stretch(xs if len(x) else xs[:0], zs, quad, int(stats["nsteps"]), int(stats["nfevals"]))

    def _solver(self, grid: tuple[float, ...], max_step: float) -> ca.Function:
        """The native integrator for an output grid and a longest step, both in scaled time."""
        key = (grid, max_step)
        if key not in self._made:
            if len(self._made) > 256:  # irregular break points make a new grid each
                self._made.clear()
            settings = self.settings() | ({"max_step_size": max_step} if max_step < 1 else {})
            plugin = self.plugin or self.name
            self._made[key] = ca.integrator(self.name, plugin, self.right_hand_side(), 0.0, list(grid), settings)
        return self._made[key]

    def right_hand_side(self) -> ca.Function:
        """What is integrated, in CasADi's form."""
        return self.problem.dae


def _relative(t0: float, times: Array) -> tuple[float, ...]:
    """Output times as parts of the stretch; even ones without their rounding errors, so that solvers are reused."""
    parts = (times - t0) / (times[-1] - t0)
    even = np.arange(1, len(times) + 1) / len(times)
    return tuple((even if np.abs(parts - even).max() < 1e-12 else parts).tolist())


ELSEWHERE = {
    "bdf": "cvodes", "gear": "cvodes", "ode15s": "cvodes", "lsoda": "auto", "dassl": "idas",
    "ode45": "rk45", "dopri5": "rk45", "rk": "rk45", "dop853": "rk8", "radau": "rodas",
    "rosenbrock": "rodas", "hht": "generalised_alpha", "newmark": "generalised_alpha",
    "generalized_alpha": "generalised_alpha", "ode113": "adams",
}  # fmt: skip
"""Methods by the names that other programs use, and the nearest here."""


def called_here(name: object) -> str:
    """``here it is called 'cvodes'`` for ``bdf``; empty where no other program has the name."""
    meant = ELSEWHERE.get(str(name).lower())
    return f"here it is called '{meant}'" if meant else ""


def choose(name: str, problem: Problem, step: float | None = None) -> type[Integrator]:
    """The integrator of this name, or the best for the problem with ``auto``.

    A structure in nodal coordinates with a given step is integrated in displacement modes, or where it is too large for
    their full matrices, by generalised-alpha.
    """
    if problem.equations.eventful:
        return _eventful(name, problem)
    if name == "auto" and problem.equations.nodal is not None and step is not None:
        modes = INTEGRATORS["corrected"]
        return INTEGRATORS["generalised_alpha"] if modes.suits(problem) else modes
    if name == "auto" and problem.equations.mechanics is not None and problem.eliminated:
        few = bool(len(problem.equations.x)) and problem.x.numel() <= FEW
        return INTEGRATORS[("rodas" if few else "cvodes") if is_stiff(problem) else ("rk45" if few else "adams")]
    if name == "auto":
        return INTEGRATORS["cvodes" if problem.eliminated else "idas"]
    if name not in INTEGRATORS:
        raise OptionError(
            f"there is no integrator '{name}'",
            expected=f"auto, {', '.join(INTEGRATORS)}",
            remedy=called_here(name) or nearest(str(name), INTEGRATORS),
        )
    if reason := INTEGRATORS[name].suits(problem):
        raise OptionError(f"{name} cannot integrate this model: {reason}", remedy="Use integrator='auto'")
    return INTEGRATORS[name]


def _eventful(name: str, problem: Problem) -> type[Integrator]:
    """The method of equations with switches or samples."""
    if name == "auto":
        return EVENTFUL["rk45" if problem.eliminated else "rodas"]
    if name not in EVENTFUL:
        raise OptionError(
            f"{name} does not stop at switches and samples",
            expected=f"auto, {', '.join(EVENTFUL)}",
            remedy=called_here(name) or nearest(name, EVENTFUL) or "Use integrator='auto'",
        )
    if reason := EVENTFUL[name].suits(problem):
        raise OptionError(f"{name} cannot integrate this model: {reason}", remedy="Use integrator='auto'")
    return EVENTFUL[name]


def is_stiff(problem: Problem) -> bool:
    """Whether a mechanism has something much faster than its motion: a strong damper or a hard spring.

    Eigenvalues of the rates about the start against the rates of the motion itself.
    """
    if problem.equations.energy.dissipation.is_constant() or (values := eigenvalues(problem)) is None:
        return False
    damped = np.abs(values.real[values.real < 0]).max(initial=0.0)
    return bool(damped > STIFF_RATE)


def eigenvalues(problem: Problem) -> NDArray[np.complex128] | None:
    """Eigenvalues of the rates of a mechanism about its start, by differences; None where they cannot be found."""
    e = problem.equations
    n = problem.x.numel()
    if not 0 < n <= STIFF_STATES:
        return None
    x = np.concatenate([e.q.start, e.u.start, e.x.start])
    m = np.asarray(problem.mode_values(0.0, e.p.start), dtype=float).ravel()

    def rates(states: Array) -> Array:
        w: Any = np.zeros((0, states.shape[1]))
        if problem.settled is not None:
            states, w = problem.settled(0.0, states, e.p.start, m)
        return np.asarray(problem.rates(0.0, states, w, e.p.start, m), dtype=float).reshape(n, -1)

    step = 1e-6 * np.maximum(1.0, np.abs(x))
    try:
        every = rates(np.column_stack([x[:, None] + np.diag(step), x[:, None] - np.diag(step)]))
    except RuntimeError:  # the constraints are singular near the start, and the run says so
        return None
    with np.errstate(invalid="ignore", over="ignore"):  # rates that are no numbers are told by the run
        jacobian = (every[:, :n] - every[:, n:]) / (2 * step)
    return np.linalg.eigvals(jacobian).astype(np.complex128) if np.isfinite(jacobian).all() else None
