"""The mechanisms of the comparison as plain numbers, the same for every program.

Every mechanism is described in its start position. All body frames sit at the centres of mass and are parallel to the
world there, so points, axes and inertias are given in world axes and all joint coordinates start at zero. Tree joints
come in the order of the bodies; `cut` joints close the loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

Vector = tuple[float, float, float]
GROUND = "ground"
G = 9.81


@dataclass(frozen=True)
class Body:
    """Mass, inertia (xx, yy, zz, xy, xz, yz) about the centre, centre, and start velocities."""

    name: str
    mass: float
    inertia: tuple[float, ...]
    centre: Vector
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)

    def matrix(self) -> np.ndarray:
        """The inertia as a matrix."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


@dataclass(frozen=True)
class Joint:
    """A revolute, prismatic, universal or spherical joint of body `b` on body `a`.

    A universal joint turns about `axis` fixed in a and `axis2` fixed in b. A revolute joint may carry the torque
    torque + stiffness (target - angle) - damping rate.
    """

    name: str
    kind: str
    a: str
    b: str
    point: Vector
    axis: Vector = (0.0, 0.0, 1.0)
    axis2: Vector = (0.0, 0.0, 0.0)
    rate: float = 0.0
    cut: bool = False
    torque: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    target: float = 0.0


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two points."""

    name: str
    a: str
    b: str
    point_a: Vector
    point_b: Vector
    stiffness: float
    rest: float
    damping: float = 0.0


@dataclass(frozen=True)
class Mechanism:
    """A mechanism, the points whose positions are compared, and the error that is asked for."""

    name: str
    title: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    points: dict[str, tuple[str, Vector]]
    gravity: Vector = (0.0, 0.0, -G)
    springs: tuple[Spring, ...] = ()
    t_end: float = 1.0
    intervals: int = 20
    target: float = 1e-6
    planar: bool = False
    notes: str = ""
    order: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Number the bodies."""
        object.__setattr__(self, "order", {body.name: k for k, body in enumerate(self.bodies)})

    @property
    def times(self) -> np.ndarray:
        """The output grid."""
        return np.linspace(0, self.t_end, self.intervals + 1)

    @property
    def open(self) -> bool:
        """Whether there are no loops."""
        return not any(joint.cut for joint in self.joints)

    def centre(self, body: str) -> np.ndarray:
        """The start position of a body's frame, zero for the ground."""
        return np.zeros(3) if body == GROUND else np.array(self.bodies[self.order[body]].centre)

    def local(self, body: str, point: Sequence[float]) -> np.ndarray:
        """A world point of the start position in a body's frame."""
        return np.asarray(point, dtype=float) - self.centre(body)


def vector(values: object) -> Vector:
    """Three plain numbers."""
    x, y, z = (float(v) for v in np.asarray(values, dtype=float))
    return x, y, z


def rod(start: Sequence[float], end: Sequence[float], mass: float, side: float) -> tuple[Vector, tuple[float, ...]]:
    """Centre and inertia of a square rod from start to end."""
    d = np.subtract(end, start)
    length = float(np.linalg.norm(d))
    e = d / length
    across, along = mass * (length**2 + side**2) / 12, mass * side**2 / 6
    inertia = across * np.eye(3) + (along - across) * np.outer(e, e)
    return vector(np.add(start, end) / 2), six(inertia)


def six(inertia: np.ndarray) -> tuple[float, ...]:
    """xx, yy, zz, xy, xz, yz of a matrix."""
    return tuple(float(inertia[i]) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def chain(links: int, t_end: float = 1.0) -> Mechanism:
    """Square rods of 0.1 m and 0.1 kg along x, falling; axes alternately (0, 1, 0) and (0, 0.6, 0.8)."""
    length, mass, side = 0.1, 0.1, 0.02
    bodies, joints = [], []
    for k in range(links):
        start, end = (k * length, 0.0, 0.0), ((k + 1) * length, 0.0, 0.0)
        centre, inertia = rod(start, end, mass, side)
        bodies.append(Body(f"link{k}", mass, inertia, centre))
        axis = (0.0, 0.6, 0.8) if k % 2 else (0.0, 1.0, 0.0)
        joints.append(Joint(f"J{k}", "revolute", bodies[k - 1].name if k else GROUND, f"link{k}", start, axis))
    points = {"tip": (f"link{links - 1}", (links * length, 0.0, 0.0))}
    if links > 2:
        points["middle"] = (f"link{links // 2 - 1}", (links // 2 * length, 0.0, 0.0))
    return Mechanism(f"chain{links}", f"open chain, {links} links", tuple(bodies), tuple(joints), points, t_end=t_end)


def four_bars(loops: int, t_end: float = 10.0) -> Mechanism:
    """A02: loops + 1 upright bars of 1 m and 1 kg joined on top by bars; the top starts with 1 m/s in x."""
    bodies, joints = [], []
    for k in range(loops + 1):
        centre, inertia = rod((k, 0, 0), (k, 1, 0), 1.0, 0.0)
        bodies.append(Body(f"bar{k}", 1.0, (inertia[0], 1e-3, *inertia[2:]), centre, (0.5, 0, 0), (0, 0, -1.0)))
        joints.append(Joint(f"G{k}", "revolute", GROUND, f"bar{k}", (k, 0, 0), rate=-1.0))
    for k in range(loops):
        centre, inertia = rod((k, 1, 0), (k + 1, 1, 0), 1.0, 0.0)
        bodies.append(Body(f"top{k}", 1.0, (1e-3, *inertia[1:]), centre, (1.0, 0, 0)))
        joints.append(Joint(f"T{k}", "revolute", f"bar{k}", f"top{k}", (k, 1, 0), rate=1.0))
    for k in range(loops):
        joints.append(Joint(f"C{k}", "revolute", f"top{k}", f"bar{k + 1}", (k + 1, 1, 0), rate=-1.0, cut=True))
    return Mechanism(
        f"four_bars{loops}",
        f"N four-bars, N = {loops}",
        tuple(bodies),
        tuple(joints),
        {"first": ("bar0", (0, 1, 0)), "last": (f"bar{loops}", (loops, 1, 0))},
        gravity=(0, -G, 0),
        t_end=t_end,
        intervals=100,
        target=1e-5 if loops < 10 else 1e-4,
        planar=True,
    )


def squeezer() -> Mechanism:
    """Andrews' squeezing mechanism, A03."""
    d, da, e, ea, zf, fa, rr, ra = 0.028, 0.0115, 0.02, 0.01421, 0.02, 0.01421, 0.007, 0.00092
    sa, sb, sc, sd, zt, ta, tb, u, ua, ub = (
        0.01874, 0.01043, 0.018, 0.02, 0.04, 0.02308, 0.00916, 0.04, 0.01228, 0.00449,
    )  # fmt: skip
    A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
    b, th, g, ph, de, om, ep = (
        -0.0617138900142764, 0.0, 0.4552798191630704, 0.2226683901658859, 0.4873649795438426,
        -0.2226683901658859, 1.2305474445498212,
    )  # fmt: skip

    def at(angle: float, x: float, y: float) -> np.ndarray:
        """A vector given along and across a direction."""
        c, s = np.cos(angle), np.sin(angle)
        return np.array([c * x - s * y, s * x + c * y])

    P = at(b, rr, 0) - at(b + th, d, 0)
    centres = [
        at(b, ra, 0),
        at(b, rr, 0) - at(b + th, da, 0),
        B + at(g, sb, -sa),
        A + at(de, zt, 0) + at(ph + de, 0, -(e - ea)),
        A + at(de, ta, tb),
        A + at(ep, 0, -u) + at(om + ep, zf - fa, 0),
        A + at(ep, -ub, -ua),
    ]
    masses = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
    inertias = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)

    def flat(p: np.ndarray) -> Vector:
        """A point of the plane."""
        return float(p[0]), float(p[1]), 0.0

    order = (1, 2, 3, 5, 4, 7, 6)
    bodies = tuple(
        Body(f"K{k}", masses[k - 1], (i := inertias[k - 1], i, i, 0.0, 0.0, 0.0), flat(centres[k - 1])) for k in order
    )
    joints = (
        Joint("O", "revolute", GROUND, "K1", (0, 0, 0), torque=0.033),
        Joint("R", "revolute", "K1", "K2", flat(at(b, rr, 0))),
        Joint("B", "revolute", GROUND, "K3", flat(B)),
        Joint("A5", "revolute", GROUND, "K5", flat(A)),
        Joint("H", "revolute", "K5", "K4", flat(A + at(de, zt, 0))),
        Joint("A7", "revolute", GROUND, "K7", flat(A)),
        Joint("F", "revolute", "K7", "K6", flat(A + at(ep, 0, -u))),
        *(Joint(f"P{k}", "revolute", "K2", f"K{k}", flat(P), cut=True) for k in (3, 4, 6)),
    )
    return Mechanism(
        "squeezer",
        "Andrews' squeezer",
        bodies,
        joints,
        {"R": ("K1", flat(at(b, rr, 0))), "P": ("K2", flat(P)), "H": ("K5", flat(A + at(de, zt, 0)))},
        gravity=(0, 0, 0),
        springs=(Spring("S", GROUND, "K3", flat(C), flat(B + at(g, sd, -sc)), 4530.0, 0.07785),),
        t_end=0.03,
        intervals=60,
        target=1e-6,
        planar=True,
    )


def bricard(t_end: float = 5.0) -> Mechanism:
    """A04: five rods and the ground on six revolute joints, one redundant equation."""
    corner = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0)] * 2
    bodies, joints = [], []
    for k in range(5):
        centre, inertia = rod(corner[k], corner[k + 1], 1.0, 0.1)
        bodies.append(Body(f"rod{k}", 1.0, inertia, centre))
        before = f"rod{k - 1}" if k else GROUND
        joints.append(Joint(f"J{k}", "revolute", before, f"rod{k}", vector(corner[k]), vector(axes[k])))
    joints.append(Joint("J5", "revolute", "rod4", GROUND, vector(corner[5]), vector(axes[5]), cut=True))
    points = {f"P{k + 1}": (f"rod{k}", vector(corner[k + 1])) for k in (1, 2, 3)}
    return Mechanism(
        "bricard",
        "Bricard",
        tuple(bodies),
        tuple(joints),
        points,
        gravity=(0, -G, 0),
        t_end=t_end,
        intervals=100,
        target=1e-5,
    )


def stewart() -> Mechanism:
    """A platform on six legs: universal at the base, prismatic, spherical at the platform, springs in the legs."""
    height, radius_base, radius_top = 1.0, 0.9, 0.5
    base = np.radians([-12, 12, 108, 132, 228, 252])
    top = np.radians([-48, 48, 72, 168, 192, 288])
    stretch = (1.06, 0.97, 1.02, 0.95, 1.08, 1.00)
    disc = (50 * 0.5**2 / 4 + 50 * 0.1**2 / 12, 50 * 0.5**2 / 2)
    bodies: list[Body] = []
    joints: list[Joint] = []
    cuts: list[Joint] = []
    springs: list[Spring] = []
    for k in range(6):
        foot = np.array([radius_base * np.cos(base[k]), radius_base * np.sin(base[k]), 0.0])
        head = np.array([radius_top * np.cos(top[k]), radius_top * np.sin(top[k]), height])
        length = float(np.linalg.norm(head - foot))
        along = (head - foot) / length
        axis = np.cross((0, 0, 1), along)
        axis /= np.linalg.norm(axis)
        low, inertia_low = rod(vector(foot), vector(foot + 0.6 * along), 5.0, 0.06)
        up, inertia_up = rod(vector(head - 0.6 * along), vector(head), 3.0, 0.04)
        bodies += [Body(f"low{k}", 5.0, inertia_low, low), Body(f"up{k}", 3.0, inertia_up, up)]
        second = vector(np.cross(along, axis))
        joints.append(Joint(f"U{k}", "universal", GROUND, f"low{k}", vector(foot), vector(axis), second))
        joints.append(Joint(f"P{k}", "prismatic", f"low{k}", f"up{k}", vector(foot + 0.5 * along), vector(along)))
        cuts.append(Joint(f"S{k}", "spherical", f"up{k}", "platform", vector(head), cut=k > 0))
        springs.append(Spring(f"K{k}", GROUND, f"up{k}", vector(foot), vector(head), 5000.0, length * stretch[k], 60.0))
    bodies.append(Body("platform", 50.0, (disc[0], disc[0], disc[1], 0.0, 0.0, 0.0), (0.0, 0.0, height)))
    points = {"centre": ("platform", (0.0, 0.0, height)), "rim": ("platform", (0.5, 0.0, height))}
    return Mechanism(
        "stewart",
        "Stewart platform",
        tuple(bodies),
        (*joints, cuts[0], *cuts[1:]),
        points,
        springs=tuple(springs),
        target=1e-6,
    )


def robot() -> Mechanism:
    """A 6-axis robot with a proportional and damping torque in each joint, moving from its start to given angles."""
    points = [(0, 0, 0.2), (0.05, 0, 0.4), (0.05, 0, 0.85), (0.25, 0, 0.9), (0.5, 0, 0.9), (0.6, 0, 0.9)]
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    masses = (20.0, 12.0, 8.0, 5.0, 3.0, 1.5)
    centres = [(0.02, 0, 0.3), (0.05, 0.02, 0.6), (0.12, 0, 0.88), (0.38, 0.01, 0.9), (0.54, 0, 0.9), (0.65, 0.02, 0.9)]
    sizes = [
        (0.2, 0.2, 0.3),
        (0.15, 0.12, 0.55),
        (0.3, 0.15, 0.15),
        (0.3, 0.1, 0.1),
        (0.12, 0.1, 0.1),
        (0.1, 0.12, 0.06),
    ]
    control = [(500, 60), (600, 60), (300, 30), (20, 2), (20, 2), (4, 0.3)]
    targets = (0.9, 0.5, -0.7, 1.2, 0.8, -1.5)
    bodies, joints = [], []
    for k, (mass, (x, y, z)) in enumerate(zip(masses, sizes, strict=True)):
        box = tuple(mass / 12 * s for s in (y * y + z * z, x * x + z * z, x * x + y * y))
        bodies.append(Body(f"arm{k}", mass, (*box, 0.0, 0.0, 0.0), vector(centres[k])))
        before = f"arm{k - 1}" if k else GROUND
        stiffness, damping = control[k]
        joints.append(
            Joint(
                f"J{k}",
                "revolute",
                before,
                f"arm{k}",
                vector(points[k]),
                vector(axes[k]),
                stiffness=stiffness,
                damping=damping,
                target=targets[k],
            )
        )
    ends = {"wrist": ("arm4", vector(points[5])), "tool": ("arm5", (0.7, 0.03, 0.9))}
    return Mechanism("robot", "6-axis robot", tuple(bodies), tuple(joints), ends, target=1e-6)


def all_mechanisms() -> list[Mechanism]:
    """Every case of the table."""
    closed = [four_bars(2), four_bars(40, t_end=5.0), squeezer(), bricard(), stewart()]
    return [chain(2), chain(10), chain(100), *closed, robot()]
