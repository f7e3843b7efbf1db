"""Labels questions by asking a language model, one request a question."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from annotation.annotator import Identity, Labelled, Unlabelled, Verdict
from annotation.llm.client import AnswerStore, LlmClient
from annotation.llm.messages import Answer, BadAnswerError, ChatRequest, Failed, Outcome, Reason
from annotation.params import AnnotateLlmOptions
from annotation.prompt import Prompt, prompts
from schemas.annotations import AnnotationRequest
from schemas.identity import sha256
from schemas.questions import Question
from schemas.taxonomy import Dimension, LabelName

_THOUGHTS = re.compile(r"<think>.*?</think>", re.DOTALL)
_ESTIMATED = {"difficulty"}
"""Dimensions that a model can only guess from the text."""


class LlmAnnotator:
    """Asks a model for all labels of a question at once, or for one dimension at a time.

    Args:
        options: of the model.
        store: keeps answers.

    Raises:
        UserError: no model is named, or its key is missing.
    """

    def __init__(self, options: AnnotateLlmOptions, store: AnswerStore) -> None:
        self._client = LlmClient(options)
        self._options = options
        self._store = store
        self._prompts = _prompts(options)

    @property
    def identity(self) -> Identity:
        """``llm:MODEL``, with the hash of its prompt."""
        hashes = [prompt.hash for prompt in self._prompts]
        combined = hashes[0] if len(hashes) == 1 else sha256(*hashes)[:16]
        return Identity(f"llm:{self._options.model}", self._options.model, combined)

    def units(self, questions: Sequence[Question]) -> int:
        """Requests."""
        return len(questions) * len(self._prompts)

    def annotate(
        self, questions: Sequence[Question], progress: Callable[[int], None]
    ) -> Iterator[Labelled | Unlabelled]:
        """One result a question, as its last answer arrives."""
        arrived: dict[str, list[Outcome]] = defaultdict(list)
        requests = requests_for(questions, self._options)
        for outcome in self._client.complete_many(requests, self._store, progress):
            found = arrived[outcome.request.id]
            found.append(outcome)
            if len(found) == len(self._prompts):
                yield self._settle(outcome.request.id, arrived.pop(outcome.request.id))

    def _settle(self, question_id: str, outcomes: Sequence[Outcome]) -> Labelled | Unlabelled:
        outcomes = sorted(outcomes, key=lambda outcome: outcome.request.part)
        failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
        if failed:
            costs = [
                self._options.cost(item.usage.prompt_tokens, item.usage.completion_tokens) for item in failed
            ]
            return Unlabelled(
                question_id, failed[0].reason, failed[0].detail, sum(cost or 0.0 for cost in costs)
            )
        verdicts: dict[str, Verdict] = {}
        requests = []
        answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
        for prompt, answer in zip(self._prompts, answers, strict=True):
            requests.append(self._bill(question_id, prompt, answer))
            for name, label in read_labels(answer.text, prompt.dimensions).items():
                verdicts[name] = Verdict(label, confidence=None, estimate=name in _ESTIMATED)
        return Labelled(question_id, verdicts, requests)

    def _bill(self, question_id: str, prompt: Prompt, answer: Answer) -> AnnotationRequest:
        return AnnotationRequest(
            question_id=question_id,
            annotator=self.identity.name,
            prompt_hash=prompt.hash,
            model=self._options.model or "",
            prompt_tokens=answer.usage.prompt_tokens,
            completion_tokens=answer.usage.completion_tokens,
            cost=answer.cost,
        )


def requests_for(questions: Sequence[Question], options: AnnotateLlmOptions) -> list[ChatRequest]:
    """All requests for those questions, question by question."""
    asks = [
        (part, prompt, partial(read_labels, dimensions=prompt.dimensions))
        for part, prompt in enumerate(_prompts(options))
    ]
    return [
        ChatRequest(question.question_id, prompt.messages(question), prompt.form, check, part=part)
        for question in questions
        for part, prompt, check in asks
    ]


def _prompts(options: AnnotateLlmOptions) -> list[Prompt]:
    return prompts(options.response_format, one_dimension_a_call=options.one_dimension_a_call)


def read_labels(text: str, dimensions: Sequence[Dimension]) -> dict[str, LabelName]:
    """The labels in a model's answer, by name of the dimension.

    Raises:
        BadAnswerError: it is not a JSON object, lacks a dimension, or has a label outside the set.
    """
    said = _read_object(text)
    return {dimension.name: _read_label(said, dimension) for dimension in dimensions}


def _read_object(text: str) -> Mapping[str, object]:
    bare = _THOUGHTS.sub("", text)
    try:
        said = json.loads(bare[bare.index("{") : bare.rindex("}") + 1])
    except ValueError:
        raise BadAnswerError(
            Reason.MALFORMED_JSON,
            "the answer is not a JSON object",
            "请重新回答：只输出一个完整的 JSON 对象。",
        ) from None
    return {str(name).strip().casefold(): value for name, value in said.items()}


def _read_label(said: Mapping[str, object], dimension: Dimension) -> LabelName:
    names = (dimension.zh, dimension.name, dimension.en)
    value = next((said[name.casefold()] for name in names if name.casefold() in said), None)
    if value is None:
        raise BadAnswerError(
            Reason.MALFORMED_JSON,
            f"the answer lacks {dimension.name}",
            f"请重新回答：JSON 缺少“{dimension.zh}”。请输出包含全部维度的 JSON 对象。",
        )
    label = dimension.find(str(value))
    if label is None:
        raise BadAnswerError(
            Reason.INVALID_LABEL,
            f"the label for {dimension.name} is not in the set",
            f"请重新回答：“{dimension.zh}”的值不在所列类别之中，请只使用所列的类别名称，输出完整的 JSON 对象。",
        )
    return label
