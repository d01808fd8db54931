"""Feed damaged and hostile results files to the reader, to `rebuild` and to `resume`, each in a process with limits.

    python tests/io/result_mutants.py --count 2000 --seed 17

A file may be read, if it holds what the right one holds or if its wrong content is well formed, or be refused with one
`CotreeError`; a file that is refused stays as it is. Bytes that are lost or changed must be noticed: where a damaged
file is read, its results are those of the right one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _mutations import VALUES, places
from mutants import BAD, Outcome, apart, logged

SECONDS = 20
TEXTS = ("description", "model", "why_not", "tree", "options", "versions")
KINDS = ("complete network", "interrupted mechanism", "killed mechanism", "first rows missing", "version 0.1.0")


def seeds(folder: Path) -> dict[str, bytes]:
    """Right files of every sort."""
    import cotree as ct
    from cotree.solve import pieces, recording

    rc = ct.Model("RC")
    rc.add(ct.VoltageSource("V", ("in", "ground"), voltage="sin(t)"))
    rc.add(ct.Resistor("R", ("in", "out"), resistance=1.0))
    rc.add(ct.Capacitor("C", ("out", "ground"), capacitance=1.0))
    arm = ct.Model("arm", gravity=(0, -9.81, 0))
    arm.add(ct.RigidBody("arm", shape=ct.rod(length=0.4, mass=1.0), frames={"O": (-0.2, 0, 0)}))
    arm.add(ct.Revolute("O", "ground", "arm.O", axis=(0, 0, 1), angle=0.3, angle_rate=12.0))
    path, found = folder / "seed.h5", {}
    rc.simulate(3.0, points=41, events=ct.Event("half", "V.voltage - 0.5"), out=path)
    found["complete network"] = path.read_bytes()
    copies: list[bytes] = []

    def keep(done: float) -> None:
        if path.exists():
            copies.append(path.read_bytes())
        if done > 0.5:
            raise KeyboardInterrupt

    before = recording.PAUSE, pieces.STEPS, pieces.TIMES
    recording.PAUSE, pieces.STEPS, pieces.TIMES = 0.0, 20, 1
    try:
        path.unlink()
        arm.simulate(2.0, points=201, tree="absolute", out=path, progress=keep, events=ct.Event("up", "O.angle_rate"))
    except ct.CotreeError:
        pass
    finally:
        recording.PAUSE, pieces.STEPS, pieces.TIMES = before
    found["interrupted mechanism"] = path.read_bytes()
    found["killed mechanism"] = copies[-1]
    found["first rows missing"] = copies[0]
    path.write_bytes(found["killed mechanism"])
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = np.bytes_("cotree solution 2")
        del file["check"]
    found["version 0.1.0"] = path.read_bytes()
    path.unlink()
    return found


# -- damage ------------------------------------------------------------------------------------------------------------


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Bytes are changed, lost, doubled or set to zero."""
    new, size = bytearray(data), len(data)
    match rng.randrange(5):
        case 0 | 1:
            for _ in range(rng.choice((1, 1, 1, 2, 5, 40))):
                new[rng.randrange(size)] ^= 1 << rng.randrange(8)
        case 2:
            new = new[: rng.randrange(size)]
        case 3:
            at = rng.randrange(size)
            new[at : at + rng.choice((1, 8, 64, 512))] = bytes(rng.choice((1, 8, 64, 512)))
        case _:
            at = rng.randrange(size)
            length = rng.choice((8, 64, 4096))
            new[at : at + length] = new[rng.randrange(size) :][:length]
    return bytes(new)


# -- what somebody wrote on purpose ------------------------------------------------------------------------------------


def hostile(rng: random.Random, path: Path) -> None:
    """A file with wrong content and right checksums."""
    with h5py.File(path, "r+") as file:
        for _ in range(rng.choice((1, 1, 2))):
            rng.choice(_TRICKS)(rng, file)
        if rng.random() < 0.9:
            sealed(file)


def sealed(file: h5py.File) -> None:
    """Make the checksums of the texts and the state right again."""
    from cotree.results import checks

    try:
        texts = {key: file[key].asstr()[()] for key in checks.TEXTS if key in file}
        plain = {key: each if isinstance(each, str) else [str(one) for one in each] for key, each in texts.items()}
        if "check/head" in file:
            del file["check/head"]
            file["check/head"] = np.bytes_(checks.text_check(plain))
    except Exception:
        return


def _put(file: h5py.File, key: str, value: Any) -> None:
    if key in file:
        del file[key]
    file[key] = value


def _text(rng: random.Random, file: h5py.File) -> None:
    """A text holds other data, or no JSON at all."""
    key = rng.choice(TEXTS)
    if key not in file:
        return
    data = json.loads(file[key].asstr()[()])
    found = list(places(data)) if isinstance(data, (dict, list)) else []
    value = rng.choice((*VALUES, "[" * 5000, {"rows": 3}))
    if found and rng.random() < 0.8:
        path = rng.choice(found)
        owner = data
        for each in path[:-1]:
            owner = owner[each]
        if rng.random() < 0.2:
            del owner[path[-1]]
        else:
            owner[path[-1]] = value
    else:
        data = value
    text = json.dumps(data, ensure_ascii=True)
    _put(file, key, np.bytes_(text if rng.random() < 0.95 else text[: len(text) // 2]))


def _state(rng: random.Random, file: h5py.File) -> None:
    """The state from which the run would go on."""
    from cotree.results import checks
    from cotree.results.hdf5 import checked

    if "restart/text" not in file:
        return
    going = "progress" in file
    rows = file["progress"][()] if going else None
    slot = int(np.argmax(rows[:, 0])) if going else 0
    length, count = (int(rows[slot, 3]), int(rows[slot, 4])) if going else (None, None)
    text = file["restart/text"][slot, :length] if going else file["restart/text"][()]
    numbers = file["restart/numbers"][slot, :count] if going else file["restart/numbers"][()]
    said = json.loads(bytes(text))
    match rng.randrange(5):
        case 0:
            numbers[rng.randrange(len(numbers))] = rng.choice((np.nan, np.inf, 1e300, 0.0, -1.0))
        case 1:
            said["rows"] = rng.choice((3, 0, -1, 10**9, "3", None, 2.5))
        case 2:
            said["t"] = rng.choice((-1.0, 0.0, 1e9, "x", None, float("nan")))
        case 3:
            found = [path for path in places(said) if isinstance(_owner(said, path), dict)]
            path = rng.choice(found)
            _owner(said, path)[path[-1]] = rng.choice(VALUES)
        case _:
            found = [path for path in places(said) if isinstance(_owner(said, path), dict)]
            path = rng.choice(found)
            del _owner(said, path)[path[-1]]
    new = json.dumps(said).encode()
    if going:
        room = file["restart/text"].shape[1]
        file["restart/text"][slot, : len(new[:room])] = np.frombuffer(new[:room], np.uint8)
        file["restart/numbers"][slot, :count] = numbers
        counts = [*rows[slot, :3].tolist(), len(new), count]
        if rows.shape[1] > 6:
            counts.append(checks.state_check(new, numbers))
        file["progress"][slot] = checked([int(each) for each in counts])
    else:
        _put(file, "restart/text", np.frombuffer(new, np.uint8))
        _put(file, "restart/numbers", numbers)
        if "check/restart" in file:
            _put(file, "check/restart", checks.state_check(new, numbers))


def _owner(data: Any, path: tuple[Any, ...]) -> Any:
    for each in path[:-1]:
        data = data[each]
    return data


def _keys(file: h5py.File) -> list[str]:
    found: list[str] = []
    file.visit(found.append)
    return found


def _dataset(rng: random.Random, file: h5py.File) -> None:
    """A dataset is missing, is a group, a link, in another file, or has another type or shape."""
    key = rng.choice(_keys(file))
    old = file[key]
    shape, kind = (old.shape, old.dtype) if isinstance(old, h5py.Dataset) else ((), np.dtype("f8"))
    del file[key]
    match rng.randrange(9):
        case 0:
            return
        case 1:
            file.create_group(key)
        case 2:
            file[key] = h5py.ExternalLink(rng.choice(("/etc/passwd", "other.h5", file.filename)), "/t")
        case 3:
            file[key] = h5py.SoftLink(rng.choice(("/t", "/", "/nowhere", f"/{key}")))
        case 4:
            file.create_dataset(key, (max(1, *shape, 1),), "f8", external=[("/etc/passwd", 0, h5py.h5f.UNLIMITED)])
        case 5:
            file.create_dataset(key, (10**12,), "f8", chunks=(1000,))
        case 6:
            file[key] = rng.choice(([1, 2, 3], 0.5, "text", [[1.0]], np.zeros((0,)), [True]))
        case 7:
            file.create_dataset(key, shape=tuple(n + rng.choice((-1, 1)) for n in shape if n) or (1,), dtype=kind)
        case _:
            file[key] = np.full([min(n, 100) for n in shape], np.nan)


def _numbers(rng: random.Random, file: h5py.File) -> None:
    """Numbers over time are not finite, or times do not increase."""
    key = rng.choice(("t", "values", "energy/stored", "events/t", "events/which", "check/rows", "progress"))
    if key in file and isinstance(file[key], h5py.Dataset) and file[key].size:
        data = file[key][()]
        wild = rng.choice((np.nan, np.inf, -1, 10**9)) if data.dtype.kind == "f" else rng.choice((0, 1, 10**9))
        data.flat[rng.randrange(data.size)] = wild
        file[key][...] = data


def _format(rng: random.Random, file: h5py.File) -> None:
    file.attrs["format"] = rng.choice(
        (np.bytes_("cotree solution 1"), np.bytes_("cotree solution 2"), "cotree solution 99", 3, np.zeros(4), b"\xff")
    )


_TRICKS: list[Callable[[random.Random, h5py.File], None]] = [
    _text, _text, _text, _state, _state, _dataset, _dataset, _numbers, _format,
]  # fmt: skip


# -- the mutants -------------------------------------------------------------------------------------------------------


def made(seed: int, number: int, known: dict[str, bytes], path: Path) -> tuple[str, bool]:
    """Write one mutant; its sort, and whether its bytes alone are damaged."""
    rng = random.Random(f"{seed} {number}")
    name = rng.choice(KINDS)
    if rng.random() < 0.4:
        path.write_bytes(damaged(rng, known[name]))
        return name, name != "version 0.1.0"
    path.write_bytes(known[name])
    hostile(rng, path)
    return name, False


def same(one: Any, other: Any) -> bool:
    """Whether two solutions hold the same, or the first one the beginning of the other."""
    rows = len(one.t)
    alike = one.names == other.names and rows <= len(other.t) and one.parameters == other.parameters
    return alike and all(np.array_equal(one.values[name], other.values[name][:rows]) for name in one.values)


def taken(path: Path, right: Any) -> tuple[str, str]:
    """Read, rebuild and resume a file; what that came to."""
    import cotree as ct

    class Enough(ct.CotreeError):
        """The run goes on well."""

    def stop(done: float) -> None:
        raise Enough(f"the run went on to {done:.3f}")

    what, before = "refused", path.read_bytes()
    try:
        solution = ct.Solution.from_hdf5(path)
        if right is not None and not same(solution, right):
            return "wrong", "a damaged file was read, and holds something else"
        what = "read"
        assert isinstance(solution.notes, tuple)
        assert solution.energy().error is not None
        if solution.origin is not None and solution.origin.model is not None:
            ct.rebuild(solution)
        if not solution.complete:
            done = ct.resume(path, progress=stop)
            options = solution.origin.options if solution.origin is not None else {}
            if done.complete and "points" in options and len(done.t) < options["points"] and not done.events:
                return "wrong", "a run is called complete and is not"
            what = "resumed"
    except Enough:
        return "resumed", ""
    except ct.CotreeError as told:
        if len(str(told)) < 20:
            return "traceback", f"an error that says nothing: {told}"
        if what == "refused" and path.read_bytes() != before:
            return "wrong", "a file that was refused has changed"
        return ("refused" if what == "refused" else "read, cannot go on"), str(told)
    return what, ""


def fed(seed: int, numbers: range | list[int], folder: Path, log: Path | None = None) -> list[Outcome]:
    """The outcomes of some mutants."""
    import cotree as ct

    known = seeds(folder)
    right = {}
    for name, data in known.items():
        (folder / "right.h5").write_bytes(data)
        right[name] = ct.Solution.from_hdf5(folder / "right.h5")
    found = []
    for number in numbers:
        path = folder / "m.h5"
        path.unlink(missing_ok=True)
        name, only_bytes = made(seed, number, known, path)
        whole = right[name] if only_bytes else None
        found.append(apart(number, name, lambda path=path, whole=whole: taken(path, whole), SECONDS))
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(vars(found[-1])) + "\n")
        if found[-1].what in (*BAD, "wrong"):
            print(f"file {number} ({name}): {found[-1].what}: {found[-1].text[-300:]}", file=sys.stderr, flush=True)
    return found


GOOD = ("refused", "read", "read, cannot go on", "resumed")


def table(found: list[Outcome]) -> list[str]:
    """Counts by outcome, one row for each sort of file."""
    count = {name: Counter[str]() for name in KINDS}
    for each in found:
        count[each.name][each.what] += 1
    total = sum(count.values(), Counter[str]())
    head = [*GOOD, "wrong", *BAD]
    lines = ["| file | mutants | " + " | ".join(head) + " |", "|---" * (len(head) + 2) + "|"]
    for name, own in [*count.items(), ("**all**", total)]:
        lines.append(f"| {name} | {own.total()} | " + " | ".join(str(own[what]) for what in head) + " |")
    return lines


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--only", type=int, help="show what one mutant leads to")
    parser.add_argument(
        "--log", type=Path, help="a line for each mutant; those that are in it already are not run again"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.only is not None:
            path = Path(folder) / "m.h5"
            print(made(given.seed, given.only, seeds(Path(folder)), path))
            print(*taken(path, None), sep=": ")
            return
        found = logged(given.log)
        done = {each.number for each in found}
        found += fed(given.seed, [k for k in range(given.count) if k not in done], Path(folder), given.log)
    print("\n".join(table(found)))
    spent = [each.seconds for each in found]
    print(f"\nseed {given.seed}, {len(found)} files, {sum(spent):.0f} s of computing, the longest {max(spent):.1f} s")
    sys.exit(any(each.what in (*BAD, "wrong") for each in found))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
