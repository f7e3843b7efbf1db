"""Finds cases and options that several items share and that no known head announces."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from build_dataset.pipeline.parse import heads
from build_dataset.pipeline.parse.fields import opens_field
from build_dataset.pipeline.parse.heads import GroupHead
from build_dataset.pipeline.parse.labels import opens_option
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.parse.outline import HEADS, Cutting, Role
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
LEAST_SHARED, MOST_SHARED = 3, 30  # least number of options that items share; most items that share


def share_untitled(cutting: Cutting) -> None:
    """Give the options or the case between two items to those below that share it: 答案：C / A. 甲 B. 乙 / 5. …."""
    numbered = sorted(cutting.marks)
    items = [_item_text(cutting, line, after) for line, after in pairwise([*numbered, len(cutting.pieces)])]
    runs = [find_run(text) for text in items]
    kind, shares = None, False  # what the section announces; the item above has its options from above
    for place, line in enumerate(numbered):
        head = cutting.groups.get(line - 1)  # （1～3题共用题干） may stand behind its case, over the first number
        end = line - bool(head and head.end >= len(cutting.pieces[line - 1].text))
        item = numbered[place - 1] if place else -1
        above = [at for at in range(item + 1, end) if cutting.roles[at] in HEADS]
        low, headed = max([item, *above]) + 1, bool(above)
        texts = [piece.text for piece in cutting.pieces[low:end]]
        if headed and (group := cutting.groups.get(low - 1)):
            shared = find_run("\n".join([cutting.pieces[low - 1].text, *texts]))
            if shared and texts and _P.first_shared.match(texts[0]) and runs[place] is None:  # （二） / A. 甲
                cutting.groups[low - 1] = group = group._replace(options=True)
            shares = shared is not None and group.options
            if group.options or heads.announcement(cutting.pieces[low - 1].text).kind != "A3/A4" or group.first:
                continue
        kind, shares = (heads.announcement(cutting.pieces[low - 1].text).kind, False) if headed else (kind, shares)
        if any(role is not Role.TEXT for role in cutting.roles[low:end]):
            continue
        if options := runs[place] is None:
            before = items[place - 1] if place and not headed else ""
            entry = _P.entry.match(items[place])
            start = None if entry else _options_start(texts, before, shared=shares or headed)
        else:
            start = _case_start_above(texts, headed=headed or end < line or not place)
        if start is None:
            continue
        near = range(place, place + len([*_together(cutting, numbered[place : place + MOST_SHARED])]))
        if options:
            last = next((at for at in near if runs[at]), near.stop) - 1
            last += runs[last + 1 : near.stop][1:2] == [None]  # the options of the next end the text of its last
        else:
            stems = [items[at][: run.start] if (run := runs[at]) else "" for at in near]
            told = (at for at, stem in enumerate(stems) if heads.is_case(stem) or heads.tells_of_patient(stem))
            leaning = [kind == "A3/A4" or _P.leans.search(stem) for stem in stems[: next(told, len(stems))]]
            last = max((place + at for at, leans in enumerate(leaning) if leans), default=-1)
        if last < place:
            continue
        shares = options
        title = None if options else _P.titles_case.match(texts[start])
        skipped = title.end() if title and heads.tells_of_patient(texts[start][title.end() :]) else 0
        first, until = (cutting.marks[numbered[at]].value for at in (place, last))
        named = head or GroupHead(first, until, options, 0, titled=False)
        cutting.share(low + start, named._replace(end=skipped))


def _item_text(cutting: Cutting, line: int, after: int) -> str:
    """Return the text of an item behind its number, up to the next head."""
    end = next((at for at in range(line + 1, after) if cutting.roles[at] is not Role.TEXT), after)
    first = cutting.pieces[line].text[cutting.marks[line].end :]
    return "\n".join([first, *(piece.text for piece in cutting.pieces[line + 1 : end])])


def _together(cutting: Cutting, marks: Sequence[int]) -> Iterator[int]:
    """Yield the numbers from the first on that no head parts."""
    yield marks[0]
    for before, mark in pairwise(marks):
        headed = any(cutting.roles[at] in HEADS for at in range(before, mark))
        if headed or cutting.marks[mark].value != cutting.marks[before].last + 1:
            return
        yield mark


def _options_start(texts: Sequence[str], before: str, *, shared: bool) -> int | None:
    """Return the line on which options begin that end above an item without any, under another that is whole."""
    first = next((at for at in range(len(texts) - 1, -1, -1) if _P.first_shared.match(texts[at])), None)
    run = None if first is None else find_run("\n".join(texts[first:]))
    if first is None or run is None or len(run.options) < LEAST_SHARED:
        return None
    if not shared and find_run(before[: max(0, before.rfind(texts[first]))]) is None:
        return None  # they are the item's own
    start = first - bool(first and _P.titles_options.fullmatch(texts[first - 1]))
    ended = [at for at in range(start) if opens_option(texts[at]) or opens_field(texts[at])]
    told = shared or (ended and opens_field(texts[ended[-1]]))
    return start if told or start in (0, ended[-1] + 1 if ended else 0) else None  # （3）丙的首选 / A. 甲 is a part


def _case_start_above(texts: Sequence[str], *, headed: bool) -> int | None:
    """Return the line on which a case begins behind the options and the answer of an item, or under a head."""
    ended = [at for at, text in enumerate(texts) if opens_option(text) or opens_field(text)]
    told = range(ended[-1] + 1 if ended else 0, len(texts) if ended or headed else 0)
    first = next((at for at in told if heads.tells_of_patient(_P.titles_case.sub("", texts[at]))), None)
    return None if first is None or _P.concluding.search("".join(texts[first:])) else first
