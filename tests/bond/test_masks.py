"""Masks: graphs with ports that are used like elements; nested, with parameters, signals and laws inside."""

import numpy as np
import pytest

import cotree as ct
import cotree.bond as b
from bond._graphs import graph, last, reference


def winding(**more):
    """A DC motor with ports supply and shaft, constant K and resistance Ra."""
    g = b.Graph("motor", ports={"supply": "i", "shaft": "w"}, parameters={"K": None, "Ra": 1.5, **more})
    for part in (
        b.Junction1("i"), b.R("R", resistance="Ra"), b.I("L", inertia=0.1), b.GY("g", modulus="K"), b.Junction1("w"),
    ):  # fmt: skip
        g.add(part)
    for tail, head in (("i", "R"), ("i", "L"), ("i", "g"), ("g", "w")):
        g.connect(tail, head)
    return g


def machine(motor, *more, **values):
    return graph(
        b.Se("V", effort=12.0), b.Mask("M", graph=motor, values_of=values), b.I("J", inertia=0.2), *more,
        "V -> M.supply", "M.shaft -> J",
    )  # fmt: skip


def by_hand(K, Ra=1.5, more=lambda t, i, w: 0.0):
    return reference(lambda t, y: [(12 - Ra * y[0] - K * y[1] + more(t, *y)) / 0.1, K * y[0] / 0.2], [0, 0])


def test_a_mask_is_the_graph_inside():
    flat = graph(
        b.Se("V", effort=12.0), b.Junction1("i"), b.R("R", resistance=1.5), b.I("L", inertia=0.1), b.GY("g",
        modulus=0.5),
        b.Junction1("w"), b.I("J", inertia=0.2), "V -> i -> R", "i -> L", "i -> g -> w -> J",
    ).simulate(1.0, rtol=1e-10)  # fmt: skip
    s = machine(winding(), K=0.5).simulate(1.0, rtol=1e-10)
    pairs = {"J.flow": "J.flow", "M.L.flow": "L.flow", "M.R.effort": "R.effort", "M.w.flow": "w.flow"}
    pairs |= {"M.b1.effort": "i_R.effort", "M.L.momentum": "L.momentum", "V_M_supply.flow": "V_i.flow"}
    for inner, name in pairs.items():
        assert np.abs(s[inner] - flat[name]).max() < 1e-8  # of up to 12; two runs at rtol 1e-10
    assert s["J.flow"][-1] == pytest.approx(by_hand(0.5)[1], rel=1e-8)


def test_parameters_have_defaults_expressions_and_change_at_run_time():
    model = graph(*machine(winding(), K="2*a", Ra=3.0).components.values(), parameters={"a": 0.25})
    assert last(model, "J.flow") == pytest.approx(by_hand(0.5, 3.0)[1], rel=1e-8)
    assert last(model, "J.flow", parameters={"a": 0.4}) == pytest.approx(by_hand(0.8, 3.0)[1], rel=1e-8)
    model = machine(winding(), K=0.5)
    changed = last(model, "J.flow", parameters={"M.K": 0.7, "M.Ra": 2.0})
    assert changed == pytest.approx(by_hand(0.7, 2.0)[1], rel=1e-8)
    inner = last(model, "M.L.flow", parameters={"M.L.inertia": 0.1 * 2, "J.inertia": 0.4, "M.Ra": 3.0, "M.K": 1.0})
    assert inner == pytest.approx(
        reference(lambda t, y: [(12 - 3 * y[0] - y[1]) / 0.2, y[0] / 0.4], [0, 0])[0], rel=1e-8
    )


def test_one_graph_serves_many_masks():
    motor = winding()
    model = graph(
        b.Se("V", effort=12.0), b.Junction0("n"), b.Mask("A", graph=motor, values_of={"K": 0.5}),
        b.Mask("B", graph=motor, values_of={"K": 0.8, "Ra": 2.0}), b.I("JA", inertia=0.2), b.I("JB", inertia=0.2),
        "V -> n -> A.supply", "n -> B.supply", "A.shaft -> JA", "B.shaft -> JB",
    )  # fmt: skip
    s = model.simulate(1.0, rtol=1e-10)
    assert [s["JA.flow"][-1], s["JB.flow"][-1]] == pytest.approx([by_hand(0.5)[1], by_hand(0.8, 2.0)[1]], rel=1e-8)


def drive():
    """A motor with a gear: its own ports lead into the mask inside."""
    g = b.Graph("drive", ports={"in": "M.supply", "out": "gear.2"}, parameters={"k": 0.25, "n": None})
    g.add(b.Mask("M", graph=winding(), values_of={"K": "2*k", "Ra": "k + 1"}))
    g.add(b.TF("gear", modulus="n"))
    g.connect("M.shaft", "gear.1")
    return g


def test_masks_nest_and_pass_their_parameters_on():
    plant = b.Graph("plant", ports={"in": "D.in"}, parameters={"ratio": 0.5})
    plant.add(b.Mask("D", graph=drive(), values_of={"n": "ratio", "k": 0.3}))
    plant.add(b.I("J", inertia=0.2))
    plant.connect("D.out", "J")
    model = graph(b.Se("V", effort=12.0), b.Mask("P", graph=plant), "V -> P")

    def rates(n, k):
        return lambda t, y: [(12 - (k + 1) * y[0] - 2 * k * y[1]) / 0.1, 2 * k * y[0] / (0.2 * n * n)]

    assert last(model, "P.D.M.L.flow") == pytest.approx(reference(rates(0.5, 0.3), [0, 0])[0], abs=1e-8)
    changed = {"P.ratio": 0.7, "P.D.k": 0.4}
    s = model.simulate(1.0, rtol=1e-10, parameters=changed)
    wanted = reference(rates(0.7, 0.4), [0, 0])
    assert [s["P.D.M.L.flow"][-1], s["P.J.flow"][-1]] == pytest.approx([wanted[0], 0.7 * wanted[1]], abs=1e-7)


def test_parameters_of_masks_may_be_read_outside():
    model = graph(
        b.Block("before", value="2*M.K"),
        *machine(winding(), K=0.5).components.values(),
        b.Block("after", value="M.Ra + M.K"),
    )
    s = model.simulate(0.1)
    assert (s["before.value"][-1], s["after.value"][-1]) == pytest.approx((1.0, 2.0))


def test_signals_stay_inside_unless_they_are_named_by_path():
    motor = winding()
    motor.add(b.Sensor("s", of="L", measures="momentum"))
    motor.add(b.MSe("e", effort="-0.3*s.value - 0.2*R.flow"))
    motor.connect("e", "i")
    model = machine(motor, b.Sensor("seen", of="M.L", measures="flow"), b.Block("twice", value="2*M.s.value"), K=0.5)
    s = model.simulate(1.0, rtol=1e-10)
    wanted = by_hand(0.5, more=lambda t, i, w: -0.3 * 0.1 * i - 0.2 * i)
    assert s["M.L.flow"][-1] == pytest.approx(wanted[0], rel=1e-8)
    assert s["seen.value"][-1] == pytest.approx(wanted[0], rel=1e-8)
    assert s["twice.value"][-1] == pytest.approx(0.2 * wanted[0], rel=1e-8)


def test_laws_functions_and_integrators_inside():
    motor = winding()
    for part in (
        b.R("drag", effort="Ra*f*abs(f)/100"), b.Integrator("turned", input="w.flow", initial="K"),
        b.Block("half", value=lambda x: x / 2, inputs=("turned.value",)), b.MR("hot",
        resistance=lambda s: 0.1 * s("half.value")),
    ):  # fmt: skip
        motor.add(part)
    for end in (("w", "drag"), ("i", "hot")):
        motor.connect(*end)

    def rates(t, y):
        i, w, a = y
        return [(12 - 1.5 * i - 0.5 * w - 0.05 * a * i) / 0.1, (0.5 * i - 0.015 * w * abs(w)) / 0.2, w]

    wanted = reference(rates, [0, 0, 0.5], 1.0)
    s = machine(motor, K=0.5).simulate(1.0, rtol=1e-10)
    found = [s["M.L.flow"][-1], s["J.flow"][-1], s["M.turned.value"][-1]]
    assert found == pytest.approx(wanted, rel=1e-7)


@pytest.mark.parametrize("name", ["flow", "effort", "momentum", "displacement", "value"])
def test_elements_inside_may_have_the_names_of_quantities(name):
    motor = winding()
    motor.add(b.MSe(name, effort=f"-0.3*{name}.flow - 0.1*L.flow"))
    motor.connect(name, "i")
    # the flow of the source counts along its bond: it is i
    wanted = by_hand(0.5, more=lambda t, i, w: -0.3 * i - 0.1 * i)
    assert last(machine(motor, K=0.5), "M.L.flow") == pytest.approx(wanted[0], rel=1e-8)


def test_a_port_may_serve_several_bonds_where_a_junction_stands_behind_it():
    model = machine(winding(), b.R("d", resistance=0.3), K=0.5)
    model.connect("M.shaft", "d")
    wanted = reference(lambda t, y: [(12 - 1.5 * y[0] - 0.5 * y[1]) / 0.1, (0.5 * y[0] - 0.3 * y[1]) / 0.2], [0, 0])
    assert last(model, "J.flow") == pytest.approx(wanted[1], rel=1e-8)


def pendulum():
    """A body on a joint, with frames for more at its centre and at its tip."""
    g = b.Graph("pendulum", ports={"base": "joint.a", "centre": "rod", "tip": "rod.tip"})
    g.add(b.mechanics.RevoluteJoint("joint", axis="y", angle=0.3))
    g.add(b.mechanics.Body("rod", mass=1.0, inertia=[0.1] * 3, frames={"top": [0, 0, 0.5], "tip": [0, 0, -0.5]}))
    g.connect("joint.b", "rod.top")
    return g


def test_frames_of_masks_may_stay_free():
    """Nothing needs to be mounted on a frame, whether a mask or a mask inside of it shows it; other ports dangle."""
    outer = b.Graph("outer", ports={"base": "P.base", "tip": "P.tip"})
    outer.add(b.Mask("P", graph=pendulum()))
    runs = [
        graph(
            b.mechanics.Ground("G"), b.Mask("M", graph=g), b.Bond("b1", "G", "M.base"), gravity=(0, 0, -9.81)
        ).simulate(1.0, rtol=1e-10)
        for g in (pendulum(), outer)
    ]  # fmt: skip

    def rates(t, y):
        return [y[1], -9.81 * 0.5 / (0.1 + 0.25) * np.sin(y[0])]

    assert [runs[0]["M.joint.angle"][-1], runs[1]["M.P.joint.angle"][-1]] == pytest.approx(
        [reference(rates, [0.3, 0.0])[0]] * 2, rel=1e-7
    )
    shaft = b.Graph("shaft", ports={"base": "joint.a", "shaft": "joint.shaft"}, components=pendulum().components)
    model = graph(b.mechanics.Ground("G"), b.Mask("M", graph=shaft), b.Bond("b1", "G", "M.base"), gravity=(0, 0, -9.81))
    with pytest.raises(ct.CotreeError, match="the port 'shaft' of M is dangling"):
        model.equations()


def test_multibonds_go_through_ports():
    g = b.Graph("tripod", ports={"a": "j"}, parameters={"k": 2.0})
    for part in (b.Junction1("j"), b.C("c", stiffness=["k", "2*k", "3*k"]), b.R("r", resistance=[0.1, 0.1, 0.1])):
        g.add(part)
    g.connect("j", "c")
    g.connect("j", "r")
    model = graph(
        b.Se("F", effort=[1, 2, 3]),
        b.Junction1("v"),
        b.I("m", inertia=1.0),
        b.Mask("T", graph=g),
        "F -> v -> m",
        "v -> T",
    )
    wanted = reference(lambda t, y: [3 - 6 * y[1] - 0.1 * y[0], y[0]], [0, 0])
    assert last(model, "m.flow.z") == pytest.approx(wanted[0], rel=1e-8)


MISTAKES = {
    "wrong port": (
        lambda: graph(b.Se("V", effort=1), b.Mask("M", graph=winding(), values_of={"K": 1}), b.Bond("b1", "V",
        "M.suply")),
        "bond b1: the mask 'M' has no port 'suply'. Expected one of supply, shaft. Did you mean 'supply'?",
    ),
    "no port": (
        lambda: graph(b.Se("V", effort=1), b.Mask("M", graph=winding(), values_of={"K": 1}), b.Bond("b1", "V", "M")),
        "bond b1: it ends at the mask 'M' without a port. Expected one of M.supply, M.shaft.",
    ),
    "element inside": (
        lambda: graph(b.Se("V", effort=1), b.Mask("M", graph=winding(), values_of={"K": 1}), b.Bond("b1", "V", "M.i")),
        "bond b1: the mask 'M' has no port 'i'. Expected one of supply, shaft.",
    ),
    "dangling port": (
        lambda: graph(b.Se("V", effort=1), b.Mask("M", graph=winding(), values_of={"K": 1}), b.Bond("b1", "V",
        "M.supply")),
        "M: the port 'shaft' of M is dangling: it is connected to nothing. Expected a bond that ends at M.shaft. "
        "Connect it, or leave the port out of the mask.",
    ),
    "port to nowhere": (
        lambda: graph(
            b.Se("V", effort=1), b.Mask("M", graph=b.Graph("g", {"a": "Rr"}, {}, {"R": b.R("R", resistance=1)})),
            b.Bond("b1", "V", "M.a"),
        ),
        "bond b1: the port 'a' of M leads to 'M.Rr', which does not exist. Expected an element inside the mask, or "
        "element.port. Did you mean 'R'?",
    ),
    "unknown parameter": (
        lambda: machine(winding(), K=1, Rb=3),
        "M: the mask 'motor' has no parameter 'Rb'. Expected one of K, Ra.",
    ),
    "missing parameter": (
        lambda: machine(winding()),
        "M: K of the mask 'motor' not given. Expected values_of: {K: ...}.",
    ),
    "parameter with a law's name": (
        lambda: machine(winding(f=1.0), K=1),
        "mask motor: the parameter name 'f' cannot be used. Expected letters, digits and _, and not t, p, q, e, f, "
        "a constant or a function.",
    ),
    "value that is no number": (
        lambda: machine(winding(), K=[1, 2]),
        "M.K: found [1, 2]. Expected a number, or an expression of parameters.",
    ),
    "signal of outside": (
        lambda: (lambda g: (g.add(b.MSe("e", effort="-J.flow")), g.connect("e", "i"), machine(g, K=1))[2])(winding()),
        "M.e: there is no signal 'M.J.flow'. Expected effort or flow of a bond or an element, momentum of an I, "
        "displacement of a C, or the value of a sensor, a block or an integrator. Did you mean 'M.w.flow'?",
    ),
    "unknown name inside": (
        lambda: (lambda g: (g.add(b.R("x", resistance="2*Rb")), g.connect("w", "x"), machine(g, K=1))[2])(winding()),
        "mask motor, x: 'Rb' in the expression '2*Rb' is not known. Expected a parameter of the mask (K, Ra), t, or a "
        "signal.",
    ),
    "name twice": (
        lambda: winding().add(b.R("R", resistance=1)),
        "mask motor: the name 'R' is used twice. Rename one.",
    ),
    "a mask in itself": (
        lambda: (lambda g: g.add(b.Mask("m", graph=g)))(b.Graph("g")),
        "mask g, m: the mask 'g' would hold itself.",
    ),
    "no graph": (lambda: b.Mask("M", graph="motor"), "M: its graph is 'motor'. Expected a mask's Graph."),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_told(name):
    make, message = MISTAKES[name]
    with pytest.raises(ct.CotreeError) as told:
        make().equations()
    assert str(told.value) == message


def test_masks_in_a_circle_are_refused():
    one, two = b.Graph("one"), b.Graph("two")
    one.add(b.Mask("m", graph=two))
    with pytest.raises(ct.CotreeError, match="the mask 'two' would hold itself"):
        two.add(b.Mask("m", graph=one))
