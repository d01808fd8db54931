"""Exudyn: both flexible mechanisms with reduced floating-frame bodies and with its planar beam elements.

Floating frame: `ObjectFFRFreducedOrder` with the shapes of Euler-Bernoulli's beam under the frame's conditions (pinned
on the chord: sines; clamped at the hub), which is what Craig and Bampton's reduction leaves where the ends' own motion
is the frame's. The body is a cloud of Gauss points on the centre line, so that its integrals are exact. The frame is a
Tait-Bryan node held in the plane. Beams: `ANCFCable2D` (cubic, extensible, no shear) and `BeamGeometricallyExact2D`
with two or three nodes. Prescribed motions are symbolic functions, which run without Python.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from bench.common import exudyn_run
from bench.flexible.references import Curves, FourBar, Reference, SpinUp, clamped_free, modal

POINTS = 40
"""Gauss points of a reduced body."""


@dataclass(frozen=True)
class Way:
    """How Exudyn is used: bodies, their fineness, solver and its settings."""

    form: str  # frame, stiffened, series, cable, beam2 or beam3
    size: int  # modes of a body, or bodies or elements of a link
    solver: str = "index 3"
    radius: float = 0.9
    linear: str = "EXUdense"
    modified: bool = True
    tolerance: float = 1e-6
    floor: float = 1e-6  # N: near rest the residual is round-off of the axial stiffness

    def __str__(self) -> str:
        """The settings for the table."""
        form = {
            "frame": f"floating frame, {self.size} modes",
            "stiffened": f"floating frame, {self.size} modes, tension as springs",
            "series": f"{self.size} floating frames in series, 2 modes each",
            "cable": f"{self.size} ANCF cables",
            "beam2": f"{self.size} exact beams of 2 nodes",
            "beam3": f"{self.size} exact beams of 3 nodes",
        }[self.form]
        alpha = f"generalised-alpha, radius {self.radius:g}"
        parts = [form, alpha if self.solver == "index 3" else "trapezoidal rule, index 2", self.linear]
        parts += [] if self.modified else ["full Newton"]
        return ", ".join([*parts, f"Newton to {self.tolerance:g}"])


def library():  # type: ignore[no-untyped-def]
    """Exudyn without range checks, its fastest module; ImportError where it is not installed."""
    sys.exudynFast = True  # type: ignore[attr-defined]
    import exudyn

    return exudyn


class Cloud:
    """What `ObjectFFRFreducedOrderInterface` asks of a mesh: points with masses and shapes; no surface."""

    def __init__(self, length: float, mass: float, shapes: Callable[[np.ndarray], np.ndarray]) -> None:
        """Gauss points on the line, then massless ones: start, middle, end, and four around the end's section."""
        nodes, weights = np.polynomial.legendre.leggauss(POINTS)
        x = np.concatenate([(nodes + 1) / 2, [0.0, 0.5], np.ones(5)])
        self.mass = np.concatenate([weights / 2 * mass * length, np.zeros(7)])
        self.places = np.column_stack([x * length, 0 * x, 0 * x])
        arm, step = length / 10, 1e-4
        self.places[-4:, 1:] = arm * np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])
        basis = np.zeros((len(x), 3, len(shapes(x))))
        basis[:, 1, :] = shapes(x).T
        f = [shapes(np.array([1 - k * step]))[:, 0] for k in range(5)]
        slope = (25 * f[0] - 48 * f[1] + 36 * f[2] - 16 * f[3] + 3 * f[4]) / (12 * step * length)
        basis[:, 0, :] = -np.outer(self.places[:, 1], slope)
        self.modeBasis = {"matrix": basis.reshape(3 * len(x), -1)}
        self.postProcessingModes: dict[str, object] = {}

    def GetNodePositionsAsArray(self) -> np.ndarray:
        """Places of all points."""
        return self.places

    def GetSurfaceTriangles6(self) -> list[object]:
        """No surface."""
        return []

    GetSurfaceTriangles = GetSurfaceTriangles6

    def GetMassMatrix(self, sparse: bool = True) -> object:
        """One mass for each point."""
        from scipy.sparse import diags_array

        return diags_array(np.repeat(self.mass, 3)).tocsr()

    def GetStiffnessMatrix(self, sparse: bool = True) -> object:
        """Nothing: the reduced stiffness is set afterwards."""
        from scipy.sparse import csr_array

        return csr_array((3 * len(self.mass),) * 2)


START, MIDDLE, END = POINTS, POINTS + 1, POINTS + 2
SECTION = [POINTS + k for k in (3, 4, 5, 6)]


class Model:
    """A mechanism in one form, ready to run."""

    def __init__(self, form: str, size: int) -> None:
        """Build and assemble."""
        self.exu = exu = library()
        clock = time.perf_counter()
        import exudyn.itemInterface as items

        self.form, self.size, self.items = form, size, items
        self.container = exu.SystemContainer()
        self.mbs = self.container.AddSystem()
        self.kept: list[object] = []
        self.sensors: dict[str, int] = {}
        self.ground = self.mbs.AddMarker(
            items.MarkerNodeCoordinate(nodeNumber=self.mbs.AddNode(items.NodePointGround()), coordinate=0)
        )
        self.build()
        self.mbs.Assemble()
        self.seconds_setup = time.perf_counter() - clock

    def build(self) -> None:
        """Bodies, joints and sensors."""
        raise NotImplementedError

    def curves(self, times: np.ndarray, places: dict[str, np.ndarray]) -> Curves:
        """Deflections from the places of the sensors."""
        raise NotImplementedError

    def function(self, law: Callable, name: str) -> object:  # type: ignore[type-arg]
        """A law of time as an expression that Exudyn evaluates by itself."""
        from exudyn.advancedUtilities import CreateSymbolicUserFunction

        def of_time(mbs, t, itemNumber, lOffset):  # type: ignore[no-untyped-def]
            return law(t)

        made = CreateSymbolicUserFunction(
            self.mbs, of_time, name, itemTypeName="ObjectConnectorCoordinate"
        )  # fmt: skip
        self.kept.append(made)
        return made

    def hold(self, node: int, coordinate: int, law: Callable | None = None, rate: Callable | None = None) -> None:  # type: ignore[type-arg]
        """A coordinate at zero, or by a law of time and its rate."""
        items = self.items
        marker = self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
        laws = {}
        if law is not None:
            laws["offsetUserFunction"] = self.function(law, "offsetUserFunction")
            laws["offsetUserFunction_t"] = self.function(rate, "offsetUserFunction_t")  # type: ignore[arg-type]
        self.mbs.AddObject(items.ObjectConnectorCoordinate(markerNumbers=[self.ground, marker], **laws))

    def watch(self, name: str, node: int) -> None:
        """Record a node's place."""
        self.sensors[name] = self.mbs.AddSensor(
            self.items.SensorNode(
                nodeNumber=node, storeInternal=True, outputVariableType=self.exu.OutputVariableType.Position
            )
        )

    def watch_body(self, name: str, body: int, point: int) -> None:
        """Record a point of a reduced body."""
        self.sensors[name] = self.mbs.AddSensor(
            self.items.SensorSuperElement(
                bodyNumber=body,
                meshNodeNumber=point,
                storeInternal=True,
                outputVariableType=self.exu.OutputVariableType.Position,
            )
        )

    def frame(self, cloud: Cloud, stiffness: np.ndarray, place: np.ndarray, angle: float, velocity: np.ndarray,
              spin: float) -> tuple[int, int]:  # fmt: skip
        """A reduced body: its frame's node and its number."""
        from exudyn.FEM import ObjectFFRFreducedOrderInterface

        made = ObjectFFRFreducedOrderInterface(cloud, rigidBodyNodeType=self.exu.NodeType.RotationRxyz)
        made.stiffnessMatrixReduced = stiffness
        c, s = math.cos(angle), math.sin(angle)
        found = made.AddObjectFFRFreducedOrder(
            self.mbs,
            positionRef=[*place, 0.0],
            initialVelocity=[*velocity, 0.0],
            rotationMatrixRef=np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
            initialAngularVelocity=[0, 0, spin],
        )
        return found["nRigidBody"], found["oFFRFreducedOrder"]

    def plane(self, node: int) -> None:
        """Hold a frame in the plane."""
        for coordinate in (2, 3, 4):
            self.hold(node, coordinate)

    def series(self, a: np.ndarray, b: np.ndarray, mass: float, bending: float) -> tuple[int, list[int]]:
        """Reduced bodies clamped to each other's ends, with Craig and Bampton's two static shapes: node, bodies."""
        items, mbs, n = self.items, self.mbs, self.size
        step, angle = (b - a) / n, math.atan2(*(b - a)[::-1])
        h = float(np.linalg.norm(step))
        cloud = Cloud(h, mass, lambda x: np.stack([x * x * (3 - 2 * x), h * x * x * (x - 1)]))
        stiffness = bending / h**3 * np.array([[12, -6 * h], [-6 * h, 4 * h * h]])
        bodies, first, tip = [], -1, -1
        for k in range(n):
            node, body = self.frame(cloud, stiffness, a + k * step, angle, np.zeros(2), 0.0)
            if k == 0:
                first = node
                self.plane(node)
            else:
                root = mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=node))
                mbs.AddObject(items.ObjectJointGeneric(markerNumbers=[tip, root], constrainedAxes=[1] * 6))
            tip = mbs.AddMarker(
                items.MarkerSuperElementRigid(bodyNumber=body, meshNodeNumbers=SECTION, weightingFactors=[0.25] * 4)
            )
            bodies.append(body)
        return first, bodies

    def line(self, a: np.ndarray, b: np.ndarray, law: dict[str, float], velocity: np.ndarray, spin: float) -> list[int]:
        """Nodes of a straight beam from a to b that moves as a rigid body at the start."""
        items, mbs, n = self.items, self.mbs, self.size
        length, along = float(np.linalg.norm(b - a)), (b - a) / np.linalg.norm(b - a)
        each = 2 if self.form == "beam3" else 1
        nodes = []
        for k in range(n * each + 1):
            arm = along * length * k / (n * each)
            v = velocity + spin * np.array([-arm[1], arm[0]])
            if self.form == "cable":
                slope = [-spin * along[1], spin * along[0]]
                made = items.NodePoint2DSlope1(
                    referenceCoordinates=[*(a + arm), *along], initialVelocities=[*v, *slope]
                )
            else:
                angle = math.atan2(along[1], along[0])
                made = items.NodeRigidBody2D(referenceCoordinates=[*(a + arm), angle], initialVelocities=[*v, spin])
            nodes.append(mbs.AddNode(made))
        common = {"length": length / n, "massPerLength": law["mass"], "bendingStiffness": law["bending"],
                  "axialStiffness": law["axial"]}  # fmt: skip
        for k in range(n):
            ends = nodes[each * k : each * k + each + 1]
            if self.form == "cable":
                mbs.AddObject(items.ObjectANCFCable2D(nodeNumbers=ends, **common))
            else:
                extra = {"crossSectionInertia": law["rotary"], "shearStiffness": law["shear"]}
                mbs.AddObject(items.ObjectBeamGeometricallyExact2D(nodeNumbers=ends, **common, **extra))
        return nodes

    def run(self, way: Way, steps: int, reference: Reference) -> tuple[Curves, float]:
        """Deflections on the reference's grid and seconds of the solver; steps is a multiple of its intervals."""
        found, seconds = exudyn_run(self.exu, self.mbs, self.sensors, way, steps, reference)
        return self.curves(reference.times, {name: places[:, :2] for name, places in found.items()}), seconds


class SpinUpModel(Model):
    """The cantilever on its hub; the deflection is the tip's offset across the hub's axis."""

    def build(self) -> None:
        """Clamp the beam to the prescribed angle."""
        m, esym = SpinUp(), self.exu.symbolic
        a, b = m.speed / (2 * m.rise), m.speed * m.rise / (4 * math.pi**2)
        w = 2 * math.pi / m.rise

        def angle(t):  # type: ignore[no-untyped-def]
            return a * t * t + b * (esym.cos(w * t) - 1.0)

        def rate(t):  # type: ignore[no-untyped-def]
            return 2 * a * t - b * w * esym.sin(w * t)

        origin, still = np.zeros(2), np.zeros(2)
        if self.form in ("frame", "stiffened"):
            cloud = Cloud(m.length, m.mass, lambda x: clamped_free(self.size, x)[1])
            _, _, stiffness, tension = modal(self.size)
            node, body = self.frame(cloud, stiffness * m.bending / m.length**3, origin, 0.0, still, 0.0)
            self.plane(node)
            if self.form == "stiffened":
                self.tension(body, tension * m.mass * m.length, rate)
        if self.form == "series":
            node, bodies = self.series(origin, np.array([m.length, 0.0]), m.mass, m.bending)
            body = bodies[-1]
        if self.form in ("frame", "stiffened", "series"):
            self.hold(node, 0)
            self.hold(node, 1)
            self.hold(node, 5, angle, rate)
            self.watch_body("tip", body, END)
            return
        law = {k: getattr(m, k) for k in ("mass", "bending", "axial", "shear", "rotary")}
        nodes = self.line(origin, np.array([m.length, 0.0]), law, still, 0.0)
        self.hold(nodes[0], 0)
        self.hold(nodes[0], 1)
        if self.form == "cable":  # the slope as a whole: the clamp's own stretch is 8e-5 and does not matter
            self.hold(nodes[0], 2, lambda t: esym.cos(angle(t)) - 1.0, lambda t: -esym.sin(angle(t)) * rate(t))
            self.hold(nodes[0], 3, lambda t: esym.sin(angle(t)), lambda t: esym.cos(angle(t)) * rate(t))
        else:
            self.hold(nodes[0], 2, angle, rate)
        self.watch("tip", nodes[-1])

    def tension(self, body: int, stiffness: np.ndarray, rate: Callable) -> None:  # type: ignore[type-arg]
        """What the reduced body lacks, by hand: springs on its modal coordinates that grow with the speed squared."""
        from exudyn.advancedUtilities import CreateSymbolicUserFunction

        items, mbs = self.items, self.mbs
        node = mbs.GetObject(body)["nodeNumbers"][1]
        ends = [mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k)) for k in range(self.size)]

        def force(mbs, t, itemNumber, u, v, k, d, offset):  # type: ignore[no-untyped-def]
            return k * rate(t) * rate(t) * u

        made = CreateSymbolicUserFunction(
            mbs, force, "springForceUserFunction", itemTypeName="ObjectConnectorCoordinateSpringDamper"
        )
        self.kept.append(made)
        pairs = [(self.ground, ends[k], float(stiffness[k].sum())) for k in range(self.size)]
        pairs += [(ends[i], ends[k], -float(stiffness[i, k])) for k in range(self.size) for i in range(k)]
        for first, second, value in pairs:
            spring = items.ObjectConnectorCoordinateSpringDamper(
                markerNumbers=[first, second], stiffness=value, springForceUserFunction=made
            )
            mbs.AddObject(spring)

    def curves(self, times: np.ndarray, places: dict[str, np.ndarray]) -> Curves:
        """The tip in the hub's axes."""
        angle = SpinUp().angle(times)
        x, y = places["tip"].T
        return {"tip": np.cos(angle) * y - np.sin(angle) * x}


class FourBarModel(Model):
    """Coupler and follower with the crank's end prescribed; deflections are those of the middles from the chords."""

    def build(self) -> None:
        """Two links, pinned."""
        m, esym, items, mbs = FourBar(), self.exu.symbolic, self.items, self.mbs
        a, b, c, spin_ab, spin_bc = m.start()
        w, r = m.speed, m.crank
        at_a, still = np.array([0.0, w * r]), np.zeros(2)
        if self.form == "frame":
            ends = []
            for name, start, end, v, spin in (("AB", a, b, at_a, spin_ab), ("CB", c, b, still, spin_bc)):
                length = float(np.linalg.norm(end - start))
                order = np.arange(1, self.size + 1)
                cloud = Cloud(length, m.density * m.area, lambda x, order=order: np.sin(math.pi * np.outer(order, x)))
                stiffness = np.diag((order * math.pi / length) ** 4) * m.young * m.second * length / 2
                angle = math.atan2(*(end - start)[::-1])
                node, body = self.frame(cloud, stiffness, start, angle, v, spin)
                self.plane(node)
                ends.append((node, mbs.AddMarker(items.MarkerSuperElementPosition(
                    bodyNumber=body, meshNodeNumbers=[END], weightingFactors=[1.0]))))  # fmt: skip
                for letter, point in ((name[0], START), (name[1], END), (f"middle {name}", MIDDLE)):
                    if letter not in self.sensors:
                        self.watch_body(letter, body, point)
            first, last = ends[0][0], ends[1][0]
            pin = [ends[0][1], ends[1][1]]
        else:
            law = {"mass": m.density * m.area, "bending": m.young * m.second, "axial": m.young * m.area,
                   "shear": SHEAR_FACTOR * m.young * m.area, "rotary": ROTARY * m.density * m.second}  # fmt: skip
            ab = self.line(a, b, law, at_a, spin_ab)
            cb = self.line(c, b, law, still, spin_bc)
            first, last = ab[0], cb[0]
            pin = [mbs.AddMarker(items.MarkerNodePosition(nodeNumber=k)) for k in (ab[-1], cb[-1])]
            middles = {"middle AB": ab[len(ab) // 2], "middle CB": cb[len(cb) // 2]}
            for name, node in ({"A": ab[0], "B": ab[-1], "C": cb[0]} | middles).items():
                self.watch(name, node)
        self.hold(first, 0, lambda t: r * esym.cos(w * t) - r, lambda t: -r * w * esym.sin(w * t))
        self.hold(first, 1, lambda t: r * esym.sin(w * t), lambda t: r * w * esym.cos(w * t))
        self.hold(last, 0)
        self.hold(last, 1)
        mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=pin))

    def curves(self, times: np.ndarray, places: dict[str, np.ndarray]) -> Curves:
        """Offsets of the middles, to the left of A to B and of B to C."""

        def offset(start: str, end: str, middle: str) -> np.ndarray:
            chord, arm = places[end] - places[start], places[middle] - places[start]
            return (chord[:, 0] * arm[:, 1] - chord[:, 1] * arm[:, 0]) / np.linalg.norm(chord, axis=1)

        return {"AB": offset("A", "B", "middle AB"), "BC": offset("B", "C", "middle CB")}


SHEAR_FACTOR = 100.0
"""Shear stiffness over EA of the four-bar's exact beams: the reference has no shear. With steel's own (about 1/3) and
the section's whole inertia they end 6 mm away from it."""
ROTARY = 1e-3
"""Share of the section's inertia that the four-bar's exact beams keep."""

MODELS = {"spin_up": SpinUpModel, "four_bar": FourBarModel}
