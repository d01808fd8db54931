"""Equations do not depend on the order of sets, which changes from process to process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
WRITE = """
import hashlib, sys
import casadi as ca
import cotree as ct

for path in sys.argv[1:]:
    e = ct.Model.load(path).equations()
    words = [list(e.outputs), e.q.names, e.u.names, e.x.names, e.w.names, e.p.names, [str(d) for d in e.diagnostics]]
    parts = ca.vertcat(e.kinematics, e.rates, e.x_rates, e.algebraic, *(each.expression for each in e.outputs.values()))
    text = ca.Function("f", ca.symvar(parts), [parts]).serialize()
    print(path, hashlib.sha256((repr(words) + text).encode()).hexdigest())
"""


@pytest.mark.parametrize(
    "names",
    [
        ["flexible_robot_arm", "bond_motor_slider_crank"],
        pytest.param([path.stem for path in sorted(EXAMPLES.glob("*.yaml"))], marks=pytest.mark.slow),
    ],
    ids=["some", "all"],
)
def test_every_process_writes_the_same_equations(names: list[str]) -> None:
    paths = [str(EXAMPLES / f"{name}.yaml") for name in names]
    found = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", WRITE, *paths],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) == len(paths)
        found.add(done.stdout)
    assert len(found) == 1
