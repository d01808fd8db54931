"""What a report says of the model and the run: components, parameters, statistics, versions and the model's text."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import yaml

from cotree.errors import CotreeError
from cotree.graph import Tree
from cotree.model import Component, Edge, GroundFrame, Model, Role, quantities
from cotree.results import Solution
from cotree.terminal.mechanics import Body, Connection, OnJoint
from cotree.terminal.nodal.base import NodalPart
from cotree.terminal.shapes import Shape
from cotree.view import bond_report
from cotree.view.page import folded, number, quantity, table, text
from cotree.view.plots import pretty_unit

MOST_TEXT = 200_000
"""Most characters of a model's text in a page."""
MOST_BRANCHES = 40
MOST_LETTERS = 120
"""Most letters of the value of an option."""


def components_section(model: Model, solution: Solution) -> str:
    """Every component with its nodes and values, and the parameters."""
    changeable = _changeable(model)
    known = {name: value for name, value in solution.parameters.items() if name in changeable}
    values = model.component_values(known)
    rows = (
        (f"<b>{text(c.name)}</b>", text(c.kind), _nodes(c), "<br>".join(_fields(c, values)))
        for c in model.components.values()
    )
    ends = "nodes" if model.nodal else "frames" if model.mechanical else "ends" if model.bonded else "plus, minus"
    names = list(model.components)
    parts = [table(("name", "kind", ends, "values"), rows, len(names), "components", parts=names)]
    if model.parameters:
        numbers = model.parameter_values({name: value for name, value in known.items() if "." not in name})
        cells = (
            (
                f"<b>{text(name)}</b>",
                number(numbers[name]),
                "" if _is_number(e.text) else f"<code>{text(e.text)}</code>",
            )
            for name, e in model.parameters.items()
        )
        parts += [
            "<h3>Parameters</h3>",
            table(("name", "value", "given as"), cells, len(model.parameters), "parameters", (1,)),
        ]
    return "\n".join(parts)


def _changeable(model: Model) -> set[str]:
    fields = {f"{c.name}.{field}" for c in model.components.values() for field in quantities(c)}
    return fields | set(model.parameters)


def _nodes(component: Component) -> str:
    if isinstance(component, NodalPart):
        return ", ".join(text(name) for name in component.nodes())
    if component.bonded:
        return bond_report.ends(component)
    if component.mechanical:
        return "<br>".join(text(word) for word in _frames(component))
    pairs = (f"{text(plus)}, {text(minus)}" for plus, minus in component.node_pairs())
    labels = (f"{text(port.label)}: " if port.label else "" for port in component.ports)
    return "<br>".join(label + pair for label, pair in zip(labels, pairs, strict=True))


def _frames(component: Component) -> list[str]:
    """The frames of a body, those between which a connection acts, or the joints of a driver or coupling."""
    if isinstance(component, Body):
        return [component.name, *(f"{component.name}.{name}" for name in component.places())]
    if isinstance(component, Connection):
        return [f"{component.frame_a} → {component.frame_b}"]
    if isinstance(component, OnJoint):
        return [f"on {component.on}" + (f".{component.coordinate}" if component.coordinate else "")]
    return [component.name] if isinstance(component, GroundFrame) else []


def _fields(component: Component, values: dict[str, float]) -> Iterable[str]:
    """``resistance R = 10 Ω`` for each value given, expressions before their value; a vector on one line."""
    shape = getattr(component, "shape", None)
    if isinstance(shape, Shape):
        yield text(f"{shape.kind} along {shape.axis}" if shape.axis else shape.kind)
    vectors: dict[str, list[str]] = {}
    for field in quantities(component):
        if (component.mechanical or component.nodal or component.bonded) and "." in field:
            vectors.setdefault(field.rpartition(".")[0], []).append(field)
    for field, info in quantities(component).items():
        base = field.rpartition(".")[0]
        if base in vectors:
            if field == vectors[base][0]:
                yield from _vector(component, base, vectors[base], values)
            continue
        expression = component.expressions.get(field)
        if expression is None:
            continue
        word = f"{field.replace('_', ' ')} {_symbol(info.symbol)}".rstrip()
        storage = _storage_unit(component.edges()[0]) if field == "initial" and component.ports else ""
        unit = text(pretty_unit(info.unit or storage))
        value = values.get(f"{component.name}.{field}")
        given = "" if _is_number(expression.text) else f" = <code>{text(expression.text)}</code>"
        shown = "" if value is None else f" = {number(value, 7)}"
        yield f"{word}{given}{shown} {unit}".rstrip()


def _vector(component: Component, base: str, fields: list[str], values: dict[str, float]) -> Iterable[str]:
    """``centre = (0, 0, 0.1) m``; nothing where it is zero and left as it is."""
    numbers = [values.get(f"{component.name}.{field}") for field in fields]
    if base == "centre" and not any(numbers):
        return
    info = quantities(component)[fields[0]]
    cells = [
        f"<code>{text(component.expressions[field].text)}</code>" if value is None else number(value, 7)
        for field, value in zip(fields, numbers, strict=True)
    ]
    yield f"{text(base.replace('_', ' '))} = ({', '.join(cells)}) {text(pretty_unit(info.unit))}".rstrip()


def _symbol(symbol: str) -> str:
    letter, _, index = symbol.partition("_")
    return f"<i>{text(letter)}</i>{f'<sub>{text(index)}</sub>' if index else ''}" if symbol else ""


def _storage_unit(edge: Edge) -> str:
    return edge.domain.across_unit if edge.role is Role.ACROSS_STORAGE else edge.domain.through_unit


def method(name: str) -> str:
    """The name of an integrator as one reads it: ``CVODES``, ``generalised alpha``."""
    known = {
        "cvodes": "CVODES",
        "idas": "IDAS",
        "adams": "Adams",
        "paper": "Xiang's method",
        "corrected": "corrected modes",
    }
    return known.get(name, name.replace("_", " "))


def run_section(solution: Solution, tree: Tree | None) -> str:
    """How the run was made and what it cost, its options, tree and versions."""
    s = solution.statistics
    rows = [
        ("integrator", text(method(s.integrator))),
        ("relative tolerance", number(s.rtol)),
        ("absolute tolerance", number(s.atol) if s.atol is not None else "automatic"),
        ("steps", f"{s.steps:,}"),
        ("evaluations of the equations", f"{s.evaluations:,}"),
        ("smooth stretches between break points", f"{s.stretches:,}"),
        ("output points", f"{len(solution.t):,}"),
        ("results by name", f"{len(solution.names):,}"),
        ("formulation", quantity(s.seconds_formulation, "s", 3)),
        ("integration", quantity(s.seconds_integration, "s", 3)),
    ]
    parts = [table(("", "value"), rows, len(rows), "rows", numeric=(1,))]
    if tree is not None:
        more = f" … and {len(tree.branches) - MOST_BRANCHES} more" if len(tree.branches) > MOST_BRANCHES else ""
        listed = ", ".join(text(name) for name in tree.branches[:MOST_BRANCHES])
        parts.append(f"<h3>Tree</h3>\n<p>{listed}{more}</p>" if listed else "")
    origin = solution.origin
    if origin is not None:
        told = {name: str(value) for name, value in origin.options.items() if value is not None}
        given = [
            (text(name), f"<code>{text(value if len(value) <= MOST_LETTERS else value[:MOST_LETTERS] + ' …')}</code>")
            for name, value in told.items()
            if value not in ("", "[]", "{}", "()")
        ]
        if given:
            parts.append("<h3>Options</h3>\n" + table(("", "value"), given, len(given), "options"))
        if origin.versions:
            versions = ", ".join(f"{text(name)} {text(version)}" for name, version in origin.versions.items())
            parts.append(f"<h3>Versions</h3>\n<p>{versions}</p>")
    return "\n".join(parts)


def model_section(model: Model, solution: Solution) -> str:
    """The model as a model file holds it, to be copied; or why it cannot be written."""
    try:
        data = (solution.origin and solution.origin.model) or model.to_data()
        written = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
    except (CotreeError, yaml.YAMLError) as reason:
        why = reason.message if isinstance(reason, CotreeError) else str(reason)
        return f"<p>The model cannot be written as a file: {text(why)}</p>"
    lines = written.count("\n")
    if len(written) > MOST_TEXT:
        return f"<p>The model file has {lines:,} lines, too many to be shown here.</p>"
    shown = f'<pre id="model-text" tabindex="0">{escape(_printable(written))}</pre>'
    copy = '<button type="button" data-copy="model-text" hidden>Copy</button>'
    return folded(f"Model file, {lines:,} lines", f"{copy}\n{shown}", opened=lines <= 60)


def _printable(written: str) -> str:
    return "".join(c if c == "\n" or c.isprintable() else "\ufffd" for c in written)


def _is_number(given: str) -> bool:
    try:
        float(given)
    except ValueError:
        return False
    return True
