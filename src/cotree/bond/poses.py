"""Where the frames of a mechanism are: rotations and positions in coordinates that are integrals of flows.

A search from the grounds outwards places every frame. Bonded frames are one and the same; bodies and translations
carry a pose on; an ideal joint carries it on and brings its coordinates (angle, slide, Euler parameters), whose rates
are the flows of its free axes. A joint with C elements carries nothing on. Where the search ends, a body gets six
coordinates of its own: those of its `Rotation` mask, or its position and Euler parameters. An ideal joint that finds
both of its frames placed closes a loop: its locked flows are held by equations between positions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import casadi as ca

from cotree.bond.motions import (
    ORIENTATION,
    PARAMETERS,
    BodyPlace,
    JointPlace,
    Motion,
    Pose,
    RotationPlace,
    euler_parameters,
    relative,
    state,
    still,
    world_axes,
)
from cotree.bond.structure import XYZ
from cotree.errors import ModelError, listing
from cotree.maths.rotation import of_quaternion, quaternion_rate

if TYPE_CHECKING:
    from cotree.bond.mechanics.base import FramePart
    from cotree.bond.mechanics.bodies import Body
    from cotree.bond.mechanics.joint import Joint
    from cotree.bond.mechanics.transforms import Rotation
    from cotree.bond.opening import Leaf, Opening

Port = tuple[str, str]
"""A part by its path, and one of its frames."""


def place(make: Opening) -> None:
    """Find the poses of all frames; they and the ways of placing are kept in ``make.structure.placed``."""
    Search(make).run()


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
        for each in self.group:
            self.members.setdefault(self._root(each), []).append(each)
        self.poses: dict[Port, Pose] = {}
        """Poses of the groups of bonded frames."""
        self.done: dict[str, Any] = {}
        """How parts were placed, by path."""
        self.todo: list[Port] = []
        self._carrier: dict[Port, str] = {}
        """The joint of the tree that carries each group, empty for none."""
        self._carrying = ""
        self._origin = "the ground"
        """What the search begins at, in words."""

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
        self._carrier[root] = self._carrying
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
        self._check_ends()
        for leaf in self.by_role("ground"):
            pose = cast(Any, leaf.part).pose(leaf.v)
            self.done[leaf.path] = pose
            self.put(leaf.path, part_of(leaf).frame_ports()[0], pose)
        self._spread()
        while self._seed():
            self._spread()
        self._finish()

    def _check_ends(self) -> None:
        """Refuse joints that join nothing: each of their frames needs a bond."""
        ends = {end for wire in self.make.wires for end in (wire.tail, wire.head)}
        for path, port in self.group:
            if part_of(self.leaves[path]).role == "joint" and (path, port) not in ends:
                near = [str(wire) for wire in self.make.wires if path in (wire.tail[0], wire.head[0])]
                raise ModelError(
                    f"the frame {path}.{port} is dangling: no bond ends there",
                    where=path,
                    expected=f"a bond at each frame of the joint; it has {listing(near) or 'none'}",
                    remedy=f"Add a bond from {path}.{port} to a frame of a body, a ground or another part",
                )

    def _spread(self) -> None:
        while self.todo:
            root = self.todo.pop(0)
            for path, port in self.members[root]:
                if path not in self.done:
                    self._carrying = self._carrier[root]
                    self._reach(self.leaves[path], port)
        self._carrying = ""

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
        given = _given(leaf)
        if given:
            raise ModelError(
                f"its {listing(given)} at the start follows from the joints between it and {self._origin}",
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
        self._carrying = leaf.path
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
        bodies = [leaf for leaf in self.by_role("rigid") if part_of(leaf).massive]
        for leaf in sorted(bodies, key=lambda each: not _given(each)):  # those with start values first
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
        """Give a body six coordinates: those of its own frame, and a rotation or Euler parameters."""
        part, path = cast("Body", leaf.part), leaf.path
        own = part.floating
        self._origin = f"the body '{path}', which carries it"
        begin = part.start_motion(leaf.v) if start is None else start
        R = own.R if R is None else R
        whole, states = self._coordinates(path, f"{path}.{own.moving}", f"{path}.{own.turning}", begin, R, states)
        if _given(leaf):
            self.make.structure.kept |= set(states)
        self._rigid(leaf, own.frame, whole, states)
        self.put(path, own.frame, whole)

    def _float_port(self, path: str, port: str, start: Motion) -> None:
        """Give a frame without mass six coordinates."""
        name = f"{path}.{port}"
        self._origin = f"the frame {name}, which carries it"
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
                self.make.structure.placed[f"{path}.{port}.start"] = pose.start.r
            if part_of(leaf).role == "joint" and path not in self.done:
                self.done[path] = self._measured(leaf)
        self._weigh()
        self.make.structure.placed |= self.done

    def _weigh(self) -> None:
        """Find the joints of the tree beyond which nothing has inertia."""
        heavy: set[str] = set()
        for path, leaf in self.leaves.items():
            loop = isinstance(self.done.get(path), JointPlace) and self.done[path].how == "loop"
            if not part_of(leaf).massive and not loop:
                continue
            for port in part_of(leaf).frame_ports():
                joint = self._carrier[self._root((path, port))]
                while joint and joint not in heavy:
                    heavy.add(joint)
                    joint = self._carrier[self._root((joint, self.done[joint].root))]
        for path, placed in self.done.items():
            if isinstance(placed, JointPlace) and placed.how == "tree" and path not in heavy:
                self.done[path] = replace(placed, light=True)

    def _measured(self, leaf: Leaf) -> JointPlace:
        """A joint between two frames that are placed without it."""
        a, b = self.pose(leaf.path, "a"), self.pose(leaf.path, "b")
        assert a is not None
        assert b is not None
        (C, d), start = relative(a.now, b.now), relative(a.start, b.start)
        return JointPlace("compliant" if joint_of(leaf).compliant else "loop", "a", C, d, start)


def _given(leaf: Leaf) -> list[str]:
    """The start values that are given for a rigid part."""
    return [name for name in part_of(leaf).start_fields() if getattr(leaf.part, name) is not None]


def part_of(leaf: Leaf) -> FramePart:
    """A leaf's part, which has frames."""
    return cast("FramePart", leaf.part)


def joint_of(leaf: Leaf) -> Joint:
    """A leaf's part, which is a joint."""
    return cast("Joint", leaf.part)
