"""The one place that holds the version; pyproject.toml and docs/conf.py read it from here."""

__version__ = "0.1.0"
