"""Keys in documents of their own: matched to their paper, applied, overridden after appeals."""

from __future__ import annotations

import pytest

from pipeline.parse.pairing import PairedDocument, find_papers, name_stem
from pipeline.parse.stage import pair_keys

OPTIONS = "(A)甲\t(B)乙\n(C)丙\t(D)丁"
GRID = "題號\t01\t02\t03\t04\n答案\tＡ\tＢ\t{third}\tＤ"
HEAD = "112年第一次考試\n科目：醫學（試題代號：1302）\n題數：4題\n"


def paper_text(count: int = 4, head: str = HEAD) -> str:
    return head + "\n".join(f"{number}.第{number}題為何？\n{OPTIONS}" for number in range(1, count + 1))


@pytest.fixture
def documents(read):
    def documents(**texts: str):
        return [
            read(text, name.replace("__", ".").replace("_s_", "/")) for name, text in sorted(texts.items())
        ]

    return documents


def answers(paper):
    return ["".join(draft.answer or "?") for draft in paper.questions]


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        ("tw_105-1_11_paper.pdf", "tw_105-1_11_answerkey.pdf"),
        ("tw_105-1_11_paper.pdf", "tw_105-1_11_corrected_key.pdf"),
        ("101110_0103.pdf", "101110_ANS0103.pdf"),
        ("101110_0103.pdf", "101110_MOD0103.pdf"),
        ("样卷三.pdf", "样卷三_答案.pdf"),
        ("样卷三试题.docx", "样卷三参考答案.pdf"),
        ("scan-2024-03.pdf", "scan-2024-03_answers.pdf"),
        ("a/x.pdf", "a/x-key.pdf"),
        ("Exam/x.pdf", "Ans/x.pdf"),
        ("2020/papers/nursing 1.pdf", "2020/answers/nursing 1.pdf"),
        ("试卷/甲.pdf", "答案/甲.pdf"),
    ],
)
def test_names_of_a_paper_and_its_key_have_one_stem(paper, key):
    assert name_stem(paper) == name_stem(key)


@pytest.mark.parametrize(("one", "other"), [("105-1_11.pdf", "105-2_11_key.pdf"), ("a/x.pdf", "b/x_key.pdf")])
def test_names_of_different_papers_have_different_stems(one, other):
    assert name_stem(one) != name_stem(other)


def test_a_key_goes_to_the_paper_of_its_name(documents):
    key, paper = documents(x_key__pdf=HEAD + GRID.format(third="Ｃ"), x_paper__pdf=paper_text())
    outcome = pair_keys([key, paper])
    assert (len(outcome.keys), outcome.review) == (1, [])
    assert answers(paper) == ["A", "B", "C", "D"]


def test_a_corrected_key_overrides_the_original_whatever_their_order(documents):
    note = "\n備註：第3題答Ａ、Ｃ給分，第4題一律給分。"
    original = HEAD + GRID.format(third="Ｃ")
    corrected = HEAD + GRID.format(third="＃") + note
    for names in (("x_ANS1", "x_MOD1"), ("x_corrected_key", "x_answerkey")):
        texts = dict(
            zip(names, (original, corrected) if "MOD1" in names[1] else (corrected, original), strict=True)
        )
        papers = documents(x__pdf=paper_text(), **{f"{name}__pdf": text for name, text in texts.items()})
        paper = next(found for found in papers if not found.is_key)
        if "MOD1" in names[1]:
            paper.document = "x_1.pdf"
        outcome = pair_keys(papers)
        assert len(outcome.keys) == 2
        third, fourth = paper.questions[2:]
        assert (third.answer, third.accepted) == ("C", ["A", "C"])
        assert (fourth.answer, fourth.accepted) == ("D", ["A", "B", "C", "D"])
        assert third.comment == "第3題答A、C給分"


def test_an_answer_replaced_after_appeals_is_the_answer(documents):
    key, modified, paper = documents(
        x_key__pdf=HEAD + GRID.format(third="Ｃ"),
        x_mod__pdf=HEAD + GRID.format(third="＃") + "\n備註：第3題答Ａ給分。",
        x_paper__pdf=paper_text(),
    )
    pair_keys([key, modified, paper])
    assert (paper.questions[2].answer, paper.questions[2].accepted) == ("A", ["A"])


def test_a_key_without_a_matching_name_is_found_by_code_count_and_year(documents):
    key, other, paper = documents(
        key__pdf=HEAD + GRID.format(third="Ｃ"),
        one__pdf=paper_text(head=HEAD.replace("1302", "1303")),
        two__pdf=paper_text(),
    )
    assert find_papers(key, [*map(PairedDocument, (other, paper))]) == [paper]


def test_a_key_of_two_equal_papers_waits(documents):
    key, one, two = documents(
        key__pdf=HEAD + GRID.format(third="Ｃ"), one__pdf=paper_text(), two__pdf=paper_text()
    )
    outcome = pair_keys([key, one, two])
    assert (len(outcome.keys), [item.reason for item in outcome.review]) == (0, ["key_of_several_papers"])
    assert answers(one) == answers(two) == ["?"] * 4


def test_a_key_without_a_paper_waits(documents):
    (key,) = documents(key__pdf=GRID.format(third="Ｃ"))
    outcome = pair_keys([key])
    assert [item.reason for item in outcome.review] == ["key_without_paper"]


def test_a_key_of_another_year_is_not_taken(documents):
    key, paper = documents(
        key__pdf=HEAD.replace("112年", "111年") + GRID.format(third="Ｃ"), two__pdf=paper_text()
    )
    assert find_papers(key, [PairedDocument(paper)]) == []


def test_a_second_original_key_waits(documents):
    one, two, paper = documents(
        x_ans__pdf=GRID.format(third="Ｃ"), x_key__pdf=GRID.format(third="Ｄ"), x_paper__pdf=paper_text()
    )
    outcome = pair_keys([one, two, paper])
    assert [item.reason for item in outcome.review] == ["second_key"]
    assert answers(paper)[2] == "C"


def test_answers_to_questions_that_the_paper_lacks_are_told(documents):
    key, paper = documents(x_key__pdf=GRID.format(third="Ｃ"), x_paper__pdf=paper_text(3, head=""))
    outcome = pair_keys([key, paper])
    assert outcome.notes == ["x_key.pdf answers 4, which x_paper.pdf does not have"]


def test_a_letter_that_differs_in_the_corrected_key_replaces_the_original(documents):
    key, modified, paper = documents(
        x_key__pdf=HEAD + GRID.format(third="Ｃ"),
        x_mod__pdf=HEAD + GRID.format(third="Ｂ"),
        x_paper__pdf=paper_text(),
    )
    assert pair_keys([key, modified, paper]).review == []
    assert (answers(paper)[2], paper.questions[2].flags) == ("B", [])


def test_a_key_whose_paper_is_absent_takes_no_paper_of_another_session(read):
    foreign = read(GRID.format(third="Ｂ"), "106020_ANS11.pdf")
    own = read(GRID.format(third="Ｃ"), "106080_ANS11.pdf")
    paper = read(paper_text(head=""), "106080_11.pdf")
    outcome = pair_keys([foreign, own, paper])
    assert [item.reason for item in outcome.review] == ["key_without_paper"]
    assert answers(paper) == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    ("key", "paper"),
    [
        ("106020_ANS11.pdf", "106080_11.pdf"),
        ("2021年下半年_答案.pdf", "2021年上半年.pdf"),
        ("第二次模拟_答案.pdf", "第一次模拟.pdf"),
        ("B卷答案.pdf", "A卷.pdf"),
        ("2019/key.pdf", "2020/exam.pdf"),
    ],
)
def test_what_the_texts_share_counts_for_nothing_where_the_names_tell_two_sessions_apart(read, key, paper):
    outcome = pair_keys([read(HEAD + GRID.format(third="Ｃ"), key), read(paper_text(), paper)])
    assert [item.reason for item in outcome.review] == ["key_without_paper"]


def test_a_key_found_by_its_text_goes_to_a_paper_without_a_key_only(read):
    own = read(GRID.format(third="Ｃ"), "x_key.pdf")
    other = read(HEAD + GRID.format(third="Ｂ"), "answers.pdf")
    paper = read(paper_text(), "x.pdf")
    outcome = pair_keys([other, own, paper])
    assert (outcome.keys, answers(paper)[2]) == ({"x_key.pdf": "x.pdf"}, "C")
    assert [item.item_id for item in outcome.review] == ["answers.pdf"]


def test_a_key_of_the_right_name_that_tells_of_another_session_is_never_applied(read):
    key = read(HEAD.replace("112年第一次", "112年第二次") + GRID.format(third="Ｃ"), "x_key.pdf")
    paper = read(paper_text(), "x.pdf")
    outcome = pair_keys([key, paper])
    assert [item.reason for item in outcome.review] == ["key_contradicts"]
    assert answers(paper) == ["?"] * 4


def test_a_key_that_contradicts_the_answers_in_the_paper_is_not_applied_and_what_differs_waits(read):
    printed = "".join(f"{n}. 第{n}題為何？\n{OPTIONS}\n答案：{'ABCDAB'[n - 1]}\n" for n in range(1, 7))
    paper = read(printed + f"7. 第7題為何？\n{OPTIONS}", "x.pdf")
    key = read("1.A 2.C 3.D 4.A 5.A 6.B 7.C", "x_key.pdf")
    outcome = pair_keys([key, paper])
    assert [item.reason for item in outcome.review] == ["key_contradicts"]
    assert answers(paper)[6] == "?"
    assert [draft.number for draft in paper.questions if draft.flags] == [2, 3, 4]


def test_a_second_key_that_differs_makes_the_questions_wait_that_it_answers_otherwise(read):
    keys = [
        read(GRID.format(third=letter), f"x_{name}.pdf") for name, letter in (("ans", "Ｃ"), ("key", "Ｄ"))
    ]
    paper = read(paper_text(), "x.pdf")
    pair_keys([*keys, paper])
    assert [draft.number for draft in paper.questions if draft.flags] == [3]
