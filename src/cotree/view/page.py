"""The frame of a report: one HTML page that needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from cotree.view.figures import clean

MOST_ROWS = 60
"""Rows of a table before the rest is left out."""

STYLE = """
:root { color-scheme: light dark; --ink:#1f2430; --soft:#5b6270; --line:#e1e4ea; --page:#f6f7f9; --card:#fff;
  --link:#00609a; --good:#00714f; --fair:#8a5a00; --bad:#b3261e }
@media (prefers-color-scheme: dark) {
  :root { --ink:#e4e6ea; --soft:#a0a6b2; --line:#33373f; --page:#101113; --card:#1a1a1a; --link:#7cc4f5;
    --good:#4fd1a5; --fair:#f0b35a; --bad:#ff8a80 }
  figure svg { filter: invert(.9) hue-rotate(180deg) } }
* { box-sizing: border-box }
body { margin:0; background:var(--page); color:var(--ink);
  font:15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif }
main { max-width:62rem; margin:0 auto; padding:2rem 1.25rem 3rem }
h1 { font-size:1.75rem; line-height:1.2; margin:0 0 .4rem; overflow-wrap:anywhere }
.tile b > span { white-space:nowrap }
h2 { font-size:1.15rem; margin:0 0 .8rem }
h3 { font-size:.95rem; margin:1.4rem 0 .4rem; color:var(--soft); font-weight:600 }
p { margin:.3rem 0 .8rem; max-width:48rem }
a { color:var(--link) }
.lead { color:var(--soft); font-size:1.02rem; max-width:none }
nav { display:flex; flex-wrap:wrap; gap:.25rem 1.1rem; margin:.9rem 0 1.3rem; font-size:.9rem }
nav a { text-decoration:none } nav a:hover { text-decoration:underline }
section { background:var(--card); border:1px solid var(--line); border-radius:10px; padding:1.2rem 1.4rem 1.3rem;
  margin:0 0 1.1rem; scroll-margin-top:.5rem }
.tiles { display:grid; grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr)); gap:.7rem; margin:0 0 1.1rem }
.tile { background:var(--card); border:1px solid var(--line); border-radius:10px; padding:.6rem .9rem }
.tile b { display:block; font-size:1.25rem; font-weight:600; font-variant-numeric:tabular-nums; overflow-wrap:anywhere }
.tile > span { color:var(--soft); font-size:.82rem }
.scroll { overflow-x:auto }
figure { margin:0 0 .6rem; text-align:center; overflow-x:auto }
figure svg { max-width:100%; height:auto }
figure svg text { font-family:inherit !important }
figcaption { color:var(--soft); font-size:.86rem }
table { border-collapse:collapse; font-variant-numeric:tabular-nums; font-size:.92rem }
th, td { text-align:left; padding:.28rem 2.2rem .28rem 0; border-bottom:1px solid var(--line); vertical-align:top }
th { color:var(--soft); font-weight:600; font-size:.82rem; white-space:nowrap }
tr:last-child td { border-bottom:0 }
td.n, th.n { text-align:right; white-space:nowrap } td.w { white-space:nowrap }
td.more { color:var(--soft); font-style:italic }
#components table { width:100% }
table.eq td { padding:.34rem 1rem .34rem 0; vertical-align:middle; border-bottom:0 }
table.eq td:first-child { color:var(--soft); font-size:.85rem; white-space:nowrap; width:1% }
math { font-size:1.08rem; math-style:normal }
ul { margin:.3rem 0 .8rem; padding-left:1.2rem }
sup, sub { line-height:0 }
.good { color:var(--good) } .fair { color:var(--fair) } .bad { color:var(--bad) }
.verdict { font-weight:600 }
footer { color:var(--soft); font-size:.82rem }
@media (max-width:40rem) { section { padding:.9rem } main { padding:1rem .7rem } }
@media print {
  :root { --ink:#000; --soft:#444; --line:#ccc; --page:#fff; --card:#fff }
  body { font-size:10.5pt } main { max-width:none; padding:0 } nav { display:none }
  section, .tile { border:0; padding:0; margin-bottom:1.2rem }
  figure, tr { break-inside:avoid } h2, h3 { break-after:avoid }
  figure svg { filter:none } .scroll, figure { overflow:visible } }
"""

Section = tuple[str, str, str]
"""Anchor, heading and body."""


def text(value: object) -> str:
    """Text from a model, safe inside a page."""
    return escape(clean(value), quote=True)


def page(title: str, lead: str, tiles: Sequence[tuple[str, str]], sections: Sequence[Section], foot: str) -> str:
    """The whole page; ``title`` is plain text, the other parts are HTML."""
    links = "".join(f'<a href="#{anchor}">{heading}</a>' for anchor, heading, _ in sections)
    shown = "".join(f'<div class="tile"><b>{value}</b><span>{label}</span></div>' for value, label in tiles)
    body = "\n".join(
        f'<section id="{anchor}">\n<h2>{heading}</h2>\n{content}\n</section>' for anchor, heading, content in sections
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
<h1>{text(title)}</h1>
<p class="lead">{lead}</p>
<nav aria-label="Sections">{links}</nav>
</header>
<div class="tiles">{shown}</div>
{body}
<footer>{foot}</footer>
</main>
</body>
</html>
"""


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], count: int, what: str, numeric: Iterable[int] = ()
) -> str:
    """A table of HTML cells, cut after sixty rows with a line that says how many ``what`` are left out."""
    right = set(numeric)
    line = "".join(f"<th{_css(k, right)}>{cell}</th>" for k, cell in enumerate(head))
    body = [
        "<tr>" + "".join(f"<td{_css(k, right)}>{cell}</td>" for k, cell in enumerate(row)) + "</tr>"
        for row, _ in zip(rows, range(MOST_ROWS), strict=False)
    ]
    body += _left_out(count, len(head), what)
    joined = "\n".join(body)
    whole = f"<table><thead><tr>{line}</tr></thead><tbody>\n{joined}\n</tbody></table>"
    return f'<div class="scroll">{whole}</div>'


def equation_list(pairs: Iterable[tuple[str, str]], count: int, what: str = "equations") -> str:
    """Labelled equations; wide ones scroll by themselves, and after sixty the rest is counted."""
    rows = [
        f"<tr><td>{text(label)}</td><td>{math}</td></tr>"
        for (label, math), _ in zip(pairs, range(MOST_ROWS), strict=False)
    ]
    rows += _left_out(count, 2, what)
    if not rows:
        return "<p>None.</p>"
    return '<div class="scroll"><table class="eq"><tbody>\n' + "\n".join(rows) + "\n</tbody></table></div>"


def figure(svg: str, caption: str = "") -> str:
    """A picture with its caption (HTML)."""
    words = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure>\n{svg}\n{words}</figure>"


def number(value: float, digits: int = 5) -> str:
    """``4.72 × 10⁻²`` only where a plain number would be long."""
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    mantissa = mantissa.replace("-", "−")
    return f"{mantissa} × 10<sup>{str(int(power)).replace('-', '−')}</sup>" if power else mantissa


def _left_out(count: int, columns: int, what: str) -> list[str]:
    if count <= MOST_ROWS:
        return []
    return [f'<tr><td class="more" colspan="{columns}">… and {count - MOST_ROWS} more {what}, left out here</td></tr>']


def _css(column: int, right: set[int]) -> str:
    return ' class="n"' if column in right else ""
