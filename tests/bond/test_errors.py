"""What mistakes in Python are told: the whole text of each message, with the bond or element by name."""

import pytest

import cotree as ct
import cotree.bond as b
from bond._graphs import graph


def chain(*parts, last="R"):
    return graph(b.Se("V", effort=5.0), b.Junction1("j"), b.Bond("b1", "V", "j"), b.Bond("b2", "j", last), *parts)


R = b.R("R", resistance=2.0)

WHOLE = {
    # the four that must be clear
    "dangling port": (
        lambda: chain(b.TF("T", modulus=2.0), last="T"),
        "bond b2 (j -> T): port 2 of the TF 'T' is dangling: it has bond b2 (j -> T). Expected one bond at each "
        "port: one "
        "that enters at port 1 and one that leaves at port 2. Name the port: T.1 or T.2.",
    ),
    "dangling element": (
        lambda: chain(R, b.C("C", stiffness=1.0)),
        "C: the port of the C 'C' is dangling: no bond ends there. Expected one bond. Add a bond that ends at C.",
    ),
    "width mismatch": (
        lambda: chain(b.R("R", resistance=[1.0, 2.0, 3.0]), b.I("L", inertia=[1.0, 2.0]), b.Bond("b3", "j", "L")),
        "bond b3 (j -> L): its widths do not agree: L tells 2 and R tells 3. Expected one width on both sides of a "
        "bond. "
        "Give both ends the same number of components, or take the multibond apart with a Split.",
    ),
    "unconnected modulation": (
        lambda: chain(b.MTF("T"), R, b.Bond("b3", "T", "R"), last="T"),
        "bond b2 (j -> T): the modulation of the MTF 'T' is not connected: no signal reaches it. Expected an "
        "expression "
        "that holds a signal or t, such as '0.1*sin(angle.value)'. Use TF for a constant.",
    ),
    "constant modulation": (
        lambda: chain(b.MR("R", resistance=3.0)),
        "bond b2 (j -> R): the modulation of the MR 'R' is not connected: no signal reaches it. Expected an expression "
        "that holds a signal or t, such as '0.1*sin(angle.value)'. Use R for a constant.",
    ),
    "effort sources in conflict": (
        lambda: graph(
            b.Se("V", effort=5.0), b.Se("W", effort=4.0), b.Junction0("n"), R, b.Bond("b1", "V", "n"),
            b.Bond("b2", "W", "n"), b.Bond("b3", "n", "R"),
        ),
        "bond b1 (V -> n): the effort sources V, W are in conflict: they set the same effort. Expected an effort "
        "that one "
        "source sets alone. Put an R between them on a 1 junction, or remove one.",
    ),
    "flow sources in conflict": (
        lambda: graph(
            b.Sf("V", flow=5.0), b.Sf("W", flow=4.0), b.Junction1("n"), R, b.Bond("b1", "V", "n"),
            b.Bond("b2", "W", "n"), b.Bond("b3", "n", "R"),
        ),
        "bond b2 (W -> n): the flow sources W, V are in conflict: they set the same flow. Expected a flow that one "
        "source "
        "sets alone. Put a C or an R between them on a 0 junction, or remove one.",
    ),
    # others
    "no end": (
        lambda: chain(R, last="Rr"),
        "bond b2: it ends at 'Rr', which does not exist. Expected the name of an element, or element.port. "
        "Did you mean 'R'?",
    ),
    "end without a port": (
        lambda: chain(b.Split("s", parts=[1, 1]), last="s"),
        "bond b2: it ends at 's' without a port. Expected one of s.whole, s.1, s.2.",
    ),
    "unknown port": (
        lambda: chain(b.TF("T", modulus=1.0), last="T.3"),
        "bond b2: T has no port '3'. Expected one of T.1, T.2.",
    ),
    "port of a one-port": (lambda: chain(R, last="R.1"), "bond b2: R has no port '1'. Expected R alone."),
    "three bonds at a gyrator": (
        lambda: chain(b.GY("G", modulus=1.0), R, b.Bond("b3", "G", "R"), b.Bond("b4", "j", "G.1"), last="G"),
        "bond b4 (j -> G): port 1 of the GY 'G' has 2 bonds. Expected one bond at each port: one that enters at port 1 "
        "and one that leaves at port 2. Name the port: G.1 or G.2.",
    ),
    "two bonds at an element": (
        lambda: chain(R, b.Bond("b3", "j", "R")),
        "bond b3 (j -> R): the R 'R' has 2 bonds (bond b2 (j -> R), bond b3 (j -> R)). Expected one bond. "
        "Put a junction between them.",
    ),
    "junction with one bond": (
        lambda: chain(R, b.Junction0("n"), b.Bond("b3", "j", "n")),
        "bond b3 (j -> n): the junction 'n' has only the bond b3 (j -> n). Expected at least two bonds at a junction. "
        "Connect something else to it, or remove it.",
    ),
    "bond to itself": (
        lambda: chain(R, b.Bond("b3", "j", "j")),
        "bond b3: it begins and ends at 'j'. Expected two different elements as ends.",
    ),
    "a loop of bonds": (
        lambda: chain(R, b.Junction1("k"), b.Bond("b3", "j", "k"), b.Bond("b4", "k", "j")),
        "bond b3: bonds around 'k' form a loop that sets the same flow twice: nothing tells how they share the effort. "
        "Expected one way for the flow. Remove one of the bonds of the loop, here b3, b4.",
    ),
    "a source that nothing takes": (
        lambda: graph(b.Se("V", effort=5.0), b.TF("T", modulus=2.0), b.Se("W", effort=0.0), "V -> T -> W"),
        "bond V_T (V -> T): the effort sources V, W are in conflict: they set the same effort. Expected an effort that "
        "one source sets alone. Put an R between them on a 1 junction, or remove one.",
    ),
    "unknown signal": (
        lambda: chain(b.MR("R", resistance="1 + jj.flow")),
        "R: there is no signal 'jj.flow'. Expected effort or flow of a bond or an element, momentum of an I, "
        "displacement "
        "of a C, or the value of a sensor, a block or an integrator. Did you mean 'j.flow'?",
    ),
    "signal without a component": (
        lambda: chain(b.R("R", resistance=[1.0, 2.0]), b.Block("a", value="2*R.flow")),
        "a: there is no signal 'R.flow'. Expected effort or flow of a bond or an element, momentum of an I, "
        "displacement "
        "of a C, or the value of a sensor, a block or an integrator. Name a component: R.flow.c1, R.flow.c2.",
    ),
    "a constant element with a signal": (
        lambda: chain(b.R("R", resistance="1 + j.flow")),
        "R: its value depends on the signal j.flow. Expected a constant R. Use MR, the modulated element.",
    ),
    "a storage with a signal": (
        lambda: chain(b.C("R", stiffness="1 + j.flow")),
        "R: its value depends on the signal j.flow. Expected a constant C. Put an MTF between it and the junction.",
    ),
    "a storage that changes with time": (
        lambda: chain(b.C("R", effort="q*(1 + t)")),
        "R: its law depends on time. Expected a constant C, so that it keeps energy. "
        "Put an MTF between it and the junction.",
    ),
    "an inertia of zero": (
        lambda: chain(b.I("R", inertia=0.0)),
        "R.inertia: the value has no inverse. Expected a number that is not zero, or a regular matrix.",
    ),
    "a singular inertia": (
        lambda: chain(b.I("R", inertia=[[1.0, 1.0], [1.0, 1.0]])),
        "R.inertia: the value has no inverse. Expected a number that is not zero, or a regular matrix.",
    ),
    "a law of another variable": (
        lambda: chain(b.R("R", effort=["f.x", "f.y"])),
        "R.effort: 'f.x' in the law 'f.x'. Expected one of f.c1, f.c2.",
    ),
    "a law of the wrong size": (
        lambda: chain(b.R("R", effort=lambda f: [f, f])),
        "R.effort: the function gives 2 x 1 values. Expected 1, one for each component of the bond.",
    ),
    "a function that CasADi cannot follow": (
        lambda: chain(b.R("R", effort=lambda f: "no")),
        None,
    ),
    "no law": (
        lambda: b.R("R"),
        "R: none of resistance, conductance, effort, flow is given. Expected one of resistance, conductance, effort, "
        "flow.",
    ),
    "two laws": (
        lambda: b.C("c", stiffness=1.0, compliance=1.0),
        "c: compliance, stiffness are given. Expected one of compliance, stiffness, effort.",
    ),
    "two starts": (
        lambda: b.I("L", inertia=1.0, momentum=1.0, initial_flow=1.0),
        "L: momentum and initial_flow are given. Expected one of the two.",
    ),
    "initial flow of a nonlinear I": (
        lambda: chain(b.I("R", flow="p**3", initial_flow=1.0)),
        "R: initial_flow of a nonlinear I. Expected momentum. Give its momentum instead.",
    ),
    "values of two widths": (
        lambda: chain(b.I("R", inertia=[1.0, 2.0], momentum=[1.0, 2.0, 3.0])),
        "R: values of widths 2, 3. Expected one width.",
    ),
    "ragged matrix": (
        lambda: b.R("R", resistance=[[1, 2], [3]]),
        "R.resistance: found ((1, 2), (3,)). Expected a number, a list, or a list of rows.",
    ),
    "width": (lambda: b.R("R", resistance=1.0, width=0), "R: the width is 0. Expected a whole number from 1 to 100."),
    "domain": (
        lambda: b.R("R", resistance=1.0, domain="electric"),
        "R.domain: there is no domain 'electric'. Expected one of electrical, translational, rotational, hydraulic, "
        "thermal. Did you mean 'electrical'?",
    ),
    "split": (lambda: b.Split("s", parts=[0]), "s: the parts are (0,). Expected widths such as [1, 2]."),
    "gyristor that is not skew": (
        lambda: chain(b.MGR("R", modulus=[[0, "t"], ["t", 0]])),
        "R: the modulus is no vector of three and no skew matrix. Expected e = modulus x f with three components, or a "
        "skew matrix: other values would not keep power.",
    ),
    "sensor of nothing": (
        lambda: chain(R, b.Sensor("s", of="RR", measures="flow")),
        "s: it measures 'RR', which does not exist. Expected a bond, a one-port element or a junction. Did you mean "
        "'R'?",
    ),
    "sensor of a two-port": (
        lambda: chain(b.TF("T", modulus=1.0), R, b.Bond("b3", "T", "R"), b.Sensor("s", of="T", measures="flow"),
        last="T"),
        "s: it measures 'T', which has several ports. Expected a bond, a one-port element or a junction. "
        "Measure one of its bonds: b2, b3.",
    ),
    "sensor of what a junction has not": (
        lambda: chain(R, b.Sensor("s", of="j", measures="effort")),
        "s: it measures the effort of the 1 junction 'j', which has one for each bond. Expected flow or "
        "displacement, or "
        "a bond as 'of'.",
    ),
    "sensor of an unknown quantity": (
        lambda: b.Sensor("s", of="j", measures="power"),
        "s: it measures 'power'. Expected one of effort, flow, momentum, displacement.",
    ),
    "blocks that say nothing": (
        lambda: chain(R, b.Block("a", value="c.value + 1"), b.Block("c", value="a.value")),
        None,
    ),
    "integrator without a start": (
        lambda: b.Integrator("x", input="j.flow"),
        "x: no initial is given. Expected input: a signal, initial: a value.",
    ),
    "integrator that starts at a signal": (
        lambda: chain(R, b.Integrator("x", input="j.flow", initial="j.flow")),
        "x: its initial value depends on the signal j.flow. Expected a number, or an expression of parameters.",
    ),
    "no bonds": (
        lambda: graph(R),
        "graph: the bond graph has no bonds. Join its elements with bonds.",
    ),
    "a resistor of a network": (
        lambda: chain(R, ct.Resistor("r", ("a", "ground"), resistance=1.0)),
        "r: 'r' (resistor) is no part of a bond graph. Expected bond-graph parts only. Turn the other model "
        "into a bond graph with to_bond_graph().",
    ),
}  # fmt: skip


def derive(make):
    """Make a part or a model, and the equations of a model."""
    made = make()
    if isinstance(made, ct.Model):
        made.equations()


@pytest.mark.parametrize("name", WHOLE)
def test_the_message_is_whole(name):
    make, message = WHOLE[name]
    with pytest.raises(ct.CotreeError) as told:
        derive(make)
    if message is not None:
        assert str(told.value) == message


SOFT = {"stiffness": 1e4, "turning_stiffness": 1e4}
DAMPED = SOFT | {"damping": 1.0, "turning_damping": 1.0}


def between_two_joints(arm, joint, *more):
    """A body on a compliant joint, on a part that hangs on another one."""
    return graph(
        b.mechanics.Ground("G"), b.mechanics.RevoluteJoint("J1", axis="z", **joint), arm,
        b.mechanics.RevoluteJoint("J2", axis="y", **joint), b.mechanics.Body("B", mass=1.0, inertia=[1e-3] * 3), *more,
        "G -> J1.a", "J1.b -> arm.A", "arm.B -> J2.a", "J2.b -> B", gravity=(0, 0, -9.8),
    )  # fmt: skip


def test_a_part_without_mass_between_two_compliant_joints():
    """The free axes of both joints turn with it, and no torque acts there."""
    arm = b.mechanics.Translation("arm", r=[1.0, 0.0, 0.0])
    with pytest.raises(ct.CotreeError) as caught:
        between_two_joints(arm, SOFT).equations()
    assert str(caught.value) == (
        "bond J1.shaft.free.bond (J1.shaft -> J1.shaft.free): nothing with inertia or resistance moves with "
        "J1.shaft.free, J2.shaft.free, so that no equation gives the flow. Expected an I or an R that moves with it. "
        "Give what is between J1, J2 a small mass and inertia, or add an R (damping) to it."
    )
    ends = {"A": [-0.5, 0, 0], "B": [0.5, 0, 0]}
    massive = b.mechanics.Body("arm", mass=0.01, inertia=[1e-4] * 3, frames=ends)
    assert between_two_joints(massive, SOFT).equations()
    dampers = [b.R(f"D{k}", resistance=1.0) for k in (1, 2)]
    assert between_two_joints(arm, DAMPED, *dampers, "J1.shaft -> D1", "J2.shaft -> D2").equations()


NO_ENERGY = {
    "stiffness": (
        b.C("X", stiffness=[[1, 2], [0, 1]]),
        "X.stiffness: the matrix is not symmetric: c1c2 is 2 and c2c1 is 0",
    ),
    "inertia": (
        b.I("X", inertia=[[1, 0.5], [0, 2]]),
        "X.inertia: the matrix is not symmetric: c1c2 is 0.5 and c2c1 is 0",
    ),
    "compliance": (b.C("X", compliance=[[1, 2], [2, 1]]), "X.compliance: the matrix has the negative eigenvalue -1"),
    "law": (
        b.C("X", effort=["q.c2", "0*q.c1"]),
        "X.effort: the law keeps no energy: component c1 changes by 1 with c2, but c2 by 0 with c1",
    ),
    "negative inertia": (b.I("X", inertia=-1), "X.inertia: the value is -1: its energy would be negative"),
    "negative stiffness": (b.C("X", stiffness=-3), "X.stiffness: the value is -3: its energy would be negative"),
}


@pytest.mark.parametrize("case", NO_ENERGY)
def test_storages_that_keep_no_energy(case):
    part, words = NO_ENERGY[case]
    width = part.own_width() or 1
    drive = b.Se("V", effort=[1.0] * width if width > 1 else 1.0)
    model = graph(drive, b.Junction1("j"), b.R("R", resistance=1.0), part, "V -> j -> R", "j -> X")
    with pytest.raises(ct.ModelError) as told:
        model.equations()
    assert words in str(told.value)


def test_a_negative_resistance_is_noted():
    for value in ({"resistance": -1.0}, {"conductance": -1.0}):
        model = graph(b.Se("V", effort=1.0), b.Junction1("j"), b.I("m", inertia=1.0), b.R("R", **value), "V -> j -> m")
        model.connect("j", "R")
        assert "R 'R' is negative (-1): it supplies energy instead of dissipating it" in model.equations().notes


def test_a_law_without_slope_at_the_start_is_named():
    model = graph(
        b.Se("V", effort=1.0), b.Junction1("j"), b.I("m", inertia=1.0), b.R("r", flow="e**3"), "V -> j -> m", "j -> r"
    )
    with pytest.raises(ct.SolveError, match=r"do not fix r\.effort: the slope of its law is zero there"):
        model.simulate(2.0, points=5)
