"""Displacement modes, sparse equations and branch coordinates give one motion, on every structure they share."""

import numpy as np
import pytest

import cotree as ct
from _cases import long_ones
from cotree.facade.runs import simulate_equations

STRUCTURES = {
    "five_bar": (lambda: ct.structures.five_bar(), 0.4),
    "ring_truss": (lambda: ct.structures.ring_truss(sides=6, tension=20.0), 1.0),
    "scissor_chain": (lambda: ct.structures.scissor_chain(3), 0.3),
    "scissor_ring": (lambda: ct.structures.scissor_ring(6), 0.3),
    "miura": (lambda: ct.structures.miura(2, 2), 0.3),
    "coilable_mast": (lambda: ct.structures.triangular_mast(2, kind="coilable", latches=False), 0.3),
    "folding_mast": (lambda: ct.structures.triangular_mast(2, latches=False), 0.3),
    "tetrahedral_reflector": (lambda: ct.structures.tetrahedral_reflector(1), 0.3),
    "reflector": (lambda: ct.structures.reflector(), 1.0),
}
GEARED = ("folding_mast", "tetrahedral_reflector", "reflector")
"""Structures with gears between angles at nodes, which branch coordinates do not have."""


def places(model, equations, t_end, **options):
    """Positions of all nodes at a few times."""
    sol = simulate_equations(equations, t_end, points=4, **options)
    return np.column_stack([sol[f"{name}.position"] for name in nodes(model)]), sol


def nodes(model):
    """The names of the nodes."""
    return [name for name, part in model.components.items() if part.kind == "nodal.node"]


def branch_places(model, t_end):
    """The same positions from branch coordinates: a node is a frame of one of its parts."""
    other = model.to_branch()
    sol = other.simulate(t_end, points=4, rtol=1e-10)
    found = []
    for name in nodes(model):
        owner = next(f"{part}.{name}" for part in other.components if f"{part}.{name}.position.x" in sol)
        found.append(sol[f"{owner}.position"])
    return np.column_stack(found)


LARGE = ("ring_truss", "coilable_mast", "reflector")


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_one_motion_of_large_structures(name):
    one_motion(name, ("generalised_alpha",))


@pytest.mark.parametrize("name", long_ones(STRUCTURES, ("ring_truss", "reflector", "coilable_mast")))
def test_one_motion(name):
    one_motion(name, ("corrected",) if name in LARGE else ("corrected", "generalised_alpha"))


def one_motion(name, methods):
    build, t_end = STRUCTURES[name]
    model = build()
    equations = model.equations()
    fine, sol = places(model, equations, t_end, integrator="adams", rtol=1e-10)
    moved = np.abs(fine - fine[0]).max()
    assert moved > 1e-3
    assert sol.energy().error < 1e-8
    if name in GEARED:
        with pytest.raises(ct.ModelError, match="gear"):
            model.to_branch()
    else:
        np.testing.assert_allclose(branch_places(model, t_end), fine, atol=1e-7 * max(1.0, moved))
    for method in methods:
        errors = [
            np.abs(places(model, equations, t_end, integrator=method, step=t_end / steps)[0] - fine).max()
            for steps in (60, 120)
        ]
        assert errors[0] < 2e-3 * max(moved, 0.1)
        assert errors[1] < max(errors[0] / 3, 1e-10)
