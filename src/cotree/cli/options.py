"""Options that many commands share, and the model that they lead to."""

# Annotations stay objects here: typer reads them from the signature of `ModelChoice`.
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cotree.errors import CotreeError, ModelError, nearest

if TYPE_CHECKING:
    from cotree import api
    from cotree.io import ModelFile

FORMULATIONS = ("file", "branch", "nodal", "network", "bond")

Json = Annotated[bool, typer.Option("--json", help="print one JSON object; errors as JSON, too")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="print nothing but errors")]
Time = Annotated[
    str | None, typer.Option("--time", "-t", metavar="TIME", help="time at which sources are taken; 0 if left out")
]
EndTime = Annotated[str | None, typer.Option("--t-end", metavar="TIME", help="end of the run: 2 or 500ms")]
Points = Annotated[int | None, typer.Option("--points", metavar="N", help="number of output times")]
ResultsOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="results: .h5 (kept as the run goes), .csv, .parquet or .mat"),
]
ReportOut = Annotated[
    Path | None, typer.Option("--report", metavar="FILE", help="HTML page with animation, graph, plots and equations")
]


@dataclass(frozen=True)
class ModelChoice:
    """A model file, and what the options change about it."""

    file: Annotated[Path, typer.Argument(metavar="FILE", help="model file: .yaml or .json", show_default=False)]
    set: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="change a value: R1.resistance=5, l=300mm")
    ] = None
    formulation: Annotated[
        str | None,
        typer.Option(
            "--formulation", metavar="NAME", help="branch, nodal, network or bond; file: as the model is written"
        ),
    ] = None
    tree: Annotated[
        str | None,
        typer.Option("--tree", metavar="NAME", help="normal, kinds, absolute, joint or random; file: as the file says"),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="which tree --tree random draws")] = None
    rotation_tree: Annotated[
        str | None,
        typer.Option("--rotation-tree", metavar="NAME", help="another tree for the rotations of a mechanism"),
    ] = None
    into_tree: Annotated[
        list[str] | None, typer.Option("--into-tree", metavar="EDGE", help="pin an edge into the tree")
    ] = None
    into_cotree: Annotated[
        list[str] | None, typer.Option("--into-cotree", metavar="EDGE", help="pin an edge into the cotree")
    ] = None
    within: Annotated[
        Path | None,
        typer.Option("--within", metavar="FOLDER", help="includes and meshes may come from here, not only beside FILE"),
    ] = None

    def read(self) -> "Chosen":
        """The model with its changes, formulation and tree."""
        settings = split_settings(self.set)
        if self.formulation not in (None, *FORMULATIONS):
            raise CotreeError(
                f"--formulation {self.formulation}",
                expected=f"one of {', '.join(FORMULATIONS)}",
                remedy=nearest(str(self.formulation), FORMULATIONS),
            )
        written, left = self._changed(settings)
        with written.about(settings):
            from cotree.model.changes import changed_values

            model = converted(written.model, self.formulation)
            changes = written.model.take(changed_values(written.model, left))
            return Chosen(self, written, model, self._tree(written, model), changes)

    def _changed(self, settings: dict[str, str]) -> "tuple[ModelFile[api.Model], dict[str, str]]":
        """The model file with what the equations depend on changed in it, and the values that a run takes."""
        try:
            written = load(self.file, self.within)
        except CotreeError:  # what is wrong may be what the settings change
            if not settings:
                raise
            return load(self.file, self.within, settings), {}
        same = self.formulation in (None, "file", formulation_of(written.model))
        free = {name: text for name, text in settings.items() if same and changeable(written.model, name, text)}
        fixed = {name: text for name, text in settings.items() if name not in free}
        return (load(self.file, self.within, fixed), free) if fixed else (written, free)

    def _tree(self, written: "ModelFile[api.Model]", model: "api.Model") -> Any:
        """The tree that options and file ask for; a pair where a mechanism has another one for rotations."""
        given = written.run.tree if model is written.model else None
        prefer, turning = (None if each == "file" else each for each in (self.tree, self.rotation_tree))
        pinned = self.into_tree or (), self.into_cotree or ()
        if model.bonded:
            every = (prefer, turning, given, *pinned[0], *pinned[1])
            if (named := next((each for each in every if each), None)) is not None:
                raise CotreeError(f"the tree {named}", expected="none: a bond graph has causality instead of a tree")
            return None
        if turning is not None and not model.mechanical:
            raise CotreeError(f"--rotation-tree {turning}", expected="a mechanism: a network has one tree")
        first, second = given if isinstance(given, list) else (given, None)
        first = prefer if prefer is not None else first
        second = turning if turning is not None else None if prefer is not None else second
        drawn = self.seed if "random" in (first, second) else None
        if self.seed != drawn:
            raise CotreeError(f"--seed {self.seed}", expected="a seed with --tree random only")
        made, *others = (
            model.tree(each, *pinned, seed=drawn if each == "random" else None)
            for each in ((first,) if second is None else (first, second))
        )
        return (made, *others) if others else made


@dataclass
class Chosen:
    """A model as the options want it."""

    choice: ModelChoice
    written: "ModelFile[api.Model]"
    model: "api.Model"
    tree: Any
    changes: dict[str, float]
    """Changed values that a run takes as parameters."""

    @property
    def trees(self) -> tuple[Any, Any]:
        """The trees of translations and rotations, which may be one."""
        return self.tree if isinstance(self.tree, tuple) else (self.tree, self.tree)

    @property
    def is_converted(self) -> bool:
        """Whether the model is another than the file's, with other names of results."""
        return self.model is not self.written.model

    def end(self, given: str | None) -> float:
        """The end of the run in s, as the option or else the file says."""
        end = self.written.run.t_end if given is None else seconds("--t-end", given)
        if end is None:
            raise self.written.no_end()
        return end

    @contextmanager
    def about(self) -> Iterator[None]:
        """Errors that are raised inside begin with the file, and the line of the component that they name."""
        with self.written.about(self.changes):
            yield


def takes_model(command: Callable[..., None], many: bool = False) -> Callable[..., None]:
    """Give a command the options of `ModelChoice`, which it gets as its first argument, or a list of them."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    names = [field.name for field in dataclasses.fields(ModelChoice)]
    file, *shared = inspect.signature(ModelChoice).parameters.values()
    if many:
        file = file.replace(annotation=Annotated[list[Path], *file.annotation.__metadata__])
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (file, *own, *shared)]

    def whole(**given: Any) -> None:
        options = {name: given.pop(name) for name in names}
        files = options.pop("file")
        choices = [ModelChoice(each, **options) for each in (files if many else [files])]
        command(choices if many else choices[0], **given)

    whole.__name__, whole.__doc__ = command.__name__, command.__doc__
    whole.__annotations__ = {each.name: each.annotation for each in parameters}
    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return whole


def takes_models(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that takes any number of model files."""
    return takes_model(command, many=True)


def load(file: Path, within: Path | None = None, settings: dict[str, str] | None = None) -> "ModelFile[api.Model]":
    """Read a model file with changed values; files that it names lie in its folder, or in another that is allowed."""
    from cotree.api import Model
    from cotree.io import read_model

    if file.suffix.lower() in RESULTS:
        raise CotreeError(
            f"{file} holds results",
            expected="a model file: .yaml or .json",
            remedy="Finish its run with cotree run --resume, or look at it with cotree report and cotree plot",
        )
    return read_model(file, Model, within, settings)


RESULTS = (".h5", ".hdf5")


def split_settings(settings: Iterable[str] | None) -> dict[str, str]:
    """Changed values by name, as they were written."""
    found: dict[str, str] = {}
    for setting in settings or ():
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not (name and equals and value):
            raise CotreeError(f"--set {setting}", expected="NAME=VALUE, such as R1.resistance=5 or l=300mm")
        if name in found:
            raise CotreeError(f"--set {name} is given twice", remedy="Keep one of the two")
        found[name] = value
    return found


def changeable(model: "api.Model", name: str, text: str) -> bool:
    """Whether a run takes a value as a parameter; others, and what follows time or a signal, are in the equations."""
    if _follows(text):
        return False
    owner, _, field = name.partition(".")
    part = model.gravity if owner == "gravity" else model.components.get(owner)
    if name in model.parameters or part is None:
        return name in model.parameters
    from cotree.model.quantity import quantities

    given, info = part.expressions.get(field), quantities(part).get(field)
    if given is None or info is None or given.names or given.measured or given.depends_on_time:
        return False
    zero = info.built_in == "zero" and given.number({}) == 0
    return not zero and info.built_in != "always"


def _follows(text: str) -> bool:
    from cotree.model.expression import Expression

    try:
        given = Expression(text)
    except CotreeError:  # a value with a unit
        return False
    return bool(given.depends_on_time or given.measured or given.called)


def converted(model: "api.Model", formulation: str | None) -> "api.Model":
    """The model in another formulation."""
    now = formulation_of(model)
    if formulation in (None, "file", now):
        return model
    if formulation == "branch" and now == "nodal":
        return model.to_branch()
    if formulation == "bond" and now != "nodal":
        return model.to_bond_graph()
    if formulation == "bond":
        return model.to_branch().to_bond_graph()
    if formulation == "network" and now == "bond":
        return model.to_network()
    ways = {"branch": "bond", "nodal": "branch or bond", "network": "bond", "bond": "network"}
    raise ModelError(
        f"the {WORDS[now]} '{model.name}' cannot be written in the formulation '{formulation}'",
        expected=f"{ways[now]}, or file for the formulation of the file",
    )


WORDS = {
    "bond": "bond graph",
    "branch": "mechanism",
    "nodal": "structure in nodal coordinates",
    "network": "network",
}


def formulation_of(model: "api.Model") -> str:
    """The formulation in which a model is written."""
    if model.bonded:
        return "bond"
    return "nodal" if model.nodal else "branch" if model.mechanical else "network"


def check_ending(option: str, path: Path | None, *endings: str, also: str = "") -> None:
    """Refuse a file whose ending says nothing, before anything is computed."""
    if path is not None and path.suffix.lower() not in (*endings, also):
        raise CotreeError(f"{option} {path}", expected=f"a name that ends in {' or '.join(endings)}")


def seconds(option: str, given: str | None) -> float | None:
    """A time as it was written: a number in s, or with a unit."""
    if given is None:
        return None
    from cotree.model.quantity import finite

    return finite(given, option, "a number in s, or with a unit such as 500ms", unit="s")
