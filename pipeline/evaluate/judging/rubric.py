"""What a judge is told, and the forms of its replies."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict

from annotation.llm.messages import BadAnswerError, Reason
from annotation.rubric.aspects import LEAST, MOST, Aspect, aspects
from pipeline.evaluate.prompting import Message
from schemas.evaluation import Winner


class Rubric(BaseModel):
    """Everything a judge is told."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int
    system: str
    pair_system: str
    question: str
    pair_question: str

    @property
    def aspects(self) -> tuple[Aspect, ...]:
        """What is scored, by experts too."""
        return aspects()


@cache
def rubric() -> Rubric:
    """The shipped rubric."""
    text = (files("pipeline.evaluate.judging") / "rubric.toml").read_text(encoding="utf-8")
    return Rubric.model_validate(tomllib.loads(text))


def score_messages(conversation: Sequence[Message], reference: str, answer: str) -> tuple[Message, ...]:
    """Ask for the four scores of one answer."""
    scales = "\n".join(
        f"{aspect.zh}（{aspect.name}）："
        + "；".join(f"{score} {meaning}" for score, meaning in enumerate(aspect.scale, start=LEAST))
        for aspect in aspects()
    )
    asked = (
        rubric()
        .question.strip("\n")
        .format(conversation=_spoken(conversation), reference=reference, answer=answer)
    )
    return (
        {"role": "system", "content": f"{rubric().system.strip()}\n{scales}"},
        {"role": "user", "content": asked},
    )


def pair_messages(
    conversation: Sequence[Message], reference: str, first: str, second: str
) -> tuple[Message, ...]:
    """Ask which of two answers is better."""
    asked = (
        rubric()
        .pair_question.strip("\n")
        .format(conversation=_spoken(conversation), reference=reference, first=first, second=second)
    )
    return (
        {"role": "system", "content": rubric().pair_system.strip()},
        {"role": "user", "content": asked},
    )


def score_format() -> dict[str, Any]:
    """The strict JSON schema of four scores."""
    score = {"type": "integer", "enum": list(range(LEAST, MOST + 1))}
    return _strict("scores", {aspect.name: score for aspect in aspects()})


def pair_format() -> dict[str, Any]:
    """The strict JSON schema of a preference."""
    return _strict("preference", {"better": {"type": "string", "enum": list(Winner)}})


def read_scores(text: str) -> dict[str, int]:
    """The scores of a reply, by aspect.

    Raises:
        BadAnswerError: it is no JSON, or a score is missing or off the scale.
    """
    said = _object(text)
    found = {}
    for aspect in aspects():
        score = said.get(aspect.name)
        if not isinstance(score, int) or isinstance(score, bool) or not LEAST <= score <= MOST:
            raise BadAnswerError(
                Reason.INVALID_LABEL,
                f"{aspect.name} is no whole number from {LEAST} to {MOST}",
                f"{aspect.name}必须是{LEAST}到{MOST}的整数。",
            )
        found[aspect.name] = score
    return found


def read_preference(text: str) -> Winner:
    """The preference of a reply.

    Raises:
        BadAnswerError: it is no JSON, or prefers something else.
    """
    better = _object(text).get("better")
    if better not in list(Winner):
        raise BadAnswerError(Reason.INVALID_LABEL, "better is none of first, second, tie", None)
    return Winner(better)


def _object(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text[text.find("{") : text.rfind("}") + 1])
    except ValueError:
        raise BadAnswerError(
            Reason.MALFORMED_JSON, "the reply is no JSON", "请只输出一个JSON对象。"
        ) from None
    if not isinstance(said, dict):
        raise BadAnswerError(Reason.MALFORMED_JSON, "the reply is no JSON object", "请只输出一个JSON对象。")
    return said


def _strict(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


_SPEAKERS = {"user": "问", "assistant": "答"}


def _spoken(conversation: Sequence[Message]) -> str:
    return "\n".join(
        f"{_SPEAKERS[turn['role']]}：{turn['content']}" for turn in conversation if turn["role"] in _SPEAKERS
    )
