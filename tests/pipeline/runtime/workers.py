"""Functions that worker processes import."""

import errno
import os
import signal
import time
from pathlib import Path

from build_dataset.schemas.errors import UnreadableDocument


def square(number):
    return number * number


def sometimes_bad(number):
    if number == 1:
        raise UnreadableDocument("encrypted", "needs a password")
    if number == 2:
        raise ValueError("odd")
    if number == 3:
        os._exit(9)
    if number == 4:
        time.sleep(60)
    if number == 5:  # as the system does where memory ends
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 6:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
    return number


def own_pid(number):
    return os.getpid()


def first_to_go(number):
    return Path("/proc/self/oom_score_adj").read_text()
