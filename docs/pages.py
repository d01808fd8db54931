"""Pages that are run as a reader would do it: files are saved, commands typed, Python code executed.

A page may hold these blocks. A model file begins with its name, ``# pendulum.yaml``, and is saved.
Commands stand behind ``$`` in a ``console`` block, with their output below. Python code runs in one session for each
page; a ``text`` block after it shows what it prints. A line ``...`` stands for output that is left out.

``python docs/pages.py`` runs all pages and writes output and pictures anew: a picture ``images/NAME`` of a page is the
file NAME that its blocks have written, or the three-dimensional view of ``NAME.html`` where NAME.png is asked for.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"
LEFT_OUT = "..."
VIEWS: dict[str, dict[str, Any]] = {
    "pendulum": {"share": 0.2},
    "flexible_coupler": {"share": 0.68, "before": "cotree.magnify(30)"},
}
"""How the view of a report is taken, if not at the third part of the run."""
_FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.S | re.M)
_NAMED = re.compile(r"# *(?P<name>[\w./-]+\.\w+)\n")
_PICTURE = re.compile(r"!\[[^\]]*\]\(images/(?P<name>[\w.-]+)\)")
_COST = re.compile(r"\d[\d.,]* (?:ms|s|steps|evaluations)\b")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
CLOSE = 1e-4
"""Part by which a printed number may differ on another processor."""
ROUNDING = 1e-5
"""What is smaller than this is rounding or an error estimate: only that it is small counts."""


@dataclass(frozen=True)
class Shown:
    """Output as a page shows it and as it is today; ``start`` and ``end`` are its place in the page's text."""

    command: str
    shown: str
    printed: str
    start: int
    end: int


class Session:
    """One reader at work in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.names = folder, {"__name__": "__main__"}
        shutil.copytree(EXAMPLES, folder / "examples", dirs_exist_ok=True)

    def python(self, code: str) -> str:
        """What the code prints."""
        return self._printed(lambda: exec(compile(code, "<page>", "exec"), self.names))

    def command(self, line: str) -> str:
        """What a command prints, errors too."""
        word, *rest = shlex.split(line, comments=True)
        if word == "cotree":
            return self._printed(lambda: _cotree(rest))
        if word == "python":
            return self._printed(lambda: runpy.run_path(rest[0], run_name="__main__"))
        if word == "cat":
            return "".join((self.folder / name).read_text(encoding="utf-8") for name in rest)
        raise ValueError(f"a page has a command of an unknown kind: {line}")

    def _printed(self, action: Any) -> str:
        stream, here = io.StringIO(), Path.cwd()
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
                action()
        finally:
            os.chdir(here)
        return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def _cotree(words: list[str]) -> None:
    """The command line in this process, which saves its start."""
    from cotree.cli import main

    arguments, sys.argv = sys.argv, ["cotree", *words]
    try:
        main()
    except SystemExit as left:
        if left.code not in (0, 1, 2, None):
            raise RuntimeError(f"cotree {shlex.join(words)} left with {left.code}") from left
    finally:
        sys.argv = arguments


def run(text: str, folder: Path) -> Iterator[Shown]:
    """Run the blocks of a page in order; yields every output that the page shows."""
    session, after = Session(folder), None
    for block in _FENCE.finditer(text):
        language, body, start = block["language"], block["body"], block.start("body")
        if language == "python":
            after = session.python(body)
            continue
        if language == "text" and after is not None:
            yield Shown("python", body, after, start, block.end("body"))
        elif language == "console":
            for command, shown, place in _commands(body):
                yield Shown(command, shown, session.command(command), start + place, start + place + len(shown))
        elif named := _NAMED.match(body):
            path = folder / named["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        after = None


def _commands(body: str) -> Iterator[tuple[str, str, int]]:
    """Each command of a console block, its output and where that begins."""
    for found in re.finditer(r"^\$ (?P<command>.*\n)(?P<shown>(?:(?!\$ ).*\n)*)", body, re.M):
        yield found["command"].strip(), found["shown"], found.start("shown")


def cut(printed: str, shown: str) -> str:
    """Output with those lines left out that the page leaves out."""
    lines, kept = printed.splitlines(keepends=True), shown.splitlines()
    if LEFT_OUT not in kept:
        return printed
    head = kept.index(LEFT_OUT)
    tail = len(kept) - head - 1
    return "".join([*lines[:head], f"{LEFT_OUT}\n", *(lines[-tail:] if tail else [])])


def same(shown: str, printed: str) -> bool:
    """Whether output says the same: equal words, numbers to four digits; what a run costs is left out."""
    one, two = (_COST.sub("COST", text) for text in (shown, cut(printed, shown)))
    if [_NUMBER.sub("#", line).split() for line in one.splitlines()] != [
        _NUMBER.sub("#", line).split() for line in two.splitlines()
    ]:
        return False
    pairs = zip(map(float, _NUMBER.findall(one)), map(float, _NUMBER.findall(two)), strict=True)
    return all(abs(a - b) <= max(CLOSE * max(abs(a), abs(b)), ROUNDING) for a, b in pairs)


def pictures(text: str) -> list[str]:
    """The pictures that a page shows."""
    return [found["name"] for found in _PICTURE.finditer(text)]


def rewrite(page: Path) -> None:
    """Run a page and write its output and its pictures anew, where they say something else."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as name:
        folder, done = Path(name), 0
        parts: list[str] = []
        for each in run(text, folder):
            fresh = each.shown if same(each.shown, each.printed) else cut(each.printed, each.shown)
            parts += [text[done : each.start], fresh]
            done = each.end
        page.write_text("".join([*parts, text[done:]]), encoding="utf-8")
        for picture in pictures(text):
            target = page.parent / "images" / picture
            if (source := folder / picture).exists():
                shutil.copyfile(source, target)
            elif (report := source.with_suffix(".html")).exists():
                runpy.run_path(str(DOCS / "snapshots.py"))["snapshot"](report, target, **VIEWS.get(target.stem, {}))


def run_pages() -> list[Path]:
    """All pages that are run: the tutorial, and those that show commands."""
    more = [DOCS / "command_line.md", DOCS / "method" / "files.md", DOCS / "method" / "flexible.md"]
    return [*sorted((DOCS / "tutorial").glob("*.md")), *more]


def rewrite_all(names: Sequence[str] = ()) -> None:
    """Write all pages anew, or those that are named."""
    for page in [Path(name).resolve() for name in names] or run_pages():
        try:
            rewrite(page)
        except Exception:
            traceback.print_exc()
            sys.exit(f"{page.name} does not run")


if __name__ == "__main__":
    rewrite_all(sys.argv[1:])
