"""Textbook bond graphs with what is known about them: causality, order, loops, and state matrices written by hand.

The forms are those of Karnopp, Margolis & Rosenberg, "System Dynamics", and Borutzky, "Bond Graph Methodology"; the
numbers are our own. States are momenta of I and displacements of C, in the order of ``integral``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cotree.bond as bond
from cotree import Model


@dataclass(frozen=True)
class Textbook:
    """A graph and what a textbook says of it."""

    make: Callable[[], Model]
    integral: tuple[str, ...]
    derivative: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Storages in derivative causality with the elements that force them."""
    algebraic: int = 0
    """Number of algebraic loops."""
    derivative_loops: int = 0
    matrix: list[list[float]] | None = None
    """State matrix A of x' = A x + B s."""
    inputs: list[list[float]] | None = None
    """B, a column for each source in graph order; only where no storage is tied to a source."""
    strokes: dict[str, str] = field(default_factory=dict)
    """The end with the stroke of some or all bonds."""
    solvable: bool = True

    @property
    def order(self) -> int:
        return len(self.integral)


def build(name: str, parts: list[Any], *bonds: str) -> Model:
    """A model of parts, and of bonds written as ``b1: V -> i``."""
    model = Model(name)
    for part in parts:
        model.add(part)
    for text in bonds:
        own, ends = text.split(": ")
        tail, head = ends.split(" -> ")
        model.add(bond.Bond(own, tail, head))
    return model


def series_rlc() -> Model:
    """Series circuit (Karnopp): one 1-junction, L sets its current. Order 2, no loops."""
    return build(
        "series RLC",
        [bond.Se("V", effort="10*sin(3*t)"), bond.Junction1("i"), bond.R("R", resistance=2.0),
         bond.I("L", inertia=0.5), bond.C("C", compliance=0.1)],
        "b1: V -> i", "b2: i -> R", "b3: i -> L", "b4: i -> C",
    )  # fmt: skip


def base_excitation() -> Model:
    """Mass on a spring and damper over a moving base (Karnopp): the base sets a velocity. Order 2, no loops."""
    return build(
        "base excitation",
        [bond.Sf("road", flow="0.2*cos(5*t)"), bond.Junction0("force"), bond.Junction1("stretch"),
         bond.C("k", stiffness=40.0), bond.R("d", resistance=3.0), bond.I("m", inertia=2.0)],
        "b1: road -> force", "b2: force -> stretch", "b3: stretch -> k", "b4: stretch -> d", "b5: force -> m",
    )  # fmt: skip


def dc_motor() -> Model:
    """Armature circuit, gyrator and rotor with a load torque (Karnopp, Borutzky). Order 2, no loops."""
    return build(
        "DC motor",
        [bond.Se("V", effort=12.0), bond.Junction1("i"), bond.R("Ra", resistance=1.0), bond.I("La", inertia=0.02),
         bond.GY("K", modulus=0.3), bond.Junction1("w"), bond.I("J", inertia=0.01), bond.R("B", resistance=0.004),
         bond.Se("load", effort="-0.5*t")],
        "b1: V -> i", "b2: i -> Ra", "b3: i -> La", "b4: i -> K", "b5: K -> w", "b6: w -> J", "b7: w -> B",
        "b8: load -> w",
    )  # fmt: skip


def geared_inertias() -> Model:
    """Two rotors joined by a rigid gear (Karnopp, derivative causality): J2 depends on J1. Order 1, one such loop."""
    return build(
        "geared inertias",
        [bond.Se("T", effort=1.0), bond.Junction1("w1"), bond.I("J1", inertia=0.2), bond.TF("gear", modulus=3.0),
         bond.Junction1("w2"), bond.I("J2", inertia=0.05), bond.R("B", resistance=0.1)],
        "b1: T -> w1", "b2: w1 -> J1", "b3: w1 -> gear", "b4: gear -> w2", "b5: w2 -> J2", "b6: w2 -> B",
    )  # fmt: skip


def parallel_capacitors() -> Model:
    """Two capacitors at one 0-junction (Borutzky): they share a voltage. Order 1, one loop of the derivative kind."""
    return build(
        "parallel capacitors",
        [bond.Se("V", effort=5.0), bond.Junction1("i"), bond.R("R", resistance=100.0), bond.Junction0("v"),
         bond.C("C1", compliance=1e-3), bond.C("C2", compliance=3e-3)],
        "b1: V -> i", "b2: i -> R", "b3: i -> v", "b4: v -> C1", "b5: v -> C2",
    )  # fmt: skip


def driven_mass() -> Model:
    """A velocity source on a mass (Karnopp): the mass cannot choose its momentum. Order 0, no loops."""
    return build(
        "driven mass",
        [bond.Sf("v", flow="sin(2*t)"), bond.Junction1("j"), bond.I("m", inertia=4.0), bond.R("d", resistance=1.5)],
        "b1: v -> j", "b2: j -> m", "b3: j -> d",
    )  # fmt: skip


def two_flow_sources() -> Model:
    """Two flow sources at one 1-junction: a causal conflict that no causality mends."""
    return build(
        "two flow sources",
        [bond.Sf("A", flow=1.0), bond.Junction1("j"), bond.I("m", inertia=4.0), bond.Sf("B", flow=2.0)],
        "b1: A -> j", "b2: j -> m", "b3: B -> j",
    )  # fmt: skip


def wheatstone_bridge() -> Model:
    """Five resistors in a bridge (Borutzky): all tied in one algebraic loop. Order 0."""
    return build(
        "Wheatstone bridge",
        [bond.Se("V", effort=10.0), bond.Junction0("a"), bond.Junction1("i1"), bond.Junction1("i3"),
         bond.Junction0("b"), bond.Junction0("c"), bond.Junction1("i5"),
         bond.R("R1", resistance=1.0), bond.R("R2", resistance=2.0), bond.R("R3", resistance=3.0),
         bond.R("R4", resistance=4.0), bond.R("R5", resistance=5.0)],
        "b1: V -> a", "b2: a -> i1", "b3: i1 -> R1", "b4: i1 -> b", "b5: a -> i3", "b6: i3 -> R3", "b7: i3 -> c",
        "b8: b -> R2", "b9: c -> R4", "b10: b -> i5", "b11: i5 -> R5", "b12: i5 -> c",
    )  # fmt: skip


def resistive_divider() -> Model:
    """Two resistors before a coil (Karnopp, algebraic loop): R1 and R2 need each other. Order 1, one loop."""
    return build(
        "resistive divider",
        [bond.Se("V", effort=6.0), bond.Junction1("i1"), bond.R("R1", resistance=2.0), bond.Junction0("v"),
         bond.R("R2", resistance=4.0), bond.Junction1("i2"), bond.I("L", inertia=0.5), bond.R("R3", resistance=1.0)],
        "b1: V -> i1", "b2: i1 -> R1", "b3: i1 -> v", "b4: v -> R2", "b5: v -> i2", "b6: i2 -> L", "b7: i2 -> R3",
    )  # fmt: skip


def two_port_chain() -> Model:
    """TF, GY, TF in a row between two 1-junctions (Karnopp): flow turns into effort on the way. Order 2, no loops."""
    return build(
        "two-port chain",
        [bond.Se("V", effort=4.0), bond.Junction1("i"), bond.I("L", inertia=0.1), bond.R("R", resistance=0.7),
         bond.TF("T1", modulus=2.0), bond.GY("G", modulus=0.5), bond.TF("T2", modulus=0.25), bond.Junction1("w"),
         bond.I("J", inertia=0.3), bond.R("B", resistance=0.2)],
        "b1: V -> i", "b2: i -> L", "b3: i -> R", "b4: i -> T1", "b5: T1 -> G", "b6: G -> T2", "b7: T2 -> w",
        "b8: w -> J", "b9: w -> B",
    )  # fmt: skip


def tank_pair() -> Model:
    """Two tanks joined by a pipe, the second with an outlet (Karnopp, hydraulics). Order 2, no loops."""
    return build(
        "tank pair",
        [bond.Sf("pump", flow=0.5), bond.Junction0("p1"), bond.C("T1", compliance=2.0), bond.Junction1("pipe"),
         bond.R("R12", resistance=3.0), bond.Junction0("p2"), bond.C("T2", compliance=1.5),
         bond.R("out", resistance=4.0)],
        "b1: pump -> p1", "b2: p1 -> T1", "b3: p1 -> pipe", "b4: pipe -> R12", "b5: pipe -> p2", "b6: p2 -> T2",
        "b7: p2 -> out",
    )  # fmt: skip


def quarter_car() -> Model:
    """Road, tyre, wheel, suspension, body (Karnopp). Order 4, no loops; the weights are sources."""
    return build(
        "quarter car",
        [bond.Sf("road", flow="0.1*sin(9*t)"), bond.Junction0("tyre"), bond.C("kt", stiffness=160.0),
         bond.Junction1("wheel"), bond.I("mw", inertia=4.0), bond.Se("Gw", effort=-39.24), bond.Junction0("strut"),
         bond.Junction1("stroke"),
         bond.C("ks", stiffness=16.0), bond.R("ds", resistance=1.2), bond.Junction1("body"), bond.I("mb", inertia=30.0),
         bond.Se("Gb", effort=-294.3)],
        "b1: road -> tyre", "b2: tyre -> kt", "b3: tyre -> wheel", "b4: wheel -> mw", "b5: Gw -> wheel",
        "b6: wheel -> strut", "b7: strut -> stroke", "b8: stroke -> ks", "b9: stroke -> ds", "b10: strut -> body",
        "b11: body -> mb", "b12: Gb -> body",
    )  # fmt: skip


def capacitor_on_source() -> Model:
    """A capacitor right at a voltage source (Borutzky): derivative causality by the source. Order 0, no loops."""
    return build(
        "capacitor on a source",
        [bond.Se("V", effort="sin(t)"), bond.Junction0("v"), bond.C("C", compliance=0.1), bond.R("R", resistance=2.0)],
        "b1: V -> v", "b2: v -> C", "b3: v -> R",
    )  # fmt: skip


def seesaw() -> Model:
    """A lever with masses at two points and a spring at its tip (Borutzky, multiport TF): order 3, no loops.

    f2 = (1, 2) f1 adds two flows of a multibond, so that its port 1 cannot be settled from port 2 alone.
    """
    return build(
        "seesaw",
        [bond.Junction1("ends", width=2), bond.I("m", inertia=[1.0, 2.0]), bond.TF("lever", modulus=[[1.0, 2.0]]),
         bond.Junction1("tip"), bond.C("k", stiffness=5.0), bond.R("d", resistance=0.3)],
        "b1: ends -> m", "b2: ends -> lever", "b3: lever -> tip", "b4: tip -> k", "b5: tip -> d",
    )  # fmt: skip


# State matrices: each row is an effort (p') or flow (q') in terms of p/I and q/C, read off the graph by hand.
TEXTBOOK: dict[str, Textbook] = {
    "series_rlc": Textbook(
        series_rlc, ("L", "C"),
        matrix=[[-2 / 0.5, -1 / 0.1], [1 / 0.5, 0.0]], inputs=[[1.0], [0.0]],
        strokes={"b1": "head", "b2": "tail", "b3": "head", "b4": "tail"},
    ),
    "base_excitation": Textbook(
        base_excitation, ("k", "m"),
        matrix=[[0.0, -1 / 2], [40.0, -3 / 2]], inputs=[[1.0], [3.0]],
        strokes={"b1": "tail", "b2": "tail", "b3": "tail", "b4": "tail", "b5": "head"},
    ),
    "dc_motor": Textbook(
        dc_motor, ("La", "J"),
        matrix=[[-1 / 0.02, -0.3 / 0.01], [0.3 / 0.02, -0.004 / 0.01]], inputs=[[1.0, 0.0], [0.0, 1.0]],
        strokes={"b1": "head", "b2": "tail", "b3": "head", "b4": "tail", "b5": "head", "b6": "head", "b7": "tail"},
    ),
    "geared_inertias": Textbook(
        geared_inertias, ("J1",), {"J2": ("J1",)}, derivative_loops=1,
        matrix=[[-(3**2) * 0.1 / (0.2 + 3**2 * 0.05)]],
        strokes={"b1": "head", "b2": "head", "b3": "tail", "b4": "tail", "b5": "tail", "b6": "tail"},
    ),
    "parallel_capacitors": Textbook(
        parallel_capacitors, ("C1",), {"C2": ("C1",)}, derivative_loops=1,
        matrix=[[-1 / (100.0 * 4e-3)]],
        strokes={"b1": "head", "b2": "head", "b3": "tail", "b4": "tail", "b5": "head"},
    ),
    "driven_mass": Textbook(
        driven_mass, (), {"m": ("v",)}, matrix=[], strokes={"b1": "tail", "b2": "tail", "b3": "tail"},
    ),
    "two_flow_sources": Textbook(two_flow_sources, (), {"m": ("A",)}, solvable=False),
    "wheatstone_bridge": Textbook(wheatstone_bridge, (), algebraic=1, matrix=[]),
    "resistive_divider": Textbook(
        resistive_divider, ("L",), algebraic=1,
        # Thevenin: R1 R2/(R1 + R2) in series with R3
        matrix=[[-(2 * 4 / 6 + 1.0) / 0.5]], inputs=[[4 / 6]],
        strokes={"b1": "head", "b5": "head", "b6": "head", "b7": "tail"},
    ),
    "two_port_chain": Textbook(
        two_port_chain, ("L", "J"),
        # flows: f5 = 2 f4; e6 = 0.5 f5; e7 = e6/0.25, and back: f6 = f7/0.25, e5 = 0.5 f6, e4 = 2 e5
        matrix=[[-0.7 / 0.1, -4.0 / 0.3], [4.0 / 0.1, -0.2 / 0.3]], inputs=[[1.0], [0.0]],
        strokes={"b4": "tail", "b5": "tail", "b6": "head", "b7": "head", "b8": "head", "b9": "tail"},
    ),
    "tank_pair": Textbook(
        tank_pair, ("T1", "T2"),
        matrix=[[-1 / (3 * 2.0), 1 / (3 * 1.5)], [1 / (3 * 2.0), -1 / (3 * 1.5) - 1 / (4 * 1.5)]],
        inputs=[[1.0], [0.0]],
        strokes={"b1": "tail", "b2": "tail", "b3": "head", "b4": "head", "b5": "tail", "b6": "tail", "b7": "head"},
    ),
    "quarter_car": Textbook(
        quarter_car, ("kt", "mw", "ks", "mb"),
        matrix=[
            [0.0, -1 / 4, 0.0, 0.0],
            [160.0, -1.2 / 4, -16.0, 1.2 / 30],
            [0.0, 1 / 4, 0.0, -1 / 30],
            [0.0, 1.2 / 4, 16.0, -1.2 / 30],
        ],
        inputs=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    "capacitor_on_source": Textbook(capacitor_on_source, (), {"C": ("V",)}, matrix=[]),
    "seesaw": Textbook(
        seesaw, ("m.c1", "m.c2", "k"),
        matrix=[[-0.3, -0.6 / 2, -5.0], [-0.6, -1.2 / 2, -10.0], [1.0, 2.0 / 2, 0.0]],
    ),
}  # fmt: skip
