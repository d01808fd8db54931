"""The page on damaged files, from the logs of the two commands that feed them: ``python docs/mutants.py LOG LOG``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "io"))
import mutants
import result_mutants

HERE = Path(__file__).parent
HEAD = """\
# Damaged files

Files come from editors, other programs and other people. Every example is changed at random, but so that it stays a
model file: numbers are scaled, set to zero or replaced by formulas, names are exchanged, parts are dropped, doubled or
given another kind, and methods, trees and tolerances are changed. Each mutant is loaded, its equations are written, and
it is run for a thousandth of its time, in a process of its own with a limit of computing time and memory. It may run,
or be refused with one error of Cotree. A traceback, a warning from Cotree's own code, a hang or the death of the
process would be a fault.
"""
RESULTS = """\
Results files are damaged (bytes changed, lost, doubled or set to zero), or hostile: their texts have wrong types, their
state does not belong to their rows, their datasets are links, lie in other files or claim sizes that no file has, all
with right checksums. Each is read, its model is rebuilt and its run resumed. Where only bytes are damaged, a file that
is read must hold what the right one holds; a file that is refused must stay as it is. Anything else counts as wrong.
"""


def page(examples: list[mutants.Outcome], results: list[mutants.Outcome]) -> str:
    """The page."""
    names = list(mutants.TREES)
    return "\n".join(
        [
            HEAD,
            f"    python tests/io/mutants.py --count {len(examples)} --seed 17\n",
            *mutants.table(examples, names),
            "\n## Results files\n",
            RESULTS,
            f"    python tests/io/result_mutants.py --count {len(results)} --seed 17\n",
            *result_mutants.table(results),
            "",
            "`make test` runs some of them, `make test-all` more, and `make soak` 20,000 and 2,000.",
            "",
        ]
    )


def main() -> None:
    """Write the page from two logs."""
    found = [mutants.logged(Path(name)) for name in sys.argv[1:3]]
    (HERE / "damaged_files.md").write_text(page(*found), encoding="utf-8")


if __name__ == "__main__":
    main()
