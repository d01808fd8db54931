"""Matrices addressed by names."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from cotree.errors import CotreeError, GraphError
from cotree.maths.named import NamedMatrix, latex_name


@pytest.fixture
def matrix() -> NamedMatrix:
    data = np.array([[1, 0, -1], [0, 1, 1]], dtype=np.int8)
    return NamedMatrix(data, ["x", "y"], ["a", "b", "c"])


def test_entries_by_name(matrix: NamedMatrix) -> None:
    assert matrix["x", "c"] == -1
    assert matrix["y", "a"] == 0
    assert isinstance(matrix["x", "c"], int)


def test_rows_and_columns_as_dictionaries_of_nonzeros(matrix: NamedMatrix) -> None:
    assert matrix.row("y") == {"b": 1, "c": 1}
    assert matrix.column("c") == {"x": -1, "y": 1}
    assert list(matrix.columns(["c", "a"]).row("x")) == ["c", "a"]


def test_submatrices_by_list_and_slice(matrix: NamedMatrix) -> None:
    part = matrix["y", ["c", "a"]]
    assert (part.row_names, part.col_names, part.toarray().tolist()) == (("y",), ("c", "a"), [[1, 0]])
    assert matrix[:, "b":"c"].col_names == ("b", "c")
    assert matrix[:, :2].col_names == ("a", "b")
    assert matrix[:, :] == matrix
    assert matrix.rows(["y", "x"]).toarray().tolist() == [[0, 1, 1], [1, 0, -1]]


def test_transpose_negative_and_equality(matrix: NamedMatrix) -> None:
    assert matrix.T["c", "x"] == -1
    negative = -matrix
    assert matrix == matrix.T.T
    assert matrix == -negative
    assert hash(matrix) == hash(-negative)
    assert matrix != -matrix
    assert matrix != NamedMatrix(matrix.toarray(), ["x", "z"], ["a", "b", "c"])
    assert matrix != "matrix"


def test_equality_ignores_how_zeros_are_stored() -> None:
    stored = sp.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert NamedMatrix(stored, ["x"], ["a", "b"]) == NamedMatrix([[1, 0]], ["x"], ["a", "b"])


def test_product_checks_the_inner_names(matrix: NamedMatrix) -> None:
    assert (matrix @ matrix.T).toarray().tolist() == [[2, -1], [-1, 2]]
    with pytest.raises(GraphError, match=r"column 1 of the left matrix is 'a' and row 1 of the right one is 'b'"):
        matrix @ matrix.T.rows(["b", "a", "c"])
    with pytest.raises(GraphError, match=r"3 columns on the left and 2 rows on the right"):
        matrix @ matrix


def test_product_with_values(matrix: NamedMatrix) -> None:
    assert (matrix @ np.array([1.0, 2.0, 3.0])).tolist() == [-2.0, 5.0]
    assert (matrix @ np.ones((3, 2))).shape == (2, 2)
    with pytest.raises(GraphError, match=r"one value for each column: a, b, c"):
        matrix @ np.ones(2)


def test_products_do_not_overflow_int8() -> None:
    n = 1000
    row = NamedMatrix(np.ones((1, n), dtype=np.int8), ["r"], map(str, range(n)))
    assert row.dtype == np.int8
    assert (row @ row.T)["r", "r"] == n
    assert (row @ np.ones(n, dtype=np.int8)).tolist() == [n]


def test_immutable(matrix: NamedMatrix) -> None:
    with pytest.raises(ValueError, match="read-only"):
        matrix.sparse.data[0] = 5
    with pytest.raises(AttributeError, match="cannot be changed"):
        matrix.row_names = ("p", "q")
    dense = matrix.toarray()
    dense[0, 0] = 9
    assert matrix["x", "a"] == 1


def test_the_callers_matrix_is_neither_frozen_nor_shared() -> None:
    own = sp.csr_array(np.array([[1, 2]]))
    named = NamedMatrix(own, ["x"], ["a", "b"])
    own.data[0] = 7
    assert named["x", "a"] == 1


def test_unknown_names_are_answered_with_the_nearest(matrix: NamedMatrix) -> None:
    big = NamedMatrix(np.eye(2), ["crank", "coupler"], ["a", "b"])
    with pytest.raises(GraphError, match=r"no row is named 'cranck'.*one of crank, coupler.*Did you mean 'crank'\?"):
        big.row("cranck")
    with pytest.raises(GraphError, match=r"no column is named 'd'"):
        matrix["x", "d"]
    with pytest.raises(GraphError, match=r"m\[row, column\]"):
        matrix["x"]  # type: ignore[call-overload]


def test_names_must_fit_the_shape() -> None:
    with pytest.raises(GraphError, match=r"shape \(2, 2\) with 1 row names and 2 column names"):
        NamedMatrix(np.eye(2), ["x"], ["a", "b"])


def test_printed_table(matrix: NamedMatrix) -> None:
    assert str(matrix) == "   a  b   c\nx  1  0  -1\ny  0  1   1"
    assert repr(matrix) == "<NamedMatrix 2 x 3, 4 non-zero, int8>"


def test_big_tables_are_elided() -> None:
    names = [f"n{k}" for k in range(100)]
    matrix = NamedMatrix(sp.eye_array(100), names, names)
    text = str(matrix)
    assert "..." in text
    assert "(100 x 100, 100 non-zero; whole: matrix.to_pandas().to_string()" in text
    assert len(matrix.to_pandas().to_string().splitlines()) == 101
    assert len(text.splitlines()) < 30


def test_latex(matrix: NamedMatrix) -> None:
    assert matrix.to_latex().splitlines() == [
        r"\begin{array}{c|rrr}",
        r" & \mathrm{a} & \mathrm{b} & \mathrm{c} \\ \hline",
        r"\mathrm{x} & 1 & 0 & -1 \\",
        r"\mathrm{y} & 0 & 1 & 1 \\",
        r"\end{array}",
    ]
    assert latex_name("v_1 & 2") == r"\mathrm{v\_1\ \&\ 2}"


def test_pandas(matrix: NamedMatrix) -> None:
    pandas = pytest.importorskip("pandas")
    frame = matrix.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.loc["x", "c"] == -1


def test_without_pandas_the_message_says_what_to_do(matrix: NamedMatrix, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CotreeError, match="pip install pandas"):
        matrix.to_pandas()
