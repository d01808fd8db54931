"""Random relative motions of two frames, and the values of a component without a model around it."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from cotree.maths.rotation import skew
from cotree.maths.symbolic import SYMBOLIC
from cotree.model import Component
from cotree.terminal.mechanics import Element, Motion

T = ca.SX.sym("t")
"""Time in values of signals."""


def fields(component: Component, names: Mapping[str, Any] | None = None) -> SimpleNamespace:
    """The fields as a law sees them; ``names`` gives parameters and measured quantities."""
    known = {"t": T, **(names or {})}
    values = {name: ca.SX(e.evaluate(known, SYMBOLIC)) for name, e in component.expressions.items()}
    return SimpleNamespace(**component.gather(values))


def numbers(expression: Any) -> np.ndarray:
    """A constant expression as numbers."""
    return np.array(ca.evalf(ca.SX(expression)), dtype=float)


def number(expression: Any) -> float:
    """A constant scalar expression as a number."""
    return float(ca.evalf(ca.SX(expression)))


def run(model: Any, times: Any, *, rtol: float = 1e-10, integrator: str = "rk8") -> Any:
    """A simulation with results at these times."""
    return model.simulate(t_end=float(times[-1]), times=times, rtol=rtol, integrator=integrator)


class Moving:
    """A motion of b seen from a through a random place, with its time s along the motion as a symbol."""

    def __init__(self, seed: int, *, angle: float | None = None, scale: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        self.d, self.d_dot, self.omega, turn = scale * rng.normal(size=(4, 3))
        if angle is not None:
            turn *= angle / np.linalg.norm(turn)
        self.turn = turn
        self.C = Rotation.from_rotvec(turn).as_matrix()

    @property
    def motion(self) -> Motion:
        """As a law sees it."""
        return Motion(*(ca.SX(part) for part in (self.d, self.C, self.d_dot, self.omega)))

    def rate(self, function: Any) -> float:
        """The time derivative of a function of (d, C) along the motion, by exact differentiation."""
        s = ca.SX.sym("s")
        d = ca.SX(self.d) + s * ca.SX(self.d_dot)
        C = ca.mtimes(ca.SX.eye(3) + s * skew(ca.SX(self.omega)), ca.SX(self.C))
        slope = ca.jacobian(ca.SX(function(d, C)), s)
        return float(ca.Function("rate", [s], [slope])(0.0))

    def power(self, element: Element, v: Any) -> float:
        """What an element brings into both bodies."""
        wrench = element.wrench(v, self.motion, SimpleNamespace(t=T))
        return float(self.d_dot @ numbers(wrench.force).ravel() + self.omega @ numbers(wrench.torque).ravel())

    def potential_rate(self, element: Element, v: Any) -> float:
        """How the stored energy grows."""
        still = ca.SX.zeros(3)
        return self.rate(lambda d, C: element.potential(v, Motion(d, C, still, still)))
