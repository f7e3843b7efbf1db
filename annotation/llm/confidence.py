"""How sure a model is of a value in its answer, from the probabilities of its tokens."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

from annotation.llm.messages import Answer


def value_probability(answer: Answer, keys: Sequence[str]) -> float | None:
    """The probability that the model gave the value of a key in its JSON answer.

    The product over the tokens that the value touches: with closed sets of short codes that is the one token
    that decides, so it can be read as the model's belief (Kadavath et al. 2022, section 2, find such
    probabilities of lettered choices well calibrated in large models).

    Args:
        answer: with ``logprobs``.
        keys: names under which the value may stand; the last mention of the first that is there counts.

    Returns:
        0..1; None without logprobs or where the key is not found.
    """
    span = _span(answer.text, keys)
    if not answer.logprobs or span is None:
        return None
    total, at = 0.0, 0
    for length, logprob in answer.logprobs:
        if at < span[1] and at + length > span[0]:
            total += min(logprob, 0.0)
        at += length
    return math.exp(total)


def _span(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    """Where the value stands, in bytes of UTF-8."""
    for key in keys:
        name = re.escape(json.dumps(key, ensure_ascii=False))
        found = [*re.finditer(name + r'\s*:\s*"?([^",}\s]+)', text)]
        if found:
            start, end = found[-1].span(1)
            return len(text[:start].encode()), len(text[:end].encode())
    return None
