"""Questions written by nobody, for measurements that need many: medical terms of the lexicon, put together."""

from __future__ import annotations

from build_dataset.annotation.lexicon_annotator import lexicon
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question, QuestionType


def questions(count: int) -> list[Question]:
    """``count`` different questions, the same on every run."""
    terms = [term for label in lexicon("disease_group").labels for term in (*label.strong, *label.weak)]
    return [_question(number, terms) for number in range(count)]


def _question(number: int, terms: list[str]) -> Question:
    pick = [terms[(number * 7 + place * 131) % len(terms)] for place in range(7)]
    stem = f"（{number}）患者，男，{number % 80 + 10}岁，因{pick[0]}就诊，最可能与下列哪项有关"
    texts = pick[1:6]
    return Question(
        question_id=f"b{number}",
        document="benchmark",
        section=1,
        number=number,
        question_type=QuestionType.A1,
        stem=stem,
        options=[Option(label=letter, text=text) for letter, text in zip("ABCDE", texts, strict=True)],
        answer=["A"],
        explanation=f"{pick[0]}常见于{texts[0]}，与{'、'.join(texts[1:])}关系较小。" * 3,
        content_hash=content_hash(stem, texts),
    )
