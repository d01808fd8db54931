"""Mistakes in nodal structures: each message says what was found, where, what was expected and what to do."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.errors import CotreeError, ExpressionError, FormulationError, ModelError, SolveError
from formulation.nodal_models import DOWN, NONE, ring_truss, structure

N = ct.nodal


def message(model: ct.Model, kind: type[CotreeError] = FormulationError) -> str:
    """The message with which a run of the model is refused; all errors have a place, an expectation and a remedy."""
    with pytest.raises(kind) as caught:
        model.simulate(1.0, points=3)
    error = caught.value
    assert error.where, error
    assert error.expected, error
    assert error.remedy, error
    return str(error)


def heavy(*place: float, mass: float = 1.0) -> dict[str, Any]:
    return {"position": place, "mass": mass}


TRIANGLE = {"A": heavy(0, 0, 0), "B": heavy(1, 0, 0), "C": heavy(0.5, 1, 0)}
SIDES = [N.Bar("AB", "A", "B", mass=1), N.Bar("BC", "B", "C", mass=1), N.Bar("CA", "C", "A", mass=1)]
STRAIGHT = {"A": (0, 0, 0), "B": heavy(1, 0, 0), "C": (2, 0, 0)}
FIXED = [N.Fixed("left", "A"), N.Fixed("right", "C")]


@pytest.mark.parametrize("more", [[], [N.OnLine("again", "B", along=(1, 0, 0))]])
def test_a_structure_without_a_mechanism(more: list[Any]) -> None:
    """A triangle on a fixed node and a roller; the same with a roller too many."""
    held = [N.Fixed("pin", "A"), N.OnLine("roller", "B", along=(1, 0, 0))]
    text = message(structure(TRIANGLE, *SIDES, *held, *more, planar=True))
    assert text.startswith(
        "structure: the structure has no mechanism: 6 nodal degrees of freedom and 6 independent equ"
    )
    assert "Remove a bar or a support; determinacy() shows" in text


def test_a_body_that_cannot_move_counts_its_own_nodes_only() -> None:
    body = N.Body("P", over=["A", "B"], mass=1, centre=(0.5, 0, 0), inertia=(0.1, 0.1, 0.2))
    held = N.Fixed("pin", "A"), N.OnLine("roller", "B", along=(1, 0, 0))
    text = message(structure({"A": (0, 0, 0), "B": (1, 0, 0)}, body, *held, planar=True))
    assert "4 nodal degrees of freedom and 4 independent equations" in text


@pytest.mark.parametrize(("planar", "count"), [(True, "1 small motion of"), (False, "2 small motions of")])
def test_straight_bars_between_fixed_nodes_move_infinitesimally_only(planar: bool, count: str) -> None:
    bars = N.Bar("AB", "A", "B", mass=0), N.Bar("BC", "B", "C", mass=0)
    text = message(structure(STRAIGHT, *bars, *FIXED, planar=planar, gravity=DOWN))
    assert f"no mechanism: {count} its nodes at the start" in text


def test_a_rail_across_a_bar_holds_its_node() -> None:
    """The line touches the circle of the bar: equations that depend on each other at first order only."""
    parts = N.Bar("AB", "A", "B", mass=0), N.Fixed("pin", "A"), N.OnLine("rail", "B", along=(0, 1, 0))
    text = message(structure({"A": (0, 0, 0), "B": heavy(1, 0, 0)}, *parts, planar=True))
    assert "no mechanism: 1 small motion of its nodes" in text


def test_a_rail_that_cuts_the_circle_elsewhere_lets_it_move() -> None:
    """Two bars to a slider at its dead centre: flat at the start, and yet a mechanism."""
    parts = [N.Bar("AB", "A", "B", mass=1), N.Bar("BC", "B", "C", mass=1), N.Fixed("pin", "A")]
    model = structure(STRAIGHT, *parts, N.OnLine("rail", "C", along=(1, 0, 0)), planar=True, gravity=DOWN)
    sol = model.simulate(0.1, points=3)
    assert sol["B.position.y"][-1] < -0.01


def test_bars_of_no_length() -> None:
    ends = {"A": heavy(0, 0, 0), "B": heavy(0, 0, 0)}
    text = message(structure(ends, N.Bar("AB", "A", "B", mass=1)), ModelError)
    assert text.startswith("AB: its nodes 'A' and 'B' are at the same place at the start")
    ends["B"] = heavy("gap", 0, 0)  # type: ignore[arg-type]
    text = message(structure(ends, N.Bar("AB", "A", "B", mass=1), parameters={"gap": 0.0}))
    assert text.startswith("AB: its equation has no finite value at the start. Expected nodes at different places")
    ends["B"] = heavy(0, 0, 1)
    text = message(structure(ends, N.Bar("AB", "A", "B", mass=1), planar=True))
    assert "AB: its equation (length) has no slope at the start" in text
    assert "nodes apart from each other in the plane of x and y" in text


def hanging(cable: Any) -> ct.Model:
    parts = N.Fixed("hook", "A"), N.OnLine("rail", "P", along=(0, 1, 0)), cable
    return structure({"A": (0, 0, 0), "P": heavy(0, -1, 0)}, *parts, gravity=DOWN)


def test_cables_that_would_have_to_push() -> None:
    """A tension below zero is refused at once; a winch that lets go faster than g t^2 / 2, when it does."""
    text = message(hanging(N.ForceCable("C", ["A", "P"], tension=-1)), ModelError)
    assert text.startswith("C.tension: the tension is -1 N. Expected a tension of zero or more: a cable cannot push.")
    with pytest.raises(SolveError) as caught:
        hanging(N.MotorCable("C", ["A", "P"], length="1 + 5*t**3")).simulate(1.0, points=101)
    # m (g - 30 t) < 0 from t = 0.327 s on
    assert re.search(r"C: the cable would have to push: its tension is -0\.\d+ N at t = 0\.33 s", str(caught.value))
    kept = caught.value.solution
    assert isinstance(kept, ct.Solution)
    assert kept.t[-1] == pytest.approx(0.32)
    with pytest.raises(SolveError, match=r"C: the cable would have to push"):
        hanging(N.ForceCable("C", ["A", "P"], tension="1 - 4*t")).simulate(1.0, points=11)


def test_a_cable_that_pushes_at_once_leaves_no_results() -> None:
    with pytest.raises(SolveError) as caught:
        hanging(N.MotorCable("C", ["A", "P"], length="1 + 10*t**2")).simulate(1.0, points=11)
    assert "its tension is -10.19 N at t = 0 s" in str(caught.value)  # 9.81 - 20
    assert "kept" not in str(caught.value)
    assert caught.value.solution is None


def test_rounding_of_large_forces_elsewhere_is_no_push() -> None:
    """A slack cable on a bar that is pulled with 10 MN: its own tension is zero."""
    nodes = {"A": (0, 0, 0), "B": heavy(0.9, 0.37, 0), "P": heavy(1.6, -0.4, 0)}
    parts = N.Fixed("pin", "A"), N.Bar("AB", "A", "B", mass=1), N.Force("F", "B", force=(0.9e7, 0.37e7, 0))
    cable = N.MotorCable("C", ["B", "P"], length=float(np.hypot(0.7, 0.77)))
    sol = structure(nodes, *parts, cable, planar=True).simulate(1.0, points=11)
    np.testing.assert_allclose(sol["AB.force"], np.hypot(0.9e7, 0.37e7), rtol=1e-9)
    np.testing.assert_allclose(sol["C.tension"], 0.0, atol=1e-9 * 1e7)


@pytest.mark.parametrize(
    ("length", "start", "tension"),
    [("1/t", 1.0, lambda t: 9.81 - 2 / t**3), ("1 - 0.05*(t - 100)**2", 100.0, lambda t: 9.91 + 0 * t)],
)
def test_a_run_may_start_at_another_time_than_zero(length: str, start: float, tension: Any) -> None:
    """The cable has no length at t = 0, or one far from what fits; y = -length, T = m (g + y'')."""
    sol = hanging(N.MotorCable("C", ["A", "P"], length=length)).simulate(start + 0.5, t_start=start, points=6)
    np.testing.assert_allclose(sol["P.position.y"], -eval(length, {"t": sol.t}), atol=1e-9)
    np.testing.assert_allclose(sol["C.tension"], tension(sol.t), atol=1e-6)


def test_a_winch_that_lets_go_more_slowly_only_pulls() -> None:
    sol = hanging(N.MotorCable("C", ["A", "P"], length="1 + 4*t**2")).simulate(1.0, points=11)
    np.testing.assert_allclose(sol["C.tension"], 9.81 - 8, atol=1e-6)


def test_supports_that_contradict_each_other() -> None:
    def two(first: Any, second: Any) -> ct.Model:
        nodes = {"A": heavy(0, 0, 0), "B": heavy(1, 0, 0)}
        return structure(nodes, N.Bar("AB", "A", "B", mass=1), first, second)

    slow, fast = (N.Moved(f"drive{k}", "A", displacement=(f"0.{k}*t", None, None)) for k in (1, 2))
    text = message(two(slow, fast))
    assert "drive2: it asks for a velocity that nothing can have together with 'drive1'" in text
    text = message(two(N.Moved("here", "A", displacement=(0.1, 0, 0)), N.Moved("there", "A", displacement=(0.2, 0, 0))))
    assert "'here'" in text
    assert "'there'" in text
    assert "contradict each other" in text
    text = message(two(N.Fixed("pin", "A"), slow))
    assert "'drive1'" in text
    assert "pin" in text
    text = message(two(N.Fixed("pin", "A"), N.Moved("pull", "B", displacement=("0.1*t", 0, 0))))
    assert text.startswith("pull: it asks for a velocity that nothing can have together with 'AB', 'pin'")


def test_supports_that_agree_are_redundant() -> None:
    """Two drives with one motion, and a fixed node that is moved by nothing."""
    drive = [N.Moved(f"drive{k}", "A", displacement=("0.1*sin(t)", 0, 0)) for k in (1, 2)]
    sol = structure({"A": heavy(0, 0, 0)}, *drive).simulate(1.0, points=3)
    np.testing.assert_allclose(sol["A.position.x"], 0.1 * np.sin(sol.t), atol=1e-9)
    np.testing.assert_allclose(sol["drive1.force.x"] + sol["drive2.force.x"], -0.1 * np.sin(sol.t), atol=1e-7)


def test_lengths_that_cannot_close() -> None:
    bars = N.Bar("AB", "A", "B", mass=1, length=0.5), N.Bar("BC", "B", "C", mass=1, length=0.7)
    text = message(structure({**STRAIGHT, "B": heavy(1, 0.2, 0)}, *bars, *FIXED, planar=True))
    assert "the structure cannot be put together" in text
    assert "'AB'" in text
    assert "'BC'" in text
    assert "Change a length or a node's position" in text


def test_a_cable_too_short_for_its_nodes() -> None:
    nodes = {"A": (0, 0, 0), "P": heavy(0, -1, 0), "C": (5, 0, 0)}
    text = message(structure(nodes, *FIXED, N.MotorCable("winch", ["A", "P", "C"], length="3 - 0.1*t")))
    # 2 m are missing; in the least squares the three share them evenly
    assert "'left', 'right', 'winch' contradict each other, the best position misses 'left' (x) by 0.667." in text


def test_all_sides_of_a_triangle_that_cannot_close_are_named() -> None:
    """The best one is flat, AB = AC = a, BC = 2 a, with (a^2 - 1)^2 / 2 + (4 a^2 - 25)^2 / 100 least: a^2 = 3/1.32."""
    lengths = {"AB": 1, "BC": 5, "AC": 1}
    bars = [N.Bar(name, *name, mass=1, length=length) for name, length in lengths.items()]
    text = message(structure({"A": heavy(0, 0, 0), "B": heavy(1, 0, 0), "C": heavy(0.5, 0.8, 0)}, *bars))
    square = 3 / 1.32
    named = "'BC', 'AB', 'AC' contradict each other, the best position misses 'BC' (length) by"
    assert f"{named} {2.5 - 0.4 * square:.3g}." in text


def test_a_drive_that_a_bar_does_not_let_go_is_refused_before_it_moves() -> None:
    parts = N.Fixed("pin", "A"), N.Bar("AB", "A", "B", mass=1), N.Moved("pull", "B", displacement=("t**2", 0, None))
    text = message(structure({"A": heavy(0, 0, 0), "B": heavy(1, 0, 0)}, *parts))
    assert text.startswith(
        "pull: it moves what 'pin', 'AB' hold at the start (x): no small motion of the nodes follows"
    )
    text = message(structure({"A": heavy(0, 0, 0), "B": heavy(1, 0, 0)}, *parts, planar=True))
    assert "so that nothing can follow 'pull'" in text


def test_drives_that_part_later_are_named_with_their_time() -> None:
    drives = [N.Moved(f"drive{k}", "A", displacement=(f"0.{k}*t**2", None, None)) for k in (1, 2)]
    text = message(structure({"A": heavy(0, 0, 0)}, *drives), SolveError)
    assert text.startswith(
        "drive2: an equation that follows from others at the start does not hold any more: it is off"
    )
    assert "by 0.025 at t = 0.5 s" in text  # 0.1 t^2
    assert "Remove 'drive2', give it the course that the others allow" in text


def test_nodes_that_are_moved_at_the_start_are_told() -> None:
    sol = hanging(N.MotorCable("C", ["A", "P"], length="3 - 0.1*t")).simulate(0.1, points=3)
    assert "nodes are moved to meet all equations at the start, 'P' most: by 2 m" in sol.notes
    sol = hanging(N.MotorCable("C", ["A", "P"], length="1 - 0.1*t")).simulate(0.1, points=3)
    assert not any("moved to meet" in note for note in sol.notes)


def test_names_that_do_not_exist() -> None:
    text = message(structure({"left": heavy(0, 0, 0)}, N.Fixed("pin", "lefd")), ModelError)
    assert text == "pin: there is no node 'lefd'. Expected one of left. Did you mean 'left'?"
    text = message(structure({"A": heavy(0, 0, 0)}, N.BodyLoad("load", "P", force=(1, 0, 0))), ModelError)
    assert text.startswith(
        "load: there is no rigid body 'P'. Expected a body: the structure has none. Add it: Body('P'"
    )
    with pytest.raises(ModelError, match=r"'A\.velocity\.w' is not a state\..*Did you mean 'A\.velocity\.z'"):
        structure({"A": heavy(0, 0, 0)}).simulate(1.0, start={"A.velocity.w": 1.0})


@pytest.mark.parametrize("bars", [True, False])
def test_nodes_that_move_no_mass(bars: bool) -> None:
    """In a row of massless bars that hangs straight, and without any part that names them."""
    nodes = {"A": (0, 0, 0), "B": (1, 0, 0), "C": heavy(2, 0, 0)}
    parts = [N.Bar("AB", "A", "B", mass=0), N.Bar("BC", "B", "C", mass=0), N.Fixed("pin", "A")]
    model = structure(nodes, *parts) if bars else structure({"A": heavy(0, 0, 0), "B": (1, 0, 0)})
    text = message(model)
    assert text.startswith("B: 'B' can move without moving any mass. Expected mass along every free motion. Give the")


@pytest.mark.parametrize("held", [False, True])
def test_nodes_that_move_no_mass_in_a_large_structure(held: bool) -> None:
    """A node of its own, and the middle of a massless chain that hangs straight from a ring of 624 coordinates."""
    model = ring_truss(104)
    below = np.array(model.components["L0"].position) - (0, 0, 1)
    model.add(N.Node("Q", position=tuple(below)))
    if held:
        model.add(N.Node("R", position=tuple(below - (0, 0, 1)), mass=1))
        model.add(N.Bar("upper", "L0", "Q", mass=0))
        model.add(N.Bar("lower", "Q", "R", mass=0))
    assert message(model).startswith("Q: 'Q' can move without moving any mass. Expected mass along every free motion.")
    if held:
        model.add(N.Bar("stay", "L1", "Q", mass=0))
        model.add(N.Bar("other_stay", "L2", "Q", mass=0))
        assert len(model.equations().q) == 3 * (208 + 2)


@pytest.mark.parametrize("centre", [(0.5, 0, 0), (0.5, 0.5, 0)])
def test_a_body_that_turns_without_inertia(centre: tuple[float, float, float]) -> None:
    body = N.Body("P", over=["A", "B"], mass=1, centre=centre, inertia=(0, 0, 0))
    text = message(structure({"A": (0, 0, 0), "B": (1, 0, 0)}, body, planar=True))
    assert "can move without moving any mass" in text


def test_what_points_out_of_the_plane() -> None:
    """Constants are refused, courses and gravity are told."""
    body = N.Body("P", over=["A"], mass=1, centre=(0, 1, 0), inertia=(1, 1, 1))
    moving = structure(
        {"A": {"position": (0, 0, 1), "mass": 1, "velocity": (1, 0, "w")}}, parameters={"w": 2}, planar=True
    )
    assert message(moving, ModelError).startswith("A.velocity.z: it is 2, out of the plane of a planar structure.")
    for part, field in (
        (N.Force("F", "A", force=(1, 0, 3)), "F.force.z: it is 3"),
        (N.BodyLoad("F", "P", force=(1, 0, 3)), "F.force.z: it is 3"),
        (N.BodyLoad("F", "P", moment=(0, -3, 1)), "F.moment.y: it is -3"),
    ):
        text = message(structure({"A": (0, 0, 0)}, body, part, planar=True), ModelError)
        assert text.startswith(f"{field}, out of the plane of a planar structure. Expected zero")
    model = structure({"A": heavy(0, 0, 1)}, N.Force("F", "A", force=(1, 0, "t")), planar=True, gravity=(0, 0, -9.81))
    sol = model.simulate(1.0, points=3)
    np.testing.assert_allclose(sol["A.position.x"], sol.t**2 / 2, atol=1e-9)
    assert [each.code for each in sol.diagnostics][1:] == ["across-plane", "gravity-across-plane"]
    free = structure({"A": heavy(0, 0, 1)}).simulate(1.0, points=3)
    assert not any("plane" in each.code for each in free.diagnostics)


def test_a_node_called_as_the_datum() -> None:
    text = message(structure({"ground": heavy(0, 0, 0)}), ModelError)
    assert text.startswith("ground: a node is called 'ground', as the datum is")


def test_measured_quantities_of_nodes() -> None:
    text = message(structure({"A": heavy(0, 0, 0)}, N.Force("F", "A", force=("A.velocity.w", 0, 0))), ExpressionError)
    assert "Expected a position or velocity of a node, such as A.position.x or A.velocity.y. Did you mean" in text


@pytest.mark.parametrize(
    "other",
    [ct.RigidBody("other", mass=1, inertia=(1, 1, 1)), ct.Resistor("other", ("a", "ground"), resistance=1)],
)
def test_parts_of_other_kinds_of_models(other: Any) -> None:
    model = structure({"A": heavy(0, 0, 0)}, gravity=NONE)
    model.add(other)
    text = message(model, ModelError)
    assert text.startswith(
        f"other: 'other' is {other.kind}, and other parts belong to a structure in nodal coordinates"
    )


def test_an_empty_structure() -> None:
    model = structure({}, N.Fixed("pin", "A"))
    with pytest.raises(ModelError, match="the structure has no nodes"):
        model.simulate(1.0)
