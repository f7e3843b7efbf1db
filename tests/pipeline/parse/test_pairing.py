"""From which share, number and evidence on a key is a paper's: each bound on both of its sides."""

import pytest

from build_dataset.pipeline.parse.stage import pair_keys
from tests.pipeline.parse.short import FOUR, items

CODE, YEAR = "科目：醫學（試題代號：1302）\n", "112年考試\n"


def printed(answers):
    """A paper that prints an answer to each question."""
    asked = enumerate(answers, 1)
    return "\n".join(f"{number}. 第{number}项对的是\n{FOUR}\n答案：{letter}" for number, letter in asked)


def key_of(numbers, letter="A"):
    return "参考答案\n" + " ".join(f"{number}.{letter}" for number in numbers)


@pytest.fixture
def paired(read):
    """Text of a paper and of its key → what is wrong with the key, its paper, and the answers of the paper."""

    def paired(paper, key, names=("x.pdf", "x_key.pdf")):
        asked = read(paper, names[0])
        outcome = pair_keys([read(key, names[1]), asked])
        answers = "".join(draft.answer or "-" for draft in asked.questions)
        return [item.reason for item in outcome.review], outcome.keys.get(names[1]), answers

    return paired


@pytest.mark.parametrize(("first", "reasons"), [(6, []), (7, ["key_contradicts"])])
def test_a_key_shares_half_of_its_numbers_with_its_paper(paired, first, reasons):
    assert paired(items(*range(1, 11)), key_of(range(first, first + 10)))[0] == reasons


@pytest.mark.parametrize(
    ("compared", "other", "reasons"),
    [
        (4, 4, []),
        (5, 1, []),
        (5, 2, ["key_contradicts"]),
        (6, 2, ["key_contradicts"]),
        (10, 3, []),
        (10, 4, ["key_contradicts"]),
    ],
)
def test_more_than_three_in_ten_other_answers_of_five_or_more_are_another_papers(paired, compared, other, reasons):
    paper = printed("B" * other + "A" * (compared - other))
    assert paired(paper, key_of(range(1, compared + 1)))[0] == reasons


@pytest.mark.parametrize(("answered", "answers"), [(9, "AAAAAAAAAB"), (8, "BBBBBBBBBB")])
def test_a_key_after_appeals_replaces_answers_where_it_has_nine_in_ten(paired, answered, answers):
    key = key_of(range(1, answered + 1))
    assert paired(printed("B" * 10), f"更正{key}", ("x.pdf", "x_mod.pdf"))[2] == answers


@pytest.mark.parametrize(("asked", "found"), [(8, "one.pdf"), (7, None)])
def test_a_paper_found_by_its_text_has_four_fifths_of_the_numbers_of_its_key(paired, asked, found):
    paper, key = YEAR + CODE + items(*range(1, asked + 1)), YEAR + CODE + key_of(range(1, 11))
    assert paired(paper, key, ("one.pdf", "answers.pdf"))[1] == found


@pytest.mark.parametrize(
    ("head", "count", "folder", "found"),
    [
        (CODE, 10, "a", False),
        (YEAR, 9, "a", False),
        (YEAR, 10, "a", False),
        (YEAR, 9, "b", False),
        ("", 10, "b", False),
        (YEAR, 10, "b", True),
        (CODE, 9, "a", False),
        (CODE, 9, "b", True),
        (YEAR + CODE, 9, "a", True),
    ],
)
def test_three_points_of_evidence_name_a_paper(paired, head, count, folder, found):
    """A code is worth two points, the same year, numbers and folder one each."""
    number = count if head != CODE or folder == "b" else 9
    names = ("b/one.pdf", f"{folder}/two_answers.pdf")
    reasons, paper, _ = paired(head + items(*range(1, 11)), head + key_of(range(1, number + 1)), names)
    assert (paper == "b/one.pdf", reasons) == (found, [] if found else ["key_without_paper"])


@pytest.mark.parametrize(
    ("numbers", "beside", "found"), [(10, [], True), (8, [], True), (7, [], False), (10, ["c"], False)]
)
@pytest.mark.parametrize("name", ["答案", "cevaplar", "Respuestas", "ответы"])
def test_a_key_without_a_name_is_that_of_the_only_open_paper_in_its_folder(read, numbers, beside, found, name):
    papers = [read(items(*range(1, numbers + 1)), f"b/{paper}.pdf") for paper in ("2024甲", *beside)]
    keys = pair_keys([read(key_of(range(1, 11)), f"b/{name}.pdf"), *papers]).keys
    assert keys == ({f"b/{name}.pdf": "b/2024甲.pdf"} if found else {})


def test_a_year_counts_where_both_state_one(paired):
    names = ("one.pdf", "a/answers.pdf")
    assert paired(CODE + items(*range(1, 11)), YEAR + CODE + key_of(range(1, 10)), names)[1] is None


def test_of_two_papers_with_enough_evidence_the_one_with_more_is_taken(read):
    key = read(YEAR + CODE + key_of(range(1, 5)), "b/answers.pdf")
    papers = [read(YEAR + CODE + items(1, 2, 3, 4), f"{name}/one.pdf") for name in "ab"]
    assert pair_keys([key, *papers]).keys == {"b/answers.pdf": "b/one.pdf"}


@pytest.mark.parametrize(("answered", "found"), [(2, True), (3, False)])
def test_a_paper_with_more_than_half_of_its_answers_needs_no_key_of_another_name(paired, answered, found):
    asked = "\n".join([printed("A" * answered), items(*range(answered + 1, 5))])
    names = ("one.pdf", "answers.pdf")
    assert paired(YEAR + CODE + asked, YEAR + CODE + key_of(range(1, 5)), names)[1] == ("one.pdf" if found else None)


@pytest.mark.parametrize(("before", "reasons"), [(396, ["key_contradicts"]), (397, [])])
def test_the_session_of_a_key_stands_in_its_first_400_characters(paired, before, reasons):
    key = "甲" * before + "111年\n" + key_of(range(1, 5))
    assert paired(YEAR + items(1, 2, 3, 4), key)[0] == reasons


@pytest.mark.parametrize(
    ("asked", "answered", "note"),
    [
        (4, 3, "x_key.pdf is silent about 4 of x.pdf"),
        (10, 5, "x_key.pdf is silent about 6, 7, 8, 9, 10 of x.pdf"),
        (11, 5, "x_key.pdf is silent about 6, 7, 8, 9, 10 and 1 more of x.pdf"),
        (5, 10, "x_key.pdf answers 6, 7, 8, 9, 10, which x.pdf does not have"),
        (5, 12, "x_key.pdf answers 6, 7, 8, 9, 10 and 2 more, which x.pdf does not have"),
    ],
)
def test_five_numbers_are_told_of_those_that_a_key_and_its_paper_do_not_share(read, asked, answered, note):
    key = read(key_of(range(1, answered + 1)), "x_key.pdf")
    assert pair_keys([key, read(items(*range(1, asked + 1)), "x.pdf")]).notes == [note]


@pytest.mark.parametrize(
    "names", [("2024/IMG_0001.jpg", "2024/106_ANS.pdf"), ("内科2024/第1页.png", "内科2024_答案.pdf")]
)
def test_a_key_in_or_beside_the_folder_of_pictures_is_theirs(read, names):
    paper, key = read(items(*range(1, 11)), names[0]), read(key_of(range(1, 11)), names[1])
    assert pair_keys([key, paper], {names[0]}).keys == {names[1]: names[0]}


def test_a_key_in_a_folder_with_two_papers_of_pictures_waits(read):
    papers = [read(items(*range(1, 11)), f"卷/{name}-1.jpg") for name in ("甲", "乙")]
    outcome = pair_keys([read(key_of(range(1, 11)), "卷/106_ANS.pdf"), *papers], {paper.document for paper in papers})
    assert not outcome.keys
    assert [item.reason for item in outcome.review] == ["key_without_paper"]


def test_a_key_of_another_year_is_not_that_of_the_pictures_beside_it(read):
    paper, key = (
        read(YEAR + items(*range(1, 11)), "卷/IMG_1.jpg"),
        read("113年考试\n" + key_of(range(1, 11)), "卷/ANS.pdf"),
    )
    assert [item.reason for item in pair_keys([key, paper], {"卷/IMG_1.jpg"}).review] == ["key_contradicts"]
