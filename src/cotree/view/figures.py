"""What all figures share: one style, deterministic files, and SVG that can stand inside a page.

Figures are made with the object-oriented interface of matplotlib; its global state is never touched.
"""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from cotree.errors import FileError, nearest
from cotree.results.store import replacing

INK = "#1f2430"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
"""The palette of Okabe and Ito without its yellow: told apart by colour-blind readers, and on paper."""

FORMATS = ("svg", "png", "pdf")
_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_FONT = re.compile(r"'DejaVu Sans'(?:, *[^;]*)?")

_STYLE: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib, so that every machine measures the same widths
    "font.size": 9.0,
    "text.parse_math": False,  # a dollar in a name is a dollar
    "text.usetex": False,
    "text.color": INK,
    "axes.edgecolor": "#8a909c",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "white",
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "figure.facecolor": "white",
    "figure.dpi": 100.0,
    "savefig.dpi": 160.0,
    "savefig.facecolor": "auto",
    "savefig.bbox": None,
    "grid.color": "#e3e6eb",
    "grid.linewidth": 0.7,
    "xtick.color": "#8a909c",
    "ytick.color": "#8a909c",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "path.simplify": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "cotree",
}

_MACHINE = ("backend", "backend_fallback", "interactive")
"""Settings of the session, not of the look."""


@contextmanager
def style() -> Iterator[None]:
    """The style of all figures, for as long as the block lasts."""
    with warnings.catch_warnings(), mpl.rc_context():
        # Browsers have the glyphs that the measuring font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        settings: dict[Any, Any] = {key: value for key, value in mpl.rcParamsDefault.items() if key not in _MACHINE}
        settings.update(_STYLE)
        mpl.rcParams.update(settings)
        yield


def clean(text: object) -> str:
    """One line of text without characters that XML forbids."""
    line = " ".join(str(text).split())
    return "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs") or c in "\ufffe\uffff" else c for c in line)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as SVG, PNG or PDF, by the suffix; the same figure gives the same bytes."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise FileError(
            f"a figure cannot be written as '{path.name}'",
            expected=f"a name that ends in {', '.join(f'.{f}' for f in FORMATS)}",
            remedy=nearest(kind, FORMATS),
        )
    if kind == "svg":
        data = ('<?xml version="1.0" encoding="utf-8"?>\n' + to_svg(figure) + "\n").encode()
    else:
        data = _rendered(figure, kind)
    with replacing(path) as part:
        part.write_bytes(data)
    return path


class ShownFigure(Figure):
    """A figure that a notebook shows as a picture, whatever its backend is."""

    def _repr_svg_(self) -> str:
        return to_svg(self)


def to_svg(
    figure: Figure,
    prefix: str = "",
    titles: Mapping[str, str] | None = None,
    label: str = "",
    scale: float = 1.0,
    parts: Mapping[str, str] | None = None,
) -> str:
    """The figure as one ``<svg>`` element that can be put into a page.

    Only ids that are used or titled are kept, each with ``prefix``, so that several pictures fit on one page.
    ``titles`` gives the artists of these ids a tool tip, ``label`` describes the whole picture.
    ``scale`` enlarges it on the page. ``parts`` names the component that each artist stands for.
    """
    titles, parts = titles or {}, parts or {}
    root = ET.fromstring(_rendered(figure, "svg"))
    used = {ref for element in root.iter() for ref in _references(element)}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        _tidy(element, used, prefix, titles, parts)
    root.set("xmlns", _SVG)
    for side, inches in zip(("width", "height"), figure.get_size_inches(), strict=True):
        root.set(side, f"{72 * scale * inches:.0f}pt")
    root.set("style", "stroke-linejoin:round;stroke-linecap:butt")
    if label:
        root.set("role", "img")
        root.set("aria-label", clean(label))
    return ET.tostring(root, encoding="unicode")


def _rendered(figure: Figure, kind: str) -> bytes:
    nothing = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}, "pdf": {"CreationDate": None}}
    buffer = io.BytesIO()
    with style():
        figure.savefig(buffer, format=kind, metadata=nothing[kind])
    return buffer.getvalue()


def _references(element: ET.Element) -> Iterator[str]:
    for name, value in element.attrib.items():
        if name == _XLINK or name == "href":
            yield value.removeprefix("#")
        else:
            yield from re.findall(r"url\(#([^)]+)\)", value)


def _tidy(
    element: ET.Element, used: set[str], prefix: str, titles: Mapping[str, str], parts: Mapping[str, str]
) -> None:
    """Prefix or drop the id, shorten numbers, name generic fonts, add the tool tip."""
    own = element.attrib.pop("id", None)
    for name, value in list(element.attrib.items()):
        if name == _XLINK:
            del element.attrib[name]
            element.set("href", f"#{prefix}{value.removeprefix('#')}")
        elif name in ("d", "points", "transform", "x", "y"):
            element.set(name, " ".join(_LONG_NUMBER.sub(_short, value).split()))
        elif "url(#" in value:
            element.set(name, value.replace("url(#", f"url(#{prefix}"))
        elif name == "style" and "font:" in value:
            element.set(name, _FONT.sub("'DejaVu Sans', Verdana, Arial, sans-serif", value))
    if own is not None and (own in used or own in titles or own.startswith(("edge-", "node-"))):
        element.set("id", prefix + own)
    if own is not None and own in parts:
        element.set("data-part", clean(parts[own]))
    if own is not None and own in titles:
        title = ET.Element("title")
        title.text = clean(titles[own])
        element.insert(0, title)


def _short(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
