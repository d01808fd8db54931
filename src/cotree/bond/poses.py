"""Where the frames of a mechanism are: rotations and positions in coordinates that are integrals of flows.

A search from the grounds outwards places every frame. Bonded frames are one and the same; bodies and translations carry
a pose on; an ideal joint carries it on and brings its coordinates (angle, slide, Euler parameters), whose rates are the
flows of its free axes. A joint with C elements carries nothing on. Where the search ends, a body gets six coordinates of
its own: those of its `Rotation` mask, or its position and Euler parameters. An ideal joint that finds both of its frames
placed closes a loop: its locked flows are held by equations between positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import casadi as ca
import numpy as np

from cotree.bond.structure import Integral
from cotree.errors import ModelError, listing
from cotree.maths.rotation import of_quaternion, quaternion_of, quaternion_rate, to_quaternion

if TYPE_CHECKING:
    from cotree.bond.mechanics.base import FramePart
    from cotree.bond.mechanics.bodies import Body
    from cotree.bond.mechanics.joints import Joint
    from cotree.bond.mechanics.transforms import Rotation
    from cotree.bond.opening import Leaf, Opening

XYZ = ("x", "y", "z")
PARAMETERS = ("e0", "e1", "e2", "e3")
ORIENTATION = "orientation"

Port = tuple[str, str]
"""A part by its path, and one of its frames."""


@dataclass(frozen=True)
class Motion:
    """Rotation (world from frame) and position of a frame, angular velocity and velocity in its own axes."""

    R: ca.SX
    r: ca.SX
    w: ca.SX = field(default_factory=lambda: ca.SX.zeros(3))
    v: ca.SX = field(default_factory=lambda: ca.SX.zeros(3))

    def fixed(self, C: ca.SX, d: ca.SX) -> Motion:
        """The motion of a frame fixed to this one: turned by C, at d."""
        return self.across(C, d, ca.SX.zeros(3), ca.SX.zeros(3))

    def across(self, C: ca.SX, d: ca.SX, spin: ca.SX, rate: ca.SX) -> Motion:
        """The motion of a frame turned by C at d, which turns with ``spin`` (its axes) and moves with ``rate``."""
        v = ca.mtimes(C.T, self.v + ca.cross(self.w, d) + rate)
        return Motion(ca.mtimes(self.R, C), self.r + ca.mtimes(self.R, d), ca.mtimes(C.T, self.w) + spin, v)

    def back(self, C: ca.SX, d: ca.SX, spin: ca.SX, rate: ca.SX) -> Motion:
        """The motion of the frame that this one is ``across`` from."""
        R, w = ca.mtimes(self.R, C.T), ca.mtimes(C, self.w - spin)
        return Motion(R, self.r - ca.mtimes(R, d), w, ca.mtimes(C, self.v) - ca.cross(w, d) - rate)


@dataclass(frozen=True)
class Pose:
    """A frame at any time, in coordinates, and at the start, in parameters."""

    now: Motion
    start: Motion

    @property
    def R(self) -> ca.SX:
        """Its rotation, world from frame."""
        return self.now.R

    @property
    def r(self) -> ca.SX:
        """Its position in world axes."""
        return self.now.r

    def fixed(self, C: ca.SX, d: ca.SX) -> Pose:
        """The pose of a frame fixed to this one."""
        return Pose(self.now.fixed(C, d), self.start.fixed(C, d))


@dataclass(frozen=True)
class JointPlace:
    """How a joint was placed: a link of the tree, the end of a loop, or compliant; C and d are those of b in a."""

    how: str
    """``tree``, ``loop`` or ``compliant``."""
    root: str
    """The end that was placed first: a or b."""
    C: ca.SX
    d: ca.SX
    start: tuple[ca.SX, ca.SX]
    """C and d at the start, in parameters."""


@dataclass(frozen=True)
class BodyPlace:
    """How a body was placed: by the frame ``root``, or with coordinates of its own, whose names are ``states``."""

    pose: Pose
    root: str
    states: tuple[str, ...] = ()

    @property
    def free(self) -> bool:
        """Whether its own flows are independent."""
        return bool(self.states)


@dataclass(frozen=True)
class RotationPlace:
    """How a rotation mask was placed: its matrix, the end that was placed first, and its own coordinates."""

    matrix: ca.SX
    factors: tuple[ca.SX, ...]
    root: str
    states: tuple[str, ...] = ()


def place(make: Opening) -> None:
    """Find the poses of all frames; they and the ways of placing are kept in ``make.structure.placed``."""
    Search(make).run()


def euler_parameters(R: ca.SX) -> ca.SX:
    """Euler parameters of a rotation, as numbers where it is one."""
    if R.is_constant():
        return ca.SX(to_quaternion(np.asarray(ca.DM(R), dtype=float)))
    return quaternion_of(R)


def unit_parameters(e: ca.SX) -> ca.SX:
    """Given Euler parameters with length one."""
    return e / ca.norm_2(e)


def state(
    make: Opening,
    names: Sequence[str],
    unit: str,
    start: ca.SX,
    rate: ca.SX,
    owner: str,
    spin: str = "",
    symbols: ca.SX | None = None,
) -> ca.SX:
    """Add coordinates and return their symbols; ``spin`` names the vertex with the angular velocity of a turn."""
    if symbols is None:
        symbols = ca.vertcat(*(ca.SX.sym(name) for name in names))
    make.integral(Integral(tuple(names), (unit,) * len(names), symbols, start, rate, owner, spin))
    return symbols


class Search:
    """One search over the frames of an opened graph."""

    def __init__(self, make: Opening) -> None:
        self.make = make
        self.leaves: dict[str, Leaf] = {path: leaf for path, leaf in make.leaves.items() if leaf.part.framed}
        self.group: dict[Port, Port] = {}
        for path, leaf in self.leaves.items():
            for port in part_of(leaf).frame_ports():
                self.group[path, port] = (path, port)
        for wire in make.wires:
            if wire.tail in self.group and wire.head in self.group:
                self.group[self._root(wire.tail)] = self._root(wire.head)
        self.members: dict[Port, list[Port]] = {}
        for port in self.group:
            self.members.setdefault(self._root(port), []).append(port)
        self.poses: dict[Port, Pose] = {}
        """Poses of the groups of bonded frames."""
        self.done: dict[str, Any] = {}
        """How parts were placed, by path."""
        self.todo: list[Port] = []

    def _root(self, port: Port) -> Port:
        while self.group[port] != port:
            port = self.group[port]
        return port

    # -- poses ---------------------------------------------------------------------------------------------------

    def pose(self, path: str, port: str) -> Pose | None:
        """The pose of a frame, None where it is not placed."""
        return self.poses.get(self._root((path, port)))

    def put(self, path: str, port: str, pose: Pose) -> None:
        """Place a frame and all that are bonded to it."""
        root = self._root((path, port))
        if root in self.poses:
            return
        self.poses[root] = pose
        self.todo.append(root)
        for other, name in self.members[root]:
            if part_of(self.leaves[other]).role == "rigid" and other not in self.done:
                self._rigid(self.leaves[other], name)

    def others(self, path: str, port: str) -> list[Port]:
        """The frames bonded to a frame, and itself."""
        return self.members[self._root((path, port))]

    def by_role(self, role: str) -> list[Leaf]:
        """The parts of one role that are not placed, in the order of the model."""
        return [leaf for path, leaf in self.leaves.items() if part_of(leaf).role == role and path not in self.done]

    # -- the search ----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Place everything, or tell what cannot be placed."""
        for leaf in self.by_role("ground"):
            pose = cast(Any, leaf.part).pose(leaf.v)
            self.done[leaf.path] = pose
            self.put(leaf.path, part_of(leaf).frame_ports()[0], pose)
        self._spread()
        while self._seed():
            self._spread()
        self._finish()

    def _spread(self) -> None:
        while self.todo:
            root = self.todo.pop(0)
            for path, port in self.members[root]:
                if path not in self.done:
                    self._reach(self.leaves[path], port)

    def _reach(self, leaf: Leaf, port: str) -> None:
        """Carry a pose through a part from one of its frames."""
        role = part_of(leaf).role
        if role == "joint" and not joint_of(leaf).compliant:
            self._joint(leaf, port)
        elif role == "rotation" and port == "local":
            known = self.pose(leaf.path, port)
            assert known is not None
            self.done[leaf.path] = RotationPlace(known.R, (known.R,), port)
            self.put(leaf.path, "world", world_axes(known))

    def _rigid(self, leaf: Leaf, port: str, whole: Pose | None = None, states: tuple[str, ...] = ()) -> None:
        """Place all frames of a rigid part, from one of them or from the pose of the whole."""
        frames = cast(Any, leaf.part).places(leaf.v)
        if whole is None:
            C, d = frames[port]
            known = self.pose(leaf.path, port)
            assert known is not None
            whole = known.fixed(C.T, -ca.mtimes(C.T, d))
            self._check_unused(leaf)
        self.done[leaf.path] = BodyPlace(whole, port, states)
        for name, (C, d) in frames.items():
            if not self._overlaps(leaf, name, port):
                self.put(leaf.path, name, whole.fixed(C, d))

    def _overlaps(self, leaf: Leaf, name: str, port: str) -> bool:
        """Whether a frame is placed already; bonds alone cannot close a loop."""
        if name == port:
            return True
        if self.pose(leaf.path, name) is None:
            return False
        other = next((each for each in self.others(leaf.path, name) if each[0] != leaf.path), ("", ""))
        raise ModelError(
            f"the bonds at {leaf.path}.{name} and {other[0]}.{other[1]} close a loop of rigid parts",
            where=leaf.path,
            expected="rigid parts that are bonded as a tree",
            remedy="Put a weld_joint, or a joint with stiffness, in one of the bonds",
        )

    def _check_unused(self, leaf: Leaf) -> None:
        """Refuse start values of a body that follow from joints."""
        given = [name for name in part_of(leaf).start_fields() if getattr(leaf.part, name) is not None]
        if given:
            raise ModelError(
                f"its {listing(given)} at the start follows from the joints between it and the ground",
                where=leaf.path,
                expected="start values at the joints",
                remedy=f"Leave out {listing(given)}, or give the joint a stiffness",
            )

    def _joint(self, leaf: Leaf, port: str) -> None:
        part, other = joint_of(leaf), "b" if port == "a" else "a"
        known = self.pose(leaf.path, port)
        assert known is not None
        if self.pose(leaf.path, other) is not None or self._world(leaf.path, other):
            return  # a loop, looked at in the end
        now, start = part.make_coordinates(self.make, leaf.path, leaf.v), part.start(leaf.v)
        C, d = part.turn(leaf.v, now), part.shift(leaf.v, now)
        C0, d0 = part.turn(leaf.v, start), part.shift(leaf.v, start)
        rates = part.start_rates(leaf.v, C0)
        step = "across" if port == "a" else "back"
        none = ca.SX.zeros(3)
        pose = Pose(getattr(known.now, step)(C, d, none, none), getattr(known.start, step)(C0, d0, *rates))
        self.done[leaf.path] = JointPlace("tree", port, C, d, (C0, d0))
        self.put(leaf.path, other, pose)

    def _world(self, path: str, port: str) -> bool:
        """Whether a frame keeps world axes, as that of a rotation mask does."""
        return any(
            part_of(self.leaves[p]).role == "rotation" and name == "world" for p, name in self.others(path, port)
        )

    # -- where the search ends -----------------------------------------------------------------------------------

    def _seed(self) -> bool:
        """Give coordinates to one more part; whether there was any."""
        for leaf in self.by_role("rotation"):
            if self._by_rotation(leaf):
                return True
        for leaf in self.by_role("joint"):
            if self._by_compliance(leaf):
                return True
        for leaf in self.by_role("rigid"):
            if part_of(leaf).massive:
                self._float_body(leaf)
                return True
        for leaf in self.by_role("rigid"):
            self._float_port(leaf.path, part_of(leaf).frame_ports()[0], still())
            return True
        return False

    def _by_rotation(self, leaf: Leaf) -> bool:
        """Let the angles of a rotation mask turn the body that it is bonded to."""
        for path, frame in self.others(leaf.path, "local"):
            body = self.leaves[path]
            if not part_of(body).massive or path in self.done:
                continue
            part = cast("Body", body.part)
            if part.orientation is not None:
                raise ModelError(
                    f"its orientation at the start follows from the rotation '{leaf.path}'", where=path,
                    expected="start values at the rotation",
                )  # fmt: skip
            C, _ = part.places(body.v)[frame]
            mask = cast("Rotation", leaf.part)
            turn = mask.make_angles(self.make, leaf.path, leaf.v)
            self.done[leaf.path] = RotationPlace(turn.now, turn.factors, "local", turn.states)
            start = part.start_motion(body.v, ca.mtimes(turn.start, C.T))
            self._float_body(body, ca.mtimes(turn.now, C.T), start, turn.states)
            known = self.pose(leaf.path, "local")
            assert known is not None
            self.put(leaf.path, "world", world_axes(known))
            return True
        return False

    def _by_compliance(self, leaf: Leaf) -> bool:
        """Free what hangs on a compliant joint; it starts where the joint would hold it if it were ideal."""
        part = joint_of(leaf)
        if not part.compliant:
            return False
        known = {end: pose for end in ("a", "b") if (pose := self.pose(leaf.path, end)) is not None}
        if len(known) != 1:
            return False
        end, pose = next(iter(known.items()))
        other = "b" if end == "a" else "a"
        start = part.start(leaf.v)
        C, d = part.turn(leaf.v, start), part.shift(leaf.v, start)
        step = pose.start.across if end == "a" else pose.start.back
        motion = step(C, d, *part.start_rates(leaf.v, C))
        body, whole = self._body_near(leaf.path, other, motion)
        if body is not None:
            self._float_body(body, start=cast("Body", body.part).start_motion(body.v, near=whole))
        else:
            rigid = [each for each in self.others(leaf.path, other) if part_of(self.leaves[each[0]]).role == "rigid"]
            self._float_port(*(rigid[0] if rigid else (leaf.path, other)), motion)
        return True

    def _body_near(self, path: str, port: str, motion: Motion) -> tuple[Leaf | None, Motion]:
        """The first body that is rigidly bonded to a frame, with its motion."""
        todo, seen = [(path, port, motion)], {path}
        while todo:
            path, port, motion = todo.pop(0)
            for other, frame in self.others(path, port):
                leaf = self.leaves[other]
                if part_of(leaf).role != "rigid" or other in seen:
                    continue
                seen.add(other)
                frames = cast(Any, leaf.part).places(leaf.v)
                C, d = frames[frame]
                whole = motion.fixed(C.T, -ca.mtimes(C.T, d))
                if part_of(leaf).massive:
                    return leaf, whole
                todo += [(other, name, whole.fixed(C, d)) for name, (C, d) in frames.items()]
        return None, motion

    def _float_body(
        self, leaf: Leaf, R: ca.SX | None = None, start: Motion | None = None, states: tuple[str, ...] = ()
    ) -> None:
        """Give a body six coordinates: those of its centre of mass, and a rotation or Euler parameters."""
        part, path = cast("Body", leaf.part), leaf.path
        begin = part.start_motion(leaf.v) if start is None else start
        whole, states = self._coordinates(path, f"{path}.m", f"{path}.J", begin, R, states)
        self._rigid(leaf, "centre", whole, states)
        self.put(path, "centre", whole)

    def _float_port(self, path: str, port: str, start: Motion) -> None:
        """Give a frame without mass six coordinates."""
        name = f"{path}.{port}"
        pose, _ = self._coordinates(name, f"{name}.translation", f"{name}.rotation", start)
        self.put(path, port, pose)

    def _coordinates(
        self, name: str, moving: str, turning: str, start: Motion, R: ca.SX | None = None, states: tuple[str, ...] = ()
    ) -> tuple[Pose, tuple[str, ...]]:
        """Position and Euler parameters whose rates are the flows of two vertices, in body axes."""
        make = self.make
        if R is None:
            names = tuple(f"{name}.{ORIENTATION}.{e}" for e in PARAMETERS)
            e = ca.vertcat(*(ca.SX.sym(each) for each in names))
            rate = quaternion_rate(e, make.signal(f"{turning}.flow", 3))
            state(make, names, "", euler_parameters(start.R), rate, name, turning, e)
            R, states = of_quaternion(e), (*states, *names)
        names = tuple(f"{name}.position.{x}" for x in XYZ)
        r = state(make, names, "m", start.r, ca.mtimes(R, make.signal(f"{moving}.flow", 3)), name)
        return Pose(Motion(R, r), start), (*states, *names)

    # -- what is left --------------------------------------------------------------------------------------------

    def _finish(self) -> None:
        for path, leaf in self.leaves.items():
            for port in part_of(leaf).frame_ports():
                pose = self.pose(path, port)
                if pose is None:
                    raise ModelError(
                        f"the frame {path}.{port} is carried by nothing: no body and no ground reaches it",
                        where=path,
                        expected="a bond that ends there, from a body, a ground or a joint",
                    )
                self.make.structure.placed[f"{path}.{port}"] = (pose.R, pose.r)
            if part_of(leaf).role == "joint" and path not in self.done:
                self.done[path] = self._measured(leaf)
        self.make.structure.placed |= self.done

    def _measured(self, leaf: Leaf) -> JointPlace:
        """A joint between two frames that are placed without it."""
        a, b = self.pose(leaf.path, "a"), self.pose(leaf.path, "b")
        assert a is not None
        assert b is not None
        (C, d), start = relative(a.now, b.now), relative(a.start, b.start)
        return JointPlace("compliant" if joint_of(leaf).compliant else "loop", "a", C, d, start)


def relative(a: Motion, b: Motion) -> tuple[ca.SX, ca.SX]:
    """Rotation and position of b in a."""
    return ca.mtimes(a.R.T, b.R), ca.mtimes(a.R.T, b.r - a.r)


def world_axes(pose: Pose) -> Pose:
    """The frame at the same place with the axes of the world."""
    start = pose.start
    turned = Motion(ca.SX.eye(3), start.r, ca.mtimes(start.R, start.w), ca.mtimes(start.R, start.v))
    return Pose(Motion(ca.SX.eye(3), pose.r), turned)


def still() -> Motion:
    """At rest at the origin."""
    return Motion(ca.SX.eye(3), ca.SX.zeros(3))


def part_of(leaf: Leaf) -> FramePart:
    """A leaf's part, which has frames."""
    return cast("FramePart", leaf.part)


def joint_of(leaf: Leaf) -> Joint:
    """A leaf's part, which is a joint."""
    return cast("Joint", leaf.part)


def poses_at(make: Opening, path: str, ports: Sequence[str]) -> Mapping[str, tuple[ca.SX, ca.SX]]:
    """Rotation and position of some frames of a part."""
    return {port: make.structure.placed[f"{path}.{port}"] for port in ports}
