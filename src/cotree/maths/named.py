"""A sparse matrix whose rows and columns have names.

Topological matrices are read by name (``circuit["C6", "L2"]``), never by position, so a product checks that the names
of the columns on the left are the names of the rows on the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from cotree.errors import CotreeError, GraphError, listing, nearest
from cotree.maths.viewed import Viewed

Key = str | slice | Sequence[str]
_SHOWN_ROWS, _SHOWN_COLUMNS = 24, 16
_LISTED = 100  # names of each side that a prompt completes


class NamedMatrix(Viewed):
    """An immutable sparse matrix with named rows and columns.

    Topology is stored in int8; products and sums are taken in int64 so that they cannot overflow.
    """

    __slots__ = ("_cols", "_data", "_rows", "col_names", "row_names")

    row_names: tuple[str, ...]
    col_names: tuple[str, ...]

    def __init__(self, data: Any, row_names: Iterable[str], col_names: Iterable[str], *, copy: bool = True) -> None:
        """``copy=False`` takes over (and freezes) a CSR matrix that nobody else holds."""
        import scipy.sparse as sp  # slow to load, and few runs need it

        matrix = sp.csr_array(data, copy=copy)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        self._data = matrix
        self.row_names, self.col_names = tuple(row_names), tuple(col_names)
        self._rows: dict[str, int] | None = None
        self._cols: dict[str, int] | None = None
        if matrix.shape != (len(self.row_names), len(self.col_names)):
            raise GraphError(
                f"a matrix of shape {matrix.shape} with {len(self.row_names)} row names and "
                f"{len(self.col_names)} column names",
                expected="one name for each row and each column",
            )

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ("_rows", "_cols") and hasattr(self, name):
            raise AttributeError(f"a NamedMatrix cannot be changed: build a new one instead of setting {name}")
        object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.row_names), len(self.col_names)

    @property
    def nnz(self) -> int:
        """Number of entries that are not zero."""
        return int(self._data.nnz)

    @property
    def nbytes(self) -> int:
        """Bytes held for the entries and their places."""
        return int(self._data.data.nbytes + self._data.indices.nbytes + self._data.indptr.nbytes)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an entry."""
        dtype: np.dtype[Any] = self._data.dtype
        return dtype

    @property
    def sparse(self) -> Any:
        """The entries as a read-only ``scipy.sparse.csr_array``."""
        return self._data

    @property
    def T(self) -> NamedMatrix:
        """The transpose, names included."""
        return NamedMatrix(self._data.T.tocsr(), self.col_names, self.row_names, copy=False)

    def toarray(self) -> np.ndarray[Any, Any]:
        """A dense copy."""
        return np.asarray(self._data.toarray())

    def row(self, name: str) -> dict[str, Any]:
        """The non-zero entries of one row: column name -> value, in the order of the columns."""
        i = self._row_index(name)
        places = slice(self._data.indptr[i], self._data.indptr[i + 1])
        values = self._data.data[places].tolist()
        return {self.col_names[j]: v for j, v in zip(self._data.indices[places].tolist(), values, strict=True)}

    def column(self, name: str) -> dict[str, Any]:
        """The non-zero entries of one column: row name -> value, in the order of the rows."""
        j = self._col_index(name)
        column = self._data[:, [j]].tocoo()
        order = np.argsort(column.coords[0], kind="stable")
        return {self.row_names[column.coords[0][k]]: column.data[k].item() for k in order}

    def rows(self, names: Iterable[str]) -> NamedMatrix:
        """The rows of these names, in this order."""
        return self._take(list(names), None)

    def columns(self, names: Iterable[str]) -> NamedMatrix:
        """The columns of these names, in this order."""
        return self._take(None, list(names))

    @overload
    def __getitem__(self, key: tuple[str, str]) -> Any: ...
    @overload
    def __getitem__(self, key: tuple[Key, slice | list[str] | tuple[str, ...]]) -> NamedMatrix: ...
    @overload
    def __getitem__(self, key: tuple[slice | list[str] | tuple[str, ...], Key]) -> NamedMatrix: ...

    def __getitem__(self, key: tuple[Any, Any]) -> Any:
        """``m["L1", "V7"]`` is a number; with a list or a slice in either place it is a NamedMatrix.

        Slices by name include both ends (``"L1":"R3"``); slices by position follow Python.
        """
        if not isinstance(key, tuple) or len(key) != 2:
            raise GraphError(f"a matrix index {key!r}", expected="a row and a column, m[row, column]")
        row, column = key
        if isinstance(row, str) and isinstance(column, str):
            return self._data[self._row_index(row), self._col_index(column)].item()
        return self._take(self._chosen(row, self.row_names), self._chosen(column, self.col_names))

    def _ipython_key_completions_(self) -> list[tuple[str, str]]:
        return [(row, column) for row in self.row_names[:_LISTED] for column in self.col_names[:_LISTED]]

    @overload
    def __matmul__(self, other: NamedMatrix) -> NamedMatrix: ...
    @overload
    def __matmul__(self, other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]: ...

    def __matmul__(self, other: Any) -> Any:
        """Product with another NamedMatrix (the inner names must agree) or with a plain array of values."""
        if isinstance(other, NamedMatrix):
            self._check_inner(other)
            product = _wide(self._data) @ _wide(other._data)
            return NamedMatrix(product, self.row_names, other.col_names, copy=False)
        values = np.asarray(other)
        if values.ndim == 0 or values.shape[0] != len(self.col_names):
            raise GraphError(
                f"a product of a matrix with {len(self.col_names)} columns and values of shape {values.shape}",
                expected=f"one value for each column: {listing(self.col_names)}",
            )
        return np.asarray(_wide(self._data) @ values)

    def __neg__(self) -> NamedMatrix:
        return NamedMatrix(-self._data, self.row_names, self.col_names, copy=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedMatrix):
            return NotImplemented
        if self.row_names != other.row_names or self.col_names != other.col_names or self.nnz != other.nnz:
            return False
        a, b = self._data, other._data
        same = (np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))
        return all(same)

    def __hash__(self) -> int:
        return hash((self.row_names, self.col_names, self.nnz))

    def __repr__(self) -> str:
        return f"<NamedMatrix {self.shape[0]} x {self.shape[1]}, {self.nnz} non-zero, {self.dtype}>"

    def _view(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """A table with labels; the middle of a big matrix is left out, and the last line says how to see it."""
        rows, cols = _elided(len(self.row_names), _SHOWN_ROWS), _elided(len(self.col_names), _SHOWN_COLUMNS)
        shown = self._shown(rows, cols)
        table = [["", *("..." if j is None else self.col_names[j] for j in cols)]]
        for i, values in zip(rows, shown, strict=True):
            table.append(["..." if i is None else self.row_names[i], *values])
        widths = [max(len(line[k]) for line in table) for k in range(len(table[0]))]
        lines = [
            "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))])
            for line in table
        ]
        if None in rows or None in cols:
            size = f"{self.shape[0]} x {self.shape[1]}, {self.nnz} non-zero"
            lines.append(f"({size}; whole: matrix.to_pandas().to_string(), or to_pandas() as a table)")
        return "\n".join(line.rstrip() for line in lines)

    def to_latex(self, most: int = 30) -> str:
        """A labelled ``array``; beyond ``most`` rows or columns the middle is dotted."""
        rows, cols = _elided(len(self.row_names), most), _elided(len(self.col_names), most)
        shown = self._shown(rows, cols)
        head = [r"\cdots" if j is None else latex_name(self.col_names[j]) for j in cols]
        lines = [" & ".join(["", *head]) + r" \\ \hline"]
        for i, values in zip(rows, shown, strict=True):
            label = r"\vdots" if i is None else latex_name(self.row_names[i])
            cells = [r"\cdots" if v == "..." else v for v in values]
            lines.append(" & ".join([label, *cells]) + r" \\")
        body = "\n".join(lines)
        return rf"\begin{{array}}{{c|{'r' * len(cols)}}}" + f"\n{body}\n" + r"\end{array}"

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame`` (dense) with the same names."""
        try:
            import pandas as pd
        except ImportError as missing:
            raise CotreeError(
                "pandas is not installed", where="NamedMatrix.to_pandas", remedy="Install it: pip install pandas"
            ) from missing
        return pd.DataFrame(self.toarray(), index=list(self.row_names), columns=list(self.col_names))

    def _row_index(self, name: str) -> int:
        if self._rows is None:
            self._rows = {n: i for i, n in enumerate(self.row_names)}
        return _find(name, self._rows, "row")

    def _col_index(self, name: str) -> int:
        if self._cols is None:
            self._cols = {n: i for i, n in enumerate(self.col_names)}
        return _find(name, self._cols, "column")

    def _take(self, rows: list[str] | None, cols: list[str] | None) -> NamedMatrix:
        data = self._data
        if rows is not None:
            data = data[np.array([self._row_index(n) for n in rows], dtype=np.intp), :]
        if cols is not None:
            data = data[:, np.array([self._col_index(n) for n in cols], dtype=np.intp)]
        return NamedMatrix(data, self.row_names if rows is None else rows, self.col_names if cols is None else cols)

    def _chosen(self, key: Key, names: tuple[str, ...]) -> list[str] | None:
        """The names that one half of an index stands for; None stands for all of them."""
        if isinstance(key, str):
            return [key]
        if not isinstance(key, slice):
            return list(key)
        if key == slice(None):
            return None
        find = self._row_index if names is self.row_names else self._col_index
        start = find(key.start) if isinstance(key.start, str) else key.start
        stop = find(key.stop) + 1 if isinstance(key.stop, str) else key.stop
        return list(names[slice(start, stop, key.step)])

    def _check_inner(self, other: NamedMatrix) -> None:
        left, right = self.col_names, other.row_names
        if left == right:
            return
        if len(left) != len(right):
            found = f"{len(left)} columns on the left and {len(right)} rows on the right"
        else:
            k = next(k for k, (a, b) in enumerate(zip(left, right, strict=True)) if a != b)
            found = f"column {k + 1} of the left matrix is '{left[k]}' and row {k + 1} of the right one is '{right[k]}'"
        raise GraphError(
            found,
            where="product of named matrices",
            expected="the same names in the same order",
            remedy="Reorder one of them with .columns(...) or .rows(...), or transpose it with .T",
        )

    def _shown(self, rows: list[int | None], cols: list[int | None]) -> list[list[str]]:
        i = [k for k in rows if k is not None]
        j = [k for k in cols if k is not None]
        block = self._data[np.array(i, dtype=np.intp), :][:, np.array(j, dtype=np.intp)].toarray()
        place = {k: n for n, k in enumerate(j)}
        lines = iter(block)
        out = []
        for k in rows:
            line = None if k is None else next(lines)
            out.append(["..." if line is None or c is None else f"{line[place[c]]:g}" for c in cols])
        return out


def latex_name(name: str) -> str:
    r"""``\mathrm{name}`` with the characters that LaTeX reads as commands made safe."""
    safe = {"\\": r"\backslash ", "^": r"\hat{\ }", "~": r"\sim ", " ": r"\ "}
    safe |= {c: "\\" + c for c in "_#$%&{}"}
    return r"\mathrm{" + "".join(safe.get(c, c) for c in name) + "}"


def _wide(matrix: Any) -> Any:
    return matrix.astype(np.int64) if np.issubdtype(matrix.dtype, np.integer) else matrix


def _find(name: str, places: dict[str, int], what: str) -> int:
    try:
        return places[name]
    except (KeyError, TypeError):
        raise GraphError(
            f"no {what} is named '{name}'",
            where="named matrix",
            expected=f"one of {listing(places)}",
            remedy=nearest(name, places) if isinstance(name, str) else "",
        ) from None


def _elided(count: int, most: int) -> list[int | None]:
    if count <= most:
        return list(range(count))
    half = most // 2
    return [*range(half), None, *range(count - half, count)]
