"""Model files: a model and how to run it, as plain YAML.

name: RC circuit
datum: ground
parameters: {tau: 1.0e-3}
components:
  V: {kind: voltage_source, nodes: [in, ground], voltage: 5}
  R: {kind: resistor, nodes: [in, out], resistance: tau/1e-6}
  C: {kind: capacitor, nodes: [out, ground], capacitance: 1e-6}
run: {t_end: 5*tau, plot: [C.voltage, R.current]}
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import yaml

import cotree.terminal  # noqa: F401  (registers every kind of component)
from cotree.errors import CotreeError, FileError, ModelError, listing, nearest
from cotree.io.yaml_source import Source, read_source
from cotree.model import Expression, Model, find_kind
from cotree.results.store import replacing

M = TypeVar("M", bound=Model)

KEYS = ("name", "datum", "parameters", "components", "run")


@dataclass(frozen=True)
class RunSettings:
    """How a model file wants to be run; what it leaves out is None."""

    t_end: float | None = None
    points: int | None = None
    rtol: float | None = None
    atol: float | None = None
    integrator: str | None = None
    start: dict[str, float] | str | None = None
    plot: list[Any] = field(default_factory=list)

    def options(self) -> dict[str, Any]:
        """The options that were given, for `simulate`."""
        names = ("points", "rtol", "atol", "integrator", "start")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True)
class ModelFile(Generic[M]):
    """A model and its run settings."""

    model: M
    run: RunSettings
    source: Source

    def check_plot(self, results: Collection[str]) -> None:
        """Refuse names to plot that are no results of the model, before anything is integrated."""
        for k, entry in enumerate(self.run.plot):
            for name in entry if isinstance(entry, list) else [entry]:
                if name != "t" and name not in results:
                    part = name.partition(".")[0]
                    own = [known for known in results if known.partition(".")[0] == part]
                    raise FileError(
                        f"there is no result '{name}' to plot",
                        where=self.source.place("run", "plot", k),
                        expected=f"one of {listing(own or results)}",
                        remedy=nearest(name, results),
                    )


def read_model(path: Path, model_class: type[M]) -> ModelFile[M]:
    """Read a model file; every error names the file, the line and the remedy."""
    return _Reader(read_source(path), model_class).read()


def model_from_data(data: Mapping[str, Any], model_class: type[M]) -> M:
    """The model described by plain data."""
    source = Source("", "data")
    source.data = dict(data)
    return _Reader(source, model_class).read().model


def write_model(model: Model, path: Path, run: Mapping[str, Any] | None = None) -> Path:
    """Write a model file that `read_model` reads back to the same model."""
    data = model.to_data() | ({"run": dict(run)} if run else {})
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


class _Reader(Generic[M]):
    def __init__(self, source: Source, model_class: type[M]) -> None:
        self.source, self.model_class = source, model_class

    def read(self) -> ModelFile[M]:
        data = self.source.data
        if not isinstance(data, dict):
            raise FileError("there is no model here", where=self.source.place(), expected="name: and components:")
        for key in data:
            if key not in KEYS:
                raise FileError(
                    f"unknown entry '{key}'",
                    where=self.source.place(key),
                    expected=f"one of {', '.join(KEYS)}",
                    remedy=nearest(key, KEYS),
                )
        model = self._model(data)
        return ModelFile(model, self._run(data, model), self.source)

    def _model(self, data: Mapping[str, Any]) -> M:
        name = data.get("name", Path(self.source.name).stem)
        self._expect(isinstance(name, str), name, "text; put a number in quotes", "name")
        with _Placed(self.source, "datum"):
            datum = data.get("datum", "ground")
            model = self.model_class(name, datum=_names(datum if isinstance(datum, list) else [datum]))
        for name, value in self._mapping(data, "parameters").items():
            with _Placed(self.source, "parameters", name):
                model.parameter(name, value)
        components = self._mapping(data, "components")
        if not components:
            raise FileError("the model has no components", where=self.source.place("components"))
        for name, entry in components.items():
            with _Placed(self.source, "components", name):
                if not isinstance(entry, dict):
                    raise ModelError(f"found {entry!r}", where=name, expected="{kind: ..., nodes: [...], ...}")
                fields = {key: _names(value) for key, value in entry.items() if key != "kind"}
                model.add(find_kind(entry.get("kind"), name).from_data(name, fields))
        with _Placed(self.source, "components"):
            model.check()
        return model

    def _run(self, data: Mapping[str, Any], model: Model) -> RunSettings:
        entry = self._mapping(data, "run")
        known = [f.name for f in fields(RunSettings)]
        for key in entry:
            if key not in known:
                raise FileError(
                    f"unknown entry '{key}'",
                    where=self.source.place("run", key),
                    expected=f"one of {', '.join(known)}",
                    remedy=nearest(key, known),
                )
        settings = dict(entry)
        for key in ("t_end", "rtol", "atol"):
            if key in settings:
                with _Placed(self.source, "run", key):
                    settings[key] = _number(settings[key], model, key)
        points, integrator, start = (settings.get(key) for key in ("points", "integrator", "start"))
        whole = isinstance(points, int) and not isinstance(points, bool)
        self._expect(points is None or whole, points, "a whole number", "run", "points")
        self._expect(integrator is None or isinstance(integrator, str), integrator, "a name", "run", "integrator")
        known_start = start is None or start == "steady" or isinstance(start, dict)
        self._expect(known_start, start, "'steady', or values by name: {C.voltage: 2}", "run", "start")
        if isinstance(start, dict):
            with _Placed(self.source, "run", "start"):
                settings["start"] = {k: _number(v, model, f"start.{k}") for k, v in start.items()}
        settings["plot"] = self._plot(settings.get("plot"))
        return RunSettings(**settings)

    def _plot(self, given: Any) -> list[Any]:
        """Names, or lists of names that share a plot."""
        entries = [] if given is None else given if isinstance(given, list) else [given]
        for k, entry in enumerate(entries):
            names = entry if isinstance(entry, list) else [entry]
            right = all(isinstance(name, str) for name in names)
            self._expect(right, entry, "a name, a list of names, or a list of lists of names", "run", "plot", k)
        return entries

    def _expect(self, right: bool, found: Any, expected: str, *path: str | int) -> None:
        if not right:
            word = next(part for part in reversed(path) if isinstance(part, str))
            raise FileError(f"{word} is {_shown(found)}", where=self.source.place(*path), expected=expected)

    def _mapping(self, data: Mapping[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key)
        if value is not None and not isinstance(value, dict):
            raise FileError(f"{key} is {_shown(value)}", where=self.source.place(key), expected="name: value entries")
        return value or {}


class _Placed:
    """Adds the file and line of an entry to any error of the model raised inside."""

    def __init__(self, source: Source, *path: str) -> None:
        self.source, self.path = source, path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, CotreeError) and not isinstance(error, FileError):
            component, *field = error.where.partition(" ")[0].split(".")
            path = self.path if len(self.path) > 1 else (*self.path, component)
            place = self.source.place(*path, *field)
            where = f"{place}: {error.where}" if error.where else place
            raise FileError(error.found, where=where, expected=error.expected, remedy=error.remedy) from None


def _names(value: Any) -> Any:
    """Numbers used as node names, as SPICE users write them, become text."""
    if not isinstance(value, list):
        return value
    if any(isinstance(item, bool) for item in value):
        raise ModelError(
            f"found {value!r}", remedy="Put the name in quotes: YAML reads yes, no, on, off as truth values"
        )
    return [str(item) if isinstance(item, int) else item for item in value]


def _number(value: Any, model: Model, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ModelError(f"{where} is {_shown(value)}", expected="a number, or an expression of parameters")
    return Expression(value).number(model.parameter_values())


def _shown(value: Any) -> str:
    if isinstance(value, (list, dict)):
        return f"a {type(value).__name__} of {len(value)}"
    return listing([repr(value)])
