"""Linear blocks with states: integrator, transfer function, state space, and delay by Padé."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from cotree.errors import ModelError
from cotree.model import MISSING, Expression, Signal, Value, quantity
from cotree.model.form import said
from cotree.model.switching import StateOf, SwitchLaw
from cotree.terminal.control.base import COUNT, Block, constant, constants, matrix, source, sources, unit_field, whole
from cotree.terminal.control.limits import check_limits
from cotree.terminal.control.regions import NEVER
from cotree.terminal.control.units import Units, agreed, integrated

MOST_ORDER = 10
"""Largest order of a Padé delay: beyond it, the coefficients lose their digits."""
BEFORE = "constant input before the start, to which the block has settled, 0 if not given"


class Integrator(Block):
    """d(value)/dt = input, from ``initial`` on.

    With limits, value stays at ``lower`` or ``upper`` while the input drives it further, and leaves at once when the
    input turns.
    """

    kind = "control.integrator"
    input: Signal = source("rate of the value")
    initial: Value = constant("value at the start, 0 if not given", default=0.0)
    lower: Value | None = constant("least value", default=None)
    upper: Value | None = constant("greatest value", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lower is not None or self.upper is not None:
            object.__setattr__(self, "holding", ("stop",))

    def check(self, values: Mapping[str, float]) -> None:
        check_limits(self.name, values)
        initial = values["initial"]
        if not values.get("lower", initial) <= initial <= values.get("upper", initial):
            raise ModelError(f"the value is {initial:g}", where=f"{self.name}.initial", expected="lower to upper")

    def states(self) -> tuple[StateOf, ...]:
        return (StateOf("state"),)

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"],)

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        import casadi as ca

        return {"state": ca.if_else(v.stop == 0, v.input, 0.0) if self.holding else v.input}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return {"value": x.state}

    def output_unit(self, units: Units) -> Units:
        result = integrated(units.get("input"))
        return {"value": agreed(self, {**units, "input": result}, ("input", "initial", "lower", "upper"))}

    def switches(self, v: Any, *e: Any) -> Sequence[SwitchLaw]:
        """``stop`` is 1 at the upper limit, -1 at the lower one, and 0 between them."""
        import casadi as ca

        found = []
        for name, sign, limit in (("upper", 1.0, v.upper), ("lower", -1.0, v.lower)):
            if limit is None:
                continue
            reached = ca.if_else(v.stop == 0, sign * (e[0].state - limit), NEVER)
            left = ca.if_else(v.stop == sign, -sign * v.input, NEVER)
            found += [
                SwitchLaw(f"reaches {name}", reached, {"stop": sign}, {"state": limit}),
                SwitchLaw(f"leaves {name}", left, {"stop": 0.0}),
            ]
        return found


class TransferFunction(Block):
    """value = numerator(s)/denominator(s) * input, with coefficients from the highest power of s down.

    ``numerator: [2], denominator: [0.1, 1]`` is 2/(0.1 s + 1). Its states x1, x2, ... are z, z', ..., where z is the
    input divided by the denominator. It starts settled to the constant input ``initial``.
    """

    kind = "control.transfer_function"
    input: Signal = source("signal")
    numerator: Sequence[Value] = constants("coefficients of the numerator from the highest power of s down")
    denominator: Sequence[Value] = constants("coefficients of the denominator from the highest power of s down")
    initial: Value = constant(BEFORE, default=0.0)
    unit: str | None = unit_field()

    def __post_init__(self) -> None:
        super().__post_init__()
        order = len(self.denominator) - 1
        if len(self.numerator) - self._zeros() > order + 1:
            raise ModelError(
                f"the numerator has degree {len(self.numerator) - 1 - self._zeros()} and the denominator {order}",
                where=f"{self.name}.numerator",
                expected="a numerator of no higher degree than the denominator",
                remedy="Add a fast pole to the denominator: it filters what is differentiated",
            )
        if not _is_zero(self.expressions["initial"]) and _is_zero(self.expressions[f"denominator.{order + 1}"]):
            raise self._unsettled()

    def _unsettled(self) -> ModelError:
        return ModelError(
            "the block does not settle: its denominator has the root s = 0",
            where=f"{self.name}.initial",
            remedy="Leave initial out",
        )

    def _zeros(self) -> int:
        """How many zeros stand in front of the numerator."""
        zero = [_is_zero(self.expressions[f"numerator.{k}"]) for k in range(1, len(self.numerator))]
        return next((k for k, each in enumerate(zero) if not each), len(zero))

    def check(self, values: Mapping[str, float]) -> None:
        if values["denominator.1"] == 0.0:
            raise ModelError(
                "the value is 0", where=f"{self.name}.denominator.1", expected="a first coefficient that is not zero",
                remedy="Leave the highest power out",
            )  # fmt: skip
        if values["initial"] and values[f"denominator.{len(self.denominator)}"] == 0.0:
            raise self._unsettled()

    def states(self) -> tuple[StateOf, ...]:
        return tuple(StateOf(f"x{k}") for k in range(1, len(self.denominator)))

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        count = len(self.states())
        if not count or not values["initial"]:
            return (0.0,) * count
        return (values["initial"] / values[f"denominator.{count + 1}"], *(0.0,) * (count - 1))

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        below, z = v.denominator[::-1], _column(self, x)
        if not z:
            return {}
        highest = (v.input - sum(a * each for a, each in zip(below[:-1], z, strict=True))) / below[-1]
        return {state.name: rate for state, rate in zip(self.states(), [*z[1:], highest], strict=True)}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        above, below, z = v.numerator[self._zeros() :][::-1], v.denominator[::-1], _column(self, x)
        above = (*above, *(0.0,) * (len(below) - len(above)))
        direct = above[-1] / below[-1]
        return {"value": direct * v.input + sum((above[k] - direct * below[k]) * z[k] for k in range(len(z)))}


class StateSpace(Block):
    """x' = A x + B u and y = C x + D u, with the inputs u, from x = ``initial`` on.

    A single output is called value, several are value_1, value_2, ...; ``d`` is zero where it is not given.
    """

    kind = "control.state_space"
    inputs: Sequence[Signal] = sources("signals u")
    a: Sequence[Sequence[Value]] = matrix("rates by states")
    b: Sequence[Sequence[Value]] = matrix("rates by inputs")
    c: Sequence[Sequence[Value]] = matrix("outputs by states")
    d: Sequence[Sequence[Value]] | None = matrix("outputs by inputs", default=None)
    initial: Sequence[Value] | None = constants("states at the start, 0 if not given", default=None)
    unit: str | None = unit_field("its outputs")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sizes(self)

    def states(self) -> tuple[StateOf, ...]:
        return tuple(StateOf(f"x{k}") for k in range(1, len(self.a) + 1))

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(values.get(f"initial.{k}", 0.0) for k in range(1, len(self.a) + 1))

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        rates = applied(v.a, _column(self, x), v.b, v.inputs)
        return {state.name: rate for state, rate in zip(self.states(), rates, strict=True)}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        return named_outputs(applied(v.c, _column(self, x), v.d, v.inputs))

    def output_unit(self, units: Units) -> Units:
        return dict.fromkeys(output_names(len(self.c)), self.unit)


class Delay(Block):
    """value(t) = input(t - time), by the Padé approximation of the given ``order``.

    It lets all frequencies pass with their amplitude, and delays those rightly whose angle w time is below the order. A
    sudden input shows at once with a small ripple; `control.sampled_delay` has none. Before the start the input was
    ``initial``.
    """

    kind = "control.delay"
    input: Signal = source("signal")
    time: Value = quantity("s", "time by which the signal is late", range="positive", kw_only=True)
    order: int = field(
        default=MISSING, kw_only=True, metadata=said("order of the approximation", {**COUNT, "maximum": MOST_ORDER})
    )
    initial: Value = constant("constant input before the start, 0 if not given", default=0.0)

    def __post_init__(self) -> None:
        whole(self.order, 1, MOST_ORDER, f"{self.name}.order")
        super().__post_init__()

    def states(self) -> tuple[StateOf, ...]:
        return tuple(StateOf(f"x{k}") for k in range(1, self.order + 1))

    def state_start(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        return (values["initial"], *(0.0,) * (self.order - 1))

    def rates(self, v: Any, x: Any) -> Mapping[str, Any]:
        """The states are the terms c_k (s time)^k z of the denominator: they sum up to the input, with the highest."""
        n, terms = self.order, _column(self, x)
        terms.append(v.input - sum(terms))
        ratio = [(2 * n - k) * (k + 1) / (n - k) for k in range(n)]  # c_k / c_(k+1)
        return {f"x{k + 1}": ratio[k] * terms[k + 1] / v.time for k in range(n)}

    def outputs(self, v: Any, x: Any) -> Mapping[str, Any]:
        terms = _column(self, x)
        terms.append(v.input - sum(terms))
        return {"value": sum((-1) ** k * term for k, term in enumerate(terms))}

    def output_unit(self, units: Units) -> Units:
        return {"value": agreed(self, units, ("input", "initial"))}


def _is_zero(expression: Expression) -> bool:
    return not expression.names and expression.number({}) == 0.0


def _column(block: Block, x: Any) -> list[Any]:
    return [getattr(x, state.name) for state in block.states()]


def check_sizes(block: Any) -> None:
    """Refuse matrices of a state space that do not fit each other or the inputs."""
    n, m = len(block.a), len(block.inputs)
    wanted = {"a": (n, n), "b": (n, m), "c": (len(block.c), n), "d": (len(block.c), m)}
    for name, size in wanted.items():
        rows = getattr(block, name)
        if rows is not None and (found := (len(rows), len(rows[0]))) != size:
            raise ModelError(
                f"the matrix has {found[0]} x {found[1]} entries", where=f"{block.name}.{name}",
                expected=f"{size[0]} x {size[1]}, for {n} states, {m} inputs and {len(block.c)} outputs",
            )  # fmt: skip
    if block.initial is not None and len(block.initial) != n:
        raise ModelError(f"{len(block.initial)} values", where=f"{block.name}.initial", expected=f"{n}, one per state")


def applied(by_state: Any, states: Sequence[Any], by_input: Any, inputs: Sequence[Any]) -> list[Any]:
    """Two matrices times two columns, added; the second matrix may be left out."""
    result = [sum(a * each for a, each in zip(row, states, strict=True)) for row in by_state]
    if by_input is None:
        return result
    driven = (sum(b * each for b, each in zip(row, inputs, strict=True)) for row in by_input)
    return [first + second for first, second in zip(result, driven, strict=True)]


def output_names(count: int) -> list[str]:
    """``value``, or ``value_1``, ``value_2``, ..."""
    return ["value"] if count == 1 else [f"value_{k}" for k in range(1, count + 1)]


def named_outputs(values: Sequence[Any]) -> dict[str, Any]:
    """Outputs by name."""
    return dict(zip(output_names(len(values)), values, strict=True))
