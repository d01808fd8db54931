"""The equations of a model as C code: one file without dependencies but <math.h>.

Every function has CasADi's plain C interface: pointers to its arguments and results, and scratch memory whose sizes
the function NAME_work gives. Matrices are dense, column by column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

from cotree._version import __version__
from cotree.formulation import SystemEquations, Variables
from cotree.formulation.branch.explain import force_bias
from cotree.results.store import replacing
from cotree.solve.locks import without_locks

MOST_LISTED = 400
"""Most names of one column that the head of the file lists."""


@dataclass(frozen=True)
class Routine:
    """One function of the file, and what it computes."""

    function: ca.Function
    meaning: str


def write_c(equations: SystemEquations, path: str | Path) -> Path:
    """Write the equations as C code; the file is replaced only when the new one is complete."""
    path = Path(path)
    text = c_code(equations)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def c_code(equations: SystemEquations) -> str:
    """The equations as the text of a C file."""
    without_locks(equations, "C code")
    name = re.sub(r"\W+", "_", equations.name, flags=re.ASCII).strip("_").lower() or "model"
    name = f"model_{name}" if name[0].isdigit() else name
    made = routines(equations, name)
    generator = ca.CodeGenerator(f"{name}.c", {"with_header": False, "verbose": False, "indent": 2})
    for routine in made:
        generator.add(routine.function)
    return "\n".join([_head(equations, name, made), generator.dump(), _values(equations, name), ""])


def routines(equations: SystemEquations, name: str = "model") -> list[Routine]:
    """The functions of a model; their names begin with ``name``."""
    return _of_mechanism(equations, name) if equations.mechanics is not None else _of_network(equations, name)


def _of_mechanism(e: SystemEquations, name: str) -> list[Routine]:
    mechanics = e.mechanics
    assert mechanics is not None
    state = {"t": e.t, "q": e.q.symbols, "u": e.u.symbols, **({"x": e.x.symbols} if len(e.x) else {})}
    given = {"p": e.p.symbols, "m": e.mode_symbols}
    forces = {"u_dot": e.u_dot, "lambda": e.multipliers.symbols}
    place = {"t": e.t, "q": e.q.symbols}

    def make(word: str, inputs: dict[str, ca.SX], result: ca.SX, meaning: str, out: str) -> Routine:
        if "u" not in inputs and ca.depends_on(result, ca.vertcat(e.u.symbols, e.x.symbols)):
            inputs = {**state, **given}
        function = ca.Function(
            f"{name}_{word}", list(inputs.values()), [ca.densify(result)], list(inputs), [out], {"cse": True}
        )
        return Routine(function, meaning)

    jacobian = ca.jacobian(mechanics.velocity, e.u.symbols)
    made = [
        make("kinematics", {**state, **given}, e.kinematics, "rates of the coordinates", "q_dot"),
        make("mass_matrix", {**place, **given}, e.mass_matrix(), "mass matrix M", "M"),
        make("bias", {**state, **given}, force_bias(e), "h in M u' + h = G^T lambda", "h"),
        make("residual", {**state, **forces, **given}, e.residual, "M u' + h - G^T lambda", "r"),
    ]
    if len(e.multipliers):
        made += [
            make("constraints", {**place, **given}, mechanics.position, "position equations Phi = 0", "Phi"),
            make("constraint_rates", {**state, **given}, mechanics.velocity, "velocity equations", "Phi_dot"),
            make("constraint_matrix", {**place, **given}, jacobian, "G, their Jacobian in u", "G"),
        ]
    every = {**state, **forces, **given}
    if len(e.x):
        made.append(make("further_rates", every, e.x_rates, "rates of the states x of networks and signals", "x_dot"))
    if e.switches:
        made.append(make("guards", every, _guards(e), _GUARDS, "g"))
    return [*made, Routine(_accelerations(e, f"{name}_accelerations", {**state, **given}), "u' and lambda")]


_GUARDS = "what switches a held value where it becomes positive"


def _guards(e: SystemEquations) -> ca.SX:
    return ca.vertcat(*(switch.guard for switch in e.switches))


def _accelerations(e: SystemEquations, name: str, inputs: dict[str, ca.SX]) -> ca.Function:
    """u' and lambda: explicit for open chains, otherwise by a sparse QR factorisation."""
    if not len(e.w):
        outputs: list[Any] = [ca.densify(e.rates), ca.SX(0, 1)]
        return ca.Function(name, list(inputs.values()), outputs, list(inputs), ["u_dot", "lambda"], {"cse": True})
    constant = ca.substitute(e.algebraic, e.w.symbols, ca.DM.zeros(len(e.w)))
    parts = ca.Function(f"{name}_system", list(inputs.values()), [e.algebraic_matrix, ca.densify(constant)])
    arguments = [ca.MX.sym(word, *symbol.shape) for word, symbol in inputs.items()]
    matrix, right = parts(*arguments)
    solution = ca.solve(matrix, -right, "qr")
    split = [solution[: len(e.u)], solution[len(e.u) :]]
    return ca.Function(name, arguments, split, list(inputs), ["u_dot", "lambda"])


def _of_network(e: SystemEquations, name: str) -> list[Routine]:
    inputs = {"t": e.t, "x": e.u.symbols, "w": e.w.symbols, "p": e.p.symbols, "m": e.mode_symbols}

    def make(word: str, result: ca.SX, meaning: str, out: str) -> Routine:
        outputs = [ca.densify(e.in_time(result))]
        function = ca.Function(f"{name}_{word}", list(inputs.values()), outputs, list(inputs), [out], {"cse": True})
        return Routine(function, meaning)

    made = [make("rates", e.rates, "rates of the states", "x_dot")]
    if e.switches:
        made.append(make("guards", _guards(e), _GUARDS, "g"))
    return [*made, make("algebraic", e.algebraic, "g in 0 = g(t, x, w)", "g")] if len(e.w) else made


def _head(equations: SystemEquations, name: str, made: Sequence[Routine]) -> str:
    columns = [("q", equations.q), ("u" if equations.mechanics else "x", equations.u)]
    columns += [("x", equations.x)] if len(equations.x) else []
    columns.append(("lambda", equations.multipliers) if equations.mechanics else ("w", equations.w))
    letters = ("q", "u", "x", "p") if len(equations.x) else ("q", "u", "p")
    lines = [f"{_safe(equations.name)}, written by Cotree {__version__}. SI units.", ""]
    for routine in made:
        f = routine.function
        arguments = ", ".join(f.name_in(k) for k in range(f.n_in()))
        results = ", ".join(_sized(f.name_out(k), *f.size_out(k)) for k in range(f.n_out()))
        lines += [f"{f.name()}({arguments}) -> {results}: {routine.meaning}"]
    lines += [
        "",
        "Call: int NAME(const double** arg, double** res, long long int* iw, double* w, int mem); it returns 0.",
        "Sizes of arg, res, iw and w: NAME_work(&n_arg, &n_res, &n_iw, &n_w). Matrices are dense, by columns.",
        f"Start and parameter values: {', '.join(f'{name}_{letter}' for letter in letters)}, at the end."
        if equations.mechanics
        else f"Start and parameter values: {name}_x, {name}_p, at the end.",
        "",
    ]
    for letter, column in (*columns, ("p", equations.p)):
        lines += _listed(letter, column)
    lines += [f"m[{k}]  {_safe(mode.text)}" for k, mode in enumerate(equations.modes)]
    lines += [f"m[{len(equations.modes) + k}]  {_safe(each)}, held" for k, each in enumerate(equations.held.names)]
    lines += [f"g[{k}]  {_safe(each.name)}" for k, each in enumerate(equations.switches)]
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def _listed(letter: str, column: Variables) -> Iterable[str]:
    rows = zip(column.names, column.units, column.start.tolist(), strict=True)
    for k, (name, unit, start) in enumerate(rows):
        if k == MOST_LISTED:
            yield f"... and {len(column) - k} more in {letter}"
            return
        value = "" if letter in ("lambda", "w") else f" = {start:.6g}"
        yield f"{letter}[{k}]  {_safe(name)}{value} {unit}".rstrip()


def _values(equations: SystemEquations, name: str) -> str:
    """Start values and parameters as arrays."""
    letters = {"q": equations.q, "u" if equations.mechanics else "x": equations.u, "p": equations.p}
    letters |= {"x": equations.x} if equations.mechanics else {}
    lines = []
    for letter, column in letters.items():
        if len(column):
            numbers = ", ".join(repr(float(value)) for value in column.start)
            lines.append(f"const double {name}_{letter}[{len(column)}] = {{{numbers}}};")
    return "\n".join(lines)


def _sized(name: str, rows: int, columns: int) -> str:
    return f"{name}[{rows}]" if columns == 1 else f"{name}[{rows} x {columns}]"


def _safe(text: str) -> str:
    """Text that cannot end a comment."""
    return " ".join(text.split()).replace("*/", "* /")
