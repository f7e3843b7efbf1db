"""Every line of a source has an outcome: it stands in a kept, waiting or rejected item, or is known to be none."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.papers.check import lines_of, read_lines
from benchmarks.papers.habits import random_paper
from benchmarks.papers.render import render
from build_dataset.pipeline.api import build, table
from build_dataset.schemas.documents import Line, Part, Trace
from build_dataset.schemas.questions import Rejection, ReviewItem

OTHER_LINES = (
    "本题选自某教材第三章",
    "上一题 下一题",
    "3. ",
    "（ ）",
    "A. 甲",
    "解析：略",
    "注：以下各题任选",
    "第2页",
)
MARKS = "解析答案试题分析正确参考解题思路"


def fates(questions: Sequence[str], review: Sequence[ReviewItem], rejects: Sequence[Rejection]) -> list[str]:
    """Return the ids of all items that have an outcome, once for each."""
    waiting = [name for item in review for name in item.question_ids or [item.item_id]]
    return [*questions, *waiting, *(one.item_id for one in rejects)]


def check(lines: Sequence[tuple[int, int]], traces: Sequence[Trace], ended: Sequence[str], document: str) -> None:
    """Every line stands in a trace, and every trace is that of one item with one outcome, or of the document."""
    places = {(span.page, order) for one in traces for span in one.spans for order in range(span.first, span.last + 1)}
    assert sorted({*lines} - places) == []
    items = [one.item_id for one in traces if one.item_id != document]
    assert [name for name in items if ended.count(name) != 1] == []


def spoilt(random: Random, pages: list[list[str]]) -> list[list[str]]:
    """Drop lines, glue them together, or put in lines that belong to no question."""
    lines = [line for page in pages for line in page]
    for _ in range(random.randint(0, 4)):
        at = random.randrange(len(lines))
        change = random.randrange(3)
        if change == 0 and len(lines) > 1:
            del lines[at]
        elif change == 1:
            lines.insert(at, random.choice(OTHER_LINES))
        elif at:
            lines[at - 1 : at + 1] = [lines[at - 1] + lines[at]]
    return [lines]


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_every_line_of_a_paper_has_an_outcome_whatever_was_lost_or_put_in(seed):
    random = Random(seed)
    lines = lines_of(spoilt(random, render(random_paper(random)).pages), "exam.pdf")
    outcome = read_lines(lines)
    ended = fates([one.question_id for one in outcome.questions], outcome.review, outcome.rejects)
    check([(line.page, line.order) for line in lines], outcome.traces, ended, "exam.pdf")


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_what_a_line_of_a_kept_question_says_stands_in_it(seed):
    random = Random(seed)
    lines = lines_of(render(random_paper(random)).pages, "exam.pdf")
    outcome = read_lines(lines)
    said = {
        one.question_id: "".join(
            [
                one.stem,
                one.shared_stem or "",
                one.explanation or "",
                *(o.text for o in one.options),
                *(one.answer or []),
            ]
        )
        for one in outcome.questions
    }
    heads = {
        (span.page, order)
        for one in outcome.traces
        for step in one.steps
        for span in step.spans
        for order in range(span.first, span.last + 1)
        if step.part in (Part.HEAD, Part.KEY, Part.SHARED, Part.ANSWER)
    }
    texts = {(line.page, line.order): line.text for line in lines}
    for trace in (one for one in outcome.traces if one.item_id in said):
        held = {char for char in said[trace.item_id] if char.isalnum()} | {*MARKS}
        for span in trace.spans:
            for place in {(span.page, order) for order in range(span.first, span.last + 1)} - heads:
                words = [char for char in texts[place] if "\u4e00" <= char <= "\u9fff"]
                assert {*words} <= held | {"第", "题"}, (texts[place], said[trace.item_id])


@pytest.mark.slow
def test_every_line_of_the_samples_has_an_outcome(shared_data: Path, tmp_path: Path):
    """Of text, Markdown and Word, which need no engine."""
    kinds = {".txt", ".md", ".docx"}
    folders = (shared_data / "papers_round2", shared_data / "papers_round3", shared_data / "exams")
    papers = [path for one in folders for path in sorted(one.rglob("*")) if path.suffix in kinds]
    papers = [path for path in papers if path.name != "README.md"]
    (tmp_path / "raw").mkdir()
    for at, path in enumerate(papers):
        (tmp_path / "raw" / f"{at}{path.suffix}").write_bytes(path.read_bytes())
    config = tmp_path / "dataset.toml"
    config.write_text('[dataset]\nname = "samples"\nraw = "raw"\nbuild = "build"\n', encoding="utf-8")
    counts = build(config, last="parse")["parse"]["counts"]
    assert counts["in"] == sum(counts[name] for name in ("kept", "merged", "rejected", "waiting"))
    traces = list(Trace.from_frame(table(config, "parse/traces")))
    review = list(ReviewItem.from_frame(table(config, "parse/review")))
    rejects = list(Rejection.from_frame(table(config, "parse/rejects")))
    ended = fates(table(config, "parse/questions")["question_id"].to_list(), review, rejects)
    by_document: dict[str, list[tuple[int, int]]] = {}
    for line in Line.from_frame(table(config, "ocr/lines")):
        by_document.setdefault(line.document, []).append((line.page, line.order))
    for document, lines in by_document.items():
        if document not in ended:  # rejected as a whole
            check(lines, [one for one in traces if one.document == document], ended, document)
    assert len(by_document) > 10


@pytest.mark.parametrize("text", ["选项A", "Option A"])
def test_a_form_that_nobody_filled_in_waits(parse, text):
    options = "\n".join(f"{label}. {text[:-1]}{label}" for label in "ABCD")
    outcome = parse(f"1. 题目内容\n{options}\n答案：B")
    assert [item.reason for item in outcome.review] == ["empty_option"]
    assert json.loads(outcome.review[0].item)["number"] == 1
