"""How a model takes series of data, so that its components can follow them."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from cotree.errors import ModelError
from cotree.maths.functions import ARITY, CONSTANTS
from cotree.model.component import Component
from cotree.model.expression import TIME, Expression
from cotree.model.helpful import Hinted
from cotree.model.series import Series

C = TypeVar("C", bound=Component)


class WithData(Hinted):
    """The part of a model that holds series of data."""

    components: dict[str, Component]
    parameters: dict[str, Expression]
    series: dict[str, Series]

    def data(
        self,
        name: str,
        times: Any,
        values: Any = None,
        *,
        unit: str | None = None,
        time_unit: str | None = None,
        interpolation: str = "spline",
        outside: str = "error",
        max_gap: float | None = None,
        rotation: str | None = None,
    ) -> str:
        """Give a series of measured or computed data a name that expressions can use.

        In expressions, ``road`` is the value at time t, ``road(x)`` the value at x, and ``road.rate`` the first and
        ``road.rate.rate`` the second derivative by the argument.

        Parameters
        ----------
        name
            Letters, digits and _.
        times
            Times in s, or positions in m or any other argument, in growing order; or a pandas Series with its index.
        values
            One value for each time; for rotations four (quaternion) or three (vector, euler) in each row.
        unit, time_unit
            Units of the values and of the times, such as ``mm`` and ``ms``; SI units if not given.
        interpolation
            ``spline`` (cubic, continuous curvature), ``quintic`` (smoother still), ``monotone`` (cubic without
            overshoot), ``linear`` or ``step`` (each value until the next point).
        outside
            What holds outside of the points: ``error`` refuses runs that need it, ``hold`` keeps the first and the
            last value, ``extend`` goes on straight, ``repeat`` begins anew.
        max_gap
            Longest distance of two points, in the unit of the times. If not given, a gap in evenly spaced points of
            more than ten times their distance is an error.
        rotation
            ``quaternion`` (scalar first), ``vector`` (axis times angle) or ``euler`` (about x, then the new y, then
            the new z) for the orientation of a `FrameDrive`.

        Returns
        -------
        str
            The name.

        Examples
        --------
        >>> m = Model()
        >>> m.data("road", [0, 0.5, 1.0], [0, 20, 0], unit="mm", outside="hold")
        'road'
        """
        if values is None and hasattr(times, "index") and hasattr(times, "to_numpy"):
            times, values = times.index, times.to_numpy()
            if hasattr(times, "total_seconds"):
                times = times.total_seconds()
            elif getattr(times, "dtype", None) is not None and times.dtype.kind == "M":
                times = (times - times[0]).total_seconds()
        options = {
            "unit": unit, "time_unit": time_unit, "interpolation": interpolation, "outside": outside,
            "max_gap": max_gap, "rotation": rotation,
        }  # fmt: skip
        self.check_data_name(name)
        return self.add_data(Series.read(name, times, values, options))

    def check_data_name(self, name: Any) -> None:
        """Refuse a name that expressions cannot hold, or that is taken."""
        wrong = not isinstance(name, str) or not name.isidentifier() or name.startswith("_")
        if wrong or name == TIME or name in {*ARITY, *CONSTANTS}:
            raise ModelError(
                f"the name {name!r} cannot be used for data",
                expected="letters, digits and _, and not t, a constant or a function",
            )
        if name in {*self.series, *self.data_names(), *self.parameters, *self.components}:
            raise ModelError(f"the name '{name}' of data is taken", remedy="Rename one of the two")

    def add_data(self, series: Series) -> str:
        """Add a series; components that name it follow it from now on."""
        self.check_data_name(series.name)
        self.series[series.name] = series
        for name, component in self.components.items():
            self.components[name] = self._followed(component)
        return series.name

    def data_names(self) -> set[str]:
        """The names by which expressions call the series: a rotation has four, ``tool_e0`` to ``tool_e3``."""
        return {name for series in self.series.values() for name in series.names}

    def _followed(self, component: C) -> C:
        """A component with ``road(t)`` for ``road``, so that whatever follows sees that it changes with time."""
        known, changed = self.data_names(), dict[str, Any]()
        for f in dataclasses.fields(component):
            given = getattr(component, f.name)
            if isinstance(given, str) and "quantity" in f.metadata:
                changed[f.name] = Expression(given).called_at_time(known)
            elif isinstance(given, tuple) and "vector" in f.metadata:
                changed[f.name] = tuple(
                    Expression(each).called_at_time(known) if isinstance(each, str) else each for each in given
                )
        changed = {name: value for name, value in changed.items() if value != getattr(component, name)}
        return dataclasses.replace(component, **changed) if changed else component
