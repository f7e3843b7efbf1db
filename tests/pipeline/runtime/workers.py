"""Functions that worker processes import."""

import os
import time

from schemas.errors import UnreadableDocument


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
    return number


def own_pid(number):
    return os.getpid()
