"""The impact in which latches and stops close: velocities jump, and impulses act along all that holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cotree.formulation.system import SystemEquations
from cotree.solve.mechanism import Mechanism

Array = NDArray[np.float64]

HUNG = 1e-9
"""Pull at which a stop opens, as a part of the largest force at the start of the phase."""
AT_REST = 1e-12
"""Rate of a gap, over the largest speed or 1, below which it does not open at the start."""


def impact(
    hit: SystemEquations, q: Array, u: Array, t: float, p: Array, m: Array, speeds: dict[str, float]
) -> tuple[Array, tuple[float, float], str]:
    """Velocities after an impact: closed gaps with given speeds, everything else that holds unchanged.

    Also the energy that is dissipated in it, and what moved supports supply; and the stop that would have to pull
    most, if there is one.
    """
    from scipy.sparse import bmat, csc_matrix, eye
    from scipy.sparse.linalg import splu

    mech = Mechanism.of(hit)
    n = len(u)
    mass, jac = (csc_matrix(each.sparse()) for each in mech.matrices(t, q, u, 0, 0, p, m))
    now, drift = (np.asarray(mech.constraints(t, q, speed, 0, 0, p, m)[1], dtype=float).ravel() for speed in (u, 0 * u))
    rows: dict[str, int] = {}
    for k, name in enumerate(hit.multipliers.names):
        owner, _, label = name.removeprefix("lambda ").rpartition(" (")
        rows |= {owner: k, f"{owner}.{label.rstrip(')')}": k}
    wanted = np.zeros(jac.shape[0])
    for name, speed in speeds.items():
        if name in rows:
            wanted[rows[name]] = speed
    soft = 1e-13 * float(abs(mass).max())
    exact = bmat([[mass, jac.T], [jac, None]], format="csc")
    factor = splu(bmat([[mass, jac.T], [jac, -soft * eye(jac.shape[0])]], format="csc"))
    right = np.concatenate([np.zeros(n), wanted - now])
    both = np.zeros(len(right))
    for _ in range(3):  # the later rounds take out what the damping left
        both = both + factor.solve(right - exact @ both)
    after = u + both[:n]
    supplied = float(both[n:] @ drift)  # the impulses are -both[n:]
    stops = [lock for lock in hit.locks if lock.side and lock.name in hit.closed and lock.name in rows]
    pulls = {lock.name: lock.side * float(both[n + rows[lock.name]]) for lock in stops}
    worst = max(pulls, key=lambda name: pulls[name], default="")
    fast = max(1.0, float(np.abs(u).max(initial=0.0)))
    least = max(AT_REST * fast * float(abs(mass).max()), HUNG * float(np.abs(both[n:]).max(initial=0.0)))
    lost = float(u @ (mass @ u) - after @ (mass @ after)) / 2 + supplied
    return after, (lost, supplied), worst if worst and pulls[worst] > least else ""
