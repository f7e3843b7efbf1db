"""Banks with the fields of published benchmarks, filled with questions of our own, are read without configuration."""

import io
import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.pipeline.parse.answer_cells import read_answer
from build_dataset.pipeline.parse.cells import Options
from build_dataset.pipeline.parse.columns import Columns, Unclear
from build_dataset.pipeline.parse.mapping import find_mapping
from build_dataset.pipeline.parse.row_texts import unusual_texts
from build_dataset.pipeline.parse.rows import RowError, sources_of
from build_dataset.schemas.documents import Document, SourceRow
from build_dataset.schemas.errors import UnreadableDocument

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
    "cybermetric": lambda _, q, o, a: {"question": q, "answers": by_letter(o), "solution": "ABCD"[a]},
    "instructions": lambda _, q, o, a: {
        "instruction": "\n".join([q, *map("{}. {}".format, "ABCD", o)]), "input": "", "output": "ABCD"[a]
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
    "verdicts-beside-texts": lambda _, q, o, a: {
        "question": q, "possible_answers": [[t, t == o[a], t.upper()] for t in o]
    },
    "one-letter-each": lambda _, q, o, a: {"q": q, "o": o, "a": a},
    "text-and-topic": lambda n, q, o, a: {"topic": f"Sign {n}", "text": q, "options": o, "correct": a},
    "objects-in-vietnamese": lambda _, q, o, a: {
        "cauHoi": q, "dapAn": [
            {"luaChon": x, "noiDung": t, "dung": t == o[a], "giaiThich": f"Of {t}."} for x, t in by_letter(o).items()
        ],
    },
    "list-under-any-name": lambda n, q, o, a: {"question": q, "xx1": o, "tags": ["eye", "ear"], "answer": str(a)},
    "text-under-any-name": lambda _, q, o, a: {
        "question": q, "k2": " ".join(f"{x}. {t}" for x, t in by_letter(o).items()), "answer": "ABCD"[a]
    },
    "scores": lambda _, q, o, a: {"questionText": q, "answers": [{"answerText": t, "score": +(t == o[a])} for t in o]},
    "ids-that-count-on": lambda n, q, o, a: {
        "question": q, "options": [{"id": 4 * n + at, "value": t} for at, t in enumerate(o, 2)], "answer": 4 * n + a + 2
    },
    "signs-in-one-cell": lambda _, q, o, a: {
        "問題文": q, "選択肢": "\n".join(f"{x}\u3000{t}" for x, t in by_letter(o, "アイウエ").items()),
        "正解": "アイウエ"[a],
    },
    "signs-in-the-stem": lambda _, q, o, a: {
        "вопрос": " ".join([q, *(f"{x}) {t}" for x, t in by_letter(o, "АБВГ").items())]), "верный": "АБВГ"[a]
    },
    "numbers-before-stems": lambda n, q, o, a: {"question": f"Вопрос №{n + 1}: {q}", "options": o, "answer": o[a]},
    "sources-of-several": lambda n, q, o, a: {
        "question": q, "options": o, "answer": o[a], "source": f"Guide to signs of illness, section {n // 3}, line 7"
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


def items() -> list[dict[str, Any]]:
    return [{"question": q, "options": o, "answer": "ABCD"[a]} for q, o, a in BANK]


def beside_lists() -> bytes:
    return json.dumps(
        [[[f"He told them of day {at}."], [item], f"id-{at}"] for at, item in enumerate(items())]
    ).encode()


def by_reference() -> bytes:
    texts = {f"d{at}": f"A long text number {at} that some of the questions below rest on." for at in range(4)}
    asked = [{"document": f"d{at % 4}", **item} for at, item in enumerate(items())]
    return json.dumps({"documents": texts, "questions": asked}).encode()


def by_number() -> bytes:
    texts = [
        {"id": at, "text": f"A long text number {at} that some of the questions below rest on."} for at in range(4)
    ]
    asked = [{"passage_id": at % 4, "level": at % 4, **item} for at, item in enumerate(items())]
    return json.dumps({"passages": texts, "questions": asked}).encode()


def yaml() -> bytes:
    lines = ("".join(f"    - {t}\n" for t in o) for _, o, _ in BANK)
    asked = zip(BANK, lines, strict=True)
    return "".join(f'- stem: "{q}"\n  choices:\n{o}  answer: {"ABCD"[a]}\n' for (q, _, a), o in asked).encode()


def anki() -> bytes:
    rows = (
        f"{q}<br>{'<br>'.join(f'{x}) {t}' for x, t in by_letter(o, 'abcd').items())}\t{'abcd'[a]}) {o[a]}\tmed"
        for q, o, a in BANK
    )
    return "\n".join(["#separator:tab", "#html:true", "#tags column:3", *rows]).encode()


def gift() -> bytes:
    texts = (
        f"::Q{at}:: {q} {{\n" + "\n".join(("=" if n == a else "~") + t for n, t in enumerate(o))
        for at, (q, o, a) in enumerate(BANK)
    )
    return "\n}\n".join([*texts, ""]).encode()


def plain_xml() -> bytes:
    said = ["", ' correct="1"']
    texts = ("".join(f"<o{said[n == a]}>{t}</o>" for n, t in enumerate(o)) for _, o, a in BANK)
    asked = zip(BANK, texts, strict=True)
    rows = (f"<item><question>{q}</question><options>{o}</options></item>" for (q, *_), o in asked)
    return f"<quiz>{''.join(rows)}</quiz>".encode()


def map_of_javascript() -> bytes:
    return (
        f"export const bank = new Map({json.dumps([[f'id{at}', item] for at, item in enumerate(items())])});".encode()
    )


def grouped_texts() -> bytes:
    return "\n".join(
        f'({{"question": ({q[:9]!r} {q[9:]!r}), "options": {o}, "answer": {a}}}),' for q, o, a in BANK
    ).encode()


FILES = {f"{name}.jsonl": (lambda name=name: lines(name)) for name in LINES} | {
    "medqa.json": lambda: lines("medqa"),  # JSON Lines under another name
    "headqa.json": headqa,
    "by_column.json": by_column,
    "nested.json": nested_cases,
    "arc.parquet": parquet,
    "beside_lists.json": beside_lists,
    "by_reference.json": by_reference,
    "by_number.json": by_number,
    "bank.yaml": yaml,
    "anki.txt": anki,
    "titles.gift": gift,
    "plain.xml": plain_xml,
    "map.js": map_of_javascript,
    "grouped.py": lambda: b"QUESTIONS = [\n" + grouped_texts() + b"\n]\n",
}
ON_A_TEXT = ("nested.json", "logiqa.jsonl", "beside_lists.json", "by_reference.json", "by_number.json")


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
        assert (question.shared_stem is not None) == (name in ON_A_TEXT)


@pytest.mark.parametrize("key", ["answer", "cop"])
def test_a_text_that_many_rows_share_is_no_case_without_a_key_or_where_it_is_a_source(key):
    rows = [
        {
            "question": q,
            "options": o,
            "wertung": f"Ein langer Text, den drei Fragen teilen, zum Thema Nummer {at // 3}, ein Hinweis",
        }
        | ({key: "ABCD"[a]} if key == "answer" else {})
        for at, (q, o, a) in enumerate(BANK)
    ]
    found = find_mapping(rows)
    joined = not isinstance(found, Unclear) and "wertung" in found.roles.get("shared", ())
    assert joined == (key == "answer")


def test_a_picture_that_many_rows_name_beside_others_decorates_them():
    names = ["logo.png" if at % 2 else f"figure-{at}.png" for at in range(len(BANK))]
    rows = [
        {"question": q, "options": o, "answer": "ABCD"[a], "link": f"./img/{one}"}
        for one, (q, o, a) in zip(names, BANK, strict=True)
    ]
    found = find_mapping(rows)
    assert isinstance(found, Columns)
    assert (found.roles["image"], found.decoration) == (["link"], {"./img/logo.png"})


def test_yaml_that_may_unfold_without_end_is_refused(tmp_path):
    path = tmp_path / "bomb.yaml"
    path.write_text("a: &a [x, y]\nb: [*a, *a]\n")
    with pytest.raises(UnreadableDocument, match="aliases"):
        list(find_reader(path, OcrParams()).rows(path, OcrParams(), []))


def test_a_key_names_an_option_however_marks_are_written():
    options = Options([("A", "&lt;img&gt;"), ("B", "'yes  so'")])
    assert [read_answer(key, options) for key in ("<img>", "yes so")] == [["A"], ["B"]]


def test_options_that_lose_different_tags_wait():
    texts = [f"<p {name}>text {name[-1]}</p>" for name in ("id=1", "class=2", "href=3")]
    doubts = unusual_texts(Options(list(zip("ABC", texts, strict=True))), 3, texts)
    assert [reason for reason, _ in doubts] == ["options_alike"]
