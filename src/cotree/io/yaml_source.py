"""YAML read as plain data with the line of every entry; nothing but scalars, lists and mappings comes out.

Duplicate keys are errors instead of silent losses, and anchors are refused, so a file is never larger than it looks.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from cotree.errors import FileError

MAX_BYTES = 20_000_000

Path_ = tuple[str | int, ...]


class Source:
    """The plain data of a YAML text, and the line on which each entry stands."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.lines: dict[Path_, int] = {}
        try:
            loader = _Loader(text)
            node = loader.get_single_node()
            self.data: Any = None if node is None else self._plain(loader, node, ())
        except yaml.MarkedYAMLError as reason:
            line = reason.problem_mark.line + 1 if reason.problem_mark else 1
            raise FileError(f"this is not YAML: {reason.problem}", where=f"{name}:{line}") from None
        except yaml.YAMLError as reason:
            raise FileError(f"this is not YAML: {reason}", where=name) from None
        except RecursionError:
            raise FileError("the entries are nested too deeply", where=name) from None

    def place(self, *path: str | int) -> str:
        """``file:line`` of an entry, or of the nearest entry around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.name}:{self.lines.get(path, 1)}"

    def _plain(self, loader: _Loader, node: yaml.Node, path: Path_) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            result: dict[Any, Any] = {}
            for key_node, value_node in node.value:
                key = loader.construct_object(key_node) if isinstance(key_node, yaml.ScalarNode) else None
                line = key_node.start_mark.line + 1
                if isinstance(key, bool):  # YAML reads yes, no, on and off as truth values; as a key they are names
                    key = key_node.value
                if not isinstance(key, (str, int)):
                    found = getattr(key_node, "value", "a list or mapping")
                    raise FileError(
                        f"the key '{found}' is not a name",
                        where=f"{self.name}:{line}",
                        remedy="Put it in quotes: YAML reads ~ and null as nothing",
                    )
                key = str(key)
                if key in result:
                    raise FileError(
                        f"the name '{key}' is used twice, first in line {self.lines[(*path, key)]}",
                        where=f"{self.name}:{line}",
                        remedy="Rename one of them",
                    )
                self.lines[(*path, key)] = line
                result[key] = self._plain(loader, value_node, (*path, key))
            return result
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(loader, item, (*path, k)) for k, item in enumerate(node.value)]
        return loader.construct_object(node)


class _Loader(yaml.SafeLoader):
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None, None, "anchors and aliases (& and *) are not used", event.start_mark
            )
        return super().compose_node(parent, index)


# YAML 1.1 takes 2.1e11 for text, because its exponent has no sign; everybody else takes it for a number.
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE]\d+\Z"), list("-+.0123456789")
)


def read_source(path: Path) -> Source:
    """The data of a YAML file, or a `FileError`."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise FileError(
                f"the file has {path.stat().st_size} bytes", where=str(path), expected=f"at most {MAX_BYTES}"
            )
        text = path.read_text(encoding="utf-8")
    except OSError as reason:
        raise FileError(f"cannot read {path}: {reason.strerror or reason}", remedy="Check the path") from None
    except UnicodeDecodeError:
        raise FileError("the file is not text in UTF-8", where=str(path)) from None
    return Source(text, str(path))
