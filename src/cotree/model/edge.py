"""What an edge of the linear graph is: two named ends, a domain with its two variables, and a kind.

Sign convention of the whole program: an edge points from its tail to its head; its across variable is the value at
the head less the value at the tail (McPhee 1996, eq. 15), and power ``across * through`` flows into the element.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from cotree.maths.viewed import Viewed


class Kind(IntEnum):
    """Kinds N1..N7 of edges, in the order in which a tree prefers them (Richard 2012, section 2)."""

    ARM = 1
    POSITION_DRIVER = 2
    POINT_JOINT = 3
    LINE_JOINT = 4
    BODY = 5
    FORCE = 6
    DEPENDENT = 7

    @property
    def symbol(self) -> str:
        """``N1`` .. ``N7``."""
        return f"N{int(self)}"

    @property
    def label(self) -> str:
        """What stands behind the number, in words."""
        return _LABELS[self]


_LABELS = {
    Kind.ARM: "rigid or flexible arm",
    Kind.POSITION_DRIVER: "driver of an across variable",
    Kind.POINT_JOINT: "spherical or revolute joint",
    Kind.LINE_JOINT: "cylindrical or prismatic joint",
    Kind.BODY: "body, or storage of an across variable",
    Kind.FORCE: "force element",
    Kind.DEPENDENT: "dependent virtual work",
}


class Role(IntEnum):
    """What an edge of a scalar network does, in the order in which a normal tree prefers it."""

    ACROSS_SOURCE = 1
    ACROSS_STORAGE = 2
    STATIC = 3
    THROUGH_STORAGE = 4
    THROUGH_SOURCE = 5

    @property
    def kind(self) -> Kind:
        """The kind N1..N7 that belongs to the role: a source drives, a mass is a body, the rest are force elements."""
        return {Role.ACROSS_SOURCE: Kind.POSITION_DRIVER, Role.ACROSS_STORAGE: Kind.BODY}.get(self, Kind.FORCE)


@dataclass(frozen=True, slots=True)
class Domain:
    """A pair of across and through variables.

    ``through_is_power`` holds where the through variable itself is a power (heat flow), so that the product of
    across and through is not one. ``integral`` names the time integral of the across variable at a node and its unit,
    where it means something: a velocity adds up to a displacement. ``atmosphere`` is the absolute pressure of the
    datum in a domain of gas, whose through variable is the flow at this pressure.
    """

    name: str
    across: str
    through: str
    across_unit: str
    through_unit: str
    across_symbol: str
    through_symbol: str
    through_is_power: bool = False
    integral: tuple[str, str] | None = None
    atmosphere: float | None = None

    def __reduce__(self) -> str:
        """Copies are the same object, so that domains can be told apart by what they are."""
        return self.name.upper().replace(" ", "_")

    def power(self, across: Any, through: Any) -> Any:
        """across * through; for gas at constant temperature through * p0 ln(1 + across / p0), the work it can do."""
        if self.atmosphere is None:
            return across * through
        from cotree.maths.symbolic import SYMBOLIC  # a model is built without loading CasADi

        return through * self.atmosphere * SYMBOLIC["log"](1 + across / self.atmosphere)


ELECTRICAL = Domain("electrical", "voltage", "current", "V", "A", "v", "i")
TRANSLATIONAL = Domain("translational", "velocity", "force", "m/s", "N", "v", "F", integral=("displacement", "m"))
ROTATIONAL = Domain(
    "rotational", "angular_velocity", "torque", "rad/s", "N m", r"\omega", "T", integral=("angle", "rad")
)
THERMAL = Domain("thermal", "temperature", "heat_flow", "K", "W", r"\theta", r"\Phi", through_is_power=True)
HYDRAULIC = Domain("hydraulic", "pressure", "flow", "Pa", "m^3/s", "p", "Q")
PNEUMATIC = Domain("pneumatic", "pressure", "flow", "Pa", "m^3/s", "p", "q", atmosphere=1e5)
"""Gas at 20 degC. Pressures count from the atmosphere of 100 kPa, flows are volumes at these conditions (ISO 8778)."""
DISPLACEMENT = Domain("displacement", "displacement", "force", "m", "N", r"\mathbf{r}", r"\mathbf{F}")
VIRTUAL_WORK = Domain("virtual work", "displacement", "virtual_work", "m", "J", r"\mathbf{r}", r"\delta W")


@dataclass(frozen=True, slots=True)
class Edge(Viewed):
    """A directed, typed edge between two named nodes; ``component`` names the part that it stands for."""

    name: str
    tail: str
    head: str
    kind: Kind = Kind.FORCE
    domain: Domain = ELECTRICAL
    role: Role = Role.STATIC
    component: str = ""

    def __repr__(self) -> str:
        return f"<Edge '{self.name}' from {self.tail} to {self.head}, {self.kind.name.lower()}, {self.domain.name}>"

    @property
    def across(self) -> tuple[str, str]:
        """Name of the across variable among the results, and its unit: ``("R3.voltage", "V")``."""
        return f"{self.name}.{self.domain.across}", self.domain.across_unit

    @property
    def through(self) -> tuple[str, str]:
        """Name of the through variable among the results, and its unit."""
        return f"{self.name}.{self.domain.through}", self.domain.through_unit

    @property
    def leading(self) -> tuple[str, str]:
        """Name and unit of the variable that a source drives or a storage keeps."""
        return self.across if self.role in (Role.ACROSS_SOURCE, Role.ACROSS_STORAGE) else self.through
