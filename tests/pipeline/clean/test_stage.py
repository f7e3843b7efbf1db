"""The stage: what comes out of it, that nothing is lost, and how much it drops of sound questions."""

import json
import re

import polars as pl
from hypothesis import given, strategies as st

from build_dataset.pipeline.characters import UNREADABLE
from build_dataset.pipeline.clean import corrections
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.clean.stage import run
from build_dataset.schemas.questions import Question, TextChange
from tests.making import Silent, make_question


def question(number: int, stem: str, options: list[str], answer: list[str] | None, **fields) -> Question:
    return make_question(stem, options, answer, number=number, **fields)


def tidied(item: Question) -> Question:
    frame, _ = corrections.tidy_questions(Question.to_frame([item]))
    return next(iter(Question.from_frame(frame)))


def clean(questions: list[Question]):
    return run({"questions": Question.to_frame(questions)}, CleanParams(), Silent())


def test_options_that_are_about_markup_keep_it() -> None:
    texts = [["<br>", "<lb>"], ["<b>甲</b>", "<i>甲</i>"], ["<p>甲</p>", "<p><b>乙</b></p>"]]
    items = [question(at, f"第{at}项标签是", options, ["A"]) for at, options in enumerate(texts)]
    kept = clean(items).tables["questions"]["options"].to_list()
    assert [[option["text"] for option in options] for options in kept] == [*texts[:2], ["甲", "乙"]]


def test_kept_questions_are_tidy_and_keep_their_order_and_schema() -> None:
    result = clean([question(2, "高 血 压 见于", ["甲 亢", "乙"], ["A"]), question(1, "肺炎首选", ["甲", "乙"], ["B"])])
    table = result.tables["questions"]
    assert table["stem"].to_list() == ["高血压见于", "肺炎首选"]
    assert table["options"][0][0] == {"label": "A", "text": "甲亢"}
    assert table.schema == Question.polars_schema()


def test_every_change_can_be_undone() -> None:
    messy = [
        question(2, "高 血 压 见于", ["甲 亢", "乙"], ["A"], explanation=" \u3000", comment="见ＩＩ"),
        question(1, "肺炎首选", ["甲", "乙"], ["B"], shared_stem="体温３８℃"),
    ]
    result = clean(messy)
    changes = result.tables["changes"]
    assert changes.schema == TextChange.polars_schema()
    assert changes.rows() == [
        ("d-1-001", "shared_stem", "体温３８℃", "体温38℃"),
        ("d-1-002", "comment", "见ＩＩ", "见II"),
        ("d-1-002", "explanation", " \u3000", None),
        ("d-1-002", "option:A", "甲 亢", "甲亢"),
        ("d-1-002", "stem", "高 血 压 见于", "高血压见于"),
    ]
    assert result.facts["texts_changed"] == 5


def test_the_content_hash_follows_the_text() -> None:
    messy, neat = (question(1, "ＡＢＣ\ue000肝", ["甲", "乙"], ["A"]), question(1, "ABC\ue000肝", ["甲", "乙"], ["A"]))
    assert tidied(messy).content_hash == tidied(neat).content_hash == neat.content_hash


def test_rejects_and_review_carry_the_question_itself() -> None:
    result = clean(
        [
            question(1, "如图，诊断是", ["甲", "乙"], ["A"]),
            question(2, "肺炎首选", ["甲", "乙"], ["A"], comment="答案有误"),
        ]
    )
    assert [(item.item_id, item.stage, item.reason) for item in result.rejects] == [
        ("d-1-001", "clean", "needs_figure")
    ]
    assert [(item.question_ids, item.reason) for item in result.review] == [(["d-1-002"], "erratum")]
    assert Question.model_validate(json.loads(result.rejects[0].item or "")).stem == "如图，诊断是"
    assert result.facts["reasons"] == {"erratum": 1, "needs_figure": 1}


def test_no_questions_make_an_empty_table() -> None:
    result = clean([])
    assert result.tables["questions"].schema == Question.polars_schema()
    assert result.counts.balanced()


STEMS = st.sampled_from(["", "如图", "肺炎首选的药物是", "见下表", "\ue000\ue000", "患者，", " 高 血 压 "])
OPTIONS = st.lists(st.sampled_from(["甲", "乙", "丙 ", "", "丁"]), max_size=5)
ANSWERS = st.none() | st.lists(st.sampled_from("ABEZ"), max_size=2)


@given(st.lists(st.tuples(STEMS, OPTIONS, ANSWERS), max_size=8))
def test_every_question_ends_in_one_place_and_the_kept_ones_pass_again(rows) -> None:
    questions = [question(place, *row) for place, row in enumerate(rows)]
    result = clean(questions)
    ends = [*result.tables["questions"]["question_id"], *(item.item_id for item in (*result.rejects, *result.review))]
    assert sorted(ends) == sorted(item.question_id for item in questions)
    assert result.counts.balanced()
    again = run(result.tables, CleanParams(), Silent())
    assert again.tables["questions"].equals(result.tables["questions"])
    assert again.tables["changes"].is_empty()


ANY = st.text(st.characters(codec=None, categories=["Cc", "Co", "Cn", "Lo", "Nd", "So"]), max_size=6)


@given(st.lists(st.tuples(ANY, st.lists(ANY, min_size=2, max_size=4), ANY), max_size=5))
def test_no_character_that_cannot_be_read_is_kept(rows) -> None:
    questions = [
        question(place, f"下列叙述{stem}何者正确", options, ["A"], explanation=said)
        for place, (stem, options, said) in enumerate(rows)
    ]
    kept = clean(questions).tables["questions"].write_json()
    assert not re.search(UNREADABLE, "".join(json.dumps(json.loads(kept), ensure_ascii=False)))


def test_at_most_one_in_two_hundred_sound_questions_is_dropped(shared_data) -> None:
    rows = pl.read_ndjson(shared_data / "cmexam" / "val_dev.jsonl").iter_rows(named=True)
    questions = []
    for row in rows:
        found = [re.match(r"([A-Z])\s+(.+)", line) for line in row["Options"].split("\n")]
        letters = re.findall("[A-Z]", row["Answer"]) or None
        questions.append(question(row["row"], row["Question"], [match[2] for match in found if match], letters))
    result = clean(questions)
    dropped = result.counts.rejected + result.counts.waiting
    assert dropped <= 0.005 * len(questions), [(item.reason, item.detail) for item in result.rejects]
    assert {item.reason for item in result.rejects} <= {"needs_figure", "needs_table", "duplicate_options", "no_answer"}


def test_figure_questions_of_real_papers_are_found_by_their_words(shared_data) -> None:
    lines = (shared_data / "expected" / "tw_105-1_11_and_112-1_11.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    questions = [question(place, row["題目"], ["甲", "乙"], ["A"]) for place, row in enumerate(rows)]
    found = {int(item.item_id[-3:]) for item in clean(questions).rejects if item.reason == "needs_figure"}
    with_images = {place for place, row in enumerate(rows) if row["圖片"]}
    assert len(found & with_images) >= 0.95 * len(with_images)
    assert len(found & with_images) >= 0.95 * len(found)
