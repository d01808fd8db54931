"""Options of analyses: written out, documented, the same as the solver's, with units, and wrong ones explained."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.formulation.nodal.determinacy import determinacy
from cotree.io import mesh_file
from cotree.solve import kinematics, linear, modes, sensitivity, simulate, statics

OWN = {"self", "tree", "out", "equations", "model", "given", "seconds_formulation", "record"}
"""What only the method or only the solver takes."""
PAIRS: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
    (ct.Model.simulate, simulate.simulate),
    (ct.Model.kinematics, kinematics.kinematics),
    (ct.Model.static_equilibrium, statics.static_equilibrium),
    (ct.Model.modes, modes.modes),
    (ct.Model.linearise, linear.linearise),
    (ct.Model.sensitivities, sensitivity.sensitivities),
    (ct.Model.determinacy, determinacy),
    (ct.read_mesh, mesh_file.read_mesh),
]


@pytest.fixture(scope="module")
def pendulum() -> ct.Model:
    m = ct.Model("pendulum", gravity=(0, -9.81, 0))
    arm = m.add(ct.RigidBody("arm", ct.rod(length=1.0, mass="m0"), frames={"top": (-0.5, 0, 0)}))
    m.add(ct.Revolute("O", m.ground, arm["top"], angle=0.1))
    m.parameter("m0", 2.0)
    return m


@pytest.mark.parametrize(("method", "solver"), PAIRS, ids=lambda each: each.__name__)
def test_methods_and_solvers_have_the_same_options(method: Callable[..., Any], solver: Callable[..., Any]) -> None:
    mine, theirs = (
        {name: each.default for name, each in inspect.signature(f).parameters.items() if name not in OWN}
        for f in (method, solver)
    )
    assert mine == theirs


ANALYSES = [getattr(ct.Model, name) for name in dir(ct.Model) if not name.startswith("_")]


@pytest.mark.parametrize(
    "method",
    [*(each for each, _ in PAIRS), ct.Model.inverse_dynamics, ct.Model.draw_motion],
    ids=lambda each: each.__name__,
)
def test_every_option_is_documented_and_typed(method: Callable[..., Any]) -> None:
    parameters = [each for name, each in inspect.signature(method).parameters.items() if name != "self"]
    assert all(each.annotation is not each.empty for each in parameters)
    text = inspect.getdoc(method) or ""
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    documented = {name for line in re.findall(r"^(\w.*)$", section, re.M) for name in line.split(", ")}
    assert documented == {each.name for each in parameters}


@pytest.mark.parametrize("method", [each for each in ANALYSES if callable(each)], ids=lambda each: each.__name__)
def test_no_method_hides_its_options(method: Callable[..., Any]) -> None:
    kinds = {each.kind for each in inspect.signature(method).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.simulate(), "simulate is called with missing a required argument: 't_end'"),
        (lambda m: m.simulate(1.0, 2.0), "too many positional arguments"),
        (lambda m: m.determinacy(closd=["a"]), "Did you mean 'closed'?"),
        (lambda m: m.inverse_dynamics(1.0, n_points=3), "Did you mean 'points'?"),
        (lambda m: m.draw_motion(None, time=[0.0]), "Did you mean 'times'?"),
        (lambda m: ct.read_mesh("a.msh", orientation=True), "Did you mean 'orient'?"),
        (lambda m: m.draw(filename="a.svg"), "draw has no option 'filename'"),
        (lambda m: m.tree(preferred="joint"), "Did you mean 'prefer'?"),
        (lambda m: ct.resume("a.h5", model_=m), "Did you mean 'model'?"),
        (lambda m: m.modes(about={"O.angel": 1.0}), "there is no state 'O.angel'"),
        (lambda m: m.simulate(1.0, parameters={"m0": "3 m"}), "is a length. Expected a mass"),
        (lambda m: m.simulate(1.0, start={"O.angle": "3 kg"}), "is a mass"),
    ],
)
def test_wrong_calls_are_answered(pendulum: ct.Model, call: Callable[[ct.Model], Any], message: str) -> None:
    with pytest.raises(ct.CotreeError) as told:
        call(pendulum)
    assert message in str(told.value)


def test_texts_with_units_are_taken_where_numbers_are(pendulum: ct.Model) -> None:
    angle, mass = "O.angle", "m0"
    texts = pendulum.simulate(
        "0.1 s", t_start="10 ms", times=["20 ms", 0.05, "0.1 s"], start={angle: "30 deg"}, parameters={mass: "1500 g"}
    )
    plain = pendulum.simulate(
        0.1, t_start=0.01, times=[0.02, 0.05, 0.1], start={angle: np.pi / 6}, parameters={mass: 1.5}
    )
    assert texts.t.tolist() == [0.02, 0.05, 0.1]
    assert all(np.array_equal(texts[name], plain[name]) for name in plain)
    assert texts.origin is not None
    assert texts.origin.options["parameters"] == {mass: 1.5}
    rest, same = (pendulum.modes(about={angle: given}, t=t) for given, t in (("-90 deg", "0 s"), (-np.pi / 2, 0.0)))
    assert rest.frequencies.tolist() == same.frequencies.tolist()
    found, again = (pendulum.linearise(at={angle: given}) for given in ("30 deg", np.pi / 6))
    assert np.array_equal(found.A, again.A)
