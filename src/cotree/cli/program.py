"""The program: its commands, and one place in which every failure becomes a message and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer

from cotree._version import __version__
from cotree.cli.console import FAILED, WRONG, complain, exit_code, fresh
from cotree.cli.interrupts import interruptible, requested
from cotree.errors import CotreeError

OK, BUG, INTERRUPTED = 0, 70, 130
EPILOG = """\b
Exit codes: 0 done; 1 a computation failed, what it had is kept; 2 wrong input;
3 done, but a flexible body is outside its theory;
70 an error in Cotree itself; 130 interrupted, what was computed is kept."""

NEXT = """\
Cotree simulates mechanisms, flexible structures, circuits and machines from one linear graph.

  cotree new four_bar mine.yaml            begin with a model that runs (cotree new lists all)
  cotree run mine.yaml --report mine.html  simulate it, and write a page to open in a browser
  cotree list                              the components, with their parameters
  cotree doctor                            versions, and what is missing
  cotree --help                            all commands
"""
COMPLETE = "_COTREE_COMPLETE"
"""Set by a shell that completes a command."""

ROOMS = {
    "run": ("run",),
    "check": ("check",),
    "show": ("graph", "equations", "determinacy"),
    "analysis": ("modes", "statics", "kinematics"),
    "pictures": ("report", "plot"),
    "describe": ("new", "list", "schema"),
    "bench": ("bench",),
    "upgrade": ("upgrade",),
    "doctor": ("doctor",),
}
"""The modules of this room and the commands that each has, in the order of the help."""


def program(first: str = "") -> typer.Typer:
    """The commands of the module that has the command ``first``, which alone is loaded; all where there is none."""
    app = typer.Typer(
        help="Simulate multi-domain systems from one linear graph.", epilog=EPILOG, add_completion=not first,
        pretty_exceptions_enable=False, rich_markup_mode=None,
        context_settings={"max_content_width": 100, "help_option_names": ["--help", "-h"]},
    )  # fmt: skip
    app.callback(invoke_without_command=True)(_root)
    for room in [room for room, names in ROOMS.items() if not first or first in names]:
        for command, examples in import_module(f"cotree.cli.{room}").COMMANDS.items():
            app.command(command.__name__.rstrip("_"), epilog=f"\b\nExamples:\n{examples}")(command)
    return app


def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="show the version and leave")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="show where an error was raised; after any command")] = False,
) -> None:
    if version:
        print(__version__)
    elif context.invoked_subcommand is None:
        print(NEXT, end="")


def main() -> None:
    """Entry point: every failure becomes one message and an exit code, and a traceback only with ``--debug``."""
    fresh()
    if COMPLETE in os.environ:
        typer.main.get_command(program())(prog_name="cotree")
    arguments = [each for each in sys.argv[1:] if each != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    sys.exit(_code(arguments, debug, "--json" in arguments))


def _code(arguments: list[str], debug: bool, as_json: bool) -> int:
    """Run a command and return its exit code."""
    with interruptible():
        try:
            _call(arguments)
            sys.stdout.flush()
        except typer.Exit as left:
            return left.exit_code
        except BrokenPipeError:  # the reader of a pipe has gone, and has had what it wanted
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return OK
        except (Exception, KeyboardInterrupt) as error:
            code, message = _told(error, requested())
            if debug:
                traceback.print_exc()
            complain(error, message, None if not as_json else code)
            return code
    return OK


def _call(arguments: list[str]) -> None:
    first = arguments[0] if arguments else ""
    command = typer.main.get_command(program(first if any(first in names for names in ROOMS.values()) else ""))
    with command.make_context("cotree", arguments) as context:
        command.invoke(context)


def _told(error: BaseException, interrupted: bool) -> tuple[int, str]:
    """The exit code of a failure, and its message where it has no good one of its own."""
    if interrupted or isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, "" if getattr(error, "solution", None) is not None else "interrupted; there are no results"
    if isinstance(error, CotreeError):
        return exit_code(error), ""
    if isinstance(error, _USAGE):
        context: Any = getattr(error, "ctx", None)
        hint = f" Try '{context.command_path} --help'." if context is not None else ""
        return WRONG, f"{error.format_message().rstrip('.')}.{hint}"
    if isinstance(error, MemoryError):
        return FAILED, "there is not enough memory. Ask for fewer output times with --points, or a smaller model."
    found = f"{type(error).__name__}: {error}".splitlines()[0][:300]
    return BUG, f"an error in Cotree itself ({found}). Please report it with the model and the output of --debug."


_USAGE: Any = typer.BadParameter.__mro__[2]
"""The root of what is wrong in a command's words; its module has moved between versions of typer."""
