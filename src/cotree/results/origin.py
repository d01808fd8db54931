"""Where a solution comes from: the model, the tree, the options and the versions, all as plain data."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cotree._version import __version__
from cotree.maths.viewed import Table, Viewed, short


def versions() -> dict[str, str]:
    """The versions of what computes a run, as far as it is loaded."""
    found = {"cotree": __version__, "python": platform.python_version()}
    for package in ("casadi", "numpy", "scipy", "h5py"):
        if package in sys.modules:
            found[package] = str(getattr(sys.modules[package], "__version__", "unknown"))
    return found | {"machine": f"{platform.system()} {platform.machine()}"}


@dataclass(frozen=True)
class Origin(Viewed):
    """What a run was made from, so that its file alone can tell, show and continue it."""

    model: Mapping[str, Any] | None = None
    """The model as a model file holds it; None where it cannot be written."""
    why_not: str = ""
    """The reason where the model cannot be written."""
    tree: list[Any] | None = None
    """Names of the branches, or those of two trees for translations and rotations; None for a bond graph."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """All options of the run, such as t_end, points, rtol and integrator."""
    versions: Mapping[str, str] = field(default_factory=versions)

    def __repr__(self) -> str:
        name = "a model that is not kept" if self.model is None else f"'{self.model.get('name', '')}'"
        return f"<Origin: {name}, {len(self.options)} options>"

    def _view(self) -> Table | str:
        rows = [*self.options.items(), *((f"version of {name}", each) for name, each in self.versions.items())]
        return Table(("option", "value"), ((name, short(value)) for name, value in rows), len(rows))
