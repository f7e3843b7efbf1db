"""Measure how the time of a function grows with the length of its text."""

import gc
import math
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one call on this thread alone.

    Other threads of a worker do not count, nor collections of garbage, which visit all objects of the other tests too.
    """
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        work()
        return max(time.thread_time() - start, 1e-4)
    finally:
        gc.enable()


def exponent(work: Callable[[int], object], short: int = 2_000, factor: int = 4, tries: int = 3) -> float:
    """Return the exponent of the growth from ``short`` to ``short * factor``: 1 is linear, 2 quadratic.

    The least of several tries counts, since other processes can only add time.
    """
    work(min(short, 100))
    fast = min(seconds(lambda: work(short)) for _ in range(tries))
    slow = min(seconds(lambda: work(short * factor)) for _ in range(tries))
    return math.log(slow / fast, factor)
