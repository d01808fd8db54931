"""Masts with triangular frames: folding, with hinged longerons and latches, or coilable, with twisting bays."""

from __future__ import annotations

import math
from typing import Literal

from cotree.api import Model
from cotree.model import Signal, Value
from cotree.model.helpful import helpful
from cotree.structures.making import NONE, bar, between, named, node, one_of, positive, times, whole
from cotree.terminal.nodal import Fixed, ForceCable, Gear, Latch, OnPlane, Spring

WHERE = "triangular_mast"
CORNERS = "abc"


@helpful
def triangular_mast(
    bays: int = 3,
    *,
    kind: Literal["folding", "coilable"] = "folding",
    radius: float = 0.5,
    longeron: float = 1.2,
    fold: float | None = None,
    density: Value = 1.0,
    tension: Signal = 20.0,
    synchronised: bool = True,
    latches: bool = True,
    latch_angle: float = 3.1,
    open_twist: float = 0.3,
    stiffness: Value = 50.0,
    damping: Value = 0.0,
) -> Model:
    """A mast along z of triangular frames F_k, k = 0..bays, whose corners a, b, c are ``radius`` from the axis.

    Folding. Every longeron is two bars with a hinge in the middle, which stands outwards while the mast is folded:

            F1a              bars F0a-M1a and M1a-F1a have half the length of a longeron and are turned by the angle
           /                 ``fold`` (1.2 by default) out of the axis, so a bay is longeron * cos(fold) high
        M1a       |          the cable M1a-M1b-M1c-M1a of every bay pulls the hinges in: the mast goes up
           \\      | axis     a latch holds a longeron at the ``latch_angle`` of its hinge, just short of straight (pi)
            F0a

    Corners and hinges move in the three upright planes through the axis. Gears on the battens let the three longerons
    of a bay fold alike (the angles between half longeron and batten are equal at both ends of a batten), and with
    ``synchronised`` gears at the corners a let all bays fold alike: one degree of freedom, else one for each bay. There
    is one latch in each bay (or in the first where all are synchronised), since the gears hold the other longerons.

    Coilable. Longerons are straight bars from corner to corner of the frames, and each bay is twisted against the one
    below by the angle ``fold`` (1.4 by default), which brings it down to the height sqrt(longeron^2 - 4 radius^2
    sin^2(twist / 2)). Springs on the three diagonals F_(k-1)b-F_k a, ... are free of tension at ``open_twist``; coiled,
    they are pressed together and turn the mast up. There a latch closes on each diagonal, and the bay is a rigid truss.
    Three degrees of freedom for each bay before: twist and two tilts.

    Without ``latches`` it swings on. The lowest frame is fixed, there is no gravity, and the mast starts at rest. Bars
    have ``density`` in kg/m. The tension is for the folding mast, stiffness and damping (of springs) for the coilable.
    """
    whole(WHERE, "bays", bays, 1)
    one_of(WHERE, "kind", kind, ("folding", "coilable"))
    positive(WHERE, radius=radius, longeron=longeron)
    if kind == "folding":
        angle = 1.2 if fold is None else fold
        closing = latch_angle if latches else None
        return _folding(bays, radius, longeron, angle, density, tension, synchronised, closing)
    twist = 1.4 if fold is None else fold
    return _coilable(bays, radius, longeron, twist, density, open_twist, stiffness, damping, latches)


def _corner(model: Model, name: str, radius: float, angle: float, height: float) -> str:
    return node(model, name, (radius * math.cos(angle), radius * math.sin(angle), height))


def _frames(model: Model, bays: int, radius: float, rise: float, twist: float) -> None:
    """The corners of all frames, the battens of the frames that move, and the supports of the lowest."""
    batten = times("density", math.sqrt(3) * radius)
    for k in range(bays + 1):
        for j, c in enumerate(CORNERS):
            _corner(model, f"F{k}{c}", radius, 2 * math.pi * j / 3 + k * twist, k * rise)
        for c, d in ("ab", "bc", "ca") if k else ():
            bar(model, f"batten_{k}{c}", f"F{k}{c}", f"F{k}{d}", batten)
    for c in CORNERS:
        model.add(Fixed(f"root_{c}", f"F0{c}"))


def _folding(
    bays: int,
    radius: float,
    longeron: float,
    fold: float,
    density: Value,
    tension: Signal,
    synchronised: bool,
    latch: float | None,
) -> Model:
    between(WHERE, "fold", fold, 0.0, math.pi / 2, "the longerons are straight, which is singular, or folded")
    if latch is not None:
        why = "it closes before the hinge is straight, and after the start"
        between(WHERE, "latch_angle", latch, math.pi - 2 * fold, math.pi, why)
    model = Model("folding_mast", gravity=NONE, parameters={"density": density})
    half = longeron / 2
    rise, out = longeron * math.cos(fold), radius + half * math.sin(fold)
    _frames(model, bays, radius, rise, 0.0)
    pull, mass = named(model, "tension", tension), times("density", half)
    for k in range(1, bays + 1):
        for j, c in enumerate(CORNERS):
            angle = 2 * math.pi * j / 3
            across = (-math.sin(angle), math.cos(angle), 0.0)
            low, hinge, top = f"F{k - 1}{c}", f"M{k}{c}", f"F{k}{c}"
            _corner(model, hinge, out, angle, (k - 0.5) * rise)
            bar(model, f"low_{k}{c}", low, hinge, mass)
            bar(model, f"top_{k}{c}", hinge, top, mass)
            model.add(OnPlane(f"plane_{hinge}", hinge, normal=across))
            model.add(OnPlane(f"plane_{top}", top, normal=across))
        for c, d in ("ab", "bc"):
            first = (f"M{k}{c}", f"F{k}{c}", f"F{k}{d}")
            second = (f"M{k}{d}", f"F{k}{d}", f"F{k}{c}")
            model.add(Gear(f"gear_{k}{c}{d}", first, second))
        if synchronised and k > 1:
            below = (f"M{k - 1}a", f"F{k - 1}a", f"F{k - 1}b")
            model.add(Gear(f"gear_{k - 1}{k}", below, (f"M{k}a", f"F{k - 1}a", f"F{k - 1}b")))
        model.add(ForceCable(f"cable_{k}", tuple(f"M{k}{c}" for c in "abca"), tension=pull))
        if latch is not None and (k == 1 or not synchronised):
            model.add(Latch(f"latch_{k}", (f"F{k - 1}a", f"M{k}a", f"F{k}a"), at=latch))
    return model


def _coilable(
    bays: int,
    radius: float,
    longeron: float,
    twist: float,
    density: Value,
    open_twist: float,
    stiffness: Value,
    damping: Value,
    latches: bool,
) -> Model:
    flat = 2 * math.asin(min(1.0, longeron / (2 * radius)))
    between(WHERE, "fold", twist, 0.0, min(flat, 2 * math.pi / 3), "the bay is straight, or flat")
    between(WHERE, "open_twist", open_twist, 0.0, twist, "the springs press while the mast is coiled")
    model = Model("coilable_mast", gravity=NONE, parameters={"density": density})
    stiff, loss = named(model, "stiffness", stiffness), named(model, "damping", damping)
    _frames(model, bays, radius, math.sqrt(longeron**2 - (2 * radius * math.sin(twist / 2)) ** 2), twist)
    free = math.sqrt(
        longeron**2
        - (2 * radius * math.sin(open_twist / 2)) ** 2
        + (2 * radius * math.sin(math.pi / 3 - open_twist / 2)) ** 2
    )
    mass = times("density", longeron)
    for k in range(1, bays + 1):
        for c, before in ("ac", "ba", "cb"):
            bar(model, f"longeron_{k}{c}", f"F{k - 1}{c}", f"F{k}{c}", mass)
            ends = (f"F{k - 1}{c}", f"F{k}{before}")
            model.add(Spring(f"diagonal_{k}{c}", *ends, stiffness=stiff, length=free, damping=loss))
            if latches:
                model.add(Latch(f"latch_{k}{c}", ends, at=free))
    return model
