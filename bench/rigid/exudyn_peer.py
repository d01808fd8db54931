"""Exudyn: the same mechanisms as kinematic trees with loop joints, as planar bodies, or as free bodies with joints."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
from bench.rigid.models import GROUND, Joint, Mechanism
from bench.rigid.references import Motion


@dataclass(frozen=True)
class Way:
    """How Exudyn is used: coordinates, solver and its settings."""

    form: str  # tree, planar or free
    solver: str  # generalised-alpha, index 2 or the name of an explicit method
    radius: float = 0.9
    linear: str = "EXUdense"
    modified: bool = True
    lie: bool = False
    adaptive: bool = False
    tolerance: float = 1e-8

    def __str__(self) -> str:
        """The settings for the table."""
        form = {"tree": "kinematic tree", "planar": "2-D bodies", "free": "3-D bodies"}[self.form]
        if self.solver in ("index 3", "index 2"):
            alpha = f"generalised-alpha, index 3, radius {self.radius:g}"
            parts = [form, alpha if self.solver == "index 3" else "trapezoidal rule, index 2", self.linear]
            parts += [] if self.modified else ["full Newton"]
            parts += [] if self.tolerance == 1e-8 else [f"Newton to {self.tolerance:g}"]
            return ", ".join(parts + (["rotation vector"] if self.lie else []))
        return f"{form}, {self.solver}{', adaptive, error at the end only' if self.adaptive else ''}"


def library():  # type: ignore[no-untyped-def]
    """Exudyn without range checks, its fastest module; ImportError where it is not installed."""
    sys.exudynFast = True  # type: ignore[attr-defined]
    import exudyn

    return exudyn


def frame(axis: np.ndarray) -> np.ndarray:
    """A rotation whose z axis is the axis."""
    z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


class Model:
    """One mechanism in one form, ready to run."""

    def __init__(self, m: Mechanism, form: str, lie: bool = False) -> None:
        """Build and assemble."""
        self.exu = exu = library()
        clock = time.perf_counter()
        self.m, self.form = m, form
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        import exudyn.itemInterface as items

        self.items = items
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.node_type = exu.NodeType.RotationRotationVector if lie else exu.NodeType.RotationEulerParameters
        {"tree": self.tree, "planar": self.planar, "free": self.free}[form]()
        self.mbs.Assemble()
        self.seconds_setup = time.perf_counter() - clock

    def tree(self) -> None:
        """Tree joints as one kinematic tree, loop joints between its markers."""
        m, exu, items = self.m, self.exu, self.items
        links: list[dict] = []
        self.links: dict[str, int] = {}
        self.where: list[tuple[np.ndarray, np.ndarray]] = []
        for joint in (j for j in m.joints if not j.cut):
            self.add_links(joint, links)
        rotations = [np.eye(3), *(w[0] for w in self.where)]
        offsets = [np.zeros(3), *(w[1] for w in self.where)]
        turn, move, inertia, centre = [], [], [], []
        for link, (R, p) in zip(links, self.where, strict=True):
            before = link["parent"] + 1
            turn.append(rotations[before].T @ R)
            move.append(rotations[before].T @ (p - offsets[before]))
            body = link["body"]
            inertia.append(R.T @ body.matrix() @ R if body else np.zeros((3, 3)))
            centre.append(R.T @ (np.array(body.centre) - p) if body else np.zeros(3))
        n = len(links)
        self.node = self.mbs.AddNode(
            items.NodeGenericODE2(
                referenceCoordinates=[0.0] * n,
                initialCoordinates=[0.0] * n,
                initialCoordinates_t=[link["rate"] for link in links],
                numberOfODE2Coordinates=n,
            )
        )
        kinds = {"R": exu.JointType.RevoluteZ, "P": exu.JointType.PrismaticZ}
        laws = {
            "jointForceVector": [link["joint"].torque for link in links],
            "jointPositionOffsetVector": [link["joint"].target for link in links],
            "jointVelocityOffsetVector": [0.0] * n,
            "jointPControlVector": [link["joint"].stiffness for link in links],
            "jointDControlVector": [link["joint"].damping for link in links],
        }
        controlled = any(link["joint"].stiffness or link["joint"].damping for link in links)
        driven = any(link["joint"].torque for link in links)
        used = {k: v for k, v in laws.items() if (controlled and "Force" not in k) or (driven and "Force" in k)}
        self.object = self.mbs.AddObject(
            items.ObjectKinematicTree(
                nodeNumber=self.node,
                gravity=list(m.gravity),
                jointTypes=[kinds[link["kind"]] for link in links],
                linkParents=[link["parent"] for link in links],
                jointTransformations=exu.Matrix3DList(turn),
                jointOffsets=exu.Vector3DList(move),
                linkInertiasCOM=exu.Matrix3DList(inertia),
                linkCOMs=exu.Vector3DList(centre),
                linkMasses=[link["body"].mass if link["body"] else 0.0 for link in links],
                **used,
            )
        )
        for joint in (j for j in m.joints if j.cut):
            self.connect(joint)
        for spring in m.springs:
            self.spring(spring)
        self.sensors = {
            name: self.mbs.AddSensor(
                items.SensorKinematicTree(
                    objectNumber=self.object,
                    linkNumber=self.links[body],
                    localPosition=self.local(body, point),
                    storeInternal=True,
                    outputVariableType=exu.OutputVariableType.Position,
                )
            )
            for name, (body, point) in m.points.items()
        }

    def add_links(self, joint: Joint, links: list[dict]) -> None:
        """One link for each coordinate of a joint, massless but for the last."""
        m = self.m
        axes = {
            "revolute": [("R", joint.axis)],
            "prismatic": [("P", joint.axis)],
            "universal": [("R", joint.axis), ("R", joint.axis2)],
            "spherical": [("R", (1, 0, 0)), ("R", (0, 1, 0)), ("R", (0, 0, 1))],
        }[joint.kind]
        parent = -1 if joint.a == GROUND else self.links[joint.a]
        for k, (kind, axis) in enumerate(axes):
            last = k == len(axes) - 1
            body = m.bodies[m.order[joint.b]] if last else None
            links.append({"kind": kind, "parent": parent, "body": body, "joint": joint, "rate": joint.rate})
            self.where.append((frame(np.array(axis)), np.array(joint.point, dtype=float)))
            parent = len(links) - 1
        self.links[joint.b] = parent

    def local(self, body: str, point: object) -> list[float]:
        """A point in the frame Exudyn uses for a body."""
        p = np.asarray(point, dtype=float)
        if body == GROUND:
            return list(p)
        if self.form == "tree":
            R, origin = self.where[self.links[body]]
            return list(R.T @ (p - origin))
        return list(self.m.local(body, p))

    def marker(self, body: str, point: object, rigid: bool, turned: np.ndarray | None = None) -> object:
        """A marker at a point, its axes turned where a joint needs it."""
        items, where = self.items, self.local(body, point)
        place: dict[str, object] = {"localPosition": where}
        if turned is not None:
            own = self.where[self.links[body]][0] if self.form == "tree" and body != GROUND else np.eye(3)
            place = {"localHT": self.exu.HT(rotation=own.T @ turned, translation=where)}
        if body == GROUND:
            kind = items.MarkerBodyRigid if rigid else items.MarkerBodyPosition
            return self.mbs.AddMarker(kind(bodyNumber=self.ground, **place))
        if self.form == "tree":
            link = self.links[body]
            return self.mbs.AddMarker(
                items.MarkerKinematicTreeRigid(objectNumber=self.object, linkNumber=link, **place)
            )
        kind = items.MarkerBodyRigid if rigid else items.MarkerBodyPosition
        return self.mbs.AddMarker(kind(bodyNumber=self.bodies[body], **place))

    def connect(self, joint: Joint) -> None:
        """A joint as a constraint between two markers."""
        items = self.items
        if self.m.planar and (self.form != "free"):
            ends = [self.marker(body, joint.point, False) for body in (joint.a, joint.b)]
            self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))
            return
        if joint.kind == "spherical":
            ends = [self.marker(body, joint.point, False) for body in (joint.a, joint.b)]
            self.mbs.AddObject(items.ObjectJointSpherical(markerNumbers=ends))
            return
        turned = frame(np.array(joint.axis))
        axes = {"revolute": [1, 1, 1, 1, 1, 0], "prismatic": [1, 1, 0, 1, 1, 1], "universal": [1, 1, 1, 0, 0, 1]}
        if joint.kind == "universal":
            turned = np.column_stack([joint.axis, joint.axis2, np.cross(joint.axis, joint.axis2)])
        ends = [self.marker(body, joint.point, True, turned) for body in (joint.a, joint.b)]
        if joint.kind == "revolute":
            self.mbs.AddObject(items.ObjectJointRevoluteZ(markerNumbers=ends))
        else:
            self.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=ends, constrainedAxes=axes[joint.kind]))

    def spring(self, s) -> None:  # type: ignore[no-untyped-def]
        """A spring and damper between two points."""
        ends = [self.marker(body, point, False) for body, point in ((s.a, s.point_a), (s.b, s.point_b))]
        self.mbs.AddObject(
            self.items.ObjectConnectorSpringDamper(
                markerNumbers=ends, referenceLength=s.rest, stiffness=s.stiffness, damping=s.damping
            )
        )

    def planar(self) -> None:
        """Bodies of three coordinates and revolute joints in the plane."""
        m, items = self.m, self.items
        self.bodies = {}
        for body in m.bodies:
            node = self.mbs.AddNode(
                items.NodeRigidBody2D(
                    referenceCoordinates=[*body.centre[:2], 0.0],
                    initialVelocities=[*body.velocity[:2], body.spin[2]],
                )
            )
            made = items.ObjectRigidBody2D(mass=body.mass, inertia=body.inertia[2], nodeNumber=node)
            self.bodies[body.name] = self.mbs.AddObject(made)
        self.rest()

    def free(self) -> None:
        """Bodies with all their coordinates and joints as constraints."""
        m = self.m
        from exudyn.rigidBodyUtilities import RigidBodyInertia

        self.bodies = {}
        for body in m.bodies:
            self.bodies[body.name] = self.mbs.CreateRigidBody(
                inertia=RigidBodyInertia(body.mass, body.matrix()),
                referencePosition=list(body.centre),
                initialVelocity=list(body.velocity),
                initialAngularVelocity=list(body.spin),
                nodeType=self.node_type,
            )
        self.rest()

    def rest(self) -> None:
        """Joints, springs, weights and sensors of free bodies."""
        m, exu, items = self.m, self.exu, self.items
        for joint in m.joints:
            self.connect(joint)
            if joint.stiffness or joint.damping:
                turned = frame(np.array(joint.axis))
                ends = [self.marker(body, joint.point, True, turned) for body in (joint.a, joint.b)]
                self.mbs.AddObject(
                    items.ObjectConnectorTorsionalSpringDamper(
                        markerNumbers=ends, stiffness=joint.stiffness, damping=joint.damping, offset=joint.target
                    )
                )
            if joint.torque:
                marker = self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=self.bodies[joint.b]))
                load = (np.array(joint.axis) * joint.torque).tolist()
                self.mbs.AddLoad(items.LoadTorqueVector(markerNumber=marker, loadVector=load, bodyFixed=True))
                assert joint.a == GROUND
        for spring in m.springs:
            self.spring(spring)
        if np.any(m.gravity):
            for body in self.bodies.values():
                marker = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
                self.mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=list(m.gravity)))
        self.sensors = {
            name: self.mbs.AddSensor(
                items.SensorBody(
                    bodyNumber=self.bodies[body],
                    localPosition=self.local(body, point),
                    storeInternal=True,
                    outputVariableType=exu.OutputVariableType.Position,
                )
            )
            for name, (body, point) in m.points.items()
        }

    def run(self, way: Way, steps: int) -> tuple[Motion, float]:
        """Motion on the grid and seconds of the solver; steps is a multiple of the grid's intervals."""
        m, exu = self.m, self.exu
        s = exu.SimulationSettings()
        s.solution.file.write = False
        s.solution.sensors.writePeriod = m.t_end / m.intervals
        s.timeIntegration.endTime = m.t_end
        s.timeIntegration.numberOfSteps = steps
        s.timeIntegration.verboseMode = 0
        s.timeIntegration.automaticStepSize = way.adaptive
        s.timeIntegration.adaptiveStep = False
        s.timeIntegration.newton.useModifiedNewton = way.modified
        s.linearSolver.solverType = getattr(exu.LinearSolverType, way.linear)
        s.linearSolver.ignoreSingularJacobian = way.linear == "EigenDense"
        s.linearSolver.reuseAnalyzedPattern = way.linear == "EigenSparse"
        s.linearSolver.showCausingItems = False
        s.parallel.numberOfThreads = 1
        implicit = way.solver in ("index 3", "index 2")
        if implicit:
            s.timeIntegration.generalizedAlpha.spectralRadius = way.radius
            s.timeIntegration.newton.relativeTolerance = way.tolerance
            s.timeIntegration.newton.absoluteTolerance = 1e-10
            two = way.solver == "index 2"
            kind = exu.DynamicSolverType.TrapezoidalIndex2 if two else exu.DynamicSolverType.GeneralizedAlpha
        else:
            s.timeIntegration.explicit.computeEndOfStepAccelerations = False
            kind = getattr(exu.DynamicSolverType, way.solver)
            if way.adaptive:
                s.timeIntegration.relativeTolerance = way.tolerance
                s.timeIntegration.absoluteTolerance = way.tolerance
        s.timeIntegration.solverType = kind
        clock = time.perf_counter()
        self.mbs.SolveDynamic(s, solverType=kind)
        seconds = time.perf_counter() - clock
        motion: Motion = {}
        for name, sensor in self.sensors.items():
            data = np.array(self.mbs.GetSensorStoredData(sensor))
            if way.adaptive:  # its output is between the grid's times: only the end is compared
                motion[name] = data[-1:, 1:4]
                continue
            if len(data) != m.intervals + 1 or np.abs(data[:, 0] - m.times).max() > 1e-9 * m.t_end:
                raise RuntimeError(f"output is not on the grid: {len(data)} rows")
            motion[name] = data[:, 1:4]
        return motion, seconds
