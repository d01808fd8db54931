"""The data of the net: records in compressed files, the table of renames, and the list of intended changes.

Records are written once, at the commit that the net was made at, and stay as they are. What is meant to be otherwise
since then stands in `changes.yaml`, one entry for each reason, and its new numbers beside the old ones in
`data/changed`. Numbers there count only as long as their entry stands in the list.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
RENAMES, CHANGES = HERE / "renames.yaml", HERE / "changes.yaml"
ANY = "*"


def read(path: Path) -> Any:
    """Plain data of a compressed file."""
    return json.loads(gzip.decompress(path.read_bytes()))


def write(path: Path, data: Any) -> None:
    """Plain data to a compressed file, the same bytes for the same data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def file_of(name: str, folder: Path = DATA) -> Path:
    """The file of a model's record."""
    return folder / f"{name.replace('/', '.')}.json.gz"


def names(folder: Path = DATA) -> list[str]:
    """The models with a record."""
    return sorted(path.name.removesuffix(".json.gz").replace(".", "/") for path in folder.glob("*.*.json.gz"))


def golden(name: str, folder: Path = DATA) -> Any:
    """The record of a model as it should be now: renamed, and with the intended changes."""
    found = renamed(read(file_of(name, folder)), renames())
    changed = file_of(name, folder / "changed")
    known = {entry["id"] for entry in changes()}
    for item in read(changed) if changed.exists() else ():
        if item["id"] in known:
            put(found, item["key"], item["new"])
    return found


def accepted(name: str, folder: Path = DATA) -> dict[tuple[Any, ...], int]:
    """Places in a model's record, or in ``wrong``, that an intended change moved, with the number of its entry."""
    path, known = file_of(name, folder / "changed"), {entry["id"] for entry in changes()}
    items = read(path) if path.exists() else ()
    return {tuple(item["key"]): item["id"] for item in items if item["id"] in known}


def wrong(folder: Path = DATA) -> list[dict[str, str]]:
    """The wrong models with the refusals that they should get now."""
    found = {each["id"]: each for each in read(folder / "wrong.json.gz")}
    changed, known = folder / "changed" / "wrong.json.gz", {entry["id"] for entry in changes()}
    for item in read(changed) if changed.exists() else ():
        if item["id"] in known:
            found[item["key"][1]].update(item["new"])
    return list(found.values())


def put(record: Any, key: Iterable[Any], new: Any) -> None:
    """Set an entry of nested data, or remove it where there is nothing new."""
    *way, last = key
    for step in way:
        record = record.setdefault(step, {}) if isinstance(record, dict) else record[step]
    if new is None:
        record.pop(last, None)
    else:
        record[last] = new


def changes() -> list[dict[str, Any]]:
    """The intended changes."""
    return _yaml(CHANGES) or []


def renames() -> dict[str, dict[str, str]]:
    """Old names with their new ones: of results, events, units, and classes and places of errors."""
    return {part: table or {} for part, table in (_yaml(RENAMES) or {}).items()}


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def new_name(name: str, table: Mapping[str, str]) -> str:
    """A name by a table whose entries may hold one star: ``*.omega.x: *.angular_velocity.x``."""
    for old, new in table.items():
        head, star, tail = old.partition(ANY)
        if not star and name == old:
            return new
        if star and len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail):
            return new.replace(ANY, name[len(head) : len(name) - len(tail)], 1)
    return name


def renamed(record: Any, tables: Mapping[str, Mapping[str, str]]) -> Any:
    """A record with the names of today."""
    results, events, units = (tables.get(part, {}) for part in ("results", "events", "units"))

    def keys(data: Mapping[str, Any], table: Mapping[str, str]) -> dict[str, Any]:
        return {new_name(name, table): value for name, value in data.items()}

    found = dict(record)
    if "units" in found:
        found["units"] = {name: new_name(unit, units) for name, unit in keys(found["units"], results).items()}
    if "start" in found:
        found["start"] = keys(found["start"], results)
    if "states" in found:
        found["states"] = [
            {**each, **{part: keys(each[part], results) for part in ("given", "values")}} for each in found["states"]
        ]
    if "path" in found:
        both = {part: keys(found["path"][part], results) for part in ("values", "band")}
        found["path"] = {**found["path"], **both}
    found |= {part: keys(found[part], events) for part in ("events", "event_band") if part in found}
    found["loose"] = [new_name(name, results) for name in found.get("loose", ())]
    found["noise"] = keys(found.get("noise", {}), units)
    found["error"] = {part: refusal(each, tables) for part, each in found.get("error", {}).items()}
    return found


def refusal(error: Mapping[str, str], tables: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Class and place of an error with the names of today."""
    return {
        "class": new_name(error["class"], tables.get("classes", {})),
        "where": new_name(error["where"], tables.get("places", {})),
    }
