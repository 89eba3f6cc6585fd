"""Row 20: the wall clock jumps by hours while trials run. Nothing is lost, nothing goes back."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.bench import Bench
from faults.harness import until

HOUR = 3600
# libfaketime 0.9.10 breaks sleeping until a time of the steady clock, as Python does from 3.11 on.
CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long offset(void) {
    long seconds = 0;
    FILE *file = fopen(getenv("FAKE_CLOCK"), "r");
    if (file != NULL) {
        if (fscanf(file, "%ld", &seconds) != 1) seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += offset();
    return code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec fine;
    int code = clock_gettime(CLOCK_REALTIME, &fine);
    now->tv_sec = fine.tv_sec;
    now->tv_usec = fine.tv_nsec / 1000;
    return code;
}

time_t time(time_t *out) {
    struct timespec fine;
    clock_gettime(CLOCK_REALTIME, &fine);
    if (out != NULL) *out = fine.tv_sec;
    return fine.tv_sec;
}
"""
# Each step is told with the hour that the program believes it to be.
PROGRAM = """
    import time
    from pathlib import Path

    def train(run):
        Path("begun").touch()
        for step in range(40):
            while step == 20 and Path("hold").exists():
                time.sleep(0.01)
            run.log({"error": run["x"] + step, "hour": time.time() / 3600}, step=step)
            if step % 10 == 5:
                with run.checkpoint(step) as folder:
                    (folder / "state").write_text(str(step))
            time.sleep(0.05)
    """


@pytest.fixture
def jump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Moves the clock of every process that the test starts from now on, also while it runs."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler here")
    library, clock = tmp_path / "clock.so", tmp_path / "clock"
    (tmp_path / "clock.c").write_text(CLOCK)
    command = [compiler, "-O", "-shared", "-fPIC", "-o", library, tmp_path / "clock.c", "-ldl"]
    subprocess.run(command, check=True)

    def move(seconds: int) -> None:
        new = clock.with_suffix(".new")
        new.write_text(f"{seconds}\n")
        new.replace(clock)

    move(0)
    monkeypatch.setenv("FAKE_CLOCK", str(clock))
    monkeypatch.setenv("LD_PRELOAD", str(library))
    return move


@pytest.mark.parametrize("offset", [3 * HOUR, pytest.param(-3 * HOUR, marks=pytest.mark.long)])
def test_row_20_the_clock_jumps_during_a_run(
    bench: Bench, jump: Callable[[int], None], offset: int
) -> None:
    bench.write_study(trials=3)
    bench.write_program(PROGRAM)
    began = time.monotonic()
    run = bench.start("run", "study.yaml", "--workers", "2", "--stall-timeout", "20")
    # To and fro, so that every trial sees it.
    while run.process.poll() is None:
        for now in (offset, 0):
            time.sleep(0.3)
            jump(now)
    done = run.wait()
    took = time.monotonic() - began
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
    results = bench.results()
    assert results.counts() == {"complete": 6}
    assert [record.trial.number for record in results] == list(range(1, 7))
    hours = [hour for record in results for hour in record.curves["hour"].values.tolist()]
    assert max(hours) - min(hours) > 2.9
    for record in results:
        (attempt,) = record.attempts
        assert attempt.seconds is not None
        assert 0 < attempt.seconds < took
        assert record.curves["error"].steps.tolist() == list(range(40))
        seconds = record.curves["error"].seconds.tolist()
        assert seconds == sorted(seconds)
        assert 0 <= seconds[0] <= seconds[-1] < took
    bench.is_quiet()


@pytest.mark.parametrize("offset", [pytest.param(3 * HOUR, marks=pytest.mark.long), -3 * HOUR])
def test_row_20_the_next_coordinator_lives_at_another_time(
    bench: Bench, jump: Callable[[int], None], offset: int
) -> None:
    """A living trial is adopted, whatever the clock says about its age."""
    bench.write_study(trials=1)
    bench.write_program(PROGRAM)
    (bench.folder / "hold").touch()
    first = bench.start("run", "study.yaml", "--workers", "1")
    bench.wait_for_file("begun")
    jump(offset)
    refused = bench.run_study()
    assert refused.code == 1
    assert "is being run by process" in refused.err
    first.process.kill()
    first.process.wait()
    (bench.folder / "hold").unlink()
    done = bench.run_study("--workers", "1")
    assert done.code == 0, done.err
    results = bench.results()
    assert results.counts() == {"complete": 2}
    assert [len(record.attempts) for record in results] == [1, 1]
    listed = bench.run("book", "--json")
    assert listed.code == 0, listed.err
    until(lambda: not bench.mark.parents(), "no process is left", 10)
