"""Runs of tokens that questions share with benchmarks.

The measure is GPT-3's (Brown et al. 2020, appendix C): a run of 13 tokens, apart from those that are set phrases. How
much of a question is shared is told beside it (Llama 2, appendix A.6, calls from four fifths on contaminated). Memory
holds the runs of our questions and one block of a benchmark at a time, whatever the benchmark's size.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pipeline.dedup.meaning import FILLER
from pipeline.leaks.files import BenchmarkText
from pipeline.leaks.tokens import Hashes, Places, Tokens, Windows, tokenise, windows

LEAST = 8
"""Questions with fewer tokens are not compared: so short a run says nothing."""
_QUESTIONS = 20_000
"""Questions that are tokenised at a time."""
_RECORDS, _CHARACTERS = 5_000, 1_000_000
"""Records of a benchmark that are compared at a time, and their characters."""


_TITLE = re.compile("《[^》]{0,40}》?|^[^《》]{0,40}》")
_PHRASE = re.compile(f"{FILLER}|根据|依据|规定|首选|诊断|治疗|检查|[男女]|[0-9]+[岁年月天日周]?")
"""Openings and ends of stems that say nothing of what they ask: 根据《…》的规定, 患者，男，45岁, 最可能的诊断是."""
_NO_LETTER = re.compile(r"[\W_]+")
_LABEL = re.compile(r"(?m)^\s*[（(]?[A-Z][)）.、．:：\s]\s*")
"""The letter before an option."""


@dataclass(frozen=True)
class BenchmarkMatch:
    """The best match of a question in a file.

    Attributes:
        row: the question's.
        share: of its tokens that the record has too, in runs; 0..1.
        first, last: first token and the one after the last of the longest run that both have.
        line: of the record.
        records: how many records share a run with the question.
        text: the record's.
    """

    row: int
    share: float
    first: int
    last: int
    line: int
    records: int
    text: str = ""


@dataclass(frozen=True)
class _Runs:
    """Runs of one length, sorted by hash."""

    size: int
    hashes: Hashes
    rows: NDArray[np.int32]
    places: NDArray[np.int32]


class Index:
    """The runs of all questions."""

    def __init__(self, texts: Sequence[str], size: int, common: int) -> None:
        """Index the questions.

        Args:
            texts: of the questions.
            size: tokens of a run; questions with fewer tokens are one run.
            common: runs that more questions have are left out.
        """
        parts: dict[int, list[Windows]] = {}
        counts: list[Places] = []
        for start in range(0, len(texts), _QUESTIONS):
            tokens = tokenise(texts[start : start + _QUESTIONS])
            counts.append(tokens.counts)
            for length, found in _sized(tokens, size):
                moved = Windows(found.hashes, found.rows + start, found.places)
                parts.setdefault(length, []).append(moved)
        self.tokens = np.concatenate(counts) if counts else np.empty(0, np.int64)
        self.common = 0
        self._runs = [self._sorted(length, parts.pop(length), common) for length in sorted(parts)]

    @property
    def short(self) -> int:
        """Questions that are too short to be compared."""
        return int((self.tokens < LEAST).sum())

    def _sorted(self, size: int, parts: list[Windows], common: int) -> _Runs:
        hashes = np.concatenate([part.hashes for part in parts])
        rows = np.concatenate([part.rows.astype(np.int32) for part in parts])
        places = np.concatenate([part.places.astype(np.int32) for part in parts])
        parts.clear()
        order = np.argsort(hashes, kind="stable")
        hashes, rows, places = hashes[order], rows[order], places[order]
        bounds = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1])))
        lengths = np.diff(np.append(bounds, len(hashes)))
        keep = np.repeat(lengths <= common, lengths)
        self.common += int((lengths > common).sum())
        return _Runs(size, hashes[keep], rows[keep], places[keep])

    def matches(self, records: Iterable[BenchmarkText]) -> tuple[list[BenchmarkMatch], int]:
        """The best match of every question that shares a run with these records, by row; and how many they are."""
        best: dict[int, BenchmarkMatch] = {}
        seen = 0
        for block in _blocks(records):
            seen += len(block)
            tokens = tokenise([record.text for record in block])
            for runs in self._runs:
                for match in self._in_block(runs, tokens, block):
                    best[match.row] = _better(best.get(match.row), match)
        return [best[row] for row in sorted(best)], seen

    def _in_block(
        self, runs: _Runs, tokens: Tokens, block: Sequence[BenchmarkText]
    ) -> Iterator[BenchmarkMatch]:
        found = windows(tokens, runs.size)
        theirs = np.flatnonzero(_among(found.hashes, runs.hashes))
        if not len(theirs):
            return
        low = np.searchsorted(runs.hashes, found.hashes[theirs], "left")
        high = np.searchsorted(runs.hashes, found.hashes[theirs], "right")
        times = high - low
        ours = np.repeat(low - np.concatenate(([0], np.cumsum(times)[:-1])), times) + np.arange(times.sum())
        hits = np.repeat(theirs, times)
        record, row, place = (
            found.rows[hits],
            runs.rows[ours].astype(np.int64),
            runs.places[ours].astype(np.int64),
        )
        order = np.lexsort((place, record, row))
        hits, record, row, place = hits[order], record[order], row[order], place[order]
        yield from self._best(runs.size, tokens, block, found, (hits, record, row, place))

    def _best(
        self,
        size: int,
        tokens: Tokens,
        block: Sequence[BenchmarkText],
        found: Windows,
        sorted_hits: tuple[Places, Places, Places, Places],
    ) -> Iterator[BenchmarkMatch]:
        """The best record of each question; hits are sorted by question, record and place."""
        hits, record, row, place = sorted_hits
        new = np.concatenate(([True], (row[1:] != row[:-1]) | (record[1:] != record[:-1])))
        gap = np.where(new, size, np.minimum(np.diff(place, prepend=0), size))
        pairs = np.flatnonzero(new)
        shares = np.add.reduceat(gap, pairs) / self.tokens[row[pairs]]
        first_of_row = np.flatnonzero(np.concatenate(([True], np.diff(row[pairs]) > 0)))
        ends = np.append(pairs, len(row))
        for one, other in zip(first_of_row, np.append(first_of_row[1:], len(pairs)), strict=True):
            chosen = int(one + np.argmax(shares[one:other]))
            inside = slice(ends[chosen], ends[chosen + 1])
            first, last, start = _longest(place[inside], size)
            text = block[int(record[pairs[chosen]])]
            line = text.line
            if text.lines:
                line += text.text.count("\n", 0, _character(tokens, found, int(hits[ends[chosen] + start])))
            share, records = float(shares[chosen]), int(other - one)
            yield BenchmarkMatch(int(row[pairs[chosen]]), share, first, last, line, records, text.text)


def lines_shared(text: str, record: str) -> float:
    """The share of a question that stands in a record line by line, whatever the order: options change places."""
    found = [_letters(line) for line in text.split("\n")]
    there = _letters(record)
    return sum(len(line) for line in found if line in there) / max(1, sum(map(len, found)))


def is_phrase(span: str) -> bool:
    """Return whether a run says next to nothing apart from names of laws (《…》) and the set phrases of exams."""
    return len(_PHRASE.sub("", _letters(_TITLE.sub("", span)))) < LEAST


def _letters(text: str) -> str:
    """Fold a text as ``tokenise`` does, without breaks."""
    return _NO_LETTER.sub("", _LABEL.sub("", unicodedata.normalize("NFKC", text))).lower()


def _better(known: BenchmarkMatch | None, match: BenchmarkMatch) -> BenchmarkMatch:
    """The match with the larger share, the first where both are alike; records of both are counted."""
    if known is None:
        return match
    chosen = match if match.share > known.share else known
    return replace(chosen, records=known.records + match.records)


def _character(tokens: Tokens, found: Windows, window: int) -> int:
    """Return the first character of a window in its text."""
    row = found.rows[window]
    begin = int(tokens.counts[:row].sum())
    return int(tokens.starts[begin + found.places[window]])


def _longest(places: Places, size: int) -> tuple[int, int, int]:
    """The longest run that overlapping windows make up: its first token, the one after its last, its first window."""
    distinct = np.unique(places)
    breaks = np.flatnonzero(np.diff(distinct) > size)
    begins = np.concatenate(([0], breaks + 1))
    ends = np.concatenate((breaks, [len(distinct) - 1]))
    longest = int(np.argmax(distinct[ends] - distinct[begins]))
    first = int(distinct[begins[longest]])
    return first, int(distinct[ends[longest]]) + size, int(np.flatnonzero(places == first)[0])


def _sized(tokens: Tokens, size: int) -> Iterator[tuple[int, Windows]]:
    """The runs of ``size``; and of each shorter length, the questions of just that length."""
    for length in range(min(LEAST, size), size + 1):
        if length == size or (tokens.counts == length).any():
            found = windows(tokens, length)
            keep = (length == size) | (tokens.counts[found.rows] == length)
            yield length, Windows(found.hashes[keep], found.rows[keep], found.places[keep])


def _among(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Mask the hashes among the sorted ``known`` ones. Sorted first: a search in order stays in the cache."""
    if not len(known) or not len(hashes):
        return np.zeros(len(hashes), bool)
    order = np.argsort(hashes)
    ordered = hashes[order]
    at = np.minimum(np.searchsorted(known, ordered), len(known) - 1)
    found = np.zeros(len(hashes), bool)
    found[order] = known[at] == ordered
    return found


def _blocks(records: Iterable[BenchmarkText]) -> Iterator[list[BenchmarkText]]:
    block: list[BenchmarkText] = []
    characters = 0
    for record in records:
        block.append(record)
        characters += len(record.text)
        if len(block) == _RECORDS or characters >= _CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
