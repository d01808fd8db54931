"""A5, A6 and A13: starts that were given and are moved, and bodies that have no start but their rest in bushings.

A start counts as moved from a few degrees, or a few per cent of the size, on: the error is scaled so that `FEW` of them
are the 1 % of a wrong result.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import cotree as ct
from cotree.bond.mechanics import Body, Ground, RevoluteJoint
from faults.cases.judge import FEW, WRONG, Array, Case, decade, direction, pick, triple
from faults.cases.scales import FourBar, some_four_bar


def moved(degrees: float, per_cent: float) -> float:
    """The error of a start that was moved."""
    return WRONG * max(abs(degrees), abs(per_cent)) / FEW


def apart(found: float, given: float) -> float:
    """The difference of two angles in degrees, whatever the number of turns."""
    return float(np.degrees(abs(np.angle(np.exp(1j * (found - given))))))


def turned_by(found: Array, given: Array) -> float:
    """The angle in degrees between two orientations by Euler parameters."""
    cosine = abs(float(found @ given)) / float(np.linalg.norm(found) * np.linalg.norm(given))
    return float(np.degrees(2 * np.arccos(min(1.0, cosine))))


def orientation(sol: Any, body: str) -> Array:
    """Euler parameters of a body at the start."""
    return np.array([sol[f"{body}.orientation.e{k}"][0] for k in range(4)])


def position(sol: Any, body: str) -> Array:
    """Position of a body at the start."""
    return np.array([sol[f"{body}.position.{x}"][0] for x in "xyz"])


def mask_start(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A5: a four-bar of bond masks whose loop is closed as given; one joint has no start, or all have."""
    bar = some_four_bar(rng, decade(rng, -2, 2))
    theta, rate = float(rng.uniform(0.3, 1.5)), float(rng.uniform(0.5, 3.0)) * pick(rng, -1, 1)
    second, third = bar.directions(theta)
    h = 1e-6
    (up2, up3), (low2, low3) = bar.directions(theta + h), bar.directions(theta - h)
    rates = [rate, (up2 - low2) / (2 * h) * rate, (up3 - low3) / (2 * h) * rate]
    given = {
        "A": (theta, rates[0]),
        "B": (second - theta, rates[1] - rates[0]),
        "C": (third - second, rates[2] - rates[1]),
        "D": (-third, -rates[2]),
    }
    left_out = pick(rng, "D", "D", "C") if wrong else ""

    def run() -> Any:
        m = ct.Model("masks", gravity=(0, 0, 0))
        m.add(Ground("G"))
        m.add(Ground("H", position=(bar.d, 0.0, 0.0)))
        for k, (length, mass) in enumerate(zip((bar.a, bar.b, bar.c), bar.masses, strict=True)):
            across = mass * length**2 / 12
            frames = {"s": (-length / 2, 0, 0), "e": (length / 2, 0, 0)}
            m.add(Body(f"bar{k}", mass=mass, inertia=(across, across, across), frames=frames))
        for name, (angle, speed) in given.items():
            own = {} if name == left_out else {"angle": angle}
            own |= {"angle_rate": speed} if name == "A" or not wrong else {}
            m.add(RevoluteJoint(name, axis="z", **own))
        ends = ("G", "bar0.s"), ("bar0.e", "bar1.s"), ("bar1.e", "bar2.s"), ("bar2.e", "H")
        for name, (tail, head) in zip(given, ends, strict=True):
            m.connect(f"{tail} -> {name}.a")
            m.connect(f"{name}.b -> {head}")
        return m.simulate(1e-3 / abs(rate), points=2)

    def error(sol: Any) -> float:
        angles = [apart(sol[f"{name}.angle"][0], each[0]) for name, each in given.items() if name != left_out]
        slip = 100 * abs(sol["A.angle_rate"][0] - rate) / abs(rate)
        return moved(max(angles), slip)

    label = f"masks, {f'{left_out} not given' if wrong else 'all given'}, {bar.d:.0e} m"
    return Case("A5", label, not wrong, run, error, "moved", (*given, "bar0", "bar1", "bar2"), one=True)


def bushing_start(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A6: bodies that bushings hold, far from the origin; their rest, or a start that says the same."""
    count = 1 + index % 2
    size = decade(rng, -3, 2)
    mounts = int(rng.integers(1, 4))
    mass = 1000 * size**3
    stiffness = mass * (2 * np.pi * 3.0) ** 2
    along = [stiffness] * 3 + [stiffness * size**2] * 3
    loss = [each * 0.01 for each in along]
    places = size * rng.uniform(-0.5, 0.5, (count, mounts, 3))
    ways = [size * rng.uniform(1.5, 4.0) * direction(rng) for _ in range(count)]
    centres = np.cumsum(ways, axis=0)
    names = [f"b{k}" for k in range(count)]

    def run() -> Any:
        m = ct.Model("bushings", gravity=(0, 0, 0))
        for k, name in enumerate(names):
            start: dict[str, Any] = {} if wrong else {"position": triple(centres[k])}
            frames = {f"m{i}": triple(place) for i, place in enumerate(places[k])}
            if k + 1 < count:  # where the next body is mounted
                frames |= {f"n{i}": triple(centres[k + 1] + each - centres[k]) for i, each in enumerate(places[k + 1])}
            m.add(ct.RigidBody(name, ct.box(size=(size, size, size), mass=mass), frames=frames, **start))
        for k, name in enumerate(names):
            for i, place in enumerate(places[k]):
                there = m.ground.at(*triple(centres[k] + place)) if k == 0 else f"{names[k - 1]}.n{i}"
                m.add(ct.Bushing(f"u{k}{i}", there, f"{name}.m{i}", stiffness=along, damping=loss))
        return m.simulate(0.01, points=3)

    def error(sol: Any) -> float:
        away = [float(np.linalg.norm(position(sol, name) - centres[k])) / size for k, name in enumerate(names)]
        turns = [turned_by(orientation(sol, name), np.array([1.0, 0, 0, 0])) for name in names]
        return moved(max(turns), 100 * max(away))

    label = f"{count} bodies on {mounts} bushings each, {size:.0e} m"
    return Case("A6", label, not wrong, run, error, "placed", tuple(names), one=True)


def rough_start(rng: np.random.Generator, index: int, wrong: bool) -> Case:
    """A13: a start with a gap that the program has to close."""
    return (hung_box, rough_loop, box_on_plane)[index % 3](rng, wrong)


def hung_box(rng: np.random.Generator, wrong: bool) -> Case:
    """A box whose hook hangs at a fixed distance from the origin, started too far or too near."""
    slight = wrong and bool(rng.integers(2))  # a small gap, at sizes at which a turn once seemed cheaper than a lift
    length = decade(rng, 0.8, 2) if slight else decade(rng, -3, 2)
    side = length * rng.uniform(0.05, 0.2)
    hook = side * rng.uniform(0.5, 0.9)
    part = rng.uniform(0.015, 0.03) if slight else rng.uniform(0.1, 0.25) if wrong else decade(rng, -5, -3.2)
    gap = pick(rng, -1, 1) * length * part
    aside = float(np.radians(rng.uniform(-3, 3)))
    reach = length + gap
    given = np.array([reach * np.sin(aside), -reach * np.cos(aside) - hook, 0.0])
    jointed = bool(rng.integers(2))
    mass = 2000 * side**3

    def run() -> Any:
        m = ct.Model("crane", gravity=(0, -9.81, 0))
        start = {} if jointed else {"position": triple(given), "orientation": (1.0, 0.0, 0.0, 0.0)}
        frames = {"hook": (0, hook, 0)}
        box = m.add(ct.RigidBody("load", ct.box(size=(side, side, side), mass=mass), frames=frames, **start))
        if jointed:
            m.add(ct.Free("place", m.ground, box, x=given[0], y=given[1], z=0.0, orientation=(1.0, 0.0, 0.0, 0.0)))
        m.add(ct.ConstantDistance("rope", m.ground, box["hook"], length=length))
        return m.simulate(0.01 * float(np.sqrt(length / 9.81)), points=3)

    def error(sol: Any) -> float:
        turn = turned_by(orientation(sol, "load"), np.array([1.0, 0, 0, 0]))
        return moved(turn, 100 * float(np.linalg.norm(position(sol, "load") - given)) / length)

    label = f"box on a rope of {length:.0e} m, gap {abs(gap) / length:.1e}"
    return Case("A13", label, not wrong, run, error, "moved", ("load", "rope", "place"), one=True)


def rough_loop(rng: np.random.Generator, wrong: bool) -> Case:
    """A four-bar whose angles do not close: all three given ones count, and so does the way of assembly."""
    bar: FourBar = some_four_bar(rng, decade(rng, -3, 2))
    theta = float(rng.uniform(0.4, 1.4))
    second, third = bar.directions(theta)
    away = np.radians(rng.uniform(12, 30, 2)) if wrong else np.radians(rng.uniform(0.01, 0.1, 2))
    rough = tuple(float(each) for each in away * rng.choice([-1, 1], 2))
    given = {"O": theta, "A": second - theta + rough[0], "B": third - second + rough[1]}

    def run() -> Any:
        m = bar.model(theta, 9.81)
        for name in ("A", "B"):
            m.components[name] = ct.Revolute(
                name, m.components[name].frame_a, m.components[name].frame_b, angle=given[name]
            )
        return m.simulate(0.01 * float(np.sqrt(bar.d / 9.81)), points=3)

    def error(sol: Any) -> float:
        return moved(max(apart(sol[f"{name}.angle"][0], each) for name, each in given.items()), 0.0)

    off_by = float(np.degrees(np.abs(rough).max()))
    parts = ("O", "A", "B", "C", "crank", "coupler", "follower")
    return Case("A13", f"four-bar, {off_by:.2f} degrees off", not wrong, run, error, "moved", parts, one=True)


def box_on_plane(rng: np.random.Generator, wrong: bool) -> Case:
    """A body whose corner lies in a plane, or on a line, started above it."""
    size = decade(rng, -3, 2)
    normal, corner = direction(rng), size * rng.uniform(-0.5, 0.5, 3)
    away = size * (rng.uniform(0.2, 0.5) if wrong else decade(rng, -5, -3.2))
    line = bool(rng.integers(2))
    given = -corner + away * normal
    across = np.cross(normal, direction(rng))

    def run() -> Any:
        m = ct.Model("box", gravity=(0, 0, -9.81))
        shape = ct.box(size=(size, 0.8 * size, 0.6 * size), mass=1000 * size**3)
        start = {"position": triple(given), "orientation": (1.0, 0.0, 0.0, 0.0)}
        box = m.add(ct.RigidBody("load", shape, frames={"corner": triple(corner)}, **start))
        if line:
            m.add(ct.PointOnLine("held", m.ground, box["corner"], axis=triple(across)))
        else:
            m.add(ct.PointOnPlane("held", m.ground, box["corner"], normal=triple(normal)))
        return m.simulate(0.01 * float(np.sqrt(size / 9.81)), points=3)

    def error(sol: Any) -> float:
        turn = turned_by(orientation(sol, "load"), np.array([1.0, 0, 0, 0]))
        return moved(turn, 100 * float(np.linalg.norm(position(sol, "load") - given)) / size)

    label = f"corner of a box {'on a line' if line else 'in a plane'}, gap {away / size:.1e}"
    return Case("A13", label, not wrong, run, error, "moved", ("load", "held"), one=True)
