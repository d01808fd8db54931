"""A notebook that is executed: its outputs hold the picture, the frame with the report, and the progress bar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
CELLS = [
    "import cotree as ct\nm = ct.Model.load('four_bar.yaml')\nm",
    "sol = m.simulate('0.1 s', points=11, progress=True)\nsol",
    "sol.plot('O.angle', '*.force')",
    "path = sol.show()",
    "path = m.show()",
    "m.draw()",
    "sol.energy()",
    "print(get_ipython().complete('', 'sol[\"O.fo', 9)[1])",
    "get_ipython().Completer.use_jedi = False\nprint(get_ipython().complete('max_st', 'm.simulate(max_st', 17)[1])",
]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "four_bar.yaml").write_text((EXAMPLES / "four_bar.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [cell["outputs"] for cell in notebook["cells"]]


def held(outputs: list[dict[str, Any]], kind: str) -> str:
    """All that the outputs of a cell hold of one kind."""
    return "\n".join(each["data"][kind] for each in outputs if kind in each.get("data", {}))


def test_a_model_and_a_solution_are_drawn(outputs: list[list[dict[str, Any]]]) -> None:
    assert "<svg" in held(outputs[0], "text/html")
    assert "The balance closes to" in held(outputs[1], "text/html")


def test_the_bar_is_shown_and_tells_how_long_it_took(outputs: list[list[dict[str, Any]]]) -> None:
    shown = held(outputs[1], "text/html")
    assert '<div class="cotree-progress"><progress max="1" value="1.0000"' in shown
    assert "100 % " in shown


def test_plots_and_drawings_are_pictures(outputs: list[list[dict[str, Any]]]) -> None:
    assert held(outputs[2], "image/svg+xml").lstrip().startswith("<svg")
    assert "O.angle" in held(outputs[2], "image/svg+xml")
    assert held(outputs[5], "image/svg+xml").lstrip().startswith("<svg")


def test_the_report_and_the_preview_are_in_frames(outputs: list[list[dict[str, Any]]]) -> None:
    for cell, word in ((3, "Energy audit"), (4, "The model has not run yet.")):
        frame = held(outputs[cell], "text/html")
        assert frame.startswith('<iframe class="cotree-report" srcdoc="&lt;!')
        assert word in frame


def test_results_of_analyses_are_tables(outputs: list[list[dict[str, Any]]]) -> None:
    assert "stored at the start" in held(outputs[6], "text/html")


def test_names_and_options_are_completed(outputs: list[list[dict[str, Any]]]) -> None:
    names, options = ("".join(each.get("text", "") for each in outputs[k]) for k in (7, 8))
    assert "O.force" in names
    assert "O.force.x" in names
    assert "max_step=" in options
    assert "max_steps=" in options
