"""Runs and their files: where a solution comes from, its model again, and runs that go on."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from cotree.errors import CotreeError, FileError, ModelError, ResultError, listing
from cotree.formulation import model_equations, model_graph
from cotree.graph import Tree
from cotree.io.model_file import model_data, model_from_data
from cotree.model import Model
from cotree.model.renamed import upgraded
from cotree.results import Origin, Solution
from cotree.results.lock import Lock

M = TypeVar("M", bound=Model)


def origin_of(model: Model, tree: Any = None) -> Origin:
    """The model and the tree of its equations as plain data, to be kept with results."""
    pair = tree if isinstance(tree, tuple) else (tree,)
    branches = [list(each.branches) for each in pair if each is not None]
    kept = branches if len(branches) > 1 else branches[0] if branches else None
    try:
        return Origin(model_data(model), tree=kept)
    except CotreeError as reason:
        return Origin(None, why_not=str(reason), tree=kept)


def kept_origin(model: Model, tree: Any, spanning: Callable[[Any], Any]) -> Origin:
    """The same for a tree as the user gave it, kept with the model as long as the equations that were just written."""
    written, kept = model.__dict__["_written"], model.__dict__.get("_kept_origin")
    if kept is None or kept[0] is not written or kept[1] != tree:
        kept = model.__dict__["_kept_origin"] = (written, tree, origin_of(model, spanning(tree)))
    return cast(Origin, kept[2])


def rebuilt(solution: Solution, model_class: type[M]) -> tuple[M, Any]:
    """The model of a solution, and the tree that its equations were written with."""
    origin = solution.origin
    if origin is None or origin.model is None:
        why = origin.why_not if origin is not None else ""
        raise ResultError(
            f"the model is not stored with the results of '{solution.model}'" + (f": {why}" if why else ""),
            remedy="Give the model itself",
        )
    model = model_from_data(upgraded(origin.model), model_class)
    return model, tree_of(model, origin)


def tree_of(model: Model, origin: Origin) -> Any:
    """The tree with which a run was made, of the same model."""
    if origin.tree is None:
        return None
    graph, pair = model_graph(model), bool(origin.tree) and isinstance(origin.tree[0], list)
    trees = [Tree(graph, each, keep_order=True) for each in (origin.tree if pair else [origin.tree])]
    return tuple(trees) if pair else trees[0]


def resumed(
    source: str | Path | Solution,
    model_class: type[Model],
    model: Model | None,
    progress: Callable[[float], None] | None,
) -> Solution:
    """The whole solution of a run that was cut off, written to its file as it goes on; a finished one as it is."""
    if isinstance(source, Solution):
        with _about(source.model):
            return _gone_on(source, None, None, model_class, model, progress)
    path = results_path(source)
    with Lock(path) as lock, _about(str(path)):
        return _gone_on(Solution.from_hdf5(source), path, lock, model_class, model, progress)


def _gone_on(
    past: Solution,
    path: Path | None,
    lock: Lock | None,
    model_class: type[Model],
    model: Model | None,
    progress: Callable[[float], None] | None,
) -> Solution:
    from cotree.solve.recording import Recording
    from cotree.solve.simulate import simulate

    if past.complete:
        return past
    origin = past.origin
    begun = past.restart is not None or not len(past.t)  # one without rows was killed before it had some
    if not begun or origin is None or "t_end" not in origin.options:
        raise ResultError(
            "the run cannot go on: its last state is not stored",
            where=past.model if path is None else str(path),
            expected="a simulation that was cut off while it was written",
            remedy="Run it anew",
        )
    clock = time.perf_counter()
    if model is None:
        model, tree = rebuilt(past, model_class)
    else:
        check_same(model, origin)
        tree = tree_of(model, origin)
    equations = model_equations(model, tree)
    options = _options(origin, simulate)
    t_end = options.pop("t_end")
    _check_state(past, t_end, options)
    seconds = time.perf_counter() - clock
    record = Recording(path, origin, past if past.restart is not None else None, lock)
    return simulate(equations, t_end, **options, seconds_formulation=seconds, record=record, progress=progress)


def _options(origin: Origin, simulate: Callable[..., Solution]) -> dict[str, Any]:
    """The stored options of a run, all of which it must know."""
    own = {"equations", "progress", "record", "seconds_formulation"}
    known = [name for name in inspect.signature(simulate).parameters if name not in own]
    for name in origin.options:
        if name not in known:
            raise ResultError(f"the run has the option '{name}', which is not known", remedy="Run it anew")
    return dict(origin.options)


def _check_state(past: Solution, t_end: float, options: Mapping[str, Any]) -> None:
    """Refuse a state that does not belong to the rows before it."""
    from cotree.solve.simulate import output_grid

    grid = output_grid(options.get("t_start", 0.0), t_end, options.get("points"), options.get("times"))
    done, restart = len(past.t), past.restart
    rows = done if restart is None else restart.rows
    if rows > done or not np.array_equal(past.t[:rows], grid[:rows]):
        raise ResultError(
            f"the run cannot go on: the {rows} output times that it counts as finished do not fit its {done} rows",
            remedy="Run it anew",
        )
    if restart is None:
        return
    before, after = (np.searchsorted(grid, restart.t, side=side) for side in ("left", "right"))
    if not before <= rows <= after:  # at an output time itself, its row may still have to come
        raise ResultError(
            f"the run cannot go on: its state is that at t = {restart.t:g} s, but it counts {rows} output times as "
            "done by then, which is wrong",
            remedy="Run it anew",
        )


@contextmanager
def _about(where: str) -> Iterator[None]:
    """Whatever the stored model, options and state lead to is one error that names the file."""
    try:
        yield
    except CotreeError:
        raise
    except Exception as reason:
        text = str(reason).partition("\n")[0][:100]
        raise ResultError(
            f"the run cannot go on: what is stored of it cannot be used ({type(reason).__name__}: {text})",
            where=where,
            remedy="Run it anew",
        ) from reason


def check_same(model: Model, origin: Origin) -> None:
    """Refuse a model that is not the one that is stored, as far as that can be told; another name does not matter."""
    given = origin_of(model).model
    if origin.model is None or given is None:
        return
    for place, old, new in _differences({**upgraded(origin.model), "name": None}, {**given, "name": None}):
        raise ModelError(
            f"it is {_shown(new)}, and was {_shown(old)} in the run that is to go on",
            where=place,
            expected="the same model",
            remedy="Run it anew, or resume without giving a model",
        )


def _differences(old: Any, new: Any, *place: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two pieces of plain data differ, and what is there in each."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from _differences(old.get(key), new.get(key), *place, str(key))
    elif old != new:
        yield ".".join(place[1:] if place[:1] == ("components",) else place), old, new


def _shown(value: Any) -> str:
    return "missing" if value is None else listing([str(value)[:80]])


def results_path(given: str | Path) -> Path:
    """The path of a results file, or an error where it cannot be written."""
    path = Path(given)
    if path.suffix.lower() not in (".h5", ".hdf5"):
        raise FileError(f"the results file {path}", expected="a name that ends in .h5 or .hdf5")
    found = ""
    if not path.parent.is_dir():
        found = f"there is no folder {path.parent}"
    elif path.is_dir():
        found = "it is a folder"
    elif not os.access(path.parent, os.W_OK):
        found = f"one may not write to the folder {path.parent}"
    if found:
        raise FileError(found, where=str(path), remedy="Choose another place, or make the folder")
    return path
