"""The relation of two questions, by what their stems, options and keys have in common."""

import pytest

from build_dataset.pipeline.dedup.grams import Vocabulary
from build_dataset.pipeline.dedup.keys import Compared
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import Relation, compare_stems, relate, similarity

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


@pytest.mark.parametrize(("count", "kind"), [(0, "age"), (15, "term"), (30, "different")])
def test_a_twin_is_named_after_its_number_where_all_else_is_nearly_equal(count: int, kind: str) -> None:
    text = CHARACTERS[:100]
    assert compare_stems(item(f"{text}5岁"), item(f"{changed(text, count)}6岁"), EMPTY, DedupParams()).kind == kind


@pytest.mark.parametrize(("length", "common", "related"), [(5, 0, False), (5, 3, True), (20, 0, True)])
def test_short_stems_are_twins_only_with_options_in_common(length: int, common: int, related: bool) -> None:
    options = ["肝脏", "心脏", "脾脏", "肺叶", "肾盂"]
    others = options[:common] + [f"第{n}骨头" for n in "甲乙丙丁戊"[common:]]
    pairs = (("左", options), ("右", others))
    first, second = (item(CHARACTERS[: length - 1] + end, " ".join(texts)) for end, texts in pairs)
    relation = relate(first, second, EMPTY, DedupParams(related=0.7))
    assert (relation.kind if relation else None) == ("term" if related else None)


@pytest.mark.parametrize(("count", "same"), [(1, True), (10, False)])
def test_misreadings_are_few(count: int, same: bool) -> None:
    """Every other character is one that nobody writes there."""
    text = CHARACTERS[:20]
    vocabulary = Vocabulary([[text] * 3], enough=1)
    misread = "".join("工" if at % 2 and at < 2 * count else char for at, char in enumerate(text))
    relation = compare_stems(item(text), item(misread, doubtful=True), vocabulary, DedupParams())
    assert (relation.kind == "same") is same


@pytest.mark.parametrize(("length", "kind"), [(1, None), (10, "variant")])
def test_other_options_make_a_variant_of_a_stem_that_says_something(length: int, kind: str | None) -> None:
    first, second = (item(CHARACTERS[:length], options) for options in ("肝脏 心脏 脾脏", "胃底 胆囊 骨髓"))
    relation = relate(first, second, EMPTY, DedupParams())
    assert (relation.kind if relation else None) == kind


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
