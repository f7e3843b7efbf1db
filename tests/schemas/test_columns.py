"""Headers of tables, as people write them."""

import pytest

from build_dataset.schemas.columns import guarded, option_groups, option_of, plain_header, roles_of, unguarded


@pytest.mark.parametrize(
    ("header", "plain"),
    [
        ("Correct_Answer", "correctanswer"),
        ("题干（必填）", "题干"),
        (" 选项-Ａ ", "选项a"),
        ("[答案]", "答案"),
        (f"题干({'x' * 40})", "题干"),
        (f"题干({'x' * 41})", f"题干{'x' * 41}"),
    ],
)
def test_headers_are_compared_without_marks_width_and_remarks(header, plain):
    assert plain_header(header) == plain


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("opA", ("op", "A")),
        ("选项3", ("选项", "3")),
        ("选项三", ("选项", "3")),
        ("选项十", ("选项", "10")),
        ("B选项", ("选项", "B")),
        ("d", ("", "D")),
        ("3", None),
        ("选项", None),
        ("选项123", None),
        ("选项l", None),
        ("题干", None),
    ],
)
def test_a_header_of_one_option_has_a_word_and_a_label(header, found):
    assert option_of(header) == found


@pytest.mark.parametrize(
    ("headers", "groups"),
    [
        (["选项B", "选项A"], {"选项": {"A": "选项A", "B": "选项B"}}),
        (["选项0", "选项1", "选项2"], {"选项1": {"A": "选项0", "B": "选项1", "C": "选项2"}}),
        (["选项1", "选项2"], {"选项1": {"A": "选项1", "B": "选项2"}}),
        (["选项2", "选项3"], {}),
        (["选项1", "选项3"], {}),
        (["A", "C"], {"": {"A": "A", "C": "C"}}),
        (["题干", "答案"], {}),
    ],
)
def test_headers_of_options_are_grouped_by_their_word(headers, groups):
    assert option_groups(headers) == groups


def test_a_header_may_name_several_parts():
    assert roles_of("题干") == ("stem",)
    assert len(roles_of("correct")) == 2
    assert roles_of("something else") == ()


@pytest.mark.parametrize("cell", ["=1+1", "+x", "-x", "@SUM(1)", "\tx", "\rx", "'=1", "''=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_guarded_and_comes_back(cell):
    assert guarded(cell) == f"'{cell}"
    assert unguarded(guarded(cell)) == cell


@pytest.mark.parametrize("cell", ["", "x", "1+1", "'x", "''"])
def test_other_cells_stay_as_they_are(cell):
    assert guarded(cell) == unguarded(cell) == cell
