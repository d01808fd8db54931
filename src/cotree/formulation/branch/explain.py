"""A mechanism in words and formulas: graph, trees, coordinates, constraints, degrees of freedom, M, h, Phi and G."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

import casadi as ca

from cotree.formulation.system import SystemEquations, rate_name
from cotree.graph import Tree, explain_graph
from cotree.graph.equations import subscript
from cotree.maths.printing import to_latex, to_text
from cotree.maths.symbolic import substitute
from cotree.maths.trigonometric import Term, TooLong, Writer
from cotree.model import Model, quantities
from cotree.terminal import nodal
from cotree.terminal.mechanics import Body, Driver, Joint
from cotree.terminal.nodal import Bar, Fixed, Node
from cotree.terminal.nodal.supports import OnNode

MOST_SPEEDS = 20
"""Speeds beyond which the matrices are not written out."""
MOST_LETTERS = 30_000
"""Letters of all formulas together beyond which they are not written out."""
UNIT_LENGTH = "Euler parameters have length one"
SHORT = 60
"""Letters of LaTeX up to which the entries of the mass matrix stand in a matrix."""

_LETTERS = {"angle": r"\theta", "displacement": "d", "omega": r"\omega", "orientation": "e"}
_VECTORS = {
    "position": "r", "displacement": "d", "centre": "c", "inertia_about": "c",
    "force": "F", "torque": "T", "moment": "T",
}  # fmt: skip
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Xi": "Ξ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
"""Letters that parameters may be called by, as LaTeX commands."""
_AXES = ("x", "y", "z")
_PLAIN = re.compile(r"\w|[xyz]{2}|\d+")
_OF_NODE = re.compile(r"(?P<owner>[^.]+)(?:\.aux(?P<added>\d+))?\.(?:position|velocity)\.(?P<axis>[xyz])")

LatexName = Callable[[str], str]
LatexTerms = Callable[[Sequence[Term]], str]


@dataclass(frozen=True)
class Symbol:
    """How a name is written: a letter in LaTeX, its subscripts, and the dots of time derivatives above it."""

    letter: str
    marks: tuple[str, ...] = ()
    dots: int = 0

    def to_latex(self) -> str:
        r"""``\dot{\theta}_{\mathrm{O}}``"""
        over = ("", r"\dot{%s}", r"\ddot{%s}")[self.dots]
        letter = over % self.letter if over else self.letter
        listed = ",".join(mark if _PLAIN.fullmatch(mark) else subscript(mark) for mark in self.marks)
        return f"{letter}_{{{listed}}}" if listed else letter


@dataclass(frozen=True)
class Formulas:
    """The equations of a small mechanism as sums of terms: M u' + h = G^T lambda and Phi = 0."""

    parts: tuple[tuple[str, list[Term]], ...]
    """Named parts s_1, s_2, ... of the other formulas."""
    mass: dict[tuple[int, int], list[Term]]
    """Entries of the symmetric mass matrix on and above the diagonal that are not zero."""
    bias: tuple[list[Term], ...]
    constraints: tuple[tuple[str, list[Term]], ...]
    """Equations that hold positions, by component and row."""
    rolling: tuple[tuple[str, list[Term]], ...]
    """Equations that hold velocities only."""
    jacobian: dict[tuple[int, int], list[Term]] | None
    """Entries of G that are not zero; None where they are too long to be read."""


def mechanism_formulas(equations: SystemEquations) -> Formulas | None:
    """The formulas of a mechanism; None where they are too long to be read."""
    mechanics, count = equations.mechanics, len(equations.u)
    if mechanics is None or count > MOST_SPEEDS:
        return None
    units = [equations.q.names[first : first + 4] for first, _ in mechanics.quaternions]
    moving = {*equations.q.names, *equations.u.names}
    writer = Writer([name for name in equations.p.names if name not in moving], units)
    mass, bias = equations.mass_matrix(), force_bias(equations)
    held = mechanics.position.numel()
    names = [name.removeprefix("lambda ") for name in equations.multipliers.names]
    length = 0

    def counted(result: list[Term]) -> list[Term]:
        nonlocal length
        length += sum(len(str(term)) for _, term in result)
        if length > MOST_LETTERS:
            raise TooLong
        return result

    def terms(expression: ca.SX) -> list[Term]:
        return counted(writer.terms(expression))

    try:
        entries = {(i, k): terms(mass[i, k]) for i in range(count) for k in range(i, count) if mass.has_nz(i, k)}
        forces = tuple(terms(bias[k]) for k in range(count))
        positions = tuple((names[k], terms(mechanics.position[k])) for k in range(held))
        speeds = range(held, mechanics.velocity.numel())
        rolling = tuple((names[k], terms(mechanics.velocity[k])) for k in speeds)
        parts = tuple((each.name, counted(writer.definition(each))) for each in writer.definitions)
    except TooLong:
        return None
    G, own = equations.constraint_jacobian(), len(parts)
    slopes: dict[tuple[int, int], list[Term]] | None
    try:
        places = ((i, k) for i in range(G.rows()) for k in range(count) if G.has_nz(i, k))
        slopes = {(i, k): entry for i, k in places if (entry := terms(G[i, k]))}
        parts += tuple((each.name, counted(writer.definition(each))) for each in writer.definitions[own:])
    except TooLong:
        slopes = None
    return Formulas(parts, {k: entry for k, entry in entries.items() if entry}, forces, positions, rolling, slopes)


def force_bias(equations: SystemEquations) -> ca.SX:
    """h: the balance without accelerations and multipliers."""
    return substitute(equations.bias(), equations.multipliers.symbols, 0)


def explain_mechanism(model: Model, trees: tuple[Tree, Tree], equations: SystemEquations, most: int = 12) -> str:
    """Graph -> trees -> coordinates -> constraints -> degrees of freedom -> equations; long lists are cut."""
    tree, rotation = trees
    parts = [model.name, explain_graph(tree.graph, tree, most)]
    if rotation != tree:
        lines = [f"  branches: {', '.join(rotation.branches)}", f"  chords: {', '.join(rotation.chords)}"]
        parts.append("\n".join(["Tree of rotations; the tree above is that of translations", *lines]))
    sections = (
        _counts(model, equations),
        _coordinates(equations, most),
        ["Constraints", *_cut([f"  {line}" for line in constraint_lines(equations)], most, "equations")],
        ["Degrees of freedom", *(f"  {note}" for note in equations.notes)],
        ["Equations of motion", *(f"  {line}" for line in text_equations(equations, most))],
    )
    return "\n\n".join([*parts, *("\n".join(section) for section in sections)])


def main_results(model: Model, known: Container[str]) -> list[str]:
    """What is worth seeing when nothing is asked for: joint coordinates, or else places of bodies or of free nodes."""
    parts = model.components.values()
    if model.nodal:
        held = {part.node for part in parts if isinstance(part, Fixed)}
        axes = _AXES[: 2 if model.planar else 3]
        nodes = [part.name for part in parts if isinstance(part, Node) and part.name not in held]
        return [f"{node}.position.{x}" for node in nodes for x in axes if f"{node}.position.{x}" in known]
    joints = [f"{j.name}.{name}" for j in parts if isinstance(j, Joint) for c in j.coordinates for name in c.names]
    places = [f"{body.name}.position.{x}" for body in parts if isinstance(body, Body) for x in _AXES]
    return [name for name in joints if name in known] or [name for name in places if name in known]


def constraint_lines(equations: SystemEquations) -> list[str]:
    """What each independent constraint equation is: ``C (translation 1)``."""
    names = [name.removeprefix("lambda ") for name in equations.multipliers.names]
    return names or ["none: the tree has no chord that holds anything"]


def _counts(model: Model, equations: SystemEquations) -> list[str]:
    parts = model.components.values()
    kinds: tuple[tuple[type, str, str], ...] = (
        (Body, "bodies", "body"), (Joint, "joints", "joint"), (Driver, "drivers", "driver"), (Node, "nodes", "node"),
        (Bar, "bars", "bar"), (nodal.Body, "rigid bodies", "rigid body"), (OnNode, "supports", "support"),
    )  # fmt: skip
    found = ((sum(isinstance(part, kind) for part in parts), many, one) for kind, many, one in kinds)
    words = [f"{count} {one if count == 1 else many}" for count, many, one in found if count]
    n, m = len(equations.u), len(equations.multipliers)
    return [
        "Counts",
        f"  {', '.join(words)}",
        f"  {len(equations.q)} coordinates q, {n} speeds u, {m} multipliers lambda",
        f"  {n} equations of motion + {m} constraint equations for {n + m} unknowns u' and lambda",
    ]


def _coordinates(equations: SystemEquations, most: int) -> list[str]:
    lines = [
        f"  {name} = {value:.6g} {unit}".rstrip()
        for column in (equations.q, equations.u)
        for name, value, unit in zip(column.names, column.start.tolist(), column.units, strict=True)
    ]
    return ["Coordinates and speeds, with their start", *_cut(lines, most, "of them")]


def text_equations(equations: SystemEquations, most: int) -> list[str]:
    """The equations as plain text, with the names of the model."""
    lines = ["M(q, t) u' + h(q, u, t) = 0"]
    if len(equations.multipliers):
        lines = ["M(q, t) u' + h(q, u, t) = G(q, t)^T lambda,  Phi(q, t) = 0,  G = d(dPhi/dt)/du"]
    formulas = mechanism_formulas(equations)
    if formulas is None:
        return [*lines, too_long(equations)]
    entries = [f"M[{i + 1},{k + 1}] = {_text(terms)}" for (i, k), terms in formulas.mass.items()]
    forces = [f"h[{k + 1}] = {_text(terms)}" for k, terms in enumerate(formulas.bias)]
    held = [f"Phi[{k + 1}] = {_text(t)}    {name}" for k, (name, t) in enumerate(formulas.constraints)]
    rolling = [f"Psi[{k + 1}] = {_text(t)}    {name}" for k, (name, t) in enumerate(formulas.rolling)]
    lines += [UNIT_LENGTH] if equations.mechanics and equations.mechanics.quaternions else []
    lines += [f"{name} = {_text(terms)}" for name, terms in formulas.parts]
    slopes = [f"G[{i + 1},{k + 1}] = {_text(terms)}" for (i, k), terms in (formulas.jacobian or {}).items()]
    for part in (entries, forces, held, rolling, slopes):
        lines += _cut(part, max(most, 21), "entries")
    return lines if formulas.jacobian is not None else [*lines, jacobian_too_long(equations)]


def too_long(equations: SystemEquations) -> str:
    """What is said instead of formulas."""
    count = len(equations.u)
    return f"M has {count} x {count} entries: too long to be read; written as C code by `cotree equations --c FILE`"


def jacobian_too_long(equations: SystemEquations) -> str:
    """The text that stands in the place of G."""
    rows, columns = equations.constraint_jacobian().shape
    return f"G has {rows} x {columns} entries: too long to be read; in Python: model.equations().constraint_jacobian()"


def mechanism_latex(model: Model, equations: SystemEquations) -> Iterator[str]:
    """The equations of motion in LaTeX, one formula for each line; comments give the names of the model."""
    name = latex_names(model, equations)
    held = r"G(q, t)^{T} \lambda, \qquad \Phi(q, t) = 0" if len(equations.multipliers) else "0"
    yield rf"M(q, t)\,\dot{{u}} + h(q, u, t) = {held}"
    for letter, column in (("q", equations.q), ("u", equations.u)):
        listed = r" \\ ".join(name(each) for each in column.names)
        yield rf"{letter} = \begin{{pmatrix}} {listed} \end{{pmatrix}} % {', '.join(column.names)}"
    formulas = mechanism_formulas(equations)
    if formulas is None:
        yield f"% {too_long(equations)}"
        return
    if equations.mechanics and equations.mechanics.quaternions:
        yield f"% {UNIT_LENGTH}"
    for part, terms in formulas.parts:
        yield f"{name(part)} = {_latex(terms, name)}"
    yield from _mass_latex(formulas, len(equations.u), lambda terms: _latex(terms, name))
    for k, terms in enumerate(formulas.bias):
        yield f"h_{{{k + 1}}} = {_latex(terms, name)}"
    for letter, rows in ((r"\Phi", formulas.constraints), (r"\Psi", formulas.rolling)):
        for k, (label, terms) in enumerate(rows):
            yield f"{letter}_{{{k + 1}}} = {_latex(terms, name)} = 0 % {label}"
    if formulas.jacobian is None:
        yield f"% {jacobian_too_long(equations)}"
    for (i, k), terms in (formulas.jacobian or {}).items():
        comma = "" if max(len(equations.u), len(equations.multipliers)) < 10 else ","
        yield f"G_{{{i + 1}{comma}{k + 1}}} = {_latex(terms, name)}"


def _mass_latex(formulas: Formulas, count: int, write: LatexTerms) -> Iterator[str]:
    entries = {place: write(terms) for place, terms in formulas.mass.items()}
    if all(len(entry) <= SHORT for entry in entries.values()):
        rows = [
            " & ".join(entries.get((min(i, k), max(i, k)), "0") for k in range(count)) for i in range(count)
        ]  # fmt: skip
        listed = r" \\ ".join(rows)
        yield rf"M = \begin{{pmatrix}} {listed} \end{{pmatrix}}"
        return
    for (i, k), entry in entries.items():
        mirrored = "" if i == k else f" = M_{{{k + 1}{i + 1}}}" if count < 10 else f" = M_{{{k + 1},{i + 1}}}"
        place = f"{i + 1}{k + 1}" if count < 10 else f"{i + 1},{k + 1}"
        yield f"M_{{{place}}}{mirrored} = {entry}"


def symbols(model: Model, equations: SystemEquations) -> dict[str, Symbol]:
    """The symbol of every coordinate, speed, acceleration, multiplier, parameter and value by its name."""
    result = {name: _value(name) for name in equations.p.names}
    result |= {name: _parameter(name) for name in model.parameters}
    for component in model.components.values():
        for field, info in quantities(component).items():
            name = f"{component.name}.{field}"
            if info.symbol and name in result:
                letter, _, index = info.symbol.partition("_")
                label = field.partition(".")[2]
                result[name] = Symbol(letter, tuple(mark for mark in (index, label, component.name) if mark))
    for name in equations.q.names:
        result[name] = _coordinate(name, 0)
    for name in equations.u.names:
        result[name] = _coordinate(name, 1)
        result[rate_name(name)] = _coordinate(name, 2)
    for k, name in enumerate(equations.multipliers.names):
        result[name] = Symbol(r"\lambda", (str(k + 1),))
    return result


def latex_names(model: Model, equations: SystemEquations) -> LatexName:
    """A function that writes the names of a mechanism in LaTeX."""
    known = symbols(model, equations)

    def name(text: str) -> str:
        symbol = known.get(text) or named_part(text)
        return symbol.to_latex() if symbol else text if text == "t" else rf"\text{{{text.replace('_', ' ')}}}"

    return name


def named_part(text: str) -> Symbol | None:
    """s_1, s_2, ..."""
    match = re.fullmatch(r"s_(\d+)", text)
    return Symbol("s", (match[1],)) if match else None


def _coordinate(name: str, derivative: int) -> Symbol:
    """``O.angle_1_rate`` is a dotted theta with the marks 1 and O, ``A.velocity.x`` of a node a dotted x with A."""
    match = _OF_NODE.fullmatch(name)
    if match:  # P.aux1 is a point that the formulation adds to the body P
        return Symbol(match["axis"], tuple(mark for mark in match.group("owner", "added") if mark), derivative)
    owner, _, field = name.partition(".")
    base, _, label = field.partition(".")
    if base in ("omega", "angular_velocity"):
        return Symbol(_LETTERS["omega"], (label, owner), derivative - 1)
    if base == "orientation":
        return Symbol(_LETTERS[base], (label.removeprefix("e"), owner), derivative)
    base = base.removesuffix("_rate") if derivative else base
    word, _, index = base.partition("_")
    return Symbol(_LETTERS.get(word, word), tuple(mark for mark in (index, owner) if mark), derivative)


def _value(name: str) -> Symbol:
    """A value of a component: ``gravity.y`` is g_y, ``crank.A.x`` r_x with the mark crank.A."""
    owner, _, field = name.partition(".")
    if not field:
        return _parameter(name)
    if owner == "gravity":
        return Symbol("g", (field,))
    base, _, label = field.rpartition(".")
    if base == "inertia":
        return Symbol("J", (label, owner))
    if label in _AXES and base:
        letter = _VECTORS.get(base)
        return Symbol(letter or "r", (label, owner if letter else f"{owner}.{base}"))
    return Symbol(rf"\text{{{field.replace('_', ' ')}}}", (owner,))


def _parameter(name: str) -> Symbol:
    letter, _, index = name.partition("_")
    match = re.fullmatch(r"([A-Za-z]+?)(\d+)", letter)
    if match and not index:
        letter, index = match[1], match[2]
    if letter in GREEK:
        letter = f"\\{letter}"
    elif len(letter) > 1:
        letter = rf"\mathit{{{letter}}}"
    return Symbol(letter, (index,) if index else ())


def _text(terms: Sequence[Term]) -> str:
    return joined(((sign, to_text(term)) for sign, term in terms), "-", " - ", " + ", "0")


def _latex(terms: Sequence[Term], name: LatexName) -> str:
    whole = joined(((sign, to_latex(term, name)) for sign, term in terms), "-", " - ", " + ", "0")
    return re.sub(r"\\operatorname\{(sin|cos|tan|exp|sinh|cosh|tanh|min|max)\}", r"\\\1", whole)


def joined(terms: Iterable[tuple[int, str]], first: str, minus: str, plus: str, zero: str) -> str:
    """Signed terms as one sum."""
    result = ""
    for sign, term in terms:
        result += ((minus if sign < 0 else plus) if result else first if sign < 0 else "") + term
    return result or zero


def _cut(lines: list[str], most: int, what: str) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], f"  ... and {len(lines) - most} more {what}"]
