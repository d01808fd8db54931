"""Pinocchio: forward dynamics of open chains by the articulated-body algorithm."""

from __future__ import annotations

import time

import numpy as np
from bench.rigid.models import Mechanism


def build(m: Mechanism):  # type: ignore[no-untyped-def]
    """The chain with joint frames parallel to the world in the start position; ImportError where it is missing."""
    import pinocchio as pin

    assert m.open
    assert all(j.kind == "revolute" for j in m.joints)
    model = pin.Model()
    model.gravity.linear = np.array(m.gravity)
    parent, origin = 0, np.zeros(3)
    for body, joint in zip(m.bodies, m.joints, strict=True):
        axis = np.array(joint.axis, dtype=float)
        place = pin.SE3(np.eye(3), np.subtract(joint.point, origin))
        along = {
            (1.0, 0.0, 0.0): pin.JointModelRX,
            (0.0, 1.0, 0.0): pin.JointModelRY,
            (0.0, 0.0, 1.0): pin.JointModelRZ,
        }
        kind = along.get(tuple(axis))
        made = kind() if kind else pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        parent, origin = model.addJoint(parent, made, place, joint.name), np.array(joint.point)
        inertia = pin.Inertia(body.mass, np.subtract(body.centre, origin), body.matrix())
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return pin, model


def forward(
    m: Mechanism, q: np.ndarray, u: np.ndarray, repeats: int = 5, calls: int = 20000
) -> tuple[np.ndarray, float, float]:
    """Accelerations, and microseconds of one forward dynamics in a native loop and called from Python.

    The native loop is `abaInParallel` with one thread over a batch of states. The cheaper of calling `aba` and of the
    batch is what the algorithm costs; the difference is the overhead of the call.
    """
    pin, model = build(m)
    data, tau = model.createData(), np.zeros(model.nv)
    acceleration = np.array(pin.aba(model, data, q, u, tau))
    calls = max(50, calls // len(q))
    single = batch = np.inf
    for _ in range(repeats):
        clock = time.perf_counter()
        for _ in range(calls):
            pin.aba(model, data, q, u, tau)
        single = min(single, (time.perf_counter() - clock) / calls)
    if hasattr(pin, "abaInParallel"):
        pool = pin.ModelPool(model, 1)
        columns = [np.asfortranarray(np.tile(v[:, None], (1, calls))) for v in (q, u, tau)]
        out = np.zeros((model.nv, calls), order="F")
        for _ in range(repeats):
            clock = time.perf_counter()
            pin.abaInParallel(1, pool, *columns, out)
            batch = min(batch, (time.perf_counter() - clock) / calls)
        assert np.allclose(out[:, 0], acceleration)
    return acceleration, 1e6 * min(single, batch), 1e6 * single
