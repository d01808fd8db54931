"""Stresses and displacements of a flexible body over a run, against beam and plate theory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct
from cotree.errors import ModelError
from cotree.fem.store import forget
from cotree.terminal.recovery import deformation


def _cantilever(**options: object) -> ct.Model:
    m = ct.Model("cantilever", gravity=(0, 0, 0))
    section = ct.section.rectangle(width=0.02, height=0.01)
    m.add(ct.Beam("beam", length=1.0, section=section, material=ct.STEEL, elements=4, modes=0, **options))
    m.add(ct.Weld("wall", m.ground, "beam.start"))
    m.add(ct.PointForce("load", "beam.end", force=(0, 10.0, 0)))
    return m


def test_bending_stress_at_the_root_of_a_cantilever() -> None:
    """At rest under a tip force: deflection F L^3 / 3 E I with shear, stress F L h / 2 I."""
    m = _cantilever(deforms=["xy"], stiffening="none")
    rest = m.static_equilibrium()
    sol = m.simulate(t_end=1e-6, points=2, start=rest.state)
    found = m.deformation(sol, "beam")
    iz, area, nu = 0.01 * 0.02**3 / 12, 2e-4, 0.3
    shear = 10 * (1 + nu) / (12 + 11 * nu) * ct.STEEL.shear_modulus * area
    tip = 10.0 / (3 * ct.STEEL.young * iz) + 10.0 / shear
    assert found.displacements[0, -1, 1] == pytest.approx(tip, rel=1e-6)
    stress = found.stress(0)[0]
    assert stress.highest[0, 0] == pytest.approx(10.0 * 1.0 * 0.01 / iz, rel=1e-6)
    assert stress.lowest[0, 0] == pytest.approx(-10.0 * 1.0 * 0.01 / iz, rel=1e-6)
    assert found.mises()[0] == pytest.approx(10.0 * 1.0 * 0.01 / iz, rel=1e-3)


def test_a_rigid_body_has_no_deformation() -> None:
    m = _cantilever()
    sol = m.simulate(t_end=1e-5, points=2)
    with pytest.raises(ModelError, match="'beam2' is no flexible body"):
        m.deformation(sol, "beam2")


def test_shapes_are_those_that_the_equations_were_written_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round beam has pairs of equal modes: computed again, elsewhere, they could be other ones of the same pairs."""
    m = ct.Model("round", gravity=(0, 0, 0))
    m.add(
        ct.Beam(
            "beam",
            length=1.0,
            section=ct.section.circle(0.01),
            material=ct.STEEL,
            elements=4,
            modes=2,
            stiffening="none",
        )
    )
    m.add(ct.Weld("wall", m.ground, "beam.start"))
    m.add(ct.PointForce("load", "beam.end", force=(0, 10.0, 5.0)))
    sol = m.simulate(t_end=0.01, points=5)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the basis is computed again")

    monkeypatch.setattr("cotree.fem.reduction.craig_bampton", never)
    moves = m.deformation(sol, "beam").displacements
    for k, x in ((1, "y"), (2, "z")):
        np.testing.assert_allclose(moves[:, 4, k], sol[f"beam.end.deflection.{x}"], atol=1e-12)


def test_shapes_come_from_the_folder_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = _cantilever().components["beam"]
    values = body.values({})
    tables = body.tables(values, str(tmp_path), ["end"])
    forget()
    monkeypatch.setattr("cotree.fem.reduction.craig_bampton", None)
    still = {name: np.zeros(1) for name in tables.names} | {tables.names[0]: np.ones(1)}
    found = deformation(body, values, np.zeros(1), still, ["end"], str(tmp_path))
    np.testing.assert_array_equal(found.at(0), tables.shapes[:, 0])


def test_the_mesh_of_the_equations_is_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run left in memory is not assembled anew; where nothing is left, it gives the same."""
    m = _cantilever()
    sol = m.simulate(t_end=1e-3, points=3)
    forget()
    anew = m.deformation(sol, "beam").mises()
    monkeypatch.setattr(ct.Beam, "prepare", None)
    np.testing.assert_allclose(m.deformation(sol, "beam").mises(), anew, rtol=1e-12)


def test_displacements_are_those_of_the_frames() -> None:
    """The nodes of the mesh move as the frames on them do."""
    m = _cantilever(frames={"mid": 0.5}, stiffening="none")
    sol = m.simulate(t_end=0.01, points=11)
    moves = m.deformation(sol, "beam").displacements
    np.testing.assert_allclose(moves[:, 2, 1], sol["beam.mid.deflection.y"], atol=1e-15)
    np.testing.assert_allclose(moves[:, 4, 0], sol["beam.end.deflection.x"], atol=1e-15)
