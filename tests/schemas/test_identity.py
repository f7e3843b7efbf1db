import pytest
from hypothesis import given, strategies as st

from build_dataset.schemas.identity import content_hash, is_hidden, is_ignored, question_id, row_id, sha256


def test_ids_sort_as_the_questions_stand_in_the_paper():
    ids = [question_id("3f9a1c2e" + "0" * 56, 1, str(number)) for number in range(1, 121)]
    assert ids == sorted(ids)
    assert ids[0] == "3f9a1c2e-1-001"


def test_a_row_is_known_by_its_source_id_else_by_what_it_says():
    said = content_hash("题", ["甲", "乙"])
    assert row_id("a.csv", None, said) == row_id("renamed.csv", None, said) == f"r-{said}"
    assert row_id("a.csv", "17", said) == row_id("a.csv", "17", content_hash("改", ["甲", "乙"]))
    assert row_id("a.csv", "17", said) != row_id("b.csv", "17", said)  # 17 means little in another file


def test_a_uuid_is_known_again_in_another_file():
    own = "395f98f3-1505-5b1d-88b2-1fb9831c50ec"
    assert row_id("a.csv", own, "x") == row_id("b.csv", own, "y")


def test_width_and_white_space_do_not_change_what_a_question_says():
    assert content_hash("血红蛋白 Ａ", ["１"]) == content_hash("血红蛋白A", ["1"])


def test_options_in_another_order_say_something_else_to_the_hash():
    assert content_hash("题", ["甲", "乙"]) != content_hash("题", ["乙", "甲"])


@given(st.lists(st.text(), min_size=3))
def test_borders_between_parts_count(parts):
    assert sha256(*parts) != sha256("".join(parts))


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        ("README.md", True),
        ("2019/readme.txt", True),
        ("labels.toml", True),
        ("quiz/imsmanifest.xml", True),
        ("a/.cache/paper.pdf", True),
        ("~$paper.docx", True),
        ("readme-2019真题.pdf", False),  # a paper, whatever its name
        ("readme.pdf", False),
    ],
)
def test_notes_and_settings_beside_papers_are_ignored_and_nothing_else(path: str, ignored: bool) -> None:
    assert is_ignored(path) is ignored


@pytest.mark.parametrize(
    ("source_id", "is_unique"),
    [("a" * 15 + "1", True), ("a" * 14 + "1", False), ("a" * 16, False), ("g" * 15 + "1", False), ("0" * 16, True)],
)
def test_a_long_hexadecimal_id_with_a_digit_is_unique_beyond_its_file(source_id, is_unique):
    assert (row_id("a.csv", source_id, "x") == row_id("b.csv", source_id, "x")) is is_unique
    space = "" if is_unique else "a.csv"
    assert row_id("a.csv", source_id, "x") == f"r-{sha256('row', space, source_id)[:16]}"


@pytest.mark.parametrize(
    ("name", "hidden"),
    [(".DS_Store", True), ("~$a.docx", True), ("__MACOSX", True), ("a~$.docx", False), ("macosx", False)],
)
def test_files_that_programs_leave_are_hidden(name, hidden):
    assert is_hidden(name) is hidden
    assert is_ignored(f"{name}/paper.pdf") is hidden
