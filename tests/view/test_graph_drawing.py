"""The drawn graph holds every name once, tells branches from chords, and no names touch."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import cotree as ct
from cotree.errors import CotreeError, FileError
from cotree.graph import LinearGraph, Tree, select_tree
from cotree.model import DISPLACEMENT, Edge, Kind
from cotree.terminal.mechanics import Body, Connection, OnJoint
from cotree.terminal.nodal.bars import Bar
from cotree.terminal.nodal.base import Node
from cotree.view.collapse import drawn
from cotree.view.figures import to_svg
from cotree.view.graph_drawing import draw_graph, graph_svg
from cotree.view.stubs import place_with_stubs
from view._models import bundle, ladder, motor, network, random_graph

EXAMPLES = Path(__file__).parents[2] / "examples"
GRAPHS = {
    "network": lambda: network().graph(),
    "motor": lambda: motor().graph(),
    "ladder": lambda: ladder(6).graph(),
    "bundle": bundle,
    "fifty": lambda: random_graph(22, 50),
}


def elements(svg: str) -> dict[str, ET.Element]:
    """The drawn edges and nodes by id."""
    return {e.get("id", ""): e for e in ET.fromstring(svg).iter() if e.get("id", "").startswith(("edge-", "node-"))}


def texts(svg: str) -> list[str]:
    return ["".join(e.itertext()) for e in ET.fromstring(svg).iter() if e.tag.endswith("text")]


def path_of(element: ET.Element) -> ET.Element:
    return next(e for e in element.iter() if e.tag.endswith("path"))


@pytest.mark.parametrize("graph", GRAPHS)
def test_every_name_appears_once(graph: str) -> None:
    tree = select_tree(GRAPHS[graph]())
    found = texts(to_svg(draw_graph(tree)))
    for name in (*tree.graph.edge_names, *tree.graph.nodes):
        assert found.count(name) == 1, name


@pytest.mark.parametrize("graph", GRAPHS)
def test_chords_are_dashed_and_branches_bold(graph: str) -> None:
    tree = select_tree(GRAPHS[graph]())
    drawn = elements(to_svg(draw_graph(tree)))
    for k, name in enumerate(tree.graph.edge_names):
        look = path_of(drawn[f"edge-{k}"]).get("style", "")
        assert ("stroke-dasharray" in look) == (name not in tree), name
    assert sum(key.startswith("node-") for key in drawn) == tree.graph.v


def test_parallel_edges_and_loops_have_paths_of_their_own() -> None:
    tree = select_tree(bundle())
    drawn = elements(to_svg(draw_graph(tree)))
    paths = [path_of(drawn[f"edge-{k}"]).get("d", "") for k in range(tree.graph.e)]
    assert len(set(paths)) == tree.graph.e
    for k in (3, 4):
        numbers = [float(x) for x in re.findall(r"-?\d+\.?\d*", paths[k])]
        assert max(numbers[1::2]) - min(numbers[1::2]) > 10, "a loop must be seen"


@pytest.mark.parametrize("graph", [*GRAPHS, "andrews", "bricard", "deployable_mast"])
def test_no_names_touch(graph: str) -> None:
    tree = select_tree(GRAPHS[graph]()) if graph in GRAPHS else ct.load(EXAMPLES / f"{graph}.yaml").tree()
    figure = draw_graph(tree)
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in figure.axes[0].texts]
    touching = [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)]
    assert touching == []


@pytest.mark.parametrize("graph", GRAPHS)
def test_everything_lies_inside_the_picture(graph: str) -> None:
    figure = draw_graph(select_tree(GRAPHS[graph]()))
    renderer = FigureCanvasAgg(figure).get_renderer()
    page = figure.bbox
    for artist in (*figure.axes[0].texts, *figure.axes[0].patches, *figure.legends):
        box = artist.get_window_extent(renderer)
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1  # noqa: PT018


def test_the_datum_is_dark_and_the_arrow_points_to_the_head() -> None:
    tree = Tree(LinearGraph([Edge("e", "ground", "a")], "ground"), ["e"])
    svg = to_svg(draw_graph(tree))
    drawn = elements(svg)
    assert (
        "#1f2430" in path_of(drawn[f"node-{tree.graph.node_index('ground')}"]).get("style", "").partition("stroke")[0]
    )
    assert "#ffffff" in path_of(drawn[f"node-{tree.graph.node_index('a')}"]).get("style", "").partition("stroke")[0]
    figure = draw_graph(tree)
    head = next(p for p in figure.axes[0].patches if isinstance(p, Polygon) and len(p.get_xy()) == 4)
    by_name = {t.get_text(): t.get_position()[1] for t in figure.axes[0].texts}
    (_, tip), (_, back) = head.get_xy()[:2]
    assert abs(tip - by_name["a"]) < abs(back - by_name["a"])


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    tree = select_tree(motor().graph())
    for suffix in ("svg", "png", "pdf"):
        for name in "ab":
            draw_graph(tree, tmp_path / f"{name}.{suffix}", title="motor")
        first, second = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in "ab")
        assert first == second, suffix


def test_settings_of_the_session_neither_matter_nor_change() -> None:
    tree = select_tree(network().graph())
    plain = to_svg(draw_graph(tree))
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "lines.linewidth": 9}):
        before = dict(mpl.rcParams)
        assert to_svg(draw_graph(tree)) == plain
        assert dict(mpl.rcParams) == before


def test_names_are_text_whatever_they_hold() -> None:
    names = ["$x_1$", "_hidden", "<b>&\"'", "质量"]
    graph = LinearGraph([Edge(name, "0", str(k + 1)) for k, name in enumerate(names)], "0")
    found = texts(to_svg(draw_graph(select_tree(graph), title="<script>alert(1)</script>\n$\\alpha$")))
    assert set(names) <= set(found)
    assert "<script>alert(1)</script> $\\alpha$" in found


def test_kinds_of_a_mechanism_are_in_the_legend() -> None:
    edges = [
        Edge("m1", "O", "c", Kind.BODY, DISPLACEMENT),
        Edge("s1", "c", "p", Kind.ARM, DISPLACEMENT),
        Edge("h1", "O", "p", Kind.POINT_JOINT, DISPLACEMENT),
    ]
    found = texts(to_svg(draw_graph(select_tree(LinearGraph(edges, "O")))))
    for words in ("N1 rigid or flexible arm", "N3 spherical or revolute joint", "N5 body", "tree, 2 branches"):
        assert words in found


def test_domains_are_told_apart() -> None:
    found = texts(to_svg(draw_graph(select_tree(motor().graph()))))
    assert {"electrical node", "rotational node", "across source", "through storage"} <= set(found)


def test_beyond_sixty_edges_names_are_left_out_and_the_title_says_so() -> None:
    figure = draw_graph(select_tree(random_graph(30, 70)), title="big", collapse=False)
    svg = to_svg(figure)
    found = texts(svg)
    assert "big: names of 70 edges left out" in found
    assert "E1" not in found
    assert "29" in found
    assert len(elements(svg)) == 100


def test_a_few_hundred_edges_are_drawn_small() -> None:
    figure = draw_graph(select_tree(random_graph(150, 300)), collapse=False)
    assert max(figure.get_size_inches()) < 16
    with pytest.raises(CotreeError, match="at most 5000 edges where collapse=False"):
        draw_graph(select_tree(random_graph(3000, 5001)), collapse=False)


def test_a_mechanism_collapses_to_bodies_and_joints() -> None:
    model = ct.load(EXAMPLES / "andrews.yaml")
    picture = drawn(model.tree())
    bodies = [part.name for part in model.components.values() if isinstance(part, Body)]
    assert sorted(picture.node_labels.values()) == sorted([*bodies, "ground"])
    between = [part for part in model.components.values() if isinstance(part, Connection | OnJoint)]
    assert sorted(picture.edge_labels.values()) == sorted(part.name for part in between)
    body_of = {node: picture.node_labels[chief] for chief, nodes in picture.nodes.items() for node in nodes}
    for edge in picture.graph:
        part = model.components[edge.name]
        if isinstance(part, Connection):
            assert picture.node_labels[edge.tail] == body_of[part.frame_a]
            assert picture.node_labels[edge.head] == body_of[part.frame_b]
    # A joint tree of bodies spans them: one branch for each body.
    assert len(picture.bold) == len(bodies)
    found = texts(to_svg(draw_graph(model.tree())))
    for name in (*bodies, *(part.name for part in between)):
        assert found.count(name) == 1, name


def test_a_structure_collapses_to_nodes_and_bars() -> None:
    model = ct.load(EXAMPLES / "deployable_ring_truss.yaml")
    picture = drawn(model.tree())
    bars = {part.name for part in model.components.values() if isinstance(part, Bar)}
    assert bars <= set(picture.edges)
    assert {part.name for part in model.components.values() if isinstance(part, Node)} <= set(picture.nodes)
    assert picture.note == "20 edges of inertia and virtual work left out"


def test_a_network_joins_parallel_and_series_elements() -> None:
    m = ladder(30)
    m.add(ct.Resistor("load", ("n30", "ground"), resistance=1.0))
    m.add(ct.Inductor("L", ("n30", "x"), inductance=1.0))
    m.add(ct.Resistor("Rx", ("x", "n0"), resistance=1.0))
    picture = drawn(m.tree())
    labels = set(picture.edge_labels.values())
    assert {"C29 ∥ load", "L – Rx", "R0", "C0"} <= labels
    assert "x" not in picture.nodes
    assert sum(len(edges) for edges in picture.edges.values()) == m.graph().e


def test_a_busy_ground_is_drawn_at_each_edge() -> None:
    m = ladder(30)
    picture = drawn(m.tree())
    at_ground = [edge for edge in m.graph() if "ground" in (edge.tail, edge.head)]
    behind = [edge.name for name in picture.stubs for e in picture.graph if name in (e.tail, e.head)
              for edge in picture.edges[e.name] if edge in at_ground]  # fmt: skip
    assert sorted(behind) == sorted(edge.name for edge in at_ground)
    assert "ground drawn at each of 31 edges" in picture.note
    places = place_with_stubs(picture.graph, np.full(picture.graph.e, 0.9), picture.stubs)
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
    assert apart.min() > 0.3


@pytest.mark.parametrize("graph", [lambda: ladder(400).graph(), lambda: random_graph(900, 2000)])
def test_thousands_of_edges_are_drawn_as_groups(graph: Callable[[], LinearGraph]) -> None:
    tree = select_tree(graph())
    picture = drawn(tree)
    assert sorted(name for nodes in picture.nodes.values() for name in nodes) == sorted(
        name for name in tree.graph.nodes if name in {n for ns in picture.nodes.values() for n in ns}
    )
    assert len(picture.nodes) <= 50
    assert "groups of nodes drawn as one node each" in picture.note
    inside = int(re.search(r"with ([\d,]+) edges? inside", picture.note)[1].replace(",", ""))
    assert inside > 0.5 * picture.counts[0]
    svg, note = graph_svg(tree)
    assert note == picture.note
    assert len(svg) < 400_000


def test_edges_and_nodes_of_a_page_name_their_components() -> None:
    model = ct.load(EXAMPLES / "four_bar.yaml")
    root = ET.fromstring(graph_svg(model.tree(), "g-")[0])
    parts = {e.get("id"): e.get("data-part") for e in root.iter() if e.get("data-part")}
    graph = model.tree().graph
    for k, edge in enumerate(graph.edges):
        assert parts[f"g-edge-{k}"] == edge.component
    assert parts[f"g-node-{graph.node_index('crank.A')}"] == "crank"
    assert parts[f"g-node-{graph.node_index('pivot')}"] == "pivot"


def test_on_axes_of_the_user() -> None:
    own = Figure()
    left, right = own.subplots(1, 2)
    assert draw_graph(select_tree(network().graph()), ax=right, title="here") is own
    assert right.get_title(loc="left") + right.get_title() == "here"
    assert len(right.texts) == 13
    assert len(left.texts) == 0


def test_an_unknown_format_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"\.svg, \.png, \.pdf"):
        draw_graph(select_tree(network().graph()), tmp_path / "graph.gif")
    assert list(tmp_path.iterdir()) == []


def test_smallest_graphs() -> None:
    alone = Tree(LinearGraph([], "only", ["only"]), [])
    assert texts(to_svg(draw_graph(alone))).count("only") == 1
    loop = Tree(LinearGraph([Edge("e", "only", "only")], "only"), [])
    assert texts(to_svg(draw_graph(loop))).count("e") == 1
