"""Work as a count, which is the same on a busy and on an idle machine: no test asserts a time."""

from __future__ import annotations

import sys
from collections.abc import Callable


def calls(compute: Callable[[], object]) -> int:
    """How many Python and built-in functions are called."""
    count = 0

    def listen(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(listen)
    try:
        compute()
    finally:
        sys.setprofile(before)
    return count
