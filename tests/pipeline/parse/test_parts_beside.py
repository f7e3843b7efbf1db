"""Solutions, passages, flags and labels that stand beside a question or within its parts keep their place."""

import json

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.parse.columns import Columns
from build_dataset.pipeline.parse.rows import RowError, sources_of
from build_dataset.schemas.columns import plain_header
from build_dataset.schemas.documents import Document, SourceRow

BANK = Document(document="x.jsonl", sha256="ab" * 32, format="jsonl", pages=None, rows=24)
ORGANS = "肝胆脾胃肺心肾脑骨皮眼耳鼻喉齿舌肌腱血脉筋膜腺管"
LONG = (
    "作者说{organ}的来历与{other}有关，古人以为二者同源，后世医家各有发挥，至今仍有争论，第{at}篇专论其详，可以参看。"
)


def read(rows):
    given = [
        SourceRow(document="x.jsonl", row=at, fields=json.dumps(row, ensure_ascii=False))
        for at, row in enumerate(rows, 1)
    ]
    (source,) = sources_of(given, BANK, {})
    assert isinstance(source.columns, Columns), source.columns
    return source, [found if isinstance(found, RowError) else found[0] for _, found in source.rows]


def rows(**more):
    """Rows with a passage that their stems speak of; {organ}, {other} and {at} are of each row."""
    made = []
    for at, organ in enumerate(ORGANS, 1):
        known = {"organ": organ, "other": ORGANS[-at], "at": at}
        row = {
            "question": "根据上述材料，作者的看法是",
            "options": [f"{organ}{one}药{at}" for one in "甲乙丙丁"],
            "label": "ABCD"[at % 4],
        }
        row |= {
            name: json.loads(json.dumps(part, ensure_ascii=False).replace("#", organ)) for name, part in more.items()
        }
        made.append({name: part.format(**known) if isinstance(part, str) else part for name, part in row.items()})
    return made


@pytest.mark.parametrize("name", ["solution", "analysis", "解析"])
@pytest.mark.parametrize("outer", ["other", "meta", "extra"])
def test_a_solution_within_an_object_explains_and_never_joins_the_stem(outer, name):
    said = "#首段提到它，第二段再次说明，所以这一项与原文一致，其余各项均与原文不符，可以排除，选此项。"
    _, questions = read(rows(passage=LONG, **{outer: {name: said, "source": "2021"}}))
    assert all(one.explanation == said.replace("#", organ) for one, organ in zip(questions, ORGANS, strict=True))
    assert all("首段" not in one.shared_stem for one in questions)


def test_a_second_long_text_does_not_join_questions_that_have_their_passage():
    told = "编者按第{at}题讨论{organ}，读者可以比较各家注本，并参看书后索引，体会行文的层次与用意之所在。"
    given = rows(passage=LONG)
    for at, (row, organ) in enumerate(zip(given, ORGANS, strict=True), 1):
        row["xq"] = told.format(at=at, organ=organ)
    source = sources_of(
        [SourceRow(document="x", row=at, fields=json.dumps(row)) for at, row in enumerate(given, 1)], BANK, {}
    )[0]
    joined = [] if not isinstance(source.columns, Columns) else source.columns.roles["shared"]
    assert "xq" not in joined


def test_a_short_text_before_questions_that_are_alike_joins_them():
    """{"text": "今日は暑いですね。", "question": "返答は？"}: where other rows ask in their text."""
    alike = [
        {"text": f"{organ}は痛いですか。", "question": "返答は？" if organ != "肝" else "正しいのは？"}
        for organ in ORGANS[:16]
    ]
    asked = [{"text": f"{organ}の読み方は？"} for organ in ORGANS[16:]]
    given = [
        {**row, "options": [f"{one}{at}" for one in "アイウエ"], "answer": at % 4}
        for at, row in enumerate([*alike, *asked])
    ]
    _, questions = read(given)
    assert [one.shared_stem for one in questions] == [*(row["text"] for row in alike), *[None] * 8]
    assert [one.stem for one in questions[16:]] == [row["text"] for row in asked]


@pytest.mark.parametrize("year", [1590, 1898, 1949, 2021])
@pytest.mark.parametrize("sign", [".", "．", "、"])
def test_the_number_before_a_year_is_none_of_the_stem(year, sign):
    other = [{"题目": f"{at}{sign}最早颁布的第{at}部是", "选项": ["甲法", "乙法"], "答案": "B"} for at in range(31, 61)]
    _, questions = read([*other, {"题目": f"7{sign}{year}年颁布的是", "选项": ["甲法", "乙法"], "答案": "A"}])
    assert questions[-1].stem == f"{year}年颁布的是"


def test_a_stem_with_a_mark_over_its_last_letter_is_whole_beside_options_of_signs():
    stem = "ข้อใดคือ Operator ทางตรรกศาสตร์"
    _, (one, *_) = read([{"question": stem, "options": ["+ -", "&& ||", "== !="], "answer": "B"}] * 2)
    assert one.stem == stem


def test_an_initial_is_no_label_of_its_option():
    names = ["Jenner", "Galen", "Celsus", "D. Lister"]
    _, questions = read([{"question": f"Who was {at}?", "options": names, "answer": "D"} for at in range(4)])
    assert {one.options[3].text for one in questions} == {"D. Lister"}


@pytest.mark.parametrize(
    "flag", ["correct", "is_correct_answer", "isCorrect", "richtig", "esCorrecta", "isRightAnswer"]
)
def test_options_that_say_that_they_are_right_give_the_key(flag):
    given = [
        {
            "question": f"第{at}项是",
            "answers": [
                {"text": f"{one}{at}", flag: place == at % 4, "selected": True} for place, one in enumerate("甲乙丙丁")
            ],
        }
        for at in range(12)
    ]
    _, questions = read(given)
    assert [one.answer for one in questions] == [["ABCD"[at % 4]] for at in range(12)]


@pytest.mark.parametrize("flag", ["incorrect", "is_wrong"])
def test_options_that_say_that_they_are_wrong_give_no_key(flag):
    options = [{"text": one, flag: one == "甲"} for one in "甲乙丙"]
    _, questions = read([{"question": f"第{at}项是", "options": options} for at in range(6)])
    assert all(one.answer is None for one in questions)


HEADERS = [
    ("soru", "secenekler", "dogru_index"),
    ("pergunta", "alternativas", "correta"),
    ("domanda", "opzioni", "rispostaCorretta"),
    ("Frage", "Antworten", "richtig"),
    ("question", "choix", "réponse juste"),
    ("pytanie", "odpowiedzi", "poprawna_odpowiedz"),
    ("вопрос", "варианты", "верный ответ"),
    ("คำถาม", "ตัวเลือก", "เฉลย"),
    ("savol", "variantlar", "togri_javob"),
    ("soal", "pilihan", "kunci jawaban"),
]


@pytest.mark.parametrize(("stem", "options", "key"), HEADERS)
@pytest.mark.parametrize("base", [0, 1])
def test_headers_of_many_languages_are_read_with_numbers_of_options_as_keys(stem, options, key, base):
    given = [{stem: f"{at} is what", options: [f"{one}{at}" for one in "wxyz"], key: at % 4 + base} for at in range(24)]
    _, questions = read(given)
    assert [one.answer for one in questions] == [["ABCD"[at % 4]] for at in range(24)]


@pytest.mark.parametrize("separator", ["///", "||", "|"])
def test_options_between_marks_are_apart(separator):
    given = [
        {"problem": f"第{at}项", "choices": separator.join(f"{one}{at}" for one in "甲乙丙丁戊"), "answer": f"乙{at}"}
        for at in range(8)
    ]
    _, questions = read(given)
    assert all(
        [option.text[0] for option in one.options] == [*"甲乙丙丁戊"] and one.answer == ["B"] for one in questions
    )


def test_columns_that_are_called_by_numbers_are_options():
    given = [
        {"question": f"第{at}项", **{str(n): f"{one}{at}" for n, one in enumerate("甲乙丙丁", 1)}} for at in range(8)
    ]
    _, questions = read(given)
    assert all(len(one.options) == 4 and one.answer is None for one in questions)


def test_a_typing_error_among_many_numbered_keys_does_not_stop_the_table():
    """One 4 among 120 keys 0 to 3 waits alone."""
    keys = [at % 4 for at in range(120)] + [4]
    given = [
        {"question": f"第{at}项", "options": [f"{one}{at}" for one in "甲乙丙丁"], "answer": key}
        for at, key in enumerate(keys)
    ]
    _, questions = read(given)
    assert [one.answer for one in questions] == [["ABCD"[key]] if key < 4 else None for key in keys]


def test_options_in_the_stem_are_read_beside_rows_that_ask_for_a_word():
    asked = [
        {"question": f"Which is part {at}?\n a) Skull\n b) Spine\n c) Rib {at}", "answer": "abc"[at % 3]}
        for at in range(8)
    ]
    named = [{"question": f"Name part {at}.", "answer": f"Femur {at}"} for at in range(20)]
    _, found = read([*asked, *named])
    assert [one.answer for one in found[:8]] == [["ABC"[at % 3]] for at in range(8)]
    assert {one.reason for one in found[8:]} == {"no_options"}


@given(header=st.text("aeiouAEIOUnc_ -", min_size=1, max_size=12), at=st.integers(0, 11))
def test_accents_in_headers_do_not_count(header, at):
    accents = ["\u0301", "\u0300", "\u0302", "\u0308", "\u0303"]
    assert plain_header(header[: at + 1] + accents[at % 5] + header[at + 1 :]) == plain_header(header)
