"""Kinds of components by name. A room is loaded when a kind of it is looked up, all of them when kinds are listed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from cotree._names import HOME
from cotree.errors import ModelError, listing, nearest
from cotree.model.renamed import KINDS as RENAMED

if TYPE_CHECKING:
    from cotree.model.component import Component

ROOMS = ("cotree.terminal", "cotree.bond")
"""Packages whose modules define components. They are imported by name, since they stand above this one."""


class Kinds(Mapping[str, "type[Component]"]):
    """Every concrete component class by its kind, as model files name it."""

    def __init__(self) -> None:
        self._loaded: dict[str, type[Component]] = {}
        self._complete = False

    def add(self, cls: type[Component]) -> None:
        """Register a class under its kind."""
        self._loaded[cls.kind] = cls

    def __getitem__(self, kind: str) -> type[Component]:
        if kind not in self._loaded and not self._complete:
            module = _home(kind)
            if module:
                import_module(module)
            if kind not in self._loaded:
                self._load()
        return self._loaded[kind]

    def __delitem__(self, kind: str) -> None:
        del self._loaded[kind]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(self._loaded)

    def __len__(self) -> int:
        self._load()
        return len(self._loaded)

    def _load(self) -> None:
        """Import every module of the rooms, so that a new file needs no entry anywhere."""
        if not self._complete:
            for room in map(import_module, ROOMS):
                for module in walk_packages(room.__path__, f"{room.__name__}."):
                    import_module(module.name)
            self._complete = True


def snake(name: str) -> str:
    """``RigidBody`` as ``rigid_body``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


KINDS = Kinds()


def _home(kind: str) -> str:
    """The module that defines a kind, as far as its name tells: ``thermal.loss`` is in ``cotree.terminal.thermal``."""
    room = kind.partition(".")[0]
    if room == "bond":
        return "cotree.bond"
    module = f"cotree.terminal.{room}"
    return module if "." in kind and room.isidentifier() and find_spec(module) is not None else ""


PARTS = {snake(name): (name, module) for name, module in HOME.items() if name[0].isupper() and ".terminal." in module}
"""Parts that `cotree` itself holds, by the word for their kind, with name and module."""


def find_kind(kind: object, where: str, fields: Collection[str] = ()) -> type[Component]:
    """The class of a kind: ``thermal.loss`` is ``cotree.thermal.Loss``, ``revolute`` is ``cotree.Revolute``.

    Parts of bond graphs may do without their room: ``Se`` is ``bond.Se``. ``fields`` are the keys that are given with
    the kind; they tell which one is meant where a word is not enough.
    """
    remedy = ""
    if isinstance(kind, str):
        if kind in PARTS:
            name, module = PARTS[kind]
            return _checked(getattr(import_module(module), name), kind, where, fields)
        if kind in RENAMED:
            raise ModelError(
                f"the kind '{kind}' is now '{RENAMED[kind]}'",
                where=where,
                remedy=f"Write '{RENAMED[kind]}', or let 'cotree upgrade' rewrite the file",
            )
        for each in (kind, f"bond.{kind}"):
            if each in KINDS:
                return KINDS[each]
        remedy = _by_class(kind, fields) or common(kind) or _nearest(kind)
    raise ModelError(
        f"there is no kind of component {kind!r}" if kind is not None else "no kind is given",
        where=where,
        expected=f"one of {listing(sorted(KINDS), 60)}" if kind is None else "a known kind",
        remedy="" if kind is None else remedy or f"Known kinds: {listing(sorted(KINDS), 60)}",
    )


def _nearest(kind: str) -> str:
    """The kind that is nearest to a wrong one, by its whole name or by its last word."""
    words = {name.rpartition(".")[2]: name for name in KINDS if not name.startswith("bond.")}
    close = nearest(kind, words)
    meant = words.get(close.partition("'")[2].partition("'")[0])
    whole = nearest(kind, [*(name.removeprefix("bond.") for name in KINDS), *KINDS])
    return whole or (f"did you mean '{meant}'?" if meant else "")


def _checked(cls: type[Component], word: str, where: str, fields: Collection[str]) -> type[Component]:
    """A class that a word alone means, unless another with the same word has the fields that this one lacks."""
    known = cls.data_fields()
    strange = [key for key in fields if key not in known]
    if strange:
        others = [kind for kind, each in KINDS.items() if word in (kind.rpartition(".")[2], snake(each.__name__))]
        fitting = [kind for kind in others if set(fields) <= set(KINDS[kind].data_fields())]
        if fitting:
            raise ModelError(
                f"{word} has no field '{strange[0]}'",
                where=where,
                expected=f"one of {listing(known, 20)}",
                remedy=f"did you mean {' or '.join(repr(kind) for kind in fitting)}?",
            )
    return cls


COMMON_WORDS = {
    "spring_damper": ("spring", "joint_spring"), "dashpot": ("damper", "joint_damper"),
    "hinge": ("revolute",), "pin": ("revolute",), "slider": ("prismatic",), "ball": ("spherical",),
    "ball_joint": ("spherical",), "servo": ("drive", "joint_actuator"), "battery": ("voltage_source",),
    "link": ("rigid_body",), "rod": ("rigid_body",), "motor": ("machines.dc_motor", "machines.hydraulic_motor"),
    "generator": ("machines.dc_motor", "machines.synchronous"), "alternator": ("machines.synchronous",),
    "pmsm": ("machines.synchronous",), "electromagnet": ("machines.solenoid",), "loudspeaker": ("machines.voice_coil",),
    "torsion": ("rotational.shaft",), "pulley": ("rotational.belt", "wheel"), "chain": ("rotational.belt",),
    "lookup": ("control.table",), "limiter": ("control.saturation",), "lag": ("control.transfer_function",),
    "zero_order_hold": ("control.sample_hold",), "transport_delay": ("control.delay",), "controller": ("control.pid",),
    "lqr": ("control.state_feedback",), "throttle": ("hydraulic.orifice", "pneumatic.orifice"),
    "pressure_relief": ("hydraulic.relief",), "servo_valve": ("hydraulic.valve",), "reservoir": ("hydraulic.tank",),
    "jack": ("hydraulic.cylinder",),
}  # fmt: skip
"""Kinds as other programs call them, with the kinds that are meant."""


def common(word: object) -> str:
    """What to write for a kind as another program calls it; empty where there is nothing."""
    meant = COMMON_WORDS.get(str(word).lower(), ())
    return f"did you mean {' or '.join(repr(each) for each in meant)}?" if meant else ""


def _by_class(kind: str, fields: Collection[str]) -> str:
    """``did you mean 'nodal.node_gear'?`` for ``nodal.gear``, since the class is called Gear.

    A word without a domain counts only where the class has all the fields that are given with it.
    """
    domain, _, word = kind.rpartition(".")
    for name, cls in KINDS.items():
        home, _, own = name.rpartition(".")
        fits = home == domain if domain else bool(fields) and set(fields) <= set(cls.data_fields())
        if fits and own != word == snake(cls.__name__):
            return f"did you mean '{name}'?"
    return ""
