"""The equations of a model as C code: one file without dependencies but <math.h>.

Every function has CasADi's plain C interface: pointers to its arguments and results, and scratch memory whose sizes
the function NAME_work gives. Matrices are dense, column by column. The results of a run, but for those that are
integrated along the motion, come from one function, and their names and units are arrays of text.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

from cotree._version import __version__
from cotree.errors import listing
from cotree.formulation import SystemEquations, Variables
from cotree.formulation.branch.explain import force_bias
from cotree.maths.lookup import common_parts, slopes
from cotree.maths.symbolic import column as stacked
from cotree.maths.symbolic import elements, substitute
from cotree.results.store import replacing
from cotree.solve.courses import result_units
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
    parts = [_head(equations, name, made), generator.dump(), _values(equations, name), _texts(equations, name), ""]
    return "\n".join(parts)


def routines(equations: SystemEquations, name: str = "model") -> list[Routine]:
    """The functions of a model; their names begin with ``name``."""
    return _of_mechanism(equations, name) if equations.mechanics is not None else _of_network(equations, name)


def _of_mechanism(e: SystemEquations, name: str) -> list[Routine]:
    mechanics = e.mechanics
    assert mechanics is not None
    further = {"x": e.x, "w": _looped(e)}
    state = {"t": e.t, "q": e.q.symbols, "u": e.u.symbols}
    state |= {letter: column.symbols for letter, column in further.items() if len(column)}
    given = {"p": e.p.symbols, "m": e.mode_symbols}
    forces = {"u_dot": e.u_dot, "lambda": e.multipliers.symbols}
    place = {"t": e.t, "q": e.q.symbols}
    moving = ca.vertcat(e.u.symbols, *(column.symbols for column in further.values()))

    def make(word: str, inputs: dict[str, ca.SX], result: ca.SX, meaning: str, out: str) -> Routine:
        result = e.in_time(result)
        if "u" not in inputs and ca.depends_on(result, moving):
            inputs = {**state, **given}
        function = ca.Function(
            f"{name}_{word}", list(inputs.values()), [ca.densify(result)], list(inputs), [out], common_parts(result)
        )
        return Routine(function, meaning)

    jacobian = slopes(mechanics.velocity, e.u.symbols)
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
    if len(further["w"]):
        loops = e.algebraic[len(e.w) - len(further["w"]) :]
        made.append(make("algebraic", every, loops, "g in 0 = g(t, q, u, x, w) of the networks", "g"))
    made.append(make("outputs", every, _outputs(e), _OUTPUTS, "y"))
    return [*made, Routine(_accelerations(e, f"{name}_accelerations", {**state, **given}), "u' and lambda")]


def _looped(e: SystemEquations) -> Variables:
    """The algebraic variables of a mechanism beside accelerations and multipliers: those of nonlinear networks."""
    count = len(e.u) + len(e.multipliers) if len(e.w) else 0
    return Variables(e.w.symbols[count:], e.w.names[count:], e.w.units[count:], e.w.start[count:])


_GUARDS = "what switches a held value where it becomes positive"
_OUTPUTS = "the results"


def _guards(e: SystemEquations) -> ca.SX:
    return ca.vertcat(*(switch.guard for switch in e.switches))


def output_units(e: SystemEquations) -> dict[str, str]:
    """The results that follow from one state, with their units, in the order of a solution; integrals do not."""
    return {name: unit for name, unit in result_units(e).items() if name not in e.integrals}


def _outputs(e: SystemEquations) -> ca.SX:
    """The results that follow from one state: outputs, and states and held values that are none."""
    states = dict(zip(e.state_names, elements(ca.vertcat(e.q.symbols, e.u.symbols, e.x.symbols)), strict=True))
    held = dict(zip(e.held.names, elements(e.mode_symbols[len(e.modes) :]), strict=True))
    known = held | states | {name: output.expression for name, output in e.outputs.items()}
    return stacked([known[name] for name in output_units(e)])


def _accelerations(e: SystemEquations, name: str, inputs: dict[str, ca.SX]) -> ca.Function:
    """u' and lambda: explicit for open chains, otherwise by a sparse QR factorisation."""
    if not len(e.w):
        outputs: list[Any] = [ca.densify(e.in_time(e.rates)), ca.SX(0, 1)]
        return ca.Function(
            name, list(inputs.values()), outputs, list(inputs), ["u_dot", "lambda"], common_parts(*outputs)
        )
    unknown = ca.vertcat(e.u_dot, e.multipliers.symbols)
    rows = e.in_time(e.algebraic[: unknown.numel()])
    matrix, constant = slopes(rows, unknown), substitute(rows, unknown, 0)
    parts = ca.Function(f"{name}_system", list(inputs.values()), [matrix, ca.densify(constant)])
    arguments = [ca.MX.sym(word, *symbol.shape) for word, symbol in inputs.items()]
    factors, right = parts(*arguments)
    solution = ca.solve(factors, -right, "qr")
    split = [solution[: len(e.u)], solution[len(e.u) :]]
    return ca.Function(name, arguments, split, list(inputs), ["u_dot", "lambda"])


def _of_network(e: SystemEquations, name: str) -> list[Routine]:
    inputs = {"t": e.t, "x": e.u.symbols, "w": e.w.symbols, "p": e.p.symbols, "m": e.mode_symbols}

    def make(word: str, result: ca.SX, meaning: str, out: str) -> Routine:
        outputs = [ca.densify(e.in_time(result))]
        function = ca.Function(
            f"{name}_{word}", list(inputs.values()), outputs, list(inputs), [out], common_parts(*outputs)
        )
        return Routine(function, meaning)

    made = [make("rates", e.rates, "rates of the states", "x_dot")]
    if e.switches:
        made.append(make("guards", _guards(e), _GUARDS, "g"))
    if len(e.w):
        made.append(make("algebraic", e.algebraic, "g in 0 = g(t, x, w)", "g"))
    return [*made, make("outputs", _outputs(e), _OUTPUTS, "y")]


def _head(equations: SystemEquations, name: str, made: Sequence[Routine]) -> str:
    columns = [("q", equations.q), ("u" if equations.mechanics else "x", equations.u)]
    columns += [("x", equations.x)] if len(equations.x) else []
    columns += [("lambda", equations.multipliers)] if equations.mechanics else []
    columns.append(("w", _looped(equations) if equations.mechanics else equations.w))
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
        f"Names and units of the {name}_output_count results y: {name}_output_names, {name}_output_units, at the end.",
        *_apart(equations),
        "",
    ]
    for letter, column in (*columns, ("p", equations.p)):
        lines += _listed(letter, column)
    lines += [f"m[{k}]  {_safe(mode.text)}" for k, mode in enumerate(equations.modes)]
    lines += [f"m[{len(equations.modes) + k}]  {_safe(each)}, held" for k, each in enumerate(equations.held.names)]
    lines += [f"g[{k}]  {_safe(each.name)}" for k, each in enumerate(equations.switches)]
    lines += _cut("y", [f"{name} {unit}" for name, unit in output_units(equations).items()])
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */"])


def _listed(letter: str, variables: Variables) -> Iterable[str]:
    rows = zip(variables.names, variables.units, variables.start.tolist(), strict=True)
    found = letter in ("lambda", "w")
    return _cut(letter, [f"{name}{'' if found else f' = {start:.6g}'} {unit}" for name, unit, start in rows])


def _cut(letter: str, rows: Sequence[str]) -> Iterable[str]:
    """Rows with their indices, as many as are listed."""
    for k, row in enumerate(rows[:MOST_LISTED]):
        yield f"{letter}[{k}]  {_safe(row)}"
    if len(rows) > MOST_LISTED:
        yield f"... and {len(rows) - MOST_LISTED} more in {letter}"


def _apart(e: SystemEquations) -> Iterable[str]:
    """What results of a run have that one state does not tell."""
    if integrated := [name for name in result_units(e) if name in e.integrals]:
        yield f"Not among them, as they are integrated along the motion: {_safe(listing(integrated, 8))}."
    if turning := list(e.near_angles()):
        yield f"Known up to full turns: {_safe(listing(turning, 8))}."
    if any(name.endswith(".orientation.e0") for name in e.outputs):
        yield "Both signs of four Euler parameters are the same rotation; a run keeps the sign from time to time."


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


def _texts(equations: SystemEquations, name: str) -> str:
    """Names and units of the results as arrays of text."""
    known = output_units(equations)
    lines = [f"const int {name}_output_count = {len(known)};"]
    for word, texts in (("names", known.keys()), ("units", known.values())):
        if known:
            quoted = ",\n".join(f"  {quoted_text(text)}" for text in texts)
            lines.append(f"const char* {name}_output_{word}[{len(known)}] = {{\n{quoted}\n}};")
    return "\n".join(lines)


def quoted_text(text: str) -> str:
    r"""A text as C writes it, in ASCII: other bytes of its UTF-8 become \ooo, and ? becomes \? because of trigraphs."""
    plain = {ord(each) for each in string.ascii_letters + string.digits + string.punctuation + " "} - set(b'"\\?')
    return '"' + "".join(
        chr(byte) if byte in plain else f"\\{chr(byte)}" if byte in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode("utf-8", "surrogatepass")
    ) + '"'  # fmt: skip


def _sized(name: str, rows: int, columns: int) -> str:
    return f"{name}[{rows}]" if columns == 1 else f"{name}[{rows} x {columns}]"


def _safe(text: str) -> str:
    """Text that cannot end a comment."""
    return " ".join(text.split()).replace("*/", "* /")
