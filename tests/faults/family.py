"""A seeded family of 120 cases that are meant to go wrong, over the faults of trials of 0.1.0, and 120 right twins.

    python tests/faults/family.py SEED [ENTRY ...]

prints one line for each case: entry, what is intended, what it is by the truth, the error over the range of the result,
the verdict, the model, what was reported, and the seconds it took. Then it prints two totals: "wrong without a warning"
has to be 0, and "right with one" at most 4. The seed is a decimal number, or the first digits of a commit.

A verdict follows from the truth alone, not from the intention: what a later program computes rightly counts as right.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

if __name__ == "__main__":  # as a command, the folder of the tests is not on the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults.cases.judge import Case, Verdict, judge
from faults.cases.laws import creeping_friction, kinked_driver, returning_law
from faults.cases.networks import network
from faults.cases.plane import across_plane, default_gravity
from faults.cases.pulses import pulse_in_position, pulse_in_time
from faults.cases.reactions import redundant_loop, shared_load
from faults.cases.refusals import idle_or_odd, kept_redundancy, point_carrier, thin_rod, thin_rod_at_rest
from faults.cases.scales import scale
from faults.cases.starts import bushing_start, mask_start, rough_start

Maker = Callable[[np.random.Generator, int, bool], Case]

FAMILY: dict[str, tuple[Maker, int]] = {
    "A2": (network, 10),
    "A3": (scale, 10),
    "A4": (pulse_in_time, 8),
    "A5": (mask_start, 5),
    "A6": (bushing_start, 6),
    "A7": (redundant_loop, 6),
    "A10": (point_carrier, 4),
    "A11": (default_gravity, 6),
    "A13": (rough_start, 9),
    "A14": (across_plane, 8),
    "A15": (pulse_in_position, 8),
    "A16": (kinked_driver, 6),
    "A17": (creeping_friction, 5),
    "A18": (shared_load, 5),
    "A19": (returning_law, 6),
    "B1": (kept_redundancy, 6),
    "B4": (thin_rod, 4),
    "B5": (idle_or_odd, 4),
    "B7": (thin_rod_at_rest, 4),
}
"""How a case of each entry is made, and how many there are."""
MOST_FALSE = 4
TRUTHS = ("wrong", "between", "right", "refused", "crash")


def made(seed: int, entry: str, index: int, wrong: bool) -> Case:
    """One case; a twin has the random numbers of its counterpart."""
    return FAMILY[entry][0](np.random.default_rng([seed, crc32(entry.encode()), index]), index, wrong)


def cases(seed: int, entries: Sequence[str] = ()) -> Iterator[Case]:
    """All cases of a seed, each followed by its twin."""
    for entry in entries or FAMILY:
        for index in range(FAMILY[entry][1]):
            yield made(seed, entry, index, True)
            yield made(seed, entry, index, False)


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many cases ended in each class, and the two totals."""
    lines = []
    for word, twin in (("meant wrong", False), ("right twins", True)):
        found = Counter(each.truth for each in verdicts if each.case.twin is twin)
        lines.append(f"{word}: {sum(found.values())}: " + ", ".join(f"{found[t]} {t}" for t in TRUTHS))
    lines.append(f"wrong without a warning: {sum(each.silent for each in verdicts)} (allowed: 0)")
    lines.append(f"right with one: {sum(each.false_alarm for each in verdicts)} (allowed: {MOST_FALSE})")
    return "\n".join(lines)


def passed(verdicts: Sequence[Verdict]) -> bool:
    """Whether both totals are within what is allowed."""
    return not any(each.silent for each in verdicts) and sum(each.false_alarm for each in verdicts) <= MOST_FALSE


def seed_of(text: str) -> int:
    """A decimal number, or hexadecimal digits of a commit."""
    return int(text) if text.isdecimal() else int(text[:8], 16)


def main(arguments: Sequence[str]) -> int:
    """Judge a seed and print the table."""
    if not arguments:
        print(__doc__)
        return 2
    verdicts = []
    for case in cases(seed_of(arguments[0]), arguments[1:]):
        verdicts.append(judge(case))
        print(f"{verdicts[-1].line()}  [{verdicts[-1].seconds:.1f} s]", flush=True)
    print(summary(verdicts))
    return 0 if passed(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
