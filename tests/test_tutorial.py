"""The tutorial, and pages of the documentation with commands, are run: what they print is what the pages show."""

from __future__ import annotations

import inspect
import re
import runpy
from pathlib import Path

import pytest

from _repo import ROOT

pages = runpy.run_path(str(ROOT / "docs" / "pages.py"))


@pytest.mark.parametrize("page", pages["run_pages"](), ids=lambda page: page.stem)
def test_a_page_prints_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = page.read_text(encoding="utf-8")
    wrong = [
        f"{page.name}: {each.command}\nshown:\n{each.shown}\nprinted:\n{each.printed}"
        for each in pages["run"](text, tmp_path)
        if not pages["same"](each.shown, each.printed)
    ]
    assert not wrong, "\n".join(wrong)
    for picture in pages["pictures"](text):
        made = tmp_path / picture
        assert made.exists() or made.with_suffix(".html").exists(), f"{page.name} shows {picture} and does not make it"


def test_numbers_are_compared_and_costs_are_not() -> None:
    same = pages["same"]
    assert same("x 1.23456 m, 512 steps, 40 ms\n", "x 1.23457 m, 498 steps, 1,377 ms\n")
    assert same("closes to 4e-07\n", "closes to 9e-08\n")
    assert not same("x 1.234 m\n", "x 1.236 m\n")
    assert not same("x 1.2 m\n", "y 1.2 m\n")
    assert not same("one\ntwo\n", "one\n")
    assert same("one\n...\nfour\n", "one\ntwo\nthree\nfour\n")
    assert not same("one\n...\nfive\n", "one\ntwo\nthree\nfour\n")


def test_the_command_line_page_names_every_command_and_option() -> None:
    import typer.main

    from cotree.cli.program import program

    text = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    for name, command in typer.main.get_command(program()).commands.items():  # type: ignore[attr-defined]
        assert f"`{name}`" in text
        options = {each for parameter in command.params for each in parameter.opts if each.startswith("--")}
        missing = [each for each in sorted(options - {"--help"}) if f"`{each}" not in text]
        assert missing == [], f"{name}: {missing}"


def test_the_programming_interface_shows_every_public_name() -> None:
    import cotree
    from cotree.io.catalogue import room_of
    from cotree.model import KINDS

    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "api").glob("*.md"))
    rooms = set(" ".join(re.findall(r"^\.\. components:: (.*)$", text, re.M)).split())
    missing = []
    for name in set(dir(cotree)) - {"__version__"}:
        thing = getattr(cotree, name)
        listed = getattr(thing, "kind", None) in KINDS and room_of(thing) in rooms
        documented = re.search(rf"^\.\. auto\w+:: cotree\.{name}$", text, re.M)
        if not inspect.ismodule(thing) and not listed and not documented:
            missing.append(name)
    missing = [name for name in missing if not issubclass_of_error(getattr(cotree, name))]
    assert missing == []
    assert "*" in rooms, "components of rooms that no page names are shown, too"


def issubclass_of_error(thing: object) -> bool:
    """Errors are shown by their module."""
    return inspect.isclass(thing) and issubclass(thing, Exception)
