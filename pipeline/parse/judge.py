"""The judgement of a paper whose keys were applied: what it lacks, and all checks of its questions in one order."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from build_dataset.pipeline.parse.checks import ParseCheck, run_checks
from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.heads import INSTRUCTION, SHARED_OPTIONS, announcement, number_candidate
from build_dataset.pipeline.parse.layout_checks import BESIDE, INSIDE
from build_dataset.pipeline.parse.lines import REGIONS
from build_dataset.pipeline.parse.numbering import GAP
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.parse.paper import Gap, Mismatch, ParsedPaper
from build_dataset.pipeline.parse.paper_checks import ANSWERS, COMPARED, set_aside_without_options
from build_dataset.pipeline.parse.parts import share_joint_answers
from build_dataset.pipeline.parse.question_checks import CONTENT, STRUCTURE
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
CHECKS: tuple[ParseCheck, ...] = (*STRUCTURE, *ANSWERS, *CONTENT, *COMPARED, *INSIDE, *BESIDE)
_LABELLED = 2.0  # the mean strength of labels at the starts of lines


def check_gates(paper: ParsedPaper) -> None:
    """Find what a paper lacks and flag its doubtful questions, in place; items without options are set aside."""
    share_joint_answers(paper.drafts)
    set_aside_without_options(paper)
    paper.gaps = find_gaps(paper)
    run_checks(paper, CHECKS)
    searches = (count_mismatches, unread_keys, unread_questions)
    paper.mismatches = [mismatch for search in searches for mismatch in search(paper)]


def find_gaps(paper: ParsedPaper) -> list[Gap]:
    """Numbers missing from sections that have questions with options, and those after the last that a key answers."""
    gaps: list[Gap] = []
    of_section = group_values((draft.section, draft) for draft in paper.items)
    sections = [section for section in sorted(of_section) if any(draft.options for draft in of_section[section])]
    for section in sections:
        members = of_section[section]
        if not (numbers := {draft.number for draft in members if draft.number is not None}):
            continue
        first, last = min(numbers), max(numbers)
        above = {draft.number or 0 for draft in of_section.get(section - 1, ())}
        # After 396 an author typed 2 … 45, then 441: the 44 items between are 397 to 440, and nothing is missing.
        steps = enumerate(pairwise(draft.number or 0 for draft in members), max(above, default=0) + 2)
        goes_on = (after for place, (before, after) in steps if after > before + 1 and after == place)
        start = next(goes_on, 1 if first <= GAP else first)
        end, why = last, "the numbers around it are there"
        spans = [announcement(draft.block.text).span for draft in members]
        named = [draft.group_last for draft in members if draft.group_last is not None]
        count = first - 1 + paper.count if paper.count is not None and len(sections) == 1 else 0
        if last < (stated := max([count, *named, *(span[1] for span in spans if span)])):
            end, why = stated, f"the paper announces {stated}"
        while (section, end + 1) in paper.unmatched:  # 1 … 18, and 19.A 20.C in the key
            end, why = end + 1, "its key answers it"
        missing = [number for number in range(start, end + 1) if number not in numbers]
        gaps.extend(Gap(section, number, why) for number in missing)
    return gaps


def count_mismatches(paper: ParsedPaper) -> Iterable[Mismatch]:
    """Heads that announce another number of items than stand under them."""
    section, block, under = None, None, defaultdict[int, list[Draft]](list)
    for draft in paper.items:  # a key among the items of a section (答案解析：) is no head
        if draft.section != section or not draft.block.is_key or announcement(draft.block.text).count is not None:
            section, block = draft.section, draft.block
        under[id(block)].append(draft)
    for members in under.values():
        head = members[0].block.text
        stated = announcement(head).count
        numbers = {(draft.number, draft.suffix if draft.number is None else "") for draft in members}
        if stated is not None and stated != len(numbers):
            line = head.split("\n", 1)[0][:40]
            yield "count_differs", line, f"{stated} announced, {len(numbers)} found"


def unread_keys(paper: ParsedPaper) -> list[Mismatch]:
    """Heads of keys under which no answer was read, and keys that answer less than half of the questions."""
    size, silent = len(paper.questions), len(paper.silent)
    if 2 * silent <= size:  # the key was read
        return []
    if paper.keyed:
        return [("key_not_read", "its key", f"{size - silent} of {size} questions are answered")]
    heads = [block.heads[0][:40] for block in paper.outline.blocks if block.is_key]
    return [("key_not_read", head, "no answer was read under this head") for head in heads]


def unread_questions(paper: ParsedPaper) -> Iterable[Mismatch]:
    """Find numbered questions and runs of options that stand outside of all items.

    Looked at: what stands before the first item, under heads, after a key. Options in the head of a section that
    shares them are none, nor are those of an example on the cover or in explanations after a key.
    """
    edges = (paper.outline.preamble, paper.outline.after_keys)
    cover, behind = ([piece.text for piece in pieces if piece.kind not in REGIONS] for pieces in edges)
    example = any(map(_P.example.search, cover))
    yield from _unread_in(cover, "before the first question", options=not example)
    for block in paper.outline.blocks:
        if not block.is_key and announcement(block.text).kind not in {*SHARED_OPTIONS, "K"}:
            yield from _unread_in(block.heads[1:], f"under {block.name[:20]}", options=True)
    yield from _unread_in(behind, "after the key", options=False)
    for group in paper.outline.lost_groups:  # (6-7题共用备选答案) whose questions begin with no number
        if group.head.last is not None:
            yield "text_left_over", group.pieces[0].text[:40], f"questions up to {group.head.last} were not read"


def _unread_in(texts: list[str], where: str, *, options: bool) -> Iterable[Mismatch]:
    numbered = (text for text in texts if number_candidate(0, text) and not INSTRUCTION.search(text))
    asked = [*filter(_P.asks.search, numbered)]  # 3. 首选的是（ ）
    run = find_run("\n".join(texts)) if options else None
    labels = run is not None and len(run.options) > 2 and run.strength >= _LABELLED
    if asked or labels:
        line = asked[0] if asked else next((text for text in texts if text.strip()), "")
        detail = f"what looks like a question stands {where} and was not read"
        yield "text_left_over", line.strip()[:40], detail
