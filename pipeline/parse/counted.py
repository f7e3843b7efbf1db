"""Papers whose options are counted, as Japanese, Korean and Russian ones are: 1. 大静脈, 2) бактерия, ③ 간호.

Their options get the letters that all others have, and a key by number names them.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter

from build_dataset.pipeline.parse.heads import is_likely_key_head
from build_dataset.pipeline.parse.labels import LABELS
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
_ALPHABETS, _place = _P.table("alphabets"), attrgetter("lastindex")
MIN_QUESTIONS, MIN_OPTIONS = 2, 3  # least number of questions, and of options of each
MIN_SHARE = 0.8  # share of questions that must have counted options
MAX_LETTERED = 0.05  # the most lines that may begin with a letter, of the questions: others number statements


def with_letters(pieces: Sequence[ParsedLine]) -> list[ParsedLine]:
    """Return the pieces of a paper, counted options and keys by number as letters; of others as they are."""
    pieces = [*_with_latin_labels(pieces)]
    head = next((at for at, piece in enumerate(pieces) if is_likely_key_head(piece.text)), len(pieces))
    for at, piece in enumerate(pieces[head:], head):  # 1. b, b c a d a
        pieces[at] = replace(piece, text=_P.small_key.sub(lambda key: key[0].upper(), piece.text))
    lines = [piece.text if piece.kind not in REGIONS else "" for piece in pieces]
    keyed = sum(_P.key.fullmatch(line) is not None for line in lines)
    lettered = sum(_P.lettered.match(line) is not None for line in lines)
    for form in (_P.worded, _P.key, _P.dotted):
        starts = [at for at, line in enumerate(lines) if form.match(line)]
        starts = _behind_keys(lines, starts) if form is _P.key else starts
        spans = [*pairwise([*starts, len(lines)])]
        dotted = form is _P.dotted
        runs = [(start, end, run) for start, end in spans if (run := _options(lines, start + 1, end, dotted))]
        if dotted and 2 * keyed < len(runs):  # ① … may be statements of K-type items
            runs = [run for run in runs if lines[run[2][0]].lstrip()[:1].isdecimal()]
        if dotted:  # 1) … under 1. …: numbers of options are no questions
            starts = [start for start, _, _ in runs] if len(runs) >= MIN_SHARE * len(starts) else starts
        mixed = form is not _P.key and lettered > MAX_LETTERED * len(starts)
        if mixed or len(runs) < max(MIN_QUESTIONS, MIN_SHARE * len(starts)):
            continue
        changed = dict(pair for start, end, run in runs for pair in _rewritten(lines, start, end, run))
        listed = (at for at in range(head, len(lines)) if _P.counted_entries.fullmatch(lines[at]))  # 1 – 3 / 2 – 1
        changed |= {at: _P.counted_entry.sub(lambda key: LABELS[int(key[0]) - 1], lines[at]) for at in listed}
        order = [*range(starts[0])]
        # What stands before and among the options goes behind them, but for the stem; behind keys these go on in it.
        for start, end, run in [] if form is _P.key else runs:
            key = next((at for at in range(start + 1, end) if _P.key.fullmatch(lines[at])), end)
            order += [start, *range(start + 1, min(key, run[0])), *run, *range(start, end)]
        order = [*dict.fromkeys([*order, *range(len(lines))])]
        return [replace(pieces[at], text=changed.get(at, pieces[at].text)) for at in order]
    return pieces


def _with_latin_labels(pieces: Sequence[ParsedLine]) -> Sequence[ParsedLine]:
    """Return the pieces of a paper with labels of another alphabet with Latin ones: А) Б) В) and Ответ: Б, أ) ب) ج).

    More lines have the second than Latin labels, or it is none: α-helix (α), β-sheet (β).
    """
    latin = sum(_P.second.match(piece.text) is not None for piece in pieces)
    found = {name: [[*map(_place, form.finditer(one.text))] for one in pieces] for name, form in _ALPHABETS.items()}
    times = {name: min(sum(place in marks for marks in lines) for place in (1, 2)) for name, lines in found.items()}
    best = next(name for name, count in times.items() if count >= MIN_SHARE * max(times.values()))  # of two the first
    if times[best] < max(MIN_QUESTIONS, latin + 1):
        return pieces
    letter = re.compile(_P.whole(f"(?<![^\\W\\d_])@{best}@(?!\\w)"))
    key = re.compile(_P.whole(f"(@key_opens@)(?P<said>@{best}@(?:@key_joins@@{best}@)*)@key_ends@"))
    entries = f"(?P<said>(?:@entry_opens@@{best}@@entry_ends@){{2,}}|(?:@{best}@[\\s|]+){{4,}}@{best}@)\\s*\\Z"
    keys = re.compile(_P.whole(f"(@list_opens@){entries}")), key
    return [replace(piece, text=_in_latin(piece.text, _ALPHABETS[best], letter, keys)) for piece in pieces]


def _in_latin(text: str, label: re.Pattern[str], letter: re.Pattern[str], keys: Iterable[re.Pattern[str]]) -> str:
    """Return a line with Latin letters for its label, or for labels that run on from the first, and for its key."""
    if told := next(filter(None, (key.match(text) for key in keys)), None):
        said = letter.sub(lambda one: LABELS[_place(one) - 1], told["said"])
        return f"{text[: told.start('said')]}{said}{text[told.end('said') :]}"
    marks = [*label.finditer(text)]
    first = next((at for at, mark in enumerate(marks) if _place(mark) == 1), len(marks))
    run = [mark for at, mark in enumerate(marks[first:], 1) if _place(mark) == at]
    run = run if len(run) > 1 else [mark for mark in marks[:1] if not text[: mark.start()].strip(" -*•＊√✓✔☑✅")]
    for mark in reversed(run):
        text = f"{text[: mark.start()]}{LABELS[_place(mark) - 1]}. {text[mark.end() :]}"
    return text


def _behind_keys(lines: Sequence[str], keys: Sequence[int]) -> list[int]:
    """Return the first numbered line behind each key where these run on: 2. … / 1. 甲 / 2. 乙 / 3. 丙 / Answer: 2."""
    first = [next((at for at in range(*span) if _P.dotted.match(lines[at])), span[0]) for span in pairwise([0, *keys])]
    numbers = [re.split(r"\D", lines[at].strip(), maxsplit=1)[0] for at in first]
    return first if numbers == [*map(str, range(1, len(first) + 1))] else []


def _options(lines: Sequence[str], start: int, end: int, bracketed: bool) -> list[int]:
    """Return the lines of the first options under a question, counted from 1 without a gap; none if there are few."""
    run: list[int] = []
    for at in range(start, end):
        match = _P.option.fullmatch(lines[at])
        number = match and unicodedata.normalize("NFKC", match["number"] or match["circled"])
        if match and number == str(len(run) + 1) and not (bracketed and match["sign"] in (".", "．", "、")):
            run.append(at)
        elif match and run:
            break
    return run if MIN_OPTIONS <= len(run) <= len(LABELS) else []


def _rewritten(lines: Sequence[str], start: int, end: int, run: Sequence[int]) -> list[tuple[int, str]]:
    """Return the lines of a question that change: its options, its key, and numbers at which explanations begin."""
    options = [_P.option.fullmatch(lines[at]) for at in run]
    head = _P.worded.match(lines[start])  # 【問題1】 is 1. for the parser
    changed = [(start, f"{head['first'] or head['number']}. {lines[start][head.end() :]}")] if head else []
    signs = zip(LABELS, run, options, strict=False)
    changed += [(at, f"{label}. {sign['text']}") for label, at, sign in signs if sign]
    for at in range(start + 1, end):
        if at in run:
            continue
        if key := _P.key.fullmatch(lines[at]):
            numbers = [int(digit) for digit in unicodedata.normalize("NFKC", key["said"]) if digit.isdecimal()]
            right = options[numbers[0] - 1] if max(numbers) <= len(run) else None
            if right and (key["told"] or "").startswith(right["text"].strip() if key["told"] else ""):
                told = f"。{key['told']}" if key["told"] else ""
                changed.append((at, f"答案：{''.join(LABELS[one - 1] for one in sorted(numbers))}{told}"))
        elif lines[at].lstrip()[:1].isdigit():
            changed.append((at, f"・{lines[at].lstrip()}"))
    return changed
