"""Wrong calls are answered with what was meant (E2, E7, E8)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cotree as ct

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def pendulum() -> ct.Model:
    return ct.Model.load(EXAMPLES / "pendulum.yaml")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.simulate(1, method="bdf"), "simulate has no option 'method'"),
        (lambda m: m.simulate(1, method="bdf"), "Did you mean 'integrator'?"),
        (lambda m: m.simulate(1, dt=0.1), "Did you mean 'step'?"),
        (lambda m: m.simulate(1, point=3), "Did you mean 'points'?"),
        (lambda m: m.static_equilibrium(time=1.0), "static_equilibrium has no option 'time'"),
        (lambda m: m.modes(at="start"), "Expected one of tree, about, t, parameters. Did you mean 'about'?"),
        (lambda m: m.linearise(output="bob.position.x"), "Did you mean 'outputs'?"),
        (lambda m: m.sensitivities("bob.position.x", "g", 1.0, tol=1e-3), "Did you mean 'rtol'?"),
        (lambda m: m.kinematics(1.0, steps=3), "kinematics has no option 'steps'"),
        (lambda m: m.simulate(1, integrator="bdf"), "Here it is called 'cvodes'"),
        (lambda m: m.simulate(1, integrator="ode45"), "Here it is called 'rk45'"),
        (lambda m: m.simulate(1, integrator="generalized_alpha"), "Here it is called 'generalised_alpha'"),
        (lambda m: m.simulate(1, progress="yes"), "progress is 'yes'. Expected True or False for a bar"),
        (lambda m: m.simulate("2 kg"), "is a mass. Expected a time"),
        (lambda m: m.show(3), "show is given 3. Expected a solution"),
    ],
)
def test_options(pendulum: ct.Model, call: Callable[[ct.Model], Any], message: str) -> None:
    with pytest.raises(ct.CotreeError) as told:
        call(pendulum)
    assert message in str(told.value)


def test_times_may_have_units(pendulum: ct.Model) -> None:
    given, plain = (
        pendulum.simulate("200 ms", points=3, max_step="0.1 s"),
        pendulum.simulate(0.2, points=3, max_step=0.1),
    )  # type: ignore[arg-type]
    assert given.t.tolist() == plain.t.tolist()
    assert given["bob.position.x"].tolist() == plain["bob.position.x"].tolist()


def test_names_of_other_programs() -> None:
    with pytest.raises(AttributeError, match=r"did you mean cotree.RigidBody or cotree.nodal.Body"):
        _ = ct.Body  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"did you mean cotree.Revolute"):
        _ = ct.Hinge  # type: ignore[attr-defined]


def test_vectors_are_taken_where_results_are_listed(pendulum: ct.Model, tmp_path: Path) -> None:
    sol = pendulum.simulate(0.1, points=3)
    assert list(sol.to_pandas(["bob.position"])) == [f"bob.position.{x}" for x in "xyz"]
    head = sol.to_csv(tmp_path / "a.csv", ["bob.position", "bob.velocity.x"]).read_text().splitlines()[0]
    assert head == "t [s],bob.position.x [m],bob.position.y [m],bob.position.z [m],bob.velocity.x [m/s]"
