"""The computed part of the documentation is what the script writes today."""

import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS.parent / "examples"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    arguments, sys.argv = sys.argv, ["regenerate.py", str(folder), "--quick"]
    try:
        runpy.run_path(str(DOCS / "regenerate.py"), run_name="__main__")
    finally:
        sys.argv = arguments
    return folder


def test_gallery_and_its_pictures_are_there(written):
    assert (written / "gallery.md").read_text() == (DOCS / "gallery.md").read_text()
    names = sorted(path.name for path in (written / "images").iterdir())
    there = sorted(path.name for path in (DOCS / "images").iterdir())
    compared = [f"{path.stem}_compared.svg" for path in EXAMPLES.glob("*.yaml") if path.with_suffix(".py").exists()]
    assert sorted({*names, *compared}) == there


def test_numbers_of_the_validation_page_are_those_of_today(written):
    def table(folder, name):
        return (folder / "validation.md").read_text().partition(f"<!-- {name} -->")[2].partition("<!-- end -->")[0]

    assert table(written, "networks") == table(DOCS, "networks")
    assert len(table(written, "networks").splitlines()) > 8
    now, then = ([line.split("|")[1:4] for line in table(f, "rigid").splitlines()] for f in (written, DOCS))
    assert now == then  # the errors, too, are rounded up to a power of ten
    # The closure is rounded up to a power of ten, which another processor may miss by one: compare the examples only.
    now, then = ([line.split("|")[1:3] for line in table(f, "energy").splitlines()] for f in (written, DOCS))
    assert now == then
