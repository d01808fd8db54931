"""MuJoCo: open chains and the robot in its joint angles, fourth-order Runge-Kutta; forward dynamics.

Its loop closures are soft constraints and do not converge to the rigid mechanism, so closed mechanisms are left out.
"""

from __future__ import annotations

import time

import numpy as np
from bench.rigid.models import Mechanism
from bench.rigid.references import Motion


def text(values: object) -> str:
    """Numbers for an attribute, all digits."""
    return " ".join(repr(float(v)) for v in np.asarray(values, dtype=float))


def xml(m: Mechanism, step: float) -> str:
    """The mechanism in MuJoCo's format: nested bodies whose frames sit at the centres of mass."""
    assert m.open
    assert all(j.kind == "revolute" for j in m.joints)
    opening, closing = [], []
    for k, (body, joint) in enumerate(zip(m.bodies, m.joints, strict=True)):
        before = m.centre(m.bodies[k - 1].name) if k else np.zeros(3)
        place = np.subtract(body.centre, before)
        control = f'stiffness="{joint.stiffness!r}" springref="{joint.target!r}" damping="{joint.damping!r}"'
        sites = "".join(
            f'<site name="{name}" pos="{text(m.local(body.name, point))}"/>'
            for name, (owner, point) in m.points.items()
            if owner == body.name
        )
        opening.append(
            f'<body name="{body.name}" pos="{text(place)}">'
            f'<joint type="hinge" pos="{text(m.local(body.name, joint.point))}" axis="{text(joint.axis)}" {control}/>'
            f'<inertial pos="0 0 0" mass="{body.mass!r}" fullinertia="{text(body.inertia)}"/>{sites}'
        )
        closing.append("</body>")
    return (
        f'<mujoco><compiler angle="radian" balanceinertia="false"/>'
        f'<option timestep="{step!r}" gravity="{text(m.gravity)}" integrator="RK4"><flag contact="disable" '
        f'constraint="disable" energy="disable"/></option>'
        f"<worldbody>{''.join(opening)}{''.join(closing)}</worldbody></mujoco>"
    )


class Model:
    """A mechanism that is ready to run."""

    def __init__(self, m: Mechanism) -> None:
        """Compile the model; ImportError where MuJoCo is not installed."""
        import mujoco

        mujoco.set_mju_user_warning(lambda text: None)  # it would write a file into the current folder
        self.mujoco, self.m = mujoco, m
        clock = time.perf_counter()
        self.model = mujoco.MjModel.from_xml_string(xml(m, 1e-3))
        self.data = mujoco.MjData(self.model)
        self.seconds_setup = time.perf_counter() - clock
        self.sites = {name: self.model.site(name).id for name in m.points}

    def run(self, steps: int) -> tuple[Motion, float]:
        """Motion on the grid and seconds of stepping; steps is a multiple of the grid's intervals."""
        mj, model, data, m = self.mujoco, self.model, self.data, self.m
        each = steps // m.intervals
        model.opt.timestep = m.t_end / steps
        mj.mj_resetData(model, data)
        data.qvel[:] = [j.rate for j in m.joints]
        states = np.empty((m.intervals + 1, model.nq))
        states[0] = data.qpos
        clock = time.perf_counter()
        for k in range(m.intervals):
            mj.mj_step(model, data, each)
            states[k + 1] = data.qpos
        seconds = time.perf_counter() - clock
        motion: Motion = {name: np.empty((m.intervals + 1, 3)) for name in self.sites}
        for k, q in enumerate(states):
            data.qpos[:] = q
            mj.mj_kinematics(model, data)
            for name, site in self.sites.items():
                motion[name][k] = data.site_xpos[site]
        return motion, seconds


def forward(
    m: Mechanism, q: np.ndarray, u: np.ndarray, repeats: int = 5, calls: int = 2000
) -> tuple[np.ndarray, float]:
    """Accelerations and microseconds of one forward dynamics: mj_forward in a native loop of explicit steps."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(xml(m, 1e-9))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, u
    mujoco.mj_forward(model, data)
    acceleration = np.array(data.qacc)
    calls = max(20, calls // len(q))
    best = np.inf
    for _ in range(repeats):
        data.qpos[:], data.qvel[:] = q, u
        clock = time.perf_counter()
        mujoco.mj_step(model, data, calls)  # four forward dynamics a step; nothing else of weight
        best = min(best, (time.perf_counter() - clock) / calls / 4)
    return acceleration, 1e6 * best
