"""What fields of flexible bodies mean, and what a model file may hold in them."""

from __future__ import annotations

from cotree.fem.material import material_schema
from cotree.fem.section import section_schema
from cotree.model.form import TEXT, VALUE, WHOLE, Schema, either, named, one_of, or_null, said, several
from cotree.terminal.deformable import NAMES


def _mesh() -> Schema:
    from cotree.fem.mesh import mesh_schema

    return mesh_schema()


def _plate() -> Schema:
    from cotree.fem.plate import plate_schema

    return plate_schema()


MOST_SEGMENTS = 200
"""Most bodies of one beam."""
SECTION = said("cross-section", section_schema)
MATERIAL = said("material: a name such as steel, or its values", material_schema)
SHEAR = said("whether beams shear (Timoshenko)")
ROTARY = said("whether sections have rotary inertia")
MASS = said("mass matrix: consistent with the stiffness, or linear between nodes")
OFFSET = said("way (y, z) in m from the nodes to the centroid of the section")
AUTO = "auto"
"""A number that a first look at the motion decides."""
SEGMENTS = said(
    "number of bodies in series that the beam is cut into, or auto",
    either({**WHOLE, "minimum": 1, "maximum": MOST_SEGMENTS}, one_of((AUTO,))),
)
MESH = said("mesh: a builder, nodes with cells, or a file", _mesh)
PLATE = said("what its triangles are made of", _plate)
RIGID = said("frames with the set or nodes that move as one with it", named(either(TEXT, WHOLE, several(WHOLE, 1))))
HELD = said("sets of nodes with degrees of freedom that stay zero", named(or_null(NAMES)))
MOST_STATIONS = 100
STATIONS = said(
    "places with results for section forces: a number, even from start to end, or a list of places in m",
    either({**WHOLE, "minimum": 0, "maximum": MOST_STATIONS}, several(VALUE, 1)),
)
