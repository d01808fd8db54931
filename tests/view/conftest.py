"""A run that the pictures are made of, and a browser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import cotree as ct
from view._browser import CHROMIUM, FLAGS, PATIENT
from view._models import network


@pytest.fixture(scope="session")
def run() -> tuple[ct.Model, ct.Solution]:
    """The network and a run of it."""
    m = network()
    return m, m.simulate(0.5)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless browser for all tests of a file."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split(), timeout=PATIENT)
        yield chromium
        chromium.close()
