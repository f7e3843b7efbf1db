"""The relation of two questions, by their stems and their options: one question, a conflict, or a kind of twins."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from build_dataset.pipeline.dedup.candidates import NEARLY_ONE
from build_dataset.pipeline.dedup.grams import Vocabulary
from build_dataset.pipeline.dedup.keys import ASKED, FIGURES, LIGHT, Compared, difference, in_letters, meaning
from build_dataset.pipeline.dedup.misreading import TELLING, Edit, TextPair, content_edits, edits, framed_edits
from build_dataset.pipeline.dedup.params import DedupParams

_MISREAD = 0.25  # largest plausible share of misread characters
_MISREAD_AGREED = 0.35  # the same where options and answers agree
_ALL_ELSE_EQUAL = 0.9
"""Least similarity of stems, numbers, units, negations and sexes left out, for a twin to be named after these."""
_TURNS_ON = re.compile("[0-9·%°A-Za-zμ岁周天日月年克升次不无未非没否男女二三四五六七八九十百千万两半]")
_FIGURES = re.compile(FIGURES)
MERGED = ("exact", "reordered_options", "same_question")  # Kinds whose later copy is merged into the better one
CONFLICT = "conflict"
SAME = (*MERGED, CONFLICT)  # kinds of one question, be it with two answers


@dataclass(frozen=True)
class Relation:
    """The relation of two questions, or of their stems."""

    kind: str
    """Of questions one of ``MERGED``, ``conflict``, ``variant``; of stems ``same``, ``different``; of both the kind of
    twin (``negation``, ``number``, ``unit``, ``sex``, ``age``, ``term``: another word)."""
    score: float  # similarity in 0..1: of the cores whatever the order of words, of the options too
    reason: str = ""  # of copies that are merged: what differs, for people
    labels: dict[str, str] = field(default_factory=dict)  # the other's letter for each of the question's
    certain: bool = False  # stems that are the same beyond doubt, so that another key is a conflict


def compare_stems(
    first: Compared, second: Compared, vocabulary: Vocabulary, params: DedupParams, *, agreed: bool = False
) -> Relation:
    """Compare two stems, each with its shared stem before it; more is misread where all else is ``agreed``."""
    if first.key == second.key:
        return Relation("same", 1.0, "same stem", certain=True)
    score = similarity(first.core, second.core)
    recognised = (first.recognised, second.recognised)
    read = TextPair(first.key, second.key, vocabulary, (first.doubtful, second.doubtful), agreed, recognised)
    twins = difference(meaning(first.key), meaning(second.key))
    telling = (one for one in framed_edits(first.key, second.key) if not TELLING.isdisjoint(one.old + one.new))
    if twins and not all(map(read.looks_misread, telling)):  # twins, named after that when all else is equal
        bare = similarity(_without_turns(first.core), _without_turns(second.core))
        if max(score, bare) < params.related:
            return Relation("different", score)
        return Relation(twins[0] if bare >= _ALL_ELSE_EQUAL else "term", max(score, bare))
    changes = content_edits(first.core, second.core)
    # Words of asking that changed places make no other question (首选的药物 / 药物首选), nor light words alone (最有).
    dropped, added = ({edit[side] for edit in changes if not edit[1 - side]} for side in (0, 1))
    light = dropped & added & ASKED | (LIGHT if agreed else frozenset())
    changes = [edit for edit in changes if (edit.old and edit.new) or (edit.old or edit.new) not in light]
    if not changes:
        return Relation("same", score, "stems differ in set phrases only", certain=bool(first.core))
    if _shown(first, second, changes, read, agreed=agreed):
        certain = not any(read.doubtful) and all(read.looks_misread(edit) for edit in changes)
        return Relation("same", score, "stems differ as misreadings do", certain=certain)
    return Relation("different" if score < params.related else "term", score)


def _shown(first: Compared, second: Compared, changes: list[Edit], read: TextPair, *, agreed: bool) -> bool:
    """Return whether every change is a misreading or, with the same options and answer, a slip."""
    # Set phrases are misread too: the keys are compared before the cores.
    pairs = (first.key, second.key, content_edits(first.key, second.key)), (first.core, second.core, changes)
    share = _MISREAD_AGREED if agreed else _MISREAD
    for text, other, differences in pairs:
        most = max(1, round(share * max(len(text), len(other))))  # one character may always differ
        few = Levenshtein.distance(text, other, score_cutoff=most) <= most
        if few and all(read.looks_misread(edit) or (agreed and read.is_slip(edit)) for edit in differences):
            return True
    return False


@lru_cache(maxsize=1 << 16)
def _without_turns(core: str) -> str:
    """A core without numbers, units, negations and sexes, on which twins turn."""
    return (_FIGURES if in_letters(core) else _TURNS_ON).sub("", core)


def similarity(first: str, second: str) -> float:
    """Similarity of two cores in 0..1: of their sequences, or of their characters where words changed places."""
    if not first or not second:
        return float(first == second)
    by_sequence: float = fuzz.ratio(first, second)
    # Of texts of the same characters half must stand in sequence; all texts in letters have the same few characters.
    if by_sequence < 50 or (in_letters(first) and in_letters(second)):
        return by_sequence / 100
    by_characters: float = fuzz.ratio(_letters(first), _letters(second))
    return by_characters / 100


_letters = lru_cache(maxsize=1 << 16)(lambda text: "".join(sorted(text)))
_OPTION_MISREAD = 0.5
"""Largest plausible share of misread characters: options are short, and the other options support this match."""
_SHORT = 6  # below so many characters one other character makes another word of an option: 肺腺癌 / 肺腺瘤
_VOUCHING = 3  # equal options needed to match one left over on either side


@dataclass(frozen=True)
class Matching:
    """Correspondence of the options of a first question to those of a second."""

    labels: dict[str, str]  # The second question's letter for each letter of the first; all of them when ``complete``
    complete: bool  # every option has its counterpart
    score: float  # mean similarity over the options of the longer list, 0..1
    in_order: bool  # counterparts stand at the same places
    reworded: frozenset[str] = frozenset()
    """The first question's letters of those that are alike, but in another wording."""


def match_options(first: Compared, second: Compared, vocabulary: Vocabulary, least: float) -> Matching:
    """Match equal options, then those that look like two readings of one, then those in two wordings."""
    if first.options == second.options:
        return Matching(dict(zip(first.labels, second.labels, strict=True)), True, 1.0, True)
    doubtful, recognised = (first.doubtful, second.doubtful), (first.recognised, second.recognised)
    rest = list(range(len(second.options)))
    pairs, scores = dict[int, int](), list[float]()
    equal, reworded = 0, set[str]()
    for step in ("equal", "misread", "reworded"):  # the surest first, the next with what is left
        for place, option in enumerate(first.options):
            if place in pairs or not rest:
                continue
            alike = {other: fuzz.ratio(option, second.options[other]) for other in rest}
            best = max(rest, key=lambda other: (alike[other], other == place, -other))
            read = TextPair(option, second.options[best], vocabulary, doubtful, recognised=recognised)
            wrong = not any(first.labels[place] in key for key in first.keys)
            vouched = wrong and equal >= _VOUCHING and len(rest) == 1 and first.core == second.core
            misread = step == "misread" and _misread(read, vouched=vouched)
            if not (read.first == read.second or misread or (step == "reworded" and _reworded(read, least))):
                continue
            pairs[place] = best
            scores.append(alike[best] / 100)
            rest.remove(best)
            equal += step == "equal"
            if step == "reworded":
                reworded.add(first.labels[place])
    longer = max(len(first.options), len(second.options), 1)  # an option that the other lacks counts as unlike
    return Matching(
        labels={first.labels[one]: second.labels[other] for one, other in sorted(pairs.items())},
        complete=len(pairs) == longer,
        score=sum(scores) / longer,
        in_order=all(one == other for one, other in pairs.items()),
        reworded=frozenset(reworded),
    )


def _misread(read: TextPair, *, vouched: bool) -> bool:
    """Return whether both are one option, particles and what was misread apart; a slip where all else is equal."""
    longer = max(len(read.first), len(read.second))
    most = ceil(_OPTION_MISREAD * longer)  # one of one, one of two, two of three
    if Levenshtein.distance(read.first, read.second, score_cutoff=most) > most or not longer:
        return False
    differences = content_edits(read.first, read.second)
    return all(read.looks_misread(edit) or (vouched and read.is_slip(edit)) for edit in differences)


def _reworded(read: TextPair, least: float) -> bool:
    """Return whether both may be wordings of one option: alike, long enough, and no difference made on purpose."""
    shorter, longer = sorted((len(read.first), len(read.second)))
    if Levenshtein.distance(read.first, read.second) > max(1, round((1 - least) * longer)):
        return False
    if shorter < _SHORT or any(edit.is_deliberate for edit in edits(read.first, read.second)):
        return False
    return difference(meaning(read.first), meaning(read.second)) is None


_TELLING = 4  # cores below this length (错误的是) do not relate questions with other options
_LONG = 8  # cores from this length on relate twins whatever their options
_OPTIONS_SAME = 0.85  # Least mean similarity of matched options; below it too many of them were misread to be believed
_OPTIONS_READ = 0.7  # the same where the stems or the answers are equal
_OPTIONS_ALIKE = 0.4  # share of common options that relates twins with short stems


def relate(first: Compared, second: Compared, vocabulary: Vocabulary, params: DedupParams) -> Relation | None:
    """The relation of ``first`` to ``second``, or None when there is none worth recording."""
    if first.group is not None and first.group == second.group and first.key != second.key:
        return None  # members of a group ask different things of one case or one list of options
    options = match_options(first, second, vocabulary, params.option)
    agreed = options.complete and keys_agree(translate_keys(first.keys, options.labels), second.keys)
    stems = compare_stems(first, second, vocabulary, params, agreed=agreed)
    if stems.kind == "different":  # whatever the options say
        return _nearly_one(first, second)
    score = round((stems.score + options.score) / 2, 4)
    if stems.kind != "same":
        close = options.score >= _OPTIONS_ALIKE or min(len(first.core), len(second.core)) >= _LONG
        return Relation(stems.kind, score) if close else None
    # Reworded options are equal with one specific stem, to the letter or read unsurely, and one answer; else 近中面 and
    # 远中面 are two, and a right one in other words another answer: 硝苯地平控释片 / 硝苯地平缓释片.
    read = first.core == second.core or first.doubtful or second.doubtful
    wrong = options.reworded.isdisjoint(letter for key in first.keys for letter in key)
    vouched = agreed and read and wrong and len(first.core) >= _TELLING
    least = _OPTIONS_READ if agreed or first.key == second.key else _OPTIONS_SAME
    if not options.complete or (options.reworded and not vouched) or options.score < least:
        telling = options.score >= _OPTIONS_ALIKE or min(len(first.core), len(second.core)) >= _TELLING
        return Relation("variant", score) if telling else None
    if keys_contradict(translate_keys(first.keys, options.labels), second.keys):
        if not stems.certain or options.reworded:
            return Relation("term", score)  # another wording, another answer
        return Relation(CONFLICT, score, labels=options.labels)
    if not options.in_order:
        return Relation("reordered_options", score, f"{stems.reason}, options in another order", options.labels)
    if first.key == second.key and options.score == 1:
        return Relation("exact", 1.0, "the same but for white space, width and punctuation", options.labels)
    return Relation("same_question", score, f"{stems.reason}, same options", options.labels)


def _nearly_one(first: Compared, second: Compared) -> Relation | None:
    """Questions of almost one text whose stems are not related, set phrases apart (哪项正确 / 哪裂项正确)."""
    if not (stems := fuzz.ratio(first.key, second.key, score_cutoff=NEARLY_ONE)):
        return None
    joined = ("\x1f".join(sorted(item.options)) for item in (first, second))
    options = fuzz.ratio(*joined, score_cutoff=NEARLY_ONE)
    return Relation("term", round((stems + options) / 200, 4)) if options else None


def keys_agree(first: Iterable[frozenset[str]], second: Iterable[frozenset[str]]) -> bool:
    """Return whether an answer is right by both."""
    return bool(set(first) & set(second))


def keys_contradict(first: Collection[frozenset[str]], second: Collection[frozenset[str]]) -> bool:
    """Return whether both have keys and no answer is right by both."""
    return bool(first and second) and not keys_agree(first, second)


def translate_keys(keys: Iterable[frozenset[str]], labels: dict[str, str]) -> tuple[frozenset[str], ...]:
    """Keys in the letters of the other question; compared by text, not by letter."""
    return tuple(frozenset(labels.get(letter, letter) for letter in key) for key in keys)
