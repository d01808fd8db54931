"""README.md and the tour are run: every Python block, model file and command line; so is Python code in docs/.

Commands run in order in one copy of the repository, as a reader would type them. A command of a kind that is not known
here fails, so that nothing in the README goes untested by accident. A YAML or Python block whose first line is a
comment with a file name, ``# circuit.yaml``, is saved under that name first, so that later blocks may use it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import pytest
from matplotlib import pyplot

from _repo import ROOT, copy_repo
from examples import runs

README = ROOT / "README.md"
PAGES = [README, ROOT / "docs" / "tour.md"]
Execute = Callable[[str], str]
SHELLS = ("console", "sh", "bash", "shell")
_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`\n]*)\n(?P<body>.*?)^ *(?P=ticks)`* *$", re.S | re.M)
_NAMED = re.compile(r"^# *(?P<name>[\w.-]+\.(?:ya?ml|py))\s*$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line on which it starts."""

    language: str
    text: str
    line: int

    @property
    def filename(self) -> str:
        """The file name in the first line, if it is a comment with nothing else."""
        match = _NAMED.match(self.text.partition("\n")[0])
        return match["name"] if match else ""


def blocks(text: str, *languages: str) -> list[Block]:
    """All fenced blocks of ``text`` in one of ``languages`` (all, if none is given)."""
    found = []
    for match in _FENCE.finditer(text):
        language = (match["info"].split() or [""])[0].lower()
        body = re.sub(rf"^ {{0,{len(match['indent'])}}}", "", match["body"], flags=re.M)
        if not languages or language in languages:
            found.append(Block(language, body, text.count("\n", 0, match.start()) + 1))
    return found


def commands(block: Block) -> list[str]:
    """Command lines of a shell block: those behind ``$`` if there are any (the rest is output), otherwise all."""
    joined = re.sub(r"\\\n\s*", "", block.text)
    lines = [line.strip() for line in joined.splitlines()]
    if any(line.startswith("$ ") for line in lines):
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if line and not line.startswith("#")]


def readme() -> str:
    return README.read_text(encoding="utf-8") if README.exists() else ""


def environment(copy: Path, shims: Path) -> dict[str, str]:
    """This interpreter first on the path and the copy's package first on Python's path."""
    folder = Path(sys.executable).parent
    if not (folder / "cotree").exists():  # not installed: the source tree is tested as it lies
        shims.mkdir(exist_ok=True)
        script = shims / "cotree"
        script.write_text(f"#!{sys.executable}\nfrom cotree.cli import main\n\nmain()\n", encoding="utf-8")
        script.chmod(0o755)
    path = os.pathsep.join([str(folder), str(shims), os.environ.get("PATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(copy / "src"), "MPLBACKEND": "Agg"}


class Reader:
    """Does what a reader of the README does, with the exceptions that the module's docstring names."""

    def __init__(self, folder: Path, *, really_make: bool = False) -> None:
        self.folder, self.really_make = folder, really_make
        self.copy = folder / "cotree"
        self.where = folder
        self.environment = environment(self.copy, folder / "bin")

    def clone(self) -> None:
        if not self.copy.exists():
            self.copy.mkdir()
            copy_repo(self.copy)

    def save_named(self, text: str) -> None:
        """Write blocks with a file name to the reader's folder."""
        for block in blocks(text, "yaml", "yml", "python"):
            if block.filename:
                (self.where / block.filename).write_text(block.text, encoding="utf-8")

    def run(self, command: str) -> None:
        """Run one command line, or do what stands for it."""
        words = shlex.split(command, comments=True)
        word = words[0].removeprefix(".venv/bin/") if words else ""
        if word == "git" and words[1:2] == ["clone"]:
            self.clone()
        elif word == "cd":
            self.where = (self.where / words[1]).resolve()
            assert self.where.is_dir(), f"README: 'cd {words[1]}' leads nowhere"
            assert self.where.is_relative_to(self.folder), f"README: 'cd {words[1]}' leaves the copy"
        elif word == "make":
            self.make(words[1:])
        elif word == "cotree":
            self.cotree(words[1:])
        elif word in ("python", "python3"):
            if words[1:3] != ["-m", "venv"]:  # this interpreter stands for a new environment
                self.shell(re.sub(r"^\.venv/bin/", "", command))
        elif (word == "pip" and words[1:2] == ["install"]) or word in ("source", "."):
            self.install(words)
        elif word in ("ls", "cat", "head"):
            self.shell(command)
        else:
            pytest.fail(f"README: command of an unknown kind: {command!r}; teach tests/test_readme.py how to check it")

    def cotree(self, words: list[str]) -> None:
        """The command line in this process, which saves its start; `make demo` runs the installed one."""
        with chdir(self.where):
            assert runs.command(*words) == 0, f"README: cotree {shlex.join(words)}"

    def make(self, targets: list[str]) -> None:
        """Dry-run the targets; ``demo`` also runs its ``cotree`` command, or the whole target if asked to."""
        assert targets, "README: make without a target"
        plan = self.shell("make -n " + shlex.join(targets))
        if "demo" not in targets:
            return
        if self.really_make:
            self.shell("make demo PYTHON=" + shlex.quote(sys.executable), without_package_path=True)
            return
        steps = [line for line in plan.splitlines() if line.startswith(".venv/bin/cotree ")]
        assert steps, "make demo runs no cotree command"
        for step in steps:
            (self.where / "build").mkdir(exist_ok=True)
            self.shell(step.removeprefix(".venv/bin/"))

    def install(self, words: list[str]) -> None:
        """Installing needs the network: only see that the extras which are asked for exist."""
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for extras in re.findall(r"\[([\w,-]+)\]", " ".join(words)):
            for extra in extras.split(","):
                assert extra in project["optional-dependencies"], f"README: no extra called {extra!r}"

    def shell(self, command: str, *, without_package_path: bool = False) -> str:
        env = dict(self.environment)
        if without_package_path:
            del env["PYTHONPATH"]
        done = subprocess.run(["bash", "-c", command], cwd=self.where, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"README: {command}\n{done.stdout}\n{done.stderr}"
        return done.stdout


def _ids(block: Block) -> str:
    return f"line{block.line}"


def read_all(text: str, folder: Path, *, really_make: bool = False) -> Iterator[str]:
    """Run all shell blocks of ``text`` in order, yielding each command after it ran."""
    reader = Reader(folder, really_make=really_make)
    reader.clone()
    reader.where = reader.copy
    reader.save_named(text)
    cloned_by_reader = False
    for block in blocks(text, *SHELLS):
        for command in commands(block):
            if command.startswith("git clone"):  # the next `cd` starts beside the clone
                reader.where, cloned_by_reader = folder, True
            for part in re.split(r"\s*&&\s*", command):
                reader.run(part)
            yield command
    assert not cloned_by_reader or reader.where != folder, "README: clones but never enters the clone"


def test_the_readme_shows_commands_and_code() -> None:
    assert README.exists(), "README.md is missing"
    assert blocks(readme(), *SHELLS), "README.md shows no command"
    assert blocks(readme(), "python"), "README.md shows no Python code"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page: Path, tmp_path: Path) -> None:
    ran = list(read_all(page.read_text(encoding="utf-8"), tmp_path))
    assert ran


def test_the_readme_is_short_and_its_numbers_are_those_of_the_pages() -> None:
    assert readme().count("\n") <= 80
    measured = (ROOT / "docs" / "performance_rigid.md").read_text(encoding="utf-8")
    ratios = {}
    for block in re.split(r"\n\| \*\*", measured)[1:]:
        exudyn = re.search(r"^\| \| Exudyn \|.*\| ([\d.]+) \|$", block, re.M)
        ratios[block.partition("*")[0]] = exudyn[1] if exudyn else ""
    names = {
        "Andrews' squeezer": ["Andrews' squeezer"],
        "Bricard's mechanism": ["Bricard"],
        "Stewart platform, 6-axis robot": ["Stewart platform", "6-axis robot"],
        "open chain of 2 links, of 100 links": ["open chain, 2 links", "open chain, 100 links"],
    }
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in readme().splitlines() if row.startswith("| ")}
    for name, problems in names.items():
        assert rows[name].split("|")[-2].strip() == ", ".join(ratios[each] for each in problems)
    validation = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8")
    assert re.search(r"Andrews' squeezer \| angles .* \| below 1e-8 \| .* IVP test set", validation)
    assert "below 1e-8 rad" in rows["Andrews' squeezer"]
    assert re.search(r"Bricard \| energy over 10 s \(J\) .* \| below 1e-9 ", validation)
    assert "over 10 s below 1e-9 J" in rows["Bricard's mechanism"]


@pytest.mark.slow
def test_make_demo_runs_on_a_fresh_copy(tmp_path: Path) -> None:
    reader = Reader(tmp_path, really_make=True)
    reader.clone()
    reader.where = reader.copy
    reader.make(["demo"])
    reports = list((reader.copy / "build").glob("*.html"))
    assert reports
    assert all(report.stat().st_size > 0 for report in reports)


def test_the_first_python_block_runs_as_a_script(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    (tmp_path / "readme_block.py").write_text(blocks(readme(), "python")[0].text, encoding="utf-8")
    reader.environment["PYTHONPATH"] = str(ROOT / "src")
    reader.shell("python readme_block.py")


@pytest.fixture
def execute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Execute]:
    """Run the code of a block in this process, in a folder of its own; what it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")

    def run(code: str) -> str:
        capsys.readouterr()
        exec(compile(code, "<block>", "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out

    yield run
    pyplot.close("all")


@pytest.mark.parametrize("block", blocks(readme(), "python"), ids=_ids)
def test_python_blocks_run(block: Block, tmp_path: Path, execute: Execute) -> None:
    Reader(tmp_path).save_named(readme())
    execute(block.text)


DOCUMENTS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "tutorial" not in page.parts]


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: page.stem)
def test_python_blocks_of_the_documentation_print_what_they_say(page: Path, execute: Execute) -> None:
    found = blocks(page.read_text(encoding="utf-8"))
    for block, after in zip(found, [*found[1:], None], strict=False):
        if block.language == "python":
            printed = execute(block.text)
            if after is not None and after.language == "text":  # a text block that follows shows the output
                assert printed == after.text, f"{page.name}, line {after.line}"


@pytest.mark.parametrize(
    "block", [each for page in PAGES for each in blocks(page.read_text(encoding="utf-8"), "yaml", "yml")], ids=_ids
)
def test_model_files_run(block: Block, tmp_path: Path) -> None:
    path = tmp_path / (block.filename or "model.yaml")
    path.write_text(block.text, encoding="utf-8")
    assert runs.command("run", path) == 0


SAMPLE = """\
# Sample

```console
$ git clone https://example.org/cotree.git
$ cd cotree
$ cotree run a.yaml \\
    --report b.html   # a comment
Report: b.html
```

Text with ``inline`` code.

1. A list:

   ```python
   if True:
       print("x")
   ```

```yaml
# circuit.yaml
name: x
```

````markdown
```sh
not a command of ours
```
````

```sh
# only a comment
make demo
```
"""


def test_blocks_are_found_with_language_and_line() -> None:
    assert [(block.language, block.line) for block in blocks(SAMPLE)] == [
        ("console", 3),
        ("python", 15),
        ("yaml", 20),
        ("markdown", 25),
        ("sh", 31),
    ]
    assert blocks(SAMPLE, "python")[0].text == 'if True:\n    print("x")\n'
    assert blocks(SAMPLE, "yaml")[0].filename == "circuit.yaml"


def test_commands_leave_out_output_prompts_and_comments() -> None:
    console, shell = blocks(SAMPLE, "console", "sh")
    assert commands(console) == [
        "git clone https://example.org/cotree.git",
        "cd cotree",
        "cotree run a.yaml --report b.html   # a comment",
    ]
    assert commands(shell) == ["make demo"]


def test_a_reader_clones_enters_and_dry_runs_make(tmp_path: Path) -> None:
    text = "```sh\ngit clone https://example.org/cotree.git\ncd cotree && ls pyproject.toml\nmake test\n```\n"
    assert len(list(read_all(text, tmp_path))) == 3
    assert not (tmp_path / "cotree" / ".venv").exists()


@pytest.mark.parametrize("command", ["rm -rf x", "cd . && rm -rf x", "curl https://example.org", "sudo make test"])
def test_an_unknown_command_fails(command: str, tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="unknown kind"):
        list(read_all(f"```sh\n{command}\n```\n", tmp_path))


def test_a_failing_command_fails_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no_such_file"):
        list(read_all("```sh\nls no_such_file\n```\n", tmp_path))


def test_an_unknown_extra_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no extra called 'nonsense'"):
        list(read_all("```sh\npip install '.[nonsense]'\n```\n", tmp_path))
