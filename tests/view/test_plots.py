"""Plots: a panel for each unit, prefixes, names, few points for long histories."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import cotree as ct
from cotree.errors import ResultError
from cotree.results import EnergyAudit
from cotree.view.figures import to_svg
from cotree.view.plots import PrefixFormatter, plot_energy, plot_solution, pretty_unit, thinned, with_prefix
from view._models import motor

Run = tuple[ct.Model, ct.Solution]


def legend(ax: object) -> list[str]:
    return [t.get_text() for t in ax.get_legend().get_texts()]  # type: ignore[attr-defined]


def test_one_panel_for_each_unit(run: Run) -> None:
    figure = plot_solution(run[1], ["L1.current", "C6.voltage", "L2.current", "R5.power"])
    assert [legend(ax) for ax in figure.axes] == [["L1.current", "L2.current"], ["C6.voltage"], ["R5.power"]]
    assert [ax.get_ylabel() for ax in figure.axes] == ["current (A)", "voltage (V)", "power (W)"]
    assert figure.axes[-1].get_xlabel() == "time (s)"
    assert figure.axes[0].get_shared_x_axes().joined(figure.axes[0], figure.axes[2])


def test_lines_hold_the_results_in_si(run: Run) -> None:
    line = plot_solution(run[1], ["R4.current"]).axes[0].get_lines()[0]
    np.testing.assert_array_equal(line.get_ydata(), run[1]["R4.current"])
    np.testing.assert_array_equal(line.get_xdata(), run[1].t)


def test_without_names_the_states_are_shown(run: Run) -> None:
    shown = [name for ax in plot_solution(run[1]).axes for name in legend(ax)]
    assert sorted(shown) == sorted(run[1].states)
    bare = replace(run[1], states=())
    assert "L1.voltage" in legend(plot_solution(bare).axes[0])


def test_an_unknown_name_is_the_solutions_own_error(run: Run) -> None:
    with pytest.raises(ResultError, match=r"L1\.current"):
        plot_solution(run[1], ["L1.curent"])


def test_names_that_begin_with_an_underscore_or_a_dollar(run: Run) -> None:
    values = {"_x": run[1].t, "$y$": run[1].t}
    odd = replace(run[1], values=values, units={"_x": "V", "$y$": "V"})
    assert legend(plot_solution(odd, ["_x", "$y$"]).axes[0]) == ["_x", "$y$"]


def test_small_values_get_prefixes() -> None:
    m = ct.Model("RC")
    m.add(ct.VoltageSource("V", ("in", "ground"), voltage=1.0))
    m.add(ct.Resistor("R", ("in", "out"), resistance=1e6))
    m.add(ct.Capacitor("C", ("out", "ground"), capacitance=1e-12))
    figure = plot_solution(m.simulate(5e-6), ["R.current"])
    assert figure.axes[0].get_ylabel() == "current (µA)" or figure.axes[0].get_ylabel() == "current (nA)"
    assert figure.axes[0].get_xlabel() == "time (µs)"
    svg = to_svg(figure)
    shown = {"".join(e.itertext()) for e in ET.fromstring(svg).iter() if e.tag.endswith("text")}
    assert {"0", "1", "5"} <= shown


@pytest.mark.parametrize(
    ("unit", "largest", "expected"),
    [
        ("A", 0.02, ("mA", 1e-3)),
        ("V", 12.0, ("V", 1.0)),
        ("V", 9_999.0, ("V", 1.0)),
        ("Pa", 2e6, ("MPa", 1e6)),
        ("N m", 1e-5, ("µN·m", 1e-6)),
        ("m^3/s", 1e-5, ("m³/s", 1.0)),
        ("", 1e-9, ("", 1.0)),
        ("F", 1e-30, ("fF", 1e-15)),
        ("A", 0.0, ("A", 1.0)),
        ("A", np.inf, ("A", 1.0)),
    ],
)
def test_prefixes(unit: str, largest: float, expected: tuple[str, float]) -> None:
    prefixed, scale = with_prefix(unit, largest)
    assert prefixed == expected[0]
    assert scale == pytest.approx(expected[1])


def test_units_are_written_well() -> None:
    assert pretty_unit("kg m^2") == "kg·m²"
    assert pretty_unit("ohm") == "Ω"


def test_ticks_have_the_digits_that_tell_them_apart() -> None:
    ticks = PrefixFormatter(1.0)
    assert ticks.format_ticks([300.0001, 300.0002, 300.0003]) == ["300.0001", "300.0002", "300.0003"]
    assert ticks.format_ticks([-0.5, 0.0, 0.5]) == ["−0.5", "0.0", "0.5"]
    assert PrefixFormatter(1e-3).format_ticks([0.0, 0.02, 0.04]) == ["0", "20", "40"]


def test_long_histories_keep_their_peaks() -> None:
    t = np.linspace(0, 1, 200_001)
    values = np.sin(40 * t)
    values[123_456] = 7.0
    values[50_000] = np.nan
    x, y = thinned(t, values)
    assert len(x) <= 3100
    assert np.nanmax(y) == 7.0
    assert x[0] == 0
    assert x[-1] == 1
    assert np.all(np.diff(x) > 0)


def test_energy_and_its_closure(run: Run) -> None:
    above, below = plot_energy(run[1].energy()).axes
    assert legend(above) == ["supplied", "dissipated", "stored"]
    np.testing.assert_array_equal(below.get_lines()[0].get_ydata(), run[1].energy().closure)
    zero = np.zeros(3)
    assert plot_energy(EnergyAudit(np.arange(3.0), zero, zero, zero, 0.0)).axes[0].get_ylim() == (-1, 1)


def test_many_lines_are_cut_in_the_legend(run: Run) -> None:
    many = {f"x{k}.voltage": run[1].t * k for k in range(30)}
    figure = plot_solution(replace(run[1], values=many, units=dict.fromkeys(many, "V")), list(many))
    assert len(figure.axes[0].get_lines()) == 30
    assert len(legend(figure.axes[0])) == 18
    assert figure.axes[0].get_legend().get_title().get_text() == "18 of 30 names"


def test_written_files_are_the_same_twice(run: Run, tmp_path: Path) -> None:
    for suffix in ("svg", "png"):
        plot_solution(run[1], ["L1.current"], tmp_path / f"a.{suffix}")
        run[1].plot("L1.current", path=tmp_path / f"b.{suffix}")
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert ">L1.current</text>" in text
    assert "<metadata" not in text


def test_two_domains_share_the_time_axis() -> None:
    figure = plot_solution(motor().simulate(0.1))
    assert [ax.get_ylabel() for ax in figure.axes] == ["current (A)", "angular velocity (rad/s)", "torque (N·m)"]


def test_events_are_marked(run: tuple[ct.Model, ct.Solution]) -> None:
    _, solution = run
    marked = replace(solution, events={"a": np.array([0.1, 0.3]), "b": np.array([0.2])})
    for ax in plot_solution(marked, ["L1.current", "C6.voltage"]).axes:
        (lines,) = ax.collections
        assert sorted(segment[0, 0] for segment in lines.get_segments()) == [0.1, 0.2, 0.3]
        assert ax.get_xlim() == (0.0, 0.5)
    assert not plot_solution(solution, ["L1.current"]).axes[0].collections


def test_very_long_names_leave_room_for_the_plot() -> None:
    m = ct.Model("long")
    name = "source_" + "x" * 60
    m.add(ct.VoltageSource(name, ("a", "ground"), voltage="300 + 1e-6*t"))
    m.add(ct.Resistor("R", ("a", "ground"), resistance=1.0))
    figure = m.simulate(1.0, points=5).plot(f"{name}.voltage", "R.current")
    renderer = FigureCanvasAgg(figure).get_renderer()
    for ax in figure.axes:
        assert ax.get_position().width > 0.3
        for artist in (ax.get_legend(), ax.yaxis.label, *ax.get_yticklabels()):
            box = artist.get_window_extent(renderer)
            assert box.x0 >= 0 and box.x1 <= figure.bbox.x1  # noqa: PT018
