"""Texts of papers: cut, with differences marked, questions side by side; the section on merged duplicates."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self

import polars as pl

from build_dataset.pipeline.report.build import Build, Section

Piece = tuple[str, bool]  # a run of text, and whether it differs from what stands beside it

Row = Mapping[str, Any]  # a question as a dictionary

_UNRELATED = 0.5
"""Similarity below which two texts are marked whole: single characters that they share by chance say nothing."""
_PARTS = ("stem", "question", "Question", "题目", "题干", "text")
"""Fields that hold the text of items that never became questions, by the names that sources use."""
_COLUMNS = ("question_id", "document", "number", "pages", "stem", "shared_stem", "options", "answer")


@dataclass(frozen=True)
class CutText:
    """A text, cut."""

    pieces: Sequence[Piece]
    more: int  # characters left out
    whole: Self | None = None  # more of it, up to a bound, for what unfolds


@dataclass(frozen=True)
class QuestionCard:
    """A question as it is shown, by itself or beside another."""

    question_id: str
    where: str
    stem: CutText
    options: Sequence[tuple[Piece, CutText]]  # labels and texts
    answer: Piece


def clip(text: str | None, limit: int, span: Sequence[int] | None = None) -> CutText:
    """Return ``limit`` characters of a text with a ``span`` marked: the first ones, or those around the span."""
    text, (start, end) = text or "", span or (0, 0)
    first = 0 if end <= limit else max(0, min(start, end - limit))  # the span must be seen
    last = min(len(text), first + limit)
    begin, stop = (min(max(place, first), last) for place in (start, end))
    parts = ((text[first:begin], False), (text[begin:stop], True), (text[stop:last], False))
    pieces: list[Piece] = [("…", False)] if first else []
    return CutText(pieces + [part for part in parts if part[0]], len(text) - (last - first))


def mark_differences(one: str | None, other: str | None, limit: int) -> tuple[CutText, CutText]:
    """Return both texts with the characters marked that the other does not have (shortest edit script)."""
    from rapidfuzz.distance import Indel

    one, other = one or "", other or ""
    left, right = one[: 4 * limit], other[: 4 * limit]  # comparing is quadratic
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    if Indel.normalized_similarity(left, right) < _UNRELATED:
        sides = [(one, True)], [(other, True)]
    else:
        for code in Indel.opcodes(left, right):
            differs = code.tag != "equal"
            sides[0].append((left[code.src_start : code.src_end], differs))
            sides[1].append((right[code.dest_start : code.dest_end], differs))
    return _bounded(sides[0], len(one), limit), _bounded(sides[1], len(other), limit)


def unfold(text: str, limit: int, most: int, span: Sequence[int] | None = None) -> CutText:
    """Return ``limit`` characters of a text, which unfold to ``most`` of it, with a ``span`` marked."""
    return replace(clip(text, limit, span), whole=clip(text, most, span) if min(len(text), most) > limit else None)


def item_text(item: str | None, limit: int) -> QuestionCard | None:
    """Return the stem and options of a rejected or waiting item; its JSON where it has none."""
    if not item or item.startswith("["):  # reviews of a question, which the detail sums up
        return None
    content: Any = None
    with suppress(ValueError):
        content = json.loads(item)
    names = [name for name in _PARTS if isinstance(content, dict) and isinstance(content.get(name), str)]
    if not names:
        return QuestionCard("", "", clip(item, limit), [], ("", False))
    options = [((label, False), clip(text, limit)) for label, text in _options(content)]
    stem = clip(_stem_of({**content, "stem": content[names[0]]}), limit)
    return QuestionCard("", source_place(content), stem, options, (key_letters(content.get("answer")), False))


def spread_evenly(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return at most that many rows, spread evenly over all of them."""
    count = min(most, rows.height)
    return rows[[-(-at * rows.height // count) for at in range(count)]]  # rounded up


def source_place(question: Mapping[str, Any]) -> str:
    """Return the document, page and number of a question, as far as they are known."""
    pages = question.get("pages")
    page = f"p. {', '.join(map(str, pages))}" if isinstance(pages, list) and pages else ""
    number = f"no. {question['number']}" if question.get("number") is not None else ""
    return " · ".join(str(part) for part in (question.get("document"), page, number) if part)


def key_letters(given: Any) -> str:
    """Return an answer key as letters."""
    return "".join(map(str, given)) if isinstance(given, list) else str(given or "")


def _options(question: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    options = question.get("options")
    for option in options if isinstance(options, list) else ():
        if isinstance(option, dict):
            yield str(option.get("label") or ""), str(option.get("text") or "")


def _bounded(pieces: Sequence[Piece], length: int, limit: int) -> CutText:
    """Return the first ``limit`` characters of a text of that length; marked blanks are made visible."""
    kept: list[Piece] = []
    left = limit
    for text, marked in pieces:
        if left > 0 and (text or not length):
            part = text[:left]
            blank = marked and not part.strip()  # "80 mmHg" and "80mmHg"
            kept.append((part.replace(" ", "␣").replace("\n", "⏎\n") if blank else part, marked))
        left -= len(text)
    return CutText(kept, max(0, length - limit))


def side_by_side(one: Row, other: Row, limit: int) -> tuple[QuestionCard, QuestionCard]:
    """Return both questions with the characters marked that the other does not have."""
    stems = mark_differences(_stem_of(one), _stem_of(other), limit)
    keys = key_letters(one.get("answer")), key_letters(other.get("answer"))
    cards = []
    for question, beside, stem, key in zip((one, other), (other, one), stems, keys, strict=True):
        theirs = list(_options(beside))
        options = [_option(*option, place, theirs, limit) for place, option in enumerate(_options(question))]
        shown = QuestionCard(question["question_id"], source_place(question), stem, options, (key, keys[0] != keys[1]))
        cards.append(shown)
    return cards[0], cards[1]


def _option(label: str, text: str, place: int, beside: Sequence[tuple[str, str]], limit: int) -> tuple[Piece, CutText]:
    """Return an option with its differences; of one that has only moved the letter alone is marked."""
    same = next((other for other, wording in beside if wording == text), None)  # options in another order
    if same is not None:
        return (label, same != label), clip(text, limit)
    opposite = beside[place][1] if place < len(beside) else ""  # compared with what stands at its place
    return (label, False), mark_differences(text, opposite, limit)[0]


def _stem_of(question: Row) -> str:
    return "\n".join(part for part in (question.get("shared_stem"), question["stem"]) if isinstance(part, str))


def duplicates(build: Build) -> Section | None:
    """Merged duplicates side by side, the least alike of each kind; None where dedup has merged nothing."""
    merges, questions = build.filled("dedup/merges"), build.table("clean/questions")
    if merges is None or questions is None:
        return None
    # the lowest similarity first: wrong merges are found there
    parts = merges.sort("score", "question_id").partition_by("kind", as_dict=True)
    shown = {str(kind): part.head(build.params.pairs).to_dicts() for (kind,), part in parts.items()}
    wanted = {merge[name] for kept in shown.values() for merge in kept for name in ("survivor_id", "question_id")}
    known = questions.filter(pl.col("question_id").is_in(sorted(wanted))).select(_COLUMNS)
    rows = {row["question_id"]: row for row in known.iter_rows(named=True)}  # fewer where clean ran again
    limit = build.params.characters
    values = [
        {
            "kind": kind,
            "count": parts[(kind,)].height,
            "pairs": [
                {
                    "said": f"score {merge['score']:.3f} · {merge['reason']}",
                    "cards": side_by_side(rows[merge["survivor_id"]], rows[merge["question_id"]], limit),
                }
                for merge in kept
                if {merge["survivor_id"], merge["question_id"]} <= rows.keys()
            ],
        }
        for kind, kept in shown.items()
    ]
    return Section({"merged": values})
