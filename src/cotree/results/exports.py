"""Solutions for other programs: Parquet for data tools, MATLAB files."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cotree.results.solution import Solution, optional
from cotree.results.store import replacing

LONGEST = 63
"""Characters that MATLAB reads of a name."""


def write_parquet(solution: Solution, path: Path, names: Sequence[str]) -> Path:
    """Columns ``t`` and one for each name; the unit stands in the metadata of each column, the run in the file's."""
    arrow, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    columns = ["t", *(name for name in names if name != "t")]
    fields = [arrow.field(name, arrow.float64(), metadata={"unit": solution.unit(name)}) for name in columns]
    about = {"model": solution.model, "complete": str(solution.complete).lower()}
    if solution.origin is not None:
        about["options"] = json.dumps(dict(solution.origin.options))
    arrays = [arrow.array(solution[name]) for name in columns]
    table = arrow.table(arrays, schema=arrow.schema(fields, metadata=about))
    with replacing(path) as part:
        parquet.write_table(table, part)
    return path


def write_matlab(solution: Solution, path: Path, names: Sequence[str]) -> Path:
    """``t``, ``results``, ``energy``, and the lists ``names``, ``units`` and ``fields``.

    In ``results`` the dots of a name make structures, and what MATLAB does not allow in a name becomes ``_``:
    ``results.crank.A.position.x``. Where two names would be the same, or one is too long, it ends in a number;
    ``fields{k}`` says where ``names{k}`` is found.
    """
    from scipy.io import savemat

    results = _Structure()
    fields = [results.put(name, solution[name][:, None]) for name in names]
    parts = ("stored", "dissipated", "supplied")
    data = {
        "model": solution.model,
        "t": solution.t[:, None],
        "results": results,
        "energy": {key: getattr(solution.audit, key)[:, None] for key in parts},
        "names": _texts(names),
        "units": _texts([solution.unit(name) for name in names]),
        "fields": _texts(fields),
    }
    with replacing(path) as part, part.open("wb") as file:
        savemat(file, data, long_field_names=True, do_compression=True)
    return path


class _Structure(dict[str, Any]):
    """Values and structures by names that MATLAB allows, which never meet."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: dict[str, str] = {}

    def put(self, name: str, value: Any) -> str:
        """Keep a value, and say where."""
        first, dot, rest = name.partition(".")
        key = self._key(f"{first}{dot}")
        if not dot:
            self[key] = value
            return key
        inner = self.setdefault(key, _Structure())
        return f"{key}.{inner.put(rest, value)}"

    def _key(self, name: str) -> str:
        """The same for the same part of a name; a structure ends in a dot, so that a value may be called the same."""
        if name not in self.taken:
            plain = re.sub(r"[^0-9A-Za-z_]", "_", name.rstrip("."))
            plain = found = (plain if plain[:1].isalpha() else f"n{plain}")[:LONGEST]
            number = 1
            while found in self:
                number += 1
                found = f"{plain[: LONGEST - len(str(number)) - 1]}_{number}"
            self.taken[name] = found
        return self.taken[name]


def _texts(texts: Sequence[str]) -> Any:
    """A column of texts as MATLAB's cells."""
    cells = np.empty((len(texts), 1), dtype=object)
    cells[:, 0] = texts
    return cells
