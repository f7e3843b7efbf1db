"""Each metric by itself, on items that are counted by hand; BLEU and ROUGE equal the reference libraries."""

from math import sqrt

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.evaluate import metrics as module
from build_dataset.pipeline.evaluate.metrics import METRICS, Mean, metric, score_items, share
from build_dataset.pipeline.evaluate.scoring import Graded, GradedText, Slice, count_overlap, tokens
from build_dataset.schemas.evaluation import Outcome, Task
from tests.pipeline.evaluate.conftest import make_question

ALL = Slice("overall", "全部", "all")


def graded(number: int, key: str, said: str | None, repeat: int = 0, **changes) -> Graded:
    outcome = Outcome.NO_ANSWER if said is None else Outcome.ANSWERED
    letters = None if said is None else tuple(said)
    return Graded(make_question(number, key, **changes), outcome, letters, repeat=repeat)


def text(said: str, wanted: str, number: int = 0) -> GradedText:
    return GradedText(f"q{number}", f"q{number}", Outcome.ANSWERED, count_overlap(said, wanted))


def test_a_mean_is_over_the_items_that_count():
    values = Mean(lambda item: {"A": 0.5, "B": 0.2}.get("".join(item.letters or ())))
    items = [graded(number, "A", letter) for number, letter in enumerate(("A", None, "B"))]
    assert values.value(items) == pytest.approx(0.35)
    assert values.value(items[1:2]) is None
    assert Mean(lambda item: 1.0, lambda units: None).interval(items) is None


def test_the_interval_of_a_share_is_that_of_the_items_that_count():
    items = [graded(number, "A", said) for number, said in enumerate(["A", "A", "A", "B", None])]
    found = share(lambda item: None if item.letters is None else item.correct).interval(items)
    z, n, p = 1.959963984540054, 4, 3 / 4
    middle, half = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert (found.low, found.high) == pytest.approx(
        ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n))
    )
    assert found.method == "wilson"


def test_asking_again_with_the_same_answers_leaves_the_interval_of_f1_as_it_is():
    said = ["A", "B", "A", "C", "B", "A", "C", "C"]
    once = [graded(number, "ABCABCAB"[number], letter) for number, letter in enumerate(said)]
    twice = once + [graded(number, "ABCABCAB"[number], letter, 3) for number, letter in enumerate(said)]
    measure = module.metric("weighted_f1").measure
    assert measure.interval(twice) == measure.interval(once)


def test_scores_are_means_over_the_repetitions_with_their_deviation():
    items = [
        *(graded(number, "A", said) for number, said in enumerate(["A", "A", "B", None])),
        *(graded(number, "A", said, 1) for number, said in enumerate(["A", "B", "B", "B"])),
        *(graded(number, "A", None, 2) for number in range(4)),
    ]
    found = {score.metric: score for score in score_items("m", ALL, items)}
    accuracy = found["accuracy"]
    assert (accuracy.value, accuracy.repeats, accuracy.questions) == (0.25, 3, 4)
    assert accuracy.sd == pytest.approx(0.25)
    assert {score.run for score in found.values()} == {"m"}
    assert {score.task for score in found.values()} == {Task.ANSWER}
    assert "bleu_1" not in found


def test_texts_have_metrics_of_their_own():
    scores = score_items("m", ALL, [text("甲乙", "甲乙"), text("甲", "乙", 1)], "texts", Task.CLINICAL)
    rates = dict.fromkeys(("no_answer_rate", "refused_rate", "truncated_rate"), 0.0)
    found = {score.metric: score.value for score in scores}
    assert list(found) == [*rates, "bleu_1", "bleu_4", "rouge_1", "rouge_2", "rouge_l"]
    assert {name: found[name] for name in rates} == rates
    assert (found["rouge_1"], found["rouge_2"], found["rouge_l"]) == (0.5, 0.5, 0.5)
    assert {score.task for score in scores} == {Task.CLINICAL}


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
    items = graded_pairs(pairs)
    rows = [row for row in METRICS if row.name.startswith(("bleu", "rouge"))]
    return {row.name: row.measure.value(items) for row in rows}


def graded_pairs(pairs: list[tuple[str, str]]) -> list[GradedText]:
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
        few, many = (measure.interval(graded_pairs(pairs[:count])) for count in (20, 160))
        assert few.low < measure.value(graded_pairs(pairs)) < few.high
        assert many.high - many.low < few.high - few.low
