"""Unsure characters are found by their neighbours, and doubted pieces of texts are marked."""

import pytest

from build_dataset.schemas.documents import UnsureCharacter
from build_dataset.schemas.places import find_unsure, mark_places, marked_pieces, places_in, unsure_of_key, unsure_told
from tests.making import make_question


def unsure(before: str, text: str, after: str, other: str | None = None, sure: float = 0.5) -> UnsureCharacter:
    return UnsureCharacter(before=before, text=text, after=after, other=other, sure=sure, page=1)


def found(text: str, one: UnsureCharacter) -> list[str]:
    return [
        f"{text[: place.start]}[{text[place.start : place.end]}]{text[place.end :]}" for place in places_in(text, [one])
    ]


@pytest.mark.parametrize(
    ("text", "one", "marked"),
    [
        ("皮肤瘪痒，瘪三", unsure("皮肤", "瘪", "痒，瘪三"), ["皮肤[瘪]痒，瘪三"]),
        ("皮肤 瘪痒,瘪三", unsure("皮肤", "瘪", "痒，瘪三"), ["皮肤 [瘪]痒,瘪三"]),  # tidied since
        ("剂量５ml/d", unsure("剂量", "5", "ml/d"), ["剂量[５]ml/d"]),
        ("皮肤瘙痒", unsure("皮肤", "瘪", "痒"), []),  # corrected since
        ("肝瘪大", unsure("皮肤", "瘪", "痒三天"), []),  # another one
        ("每日5次或5次", unsure("", "5", "次"), ["每日[5]次或5次", "每日5次或[5]次"]),  # nobody knows which
    ],
)
def test_a_character_is_found_where_its_neighbours_are(text, one, marked):
    assert found(text, one) == marked


def test_the_label_of_an_option_is_a_neighbour_of_its_text():
    texts = {"option:A": "升高", "option:B": "升高"}
    ((_, places),) = find_unsure(texts, [unsure("B.", "升", "高")])
    assert [(place.field, place.start, place.end) for place in places] == [("option:B", 0, 1)]


def test_unsure_characters_are_named_in_both_languages_the_least_sure_first():
    question = make_question(
        "皮肤瘪痒见于",
        "甲病 乙炳",
        "A",
        unsure=[
            unsure("皮肤", "瘪", "痒见于", "痹", 0.4),
            unsure("B. 乙", "炳", "", sure=0.2),
            unsure("见于：", "A", "", "8", 0.6),
        ],
    )
    assert unsure_told(question) == (
        "存疑字：选项 B的炳；题干的瘪（或痹）；答案的A（或8）。"
        "Unsure characters: 炳 in option B, 瘪 (or 痹) in the stem, A (or 8) in the key"
    )


def test_a_sentence_names_eight_unsure_characters_and_counts_the_rest():
    stem = "甲乙丙丁戊己庚辛壬癸"
    chars = [unsure(stem[max(0, at - 3) : at], char, stem[at + 1 : at + 4]) for at, char in enumerate(stem)]
    told = unsure_told(make_question(stem, unsure=chars))
    assert ("；另有2处。" in told, told.endswith(", and 2 more"), told.count(" in the stem")) == (True, True, 8)


def test_of_an_engine_that_tells_no_characters_the_least_sure_line_is_named():
    assert unsure_told(make_question(unsure=[unsure("", "12. 肺炎首选", "")])).endswith("'12. 肺炎首选'")
    assert unsure_told(make_question()) == ""


def test_what_a_reason_quotes_and_what_may_be_misread_are_marked_apart():
    text = "皮肤瘪痒，（除外）"
    pieces = marked_pieces(text, ["（除 外)"], places_in(text, [unsure("皮肤", "瘪", "痒", "痹")]))
    assert [(piece, mark and mark.unsure) for piece, mark in pieces] == [
        ("皮肤", None), ("瘪", True), ("痒，", None), ("（除外）", False),
    ]  # fmt: skip


def test_marked_html_says_what_else_may_stand_there_and_escapes_the_rest():
    text = "<b>瘪痒"
    made = mark_places(text, [], places_in(text, [unsure("<b>", "瘪", "痒", "痹")]))
    assert made == '&lt;b&gt;<mark class="unsure" title="或 or 痹">瘪</mark>痒'


@pytest.mark.parametrize(
    ("one", "of_key"),
    [
        (unsure("首选是：", "A", "", "8"), True),
        (unsure("首选是：", "B", "", "8"), False),  # of another question's key
        (unsure("", "A", ". 甲药", "8"), False),  # the label of its option
    ],
)
def test_a_letter_that_stands_in_no_text_is_that_of_the_key(one, of_key):
    assert unsure_of_key(make_question(unsure=[one])) is of_key
