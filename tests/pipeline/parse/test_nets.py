"""Nets: faults of a whole source are cut off and told, or stop it as one doubt that a setting settles."""

import json
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.parse.nets import Reading, asked_for, cast, self_contained
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType

NOUNS = "肝胆脾胃肺心肾脑骨皮眼耳鼻喉齿舌肌腱血脉筋膜腺管窦孔"


def question(number=1, stem=None, last="", **more):
    told = stem or f"第{NOUNS[number % 26]}{NOUNS[number // 26 % 26]}项首选的是"
    texts = ["".join(Random(4 * number + at).choices(NOUNS, k=3)) for at in range(4)]
    texts[-1] += last
    options = [Option(label=label, text=text) for label, text in zip("ABCD", texts, strict=True)]
    known = {"section": 1, "answer": ["ABCD"[number % 4]], **more}
    return Question(
        question_id=f"q{number:03d}", document="x.md", number=number, question_type=QuestionType.A1,
        stem=told, content_hash=content_hash(told, texts, None), **{"options": options, **known},
    )  # fmt: skip


def source(count=40, last="", **more):
    """Questions, with a text behind their last options in which # is the number of the next one."""
    return [Reading(question(at, last=last.replace("#", str(at + 1)), **more)) for at in range(1, count + 1)]


@pytest.mark.parametrize(
    "furniture",
    [" Answer", " Show Answer", " Answer Choices:", "（4分）", " #．", " 答案", "【2019年真题】", " Response:"],
)
def test_known_furniture_behind_last_options_is_cut_off_and_told(furniture):
    clean, dirty = cast("x.md", source()), cast("x.md", source(last=furniture))
    assert [one.question.options for one in dirty.readings] == [one.question.options for one in clean.readings]
    assert [one.question.content_hash for one in dirty.readings] == [
        one.question.content_hash for one in clean.readings
    ]
    assert (len(dirty.notes), dirty.doubts, clean.notes, clean.doubts) == (1, [], [], [])


@pytest.mark.parametrize(
    "furniture",
    [
        "（4分）",
        "(1.0)",
        "（正确答案个数：3个）",
        " 百度",
        " 谷歌一下",
        " Google",
        " Answer:",
        "查看答案",
        "编号 选项",
        "👉 点击看解析",
    ],
)
def test_known_furniture_behind_stems_is_cut_off_and_told(furniture):
    caught = cast("x.md", [Reading(question(at, stem=question(at).stem + furniture)) for at in range(1, 41)])
    assert [one.question.stem for one in caught.readings] == [question(at).stem for at in range(1, 41)]
    assert (len(caught.notes), caught.doubts) == (1, [])


@pytest.mark.parametrize(
    ("head", "cut"),
    [
        ("Exam question from\nA's\nB 1\nQuestion #: {0}\nTopic #: 1\n[All B Questions]\n", True),
        ("This item of the spring series was set by the board of examiners and ", False),
    ],
)
def test_a_long_beginning_of_all_stems_is_cut_off_where_it_is_known_and_else_doubted(head, cut):
    texts = [f"{question(at).stem} of the {NOUNS[at % 26]}, as it is seen in patients" for at in range(1, 41)]
    found = cast("x.md", [Reading(question(at, stem=head.format(at) + text)) for at, text in enumerate(texts, 1)])
    assert [one.question.stem for one in found.readings] == (texts if cut else [])
    assert [doubt.reason for doubt in found.doubts] == ([] if cut else ["repeated_text"])


@pytest.mark.parametrize(
    ("head", "begun", "doubted"),
    [
        ("甲", "向乙借款，", False),
        ("依《样本典》", "所载，", False),
        ("小明", "骑车上学，", False),
        ("承上题，", "该处", False),
        ("热题 ", "下列关于", True),
        ("热题 ", "患者，", True),
    ],
)
def test_a_beginning_of_most_stems_is_foreign_where_what_follows_begins_as_other_stems_do(head, begun, doubted):
    """甲 before 向乙借款 is the text's own, since other stems begin with 下列; before 下列 a word is foreign."""
    given = [
        Reading(question(at, stem=f"{head}{begun}{text}" if at % 5 < 3 else f"下列关于{text}"))
        for at in range(1, 41)
        if (text := f"{NOUNS[at % 26]}与{NOUNS[(3 * at + 1) % 26]}项正确的是")
    ]
    assert [doubt.reason for doubt in cast("x.md", given).doubts] == ["repeated_text"] * doubted


@settings(max_examples=20)
@given(numbers=st.lists(st.integers(1, 9), min_size=4, max_size=12))
def test_numbers_that_do_not_rise_at_the_end_of_last_options_belong_to_them(numbers):
    """… in Passage 1. is no number of the next item."""
    given = [Reading(question(at, last=f" in Zone {numbers[at % len(numbers)]}.")) for at in range(1, 41)]
    caught = cast("x.md", given, SourceParams(accept=["repeated_text"]))
    assert [one.question.options for one in caught.readings] == [one.question.options for one in given]


@pytest.mark.parametrize("foot", [" 硬化 {}", "网校题库会员专享资料下载"])
def test_a_last_option_that_ends_as_no_other_does_waits_while_the_rest_of_its_source_is_kept(foot):
    given = [Reading(question(at, last=foot.format(at + 3) if at % 6 == 0 else "")) for at in range(1, 61)]
    found = cast("x.md", given)
    waiting = [(doubt.reason, [one.question.number for one in doubt.readings]) for doubt in found.doubts]
    assert (waiting, len(found.readings)) == ([("foot_inside", [*range(6, 61, 6)])], 50)


def test_the_subject_before_each_stem_is_kept_as_a_comment():
    found = cast("x.md", [Reading(question(at, stem=f"[W] Was ist Nummer {at}?")) for at in range(1, 20)])
    assert {(one.question.stem[:7], one.question.comment) for one in found.readings} == {("Was ist", "[W]")}


def test_assertions_and_reasons_are_no_text_that_a_site_repeats():
    stems = [f"Assertion (A): {noun} is the cause. Reason (R): {noun} is present." for noun in NOUNS]
    given = [Reading(question(at, stem=stem)) for at, stem in enumerate(stems, 1)]
    assert cast("x.md", given).doubts == []


MARKS = [
    "2分",
    "（2.0）",
    "2021-03-04",
    "ID:77812",
    "[2021真题]",
    "难度：易|难度：中|难度：难",
    "【掌握】|【熟悉】",
    "加入错题本",
]


@settings(max_examples=60)
@given(marks=st.sampled_from(MARKS), place=st.sampled_from(["head", "end", "all", "last"]), every=st.integers(1, 2))
def test_a_text_at_one_place_of_many_questions_is_cut_off_or_stops_its_source_also_where_it_varies(marks, place, every):
    """Numbers differ from question to question, and a few texts take turns."""
    given, sound = source(60), {one.question.question_id: one.question for one in source(60)}
    for at in range(0, 60, every):
        told = marks.split("|")[at // every % (marks.count("|") + 1)].replace("1", str(at % 10))
        one = given[at].question
        stem = {"head": f"{told}{one.stem}", "end": f"{one.stem}{told}"}.get(place, one.stem)
        first = len(one.options) if place in ("head", "end") else 0 if place == "all" else len(one.options) - 1
        texts = [f"{option.text}{told if index >= first else ''}" for index, option in enumerate(one.options)]
        options = [Option(label=label, text=text) for label, text in zip("ABCD", texts, strict=True)]
        given[at].question = one.model_copy(update={"stem": stem, "options": options})
    kept = [one.question for one in cast("x.md", given).readings]
    assert all(one.stem == sound[one.question_id].stem for one in kept)
    assert all(one.options == sound[one.question_id].options for one in kept)


@pytest.mark.parametrize(
    "stem", ["下列关于{0}{1}的说法，正确的是______。", "{0}{1}属于（3）。", "一位45歲男性{0}痛，{1}何者為宜？"]
)
def test_what_stems_of_a_sound_source_share_is_no_furniture(stem):
    given = [Reading(question(at, stem.format(NOUNS[at % 26], NOUNS[at * 7 % 26]))) for at in range(1, 26)]
    assert cast("x.md", given).doubts == []


@given(furniture=st.text("某站题库下载专享会员甲乙", min_size=3, max_size=12), count=st.integers(10, 60))
def test_unknown_furniture_is_one_doubt_about_its_source_with_the_text(furniture, count):
    caught = cast("x.md", source(count, last=furniture))
    assert (caught.readings, [one.reason for one in caught.doubts]) == ([], ["repeated_text"])
    assert furniture in caught.doubts[0].detail
    settled = cast("x.md", source(count, last=furniture), SourceParams(furniture=[furniture]))
    assert [one.question.options for one in settled.readings] == [one.question.options for one in source(count)]


def test_a_question_that_is_doubted_for_itself_waits_apart_from_the_doubt_about_its_source():
    readings = source(last="某站会员专享")
    readings[3].doubts.append(("empty_option", "no text at B"))
    caught = cast("x.md", readings)
    [alone] = caught.readings
    assert (alone.question.number, [reason for reason, _ in alone.doubts]) == (4, ["repeated_text", "empty_option"])
    assert [len(doubt.readings) for doubt in caught.doubts] == [39]


def test_an_option_that_many_questions_have_as_a_whole_is_no_furniture():
    readings = source()
    for one in readings[::2]:
        one.question.options[-1] = Option(label="D", text="以上都不是")
    assert cast("x.md", readings).doubts == []


def test_an_end_that_all_options_share_or_markup_behind_all_stems_is_no_furniture():
    readings = [Reading(question(at, f"<p>第{NOUNS[at % 26]}{NOUNS[at // 26]}项首选？</p>")) for at in range(1, 41)]
    for one in readings[::6]:
        one.question.options[:] = [Option(label=each.label, text=f"{each.text}综合征") for each in one.question.options]
    assert cast("x.md", readings).doubts == []


@pytest.mark.parametrize(
    ("stem", "waits"),
    [
        ("该患者首选的检查是", True),
        ("根据以上材料，下列说法正确的是", True),
        ("根据下列材料回答：" + "甲乙丙丁戊己庚辛壬癸" * 8 + "。说法正确的是", False),
        ("What is the most likely diagnosis in this patient?", True),
        ("A 45-year-old man presents with fever. What is the most likely diagnosis in this patient?", False),
        ("According to the passage, the author believes that", True),
        ("下列患者中首选手术的是", False),
        ("Bu belirtilere göre hangi hastalık düşünülür?", True),
        ("Hastanın ateşi yüksektir. Bu belirtilere göre hangi hastalık düşünülür?", False),
        ("男，45岁，腹痛3天，加重1天伴发热。该患者首选的检查是", False),
    ],
)
def test_a_question_on_a_case_that_is_not_there_waits(stem, waits):
    assert bool(self_contained(question(stem=stem))) is waits
    assert self_contained(question(stem=stem, shared_stem="男，45岁。")) == []


@pytest.mark.parametrize(
    ("more", "reason"), [({"stem": "下列说法正确的是"}, "stems_alike"), ({"answer": ["A"]}, "keys_alike")]
)
def test_many_questions_with_one_stem_or_one_key_are_a_doubt_about_the_source(more, reason):
    assert [one.reason for one in cast("x.md", source(**more)).doubts] == [reason]
    assert cast("x.md", source(**more), SourceParams(accept=[reason])).doubts == []


def test_a_reason_of_more_than_a_tenth_is_said_once_with_two_examples_and_the_line_that_settles_it():
    readings = source(explanation="综上，故选A。")
    for one in readings[:10]:
        one.doubts.append(("explanation_disagrees", f"why {one.question.number}"))
    readings[10].doubts.append(("no_answer", "none"))
    caught = cast("x.md", readings)
    (doubt,) = caught.doubts
    assert (len(doubt.readings), len(caught.readings)) == (10, 30)
    assert all(part in doubt.detail for part in ("10 of 40", "no. 1: why 1", "no. 2: why 2", '[sources."x.md"]'))
    settled = cast("x.md", caught.readings + doubt.readings, SourceParams(explanations="ignore"))
    assert (settled.doubts, sum(bool(one.doubts) for one in settled.readings)) == ([], 1)


def test_keys_that_most_explanations_speak_against_may_all_be_those_of_other_questions():
    readings = source(explanation="综上，故选A。")
    for one in readings[:20]:
        one.doubts.append(("explanation_disagrees", f"why {one.question.number}"))
    caught = cast("x.md", readings)
    assert (caught.readings, [len(one.readings) for one in caught.doubts]) == ([], [40])


def test_looking_at_a_source_twice_tells_the_same():
    readings = source(stem="该患者首选的检查是", last=" Answer")
    assert cast("x.md", readings) == cast("x.md", readings)


def test_a_table_may_print_the_right_option_first():
    readings = source(answer=["A"], section=None)
    assert cast("x.csv", readings).doubts == []


def test_a_number_in_a_declared_text_stands_for_any():
    stems = [one.question.stem for one in source()]
    readings = [Reading(question(at, f"{stem}\n浏览{at}次 某站")) for at, stem in enumerate(stems, 1)]
    (doubt,) = cast("x.md", readings).doubts
    settled = cast("x.md", readings, SourceParams(furniture=["浏览0次 某站"]))
    assert ("浏览0次 某站" in doubt.detail, settled.doubts) == (True, [])
    assert [one.question.stem for one in settled.readings] == stems


def test_a_doubt_about_a_paper_is_one_waiting_item_with_all_its_questions(parse):
    items = [
        f"{at}. 第{NOUNS[at]}项首选的是\nA. {NOUNS[at]}甲\nB. {NOUNS[at]}乙\nC. {NOUNS[-at]}丙某某题库会员专享"
        for at in range(1, 21)
    ]
    outcome = parse("\n".join(items))
    (item,) = outcome.review
    assert (outcome.questions, len(item.question_ids), len(json.loads(item.item))) == ([], 20, 20)
    assert "会员专享" in item.detail


@pytest.mark.parametrize(
    ("foot", "told", "settings"),
    [
        ("Response:", "Response:", None),
        ("Show Answer", "ShowAnswer", None),
        ("本站 2号整理", "本站号整理", SourceParams(furniture=["本站 2号整理"])),
    ],
)
def test_a_foot_under_the_options_that_is_cut_off_as_furniture_is_no_doubt(foot, told, settings):
    readings = source(last=f" {foot}")
    for one in readings:
        one.doubts.append(("foot_inside", f"however it is worded, {told!r} is the place"))
    caught = cast("x.md", readings, settings)
    assert (caught.doubts, [one for one in caught.readings if one.doubts]) == ([], [])


@pytest.mark.parametrize(
    ("texts", "told"), [("Vero|Falso", []), ("Richtig|Falsch", []), ("Rot|Blau", ["options_repeat"])]
)
def test_statements_to_be_judged_have_the_same_options(texts, told):
    options = [Option(label=label, text=text) for label, text in zip("AB", texts.split("|"), strict=True)]
    given = [Reading(question(number, answer=["AB"[number % 2]], options=options)) for number in range(30)]
    assert [doubt.reason for doubt in cast("x.json", given).doubts] == told


@pytest.mark.parametrize(
    ("asks", "size"),
    [
        ("（2つ選びなさい。）", 2),
        ("（选三项）", 3),
        (" (Choose two.)", 2),
        ("? Select the FOUR best answers.", 4),
        (" (Choisissez deux réponses)", 2),
        (". In how many ways can he choose two balls?", 0),
        ("（选出正确的一项）", 0),
    ],
)
@pytest.mark.parametrize("key", ["A", "AB", "ABC", "ABCD"])
def test_a_key_with_more_or_fewer_letters_than_its_stem_asks_for_waits(asks, size, key):
    one = question(stem=f"腸ヒモが認められる動物はどれか{asks}", answer=[*key])
    assert bool(asked_for(one)) is (size not in (0, len(key)))


@pytest.mark.parametrize("asks", ["（2つ選びなさい。）", "（选两项）", " (Choose two.)"])
def test_how_many_answers_stems_ask_for_is_no_text_that_a_site_repeats(asks):
    given = [
        Reading(
            question(
                at,
                stem=f"第{NOUNS[at % 26]}{NOUNS[at // 26]}项首选的是{asks}",
                answer=["ABCD"[at % 2], "ABCD"[2 + at % 2]],
            )
        )
        for at in range(40)
    ]
    assert cast("x.md", given).doubts == []


@pytest.mark.parametrize("mark", [" √", "(correct)", "*"])
def test_a_mark_that_right_options_alone_have_is_a_doubt_about_the_source(mark):
    given = source()
    for one in given:
        key = "ABCD".index(one.question.answer[0])
        told = one.question.options[key]
        one.question.options[key] = Option(label=told.label, text=told.text + mark)
    caught = cast("x.md", given)
    assert (caught.readings, [doubt.reason for doubt in caught.doubts]) == ([], ["repeated_text"])
    assert "ends of right options alone" in caught.doubts[0].detail


@pytest.mark.parametrize(("behind", "doubted"), [(" ({}%)", True), ("（{}人选）", True), ("{} mg", False)])
def test_votes_behind_all_options_are_no_part_of_them(behind, doubted):
    given = source()
    for at, one in enumerate(given):
        for n, option in enumerate(one.question.options):
            text = (option.text if doubted else "") + behind.format(at + 7 * n)
            one.question.options[n] = Option(label=option.label, text=text)
    assert [doubt.reason for doubt in cast("x.md", given).doubts] == ["repeated_text"] * doubted
