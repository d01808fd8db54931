"""Structures of Xiang 2015 and two bars in nodal coordinates against independent solutions (angles, quadrature)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import cotree as ct
from cotree.model.event import Event
from formulation.nodal_models import drift, five_bar, ring_truss, structure

# Five-bar linkage of section 4.1 with lumped masses at t = 0.1 ... 1.0: x_B, v_Bx, y_B, x_C, y_C, v_By, v_Cy.
# Solutions in angles, of a Cartesian DAE and by Radau's method agree to 1e-11.
FIVE_BAR = ("B.position.x", "B.velocity.x", "B.position.y", "C.position.x", "C.position.y", "B.velocity.y",
            "C.velocity.y")  # fmt: skip
UP = (
    (0.528247143, 0.563255996, 0.8490906642, 1.0, -0.03264015751, -0.3504200237, -0.6517791446),
    (0.611531553, 1.089989399, 0.791220045, 1.0, -0.1302419812, -0.8424494733, -1.301965413),
    (0.74110442, 1.457094822, 0.6713897815, 1.0, -0.2945155341, -1.608394174, -1.998945301),
    (0.8886301356, 1.389937692, 0.4586245546, 1.0, -0.5351544718, -2.693140843, -2.848907033),
    (0.9917049499, 0.5047288377, 0.1285351794, 1.0, -0.8714304161, -3.894203042, -3.898389937),
    (0.951134062, -1.542284325, -0.3087782313, 1.0, -1.307583578, -4.750720763, -4.67526545),
    (0.6229856737, -5.35828216, -0.7822332455, 1.0, -1.708440672, -4.267439463, -2.086341493),
    (0.06187557288, -3.32274823, -0.998083871, 1.0, -1.344382238, -0.2059916569, 8.795353928),
    (0.1506609544, 3.986076506, -0.9885854929, 1.0, -0.4607378012, 0.6074801777, 7.021319754),
    (0.5756128047, 3.839069085, -0.8177223851, 1.0, 0.08775843105, 2.702405319, 4.501727549),
)
DOWN = (
    (0.4716341069, -0.5680035967, -0.8817943463, 1.0, -0.03277757202, -0.3038008467, -0.657284708),
    (0.3865837024, -1.127341031, -0.9222543256, 1.0, -0.1324945862, -0.4725504208, -1.348170343),
    (0.2497864377, -1.570047694, -0.968300953, 1.0, -0.3071053609, -0.4050152169, -2.1864413),
    (0.08866575086, -1.504614511, -0.9960614362, 1.0, -0.5843942328, -0.1339352881, -3.46479751),
    (9.240690555e-05, 0.06816065784, -0.9999999957, 1.0, -1.013594306, 6.298515499e-06, -5.013441086),
    (0.144767713, 2.827931278, -0.9894656686, 1.0, -1.507710529, 0.4137517416, -4.253034791),
    (0.4993341917, 3.572184298, -0.8664094673, 1.0, -1.732050125, 2.058742231, -0.007323547117),
    (0.7749296878, 1.929969319, -0.63204745, 1.0, -1.606389974, 2.366263042, 1.920445697),
    (0.9065711795, 0.8202577679, -0.4220529547, 1.0, -1.417678916, 1.76191647, 1.684944074),
    (0.957683989, 0.2707469584, -0.2878217804, 1.0, -1.286926057, 0.9008700688, 0.8894028661),
)

# Ring truss of section 4.3 with consistent masses: t, radius, rise and their rates.
RING = (
    (1.0, 1.939880962, 0.05107965932, -0.007034934827, 0.1020497363),
    (2.0, 1.914489304, 0.1999792668, -0.05195788906, 0.189995883),
    (3.0, 1.823454278, 0.4122724217, -0.1326475235, 0.224096183),
    (4.0, 1.650419065, 0.6321148955, -0.2111137537, 0.2105423445),
    (5.0, 1.406251304, 0.8274333155, -0.2749028287, 0.1784571131),
    (6.0, 1.104599371, 0.9868880779, -0.3266871691, 0.1396669619),
    (7.0, 0.7560096167, 1.105299561, -0.3689563062, 0.09639332908),
    (8.0, 0.3702159388, 1.177984634, -0.4003693076, 0.04806190529),
)
FOLDED = 8.907389487654


@pytest.mark.parametrize(("side", "table"), [(1, UP), (-1, DOWN)])
def test_five_bar_meets_the_independent_solutions(side: int, table: tuple[tuple[float, ...], ...]) -> None:
    model = five_bar(side)
    sol = model.simulate(1.0, points=101, rtol=1e-10, integrator="adams")
    found = np.column_stack([sol[name][10::10] for name in FIVE_BAR])
    np.testing.assert_allclose(found, table, rtol=0, atol=1e-6)
    assert drift(model, sol) < 1e-9
    assert sol.energy().error < 1e-8


@pytest.mark.parametrize(("side", "table"), [(1, UP), (-1, DOWN)])
@pytest.mark.parametrize("integrator", ["generalised_alpha", "energy"])
def test_five_bar_keeps_its_lengths_with_other_integrators(
    integrator: str, side: int, table: tuple[tuple[float, ...], ...]
) -> None:
    """Second order in even steps of 1 ms; bars keep their length to 1e-9 m, past the aligned position, too."""
    model = five_bar(side)
    sol = model.simulate(1.0, points=101, step=1e-3, integrator=integrator)
    found = np.column_stack([sol[name][10::10] for name in FIVE_BAR])
    np.testing.assert_allclose(found, table, rtol=0, atol=2e-3)
    assert drift(model, sol) < 1e-9


def test_five_bar_under_the_other_gravity() -> None:
    """g = 9.8 m/s^2, at 1 s."""
    sol = five_bar(1, 9.8).simulate(1.0, times=[1.0], rtol=1e-10, integrator="adams")
    found = [sol[name][0] for name in ("B.position.x", "B.velocity.x", "B.position.y", "C.position.y")]
    np.testing.assert_allclose(found, (0.5736534658, 3.845449623, -0.8190981023, 0.08546180877), rtol=0, atol=1e-6)


@pytest.mark.parametrize("planar", [True, False])
def test_two_bars(planar: bool) -> None:
    """Two uniform bars of 1 m and 1 kg from 45 degrees, g = 9.8; reference values at 5 s to ten digits."""
    c = np.sqrt(0.5)
    sol = structure(
        {"O": (0, 0, 0), "A": (c, -c, 0), "B": (2 * c, -2 * c, 0)},
        ct.nodal.Bar("OA", "O", "A", mass=1),
        ct.nodal.Bar("AB", "A", "B", mass=1),
        ct.nodal.Fixed("pin", "O"),
        gravity=(0, -9.8, 0),
        planar=planar,
    ).simulate(5.0, times=[0, 5], rtol=1e-12, integrator="adams")
    np.testing.assert_allclose(sol["A.position"][1], (0.6246646016, -0.7808931652, 0), rtol=0, atol=1e-8)
    np.testing.assert_allclose(sol["B.position"][1], (1.3403149308, -1.4793519015, 0), rtol=0, atol=1e-8)
    assert sol.energy().error < 1e-8


def test_ring_truss_folds_as_the_quadrature_says() -> None:
    """Table to 1e-5; the radius is 0.05 m at 8.786010 s, and its way on to zero ends at 8.9074 s."""
    model = ring_truss(10)
    times = [*(row[0] for row in RING), 8.89]
    small = Event("small", "L0.position.x - 0.05", "down")
    sol = model.simulate(8.89, times=times, rtol=1e-9, integrator="adams", events=small)
    found = np.column_stack(
        [sol[name] for name in ("L0.position.x", "L1.position.z", "L0.velocity.x", "L1.velocity.z")]
    )
    np.testing.assert_allclose(found[:8], [row[1:] for row in RING], rtol=0, atol=1e-5)
    np.testing.assert_allclose(found[8, :3], (0.007164550555, 1.199991831, -0.412001593), rtol=0, atol=1e-5)
    np.testing.assert_allclose(sol.events["small"], [8.786009865842], rtol=0, atol=1e-6)
    # Radius^2 + (s / 2 sin(pi/10))^2 is kept, so the rest of the way is R dt = dR / R' with R' smooth: two terms do.
    rate = sol["L0.acceleration.x"][8]
    left = -found[8, 0] / found[8, 2] * (1 + rate * found[8, 0] / (2 * found[8, 2] ** 2))
    assert abs(8.89 + left - FOLDED) < 1e-5
    assert drift(model, sol) < 1e-9
    assert sol.energy().error < 1e-8
    assert any("15 independent displacement modes" in note for note in sol.notes)


def test_ring_truss_in_even_steps() -> None:
    """The paper's step of 1e-2 s with the energy algorithm; lengths, planes and directions hold to 1e-9 m."""
    model = ring_truss(10)
    sol = model.simulate(8.0, times=[row[0] for row in RING], step=1e-2, integrator="energy")
    np.testing.assert_allclose(sol["L0.position.x"], [row[1] for row in RING], rtol=0, atol=1e-4)
    assert drift(model, sol) < 1e-9


@pytest.mark.parametrize("integrator", ["adams", "generalised_alpha", "energy"])
def test_a_small_ring_folds_by_the_quadrature(integrator: str) -> None:
    """Four sides: T = sum of s'^2 over the bars, W = 4 * 2 N * (d0 - d), so t = int ds / s' by quadrature alone."""
    n, edge, height, density, pull = 4, 1.2, 1.6, 9.8, 2.0
    bend = 2 * np.sin(np.pi / n)

    def time_to(rise: float) -> float:
        def slowness(w: float) -> float:  # s = w^2 takes the singular start away
            s = w * w
            radius = np.sqrt(edge**2 - s**2) / bend
            slope = -s / (radius * bend**2)  # dR/ds
            work = n * pull * (np.hypot(edge, height) - np.sqrt(edge**2 + height**2 - 2 * height * s))
            return 2 * w * np.sqrt(_inertia(n, edge, height, density, slope) / (2 * work))

        return float(quad(slowness, 0, np.sqrt(rise), epsabs=1e-12, epsrel=1e-12)[0])

    when = [time_to(rise) for rise in (0.3, 0.6, 0.9, 1.1)]
    model = ring_truss(n)
    options = {"rtol": 1e-10} if integrator == "adams" else {"step": 1e-3}
    sol = model.simulate(when[-1], times=when, integrator=integrator, **options)
    close = 1e-7 if integrator == "adams" else 1e-4
    np.testing.assert_allclose(sol["L1.position.z"], (0.3, 0.6, 0.9, 1.1), rtol=0, atol=close)
    assert drift(model, sol) < 1e-9


def _inertia(n: int, edge: float, height: float, density: float, slope: float) -> float:
    """Twice the kinetic energy over s'^2: battens move as a whole, edges by their ends' velocities a and b."""
    battens = n * density * height * slope**2 + n / 2 * density * height
    along = np.array([np.cos(np.pi / n), np.sin(np.pi / n)])  # of the outward motion at one end of an edge
    a, b = np.array([*(slope * along), 0.0]), np.array([slope * along[0], -slope * along[1], 1.0])
    edges = 2 * n * density * edge * (a @ a + a @ b + b @ b) / 3
    return float(battens + edges)
