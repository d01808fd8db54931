"""The result of a run, addressed by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cotree.errors import ResultError, listing, shown
from cotree.maths.viewed import Viewed
from cotree.model.helpful import Hinted, answered, helpful
from cotree.results.components import completions, components, matching
from cotree.results.energy import DomainAudit, EnergyAudit, domain_audits, left_by
from cotree.results.origin import Origin
from cotree.results.restart import Restart
from cotree.system import Diagnostic, labelled, notes_of, outside_by, undetermined_by

Array = NDArray[np.float64]

SAME_TIME = 1e-12
"""Times that differ by less than this part of the run are the same."""


@dataclass(frozen=True)
class Statistics(Viewed):
    """What a run cost and how it was made."""

    integrator: str
    rtol: float
    atol: float | None
    """None where it was scaled automatically."""
    steps: int
    evaluations: int
    stretches: int
    """Smooth stretches between break points in time."""
    seconds_formulation: float
    seconds_integration: float


@answered
@dataclass(frozen=True, eq=False)
class Solution(Hinted):
    """Time histories by dotted name: ``sol["R3.current"]`` is an array over ``sol.t``.

    ``sol["crank.A.position"]`` is a vector: one row for each time, one column for each of x, y, z. A pattern gives a
    column for each result that it matches: ``sol["O.*"]`` for those of `matching("O.*")`.

    At a break point in time (a step of a source) the value just after it is kept. The arrays cannot be written to.
    """

    model: str
    t: Array
    values: Mapping[str, Array]
    units: Mapping[str, str]
    audit: EnergyAudit
    statistics: Statistics
    parameters: Mapping[str, float] = field(default_factory=dict)
    states: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    """What the program has to say about the model and the run."""
    complete: bool = True
    """False if the run was interrupted or failed before its end."""
    events: Mapping[str, Array] = field(default_factory=dict)
    """Times of each event by its name."""
    event_values: Mapping[str, Mapping[str, Array]] = field(default_factory=dict)
    """All results at the times of each event, by the names of event and result."""
    origin: Origin | None = None
    """The model, tree and options of the run, where they are known."""
    restart: Restart | None = None
    """Where an unfinished run can go on."""
    inner: tuple[str, ...] = ()
    """States among the values that no one asks for, such as absolute coordinates: kept for `state_at`."""
    held: tuple[str, ...] = ()
    """Values that switches and samples change, which a run that begins elsewhere has to know, too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", _sealed(self.t))
        object.__setattr__(self, "values", {name: _sealed(array) for name, array in self.values.items()})

    def __getitem__(self, name: str | Sequence[str]) -> Array:
        if isinstance(name, str) and name in self:
            return self.t if name == "t" else self.values[name]
        if isinstance(name, list | tuple) and name:
            return np.column_stack([self[each] for each in name])
        return np.column_stack([self.values[part] for part in self._meant(str(name))])

    def __contains__(self, name: object) -> bool:
        return name == "t" or name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.t)

    @property
    def notes(self) -> tuple[str, ...]:
        """The texts of the diagnostics."""
        return notes_of(self.diagnostics)

    @cached_property
    def undetermined(self) -> frozenset[str]:
        """Results that rigid bodies do not determine: reactions of redundant joints."""
        return undetermined_by(self.diagnostics)

    def label(self, name: str) -> str:
        """A name as tables and plots show it: marked where it is not determined, or outside its theory."""
        return labelled(name, self.undetermined, outside_by(self.diagnostics))

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order of the model."""
        return tuple(name for name in self.values if name not in self.inner) if self.inner else tuple(self.values)

    def matching(self, names: str | Iterable[str] | None = None) -> list[str]:
        """The names of scalar results that a name, the name of a vector, a pattern or a list of them stands for.

        Parameters
        ----------
        names
            ``"O.angle"``, ``"O.force"`` for its three components, ``"O.*"``, ``"*.force"``, a list of such, or None for
            all results. `plot`, `to_pandas`, `to_csv` and all other exports take the same.

        Raises
        ------
        ResultError
            If a name stands for nothing; the error gives the nearest one.
        """
        if names is None:
            return list(self.names)
        given = [names] if isinstance(names, str) else names
        if not isinstance(given, Iterable):
            raise ResultError(f"the names are {shown(given)}", expected="a name, a pattern, or a list of them")
        return list(dict.fromkeys(part for name in given for part in self._meant(name)))

    def _meant(self, name: str) -> list[str]:
        """The scalar results behind one name; a pattern stands for no inner states."""
        own = [name] if isinstance(name, str) and name in self else components(str(name), self.values)
        return own or matching([name], self.names)

    def _ipython_key_completions_(self) -> list[str]:
        return ["t", *completions(self.names)]

    def unit(self, name: str) -> str:
        """The SI unit of a result; of a vector that of its components."""
        if name == "t":
            return "s"
        units = dict.fromkeys(self.units[part] for part in self.matching(name))
        if len(units) > 1:
            raise ResultError(f"'{name}' stands for results in {listing(units)}", expected="results of one unit")
        return next(iter(units))

    def at(self, name: str, time: float) -> float:
        """The value at a time of the run, by linear interpolation between output points."""
        if isinstance(time, bool) or not isinstance(time, (int, float, np.number)):
            raise ResultError(f"the time is {time!r}", expected="a number in s")
        if not self.t[0] <= time <= self.t[-1]:
            raise ResultError(f"time {time:g} s", expected=f"between {self.t[0]:g} and {self.t[-1]:g} s")
        return float(np.interp(time, self.t, self[name]))

    def state_at(self, time: float) -> dict[str, float]:
        """All states at an output time by name: ``simulate(t_end, t_start=time, start=solution.state_at(time))``."""
        if isinstance(time, bool) or not isinstance(time, (int, float, np.number)):
            raise ResultError(f"the time is {time!r}", expected="a number in s")
        after = int(np.searchsorted(self.t, time))
        around = [k for k in (after - 1, after) if 0 <= k < len(self.t)]
        near = [k for k in around if abs(self.t[k] - time) <= SAME_TIME * max(abs(float(time)), float(np.ptp(self.t)))]
        if not near:
            times = " or ".join(f"{self.t[k]:.9g}" for k in around)
            raise ResultError(
                f"there is no output at t = {time:.9g} s, and a state cannot be interpolated",
                expected=f"an output time, such as {times} s",
                remedy="Choose one of them, or run again with this time among the output times",
            )
        missing = [name for name in self.states if name not in self.values]
        if missing:
            raise ResultError(f"the results do not hold the states {listing(missing)}", expected="all states")
        known = (*self.states, *(name for name in self.held if name in self.values))
        return {name: float(self.values[name][near[0]]) for name in known}

    @property
    def domains(self) -> dict[str, DomainAudit]:
        """The energy of every domain of a machine (electrical, mechanical, ...); empty where there is only one."""
        step = None if self.origin is None else self.origin.options.get("step")
        return domain_audits(self.t, self.values, left_by(self.statistics.rtol, self.statistics.steps, step))

    def energy(self) -> EnergyAudit:
        """The energy audit of the run."""
        return self.audit

    def __repr__(self) -> str:
        state = "" if self.complete else ", incomplete"
        reached = f" to {self.t[-1]:g} s" if len(self.t) else ""
        return f"<Solution of '{self.model}': {len(self.t)} times{reached}, {len(self.names)} names{state}>"

    def to_pandas(self, names: str | Iterable[str] | None = None) -> Any:
        """A pandas DataFrame indexed by time."""
        pandas = optional("pandas")
        chosen = self.matching(names)
        frame = pandas.DataFrame({name: self[name] for name in chosen}, index=pandas.Index(self.t, name="t"))
        frame.attrs["units"] = {name: self.unit(name) for name in chosen}
        return frame

    def to_xarray(self, names: str | Iterable[str] | None = None) -> Any:
        """An xarray Dataset over time, with units as attributes."""
        xarray = optional("xarray")
        data = {name: ("t", self[name], {"units": self.unit(name)}) for name in self.matching(names)}
        return xarray.Dataset(data, coords={"t": ("t", self.t, {"units": "s"})}, attrs={"model": self.model})

    def to_csv(self, path: str | Path, names: str | Iterable[str] | None = None) -> Path:
        """A comma-separated file: one header line ``t [s],R3.current [A],...``, then numbers that read back exactly."""
        from cotree.results.store import write_csv

        return write_csv(self, Path(path), self.matching(names))

    def to_parquet(self, path: str | Path, names: str | Iterable[str] | None = None) -> Path:
        """A Parquet file: columns ``t`` and one for each name, with units in the metadata of the columns."""
        from cotree.results.exports import write_parquet

        return write_parquet(self, Path(path), self.matching(names))

    def to_matlab(self, path: str | Path, names: str | Iterable[str] | None = None) -> Path:
        """A MATLAB file: ``t``, ``names``, ``units``, a matrix ``values``, and a structure ``results`` by name."""
        from cotree.results.exports import write_matlab

        return write_matlab(self, Path(path), self.matching(names))

    def to_hdf5(self, path: str | Path) -> Path:
        """One self-describing HDF5 file; `Solution.from_hdf5` reads it back without loss."""
        from cotree.results.hdf5 import write_hdf5

        return write_hdf5(self, Path(path))

    @classmethod
    @helpful
    def from_hdf5(cls, path: str | Path) -> Self:
        """Read a file written by `to_hdf5` or during a run, also if the run has not ended or was killed."""
        from cotree.results.hdf5 import read_hdf5

        return read_hdf5(Path(path), cls)


def _sealed(array: Array) -> Array:
    """A view of an array that cannot be written to; the array itself stays as it is."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def optional(package: str) -> Any:
    """A package that is installed on request only, or an error that says how."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise ResultError(
            f"{package} is not installed", remedy=f"Install it: pip install {package}, or pip install 'cotree[data]'"
        ) from None
