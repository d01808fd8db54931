"""x, y and z over 5 s in the three examples of Filippini 2007 (figs. 9-11, 14-16 and 19-21), one row each.

Lines: the multibond graph with ideal joints, and with C elements in place of the constraints, as in the
paper, with R beside them: 1e4 N/m and N m/rad, soft enough to see the difference. Small dots: the branch formulation of
the same mechanism, with an arm of 1e-12 kg. Circles: an independent solution. Ideal joints, dots and circles agree to
1e-8 m and better.
"""

import json
import sys
from pathlib import Path

import cotree as ct

HERE = Path(__file__).resolve().parent
CASES = (1, 2, 3)
SHOWN = {1: "m1.position", 2: "m1.position", 3: "m2.position"}
"""What the paper's figures show: the place of a centre of mass."""
LIGHT = 1e-12
"""Mass and moments of inertia of the arm, which has none in the paper (kg, kg m^2)."""


def graph(case: int) -> ct.Model:
    """An example as a multibond graph with ideal joints."""
    return ct.load(HERE / f"bond_example_{case}.yaml")


def soft(case: int) -> ct.Model:
    """The same with C elements in place of the constraints; the parameter ``stiffness`` is theirs."""
    return ct.load(HERE / f"bond_example_{case}_compliant.yaml")


def branch(case: int) -> ct.Model:
    """The same mechanism in branch coordinates."""
    inertia = (4.167e-4, 4.167e-4, 4.167e-4)
    model = ct.Model(f"Filippini 2007, example {case}, branch coordinates", gravity=(0, 0, -9.8))
    model.add(ct.RigidBody("arm", mass=LIGHT, inertia=(LIGHT, LIGHT, LIGHT), frames={"B": (0.3, 0, 0)}))
    frames = {"J2": (-0.1, 0, 0), "J3": (0.15, 0, 0)}
    model.add(ct.RigidBody("m1", mass=1, inertia=inertia, frames=frames))
    rate = 0.5 if case == 1 else 0.0
    model.add(ct.Revolute("J1", "ground", "arm", axis=(0, 0, 1), angle=0.0, angle_rate=rate))
    if case == 1:
        model.add(ct.Spherical("J2", "arm.B", "m1.J2"))
        model.add(ct.SpeedDrive("drive", "J1", speed=0.5))
    else:
        model.add(ct.Revolute("J2", "arm.B", "m1.J2", axis=(0, 1, 0), angle=0.0, angle_rate=0.0))
        model.add(ct.JointActuator("M", "J1", effort=0.1))
    if case == 3:
        model.add(ct.RigidBody("m2", mass=1, inertia=inertia))
        model.add(ct.Prismatic("J3", "m1.J3", "m2", axis=(1, 0, 0), displacement=0.0, displacement_rate=0.0))
        model.add(ct.JointSpring("K", "J3", stiffness=500))
    return model


def reference(case: int) -> dict:
    """An independent solution: instants ``t`` and the ``position`` at each."""
    return json.loads((HERE / "bond_reference.json").read_text(encoding="utf-8"))[f"example_{case}"]


def picture(path: str | Path) -> None:
    """All nine curves of the paper."""
    from matplotlib.figure import Figure

    from cotree.view.figures import COLOURS, INK, save, style

    with style():
        figure = Figure(figsize=(9.6, 7.2), layout="constrained")
        axes = figure.subplots(3, 3, sharex=True)
        for case in CASES:
            name, known = SHOWN[case], reference(case)
            ideal = graph(case).simulate(5.0, points=501)
            joints = soft(case).simulate(5.0, points=501, rtol=1e-8, parameters={"stiffness": 1e4})
            other = branch(case).simulate(5.0, points=101)
            for k, ax in enumerate(axes[case - 1]):
                ax.plot(joints.t, joints[name][:, k], color=COLOURS[1], lw=1.4, label="C joints, 1e4")
                ax.plot(ideal.t, ideal[name][:, k], color=COLOURS[0], lw=1.2, label="ideal joints")
                ax.plot(other.t, other[name][:, k], ".", color=INK, ms=2.6, label="branch formulation")
                values = [place[k] for place in known["position"]]
                ax.plot(known["t"], values, "o", color=INK, mfc="none", ms=6, label="reference")
                ax.set_title(f"fig. {5 * case + 4 + k}", fontsize="medium")
                ax.set_ylabel(f"{'xyz'[k]} of {name.partition('.')[0]} (m)")
        for ax in axes[-1]:
            ax.set(xlabel="time (s)", xlim=(0, 5.1))
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        save(figure, path)


if __name__ == "__main__":
    picture(sys.argv[1] if len(sys.argv) > 1 else "bond_example_3.svg")
