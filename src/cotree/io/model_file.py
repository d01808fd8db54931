"""Model files: a model and how to run it, as plain YAML or JSON.

name: RC circuit
datum: ground
parameters: {tau: 1 ms}
components:
  V: {kind: voltage_source, nodes: [in, ground], voltage: 5 V}
  R: {kind: resistor, nodes: [in, out], resistance: tau/1e-6}
  C: {kind: capacitor, nodes: [out, ground], capacitance: 1 uF}
run: {t_end: 5*tau, plot: [C.voltage, R.current]}

A mechanism names frames instead of nodes: ``ground``, a body, ``body.frame``, or a ground frame.

name: pendulum
gravity: [0, -9.81, 0]
components:
  arm: {kind: rigid_body, shape: {rod: {length: 300 mm, mass: 1 kg}}, frames: {O: [-0.15, 0, 0]}}
  O: {kind: revolute, frame_a: ground, frame_b: arm.O, axis: [0, 0, 1], angle: 20 deg}
run: {t_end: 2 s, tree: joint, plot: [O.angle]}

A value is a number in SI units, a number with a unit, or an expression of parameters. Other files are put in by
``include`` (see `cotree.io.assembly`), and an entry with ``for`` stands for many (see `cotree.io.patterns`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from cotree.errors import CotreeError, FileError, Mistakes, ModelError, SolveError, listing, nearest, shown
from cotree.io.assembly import assemble
from cotree.io.bond_file import bond_from, check_bonded, check_unbonded, kind_name, read_masks, read_part, write_bonds
from cotree.io.changes import change
from cotree.io.data_file import read_series, reference
from cotree.io.lossless import check_classes, check_lossless
from cotree.io.paths import named_file
from cotree.io.places import FileMistakes, Parts, Spot
from cotree.io.renaming import node_keys
from cotree.io.run_settings import RunSettings, read_run
from cotree.io.scalars import OddScalar, plain_value
from cotree.io.yaml_source import MAX_BYTES, Mark, Source, read_source
from cotree.model import Component, Model, find_kind
from cotree.model.quantity import Quantity, direction, read
from cotree.results.store import replacing

if TYPE_CHECKING:
    from cotree.bond.masks import Graph

M = TypeVar("M", bound=Model)

TABLES = ".cotree"
"""Folder next to a model file that keeps the tables of its flexible bodies."""


@dataclass(frozen=True)
class ModelFile(Generic[M]):
    """A model and its run settings."""

    model: M
    run: RunSettings
    source: Source
    parts: Parts

    @contextmanager
    def about(self, given: Collection[str] = ()) -> Iterator[None]:
        """Errors that are raised inside begin with the file, and the place of the component that they name.

        Values in ``given`` do not come from the file, so that it has no place for them.
        """
        try:
            yield
        except CotreeError as error:
            found = Mistakes()
            found.add(error)
            for each in found.errors:
                if not (each.where.startswith(self.source.name) or getattr(each, "__notes__", None)):
                    source, mark = self._mark(each, given)
                    each.within(source.at(mark))
                    if excerpt := source.excerpt(mark):
                        each.add_note(excerpt)
            if len(found.errors) > 1:
                found.report()
            raise

    def _mark(self, error: CotreeError, given: Collection[str]) -> tuple[Source, Mark | None]:
        """Where the file says what an error is about; no mark where it does not say it."""
        if isinstance(error, FileError) or (error.where and error.where in given):
            return self.source, None
        if not error.where and any(f"'{name}'" in error.found for name in given):
            return self.source, None
        if error.where:
            return self.parts.find(error.where, error.found)
        return (self.source, None) if isinstance(error, SolveError) else self.parts.seek(error.found, error.remedy)

    def no_end(self) -> FileError:
        """The error for a run whose end is not known."""
        return self.source.error(
            "no end time is given", "run", value=False, expected="run: {t_end: 2 s}, with a time of your own",
            remedy="Add it, or use --t-end",
        )  # fmt: skip

    def check_run(self, units: Mapping[str, str]) -> None:
        """Refuse, before anything is integrated, what does not fit to the results: ``units`` has all of them."""
        mistakes = Mistakes()
        with mistakes:
            self.check_plot(units)
        for name in self.run.start if isinstance(self.run.start, dict) else ():
            if name in units and (units[name] or not self.model.bonded):  # those of bare elements are not known
                info = Quantity(units[name], "finite", False, "")
                with mistakes, self.parts.placed(Spot(self.source, ("run", "start", name))):
                    given = read(self.source.data["run"]["start"][name], info, "")
                    self.model.check_reference(given, info, "")
        mistakes.report()

    def check_plot(self, results: Collection[str]) -> None:
        """Refuse names to plot that are no results of the model."""
        mistakes = Mistakes()
        vectors = {name.rpartition(".")[0] for name in results if name.endswith((".x", ".e0"))}
        for k, entry in enumerate(self.run.plot):
            for j, name in enumerate(entry if isinstance(entry, list) else [entry]):
                if name != "t" and name not in results and name not in vectors:
                    part = name.partition(".")[0]
                    own = [known for known in results if known.partition(".")[0] == part]
                    path = ("run", "plot", k, j) if isinstance(entry, list) else ("run", "plot", k)
                    error = self.source.error(
                        f"there is no result '{name}' to plot",
                        *path,
                        expected=f"one of {listing(own or results)}",
                        remedy=nearest(name, results),
                    )
                    mistakes.add(error)
        mistakes.report()


def read_model(
    path: Path, model_class: type[M], within: Path | None = None, changes: Mapping[str, Any] | None = None
) -> ModelFile[M]:
    """Read a model file; every mistake is reported with the file, the line, the column and the remedy.

    The error that is raised is the first one; its ``mistakes`` are all of them, up to twenty. Files
    that it names must lie in its folder, or in ``within``. Values in ``changes`` stand for those of the file.
    """
    if within is not None and not within.is_dir():
        raise FileError(f"there is no folder {within}", expected="the folder that files may come from")
    mistakes = FileMistakes()
    source = read_source(path, mistakes=mistakes)
    return _Reader(source, model_class, path.resolve().parent, within, mistakes).read(changes or {})


def model_from_data(data: Mapping[str, Any], model_class: type[M]) -> M:
    """The model described by plain data."""
    source = Source("", "data")
    source.data = dict(data)
    return _Reader(source, model_class).read().model


def model_data(model: Model, run: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A model as plain data of lists, mappings, numbers and texts, as its file holds it; or why none can hold it."""
    check_classes(model.components)
    data = write_bonds(model.to_data(), model.components) if model.bonded else model.to_data()
    plain: dict[str, Any] = _plain(data | ({"run": dict(run)} if run else {}))
    masks = read_masks(plain.get("masks") or {})
    check_lossless(model, plain["components"], lambda name, entry: _component(name, entry, None, masks))
    if run:
        source = Source("", "run settings")
        source.data = plain
        mistakes = Mistakes()
        read_run(Parts(source), model, mistakes)
        mistakes.report()
    return plain


def write_model(model: Model, path: Path, run: Mapping[str, Any] | None = None) -> Path:
    """Write a model file that `read_model` reads back to the same model: JSON where its name ends so, or YAML.

    Data that came from a file in the same folder or below stay there; the model file names it.
    """
    data = model_data(model, run)
    for name, series in model.series.items():
        data["data"][name] = reference(series, path.resolve().parent) or data["data"][name]
    text = _json(data) if path.suffix.lower() == ".json" else _yaml(data)
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as reason:
        found = f"the text {text[reason.start : reason.end]!r} is no Unicode"
        raise ModelError(found, where=model.name, remedy="Rename what it belongs to") from None
    if size > MAX_BYTES:
        raise ModelError(
            f"its file would have {size} bytes", where=model.name, expected=f"at most {MAX_BYTES}",
            remedy="Keep large meshes and data in files of their own: mesh: {file: ...}, data: {road: {file: ...}}",
        )  # fmt: skip
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


class _Reader(Generic[M]):
    def __init__(
        self, source: Source, model_class: type[M], folder: Path | None = None, within: Path | None = None,
        mistakes: FileMistakes | None = None,
    ) -> None:  # fmt: skip
        self.source, self.model_class, self.folder = source, model_class, folder
        self.root = folder if within is None else within.resolve()
        self.mistakes = FileMistakes() if mistakes is None else mistakes

    def read(self, changes: Mapping[str, Any] = MappingProxyType({})) -> ModelFile[M]:
        parts = assemble(self.source, self.root, self.mistakes)
        with self.mistakes:
            change(parts, changes)
        model = self._model(parts)
        run = read_run(parts, model, self.mistakes)
        self.mistakes.report()
        return ModelFile(model, run, self.source, parts)

    def _model(self, parts: Parts) -> M:
        model = self._empty(parts)
        for name, (value, spot) in parts.parameters.items():
            with self.mistakes, parts.placed(spot):
                model.parameter(name, value)
        self.mistakes.failed |= parts.parameters.keys() - model.parameters.keys()
        for name, (entry, spot) in parts.data.items():
            with self.mistakes, parts.placed(spot):
                model.check_data_name(name)
                model.add_data(read_series(name, entry, spot.source.folder, self.root))
        self.mistakes.failed |= parts.data.keys() - model.series.keys()
        if not parts.components and not self.mistakes.incomplete:
            self.mistakes.add(self.source.error("the model has no components", "components", value=False))
            return model
        masks: dict[str, Graph] = {}
        for name, (entry, _) in parts.masks.items():
            with self.mistakes, parts.placed(Spot(self.source, ("masks",))):
                masks |= read_masks({name: entry}, masks)
        self.mistakes.failed |= parts.masks.keys() - masks.keys()
        for name, (entry, spot) in parts.components.items():
            with self.mistakes, parts.placed(spot):
                if not isinstance(entry, dict):
                    raise ModelError(f"found {shown(entry)}", where=name, expected="{kind: ..., nodes: [...], ...}")
                (check_bonded if parts.bonds else check_unbonded)(name, entry)
                model.add(_component(name, entry, spot.source.folder, masks, self.root))
        for name, (entry, spot) in parts.bonds.items():
            with self.mistakes, parts.placed(spot):
                model.add(bond_from(name, entry))
        self.mistakes.failed |= (parts.components.keys() | parts.bonds.keys()) - model.components.keys()
        if not self.mistakes.incomplete:
            with self.mistakes, parts.placed(Spot(self.source, ("components",))):
                self._check(model)
        return model

    def _empty(self, parts: Parts) -> M:
        """The model without its components."""
        data, source = self.source.data, self.source
        name = data.get("name", Path(source.name).stem)
        if not isinstance(name, str):
            found = source.error(f"name is {shown(name)}", "name", expected="text; put a number in quotes")
            self.mistakes.add(found)
            name = str(name)
        options: dict[str, Any] = {}
        for key in ("datum", "planar", "inertia", "gravity"):
            value = data.get(key)
            with self.mistakes, parts.placed(Spot(source, (key,))):
                if value is not None:
                    given = {key: _names(value if isinstance(value, list) else [value]) if key == "datum" else value}
                    self.model_class(name, **given)
                    options |= given
        model = self.model_class(name, **options)
        model.folder = None if self.folder is None else str(self.folder / TABLES)
        return model

    def _check(self, model: M) -> None:
        """What the components say of each other; of a model with wrong entries only what is wrong in any case."""
        if not self.mistakes:
            _check(model)
            return
        if model.bonded or not model.components:
            return
        found = Mistakes()
        with found:
            _check(model)
        found.errors = [each for each in found.errors if each.where.partition(".")[0] in model.components]
        found.report()


def _component(
    name: str,
    entry: Mapping[str, Any],
    folder: Path | None = None,
    masks: Mapping[str, Graph] | None = None,
    root: Path | None = None,
) -> Component:
    """The component of one entry; numbers in lists of nodes are their names."""
    kind = find_kind(kind_name(entry.get("kind")), name, [key for key in entry if key != "kind"])
    if kind.bonded:
        return read_part(name, entry, masks or {})
    values = {key: value for key, value in entry.items() if key != "kind"}
    if not (kind.mechanical or kind.nodal):
        nodes = node_keys(kind)
        return kind.from_data(
            name, {k: _names(v, f"{name}.{k}") if k in nodes else _tuples(v) for k, v in values.items()}
        )
    values = {key: _tuples(value) for key, value in values.items()}
    if kind.flexible:
        values |= _read_mesh(name, values.get("mesh"), folder, root)
    elif "frames" in kind.data_fields() and values.get("frames") is not None:
        _check_frames(values["frames"], f"{name}.frames")
    return kind.from_data(name, values)


def _read_mesh(name: str, given: Any, folder: Path | None, root: Path | None) -> dict[str, Any]:
    """The mesh in a file that an entry names, next to the model file and inside of the root."""
    if not isinstance(given, dict) or "file" not in given:
        return {}
    from cotree.io.mesh_file import read_mesh

    file, options = given["file"], {key: value for key, value in given.items() if key != "file"}
    if not isinstance(file, str) or not set(options) <= {"orient", "edge_lines"}:
        raise ModelError(f"found {given!r}", where=f"{name}.mesh", expected="{file: panel.msh}")
    try:
        return {"mesh": read_mesh(named_file(file, folder, root), **options)}
    except CotreeError as reason:
        found = f"the mesh file '{file}' cannot be used: {reason.found}"
        raise ModelError(found, where=f"{name}.mesh", expected=reason.expected, remedy=reason.remedy) from None


def _check_frames(given: Any, where: str) -> None:
    """Frames by name, each three numbers or a mapping of position, axis and angle."""
    expected = "frames by name, such as {A: [0.1, 0, 0], B: {position: [0, 0, 0], axis: [0, 0, 1], angle: pi/2}}"
    if not isinstance(given, dict):
        raise ModelError(f"found {shown(given)}", where=where, expected=expected)
    for name, frame in given.items():
        vectors = [frame]
        if isinstance(frame, dict):
            vectors = [frame.get("position", ()), direction(frame.get("axis", ()))]
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


def _names(value: Any, where: str = "") -> Any:
    """Numbers used as node names, as SPICE users write them, become text."""
    if not isinstance(value, list):
        return value
    if any(isinstance(item, bool) for item in value):
        raise ModelError(
            f"found {value!r}",
            where=where,
            remedy="Put the name in quotes: YAML reads yes, no, on, off as truth values",
        )
    return [str(item) if isinstance(item, int) else item for item in value]


def _json(data: Any) -> str:
    """The text of plain data as JSON; what is no line or letter to a reader of YAML is escaped."""
    text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return re.sub("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _yaml(data: Any) -> str:
    """The text of plain data, with quotes around every text that a reader could take for something else."""
    import yaml

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):  # type: ignore[misc]
        pass

    def represented(dumper: Any, text: str) -> Any:
        try:
            style = None if plain_value(text) == text else "'"
        except OddScalar:
            style = "'"
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, represented)
    text: str = yaml.dump(data, Dumper=Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110)
    return text
