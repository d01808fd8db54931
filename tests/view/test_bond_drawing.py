"""Drawn bond graphs are clear: nothing touches, every name is there once, and the marks are where the rules say."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import cotree as ct
import cotree.bond as bond
from _counting import calls
from cotree.bond.mechanics import Body, Rotation
from cotree.errors import ModelError
from cotree.model import Model
from cotree.view.bond_drawing import bond_svg, draw_bond_graph, draw_layout
from cotree.view.bond_layout import Layout, arrange, overlaps
from cotree.view.bond_picture import Activated, Arrow, Picture, Symbol, picture_of
from cotree.view.bond_report import graph_section
from cotree.view.bond_shapes import Box, Label
from cotree.view.bond_tikz import bond_tikz, escape
from cotree.view.figures import to_svg

EXAMPLES = Path(__file__).parents[2] / "examples"


def graph(pairs: list[tuple[int, int]], wide: bool = False) -> Picture:
    """A picture of numbered symbols: leaves are elements, the others junctions."""
    count = max(max(pair) for pair in pairs) + 1
    degree = [sum(k in pair for pair in pairs) for k in range(count)]
    symbols = tuple(
        Symbol(f"s{k}", "01"[k % 2], f"s{k}")
        if degree[k] > 2
        else Symbol(f"s{k}", ("I", "C", "R", "TF")[k % 4], f"s{k}")
        for k in range(count)
    )
    arrows = tuple(
        Arrow(f"b{k}", f"s{a}", f"s{b}", wide, ("tail", "head")[k % 2], f"b{k}", "3" if wide else "")  # type: ignore[arg-type]
        for k, (a, b) in enumerate(pairs)
    )
    return Picture(symbols, arrows)


def chain(n: int) -> list[tuple[int, int]]:
    return [(k, k + 1) for k in range(n - 1)]


def tree(n: int, seed: int) -> list[tuple[int, int]]:
    rng = random.Random(seed)
    return [(rng.randrange(max(0, k - 6), k), k) for k in range(1, n)]


def ring(n: int) -> list[tuple[int, int]]:
    return [(k, (k + 1) % n) for k in range(n)] + [(k, n + k // 2) for k in range(0, n, 2)]


def ladder(n: int) -> list[tuple[int, int]]:
    rungs = [(2 * k, 2 * k + 1) for k in range(n)]
    return rungs + [(k, k + 2) for k in range(2 * n - 2)] + [(k, 2 * n + k) for k in range(2 * n)]


GRAPHS: dict[str, Callable[[], Picture]] = {
    "pair": lambda: graph(chain(2)),
    "chain": lambda: graph(chain(12)),
    "star": lambda: graph([(0, k) for k in range(1, 8)]),
    "ring": lambda: graph(ring(8), wide=True),
    "ladder": lambda: graph(ladder(4)),
    "tree 10": lambda: graph(tree(10, 1)),
    "tree 25": lambda: graph(tree(25, 2), wide=True),
    "tree 40": lambda: graph(tree(40, 3)),
    "two parts": lambda: graph([*chain(4), *((a + 4, b + 4) for a, b in chain(3))]),
    "parallel": lambda: graph([(0, 1), (0, 1), (1, 2), (0, 3), (1, 4)]),
    "loop": lambda: graph([(0, 0), (0, 1), (0, 2)]),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_nothing_touches(name: str) -> None:
    picture = GRAPHS[name]()
    layout = arrange(picture)
    assert overlaps(layout) == []
    assert {route.bond.name for route in layout.routes} == {arrow.name for arrow in picture.arrows}
    assert set(layout.symbols) == {symbol.name for symbol in picture.symbols}


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("kind", ["", "_compliant"])
def test_the_examples_of_the_paper_are_clear(number: int, kind: str) -> None:
    model = ct.load(EXAMPLES / f"bond_example_{number}{kind}.yaml")
    picture = picture_of(model)
    layout = arrange(picture)
    assert overlaps(layout) == []
    drawn = {symbol.name for symbol in picture.symbols}
    assert drawn == {name for name, part in model.components.items() if not isinstance(part, bond.Bond) and part.bonded}
    assert {arrow.name for arrow in picture.arrows} == {
        c.name for c in model.components.values() if isinstance(c, bond.Bond)
    }


@pytest.mark.parametrize(
    ("example", "mask", "holds"),
    [
        ("3", "m1", "MGR"), ("1", "arm", "TF"), ("1_compliant", "J2", "C"), ("2_compliant", "J2", "C"),
        ("3_compliant", "J3", "C"), ("2", "J2", "Sf"), ("3", "J3", "Sf"),
    ],
    ids=["body", "translation", "spherical", "revolute", "prismatic", "ideal revolute", "ideal prismatic"],
)  # fmt: skip
def test_the_masks_of_the_paper_opened_are_clear(example: str, mask: str, holds: str) -> None:
    """Filippini 2007, figs. 1, 2 and 4-6, and the ideal joints."""
    picture = picture_of(ct.load(EXAMPLES / f"bond_example_{example}.yaml"), mask)
    assert any(symbol.letter == holds for symbol in picture.symbols)
    assert overlaps(arrange(picture)) == []


@pytest.mark.parametrize("by", ["euler_angles", "euler_parameters"])
def test_the_rotation_opened_is_clear(by: str) -> None:
    """Filippini 2007, fig. 3."""
    model = Model("turned")
    model.add(Body("bob", mass=1, inertia=(0.01, 0.02, 0.025)))
    model.add(Rotation("turn", by=by))
    model.add(bond.Bond("b1", "bob", "turn.local"))
    picture = picture_of(model, "turn")
    assert any(symbol.letter == "MTF" for symbol in picture.symbols)
    assert overlaps(arrange(picture)) == []


@pytest.mark.parametrize("number", [1, 2])
def test_whole_examples_opened_are_clear(number: int) -> None:
    picture = picture_of(ct.load(EXAMPLES / f"bond_example_{number}.yaml"), "open")
    assert len(picture.symbols) > 45
    assert overlaps(arrange(picture)) == []


def figure_one() -> Picture:
    """Filippini 2007, fig. 1, by hand."""
    symbols = (
        Symbol("gp", "MGR", "ω×p"), Symbol("v", "1", "v"), Symbol("m", "I", "m"), Symbol("F", "", "F"),
        Symbol("gh", "MGR", "ω×h"), Symbol("w", "1", "ω"), Symbol("J", "I", "J"), Symbol("M", "", "M"),
    )  # fmt: skip
    rows = [("v", "m"), ("v", "gp"), ("F", "v"), ("w", "J"), ("w", "gh"), ("M", "w")]
    arrows = tuple(Arrow(f"{k}", a, b, True, "head", f"b{k}", "3") for k, (a, b) in enumerate(rows))
    return Picture(symbols, arrows, (Activated("w", "gp"), Activated("w", "gh")))


def test_figure_one_with_its_signals_is_clear() -> None:
    layout = arrange(figure_one())
    assert overlaps(layout) == []
    assert sum(route.kind == "signal" for route in layout.routes) == 2


@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.05, 0.02)])
def test_the_checker_sees_what_touches(shift: tuple[float, float]) -> None:
    """A label put on a symbol, a bond, a stroke or another label is found."""
    layout = arrange(GRAPHS["ladder"]())
    route = next(r for r in layout.routes if r.stroke is not None)
    assert route.stroke is not None
    spots = {
        "symbol": layout.symbols["s0"].centre,
        "bond": route.points.mean(axis=0) if len(route.points) == 2 else route.points[:2].mean(axis=0),
        "stroke": route.stroke.mean(axis=0),
        "name": layout.labels[0].box.centre,
    }
    for kind, spot in spots.items():
        x, y = (spot + np.array(shift)).tolist()
        spoilt = replace(layout, labels=[*layout.labels, Label("name", "intruder", "xx", x, y)])
        assert any("intruder" in "".join(pair) and kind in "".join(pair) for pair in overlaps(spoilt)), kind


def test_the_checker_sees_bonds_that_cross() -> None:
    symbols = {n: Box("symbol", n, x, y, 0.1, 0.1) for n, x, y in [("a", 0, 0), ("b", 2, 2), ("c", 0, 2), ("d", 2, 0)]}
    job = arrange(graph(chain(2)))
    first = replace(job.routes[0], points=np.array([[0.3, 0.3], [1.7, 1.7]]))
    second = replace(job.routes[0], bond=Arrow("x", "c", "d"), points=np.array([[0.3, 1.7], [1.7, 0.3]]))
    layout = Layout(job.picture, symbols, [first, second])
    assert ("bond b0", "bond x") in overlaps(layout)


def test_the_same_picture_every_time() -> None:
    one, two = (arrange(GRAPHS["ladder"]()) for _ in range(2))
    assert one.boxes == two.boxes
    assert one.segments == two.segments


@pytest.mark.parametrize("size", [40, 150])
def test_the_work_of_a_layout_grows_with_the_graph(size: int) -> None:
    """In proportion, not by its square: 4,000 calls for each part, where 150 parts take about a second."""
    picture = graph(tree(size, 3))
    assert calls(lambda: arrange(picture)) < 4_000 * size


def test_ends_and_marks_of_a_bond() -> None:
    """The line stops short of both symbols; the stroke is across its end, the half arrow back from the head."""
    layout = arrange(GRAPHS["ladder"]())
    for route in layout.routes:
        assert isinstance(route.bond, Arrow)
        for end, name in ((route.points[0], route.bond.tail), (route.points[-1], route.bond.head)):
            box = layout.symbols[name]
            away = np.max(np.abs(end - box.centre) - box.half)
            assert 0.02 < away < 0.15
        assert route.stroke is not None
        at = route.points[0] if route.bond.stroke == "tail" else route.points[-1]
        np.testing.assert_allclose(route.stroke.mean(axis=0), at, atol=1e-9)
        assert abs((route.stroke[1] - route.stroke[0]) @ route.direction(route.bond.stroke or "head")) < 1e-9
        tip, back = route.barb
        np.testing.assert_allclose(tip, route.points[-1], atol=1e-9)
        assert (back - tip) @ route.direction("head") < 0


def test_most_bonds_are_level_or_upright() -> None:
    layout = arrange(graph(tree(40, 3)))
    straight = [min(abs(p - q)) < 1e-6 for route in layout.routes for p, q in pairwise(route.points)]
    assert np.mean(straight) > 0.85


# -- what is shown -------------------------------------------------------------------------------------------------


def motor() -> Model:
    """A source, a mask with a gyrator, a load, and a signal that modulates a brake."""
    inside = bond.Graph("winding", ports={"supply": "i", "shaft": "K.2"}, parameters={"k": 0.05})
    inside.add(bond.Junction1("i"))
    inside.add(bond.R("R", resistance=2.0))
    inside.add(bond.I("L", inertia=0.1))
    inside.add(bond.GY("K", modulus="k"))
    for head in ("R", "L", "K.1"):
        inside.connect("i", head)
    model = Model("motor & load_1")
    for part in (
        bond.Se("V", effort="5*sin(t)"), bond.Mask("M", graph=inside), bond.Junction1("w"), bond.I("J", inertia=1e-3),
        bond.MR("brake", resistance="1 + speed.value**2"), bond.Sensor("speed", of="w", measures="flow"),
        bond.Integrator("angle", input="speed.value", initial=0.0),
        bond.Bond("b1", "V", "M.supply"), bond.Bond("b2", "M.shaft", "w"), bond.Bond("b3", "w", "J"),
        bond.Bond("b4", "w", "brake"),
    ):  # fmt: skip
        model.add(part)
    return model


def test_masks_are_boxes() -> None:
    picture = picture_of(motor())
    shown = {symbol.name: symbol for symbol in picture.symbols}
    assert shown["M"].box
    assert shown["V"].shown == "Se: V"
    assert shown["brake"].shown == "MR: brake"
    assert shown["w"].junction
    assert shown["speed"].shown == "Df: speed"
    assert {(a.name, a.tail, a.head) for a in picture.arrows} == {
        ("b1", "V", "M"), ("b2", "M", "w"), ("b3", "w", "J"), ("b4", "w", "brake")
    }  # fmt: skip
    assert {(s.tail, s.head) for s in picture.signals} == {("w", "speed"), ("speed", "brake"), ("speed", "angle")}
    assert overlaps(arrange(picture)) == []


def test_strokes_are_where_the_effort_acts() -> None:
    """Se sets the effort: its stroke is at the other end; the inertia receives effort: the stroke is at it."""
    strokes = {arrow.name: arrow.stroke for arrow in picture_of(motor()).arrows}
    assert strokes["b1"] == "head"
    assert strokes["b3"] == "head"


def test_all_opened_and_inside_a_mask() -> None:
    opened = picture_of(motor(), "open")
    assert {"M.i", "M.R", "M.L", "M.K", "V"} <= {symbol.name for symbol in opened.symbols}
    inside = picture_of(motor(), "M")
    assert {s.shown for s in inside.symbols} == {"1", "R: R", "I: L", "GY: K", "supply", "shaft"}
    assert len(inside.arrows) == 5
    for picture in (opened, inside):
        assert overlaps(arrange(picture)) == []


def test_a_level_that_is_no_mask_is_refused() -> None:
    with pytest.raises(ModelError, match="is no mask"):
        picture_of(motor(), "V")
    with pytest.raises(ModelError, match="mask"):
        picture_of(motor(), "Mm")


def test_multibonds_are_double_with_their_width() -> None:
    model = Model("spatial")
    for part in (bond.Se("F", effort=[1, 0, 2]), bond.Junction1("v"), bond.I("m", inertia=2.0),
                 bond.Bond("b1", "F", "v"), bond.Bond("b2", "v", "m")):  # fmt: skip
        model.add(part)
    picture = picture_of(model)
    assert all(arrow.wide and arrow.width == "3" for arrow in picture.arrows)
    layout = arrange(picture)
    assert [label.text for label in layout.labels].count("3") == 2
    tikz = bond_tikz(model)
    assert tikz.count(r"\draw[multibond]") == 4


# -- SVG and LaTeX -------------------------------------------------------------------------------------------------


def test_every_name_is_in_the_svg_once() -> None:
    root = ET.fromstring(bond_svg(motor()))
    found = ["".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("text")]
    for name in ("Se: V", "M", "1", "w", "I: J", "MR: brake", "Df: speed", "∫: angle", "b1", "b2", "b3", "b4"):
        assert found.count(name) == 1, name
    ids = {e.get("id") for e in root.iter() if e.get("id")}
    assert sum("edge-" in (i or "") for i in ids) == 7


def test_drawings_are_written(tmp_path: Path) -> None:
    for name in ("graph.svg", "graph.png", "graph.tex"):
        draw_bond_graph(motor(), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 500
    assert (tmp_path / "graph.tex").read_text(encoding="utf-8") == bond_tikz(motor())


AWKWARD = Picture(
    (Symbol("a", "I", "m_1 & <b> $x^2$ #%~\\{}"), Symbol("b", "", 'Maß "x" | ω×h', True)),
    (Arrow("x", "a", "b", False, "tail", "b_1<&>"),),
)


def test_awkward_names_are_escaped() -> None:
    from cotree.view.bond_tikz import layout_tikz

    layout = arrange(AWKWARD)
    root = ET.fromstring(to_svg(draw_layout(layout)))
    found = {"".join(e.itertext()).strip() for e in root.iter() if e.tag.endswith("text")}
    assert {"I: m_1 & <b> $x^2$ #%~\\{}", "b_1<&>"} <= found
    check_tex(layout_tikz(layout))


def check_tex(text: str) -> None:
    """What can be checked without LaTeX: braces and dollars balance, statements end, only plain characters are used."""
    body = text.split(r"\begin{tikzpicture}")[1].split(r"\end{tikzpicture}")[0]
    bare = re.sub(r"\\[\\{}$&#%_]", "", text)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    for line in body.splitlines():
        if line.startswith("\\") and not line.startswith(r"\definecolor"):
            assert re.match(r"\\(draw|fill|node)(\[[a-z ]+\])? ", line), line
            assert line.endswith(";"), line
            assert re.sub(r"\\[$]", "", line).count("$") % 2 == 0
            assert not re.search(r"(?<!\\)[&#%_~]", re.sub(r"\$[^$]*\$", "", line)), line
            assert "nan" not in line
            assert "inf" not in line.split("{")[0]
    styles = set(re.findall(r"\\(?:draw|fill|node)\[([a-z ]+)\]", body))
    assert all(f"{style}/.style" in body for style in styles)
    for character in text:
        assert ord(character) < 128 or character in "äöüßéèñ", character


@pytest.mark.parametrize("level", ["masks", "open", "M"])
def test_latex_is_well_formed(level: str) -> None:
    text = bond_tikz(motor(), level)
    check_tex(text)
    assert text.count(r"\draw[signal]") == len(picture_of(motor(), level).signals)


def test_letters_without_a_glyph_become_their_names() -> None:
    assert escape("ω_1") == r"$\omega$\_1"
    assert escape("Δx") == r"$\Delta$x"
    assert escape("é²") == "é2"


def test_the_report_says_why_bonds_have_no_stroke() -> None:
    """A frame's two multibonds have strokes at both ends in example 3; scalar bonds all have one."""
    said = "Multibonds without a stroke have some at both ends"
    assert said in graph_section(ct.load(EXAMPLES / "bond_example_3.yaml"))
    plain = ct.Model("plain")
    for part in (bond.Se("V", effort=1.0), bond.Junction1("j"), bond.R("R", resistance=1.0), bond.I("L", inertia=1.0)):
        plain.add(part)
    for ends in (("V", "j"), ("j", "R"), ("j", "L")):
        plain.connect(*ends)
    assert said not in graph_section(plain)
