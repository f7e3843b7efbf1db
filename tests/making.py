"""Things that many tests make: a question, and a context that prints nothing."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Any

from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Option, Question


def make_question(
    stem: str = "肺炎首选",
    options: str | Sequence[str] = "甲药 乙药",
    answer: Sequence[str] | None = "A",
    **fields: Any,
) -> Question:
    """A question that is whole.

    Args:
        stem: of it.
        options: texts, or one text with spaces between them.
        answer: its letters; None for no key.
        fields: others, and those that are not as here.
    """
    texts = options.split() if isinstance(options, str) else list(options)
    number = fields.get("number", 1)
    plain = {
        "question_id": f"d-1-{number:03}",
        "document": "d",
        "section": 1,
        "number": number,
        "question_type": "A1",
        "stem": stem,
        "options": [Option(label=chr(ord("A") + place), text=text) for place, text in enumerate(texts)],
        "answer": None if answer is None else list(answer),
        "content_hash": content_hash(stem, texts, fields.get("shared_stem")),
    }
    return Question.model_validate(plain | fields)


class Silent:
    """A context that shows no progress."""

    def progress(self, total: int | None, what: str) -> AbstractContextManager[Callable[[int], None]]:
        return nullcontext(lambda count=1: None)


def bank(count: int) -> Iterator[dict[str, Any]]:
    """Rows of a bank whose questions have little in common, so that little of it is compared."""
    draw, words = (
        Random(0),
        "心肝脾肺肾胃肠脑骨血管神经肌肉炎症肿瘤出血梗死水肿狭窄感染结核溃疡增生纤维坏死贫发热咳嗽疼痛黄疸",
    )
    for _ in range(count):
        options = {label: "".join(draw.choices(words, k=4)) for label in "ABCD"}
        yield {"question": "".join(draw.choices(words, k=20)) + "患者首选的治疗是", "options": options, "answer": "A"}
