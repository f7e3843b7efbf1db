"""The words of a text: the same as by trying every pattern at every place, whatever stands there."""

import re

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.claims import grammar
from build_dataset.pipeline.claims.lexicon import WordFinder

ROWS = [row["pattern"] for row in grammar._P.rows("words")]
EVERYWHERE = re.compile(
    f"(?=(?<![A-Za-z])|[^A-Za-z])(?:{'|'.join(f'(?P<w{at}>{row})' for at, row in enumerate(ROWS))})", re.ASCII
)
PIECES = sorted({piece for row in ROWS for piece in re.findall(r"[A-Za-z']+|[^\x00-\x7f]{1,3}|[ -/:-@\[-`{-~]", row)})


@given(st.lists(st.sampled_from([*PIECES, "\n", "\ue000", "\ue000\ue000", "7", " "]), max_size=40).map("".join))
def test_no_word_is_missed_that_trying_all_patterns_everywhere_finds(text):
    tried = [(int((found.lastgroup or "w")[1:]), *found.span()) for found in EVERYWHERE.finditer(text)]
    assert [*grammar.LEXICON.words(text)] == tried


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?i:yes)", "YES"),
        ("a?b{2,3}c", "bbc"),
        ("(?:(?<=x)y|[p-r]\\d)z", "q7z"),
        ("(?i:a(?-i:b))", "Ab"),
        ("[^a]b", None),
        ("a{0,2}", None),
        ("(?>小[\u4e00-\u9fff])选", "小李选"),
        ("\\s\\w", " _"),
    ],
)
def test_a_word_begins_with_what_its_pattern_allows_and_with_something(pattern, text):
    if text is None:
        with pytest.raises(AssertionError):
            WordFinder([pattern])
    else:
        assert [*WordFinder(["never", pattern]).words(f"·{text}·")] == [(1, 1, 1 + len(text))]
