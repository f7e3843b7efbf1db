"""Claims about options: what a text asserts, denies and judges of each, and the answer it states."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.claims import fold, grammar
from build_dataset.pipeline.claims.grammar import Text
from build_dataset.pipeline.claims.lexicon import Token

OPTIONS = {"A": "青霉素", "B": "红霉素", "C": "链霉素", "D": "氯霉素"}


def claimed(text, multiple=None, wrong=None, stem=""):
    """Claims with their words, what is called right and wrong, the passages, and the answer."""
    said = Text(fold(text), OPTIONS, multiple, wrong, stem)
    claims = [
        f"{''.join(one.labels)} {one.kind} {one.stance.value}: {said.text[one.start : one.end]}" for one in said.claims
    ]
    judged = f"{''.join(said.judged.right)}+ {''.join(said.judged.wrong)}- {said.judged.start}-{said.judged.end}"
    items = " ".join(f"{one.label}{one.start}-{one.end}" for one in said.items)
    return claims, judged, items, "".join(said.answer or ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("答案是A。", (["A stated asserted: 答案是A"], "+ - 0-0", "", "A")),
        ("故选B。", (["B stated asserted: 故选B"], "+ - 0-0", "", "B")),
        ("正确的是A、C。", (["AC concluded asserted: 的是A、C"], "+ - 0-0", "", "")),
        ("因此A正确。", (["A concluded asserted: 因此A", "A judged asserted: A正确"], "A+ - 2-6", "A2-6", "")),
        (
            "A错误，排除C。故选B。",
            (
                ["A judged denied: A错误", "C judged denied: 排除C", "B stated asserted: 故选B"],
                "+ AC- 0-12",
                "A0-12",
                "B",
            ),
        ),
        (
            "A正确，B错误，C错误，D错误。",
            (
                [
                    "A judged asserted: A正确",
                    "B judged denied: B错误",
                    "C judged denied: C错误",
                    "D judged denied: D错误",
                ],
                "A+ BCD- 0-16",
                "A0-4 B4-8 C8-12 D12-16",
                "",
            ),
        ),
        (
            "A. 青霉素：正确。\nB. 红霉素：错误。\nC. 链霉素：错误。\nD. 氯霉素：不对。",
            (
                [
                    "A judged asserted: A. 青霉素:正确",
                    "B judged denied: B. 红霉素:错误",
                    "C judged denied: C. 链霉素:错误",
                    "D judged denied: D. 氯霉素:不对",
                ],
                "A+ BCD- 0-43",
                "A0-11 B11-22 C22-33 D33-43",
                "",
            ),
        ),
        ("除A外均错误。", (["A judged denied: A外均错误"], "A+ BCD- 1-6", "", "")),
        (
            "A、B、D都是对的，C不对。",
            (["ABD judged asserted: A、B、D都是对的", "C judged denied: C不对"], "ABD+ C- 0-13", "", ""),
        ),
        ("✅ A. 青霉素\n❌ B. 红霉素\n❌ C. 链霉素", ([], "A+ BC- 2-26", "A2-10 B11-19 C20-26", "")),
        ("✅ A. 青霉素", ([], "+ - 0-0", "", "")),
        ("不是A而是B。", (["A judged denied: 不是A", "B stated asserted: 不是A而是B"], "+ A- 0-3", "", "B")),
        ("错误的是D。", (["D counter asserted: 错误的是D"], "+ - 0-0", "", "")),
        ("说法错误的是D。", (["D counter asserted: 错误的是D"], "+ - 0-0", "", "")),
        ("A、B、C均属于抗生素，D不属于。", (["D judged denied: D不属于"], "ABC+ D- 12-17", "D12-17", "")),
        ("Answer: C", (["C stated asserted: Answer: C"], "+ - 0-0", "", "C")),
        ("The answer is B.", (["B stated asserted: answer is B"], "+ - 0-0", "", "B")),
        (
            "A is right, B is wrong.",
            (["A judged asserted: A is right", "B judged denied: B is wrong"], "A+ B- 0-23", "A0-11 B12-23", ""),
        ),
        ("I would rule out A and B.", (["AB judged denied: rule out A and B"], "+ AB- 8-24", "", "")),
        (
            "A is correct because of this; B, C and D are incorrect.",
            (
                ["A judged asserted: A is correct", "BCD judged denied: B, C and D are incorrect"],
                "A+ BCD- 0-55",
                "A0-55",
                "",
            ),
        ),
        ("正确的选项有A、B、D", (["ABD concluded asserted: 正确的选项有A、B、D"], "+ - 0-0", "", "")),
        ("青霉素是首选药物。", (["A called asserted: 青霉素是首选药物"], "+ - 0-0", "", "A")),
        (
            "首选青霉素，禁用链霉素。",
            (["A quoted asserted: 首选青霉素", "C judged denied: 禁用链霉素"], "+ C- 6-11", "", ""),
        ),
        (
            "应排除A、B，故答案为C。",
            (["AB judged denied: 应排除A、B", "C stated asserted: 答案为C"], "+ AB- 0-6", "", "C"),
        ),
        ("A不正确。A正确。", (["A judged denied: A不正确", "A judged asserted: A正确"], "+ A- 0-8", "A0-5", "")),
        (
            "本题选A。解析：A对，B错。",
            (
                ["A stated asserted: 本题选A", "A judged asserted: A对", "B judged denied: B错"],
                "A+ B- 8-14",
                "B11-14",
                "A",
            ),
        ),
        ("A. 青霉素\n对。\n\nB错。", (["B judged denied: B错"], "A+ B- 0-14", "A0-11 B11-14", "")),
        (
            "A和B均错误，C正确",
            (["AB judged denied: A和B均错误", "C judged asserted: C正确"], "C+ AB- 0-10", "C7-10", ""),
        ),
        ("all except A are wrong", (["A judged denied: A are wrong"], "A+ BCD- 11-22", "", "")),
        ("D in fact is wrong", (["D judged denied: D in fact is wrong"], "+ D- 0-18", "D0-18", "")),
        ("A虽然在这种情况下看起来很有道理但是错误", ([], "+ - 0-0", "", "")),
    ],
)
def test_what_a_text_claims(text, expected):
    assert claimed(text) == expected


@pytest.mark.parametrize(
    ("text", "about", "expected"),
    [
        ("错误的是D。", {"wrong": False}, (["D judged denied: 错误的是D"], "+ D- 0-5", "", "")),
        ("错误的是D。", {"wrong": True}, (["D counter asserted: 错误的是D"], "+ - 0-0", "", "")),
        ("正确的是A、B、D。", {"wrong": True}, (["ABD concluded asserted: 的是A、B、D"], "+ - 0-0", "", "")),
        ("正确的是A。", {"wrong": True}, (["A concluded asserted: 的是A"], "+ - 0-0", "", "")),
        ("A说法正确。", {"wrong": True}, (["A judged asserted: A说法正确"], "A+ - 0-6", "A0-6", "")),
        (
            "禁用A，可用B。",
            {"stem": "禁用的是"},
            (["A stated asserted: 禁用A", "B judged denied: 可用B"], "+ B- 4-7", "", "A"),
        ),
        ("禁用A，可用B。", {"stem": "首选的是"}, (["A judged denied: 禁用A"], "+ A- 0-3", "", "")),
        (
            "A、B、C均属于抗生素，D不属于。",
            {"multiple": False},
            (["D judged denied: D不属于"], "+ D- 12-17", "D12-17", ""),
        ),
        (
            "A、B、C均属于抗生素，D不属于。",
            {"multiple": True},
            (["D judged denied: D不属于"], "ABC+ D- 12-17", "D12-17", ""),
        ),
        (
            "正确的说法有A、B、D，因此选C。",
            {"wrong": True},
            (["ABD judged asserted: 正确的说法有A、B、D", "C stated asserted: 因此选C"], "ABD+ - 0-11", "", "C"),
        ),
        (
            "正确的说法有A、B、D，因此选C。",
            {"wrong": True, "multiple": True},
            (["ABD judged asserted: 正确的说法有A、B、D", "C stated asserted: 因此选C"], "ABD+ - 0-11", "", "C"),
        ),
    ],
)
def test_the_question_decides_what_a_claim_means(text, about, expected):
    assert claimed(text, **about) == expected


WORDS, CLAIMS = grammar._WORDS, grammar._CLAIMS
FIVE = OPTIONS | {"E": "庆大霉素"}


@pytest.mark.parametrize("at", range(len(WORDS)), ids=[row["example"] for row in WORDS])
def test_the_example_of_every_kind_of_word_is_read_as_one(at):
    text = Text(fold(WORDS[at]["example"]), FIVE)
    parts, end = [], 0
    for mention in text.mentions:
        parts += [text.text[end : mention.start], "\ue000" * (mention.end - mention.start)]
        end = mention.end
    masked = "".join([*parts, text.text[end:]])
    assert at in {word for word, *_ in grammar.LEXICON.words(masked)}


@pytest.mark.parametrize("at", range(len(CLAIMS)), ids=[row["example"] for row in CLAIMS])
def test_the_example_of_every_kind_of_claim_is_read_as_one(at):
    row = CLAIMS[at]
    text = Text(fold(row["example"]), row.get("options", FIVE))
    assert list(text._claims(grammar.PRODUCTIONS[at]))


def test_every_word_has_a_token_and_every_token_but_those_of_mentions_a_word():
    mentions = {"LETTERS", "TEXT", "SMALL", "ORDINARY", "SHORT", "LONG"}
    assert {row["token"] for row in WORDS} - {""} == {token.name for token in Token} - mentions | {"SHORT"}
