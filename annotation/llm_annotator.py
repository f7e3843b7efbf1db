"""Labels questions by asking a language model, one request a question."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from annotation.annotator import Annotator, Identity, Labelled, Unlabelled, Verdict
from annotation.llm import messages as wire
from annotation.llm.budget import waste_cost
from annotation.llm.client import LlmClient
from annotation.params import AnnotateLlmOptions
from annotation.prompt import LabelPrompt, prompts
from annotation.reviewed import Reviewed
from schemas.annotations import AnnotationRequest
from schemas.identity import sha256
from schemas.questions import Question
from schemas.taxonomy import Dimension, LabelName

_ESTIMATED = {"difficulty"}
"""Dimensions that a model can only guess from the text."""


class LlmAnnotator(Annotator):
    """Asks a model for all labels of a question at once, or for one dimension at a time.

    Raises:
        UserError: no model is named, or its key is missing.
    """

    def __init__(
        self,
        options: AnnotateLlmOptions,
        store: wire.AnswerStore,
        shots: Sequence[Reviewed] = (),
        *,
        batch: bool = False,
    ) -> None:
        self._client = LlmClient(options, batch=batch)
        self._options = options
        self._store = store
        self._prompts = prompts_for(options, shots)
        self._shots = len(shots)
        self._parts = len(self._prompts) * options.samples

    @property
    def identity(self) -> Identity:
        """``llm:MODEL``, with the hash of its prompt."""
        hashes = [prompt.hash for prompt in self._prompts]
        combined = hashes[0] if len(hashes) == 1 else sha256(*hashes)[:16]
        facts = {"samples": self._options.samples, "shots": max(self._shots - 1, 0)}
        return Identity(f"llm:{self._options.model}", self._options.model, combined, facts=facts)

    def units(self, questions: Sequence[Question]) -> int:
        """Requests."""
        return len(questions) * self._parts

    def annotate(
        self, questions: Sequence[Question], progress: Callable[[int], None]
    ) -> Iterator[Labelled | Unlabelled]:
        """One result a question, as its last answer arrives."""
        arrived: dict[str, list[wire.Outcome]] = defaultdict(list)
        requests = requests_for(questions, self._options, self._prompts)
        for outcome in self._client.complete_many(requests, self._store, progress):
            found = arrived[outcome.request.id]
            found.append(outcome)
            if len(found) == self._parts:
                yield self._settle(outcome.request.id, arrived.pop(outcome.request.id))

    def _settle(self, question_id: str, outcomes: Sequence[wire.Outcome]) -> Labelled | Unlabelled:
        outcomes = sorted(outcomes, key=lambda outcome: (outcome.request.part, outcome.request.sample))
        failed = [outcome for outcome in outcomes if isinstance(outcome, wire.Failed)]
        paid = [item for item in outcomes if isinstance(item, wire.Answer) or item.waste != wire.Waste()]
        bills = [self._bill(question_id, item) for item in paid]
        if failed:
            return Unlabelled(question_id, failed[0].reason, failed[0].detail, bills)
        verdicts: dict[str, Verdict] = {}
        answers = [outcome for outcome in outcomes if isinstance(outcome, wire.Answer)]
        for part, prompt in enumerate(self._prompts):
            own = [answer for answer in answers if answer.request.part == part]
            verdicts |= _verdicts(own, prompt.dimensions)
        return Labelled(question_id, verdicts, bills)

    def _bill(self, question_id: str, outcome: wire.Outcome) -> AnnotationRequest:
        answer = outcome if isinstance(outcome, wire.Answer) else None
        usage = wire.Usage() if answer is None else answer.usage
        unusable_cost, unseen_cost = waste_cost(outcome.waste, self._options)
        return AnnotationRequest(
            question_id=question_id,
            annotator=self.identity.name,
            prompt_hash=self._prompts[outcome.request.part].hash,
            model=self._options.model or "",
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost=0.0 if answer is None else answer.cost,
            unusable=outcome.waste.calls,
            unusable_cost=unusable_cost,
            unseen=outcome.waste.unseen,
            unseen_cost=unseen_cost,
        )


def requests_for(
    questions: Sequence[Question], options: AnnotateLlmOptions, asked: Sequence[LabelPrompt]
) -> list[wire.ChatRequest]:
    """All requests for those questions, question by question."""
    checks = [partial(read_labels, dimensions=prompt.dimensions) for prompt in asked]
    return [
        wire.ChatRequest(
            question.question_id,
            messages,
            prompt.form,
            check,
            part=part,
            sample=sample,
            logprobs=options.logprobs and options.samples == 1,
        )
        for question in questions
        for part, (prompt, check) in enumerate(zip(asked, checks, strict=True))
        for messages in [prompt.messages(question)]
        for sample in range(options.samples)
    ]


def prompts_for(options: AnnotateLlmOptions, shots: Sequence[Reviewed] = ()) -> list[LabelPrompt]:
    """The prompts that those options ask with."""
    return prompts(options.response_format, one_dimension_a_call=options.one_dimension_a_call, shots=shots)


def _verdicts(answers: Sequence[wire.Answer], dimensions: Sequence[Dimension]) -> dict[str, Verdict]:
    """Return the label that the answers to one prompt give most often; of several, the one given first.

    With several samples, confidence is the share that agrees (self-consistency: Wang et al. 2023); with one, the
    probability of its tokens, where the endpoint gave it.
    """
    said = [read_labels(answer.text, dimensions) for answer in answers]
    found = {}
    for dimension in dimensions:
        votes = Counter(labels[dimension.name] for labels in said)
        label, count = votes.most_common(1)[0]
        if len(answers) > 1:
            confidence: float | None = count / len(answers)
        else:
            confidence = value_probability(answers[0], _keys(dimension))
        rounded = None if confidence is None else round(confidence, 4)
        found[dimension.name] = Verdict(label, rounded, estimate=dimension.name in _ESTIMATED)
    return found


def read_labels(text: str, dimensions: Sequence[Dimension]) -> dict[str, LabelName]:
    """The labels in a model's answer, by name of the dimension.

    Raises:
        BadAnswerError: it is not a JSON object, lacks a dimension, or has a label outside the set.
    """
    values = wire.json_object(wire.final_part(text)).items()
    said = {str(name).strip().casefold(): value for name, value in values}
    return {dimension.name: _read_label(said, dimension) for dimension in dimensions}


def _read_label(said: Mapping[str, object], dimension: Dimension) -> LabelName:
    value = next((said[name.casefold()] for name in _keys(dimension) if name.casefold() in said), None)
    if value is None:
        hint = f"请重新回答：JSON 缺少“{dimension.zh}”。请输出包含全部维度的 JSON 对象。"
        raise wire.BadAnswerError(wire.Reason.MALFORMED_JSON, f"the answer lacks {dimension.name}", hint)
    spelling = str(value).strip()
    label = dimension.codes.get(spelling) or dimension.find(spelling)
    if label is None:
        hint = f"请重新回答：“{dimension.zh}”的值不在所列编号之中，请只使用所列的编号，输出完整的 JSON 对象。"
        detail = f"the label for {dimension.name} is not in the set"
        raise wire.BadAnswerError(wire.Reason.INVALID_LABEL, detail, hint)
    return label


def _keys(dimension: Dimension) -> tuple[str, ...]:
    """Names under which a model may put its label."""
    return (dimension.zh, dimension.name, dimension.en)


def value_probability(answer: wire.Answer, keys: Sequence[str]) -> float | None:
    """The probability that the model gave the value of a key in its JSON answer; None without logprobs or key.

    The product over the tokens that the value touches: with closed sets of short codes that is the one token
    that decides, so it can be read as the model's belief (Kadavath et al. 2022, section 2, find such
    probabilities of lettered choices well calibrated in large models). The value may stand under any of the keys; the
    last mention of the first that is there counts.
    """
    span = _span(answer.text, keys)
    if not answer.logprobs or span is None:
        return None
    total, at = 0.0, 0
    for length, logprob in answer.logprobs:
        if at < span[1] and at + length > span[0]:
            total += min(logprob, 0.0)
        at += length
    return math.exp(total)


def _span(text: str, keys: Sequence[str]) -> tuple[int, int] | None:
    """Return the place of the value, in bytes of UTF-8."""
    for key in keys:
        name = re.escape(json.dumps(key, ensure_ascii=False))
        found = [*re.finditer(name + r'\s*:\s*"?([^",}\s]+)', text)]
        if found:
            start, end = found[-1].span(1)
            return len(text[:start].encode()), len(text[:end].encode())
    return None
