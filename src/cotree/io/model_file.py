"""Model files: a model and how to run it, as plain YAML.

name: RC circuit
datum: ground
parameters: {tau: 1.0e-3}
components:
  V: {kind: voltage_source, nodes: [in, ground], voltage: 5}
  R: {kind: resistor, nodes: [in, out], resistance: tau/1e-6}
  C: {kind: capacitor, nodes: [out, ground], capacitance: 1e-6}
run: {t_end: 5*tau, plot: [C.voltage, R.current]}

A mechanism names frames instead of nodes: ``ground``, a body, ``body.frame``, or a ground frame.

name: pendulum
gravity: [0, -9.81, 0]
components:
  arm: {kind: rigid_body, shape: {rod: {length: 0.3, mass: 1}}, frames: {O: [-0.15, 0, 0]}}
  O: {kind: revolute, frame_a: ground, frame_b: arm.O, axis: [0, 0, 1], angle: 0.3}
run: {t_end: 2, tree: joint, plot: [O.angle]}
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import yaml

import cotree.terminal  # noqa: F401  (registers every kind of component)
from cotree.bond.masks import Graph
from cotree.errors import CotreeError, FileError, ModelError, listing, nearest
from cotree.io.bond_file import bonds_of, check_bonded, kind_name, read_masks, read_part, write_bonds
from cotree.io.yaml_source import Source, read_source
from cotree.model import Component, Expression, Model, find_kind
from cotree.results.store import replacing
from cotree.terminal.deformable import Deformable
from cotree.terminal.shapes import SHAPES

M = TypeVar("M", bound=Model)

TABLES = ".cotree"
"""Folder next to a model file that keeps the tables of its flexible bodies."""
KEYS = ("name", "datum", "gravity", "planar", "parameters", "components", "bonds", "masks", "run")


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


@dataclass(frozen=True)
class ModelFile(Generic[M]):
    """A model and its run settings."""

    model: M
    run: RunSettings
    source: Source

    @contextmanager
    def about(self, given: Collection[str] = ()) -> Iterator[None]:
        """Errors that are raised inside begin with the file, and the line of the component that they name.

        Values in ``given`` do not come from the file, so that it has no line for them.
        """
        try:
            yield
        except CotreeError as error:
            if not error.where.startswith(self.source.name):
                named = error.where and error.where not in given and not isinstance(error, FileError)
                error.within(_place(self.source, error.where) if named else self.source.name)
            raise

    def check_plot(self, results: Collection[str]) -> None:
        """Refuse names to plot that are no results of the model, before anything is integrated."""
        vectors = {name.rpartition(".")[0] for name in results if name.endswith((".x", ".e0"))}
        for k, entry in enumerate(self.run.plot):
            for name in entry if isinstance(entry, list) else [entry]:
                if name != "t" and name not in results and name not in vectors:
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
    return _Reader(read_source(path), model_class, path.resolve().parent).read()


def model_from_data(data: Mapping[str, Any], model_class: type[M]) -> M:
    """The model described by plain data."""
    source = Source("", "data")
    source.data = dict(data)
    return _Reader(source, model_class).read().model


def write_model(model: Model, path: Path, run: Mapping[str, Any] | None = None) -> Path:
    """Write a model file that `read_model` reads back to the same model."""
    data = write_bonds(model.to_data(), model.components) if model.bonded else model.to_data()
    data = _plain(data | ({"run": dict(run)} if run else {}))
    text = yaml.safe_dump(data, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


class _Reader(Generic[M]):
    def __init__(self, source: Source, model_class: type[M], folder: Path | None = None) -> None:
        self.source, self.model_class, self.folder = source, model_class, folder

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
        options: dict[str, Any] = {}
        for key in ("datum", "planar", "gravity"):
            with _Placed(self.source, key):
                value = data.get(key, "ground" if key == "datum" else None)
                if value is not None:
                    options[key] = _names(value if isinstance(value, list) else [value]) if key == "datum" else value
                    model = self.model_class(name, **options)
        model.folder = None if self.folder is None else str(self.folder / TABLES)
        for name, value in self._mapping(data, "parameters").items():
            with _Placed(self.source, "parameters", name):
                model.parameter(name, value)
        components = self._mapping(data, "components")
        if not components:
            raise FileError("the model has no components", where=self.source.place("components"))
        with _Placed(self.source, "masks"):
            masks = read_masks(data.get("masks"))
        for name, entry in components.items():
            with _Placed(self.source, "components", name):
                if not isinstance(entry, dict):
                    raise ModelError(f"found {entry!r}", where=name, expected="{kind: ..., nodes: [...], ...}")
                if data.get("bonds"):
                    check_bonded(name, entry)
                model.add(_component(name, entry, self.folder, masks))
        with _Placed(self.source, "bonds"):
            for _, place, make in bonds_of(data.get("bonds"), model.components):
                with _Placed(self.source, "bonds", place):
                    model.add(make())
        with _Placed(self.source, "components"):
            _check(model)
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
        for key in ("t_end", "rtol", "atol", "max_step", "step", "spectral_radius"):
            if key in settings:
                with _Placed(self.source, "run", key):
                    settings[key] = _number(settings[key], model, key)
        integrator, start, tree = (settings.get(key) for key in ("integrator", "start", "tree"))
        for key in ("points", "max_steps"):
            count = settings.get(key)
            whole = isinstance(count, int) and not isinstance(count, bool)
            self._expect(count is None or whole, count, "a whole number", "run", key)
        pair = isinstance(tree, list) and len(tree) == 2 and model.mechanical
        known_tree = tree is None or all(isinstance(each, str) for each in (tree if pair else [tree]))
        trees = "a preset such as joint, or two for translation and rotation" if model.mechanical else "a preset"
        self._expect(known_tree, tree, trees, "run", "tree")
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

    def __init__(self, source: Source, *path: str | int) -> None:
        self.source, self.path = source, path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, CotreeError) and not isinstance(error, FileError):
            place = _place(self.source, error.where, *self.path)
            where = f"{place}: {error.where}" if error.where else place
            raise FileError(error.found, where=where, expected=error.expected, remedy=error.remedy) from None


def _place(source: Source, where: str, *path: str | int) -> str:
    """``file:line`` of the value that an error names as ``component.field``; ``path`` is the entry it stands in."""
    if where.startswith(("bond ", "mask ")) and len(path) < 2:
        return _graph_place(source, where[:4], where[5:])
    component, *parts = where.partition(" ")[0].split(".")
    path = ("gravity",) if component == "gravity" and len(path) < 2 else path or ("components",)
    owner = path if len(path) > 1 else (*path, component)
    groups = (("frames",), *(("shape", kind) for kind in SHAPES))
    deeper = ((*owner, *group, *parts[:1]) for group in groups if parts)
    return source.place(*next((path for path in deeper if path in source.lines), (*owner, *parts)))


def _graph_place(source: Source, what: str, where: str) -> str:
    """``file:line`` of a bond, a mask or a part inside it."""
    name, _, inner = where.replace(":", ",").partition(" ")
    name, inner = name.strip(","), inner.split(" ")[0].partition(".")[0].strip(",")
    if what == "mask":
        deeper = ("masks", name, "components", inner)
        return source.place(*(deeper if inner and deeper in source.lines else ("masks", name.partition(".")[0])))
    if "." in name:
        return source.place("components", name.partition(".")[0])
    return source.place("bonds", *_bond_key(source, name))


def _bond_key(source: Source, name: str) -> tuple[str | int, ...]:
    """Where a bond or mask stands in its section: under its name, or by its number in a list."""
    top = name.partition(".")[0]
    listed = isinstance(source.data.get("bonds"), list) and top.startswith("b") and top[1:].isdigit()
    return (int(top[1:]) - 1,) if listed else (top,)


def _component(
    name: str, entry: Mapping[str, Any], folder: Path | None = None, masks: Mapping[str, Graph] | None = None
) -> Component:
    """The component of one entry; vectors of mechanisms stay numbers, other lists hold names of nodes."""
    kind = find_kind(kind_name(entry.get("kind")), name, [key for key in entry if key != "kind"])
    if kind.bonded:
        return read_part(name, entry, masks or {})
    values = {key: value for key, value in entry.items() if key != "kind"}
    if not (kind.mechanical or kind.nodal):
        return kind.from_data(name, {key: _names(value) for key, value in values.items()})
    values = {key: _tuples(value) for key, value in values.items()}
    if issubclass(kind, Deformable):
        values |= _read_mesh(name, values.get("mesh"), folder)
    elif "frames" in kind.data_fields() and values.get("frames") is not None:
        _check_frames(values["frames"], f"{name}.frames")
    return kind.from_data(name, values)


def _read_mesh(name: str, given: Any, folder: Path | None) -> dict[str, Any]:
    """The mesh in a file that an entry names, next to the model file."""
    if not isinstance(given, dict) or "file" not in given:
        return {}
    from cotree.io.mesh_file import read_mesh

    file, options = given["file"], {key: value for key, value in given.items() if key != "file"}
    if not isinstance(file, str) or not set(options) <= {"orient", "edge_lines"}:
        raise ModelError(f"found {given!r}", where=f"{name}.mesh", expected="{file: panel.msh}")
    try:
        return {"mesh": read_mesh((folder or Path()) / file, **options)}
    except CotreeError as reason:
        found = f"the mesh file '{file}' cannot be used: {reason.found}"
        raise ModelError(found, where=f"{name}.mesh", expected=reason.expected, remedy=reason.remedy) from None


def _check_frames(given: Any, where: str) -> None:
    """Frames by name, each three numbers or a mapping of position, axis and angle."""
    expected = "frames by name, such as {A: [0.1, 0, 0], B: {position: [0, 0, 0], axis: [0, 0, 1], angle: pi/2}}"
    if not isinstance(given, dict):
        raise ModelError(f"found {_shown(given)}", where=where, expected=expected)
    for name, frame in given.items():
        vectors = [frame.get(key, ()) for key in ("position", "axis")] if isinstance(frame, dict) else [frame]
        for vector in vectors:
            if not isinstance(vector, tuple):
                raise ModelError(f"found {vector!r}", where=f"{where.partition('.')[0]}.{name}", expected=expected)


def _check(model: Model) -> None:
    """Values and names, and also that every frame, joint or node exists that something refers to."""
    if model.bonded:
        from cotree.bond.opening import open_graph

        open_graph(model)
        return
    if model.nodal:
        from cotree.formulation.nodal.structure import check_nodes

        check_nodes(model)
        return
    if not model.mechanical:
        model.check()
        return
    from cotree.formulation.branch import mechanism_graph

    mechanism_graph(model, dependent=False)


def _tuples(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return {key: _tuples(item) for key, item in value.items()} if isinstance(value, dict) else value


def _plain(value: Any) -> Any:
    """Lists for tuples and arrays, and Python's own numbers, which is all that YAML knows."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, str) else value


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
