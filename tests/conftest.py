"""What every test leaves as it found it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from cotree.model.component import KINDS, _short_names

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell lets what it runs in the background ignore it
    signal.signal(signal.SIGINT, signal.default_int_handler)


LONG = (
    "benchmarks/test_bond_examples.py::test_c_joints_come_to_ideal_joints_as_their_stiffness_grows[3]",
    "benchmarks/test_flexible_panels.py::test_residual_vibration_has_the_frequencies_of_the_deployed_structure",
    "benchmarks/test_rigid_classics.py::test_a02_forty_loops[1e-08]",
    "benchmarks/test_rigid_trees.py::test_every_tree_gives_the_same_motion_and_reactions[RSCR",
    "benchmarks/test_rigid_trees.py::test_every_tree_gives_the_same_motion_and_reactions[double",
    "benchmarks/test_rigid_trees.py::test_every_tree_gives_the_same_motion_and_reactions[platform",
    "benchmarks/test_rigid_trees.py::test_every_tree_gives_the_same_motion_and_reactions[screw",
    "examples/test_flexible_examples.py::test_pendulum_moves_alike_whatever_carries_its_frame",
    "fem/test_beam_lateral.py::test_a_strip_in_a_model_buckles_at_prandtls_force",
    "formulation/test_flexible_physics.py::test_all_descriptions_converge_to_each_other",
    "graph/test_graph_scale.py::test_random_multigraph",
    "view/test_report.py::test_big_models_are_cut",
    "view/test_report_browser.py::test_every_kind_of_model_works_on_a_phone_in_the_dark[deployable_five_bar]",
)
"""Tests that take long and whose like is tested quickly elsewhere: `make test-all` runs them."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what takes long."""
    for item in items:
        if item.nodeid.removeprefix("tests/").startswith(LONG):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _kinds_of_tests() -> Iterator[None]:
    """Kinds that a test defines are forgotten after it; those of the package stay, whenever they are loaded."""
    before = set(KINDS)
    yield
    for kind in [kind for kind in KINDS.keys() - before if not KINDS[kind].__module__.startswith("cotree.")]:
        del KINDS[kind]
        _short_names.cache_clear()
