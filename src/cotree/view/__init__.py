"""Pictures and pages: the drawn graph, plots over time, and the report of a run. Only this room loads matplotlib.

Its modules are loaded when they are used, so that a run in Python does not wait for matplotlib.
"""
