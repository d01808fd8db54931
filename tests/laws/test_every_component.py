"""What every registered component must satisfy, whoever wrote it: data sheet, law, and power."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import cotree.terminal  # noqa: F401  (registers all kinds)
from cotree.model import KINDS, THERMAL, Component, Role, quantities
from cotree.terminal.mounts import Mount
from cotree.terminal.sticking import Sticking
from laws.fluid_samples import FLUID_RATIOS
from laws.network_samples import DRIVES, HELD, SAMPLES

SOURCES = (Role.ACROSS_SOURCE, Role.THROUGH_SOURCE)
STORAGES = (Role.ACROSS_STORAGE, Role.THROUGH_STORAGE)
WITHOUT_UNIT = {"ratio", "closed", "gain", "static", "stroke", "pole_pairs", *FLUID_RATIOS}
NETWORK = {kind: cls for kind, cls in sorted(KINDS.items()) if cls.ports}
LAWS = {kind: cls for kind, cls in NETWORK.items() if not issubclass(cls, Mount)}
PLAIN = {kind: cls for kind, cls in LAWS.items() if kind not in SAMPLES}
"""Kinds that take any positive values."""
EVERY = pytest.mark.parametrize("kind", NETWORK)


def sample(kind: str) -> Component:
    """One component of the kind with distinct positive values; ``mutual`` is small enough by its place."""
    if kind in SAMPLES:
        return several(kind)[0]
    cls = KINDS[kind]
    nodes: dict[str, object] = {}
    for f in dataclasses.fields(cls):
        if f.name in ("plus", "minus"):
            nodes[f.name] = f.name
        elif f.name in {port.label for port in cls.ports}:
            nodes[f.name] = (f"{f.name}+", f"{f.name}-")
    values = {name: 0.9 - 0.1 * k for k, name in enumerate(quantities(cls))}
    return cls(name="X1", **nodes, **values)


def several(kind: str) -> list[Component]:
    """All samples of a kind."""
    return [KINDS[kind](name="X1", **values) for values in SAMPLES[kind]] if kind in SAMPLES else [sample(kind)]


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
    rooms = {kind.partition(".")[0] for kind in NETWORK}
    assert {"electrical", "translational", "rotational", "thermal", "hydraulic", "transducer"} <= rooms
    wanted = "resistor capacitor inductor voltage_source current_source switch diode transformer gyrator"
    for name in [*wanted.split(), "operational_amplifier", "mutual_inductance"]:
        assert f"electrical.{name}" in KINDS


@EVERY
def test_data_sheet(kind: str) -> None:
    cls, component = KINDS[kind], sample(kind)
    assert cls.kind == kind
    assert cls.__dict__.get("__doc__"), "a component says what its law is"
    assert "=" in cls.__doc__ or "resistance" in cls.__doc__ or "Ideal" in cls.__doc__
    for field, info in quantities(cls).items():
        assert info.meaning, field
        assert info.unit or field in WITHOUT_UNIT or field == "initial", field
    if cls.ports[0].role in SOURCES and not issubclass(cls, (Sticking, Mount)):
        assert component.supplies
        assert len(cls.ports) == 1
        assert callable(cls.signal)


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


@pytest.mark.parametrize(
    "kind",
    [k for k, c in PLAIN.items() if c.ports[0].role is Role.STATIC and len(c.ports) == 1 and not c.supplies],
)
def test_static_one_ports_only_dissipate(kind: str) -> None:
    """For any across variable, the through variable of the law takes power in, and none at zero."""
    component = sample(kind)
    law, _, _ = fixed_law(component)
    for across in [*np.random.default_rng(1).normal(size=20).tolist(), 0.0]:
        # Every law here is linear in the through variable.
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


LOSSLESS = [k for k, c in PLAIN.items() if len(c.ports) > 1 and c.ports[0].role is Role.STATIC and not c.supplies]


@pytest.mark.parametrize("kind", LOSSLESS)
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
    value = next(iter(vars(numbers(component)).values()))
    across = component.ports[0].role is Role.ACROSS_SOURCE
    held = [value, 123.0, 0, 0, 0] if across else [123.0, value, 0, 0, 0]
    assert float(law(held)) == 0.0
    assert float(law([0.0, 0.0, 0, 0, 0])) != 0.0


# -- kinds with samples of their own: nonlinear laws with losses ------------------------------------------------------


def on_the_law(component: Component, v: SimpleNamespace, seed: int) -> dict[str, float]:
    """Power into a component, its loss, and the rate of its stored energy, at a random point that meets the law."""
    ports, column = terminals(component)
    law = ca.vertcat(*(ca.SX(residual) for residual in component.law(v, *ports)))
    energy = ca.SX(component.stored_energy(v, *ports))
    rates = [(e.across, e.d_across) for e in ports] + [(e.through, e.d_through) for e in ports]
    rates += [(e.position, e.across) for e in ports]
    stored = sum((ca.jacobian(energy, x) * rate for x, rate in rates), ca.SX(0))
    into, loss = power(component, ports), component.loss(v, *ports)
    size = sum((ca.fabs(e.across * e.through) for e in ports), ca.fabs(stored))
    residual = ca.Function("law", [column], [law, ca.jacobian(law, column)])
    z = np.random.default_rng(seed).normal(size=column.numel())
    z[4::5] *= 1e-3  # positions
    for _ in range(60):  # towards the nearest point that meets the law
        value, slope = (np.array(each) for each in residual(z))
        slope[:, 4::5] = 0.0
        z = z - np.linalg.lstsq(slope, value, rcond=1e-15)[0].ravel()
    assert np.abs(np.array(residual(z)[0])).max() < 1e-12
    result = ca.Function("powers", [column], [into, into - stored if loss is None else ca.SX(loss), stored, size])(z)
    return dict(zip(("into", "loss", "stored", "size"), (float(each) for each in result), strict=True))


@pytest.mark.parametrize("kind", [kind for kind in DRIVES if kind != "thermal.loss"])
def test_power_is_stored_or_lost(kind: str) -> None:
    """Power in = d(stored)/dt + loss at every point of the law, and what is lost never comes back."""
    for component in several(kind):
        for held in HELD.get(kind, [()]):
            for seed in range(4):
                powers = on_the_law(component, numbers(component, held), seed)
                size = powers["size"]
                assert powers["into"] - powers["stored"] - powers["loss"] == pytest.approx(0.0, abs=1e-12 * size)
                if not component.holding:
                    assert powers["loss"] >= -1e-12 * size


@pytest.mark.parametrize("kind", [kind for kind in DRIVES if issubclass(KINDS[kind], Sticking)])
def test_friction_takes_power_while_it_slips(kind: str) -> None:
    for component in several(kind):
        for mode in (-1.0, 1.0):
            v = numbers(component, (mode, 0.0))
            ports, column = terminals(component)
            through = ports[0].through - component.law(v, *ports)[0]
            assert float(ca.Function("friction", [column], [through])([mode * 0.3, 0, 0, 0, 0])) * mode >= 0.0
