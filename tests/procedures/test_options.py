"""The options of probes: read, checked, and the same as what the probes do without them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tunebook.app.commands.probe import HELP
from tunebook.core.errors import StudyError
from tunebook.procedures.catalogue import PROBES
from tunebook.procedures.options import OPTIONS, Option, batch_sizes, memory_limit, read_all
from tunebook.procedures.remedies import clipping, comparing, warmup
from tunebook.procedures.stability import probe as stability
from tunebook.procedures.steps import probe as steps
from tunebook.procedures.variance import probe as variance


def option(probe: str, name: str) -> Option:
    return next(option for option in OPTIONS[probe] if option.name == name)


def read(probe: str, **given: object) -> dict[str, object]:
    return dict(read_all(probe, OPTIONS[probe], given))


def test_every_probe_has_its_options_and_its_help() -> None:
    assert {name: probe.options for name, probe in PROBES.items()} == OPTIONS
    assert list(HELP) == list(PROBES)


@pytest.mark.parametrize(
    ("probe", "default"),
    [
        ("steps", steps.SEEDS),
        ("stability", stability.SEEDS),
        ("warmup", comparing.SEEDS),
        ("clipping", comparing.SEEDS),
        ("variance", variance.SEEDS),
    ],
)
def test_a_default_is_what_the_probe_takes_by_itself(probe: str, default: int) -> None:
    assert option(probe, "seeds").default == default


def test_the_help_tells_what_the_probe_takes_by_itself() -> None:
    assert f"[default: {stability.STEPS}, or" in option("stability", "steps").help
    assert warmup.SHORT_STEPS == clipping.SHORT_STEPS
    for probe in ("warmup", "clipping"):
        assert f"[default: at most {warmup.SHORT_STEPS}]" in option(probe, "steps").help


def test_values_are_kept_as_one_kind() -> None:
    assert read("steps", seeds=3.0, loss=1, longest=1) == {"seeds": 3, "loss": 1, "longest": 1}
    assert isinstance(read("steps", seeds=3.0)["seeds"], int)
    assert read("batch-size", sizes="64, 16,64", memory="2GB", to_goal=True) == {
        "sizes": "16,64",
        "memory": 2**31,
        "to_goal": True,
    }
    # As a study that was begun has them.
    again = read("batch-size", sizes="16,64", memory=2**31)
    assert again == read("batch-size", sizes="16, 64", memory=str(2**31))
    assert read("clipping", off=0) == {"off": 0}
    assert read("variance", difference=1e-310) == {"difference": 1e-310}


@pytest.mark.parametrize(
    ("probe", "name", "value", "said"),
    [
        ("steps", "max_steps", 19, "max_steps of the probe steps is at least 20, got 19"),
        ("variance", "difference", -1, "difference of the probe variance is above 0, got -1"),
        ("variance", "difference", 0.0, "difference of the probe variance is above 0, got 0.0"),
        ("steps", "seeds", "2", "seeds of the probe steps is a whole number, got '2'"),
        ("steps", "seeds", True, "seeds of the probe steps is a whole number, got True"),
        ("steps", "seeds", None, "seeds of the probe steps is a whole number, got None"),
        ("steps", "seeds", float("inf"), "seeds of the probe steps is a whole number, got inf"),
        ("steps", "loss", float("nan"), "loss of the probe steps is a number, got nan"),
        ("batch-size", "to_goal", 1, "to_goal of the probe batch-size is True or False, got 1"),
        ("batch-size", "memory", "0GB", "memory: expected more than no bytes, got '0GB'"),
        ("batch-size", "memory", -1, "memory: expected more than no bytes, got -1"),
        (
            "batch-size",
            "memory",
            "much",
            "memory: expected a size such as 4GB or a number of bytes, got 'much'",
        ),
        ("warmup", "seed", 1, "the probe warmup has no option 'seed'; did you mean 'seeds'?"),
        ("warmup", "xyz", 1, "the probe warmup has no option 'xyz'; it has steps, seeds"),
    ],
)
def test_what_is_no_value_of_an_option_is_refused(
    probe: str, name: str, value: object, said: str
) -> None:
    with pytest.raises(StudyError) as caught:
        read(probe, **{name: value})
    assert str(caught.value) == said


def test_a_probe_without_options() -> None:
    with pytest.raises(StudyError, match="the probe bare has no option 'a'; it has none"):
        read_all("bare", (), {"a": 1})


def test_sizes_and_memory_from_what_people_write() -> None:
    assert batch_sizes(" 8 ") == (8,)
    assert [memory_limit(value) for value in (1024, 1024.0, "1024", "1KB")] == [1024] * 4


def test_they_import_nothing_heavy() -> None:
    code = "import sys, tunebook.procedures.options as o; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
