"""Questions that changed after experts had answered them: which answers still stand. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from build_dataset.annotation.label_studio import editable, read
from build_dataset.pipeline import releases, stage
from build_dataset.pipeline.dedup.keys import difference, meaning, with_keys
from build_dataset.schemas.annotations import AskedQuestion, Correction, CorrectionStatus
from build_dataset.schemas.places import OPTION
from build_dataset.schemas.questions import Merge

_STAND = ("moved", "typography", "corrected", "words")  # kinds of changes under which answers stand
_WORD = re.compile(r"[A-Za-z0-9.%]+|\s+|.", re.DOTALL)  # of Chinese a character: where words end is not written
_AROUND = 12  # characters of a shown difference that stay before and after each change


class QuestionChange(NamedTuple):
    """A reviewed question that is not what it was, with what differs."""

    before: str  # its id when it was answered
    after: str | None  # its id now
    kind: str  # `moved`, `typography`, `corrected` by its reviewers themselves, `words`, `meaning`, `gone`
    reason: str
    shown: str  # the texts, word by word: 最可能的[-诊断-]{+疾病+}是
    reviewers: tuple[str, ...]


@dataclass(frozen=True)
class Lineage:
    """Reviews under the present ids of their questions, without those of questions that ask something else now."""

    pulled: pl.DataFrame
    changes: tuple[QuestionChange, ...] = ()
    ids: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The present id of questions whose answers stand under another."""
    unconfirmed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Difference in the words of questions that nobody has seen as they are now, by id."""
    anew: Set[str] = frozenset()  # ids of questions that ask something else now and that nobody has answered since


def asked_questions(questions: pl.DataFrame, since: str) -> pl.DataFrame:
    """Return the present versions of questions."""
    pairs = questions.select("content_hash", "answer").iter_rows()
    versions = [read.version_of(content, "".join(answer or ())) for content, answer in pairs]
    asked = questions.with_columns(version=pl.Series(versions, dtype=pl.String), since=pl.lit(since))
    return asked.select([*AskedQuestion.model_fields])


def trace(tables: stage.Tables) -> Lineage:
    """Return which of the reviews in ``pulled`` stand for the present questions; ``asked`` is what experts saw."""
    pulled = tables["pulled"]
    if "asked" not in tables or tables["asked"].is_empty():
        return Lineage(pulled)
    key, now = ["question_id", "version"], asked_questions(tables["questions"], "")
    answered = pulled.select("question_id", "reviewer", "annotation_id", version="asked").drop_nulls().unique()
    used = tables["asked"].join(answered, on=key, how="semi")
    older = used.join(now, on=key, how="anti").sort("since", "version")
    if older.is_empty():
        return Lineage(pulled)
    latest = older.unique("question_id", keep="last", maintain_order=True)
    known = used.join(now, on=key, how="semi")  # another that was asked as early is a twin, not what became of one
    pairs = releases.match_released(latest, now, Merge.to_frame([])).select("old", "new")
    pairs = pairs.join(latest.select(old="question_id", left="since"), on="old", how="left")
    pairs = pairs.join(known.select(new="question_id", came="since"), on="new", how="left")
    pairs = pairs.filter((pl.col("old") == pl.col("new")) | (pl.col("came") > pl.col("left")).fill_null(value=True))
    rows = _as_answered(older, answered, tables.get("corrections", Correction.to_frame([])))
    versions = list(_changes(rows, older, now, dict(pairs.select("old", "new").iter_rows())))
    kinds = [(row.version, *who, each.before, each.after, each.kind) for row, each in versions for who in row.answers]
    named = pl.DataFrame(kinds, ["asked", "reviewer", "annotation_id", "question_id", "now", "kind"], orient="row")
    key = ["question_id", "asked", "reviewer", "annotation_id"]
    joined = pulled.join(named, on=key, how="left", maintain_order="left").filter(pl.col("kind").ne_missing("meaning"))
    standing = joined.with_columns(question_id=pl.coalesce("now", "question_id")).select(pulled.columns)
    # Somebody has seen them as they are: an answer that was put back under a new id is older than what is asked there.
    seen = pulled.rename({"asked": "version"}).join(known, on=["question_id", "version"])
    changes = [each for _, each in versions]
    fresh = {*seen.filter(pl.col("updated_at") >= pl.col("since"))["question_id"]}
    fresh |= {each.after for each in changes if each.kind == "corrected"}
    return Lineage(
        standing,
        tuple(changes),
        {each.before: each.after for each in changes if each.kind in _STAND and each.after not in (None, each.before)},
        {str(each.after): each.shown for each in changes if each.kind == "words" and each.after not in fresh},
        {str(each.after) for each in changes if each.kind == "meaning"} - fresh,
    )


class _Answered(NamedTuple):
    """An earlier version as some of its reviewers saw it: with what they corrected in it and what applies since."""

    version: str
    answers: Sequence[tuple[str, int]]  # reviewer and annotation
    asked: Mapping[str, Any]


def _as_answered(older: pl.DataFrame, answered: pl.DataFrame, corrections: pl.DataFrame) -> list[_Answered]:
    """Return the earlier versions by what their reviewers wrote themselves while they answered."""
    written = defaultdict[tuple[Any, ...], dict[str, str | None]](dict)
    for each in Correction.from_frame(corrections.filter(pl.col("status") == CorrectionStatus.ACCEPTED)):
        written[each.question_id, each.by, each.annotation_id][each.field] = each.after
    # A key that two wrote alike was D before: both meant their labels for the question with the key A.
    alike = defaultdict[tuple[str, str], dict[tuple[Any, ...], list[tuple[str, int]]]](lambda: defaultdict(list))
    for name, who, number, version in answered.sort("reviewer", "annotation_id").iter_rows():
        alike[name, version][tuple(written.get((name, who, number), {}).items())].append((who, number))
    return [
        _Answered(row["version"], answers, _corrected(row, dict(own)))
        for row in older.iter_rows(named=True)
        for own, answers in alike[row["question_id"], row["version"]].items()
    ]


def _corrected(row: Mapping[str, Any], own: Mapping[str, str | None]) -> dict[str, Any]:
    options = {each["label"]: each["text"] for each in row["options"]}
    options |= {name.removeprefix(OPTION): text for name, text in own.items() if name.startswith(OPTION)}
    return {
        **row,
        "stem": own.get(editable.STEM) or row["stem"],
        "shared_stem": own.get(editable.SHARED, row["shared_stem"]),
        "options": [{"label": label, "text": text} for label, text in sorted(options.items()) if text is not None],
        "answer": list(own.get(editable.ANSWER) or "") or row["answer"],
    }


def _changes(
    rows: Sequence[_Answered], older: pl.DataFrame, now: pl.DataFrame, successors: Mapping[str, str]
) -> Iterator[tuple[_Answered, QuestionChange]]:
    """Yield each earlier version, as it was answered, with what became of it."""
    present = {row["question_id"]: row for row in _keyed(now)}
    earlier = {(row["question_id"], row["version"]): row for row in _keyed(older)}
    for row, seen in zip(rows, _keyed(pl.DataFrame([row.asked for row in rows], older.schema)), strict=True):
        name, who = seen["question_id"], tuple(sorted({reviewer for reviewer, _ in row.answers}))
        old = earlier[name, row.version]
        if new := present.get(successors.get(name, "")):
            kind, reason = _kind(old, new)
            if seen != old and (own := _kind({**seen, "version": ""}, new)[0]) != "meaning":
                kind = "corrected" if own == "typography" else own
            shown = word_difference(_text(old), _text(new))
            yield row, QuestionChange(name, new["question_id"], kind, reason, shown, who)
        else:
            yield row, QuestionChange(name, None, "gone", "it left the dataset", _text(old), who)


def _keyed(questions: pl.DataFrame) -> Iterator[dict[str, Any]]:
    return questions.hstack(with_keys(questions)).iter_rows(named=True)


def _text(row: Mapping[str, Any]) -> str:
    options = (f"{option['label']}. {option['text']}" for option in row["options"])
    return "\n".join([*filter(None, (row["shared_stem"], row["stem"])), *options])


def _kind(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, str]:
    """Return how much changed, and what."""
    if old["version"] == new["version"]:
        return "moved", "it has another id"
    if old["answer"] != new["answer"]:
        return "meaning", "key " + " → ".join("".join(each["answer"] or ["none"]) for each in (old, new))
    pairs = enumerate(zip_longest(old["option_keys"], new["option_keys"]))
    if differing := [chr(ord("A") + place) for place, (first, other) in pairs if first != other]:
        return "meaning", f"option {', '.join(differing)}"
    if differs := difference(meaning(old["key"]), meaning(new["key"])):
        return "meaning", ": ".join(differs)
    return ("typography", "the same words") if old["key"] == new["key"] else ("words", "other words")


def word_difference(before: str, after: str) -> str:
    """Return both texts as one: ``最可能的[-诊断-]{+疾病+}是``, long equal parts as ``…``."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    parts = []
    for kind, *ends in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        first, second = "".join(old[ends[0] : ends[1]]), "".join(new[ends[2] : ends[3]])
        if kind == "equal":
            parts.append(first if len(first) <= 2 * _AROUND else f"{first[:_AROUND]}…{first[-_AROUND:]}")
        else:
            parts += [f"[-{first}-]"] * bool(first) + [f"{{+{second}+}}"] * bool(second)
    return "".join(parts)
