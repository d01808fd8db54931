"""Everything that can be asked of a model, asked of one with a flexible body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.errors import CotreeError
from cotree.terminal.springs import JointSpring
from formulation import flexible_models as models
from formulation.flexible_models import DOWN, FIRM, SECTION, beam


def arm(**given: Any) -> ct.Model:
    """A flexible arm on a torsion spring, with a body at its tip; its length and one frame are parameters."""
    m = ct.Model("arm", gravity=DOWN, parameters={"l": 0.6, "tip_mass": 0.2, "k": 5.0, "place": 0.3})
    settings = {"section": SECTION, "material": FIRM, "elements": 4, "modes": 1, "deforms": ["xy"]}
    m.add(ct.Beam("beam", length="l", frames={"mid": "place", "G": "centre_of_mass"}, **(settings | given)))
    m.add(ct.RigidBody("tip", mass="tip_mass", inertia=(1e-3, 1e-3, 1e-3)))
    m.add(ct.Revolute("O", m.ground, "beam.start", angle=0.2))
    m.add(ct.Weld("W", "beam.end", "tip"))
    m.add(JointSpring("spring", "O", stiffness="k"))
    return m


def pendulum() -> ct.Model:
    m = ct.Model("flexible pendulum", gravity=DOWN, planar=True)
    beam(m, "b", 1.0, modes=2, shapes="pinned", deforms=["xy"], elements=4)
    m.add(ct.Revolute("O", m.ground, "b.start"))
    return m


def end_of(solution: ct.Solution) -> Any:
    return np.array([solution[name][-1] for name in ("b.end.position.x", "b.end.position.y", "b.mode1")])


@pytest.mark.parametrize("integrator", ["adams", "cvodes", "idas", "rk45"])
def test_integrators_agree(integrator: str) -> None:
    settings = {"points": 3, "rtol": 1e-9, "atol": 1e-11}
    wanted = end_of(pendulum().simulate(0.2, integrator="rk8", **settings))
    np.testing.assert_allclose(end_of(pendulum().simulate(0.2, integrator=integrator, **settings)), wanted, atol=1e-7)


@pytest.mark.parametrize("integrator", ["generalised_alpha", "energy"])
def test_fixed_steps_are_of_second_order(integrator: str) -> None:
    model = pendulum()
    wanted = end_of(model.simulate(0.2, points=2, integrator="rk8", rtol=1e-12, atol=1e-12))
    runs = [model.simulate(0.2, points=2, integrator=integrator, step=h) for h in (1e-3, 5e-4)]
    coarse, fine = (float(np.abs(end_of(run) - wanted).max()) for run in runs)
    assert 1.9 < np.log2(coarse / fine) < 2.3
    assert fine < 1e-5
    if integrator == "energy":
        assert max(run.energy().error for run in runs) < 1e-12


def test_derivatives_by_parameters_are_those_of_differences() -> None:
    model = arm()
    found = model.sensitivities(["beam.end.position.y"], ["tip_mass", "k"], 0.1)
    for number, (name, value) in enumerate((("tip_mass", 0.2), ("k", 5.0))):
        h = 1e-3 * value
        near = [model.simulate(0.1, points=2, rtol=1e-11, atol=1e-12, parameters={name: value + d}) for d in (h, -h)]
        slope = (near[0]["beam.end.position.y"][-1] - near[1]["beam.end.position.y"][-1]) / (2 * h)
        assert found.derivatives[0, number, -1] == pytest.approx(slope, rel=1e-4)


REFUSED = {
    "simulate": lambda m, p: m.simulate(0.1, points=2, parameters=p),
    "static_equilibrium": lambda m, p: m.static_equilibrium(parameters=p),
    "modes": lambda m, p: m.modes(about="start", parameters=p),
    "linearise": lambda m, p: m.linearise(parameters=p),
    "sensitivities": lambda m, p: m.sensitivities(["beam.end.position.y"], list(p), 0.1),
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize(("name", "where"), [("l", "beam.length"), ("place", "beam.mid.x")])
def test_parameters_of_the_tables_cannot_change(what: str, name: str, where: str) -> None:
    told = (
        f"'{name}' enters the tables .* through {where}" if what == "sensitivities" else "tables were computed from it"
    )
    with pytest.raises(CotreeError, match=told) as error:
        REFUSED[what](arm(), {name: 0.4})
    assert where in str(error.value)


@pytest.mark.parametrize(("name", "where"), [("l", "beam.length"), ("place", "beam.mid.x")])
def test_parameters_of_the_tables_are_no_inputs(name: str, where: str) -> None:
    with pytest.raises(CotreeError, match=f"'{name}' enters the tables of a flexible body through {where}"):
        arm().linearise(inputs=[name])


@pytest.mark.parametrize("what", REFUSED)
def test_another_value_of_the_length_is_refused(what: str) -> None:
    with pytest.raises(CotreeError, match=r"beam\.length"):
        REFUSED[what](arm(), {"l": 0.4})


def test_the_value_that_they_have_is_no_change() -> None:
    assert arm().simulate(0.01, points=2, parameters={"l": 0.6}).t[-1] == 0.01


def test_what_is_not_driven_is_told() -> None:
    """A flexible body moves by itself: positions alone do not follow from the drivers."""
    m = arm()
    m.add(ct.Drive("motor", on="O", angle="2*t"))
    with pytest.raises(CotreeError, match=r"flexible bodies move by themselves: beam\.mode1"):
        m.kinematics(0.1)
    driven = m.simulate(0.1, points=3)
    np.testing.assert_allclose(driven["O.angle"], 2 * driven.t, atol=1e-12)
    assert np.abs(driven["motor.torque"]).max() > 0.1


def test_linearised_about_the_start() -> None:
    system = arm().linearise(outputs=["beam.end.position.y"], at="start")
    assert len(system.states) == 8
    poles = np.sort(np.abs(system.poles().imag))[::2] / (2 * np.pi)
    np.testing.assert_allclose(poles, arm().modes(about="start").frequencies, rtol=1e-6)


@pytest.mark.parametrize("build", [arm, models.four_bar, models.slider_crank, models.spatial_chain, models.plate_arm])
def test_files_lose_nothing(build: Any, tmp_path: Path) -> None:
    model = build()
    again = ct.load(model.save(tmp_path / "model.yaml"))
    assert again.to_data() == model.to_data()
    if build not in (arm, models.plate_arm):
        return
    run = {"points": 2, "rtol": 1e-8}
    found, wanted = again.simulate(0.005, **run), model.simulate(0.005, **run)
    for name in (name for name in wanted.names if ".mode" in name or ".position." in name):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-6, atol=1e-9)


def test_texts_drawings_and_c(tmp_path: Path) -> None:
    model = arm()
    for tree in ("joint", "absolute"):
        text = model.explain(tree=tree)
        assert "rigid or flexible arm: 4" in text
        assert "beam.end" in text
    assert model.to_c(tmp_path / "arm.c").stat().st_size > 1000
    model.draw(tmp_path / "arm.svg")
    assert "beam" in (tmp_path / "arm.svg").read_text()
    solution = model.simulate(0.01, points=5)
    assert model.report(solution, tmp_path / "report.html").exists()
    assert {"beam.mode1", "beam.mid.deflection.y", "beam.mid.offset.y", "beam.strain_energy"} <= set(solution.names)
