"""The energy of a machine domain by domain: closes, agrees with integrals by hand, and outlives files and cuts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson

import cotree as ct
from cotree.errors import SolveError
from cotree.results.energy import domain_audits
from cotree.solve import pieces
from machines.models import heated_arm


@pytest.fixture(scope="module")
def run() -> ct.Solution:
    """A motor on an arm whose winding heats up."""
    return heated_arm().simulate(1.0, points=2001, rtol=1e-10)


def test_every_domain_closes(run):
    assert list(run.domains) == ["mechanical", "rotational", "transducers", "electrical", "thermal"]
    supplied = run.audit.supplied[-1]
    for name, each in run.domains.items():
        assert np.abs(each.closure).max() < 1e-8 * supplied, name
        assert each.error < 1e-8
    assert run.audit.error < 1e-8


def test_parts_agree_with_integrals_of_powers(run):
    """Simpson's rule over the results: Joule's heat, the source's work, and the power through the mount."""
    d, t = run.domains, run.t
    heat = simpson(1.2 * run["R.current"] ** 2, x=t)
    assert d["electrical"].dissipated[-1] == pytest.approx(heat, rel=1e-8)
    assert d["thermal"].received[-1] == pytest.approx(heat, rel=1e-8)
    assert d["electrical"].supplied[-1] == pytest.approx(simpson(-run["V.voltage"] * run["V.current"], x=t), rel=1e-8)
    work = simpson(run["axle.torque"] * run["O.angle_rate"], x=t)
    assert d["mechanical"].received[-1] == pytest.approx(work, rel=1e-8)
    rotor = 0.5 * 0.001 * run["shaft.angular_velocity"] ** 2
    assert np.abs(d["rotational"].stored - rotor + rotor[0]).max() < 1e-12
    assert d["thermal"].stored[-1] == pytest.approx(50 * run["winding.temperature"][-1], rel=1e-12)


def test_what_one_domain_receives_others_give(run):
    """Nothing is lost between domains but the heat that leaves one and enters another."""
    every = run.domains.values()
    passed = sum(each.received for each in every)
    assert np.abs(passed - run.domains["electrical"].dissipated).max() < 1e-9 * run.audit.scale
    assert np.abs(sum(each.supplied for each in every) - run.audit.supplied).max() < 1e-9 * run.audit.scale


def test_an_error_is_measured_by_the_largest_energy_moved():
    """A domain that lacks 1 J beside another that moves 200 J is off by 1/200."""
    t = np.array([0.0, 1.0])
    values = {
        f"energy.{d}.{w}": np.zeros(2) for d in ("a", "b") for w in ("stored", "supplied", "dissipated", "received")
    }
    values["energy.a.supplied"], values["energy.a.dissipated"] = np.array([0.0, 200.0]), np.array([5.0, 205.0])
    values["energy.b.stored"] = np.array([7.0, 8.0])
    found = domain_audits(t, values)
    assert (found["a"].error, found["b"].error) == (0.0, 1 / 200)
    assert domain_audits(t, {"energy.a.stored": t, "R.current": t}) == {}


def test_files_keep_it(run, tmp_path):
    back = ct.Solution.from_hdf5(run.to_hdf5(tmp_path / "a.h5"))
    for name, each in run.domains.items():
        other = back.domains[name]
        for part in ("stored", "supplied", "dissipated", "received"):
            assert np.array_equal(getattr(each, part), getattr(other, part))
    old = replace(run, values={name: v for name, v in run.values.items() if not name.startswith("energy.")})
    assert ct.Solution.from_hdf5(old.to_hdf5(tmp_path / "b.h5")).domains == {}


def test_a_run_that_was_cut_goes_on_with_it(monkeypatch, tmp_path):
    monkeypatch.setattr(pieces, "STEPS", 200)
    monkeypatch.setattr(pieces, "TIMES", 1)
    model, options = heated_arm(), {"points": 101, "rtol": 1e-9}
    whole = model.simulate(1.0, **options)

    def stop(done: float) -> None:
        if done >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(SolveError, match="interrupted"):
        model.simulate(1.0, out=tmp_path / "a.h5", progress=stop, **options)
    resumed = ct.resume(tmp_path / "a.h5")
    assert resumed.complete
    for name, each in whole.domains.items():
        assert np.abs(resumed.domains[name].received - each.received).max() <= 1e-12 * each.scale


def test_a_single_domain_has_the_total_alone():
    data = {
        "J": {"kind": "rotational.inertia", "nodes": ["w", "ground"], "inertia": 0.1},
        "T": {"kind": "rotational.torque_source", "nodes": ["ground", "w"], "torque": "1 - w.angular_velocity"},
    }
    found = ct.Model.from_mapping({"name": "one", "components": data}).simulate(1.0, points=3, rtol=1e-10)
    assert found.domains == {}
    assert found.audit.error < 1e-8
    assert found["w.angular_velocity"][-1] == pytest.approx(1 - np.exp(-10), rel=1e-8)
