"""A run that the pictures are made of."""

from __future__ import annotations

import pytest

import cotree as ct
from view._models import network


@pytest.fixture(scope="session")
def run() -> tuple[ct.Model, ct.Solution]:
    """The network and a run of it."""
    m = network()
    return m, m.simulate(0.5)
