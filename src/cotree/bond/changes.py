"""Values that are changed for a run: the equations stay as they were derived, so some values would break them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from cotree.bond.derivation import Derivation
from cotree.bond.structure import BondStructure
from cotree.bond.values import ROUNDING, SINGULAR
from cotree.errors import FormulationError, listing
from cotree.maths.symbolic import column
from cotree.system import Diagnostic, diagnose

Array = NDArray[np.float64]


class Changes:
    """Checks the parameters of a run against those that the equations were derived for."""

    def __init__(self, derivation: Derivation) -> None:
        self.kin, self.values = derivation.kin, derivation.values
        self.structure = derivation.structure

    def numbers(self, changes: Mapping[str, float] | None = None) -> Array:
        """The values of all parameters, with some changed."""
        p = self.values.numbers(changes)
        moved = np.flatnonzero(p != self.values.p.start)
        if len(moved) and self._factors[moved].any() and (vertex := self.kin.vanishing(p)):
            found = f"a flow at '{vertex}' was found by a factor that is zero now"
            remedy = "Set {} in the model itself, so that its equations are derived anew"
            raise self._refused(found, vertex, moved, remedy)
        if len(moved) and self._stored[moved].any():
            for name, (before, after) in self._storages(p).items():
                turned = self.structure.vertices[name].letter == "I"
                if _sound(before, turned) and not _sound(after, turned):
                    found = f"the value of '{name}' is zero, negative or not finite now"
                    raise self._refused(found, name, moved, "Give {} another value")
        return p

    def _refused(self, found: str, vertex: str, moved: NDArray[np.intp], remedy: str) -> FormulationError:
        names = [self.values.p.names[k] for k in moved if self._used(vertex)[k]] or [
            self.values.p.names[k] for k in moved
        ]
        return FormulationError(
            f"{found}, with the new value of {listing(names, 4)}",
            where=vertex,
            expected="values for which the equations stay as they are",
            remedy=remedy.format(names[0]),
        )

    def _used(self, vertex: str) -> NDArray[np.bool_]:
        return self._depends(self.kin.matrix(self.structure.vertices[vertex]))

    def _depends(self, expression: ca.SX) -> NDArray[np.bool_]:
        """Which parameters are in an expression."""
        p = self.values.p.symbols
        if not p.numel():
            return np.zeros(0, dtype=bool)
        whole = ca.veccat(expression)
        if not whole.numel() or whole.is_constant():
            return np.zeros(p.numel(), dtype=bool)
        return np.array(ca.which_depends(whole, p, 1, False), dtype=bool)

    @cached_property
    def _factors(self) -> NDArray[np.bool_]:
        """Parameters in the factors between flows."""
        return self._depends(column([factor for row in self.kin.rows for factor in row.entries.values()]))

    @cached_property
    def _matrices(self) -> dict[str, ca.SX]:
        """The matrices of I's and C's that parameters give alone."""
        found = {
            v.name: v.modulus for v in self.structure.vertices.values() if v.letter in ("I", "C") and v.law is None
        }
        p = self.values.p.symbols
        return {name: m for name, m in found.items() if all(ca.depends_on(p, s) for s in ca.symvar(m))}

    @cached_property
    def _stored(self) -> NDArray[np.bool_]:
        """Parameters in them."""
        return self._depends(ca.veccat(*self._matrices.values()))

    def _storages(self, p: Array) -> dict[str, tuple[Array, Array]]:
        """The matrices of I's and C's as they were and as they are now."""
        names = [name for name, m in self._matrices.items() if not m.is_constant()]
        matrices = ca.Function("storages", [self.values.p.symbols], [ca.densify(self._matrices[n]) for n in names])
        both = [matrices.call([ca.DM(each)]) for each in (self.values.p.start, p)]
        return {
            n: (np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for n, a, b in zip(names, *both, strict=True)
        }


def _sound(matrix: Array, inverse: bool) -> bool:
    """Whether a matrix is positive and, where that is asked for, has an inverse."""
    if not np.isfinite(matrix).all():
        return False
    size = float(np.abs(matrix).max(initial=0.0))
    if inverse and (size == 0.0 or np.linalg.cond(matrix / size) > SINGULAR):
        return False
    return float(np.linalg.eigvalsh((matrix + matrix.T) / 2).min()) >= -ROUNDING * size


def supplying(structure: BondStructure) -> tuple[Diagnostic, ...]:
    """A diagnostic for each constant R that supplies energy, being negative."""
    found = []
    p = structure.values.p
    for v in structure.vertices.values():
        if v.letter != "R":
            continue
        x = ca.SX.sym("x", structure.width(v.name))
        matrix = v.modulus if v.law is None else ca.jacobian(ca.SX(v.law(x)), x)
        if any(not ca.depends_on(p.symbols, s) for s in ca.symvar(matrix)):
            continue  # modulated, or not linear
        value = np.asarray(ca.Function("value", [p.symbols], [ca.densify(matrix)])(p.start), dtype=float)
        least = float(np.linalg.eigvalsh((value + value.T) / 2).min(initial=0.0))
        if least < -ROUNDING * float(np.abs(value).max(initial=0.0)):
            found.append(diagnose("negative-resistance", v.name, value=least))
    return tuple(found)
