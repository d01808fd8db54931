"""The mechanical form: speeds u are flows, coordinates q displacements, with the second-order form beside it.

By T^T e = 0 with f = T(q) u, inertias of derivative causality cost nothing: their efforts are the rates of their
momenta, M(q) u' + h(q, u), as in Lagrange's equations. Mass matrix and forces come from one reverse-mode product.
Closures of loops have multipliers; where a flow source knows the displacement of its flow (``gap``), the loop is also
closed on the level of positions. So every method for mechanisms applies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.changes import Changes, supplying
from cotree.bond.kinematics import COMPLIANCE, DISSIPATOR, EFFORT_SOURCE, INTERNAL, Closure
from cotree.bond.laws import Port, balance, bond_efforts
from cotree.bond.mechanical_start import EULER, MechanicalStart
from cotree.bond.results import results
from cotree.bond.state_form import StateForm
from cotree.bond.states import start_displacement
from cotree.errors import FormulationError, listing
from cotree.formulation.branch.articulated import ldl_solver
from cotree.formulation.branch.redundancy import independent_rows
from cotree.formulation.system import Mechanics, Output, SmoothInput, SystemEquations, Variables, rate_name
from cotree.formulation.undetermined import marked, self_stress, undetermined
from cotree.maths.rotation import quaternion_rate
from cotree.maths.symbolic import column, substitute
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]

SMALL = 24
"""Speeds up to which the accelerations are written as one expression."""
LIGHT = 1e-9
"""Ratio of eigenvalues of the scaled mass matrix below which some speed has no inertia."""


class MechanicalForm(StateForm):
    """One derivation in mechanical form."""

    drives = True

    def suits(self) -> bool:
        """Whether every free flow has inertia, and everything else follows from speeds and coordinates."""
        if not self.speed_columns:  # nothing can move
            return False
        if self.by_rank(INTERNAL, EFFORT_SOURCE, COMPLIANCE, DISSIPATOR) or self.signals.late:
            return False
        vertices = self.structure.vertices.values()
        if any(v.letter == "I" and v.law is not None for v in vertices) or self.unknown_efforts:
            return False
        self.signals.offer(self.flow_signals() | self._momentum_signals() | self._effort_signals())
        if self.signals.late:
            return False
        rates = self.signals.expand(self.q_rates)
        if self.signals.unknown(rates):
            return False
        still = substitute(rates, self.kin.u, 0)
        return bool(ca.simplify(still).is_zero())

    @cached_property
    def p_states(self) -> dict[str, ca.SX]:
        return {}

    @cached_property
    def q(self) -> ca.SX:
        """Displacements of C's, then integrals."""
        return ca.vertcat(ca.SX(0, 1), *self.storing.values(), *(i.symbols for i in self.structure.integrals))

    @cached_property
    def q_rates(self) -> ca.SX:
        """Their rates."""
        flows = [self.kin.own_flow(name) for name in self.storing]
        return ca.vertcat(ca.SX(0, 1), *flows, *(i.rate for i in self.structure.integrals))

    @cached_property
    def closures(self) -> list[Closure]:
        """Closures with a gap first."""
        return sorted(self.kin.closures, key=lambda c: self._gap(c) is None)

    def _gap(self, closure: Closure) -> ca.SX | None:
        gap = None if closure.torn is not None else self.structure.vertices[closure.vertex].gap
        return None if gap is None else self._put(self.signals.expand(gap[closure.k]))

    @cached_property
    def _velocity(self) -> ca.SX:
        """Flows of all closures."""
        flows = [self._closure_flow(c) for c in self.closures]
        return self._put(self.signals.expand(column(flows)))

    @cached_property
    def _position(self) -> ca.SX:
        return column([gap for c in self.closures if (gap := self._gap(c)) is not None])

    def _closing_efforts(self, multipliers: Mapping[int, ca.SX]) -> dict[str, ca.SX]:
        efforts: dict[str, ca.SX] = {}
        for k, closure in enumerate(self.closures):
            if closure.torn is None:
                own = efforts.setdefault(closure.vertex, ca.SX.zeros(self.structure.width(closure.vertex)))
                own[closure.k] = -multipliers.get(k, ca.SX(0))
        return efforts

    def equations(self) -> SystemEquations:
        """The system equations; `suits` has been asked before."""
        u, u_dot = self.speeds
        start = MechanicalStart(self, self._put(self.signals.expand(self.q_rates)), u)
        q0, u0 = start.state(self.values.p.start, 0.0)
        kept = self._kept(start, q0, u)
        names = [f"lambda {self.closures[k].name}" for k in kept]
        multipliers = Variables.make(names, ["" for _ in kept])
        by_row = {row: multipliers.symbols[k] for k, row in enumerate(kept)}
        self._let(by_row)
        torn = [
            Port(c.vertex, c.line, self.kin.closure_flow(c, ca.SX(0)), -by_row[k])
            for k, c in enumerate(self.closures)
            if c.torn is not None and k in by_row
        ]
        rows = balance(self, [*self.ports, *torn])
        order = [self.places[c] for c in self.speed_columns]
        whole = self._put(self.signals.expand(rows[order]))
        velocity = self._velocity[kept] if kept else ca.SX(0, 1)
        held = [k for k in kept if self._gap(self.closures[k]) is not None]
        position = self._position[held] if held else ca.SX(0, 1)
        acceleration = self.rate(velocity, "a closure") if kept else ca.SX(0, 1)
        closed = bool(kept) or u.numel() > SMALL
        w, algebraic, rates = self._accelerations(whole, acceleration, multipliers, closed)
        self._check_inertia(whole, q0, u0)
        inputs, input_rates, signals = self.inputs

        def final(expression: ca.SX) -> ca.SX:
            return self._put(self.signals.expand(expression))

        out = results(self, final)
        dropped = [k for k in range(self._position.numel()) if k not in held]
        kinematics = final(self.q_rates)
        return SystemEquations(
            name=self.structure.name,
            t=self.values.t,
            p=self.values.p,
            q=Variables(self.q, *self._q_names(), q0),
            u=Variables(u, self._u_names(), self._u_units(), u0),
            u_dot=u_dot,
            kinematics=kinematics,
            rates=rates,
            energy=out.energy,
            outputs=out.outputs,
            w=w,
            algebraic=algebraic,
            multipliers=multipliers,
            constraints=position,
            inputs=inputs,
            input_rates=input_rates,
            signals=signals,
            smooth_inputs=self._smooth_closures(),
            modes=tuple(self.values.modes),
            mode_symbols=self.values.mode_symbols,
            integrals=out.integrals,
            laws=self.values.laws,
            behind=(inside := column(ca.symvar(column([*self.values.laws.values()]))), final(inside)),
            parameter_values=Changes(self).numbers,
            assemble=start.state,
            moved=start.moved,
            mechanics=Mechanics(
                whole,
                position,
                velocity,
                acceleration,
                self._quaternions(kinematics),
                out.kinetic,
                out.potential,
                tuple(self.structure.vertices[self.closures[k].vertex].domain == "translational" for k in held),
                self._position[dropped] if dropped else ca.SX(0, 1),
                tuple(self.closures[k].vertex for k in dropped),
                tuple(self.structure.vertices[self.closures[k].vertex].domain == "translational" for k in dropped),
            ),
            diagnostics=(
                *self._mechanical_diagnostics(kept),
                *marked(self._undetermined(final, kept, q0)),
                *supplying(self.structure),
            ),
        )

    def _accelerations(
        self, whole: ca.SX, acceleration: ca.SX, multipliers: Variables, closed: bool
    ) -> tuple[Variables, ca.SX, ca.SX]:
        _, u_dot = self.speeds
        none = Variables.make((), ())
        if not u_dot.numel():
            return none, ca.SX(0, 1), ca.SX(0, 1)
        if closed:
            names = (*(rate_name(name) for name in self._u_names()), *multipliers.names)
            units = (*(f"{unit}/s" for unit in self._u_units()), *multipliers.units)
            both = Variables(ca.vertcat(u_dot, multipliers.symbols), names, units, np.zeros(len(names)))
            return both, ca.vertcat(whole, acceleration), u_dot
        mass = ca.jacobian(whole, u_dot)
        return none, ca.SX(0, 1), ca.densify(ldl_solver(mass)(-substitute(whole, u_dot, 0)))

    @cached_property
    def all_efforts(self) -> ca.SX:
        held = {self.kin.at(c.line, c.k): -self._held_multipliers.get(k, ca.SX(0)) for k, c in enumerate(self.closures)}
        return bond_efforts(self, self.ports, held)

    # -- names ---------------------------------------------------------------------------------------------------

    def _q_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        names = [each.name() for q in self.storing.values() for each in ca.vertsplit(q)]
        units = [self._unit(name, 3) for name, q in self.storing.items() for _ in range(q.numel())]
        for integral in self.structure.integrals:
            names += integral.names
            units += integral.units
        return tuple(names), tuple(units)

    def _u_names(self) -> tuple[str, ...]:
        return tuple(each.name() for each in ca.vertsplit(self.speeds[0])) if self.speed_columns else ()

    def _u_units(self) -> tuple[str, ...]:
        return tuple(self._unit(self.kin.columns[c].element, 1) for c in self.speed_columns)

    # -- checks --------------------------------------------------------------------------------------------------

    def _kept(self, start: MechanicalStart, q0: Array, u: ca.SX) -> list[int]:
        """Closures that say something new, at the start and near it."""
        count = len(self.closures)
        if not count or not u.numel():
            return list(range(count)) if u.numel() else []
        values = self.values
        known = [self.q, u, values.t, values.p.symbols, values.mode_symbols, self.inputs[0].symbols]
        jacobian = ca.Function("closures", known, [ca.densify(ca.jacobian(self._velocity, u))])
        rest = (0.0, values.p.start, np.full(len(values.modes), 0.5), np.zeros(len(self.inputs[0])))
        rows: list[int] = []
        for q in start.positions(q0, values.p.start):
            found = independent_rows(np.asarray(jacobian(q, np.zeros(u.numel()), *rest), dtype=float), [count])
            rows = max(rows, found, key=len)
        return sorted(rows, key=lambda k: self._gap(self.closures[k]) is None)

    def _undetermined(self, final: Callable[[ca.SX], ca.SX], kept: list[int], q0: Array) -> tuple[str, ...]:
        """Forces and torques that closures which others imply leave open."""
        u, values = self.speeds[0], self.values
        lost = [k for k in range(len(self.closures)) if k not in set(kept)]
        if not lost or not u.numel():
            return ()
        known, at = [self.q, values.t, values.p.symbols], (q0, 0.0, values.p.start)

        def number(expression: ca.SX) -> Any:
            free = ca.Function("change", known, [expression], {"allow_free": True}).free_sx()  # such as speeds
            return ca.Function("change", known, [substitute(expression, ca.vertcat(*free), 0)])(*at)

        multipliers = ca.SX.sym("lambda", len(self.closures))
        self._let(dict(enumerate(ca.vertsplit(multipliers))))
        forces = {name: each.expression for name, each in results(self, final).outputs.items() if _reaction(name, each)}
        stress = self_stress(number(ca.jacobian(self._velocity, u)), kept, lost)
        return undetermined(forces, multipliers, stress, number)

    def _let(self, multipliers: dict[int, ca.SX]) -> None:
        """Take these multipliers for the closures: others are zero."""
        self.__dict__["closing"] = self._closing_efforts(multipliers)
        self._held_multipliers = multipliers
        self.__dict__.pop("all_efforts", None)

    def _check_inertia(self, whole: ca.SX, q0: Array, u0: Array) -> None:
        u, u_dot = self.speeds
        if not u.numel():
            return
        values = self.values
        known = [self.q, u, values.t, values.p.symbols, values.mode_symbols, self.inputs[0].symbols, self.inputs[1]]
        mass = ca.Function("mass", known, [ca.densify(ca.jacobian(whole, u_dot))])
        zeros = np.zeros(len(self.inputs[0]))
        found = mass(q0, u0, 0.0, values.p.start, np.full(len(values.modes), 0.5), zeros, zeros)
        value = np.asarray(found, dtype=float)
        diagonal = np.diag(value)
        light = [k for k in range(len(diagonal)) if not diagonal[k] > 0]
        if not light and not self.closures:
            scaled = value / np.sqrt(np.outer(diagonal, diagonal))
            values_, vectors = np.linalg.eigh((scaled + scaled.T) / 2)
            light = [int(np.argmax(np.abs(vectors[:, 0])))] if values_[0] < LIGHT else []
        if light and not self.closures:
            c = self.kin.columns[self.speed_columns[light[0]]]
            raise FormulationError(
                f"no inertia resists the flow of '{c.element}'",
                where=str(self.structure.lines[c.line]),
                expected="an I behind every flow that is free",
                remedy="Give the bodies behind it mass and inertia, or hold this flow",
            )

    def _quaternions(self, kinematics: ca.SX) -> tuple[tuple[int, int], ...]:
        """Places of Euler parameters in q whose three speeds stand together in u."""
        found = []
        place = sum(q.numel() for q in self.storing.values())
        u = self.speeds[0]
        for integral in self.structure.integrals:
            if integral.rotation and len(integral.names) == EULER:
                for k in range(u.numel() - 2):
                    wanted = quaternion_rate(integral.symbols, u[k : k + 3])
                    off = ca.Function(
                        "off", [self.q, u, self.values.p.symbols], [kinematics[place : place + 4] - wanted]
                    )
                    rng = np.random.default_rng(1)
                    sample = off(rng.random(self.q.numel()), rng.random(u.numel()), self.values.p.start)
                    if np.abs(np.asarray(sample, dtype=float)).max() < 1e-12:
                        found.append((place, k))
                        break
            place += len(integral.names)
        return tuple(found)

    def _smooth_closures(self) -> tuple[SmoothInput, ...]:
        inputs, _, _ = self.inputs
        found = []
        for k, name in enumerate(inputs.names):
            if self.closures and ca.depends_on(self._velocity, inputs.symbols[k]):
                owner = name.rpartition(".flow")[0]
                found.append(SmoothInput(k, f"{owner} drives masses", "an infinite effort", "Let the source ramp"))
        return tuple(found)

    def _mechanical_diagnostics(self, kept: list[int]) -> tuple[Diagnostic, ...]:
        speeds, rows = len(self._u_names()), len(kept)
        found = [diagnose("closure-counts", speeds=speeds, rows=rows, freedom=speeds - rows)]
        derivative = [name for name, integral in self.integral.items() if not integral]
        if derivative:
            names = listing([f"I {name}" for name in derivative], 12)
            found.append(diagnose("derivative-causality-solved", *derivative, names=names))
        lost = Counter(self.closures[k].vertex for k in range(len(self.closures)) if k not in set(kept))
        found += [diagnose("redundant-rows", name, count=count, why="") for name, count in sorted(lost.items())]
        return tuple(found)


def _reaction(name: str, output: Output) -> bool:
    """Whether a result is a component of a joint's force or torque."""
    return output.unit in ("N", "N m") and name.rpartition(".")[0].endswith((".force", ".torque"))


def start_coordinates(form: MechanicalForm) -> ca.SX:
    """Start values of the coordinates as given."""
    parts = [start_displacement(form.structure.vertices[name], form) for name in form.storing]
    return ca.vertcat(ca.SX(0, 1), *parts, *(ca.SX(i.start) for i in form.structure.integrals))
