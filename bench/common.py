"""What the benches share: silence for native code that prints, and a clock around an integrator."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No output of native code: peers print banners, warnings and failures."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            for number, one in enumerate(kept, 1):
                os.dup2(one, number)
                os.close(one)


def clocked(method: Any, owner: Any) -> None:
    """Add the time that an integrator takes to ``owner.seconds``."""
    inner = method.integrate

    def integrate(*given: Any) -> Any:
        clock = time.perf_counter()
        try:
            return inner(*given)
        finally:
            owner.seconds += time.perf_counter() - clock

    method.integrate = integrate
