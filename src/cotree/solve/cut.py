"""Beams with ``segments="auto"``: a first look at the motion decides into how many bodies each is cut.

The beam is tried as one body. Where the watch of its range (`cotree.terminal.range`) says that its deflection is off by
more than a per cent, it is cut into the number of segments that the watch names, and tried again. The number then
stands in the model in the place of ``auto``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from cotree.errors import ModelError, SolveError, listing
from cotree.model.quantity import Time
from cotree.system import Diagnostic, diagnose

ROUNDS = 6
"""Looks at the motion, at most."""
TRUSTED = 0.5
"""Error up to which the number of segments that the watch of a first run names is taken without another run."""
ROUGH = {"rtol": 1e-5, "points": 201}
"""Tolerance and output points of a first run."""


def undecided(model: Any) -> list[str]:
    """The beams whose number of segments is not decided."""
    beams = {name: part for name, part in model.components.items() if part.flexible}
    if not beams:
        return []
    from cotree.terminal.flexible_sheet import AUTO

    return [name for name, part in beams.items() if getattr(part, "segments", None) == AUTO]


def cut_by_statics(model: Any, tree: Any) -> None:
    """Decide by the static equilibrium."""
    names = undecided(model)
    if not names:
        return
    try:
        _decide(model, names, lambda: model.static_equilibrium(tree=tree).diagnostics, 0.0)
    except SolveError as error:
        raise ModelError(
            f"the static equilibrium, which decides into how many segments {listing(names)} is cut, was not found: "
            f"{error.found}",
            where=f"{names[0]}.segments",
            expected="a number of segments",
            remedy="Give one, or simulate first: a run decides it, too",
        ) from error


def cut_by_run(model: Any, tree: Any, t_end: Time, options: dict[str, Any]) -> None:
    """Decide by a first run with the options of the run."""
    names = undecided(model)
    if not names:
        return
    own = {name: value for name, value in options.items() if name not in ("progress", "record", "times")}
    own |= ROUGH | {"rtol": max(ROUGH["rtol"], options.get("rtol") or 0.0)}

    def look() -> Iterable[Diagnostic] | None:
        from cotree.solve.simulate import simulate

        equations = model.equations(tree)
        try:
            return simulate(equations, t_end, **own).diagnostics
        except SolveError as error:
            done: Any = error.solution
            if done is None or equations.judged is None or not len(done.t):
                return None
            found: Iterable[Diagnostic] = equations.judged(done.t, done.values)
            return found

    _decide(model, names, look, TRUSTED)


def _decide(model: Any, names: list[str], look: Callable[[], Iterable[Diagnostic] | None], trusted: float) -> None:
    """Cut beams until nothing is said against it.

    A number of segments that is asked for where errors are below ``trusted`` is taken without another look. A look that
    finds nothing out asks for twice as many.
    """
    from cotree.terminal.flexible_sheet import MOST_SEGMENTS

    before, decided = {name: model.components[name] for name in names}, model.decided
    chosen, errors = dict.fromkeys(names, 1), dict[str, str]()
    try:
        for _ in range(ROUNDS):
            _put(model, before, chosen, decided, errors)
            said = look()
            more = {name: 2 * chosen[name] for name in names} if said is None else {}
            doubtful = said is None
            for each in said or ():
                for name in set(each.subjects) & set(names):
                    if "share" in each.data and "segments" in each.data:
                        more[name] = int(each.data["segments"])
                        errors.setdefault(name, str(each.data["error"]))
                        doubtful |= float(each.data["share"]) > trusted
            more = {name: min(count, MOST_SEGMENTS) for name, count in more.items() if count > chosen[name]}
            chosen |= more
            if not more or not doubtful:
                break
        _put(model, before, chosen, decided, errors)
    except BaseException:
        model.components.update(before)
        model.decided = decided
        raise


def _put(model: Any, before: Mapping[str, Any], chosen: Mapping[str, int], decided: Any, errors: Any) -> None:
    """Put the numbers into the model, unless they stand there, and what is said of them."""
    for name, whole in before.items():
        count = chosen[name]
        if model.components[name].segments != count:
            model.components[name] = replace(whole, segments=count, elements=max(count, whole.elements))
    model.decided = (*decided, *(_told(name, chosen[name], errors) for name in before))


def _told(name: str, count: int, errors: Mapping[str, str]) -> Diagnostic:
    if count == 1:
        return diagnose("one-segment", name)
    return diagnose("segments-chosen", name, segments=count, error=errors.get(name, "more than can be told"))
