"""What a prompt shows of an object: one line of at most 300 characters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cotree as ct

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
    b = ct.Model.load(EXAMPLES / "bond_example_1.yaml")
    yield from (("bond graph", b), ("causality", b.causality()), ("structural", b.structural()))
    n = ct.Model.load(EXAMPLES / "deployable_scissor_ring.yaml")
    yield from (("structure", n), ("determinacy", n.determinacy()))
    yield from (
        (f"{each.name} of {path.stem}", each) for path in sorted(EXAMPLES.glob("*.yaml")) for each in parts(path)
    )


def parts(path: Path) -> list[Any]:
    return list(ct.Model.load(path).components.values())


def test_everything_is_one_short_line() -> None:
    wrong = {}
    for name, thing in things():
        text = repr(thing)
        if len(text) > LONGEST or "\n" in text or not text:
            wrong[name] = text[:100]
    assert not wrong


def test_a_component_shows_what_was_given() -> None:
    assert repr(ct.Revolute("O", "ground", "crank.O", angle=0.3)) == "Revolute('O', 'ground', 'crank.O', angle=0.3)"
    many = {f"p{k}": (k, 0, 0) for k in range(99)}
    assert repr(ct.RigidBody("b", mass=1, inertia=(1, 1, 1), frames=many)).endswith(")")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("flexible_*.yaml")), ids=lambda path: path.stem)
def test_beams_with_all_their_fields_stay_short(path: Path) -> None:
    assert all(len(repr(each)) <= LONGEST for each in parts(path))
