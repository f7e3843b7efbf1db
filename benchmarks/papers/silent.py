"""Silent errors: damaged papers are read, and what is kept wrong without a flag is counted.

python -m benchmarks.papers.silent [--papers 2000] [--seed 0] [--show 10]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from benchmarks.papers.content import sections
from benchmarks.papers.habits import random_paper
from benchmarks.papers.model import ASIDE, Paper, Printed, Truth
from benchmarks.papers.render import Tagged, render, truths
from build_dataset.pipeline.parse.pairing import pair_keys
from build_dataset.pipeline.parse.paper import ParseOutcome, finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Box, Document, Line, LineKind
from build_dataset.schemas.questions import Question, ReviewItem

HOLE, FIGURE, FORMULA = "\x01hole", "\x01figure", "\x01formula"
"""Lines that were lost, whose room is left; regions that are no text."""
_KINDS = {FIGURE: LineKind.FIGURE, FORMULA: LineKind.FORMULA}
_FEET = (
    "版权归某某题库所有，转载请注明出处",
    "上一题\t返回目录\t下一题",
    "某某考试论坛 第{}页",
    "扫码关注获取更多真题",
)
_SPOILT = ("\ufffd", "\ue123", "\uf0b7")


@dataclass
class Damage:
    """A change that was made to a paper."""

    kind: str
    lines: Callable[[list[Tagged]], list[Tagged]] = list
    touched: set[int] = field(default_factory=set)
    """Numbers of the questions that it may have harmed."""
    key: Paper | None = None
    """The paper whose key lies beside it instead of its own."""
    key_name: str = "exam_answers.pdf"
    paper: Paper | None = None
    """The paper it was done to, where its habits had to be others."""


Injection = Callable[[Random, Paper], Damage]


def _some(random: Random, paper: Paper) -> Truth:
    """One of a paper's questions that is not its first."""
    return random.choice([truth for truth in truths(paper) if truth.kind not in ASIDE][1:] or truths(paper))


def _around(paper: Paper, truth: Truth) -> set[int]:
    """The numbers of a question, of those beside it and of its group."""
    group = {other.number for other in truths(paper) if truth.group and other.group == truth.group}
    return {truth.number - 1, truth.number, truth.number + 1, *group}


def none(random: Random, paper: Paper) -> Damage:  # noqa: ARG001 -- every injection has one signature
    return Damage("none")


def missing_number(random: Random, paper: Paper) -> Damage:
    """A number is not read: its line begins with the stem."""
    truth = _some(random, paper)

    def lines(body: list[Tagged]) -> list[Tagged]:
        place = next(i for i, (_, owner) in enumerate(body) if owner == truth)
        text = body[place][0]
        start = text.find(truth.stem[:4])
        body[place] = (text[start:] if start > 0 else "", truth)
        return body

    return Damage("missing number", lines, _around(paper, truth))


def stamp(random: Random, paper: Paper) -> Damage:
    """A stamp takes several lines: they are lost, or become a figure."""
    truth, size, seen = _some(random, paper), random.randint(1, 9), random.random() < 0.5
    shift = random.randint(-4, 3)
    touched: set[int] = set()

    def lines(body: list[Tagged]) -> list[Tagged]:
        first = max(0, next(i for i, (_, owner) in enumerate(body) if owner == truth) + shift)
        for place in range(first, min(len(body), first + size)):
            owner = body[place][1]
            touched.update(_around(paper, owner) if owner else _around(paper, truth))
            body[place] = (FIGURE if seen and place == first else HOLE, owner)
        return body

    return Damage("stamp", lines, touched)


def foot(random: Random, paper: Paper) -> Damage:
    """A site prints its words after items."""
    words, every = random.choice(_FEET), random.choice((1, 1, 2, 5))

    def lines(body: list[Tagged]) -> list[Tagged]:
        found: list[Tagged] = []
        for place, (text, owner) in enumerate(body):
            found.append((text, owner))
            ends = owner is not None and (place + 1 == len(body) or body[place + 1][1] is not owner)
            if ends and owner and owner.number % every == 0:
                found.append((words.format(owner.number), None))
        return found

    return Damage("foot", lines, {truth.number for truth in truths(paper)})


def foreign_key(random: Random, paper: Paper) -> Damage:
    """The key of another session lies beside the paper, whose own is absent."""
    style = replace(paper.style, key=random.choice(("separate_list", "separate_grid", "separate_vertical")))
    kinds = tuple(section.kind for section in paper.sections)
    drawn = sections(random.randint(0, 10**6), kinds, 8, 5, explained=False)
    name = random.choice(("1062_ans.pdf", "2021_answers.pdf", "第二次_答案.pdf"))
    silent = Paper(paper.sections, replace(paper.style, key="none"))
    return Damage("foreign key", key=Paper(drawn, style), key_name=name, paper=silent)


def spoilt_glyph(random: Random, paper: Paper) -> Damage:
    """A character of a question is unreadable."""
    truth = _some(random, paper)

    def lines(body: list[Tagged]) -> list[Tagged]:
        places = [i for i, (text, owner) in enumerate(body) if owner == truth and len(text) > 6]
        if places:
            place = random.choice(places)
            text = body[place][0]
            at = random.randint(4, len(text) - 1)
            body[place] = (text[:at] + random.choice(_SPOILT) + text[at + 1 :], truth)
        return body

    return Damage("spoilt glyph", lines, {truth.number})


def glued_case(random: Random, paper: Paper) -> Damage:
    """The head of a shared text stands on the line of the option before."""

    def lines(body: list[Tagged]) -> list[Tagged]:
        found: list[Tagged] = []
        for place, (text, owner) in enumerate(body):
            before = found[-1][1] if found else None
            opens = owner is None and "题" in text and any(c.isdigit() for c in text) and "共" in text
            if opens and before is not None and place + 1 < len(body) and random.random() < 0.7:
                found[-1] = (found[-1][0] + text, before)
                touched.update(_around(paper, before) | _around(paper, replace(before, number=before.number + 2)))
            else:
                found.append((text, owner))
        return found

    touched: set[int] = set()
    return Damage("glued case", lines, touched)


def lost_formula(random: Random, paper: Paper) -> Damage:
    """A formula is not read: a region stands in its place, or nothing."""
    truth, region = _some(random, paper), random.random() < 0.5

    def lines(body: list[Tagged]) -> list[Tagged]:
        place = max(i for i, (_, owner) in enumerate(body) if owner == truth)
        body[place] = (FORMULA if region else HOLE, truth)
        return body

    return Damage("lost formula", lines, _around(paper, truth))


def misprinted_key(random: Random, paper: Paper) -> Damage:
    """The key at a question differs from the verdict of its explanation."""
    paper = Paper(paper.sections, replace(paper.style, key="inline"))
    truth = _some(random, paper)
    letters = "ABCDEFGHIJK"[: len(truth.options)]
    other = random.choice([letter for letter in letters if letter != truth.answer] or ["A"])

    def lines(body: list[Tagged]) -> list[Tagged]:
        mark = paper.style.mark.format(truth.answer)
        for place, (text, owner) in enumerate(body):
            if owner == truth and text == mark:
                verdict = random.choice(("故选{}。", "故答案为{}。", "综上，本题选{}。")).format(truth.answer)
                body[place : place + 1] = [
                    (paper.style.mark.format(other), truth),
                    (f"解析：其余各项不符，{verdict}", truth),
                ]
                break
        return body

    return Damage("misprinted key", lines, {truth.number}, paper=paper)


INJECTIONS: tuple[Injection, ...] = (
    none, none, missing_number, missing_number, stamp, stamp, foot, foreign_key, spoilt_glyph, glued_case, lost_formula,
    misprinted_key,
)  # fmt: skip


def printed_lines(pages: Sequence[Sequence[str]], document: str, *, boxes: bool) -> list[Line]:
    """Lines one under the other; what was lost leaves its room."""
    found: list[Line] = []
    for number, page in enumerate(pages, 1):
        for order, text in enumerate(page):
            if text == HOLE or not text:
                continue
            kind = _KINDS.get(text, LineKind.TEXT)
            top = 50.0 + 16 * order
            box = Box(x0=50, y0=top, x1=50 + 10.5 * min(48, len(text)), y1=top + 11) if boxes else None
            shown = text if kind is LineKind.TEXT else ""
            found.append(
                Line(
                    document=document,
                    page=number,
                    order=order,
                    text=shown,
                    box=box,
                    confidence=None,
                    column=0,
                    kind=kind,
                )
            )
    return found


def outcome_of(paper: Paper, damage: Damage, *, boxes: bool) -> ParseOutcome:
    """Parse a damaged paper and the key beside it."""
    printed = render(paper, damage.lines)
    key = render(damage.key).key if damage.key else printed.key
    name = "1061.pdf" if damage.key and damage.key_name[0] == "1" else "2020.pdf" if damage.key else "exam.pdf"
    name = "第一次.pdf" if damage.key_name[0] == "第" else name
    return _read(Printed(printed.pages, key), name, damage.key_name, boxes=boxes)


def _read(printed: Printed, name: str, key_name: str, *, boxes: bool) -> ParseOutcome:
    papers = [read_paper(name, printed_lines(printed.pages, name, boxes=boxes))]
    if printed.key:
        papers.append(read_paper(key_name, printed_lines(printed.key, key_name, boxes=boxes)))
    pair_keys(papers)
    check_gates(papers[0])
    document = Document(document=name, sha256="ef" * 32, format="pdf", pages=1, rows=None)
    return finish(papers[0], document)


def wrong(question: Question, expected: Sequence[Truth], *, keyed: bool) -> str | None:
    """Return the part of a kept question that no printed question of its number has; None if right or flagged."""
    if question.attachments:
        return None
    options = [option.text for option in question.options]
    told = []
    for truth in expected:
        if truth.number != question.number:
            continue
        asked = _flat((question.shared_stem or "") + question.stem)
        same = {
            "stem": asked in (_flat((truth.case or "") + truth.stem), _flat(truth.stem) if not truth.case else ""),
            "options": options == list(truth.options),
            "answer": question.answer is None or (keyed and question.answer == list(truth.answer or "")),
        }
        differs = [name for name, holds in same.items() if not holds]
        if not differs:
            return None
        told.append((len(differs), "+".join(differs)))
    return min(told)[1] if told else "number"


def _flat(text: str) -> str:
    return text.replace("\n", "")


def _waits(outcome: ParseOutcome) -> list[tuple[Question, ReviewItem]]:
    """The questions that wait, as they were read; a doubt about the source holds several."""
    read = [(item, json.loads(item.item)) for item in outcome.review if item.item]
    several = [(item, one) for item, content in read for one in (content if isinstance(content, list) else [content])]
    return [(Question.model_validate(dict.fromkeys(Question.model_fields) | one), item) for item, one in several]


@dataclass
class Tally:
    """Outcomes of the questions of damaged papers."""

    kept: int = 0
    silent: int = 0
    sound: int = 0
    """Questions that the damage did not touch, and that were not read otherwise than printed because of it."""
    needless: int = 0
    """Sound questions that wait."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why they wait."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=10, help="how many silent errors to list")
    parser.add_argument("--waits", type=int, default=0, help="how many reasons of needless waits to list")
    parser.add_argument("--only", help="one kind of damage")
    options = parser.parse_args()
    random = Random(options.seed)
    tallies: dict[str, Tally] = {}
    shown: Counter[str] = Counter()
    for index in range(options.papers):
        paper = random_paper(random)
        damage = INJECTIONS[index % len(INJECTIONS)](random, paper)
        paper = damage.paper or paper
        boxes = random.random() < 0.7 or damage.kind in ("stamp", "lost formula")
        if options.only and damage.kind != options.only:
            render(paper, damage.lines)  # draws what it draws in a run of all kinds: the papers are the same
            continue
        outcome = outcome_of(paper, damage, boxes=boxes)
        tally = tallies.setdefault(damage.kind, Tally())
        expected = [truth for truth in truths(paper) if truth.kind not in ASIDE]
        tally.kept += len(outcome.questions)
        for question in outcome.questions:
            differs = wrong(question, expected, keyed=damage.key is None)
            tally.silent += differs is not None
            if differs and shown[damage.kind] < options.show:
                shown[damage.kind] += 1
                print(
                    f"  {index} {damage.kind}: {question.number}: {differs}: {question.stem[-60:]!r} "
                    f"{[one.text[-40:] for one in question.options]} {question.answer}; {paper.style}"
                )
        waits = _waits(outcome)
        kept = {question.number for question in outcome.questions}
        harmed = {question.number for question, _ in waits if wrong(question, expected, keyed=damage.key is None)}
        sound = [truth for truth in expected if truth.number not in damage.touched | (harmed - kept)]
        tally.sound += len(sound)
        needless = {truth.number for truth in sound} - kept
        tally.needless += sum(truth.number in needless for truth in sound)
        tally.reasons.update(item.detail[:60] for question, item in waits if question.number in needless)
    _print(tallies)
    for name, one in sorted(tallies.items()):
        for reason, times in one.reasons.most_common(options.waits):
            print(f"  {name}: {times} {reason}")


def _print(tallies: dict[str, Tally]) -> None:
    total = Tally(
        *(sum(getattr(one, name) for one in tallies.values()) for name in ("kept", "silent", "sound", "needless"))
    )
    print(f"{'damage':16} {'kept':>7} {'silent':>7} {'per 1,000':>9} {'sound':>7} {'needless':>8} {'%':>6}")
    for name, one in [*sorted(tallies.items()), ("all", total)]:
        print(
            f"{name:16} {one.kept:7} {one.silent:7} {1000 * one.silent / max(1, one.kept):9.2f} {one.sound:7} "
            f"{one.needless:8} {100 * one.needless / max(1, one.sound):6.2f}"
        )


if __name__ == "__main__":
    main()
