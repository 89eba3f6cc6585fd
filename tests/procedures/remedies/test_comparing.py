"""Whether a remedy pays: how often nothing is adopted, and how often something is missed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from adoption import in_turn
from simulated_probes import Made, Training, results_of
from simulated_remedies import BROKEN, DIVERGED, subject
from tunebook.core.objective import Metric
from tunebook.core.results import Results
from tunebook.core.space import Config
from tunebook.core.study import Study
from tunebook.procedures.remedies.comparing import (
    FIRST,
    LEVEL,
    SEEDS,
    Arm,
    Comparison,
    Outcomes,
    compared,
    is_settled,
)
from tunebook.procedures.remedies.tuning import Variant
from tunebook.stats.sequential import looks_up_to

ERROR, ACCURACY = Metric("error"), Metric("accuracy", "higher")


LOOKS = looks_up_to(SEEDS, LEVEL, FIRST)


def at_once(before: list[float], after: list[float], lost: tuple[int, int] = (0, 0)) -> Comparison:
    return Comparison(ERROR, Outcomes(tuple(before), lost[0]), Outcomes(tuple(after), lost[1]))


Draw = Callable[[np.random.Generator], np.ndarray]


def normal(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=SEEDS)


def adopted(before: Draw, after: Draw, count: int = 600) -> tuple[float, float]:
    """How often a remedy is adopted, and over how many seeds on average."""
    rng = np.random.default_rng(1)
    found = [in_turn(before(rng), after(rng), LOOKS) for _ in range(count)]
    seeds = [len(one.before.values) + one.before.lost for one in found]
    return float(np.mean([one.is_better for one in found])), float(np.mean(seeds))


# Four standard errors above the level, of so many comparisons.
AT_MOST = LEVEL + 4 * (LEVEL * (1 - LEVEL) / 600) ** 0.5


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (normal, normal),
        (normal, lambda rng: 3.0 * normal(rng)),
        (lambda rng: 3.0 * normal(rng), normal),
        # Multiples of one example in few.
        (lambda rng: np.round(normal(rng)), lambda rng: np.round(normal(rng))),
    ],
    ids=["equals", "more scatter after", "more scatter before", "coarse"],
)
def test_what_brings_nothing_is_seldom_adopted(before: Draw, after: Draw) -> None:
    """In 2.5% of comparisons, of which there are two at most, over all looks."""
    share, seeds = adopted(before, after)
    assert share <= AT_MOST
    # It is seldom worth all seeds.
    assert seeds < 0.6 * SEEDS
    assert 2 * LEVEL <= 0.05


@pytest.mark.parametrize("failing", [0.1, 0.3, 0.6])
def test_nor_where_some_seeds_fail_by_chance(failing: float) -> None:
    def drawn(rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random(SEEDS) < failing, np.inf, normal(rng))

    assert adopted(drawn, drawn)[0] <= LEVEL


def test_what_helps_is_adopted_the_sooner_the_more_it_does() -> None:
    """One and a half standard deviations are seen in nineteen of twenty comparisons."""
    share, seeds = adopted(normal, lambda rng: normal(rng) - 1.5)
    assert share >= 0.95
    more, fewer = adopted(normal, lambda rng: normal(rng) - 3.0)
    assert more >= 0.99
    assert fewer < 6 < seeds < 12
    worse, least = adopted(normal, lambda rng: normal(rng) + 2.0)
    assert worse == 0.0
    assert least < FIRST + 0.1


def test_a_remedy_with_which_all_seeds_work() -> None:
    assert at_once([0.2], [0.1, 0.1, 0.1, 0.1, 0.1], (4, 0)).is_better
    # Two of five that fail may be luck.
    assert not at_once([0.1, 0.2, 0.3], [0.15, 0.16, 0.2, 0.2, 0.25], (2, 0)).is_better
    # And one that fails itself is no remedy.
    assert not at_once([], [0.1, 0.1, 0.1, 0.1], (5, 1)).is_better


def test_higher_may_be_better() -> None:
    worse, better = Outcomes((0.5, 0.51, 0.52)), Outcomes((0.9, 0.91, 0.92))
    assert Comparison(ACCURACY, worse, better).is_better
    assert not Comparison(ACCURACY, better, worse).is_better
    gain = Comparison(ACCURACY, worse, better).gain
    assert gain is not None
    assert gain.estimate == pytest.approx(0.4)


def test_what_it_says() -> None:
    assert str(at_once([0.2, 0.3], [0.1, 0.1])) == (
        "error 0.1 against 0.25, over 2 and 2 fresh seeds: a gain of 0.15 (-0.4853 to 0.7853)"
    )
    assert str(at_once([], [0.1, 0.1], (2, 0))) == (
        "error 0.1 against nothing, over 2 and 2 fresh seeds; of these, 0 and 2 came to nothing"
    )
    few = at_once([0.2], [0.1, 0.1])
    assert str(few) == "too few trials came to an end to compare them"
    assert few.p is None
    assert not few.is_better


def test_the_worse_of_two_must_be_well_tuned() -> None:
    low, high = (0.1, 0.11, 0.12), (0.3, 0.31, 0.32)
    better = Comparison(ERROR, Outcomes(high), Outcomes(low, end="high"))
    assert better.is_better
    assert better.half_tuned is None
    open_still = Comparison(ERROR, Outcomes(high, end="low"), Outcomes(low))
    assert not open_still.is_better
    assert open_still.half_tuned is open_still.before
    no_better = Comparison(ERROR, Outcomes(low), Outcomes(high, end="high"))
    assert no_better.half_tuned is no_better.after


def test_as_good_is_not_worse_at_20_percent() -> None:
    assert at_once([0.1, 0.2, 0.3], [0.12, 0.21, 0.29]).is_as_good
    assert not at_once([0.1, 0.11, 0.12], [0.14, 0.15, 0.16]).is_as_good
    assert not at_once([0.1, 0.2, 0.3], [0.1, 0.2], (0, 1)).is_as_good


def measured(error: float) -> Made:
    return {"train/loss": [1.0], "valid/error": [error]}


def by_warmup(before: float, after: float) -> Training:
    """Errors with a warm-up and without, with some noise."""

    def train(config: Config, seed: int, _: int) -> Made:
        noise = 0.01 * np.random.default_rng(seed).normal()
        return measured((after if config["warmup"] else before) + noise)

    return train


def followed(train: Training, most: int = SEEDS, **given: float) -> tuple[Comparison, list[Study]]:
    about = subject(probe="warmup")
    before = Arm("compare-before", Variant({"warmup": 0, "lr": given.get("lr", 0.3)}, 440))
    after = Arm("compare-after", Variant({"warmup": 40, "lr": 0.3}, 440), "high")
    other = given.get("other_p", 1.0)
    running = compared(about, before, after, most=most, goal="?", other_p=lambda _: other)
    studies: list[Study] = []
    results: Results | None = None
    try:
        while True:
            studies.append(next(running) if results is None else running.send(results))
            results = results_of(studies[-1], train)
    except StopIteration as ended:
        found: Comparison = ended.value
        return found, studies


def test_a_clear_gain_takes_one_look() -> None:
    found, studies = followed(by_warmup(0.3, 0.1))
    assert [study.name for study in studies] == [
        *("small.warmup.compare-before", "small.warmup.compare-after"),
    ]
    assert [study.trials for study in studies] == [FIRST, FIRST]
    assert found.p is not None and found.p <= found.level == LOOKS.level < LEVEL
    assert (found.before.end, found.after.end) == (None, "high")
    assert all(r.trial.config["warmup"] == 40 for r in found.records[FIRST:])


def test_a_gain_of_the_rate_is_not_that_of_the_remedy() -> None:
    """A sweep of few seeds has found a worse rate for the first."""

    def train(config: Config, seed: int, steps: int) -> Made:
        worse = 0.3 if config["lr"] == 0.1 else 0.1
        return by_warmup(worse, worse)(config, seed, steps)

    found, studies = followed(train, lr=0.1)
    assert studies[-1].name.endswith("compare-after-without")
    assert studies[-1].trials == found.size == FIRST
    assert {r.trial.config["lr"] for r in found.records[2 * FIRST :]} == {0.3}
    assert {r.trial.config["warmup"] for r in found.records[2 * FIRST :]} == {0}
    assert found.wins and found.is_of_rate and not found.is_better
    assert re.search(r"; at the same rate without it, 0\.\d+$", str(found))


def test_a_gain_of_the_remedy_is_not_that_of_the_rate() -> None:
    found, _ = followed(by_warmup(0.3, 0.1), lr=0.1)
    assert found.control is not None
    assert found.is_better and not found.is_of_rate
    # A control that broke tells nothing.
    broken = replace(found, control=Outcomes((0.3,) * 4, broken=1))
    assert broken.p is None
    assert not broken.is_better


def test_of_a_rate_that_was_found_by_luck_little_is_adopted() -> None:
    """Where the first is worse by its rate alone: at 20%, of what would be adopted otherwise."""
    rng, found = np.random.default_rng(8), []
    for _ in range(600):
        before, after, control = (Outcomes(tuple(normal(rng))) for _ in range(3))
        worse = Outcomes(tuple(value + 3.0 for value in before.values))
        one = Comparison(ERROR, worse, after, LOOKS.level, control=control)
        assert one.wins
        found.append(one.is_better)
    assert np.mean(found) <= 0.2 + 4 * (0.2 * 0.8 / 600) ** 0.5


def test_a_gain_that_is_not_clear_takes_more_seeds_which_are_all_fresh() -> None:
    found, studies = followed(by_warmup(0.305, 0.3))
    assert [study.name.rpartition("compare-")[2] for study in studies] == [
        *("before", "after", "before-2", "after-2", "before-3", "after-3", "before-4", "after-4"),
    ]
    assert [study.trials for study in studies[::2]] == [5, 3, 4, 8]
    assert len(found.before.values) == len(found.after.values) == SEEDS
    assert len({record.trial.seed for record in found.records}) == 2 * SEEDS


def test_no_hope_no_more_seeds() -> None:
    found, studies = followed(by_warmup(0.3, 0.32))
    assert len(studies) == 2
    assert found.p is not None and found.p > 0.9
    # Unless another merit may yet show.
    assert len(followed(by_warmup(0.3, 0.32), other_p=0.05)[1]) == 2 * len(LOOKS.sizes)
    assert len(followed(by_warmup(0.3, 0.295), other_p=LOOKS.level)[1]) == 2
    # Which counts only where results are as good.
    assert len(followed(by_warmup(0.3, 0.32), other_p=LOOKS.level)[1]) == 2 * len(LOOKS.sizes)


@pytest.mark.parametrize("ended", [BROKEN, DIVERGED])
def test_what_breaks_or_comes_to_nothing_ends_the_comparison(ended: Made) -> None:
    def train(config: Config, seed: int, steps: int) -> Made:
        fails = config["warmup"] and seed % 2
        return ended if fails else by_warmup(0.3, 0.297)(config, seed, steps)

    found, studies = followed(train)
    assert len(studies) == 2
    assert (found.p is None) is (ended is BROKEN)
    assert not found.is_better


def test_so_few_seeds_as_are_asked_for() -> None:
    found, studies = followed(by_warmup(0.305, 0.3), most=3)
    assert [study.trials for study in studies] == [3, 3]
    assert found.level == LEVEL


def test_the_interval_holds_the_gain_whenever_it_ends() -> None:
    """In 95% of comparisons; and it is above 0 exactly where the remedy is better."""
    rng = np.random.default_rng(3)
    held, clear = [], []
    for _ in range(600):
        found = in_turn(normal(rng), normal(rng) - 1.0, LOOKS)
        assert found.gain is not None
        held.append(1.0 in found.gain)
        clear.append(found.gain.low > 0.0)
        assert clear[-1] == found.is_better
    assert np.mean(held) >= 0.95 - 4 * (0.05 * 0.95 / 600) ** 0.5
    assert 0.5 < np.mean(clear) < 1.0


def test_seeds_that_come_to_nothing_count_as_looked_at() -> None:
    """Six results and six that were lost are twelve of twenty seeds, and leave little hope."""
    before = Outcomes((0.1,) * 6, lost=6)
    found = Comparison(ERROR, before, Outcomes((0.5,) * 12), LOOKS.level, SEEDS)
    assert found.size == 12
    assert not found.is_at_end
    assert found.p == pytest.approx(0.51, abs=0.02)
    assert LOOKS.is_hopeless(12, found.p)
    assert not LOOKS.is_hopeless(6, found.p)
    assert is_settled(found, LOOKS)


def test_equal_results_of_few_seeds_may_be_coarse_ones() -> None:
    def train(config: Config, *_: int) -> Made:
        return measured(0.1 if config["warmup"] else 0.2)

    found, studies = followed(train)
    assert found.is_seedless
    assert [study.trials for study in studies] == [5, 5, 3, 3]
    assert not at_once([0.2, 0.2], [0.1] * 5, (3, 0)).is_seedless
