"""Banks with the fields of published benchmarks, filled with questions of our own, are read without configuration."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.pipeline.parse.rows import RowError, sources_of
from build_dataset.schemas.documents import Document, SourceRow

Item = tuple[str, list[str], int]
BANK: list[Item] = [
    (f"Case {at}: which sign is most likely in a patient aged {at + 20}?", [f"{word} {at}" for word in words], at % 4)
    for at, words in enumerate([("fever", "cough", "rash", "oedema")] * 12)
]


def by_letter(texts: list[str], labels: str = "ABCD") -> dict[str, str]:
    return dict(zip(labels, texts, strict=True))


def wrong(texts: list[str], right: int) -> list[str]:
    return [text for at, text in enumerate(texts) if at != right]


LINES: dict[str, Callable[[int, str, list[str], int], dict[str, Any]]] = {
    "mmlu": lambda _, q, o, a: {"question": q, "subject": "x", "choices": o, "answer": a},
    "mmlu-pro": lambda n, q, o, a: {
        "question_id": n, "question": q, "options": o, "answer": "ABCD"[a], "answer_index": a, "category": "bio"
    },
    "c-eval": lambda n, q, o, a: {"id": n, "question": q, **by_letter(o), "answer": "ABCD"[a], "explanation": ""},
    "cmb": lambda _, q, o, a: {
        "question": q, "option": by_letter(o), "answer": "ABCD"[a], "question_type": "单项选择题"
    },
    "agieval": lambda _, q, o, a: {
        "passage": None, "question": q, "options": [f"({x}){t}" for x, t in by_letter(o).items()], "label": "ABCD"[a]
    },
    "medqa": lambda _, q, o, a: {"question": q, "answer": o[a], "options": by_letter(o), "answer_idx": "ABCD"[a]},
    "medmcqa": lambda n, q, o, a: {
        "id": f"x{n}", "question": q, **{f"op{x}": t for x, t in by_letter(o, "abcd").items()}, "cop": a + 1
    },
    "mlec-qa": lambda n, q, o, a: {
        "qid": f"q{n}", "qtype": "A1型题", "qtext": q, "options": by_letter(o), "answer": "ABCD"[a]
    },
    "igakuqa": lambda n, q, o, a: {"problem_id": f"p{n}", "problem_text": q, "choices": o, "answer": ["abcd"[a]]},
    "frenchmedmcqa": lambda n, q, o, a: {
        "id": f"f{n}", "question": q, "answers": by_letter(o, "abcd"), "correct_answers": ["abcd"[a]]
    },
    "kmmlu": lambda _, q, o, a: {"question": q, "answer": a + 1, **by_letter(o), "Human Accuracy": 0.5},
    "arc": lambda n, q, o, a: {
        "id": f"m{n}", "question": q, "answerKey": ("ABCD", "1234")[n % 2][a],
        "choices": {"text": o, "label": list(("ABCD", "1234")[n % 2])},
    },
    "commonsenseqa": lambda _, q, o, a: {
        "question": {"stem": q, "choices": [{"label": x, "text": t} for x, t in by_letter(o).items()]},
        "answerKey": "ABCD"[a],
    },
    "hellaswag": lambda n, q, o, a: {"ind": n, "ctx": q, "endings": o, "label": str(a)},
    "logiqa": lambda n, q, o, a: {"context": f"Text {n}.", "query": q, "options": o, "correct_option": a},
    "jeebench": lambda n, q, o, a: {
        "index": n, "type": "MCQ", "question": "\n\n".join([q, *(f"({x}) {t}" for x, t in by_letter(o).items())]),
        "gold": "ABCD"[a],
    },
    "afrimedqa": lambda n, q, o, a: {
        "sample_id": n, "question": q, "answer_options": json.dumps({f"option{at}": t for at, t in enumerate(o, 1)}),
        "correct_answer": f"option{a + 1}",
    },
    "medexpqa": lambda n, q, o, a: {
        "id": n, "full_question": q, "options": {str(at): t for at, t in enumerate(o, 1)}, "correct_option": a + 1
    },
    "sciq": lambda _, q, o, a: {
        "question": q, "correct_answer": o[a], **{f"distractor{at}": t for at, t in enumerate(wrong(o, a), 1)}
    },
    "gpqa": lambda _, q, o, a: {
        "Question": q, "Correct Answer": o[a], **{f"Incorrect Answer {at}": t for at, t in enumerate(wrong(o, a), 1)}
    },
    "flags-by-letter": lambda _, q, o, a: {
        "body": q, "answers": {x: {"content": t, "correct": t == o[a]} for x, t in by_letter(o, "abcd").items()}
    },
    "options-under-a": lambda _, q, o, a: {"q": q, "a": o, "correct": a},
    "numbered-values": lambda _, q, o, a: {
        "title": q, "options": [{"value": str(n), "label": t} for n, t in enumerate(o)], "answer": str(a)
    },
    "wrapped-options": lambda _, q, o, a: {
        "material": q, "stem": q, "answer": ["ABCD"[a]],
        "response_points": [{"radio": {"text": t, "val": x}} for x, t in by_letter(o).items()],
    },
    "lists-of-right-and-wrong": lambda n, q, o, a: {"qID": n, "qName": q, "rA": [o[a]], "wA": wrong(o, a)},
    "ans-content": lambda n, q, o, a: {
        "id": n, "topic": q, "ans_content": [{"key": x, "text": t} for x, t in by_letter(o).items()],
        "ans_right": "ABCD"[a],
    },
}  # fmt: skip


def lines(name: str) -> bytes:
    return "\n".join(json.dumps(LINES[name](at, *item), ensure_ascii=False) for at, item in enumerate(BANK)).encode()


def headqa() -> bytes:
    rows = [
        {"qid": str(at), "qtext": q, "ra": a + 1, "answers": [{"aid": n, "atext": t} for n, t in enumerate(o, 1)]}
        for at, (q, o, a) in enumerate(BANK)
    ]
    return json.dumps({"version": 1.0, "exams": {"2013": {"name": "n", "data": rows}}}).encode()


def by_column() -> bytes:
    names = ("question", "options", "answer")
    columns = zip(*((q, o, "ABCD"[a]) for q, o, a in BANK), strict=True)
    return json.dumps({name: dict(enumerate(cells)) for name, cells in zip(names, columns, strict=True)}).encode()


def nested_cases() -> bytes:
    rows = [{"question": q, "options": o, "answer": "ABCD"[a]} for q, o, a in BANK]
    return json.dumps([{"case": f"Case {at}", "questions": rows[at : at + 4]} for at in (0, 4, 8)]).encode()


def parquet() -> bytes:
    target = io.BytesIO()
    pl.DataFrame([LINES["arc"](at, *item) for at, item in enumerate(BANK)]).write_parquet(target)
    return target.getvalue()


FILES = {f"{name}.jsonl": (lambda name=name: lines(name)) for name in LINES} | {
    "medqa.json": lambda: lines("medqa"),  # JSON Lines under another name
    "headqa.json": headqa,
    "by_column.json": by_column,
    "nested.json": nested_cases,
    "arc.parquet": parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_a_published_shape_is_read_right(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    rows = [*find_reader(path, OcrParams()).rows(path, OcrParams(), [])]
    document = Document(document=name, sha256="ab" * 32, format="x", pages=None, rows=len(rows))
    (source,) = sources_of(
        [SourceRow(document=name, row=at, **row._asdict()) for at, row in enumerate(rows, 1)], document, {}
    )
    assert len(source.rows) == len(BANK)
    for (_, found), (stem, texts, right) in zip(source.rows, BANK, strict=True):
        assert not isinstance(found, RowError)
        question, doubts = found
        by_label = {option.label: option.text for option in question.options}
        assert (question.stem, doubts) == (stem, [])
        assert by_label[question.answer[0]] == texts[right]
        assert sorted(by_label.values()) == sorted(texts)
        assert (question.shared_stem is not None) == (name in ("nested.json", "logiqa.jsonl"))
