"""The prompt: instructions and label definitions first, the question last, so that the prefix is the same for all."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from annotation.llm.messages import strict_form
from annotation.reviewed import Reviewed
from schemas.identity import sha256
from schemas.questions import Question
from schemas.taxonomy import Dimension, dimensions, label_set
from schemas.wording import SPECIAL_TOKENS

ALL_AT_ONCE = "label.v3.zh.md"
ONE_AT_A_TIME = "dimension.v2.zh.md"
"""Unchanged, since token counts were measured with it; short, since it is sent once for each dimension."""
GENERAL = "label.general.v1.zh.md"
"""For label sets of other subjects than CMExam's."""
MOST_EXPLANATION = 400
"""Characters of an explanation that are shown: three quarters of CMExam's are shorter than 250."""
_NUMERALS = "零一二三四五六七八九"
_TOKEN = re.compile(SPECIAL_TOKENS)
_WIDE = str.maketrans("<>[]|", "＜＞［］｜")
_QUESTION = "<题目>\n{question}\n</题目>"


@dataclass(frozen=True)
class LabelPrompt:
    """The prompt that asks for labels in some dimensions."""

    dimensions: tuple[Dimension, ...]
    response_format: str
    """``json_schema``, ``json_object`` or ``none``."""
    shots: tuple[Reviewed, ...] = ()
    """Examples, labelled in all these dimensions; the last one is in reserve, for a question that is one itself."""

    @cached_property
    def system(self) -> str:
        """Instructions, definitions and labels; the same for every question."""
        medical = ALL_AT_ONCE if len(self.dimensions) > 1 else ONE_AT_A_TIME
        text = _read(medical if label_set().has_cmexam else GENERAL)
        filled = {
            "subject": label_set().subject,
            "count": _NUMERALS[len(self.dimensions)],
            "labels": "\n\n".join(_describe(dimension) for dimension in self.dimensions),
            "example": example(self.dimensions, "编号"),
        }
        for name, value in filled.items():
            text = text.replace("{{" + name + "}}", value)
        return text

    @cached_property
    def hash(self) -> str:
        """16 hex digits over all that is sent beside the question."""
        form = json.dumps(self.form, ensure_ascii=False, sort_keys=True)
        shown = [message["content"] for shot in self.shots for message in self._example(shot)]
        return sha256(self.system, _QUESTION, form, str(MOST_EXPLANATION), *shown)[:16]

    @cached_property
    def form(self) -> Mapping[str, Any] | None:
        """The ``response_format`` to send: a closed set of codes for each dimension."""
        if self.response_format == "none":
            return None
        if self.response_format == "json_object":
            return {"type": "json_object"}
        offered = {item.zh: {"type": "string", "enum": [*item.codes]} for item in self.dimensions}
        return strict_form("labels", offered)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The messages for one question; no question is shown its own labels."""
        others = [shot for shot in self.shots if shot.question.content_hash != question.content_hash]
        shown = others[: max(len(self.shots) - 1, 0)]
        return [
            {"role": "system", "content": self.system},
            *(message for shot in shown for message in self._example(shot)),
            {"role": "user", "content": _QUESTION.format(question=render(question))},
        ]

    def _example(self, shot: Reviewed) -> list[dict[str, str]]:
        said = {item.zh: str(item.labels.index(shot.labels[item.name]) + 1) for item in self.dimensions}
        return [
            {"role": "user", "content": _QUESTION.format(question=render(shot.question))},
            {"role": "assistant", "content": _json(said)},
        ]


def prompts(
    response_format: str, *, one_dimension_a_call: bool, shots: Sequence[Reviewed] = ()
) -> list[LabelPrompt]:
    """One prompt for all dimensions, or one for each."""
    everything = tuple(dimensions().values())
    groups = [(each,) for each in everything] if one_dimension_a_call else [everything]
    return [LabelPrompt(group, response_format, tuple(shots)) for group in groups]


def example(asked: Sequence[Dimension], value: str) -> str:
    """An answer's form, with the same value everywhere."""
    return _json({item.zh: value for item in asked})


def render(question: Question) -> str:
    """A question as data for the prompt: it cannot close the tag that it stands in, nor begin another turn."""
    exam = " ".join(part for part in (question.exam_type, question.exam_class, question.exam_subject) if part)
    lines = [
        f"来源考试：{exam}" if exam else None,
        question.shared_stem,
        question.stem,
        *(f"{option.label}. {option.text}" for option in question.options),
        f"答案：{''.join(question.answer)}" if question.answer else None,
        f"解析：{question.explanation[:MOST_EXPLANATION]}" if question.explanation else None,
    ]
    text = "\n".join(line for line in lines if line).replace("题目>", "题目＞")
    return _TOKEN.sub(lambda found: found[0].translate(_WIDE), text)


def _describe(dimension: Dimension) -> str:
    labels = "；".join(f"{number}{label.zh}" for number, label in dimension.codes.items())
    return "\n".join(line for line in (f"## {dimension.zh}", dimension.definition, labels) if line)


def _json(said: Mapping[str, str]) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def _read(name: str) -> str:
    return (files("annotation.prompts") / name).read_text(encoding="utf-8")


_LONGEST = 400
"""Characters of an example; a long one costs tokens with every question."""


def choose_shots(reviewed: Sequence[Reviewed], count: int) -> list[Reviewed]:
    """``count`` examples and one in reserve, for questions that are examples themselves.

    Each next one shows the most labels that no earlier one shows; of equals, the first by content hash. Fewer when
    fewer questions are labelled in every dimension. The same for the same reviewed questions in any order.
    """
    complete = [item for item in reviewed if set(item.labels) == set(dimensions())]
    short = [item for item in complete if len(render(item.question)) <= _LONGEST]
    waiting = sorted(short, key=lambda item: item.question.content_hash)
    shown: set[tuple[str, str]] = set()
    chosen: list[Reviewed] = []
    while waiting and len(chosen) < count + (count > 0):
        best = max(waiting, key=lambda item: len(_labels(item) - shown))
        waiting.remove(best)
        shown |= _labels(best)
        chosen.append(best)
    return chosen


def _labels(item: Reviewed) -> set[tuple[str, str]]:
    return {(name, label.zh) for name, label in item.labels.items()}
