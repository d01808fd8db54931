"""The balance of any law: what flows in is stored or lost, at random points."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from cotree.model import Component, Role

NAMES = ("across", "through", "d_across", "d_through", "position")


def edges_of(component: Component) -> list[SimpleNamespace]:
    """Symbols for the variables of each port."""
    return [SimpleNamespace(**{name: ca.SX.sym(f"{name}{k}") for name in NAMES}) for k in range(len(component.ports))]


def values_of(component: Component, **held: float) -> SimpleNamespace:
    """The fields as numbers, with held values; fields that are not given are None."""
    numbers = component.gather({name: e.number({}) for name, e in component.expressions.items()})
    return SimpleNamespace(**numbers, **held)


def balance(component: Component, held: dict[str, float], sizes: dict[str, tuple[float, ...]], seed: int = 0) -> Any:
    """Power in, rate of the stored energy and loss at a random point that satisfies the law.

    ``sizes`` gives the largest value of each variable by port; storages give their conjugate, other ports their through
    variable from the law.
    """
    e, v = edges_of(component), values_of(component, **held)
    law = ca.vertcat(*(ca.SX(each) for each in component.law(v, *e)))
    flow = [port.role is not Role.THROUGH_STORAGE for port in component.ports]
    wanted = ca.vertcat(*(edge.through if f else edge.across for edge, f in zip(e, flow, strict=True)))
    solved = -ca.solve(ca.jacobian(law, wanted), ca.substitute(law, wanted, ca.DM.zeros(len(e), 1)))
    power = ca.SX(0)
    for port, edge in zip(component.ports, e, strict=True):
        power += edge.through if port.domain.through_is_power else port.domain.power(edge.across, edge.through)
    stored = ca.SX(component.stored_energy(v, *e))
    rate = ca.SX(0)
    for edge in e:
        for name, change in (("across", edge.d_across), ("through", edge.d_through), ("position", edge.across)):
            rate += ca.jacobian(stored, getattr(edge, name)) * change
    loss = component.loss(v, *e)
    every = ca.vertcat(*(getattr(edge, name) for edge in e for name in NAMES))
    random = np.random.default_rng(seed)
    point = [sizes[name][k] * random.uniform(-1, 1) for k in range(len(e)) for name in NAMES]
    parts = ca.vertcat(power, rate, power - rate if loss is None else ca.SX(loss))
    return np.array(ca.Function("parts", [every], [ca.substitute(parts, wanted, solved)])(point)).ravel()
