"""The page of a model that has not run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cotree.errors import CotreeError

if TYPE_CHECKING:
    from cotree.facade.analyses import Analyses


def preview(model: Analyses, tree: Any, path: str | Path) -> Path:
    """Write the preview of a model; what cannot be made yet is left out, with the reason."""
    from cotree.view.preview import write_preview

    found: Any = None
    equations = None
    try:
        found = model._spanning(tree)
        equations = model.equations(tree if found is None else found)
        from cotree.solve.beginning import at_start

        return write_preview(model, found, equations, at_start(equations), path)
    except CotreeError as reason:
        return write_preview(model, found, equations, reason, path)
