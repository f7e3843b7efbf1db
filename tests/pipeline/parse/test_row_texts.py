"""Rows as banks really have them: what stands around a stem is no part of it, and what may be another's waits."""

import random

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.parse.cells import Options
from build_dataset.pipeline.parse.row_texts import (
    labelled_once,
    numbers_lead,
    unusual_texts,
    without_head,
    without_options,
    without_placeholders,
    without_range,
)
from build_dataset.pipeline.parse.rows import RowError, SourceTable
from tests.pipeline.parse.test_mapping import parse

TOPICS = ("心绞痛", "肺结核", "胃溃疡", "肾结石", "脑出血")
STEMS = [f"关于{topic}的说法正确的是" for topic in TOPICS]
TEXTS = ["多见于老人", "多见于儿童", "与饮食有关", "可以自愈"]


def read(source: SourceTable) -> list[tuple[str, list[str], list[str] | None, list[str]]]:
    """Stem, options, key and doubts of each row."""
    found = [one for _, one in source.rows if not isinstance(one, RowError)]
    return [
        (question.stem, [option.text for option in question.options], question.answer, [why for why, _ in doubts])
        for question, doubts in found
    ]


def bank(stem: str = "{stem}", cell: str = "{text}", texts: list[str] = TEXTS) -> list[dict[str, str]]:
    rows = []
    for number, one in enumerate(STEMS, 1):
        cells = {label: cell.format(label=label, text=text) for label, text in zip("ABCD", texts, strict=False)}
        rows.append({"题目": stem.format(stem=one, number=number, after=number + 1), **cells, "答案": "B"})
    return rows


@pytest.mark.parametrize(
    "stem", ["{number}、{stem}", "{number}. {stem}", "┆{stem}", "{number}.(单选题, 1分){stem}", "║ 第{number}题 {stem}"]
)
def test_numbers_kinds_and_decoration_are_no_part_of_a_stem(stem):
    assert [found[0] for found in read(parse(bank(stem)))] == STEMS


def test_a_quantity_at_the_head_of_a_stem_stays():
    rows = [{**row, "题目": f"{at}.5 mg/d 的剂量"} for at, row in enumerate(bank(), 1)]
    assert read(parse(rows))[0][0] == "1.5 mg/d 的剂量"


@pytest.mark.parametrize("cell", ["{label}、{text}", "({label}) {text}", "{label}.{text}"])
def test_cells_of_options_lose_their_own_label(cell):
    rows = bank(cell=cell)
    rows[0]["D"] = "D"
    found = read(parse(rows))
    assert (found[0][1], found[1][1]) == (TEXTS[:3], TEXTS)


@pytest.mark.parametrize("form", ["{label}、{text}", "{label}.{text} ", "{text}；"])
def test_a_stem_that_ends_with_its_options_loses_them(form):
    end = "".join(form.format(label=label, text=text) for label, text in zip("ABCD", TEXTS, strict=True))
    assert [found[0] for found in read(parse(bank("{stem}（ ）" + end)))] == [f"{stem}（ ）" for stem in STEMS]


@pytest.mark.parametrize(
    ("between", "left"), [("？\nAnswer Choices: ", "？"), ("？选项：", "？"), ("的选项：", "的选项：")]
)
def test_a_heading_of_the_options_that_a_stem_repeats_goes_with_them(between, left):
    end = "".join(f"({label}) {text} " for label, text in zip("ABCD", TEXTS, strict=True))
    assert read(parse(bank("{stem}" + between + end)))[0][0] == STEMS[0] + left


def test_a_stem_that_repeats_its_options_in_another_order_waits():
    assert read(parse(bank("{stem}：" + "，".join(TEXTS[::-1]))))[0][3] == ["text_left_over"]


@pytest.mark.parametrize("end", ["【45-47】", " [45～47]", "（45～47题）", " 45～47题共用备选答案", "（{after}-9）"])
def test_a_row_whose_stem_ends_with_a_range_of_others_waits(end):
    stem, _, _, doubts = read(parse(bank("{stem}" + end)))[0]
    assert (stem, doubts) == (STEMS[0], ["options_of_others"])


@pytest.mark.parametrize("end", ["（3.5-5.5）", "3-5", "（12-30）"])
def test_a_range_of_values_is_no_range_of_questions(end):
    assert read(parse(bank("{stem}" + end)))[0][3] == []


def test_placeholders_of_absent_options_are_none_unless_one_is_the_key():
    found = read(parse(bank(texts=["对", "错", "无", "无"])))
    assert found[0][1] == ["对", "错"]
    kept = [{**row, "答案": "C"} for row in bank(texts=["对", "错", "无", "无"])]
    assert read(parse(kept))[0][1] == ["对", "错", "无", "无"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"annulled": True}, "answer_not_read"),
        ({"答案": "DBCA"}, "answer_not_read"),  # an order
        ({"cases": [{"case": "患者甲", "answer": "A"}]}, "several_answers"),
        (dict(zip("ABCD", ["45298", "45658", "45296", "27/6/2024"], strict=True)), "text_became_date"),
        (dict(zip("ABCD", ["44292", "44293", "44294", "44295"], strict=True)), "text_became_date"),
    ],
)
def test_a_row_without_one_sound_key_waits(more, why):
    assert read(parse([{**bank()[0], **more}, *bank()[1:]]))[0][3] == [why]


@pytest.mark.parametrize("left", ["System.Xml.XmlElement", "Constituci¾n", "┐QuÚ dice?", "Ley Orgßnica"])
def test_what_a_converter_left_waits(left):
    assert read(parse(bank(texts=["甲状腺", "胰腺", "脾", left])))[0][3] == ["unreadable_characters"]


@pytest.mark.parametrize(
    "options",
    [
        [["甲", False], ["乙", True], ["丙", False]],
        [{"optionContent": "甲"}, {"optionContent": "乙"}, {"optionContent": "丙"}],
    ],
)
def test_options_as_pairs_or_objects_of_one_text(options):
    row = {"question": STEMS[0], "options": options} | ({} if True in options[1] else {"answer": "B"})
    assert read(parse([row])) == [(STEMS[0], ["甲", "乙", "丙"], ["B"], [])]


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 9)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "A", "甲", "B.乙C.丙", "无"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["A", "B", "text", "label", "1"]), inner, max_size=4)
    ),
    max_leaves=8,
)
NAMES = (
    "id", "question", "options", "answer", "A", "B", "type", "explanation", "stem1", "answer1", "options1",
    "total", "accuracy",
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(st.lists(st.dictionaries(st.sampled_from(NAMES), ANY, min_size=1), min_size=1, max_size=4))
def test_whatever_stands_in_a_cell_nothing_raises(rows):
    assert len(parse(rows).rows) == len(rows)


HEADERS = ["{}项", "{}", "选项{}", "Option {}", "选项 {}（必填）", "option_{}"]
RENAMED = ["{} 项目", "{}項", "选{}项", "Optoin {}", "opción {}", "", "x", "{}"]


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(HEADERS), st.integers(0, 3), st.sampled_from(RENAMED), st.integers(1, 40), st.integers(0, 9**9))
def test_no_option_is_lost_in_silence_where_its_header_is_another(header, at, other, size, seed):
    rng = random.Random(seed)
    names = [header.format(label) for label in "ABCD"]
    names[at] = other.format("ABCD"[at]) or "column_3"
    rows = []
    for number in range(size):
        texts = [f"{text}{number}" for text in TEXTS]
        rows.append(
            {"题目": f"{rng.choice(STEMS)}{number}", **dict(zip(names, texts, strict=True)), "答案": rng.choice("ABCD")}
        )
    for stem, texts, _, doubts in read(parse(rows)):
        assert len(texts) == 4 or doubts, (stem, texts)


def test_a_column_that_keys_name_and_none_holds_stops_the_table():
    rows = [{"题目": f"问{at}", "A": "甲", "B": "乙", "答案": "ABC"[at % 3]} for at in range(9)]
    assert "3 of 9 keys name C" in parse(rows).columns.detail


def test_an_option_says_its_label_once():
    rows = [
        {
            "题目": "问题",
            "options": [f"{label}. {label}.{text}" for label, text in zip("ABCD", TEXTS, strict=True)],
            "答案": "B",
        }
    ]
    assert read(parse(rows)) == [("问题", TEXTS, ["B"], [])]
    rows = [{"题目": "问题", "A": "甲", "B": "C. 乙", "C": "B、D均对", "答案": "B"}]
    assert read(parse(rows))[0][3] == ["label_inside_text"]


@pytest.mark.parametrize("marks", [[0, 1, 0, 0], [False, True, False, False], "[0, 1, 0, 0]"])
def test_a_mark_for_each_option_is_no_list_of_indices(marks):
    rows = [{"question": stem, "options": TEXTS, "label": marks} for stem in STEMS]
    assert {tuple(found[2]) for found in read(parse(rows))} == {("B",)}


def test_a_list_whose_labels_restart_waits():
    options = [f"{label}.{at}0日" for label, at in zip("ABCDABCD", range(1, 9), strict=True)]
    found = read(parse([{"question": STEMS[0], "options": options, "answer": "B"}]))
    assert found[0][3] == ["label_inside_text"]


def test_names_of_species_are_no_labels():
    rows = [{"question": STEMS[0], "options": ["E.coli", "C. difficile", "A族链球菌", "B、C均是"], "answer": "B"}]
    assert read(parse(rows))[0][1:] == (rows[0]["options"], ["B"], [])


CASE = "男，45岁，胸痛3小时。"


@pytest.mark.parametrize(
    ("cases", "more", "waiting"),
    [
        ([CASE, "", ""], {}, [False, True, True]),
        (["", CASE, ""], {}, [False, False, True]),
        ([CASE, CASE, ""], {}, [False, False, False]),
        ([CASE, "", ""], {"题型": "A1"}, [False, False, False]),
        ([CASE, "", ""], {"题组": "1"}, [False, False, False]),
    ],
)
def test_rows_below_a_case_that_stands_once_may_be_on_it(cases, more, waiting):
    rows = [{"病例": case, **one, **more} for case, one in zip(cases, bank(), strict=False)]
    assert ["case_missing" in found[3] for found in read(parse(rows))] == waiting


def test_a_number_before_digits_is_that_of_the_row():
    texts = dict(zip("ABCD", TEXTS, strict=True))
    stems = [f"{topic}的表现" for topic in TOPICS * 4]
    stems[5], stems[9] = "1型糖尿病的表现", "5.5 mg的剂量"
    rows = [{"题目": f"{at}.{stem}" if at != 10 else stem, **texts, "答案": "B"} for at, stem in enumerate(stems, 1)]
    assert [found[0] for found in read(parse(rows))] == stems


@pytest.mark.parametrize(("last", "size"), [("nan", 3), ("NaN", 4)])
def test_what_pandas_writes_for_an_empty_cell_is_no_option(last, size):
    found = read(parse(bank(texts=[*TEXTS[:3], last])))
    assert {len(one[1]) for one in found} == {size}


@pytest.mark.parametrize("time", ["15:02:00", "1 day, 6:02:00", "2024-03-05 00:00:00"])
def test_what_a_spreadsheet_took_for_a_time_waits(time):
    assert {*read(parse(bank(texts=[*TEXTS[:3], time])))[0][3]} == {"text_became_date"}


@pytest.mark.parametrize(("told", "kind"), [("B1型题", "B1"), ("A3/A4型题", "A3/A4"), ("A1", "A1")])
def test_the_type_that_a_bank_states_is_kept(told, kind):
    source = parse([{"题型": told, **one} for one in bank()])
    assert {found[0].question_type for _, found in source.rows} == {kind}


@pytest.mark.parametrize("text", ["哪项属实？A. 甲 B. 乙 C. 丙 D. 丁", "which one? A) one B) two C) three"])
def test_options_inside_an_option_are_of_another_question(text):
    assert read(parse(bank(texts=[*TEXTS[:3], text])))[0][3] == ["label_inside_text"]


def test_letters_listed_in_an_option_are_its_text():
    assert read(parse(bank(texts=[*TEXTS[:3], "维生素A、B、C均可"])))[0][3] == []


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("1 2 3", True),
        ("1 2", False),
        ("1 1 2", False),
        ("2 1 3", False),
        ("1 2 3 4 5 6 7 8 9 -", True),
        ("1 2 3 4 5 6 7 8 -", False),
        ("2 1 2 3 4 5 6 7 8 9 10", True),
        ("2 1 3 2 4 5 6 7 8 9 10", False),
        ("- - -", False),
    ],
)
def test_nine_tenths_of_the_stems_begin_with_numbers_that_rise(marks, expected):
    assert numbers_lead([f"{mark}、甲" if mark != "-" else "甲" for mark in marks.split()]) is expected
    assert numbers_lead([f"── {mark}、甲" if mark != "-" else "甲" for mark in marks.split()]) is expected


def test_a_number_in_two_pieces_is_no_number_of_a_stem():
    assert numbers_lead(["─ 1 2、甲", "─ 1 3、乙", "─ 1 4、丙"]) is False


@pytest.mark.parametrize(
    ("stem", "row", "numbered", "expected"),
    [
        ("1、甲", 1, True, ("甲", None)),
        ("1、甲", 5, True, ("甲", None)),
        ("1、甲", 1, False, ("1、甲", None)),
        ("── 1、甲", 1, True, ("甲", None)),
        ("[单选题]甲", 1, False, ("甲", "单选题")),
        ("1、[单选题]甲", 1, False, ("甲", "单选题")),
        ("6.1型病", 6, True, ("1型病", None)),
        ("6.1型病", 7, True, ("6.1型病", None)),
        ("6.1型病", 6, False, ("6.1型病", None)),
        ("甲", 1, True, ("甲", None)),
    ],
)
def test_a_stem_without_its_number_and_kind(stem, row, numbered, expected):
    assert without_head(stem, row, numbered=numbered) == expected


@pytest.mark.parametrize(
    ("stem", "number", "expected"),
    [
        ("甲（3-5）", 2, ("甲", "3–5")),
        ("甲（3-5）", 1, ("甲（3-5）", None)),
        ("甲（3-5）", 3, ("甲（3-5）", None)),
        ("甲【3-5】", 9, ("甲", "3–5")),
        ("甲[3-5]", 9, ("甲", "3–5")),
        ("甲3-5题", 9, ("甲", "3–5")),
        ("甲（3-5 共用题干）", 9, ("甲", "3–5")),
        ("甲3-5", 2, ("甲3-5", None)),
        ("甲（3-4）", 2, ("甲", "3–4")),
        ("甲（3-3）", 2, ("甲（3-3）", None)),
        ("甲（5-3）", 4, ("甲（5-3）", None)),
        ("甲【3-22】", 2, ("甲", "3–22")),
        ("甲【3-23】", 2, ("甲【3-23】", None)),
        ("【3-5题】", 2, ("【3-5题】", None)),
        ("甲乙（3" + " " * 54 + "-5）", 2, ("甲乙", "3–5")),
        ("甲乙（3" + " " * 55 + "-5）", 2, ("甲乙", "3–5")),
        ("甲乙（3" + " " * 56 + "-5）", 2, ("甲乙（3" + " " * 56 + "-5）", None)),
    ],
)
def test_the_range_of_other_questions_behind_a_stem(stem, number, expected):
    assert without_range(stem, number) == expected


def behind(stem: str, *options: str) -> tuple[str, bool]:
    return without_options(stem, list(zip("ABCDEF", options, strict=False)))


@pytest.mark.parametrize(
    ("stem", "options", "expected"),
    [
        ("首选A.甲B.乙", ["甲", "乙"], ("首选", False)),
        ("首选（ ）A.甲 B.乙", ["甲", "乙"], ("首选（ ）", False)),
        ("首选(A)甲(B)乙", ["甲", "乙"], ("首选", False)),
        ("首选甲、乙", ["甲", "乙"], ("首选", False)),
        (
            "Which is wrong: There is a lot of mice.",
            ["There is", "a lot of", "mice."],
            ("Which is wrong: There is a lot of mice.", False),
        ),
        ("Which is wrong? Red Blue", ["Red", "Blue"], ("Which is wrong?", False)),
        ("首选A.甲", ["甲"], ("首选A.甲", False)),
        ("A.甲B.乙", ["甲", "乙"], ("A.甲B.乙", False)),
        ("首选A.甲B.乙C.D.", ["甲", "乙"], ("首选", False)),
        ("首选A.甲B.乙C.D.E.", ["甲", "乙"], ("首选", False)),
        ("首选A.甲B.乙C.", ["甲", "乙"], ("首选A.甲B.乙C.", False)),
        ("首选A.甲B.乙C.D.E.F.", ["甲", "乙"], ("首选A.甲B.乙C.D.E.F.", False)),
        ("首选甲药和乙药剂和丙药剂", ["甲药", "乙药剂", "丙药剂"], ("首选甲药和乙药剂和丙药剂", True)),
        ("首选甲药和和乙药剂和丙药剂", ["甲药", "乙药剂", "丙药剂"], ("首选甲药和和乙药剂和丙药剂", False)),
        ("问甲药和乙药剂和丙药剂", ["甲药", "乙药剂", "丙药剂"], ("问甲药和乙药剂和丙药剂", True)),
        ("甲药和乙药剂和丙药剂", ["甲药", "乙药剂", "丙药剂"], ("甲药和乙药剂和丙药剂", False)),
        ("首选甲药和乙药", ["甲药", "乙药"], ("首选甲药和乙药", False)),
        ("甲首选乙药剂和丙药剂", ["甲", "乙药剂", "丙药剂"], ("甲首选乙药剂和丙药剂", True)),
        ("甲药首选乙药剂和丙药剂", ["甲药", "乙药剂", "丙药剂"], ("甲药首选乙药剂和丙药剂", False)),
        ("首选甲药和丙药剂", ["甲药", "乙药剂", "丙药剂"], ("首选甲药和丙药剂", False)),
        ("首选甲乙丁丙", ["甲", "乙", "丙"], ("首选甲乙丁丙", False)),
    ],
)
def test_options_behind_a_stem_are_cut_or_seen(stem, options, expected):
    assert behind(stem, *options) == expected


@pytest.mark.parametrize(
    ("texts", "key", "left"),
    [
        (["甲", "乙", "无此选项"], "A", 2),
        (["甲", "乙", "（无此选项）"], "AB", 2),
        (["甲", "乙", "无此选项"], "C", 3),
        (["甲", "乙", "无此选项", "未提供"], "", 2),
        (["甲", "无此选项", "乙"], "", 3),
        (["甲", "无此选项"], "", 1),
        (["无此选项", "未提供"], "", 0),
        (["甲", "乙", "无"], "", 3),
        (["甲", "乙", "空"], "", 3),
        (["甲", "乙", "无", "无"], "", 2),
        (["甲", "乙", "丙", "无", "无"], "", 3),
        (["甲", "乙", "Null", "Null", "Null"], "", 2),
        (["甲", "乙", "/", "无"], "", 4),
        (["甲", "乙", "/", "/", "无此选项"], "", 2),
        (["甲", "乙", "无", "无"], "D", 4),
        (["甲", "丙", "乙", "乙"], "", 4),
    ],
)
def test_two_fillers_or_one_that_says_so_at_the_end_are_no_options(texts, key, left):
    pairs = list(zip("ABCDE", texts, strict=False))
    assert without_placeholders(Options(pairs), list(key)).pairs == pairs[:left]


@pytest.mark.parametrize(
    ("cut", "usual", "texts", "expected"),
    [
        (True, 3, ["甲"], []),
        (True, 4, ["甲"], ["options_too_many"]),
        (True, 2, ["甲"], ["options_too_many"]),
        (False, 4, ["甲"], []),
        (False, 3, ["甲", "12:30:00"], ["text_became_date"]),
        (False, 4, ["IMG_7__DOT__png 此标志的意义是", "存为 a.png 的图"], ["picture_not_read"]),
        (True, 4, ["a.png", "#REF!"], ["picture_not_read", "unreadable_characters", "options_too_many"]),
    ],
)
def test_texts_and_options_that_are_not_as_in_other_rows(cut, usual, texts, expected):
    options = Options([("A", "甲"), ("B", "乙"), ("C", "丙")], cut_at_marks=cut)
    assert [reason for reason, _ in unusual_texts(options, usual, texts)] == expected


@pytest.mark.parametrize(
    ("texts", "left", "doubts"),
    [
        (["甲", "乙"], ["甲", "乙"], []),
        (["A.甲", "B.乙"], ["甲", "乙"], []),
        (["A.甲", "C.乙"], ["甲", "C.乙"], ["label_inside_text"]),
        (["[A]₀", "ln[A]"], ["[A]₀", "ln[A]"], []),
        (["甲", "乙A.一B.二C.三"], ["甲", "乙A.一B.二C.三"], ["label_inside_text"]),
        (["甲=====", "乙"], ["甲=====", "乙"], ["text_left_over"]),
        (["甲====", "乙"], ["甲====", "乙"], []),
    ],
)
def test_labels_before_the_texts_of_options_go_where_they_are_their_own(texts, left, doubts):
    found: list[tuple[str, str]] = []
    options = labelled_once(Options(list(zip("AB", texts, strict=True))), found)
    assert ([text for _, text in options.pairs], [reason for reason, _ in found]) == (left, doubts)


@pytest.mark.parametrize("stem", ["What is the domain of mail.google.com?", "它的资源是 mail/google/com"])
def test_options_that_are_parts_of_a_word_of_the_stem_stay_in_it(stem):
    assert without_options(stem, [("A", "mail"), ("B", "google"), ("C", "com")]) == (stem, False)
