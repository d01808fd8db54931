"""The frame of a report: one HTML page that needs no network; without scripts it still shows everything but motion."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from cotree.view.figures import clean
from cotree.view.plots import with_prefix

MOST_ROWS = 60
"""Rows of a table before the rest is left out."""

Section = tuple[str, str, str]
"""Anchor, heading and body."""

_STILL = (
    "Scripts are switched off here. Motion in space, live charts and links between graph and tables need them; "
    "all else is below."
)


@cache
def asset(name: str) -> str:
    """The text of a file that belongs to the page: its style or its script."""
    return files("cotree.view").joinpath("assets", name).read_text(encoding="utf-8")


def text(value: object) -> str:
    """Text from a model, safe inside a page."""
    return escape(clean(value), quote=True)


def page(
    title: str,
    lead: str,
    tiles: Sequence[tuple[str, str]],
    sections: Sequence[Section | Sequence[Section]],
    foot: str,
    data: str = "",
) -> str:
    """The whole page; ``title`` is plain text, the other parts are HTML, and ``data`` is JSON for the live charts.

    Sections in a list of their own stand side by side where the screen is wide.
    """
    flat = [each for entry in sections for each in ([entry] if isinstance(entry, tuple) else entry)]
    links = "".join(f'<a href="#{anchor}">{heading}</a>' for anchor, heading, _ in flat)
    shown = "".join(f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles)
    body = "\n".join(
        _section(entry)
        if isinstance(entry, tuple)
        else '<div class="pair">\n' + "\n".join(map(_section, entry)) + "\n</div>"
        for entry in sections
    )
    script = (
        f'<script type="application/json" id="run-data">{data}</script>\n<script>{asset("report.js")}</script>'
        if data
        else ""
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>
{asset("report.css")}</style>
<noscript><style>#motion, nav a[href$="motion"] {{ display:none }} #graph {{ grid-column:1/-1 }}</style></noscript>
</head>
<body>
<main>
<header>
<h1>{text(title)}</h1>
{lead}
<noscript><p class="lead">{_STILL}</p></noscript>
</header>
<nav aria-label="Sections">{links}</nav>
<div class="tiles">{shown}</div>
{body}
<footer>{foot}</footer>
</main>
{script}
</body>
</html>
"""


def _section(section: Section) -> str:
    anchor, heading, content = section
    return f'<section id="{anchor}">\n<h2>{heading}</h2>\n{content}\n</section>'


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    count: int,
    what: str,
    numeric: Iterable[int] = (),
    parts: Sequence[str] = (),
) -> str:
    """A table of HTML cells, cut after sixty rows with a line that says how many ``what`` are left out.

    ``parts`` names the component that each row belongs to.
    """
    right = set(numeric)
    line = "".join(f"<th{_css(k, right)}>{cell}</th>" for k, cell in enumerate(head))
    body = [
        f"<tr{_part(parts[i] if parts else '')}>"
        + "".join(f"<td{_css(k, right)}>{cell}</td>" for k, cell in enumerate(row))
        + "</tr>"
        for i, row in zip(range(MOST_ROWS), rows, strict=False)
    ]
    body += _left_out(count, len(head), what)
    joined = "\n".join(body)
    whole = f"<table><thead><tr>{line}</tr></thead><tbody>\n{joined}\n</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def equation_list(
    pairs: Iterable[tuple[str, str]], count: int, what: str = "equations", parts: Mapping[str, str] | None = None
) -> str:
    """Labelled equations; wide ones scroll by themselves, and after sixty the rest is counted.

    ``parts`` gives the component that a label belongs to.
    """
    rows = [
        f"<tr{_part((parts or {}).get(label, ''))}><td>{text(label)}</td><td>{math}</td></tr>"
        for _, (label, math) in zip(range(MOST_ROWS), pairs, strict=False)
    ]
    rows += _left_out(count, 2, what)
    if not rows:
        return "<p>None.</p>"
    return '<div class="scroll"><table class="eq"><tbody>\n' + "\n".join(rows) + "\n</tbody></table></div>"


def figure(svg: str, caption: str = "", css: str = "", panels: Sequence[Sequence[str]] = ()) -> str:
    """A picture with its caption (HTML); ``panels`` names the results of the live chart that takes its place."""
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    kind = f' class="{css}"' if css else ""
    live = f' data-panels="{text(json.dumps(panels, ensure_ascii=False))}"' if panels else ""
    return f"<figure{kind}{live}>\n{svg}\n{words}</figure>"


def folded(heading: str, content: str, opened: bool = False) -> str:
    """A part of the page that opens on demand."""
    return f"<details{' open' if opened else ''}><summary>{heading}</summary>\n{content}\n</details>"


def number(value: float, digits: int = 5) -> str:
    """``4.72 × 10⁻²`` only where a plain number would be long."""
    mantissa, _, power = f"{value + 0.0:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", "−")
    return f"{mantissa} × 10<sup>{str(int(power)).replace('-', '−')}</sup>" if power else mantissa


def quantity(value: float, unit: str, digits: int = 5) -> str:
    """A number with its unit, prefixed where that is shorter."""
    prefixed, scale = with_prefix(unit, abs(float(value)))
    return f"{number(float(value) / scale, digits)}&nbsp;{text(prefixed)}"


def counted(count: int, word: str) -> str:
    """``1 node``, ``12 nodes``."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _left_out(count: int, columns: int, what: str) -> list[str]:
    if count <= MOST_ROWS:
        return []
    return [f'<tr><td class="more" colspan="{columns}">… and {count - MOST_ROWS} more {what}, left out here</td></tr>']


def _css(column: int, right: set[int]) -> str:
    return ' class="n"' if column in right else ""


def _part(name: str) -> str:
    return f' data-part="{text(name)}"' if name else ""
