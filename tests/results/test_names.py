"""Names of results: vectors, patterns, completion, and the nearest name, the same wherever results are chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cotree as ct

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def model() -> ct.Model:
    return ct.Model.load(EXAMPLES / "four_bar.yaml")


@pytest.fixture(scope="module")
def sol(model: ct.Model) -> ct.Solution:
    return model.simulate("10 ms", points=3)


def test_a_pattern_gives_a_column_for_each_result(sol: ct.Solution) -> None:
    names = [name for name in sol.names if name.startswith("O.")]
    assert sol.matching("O.*") == names
    assert np.array_equal(sol["O.*"], np.column_stack([sol[name] for name in names]))
    forces = [name for name in sol.names if name.rpartition(".")[0].endswith(".force")]
    assert sol.matching("*.force") == forces
    assert sol["*.force"].shape == (3, len(forces))


def test_names_vectors_and_patterns_are_taken_everywhere(sol: ct.Solution, tmp_path: Path) -> None:
    chosen = ["O.angle", "O.force", "?.angle", "O.angle"]
    names = ["O.angle", "O.force.x", "O.force.y", "O.force.z", "A.angle", "B.angle", "C.angle"]
    assert sol.matching(chosen) == names
    assert list(sol.to_pandas(chosen)) == names
    assert list(sol.to_pandas("O.force")) == names[1:4]
    assert list(sol.to_xarray(chosen)) == names
    head = sol.to_csv(tmp_path / "a.csv", chosen).read_text(encoding="utf-8").partition("\n")[0]
    assert [each.partition(" ")[0] for each in head.split(",")] == ["t", *names]
    shown = [text.get_text() for ax in sol.plot(*chosen).axes for text in ax.get_legend().get_texts()]
    assert sorted(shown) == sorted(map(sol.label, names))


def test_units_of_vectors(sol: ct.Solution) -> None:
    assert sol.unit("O.force") == "N"
    with pytest.raises(ct.ResultError, match="in rad, rad/s"):
        sol.unit("O.angle*")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("O.forces", "Did you mean 'O.force'"),
        ("O.angel", "Did you mean 'O.angle'"),
        ("Q.*", "there is no result 'Q.*'"),
        (3, "there is no result '3'"),
        (["O.angle", "O.angel"], "Did you mean 'O.angle'"),
        ([], "there is no result"),
    ],
)
def test_wrong_names_give_the_nearest(sol: ct.Solution, name: str, message: str) -> None:
    with pytest.raises(ct.ResultError) as told:
        _ = sol[name]
    assert message in str(told.value)


def test_names_are_completed(model: ct.Model, sol: ct.Solution) -> None:
    known = sol._ipython_key_completions_()
    assert {"t", "O.angle", "O.force", "O.force.x"} <= set(known)
    assert len(known) == len(set(known))
    assert all(sol[name].shape[0] == 3 for name in known)
    rest = ct.Model.load(EXAMPLES / "pendulum.yaml").static_equilibrium()
    assert "bob.position" in rest._ipython_key_completions_()
    assert rest["bob.position"].shape == (3,)
    assert rest.unit("bob.position") == "m"
    crank = model.components["crank"]
    assert isinstance(crank, ct.RigidBody)
    assert [crank[name] for name in crank._ipython_key_completions_()] == ["crank.O", "crank.A"]
    matrix = model.tree().cutset_matrix()
    row, column = matrix._ipython_key_completions_()[0]
    assert isinstance(matrix[row, column], int)
