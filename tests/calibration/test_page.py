"""The page of calibration says what the raw results say."""

from __future__ import annotations

from pathlib import Path

import pytest

from page import PAGE, budget, page
from shares import met, share, table


def test_the_page_is_what_the_results_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make calibration-page`"


def test_its_links_lead_to_files() -> None:
    names = {name for name in ("simulation.py", "planted.py") if name in page()}
    assert all((PAGE.parent / "../calibration" / name).is_file() for name in names)
    assert len(names) == 2


def test_missing_results_are_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"\.jsonl"):
        page(tmp_path)


def test_studies_with_too_few_trials_are_counted_apart() -> None:
    def row(trials: int, *alarms: tuple[str, str, str]) -> dict[str, object]:
        kind = {"dimensions": 4, "settings": 1, "cliff": False, "replicates": True, "tests": 12}
        return {**kind, "trials": trials, "alarms": alarms}

    said = budget(
        [
            row(16, ("dimensions", "watch", "")),
            row(16, ("dimensions", "watch", ""), ("sampled-enough", "watch", "")),
            row(32, ("stability", "problem", "")),
            row(64),
        ]
    )
    assert said["enough_studies"] == said["few_studies"] == 2
    assert said["raised"] == "`stability` (problem) 1 times"
    assert said["few_undersampled"] == "1 of 2 (50.0%; 1.3 to 98.7%)"
    assert str(said["few_others"]).startswith("0 of 2")
    assert "| any problem | 1 of 2 (50.0%; 1.3 to 98.7%) | ≤ 5% | missed |" in str(said["budget"])
    assert "| 32 trials | 1 | 1 | 1 |" in str(said["budget_by_kind"])


def test_a_share_has_an_exact_interval() -> None:
    assert share(0, 60) == "0 of 60 (0.0%; 0.0 to 6.0%)"
    assert met(0, 60, 0.05) == "met, though the interval reaches beyond"


def test_a_table_has_a_line_for_each_row() -> None:
    assert len(table(["x"], [[i] for i in range(5)]).splitlines()) == 7
