"""The public names of `cotree`: loaded when they are used, one table for programs and one for type checkers."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from importlib import import_module

import cotree
from _repo import ROOT
from cotree._names import HOME, HOMES, MODULES

FOUR_BAR = """
import sys
import cotree as ct

m = ct.Model("four-bar", gravity=(0, -9.81, 0))
m.add(ct.GroundFrame("B", position=(0.4, 0, 0)))
for name, length in (("crank", 0.1), ("coupler", 0.4), ("rocker", 0.3)):
    ends = {"A": (-length / 2, 0, 0), "B": (length / 2, 0, 0)}
    m.add(ct.RigidBody(name, shape=ct.rod(length=length, mass=1), frames=ends))
m.add(ct.Revolute("O", "ground", "crank.A"))
m.add(ct.Revolute("P", "crank.B", "coupler.A"))
m.add(ct.Revolute("Q", "coupler.B", "rocker.A"))
m.add(ct.Revolute("R", "rocker.B", "B"))
print(*sys.modules)
"""


def loaded(code: str) -> set[str]:
    """The modules that a program has loaded at its end."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_a_mechanism_is_built_without_what_it_does_not_use() -> None:
    found = loaded(FOUR_BAR)
    assert {"numpy", "cotree.terminal.joints"} <= found
    outside = {"scipy", "matplotlib", "h5py", "networkx", "rich", "typer", "pandas"}
    rooms = {"bond", "view", "cli", "solve", "io", "structures"}
    parts = {"nodal", "hydraulic", "machines", "electrical", "control"}
    unused = outside | {f"cotree.{room}" for room in rooms} | {f"cotree.terminal.{part}" for part in parts}
    assert not unused & found


def test_a_run_loads_no_pictures_and_no_flexible_bodies() -> None:
    code = f"import sys, cotree\ncotree.load({str(ROOT / 'examples/pendulum.yaml')!r}).simulate(1)\nprint(*sys.modules)"
    unused = {"scipy", "matplotlib", "h5py", "rich", "typer", "cotree.fem.tables", "cotree.terminal.floating"}
    assert not unused & loaded(code)


def test_importing_the_package_loads_nothing_else() -> None:
    found = loaded("import sys, cotree\nprint(*sys.modules)")
    assert {name for name in found if name.partition(".")[0] == "cotree"} == {
        "cotree",
        "cotree._names",
        "cotree._version",
    }
    assert "numpy" not in found


def test_a_file_loads_the_rooms_of_its_kinds() -> None:
    code = f"import sys, cotree\ncotree.load({str(ROOT / 'examples/pendulum.yaml')!r})\nprint(*sys.modules)"
    found = loaded(code)
    rooms = ("cotree.bond", "cotree.terminal.nodal", "cotree.terminal.hydraulic", "cotree.terminal.machines", "h5py")
    assert not found & set(rooms)
    assert "scipy" not in found


def test_every_name_is_where_the_table_says() -> None:
    for name, module in HOME.items():
        assert getattr(cotree, name) is getattr(import_module(module), name)
        assert getattr(getattr(cotree, name), "__module__", module) == module, name
    for name, module in MODULES.items():
        assert getattr(cotree, name) is import_module(module)
    assert set(cotree.__all__) == {*HOME, *MODULES, "__version__"}
    assert dir(cotree) == sorted(cotree.__all__)


def test_type_checkers_see_the_same_table() -> None:
    tree = ast.parse((ROOT / "src/cotree/__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    modules = {name: module.rpartition(".")[0] for name, module in MODULES.items()}
    assert seen == HOME | modules
    assert sum(map(len, HOMES.values())) == len(HOME), "no name stands twice"


def test_the_page_of_names_is_the_one_of_today() -> None:
    names = runpy.run_path(str(ROOT / "docs/names.py"))
    assert (ROOT / "docs/names.md").read_text(encoding="utf-8") == names["page"]()
