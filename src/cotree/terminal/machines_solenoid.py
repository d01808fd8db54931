"""The solenoid: an electromagnet whose inductance depends on where its plunger is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from cotree.errors import ExpressionError, ModelError
from cotree.model import ELECTRICAL, TRANSLATIONAL, Expression, Port, Quantity, Role, Value, quantity
from cotree.model.form import said
from cotree.terminal.machines_base import HEAT, MOVER, Sliding

_CONSTANT = Quantity("", "finite", False, "value in the inductance", free=True)


class Solenoid(Sliding):
    """An electromagnet with flux linkage L(x) i: v = R i + L di/dt + L'(x) u i, force on the plunger i^2 L'(x)/2 - b u.

    x is the position of the plunger, and u its velocity against the housing: on a joint or a line x is its coordinate,
    otherwise it starts at ``position``. L(x) is ``inductance_law``, in H, or it falls from ``inductance`` at x = 0 to
    half of it at x = ``gap``: L = L_0 / (1 + x/gap). It must stay positive where the plunger goes. The plunger's mass
    counts from the datum. The losses R i^2 + b u^2 leave as heat through the thermal port, where its nodes are given.
    """

    kind = "machines.solenoid"
    moving = "plunger"
    positions = ("plunger",)
    texts: ClassVar[tuple[str, ...]] = ("inductance_law",)
    ports = (
        Port(ELECTRICAL, Role.THROUGH_STORAGE, "electrical"),
        Port(TRANSLATIONAL, Role.STATIC, "plunger"),
        MOVER,
        HEAT,
    )
    example: ClassVar[Mapping[str, Any]] = {"resistance": 5.0, "inductance": 0.2, "gap": 0.004, "position": 0.003}
    electrical: tuple[str, str]
    plunger: tuple[str, str]
    resistance: Value = quantity("ohm", "resistance of the coil", symbol="R", range="positive")
    inductance: Value | None = quantity(
        "H", "inductance at x = 0", symbol="L_0", range="positive", default=None, kw_only=True
    )
    gap: Value | None = quantity(
        "m",
        "position at which half of the inductance is left",
        symbol="a",
        range="positive",
        default=None,
        kw_only=True,
    )
    inductance_law: str | None = field(
        default=None, kw_only=True, metadata=said("inductance in H as an expression of the position x")
    )
    position: Value = quantity("m", "position at the start, where no joint or line gives it", default=0.0, kw_only=True)
    initial_current: Value | None = quantity("A", "current at the start, 0 if not given", default=None, kw_only=True)

    def __post_init__(self) -> None:
        given = [name for name in ("inductance", "gap", "inductance_law") if getattr(self, name) is not None]
        if given not in (["inductance", "gap"], ["inductance_law"]):
            raise ModelError(
                f"{' and '.join(given)} given together" if given else "no inductance is given",
                where=self.name,
                expected="inductance and gap, or inductance_law: an expression of x such as '0.1/(1 + x/1e-3)'",
            )
        if isinstance(self.inductance_law, str) and self.formula().depends_on_time:
            raise ModelError(
                f"the inductance '{self.inductance_law}' depends on time",
                where=f"{self.name}.inductance_law",
                expected="an expression of x and parameters",
            )
        super().__post_init__()

    def formula(self) -> Expression:
        """The expression of the inductance."""
        try:
            return Expression(self.inductance_law or "")
        except ExpressionError as reason:
            where = f"{self.name}.inductance_law"
            raise ExpressionError(reason.found, where=where, expected=reason.expected, remedy=reason.remedy) from None

    def entries(self) -> dict[str, tuple[Quantity, Any]]:
        names = self.formula().names - {"x"} if isinstance(self.inductance_law, str) else frozenset()
        return super().entries() | {f"inductance_law.{name}": (_CONSTANT, name) for name in sorted(names)}

    def gather(self, values: Mapping[str, Any]) -> dict[str, Any]:
        mark = "inductance_law."
        names = {name.removeprefix(mark): value for name, value in values.items() if name.startswith(mark)}
        return super().gather(values) | {"names": names}

    def position_start(self, values: Mapping[str, float]) -> tuple[float, ...]:
        return (values.get("position", 0.0),)

    def _inductance(self, v: Any, at: Mapping[str, Any]) -> tuple[Any, Any]:
        """L and dL/dx at the plunger's position."""
        x = at["plunger"].position
        if self.inductance_law is None:
            value = v.inductance / (1 + x / v.gap)
            return value, -value / (v.gap + x)
        import casadi as ca  # a model is built without loading CasADi

        from cotree.maths.symbolic import SYMBOLIC

        s = ca.SX.sym("x")
        try:
            law = ca.SX(self.formula().evaluate({**v.names, "x": s}, SYMBOLIC))
        except (ArithmeticError, ValueError, TypeError, NotImplementedError) as reason:
            raise ExpressionError(
                f"the expression '{self.inductance_law}' has no value: {reason}",
                where=f"{self.name}.inductance_law",
                remedy="Change the expression or its parameters",
            ) from None
        value, slope = ca.substitute([law, ca.jacobian(law, s)], [s], [ca.SX(x)])
        return value, slope

    def core(self, v: Any, at: Mapping[str, Any]) -> dict[str, Any]:
        coil, plunger = at["electrical"], at["plunger"]
        inductance, slope = self._inductance(v, at)
        i, u = coil.through, plunger.across
        return {
            "electrical": coil.across - v.resistance * i - inductance * coil.d_through - slope * u * i,
            "plunger": plunger.through + slope * i**2 / 2 - v.damping * u,
        }

    def lost(self, v: Any, at: Mapping[str, Any]) -> Any:
        return v.resistance * at["electrical"].through ** 2 + v.damping * at["plunger"].across ** 2

    def kept(self, v: Any, at: Mapping[str, Any]) -> Any:
        return self._inductance(v, at)[0] * at["electrical"].through ** 2 / 2

    def initial_values(self, values: Mapping[str, float]) -> tuple[float | None, ...]:
        return (values.get("initial_current"), *super().initial_values(values)[1:])
