"""Rigid bodies over any number of nodes against Euler's equations, elliptic integrals and balances of momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import cotree as ct
from cotree.errors import ModelError
from formulation.nodal_models import DOWN, NONE, structure

Array = NDArray[np.float64]

CENTER = np.array([0.3, -0.2, 0.5])
J = np.array([[1.5, 0.1, -0.2], [0.1, 2.2, 0.15], [-0.2, 0.15, 1.1]])
MASS = 2.5
OMEGA = np.array([0.7, -1.1, 2.3])
SPEED = np.array([0.4, 0.1, -0.3])
SIX = (1.5, 2.2, 1.1, 0.1, -0.2, 0.15)

PLACES: dict[str, list[tuple[float, float, float]]] = {
    "six in space": [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.1, 0.9), (1, 1, 1), (-0.5, 0.3, 0.4)],
    "four in a plane": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],
    "three": [(0, 0, 0), (1.2, 0, 0.1), (0.3, 0.8, 0)],
    "three in a line": [(0, 0, 0), (0.5, 0.5, 0), (1, 1, 0)],
    "two": [(-0.4, 0, 0), (0.8, 0.3, 0.2)],
    "one": [(0.9, 0.1, 0.2)],
    "one in the centroid": [(0.3, -0.2, 0.5)],
    "four nearly in a plane": [(0, 0, 0), (1, 0, 1e-6), (1, 1, 0), (0, 1, 0)],
}


def body(places: list[tuple[float, float, float]], *parts: Any, omega: Array = OMEGA, **options: Any) -> ct.Model:
    """A free asymmetric body whose nodes move with it at the start."""
    nodes = {
        f"N{k}": {"position": place, "velocity": SPEED + np.cross(omega, np.array(place) - CENTER)}
        for k, place in enumerate(places)
    }
    part = ct.nodal.Body("P", over=list(nodes), mass=MASS, centre=tuple(CENTER), inertia=SIX)
    return structure(nodes, part, *parts, **options)


def turned(e: Array) -> Array:
    """The rotation matrix of Euler parameters."""
    w, x, y, z = e / np.linalg.norm(e)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def euler(times: Array, omega: Array = OMEGA, moment: Any = None) -> tuple[Array, Array]:
    """Euler parameters and angular velocity in world axes, by Euler's equations in the body's axes."""

    def rates(t: float, y: Array) -> Array:
        e, w = y[:4], y[4:]
        R = turned(e)
        m = np.zeros(3) if moment is None else R.T @ moment(t)
        turn = 0.5 * np.array([-e[1:] @ w, *(e[0] * w + np.cross(e[1:], w))])
        return np.concatenate([turn, np.linalg.solve(J, m - np.cross(w, J @ w))])

    start = np.concatenate([[1.0, 0, 0, 0], omega])
    found = solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13)
    return found.y[:4].T, np.array([turned(y[:4]) @ y[4:] for y in found.y.T])


TIMES = np.linspace(0, 4, 41)


def turning(model: ct.Model, omega: Array = OMEGA) -> dict[str, float]:
    """Velocities of the points that a body with one node, or with nodes in a line, has besides: they tell its spin."""
    e = model.equations()
    places = dict(zip(e.q.names, e.q.start, strict=True))
    given: dict[str, float] = {}
    for point in {name.rsplit(".", 2)[0] for name in e.q.names if ".aux" in name}:
        arm = np.array([places[f"{point}.position.{x}"] for x in "xyz"]) - CENTER
        given |= {f"{point}.velocity.{x}": v for x, v in zip("xyz", SPEED + np.cross(omega, arm), strict=True)}
    return given


@pytest.mark.parametrize("name", PLACES)
def test_a_free_body_tumbles_as_eulers_equations_say(name: str) -> None:
    """With any number of nodes, and whatever their places; three nodes that span a plane tell the turning."""
    places = PLACES[name]
    model = body(places)
    start = turning(model) if name in ("three in a line", "two", "one", "one in the centroid") else None
    sol = model.simulate(4.0, times=TIMES, rtol=1e-11, integrator="adams", start=start)
    e, omega = euler(TIMES)
    sign = np.sign((sol["P.orientation"] * e).sum(axis=1))[:, None]
    np.testing.assert_allclose(sol["P.orientation"] * sign, e, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.omega"], omega, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.position"], CENTER + SPEED * TIMES[:, None], rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.velocity"], np.tile(SPEED, (41, 1)), rtol=0, atol=1e-8)
    for k, place in enumerate(places):
        arm = np.array([turned(each) @ (np.array(place) - CENTER) for each in e])
        np.testing.assert_allclose(sol[f"N{k}.position"], CENTER + SPEED * TIMES[:, None] + arm, rtol=0, atol=1e-8)
    energy = MASS * SPEED @ SPEED / 2 + OMEGA @ J @ OMEGA / 2
    np.testing.assert_allclose(sol["kinetic_energy"], energy, rtol=1e-9)
    assert sol.energy().error < 1e-8


def test_angular_momentum_of_a_free_body_is_kept() -> None:
    """R J R^T omega, put together from the results for orientation and turning."""
    sol = body(PLACES["six in space"]).simulate(4.0, times=TIMES, rtol=1e-11, integrator="adams")
    momentum = [turned(e) @ J @ turned(e).T @ w for e, w in zip(sol["P.orientation"], sol["P.omega"], strict=True)]
    np.testing.assert_allclose(momentum, np.tile(J @ OMEGA, (41, 1)), rtol=0, atol=1e-8)


@pytest.mark.parametrize("integrator", ["generalised_alpha", "energy"])
def test_other_integrators_tumble_too(integrator: str) -> None:
    """Second order: a quarter of the error at half the step; distances of the nodes keep to 1e-9 m."""
    model = body(PLACES["six in space"])
    e, _ = euler(np.array([0.0, 1.0]))
    exact = CENTER + SPEED + turned(e[1]) @ (np.array(PLACES["six in space"][4]) - CENTER)
    errors = []
    for step in (4e-3, 2e-3):
        sol = model.simulate(1.0, times=[0, 1], step=step, integrator=integrator)
        errors.append(np.linalg.norm(sol["N4.position"][1] - exact))
        for a, b in ((0, 1), (2, 5), (3, 4)):
            apart = np.linalg.norm(sol[f"N{a}.position"] - sol[f"N{b}.position"], axis=1)
            np.testing.assert_allclose(apart, apart[0], rtol=0, atol=1e-9)
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] < 1e-4


@pytest.mark.parametrize("name", ["four in a plane", "three in a line", "one"])
def test_force_and_moment_at_the_centroid(name: str) -> None:
    """m a = F, and Euler's equations with a moment in world axes that changes over time."""
    load = ct.nodal.BodyLoad("load", "P", force=(1.0, "2*t", -0.5), moment=("0.8*cos(t)", 0.3, "-0.6*t"))
    model = body(PLACES[name], load, gravity=(0, 0, -9.81), omega=np.zeros(3))
    times = np.linspace(0, 2, 21)
    sol = model.simulate(2.0, times=times, rtol=1e-11, integrator="adams", start=turning(model, np.zeros(3)))
    e, omega = euler(times, np.zeros(3), lambda t: np.array([0.8 * np.cos(t), 0.3, -0.6 * t]))
    sign = np.sign((sol["P.orientation"] * e).sum(axis=1))[:, None]
    np.testing.assert_allclose(sol["P.orientation"] * sign, e, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.omega"], omega, rtol=0, atol=1e-8)
    t = times[:, None]
    way = np.hstack([t**2 / 2, t**3 / 3, -0.5 * t**2 / 2]) / MASS + [0, 0, -9.81 / 2] * t**2
    np.testing.assert_allclose(sol["P.position"], CENTER + SPEED * t + way, rtol=0, atol=1e-8)
    power = np.sum([1, 0, -0.5] * sol["P.velocity"], axis=1) + 2 * times * sol["P.velocity.y"]
    moment = np.column_stack([0.8 * np.cos(times), 0.3 + 0 * times, -0.6 * times])
    np.testing.assert_allclose(sol["load.power"], power + (moment * sol["P.omega"]).sum(axis=1), rtol=0, atol=1e-8)
    assert sol.energy().error < 1e-8


def test_velocities_of_nodes_tell_the_turning_of_a_body_with_few_of_them() -> None:
    """Nodes in a line: they keep their velocities, and the body does not spin about the line."""
    places = PLACES["two"]
    model = body(places)
    sol = model.simulate(0.1, points=2, integrator="adams")
    line = np.subtract(places[1], places[0]) / np.linalg.norm(np.subtract(places[1], places[0]))
    for k, place in enumerate(places):
        exact = SPEED + np.cross(OMEGA, np.array(place) - CENTER)
        np.testing.assert_allclose(sol[f"N{k}.velocity"][0], exact, rtol=0, atol=1e-12)
    np.testing.assert_allclose(sol["P.omega"][0], OMEGA - OMEGA @ line * line, rtol=0, atol=1e-12)


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_a_planar_body_swings_as_a_physical_pendulum(nodes: int) -> None:
    """From rest at 2 rad about a pin: sin(theta/2) = k sn(K - w t), with w^2 = m g a / (J + m a^2)."""
    mass, moment, arm, angle = 3.0, 0.4, 0.7, 2.0

    def at(length: float, aside: float = 0.0) -> tuple[float, float, float]:
        s, c = np.sin(angle), np.cos(angle)
        return length * s + aside * c, -length * c + aside * s, 0.0

    places = {"O": (0, 0, 0), "A": at(1.1), "B": at(0.5, 0.6)}
    over = list(places)[:nodes]
    sol = structure(
        {name: places[name] for name in over},
        ct.nodal.Body("P", over=over, mass=mass, centre=at(arm), inertia=(moment / 2, moment / 2, moment)),
        ct.nodal.Fixed("pin", "O"),
        gravity=DOWN,
        planar=True,
    ).simulate(4.0, points=41, rtol=1e-11, integrator="adams")
    w, k = np.sqrt(mass * 9.81 * arm / (moment + mass * arm**2)), np.sin(angle / 2)
    sn, cn, _, _ = ellipj(ellipk(k**2) - w * sol.t, k**2)
    theta, rate = 2 * np.arcsin(k * sn), -2 * w * k * cn
    np.testing.assert_allclose(sol["P.omega.z"], rate, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.position.x"], arm * np.sin(theta), rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.position.y"], -arm * np.cos(theta), rtol=0, atol=1e-8)
    half = (theta - angle) / 2
    np.testing.assert_allclose(sol["P.orientation.e0"], np.cos(half), rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["P.orientation.e3"], np.sin(half), rtol=0, atol=1e-8)
    # the pin carries weight and centripetal force along the arm, and g sin(theta) (1 - m a^2 / J_pin) across it
    along = mass * (9.81 * np.cos(theta) + arm * rate**2)
    across = mass * 9.81 * np.sin(theta) * (1 - mass * arm**2 / (moment + mass * arm**2))
    np.testing.assert_allclose(sol["pin.force.x"], -along * np.sin(theta) + across * np.cos(theta), rtol=0, atol=1e-6)
    np.testing.assert_allclose(sol["pin.force.y"], along * np.cos(theta) + across * np.sin(theta), rtol=0, atol=1e-6)
    assert sol.energy().error < 1e-8


def double_pendulum(times: Array, kinds: tuple[str, str]) -> ct.Solution:
    """Two uniform rods, each a bar or a body, hinged at O and A, released horizontally."""
    parts: list[Any] = [ct.nodal.Fixed("pin", "O")]
    for kind, a, b, middle in zip(kinds, "OA", "AB", (0.5, 1.5), strict=True):
        if kind == "bar":
            parts.append(ct.nodal.Bar(a + b, a, b, mass=1.0))
        else:
            moments = (1e-3, 1 / 12, 1 / 12)
            parts.append(ct.nodal.Body(a + b, over=(a, b), mass=1.0, centre=(middle, 0, 0), inertia=moments))
    nodes = {"O": (0, 0, 0), "A": (1, 0, 0), "B": (2, 0, 0)}
    model = structure(nodes, *parts, planar=True, gravity=DOWN)
    return model.simulate(float(times[-1]), times=times, rtol=1e-11, integrator="adams")


def two_rods(times: Array) -> tuple[Array, Array]:
    """Angles below the horizontal of two uniform rods of 1 m and 1 kg by Lagrange's equations."""

    def rates(_: float, y: Array) -> Array:
        a, b, wa, wb = y
        c, s = np.cos(a - b) / 2, np.sin(a - b) / 2
        right = [1.5 * 9.81 * np.cos(a) - s * wb**2, 0.5 * 9.81 * np.cos(b) + s * wa**2]
        return np.array([wa, wb, *np.linalg.solve([[4 / 3, c], [c, 1 / 3]], right)])

    found = solve_ivp(rates, (0, times[-1]), np.zeros(4), "DOP853", times, rtol=1e-12, atol=1e-13).y
    return found[0], found[1]


@pytest.mark.parametrize("kinds", [("bar", "bar"), ("body", "bar"), ("bar", "body"), ("body", "body")])
def test_bodies_and_bars_joined_by_pins_move_alike(kinds: tuple[str, str]) -> None:
    times = np.linspace(0, 1.5, 16)
    sol = double_pendulum(times, kinds)
    a, b = two_rods(times)
    np.testing.assert_allclose(sol["A.position.x"], np.cos(a), rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["B.position.y"], -np.sin(a) - np.sin(b), rtol=0, atol=1e-8)
    assert sol.energy().error < 1e-8


def test_two_bodies_hinged_in_space_keep_their_momentum() -> None:
    """Two free panels share two nodes, a hinge: linear and angular momentum are kept, and the energy."""
    quarter = 0.25
    places = {"A": (0, 0, 0), "B": (0, 1, 0), "C": (1, 0, 0), "D": (1, 1, 0), "E": (-1, 0, 0.3), "F": (-1, 1, 0.3)}
    rates = {"A": (0, 0, 0), "B": (0, 0, 0.2), "C": (0, 0, 1), "D": (0, 0, 1.2), "E": (0.3, 0, 1), "F": (0.3, 0, 1.2)}
    sol = structure(
        {name: {"position": places[name], "velocity": rates[name]} for name in places},
        ct.nodal.Body("P", over=list("ABCD"), mass=2, centre=(0.5, 0.5, 0), inertia=(quarter, 0.2, 0.4)),
        ct.nodal.Body("Q", over=list("ABEF"), mass=3, centre=(-0.5, 0.5, 0.15), inertia=(0.3, quarter, 0.5)),
        gravity=NONE,
    ).simulate(3.0, points=31, rtol=1e-11, integrator="adams")
    inertia = {"P": np.diag([quarter, 0.2, 0.4]), "Q": np.diag([0.3, quarter, 0.5])}
    momentum, spin = np.zeros((31, 3)), np.zeros((31, 3))
    for name, mass in (("P", 2.0), ("Q", 3.0)):
        x, v = sol[f"{name}.position"], sol[f"{name}.velocity"]
        momentum += mass * v
        spin += mass * np.cross(x, v)
        turns = zip(sol[f"{name}.orientation"], sol[f"{name}.omega"], strict=True)
        spin += [turned(e) @ inertia[name] @ turned(e).T @ w for e, w in turns]
    np.testing.assert_allclose(momentum, np.tile(momentum[0], (31, 1)), rtol=0, atol=1e-8)
    np.testing.assert_allclose(spin, np.tile(spin[0], (31, 1)), rtol=0, atol=1e-8)
    assert sol.energy().error < 1e-8


def test_a_body_hung_on_two_parallel_bars_translates() -> None:
    """A parallelogram swing: the panel does not turn, and its centre moves as a simple pendulum of the bars' length."""
    length, angle = 0.8, 1.0
    low = np.array([length * np.sin(angle), -length * np.cos(angle), 0])
    sol = structure(
        {"A": (0, 0, 0), "B": (1, 0, 0), "C": low, "D": np.add(low, (1, 0, 0))},
        ct.nodal.Bar("AC", "A", "C", mass=0),
        ct.nodal.Bar("BD", "B", "D", mass=0),
        ct.nodal.Body(
            "P", over=("C", "D"), mass=2, centre=tuple(low + np.array((0.5, -0.3, 0))), inertia=(0.35, 0.35, 0.7)
        ),
        ct.nodal.Fixed("left", "A"),
        ct.nodal.Fixed("right", "B"),
        gravity=DOWN,
        planar=True,
    ).simulate(3.0, points=31, rtol=1e-11, integrator="adams")
    w, k = np.sqrt(9.81 / length), np.sin(angle / 2)
    sn, cn, _, _ = ellipj(ellipk(k**2) - w * sol.t, k**2)
    theta, rate = 2 * np.arcsin(k * sn), -2 * w * k * cn
    np.testing.assert_allclose(sol["P.omega.z"], 0, rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["C.position.x"], length * np.sin(theta), rtol=0, atol=1e-8)
    pull = 2 * (9.81 * np.cos(theta) + length * rate**2)
    np.testing.assert_allclose(sol["AC.force"] + sol["BD.force"], pull, rtol=0, atol=1e-6)
    # no turning: the moment of both pulls about the centre vanishes
    s, c = np.sin(theta), np.cos(theta)
    moment = 0.5 * c * (sol["BD.force"] - sol["AC.force"]) + 0.3 * s * pull
    np.testing.assert_allclose(moment, 0, rtol=0, atol=1e-6)
    assert sol.energy().error < 1e-8


def test_a_body_may_have_massless_extent_and_nodes_with_mass() -> None:
    """A massless body over two masses is a dumbbell: it turns steadily about the common centre."""
    sol = structure(
        {
            "A": {"position": (0, 0, 0), "mass": 1, "velocity": (0, -0.6, 0)},
            "B": {"position": (0.9, 0, 0), "mass": 2, "velocity": (0, 0.3, 0)},
        },
        ct.nodal.Body("P", over=("A", "B"), mass=0, centre=(0.45, 0, 0), inertia=(0, 0, 0)),
        planar=True,
    ).simulate(2.0, points=21, rtol=1e-11, integrator="adams")
    np.testing.assert_allclose(sol["A.position.x"], 0.6 - 0.6 * np.cos(sol.t), rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["B.position.y"], 0.3 * np.sin(sol.t), rtol=0, atol=1e-8)


def test_a_body_without_extent_is_refused() -> None:
    model = structure({"A": (1, 2, 0)}, ct.nodal.Body("P", over=("A",), mass=1, centre=(1, 2, 0), inertia=(0, 0, 0)))
    with pytest.raises(ModelError, match=r"P: all its nodes lie in its centroid, and it has no inertia\..*node with a"):
        model.equations()


def swinging(planar: bool, **given: float) -> ct.Model:
    """A body of two nodes on a pin, under the angle phi and with the rate w at the start."""
    turned_by = {"phi": 0.0, "w": 1.0, **given}
    nodes = {
        "A": (0, 0, 0),
        "B": {"position": ("cos(phi)", "sin(phi)", 0), "velocity": ("-w*sin(phi)", "w*cos(phi)", 0)},
    }
    centre = ("0.5*cos(phi)", "0.5*sin(phi)", 0)
    part = ct.nodal.Body("P", over=["A", "B"], mass=2, centre=centre, inertia=(0.3, 0.3, 0.3))
    return structure(nodes, part, ct.nodal.Fixed("pin", "A"), parameters=turned_by, gravity=DOWN, planar=planar)


def pendulum(times: Array, phi: float, w: float = 1.0) -> Array:
    """phi and w with (J + m r^2) phi'' = -m g r cos phi, and their derivatives by the first w."""

    def rates(_: float, y: Array) -> list[float]:
        k = 2 * 9.81 * 0.5 / (0.3 + 2 * 0.25)
        return [y[1], -k * np.cos(y[0]), y[3], k * np.sin(y[0]) * y[2]]

    return np.asarray(solve_ivp(rates, (0, times[-1]), [phi, w, 0, 1], "DOP853", times, rtol=1e-12, atol=1e-13).y)


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("phi", [np.pi / 2, np.pi, -2.0])
def test_parameters_may_turn_a_body(planar: bool, phi: float) -> None:
    """The points that are added to the body turn with its nodes."""
    sol = swinging(planar).simulate(0.5, points=6, rtol=1e-10, parameters={"phi": phi})
    exact = pendulum(sol.t, phi)
    np.testing.assert_allclose(sol["B.position.x"], np.cos(exact[0]), atol=1e-8)
    np.testing.assert_allclose(sol["P.omega.z"], exact[1], atol=1e-8)


@pytest.mark.parametrize("planar", [True, False])
def test_parameters_that_flatten_a_body_are_refused(planar: bool) -> None:
    nodes = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (0.5, "h", 0)}
    part = ct.nodal.Body("P", over=list(nodes), mass=2, centre=(0.5, 0.3, 0), inertia=(0.3, 0.3, 0.3))
    model = structure(nodes, part, parameters={"h": 1.0}, gravity=DOWN, planar=planar)
    np.testing.assert_allclose(
        model.simulate(1.0, points=3, parameters={"h": -0.2})["C.position.y"][-1], -0.2 - 9.81 / 2
    )
    with pytest.raises(
        ModelError, match=r"^P: with these parameters its nodes .*'C'.* span less than with the model's"
    ):
        model.simulate(1.0, points=3, parameters={"h": 0.0})


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("way", [(-1, 0), (1, 0), (0.6, -0.8)])
def test_a_body_hung_on_one_node_swings_whatever_its_side(planar: bool, way: tuple[float, float]) -> None:
    centre = (0.5 * way[0], 0.5 * way[1], 0)
    part = ct.nodal.Body("P", over=["A"], mass=2, centre=centre, inertia=(0.3, 0.3, 0.3))
    model = structure({"A": (0, 0, 0)}, part, ct.nodal.Fixed("pin", "A"), gravity=DOWN, planar=planar)
    sol = model.simulate(0.5, points=6, rtol=1e-10)
    exact = pendulum(sol.t, np.arctan2(way[1], way[0]), 0.0)
    np.testing.assert_allclose(sol["P.position.x"], 0.5 * np.cos(exact[0]), atol=1e-8)
    np.testing.assert_allclose(sol["P.omega.z"], exact[1], atol=1e-8)


@pytest.mark.parametrize("planar", [True, False])
def test_sensitivities_of_a_moving_body_with_added_points(planar: bool) -> None:
    """By the first rate, against the linearised pendulum."""
    found = swinging(planar, phi=0.4).sensitivities(["B.position.y", "P.omega.z"], ["w"], 0.5, points=6)
    exact = pendulum(found.t, 0.4)
    np.testing.assert_allclose(found["B.position.y", "w"], np.cos(exact[0]) * exact[2], atol=1e-6)
    np.testing.assert_allclose(found["P.omega.z", "w"], exact[3], atol=1e-6)


def test_sensitivities_to_where_a_tumbling_body_starts() -> None:
    """Two nodes of a free sphere-like body: it turns evenly about the axis across them, x = cos(a + w t)."""
    nodes = {
        name: {
            "position": (f"{way}*cos(a)", 0, f"{way}*sin(a)"),
            "velocity": (f"{-2 * way}*sin(a)", 0, f"{2 * way}*cos(a)"),
        }
        for name, way in (("A", 1), ("B", -1))
    }
    part = ct.nodal.Body("P", over=["A", "B"], mass=2, centre=(0, 0, 0), inertia=(0.3, 0.3, 0.3))
    found = structure(nodes, part, parameters={"a": 0.7}).sensitivities(["A.position.x"], ["a"], 1.0, points=6)
    np.testing.assert_allclose(found.values["A.position.x"], np.cos(0.7 + 2 * found.t), atol=1e-7)
    np.testing.assert_allclose(found["A.position.x", "a"], -np.sin(0.7 + 2 * found.t), atol=1e-6)
