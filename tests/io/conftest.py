"""What the tests of model files share."""

from __future__ import annotations

from pathlib import Path

import pytest

import cotree as ct
from cotree.io import read_model


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def reader(text):
        Path("m.yaml").write_text(text)
        return read_model(Path("m.yaml"), ct.Model)

    return reader
