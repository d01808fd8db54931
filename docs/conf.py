"""Sphinx configuration. The version comes from the package, so that it is written in one place only."""

import runpy
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SOURCE))

project = "Cotree"
author = "the Cotree developers"
copyright = "2026, the Cotree developers"
release = runpy.run_path(str(SOURCE / "cotree" / "_version.py"))["__version__"]
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
suppress_warnings: list[str] = []

autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "furo"
html_title = f"Cotree {release}"
