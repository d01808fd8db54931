"""Inertias that no real body has: refused, repaired or kept, and of no matter in a plane (B5)."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cotree as ct


def body(moments, joint: str = "spherical", **options) -> ct.Model:
    m = ct.Model("robot", gravity=(0, -9.81, 0), **options)
    m.add(
        ct.RigidBody("link", mass=2.0, inertia=moments, frames={"end": (-0.5, 0, 0)}, angular_velocity=(0.3, 0.2, 0.1))
    )
    m.add((ct.Spherical if joint == "spherical" else ct.Revolute)("J", m.ground, "link.end"))
    return m


def said(diagnostics, code: str) -> list:
    return [each for each in diagnostics if each.code == code]


@pytest.mark.parametrize("inertia", [(1, 1, 3), (0.1, 0.2, 1.0), (5, 1, 1), (1, 1, 1, 0.9, 0.9, 0.0)])
def test_refused_by_default_with_the_remedy(inertia):
    with pytest.raises(ct.ModelError) as caught:
        body(inertia).equations()
    assert caught.value.where == "link.inertia"
    if len(inertia) == 3:
        assert "repair" in str(caught.value)


@pytest.mark.parametrize(("inertia", "real"), [((1, 1, 3), "1.5, 1.5, 3"), ((0.1, 0.2, 1.0), "0.45, 0.55, 1")])
def test_repaired_to_the_nearest_real_body(inertia, real):
    """Second moments (sum / 2 less each moment): the negative one becomes zero, and the moments follow."""
    second = np.maximum(sum(inertia) / 2 - np.array(inertia), 0.0)
    nearest = second.sum() - second
    sol = body(inertia, inertia="repair").simulate(0.5, points=6)
    (found,) = said(sol.diagnostics, "inertia-repaired")
    assert found.subjects == ("link",)
    assert found.data["given"] == ", ".join(f"{each:g}" for each in sorted(inertia))
    np.testing.assert_allclose([float(x) for x in found.data["real"].split(", ")], np.sort(nearest), rtol=1e-5)
    reference = body(tuple(nearest)).simulate(0.5, points=6)
    np.testing.assert_allclose(sol["link.position"], reference["link.position"], atol=1e-8)
    assert not said(reference.diagnostics, "inertia-repaired")


def test_a_repair_of_a_turned_matrix_about_another_point():
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    given = turn @ np.diag([1.0, 1.0, 3.0]) @ turn.T
    real = turn @ np.diag([1.5, 1.5, 3.0]) @ turn.T
    found = [
        body(tuple(each[i, k] for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))), inertia="repair").simulate(
            0.5, points=3
        )["link.position"]
        for each in (given, real)
    ]
    np.testing.assert_allclose(*found, atol=1e-8)


def test_kept_as_given_with_a_note():
    sol = body((1, 1, 3), "revolute", inertia="keep").simulate(0.5, points=6)
    (found,) = said(sol.diagnostics, "inertia-kept")
    assert (found.subjects, found.data["given"]) == (("link",), "1, 1, 3")
    reference = body((2, 2, 3), "revolute").simulate(0.5, points=6)
    np.testing.assert_allclose(sol["J.angle"], reference["J.angle"], atol=1e-9)  # about z only zz counts


def test_negative_moments_are_never_kept():
    with pytest.raises(ct.ModelError, match="principal moments"):
        body((-1, 1, 1), inertia="keep").equations()


@pytest.mark.parametrize("inertia", [(1, 1, 3), (0, 0, 3), (0, 0, 0.01)])
def test_in_a_plane_it_does_not_matter(inertia):
    sol = body(inertia, "revolute", planar=True).simulate(0.5, points=6)
    assert not any("inertia" in each.code for each in sol.diagnostics)
    reference = body((inertia[2], inertia[2], inertia[2]), "revolute", planar=True).simulate(0.5, points=6)
    np.testing.assert_allclose(sol["J.angle"], reference["J.angle"], atol=1e-9)


def test_in_a_plane_the_moment_about_z_still_counts():
    with pytest.raises(ct.ModelError, match="positive"):
        body((1, 1, -1), "revolute", planar=True).equations()


def test_files_hold_the_option(tmp_path):
    path = body((1, 1, 3), inertia="repair").save(tmp_path / "robot.yaml")
    again = ct.load(path)
    assert again.inertia == "repair"
    assert said(again.equations().diagnostics, "inertia-repaired")


def test_unknown_words_are_refused():
    with pytest.raises(ct.ModelError, match="refuse, repair, keep"):
        ct.Model("x", inertia="ignore")


@pytest.mark.parametrize("how", ["repair", "keep"])
def test_a_bond_graph_of_it_moves_likewise(how):
    m = ct.Model("top", gravity=(0, 0, -9.81), inertia=how)
    m.add(ct.RigidBody("b", mass=1.0, inertia=(1, 1, 3), frames={"p": (-0.5, 0.1, 0)}))
    m.add(ct.Spherical("s", m.ground, "b.p"))
    one, other = (each.simulate(1.0, points=11) for each in (m, m.to_bond_graph()))
    np.testing.assert_allclose(other["b.position"], one["b.position"], atol=1e-6)


@pytest.mark.parametrize("off", [1e-2, 1e-5, 1e-7, 3e-9])
def test_numbers_that_differ_are_printed_so(off):
    with pytest.raises(ct.ModelError, match="triangle inequality") as error:
        body((1, 2, 3 * (1 + off)), inertia="refuse").equations()
    low, middle, high = map(float, re.search(r"inertia (.*) kg m", str(error.value))[1].split(", "))
    assert low + middle < high
    (found,) = said(body((1, 2, 3 * (1 + off)), inertia="repair").equations().diagnostics, "inertia-repaired")
    assert found.data["given"] != found.data["real"]
