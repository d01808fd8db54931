"""Deployable structures made by functions: each returns a model in nodal coordinates that is ready to simulate.

>>> import cotree as ct
>>> ct.structures.ring_truss(sides=10).simulate(t_end=8.0)

Sizes and angles are numbers, since they place the nodes. Masses, densities, tensions and stiffnesses become parameters
of the model, so that they can be changed without making it anew. Lengths are in m, angles in rad.
"""

from cotree.structures.linkages import five_bar
from cotree.structures.mast import triangular_mast
from cotree.structures.miura import miura
from cotree.structures.reflector import reflector
from cotree.structures.ring import ring_truss
from cotree.structures.scissors import scissor_chain, scissor_ring
from cotree.structures.tetrahedral import tetrahedral_reflector

__all__ = [
    "five_bar",
    "miura",
    "reflector",
    "ring_truss",
    "scissor_chain",
    "scissor_ring",
    "tetrahedral_reflector",
    "triangular_mast",
]
