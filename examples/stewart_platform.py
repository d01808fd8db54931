"""A platform on three legs: universal joints at the ground, sliding rams, ball joints under the plate.

Built in Python because the legs are alike: a loop writes them.
"""

from math import cos, sin

import cotree as ct


def platform() -> ct.Model:
    """Six degrees of freedom; springs and dampers in the rams carry the plate."""
    m = ct.Model("platform on three legs")
    tops = {f"t{k}": (0.3 * cos(2.1 * k + 0.4), 0.3 * sin(2.1 * k + 0.4), 0.0) for k in range(3)}
    m.add(ct.RigidBody("plate", mass=4.0, inertia=(0.2, 0.25, 0.4), frames=tops, position=(0.05, 0.02, 0.8)))
    for k in range(3):
        foot = m.ground.at(0.5 * cos(2.1 * k), 0.5 * sin(2.1 * k), 0)
        frames = {"in": (0, 0, -0.25), "mid": (0, 0, 0.1)}
        low = m.add(ct.RigidBody(f"low{k}", ct.cylinder(radius=0.04, length=0.5, mass=1.0), frames=frames))
        shape = ct.cylinder(radius=0.02, length=0.5, mass=0.6)
        high = m.add(ct.RigidBody(f"high{k}", shape, frames={"out": (0, 0, 0.25)}))
        m.add(ct.Universal(f"U{k}", foot, low["in"]))
        m.add(ct.Prismatic(f"P{k}", low["mid"], high.name, axis=(0, 0, 1), displacement=0.2))
        m.add(ct.Spherical(f"S{k}", f"plate.t{k}", high["out"]))
        m.add(ct.JointSpring(f"ram{k}", f"P{k}", stiffness=400.0, rest=0.3, damping=8.0))
    return m


if __name__ == "__main__":
    solution = platform().simulate(t_end=2.0)
    print(solution.notes[0])
    print("plate at the end:", solution["plate.position"][-1])
