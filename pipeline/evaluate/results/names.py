"""What metrics, runs and slices are called where a person sees them, Chinese beside English."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.evaluate.scoring import HUMAN
from pipeline.evaluate.slices import dimension_names

METRICS: Mapping[str, tuple[str, str]] = {
    "accuracy": ("准确率", "Accuracy"),
    "expected_accuracy": ("期望准确率", "Expected"),
    "mean_accuracy": ("逐题平均", "Mean over questions"),
    "accuracy_when_answered": ("作答题准确率", "Accuracy when answered"),
    "partial_credit": ("部分得分", "Partial credit"),
    "weighted_f1": ("加权F1", "Weighted F1"),
    "macro_f1": ("宏平均F1", "Macro F1"),
    "no_answer_rate": ("未作答", "No answer"),
    "refused_rate": ("拒答", "Refused"),
    "truncated_rate": ("截断", "Truncated"),
    "shuffle_consistency": ("选项换序一致率", "Same in other orders"),
    "bleu_1": ("", "BLEU-1"),
    "bleu_4": ("", "BLEU-4"),
    "rouge_1": ("", "ROUGE-1"),
    "rouge_2": ("", "ROUGE-2"),
    "rouge_l": ("", "ROUGE-L"),
}
"""Chinese and English name of every metric, in the order of columns."""
REFERENCES = (HUMAN, "random", "majority")
"""Runs to compare models with; they are never the best."""
_PROMPTS = {
    "answer_only": "answer-only 直接作答",
    "chain_of_thought": "chain of thought 思维链",
    "clinical": "clinical 病例问答",
    "explanation": "explanation 解析",
}
_RUNS = {HUMAN: "考生 human", "random": "随机 random", "majority": "多数 majority"}


def metric_name(metric: str) -> str:
    """``准确率 Accuracy``."""
    return " ".join(part for part in METRICS[metric] if part)


def run_name(run: str) -> str:
    """A run as tables call it."""
    return _RUNS.get(run, run)


def prompt_name(prompt: str) -> str:
    """A template as tables call it; one of the user's own by its file."""
    return _PROMPTS.get(prompt, prompt.rpartition("/")[2])


def plain(text: str) -> str:
    """A name in a plot, where it must begin no formula."""
    return text.replace("$", r"\$")


def title(dimension: str) -> str:
    """``疾病类别 Disease group``."""
    return " ".join(dimension_names()[dimension])


def label_name(label: str, english: str | None) -> str:
    """A label in both languages."""
    return label if english is None or english == label else f"{label} {english}"
