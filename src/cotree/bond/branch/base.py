"""What the counterparts of mechanical components share: the component itself, its values, and relative motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import casadi as ca

from cotree.bond.elements import BondPart
from cotree.bond.mechanics.base import FramePart, frame, junction, lever, turn
from cotree.bond.motions import poses_at
from cotree.errors import ModelError
from cotree.model import Component, find_kind
from cotree.model.form import said
from cotree.model.quantity import MISSING, Quantity

if TYPE_CHECKING:
    from cotree.bond.opening import Opening

P = TypeVar("P")
COMPONENT = {"$ref": "#/$defs/component"}
"""Where the schema of model files describes a component."""


class Wrapped(BondPart):
    """A part with the values and the law of a mechanical ``component`` of the same name."""

    wraps: ClassVar[type[Component]] = Component
    """The components that it may stand for."""
    component: Any = field(
        default=None, kw_only=True, metadata=said("component of a mechanism that it stands for", COMPONENT)
    )

    def __post_init__(self) -> None:
        if not isinstance(self.component, self.wraps) or self.component.name != self.name:
            raise ModelError(
                f"its component is {self.component!r}", where=self.name,
                expected=f"a component of a mechanism with the name '{self.name}'",
            )  # fmt: skip
        super().__post_init__()

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        own = {name: (replace(info, measured=True), given) for name, (info, given) in self.component.entries().items()}
        return super().entries() | own

    def check(self, values: Mapping[str, float]) -> None:
        """What the component checks."""
        if all(name in values for name, e in self.component.expressions.items() if not e.names):
            self.component.check(values)

    def tolerated(self, values: Mapping[str, float], how: str) -> bool:
        """What the component tolerates."""
        return self.component.tolerated(values, how)  # type: ignore[no-any-return]

    def fields_of(self, v: Mapping[str, Any]) -> Any:
        """The values as the component's laws expect them."""
        return SimpleNamespace(**self.component.gather(v))

    def to_data(self) -> dict[str, Any]:
        for f in fields(self.component):
            value = getattr(self.component, f.name)
            if callable(value) and value is not MISSING:
                raise ModelError(
                    f"its {f.name} is a Python function, which a file cannot hold", where=self.name,
                    remedy=f"Give {f.name} as an expression, or keep the model in Python",
                )  # fmt: skip
        data = super().to_data()
        data["component"] = self.component.to_data()
        return data

    @classmethod
    def from_data(cls, name: str, data: Mapping[str, Any]) -> Self:
        given = data.get("component")
        if isinstance(given, Mapping):
            kind = find_kind(given.get("kind"), f"{name}.component", [key for key in given if key != "kind"])
            own = {key: _tuples(value) for key, value in given.items() if key != "kind"}
            data = {**data, "component": kind.from_data(name, own)}
        return super().from_data(name, data)

    @classmethod
    def call_example(cls, name: str) -> str:
        return f"{cls.__name__}({name!r}, component=...)"


def _tuples(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_tuples(item) for item in value)
    return {key: _tuples(item) for key, item in value.items()} if isinstance(value, Mapping) else value


class Between(Wrapped, FramePart):
    """Something between the frames a and b that looks at the motion of b seen from a, in the axes of a."""

    def frame_ports(self) -> tuple[str, ...]:
        return ("a", "b")

    def pose(self, make: Opening, path: str) -> tuple[ca.SX, ca.SX]:
        """Rotation C and position d of b in a."""
        (R, r), (R_b, r_b) = poses_at(make, path, ("a", "b")).values()
        return ca.mtimes(R.T, R_b), ca.mtimes(R.T, r_b - r)

    def open_relative(self, make: Opening, path: str, C: ca.SX, d: ca.SX, words: tuple[str, ...]) -> None:
        """Add junctions 1, ``path.rotation`` and ``path.translation``, with the motion of b seen from a."""
        modulated = not C.is_constant()
        for port in ("a", "b"):
            frame(make, path, port)
        for word in words:
            zero = junction(make, f"{path}.difference.{word}", "0")
            make.bond(f"{path}.{word}.bond", zero, junction(make, f"{path}.{word}"), 3)
            turn(make, f"{path}.turn.{word}", C, f"{path}.b.{word}", zero, from_y=False, modulated=modulated)
            make.bond(f"{path}.a.{word}.bond", zero, f"{path}.a.{word}", 3)
        if "translation" in words:  # d' = C v_b - v_a - w_a x d
            lever(make, f"{path}.arm", -d, f"{path}.a.rotation", f"{path}.difference.translation", modulated=True)


def is_given(make: Opening, value: ca.SX) -> bool:
    """Whether a value follows from time and parameters alone."""
    values = make.values
    known = ca.symvar(ca.veccat(values.t, values.p.symbols, values.mode_symbols))
    hashes = {hash(symbol.element_hash()) for symbol in known}
    return all(hash(symbol.element_hash()) in hashes for symbol in ca.symvar(value))


def beside(path: str, name: str) -> str:
    """The path of a part that stands beside another one."""
    around = path.rpartition(".")[0]
    return f"{around}.{name}" if around else name


def joint_beside(make: Opening, path: str, name: str, expected: type[P]) -> P:
    """The counterpart of a joint that a part acts on."""
    leaf = make.leaves.get(beside(path, name))
    if leaf is None or not isinstance(leaf.part, expected):
        raise ModelError(f"there is no joint '{name}' beside it", where=path, expected="the counterpart of a joint")
    return leaf.part
