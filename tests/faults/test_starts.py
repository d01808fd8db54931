"""Starts: the nearest closed position, given values first, in one metric whatever the unit of length.

Entries A5 (bond masks move start values that were given), A6 (bodies on bushings start at the origin of the world) and
A13 (assembly turns bodies over).
"""

from __future__ import annotations

from math import atan2, pi

import numpy as np
import pytest

import cotree as ct
from cotree.bond.mechanics import Body, Ground, PrismaticJoint, RevoluteJoint

STILL = {"times": [0.0]}


def said(sol: ct.Solution, code: str) -> list:
    return [each for each in sol.diagnostics if each.code == code]


# -- A13 -----------------------------------------------------------------------------------------------------------


def crane(gap: float, scale: float = 1.0, planar: bool = False, aside: float = 0.01) -> ct.Model:
    """A box of 1 m that hangs on a rope of 10 m by a hook above its centre, given too high by a gap."""
    m = ct.Model("crane", gravity=(0, -9.81, 0), planar=planar)
    shape = ct.box(size=(scale, scale, scale), mass=2000)
    place = (aside * scale, (gap - 10.8) * scale, 0)
    box = m.add(ct.RigidBody("box", shape, frames={"hook": (0, 0.8 * scale, 0)}, position=place))
    m.add(ct.ConstantDistance("rope", m.ground, box["hook"], length=10 * scale))
    return m


def turn(sol: ct.Solution, body: str) -> float:
    return 2 * float(np.arccos(min(1.0, abs(sol[f"{body}.orientation.e0"][0]))))


@pytest.mark.parametrize(("scale", "planar"), [(1e-6, False), (1.0, True), (1.0, False), (1e3, False)])
@pytest.mark.parametrize("gap", [-2.0, 0.2, 0.7, 3.0])
def test_a_box_on_a_rope_is_lifted_and_not_turned(gap, scale, planar):
    sol = crane(gap, scale, planar).simulate(1.0, **STILL)
    start, given = sol["box.position"][0], np.array([0.01, gap - 10.8, 0]) * scale
    assert turn(sol, "box") < 1e-3
    assert np.linalg.norm(start - given) == pytest.approx(abs(gap) * scale, rel=0.01)
    (moved,) = said(sol, "start-moved") if abs(gap) > 0.4 else [None]
    if moved is not None:
        assert moved.subjects == ("box.position",)
        assert moved.data["distance"] == pytest.approx(abs(gap) * scale, rel=0.01)


def test_the_start_is_continuous_in_the_gap():
    gaps = np.linspace(-3, 3, 13)
    places = np.array([crane(gap).simulate(1.0, **STILL)["box.position"][0] for gap in gaps])
    relative = places[:, 1] + 10.8  # the hook ends on the same circle whatever the gap is
    assert np.abs(np.diff(relative)).max() < 1e-5
    assert np.abs(np.diff(places[:, 0])).max() < 1e-3


def test_a_crane_that_starts_so_has_an_equilibrium():
    rest = crane(0.2).static_equilibrium()
    assert rest["box.position.y"] == pytest.approx(-10.8, abs=1e-9)


def plate(height: float) -> ct.Model:
    """A plate whose corner must lie in the floor; it is given above it."""
    m = ct.Model("plate", gravity=(0, 0, -9.81))
    given = {"position": (0.3, -0.2, height), "frames": {"corner": (0.5, 0.4, -0.05)}}
    body = m.add(ct.RigidBody("plate", ct.box(size=(1.0, 0.8, 0.1), mass=30), **given))
    m.add(ct.PointOnPlane("floor", m.ground, body["corner"], normal=(0, 0, 1)))
    return m


@pytest.mark.parametrize("height", [0.06, 0.15, 0.3, -0.2])
def test_a_plate_over_the_floor(height):
    """Lifting and turning cost alike in the metric; the solution is the least of |p|^2/L^2 + angle^2."""
    sol = plate(height).simulate(1.0, **STILL)
    p, e = sol["plate.position"][0], sol["plate.orientation"][0]
    angle = turn(sol, "plate")
    assert abs(sol["plate.corner.position.z"][0]) < 1e-12
    gap, lever = height - 0.05, float(np.hypot(0.5, 0.4))
    extent = np.linalg.norm([0.8, 0.2, max(abs(height), abs(gap))])  # of ground, body and corner where they are given
    share = lever**2 / (extent**2 + lever**2) if extent else 0.0  # of the turn, for small gaps
    assert angle * lever == pytest.approx(abs(gap) * share, rel=0.35, abs=1e-9)
    assert abs(e[1:] @ [0, 0, 1]) < 1e-9  # nothing asks for a turn about the normal
    np.testing.assert_allclose(p[:2], [0.3, -0.2], atol=1e-9)


def four_bar(scale: float, a: float, b: float, **more: float) -> ct.Model:
    """Rods of 0.3, 0.9 and 0.75 m between ground points 0.9 m apart, with rough angles of two joints."""
    m = ct.Model("four-bar", gravity=(0, -9.81, 0))
    bars = {"crank": 0.3, "coupler": 0.9, "follower": 0.75}
    for name, length in bars.items():
        ends = {"l": (-length * scale / 2, 0, 0), "r": (length * scale / 2, 0, 0)}
        m.add(ct.RigidBody(name, ct.rod(length=length * scale, mass=1.0, radius=0.01 * scale), frames=ends))
    m.add(ct.Revolute("O", m.ground, "crank.l", **more))
    m.add(ct.Revolute("A", "crank.r", "coupler.l", angle=a))
    m.add(ct.Revolute("B", "coupler.r", "follower.l", angle=b))
    m.add(ct.Revolute("C", "follower.r", m.ground.at(0.9 * scale, 0, 0)))
    return m


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("side", [1, -1])
def test_a_loop_keeps_the_branch_that_rough_angles_point_to(side, scale):
    sol = four_bar(scale, 0.9 * side, -1.6 * side, angle=0.2).simulate(1.0, **STILL)
    assert np.sign(sol["coupler.r.position.y"][0]) == side
    for joint in "ABC":
        place = sol[f"{joint}.angle"][0]
        assert np.isfinite(place)
    gap = sol["follower.r.position"][0] - [0.9 * scale, 0, 0]
    assert np.abs(gap).max() < 1e-12 * scale


def test_given_values_are_met_and_others_move():
    """The crank is given, the other joints are not: the crank stays where it is, to the last digit."""
    m = four_bar(1.0, 0.9, -1.6, angle=0.7)
    for name in "AB":
        m.components[name] = ct.Revolute(name, m.components[name].frame_a, m.components[name].frame_b)
    sol = m.simulate(1.0, **STILL)
    assert sol["O.angle"][0] == pytest.approx(0.7, abs=1e-12)


def test_what_was_moved_is_reported_with_its_size():
    sol = four_bar(1.0, 0.2, -2.6, angle=0.2).simulate(1.0, **STILL)
    (moved,) = said(sol, "start-moved")
    assert moved.severity == "note"
    for name in moved.subjects:
        given = {"O.angle": 0.2, "A.angle": 0.2, "B.angle": -2.6}[name]
        assert abs(sol[name][0] - given) > np.radians(3)
    assert moved.data["angle"] == pytest.approx(
        max(abs(sol[n][0] - g) for n, g in (("A.angle", 0.2), ("B.angle", -2.6)))
    )
    assert not said(
        four_bar(1.0, sol["A.angle"][0], sol["B.angle"][0], angle=sol["O.angle"][0]).simulate(1.0, **STILL),
        "start-moved",
    )


# -- A5 ------------------------------------------------------------------------------------------------------------

SLOPE = atan2(3, 4)
ANGLES = {"A": pi / 2, "B": SLOPE - pi / 2, "C": -pi / 2 - SLOPE, "D": pi / 2}
RATES = {"A": -2.0, "B": 2.0, "C": -0.8, "D": 0.8}


def masks(given: str, rates: str, scale: float = 1.0, order: str = "ABCD") -> ct.Model:
    """A four-bar of masks A(0,0) B(0,2) C(4,5) D(4,0): some of its joints get the values that close it exactly."""
    m = ct.Model("masks", gravity=(0, -9.81, 0))
    m.add(Ground("G"))
    m.add(Ground("H", position=(4 * scale, 0, 0)))
    for name in order:
        start = ({"angle": ANGLES[name]} if name in given else {}) | (
            {"angle_rate": RATES[name]} if name in rates else {}
        )
        m.add(RevoluteJoint(name, axis="z", **start))
    for name, length in (("AB", 2), ("BC", 5), ("CD", 5)):
        ends = {name[0]: (-length * scale / 2, 0, 0), name[1]: (length * scale / 2, 0, 0)}
        m.add(Body(name, mass=length, inertia=(0.02, length, length), frames=ends))
    for ends in ("G A.a", "A.b AB.A", "AB.B B.a", "B.b BC.B", "BC.C C.a", "C.b CD.C", "CD.D D.a", "D.b H"):
        m.connect(*ends.split())
    return m


@pytest.mark.parametrize(
    ("given", "rates", "scale"),
    [("ABC", "ABC", 1.0), ("ABD", "A", 1e-6), ("BCD", "D", 1e3), ("ABCD", "ABCD", 1.0), ("ACD", "B", 1e-6)],
)
def test_given_values_of_masks_that_close_the_loop_stay(given, rates, scale):
    sol = masks(given, rates, scale).simulate(1.0, **STILL)
    for name in "ABCD":
        away = sol[f"{name}.angle"][0] - ANGLES[name]
        assert abs(np.angle(np.exp(1j * away))) < 1e-10, name
        assert sol[f"{name}.angle_rate"][0] == pytest.approx(RATES[name], abs=1e-9), name
    assert not said(sol, "start-moved")


def test_one_given_angle_of_a_far_open_loop_is_met():
    sol = masks("A", "A").simulate(1.0, **STILL)
    assert sol["A.angle"][0] == pytest.approx(ANGLES["A"], abs=1e-10)
    assert sol["A.angle_rate"][0] == pytest.approx(-2.0, abs=1e-10)


def test_a_slider_of_masks_keeps_its_slide():
    """A crank of 1 m and a rod of 3 m drive a slide along x; slide and crank angle are given, the rod is not."""
    m = ct.Model("slider", gravity=(0, -9.81, 0))
    m.add(Ground("G"))
    m.add(Ground("H"))
    m.add(RevoluteJoint("A", axis="z", angle=0.8))
    m.add(RevoluteJoint("B", axis="z"))
    m.add(RevoluteJoint("C", axis="z"))
    m.add(PrismaticJoint("S", axis="x", slide=float(np.cos(0.8) + np.sqrt(9 - np.sin(0.8) ** 2))))
    for name, length in (("crank", 1), ("rod", 3)):
        m.add(Body(name, mass=1, inertia=(0.1, 0.1, 0.1), frames={"l": (-length / 2, 0, 0), "r": (length / 2, 0, 0)}))
    m.add(Body("piston", mass=1, inertia=(0.1, 0.1, 0.1)))
    for ends in (
        "G A.a",
        "A.b crank.l",
        "crank.r B.a",
        "B.b rod.l",
        "rod.r C.a",
        "C.b piston.centre",
        "H S.a",
        "S.b piston.centre",
    ):
        m.connect(*ends.split())
    sol = m.simulate(1.0, **STILL)
    assert sol["A.angle"][0] == pytest.approx(0.8, abs=1e-9)
    assert sol["piston.position.x"][0] == pytest.approx(np.cos(0.8) + np.sqrt(9 - np.sin(0.8) ** 2), abs=1e-9)


# -- A6 ------------------------------------------------------------------------------------------------------------


def engine(offset: tuple[float, float, float], stiffness: tuple[float, ...]) -> ct.Model:
    """A block on three bushings far from the origin; nothing says where it is."""
    m = ct.Model("engine", gravity=(0, 0, -9.81))
    feet = {"f1": (0.3, 0.2, -0.1), "f2": (-0.3, 0.2, -0.1), "f3": (0, -0.4, 0.2)}
    m.add(ct.RigidBody("block", ct.box(size=(0.6, 0.4, 0.3), mass=150), frames=feet))
    for name, place in feet.items():
        m.add(ct.Bushing(f"b{name[1]}", m.ground.at(*np.add(place, offset)), f"block.{name}", stiffness=stiffness))
    return m


@pytest.mark.parametrize("offset", [(0, 0, 0), (4, -3, 2), (0, 50, 0)])
@pytest.mark.parametrize("stiffness", [(1e6,) * 3 + (100.0,) * 3, (5e5, 1e6, 2e6, 0.0, 0.0, 0.0)])
def test_a_block_on_bushings_starts_where_they_are_at_rest(offset, stiffness):
    m = engine(offset, stiffness)
    sol = m.simulate(1.0, **STILL)
    np.testing.assert_allclose(sol["block.position"][0], offset, atol=1e-8)
    assert turn(sol, "block") < 1e-7
    weight = 150 * 9.81 * offset[2]
    assert sol["potential_energy"][0] == pytest.approx(weight, abs=1e-3)
    (placed,) = said(sol, "placed-by-rest")
    assert placed.subjects == ("block",)


def test_a_chain_of_bodies_on_bushings():
    """Two arms in a row, each known only by bushings to what comes before it."""
    m = ct.Model("chain", gravity=(0, 0, -9.81))
    ends = {"l": (-0.5, 0, 0), "r": (0.5, 0, 0)}
    soft = (1e5, 1e5, 1e5, 1e3, 1e3, 1e3)
    for name in ("one", "two"):
        m.add(ct.RigidBody(name, ct.box(size=(1, 0.1, 0.1), mass=5), frames=ends))
    m.add(ct.Bushing("b1", m.ground.at(2, 1, 0), "one.l", stiffness=soft))
    m.add(ct.Bushing("b2", "one.r", "two.l", stiffness=soft))
    sol = m.simulate(1.0, **STILL)
    np.testing.assert_allclose(sol["one.position"][0], [2.5, 1, 0], atol=1e-8)
    np.testing.assert_allclose(sol["two.position"][0], [3.5, 1, 0], atol=1e-8)


def test_a_body_that_is_given_a_place_stays_there():
    m = engine((1, 0, 0), (1e6,) * 6)
    block = m.components["block"]
    m.components["block"] = ct.RigidBody(
        "block", ct.box(size=(0.6, 0.4, 0.3), mass=150), frames=block.frames, position=(1, 0, 0.01)
    )
    sol = m.simulate(1.0, **STILL)
    np.testing.assert_allclose(sol["block.position"][0], [1, 0, 0.01], atol=1e-12)
    assert not said(sol, "placed-by-rest")
