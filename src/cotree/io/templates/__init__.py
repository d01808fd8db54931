"""Model files to begin with: short, with comments that teach the format. Each is a file in this folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

ORDER = (
    "pendulum", "four_bar", "slider_crank", "robot_arm", "flexible_beam", "truss", "circuit", "dc_motor", "motor",
    "bond_graph", "empty",
)  # fmt: skip
"""In which order they are listed: the simplest first."""


@dataclass(frozen=True)
class Template:
    """A model file to begin with."""

    name: str
    summary: str
    """Its first line."""
    text: str

    def beside(self, schema: str) -> str:
        """The text with a first line that tells editors which schema, a file beside it, to check and complete by."""
        return f"# yaml-language-server: $schema={schema}\n{self.text}"


def _template(name: str) -> Template:
    text = (files(__name__) / f"{name}.yaml").read_text(encoding="utf-8")
    return Template(name, text.partition("\n")[0].removeprefix("# ").removesuffix("."), text)


TEMPLATES: dict[str, Template] = {name: _template(name) for name in ORDER}
"""The templates by name."""
