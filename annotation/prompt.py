"""The prompt: instructions and label definitions first, the question last, so that the prefix is the same for all."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from schemas.identity import sha256
from schemas.questions import Question
from schemas.taxonomy import Dimension, dimensions

VERSION = "label.v1.zh"
_NUMERALS = "零一二三四五六七八九"


@dataclass(frozen=True)
class Prompt:
    """The prompt that asks for labels in some dimensions."""

    dimensions: tuple[Dimension, ...]
    response_format: str
    """``json_schema``, ``json_object`` or ``none``."""

    @cached_property
    def system(self) -> str:
        """Instructions, definitions and labels; the same for every question."""
        filled = {
            "dimensions": f"{_NUMERALS[len(self.dimensions)]}个维度"
            if len(self.dimensions) > 1
            else "以下维度",
            "labels": "\n\n".join(_describe(dimension) for dimension in self.dimensions),
            "example": json.dumps({item.zh: "类别名称" for item in self.dimensions}, ensure_ascii=False),
        }
        text = _read(f"{VERSION}.md")
        for name, value in filled.items():
            text = text.replace("{{" + name + "}}", value)
        return text

    @cached_property
    def hash(self) -> str:
        """Which prompt this is: 16 hex digits over all that is sent beside the question."""
        form = json.dumps(self.form, ensure_ascii=False, sort_keys=True)
        return sha256(self.system, _QUESTION, form)[:16]

    @cached_property
    def form(self) -> Mapping[str, Any] | None:
        """The ``response_format`` to send."""
        if self.response_format == "none":
            return None
        if self.response_format == "json_object":
            return {"type": "json_object"}
        schema = {
            "type": "object",
            "properties": {item.zh: {"type": "string", "enum": item.zh_names()} for item in self.dimensions},
            "required": [item.zh for item in self.dimensions],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "labels", "strict": True, "schema": schema}}

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The messages for one question."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": _QUESTION.format(question=render(question))},
        ]


_QUESTION = "<题目>\n{question}\n</题目>"


def prompts(response_format: str, *, one_dimension_a_call: bool) -> list[Prompt]:
    """One prompt for all dimensions, or one for each."""
    everything = tuple(dimensions().values())
    groups: Sequence[tuple[Dimension, ...]] = (
        [(dimension,) for dimension in everything] if one_dimension_a_call else [everything]
    )
    return [Prompt(group, response_format) for group in groups]


def render(question: Question) -> str:
    """A question as data for the prompt; it cannot close the tag that it stands in."""
    exam = " ".join(part for part in (question.exam_type, question.exam_class, question.exam_subject) if part)
    lines = [
        f"来源考试：{exam}" if exam else None,
        question.shared_stem,
        question.stem,
        *(f"{option.label}. {option.text}" for option in question.options),
    ]
    return "\n".join(line for line in lines if line).replace("题目>", "题目＞")


def _describe(dimension: Dimension) -> str:
    definition = tomllib.loads(_read("definitions.zh.toml"))[dimension.name]
    return f"## {dimension.zh}\n{definition}\n类别：{'；'.join(dimension.zh_names())}"


def _read(name: str) -> str:
    return (files("annotation.prompts") / name).read_text(encoding="utf-8")
