"""The models of the net: every example, every benchmark, models with every kind of component, and faults that run."""

from __future__ import annotations

import importlib
import runpy
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import cotree as ct
from cotree.terminal.control import Function
from golden import faults, probe
from golden.probe import Loaded

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
KINDS = Path(__file__).with_name("models")


@dataclass(frozen=True)
class Case:
    """A model of the net."""

    name: str
    make: Callable[[], Loaded]
    quick: bool = False
    """Whether it belongs to the part that every change is tested with."""


PARTS = {
    "bond_example_1": 0.4,
    "bond_example_2": 0.4,
    "bond_example_3": 0.4,
    "bond_example_1_compliant": 0.1,
    "bond_example_2_compliant": 0.1,
    "bond_example_3_compliant": 0.05,
    "deployable_mast": 0.3,
    "deployable_reflector": 0.1,
    "deployable_ring_truss": 0.1,
    "deployable_scissor_ring": 0.3,
    "flexible_four_bar": 0.2,
    "flexible_panel_strips": 0.05,
    "flexible_panels": 0.05,
    "flexible_pendulum": 0.1,
    "flexible_robot_arm": 0.1,
    "flexible_spin_up": 0.2,
    "machine_excavator": 0.2,
    "machine_flexible_four_bar": 0.2,
}
"""The part of its time that an expensive example runs for."""
SHORT = {
    "bond_compliant": 0.1,
    "bond_frames": 0.2,
    "bond_hydraulic": 1e-7,
    "bond_library": 0.1,
    "bond_mechanics": 0.1,
    "bond_signals": 0.1,
    "flexible_beam": 0.1,
    "flexible_panel": 0.01,
    "network_electrical": 0.01,
}
"""How long models of kinds run for that say nothing, or more than a test has time for."""
QUICK = {
    "example/four_bar", "example/slider_crank", "example/bricard", "example/bond_example_2", "example/quarter_car",
    "example/machine_winch", "example/machine_punch_press", "example/deployable_five_bar",
    "example/flexible_slider_crank", "example/spinning_top", "example/sallen_key", "example/house_wall",
    "kind/mechanism_joints", "kind/nodal", "kind/mechanism_constraints", "kind/mechanism_pendulum",
    "kind/mechanism_coupled", "kind/network_electrical", "kind/network_hydraulic", "kind/network_pneumatic",
    "kind/network_rotary", "kind/network_machines", "kind/network_driveline", "kind/network_domains", "kind/control",
    "kind/bond_hydraulic", "kind/bond_library", "kind/bond_masks", "kind/bond_signals", "kind/flexible_beam",
    "kind/flexible_panel", "kind/machine_mounts", "kind/nodal_gear", "bench/rigid/squeezer", "fault/A2_oscillator",
    "fault/A13_hoist", "fault/A18_door",
}  # fmt: skip


def _file(path: Path, part: float = 1.0, t_end: float | None = None) -> Loaded:
    loaded = probe.load(path)
    return replace(loaded, t_end=t_end or (loaded.t_end or 1.0) * part)


def _bench(module: str) -> Any:
    """A module of the benchmarks, which are no package that is installed."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    return importlib.import_module(f"bench.{module}")


def _rigid(name: str) -> Loaded:
    models, side = _bench("rigid.models"), _bench("rigid.cotree_side")
    made = {
        "chain": partial(models.chain, 10),
        "four_bars": partial(models.four_bars, 5),
        "squeezer": models.squeezer,
        "bricard": models.bricard,
        "stewart": models.stewart,
        "robot": models.robot,
    }[name]()
    return Loaded(side.build(made), min(1.0, made.times[-1]))


def _flexible(name: str, form: tuple[Any, ...], **more: Any) -> Loaded:
    models = _bench("flexible.cotree_models")
    return Loaded(getattr(models, name)(models.Form(*form, **more)), 1.0 if name == "spin_up" else 0.005)


def _nodal(sides: int) -> Loaded:
    ring = _bench("nodal.reference").Ring(sides)
    from cotree.structures import ring_truss

    options = {"edge": ring.edge, "height": ring.height, "density": ring.density, "tension": ring.tension}
    return Loaded(ring_truss(sides, **options), 0.5)


def _bond(name: str, side: str) -> Loaded:
    pair = _bench("bond.models").pairs()[name]
    return Loaded(getattr(pair, side)(), 0.3)


def _machine(name: str, *given: Any) -> Loaded:
    module = _bench("machines")
    witness = module.SampledSliderCrank(period=module.PERIOD)
    made = {
        "rectifier": lambda: module.rectifier(*given),
        "shaken": lambda: module.shaken(*given),
        "pulsed": lambda: module.pulsed(witness, *given),
        "sampled": lambda: module.sampled_slider_crank(witness, module.PERIOD),
        "smooth": lambda: module.slider_crank(witness, planar=True),
    }[name]()
    return Loaded(made, 0.02)


def _line(sections: int) -> Loaded:
    return Loaded(_bench("network").line(sections), 4.0)


def _script(file: str, name: str, *given: Any, t_end: float) -> Loaded:
    """A model that a script of the examples builds."""
    return Loaded(runpy.run_path(str(EXAMPLES / file))[name](*given), t_end)


def _function() -> Loaded:
    """The one kind that no file can hold: a controller that is a Python function."""
    model = ct.Model("function")
    model.add(ct.VoltageSource("V", ("a", "ground"), voltage="c.value"))
    model.add(ct.Resistor("R", ("a", "b"), resistance=2.0))
    model.add(ct.Capacitor("C", ("b", "ground"), capacitance=0.1, initial=0.5))
    given = {"inputs": ["C.voltage"], "function": lambda t, inputs: 3.0 * (1.0 + t - inputs[0]), "period": 0.05}
    model.add(Function("c", unit="V", **given))
    return Loaded(model, 1.0)


def _as_bonds(name: str) -> Loaded:
    """A mechanism as a bond graph: the kinds that are made from mechanisms."""
    return Loaded(probe.load(KINDS / f"{name}.yaml").model.to_bond_graph(), 0.2)


def _cases() -> dict[str, Case]:
    every: dict[str, Callable[[], Loaded]] = {}
    for path in sorted(EXAMPLES.glob("*.yaml")):
        every[f"example/{path.stem}"] = partial(_file, path, PARTS.get(path.stem, 1.0))
    every["example/stewart_platform"] = partial(_script, "stewart_platform.py", "platform", t_end=0.5)
    for case in (1, 2, 3):
        every[f"example/bond_example_{case}_branch"] = partial(_script, "bond_example_3.py", "branch", case, t_end=2.0)
    every["example/five_bar_down"] = partial(_script, "deployable_five_bar.py", "model", "down", t_end=0.5)
    for path in sorted(KINDS.glob("*.yaml")):
        if not path.stem.startswith("part_"):
            every[f"kind/{path.stem}"] = partial(_file, path, t_end=SHORT.get(path.stem))
    every["kind/function"] = _function
    for name in ("joints", "constraints", "coupled", "loop", "pendulum"):
        every[f"kind/mechanism_{name}_bonds"] = partial(_as_bonds, f"mechanism_{name}")
    for name in ("chain", "four_bars", "squeezer", "bricard", "stewart", "robot"):
        every[f"bench/rigid/{name}"] = partial(_rigid, name)
    every["bench/flexible/spin_up_rigid"] = partial(_flexible, "spin_up", (3, "rigid"))
    every["bench/flexible/spin_up_full"] = partial(_flexible, "spin_up", (3, "full"))
    every["bench/flexible/spin_up_series"] = partial(
        _flexible, "spin_up", (1, "full"), elements=4, pieces=2, axial=True
    )
    every["bench/flexible/four_bar_none"] = partial(_flexible, "four_bar", (2, "none"))
    every["bench/flexible/four_bar_series"] = partial(
        _flexible, "four_bar", (1, "full"), elements=4, pieces=2, axial=True
    )
    every["bench/nodal/ring_10"] = partial(_nodal, 10)
    for name in ("slider_crank", "chain10"):  # the others are among the examples
        every[f"bench/bond/{name}_graph"] = partial(_bond, name, "graph")
        every[f"bench/bond/{name}_branch"] = partial(_bond, name, "branch")
    for name, switching in (("rectifier", True), ("rectifier", False), ("shaken", True), ("shaken", False)):
        every[f"bench/machine/{name}{'' if switching else '_smooth'}"] = partial(_machine, name, switching)
    every["bench/machine/pulsed"] = partial(_machine, "pulsed", "24*pulse(t, 0.0008, 0.002)")
    every["bench/machine/sampled"] = partial(_machine, "sampled")
    every["bench/machine/smooth"] = partial(_machine, "smooth")
    every["bench/network/line_20"] = partial(_line, 20)
    every |= {f"fault/{name}": make for name, make in faults.MODELS.items()}
    return {name: Case(name, make, name in QUICK) for name, make in every.items()}


CASES = _cases()
