"""What a shell is made of: one isotropic or orthotropic layer, or a laminate.

A plating relates forces and moments per length to strains and curvatures of the surface that carries the nodes, by the
matrices of laminate theory (Jones, Mechanics of Composite Materials, 2nd ed., ch. 4): N = A e + B k, M = B e + D k. The
strain at height z along the normal is e + z k; shear strains are twice the tensor's. Angles are in radians, turning
from the shell's material direction towards the left, seen against the normal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from cotree.errors import ModelError, listing
from cotree.fem.element import Array
from cotree.fem.material import Material, in_si, material_from_data, material_schema, number
from cotree.maths.viewed import Viewed
from cotree.model.built import build, pick
from cotree.model.form import ABOVE_ZERO, VALUE, Schema, either, entries, listed, made, several
from cotree.model.helpful import answered, helpful

Matrices = tuple[Array, Array, Array]


class Plating(Protocol):
    """What every plating gives."""

    @property
    def thickness(self) -> float | None:
        """In m; None where it is not known."""

    @property
    def viscosity(self) -> float:
        """Retardation time of the Kelvin-Voigt law, in s."""

    @property
    def mass_per_area(self) -> float:
        """In kg/m^2."""

    @property
    def first_per_area(self) -> float:
        """Integral of density times z, in kg/m: zero where the mass is centred on the surface of the nodes."""

    @property
    def rotary_per_area(self) -> float:
        """Integral of density times z^2, in kg."""

    def abd(self) -> Matrices:
        """A in N/m, B in N and D in N m, (3, 3) each."""

    def stiffness_at(self, z: float) -> Array | None:
        """(3, 3) stress from strain at height z, None where the layers are not known."""

    def to_data(self) -> dict[str, Any]:
        """Plain data that `plate_from_data` reads."""


@dataclass(frozen=True)
class _Layer(Viewed):
    """One homogeneous layer, centred on the surface of the nodes."""

    thickness: float

    def abd(self) -> Matrices:
        """A = h Q, B = 0, D = h^3 Q / 12."""
        q = self.stiffness_at(0.0)
        return self.thickness * q, np.zeros((3, 3)), self.thickness**3 / 12 * q

    @property
    def first_per_area(self) -> float:
        """Zero: the mass is centred."""
        return 0.0

    @property
    def mass_per_area(self) -> float:
        """Density times thickness."""
        return self._density() * self.thickness

    @property
    def rotary_per_area(self) -> float:
        """Density times h^3 / 12."""
        return self._density() * self.thickness**3 / 12

    def stiffness_at(self, z: float) -> Array:
        """The same through the thickness."""
        raise NotImplementedError

    def to_data(self) -> dict[str, Any]:
        """Plain data that `plate_from_data` reads."""
        raise NotImplementedError

    def _density(self) -> float:
        raise NotImplementedError


@answered
@dataclass(frozen=True)
class Plate(_Layer):
    """An isotropic plate."""

    material: Material

    def __post_init__(self) -> None:
        in_si(self, "plate", thickness="m")
        number(self.thickness, "the thickness of the plate in m", least=0.0)

    @property
    def viscosity(self) -> float:
        """That of the material."""
        return self.material.viscosity

    def stiffness_at(self, z: float) -> Array:
        """Plane stress."""
        nu = self.material.poisson_ratio
        along = self.material.young / (1 - nu**2)
        return np.array([[along, nu * along, 0.0], [nu * along, along, 0.0], [0.0, 0.0, self.material.shear_modulus]])

    def to_data(self) -> dict[str, Any]:
        """``{thickness, material}``."""
        return {"thickness": self.thickness, "material": self.material.to_data()}

    def _density(self) -> float:
        return self.material.density


@answered
@dataclass(frozen=True)
class Orthotropic(_Layer):
    """An orthotropic plate, or a ply of a laminate; ``angle`` of its own x axis from the material direction."""

    young_x: float
    young_y: float
    poisson_xy: float
    """Contraction along y for unit stretch along x under tension along x; poisson_yx = poisson_xy young_y / young_x."""
    shear_xy: float
    density: float
    angle: float = 0.0
    viscosity: float = 0.0

    def __post_init__(self) -> None:
        moduli = dict.fromkeys(("young_x", "young_y", "shear_xy"), "Pa")
        in_si(self, "plate", thickness="m", **moduli, density="kg/m^3", angle="rad", poisson_xy="", viscosity="s")
        number(self.thickness, "the thickness of the plate in m", least=0.0)
        for name in ("young_x", "young_y", "shear_xy", "density"):
            number(getattr(self, name), f"{name} of the orthotropic plate", least=0.0)
        for name in ("angle", "poisson_xy"):
            number(getattr(self, name), f"{name} of the orthotropic plate")
        number(self.viscosity, "viscosity of the plate (retardation time in s)", least=0.0, open_end=False)
        if self.poisson_xy**2 >= self.young_x / self.young_y:
            bound = (self.young_x / self.young_y) ** 0.5
            raise ModelError(
                f"poisson_xy of the orthotropic plate is {self.poisson_xy:g}",
                expected=f"between {-bound:.4g} and {bound:.4g} (the root of young_x / young_y), for positive energy",
                remedy="poisson_xy = poisson_yx young_x / young_y: perhaps the other of the two was given",
            )

    def stiffness_at(self, z: float) -> Array:
        """Plane stress, turned by the angle."""
        yx = self.poisson_xy * self.young_y / self.young_x
        free = 1 - self.poisson_xy * yx
        q = np.array([[self.young_x, yx * self.young_x, 0.0], [yx * self.young_x, self.young_y, 0.0], [0.0, 0.0, 0.0]])
        q /= free
        q[2, 2] = self.shear_xy
        turn = strain_turn(self.angle)
        return np.asarray(turn.T @ q @ turn)

    def to_data(self) -> dict[str, Any]:
        """``{thickness, young_x, ...}``."""
        return _values(self)

    def _density(self) -> float:
        return self.density


Ply = Plate | Orthotropic


@answered
@dataclass(frozen=True)
class Laminate(Viewed):
    """Any plating by its matrices, (6, 6) as [[A, B], [B, D]], and its mass; made from layers by `layered`.

    ``rotary`` is the integral of density times z^2 (kg), ``offset`` the height of the centre of mass (m).
    """

    matrix: tuple[tuple[float, ...], ...]
    mass_per_area: float
    thickness: float | None = None
    rotary: float = 0.0
    viscosity: float = 0.0
    offset: float = 0.0
    plies: tuple[Ply, ...] = ()

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, dtype=float)
        if matrix.shape != (6, 6) or not np.all(np.isfinite(matrix)):
            raise ModelError("the matrix of the laminate is not 6 by 6 numbers", expected="[[A, B], [B, D]]")
        scale = np.sqrt(np.abs(np.diag(matrix)))
        if np.any(scale == 0) or np.any(np.abs(matrix - matrix.T) > 1e-9 * np.outer(scale, scale)):
            raise ModelError("the matrix of the laminate is not symmetric or has zeros on its diagonal")
        if np.linalg.eigvalsh(matrix / np.outer(scale, scale))[0] <= 1e-12:
            raise ModelError(
                "the matrix of the laminate is not positive definite",
                expected="positive energy for every strain and curvature",
                remedy="check units and the sign of B",
            )
        object.__setattr__(self, "matrix", tuple(map(tuple, ((matrix + matrix.T) / 2).tolist())))
        in_si(self, "laminate", mass_per_area="kg/m^2", thickness="m", rotary="kg", viscosity="s", offset="m")
        number(self.mass_per_area, "mass_per_area of the laminate", least=0.0)
        if self.thickness is not None:
            number(self.thickness, "thickness of the laminate", least=0.0)
        number(self.viscosity, "viscosity of the laminate (retardation time in s)", least=0.0, open_end=False)
        number(self.offset, "offset of the laminate")
        number(self.rotary, "rotary of the laminate")
        if not self.rotary * (1 + 1e-12) >= self.mass_per_area * self.offset**2:
            raise ModelError(
                f"the rotary inertia of the laminate is {self.rotary:g} kg",
                expected=f"at least mass per area times offset squared, {self.mass_per_area * self.offset**2:g} kg",
            )

    def abd(self) -> Matrices:
        """The blocks of the matrix."""
        matrix = np.array(self.matrix)
        return matrix[:3, :3], matrix[:3, 3:], matrix[3:, 3:]

    @property
    def first_per_area(self) -> float:
        """Mass per area times offset."""
        return self.mass_per_area * self.offset

    @property
    def rotary_per_area(self) -> float:
        """As given."""
        return self.rotary

    def stiffness_at(self, z: float) -> Array | None:
        """That of the ply at height z; on an interface, of the ply nearer to the middle."""
        if not self.plies:
            return None
        heights = np.cumsum([0.0] + [ply.thickness for ply in self.plies])
        heights -= heights[-1] / 2
        inside = z * (1 - 1e-9)
        index = int(np.clip(np.searchsorted(heights, inside) - 1, 0, len(self.plies) - 1))
        return self.plies[index].stiffness_at(0.0)

    def to_data(self) -> dict[str, Any]:
        """``{layered: {plies: [...]}}`` where the layers are known, otherwise ``{laminate: {...}}``."""
        if self.plies:
            if layered(self.plies) != self:
                raise ModelError(
                    "a laminate that was changed after it was made of layers cannot be described by its layers",
                    remedy="Make it of the right layers, or give its matrix without plies",
                )
            return {"layered": {"plies": [ply.to_data() for ply in self.plies]}}
        return {"laminate": _values(self) | {"matrix": [list(row) for row in self.matrix]}}


@helpful
def layered(plies: Sequence[Any]) -> Laminate:
    """A laminate of plies from the bottom to the top, centred on the surface of the nodes.

    A ply is an `Orthotropic` or `Plate`, or ``(ply, angle)`` or ``(ply, angle, thickness)`` to lay the same material
    at other angles and thicknesses.
    """
    layers = tuple(_ply(each, f"ply {number}") for number, each in enumerate(plies, 1))
    if not layers:
        raise ModelError("the laminate has no plies", expected="at least one")
    times = {layer.viscosity for layer in layers}
    if len(times) > 1:
        raise ModelError(
            f"the plies have different retardation times, {listing(f'{t:g} s' for t in sorted(times))}",
            expected="the same viscosity in every ply",
        )
    heights = np.cumsum([0.0] + [layer.thickness for layer in layers])
    heights -= heights[-1] / 2
    matrix = np.zeros((6, 6))
    moments = np.zeros(3)
    for layer, low, high in zip(layers, heights[:-1], heights[1:], strict=True):
        powers = np.array([(high**n - low**n) / n for n in (1, 2, 3)])
        matrix += np.kron([[powers[0], powers[1]], [powers[1], powers[2]]], layer.stiffness_at(0.0))
        moments += layer._density() * powers
    mass, first, rotary = (float(m) for m in moments)
    # Rounding leaves a trace of B in a symmetric stacking: take it away, so that it is exactly uncoupled.
    scale = np.sqrt(np.diag(matrix))
    matrix[np.abs(matrix) < 1e-13 * np.outer(scale, scale)] = 0.0
    offset = first / mass if abs(first) > 1e-13 * mass * float(heights[-1]) else 0.0
    rows = tuple(map(tuple, matrix.tolist()))
    return Laminate(rows, mass, float(2 * heights[-1]), rotary, times.pop(), offset, layers)


def strain_turn(angle: float) -> Array:
    """(3, 3): strains (e_x, e_y, 2 e_xy) in axes turned by ``angle``; stresses turn back with its transpose."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2 * c * s, 2 * c * s, c * c - s * s]])


def plate_from_data(given: Any, where: str) -> Plating:
    """A plating as the user gave it: itself, or plain data such as ``{thickness: 0.01, material: steel}``."""
    if isinstance(given, Plate | Orthotropic | Laminate):
        return given
    if isinstance(given, Mapping) and "thickness" in given:
        given = {"orthotropic" if "young_x" in given else "plate": given}
    expected = "a plate with its values, such as {thickness: 0.01, material: steel}"
    kind, values = pick(given, where, PLATINGS, "plate of kind", expected)

    def ready(values: dict[str, Any]) -> dict[str, Any]:
        if "material" in values:
            values["material"] = material_from_data(values["material"], f"{where}.material")
        if kind == "layered":
            if not isinstance(values["plies"], Sequence) or isinstance(values["plies"], str):
                raise ModelError(f"the plies are {values['plies']!r}", expected="a list of plies")
            values["plies"] = [plate_from_data(ply, f"{where}.plies[{n}]") for n, ply in enumerate(values["plies"])]
        return values

    hidden = ("plies",) if kind == "laminate" else ()
    return build(PLATINGS[kind], values, where, _CALLED.get(kind, kind), ready=ready, hidden=hidden)


PLATINGS: dict[str, Callable[..., Plating]] = {
    "plate": Plate,
    "orthotropic": Orthotropic,
    "laminate": Laminate,
    "layered": layered,
}
"""What makes a plating, by kind."""
_CALLED = {"orthotropic": "orthotropic plate", "layered": "layered plate"}


def _ply(given: Any, where: str) -> Ply:
    """One ply with its own angle and thickness."""
    ply: Any
    ply, *laid = given if isinstance(given, tuple | list) and given else (given,)
    if not isinstance(ply, Plate | Orthotropic) or len(laid) > 2:
        expected = "an Orthotropic or a Plate, or (ply, angle), or (ply, angle, thickness)"
        raise ModelError(f"found {given!r}", where=where, expected=expected)
    changed: Ply = ply
    if laid and isinstance(changed, Orthotropic):
        changed = replace(changed, angle=laid[0])
    return replace(changed, thickness=laid[1]) if len(laid) == 2 else changed


def _values(plating: Any) -> dict[str, Any]:
    """Fields of a frozen dataclass that differ from their defaults."""
    fields = plating.__dataclass_fields__
    return {name: getattr(plating, name) for name in fields if getattr(plating, name) != fields[name].default}


def plate_schema() -> Schema:
    """What a model file may say of a plate."""
    own = dict.fromkeys(("thickness", "young_x", "young_y", "shear_xy", "density", "mass_per_area"), ABOVE_ZERO)
    plate = made(Plate, own | {"material": material_schema()})
    ply = made(Orthotropic, own)
    laminate = made(Laminate, {"matrix": listed(listed(VALUE, 6), 6), "mass_per_area": ABOVE_ZERO}, hidden=("plies",))
    single = {"plate": plate, "orthotropic": ply}
    layer = either(plate, ply, *(entries({kind: each}, [kind]) for kind, each in single.items()))
    kinds = {**single, "laminate": laminate, "layered": entries({"plies": several(layer, 1)}, ["plies"])}
    return either(plate, ply, *(entries({kind: each}, [kind]) for kind, each in kinds.items()))
