"""Shapes of real banks: the same questions are read from each, key and texts."""

import pytest

from build_dataset.pipeline.parse.columns import Unclear
from build_dataset.pipeline.parse.rows import RowError
from tests.pipeline.parse.test_mapping import parse

TEXTS = ["手术治疗", "化疗", "放疗", "观察"]
ENGLISH = ["surgery", "drugs", "radiation", "waiting"]
BANK = [
    (f"编号为{at}的病例首选的治疗是", TEXTS[at % 4 :] + TEXTS[: at % 4], (3 * at + at // 4) % 4) for at in range(40)
]


def keyed(row, right, **more):
    return {"question": row, **more, "answer": "ABCD"[right]}


SHAPES = {
    "two languages in objects": lambda stem, texts, right: {
        "q": {"zh": stem, "en": "Which is best?"},
        "options": [{"zh": text, "en": ENGLISH[TEXTS.index(text)]} for text in texts],
        "answer": {"zh": texts[right], "en": ENGLISH[TEXTS.index(texts[right])]},
    },
    "one letter for each part": lambda stem, texts, right: {
        "q": stem, "o": dict(zip("abcd", texts, strict=True)), "c": ["abcd"[right]],
    },
    "one letter, and the place of the key": lambda stem, texts, right: {"q": stem, "a": texts, "c": right},
    "an explanation below each key": lambda stem, texts, right: {
        "题目": stem, "options": texts, "答案": f"{'ABCD'[right]}\n【解析】见教材",
    },
    "keys of several answers in a column of their own": lambda stem, texts, right: {
        "question": stem, "options": texts, **({"correct": "ABCD"[right]} if right else {"correctArr": ["A"]}),
    },
    "headers that say HTML": lambda stem, texts, right: {
        "titleHtml": stem, "options": texts, "answer": "ABCD"[right], "analysisHtml": f"故选{texts[right]}，其余有误。",
    },
    "a long explanation under an unknown header behind the key": lambda stem, texts, right: {
        "wen": stem, **dict(zip("ABCD", texts, strict=True)), "answer": "ABCD"[right],
        "shuo": f"指南推荐的方案是{texts[right]}，{stem}者均应如此处理，编号越大者疗效越差，需要密切随访。",
    },
    "true or false before the stem": lambda stem, texts, right: {
        "question": f"Đúng / Sai: {stem}", "options": texts, "answer": "ABCD"[right],
    },
    "slips in a header": lambda stem, texts, right: {
        "question": stem,
        "answears": [{"text": text, "valid": at == right} for at, text in enumerate(texts)],
    },
    "small letters before the texts": lambda stem, texts, right: {
        "question": stem,
        "answers": [{"text": f"{'abcd'[at]}) {text}", "isCorrect": at == right} for at, text in enumerate(texts)],
    },
    "capitals in brackets before some in lower case": lambda stem, texts, right: {
        "question": stem,
        **{letter: f"({letter.lower()}) {text}" for letter, text in zip("ABCD", texts, strict=True)},
        "answer": "ABCD"[right],
    },
    "Arabic signs before the texts": lambda stem, texts, right: {
        "question": stem,
        "answers": [{"text": f"{'أبتث'[at]}) {text}", "isCorrect": at == right} for at, text in enumerate(texts)],
    },
    "letters beside options in the stem": lambda stem, texts, right: keyed(
        "\n- ".join([stem, *(f"{'abcd'[at]}) {text}" for at, text in enumerate(texts))]), right, variants=[*"abcd"]),
    "Turkish headers": lambda stem, texts, right: {
        "Soru Metni": stem, **{f"{'ABCD'[at]} Şıkkı": text for at, text in enumerate(texts)},
        "Doğru Cevap": "abcd"[right], "Açıklama": f"第{right}项见教材，其他各项请读者自己对照着读一遍，便知道为什么",
    },
    "Czech headers": lambda stem, texts, right: {"otazka": stem, "moznosti": texts, "spravnaOdpoved": right},
    "the key in an object of one part": lambda stem, texts, right: {
        "question": stem, "options": texts, "answer": {"q": "ABCD"[right]} if "7" in stem else "ABCD"[right],
    },
    "small letters and colons behind the stem": lambda stem, texts, right: {
        "question": f"{stem} {', '.join(map('{}: {}'.format, 'abcd', texts))}", "correct": "abcd"[right],
    },
    "options behind many stems, and in a cell of few": lambda stem, texts, right: keyed(
        *((stem, right) if "7" in stem else (f"{stem}\n{chr(10).join(map('{}. {}'.format, 'ABCD', texts))}", right)),
        options=texts if "7" in stem else None,
    ),
    "a description that names the chapter": lambda stem, texts, right: {
        "text": stem, "options": texts, "answer": "ABCD"[right], "description": f"内科学的题目，第{right // 2}章",
    },
    **{
        name: lambda stem, texts, right, name=name: keyed(
            stem, right, options=texts, **{name: f"{stem}：患者因腹痛就诊，既往体健，查体见压痛，化验见第{right}项异常"}
        ) for name in ("question_english", "image_caption")
    },
    "letters and numbers in one column": lambda stem, texts, right: {
        "question": stem, "options": texts, "answer": ["ABCD"[right], str(right + 1)][int(stem[3:-9]) % 2],
    },
    "another language beside it": lambda stem, texts, right: {
        "English Question": stem, "Bengali Question": f"কোনটি {stem}", **dict(zip("ABCD", texts, strict=True)),
        "Correct Answer": "ABCD"[right],
    },
    "one letter for each part, and a category": lambda stem, texts, right: {
        "q": stem, "o": texts, "a": "ABCD"[right], "c": "law",
    },
    "a hint": lambda stem, texts, right: keyed(
        stem, right, options=texts, hinweis=f"{stem}：想一想教材第{right}章里说过的那张表，再想想这张图的意思是什么"
    ),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_gives_the_same_questions(shape):
    source = parse([SHAPES[shape](*item) for item in BANK])
    assert not isinstance(source.columns, Unclear), source.columns
    for (_, found), (stem, texts, right) in zip(source.rows, BANK, strict=True):
        assert not isinstance(found, RowError), found
        question, doubts = found
        assert doubts == []
        options = [option.text for option in question.options]
        assert (question.stem, options, question.answer) == (stem, texts, ["ABCD"[right]])


@pytest.mark.parametrize("wrong", ["w{}", "Falsche Antwort {}", "错误答案{}"])
def test_wrong_options_under_numbers_stand_beside_the_right_one(wrong):
    rows = [
        {"text": stem, "correct": texts[right], **{wrong.format(at): text for at, text in enumerate(texts[:3], 1)}}
        for stem, texts, right in [(stem, texts, 3) for stem, texts, _ in BANK]
    ]
    for (_, found), row in zip(parse(rows).rows, rows, strict=True):
        question, _ = found
        (key,) = [option.text for option in question.options if option.label in question.answer]
        assert key == row["correct"]
        assert len(question.options) == 4


def test_a_list_of_statements_that_options_number_belongs_to_the_question():
    said = ["只有1和3", "只有2", "1、2和3", "只有3"]
    rows = [keyed(stem, right, options=said, punkte=[f"{text}{stem}" for text in texts]) for stem, texts, right in BANK]
    for (_, (question, _)), row in zip(parse(rows).rows, rows, strict=True):
        assert question.shared_stem == "\n".join(row["punkte"])


def test_labels_out_of_order_before_texts_wait():
    rows = [SHAPES["small letters before the texts"](*item) for item in BANK]
    rows[3]["answers"][1]["text"] = f"c) {BANK[3][1][1]}"
    reasons = [dict(found[1]) for _, found in parse(rows).rows]
    assert [at for at, doubts in enumerate(reasons) if "label_inside_text" in doubts] == [3]


@pytest.mark.parametrize(
    ("stem", "read"),
    [
        ("冬季两项起源于        地区", "冬季两项起源于____地区"),
        ("冬季两项（  ）起源于        地区", "冬季两项（  ）起源于        地区"),
        ("The sport      began in", "The sport      began in"),
    ],
)
def test_a_blank_of_spaces_alone_is_drawn(stem, read):
    ((_, (question, _)),) = parse([keyed(stem, 1, options=TEXTS)]).rows
    assert question.stem == read


@pytest.mark.parametrize(
    ("stem", "waits"),
    [("The mother needs Rho(D) immune globulin", False), ("PDC-01(D) is shown to be", False), ("首选DNA(D)合成", True)],
)
def test_a_letter_at_the_end_of_a_name_is_no_key_in_its_blank(stem, waits):
    ((_, (_, doubts)),) = parse([keyed(stem, 3, options=TEXTS)]).rows
    assert ("answer_in_text" in dict(doubts)) is waits


def test_true_and_false_between_marks_are_options_beside_four():
    rows = [
        {
            "question": stem,
            "options": "true;false" if at % 3 == 0 else ";".join(texts),
            "answer": ["true", texts[1]][at % 3 > 0],
        }
        for at, (stem, texts, _) in enumerate(BANK)
    ]
    assert not any(found[1] for _, found in parse(rows).rows)
