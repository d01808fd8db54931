"""What the programming interface shows of components, taken from their classes when the pages are built.

``.. components:: joints`` lists every component of the rooms that are named, so that a new one needs no entry; ``*``
stands for the rooms that no page names. Each shows how files call it, and a table of its values: meaning, unit, range,
and whether they must be given. The JSON Schema of model files is written beside the pages as ``model.schema.json``.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from cotree.io.catalogue import public_path, room_of
from cotree.io.schema import kind_words
from cotree.model import KINDS, Component
from cotree.model.form import Form

NAMED = re.compile(r"^\.\. components:: (.*)$", re.MULTILINE)
LITERAL = re.compile(r"(``.*?``)|\|")


def named_rooms() -> set[str]:
    """The rooms that the pages name."""
    pages = (Path(__file__).parent / "api").glob("*.md")
    return {room for page in pages for line in NAMED.findall(page.read_text(encoding="utf-8")) for room in line.split()}


class Components(SphinxDirective):
    """All components of some rooms, in the order in which they are registered; ``*``: of rooms that no page names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """One `autoclass` for each."""
        rooms = self.arguments[0].split()
        own = [cls for cls in KINDS.values() if cls.__module__.startswith(("cotree.terminal.", "cotree.bond."))]
        if "*" in rooms:
            known = {room_of(cls) for cls in own}
            rooms = [*(room for room in rooms if room != "*"), *sorted(known - named_rooms())]
        found = [cls for cls in own if room_of(cls) in rooms]
        missing = [room for room in rooms if not any(room_of(cls) == room for cls in own)]
        if missing:
            raise self.error(f"there is no component in {', '.join(missing)}")
        lines = [f".. autoclass:: {public_path(cls)}" for cls in found]
        holder = nodes.container()
        self.state.nested_parse(
            StringList([line for each in lines for line in (each, "")]), self.content_offset, holder
        )
        return list(holder.children)


def described(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep bars of absolute values as they are, and add kind and values to the text of a component."""
    lines[:] = [
        LITERAL.sub(lambda found: found[0].replace("|", "\\|") if found[1] is None else found[0], line)
        for line in lines
    ]
    if inspect.isclass(thing) and issubclass(thing, Component) and thing.kind in KINDS:
        lines += ["", f"In files: ``kind: {kind_words(thing)[0]}``.", "", *_table(thing.forms())]


def called(app: Sphinx, what: str, name: str, thing: Any, *rest: Any) -> tuple[str, str] | None:
    """How a component is called: what must be given by name, and dots where more may be given."""
    if not (inspect.isclass(thing) and issubclass(thing, Component)):
        return None
    every = list(inspect.signature(thing.__init__).parameters.values())[1:]
    placed = [each for each in every if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    shown = [each.name if each.default is inspect.Parameter.empty else f"{each.name}=None" for each in placed]
    named = [each.name for each in every[len(placed) :]]
    forms = thing.forms()
    needed = [key for key in named if key in forms and forms[key].required]
    shown += (["*", *needed] if needed else []) + (["..."] if len(named) > len(needed) else [])
    return f"({', '.join(shown)})", ""


def _table(forms: dict[str, Form]) -> Iterator[str]:
    if not forms:
        return
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: 18 46 14 22", "")
    yield from _row("value", "meaning", "unit", "given")
    for key, form in forms.items():
        info = form.info
        unit = info.unit if info else ""
        range_ = f", {info.range}" if info and info.range != "finite" else ""
        time = "; may depend on time" if info and info.signal else ""
        yield from _row(f"``{key}``", f"{form.meaning}{time}", unit, f"{_given(form)}{range_}")
    yield ""


def _given(form: Form) -> str:
    """Whether a value must be given, and what it is otherwise."""
    if form.required:
        return "needed"
    default = form.default
    if default is None or default == () or default == {}:
        return "if wanted"
    if isinstance(default, tuple):
        return f"else ({', '.join(f'{each:g}' if isinstance(each, float) else str(each) for each in default)})"
    return f"else {default:g}" if isinstance(default, float) else f"else {default}"


def _row(*cells: str) -> Iterator[str]:
    for number, cell in enumerate(cells):
        text = cell.replace("|", "\\|").replace("*", "\\*")
        yield f"   {'*' if number == 0 else ' '} - {text}".rstrip()


def publish_schema(app: Sphinx, failed: Exception | None) -> None:
    """Put the JSON Schema of model files beside the pages."""
    from cotree.io.schema import model_schema

    if failed is None:
        (app.outdir / "model.schema.json").write_text(json.dumps(model_schema()), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", publish_schema)
    app.add_directive("components", Components)
    app.connect("autodoc-process-docstring", described)
    app.connect("autodoc-process-signature", called)
    return {"parallel_read_safe": True}
