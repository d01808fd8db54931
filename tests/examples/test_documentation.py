"""The computed part of the documentation is what the scripts write today."""

import re
import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    """The names of docs/regenerate.py, not run."""
    return runpy.run_path(str(DOCS / "regenerate.py"))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Everything that needs neither minutes nor a browser, written anew."""
    folder = tmp_path_factory.mktemp("docs")
    arguments, sys.argv = sys.argv, ["regenerate.py", str(folder), "--quick"]
    try:
        runpy.run_path(str(DOCS / "regenerate.py"), run_name="__main__")
    finally:
        sys.argv = arguments
    return folder


def table(folder, name):
    """The rows of a computed table."""
    text = (folder / "validation.md").read_text(encoding="utf-8")
    return text.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0].splitlines()


def test_the_gallery_is_that_of_the_examples(script):
    gallery = runpy.run_path(str(DOCS / "gallery.py"))
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == gallery["page"](script["read"])


def test_pages_show_all_pictures_and_no_other():
    shown = set()
    for page in [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]:
        found = re.findall(r"(?:\]\(|src=\")([\w./-]*images/[\w.-]+)", page.read_text(encoding="utf-8"))
        shown |= {(page.parent / name).resolve() for name in found}
    there = {
        path.resolve() for folder in DOCS.rglob("images") if "_build" not in folder.parts for path in folder.iterdir()
    }
    assert sorted(shown - there) == []
    assert sorted(there - shown) == []


def test_pictures_in_space_are_small():
    pictures = [*DOCS.glob("images/*_scene.png"), *DOCS.glob("tutorial/images/*.png")]
    assert pictures
    assert [path.name for path in pictures if path.stat().st_size > 120_000] == []


def test_numbers_of_networks_are_those_of_today(script):
    assert table(DOCS, "networks") == list(script["networks"]())
    assert len(table(DOCS, "networks")) > 8


def test_the_table_on_stress_names_tests_that_are_there():
    rows = table(DOCS, "stress")[2:]
    tests = (DOCS.parent / "tests" / "terminal" / "test_stress.py").read_text(encoding="utf-8")
    assert {row.split("`")[-2] for row in rows} <= set(re.findall(r"def (test_\w+)", tests))
    for case in ["pulled", "pressed", "bent", "twisted", "hanging", "blade", "column", "strip", "curved", "L-frame"]:
        assert any(case in row.split("|")[1] for row in rows), case


@pytest.mark.slow
def test_everything_is_drawn_and_computed_as_the_pages_say(written):
    names = {path.name for path in (written / "images").iterdir()}
    there = {path.name for path in (DOCS / "images").iterdir()}
    assert names <= there
    assert {
        name for name in there - names if not name.endswith(("_scene.png", "_compared.svg", "four_bar.webp"))
    } == set()
    now, then = ([line.split("|")[1:4] for line in table(f, "rigid")] for f in (written, DOCS))
    assert now == then  # the errors, too, are rounded up to a power of ten
    # The closure is rounded up to a power of ten, which another processor may miss by one: compare the examples only.
    now, then = ([line.split("|")[1:3] for line in table(f, "energy")] for f in (written, DOCS))
    assert now == then


def test_the_page_of_licences_has_every_dependency():
    """Names only: a new version of a package may name its licence in other words."""
    made = runpy.run_path(str(DOCS / "licences.py"))["page"]().splitlines()
    kept = (DOCS / "licences.md").read_text(encoding="utf-8").splitlines()
    names = [[line.split("|")[1] for line in lines if line.startswith("|")] for lines in (made, kept)]
    assert names[0] == names[1]
    assert all(line.split("|")[2].strip() for line in kept if line.startswith("| "))
