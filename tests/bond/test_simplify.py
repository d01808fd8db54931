"""Simplified bond graphs: which junctions go, which names stay, and the response that the whole graph's pencil has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

import cotree.bond as bond
from _cases import random_cases
from bond.random_graphs import Plain, degree, descriptor, plain_graphs
from cotree import FormulationError, Model, ModelError, Resistor, SolveError
from cotree.bond.elements import BondPart
from cotree.bond.simplify import simplify

FEW = random_cases(13, 40)


def graph(parts: list[BondPart], *bonds: str) -> Model:
    """Parts, and bonds such as ``b1: V > j``."""
    model = Model("test")
    for part in parts:
        model.add(part)
    for each in bonds:
        name, _, ends = each.partition(": ")
        tail, head = ends.split(" > ")
        model.add(bond.Bond(name, tail, head))
    return model


def series(*more: BondPart) -> list[BondPart]:
    return [bond.Se("V", effort=1), bond.R("R", resistance=2), bond.I("L", inertia=3), bond.C("C", compliance=5), *more]


def kept(model: Model) -> set[str]:
    return set(model.components)


# -- the rules, one by one ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bond.Junction0, bond.Junction1])
def test_neighbours_of_one_kind_become_one(kind: type[bond.Junction0]) -> None:
    m = graph(series(kind("j"), kind("k")), "b1: V > j", "b2: j > R", "b3: k > j", "b4: k > L", "b5: C > k")
    s = simplify(m)
    assert kept(m) - kept(s) == {"k", "b3"} or kept(m) - kept(s) == {"j", "b3"}
    assert len(s.components) == len(m.components) - 2
    poles = [np.sort_complex(each.linearise(outputs=["L.flow"]).poles()) for each in (m, s)]
    np.testing.assert_allclose(poles[1], poles[0], rtol=1e-10, atol=1e-12)


def test_different_neighbours_stay() -> None:
    m = graph(
        series(bond.Junction0("j"), bond.Junction1("k")),
        "b1: V > k",
        "b2: j > R",
        "b3: k > j",
        "b4: k > L",
        "b5: j > C",
    )
    assert kept(simplify(m)) == kept(m)


@pytest.mark.parametrize("kind", [bond.Junction0, bond.Junction1])
def test_a_through_junction_goes(kind: type[bond.Junction0]) -> None:
    m = graph([bond.Se("V", effort=1), kind("j"), bond.R("R", resistance=2)], "b1: V > j", "b2: j > R")
    s = simplify(m)
    assert kept(s) in ({"V", "R", "b1"}, {"V", "R", "b2"})
    assert s.simulate(t_end=1, points=2)["R.flow"] == pytest.approx(0.5)


def test_bonds_against_each_other_pass_a_0_junction_only() -> None:
    parts = [bond.C("C", compliance=2, initial_effort=3), bond.R("R", resistance=1)]
    zero = graph([*parts, bond.Junction0("j")], "b1: j > C", "b2: j > R")
    s = simplify(zero)
    assert "j" not in s.components
    for m in (zero, s):
        sol = m.simulate(t_end=2.0, points=3, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(sol["R.flow"], 3 * np.exp(-sol.t / 2), atol=1e-9)
        np.testing.assert_allclose(sol["C.flow"], -3 * np.exp(-sol.t / 2), atol=1e-9)
    one = graph([*parts, bond.Junction1("j")], "b1: j > C", "b2: j > R")  # here the efforts are opposite
    assert kept(simplify(one)) == kept(one)


def test_a_flow_source_is_not_turned() -> None:
    m = graph([bond.Sf("S", flow=3), bond.R("R", resistance=2), bond.Junction0("j")], "b1: j > S", "b2: j > R")
    s = simplify(m)
    for each in (m, s):
        assert each.simulate(t_end=1, points=2)["R.flow"] == pytest.approx(-3.0)


def test_turned_two_ports_know_their_ports() -> None:
    parts = [bond.Se("V", effort=6), bond.TF("T", modulus=2), bond.R("R", resistance=2), bond.Junction0("j")]
    m = graph(parts, "b1: V > T", "b2: T > j", "b3: R > j")
    s = simplify(m)
    assert "j" not in s.components
    for each in (m, s):
        assert each.simulate(t_end=1, points=2)["R.flow"] == pytest.approx(1.5)


CHAINS = {
    "TF TF": (bond.TF("A", modulus=2), bond.TF("B", modulus=5), bond.TF, 10.0),
    "TF GY": (bond.TF("A", modulus=2), bond.GY("B", modulus=5), bond.GY, 10.0),
    "GY TF": (bond.GY("A", modulus=2), bond.TF("B", modulus=5), bond.GY, 0.4),
    "GY GY": (bond.GY("A", modulus=2), bond.GY("B", modulus=5), bond.TF, 0.4),
}


@pytest.mark.parametrize("name", CHAINS)
def test_chains_of_two_ports(name: str) -> None:
    first, second, kind, modulus = CHAINS[name]
    m = graph([bond.Se("V", effort=1), first, second, bond.R("R", resistance=3)], "b1: V > A", "b2: A > B", "b3: B > R")
    s = simplify(m)
    assert type(s.components["A"]) is kind
    assert s.components["A"].modulus == pytest.approx(modulus)
    assert kept(s) == {"V", "A", "R", "b1", "b3"}
    for each in ("V.flow", "R.flow", "R.effort"):
        assert s.simulate(t_end=1, points=2)[each] == pytest.approx(m.simulate(t_end=1, points=2)[each], rel=1e-12)


def test_chains_of_expressions_and_longer_ones() -> None:
    m = Model("test", parameters={"n": 2.0})
    for part in (
        bond.Se("V", effort=1),
        *(bond.TF(f"T{k}", modulus="n" if k % 2 else 3) for k in range(4)),
        bond.R("R", resistance=5),
    ):
        m.add(part)
    for ends in (("V", "T0"), ("T0", "T1"), ("T1", "T2"), ("T2", "T3"), ("T3", "R")):
        m.connect(*ends)
    s = simplify(m)
    assert len(s.components) == 5
    for n in (2.0, 0.5):
        got = s.simulate(t_end=1, points=2, parameters={"n": n})["R.flow"][-1]
        assert got == pytest.approx(1 / (9 * n**2) / 5, rel=1e-12)


# -- what stays --------------------------------------------------------------------------------------------------------


def test_what_sensors_and_expressions_name_stays() -> None:
    parts = series(
        bond.Junction1("j"), bond.Junction1("k"), bond.Junction1("l"), bond.MR("M", resistance="1 + b4.flow**2")
    )
    bonds = ("b1: V > j", "b2: j > R", "b3: j > k", "b4: k > l", "b5: l > L", "b6: l > C", "b7: l > M")
    m = graph([*parts, bond.Sensor("w", of="k", measures="flow")], *bonds)
    s = simplify(m)
    assert {"k", "b4", "w"} <= kept(s)
    sols = [each.simulate(t_end=1.0, points=5, rtol=1e-10, atol=1e-12) for each in (m, s)]
    np.testing.assert_allclose(sols[1]["w.value"], sols[0]["w.value"], atol=1e-9)
    assert {"j"} & kept(simplify(m, keep=["j"])) == {"j"}


def test_masks_stay_as_they_are() -> None:
    inside = bond.Graph("load", ports={"p": "i"}, parameters={"R": 2.0})
    for part in (bond.Junction1("i"), bond.R("r", resistance="R"), bond.I("l", inertia=1)):
        inside.add(part)
    inside.connect("i", "r")
    inside.connect("i", "l")
    m = graph(
        [bond.Se("V", effort=1), bond.Junction1("j"), bond.R("R", resistance=2), bond.Mask("A", graph=inside)],
        "b1: V > j",
        "b2: j > R",
        "b3: j > A.p",
    )
    assert kept(simplify(m)) == kept(m)
    assert simplify(m).linearise().poles() == pytest.approx([-4.0])


def test_the_model_keeps_its_name_and_parameters() -> None:
    m = Model("named", parameters={"a": 2, "b": "a*3"})
    for part in (bond.Se("V", effort="b"), bond.Junction0("j"), bond.R("R", resistance="a")):
        m.add(part)
    m.connect("V", "j")
    m.connect("j", "R")
    s = simplify(m)
    assert (s.name, type(s)) == ("named", Model)
    assert s.simulate(t_end=1, points=2, parameters={"a": 4})["R.flow"][-1] == pytest.approx(3.0)
    network = Model("n")
    network.add(Resistor("R", ("a", "ground"), resistance=1))
    with pytest.raises(ModelError, match=r"'R' \(resistor\) is no part of a bond graph"):
        simplify(network)


@pytest.mark.parametrize("outward", [True, False])
def test_sources_keep_the_direction_of_their_bonds(outward: bool) -> None:
    """Two bonds that point against each other at a 0 junction: 6 through 3 is 2, before and after."""
    ends = ("b1: V > n", "b2: R > n") if outward else ("b1: n > V", "b2: n > R")
    m = graph([bond.Se("V", effort=6), bond.Junction0("n"), bond.R("R", resistance=3)], *ends)
    s = simplify(m)
    assert "n" not in s.components
    for each in (m, s):
        sol = each.simulate(t_end=1, points=2)
        assert sol["V.flow"] == pytest.approx(2.0 if outward else -2.0)
        assert sol["R.flow"] == pytest.approx(2.0)


# -- the same response -------------------------------------------------------------------------------------------------


def response(plain: Plain, omega: float) -> dict[str, np.ndarray]:
    """Efforts and flows of all elements from all sources, by the pencil; flows of sources count along their bonds."""
    E, A, B = descriptor(plain)
    sources = plain.of("Se", "Sf")
    sign = {name: (1.0 if head == name else -1.0) for _, tail, head in plain.bonds for name in (tail, head)}
    turn = np.diag([sign[name] if name in plain.of("Sf") else 1.0 for name in sources])
    z = np.linalg.solve(1j * omega * E - A, B @ turn)
    n = len(plain.bonds)
    found: dict[str, np.ndarray] = {}
    for k, (_, tail, head) in enumerate(plain.bonds):
        for name, s in ((tail, -1.0), (head, 1.0)):
            if name in plain.of("I", "C", "R", "Se", "Sf"):
                along = name in plain.of("Se", "Sf")
                found[f"{name}.effort"], found[f"{name}.flow"] = z[k], z[n + k] if along else s * z[n + k]
    return found


def same_response(model: Model, plain: Plain) -> None:
    sources = [f"{n}.{'effort' if n in plain.of('Se') else 'flow'}" for n in plain.of("Se", "Sf")]
    names = [f"{n}.{what}" for n in plain.of("I", "C", "R", "Se", "Sf") for what in ("effort", "flow")]
    names = [name for name in names if name not in sources]
    while names:
        try:
            system = model.linearise(inputs=sources, outputs=names)
            break
        except SolveError as error:  # an output that holds the rate of a source
            names.remove(next(name for name in names if error.found.startswith(f"{name} ")))
    else:
        return
    for omega in (0.37, 2.3):
        exact = response(plain, omega)
        wanted = np.array([exact[name] for name in names])
        got = system.frequency_response([omega])[0]
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(wanted).max()))


def solvable(plain: Plain) -> bool:
    """Whether the pencil is regular, and clearly so at the frequencies that are looked at."""
    if degree(plain) is None or not plain.of("Se", "Sf"):
        return False
    E, A, _ = descriptor(plain)
    return all(np.linalg.cond(1j * w * E - A) < 1e6 for w in (0.37, 2.3))


@FEW
@given(plain_graphs(loops=True))
def test_random_graphs_answer_as_their_pencil_says(plain: Plain) -> None:
    assume(solvable(plain))
    model = plain.model()
    try:
        model.equations()
    except FormulationError:
        assume(False)
    small = simplify(model)
    assert len(small.components) <= len(model.components)
    assert len(small.equations().u) == degree(plain)
    same_response(small, plain)


@FEW
@given(plain_graphs(loops=True))
def test_simplifying_again_changes_nothing(plain: Plain) -> None:
    once = simplify(plain.model())
    assert simplify(once).to_data() == once.to_data()
