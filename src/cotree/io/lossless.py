"""What is written must come back the same: a model that a file cannot hold is refused by name before it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from cotree.errors import CotreeError, ModelError, listing
from cotree.model import KINDS, Component, Model

Read = Callable[[str, dict[str, Any]], Component]
"""How a component is made from its entry in a file."""
HOME = __name__.partition(".")[0]


def check_classes(components: Mapping[str, Component], where: str = "") -> None:
    """Refuse components of classes that are not part of Cotree, which whoever reads the file would not have."""
    for name, component in components.items():
        cls, path = type(component), f"{where}{name}"
        if KINDS.get(cls.kind) is not cls or cls.__module__.partition(".")[0] != HOME:
            raise ModelError(
                f"it is a {cls.__module__}.{cls.__qualname__}, a class of your own, which a file cannot hold",
                where=path,
                expected="components of Cotree",
                remedy="Keep the model in Python, or describe the part by components of Cotree",
            )
        for inner in _inside(component):
            check_classes(inner, f"{path}.")


def _inside(component: Component) -> Iterator[Mapping[str, Component]]:
    """Components that a component holds: those of a mask, or the one that a part stands for."""
    for f in fields(component):
        value = getattr(component, f.name)
        if isinstance(value, Component):
            yield {f.name: value}
        elif isinstance(inner := getattr(value, "components", None), Mapping):
            yield inner


def check_lossless(model: Model, entries: Mapping[str, Any], read: Read) -> None:
    """Refuse a model of which an entry, read again, would not give the component that it was written from.

    ``entries`` are the components as plain data, by name.
    """
    for name, entry in entries.items():
        component = model.components[name]
        _check_plain(entry, name)
        try:
            again = read(name, entry)
        except CotreeError as reason:
            raise ModelError(f"a file cannot hold it: {reason.found}", where=reason.where or name) from None
        if again != component:
            other = (f.name for f in fields(component) if getattr(again, f.name, None) != getattr(component, f.name))
            _refuse(f"{name}.{field}" if (field := next(other, "")) else name, getattr(component, field, component))


def _check_plain(value: Any, where: str) -> None:
    """Numbers, text, lists and mappings with names are all that a file can hold."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                _refuse(where, key)
            _check_plain(each, f"{where}.{key}")
    elif isinstance(value, list):
        for each in value:
            _check_plain(each, where)
    elif not (value is None or isinstance(value, str | bool | int | float)):
        _refuse(where, value)


def _refuse(where: str, value: Any) -> None:
    what = "a Python function" if callable(value) else listing([repr(value)])
    raise ModelError(
        f"found {what}, which a file cannot hold", where=where, expected="numbers, text, and lists or mappings of them"
    )
