"""Three hundred wrong models: files with one structural mistake each, and the class and place of their refusal.

They are made once by a seeded change of an example's data, and kept as text, so that examples may change. Those under
`tests/io/mistakes` are among them. A model that is wrong in no way that a start shows is not kept.
"""

from __future__ import annotations

import copy
import random
import re
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from golden import probe
from golden.models import EXAMPLES, KINDS, ROOT
from golden.record import place

COUNT = 300
UNREAD = 210
"""Most of the seeded ones that are refused when they are read; the others come as far as equations or a start."""
SEED = 20260117
SECONDS = 5.0
"""Time of the processor for one model; those that take longer are not kept."""
MISTAKES = ROOT / "tests" / "io" / "mistakes"
Model = dict[str, Any]


class TooLong(BaseException):
    """Not an Exception, so that nobody catches it by accident."""


def judged(text: str, folder: Path, name: str = "m.yaml") -> dict[str, str]:
    """Class and place of the refusal of a model file; an empty class where it is right."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    moved = probe.upgrade(path)
    try:
        with _limited():
            probe.judge(path)
    except Exception as error:
        return {"class": type(error).__name__, "where": _before(place(error), moved)}
    except TooLong:
        return {"class": "TooLong", "where": ""}
    return {"class": "", "where": ""}


def _before(where: str, moved: list[tuple[int, int, int]]) -> str:
    """A place in a file that was upgraded, as it was before: ``moved`` has line, column and growth of each new name."""
    found = re.match(r"(\d+):(\d+)", where)
    if found is None:
        return where
    line, column = int(found[1]), int(found[2])
    for at, start, growth in sorted(moved):
        if at == line and start < column:
            column -= growth
    return f"{line}:{column}{where[found.end() :]}"


@contextmanager
def _limited() -> Iterator[None]:
    def ring(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def made() -> Iterator[dict[str, str]]:
    """All wrong models with their refusals."""
    number = 0
    with tempfile.TemporaryDirectory() as place_:
        folder = Path(place_)
        for path in sorted(MISTAKES.glob("*.yaml")):
            if "include" not in path.stem:  # which need other files
                text = path.read_text(encoding="utf-8")
                found = judged(text, folder)
                if found["class"]:  # some are wrong for a run only
                    yield {"id": f"mistake/{path.stem}", "text": text, **found}
                    number += 1
        seen, unread = set[str](), 0
        rng = random.Random(SEED)
        sources = {path.stem: _plain(yaml.safe_load(path.read_text(encoding="utf-8"))) for path in _files()}
        while number < COUNT:
            base = rng.choice(sorted(sources))
            change = rng.choice(CHANGES if unread < UNREAD else DEEP)
            data = change(rng, copy.deepcopy(sources[base]))
            text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
            found = judged(text, folder) if text not in seen else {"class": ""}
            seen.add(text)
            read = found["class"] == "FileError"
            if found["class"] in ("", "TooLong") or (read and unread >= UNREAD):
                continue
            unread += read
            yield {"id": f"{change.__name__.strip('_')}/{base}/{number}", "text": text, **found}
            number += 1


def rejudged(models: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """The same models with the refusals of this version."""
    with tempfile.TemporaryDirectory() as folder:
        return [{**each, **judged(each["text"], Path(folder))} for each in models]


def _files() -> list[Path]:
    """Examples and models of every kind that need no other file."""
    every = [*sorted(EXAMPLES.glob("*.yaml")), *sorted(KINDS.glob("*.yaml"))]
    return [path for path in every if not path.stem.startswith(("part_", "language_include", "language_bonds"))]


def _plain(data: Any) -> Any:
    """The data as Cotree reads them: YAML takes ``on`` for a truth value."""
    if isinstance(data, dict):
        return {"on" if key is True else str(key): _plain(each) for key, each in data.items()}
    return [_plain(each) for each in data] if isinstance(data, list) else data


# -- mistakes ----------------------------------------------------------------------------------------------------------


def _part(rng: random.Random, data: Model) -> tuple[str, Model]:
    """A component."""
    name = rng.choice([name for name, part in data["components"].items() if isinstance(part, dict)])
    return name, data["components"][name]


def _field(rng: random.Random, part: Model) -> str:
    return rng.choice([name for name in part if name != "kind"] or ["kind"])


def _lost_part(rng: random.Random, data: Model) -> Model:
    del data["components"][_part(rng, data)[0]]
    return data


def _lost_field(rng: random.Random, data: Model) -> Model:
    _, part = _part(rng, data)
    del part[_field(rng, part)]
    return data


def _misspelt_field(rng: random.Random, data: Model) -> Model:
    _, part = _part(rng, data)
    old = _field(rng, part)
    part[_misspelt(rng, old)] = part.pop(old)
    return data


def _misspelt_kind(rng: random.Random, data: Model) -> Model:
    _, part = _part(rng, data)
    part["kind"] = _misspelt(rng, str(part["kind"]))
    return data


def _misspelt(rng: random.Random, word: str) -> str:
    k = rng.randrange(len(word))
    return rng.choice((word[:k] + word[k + 1 :], word[:k] + "q" + word[k:], word + "s", word.upper())) or "q"


def _other_kind(rng: random.Random, data: Model) -> Model:
    """A component becomes one of the kind of another."""
    _, part = _part(rng, data)
    _, other = _part(rng, data)
    part["kind"] = other["kind"]
    return data


def _other_end(rng: random.Random, data: Model) -> Model:
    """A part is connected to something else."""
    _, part = _part(rng, data)
    ends = [name for name in part if name in ("nodes", "frame_a", "frame_b", "on", "over", "node_a", "node_b", "node")]
    if not ends:
        return _lost_field(rng, data)
    name = rng.choice(ends)
    new = rng.choice(("nowhere", "ground", rng.choice(sorted(data["components"])), f"{part[name]}.q", ""))
    if isinstance(part[name], list) and part[name]:
        part[name][rng.randrange(len(part[name]))] = new
    else:
        part[name] = new
    return data


def _other_value(rng: random.Random, data: Model) -> Model:
    """A value of another type, sign, size or unit."""
    _, part = _part(rng, data)
    name = _field(rng, part)
    values = (
        -1.0,
        0,
        None,
        True,
        "",
        "three",
        "2 parsec",
        "3 kg",
        "5 V",
        "1/0",
        "a +",
        "unknown*2",
        "sin(t",
        [],
        [1, 2],
    )
    more = ({"a": 1}, [0, 0, 0], [1e300, 0, 0], 1e308, float("nan"), "t", "x.y.z", [["a"]], -1e-3, "4 Hz")
    part[name] = copy.deepcopy(rng.choice((*values, *more)))
    return data


def _twin(rng: random.Random, data: Model) -> Model:
    """A component once more under another name: two sources, two joints, two supports."""
    name, part = _part(rng, data)
    data["components"][f"{name}2"] = copy.deepcopy(part)
    return data


def _swapped(rng: random.Random, data: Model) -> Model:
    """Two values change places."""
    (_, one), (_, two) = _part(rng, data), _part(rng, data)
    a, b = _field(rng, one), _field(rng, two)
    one[a], two[b] = two[b], one[a]
    return data


def _section(rng: random.Random, data: Model) -> Model:
    """A section of the file is lost, misspelt or of another type."""
    name = rng.choice(sorted(data))
    match rng.randrange(3):
        case 0:
            data[_misspelt(rng, name)] = data.pop(name)
        case 1:
            data[name] = rng.choice((None, 3, "text", [], {}, [[]]))
        case _:
            del data[name]
    return data


def _setting(rng: random.Random, data: Model) -> Model:
    """A run setting or a parameter is wrong."""
    name = rng.choice([name for name in ("run", "parameters") if isinstance(data.get(name), dict)] or ["components"])
    section = data[name]
    key = rng.choice(sorted(section))
    match rng.randrange(3):
        case 0:
            section[_misspelt(rng, key)] = section.pop(key)
        case 1:
            section[key] = rng.choice((None, -1, "word", [], {"a": 1}, "0/0", True))
        case _:
            del section[key]
    return data


CHANGES: list[Callable[[random.Random, Model], Model]] = [
    _lost_part, _lost_part, _lost_field, _misspelt_field, _misspelt_kind, _other_kind, _other_kind, _other_end,
    _other_end, _other_value, _other_value, _other_value, _twin, _swapped, _section, _setting,
]  # fmt: skip
DEEP = [_lost_part, _other_end, _twin, _swapped]
"""Those that are seen late as often as not."""
