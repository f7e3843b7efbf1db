"""Notes after appeals: which question they speak of, and what it accepts."""

import pytest

from build_dataset.pipeline.parse.keys import corrections


@pytest.mark.parametrize(
    ("note", "accepted", "unread"),
    [
        ("第16題（A）或（C）均給分", ("A", "C"), False),
        ("第40題答案由A更正為B或C", ("B", "C"), False),
        ("第33題除未作答者不給分外，其餘均給分", (), False),
        ("第8題該題不計分", (), True),
        ("第3題答A或B或AB者均給分", ("A", "B", "AB"), False),
        ("題號 第1題 第2題 備註：第2題答C給分", ("C",), False),
    ],
)
def test_more_notes_after_appeals(note, accepted, unread):
    (found,) = corrections(note)
    assert (found.accepted, found.unread) == (accepted, unread)


def test_notes_may_stand_one_on_a_line_and_go_on_over_lines():
    found = corrections("備註：\n第5題答A者均給分\n第9題答B或\nC者均給分\n第12題及第13題均給分")
    assert [(one.numbers, one.accepted) for one in found] == [
        ((5,), ("A",)), ((9,), ("B", "C")), ((12, 13), ()),
    ]  # fmt: skip
