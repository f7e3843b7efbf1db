"""What runs and slices are called where a person sees them, Chinese beside English."""

from __future__ import annotations

from pipeline.evaluate.scoring import HUMAN
from pipeline.evaluate.slices import dimension_names

REFERENCES = (HUMAN, "random", "majority")
"""Runs to compare models with; they are never the best."""
_PROMPTS = {
    "answer_only": "answer-only 直接作答",
    "chain_of_thought": "chain of thought 思维链",
    "clinical": "clinical 病例问答",
    "explanation": "explanation 解析",
}
_RUNS = {HUMAN: "考生 human", "random": "随机 random", "majority": "多数 majority"}


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
