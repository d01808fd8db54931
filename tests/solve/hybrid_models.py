"""Small systems with switches and samples, written by hand as formulations would hand them to a solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from cotree.formulation.system import Energy, Output, Sample, Switch, SystemEquations, Variables

T = ca.SX.sym("t")


def system(
    states: dict[str, float],
    held: dict[str, float],
    rates: Callable[[Any, Any], Sequence[Any]],
    *,
    switches: Callable[[Any, Any], Sequence[Switch]] = lambda x, h: (),
    samples: Callable[[Any, Any], Sequence[Sample]] = lambda x, h: (),
    stored: Callable[[Any, Any], Any] = lambda x, h: 0,
    dissipation: Callable[[Any, Any], Any] = lambda x, h: 0,
    supply: Callable[[Any, Any], Any] = lambda x, h: 0,
) -> SystemEquations:
    """A system x' = rates(x, held) with everything given as functions of its symbols."""
    u = Variables.make(list(states), [""] * len(states), list(states.values()))
    h = Variables.make(list(held), [""] * len(held), list(held.values()))
    x, k = ca.vertsplit(u.symbols), ca.vertsplit(h.symbols) if held else []
    energy = Energy(*(ca.SX(each(x, k)) for each in (stored, dissipation, supply)))
    return SystemEquations(
        name="toy",
        t=T,
        p=Variables.make((), ()),
        u=u,
        u_dot=ca.SX.sym("ud", len(states)),
        rates=ca.vertcat(*rates(x, k)),
        energy=energy,
        outputs={name: Output(value, "") for name, value in zip(states, x, strict=True)},
        mode_symbols=h.symbols,
        held=h,
        held_start=ca.SX(np.asarray(list(held.values()))) if held else ca.SX(0, 1),
        switches=tuple(switches(x, k)),
        samples=tuple(samples(x, k)),
    )


def bouncing(restitution: float = 0.8, g: float = 9.81) -> SystemEquations:
    """A mass of 1 kg that falls from 1 m; the guard is not changed by its own switch."""
    return system(
        {"y": 1.0, "v": 0.0},
        {},
        lambda x, h: (x[1], ca.SX(-g)),
        switches=lambda x, h: (Switch("floor.hits", -x[0], {}, {1: -restitution * x[1]}),),
        stored=lambda x, h: x[1] ** 2 / 2 + g * x[0],
    )


def relay(width: float = 0.1) -> SystemEquations:
    """x' = -x + k with k = +-1, switched where x passes +-width."""
    return system(
        {"x": 0.0},
        {"k": 1.0},
        lambda x, h: (-x[0] + h[0],),
        switches=lambda x, h: (
            Switch("relay.off", ca.if_else(h[0] > 0, x[0] - width, -1), {0: ca.SX(-1)}),
            Switch("relay.on", ca.if_else(h[0] < 0, -width - x[0], -1), {0: ca.SX(1)}),
        ),
    )
