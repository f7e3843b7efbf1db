"""BLEU and ROUGE equal the reference libraries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from build_dataset.pipeline.evaluate.metrics import METRICS, metric
from build_dataset.pipeline.evaluate.scoring import GradedText, count_overlap, tokens
from build_dataset.schemas.evaluation import Outcome

TEXTS = st.text(alphabet="心肌梗死患者的首选药物是阿司匹林，。 abmg12.5", min_size=1, max_size=40)


class _Tokenizer:
    def tokenize(self, text: str) -> list[str]:
        return tokens(text)


def reference(pairs: list[tuple[str, str]]) -> dict[str, float]:
    sacrebleu = pytest.importorskip("sacrebleu")
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    split = [[" ".join(tokens(text)) for text in side] for side in zip(*pairs, strict=True)]
    found = {}
    for order in (1, 4):
        metric = sacrebleu.BLEU(max_ngram_order=order, tokenize="none")
        found[f"bleu_{order}"] = metric.corpus_score(split[0], [split[1]]).score / 100
    names = {"rouge1": "rouge_1", "rouge2": "rouge_2", "rougeL": "rouge_l"}
    scorer = rouge_scorer.RougeScorer(list(names), tokenizer=_Tokenizer())
    for theirs, ours in names.items():
        values = [scorer.score(wanted, said)[theirs].fmeasure for said, wanted in pairs]
        found[ours] = sum(values) / len(values)
    return found


def ours(pairs: list[tuple[str, str]]) -> dict[str, float]:
    items = graded(pairs)
    rows = [row for row in METRICS if row.name.startswith(("bleu", "rouge"))]
    return {row.name: row.measure.value(items) for row in rows}


def graded(pairs: list[tuple[str, str]]) -> list[GradedText]:
    return [
        GradedText(str(number), str(number), Outcome.ANSWERED, count_overlap(said, wanted))
        for number, (said, wanted) in enumerate(pairs)
    ]


def test_chinese_is_read_by_character_and_latin_by_word():
    assert tokens("阿司匹林 Aspirin 12.5mg，口服。") == [*"阿司匹林", "aspirin", "12.5", "mg", "，", *"口服", "。"]


@settings(deadline=None)  # the first example imports the reference libraries
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5))
def test_values_equal_sacrebleu_and_rouge_score(pairs):
    assert ours(pairs) == pytest.approx(reference(pairs), abs=1e-9)


def test_a_text_that_equals_its_reference_has_full_marks():
    text = "首选阿司匹林，每日一次。"
    assert ours([(text, text)]) == pytest.approx(dict.fromkeys(ours([(text, text)]), 1.0))


def test_an_empty_text_scores_nothing():
    assert set(ours([("", "首选阿司匹林")]).values()) == {0.0}


def test_bleu_and_rouge_have_intervals_that_more_texts_make_narrower():
    pairs = [("首选阿司匹林口服" + "心肌梗死"[: index % 5], "首选阿司匹林，每日一次") for index in range(160)]
    for name in ("bleu_1", "bleu_4", "rouge_1", "rouge_2", "rouge_l"):
        measure = metric(name).measure
        few, many = (measure.interval(graded(pairs[:count])) for count in (20, 160))
        assert few.low < measure.value(graded(pairs)) < few.high
        assert many.high - many.low < few.high - few.low
