"""The language: every element with every kind of value, bonds in both directions, multibonds, and laws.

References are closed forms and SciPy integrations of equations written here by hand.
"""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

import cotree as ct
import cotree.bond as b
from bond._graphs import graph, last, oscillator, reference

NUMBERS = {
    "inertia": (lambda x: b.I("X", inertia=x), 1.5),
    "stiffness": (lambda x: b.C("X", stiffness=x), 3.0),
    "compliance": (lambda x: b.C("X", compliance=x), 0.4),
    "resistance": (lambda x: b.R("X", resistance=x), 0.8),
    "conductance": (lambda x: b.R("X", conductance=x), 2.5),
}


def linear(field, x):
    """v' and q' of a mass of 2 with one more element on its junction, driven by 2."""
    return {
        "inertia": lambda t, y: [2.0 / (2.0 + x), y[0]],
        "stiffness": lambda t, y: [(2.0 - x * y[1]) / 2.0, y[0]],
        "compliance": lambda t, y: [(2.0 - y[1] / x) / 2.0, y[0]],
        "resistance": lambda t, y: [(2.0 - x * y[0]) / 2.0, y[0]],
        "conductance": lambda t, y: [(2.0 - y[0] / x) / 2.0, y[0]],
    }[field]


@pytest.mark.parametrize("field", NUMBERS)
@pytest.mark.parametrize("how", ["number", "expression", "list of one", "matrix of one", "numpy"])
def test_linear_elements_take_any_kind_of_number(field, how):
    make, x = NUMBERS[field]
    given = {
        "number": x, "expression": "2*a", "list of one": [x], "matrix of one": [[x]], "numpy": np.array([x]),
    }[how]  # fmt: skip
    model = oscillator(make(given), parameters={"a": x / 2})
    assert last(model, "m.flow") == pytest.approx(reference(linear(field, x), [0, 0])[0], rel=1e-8)


SQUARE = np.array([[2.0, 0.5, 0.1], [0.5, 3.0, 0.2], [0.1, 0.2, 1.5]])


@pytest.mark.parametrize("width", [2, 3, 6])
@pytest.mark.parametrize("kind", ["scalar", "diagonal", "matrix"])
def test_multibonds_of_any_width(width, kind):
    """M v' = F - R v - K q with matrices, by the exponential of the whole matrix."""
    rng = np.random.default_rng(width)

    def value():
        if kind == "scalar":
            return float(rng.uniform(1, 2))
        if kind == "diagonal":
            return rng.uniform(1, 2, width)
        root = rng.uniform(-1, 1, (width, width))
        return root @ root.T + np.eye(width)

    def full(x):
        return x * np.eye(width) if np.ndim(x) < 2 else x

    M, R, K, F = value(), value(), value(), rng.uniform(-1, 1, width)
    model = graph(
        b.Se("F", effort=F), b.Junction1("j"), b.I("m", inertia=M), b.R("r", resistance=R), b.C("k", stiffness=K),
        "F -> j -> m", "j -> r", "j -> k",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    A = np.block([
        [-np.linalg.solve(full(M), full(R)), -np.linalg.solve(full(M), full(K))], [np.eye(width),
        np.zeros((width,) * 2)]
    ])  # fmt: skip
    x0 = np.concatenate([np.zeros(width), np.linalg.solve(full(K), F)])  # deviation from rest
    wanted = (np.eye(2 * width) - expm(A)) @ x0
    labels = "xyz" if width == 3 else [f"c{k + 1}" for k in range(width)]
    found = [s[f"m.flow.{each}"][-1] for each in labels] + [s[f"k.displacement.{each}"][-1] for each in labels]
    wanted[:width] = -(expm(A) @ x0)[:width]
    wanted[width:] = x0[width:] - (expm(A) @ x0)[width:]
    assert np.abs(np.array(found) - wanted).max() < 1e-8
    assert s.energy().error < 1e-8


def test_a_compliance_matrix_is_the_inverse_of_a_stiffness_matrix():
    pair = [
        graph(b.Se("F", effort=[1, 2, 3]), b.Junction1("j"), b.I("m", inertia=1.0), c, "F -> j -> m", "j -> c")
        for c in (b.C("c", stiffness=SQUARE), b.C("c", compliance=np.linalg.inv(SQUARE)))
    ]
    for name in ("m.flow.x", "c.displacement.z", "c.effort.y"):
        assert last(pair[0], name) == pytest.approx(last(pair[1], name), rel=1e-8)


def test_matrices_hold_expressions_of_parameters():
    model = graph(
        b.Se("F", effort=[1, "a"]), b.Junction1("j"), b.I("m", inertia=[["a", 0], [0, "2*a"]]),
        "F -> j -> m", parameters={"a": 2.0},
    )  # fmt: skip
    s = model.simulate(1.0)
    assert (s["m.flow.c1"][-1], s["m.flow.c2"][-1]) == pytest.approx((0.5, 0.5))
    s = model.simulate(1.0, parameters={"a": 4.0})
    assert (s["m.flow.c1"][-1], s["m.flow.c2"][-1]) == pytest.approx((0.25, 0.5))


def test_parameters_of_vectors_and_matrices_change_by_component():
    model = graph(
        b.Se("F", effort=[1, 1, 1]), b.Junction1("j"), b.I("m", inertia=SQUARE), b.R("r", resistance=[1.0, 2.0, 3.0]),
        "F -> j -> m", "j -> r",
    )  # fmt: skip
    other = SQUARE.copy()
    other[0, 0] = 5.0
    s = model.simulate(1.0, rtol=1e-10, parameters={"m.inertia.xx": 5.0, "r.resistance.z": 1.0})
    A = -np.linalg.solve(other, np.diag([1.0, 2.0, 1.0]))
    wanted = np.linalg.solve(np.diag([1.0, 2.0, 1.0]), np.ones(3))
    wanted = wanted - expm(A) @ wanted
    assert [s[f"m.flow.{c}"][-1] for c in "xyz"] == pytest.approx(wanted, rel=1e-8)


# -- nonlinear laws


LAWS = {
    "I expression": b.I("X", flow="2*p + 0.5*p**3"),
    "I function": b.I("X", flow=lambda p: 2 * p + 0.5 * p**3),
    "C expression": b.C("X", effort="q + q**3"),
    "C function": b.C("X", effort=lambda q: q + q**3),
    "R effort expression": b.R("X", effort="f + f**3"),
    "R effort function": b.R("X", effort=lambda f: f + f**3),
    "R flow expression": b.R("X", flow="sinh(e)"),
    "R flow function": b.R("X", flow=lambda e: ca.sinh(e)),
}


@pytest.mark.parametrize("name", [name for name in LAWS if name[0] != "I"])
def test_nonlinear_laws_of_c_and_r(name):
    def effort(v, q):
        return {"C": q + q**3, "R": v + v**3}[name[0]] if "flow" not in name else np.arcsinh(v)

    wanted = reference(lambda t, y: [(2 - effort(*y)) / 2, y[0]], [0, 0])
    assert last(oscillator(LAWS[name]), "m.flow") == pytest.approx(wanted[0], rel=1e-8)


@pytest.mark.parametrize("name", ["I expression", "I function"])
def test_a_nonlinear_i_alone_keeps_its_energy(name):
    model = graph(
        b.Se("V", effort="2*cos(3*t)"), b.Junction1("j"), LAWS[name], b.C("c", stiffness=2.0), "V -> j -> X", "j -> c"
    )
    wanted = reference(lambda t, y: [2 * np.cos(3 * t) - 2 * y[1], 2 * y[0] + 0.5 * y[0] ** 3], [0, 0])
    assert last(model, "X.momentum") == pytest.approx(wanted[0], rel=1e-7)


def test_vector_laws_name_their_components():
    """A spring of two directions that feel each other: e = grad (x^2/2 + y^2 + x^2 y^2)."""
    efforts = ["q.c1 + 2*q.c1*q.c2**2", "2*q.c2 + 2*q.c2*q.c1**2"]
    functions = (b.C("k", effort=efforts), b.C("k", effort=lambda q: [q[0] + 2 * q[0] * q[1] ** 2, 2 * q[1] + 2 * q[1] * q[0] ** 2], width=2))  # fmt: skip  # noqa: E501

    def rates(t, y):
        x, z = y[2:]
        return [0.3 - x - 2 * x * z**2, 0.5 - 2 * z - 2 * z * x**2, y[0], y[1]]

    wanted = reference(rates, [0] * 4, 2.0)
    for spring in functions:
        model = graph(
            b.Se("F", effort=[0.3, 0.5]), b.Junction1("j"), b.I("m", inertia=1.0), spring, "F -> j -> m", "j -> k"
        )
        assert last(model, "k.displacement.c2", 2.0) == pytest.approx(wanted[3], rel=1e-8)


def test_euler_number_and_effort_are_told_apart():
    """In a law of the effort e is the effort: 1e-3*e is a number times it."""
    model = oscillator(b.R("X", flow="1e-3*e + exp(e) - 1"))
    from scipy.optimize import brentq

    wanted = reference(
        lambda t, y: [(2 - brentq(lambda e: 1e-3 * e + np.exp(e) - 1 - y[0], -50, 50, xtol=1e-15)) / 2], [0]
    )
    s = model.simulate(1.0, rtol=1e-8)
    assert s["m.flow"][-1] == pytest.approx(wanted[0], rel=1e-6)
    assert s.energy().error < 1e-7


# -- directions


@pytest.mark.parametrize("junction", [b.Junction0, b.Junction1])
@pytest.mark.parametrize("turned", range(16))
def test_half_arrows_of_passive_elements_change_signs_of_bonds_only(junction, turned):
    """Four elements on a junction, each bond either way round: the elements see the same."""
    elements = [
        b.I("m", inertia=2.0, initial_flow=0.3), b.C("k", stiffness=3.0), b.R("r", resistance=0.7),
        b.GY("g", modulus=0.6),
    ]  # fmt: skip
    far = b.R("far", resistance=1.2)

    def build(turned):
        bonds = []
        for k, element in enumerate(elements):
            name = "g.1" if element.name == "g" else element.name
            bonds.append(f"{name} -> j" if turned >> k & 1 else f"j -> {name}")
        model = graph(junction("j"), *elements, far, *bonds)
        model.add(b.Bond("out", "g.2", "far"))
        return model

    plain, other = (build(each).simulate(1.0, rtol=1e-10) for each in (0, turned))
    for name in ("m.flow", "m.effort", "m.momentum", "k.displacement", "k.effort", "k.flow", "r.flow"):
        # where the junction shares its flow, a bond the other way round makes the element count against it
        assert abs(other[name][-1]) == pytest.approx(abs(plain[name][-1]), rel=1e-6, abs=1e-9)
    assert other.energy().error < 1e-8
    names = ["j_m", "j_k", "j_r"]
    for k, (bond_name, element) in enumerate(zip(names, "mkr", strict=True)):
        if turned >> k & 1:
            bond_name = "_".join(reversed(bond_name.split("_")))
        sign = -1 if turned >> k & 1 else 1
        assert other[f"{bond_name}.flow"][-1] == pytest.approx(sign * other[f"{element}.flow"][-1])
        assert other[f"{bond_name}.effort"][-1] == pytest.approx(other[f"{element}.effort"][-1])


@pytest.mark.parametrize("element", [b.TF("T", modulus=3.0), b.GY("T", modulus=3.0)])
@pytest.mark.parametrize("ends", ["in, out", "in, in", "out, out", "out, in"])
def test_two_ports_know_their_ports_by_name_whatever_the_arrows(element, ends):
    """f_2 = 3 f_1, e_1 = 3 e_2 or e_2 = 3 f_1, e_1 = 3 f_2: a resistance of 2 behind it is 18, or 9/2."""
    first, second = ends.split(", ")
    bonds = [b.Bond("p", *(("j", "T.1") if first == "in" else ("T.1", "j")))]
    bonds += [b.Bond("s", *(("T.2", "r") if second == "out" else ("r", "T.2")))]
    model = oscillator(b.R("r0", resistance=0.0))
    for part in (element, b.R("r", resistance=2.0), *bonds):
        model.add(part)
    behind = 18.0 if element.letter == "TF" else 4.5
    wanted = 2 / behind * (1 - np.exp(-behind / 2))
    assert last(model, "m.flow") == pytest.approx(wanted, rel=1e-8)


def test_elements_may_be_bonded_to_each_other():
    assert last(graph(b.I("L", inertia=2.0, initial_flow=1.0), b.R("R", resistance=3.0), "L -> R"), "L.flow") == pytest.approx(np.exp(-1.5))  # fmt: skip  # noqa: E501
    assert last(graph(b.C("c", compliance=2.0, displacement=1.0), b.R("R", resistance=3.0), "R -> c"), "c.effort") == pytest.approx(0.5 * np.exp(-1 / 6))  # fmt: skip  # noqa: E501
    lc = graph(b.I("L", inertia=2.0, initial_flow=1.0), b.C("c", stiffness=8.0), "L -> c")
    assert last(lc, "L.flow") == pytest.approx(np.cos(2.0), rel=1e-8)
    assert last(graph(b.Se("V", effort=6.0), b.I("L", inertia=2.0), "V -> L"), "L.flow") == pytest.approx(3.0)
    assert last(graph(b.Sf("i", flow=6.0), b.C("c", stiffness=2.0), "i -> c"), "c.effort") == pytest.approx(12.0)
    assert last(graph(b.Se("V", effort=6.0), b.R("R", resistance=2.0), "V -> R"), "R.flow") == pytest.approx(3.0)
    two = graph(b.Se("V", effort=6.0), b.TF("T", modulus=2.0), b.R("R", resistance=3.0), "V -> T -> R")
    assert last(two, "R.flow") == pytest.approx(1.0)
    chain = graph(b.Se("V", effort=6.0), b.GY("G", modulus=2.0), b.GY("H", modulus=3.0), b.R("R", resistance=9.0), "V -> G -> H -> R")  # fmt: skip  # noqa: E501
    # e = 2 f_2, so f_2 = 3 enters H: e of R is 9, f = 1
    assert (last(chain, "R.effort"), last(chain, "R.flow")) == pytest.approx((9.0, 1.0))


# -- splits and transformers with matrices


def test_a_split_takes_a_multibond_apart():
    model = graph(
        b.Se("F", effort=[1.0, 2.0, 3.0]), b.Junction1("j"), b.I("m", inertia=2.0), b.Split("s", parts=[1, 2]),
        b.R("a", resistance=1.0), b.C("c", stiffness=[4.0, 5.0]), "F -> j -> m", "j -> s.whole", "s.1 -> a", "s.2 -> c",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    assert s["m.flow.x"][-1] == pytest.approx(1 - np.exp(-0.5), rel=1e-8)
    for axis, label, k, force in (("y", "c1", 4.0, 2.0), ("z", "c2", 5.0, 3.0)):
        omega = np.sqrt(k / 2)
        assert s[f"m.flow.{axis}"][-1] == pytest.approx(force / np.sqrt(2 * k) * np.sin(omega), rel=1e-8)
        assert s[f"c.displacement.{label}"][-1] == pytest.approx(force / k * (1 - np.cos(omega)), rel=1e-8)
    assert s["a.flow"][-1] == pytest.approx(s["m.flow.x"][-1])


def test_a_split_gathers_bonds_into_a_multibond():
    """Two masses with one matrix of damping between them."""
    D = np.array([[2.0, 0.5], [0.5, 1.0]])
    model = graph(
        b.I("m", inertia=1.0, initial_flow=1.0), b.I("n", inertia=3.0), b.Junction1("a"), b.Junction1("c"),
        b.Split("s", parts=[1, 1]), b.R("d", resistance=D), "a -> m", "c -> n", "a -> s.1", "c -> s.2", "s.whole -> d",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    wanted = expm(-np.diag([1, 1 / 3]) @ D) @ [1.0, 0.0]
    assert [s["m.flow"][-1], s["n.flow"][-1]] == pytest.approx(wanted, rel=1e-8)
    assert [s["d.flow.c1"][-1], s["d.flow.c2"][-1]] == pytest.approx(wanted, rel=1e-8)
    assert s.energy().error < 1e-8


@pytest.mark.parametrize("letter", ["TF", "GY"])
@pytest.mark.parametrize("reverse", [False, True])
def test_moduli_may_be_matrices_that_are_not_square(letter, reverse):
    """Behind f_2 = M f_1 a damping D is M^T D M; behind e_2 = M f_1 it is M^T D^-1 M."""
    M = np.array([[1.0, 0.5, 0.0], [0.2, -1.0, 2.0]])
    D = np.array([[2.0, 0.3], [0.3, 1.0]])
    element = {"TF": b.TF, "GY": b.GY}[letter]("T", modulus=M)
    model = graph(
        b.Se("F", effort=[1.0, 2.0, 3.0]), b.Junction1("j"), b.I("m", inertia=[1.0, 2.0, 3.0]), element,
        b.R("d", resistance=D), "F -> j -> m", *(("T.1 -> j", "d -> T.2") if reverse else ("j -> T.1", "T.2 -> d")),
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    behind = M.T @ (D if letter == "TF" else np.linalg.inv(D)) @ M
    A, F = -np.diag([1, 1 / 2, 1 / 3]) @ behind, np.array([1.0, 2.0, 3.0]) / [1.0, 2.0, 3.0]
    whole = expm(np.block([[A, F[:, None]], [np.zeros((1, 4))]]))
    assert [s[f"m.flow.{c}"][-1] for c in "xyz"] == pytest.approx(whole[:3, 3], rel=1e-8)
    assert s.energy().error < 1e-8


def test_a_gyristor_turns_and_keeps_power():
    """Euler's equations of a free body (Filippini 2007, fig. 1): L' = L x w in body axes, energy and |L| constant."""
    J, L0 = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -2.0])
    wanted = reference(lambda t, L: np.cross(L, L / J), L0, 5.0)
    for modulus in (["-J.momentum.x", "-J.momentum.y", "-J.momentum.z"], lambda signal: -signal("J.momentum", 3)):
        model = graph(
            b.I("J", inertia=J, momentum=L0), b.Junction1("w"), b.MGR("g", modulus=modulus), "w -> J", "w -> g"
        )
        s = model.simulate(5.0, rtol=1e-11)
        found = np.array([s[f"J.momentum.{c}"] for c in "xyz"])
        assert found[:, -1] == pytest.approx(wanted, rel=1e-7)
        assert np.abs(np.linalg.norm(found, axis=0) - np.linalg.norm(L0)).max() < 1e-8
        assert np.abs(s["kinetic_energy"] - s["kinetic_energy"][0]).max() < 1e-8


def test_a_gyristor_of_other_width_takes_a_skew_matrix():
    """A charge in a field in the plane: e = B (f_2, -f_1), circles of angular velocity B/m."""
    model = graph(
        b.I("m", inertia=2.0, initial_flow=[1.0, 0.0]), b.Junction1("v"),
        b.MGR("g", modulus=[[0, "3*cos(0*t)"], ["-3*cos(0*t)", 0]]), "v -> m", "v -> g",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    assert [s["m.flow.c1"][-1], s["m.flow.c2"][-1]] == pytest.approx([np.cos(1.5), np.sin(1.5)], rel=1e-7)


def test_domains_give_units():
    model = graph(
        b.Se("V", effort=12.0, domain="electrical"), b.Junction1("i"), b.R("R", resistance=1.0), b.GY("K",
        modulus=0.05),
        b.Junction1("w"), b.I("J", inertia=1e-4, domain="rotational"), b.C("s", stiffness=1.0),
        "V -> i -> R", "i -> K -> w -> J", "w -> s",
    )  # fmt: skip
    s = model.simulate(0.1)
    units = {"V.effort": "V", "R.flow": "A", "i.flow": "A", "J.flow": "rad/s", "J.momentum": "N m s"}
    units |= {"J.effort": "N m", "w.flow": "rad/s", "s.displacement": "rad", "K_w.effort": "N m"}
    assert {name: s.unit(name) for name in units} == units


@pytest.mark.parametrize("name", ["b", "model", "x"])
def test_bonds_are_numbered_where_they_have_no_name(name):
    model = ct.Model(name)
    for part in (b.Se("V", effort=1.0), b.R("R", resistance=2.0), b.Junction1("j"), b.C("b2", stiffness=1.0)):
        model.add(part)
    names = [model.connect(*ends).name for ends in (("V", "j"), ("j", "R"), ("j", "b2"))]
    assert names == ["b1", "b3", "b4"]


def test_a_bond_may_be_given_as_one_text():
    m = ct.Model("text")
    m.add(b.Se("V", effort=1))
    m.add(b.R("R", resistance=2))
    assert (m.connect("V -> R").tail, m.components["b1"].head) == ("V", "R")
    for wrong in ("V", "V -> j -> R", "-> R"):
        with pytest.raises(ct.ModelError, match="two ends, or one text such as 'V -> j'"):
            m.connect(wrong)


@pytest.mark.parametrize("width", [2, 4])
def test_results_of_any_width_are_read_as_vectors(width):
    masses = np.arange(1.0, width + 1)
    model = graph(b.Se("V", effort=[1.0] * width), b.Junction1("j"), b.I("m", inertia=list(masses)), "V -> j -> m")
    found = model.simulate(1.0, points=3, rtol=1e-10)
    assert found["m.flow"].shape == (3, width)
    assert np.abs(found["m.flow"][-1] - 1 / masses).max() < 1e-8
    with pytest.raises(ct.CotreeError):
        found["m.flo"]


def test_symmetric_laws_of_several_components():
    law = ["2*q.c1 + q.c2**2", "2*q.c1*q.c2"]  # the gradient of q1^2 + q1 q2^2
    model = graph(
        b.Junction1("j"),
        b.I("m", inertia=[1.0, 2.0]),
        b.C("k", effort=law, displacement=[0.5, 0.3]),
        "j -> m",
        "j -> k",
    )
    found = model.simulate(1.0, points=3, rtol=1e-10)

    def move(t, y):
        return [y[2], y[3], -2 * y[0] - y[1] ** 2, -y[0] * y[1]]

    wanted = reference(move, [0.5, 0.3, 0.0, 0.0], 1.0)
    assert np.abs(found["k.displacement"][-1] - wanted[:2]).max() < 1e-8
