"""How often a confident winner is wrong, on complete tables whose exact optima are known.

`python calibration/winners.py` draws studies from every table of the public logs: two values of one
parameter are the settings, with equal dimensions and with one nuisance parameter fixed in one of
them. A winner is wrong if its exact optimum is worse by more than the noise of a trial. What is
counted is the contest behind the verdict; the question itself also asks for equal looks, agreement
of fresh seeds and little left to gain, so it names fewer.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from records import save
from tunebook.stats.threads import one_thread
from winner import DATA, SEED, judged, tables

STUDIES = 20
TRIALS = (16, 32, 64)


def run(data: Path, studies: int = STUDIES) -> Iterator[dict[str, Any]]:
    seeds = range(SEED, SEED + studies)
    for table in tables(data):
        for unequal, trials in itertools.product((False, True), TRIALS):
            with one_thread():
                count = judged((seed, table.study(seed, trials, unequal)) for seed in seeds)
            yield {
                "table": table.name,
                "unequal": unequal,
                "trials": trials,
                "studies": count.studies,
                "named": int(count.named),
                "wrong": int(count.wrong),
                "right": int(count.right),
            }
        print(table.name, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    if not options.data.is_dir():
        print(f"{options.data} is no folder: the results of tables stay as they are.")
        return
    print(f"Wrote {save('winners', run(options.data))}")


if __name__ == "__main__":
    main()
