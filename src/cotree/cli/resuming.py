"""What a run that is to be resumed must agree with: its model, formulation, tree and options."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cotree.cli.options import RESULTS, Chosen, ModelChoice, formulation_of, split_settings
from cotree.errors import CotreeError, FileError, OptionError, listing

if TYPE_CHECKING:
    from cotree import api

SAME = 1e-12
"""Changed values that differ by less than this part are the same."""


def results_of(choice: ModelChoice, output: Path | None) -> Path:
    """The results file of the run, which must be there."""
    own = choice.file.suffix.lower() in RESULTS
    path = choice.file if own else output
    if path is None or path.suffix.lower() not in RESULTS:
        raise OptionError(
            "--resume without a results file", expected="--out run.h5, or run.h5 instead of the model file"
        )
    if not path.exists():
        begin = "Begin a run with the model file and --out" if own else "Leave out --resume to begin the run"
        raise FileError(f"there is no file {path}", expected="the results file of a run that was cut off", remedy=begin)
    return path


def agreeing(
    choice: ModelChoice, stored: api.Solution, path: Path, given: dict[str, Any]
) -> tuple[api.Model, Any, Chosen | None]:
    """Model and tree of a stored run, and the model file if one was given, once all that is given again is the same."""
    from cotree.api import rebuild
    from cotree.io.runs import check_same, tree_of

    chosen = None if path == choice.file else choice.read()
    origin = stored.origin
    if chosen is None or origin is None:
        model, _ = rebuild(stored)
        assert origin is not None
        begun = formulation_of(model)
        if choice.formulation not in (None, "file", begun):
            raise _other(f"--formulation {choice.formulation}", begun, path)
        from cotree.model.changes import changed_values

        changes = model.take(changed_values(model, split_settings(choice.set)))
    else:
        model, changes = chosen.model, chosen.changes
        begun = formulation_of(rebuild(stored)[0]) if origin.model is not None else formulation_of(model)
        if formulation_of(model) != begun:
            raise _other(f"the formulation {formulation_of(model)}", begun, path, f"Give --formulation {begun}")
    check_same(model, origin)
    _check_values(changes, stored, path)
    _check_tree(choice, chosen, model, origin, path)
    for name, value in given.items():
        if origin.options.get(name) != value:
            raise _other(f"{name} = {value}", origin.options.get(name), path)
    return model, tree_of(model, origin), chosen


def _check_values(changes: dict[str, float], stored: api.Solution, path: Path) -> None:
    assert stored.origin is not None
    known = {**stored.parameters, **(stored.origin.options.get("parameters") or {})}
    for name, value in changes.items():
        before = known.get(name)
        if before is None or not math.isclose(before, value, rel_tol=SAME):
            raise _other(f"{name} = {value:g}", "no such value" if before is None else f"{before:g}", path)


def _check_tree(choice: ModelChoice, chosen: Chosen | None, model: api.Model, origin: Any, path: Path) -> None:
    """Refuse another tree where options ask for one."""
    from cotree.io.runs import origin_of

    words: dict[str, Any] = {"--tree": choice.tree, "--rotation-tree": choice.rotation_tree}
    words |= {"--into-tree": choice.into_tree, "--into-cotree": choice.into_cotree}
    given = {name: word for name, word in words.items() if word and (chosen is not None or word != "file")}
    if not given:
        return
    if chosen is None:
        nothing: Any = SimpleNamespace(run=SimpleNamespace(tree=None), model=model)
        tree = choice._tree(nothing, model)
    else:
        tree = chosen.tree
    one, other = _branches(origin_of(model, tree).tree), _branches(origin.tree)
    if one != other:
        said = " ".join(f"{name} {word if isinstance(word, str) else ' '.join(word)}" for name, word in given.items())
        differing = sorted({name for pair in zip(one, other, strict=True) for name in pair[0] ^ pair[1]})
        raise _other(said, f"another tree, which differs in {listing(differing)}", path)


def _branches(tree: Any) -> list[set[str]]:
    """The branches for translations and for rotations, which may be the same."""
    if not tree:
        return [set(), set()]
    return [set(each) for each in tree] if isinstance(tree[0], list) else [set(tree)] * 2


def _other(given: str, before: Any, path: Path, remedy: str = "Leave the option out") -> CotreeError:
    return CotreeError(
        f"--resume with {given}, but the run was begun with {before}",
        where=str(path),
        remedy=f"{remedy}, or begin a new run without --resume",
    )
