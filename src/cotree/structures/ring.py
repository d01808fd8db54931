"""Ring trusses of the AstroMesh type (Xiang 2015, section 4.3)."""

from __future__ import annotations

import math

from cotree.api import Model
from cotree.errors import ModelError
from cotree.model import Signal, Value
from cotree.model.helpful import helpful
from cotree.structures.making import NONE, bar, named, node, positive, times, whole
from cotree.terminal.nodal import ForceCable, KeepDirection, OnPlane

WHERE = "ring_truss"


@helpful
def ring_truss(
    sides: int = 10,
    *,
    edge: float = 1.2,
    height: float = 1.6,
    density: Value = 9.8,
    tension: Signal = 2.0,
    continuous: bool = False,
) -> Model:
    """A ring of rectangular bays that folds to a bundle: upper and lower polygon, a batten at every corner.

        U1 ---- U2 ---- U3          battens L1-U1, L3-U3, ...: keep their height and stay upright
         | \\     |     / |          battens L2-U2, L4-U4, ...: rise, and end beside the others
         |   \\   |   /   |
        L1 ---- L2 ---- L3          cables U1-L2, L2-U3, U3-L4, ...: the diagonals that shorten

    A cable under ``tension`` pulls along the shortening diagonal of every bay; with ``continuous`` it is one cable over
    all of them. There is no gravity. Bars have ``density`` in kg/m and are uniform (consistent mass).

    It starts fully open at rest. The odd corners are held: the lower node on its plane, the batten upright. With n
    sides there are 6 n coordinates, 3 n bars and 3 n / 2 equations of supports, so 3 n / 2 degrees of freedom: one of
    them folds, with rise s, d^2 = edge^2 + height^2 - 2 height s, and radius sqrt(edge^2 - s^2) / (2 sin(pi/n)). Ten
    sides are folded after 8.9074 s.
    """
    whole(WHERE, "sides", sides, 4)
    if sides % 2:
        raise ModelError(
            f"the number is {sides}",
            where=f"{WHERE}.sides",
            expected="an even number, since every second batten rises",
            remedy=f"Give {sides + 1}",
        )
    positive(WHERE, edge=edge, height=height)
    model = Model(WHERE, gravity=NONE, parameters={"density": density})
    radius = edge / (2 * math.sin(math.pi / sides))
    for k in range(1, sides + 1):
        angle = 2 * math.pi * (k - 1) / sides
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        node(model, f"L{k}", (x, y, 0.0))
        node(model, f"U{k}", (x, y, height))
    upright, across = times("density", height), times("density", edge)
    for k in range(1, sides + 1):
        after = k % sides + 1
        bar(model, f"batten_{k}", f"L{k}", f"U{k}", upright)
        bar(model, f"lower_{k}", f"L{k}", f"L{after}", across)
        bar(model, f"upper_{k}", f"U{k}", f"U{after}", across)
    for k in range(1, sides + 1, 2):
        model.add(OnPlane(f"plane_{k}", f"L{k}", normal=(0.0, 0.0, 1.0)))
        model.add(KeepDirection(f"upright_{k}", f"L{k}", f"U{k}"))
    pull = named(model, "tension", tension)
    way = [f"{'U' if k % 2 else 'L'}{k}" for k in range(1, sides + 1)]
    way.append(way[0])
    if continuous:
        model.add(ForceCable("cable", tuple(way), tension=pull))
    else:
        for k in range(sides):
            model.add(ForceCable(f"cable_{k + 1}", (way[k], way[k + 1]), tension=pull))
    return model
