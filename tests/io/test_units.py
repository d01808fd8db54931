"""Units: every value of a model may have one, and a wrong one is refused."""

from __future__ import annotations

import contextlib
import dataclasses
import math

import pytest

import cotree as ct
from cotree.model import KINDS, Expression
from cotree.model.quantity import Quantity
from cotree.model.quantity import read as read_value
from cotree.model.units import described, dimension_of, number_with_unit, parse_unit

VALUES = {  # from the SI brochure (9th edition) and NIST SP 811, appendix B.8
    "300 mm": 0.3, "12 V": 12, "5 kN/m": 5e3, "2.1e5 MPa": 2.1e11, "30 deg": math.pi / 6, "30°": math.pi / 6,
    "1500 rpm": 50 * math.pi, "2 bar": 2e5, "20 degC": 293.15, "68 °F": 293.15, "0.5 kg*m^2": 0.5, "0.5 kg m²": 0.5,
    "0.5 kg·m**2": 0.5, "1 Ω": 1, "4.7 kohm": 4700, "10 uF": 1e-5, "10 µF": 1e-5, "10 μF": 1e-5, "3 in": 0.0762,
    "2 ft": 0.6096, "1 lbf": 4.4482216152605, "1 psi": 6894.757293168361, "2 h": 7200, "3 min": 180, "6 l/min": 1e-4,
    "5 g": 5e-3, "-9.81 m/s^2": -9.81, "5 1/min": 1 / 12, "100 mm2": 1e-4, "5J": 5, "5 J/(kg K)": 5,
    "3 kWh": 1.08e7, "5 s⁻¹": 5, ".5m": 0.5, "1e3 mm": 1, "50 %": 0.5, "1 rev/s": 2 * math.pi, "60 mph": 26.8224,
    "1 tonne": 1000, "1 atm": 101325, "1 Nm": 1, "2 kNm/rad": 2000, "1 lb": 0.45359237,
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_values_in_si_units(text):
    assert Expression(text).number({}) == pytest.approx(VALUES[text], rel=1e-15)
    assert Expression(text).text == text


def test_no_warning_of_pythons_parser_comes_through(recwarn):
    for text in ("3in", "5if", "0x", "1or", "0b12"):
        with contextlib.suppress(ct.ExpressionError):
            Expression(text)
    assert not recwarn.list


def test_decimal_prefixes_give_the_nearest_number():
    """A file with 0.1 mm holds the same number as one with 1e-4."""
    for n in range(1, 400):
        assert number_with_unit(f"{n} mm")[0] == float(f"{n}e-3")
        assert number_with_unit(f"0.{n} uF")[0] == float(f"0.{n}e-6")


REFUSED = {
    "5 kohn": "there is no unit 'kohn'. Expected a number, a number with a unit such as 300 mm, or an expression. "
    "Did you mean 'kohm'?",
    "1k": "'k' alone is a prefix",
    "2t": "A product needs its sign: 2*t, with the time t. A metric ton is 'tonne'",
    "2 x": "A product needs its sign: 2*x",
    "5 J/kg K": "can be read in two ways",
    "5 degC/W": "stand alone",
    "5 degC^2": "stand alone",
    "5 m^99": "the power 99",
    "5 m^": "'^' in it",
    "5 m/": "it ends early",
    "5 ((m)": "cannot be read",
    "5 newtons": "Did you mean 'N'?",
    "5 mm + 2": "A unit belongs to one number alone: inside of expressions, write values in SI units",
    "1,5": "Write a decimal point, not a comma: 1.5",
    "1,5 mm": "Write a decimal point, not a comma: 1.5",
    "1e300 km": "beyond 1e300",
    "1e999 m": "beyond 1e300",
    "5 " + "m" * 80: "cannot be read",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_unit_is_told(text):
    with pytest.raises(ct.ExpressionError) as told:
        Expression(text)
    assert REFUSED[text] in str(told.value)


def every_quantity():
    for kind, cls in KINDS.items():
        for f in dataclasses.fields(cls):
            info = f.metadata.get("quantity") or f.metadata.get("vector", (None,))[0]
            if info is not None:
                yield kind, f.name, info
        for name, info in getattr(cls, "shapes", {}).items() if cls.bonded else ():
            yield kind, name, info


def test_the_unit_of_every_field_is_known_and_coherent():
    """Values are taken in SI units, so a field in another unit would be wrong by a factor."""
    seen = set()
    for kind, name, info in every_quantity():
        for unit in info.unit.split(" or "):
            if not unit.endswith("^n"):  # follows from a power that the user gives
                assert dimension_of(unit) is not None, (kind, name, unit)
                assert not unit or parse_unit(unit).factor == 1, (kind, name, unit)
                seen.add(unit)
    assert len(seen) > 30


SAMPLES = {"m": "1 kg", "kg": "1 m", "rad": "1 m", "s": "1 m"}


def test_every_field_refuses_a_value_of_another_dimension():
    count = 0
    for kind, name, info in every_quantity():
        if info.free:
            continue
        wrong = SAMPLES.get(info.unit, "5 kg rad^3")
        with pytest.raises(ct.ModelError, match=r"' is an? "):
            read_value(wrong, info, f"{kind}.{name}")
        count += 1
    assert count > 250


def test_rad_may_be_left_out_and_hz_is_no_angular_velocity():
    for unit, text in {"N m/rad": "5 N m", "N m s/rad": "5 N m s", "rad/s": "5 1/s"}.items():
        assert read_value(text, Quantity(unit, "finite", False, ""), "x").number({}) == 5
    with pytest.raises(ct.ModelError, match=r"is a frequency. Expected an angular velocity: .* Give turns in rpm"):
        ct.rotational.SpeedSource("s", ("a", "b"), speed="50 Hz")
    with pytest.raises(ct.ModelError, match="G is the gram"):
        ct.Model("m", gravity=[0, 0, "-1 g"])
    assert described(dimension_of("kg m")) == "a value in m kg"


MECHANISM = """\
gravity: [0, -9810 mm/s^2, 0]
parameters: {l: 300 mm, k: l, m: 2 lb}
components:
  arm:
    kind: rigid_body
    shape: {rod: {length: l, mass: m, radius: 1 cm}}
    frames: {O: {position: [-15 cm, 0, 0], axis: [0, 0, 1], angle: 90 deg}}
  O: {kind: revolute, frame_a: ground, frame_b: arm.O, angle: 20 deg, angle_rate: 60 rpm}
  s: {kind: joint_spring, on: O, stiffness: 2 N m, rest: 10 deg}
  bar:
    kind: beam
    length: k
    elements: 2
    section: {rectangle: {width: 20 mm, height: 5 mm}}
    material: {young: 70 GPa, density: 2.7 tonne/m^3, poisson: 0.33}
    masses: {tip: {at: end, mass: 100 g}}
    below: 1 kHz
    damping: 2 %
  B: {kind: weld, frame_a: arm, frame_b: bar}
run: {t_end: 0.5 min, max_step: 10 ms, start: {O.angle: 30 deg}}
"""


def test_units_in_a_whole_file_and_saved_as_they_were(read, tmp_path):
    file = read(MECHANISM)
    values = file.model.component_values()
    assert values["arm.length"] == values["bar.length"] == 0.3
    assert values["arm.mass"] == pytest.approx(0.90718474)
    assert values["arm.radius"] == 0.01
    assert values["arm.O.angle"] == math.pi / 2
    assert values["gravity.y"] == -9.81
    assert values["O.angle_rate"] == pytest.approx(2 * math.pi)
    bar = file.model.components["bar"]
    assert dict(bar.section.values) == {"width": 0.02, "height": 0.005}
    assert (bar.material.young, bar.material.density) == (7e10, 2700)
    assert (bar.masses["tip"]["mass"], bar.below, bar.damping) == (0.1, 1000, 0.02)
    assert (file.run.t_end, file.run.max_step, file.run.start) == (30, 0.01, {"O.angle": math.pi / 6})
    again = ct.load(file.model.save(tmp_path / "again.yaml"))
    assert again.components == file.model.components
    assert "length: l" in (tmp_path / "again.yaml").read_text()
    assert "l: 300 mm" in (tmp_path / "again.yaml").read_text()
    assert "angle: 20 deg" in (tmp_path / "again.yaml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("length: k", "length: m", "bar.length: the parameter 'm' (2 lb) is a mass. Expected a length"),
        ("mass: m,", "mass: k,", "arm.mass: the parameter 'k' (300 mm) is a length. Expected a mass"),
        (
            "t_end: 0.5 min",
            "t_end: l",
            "the parameter 'l' (300 mm) is a length. Expected a time: a positive number in s",
        ),
        ("t_end: 0.5 min", "t_end: 2 m", "'2 m' is a length. Expected a time"),
        ("2 N m,", "2 N/m,", "s.stiffness: '2 N/m' is a stiffness. Expected a torsional stiffness"),
        ("70 GPa", "70 mm", "young: '70 mm' is a length. Expected a pressure or a stress"),
        ("20 mm,", "20 kg,", "width (in m): '20 kg' is a mass. Expected a length"),
        ("1 kHz", "1 m", "bar.below: '1 m' is a length. Expected a frequency"),
        ("[-15 cm, 0, 0]", "[-15 kg, 0, 0]", "arm.O.x: '-15 kg' is a mass. Expected a length"),
    ],
)
def test_wrong_units_in_a_file(read, old, new, message):
    assert old in MECHANISM
    with pytest.raises(ct.FileError) as told:
        read(MECHANISM.replace(old, new))
    assert message in str(told.value)
    assert str(told.value).startswith("m.yaml:")


def test_converted_models_keep_their_values():
    """Values with units go through formulas that other rooms write around them."""
    m = ct.Model("m")
    m.add(ct.VoltageSource("V", ("a", "ground"), voltage="12 V"))
    m.add(ct.Transformer("T", ("a", "ground"), ("b", "ground"), ratio="50 %"))
    m.add(ct.Resistor("R", ("b", "ground"), resistance="2 kohm"))
    m.add(ct.Capacitor("C", ("b", "ground"), capacitance="10 uF", initial="2400 cV"))
    one = m.simulate(1e-3)
    two = m.to_bond_graph().simulate(1e-3)
    assert one["R.current"][-1] == pytest.approx(0.012, rel=1e-6)
    assert two["R.current"][-1] == pytest.approx(0.012, rel=1e-6)
