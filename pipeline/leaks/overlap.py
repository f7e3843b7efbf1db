"""Runs of tokens that questions share with benchmarks; questions of different splits that are almost the same.

A token is an ideograph or a run of other letters and digits. N-grams of words are how overlap is measured in English;
Chinese has no spaces, so its characters are counted; a Latin word is one token, or thirteen would be two words.
Questions of different splits are compared in full, by another measure than deduplication has: none vouches for itself.

The measure is GPT-3's (Brown et al. 2020, appendix C): a run of 13 tokens, apart from those that are set phrases. How
much of a question is shared is told beside it (Llama 2, appendix A.6, calls from four fifths on contaminated). Memory
holds the runs of our questions, and of a benchmark one file and the runs of one block.
"""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from heapq import nlargest
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rapidfuzz import fuzz

from build_dataset.pipeline.dedup.grams import Banding, candidate_pairs, similarities
from build_dataset.pipeline.dedup.keys import FILLER, folded_case, symbols_kept
from build_dataset.pipeline.leaks.files import BenchmarkText
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.grouping import group_values

_BASE = 0x9E3779B97F4A7C15  # of the polynomial, modulo 2**64, that hashes the tokens of a run
_IDEOGRAPHS = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"(?![A-Za-z](?![^\W_{_IDEOGRAPHS}]))(?:[^\W_{_IDEOGRAPHS}]+|(?=\w)[{_IDEOGRAPHS}])")
"""A word or a number, 140mmHg; or an ideograph. A single Latin letter is none: it labels an option."""
Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Tokens:
    """The tokens of some texts, in order."""

    hashes: Hashes  # (tokens,) of the folded token: width does not count, nor does case but of symbols
    starts: Places  # (tokens,) first character, within its text
    ends: Places  # (tokens,) the character after its last
    rows: Places  # (tokens,) the text that it stands in, ascending
    counts: Places  # (texts,) tokens of each text


class Windows(NamedTuple):
    """Runs of tokens within one text."""

    hashes: Hashes  # (windows,) of the run
    rows: NDArray[np.int32]  # (windows,) the text that it stands in, ascending
    places: NDArray[np.int32]  # (windows,) its first token, counted within the text


def tokenise(texts: Sequence[str]) -> Tokens:
    """Return the tokens of each text: no punctuation, no spaces, no single Latin letters, which label options."""
    folded = (symbols_kept(text.translate(_folds())) for text in texts)
    found = [[(token[0], token.start(), token.end()) for token in _TOKEN.finditer(text)] for text in folded]
    counts = np.fromiter(map(len, found), np.int64, len(found))
    spans = np.array([span[1:] for row in found for span in row], np.int64).reshape(-1, 2)
    words = pl.Series([span[0] for row in found for span in row], dtype=pl.String)
    hashes: Hashes = words.hash(seed=0).to_numpy().astype(np.uint64)
    return Tokens(hashes, spans[:, 0], spans[:, 1], np.repeat(np.arange(len(texts)), counts), counts)


def windows(tokens: Tokens, size: int) -> Windows:
    """All runs of ``size`` tokens that stand in one text."""
    last = max(0, len(tokens.hashes) - size + 1)
    inside = np.flatnonzero(tokens.rows[:last] == tokens.rows[size - 1 :])
    sums: Hashes = np.zeros(last, np.uint64)
    for offset in reversed(range(size)):
        sums = sums * np.uint64(_BASE) + tokens.hashes[offset : last + offset] + np.uint64(1)
    rows = tokens.rows[inside]
    places = inside - np.searchsorted(tokens.rows, rows)
    # Spread (SplitMix64's finaliser: Steele et al., OOPSLA 2014), so that sums of hashes are hashes again.
    hashes = (sums[inside] ^ (sums[inside] >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return Windows(hashes ^ (hashes >> np.uint64(31)), rows.astype(np.int32), places.astype(np.int32))


def joined(parts: Sequence[Windows]) -> Windows:
    """Return the runs of all parts, one behind the other."""
    return Windows(*map(np.concatenate, zip(*parts, strict=True)))


@cache
def _folds() -> dict[int, str]:
    """Return the folded form of characters by code point: NFKC where that is one character (Ａ, ｶ); ㎎ would be two."""
    folded = ((code, unicodedata.normalize("NFKC", chr(code))) for code in range(0x30000))
    return {code: char for code, char in folded if len(char) == 1 and char != chr(code)}


_BANDS = Banding(bands=40, rows=3)
"""Finds texts of which nine tenths are alike, at Jaccard .65 of their bigrams, with probability .99999."""


def exact_pairs(questions: pl.DataFrame) -> list[tuple[int, int]]:
    """Rows of questions with one content in several splits, each with the first of them."""
    rows = questions.select("content_hash", "split").with_row_index("row")
    firsts = rows.unique("content_hash", keep="first", maintain_order=True)
    both = rows.join(firsts, on="content_hash", suffix="_first").filter(pl.col("split") != pl.col("split_first"))
    return both.sort("row").select("row_first", "row").rows()


def near_pairs(texts: pl.DataFrame, splits: Sequence[int], least: float) -> dict[tuple[int, int], float]:
    """Return the similarity (0..1) of rows in different splits whose stems and options have ``least`` in common."""
    if texts.is_empty():
        return {}
    whole = pl.concat_str("stem", pl.col("options").list.sort().list.join("\n"))  # their order makes no other question
    letters = whole.str.normalize("NFKC").str.to_lowercase().str.replace_all(r"[^\pL\pN]+", "")
    pairs = candidate_pairs([texts.select(letters)["stem"].to_list()], _BANDS, seed=0)
    split_of = np.asarray(splits, np.int8)[pairs]
    pairs = pairs[split_of[:, 0] != split_of[:, 1]]
    if not len(pairs):
        return {}
    rows = np.unique(pairs)
    folded = _folded(texts[rows])  # only texts of some pair: folding takes longer than comparing
    places = np.searchsorted(rows, pairs)
    alike = (similarities(places, folded[name], 100 * least, np.float64) for name in ("stem", "options"))
    scores = np.minimum(*alike) / 100
    near = np.flatnonzero(scores >= least)
    return {(int(pairs[row, 0]), int(pairs[row, 1])): round(float(scores[row]), 4) for row in near}


def _folded(texts: pl.DataFrame) -> pl.DataFrame:
    """Letters, digits and signs of mathematics alone, options sorted."""
    folded = (folded_case(text.str.normalize("NFKC")) for text in (pl.col("stem"), pl.element()))
    stem, option = (text.str.replace_all(r"[^\pL\pN\p{Sm}]+", "") for text in folded)
    return texts.select(stem, pl.col("options").list.eval(option).list.sort().list.join("\n"))


_ASKED = 60  # least likeness (0..100) of a stem to the place of a record that is most like it
LEAST = 8  # least number of tokens of a compared question; a shorter run proves nothing
_QUESTIONS = 20_000  # questions that are tokenised at a time
_RECORDS, _CHARACTERS = 5_000, 1_000_000  # Records of a benchmark that are compared at a time, and their characters.
_P = Patterns(__name__, names={"FILLER": FILLER})


@dataclass(frozen=True)
class BenchmarkMatch:
    """The best match of a question in a file."""

    row: int  # the question's
    share: float  # of its tokens that the record has too, in runs; 0..1
    first: int  # token of the longest run that both have
    last: int  # the token after it
    line: int  # of the record
    records: int  # how many records share a run with the question
    text: str = ""  # the record's


class Index:
    """The runs of all questions."""

    def __init__(self, texts: Sequence[str], size: int, common: int, copied: float = 0.8) -> None:
        """Index the questions by runs of ``size`` tokens; questions with fewer tokens are one run.

        Runs and lines of more than ``common`` questions are left out. The share ``copied`` of lines makes a copy.
        """
        self._texts, self._copied = texts, copied
        # the two longest: short options are everywhere
        longest = ({_letters(line) for line in nlargest(2, text.split("\n"), key=len)} for text in texts)
        rows_of = group_values((line, row) for row, lines in enumerate(longest) for line in lines)
        self._lines = {line: rows for line, rows in rows_of.items() if line and len(rows) <= common}
        self.tokens = np.zeros(len(texts), np.int64)  # of each question
        parts = [windows(tokenise([]), size)]
        for start in range(0, len(texts), _QUESTIONS):
            tokens = tokenise(texts[start : start + _QUESTIONS])
            self.tokens[start : start + _QUESTIONS] = tokens.counts
            for length in range(min(LEAST, size), size + 1):
                part = windows(tokens, length)
                mine = (tokens.counts[part.rows] == length) | (length == size)
                parts.append(Windows(part.hashes[mine], part.rows[mine] + np.int32(start), part.places[mine]))
        runs = joined(parts)
        order = np.argsort(runs.hashes)
        met = np.unique(runs.hashes[order], return_counts=True)[1]
        order = order[np.repeat(met <= common, met)]
        self._runs = Windows(runs.hashes[order], runs.rows[order], runs.places[order])
        self._sizes = np.minimum(self.tokens, size)
        self._lengths = np.unique(self._sizes[self.tokens >= min(LEAST, size)]).tolist() or [size]

    @property
    def short(self) -> int:
        """Questions that are too short to be compared."""
        return int((self.tokens < LEAST).sum())

    def matches(self, records: Iterable[BenchmarkText]) -> tuple[list[BenchmarkMatch], int]:
        """The best match of every question that shares a run with these records, by row; and how many they are."""
        best, seen = dict[int, BenchmarkMatch](), 0
        for block in _blocks(records):
            seen += len(block)
            by_runs = list(self._in_block(block))
            for match in [*by_runs, *self._by_lines(block, {match.row for match in by_runs})]:
                known = best.get(match.row, match)  # with the larger share, the first where both are alike
                chosen = match if match.share > known.share else known
                best[match.row] = replace(chosen, records=match.records + (0 if known is match else known.records))
        return [best[row] for row in sorted(best)], seen

    def _in_block(self, block: Sequence[BenchmarkText]) -> Iterator[BenchmarkMatch]:
        tokens = tokenise([record.text for record in block])
        size = pl.col("size").first()
        steps = pl.col("place").diff().fill_null(size)  # overlapping runs share tokens
        met = self._shared(tokens).sort("row", "row_there", "place").group_by("row", "row_there", maintain_order=True)
        pairs = met.agg(size, "place", shared=pl.min_horizontal(steps, size).sum())
        shares = pairs["shared"].to_numpy() / self.tokens[pairs["row"].to_numpy()]
        shares_of = pairs.with_columns(share=shares, records=pl.len().over("row"))
        ordered = shares_of.sort("row", -pl.col("share"), maintain_order=True)
        for row in ordered.unique("row", keep="first", maintain_order=True).iter_rows(named=True):
            distinct = np.unique(row["place"])  # overlapping windows make up runs
            breaks = np.flatnonzero(np.diff(distinct) > row["size"])  # a gap without any shared run
            begins, ends = distinct[np.append(0, breaks + 1)], distinct[np.append(breaks, len(distinct) - 1)]
            at, record = int(np.argmax(ends - begins)), block[row["row_there"]]  # the longest of them
            first, last = int(begins[at]), int(ends[at]) + row["size"]
            yield BenchmarkMatch(row["row"], row["share"], first, last, record.line, row["records"], record.text)

    def _shared(self, tokens: Tokens) -> pl.DataFrame:
        """The runs that questions share with records: their rows and places."""
        theirs = joined([windows(tokens, length) for length in self._lengths])
        first = np.searchsorted(self._runs.hashes, theirs.hashes)
        counts = np.searchsorted(self._runs.hashes, theirs.hashes, side="right") - first
        ours = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        rows, places, there = self._runs.rows[ours], self._runs.places[ours], theirs.rows.repeat(counts)
        return pl.DataFrame({"row": rows, "place": places, "size": self._sizes[rows], "row_there": there})

    def _by_lines(self, block: Sequence[BenchmarkText], counted: Container[int]) -> Iterator[BenchmarkMatch]:
        """Records with nearly all lines of a question: where short options change places no run of tokens is left."""
        for record in block:
            parts = (part for line in record.text.split("\n") for part in (line, *_P.inline.split(line)))
            for row in dict.fromkeys(row for part in parts for row in self._lines.get(_letters(part), ())):
                if (share := lines_shared(self._texts[row], record.text)) >= self._copied:
                    last, told = int(self.tokens[row]), int(row not in counted)
                    yield BenchmarkMatch(row, share, 0, last, record.line, told, record.text)


def lines_shared(text: str, record: str) -> float:
    """The share of a question that stands in a record line by line, whatever the order: options change places."""
    lines = [_letters(line) for line in text.split("\n")]
    there = _letters(record)
    return sum(len(line) for line in lines if line in there) / max(1, sum(map(len, lines)))


def asks_the_same(stem: str, record: str) -> bool:
    """Return whether a stem, worded alike, stands in a record: one list of options serves many stems."""
    return fuzz.partial_ratio(_letters(stem), _letters(record), score_cutoff=_ASKED) > 0


def is_phrase(span: str) -> bool:
    """Return whether a run says next to nothing apart from names of laws (《…》) and the set phrases of exams."""
    return len(_P.phrase.sub("", _letters(_P.title.sub("", span)))) < LEAST


def _letters(text: str) -> str:
    """Fold a text as ``tokenise`` does, without breaks."""
    return _P.no_letter.sub("", symbols_kept(_P.label.sub("", unicodedata.normalize("NFKC", text))))


def _blocks(records: Iterable[BenchmarkText]) -> Iterator[list[BenchmarkText]]:
    block, characters = list[BenchmarkText](), 0
    for record in records:
        block.append(record)
        characters += len(record.text)
        if len(block) == _RECORDS or characters >= _CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
