"""Bonds and the vertices that only pass power on: junctions, transformers, gyrators, gyristors and splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from cotree.bond.elements import WIDTH, BondPart, Element, constant, modulation, optional
from cotree.bond.structure import Vertex
from cotree.bond.values import MOST
from cotree.errors import ModelError
from cotree.maths.rotation import skew
from cotree.maths.symbolic import substitute
from cotree.model.form import WHOLE, said, several
from cotree.model.quantity import Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening
    from cotree.formulation.values import Values


class Bond(BondPart):
    """A bond from ``tail`` to ``head``, each an element or ``element.port``: power counts positive that way.

    ``width`` may be left out where the elements at its ends tell it.
    """

    kind = "bond.bond"
    tail: str = field(metadata=said("element, or element.port, that power leaves"))
    head: str = field(metadata=said("element, or element.port, that power enters"))
    width: int | None = field(default=None, kw_only=True, metadata=WIDTH)

    def __post_init__(self) -> None:
        super().__post_init__()
        for end in (self.tail, self.head):
            if not isinstance(end, str) or not end or " " in end:
                raise ModelError(
                    f"it ends at {end!r}", where=f"bond {self.name}", expected="the name of an element, or element.port"
                )
        if self.width is not None and not (type(self.width) is int and 1 <= self.width <= MOST):
            expected = f"a whole number from 1 to {MOST}"
            raise ModelError(f"the width is {self.width!r}", where=f"bond {self.name}", expected=expected)

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        """Bonds are joined once all vertices are there."""


class Junction0(Element):
    """One effort, and flows that sum to zero."""

    kind = "bond.0"
    letter = "0"

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        make.vertex(Vertex(path, self.letter, width=self.width, domain=self.domain or ""))


class Junction1(Junction0):
    """One flow, and efforts that sum to zero."""

    kind = "bond.1"
    letter = "1"


class TF(Element):
    """f_2 = modulus * f_1 and e_1 = modulus^T * e_2: port 1 is where a bond enters, port 2 where one leaves.

    Where both bonds enter or both leave, name the ports: ``T.1``, ``T.2``.
    """

    kind = "bond.TF"
    letter = "TF"
    shapes: ClassVar[Mapping[str, Quantity]] = {"modulus": constant("flow of port 2 over flow of port 1")}
    example: ClassVar[Mapping[str, Any]] = {"modulus": 3.0}
    modulus: Any = optional()

    def port_names(self) -> tuple[str, ...]:
        return ("1", "2")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.modulus is None and not self.modulated:
            raise ModelError("no modulus is given", where=self.name, expected="a number, or a list of rows")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        if self.modulus is None:
            make.unmodulated(path, f"M{self.letter}", self.letter)
        given = self.given("modulus", make, path, v)
        rows = isinstance(self.modulus, tuple) and isinstance(self.modulus[0], tuple)  # a matrix may have one column
        matrix = ca.diag(given) if given.shape[1] == 1 and given.shape[0] > 1 and not rows else given
        self.vertex(make, path, {**v, "modulus": given}, matrix=matrix)


class MTF(TF):
    """A TF whose modulus depends on time or signals: ``modulus="0.1*sin(crank.value)"``."""

    kind = "bond.MTF"
    modulated = True
    shapes: ClassVar[Mapping[str, Quantity]] = {"modulus": modulation("flow of port 2 over flow of port 1")}


class GY(TF):
    """e_2 = modulus * f_1 and e_1 = modulus^T * f_2."""

    kind = "bond.GY"
    letter = "GY"
    shapes: ClassVar[Mapping[str, Quantity]] = {"modulus": constant("effort of port 2 over flow of port 1")}


class MGY(GY):
    """A GY whose modulus depends on time or signals."""

    kind = "bond.MGY"
    modulated = True
    shapes: ClassVar[Mapping[str, Quantity]] = {"modulus": modulation("effort of port 2 over flow of port 1")}


class MGR(Element):
    """The gyristor of Euler's equations: e = modulus x f, so that e . f = 0 (Filippini 2007, fig. 1).

    Its modulus is a vector of three signals, or a skew matrix for other widths.
    """

    kind = "bond.MGR"
    letter = "GR"
    modulated = True
    shapes: ClassVar[Mapping[str, Quantity]] = {"modulus": modulation("vector of the cross product")}
    modulus: Any = optional()

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        if self.modulus is None:
            make.unmodulated(path, "MGR", "numbers")
        given = self.given("modulus", make, path, v)
        matrix = skew(given) if given.shape == (3, 1) else given
        if matrix.shape[0] != matrix.shape[1] or not _skew(matrix, make.values):
            raise ModelError(
                "the modulus is no vector of three and no skew matrix", where=path,
                expected="e = modulus x f with three components, or a skew matrix: other values would not keep power",
            )  # fmt: skip
        matrix, used = (matrix - matrix.T) / 2, make.used({"modulus": given})
        make.vertex(Vertex(path, "GR", True, width=matrix.shape[0], matrix=matrix, domain=self.domain or "", used=used))


def _skew(matrix: ca.SX, values: Values) -> bool:
    """Whether a matrix is skew, by its values at two points."""
    both = substitute(matrix + matrix.T, values.p.symbols, ca.DM(values.p.start))
    symbols = ca.symvar(both)
    value = ca.Function("value", symbols, [ca.densify(both)])
    points = np.random.default_rng(1).uniform(0.5, 1.5, (2, len(symbols)))
    return all(np.abs(np.asarray(value.call(list(point))[0], dtype=float)).max() < 1e-12 for point in points)


class Split(Element):
    """A multibond taken apart: port ``whole`` carries the components of ports ``1``, ``2``, ... one after the other."""

    kind = "bond.split"
    letter = "Split"
    example: ClassVar[Mapping[str, Any]] = {"parts": [1, 2]}
    parts: tuple[int, ...] = field(
        default=(),
        kw_only=True,
        metadata=said("widths of its parts, in this order", several({**WHOLE, "minimum": 1}, 1)),
    )

    def port_names(self) -> tuple[str, ...]:
        return ("whole", *(str(k + 1) for k in range(len(self.parts))))

    def __post_init__(self) -> None:
        super().__post_init__()
        right = (
            isinstance(self.parts, (list, tuple)) and self.parts and all(type(n) is int and n > 0 for n in self.parts)
        )
        if not right or not 0 < sum(self.parts) <= MOST:
            raise ModelError(f"the parts are {self.parts!r}", where=self.name, expected="widths such as [1, 2]")

    def open(self, make: Opening, path: str, v: Mapping[str, Any]) -> None:
        make.vertex(Vertex(path, self.letter, parts=tuple(self.parts), domain=self.domain or ""))
