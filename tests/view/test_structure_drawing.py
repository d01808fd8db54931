"""Pictures of structures: places are those of the results, one scale for all, colours by the sign of forces."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb

import cotree as ct
from cotree.errors import FileError, ModelError, ResultError
from cotree.view.figures import COLOURS
from cotree.view.structure_drawing import PICTURES, draw_structure
from view._models import motor

Run = tuple[ct.Model, ct.Solution]


@pytest.fixture(scope="module")
def linkage() -> Run:
    model = ct.structures.five_bar()
    return model, model.simulate(0.5, points=51)


def space() -> ct.Model:
    """A plate over four corners on a fixed edge, a strut with a rod beside it, a cable, a spring and a latch."""
    m = ct.Model("hatch", gravity=(0, 0, -9.81))
    places = {"A": (0, 0, 0), "B": (0, 1, 0), "C": (1, 1, 0), "D": (1, 0, 0), "E": (0.5, 0.5, 0), "S": (2, 0.5, 1)}
    for name, place in places.items():
        m.add(ct.nodal.Node(name, position=place))
    m.add(ct.nodal.Node("T", position=(2.0, 0.5, 0.0), mass=1.0))
    m.add(
        ct.nodal.Body(
            "plate", ("A", "C", "E", "B", "D"), mass=3, centre=(0.5, 0.5, 0), inertia=(0.3, 0.3, 0.6, 0, 0, 0)
        )
    )
    m.add(ct.nodal.Bar("ST", "S", "T", mass=1.0))
    m.add(ct.nodal.Fixed("a", "A"))
    m.add(ct.nodal.Fixed("b", "B"))
    m.add(ct.nodal.Fixed("s", "S"))
    m.add(ct.nodal.ForceCable("rope", ("C", "S", "D"), tension=60.0))
    m.add(ct.nodal.Spring("coil", "T", "C", stiffness=10.0, length=1.0))
    m.add(ct.nodal.Latch("latch", ("S", "C"), at=1.4))
    return m


@pytest.fixture(scope="module")
def hatch() -> Run:
    model = space()
    return model, model.simulate(0.6, points=61)


def lines(ax: object, count: int) -> np.ndarray:
    found = [c for c in ax.collections if isinstance(c, LineCollection)]  # type: ignore[attr-defined]
    return np.array([c.get_segments() for c in found if len(c.get_segments()) == count][-1])


def test_bars_are_where_the_results_say(linkage: Run) -> None:
    model, solution = linkage
    figure = draw_structure(model, solution, times=[0.0, 0.25, 0.5])
    for ax, k in zip(figure.axes[:3], (0, 25, 50), strict=True):
        places = {name: solution[f"{name}.position"][k, :2] for name in "ABCDE"}
        expected = [[places[a], places[b]] for a, b in ("AB", "BC", "CD", "DE")]
        np.testing.assert_allclose(lines(ax, 4), expected, atol=1e-12)
    assert [ax.texts[0].get_text() for ax in figure.axes[:3]] == ["0.00 s", "0.25 s", "0.50 s"]


def test_all_pictures_have_one_scale_and_hold_everything(hatch: Run) -> None:
    model, solution = hatch
    figure = draw_structure(model, solution)
    pictures = figure.axes[:-1]
    assert len(pictures) == PICTURES
    assert len({(*ax.get_xlim(), *ax.get_ylim(), ax.get_window_extent().width) for ax in pictures}) == 1
    box = pictures[0].dataLim
    for ax in pictures:
        (low, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert low <= box.x0 < box.x1 <= right
        assert bottom <= box.y0 < box.y1 <= top
        assert ax.get_window_extent().width / (right - low) == pytest.approx(
            ax.get_window_extent().height / (top - bottom), rel=1e-9
        )


def test_colours_follow_the_sign_of_the_force(linkage: Run) -> None:
    model, solution = linkage
    forces = {bar: np.zeros(51) for bar in ("AB.force", "BC.force", "CD.force", "DE.force")}
    forces["AB.force"] += 5.0
    forces["BC.force"] -= 5.0
    solution = replace(solution, values={**{name: solution[name] for name in solution}, **forces})
    figure = draw_structure(model, solution, times=[0.0])
    drawn = next(c for c in figure.axes[0].collections if isinstance(c, LineCollection))
    found = [tuple(colour[:3]) for colour in drawn.get_colors()]
    np.testing.assert_allclose(found[0], to_rgb(COLOURS[0]))
    np.testing.assert_allclose(found[1], to_rgb(COLOURS[1]))
    assert found[2] == found[3] not in (found[0], found[1])
    plain = draw_structure(model, solution, times=[0.0], forces=False).axes[0]
    assert len({tuple(colour) for colour in plain.collections[0].get_colors()}) == 1
    words = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert words == ["tension", "compression", "no force", "support"]


def test_forces_that_are_not_determined_are_not_shown() -> None:
    model = ct.structures.five_bar()
    model.add(ct.nodal.Fixed("again", "A"))
    figure = draw_structure(model, model.simulate(0.1, points=3), times=[0.0])
    words = [text.get_text() for text in figure.axes[-1].get_legend().get_texts()]
    assert words == ["bar", "support"]


def test_a_view_is_a_rotation_onto_the_paper(hatch: Run) -> None:
    """Seen along y, along x and from above; distances across an oblique view are kept up to its shortening."""
    model, solution = hatch
    ends = np.array([solution["S.position"][0], solution["T.position"][0]])
    for view, axes in (("xz", (0, 2)), ("yz", (1, 2)), ("xy", (0, 1))):
        found = lines(draw_structure(model, solution, times=[0.0], view=view).axes[0], 1)
        drawn = {tuple(np.round(segment, 9)) for segment in found[0]}
        assert drawn == {tuple(np.round(end, 9)) for end in ends[:, axes]}
    found = lines(draw_structure(model, solution, times=[0.0], view=(30, -60)).axes[0], 1)[0]
    assert np.linalg.norm(found[1] - found[0]) == pytest.approx(np.cos(np.radians(30)), rel=1e-12)  # the bar is upright


def test_a_body_is_the_hull_of_its_nodes(hatch: Run) -> None:
    model, solution = hatch
    ax = draw_structure(model, solution, times=[0.0], view="xy").axes[0]
    polygon = next(c for c in ax.collections if isinstance(c, PolyCollection)).get_paths()[0].vertices[:4]
    assert {tuple(np.round(corner, 9)) for corner in polygon} == {(0, 0), (0, 1), (1, 1), (1, 0)}
    x, y = polygon.T
    assert abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2 == pytest.approx(1.0, abs=1e-9)


def test_solids_have_faces_and_straight_members_are_lines() -> None:
    m = ct.Model("solid")
    for name, place in {"A": (0, 0, 0), "B": (1, 0, 0), "C": (0, 1, 0), "D": (0, 0, 1), "E": (2, 0, 0)}.items():
        m.add(ct.nodal.Node(name, position=place))
    m.add(ct.nodal.Body("rock", ("A", "B", "C", "D"), mass=1, centre=(0.2, 0.2, 0.2), inertia=(0.1, 0.1, 0.1, 0, 0, 0)))
    m.add(ct.nodal.Body("rod", ("A", "B", "E"), mass=1, centre=(1, 0, 0), inertia=(0.01, 0.3, 0.3, 0, 0, 0)))
    ax = draw_structure(m, m.simulate(0.1, points=3), times=[0.0]).axes[0]
    assert len(next(c for c in ax.collections if isinstance(c, PolyCollection)).get_paths()) == 4
    assert len(lines(ax, 1)) == 1


def test_a_latch_is_filled_once_it_is_closed(hatch: Run) -> None:
    model, solution = hatch
    when = float(solution.events["latch"][0])
    assert 0.0 < when < 0.6
    figure = draw_structure(model, solution, times=[0.0, 0.6])
    first, last = (
        next(line for line in ax.get_lines() if line.get_marker() == "s").get_markerfacecolor()
        for ax in figure.axes[:2]
    )
    assert first == "white"
    assert last != "white"


def test_hundreds_of_bars_are_few_artists(tmp_path: Path) -> None:
    model = ct.structures.ring_truss(sides=120)
    names = [part.name for part in model.components.values() if part.kind == "nodal.node"]
    values = {}
    for name in names:
        place = [float(x) for x in model.components[name].position]  # type: ignore[attr-defined]
        values |= {f"{name}.position.{x}": np.array([place[k]] * 2) for k, x in enumerate("xyz")}
    solution = replace(
        ct.structures.five_bar().simulate(0.1, points=2), values=values, units=dict.fromkeys(values, "m")
    )
    figure = draw_structure(model, solution, path=tmp_path / "ring.svg")
    assert len(figure.axes[0].get_children()) < 20
    assert (tmp_path / "ring.svg").stat().st_size < 600_000


def test_files_are_written_and_repeat(linkage: Run, tmp_path: Path) -> None:
    model, solution = linkage
    draw_structure(model, solution, path=tmp_path / "a.svg")
    draw_structure(model, solution, path=tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    shown = {"".join(e.itertext()) for e in ET.parse(tmp_path / "a.svg").iter() if e.tag.endswith("text")}
    assert {"0.00 s", "0.50 s", "tension", "support", "x", "y"} <= shown
    draw_structure(model, solution, path=tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_mistakes_are_named(linkage: Run, tmp_path: Path) -> None:
    model, solution = linkage
    with pytest.raises(ResultError, match="3 s is outside the run"):
        draw_structure(model, solution, times=[0.1, 3.0])
    with pytest.raises(ResultError, match="0 instants"):
        draw_structure(model, solution, times=[])
    with pytest.raises(ModelError, match="no view 'top'"):
        draw_structure(model, solution, view="top")
    with pytest.raises(FileError):
        draw_structure(model, solution, path=tmp_path / "a.docx")
    with pytest.raises(ModelError, match="not a structure in nodal coordinates"):
        draw_structure(motor(), solution)
    with pytest.raises(ResultError, match="position"):
        draw_structure(space(), solution)


def test_the_report_of_a_structure_shows_its_shape(linkage: Run, tmp_path: Path) -> None:
    model, solution = linkage
    text = model.report(solution, tmp_path / "report.html").read_text(encoding="utf-8")
    shape = text.partition('<section id="shape">')[2].partition("</section>")[0]
    assert "<svg" in shape
    assert "0.50 s" in shape
    assert text.index('id="motion"') < text.index('id="shape"') < text.index('id="plots"')
    assert "<section" not in shape
