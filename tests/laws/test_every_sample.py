"""Every kind can be made from what its class says, and what it gives as an example is its own."""

from __future__ import annotations

import pytest

from _made import BEYOND_FILES, component, made, seed
from cotree.errors import CotreeError
from cotree.io import model_from_data
from cotree.model import KINDS, Model

OWN = sorted(kind for kind, cls in KINDS.items() if cls.__module__.startswith("cotree."))


@pytest.mark.parametrize("kind", [kind for kind in OWN if kind not in BEYOND_FILES])
def test_a_component_is_made_from_its_class(kind: str) -> None:
    """Values that the class itself refuses are told to the author: they belong into `example`."""
    try:
        part = component(kind)
        part.check(part.values({}))
    except CotreeError as told:
        pytest.fail(f"{kind} cannot be made from its fields: {told} Give the class values that go together: example")
    assert part.kind == kind


@pytest.mark.parametrize(
    "kind", [kind for kind in OWN if "example" in KINDS[kind].__dict__ and "kind" in KINDS[kind].__dict__]
)
def test_an_example_has_fields_of_the_class(kind: str) -> None:
    assert KINDS[kind].example.keys() <= set(KINDS[kind].data_fields())
    given = made(kind)
    assert all(given[key] == value for key, value in KINDS[kind].example.items()), "the sample holds it"


@pytest.mark.parametrize("kind", [kind for kind in OWN if KINDS[kind].mechanical])
def test_a_mechanism_takes_every_part(kind: str) -> None:
    """As a model file has it, with frames and joints of other parts."""
    model = model_from_data(seed(kind), Model)
    assert kind in {part.kind for part in getattr(model, "model", model).components.values()}
