"""The relation of two questions changes at thresholds: each from both sides."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.dedup.grams import Vocabulary, bigrams
from build_dataset.pipeline.dedup.keys import Compared
from build_dataset.pipeline.dedup.misreading import TextPair
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import (
    Relation,
    _few,
    _misread,
    _nearly_one,
    _reworded,
    compare_stems,
    match_options,
    relate,
    similarity,
    stems_unrelated,
)

CHARACTERS = "".join(map(chr, range(0x5000, 0x5400)))
"""Characters of which none is a number, a particle or part of a phrase."""
EMPTY = Vocabulary()


def item(core: str, options: str = "甲 乙 丙 丁", key: str = "A", whole: str = "", **fields) -> Compared:
    texts = tuple(options.split())
    told = {"group": None, "doubtful": False} | fields
    keys = (frozenset(key),) if key else ()
    return Compared(whole or core, core, tuple("ABCDEFG"[: len(texts)]), texts, keys, **told)


def changed(text: str, count: int) -> str:
    """A text of which the first ``count`` characters are others."""
    return CHARACTERS[-count:] + text[count:] if count else text


@pytest.mark.parametrize(
    ("length", "agreed", "most"), [(100, False, 25), (100, True, 35), (2, False, 1), (3, False, 1)]
)
def test_a_small_share_of_the_characters_may_differ_and_one_always(length: int, agreed: bool, most: int) -> None:
    text = CHARACTERS[:length]
    assert [count for count in range(length + 1) if _few(text, changed(text, count), agreed=agreed)] == [
        *range(most + 1)
    ]


@pytest.mark.parametrize(("length", "most"), [(1, 1), (2, 1), (5, 3), (10, 5), (0, -1)])
def test_half_of_an_option_may_be_misread(length: int, most: int) -> None:
    text = CHARACTERS[:length]
    vocabulary = Vocabulary(enough=1)
    vocabulary.add(bigrams(["胃炎"]))

    def misread(count: int) -> bool:
        """Return whether questions are one in which every other character of ``count`` was misread."""
        places = {2 * n if 2 * n < length else 2 * (n - (length + 1) // 2) + 1 for n in range(count)}
        said = "".join("工" if at in places else char for at, char in enumerate(text))
        return _misread(TextPair(text, said, vocabulary, (False, True)), vouched=False)

    found = [count for count in range(length + 1) if misread(count)]
    assert max(found, default=-1) <= most
    assert (0 in found) is (length > 0)


@pytest.mark.parametrize(("length", "least", "most"), [(20, 0.75, 5), (20, 0.9, 2), (6, 0.75, 2), (5, 0.75, -1)])
def test_a_wording_is_another_one_up_to_a_share_and_from_six_characters(length: int, least: float, most: int) -> None:
    text = CHARACTERS[:length]
    found = [n for n in range(length + 1) if _reworded(TextPair(text, changed(text, n), EMPTY), least)]
    assert max(found, default=-1) == most


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("", "", 1.0),
        ("", "甲", 0.0),
        ("甲乙丙丁", "丙丁甲乙", 1.0),  # half stands in sequence: the same characters
        ("甲乙丙丁戊", "丁戊乙丙甲", 0.4),  # less does: by their sequence
        ("甲乙丙丁", "甲乙丙戊", 0.75),
    ],
)
def test_similarity_is_of_characters_where_half_of_them_stand_in_sequence(
    first: str, second: str, expected: float
) -> None:
    assert similarity(first, second) == pytest.approx(expected)


@pytest.mark.parametrize(("count", "kind"), [(0, "same"), (10, "term"), (20, "term"), (21, "different")])
def test_stems_are_twins_from_their_least_similarity_on(count: int, kind: str) -> None:
    text = CHARACTERS[:100]
    one, other = item(text), item(changed(text, count))
    found = compare_stems(one, other, EMPTY, DedupParams())
    assert (found.kind, found.score) == (kind, pytest.approx(1 - count / 100))
    assert stems_unrelated(one, other, DedupParams()) is (count > 20)


@pytest.mark.parametrize(("count", "kind"), [(0, "number"), (9, "number"), (10, "number"), (11, "term"), (21, None)])
def test_a_twin_is_named_after_its_number_where_all_else_is_nearly_equal(count: int, kind: str | None) -> None:
    text = CHARACTERS[:100]
    found = compare_stems(item(f"{text}5岁"), item(f"{changed(text, count)}6岁"), EMPTY, DedupParams())
    assert found.kind == ({"number": "age"}.get(kind or "", kind) or "different")


@pytest.mark.parametrize(
    ("length", "common", "related"), [(7, 1, False), (7, 2, True), (8, 1, True), (8, 0, True), (7, 0, False)]
)
def test_short_stems_are_twins_only_with_options_in_common(length: int, common: int, related: bool) -> None:
    """From .4 of the options on, which two of five are and one is not; long stems whatever their options."""
    text = CHARACTERS[: length - 1]
    options = ["肝脏", "心脏", "脾脏", "肺叶", "肾盂"]
    others = options[:common] + [f"第{n}骨头" for n in "甲乙丙丁戊"[common:]]
    one, other = (item(text + end, " ".join(own)) for end, own in (("左", options), ("右", others)))
    found = relate(one, other, EMPTY, DedupParams(related=0.7))
    assert (found.kind if found else None) == ("term" if related else None)


@pytest.mark.parametrize(("length", "kind"), [(3, None), (4, "variant")])
def test_other_options_make_a_variant_of_a_stem_that_says_something(length: int, kind: str | None) -> None:
    one = item(CHARACTERS[:length], "肝脏 心脏 脾脏")
    other = item(CHARACTERS[:length], "胃底 胆囊 骨髓")
    found = relate(one, other, EMPTY, DedupParams())
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(("wrong", "matched"), [(4, True), (3, True), (2, False)])
def test_three_equal_options_vouch_for_a_misprint_in_the_last(wrong: int, matched: bool) -> None:
    vocabulary = Vocabulary(enough=1)
    vocabulary.add(bigrams(["上皮细胞增生", "肝脏", "心脏", "脾脏", "肺叶"] * 3))
    others = ["肝脏", "心脏", "脾脏", "肺叶"][:wrong]
    one = item(CHARACTERS[:9], " ".join([*others, "上皮细胞增生"]))
    other = item(CHARACTERS[:9], " ".join([*others, "上皮细增生"]))
    found = match_options(one, other, vocabulary, 0.95)
    assert found.complete is matched


@pytest.mark.parametrize(("count", "related"), [(12, True), (13, False)])
def test_questions_of_almost_one_text_are_related_whatever_their_cores(count: int, related: bool) -> None:
    text = CHARACTERS[:100]
    one, other = item(text, "肝 心"), item(changed(text, count), "心 肝")
    found = _nearly_one(one, other)
    assert (found is not None) is related
    if found:
        assert (found.kind, found.score) == ("term", pytest.approx((0.88 + 1) / 2))
    assert _nearly_one(item(text, "肝 心"), item(text, "脾 肺")) is None


def test_members_of_a_group_are_never_related_but_for_equal_stems() -> None:
    text = CHARACTERS[:30]
    assert relate(item(text, group="g"), item(text[:-1], group="g"), EMPTY, DedupParams()) is None
    assert relate(item(text, group="g"), item(text, group="g"), EMPTY, DedupParams()) == Relation(
        "exact", 1.0, "the same but for white space, width and punctuation", dict(zip("ABCD", "ABCD", strict=True))
    )


@pytest.mark.parametrize(
    ("options", "key", "kind"),
    [
        ("甲 乙 丙 丁", "A", "exact"),
        ("甲 乙 丙 丁", "B", "conflict"),
        ("乙 甲 丙 丁", "B", "reordered_options"),
        ("乙 甲 丙 丁", "A", "conflict"),
        ("甲 乙 丙 丁", "", "exact"),
        ("甲 乙 丙 丁 戊", "A", "variant"),
    ],
)
def test_equal_stems_are_one_question_by_their_options_and_keys(options: str, key: str, kind: str) -> None:
    found = relate(item(CHARACTERS[:20], options, key), item(CHARACTERS[:20]), EMPTY, DedupParams())
    assert found is not None
    assert found.kind == kind
