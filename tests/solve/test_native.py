"""Compiled right-hand sides: the same results, kept on disk by content, and never needed."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.rigid_models import double_pendulum, four_bar
from cotree.solve import native


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COTREE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.skipif(native.compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("integrator", ["adams", "rk8"])
@pytest.mark.parametrize("build", [double_pendulum, four_bar])
def test_machine_code_gives_the_same_motion(build, integrator, cache: Path) -> None:
    model = build()
    options = {"integrator": integrator, "rtol": 1e-10, "points": 11}
    plain = model.simulate(0.5, compiled=False, **options)
    fast = model.simulate(0.5, compiled=True, **options)
    for name in plain.states:
        np.testing.assert_allclose(fast[name], plain[name], rtol=0, atol=1e-7)  # both have errors of their own
    libraries = sorted(path.name for path in cache.glob("*.so"))
    assert libraries
    build().simulate(0.5, compiled=True, **options)
    assert sorted(path.name for path in cache.glob("*.so")) == libraries  # found by content


def test_nothing_is_lost_without_a_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "compiler", lambda: None)
    solution = double_pendulum().simulate(0.2, compiled=True, points=3)
    assert solution.complete
    assert not cache.exists()


def test_a_compiler_that_fails_changes_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "compiler", lambda: ("false", "a program that fails"))
    solution = double_pendulum().simulate(0.2, compiled=True, points=3)
    assert solution.complete
    assert not list(cache.glob("*.so"))


def test_short_runs_are_not_worth_it() -> None:
    assert not native.worth_compiling(1_000, 1_000)
    assert native.worth_compiling(1_000, 1_000_000)
