"""Within `one_thread` linear algebra has one thread, and afterwards as many as before."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from tunebook.stats.threads import one_thread


def threads() -> set[int]:
    np.linalg.inv(np.eye(2))
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_linear_algebra_is_held_to_one_thread_for_a_while() -> None:
    with threadpool_limits(2, "blas"):
        before = threads()
        assert before == {2}
        with one_thread():
            assert threads() == {1}
        assert threads() == before
