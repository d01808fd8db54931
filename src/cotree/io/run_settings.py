"""How a model file wants to be run: the entries under ``run``, checked."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from cotree.errors import Mistakes, ModelError, nearest, shown
from cotree.io.assembly import mapping
from cotree.io.places import Parts, Spot
from cotree.model import Model
from cotree.model.quantity import Quantity, check_dimension, check_range, number, read

_SECONDS = Quantity("s", "positive", False, "")
_POSITIVE = Quantity("", "positive", False, "")
_RADIUS = Quantity("", "non-negative", False, "")
_START = Quantity("", "finite", False, "", free=True)
_NUMBERS = {
    "t_end": _SECONDS, "max_step": _SECONDS, "step": _SECONDS, "rtol": _POSITIVE, "atol": _POSITIVE,
    "spectral_radius": _RADIUS,
}  # fmt: skip
_LEAST = {"points": 2, "max_steps": 1}


@dataclass(frozen=True)
class RunSettings:
    """How a model file wants to be run; what it leaves out is None."""

    t_end: float | None = None
    points: int | None = None
    rtol: float | None = None
    atol: float | None = None
    integrator: str | None = None
    max_step: float | None = None
    max_steps: int | None = None
    step: float | None = None
    spectral_radius: float | None = None
    start: dict[str, float] | str | None = None
    tree: str | list[str] | None = None
    """A preset, or two of them for the translations and the rotations of a mechanism."""
    plot: list[Any] = field(default_factory=list)

    def options(self) -> dict[str, Any]:
        """The options that were given, for `simulate`."""
        names = [f.name for f in fields(self) if f.name not in ("t_end", "tree", "plot")]
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def read_run(parts: Parts, model: Model, mistakes: Mistakes) -> RunSettings:
    """The run settings of a file, as far as they are right; what is wrong goes to ``mistakes``."""
    with mistakes:
        return _Reader(parts, model, mistakes).read()
    return RunSettings()


class _Reader:
    def __init__(self, parts: Parts, model: Model, mistakes: Mistakes) -> None:
        self.parts, self.source, self.model, self.mistakes = parts, parts.source, model, mistakes

    def read(self) -> RunSettings:
        entry = mapping(self.source, "run")
        known = [f.name for f in fields(RunSettings)]
        for key in entry:
            if key not in known:
                self.mistakes.add(
                    self.source.error(
                        f"unknown entry '{key}'", "run", key, value=False, expected=f"one of {', '.join(known)}",
                        remedy=nearest(key, known),
                    )
                )  # fmt: skip
        settings = {key: value for key, value in entry.items() if key in known}
        for key, info in _NUMBERS.items():
            if settings.get(key) is not None:
                settings[key] = self._number(settings[key], info, key, "run", key)
        rtol, radius = settings.get("rtol"), settings.get("spectral_radius")
        self._expect(rtol is None or rtol < 1, rtol, "a number from 1e-14 to below 1", "rtol")
        self._expect(radius is None or radius <= 1, radius, "a number from 0 to 1", "spectral_radius")
        for key, least in _LEAST.items():
            count = settings.get(key)
            right = count is None or (type(count) is int and count >= least)
            self._expect(right, count, f"a whole number from {least} on", key)
        integrator, start, tree = (settings.get(key) for key in ("integrator", "start", "tree"))
        mechanical = self.model.mechanical
        pair = isinstance(tree, list) and len(tree) == 2 and mechanical
        known_tree = tree is None or all(isinstance(each, str) for each in (tree if pair else [tree]))
        trees = "a preset such as joint, or two for translation and rotation" if mechanical else "a preset"
        self._expect(known_tree, tree, trees, "tree")
        self._expect(integrator is None or isinstance(integrator, str), integrator, "a name", "integrator")
        if isinstance(integrator, str) and integrator != "auto":
            self._integrator(integrator)
        known_start = start is None or start == "steady" or isinstance(start, dict)
        self._expect(known_start, start, "'steady', or values by name: {C.voltage: 2}", "start")
        if isinstance(start, dict):
            settings["start"] = {
                name: self._number(value, _START, f"start.{name}", "run", "start", name)
                for name, value in start.items()
            }
        settings["plot"] = self._plot(settings.get("plot"))
        return RunSettings(**settings)

    def _number(self, value: Any, info: Quantity, name: str, *path: str) -> float | None:
        with self.mistakes, self.parts.placed(Spot(self.source, path)):
            if isinstance(value, bool) or not isinstance(value, (int, float, str)):
                raise ModelError(f"{name} is {shown(value)}", expected="a number, or an expression of parameters")
            expression = read(value, info, "")
            check_dimension(expression.dimension, replace(info, measured=True), "", f"'{expression.text}'")
            self.model.check_reference(expression, info, "")
            result = number(expression, self.model.parameter_values(), "")
            try:
                check_range(result, info, "")
            except ModelError as reason:
                raise ModelError(f"{name} is {result:g}", expected=reason.expected) from None
            return result
        return None

    def _integrator(self, name: str) -> None:
        from cotree.solve.integrator import called_here
        from cotree.solve.methods import INTEGRATORS

        if name not in INTEGRATORS:
            self.mistakes.add(
                self.source.error(
                    f"there is no integrator '{name}'", "run", "integrator", expected=f"auto, {', '.join(INTEGRATORS)}",
                    remedy=called_here(name) or nearest(name, INTEGRATORS),
                )
            )  # fmt: skip

    def _plot(self, given: Any) -> list[Any]:
        """Names, or lists of names that share a plot."""
        entries = [] if given is None else given if isinstance(given, list) else [given]
        for k, entry in enumerate(entries):
            names = entry if isinstance(entry, list) else [entry]
            right = all(isinstance(name, str) for name in names)
            self._expect(right, entry, "a name, a list of names, or a list of lists of names", "plot", k)
        return entries

    def _expect(self, right: bool, found: Any, expected: str, *path: str | int) -> None:
        if not right:
            self.mistakes.add(self.source.error(f"{path[0]} is {shown(found)}", "run", *path, expected=expected))
