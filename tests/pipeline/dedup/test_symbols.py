"""Case and signs are content where letters are symbols: two questions that differ in them are never one."""

import random

import polars as pl
import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.dedup.keys import comparison_key, symbols_kept
from build_dataset.schemas.questions import Question
from tests.making import make_question

PAIRS = """
AaBb×aabb|AaBb×AaBb  AABB|AaBb  GG|gg  Gg|gg  Gg|GG  DdTt|ddTt  XBY|XbY  XBXb|XbXb  IAi|ii  IAIB|IAi
RRYY|RrYy  AAaa|Aaaa  ABC|abc  Abc|abc  aBC|abC  TT×tt|Tt×tt  R|r  B|b  Bb|bb  Aa|AA  FF|ff  hh|Hh
LL|ll  aaBB|aabb  EeFf|EEff  m|M  p|P  mg|Mg  5mg|5Mg  mPa|MPa  mA|MA  mV|MV  10mW|10MW  ms|Ms
mHz|MHz  k|K  g|G  s|S  n|N  pm|Pm  Pa|PA  d|D  f|F  T|t  h|H  CO|Co  NO|No  CS|Cs  HO|Ho  SI|Si
IN|In  PB|Pb  CU|Cu  HF|Hf  OS|Os  PO|Po  SN|Sn  SC|Sc  NB|Nb  BI|Bi  NI|Ni  CN|Cn  HG|Hg  PaO2|PAO2
SaO2|SAO2  PaCO2|PACO2  Ca|CA  Na|NA  tRNA|TRNA  NaOH|NAOH  Rh|RH  Ph|pH  Ag|AG  Ba|BA  Cl⁻|Cl  H⁺|H
Fe²⁺|Fe³⁺  OH⁻|OH  Na⁺|Na  S²⁻|S  O₂|O₃  CO₂|CO  10²|102  x²|x₂  x²|x³  2³|23  10⁻³|10³  A∪B|A∩B
a∈A|a∉A  A⊂B|A⊃B  a=b|a≠b  a≈b|a≡b  p→q|p←q  p∧q|p∨q  ¬p|p  a+b|a-b  a-b|ab  a×b|a÷b  a*b|ab  a/b|ab
√2|2  ∞|0  1:2|12  1:2|2:1  1/2|12  3:1|31  9:3:3:1|9331  5‰|5%  30°|30  30′|30  .5|5  [0,1)|(0,1)
(a+b)c|a+bc  f(x)|fx  n!|n  ❘x❘|x  A'|A  5'端|3'端  Δ|δ  Σ|σ  Φ|φ  Ω|ω  α|a  β|B  μ|u  λ|Λ  ♀|♂  $5|¥5
€5|£5  x̄|x  ∠A|A  →|←  ↑|↓  <|>  ≤|<  ±5|5
sin²x|sin2x  log₂x|log2x  f''(x)|f'(x)  (A∪B)∩C|A∪(B∩C)  {1,2}|(1,2)  2n|2N  pKa|PKA  XᴬXᵃ|XᴬXᴬ  CD4⁺|CD4⁻  ∃x|∀x
"""
SYMBOLS = [tuple(pair.replace("❘", "|") for pair in two.split("|")) for two in PAIRS.split()]
TYPED = [
    ("5 mL", "5ml"), ("８kPa", "8KPa"), ("120/80 mmHg", "120／80mmhg"), ("38.5℃", "38.5°C"), ("12×10⁹/L", "12X10^9/L"),
    ("DNA复制", "dna复制"), ("The patient", "the patient"), ("In vitro", "in vitro"), ("Vitamin A", "VITAMIN A"),
    ("PH=7.35", "pH 7.35"), ("HCO₃⁻", "HCO3-"), ("Rh（-）", "Rh(—)"), ("x线检查", "X线检查"), ("IL-2", "IL2"),
    ("2 ∶ 1", "2：1"), ("110umol/L", "110μmol/L"), ("A、B", "A，B"), ("GG", "ＧＧ"),
    ("AaBb × aabb", "AaBb×aabb"), ("5′端", "5'端"),
]  # fmt: skip


def letters(rng: random.Random, count: int) -> str:
    """Characters of no meaning: no number, no negation, no unit."""
    return "".join(chr(rng.randrange(0x5000, 0x5E00)) for _ in range(count))


def pairs_of(pairs, answers: str, place: str) -> list[Question]:
    """Two questions a pair, which differ in nothing but its two texts."""
    rng = random.Random(7)
    found = []
    for at, pair in enumerate(pairs):
        stem, options = letters(rng, 14), [letters(rng, 4) for _ in range(4)]
        for side, (said, answer) in enumerate(zip(pair, answers, strict=True)):
            told = f"{stem}{said}{stem[::-1]}" if place == "stem" else stem
            texts = [said if place == "option" else options[0], *options[1:]]
            found.append(make_question(told, texts, answer, question_id=f"q{at:03}{side}", document=f"d{at}{side}"))
    return found


def test_there_are_more_than_a_hundred_pairs_of_symbols() -> None:
    assert len(SYMBOLS) >= 130
    assert len({frozenset(pair) for pair in SYMBOLS}) == len(SYMBOLS)


@pytest.mark.parametrize("place", ["stem", "option"])
@pytest.mark.parametrize("answers", ["AA", "AB"])
def test_questions_that_differ_in_a_symbol_are_neither_merged_nor_a_conflict(
    dedup, crowd, place: str, answers: str
) -> None:
    questions = pairs_of(SYMBOLS, answers, place)
    result = dedup(questions + crowd)
    assert result.tables["merges"].rows() == []
    assert result.review == []


@pytest.mark.parametrize("place", ["stem", "option"])
def test_questions_that_differ_in_typography_alone_are_one(dedup, place: str) -> None:
    result = dedup(pairs_of(TYPED, "AA", place))
    assert [name[:-1] for name in result.tables["questions"]["question_id"]] == [
        f"q{at:03}" for at in range(len(TYPED))
    ]


def test_the_reason_of_a_conflict_or_twin_says_what_was_compared(make, dedup) -> None:
    one, other = make("q1", "基因型为AaBb×aabb的亲本"), make("q2", "基因型为AaBb×AaBb的亲本")
    assert dedup([one, other]).tables["clusters"]["kind"].to_list() == ["term", "term"]


def key(text: str) -> str:
    return pl.select(comparison_key(pl.lit(text))).item()


GENES = st.lists(st.sampled_from(["AA", "Aa", "aa", "BB", "Bb", "bb", "RR", "Rr", "rr"]), min_size=1, max_size=4)
OPERATORS = st.sampled_from("+-×÷/*=≠<>≤≥∪∩∈→↔∧∨≈^:")


@pytest.mark.slow
@given(first=GENES, second=GENES)
def test_genotypes_are_the_same_only_letter_by_letter(first: list[str], second: list[str]) -> None:
    assert (key("".join(first)) == key("".join(second))) is (first == second)


@pytest.mark.slow
@given(
    letters=st.lists(st.sampled_from("abxyABXY"), min_size=2, max_size=2),
    others=st.lists(st.sampled_from("abxyABXY"), min_size=2, max_size=2),
    signs=st.tuples(OPERATORS, OPERATORS),
)
def test_expressions_are_the_same_only_sign_by_sign(letters: list[str], others: list[str], signs) -> None:
    first, second = signs[0].join(letters), signs[1].join(others)
    assert (key(f"值为 {first}。") == key(f"值为{second}")) is (first == second)


@given(text=st.text(alphabet="abCDeFαΩ 5/°胃,", max_size=12))
def test_folding_case_keeps_the_length_and_all_but_case(text: str) -> None:
    assert symbols_kept(text).lower() == text.lower()
    assert symbols_kept(symbols_kept(text)) == symbols_kept(text)
