"""A large table is read in blocks, in any process and order: its rows are what they are when it is read in one go."""

import json
import pickle

import pytest

from build_dataset.pipeline.parse.rows import sources_of
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas.documents import Document, SourceRow

SIZE = 2500  # more than two blocks
DOCUMENT = Document(document="bank.jsonl", sha256="ab" * 32, format="jsonl", pages=None, rows=SIZE)


def fields(number: int) -> dict[str, object]:
    """A row; facts about the whole table decide on its number, id, accuracy and the foot of its explanation."""
    return {
        "id": str(number // 2 if number % 9 == 0 else 10_000 + number),
        "question": f"{number}、第{number}种病首选的药物是" if number % 7 else "",
        "options": {"A": f"药{number}", "B": f"药{number + 1}", "C": "阿司匹林"},
        "answer": "ABCX"[number % 4],
        "explanation": f"因为药{number}有效。查看答案",
        "accuracy": "1" if number < SIZE else "55",
    }


@pytest.fixture(scope="module")
def rows() -> list[SourceRow]:
    texts = (json.dumps(fields(number), ensure_ascii=False) for number in range(1, SIZE + 1))
    return [
        SourceRow(document="bank.jsonl", row=number, fields="[]" if number == 1200 else text)
        for number, text in enumerate(texts, 1)
    ]


def elsewhere(function, blocks):
    """Apply a function as other processes do, which share nothing with this one; the last block is done first."""
    for block in reversed(list(blocks)):
        yield block, pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(block)))))


def said(source) -> list[str]:
    return [repr(found) for _, found in source.rows]


def test_blocks_are_read_as_the_whole_is(rows):
    (whole,), (parts,) = sources_of(rows, DOCUMENT, {}), sources_of(rows, DOCUMENT, {}, elsewhere)
    assert said(parts) == said(whole)
    assert (parts.own_ids, parts.notes, parts.notices()) == (whole.own_ids, whole.notes, whole.notices())
    assert [row.row for row, _ in parts.rows] == list(range(1, SIZE + 1))
    accuracies = {found[0].human_accuracy for _, found in whole.rows if isinstance(found, tuple)}
    assert accuracies == {0.01, 0.55}, "one of the last row's says that 1 is 1 %"


def test_a_block_that_ends_its_process_costs_its_own_rows(rows):
    def dying(function, blocks):
        for at, (block, found) in enumerate(elsewhere(function, blocks)):
            yield block, found if at else Failure("crashed", "the worker process died")

    (whole,), (parts,) = sources_of(rows, DOCUMENT, {}), sources_of(rows, DOCUMENT, {}, dying)
    lost = [row.row for row, found in parts.rows if getattr(found, "reason", "") == "parser_failed"]
    assert lost == [number for number in range(lost[0], SIZE + 1) if number != 1200], "the last block, whole"
    assert said(parts)[: lost[0] - 1] == said(whole)[: lost[0] - 1]
