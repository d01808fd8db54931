"""``cotree doctor``: versions, and which optional parts are missing."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from cotree._version import __version__
from cotree.cli.console import emit
from cotree.cli.options import Json

NEEDED = ("numpy", "scipy", "casadi", "h5py", "networkx", "matplotlib", "rich", "typer", "PyYAML")
OPTIONAL = {
    "pandas": "tables from results; pip install 'cotree[data]'",
    "pyarrow": "Parquet files; pip install 'cotree[data]'",
    "xarray": "results as xarray; pip install 'cotree[data]'",
    "meshio": "meshes from files; pip install 'cotree[mesh]'",
}
"""Packages that are loaded where they are used, and what for."""


def doctor(as_json: Json = False) -> None:
    """Print versions and what is missing.

    Cotree works without what is listed as missing; the line says what needs it. Please add the output to bug reports.
    """
    from cotree.solve.native import cache_folder

    compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", ""), "cc", "gcc", "clang"))), None)
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    found: dict[str, Any] = {
        "cotree": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "interpreter": sys.executable,
        "packages": {name: _version(name) for name in (*NEEDED, *OPTIONAL)},
        "c_compiler": compiler,
        "chromium": browser,
        "cache": str(cache_folder()),
        "cache_is_writable": _writable(cache_folder()),
    }
    if as_json:
        emit(found)
        return
    print(f"Cotree {__version__}, Python {found['python']}, {found['system']}")
    print(f"interpreter  {sys.executable}")
    for name, number in found["packages"].items():
        use = f"missing: {OPTIONAL[name]}" if name in OPTIONAL else "missing: reinstall Cotree"
        print(f"{name:12} {number or use}")
    print(f"{'C compiler':12} {compiler or 'missing: long runs are not compiled; install gcc or clang'}")
    print(f"{'Chromium':12} {browser or 'missing: needed only to make the pictures of the documentation'}")
    print(f"{'cache':12} {found['cache']}{'' if found['cache_is_writable'] else ' cannot be written'}")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _writable(folder: Path) -> bool:
    """Whether a folder, or the first of its parents that is there, can be written."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return os.access(there, os.W_OK)


COMMANDS = {doctor: "  cotree doctor\n  cotree doctor --json"}
