"""One law per kind of component. Importing this package registers every component class under its kind."""

from cotree.terminal import electrical, hydraulic, rotational, thermal, transducer, translational

__all__ = ["electrical", "hydraulic", "rotational", "thermal", "transducer", "translational"]
