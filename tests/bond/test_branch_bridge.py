"""The multibond graph of a rigid mechanism has the motion, reactions and energies of the branch formulation."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from benchmarks import rigid_models
from bond.branch_models import MODELS, chain, chain_of, dead_centre, forces, gears, planar_floater, random_mechanism
from cotree.bond.branch import OfJoint
from cotree.errors import ModelError, SolveError
from cotree.model import Frame
from cotree.terminal.mechanics import Coupling, Joint

EXAMPLES = Path(__file__).parents[2] / "examples"
RTOL, ATOL = 1e-11, 1e-13
SAME = 1e-8
"""Part of a result's size by which two runs at RTOL may differ: a few hundred steps, 10 RTOL each, and as much again
for accelerations and reactions, which amplify what is left of position errors."""

BENCHMARKS = {
    "pendulum": 0.5, "point_pendulum": 0.5, "car_axis": 0.5, "rssr": 0.1,
    "rscr": 0.2, "stewart": 0.1, "screw_loop": 0.3,
}  # fmt: skip
FILES = {"pendulum": 1.0, "four_bar": 0.3, "slider_crank": 0.2, "spinning_top": 0.3, "andrews": 0.01}
LONG = ("stewart", "rscr", "screw_loop", "andrews", 2, 3)
LONG += ("loop cylindrical", "loop universal", "loop prismatic", "loop weld", "loop spherical", "loop planar")
"""What takes a second or more, of kinds that other cases have, too: every joint also stands in a chain."""


BRANCH_ONLY = (".length", ".length_rate", ".tension")
"""Results that mechanisms have besides; as totals of the system, they follow from others."""


def difference(model: ct.Model, t_end: float, leave_out: tuple[str, ...] = ()) -> dict[str, float]:
    """How far each result of the bond graph is from that of the mechanism, as a part of its largest value."""
    graph = model.to_bond_graph()
    options = {"points": 5, "rtol": RTOL, "atol": ATOL}
    one, two = model.simulate(t_end, **options), graph.simulate(t_end, **options)
    found = {}
    for name in one.names:
        if any(word in name for word in leave_out) or name.startswith("system.") or name.endswith(BRANCH_ONLY):
            continue
        if isinstance(model.components.get(name.partition(".")[0]), Coupling):
            continue
        assert name in two, f"the bond graph has no result {name}"
        gap = np.abs(two[name] - one[name]).max()
        if ".orientation." in name:  # both signs mean the same rotation
            gap = min(gap, np.abs(two[name] + one[name]).max())
        found[name] = float(gap / (1 + np.abs(one[name]).max()))
    scale = max(float(np.abs(one.audit.stored).max()), 1.0)
    assert np.abs(two.audit.stored - one.audit.stored).max() < SAME * scale
    assert np.abs(two.audit.dissipated - one.audit.dissipated).max() < SAME * scale
    assert np.abs(two.audit.supplied - one.audit.supplied).max() < SAME * scale
    assert two.audit.error < SAME
    return found


def cases(names: Iterable[Any]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in names]


def assert_same(model: ct.Model, t_end: float, leave_out: tuple[str, ...] = ()) -> None:
    found = difference(model, t_end, leave_out)
    worst = max(found, key=found.__getitem__)
    assert found[worst] < SAME, worst


@pytest.mark.parametrize("name", cases(MODELS))
def test_every_joint_constraint_force_and_driver(name):
    leave_out = ("W.orientation", "W.omega") if name == "points" else ()  # a point has no orientation
    assert_same(MODELS[name](), 0.2, leave_out)


@pytest.mark.parametrize("name", cases(BENCHMARKS))
def test_benchmarks(name):
    assert_same(getattr(rigid_models, name)(), BENCHMARKS[name])


@pytest.mark.parametrize("name", cases(FILES))
def test_examples(name):
    assert_same(ct.load(EXAMPLES / f"{name}.yaml"), FILES[name])


def test_an_overconstrained_loop_moves_the_same():
    """Bricard's mechanism moves with one degree of freedom; its reactions are not unique."""
    assert_same(ct.load(EXAMPLES / "bricard.yaml"), 0.5, (".force.", ".torque."))


@pytest.mark.parametrize("planar", [False, True])
def test_planar_loops(planar):
    assert_same(rigid_models.n_four_bars(2, planar=planar), 0.3)


@pytest.mark.parametrize("seed", cases(range(4)))
def test_random_mechanisms(seed):
    model = random_mechanism(seed, loops=seed % 3)
    try:
        model.equations()
    except SolveError:
        pytest.skip("the random loops cannot be closed")
    assert_same(model, 0.2)


def test_one_motion_whatever_the_integrator():
    model = rigid_models.four_bar()
    graph = model.to_bond_graph()
    for integrator in ("idas", "generalised_alpha"):
        runs = [each.simulate(0.1, points=5, rtol=1e-9, integrator=integrator) for each in (model, graph)]
        assert np.abs(runs[0]["crank.position"] - runs[1]["crank.position"]).max() < 1e-7  # 100 rtol


def test_linearised_modes_are_the_same():
    model = forces()
    one, two = (np.sort_complex(np.linalg.eigvals(each.linearise().A)) for each in (model, model.to_bond_graph()))
    assert np.abs(one - two).max() < 1e-8 * np.abs(one).max()


def test_values_keep_their_names_and_can_change():
    model = gears()
    graph = model.to_bond_graph()
    more = set(graph.equations().p.names) ^ set(model.equations().p.names)
    assert more == {"rack.displacement"}  # a start value that follows from the gears
    changes = {"w1.mass": 3.0, "tie.stiffness": 100.0, "bar.mass": 0.2}
    runs = [each.simulate(0.2, points=5, rtol=1e-10, parameters=changes) for each in (model, graph)]
    assert np.abs(runs[0]["w3.orientation"] - runs[1]["w3.orientation"]).max() < 1e-8


def test_the_graph_is_a_model_of_the_same_class_that_can_be_saved(tmp_path):
    for make in (forces, gears, planar_floater):
        model = make()
        graph = model.to_bond_graph()
        assert type(graph) is type(model)
        assert (graph.name, graph.planar, graph.parameters) == (model.name, model.planar, model.parameters)
        assert graph.gravity.values({}) == model.gravity.values({})
        graph.save(tmp_path / "graph.yaml")
        again = ct.load(tmp_path / "graph.yaml")
        assert again.components == graph.components
        assert again.to_data() == graph.to_data()


def test_start_values_stay_expressions_where_nothing_changes_them():
    model = ct.Model("start", parameters={"phi": 0.4})
    model.add(ct.RigidBody("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"O": (-0.5, 0, 0)}))
    model.add(ct.Revolute("O", "ground", "bob.O", axis=(0, 1, 0), angle="phi/2"))
    graph = model.to_bond_graph()
    assert graph.components["O"].component.angle == "phi/2"
    runs = [each.simulate(0.2, points=5, parameters={"phi": 1.2}, rtol=1e-10) for each in (model, graph)]
    assert runs[1]["O.angle"][0] == 0.6
    assert np.abs(runs[0]["O.angle"] - runs[1]["O.angle"]).max() < 1e-9
    loop = dead_centre().to_bond_graph()
    assert loop.components["S"].component.displacement == "r + l"


def test_fixed_start_values_stay_fixed():
    model = dead_centre()
    graph = model.to_bond_graph()
    runs = [each.simulate(0.2, points=5, parameters={"O.angle_rate": 7.0}, rtol=1e-10) for each in (model, graph)]
    assert runs[1]["O.angle_rate"][0] == 7.0
    assert np.abs(runs[0]["slider.position"] - runs[1]["slider.position"]).max() < 1e-9


def test_start_values_of_bodies_are_met_as_closely():
    """Only the position of the body is given; the angle follows from it, 2 rad away from zero."""
    model = ct.Model("near", gravity=(0, -9.81, 0))
    place = (np.cos(2.0), np.sin(2.0), 0.0)
    model.add(ct.RigidBody("bob", mass=1.0, inertia=(0.1,) * 3, frames={"O": (-1, 0, 0)}, position=place))
    model.add(ct.Revolute("O", "ground", "bob.O"))
    graph = model.to_bond_graph()
    assert graph.components["O"].component.angle == pytest.approx(2.0)
    assert_same(model, 0.3)


def test_full_turns_of_a_joint_that_closes_a_loop_are_counted():
    model = MODELS["turns"]()
    solution = model.to_bond_graph().simulate(2.0, points=101)
    turns = solution["A.angle"]
    assert np.abs(turns).max() > 2 * pi
    assert np.abs(np.diff(turns)).max() < pi


def test_other_names_for_the_ground_and_frames_called_as_ports():
    model = ct.Model("names", datum="world")
    frames = {"origin": (-0.2, 0, 0), "m": (0.2, 0, 0), "J": Frame((0, 0.1, 0), axis=(1, 0, 0), angle=0.3)}
    model.add(ct.RigidBody("body", mass=1.0, inertia=(0.1, 0.2, 0.2), frames=frames, centre=(0.05, 0, 0.1)))
    model.add(ct.RigidBody("b1", mass=1.0, inertia=(0.1, 0.2, 0.2), frames={"A": (0, 0, 0.2)}))
    model.add(ct.Revolute("pin", "world", "body.origin", axis=(0, 1, 0)))
    model.add(ct.Revolute("weight", "body.J", "b1.A", axis=(0, 1, 0)))
    model.add(ct.Spring("K", "body.m", "b1", stiffness=30.0, length=0.1))
    assert_same(model, 0.3)


def test_a_flexible_body_is_refused_by_name():
    model = ct.load(EXAMPLES / "flexible_pendulum.yaml")
    (name,) = [part.name for part in model.components.values() if part.kind in ("beam", "flexible_body")]
    with pytest.raises(ModelError, match=f"'{name}'.*flexible"):
        model.to_bond_graph()


def test_an_unknown_joint_is_refused_by_name():
    class Sprung(Joint):
        kind = "test.sprung"

    model = chain("weld")
    model.components["J2"] = Sprung("J2", "one.A", "two.B")
    with pytest.raises(ModelError, match=r"test\.sprung has no bond graph"):
        OfJoint("J2", component=model.components["J2"])


def test_the_counterpart_needs_its_component():
    with pytest.raises(ModelError, match="component is None"):
        OfJoint("J")


def test_a_long_chain_costs_little_more_to_write():
    """Size of the equations: those of the bond graph stay within 3 times those of the branch formulation."""
    from cotree.solve.problem import Problem

    model = chain_of(8)
    one, two = (Problem.of(each.equations()).dae_length for each in (model, model.to_bond_graph()))
    assert two < 3 * one
