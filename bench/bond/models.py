"""Mechanisms as a bond graph and in branch coordinates, with what of their motion is compared."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import cotree as ct

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True)
class Pair:
    """One mechanism, said twice; ``watched`` are results of both, in m."""

    title: str
    graph: Callable[[], ct.Model]
    branch: Callable[[], ct.Model]
    watched: tuple[str, ...]
    t_end: float
    points: int = 101

    @property
    def times(self) -> NDArray[np.float64]:
        """The output's grid."""
        return np.linspace(0.0, self.t_end, self.points)


def chain(links: int) -> ct.Model:
    """Rods of 0.5 m and 1 kg joined by revolutes, whose axes are y and z in turn; all angles start at 0.2 rad."""
    model = ct.Model(f"chain of {links}", gravity=(0, 0, -9.81))
    before = "ground"
    for k in range(links):
        frames = {"A": (-0.25, 0, 0), "B": (0.25, 0, 0)}
        model.add(ct.RigidBody(f"L{k}", mass=1, inertia=(0.01, 0.02, 0.02), frames=frames))
        axis = (0, 0, 1) if k % 2 else (0, 1, 0)
        model.add(ct.Revolute(f"J{k}", before, f"L{k}.A", axis=axis, angle=0.2, angle_rate=0.0))
        before = f"L{k}.B"
    return model


def pairs() -> dict[str, Pair]:
    """All comparisons; the first is the one that must be met."""
    made = runpy.run_path(str(EXAMPLES / "bond_example_3.py"))
    graph, branch = made["graph"], made["branch"]

    def slider_crank() -> ct.Model:
        """Without its motor, which would prescribe the whole motion: it starts at 20 rad/s."""
        data = ct.load(EXAMPLES / "slider_crank.yaml").to_data()
        del data["components"]["motor"]
        data["components"]["main"] |= {"angle": 0.3, "angle_rate": 20.0, "fixed": ["angle", "angle_rate"]}
        return ct.Model.from_mapping(data)

    return {
        "example3": Pair(
            "example 3, ideal joints", lambda: graph(3), lambda: branch(3), ("m1.position", "m2.position"), 5.0
        ),
        "example1": Pair("example 1, driven", lambda: graph(1), lambda: branch(1), ("m1.position",), 5.0),
        "slider_crank": Pair(
            "slider-crank, by `to_bond_graph()`", lambda: slider_crank().to_bond_graph(), slider_crank,
            ("piston.position", "rod.position"), 1.0,
        ),
        "chain10": Pair(
            "chain of ten, by `to_bond_graph()`", lambda: chain(10).to_bond_graph(), lambda: chain(10),
            ("L4.position", "L9.position"), 1.0,
        ),
    }  # fmt: skip


def soft() -> ct.Model:
    """Example 3 with C joints."""
    return ct.load(EXAMPLES / "bond_example_3_compliant.yaml")


def motor() -> ct.Model:
    """A DC motor on a slider-crank, one graph."""
    return ct.load(EXAMPLES / "bond_motor_slider_crank.yaml")
