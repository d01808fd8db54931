"""Sphinx configuration. The version comes from the package, so that it is written in one place only."""

import runpy
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path[:0] = [str(SOURCE), str(Path(__file__).parent)]

project = "Cotree"
author = "the Cotree developers"
copyright = "2026, the Cotree developers"
release = runpy.run_path(str(SOURCE / "cotree" / "_version.py"))["__version__"]
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "reference"]
myst_enable_extensions = ["amsmath", "deflist", "dollarmath", "html_image"]
myst_heading_anchors = 3
napoleon_google_docstring = False
exclude_patterns = ["_build"]
suppress_warnings: list[str] = []

autodoc_member_order = "bysource"
toc_object_entries = False  # a few hundred classes would fill every table of contents
autodoc_typehints = "signature"
python_maximum_signature_line_length = 110
autodoc_type_aliases = {"Mass": "cotree.fem.beam.Mass"}  # not the component of the same name

html_theme = "furo"
html_title = f"Cotree {release}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
