"""Linear algebra on one thread: our matrices are small, and threads that wait are dear."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Within it, numpy's and scipy's linear algebra use one thread; afterwards as many as before.

    On a busy machine the difference is tenfold: each of thousands of small products waits until
    every thread has had its turn.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield
