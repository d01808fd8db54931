"""Results of a bond graph by name: efforts and flows of elements and bonds, momenta, displacements, signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from cotree.bond.structure import JUNCTIONS, ONE_PORTS, UNITS, component_names
from cotree.errors import FormulationError
from cotree.formulation.system import Energy, Output, turns_name
from cotree.maths.symbolic import column, substitute


@dataclass(frozen=True)
class Results:
    """Outputs, energies and integrals."""

    outputs: dict[str, Output]
    energy: Energy
    kinetic: ca.SX
    potential: ca.SX
    integrals: Mapping[str, Output] = field(default_factory=dict)


def results(d: Any, final: Callable[[ca.SX], ca.SX]) -> Results:
    """All results; ``final`` puts in what the equations have solved."""
    s, kin = d.structure, d.kin
    efforts = d.all_efforts
    names: list[str] = []
    units: list[str] = []
    values: list[ca.SX] = []

    def add(name: str, value: ca.SX, unit: str) -> None:
        for each, entry in zip(component_names(name, value.numel()), ca.vertsplit(value), strict=True):
            names.append(each)
            units.append(unit)
            values.append(entry)

    def effort(line: str) -> ca.SX:
        return column([efforts[kin.at(line, k)] for k in range(s.lines[line].width)])

    of: dict[str, ca.SX] = {}
    flows: dict[str, ca.SX] = {}
    for v in s.vertices.values():
        if v.letter not in (*ONE_PORTS, *JUNCTIONS) or not s.around[v.name]:
            continue
        line = s.around[v.name][0]
        unit = UNITS[s.domain(line.name)]
        if v.letter != "1":
            of[v.name] = effort(line.name)
            add(f"{v.name}.effort", of[v.name], unit[0])
        if v.letter != "0":
            flows[v.name] = kin.own_flow(v.name)
            add(f"{v.name}.flow", kin.shown_flow(v.name), unit[1])
        if v.letter == "I":
            add(f"{v.name}.momentum", d.momenta_by_name[v.name], unit[2])
        elif v.letter == "C":
            add(f"{v.name}.displacement", d.displacement(v.name), unit[3])
    for line in s.lines.values():
        unit = UNITS[s.domain(line.name)]
        add(f"{line.name}.effort", effort(line.name), unit[0])
        add(f"{line.name}.flow", kin.flow(line), unit[1])
    for integral in s.integrals:
        for name, symbol, unit_ in zip(integral.names, ca.vertsplit(integral.symbols), integral.units, strict=True):
            add(name, symbol, unit_)
    known = dict(zip(names, values, strict=True))
    wanted = column(list(s.reported.values()))
    found = column([known[name] for name in s.reported])
    more = {name: output for name, output in (s.definitions | s.outputs).items() if name not in known}
    formulas = column([d.signals.formulas.get(name, output.expression) for name, output in more.items()])
    for (name, output), value in zip(more.items(), ca.vertsplit(substitute(formulas, wanted, found)), strict=True):
        add(name, value, output.unit)
    _add_rates(d, dict(zip(names, values, strict=True)), add)
    kinetic, potential = d.stored(d.momenta_by_name, flows)
    dissipation, supply = d.powers(of, flows)
    every = final(ca.vertcat(*values, kinetic, potential, dissipation, supply))
    parts = ca.vertsplit(every)
    near = {name: output.near for name, output in more.items()}
    outputs = {n: Output(e, u, near.get(n)) for n, e, u in zip(names, parts[: len(names)], units, strict=True)}
    kinetic, potential, dissipation, supply = parts[len(names) :]
    outputs |= {"kinetic_energy": Output(kinetic, "J"), "potential_energy": Output(potential, "J")}
    turns = {
        turns_name(name): Output(outputs[f"{name}_rate"].expression, each.unit)
        for name, each in outputs.items()
        if each.near is not None
    }
    return Results(outputs, Energy(kinetic + potential, dissipation, supply), kinetic, potential, turns)


def _add_rates(d: Any, known: Mapping[str, ca.SX], add: Callable[[str, ca.SX, str], None]) -> None:
    """Results that are rates of others, as far as these have rates."""
    rates = d.structure.rates
    if not rates:
        return
    try:
        found = d.rate(column([known[of] for of, _ in rates.values()]), "a result")
    except FormulationError:  # they follow from flows without inertia
        return
    for (name, (_, unit)), value in zip(rates.items(), ca.vertsplit(found), strict=True):
        add(name, value, unit)
