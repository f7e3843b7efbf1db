"""Papers in random habits, and how many of them are read otherwise than they were printed.

python -m benchmarks.papers.habits [--papers 500] [--seed 0] [--show 10]
"""

from __future__ import annotations

import argparse
from random import Random

from benchmarks.papers.check import WAITS, differences
from benchmarks.papers.content import sections
from benchmarks.papers.model import Kind, Paper, Style
from benchmarks.papers.render import KEYS, truths

NUMBERS = (
    "{}. ", "{}.", "{}、", "{}．", "（{}）", "({})", "第{}题 ", "第{}题：", "【{}】", "[{}]", "{} ", "{}）", "题{} ",
)  # fmt: skip
LABELS = ("{}. ", "{}.", "{}．", "{}、", "({})", "（{}）", "【{}】", "{c}", "{l}.", "{})", "{}:")
HEADS = (
    "{numeral}、{name}（本题共{count}题，每题1分）",
    "【{name}】",
    "{name}",
    "({numeral}){name}",
    "第{numeral}部分 {name}",
    "{numeral}、{name}：以下每题有若干备选答案，请选出最佳的（共{count}题）",
)
GROUP_HEADS = (
    "（{first}～{last}题共用{what}）",
    "({first}~{last}题共用{what})",
    "[{first}-{last}题共用{what}]",
    "{first}～{last}题共用{what}",
    "（第{first}至{last}题共用{what}）",
    "（共用{what} {first}-{last}题）",
)
MARKS = (
    "答案：{}", "正确答案：{}", "【答案】{}", "答：{}", "参考答案：{}", "正确答案 {}", "[答案] {}", "答案:{}。",
)  # fmt: skip
EXPLAINED = ("解析：{}", "【解析】{}", "试题分析：{}", "[解析] {}", "【答案解析】{}")
KINDS = tuple(kind for kind in Kind if kind is not Kind.K)
"""A K item's codes stand in its head, which not all heads have room for."""
UNCLEAR = {"before": ("{} ",), "explained_at_end": ("（{}）", "({})", "{}）", "{} ")}
"""Keys with numbers that leave two readings: a bare number after a letter in brackets may be an option's text,
explanations that stand alone at the end with numbers in brackets may be lists."""
STARTS = (1, 1, 1, 31, 81)


def random_paper(random: Random) -> Paper:
    """A paper of one to three types in any habits; a list of few explanations at the end is left out."""
    while True:
        kinds = random.sample(KINDS, random.randint(1, 3))
        drawn = sections(
            random.randint(0, 10_000),
            tuple(kinds),
            random.randint(3, 10),
            random.randint(4, 7),
            explained=random.random() < 0.5,
        )
        style = random_style(random)
        explained = [item.explanation is not None for section in drawn for item in section.items]
        if style.key != "explained_at_end" or (explained[0] and sum(explained) > 0.6 * len(explained)):
            return Paper(drawn, style)


def random_style(random: Random) -> Style:
    """Any habits, but for those that leave two readings."""
    key = random.choice(KEYS)
    start = 1 if key == "explained_at_end" else random.choice(STARTS)
    return Style(
        number=random.choice([number for number in NUMBERS if number not in UNCLEAR.get(key, ())]),
        restart=random.random() < 0.5,
        start=start,
        head=random.choice(HEADS),
        group_head=random.choice(GROUP_HEADS),
        label=random.choice(LABELS),
        layout=random.choice(("one", "two", "four", "inline", "double")),
        key=key,
        mark=random.choice(MARKS),
        explain=random.choice(EXPLAINED),
        width=random.randint(24, 60),
        page_lines=random.randint(6, 45),
        running=random.random() < 0.5,
    )


def misread(paper: Paper) -> list[str]:
    """Return what was read differently from print; waiting items count only if they are more than a tenth."""
    found = differences(paper)
    waiting = [line for line in found if line.startswith(WAITS)]
    wrong = [line for line in found if not line.startswith(WAITS)]
    return wrong + (waiting if len(waiting) > max(1, 0.1 * len(truths(paper))) else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--papers", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=10, help="how many misread papers to list")
    options = parser.parse_args()
    random = Random(options.seed)
    papers = [random_paper(random) for _ in range(options.papers)]
    found = [(index, paper, wrong) for index, paper in enumerate(papers) if (wrong := misread(paper))]
    items = sum(len(truths(paper)) for paper in papers)
    print(f"{len(found)} of {len(papers)} papers ({items} items) are read otherwise than printed")
    for index, paper, wrong in found[: options.show]:
        print(f"  {index}: {[section.kind.value for section in paper.sections]}, {paper.style}")
        print("".join(f"      {line[:160]}\n" for line in wrong[:4]), end="")


if __name__ == "__main__":
    main()
