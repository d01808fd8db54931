"""From the coordinates of one pair of trees to those of another."""

from __future__ import annotations

import casadi as ca

from cotree.formulation.branch.kinematics import BODY_ANGLE
from cotree.formulation.branch.mechanism import Mechanism
from cotree.maths.rotation import quaternion_of
from cotree.maths.symbolic import column
from cotree.terminal.mechanics import ORIENTATION


def transfer(source: Mechanism, target: Mechanism) -> ca.Function:
    """q and u of one pair of trees from those of another, as a function of (q, u, t, p, modes)."""
    values, kin, other = source.top.values, source.kin, target.kin
    counted = {f"{owner}.{c}" for owner, c in kin.windings}  # only near the angle: they remember its full turns
    known = {name: kin.q[k] for k, name in enumerate(kin.q_names) if name not in counted}
    known_u = {name: kin.u[k] for k, name in enumerate(kin.u_names)}
    q: dict[str, ca.SX] = {}
    u: dict[str, ca.SX] = {}
    for link in source.top.links.values():
        names = [*other.positions.get(link.name, {}), *(c for (owner, c) in other.windings if owner == link.name)]
        if not names:
            continue
        motion = kin.motion(link)
        if ORIENTATION in names:
            turn, w = quaternion_of(motion.C), motion.omega_b
            q |= {f"{link.name}.{ORIENTATION}.e{k}": turn[k] for k in range(4)}
            u |= {f"{link.name}.omega.{x}": w[k] for k, x in enumerate("xyz")}
        for c in names:
            if c != ORIENTATION:
                x, rate = kin.coordinate(link, c)
                name = c
                if link.name in other.aligned and c == "angle":
                    name, more = BODY_ANGLE, other.aligned[link.name]
                    x, rate = x + more[0], rate + more[1]
                q[f"{link.name}.{name}"], u[f"{link.name}.{name}_rate"] = x, rate
    new_q = column([known.get(name, q.get(name)) for name in other.q_names])
    new_u = column([known_u.get(name, u.get(name)) for name in other.u_names])
    inputs = [kin.q, kin.u, kin.t, values.p.symbols, values.mode_symbols]
    return ca.Function("transfer", inputs, [ca.densify(new_q), ca.densify(new_u)])
