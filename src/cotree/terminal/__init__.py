"""One law per kind of component. Importing this package registers every component class under its kind.

All modules of the package are imported, so that a new file needs no entry anywhere.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
