"""What a prompt shows of an object: one line of at most 300 characters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cotree as ct
from cotree.maths.viewed import Viewed

EXAMPLES = Path(__file__).parents[2] / "examples"
LONGEST = 300


def things() -> Iterator[tuple[str, Any]]:
    m = ct.Model.load(EXAMPLES / "slider_crank.yaml")
    sol = m.simulate(0.1, points=11)
    yield from (("model", m), ("solution", sol), ("equations", m.equations()), ("variables", m.equations().q))
    yield from (("graph", m.graph()), ("tree", m.tree()), ("energy", sol.energy()), ("origin", sol.origin))
    yield from (("statistics", sol.statistics), ("inverse dynamics", m.inverse_dynamics(0.1)))
    p = ct.Model.load(EXAMPLES / "pendulum.yaml")
    yield from (("statics", p.static_equilibrium()), ("modes", p.modes()), ("linear model", p.linearise()))
    yield "sensitivities", p.sensitivities("bob.position.x", p.equations().p.names[0], 0.1, points=11)
    f = ct.Model.load(EXAMPLES / "flexible_panels.yaml")
    rest = f.simulate(0.01, points=3, rtol=1e-5)
    name = next(name for name, part in f.components.items() if isinstance(part, ct.FlexibleBody))
    shown = f.deformation(rest, name)
    yield from (
        ("deformation", shown),
        ("stress", shown.stress(0)[0]),
        ("peak", shown.peak()),
        ("mesh", ct.mesh.grid([1, 1], [4, 4])),
    )
    yield from (("diagnostic", sol.diagnostics[0]), ("event", ct.Event("e", when="O.angle - 1")))
    yield from (("section", ct.section.circle(radius=0.1)), ("material", ct.STEEL), ("shape", ct.rod(length=1, mass=2)))
    yield from (("matrix", m.tree().cutset_matrix()), ("edge", m.graph().edges[0]), ("frame", ct.Frame((1, 2, 3))))
    yield from (("plate", ct.Plate(thickness=0.01, material=ct.STEEL)), ("support", ct.Support(node=0)))
    yield from (("equation", m.tree().cutset_equation(m.tree().branches[0])), ("cost", m.tree().cost()))
    b = ct.Model.load(EXAMPLES / "bond_example_1.yaml")
    yield from (("bond graph", b), ("causality", b.causality()), ("structural", b.structural()))
    n = ct.Model.load(EXAMPLES / "deployable_scissor_ring.yaml")
    yield from (("structure", n), ("determinacy", n.determinacy()))
    yield from (
        (f"{each.name} of {path.stem}", each) for path in sorted(EXAMPLES.glob("*.yaml")) for each in parts(path)
    )


def parts(path: Path) -> list[Any]:
    return list(ct.Model.load(path).components.values())


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, Any]]:
    return list(things())


def test_everything_is_one_short_line(shown: list[tuple[str, Any]]) -> None:
    wrong = {}
    for name, thing in shown:
        text = repr(thing)
        if len(text) > LONGEST or "\n" in text or not text:
            wrong[name] = text[:100]
    assert not wrong


def test_everything_has_a_view_in_notebooks(shown: list[tuple[str, Any]]) -> None:
    html5lib = pytest.importorskip("html5lib")
    bare = []
    for name, thing in shown:
        html = thing._repr_html_()
        whole = html5lib.HTMLParser(strict=True).parse(f"<!DOCTYPE html><title>x</title>{html}")
        text = "".join(whole.itertext())
        assert len(html) < 1_000_000, name
        if len(text) < len("x" + repr(thing)) + 3 and not isinstance(thing, (ct.Model, ct.Solution)):
            bare.append(name)
    assert not bare, "nothing stands below the line"


def test_views_escape_what_they_show() -> None:
    class Odd(Viewed):
        def __init__(self) -> None:
            self.name = "<script>alert(1)</script>"

        def __repr__(self) -> str:
            return "<Odd & 'more'>"

    shown = Odd()._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "&lt;Odd &amp;" in shown


def test_a_view_that_fails_leaves_the_line() -> None:
    class Broken(Viewed):
        def _view(self) -> str:
            raise ValueError("no")

    assert "Broken object" in Broken()._repr_html_()


def test_a_component_shows_what_was_given() -> None:
    assert repr(ct.Revolute("O", "ground", "crank.O", angle=0.3)) == "Revolute('O', 'ground', 'crank.O', angle=0.3)"
    many = {f"p{k}": (k, 0, 0) for k in range(99)}
    assert repr(ct.RigidBody("b", mass=1, inertia=(1, 1, 1), frames=many)).endswith(")")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("flexible_*.yaml")), ids=lambda path: path.stem)
def test_beams_with_all_their_fields_stay_short(path: Path) -> None:
    assert all(len(repr(each)) <= LONGEST for each in parts(path))
