"""What every registered component must satisfy, whoever wrote it: data sheet, law, and power."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import cotree.terminal  # noqa: F401  (registers all kinds)
from _made import component as component_made
from cotree.model import KINDS, THERMAL, Component, Role, quantities, quantity
from cotree.model.units import BASES, dimension_of
from cotree.terminal.mounts import Mount
from cotree.terminal.scalar import IdealGyrator, IdealTransformer
from cotree.terminal.sticking import Sticking
from laws.fluid_samples import FLUIDS
from laws.network_samples import DRIVES, HELD, SAMPLES

SOURCES = (Role.ACROSS_SOURCE, Role.THROUGH_SOURCE)
STORAGES = (Role.ACROSS_STORAGE, Role.THROUGH_STORAGE)
NETWORK = {kind: cls for kind, cls in sorted(KINDS.items()) if cls.ports}
LAWS = {kind: cls for kind, cls in NETWORK.items() if not issubclass(cls, Mount)}
PLAIN = {kind: cls for kind, cls in LAWS.items() if kind not in SAMPLES}
"""Kinds that take any positive values."""
EVERY = pytest.mark.parametrize("kind", NETWORK)


def sample(kind: str) -> Component:
    """One component of the kind: with all its values where they are listed, else made from its class."""
    return several(kind)[0]


def several(kind: str) -> list[Component]:
    """All samples of a kind: those that are listed, and one made from its class."""
    return [*(KINDS[kind](name="X1", **values) for values in SAMPLES.get(kind, ())), component_made(kind)]


def numbers(component: Component, held: tuple[float, ...] = ()) -> SimpleNamespace:
    """The values of a component with ``k`` = 0.3 at t = 0.5, and its held values."""
    given = {name: each.evaluate({"k": 0.3, "t": 0.5}) for name, each in component.expressions.items()}
    held = held or component.held_start({k: v for k, v in given.items() if "." not in k})
    power = {"power": 0.7} if component.kind == "thermal.loss" else {}  # that of another component
    return SimpleNamespace(**component.gather(given), **dict(zip(component.holding, held, strict=True)), **power)


def terminals(component: Component) -> tuple[list[SimpleNamespace], ca.SX]:
    """Symbols for each port, and all of them as one column: across, through, d_across, d_through, position by port."""
    ports, every = [], []
    for k in range(len(component.ports)):
        names = ("across", "through", "d_across", "d_through", "position")
        symbols = {name: ca.SX.sym(f"{name}{k}") for name in names}
        ports.append(SimpleNamespace(**symbols))
        every += symbols.values()
    return ports, ca.vertcat(*every)


def power(component: Component, ports: list[SimpleNamespace]) -> ca.SX:
    """Power into the component; heat flow is a power by itself."""
    pairs = zip(component.ports, ports, strict=True)
    return sum(
        (e.through if port.domain is THERMAL else port.domain.power(e.across, e.through) for port, e in pairs), ca.SX(0)
    )


def test_all_kinds_of_the_issue_are_there() -> None:
    rooms = {kind.rpartition(".")[0] for kind in NETWORK}
    assert {"", "translational", "rotational", "thermal", "hydraulic"} <= rooms
    wanted = "resistor capacitor inductor voltage_source current_source switch diode transformer gyrator"
    for name in [*wanted.split(), "operational_amplifier", "mutual_inductance"]:
        assert name in NETWORK


@EVERY
def test_data_sheet(kind: str) -> None:
    cls, component = KINDS[kind], sample(kind)
    assert cls.kind == kind
    assert cls.__dict__.get("__doc__"), "a component says what its law is"
    assert "=" in cls.__doc__ or "resistance" in cls.__doc__ or "Ideal" in cls.__doc__
    for field, info in quantities(cls).items():
        assert info.meaning, field
    if cls.ports[0].role in SOURCES and not issubclass(cls, (Sticking, Mount)):
        assert component.supplies
        assert len(cls.ports) == 1
        assert callable(cls.signal)


def scaled(component: Component, base: str, powers: dict[str, int], seed: int = 0) -> float:
    """How far a point of the law is from it, in units in which one ``base`` is two; 0 where it still meets the law.

    ``powers`` are dimensions to try for fields that have no unit.
    """
    ports, column = terminals(component)
    at, unit = BASES.index(base), lambda text: 2.0 ** (dimension_of(text) or (0,) * len(BASES))[BASES.index(base)]
    of = quantities(type(component))
    plain = vars(numbers(component))
    other = {
        name: value * 2.0 ** powers.get(name, (dimension_of(of[name].unit) or {at: 0})[at])
        if isinstance(value, float | int) and name in of
        else value
        for name, value in plain.items()
    }
    factors: list[float] = []
    for port in component.ports:
        a, t, s = unit(port.domain.across_unit), unit(port.domain.through_unit), unit("s")
        factors += [a, t, a / s, t / s, a * s]
    z = met(component, SimpleNamespace(**plain), seed) * np.array(factors)
    law = ca.vertcat(*(ca.SX(each) for each in component.law(SimpleNamespace(**other), *ports)))
    value, slope = ca.Function("law", [column], [law, ca.jacobian(law, column)])(z)
    return float((np.abs(np.array(value)).ravel() / (1e-300 + np.abs(np.array(slope)) @ np.abs(z))).max())


def forgotten_units(component: Component) -> dict[str, str]:
    """Fields that say they have no unit, with the one that the law needs for them.

    The law must hold in other units of length, mass, time, current or temperature, as it is written. Where it needs a
    dimension in one of them for a field without any, that is what was forgotten. Where it needs several, a universal
    constant may stand in the law beside the field, and nothing is concluded.
    """
    found = {}
    pure = [name for name, info in quantities(type(component)).items() if not info.unit and info.meaning]
    for name in (each for each in pure if isinstance(getattr(numbers(component), each), float | int)):
        wrong = [base for base in ("m", "kg", "s", "A", "K") if scaled(component, base, {name: 0}) > 1e-9]
        if len(wrong) == 1:
            fits = [power for power in range(-4, 5) if scaled(component, wrong[0], {name: power}) < 1e-9]
            if fits:
                found[name] = f"{wrong[0]}^{fits[0]}"
    return found


@pytest.mark.parametrize("kind", LAWS)
def test_what_has_no_unit_is_a_pure_number(kind: str) -> None:
    assert forgotten_units(sample(kind)) == {}


def test_a_forgotten_unit_is_found() -> None:
    class Bare(IdealTransformer):
        """u = r w, and the radius says nothing of its unit."""

        ports = KINDS["wheel"].ports
        kind = "test.bare"
        translational: tuple[str, str]
        rotational: tuple[str, str]
        radius: float = quantity("", "rolling radius")

        def ratio_of(self, v: Any) -> Any:
            return v.radius

    assert forgotten_units(Bare("X1", ("a", "b"), ("c", "d"), radius=0.3)) == {"radius": "m^1"}


@EVERY
def test_start_value_has_the_unit_of_what_it_starts(kind: str) -> None:
    """``initial`` is a voltage, a current, a speed: its unit belongs on the data sheet and in messages."""
    cls = KINDS[kind]
    info = quantities(cls).get("initial")
    port = cls.ports[0]
    assert (info is not None) == (len(cls.ports) == 1 and port.role in STORAGES)
    if info is not None:
        unit = port.domain.across_unit if port.role is Role.ACROSS_STORAGE else port.domain.through_unit
        assert info.unit == unit or f"in {unit}" in cls.__doc__


@EVERY
def test_edges_match_ports(kind: str) -> None:
    component = sample(kind)
    edges = component.edges()
    assert len(edges) == len(component.ports)
    assert len({edge.name for edge in edges}) == len(edges)
    for edge, port, (plus, minus) in zip(edges, component.ports, component.node_pairs(), strict=True):
        assert (edge.tail, edge.head) == (minus, plus)
        assert edge.domain is port.domain
        assert edge.role is port.role
        assert edge.kind is port.role.kind
        assert edge.component == "X1"


@EVERY
def test_plain_data_and_back(kind: str) -> None:
    component = sample(kind)
    data = component.to_data()
    assert data.pop("kind") == kind
    assert all(isinstance(value, (int, float, str, list)) for value in data.values())
    assert type(component).from_data("X1", data) == component
    for f in dataclasses.fields(component):
        if f.name in quantities(component):
            assert data.get(f.name, f.default) == getattr(component, f.name)


@pytest.mark.parametrize("kind", LAWS)
def test_one_residual_for_each_port(kind: str) -> None:
    component = sample(kind)
    ports, column = terminals(component)
    law = list(component.law(numbers(component), *ports))
    assert len(law) == len(component.ports)
    jacobian = np.array(ca.evalf(ca.substitute(ca.jacobian(ca.vertcat(*law), column), column, 0.1)))
    assert np.linalg.matrix_rank(jacobian) == len(law), "the equations of a law are independent"
    assert len(component.initial_values({})) == len(component.ports)


def fixed_law(component: Component) -> tuple[ca.Function, ca.Function, list[SimpleNamespace]]:
    ports, column = terminals(component)
    law = ca.vertcat(*(ca.SX(residual) for residual in component.law(numbers(component), *ports)))
    return ca.Function("law", [column], [law]), ca.Function("power", [column], [power(component, ports)]), ports


def linear_in_through(kind: str) -> bool:
    """Whether a passive one-port gives its through variable at once; others are looked at on points of their law."""
    if KINDS[kind].supplies:
        return False
    ports, _ = terminals(sample(kind))
    law = ca.SX(sample(kind).law(numbers(sample(kind)), *ports)[0])
    return bool(ca.which_depends(law, ports[0].through, 2)[0] is False)


@pytest.mark.parametrize(
    "kind",
    [k for k, c in PLAIN.items() if c.ports[0].role is Role.STATIC and len(c.ports) == 1 and linear_in_through(k)],
)
def test_static_one_ports_only_dissipate(kind: str) -> None:
    """For any across variable, the through variable of the law takes power in, and none at zero."""
    component = sample(kind)
    law, _, _ = fixed_law(component)
    for across in [*np.random.default_rng(1).normal(size=20).tolist(), 0.0]:
        at = lambda f: float(law([across, f, 0, 0, 0]))  # noqa: B023, E731
        through = -at(0.0) / (at(1.0) - at(0.0))
        assert across * through >= 0.0
        assert (through == pytest.approx(0.0, abs=1e-15)) == (across == 0.0)


@pytest.mark.parametrize("kind", [k for k, c in PLAIN.items() if c.ports[0].role in STORAGES])
def test_stored_energy_changes_by_the_power(kind: str) -> None:
    """dE/dt = power for any values: the law gives the conjugate variable of each storage variable's rate."""
    component = sample(kind)
    ports, column = terminals(component)
    v = numbers(component)
    law = ca.vertcat(*(ca.SX(residual) for residual in component.law(v, *ports)))
    conjugate = ca.vertcat(
        *(e.through if p.role is Role.ACROSS_STORAGE else e.across for p, e in zip(component.ports, ports, strict=True))
    )
    matrix = ca.jacobian(law, conjugate)
    solved = -ca.solve(matrix, ca.substitute(law, conjugate, ca.SX.zeros(*conjugate.shape)))
    energy = ca.SX(component.stored_energy(v, *ports))
    rate = sum(ca.jacobian(energy, e.across) * e.d_across + ca.jacobian(energy, e.through) * e.d_through for e in ports)
    difference = ca.substitute(rate - power(component, ports), conjugate, solved)
    value = ca.Function("difference", [column], [difference])
    for seed in range(5):
        assert float(value(np.random.default_rng(seed).normal(size=column.numel()))) == pytest.approx(0.0, abs=1e-12)
    zero = ca.Function("energy", [column], [energy])
    assert float(zero(np.zeros(column.numel()))) == 0.0


@pytest.mark.parametrize("kind", [k for k, c in LAWS.items() if issubclass(c, IdealTransformer | IdealGyrator)])
def test_ideal_couplings_lose_nothing(kind: str) -> None:
    """Every solution of the linear law lies in the null space of the power."""
    component = sample(kind)
    ports, _ = terminals(component)
    law = ca.vertcat(*(ca.SX(residual) for residual in component.law(numbers(component), *ports)))
    variables = ca.vertcat(*(part for e in ports for part in (e.across, e.through)))
    matrix = np.array(ca.evalf(ca.jacobian(law, variables)))
    _, _, basis = np.linalg.svd(matrix)
    into = ca.Function("power", [variables], [power(component, ports)])
    assert np.linalg.matrix_rank(matrix) == 2
    for seed in range(5):
        solution = basis[2:].T @ np.random.default_rng(seed).normal(size=2)
        np.testing.assert_allclose(matrix @ solution, 0.0, atol=1e-12)
        assert float(into(solution)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", [k for k, c in PLAIN.items() if c.ports[0].role in SOURCES])
def test_sources_hold_their_signal(kind: str) -> None:
    component = sample(kind)
    law, _, _ = fixed_law(component)
    value = float(component.signal(numbers(component)))  # type: ignore[attr-defined]
    if len(quantities(component)) == 1:
        assert value == next(iter(vars(numbers(component)).values()))
    across = component.ports[0].role is Role.ACROSS_SOURCE
    held = [value, 123.0, 0, 0, 0] if across else [123.0, value, 0, 0, 0]
    assert float(law(held)) == 0.0
    assert float(law([0.0, 0.0, 0, 0, 0])) != 0.0


# -- any law: nonlinear ones, with losses ------------------------------------------------------------------------------


def met(component: Component, v: SimpleNamespace, seed: int) -> np.ndarray:
    """A random point that meets the law: across, through, d_across, d_through, position of each port."""
    ports, column = terminals(component)
    law = ca.vertcat(*(ca.SX(residual) for residual in component.law(v, *ports)))
    residual = ca.Function("law", [column], [law, ca.jacobian(law, column)])
    z = np.random.default_rng(seed).normal(size=column.numel())
    z[4::5] *= 1e-3  # positions
    for _ in range(60):  # towards the nearest point that meets the law
        value, slope = (np.array(each) for each in residual(z))
        slope[:, 4::5] = 0.0
        z = z - np.linalg.lstsq(slope, value, rcond=1e-15)[0].ravel()
    value, slope = (np.array(each) for each in residual(z))
    assert (np.abs(value).ravel() <= 1e-12 * (1 + np.abs(slope) @ np.abs(z))).all(), "no point meets the law"
    return z


def on_the_law(component: Component, v: SimpleNamespace, seed: int) -> dict[str, float]:
    """Power into a component, its loss, and the rate of its stored energy, at a random point that meets the law."""
    ports, column = terminals(component)
    energy = ca.SX(component.stored_energy(v, *ports))
    rates = [(e.across, e.d_across) for e in ports] + [(e.through, e.d_through) for e in ports]
    rates += [(e.position, e.across) for e in ports]
    stored = sum((ca.jacobian(energy, x) * rate for x, rate in rates), ca.SX(0))
    into, loss = power(component, ports), component.loss(v, *ports)
    size = sum((ca.fabs(e.across * e.through) for e in ports), ca.fabs(stored))
    z = met(component, v, seed)
    down = sum((e.across * e.through for e in ports), ca.SX(0))
    parts = {"into": into, "loss": into - stored if loss is None else ca.SX(loss), "stored": stored, "size": size}
    result = ca.Function("powers", [column], [*parts.values(), down])(z)
    return dict(zip((*parts, "down"), (float(each) for each in result), strict=True))


PASSIVE = [k for k, c in LAWS.items() if not c.supplies and k not in FLUIDS and k != "thermal.loss"]
"""Fluids are looked at with values of their own size in ``tests/terminal``; a loss is the power of another part."""


@pytest.mark.parametrize("kind", PASSIVE)
def test_power_is_stored_or_lost(kind: str) -> None:
    """Power in = d(stored)/dt + loss at every point of the law, and what is lost never comes back."""
    for component in several(kind):
        for held in HELD.get(kind, [()]):
            for seed in range(4):
                powers = on_the_law(component, numbers(component, held), seed)
                size = powers["size"]
                assert powers["into"] - powers["stored"] - powers["loss"] == pytest.approx(0.0, abs=1e-12 * size)
                if all(port.domain is THERMAL and port.role is Role.STATIC for port in component.ports):
                    assert powers["down"] >= 0.0, "heat flows from hot to cold"
                elif not component.holding:
                    assert powers["loss"] >= -1e-12 * size


@pytest.mark.parametrize("kind", [kind for kind in DRIVES if issubclass(KINDS[kind], Sticking)])
def test_friction_takes_power_while_it_slips(kind: str) -> None:
    for component in several(kind):
        for mode in (-1.0, 1.0):
            v = numbers(component, (mode, 0.0))
            ports, column = terminals(component)
            through = ports[0].through - component.law(v, *ports)[0]
            assert float(ca.Function("friction", [column], [through])([mode * 0.3, 0, 0, 0, 0])) * mode >= 0.0
