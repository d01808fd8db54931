"""The program, run in this process as the installed one would be."""

import sys
from types import SimpleNamespace

import pytest

from cotree.cli import main


@pytest.fixture
def cotree(monkeypatch, capsys):
    """Run a command; what it returned and printed."""

    def command(*arguments, cwd=None):
        monkeypatch.setattr(sys, "argv", ["cotree", *map(str, arguments)])
        if cwd is not None:
            monkeypatch.chdir(cwd)
        with pytest.raises(SystemExit) as left:
            main()
        return SimpleNamespace(returncode=left.value.code or 0, **capsys.readouterr()._asdict())

    return command
