"""Sources with one systematic fault each, and sound ones: what is kept wrong without a doubt, what waits needlessly.

python -m benchmarks.papers.sources [--sources 500] [--seed 0] [--show 5]

Every source is a paper of 40 to 80 questions. Sound ones are printed in the notations that papers on the web have.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from benchmarks.papers.check import lines_of, read_lines
from benchmarks.papers.content import sections
from benchmarks.papers.model import Item, Kind
from build_dataset.pipeline.parse.paper import ParseOutcome


@dataclass(frozen=True)
class Printed:
    """A question and how it is printed."""

    item: Item
    stem: str
    options: tuple[str, ...]
    key: str
    why: str | None

    def lines(self, number: int) -> list[str]:
        """Return its lines in the plain notation."""
        labelled = [f"{label}. {text}" for label, text in zip("ABCDEFGH", self.options, strict=False)]
        why = [f"解析：{self.why}"] if self.why else []
        return [f"{number}. {self.stem}", *labelled, f"答案：{self.key}", *why]


def sound(items: list[Item]) -> list[Printed]:
    return [Printed(item, item.stem, item.options, item.answer, item.explanation) for item in items]


Fault = Callable[[Random, list[Printed]], list[Printed]]
_UNKNOWN = ("某某题库会员专享", "（某某网校整理）", "★★☆☆☆", "收藏本题", "难度适中", "[纠错]")
_KNOWN = (" Answer", " Show Answer", "查看答案", "（4分）", " 答案", "【2019年真题】", " Answer Choices:")


def none(random: Random, printed: list[Printed]) -> list[Printed]:  # noqa: ARG001 -- every fault has one signature
    return printed


def known_furniture(random: Random, printed: list[Printed]) -> list[Printed]:
    words = random.choice(_KNOWN)
    return [replace(one, options=(*one.options[:-1], one.options[-1] + words)) for one in printed]


def furniture(random: Random, printed: list[Printed]) -> list[Printed]:
    words, share = random.choice(_UNKNOWN), random.choice((1.0, 0.8, 0.5))
    return [
        replace(one, options=(*one.options[:-1], one.options[-1] + words)) if random.random() < share else one
        for one in printed
    ]


def furniture_of_stems(random: Random, printed: list[Printed]) -> list[Printed]:
    words, before = random.choice(("某某网校：选择题", "【某某题库】", "[章节练习]")), random.random() < 0.5
    return [replace(one, stem=f"{words}\n{one.stem}" if before else f"{one.stem}（ ）{words}") for one in printed]


def shifted_key(random: Random, printed: list[Printed]) -> list[Printed]:
    """Every question has the key of the next, and its own explanation says so."""
    said = random.choice(("故选{}。", "故答案为{}。", "综上，本题选{}。"))
    keys = [*(one.key for one in printed[1:]), printed[0].key]
    return [
        replace(one, key=key, why=f"其余各项不符，{said.format(one.key)}")
        for one, key in zip(printed, keys, strict=True)
    ]


def foreign_explanations(random: Random, printed: list[Printed]) -> list[Printed]:
    """Explanations name a wrong option first, in a way that reads like a conclusion."""
    others = [random.choice([letter for letter in "ABCDE" if letter != one.key]) for one in printed]
    return [
        replace(one, why=f"有人认为答案为{letter}，其实不然。") for one, letter in zip(printed, others, strict=True)
    ]


def lost_passage(random: Random, printed: list[Printed]) -> list[Printed]:
    """The case or passage that all questions speak of is not there; those that tell a case themselves have theirs."""
    words = random.choice(("根据以上材料，", "该患者", "上述案例中，", "According to the passage, "))
    return [replace(one, stem=words + one.stem) for one in printed if one.item.kind is Kind.A1]


def one_stem(random: Random, printed: list[Printed]) -> list[Printed]:
    words = random.choice(("选择题", "请选择正确的一项", "Question"))
    return [replace(one, stem=words) for one in printed]


def same_options(random: Random, printed: list[Printed]) -> list[Printed]:  # noqa: ARG001 -- as above
    return [replace(one, options=printed[0].options) for one in printed]


def one_key(random: Random, printed: list[Printed]) -> list[Printed]:
    letter = random.choice("ABC")
    return [replace(one, key=letter, why=None) for one in printed]


FAULTS: tuple[Fault, ...] = (
    none, none, none, known_furniture, furniture, furniture_of_stems, shifted_key, foreign_explanations, lost_passage,
    one_stem, same_options, one_key,
)  # fmt: skip
_HARMLESS = (none, known_furniture)  # sound as read


def ticked(number: int, one: Printed) -> list[str]:
    labels = zip("ABCDEFGH", one.options, strict=False)
    return [f"{number}. {one.stem}", *(f"{at}. {text}{' √' * (at in one.key)}" for at, text in labels)]


def starred(number: int, one: Printed) -> list[str]:
    labels = zip("ABCDEFGH", one.options, strict=False)
    return [f"{number}. {one.stem}", *(f"{'*' * (at in one.key)}{at} {text}" for at, text in labels)]


def tasks(number: int, one: Printed) -> list[str]:
    labels = zip("ABCDEFGH", one.options, strict=False)
    return [f"{number}. {one.stem}", *(f"[{'x' if at in one.key else ' '}] {text}" for at, text in labels)]


def embedded(number: int, one: Printed) -> list[str]:
    signs = [f"~%{100 if at in one.key else 0}% {text}" for at, text in zip("ABCDEFGH", one.options, strict=False)]
    return [f"{number}. {one.stem}", f"{{{signs[0]}", *signs[1:-1], f"{signs[-1]}}}"]


def tagged(number: int, one: Printed) -> list[str]:  # noqa: ARG001 -- these have no numbers
    labels = zip("ABCDEFGH", one.options, strict=False)
    return [f"[单选] [{one.key}]", one.stem, *(f"[{at}] {text}" for at, text in labels)]


def in_a_row(number: int, one: Printed) -> list[str]:
    options = " ".join(f"{at}. {text}" for at, text in zip("ABCDEFGH", one.options, strict=False))
    return [f"no{number}\t\tCâu {number}: {one.stem} {options}\t{one.key}"]


def plain(number: int, one: Printed) -> list[str]:
    return one.lines(number)


NOTATIONS = (plain, plain, plain, ticked, starred, tasks, embedded, tagged, in_a_row)


@dataclass
class Tally:
    """Outcomes of the sources of one fault and notation."""

    sources: int = 0
    questions: int = 0
    kept: int = 0
    wrong: int = 0
    doubts: int = 0  # sources with a doubt about them
    silent: int = 0  # sources with more than a twentieth kept wrong


def judge(outcome: ParseOutcome, printed: list[Printed], fault: Fault) -> tuple[int, list[str]]:
    """Return how many questions were kept, and what is wrong in them."""
    wrong = []
    for question in outcome.questions:
        one = printed[(question.number or 1) - 1]
        same = {
            "stem": "".join(question.stem.split()) == "".join(one.item.stem.split()),
            "options": [option.text for option in question.options] == [*one.item.options],
            "answer": question.answer == [*one.item.answer],
        }
        differs = [name for name, holds in same.items() if not holds]
        if differs or fault in (lost_passage, one_key, same_options, one_stem):
            wrong.append(f"{question.number} {'+'.join(differs)}: {question.stem[-30:]!r}")
    return len(outcome.questions), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=5)
    options = parser.parse_args()
    random, tallies, shown = Random(options.seed), dict[str, Tally](), Counter[str]()
    for index in range(options.sources):
        fault = FAULTS[index % len(FAULTS)]
        size, kinds = random.randint(20, 40), (Kind.A1, Kind.A2)
        drawn = sections(random.randint(0, 10**6), kinds, size, 5, explained=random.random() < 0.5)
        items = [item for section in drawn for item in section.items]
        printed = fault(random, sound(items))
        notation = random.choice(NOTATIONS) if fault is none else plain
        lines = [line for number, one in enumerate(printed, 1) for line in notation(number, one)]
        pages = [lines[at : at + 400] for at in range(0, len(lines), 400)]
        outcome = read_lines(lines_of(pages, "exam.pdf"))
        kept, wrong = judge(outcome, printed, fault)
        name = f"{fault.__name__} {notation.__name__}".removesuffix(" plain")
        tally = tallies.setdefault(name, Tally())
        tally.sources, tally.questions = tally.sources + 1, tally.questions + len(items)
        tally.kept, tally.wrong = tally.kept + kept, tally.wrong + len(wrong)
        doubts = [item.reason for item in outcome.review if item.item and item.item.startswith("[")]
        tally.doubts, tally.silent = tally.doubts + bool(doubts), tally.silent + (len(wrong) > 0.05 * len(printed))
        if shown[name] < options.show and (wrong or (fault in _HARMLESS and (doubts or kept < 0.9 * len(printed)))):
            shown[name] += 1
            told = wrong[:2] or [item.detail[:150] for item in outcome.review[:2]]
            print(f"  {index} {name}: kept {kept} of {len(printed)}, {len(wrong)} wrong, {doubts}: {told}")
    print(f"{'fault, notation':28} {'sources':>7} {'items':>6} {'kept':>6} {'wrong':>6} {'doubted':>7} {'silent':>6}")
    for name, one in sorted(tallies.items()):
        row = f"{one.sources:7} {one.questions:6} {one.kept:6} {one.wrong:6} {one.doubts:7} {one.silent:6}"
        print(f"{name:28} {row}")


if __name__ == "__main__":
    main()
