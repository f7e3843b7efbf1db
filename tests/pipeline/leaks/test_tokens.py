import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.leaks.overlap import tokenise, windows

TEXTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=40), max_size=6)


def cut(text):
    """The tokens of a text as it prints them."""
    found = tokenise([text])
    return [text[start:end] for start, end in zip(found.starts, found.ends, strict=True)]


def test_an_ideograph_is_a_token_and_so_is_a_word_or_a_number():
    assert cut("患者，男，45 岁。BP≥140mmHg（坐位）") == [*"患者男", "45", "岁", "BP", "140mmHg", *"坐位"]
    assert cut("カルシウム、ｶﾙ") == [*"カルシウム", *"ｶﾙ"]


def test_letters_of_options_are_no_tokens():
    assert cut("A 肝\nB. 肾\nＣ）心") == [*"肝肾心"]
    assert cut("Vit 9") == ["Vit", "9"]


def test_width_and_case_make_no_difference():
    one, other = tokenise(["ＭＲＩ　１２检查"]), tokenise(["mri,12 检查"])
    assert one.hashes.tolist() == other.hashes.tolist()


@pytest.mark.parametrize(("first", "second"), [("AaBb×aabb", "AaBb×AaBb"), ("CO中毒", "Co中毒"), ("5mPa", "5MPa")])
def test_the_case_of_symbols_is_content(first: str, second: str):
    one, other = tokenise([first, second]).hashes.tolist(), tokenise([second]).hashes.tolist()
    assert one[-len(other) :] == other
    assert tokenise([first]).hashes.tolist() != other


def test_words_are_told_apart_by_their_letters_and_their_order():
    hashes = tokenise(["abc acb ab bc 12 21 1 2 肝 月"]).hashes.tolist()
    assert len(set(hashes)) == len(hashes)


@given(TEXTS)
@settings(deadline=None)
def test_each_text_is_cut_as_if_it_were_alone(texts):
    together = tokenise(texts)
    for row, text in enumerate(texts):
        mine = together.rows == row
        alone = tokenise([text])
        assert together.hashes[mine].tolist() == alone.hashes.tolist()
        assert together.starts[mine].tolist() == alone.starts.tolist()
        assert together.ends[mine].tolist() == alone.ends.tolist()
        assert together.counts[row] == len(alone.hashes)


@given(TEXTS, st.integers(1, 5))
@settings(deadline=None)
def test_windows_are_all_runs_within_a_text_and_their_hash_says_what_they_hold(texts, size):
    tokens = tokenise(texts)
    found = windows(tokens, size)
    held, expected = {}, []
    for row in range(len(texts)):
        hashes = tokens.hashes[tokens.rows == row].tolist()
        expected += [(row, place, tuple(hashes[place : place + size])) for place in range(len(hashes) - size + 1)]
    assert [(row, place) for row, place, _ in expected] == list(
        zip(found.rows.tolist(), found.places.tolist(), strict=True)
    )
    for value, (_, _, run) in zip(found.hashes.tolist(), expected, strict=True):
        assert held.setdefault(value, run) == run
    assert len(held) == len({run for _, _, run in expected})


def test_no_text_has_no_tokens():
    assert tokenise([]).hashes.tolist() == []
    assert windows(tokenise(["", "，。"]), 3).hashes.tolist() == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("々〇〆", 3),
        ("あア", 2),
        ("가각", 2),
        ("㐀鿿", 2),
        ("豈", 1),
        ("\U00020000\U0003134a", 2),
        ("ab", 1),
        ("12", 1),
        ("a", 0),
        ("1", 1),
        ("zy", 1),
        ("z", 0),
        ("éa", 1),
        ("é", 1),
        ("㎎㎎", 0),
        ("\U000f0000\U000e0041", 0),
        ("\u2e80\u2fd5", 1),
    ],
)
def test_a_text_has_as_many_tokens(text, count):
    assert tokenise([text]).counts.tolist() == [count]
