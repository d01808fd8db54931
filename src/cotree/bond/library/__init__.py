"""Bond-graph elements of one dimension by domain, with the names and units of engineers.

Every part is an element I, C, R, Se, Sf, TF or GY. Besides effort and flow it shows them by their names in the domain
(``voltage``, ``current``) and its ``power``, counted as in networks: power that enters it is positive.
"""

from cotree.bond.library import electrical, hydraulic, rotational, thermal, translational

__all__ = ["electrical", "hydraulic", "rotational", "thermal", "translational"]
