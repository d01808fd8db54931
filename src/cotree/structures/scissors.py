"""Scissors: pairs of rigid members that cross at a pivot, in a chain or in a ring."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from cotree.api import Model
from cotree.model import Signal, Value
from cotree.model.helpful import helpful
from cotree.structures.making import NONE, Array, between, body, named, node, one_of, positive, rods, whole
from cotree.terminal.nodal import Fixed, ForceCable, Moved, OnLine


@helpful
def scissor_chain(
    units: int = 4,
    *,
    length: float = 1.0,
    angle: float = 1.3,
    mass: Value = 1.0,
    tension: Signal = 10.0,
    motion: Signal | None = None,
) -> Model:
    """A planar chain of scissors along x: n pairs of straight bars, each pair with a pivot in the middle.

        U0     U1     U2                 rising_k   L(k-1) - P_k - U_k
          \\   /  \\   /                   falling_k  U(k-1) - P_k - L_k
           P1     P2    ...
          /   \\  /   \\                   length n l cos(angle), width l sin(angle)
        L0     L1     L2

    A bar through its pivot is one rigid body over three nodes in a line: two half bars would not be rigid there. It
    starts at rest with an ``angle`` to x, so a large angle is a folded chain. L0 is fixed and U0 slides along y, which
    leaves one degree of freedom; the n + 1 cables L_k-U_k under ``tension`` draw the chain out. With ``motion`` there
    are no cables: U0 moves along y by this expression of time in m, and no freedom is left. ``mass`` is that of a bar.
    """
    where = "scissor_chain"
    whole(where, "units", units, 1)
    positive(where, length=length)
    between(where, "angle", angle, 0.0, math.pi / 2, "the bars lie on each other at both ends")
    model = Model(where, planar=True, gravity=NONE, parameters={"mass": mass})
    step, width = length * math.cos(angle), length * math.sin(angle)
    places: dict[str, Array] = {}
    for k in range(units + 1):
        places[f"L{k}"] = np.array([k * step, 0.0, 0.0])
        places[f"U{k}"] = np.array([k * step, width, 0.0])
    for k in range(1, units + 1):
        places[f"P{k}"] = np.array([(k - 0.5) * step, width / 2, 0.0])
    for name, place in places.items():
        node(model, name, place)
    for k in range(1, units + 1):
        for kind, a, b in (("rising", f"L{k - 1}", f"U{k}"), ("falling", f"U{k - 1}", f"L{k}")):
            body(model, f"{kind}_{k}", (a, f"P{k}", b), "mass", rods([(places[a], places[b])]))
    model.add(Fixed("root", "L0"))
    if motion is not None:
        model.add(Moved("driver", "U0", displacement=(0.0, motion, None)))
        return model
    model.add(OnLine("slide", "U0", along=(0.0, 1.0, 0.0)))
    pull = named(model, "tension", tension)
    for k in range(units + 1):
        model.add(ForceCable(f"cable_{k}", (f"L{k}", f"U{k}"), tension=pull))
    return model


@helpful
def scissor_ring(
    units: int = 8,
    *,
    arm: float = 0.5,
    opening: float = 0.9,
    mass: Value = 1.0,
    tension: Signal = 10.0,
    drive: Literal["deploy", "fold"] = "deploy",
) -> Model:
    """A planar ring of n scissors with angulated members, which opens and closes radially (Hoberman's linkage).

    A member has two equal arms from its kink, where it is pivoted to its mirror image:

        outward_k  I_k - P_k - O_(k+1)     from the inner node of a ray to the outer node of the next ray
        inward_k   O_k - P_k - I_(k+1)     rays every 2 pi / n

    Its ends stay on the two rays through all of the motion if and only if the angle at the kink is pi - 2 pi / n; the
    bars of a straight scissor (pi) could not move in a ring at all. With the ``opening`` g, in (0, pi/2 - pi/n), the
    pivots are at the radius a cos(g) / sin(pi/n), the outer nodes at a cos(g - pi/n) / sin(pi/n) and the inner ones at
    a cos(g + pi/n) / sin(pi/n): g = 0 is the ring at its widest, at the upper end the inner nodes meet.

    It starts at rest. I_1 and O_1 slide on their ray, and so does one inner node about a quarter round, which leaves
    one degree of freedom (four of the equations that keep the members rigid are redundant in a closed ring). To deploy,
    cables I_k-O_k under ``tension`` shorten; to fold, one cable around the inner nodes does. ``mass`` is that of a
    member.
    """
    where = "scissor_ring"
    whole(where, "units", units, 4)
    positive(where, arm=arm)
    half = math.pi / units
    between(where, "opening", opening, 0.0, math.pi / 2 - half, "the ring is widest, and its inner nodes meet")
    one_of(where, "drive", drive, ("deploy", "fold"))
    model = Model(where, planar=True, gravity=NONE, parameters={"mass": mass})
    scale = arm / math.sin(half)

    def ray(k: float) -> Array:
        return np.array([math.cos(2 * half * (k - 1)), math.sin(2 * half * (k - 1)), 0.0])

    places: dict[str, Array] = {}
    for k in range(1, units + 1):
        places[f"I{k}"] = scale * math.cos(opening + half) * ray(k)
        places[f"O{k}"] = scale * math.cos(opening - half) * ray(k)
        places[f"P{k}"] = scale * math.cos(opening) * ray(k + 0.5)
    for name, place in places.items():
        node(model, name, place)
    for k in range(1, units + 1):
        after, pivot = k % units + 1, f"P{k}"
        for kind, a, b in (("outward", f"I{k}", f"O{after}"), ("inward", f"O{k}", f"I{after}")):
            arms = [(places[pivot], places[a]), (places[pivot], places[b])]
            body(model, f"{kind}_{k}", (a, pivot, b), "mass", rods(arms))
    quarter = 1 + round(units / 4)
    for name, k in (("I1", 1), ("O1", 1), (f"I{quarter}", quarter)):
        x, y, _ = (float(each) for each in ray(k))
        model.add(OnLine(f"ray_{name}", name, along=(x, y, 0.0)))
    pull = named(model, "tension", tension)
    if drive == "deploy":
        for k in range(1, units + 1):
            model.add(ForceCable(f"cable_{k}", (f"I{k}", f"O{k}"), tension=pull))
    else:
        round_trip = (*(f"I{k}" for k in range(1, units + 1)), "I1")
        model.add(ForceCable("cable", round_trip, tension=pull))
    return model
