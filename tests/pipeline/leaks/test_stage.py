"""Matches become leaks: copies, overlaps, and what is neither."""

import pytest

from build_dataset.pipeline.leaks.files import BenchmarkText
from build_dataset.pipeline.leaks.overlap import Index

LETTERS = "".join(chr(0x5000 + place) for place in range(40))
STEM, OPTIONS = LETTERS[:20], (LETTERS[20:25], LETTERS[25:30])


@pytest.mark.parametrize("size", [3, 8, 13])
def test_the_tokens_that_windows_share_are_counted_once(size) -> None:
    index = Index([LETTERS], size, 10)
    [match], seen = index.matches([BenchmarkText(4, f"{LETTERS[:15]}甲{LETTERS[20:35]}")])
    assert seen == 1
    assert (match.row, match.share, match.line, match.records) == (0, 30 / 40, 4, 1)
    assert (match.first, match.last) == (0, 15) if size < 8 else match.last > match.first


@pytest.mark.parametrize("copied", [0.8, 0.81])
def test_a_record_with_the_share_of_lines_is_a_match_without_a_run(copied) -> None:
    lines = ["肝心", "脾肺", "肾胃", "胆肠", "骨血"]
    index = Index(["\n".join(lines)], 13, 10, copied)
    text = "\n".join(["另一", *reversed(lines[:4])])
    found, _ = index.matches([BenchmarkText(5, text)])
    told = [(one.row, one.share, one.first, one.last, one.line, one.records) for one in found]
    assert told == ([(0, 0.8, 0, 10, 5, 1)] if copied == 0.8 else [])
