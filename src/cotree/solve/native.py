"""Compiled code: a function as C, built once by the system's compiler and kept on disk by its content.

A compiler is an accelerator, never a requirement: where there is none, or it fails, the function itself is used.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LONG = 6_000
"""Instructions beyond which the compiler optimises less, because its time grows faster than the code."""
SECONDS_PER_INSTRUCTION = 2.5e-4
"""What the compiler takes, roughly."""
INTERPRETED, NATIVE = 12e-9, 1.5e-9
"""Seconds for one instruction, interpreted and compiled, roughly."""


def cache_folder() -> Path:
    """Where compiled code is kept: ``COTREE_CACHE``, or ``cotree`` in the user's cache folder."""
    own = os.environ.get("COTREE_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "cotree"


@lru_cache(maxsize=1)
def compiler() -> tuple[str, str] | None:
    """The C compiler and its version, or None."""
    found = next(
        (path for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name and (path := shutil.which(name))), None
    )
    if found is None:
        return None
    try:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return found, said


def worth_compiling(instructions: int, evaluations: int) -> bool:
    """Whether compiling costs less than it saves."""
    saved = instructions * evaluations * (INTERPRETED - NATIVE)
    return saved > 2.0 and saved > 1.5 * instructions * SECONDS_PER_INSTRUCTION


def compiled(function: ca.Function) -> ca.Function:
    """The function as machine code from the cache or the compiler; itself where that cannot be."""
    tool = compiler()
    if tool is None:
        return function
    try:
        generator = ca.CodeGenerator("cotree_code.c")
        generator.add(function)
        source = generator.dump()
    except RuntimeError:  # a part that has no C code, such as a foreign linear solver
        return function
    level = "-O2" if _length(function) < LONG else "-O1"
    content = "\0".join((source, level, *tool, platform.machine(), platform.node()))
    import hashlib

    library = cache_folder() / f"{hashlib.sha256(content.encode()).hexdigest()[:40]}.so"
    if not library.exists() and not _build(source, level, tool[0], library):
        return function
    try:
        return ca.external(function.name(), str(library))
    except RuntimeError:
        return function


def called(function: ca.Function, *given: Array) -> list[Array]:
    """The dense results of a function, written straight into arrays: CasADi's own way goes through lists of numbers."""
    found: Any = function.buffer()
    buffer, evaluate = found
    kept = [np.asfortranarray(each, dtype=float) for each in given]
    results = [np.empty(function.size_out(k), order="F") for k in range(function.n_out())]
    for k, each in enumerate(kept):
        buffer.set_arg(k, _memory(each))
    for k, each in enumerate(results):
        buffer.set_res(k, _memory(each))
    evaluate()
    if buffer.ret():
        raise RuntimeError(f"'{function.name()}' cannot be evaluated")
    return results


def _memory(array: Any) -> memoryview:
    return memoryview(array.reshape(-1, order="F"))


def instructions(function: ca.Function) -> int:
    """Operations of one evaluation, with those of all functions that it calls: a count, the same on every machine."""
    if not function.is_a("MXFunction"):
        return _length(function) or int(function.nnz_in() + function.nnz_out())
    total = 0
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        if code in (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER):
            continue
        found = function.instruction_MX(k)
        if code == ca.OP_CALL:
            total += instructions(found.which_function())
        elif code == ca.OP_SOLVE:  # n^3 where the matrix is dense
            total += int(found.dep(1).nnz() ** 1.5)
        else:
            total += int(found.nnz())
    return total


def _length(function: ca.Function) -> int:
    try:
        return int(function.n_instructions())
    except RuntimeError:
        return 0


def _build(source: str, level: str, tool: str, library: Path) -> bool:
    """Compile next to the place of the library and move it there at the end, so that it is never half written."""
    try:
        library.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            code, made = Path(folder) / "code.c", Path(folder) / "code.so"
            code.write_text(source, encoding="utf-8")
            command = [tool, level, "-fPIC", "-shared", "-o", str(made), str(code), "-lm"]
            subprocess.run(command, capture_output=True, check=True)
            made.replace(library)
    except (OSError, subprocess.SubprocessError):
        return False
    return True
