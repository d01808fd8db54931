"""One law per kind of component. Importing this package registers every component class under its kind.

All modules of the package and of its folders are imported, so that a new file needs no entry anywhere.
"""

from importlib import import_module
from pkgutil import walk_packages

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)
