"""Labels questions by a language model, one request each; the question stands last, so that all share a prefix."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from typing import Any

from build_dataset.annotation.adjudication import Reviewed
from build_dataset.annotation.annotator import Annotator, Identity, Labelled, Labelling, Unlabelled, Verdict
from build_dataset.annotation.llm import limits, messages as wire
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.annotation.params import AnnotateLlmOptions, AnnotateParams
from build_dataset.schemas import annotations, wording
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import DIFFICULTY, Dimension, LabelName, dimensions, label_set

CMEXAM = "label.v3.zh.md"  # file of the prompt; a change of it asks every question anew
GENERAL = "label.general.v1.zh.md"  # for label sets of other subjects than CMExam's
MOST_EXPLANATION = 400  # characters of an explanation that are shown: three quarters of CMExam's are shorter
_NUMERALS = "零一二三四五六七八九"  # count of dimensions in the prompt: 五个维度
_TOKEN = re.compile(wording.SPECIAL_TOKENS)  # <|im_start|> in a question begins no turn
_WIDE = str.maketrans("<>[]|", "＜＞［］｜")  # reads the same and is no mark
_QUESTION = "<题目>\n{question}\n</题目>"  # what is inside is data; `render` sees to it


@dataclass(frozen=True)
class LabelPrompt:
    """The prompt that asks for the labels of a question in all dimensions."""

    response_format: str  # `json_schema`, `json_object` or `none`
    shots: tuple[Reviewed, ...] = ()
    """Examples, labelled in all dimensions; the last one is in reserve, for a question that is one itself."""

    @cached_property
    def system(self) -> str:
        """Instructions, definitions and labels; the same for every question."""
        name = CMEXAM if label_set().has_cmexam else GENERAL
        text = (files("build_dataset.annotation.prompts") / name).read_text(encoding="utf-8")
        labels = "\n\n".join(map(_describe, dimensions().values()))
        filled = {"subject": label_set().subject, "count": _NUMERALS[len(dimensions())], "labels": labels}
        for name, value in (filled | {"example": example("编号")}).items():
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
        offered = {item.zh: {"type": "string", "enum": [*item.codes]} for item in dimensions().values()}
        return wire.answer_form(self.response_format, "labels", offered)

    def messages(self, question: Question) -> list[dict[str, str]]:
        """The messages for one question; no question is shown its own labels."""
        others = [shot for shot in self.shots if shot.question.content_hash != question.content_hash]
        shown = others[: max(len(self.shots) - 1, 0)]
        examples = [message for shot in shown for message in self._example(shot)]
        asked = {"role": "user", "content": _QUESTION.format(question=render(question))}
        return [{"role": "system", "content": self.system}, *examples, asked]

    def _example(self, shot: Reviewed) -> list[dict[str, str]]:
        codes = {item.zh: str(item.labels.index(shot.labels[item.name]) + 1) for item in dimensions().values()}
        asked = _QUESTION.format(question=render(shot.question))
        return [{"role": "user", "content": asked}, {"role": "assistant", "content": _json(codes)}]


def label_prompt(options: AnnotateLlmOptions, shots: Sequence[Reviewed] = ()) -> LabelPrompt:
    """Return the prompt that those options ask with."""
    return LabelPrompt(options.response_format, tuple(shots))


def example(value: str) -> str:
    """An answer's form, with the same value everywhere."""
    return _json({item.zh: value for item in dimensions().values()})


def render(question: Question) -> str:
    """A question as data for the prompt."""
    lines = [
        f"来源考试：{question.exam}" if question.exam else None,
        question.shared_stem,
        question.stem,
        *(f"{option.label}. {option.text}" for option in question.options),
        f"答案：{''.join(question.answer)}" if question.answer else None,
        f"解析：{question.explanation[:MOST_EXPLANATION]}" if question.explanation else None,
    ]
    return as_data("\n".join(filter(None, lines)))


def as_data(text: str) -> str:
    """Return a text that neither closes the tag in which it stands nor begins another turn."""
    return _TOKEN.sub(lambda found: found[0].translate(_WIDE), text.replace("题目>", "题目＞"))


def _describe(dimension: Dimension) -> str:
    rules = {number: f"（{label.rule}）" for number, label in dimension.codes.items() if label.rule}
    labels = "；".join(f"{number}{label.zh}{rules.get(number, '')}" for number, label in dimension.codes.items())
    return "\n".join(filter(None, (f"## {dimension.zh}", dimension.definition, labels)))


def _json(said: Mapping[str, str]) -> str:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


_LONGEST = 400  # characters of an example; a long one costs tokens with every question


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


class LlmAnnotator(Annotator):
    """Asks a model for all labels of a question at once."""

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
        self._prompt = label_prompt(options, shots)

    @property
    def identity(self) -> Identity:
        """``llm:MODEL``, with the hash of its prompt."""
        facts = {"samples": self._options.samples, "shots": max(len(self._prompt.shots) - 1, 0)}
        return Identity(f"llm:{self._options.model}", self._options.model, self._prompt.hash, facts=facts)

    def units(self, questions: Sequence[Question]) -> int:
        """Requests."""
        return len(questions) * self._options.samples

    def annotate(self, questions: Sequence[Question], progress: Callable[[int], None]) -> Iterator[Labelling]:
        """One result a question, as its last answer arrives."""
        arrived: dict[str, list[wire.Outcome]] = defaultdict(list)
        requests = requests_for(questions, self._options, self._prompt)
        for outcome in self._client.complete_many(requests, self._store, progress):
            outcomes = arrived[outcome.request.id]
            outcomes.append(outcome)
            if len(outcomes) == self._options.samples:
                yield self._settle(outcome.request.id, arrived.pop(outcome.request.id))

    def _settle(self, question_id: str, outcomes: Sequence[wire.Outcome]) -> Labelling:
        outcomes = sorted(outcomes, key=lambda outcome: outcome.request.sample)
        failed = [outcome for outcome in outcomes if isinstance(outcome, wire.Failed)]
        paid = [item for item in outcomes if isinstance(item, wire.Answer) or item.waste != wire.Waste()]
        bills = []
        for outcome in paid:
            answer = outcome if isinstance(outcome, wire.Answer) else None
            unusable_cost, unseen_cost = limits.waste_cost(outcome.waste, self._options)
            bill = annotations.AnnotationRequest(
                question_id=question_id,
                annotator=self.identity.name,
                prompt_hash=self._prompt.hash,
                model=self._options.model or "",
                **(wire.Usage() if answer is None else answer.usage)._asdict(),
                cost=0.0 if answer is None else answer.cost,
                unusable=outcome.waste.calls,
                unusable_cost=unusable_cost,
                unseen=outcome.waste.unseen,
                unseen_cost=unseen_cost,
                answered_by=None if answer is None else answer.model,
            )
            bills.append(bill)
        if failed:
            return Unlabelled(question_id, failed[0].reason, failed[0].detail, bills)
        answers = [outcome for outcome in outcomes if isinstance(outcome, wire.Answer)]
        return Labelled(question_id, _verdicts(answers), bills)


def requests_for(
    questions: Sequence[Question], options: AnnotateLlmOptions, prompt: LabelPrompt
) -> list[wire.ChatRequest]:
    """All requests for those questions, question by question."""
    logprobs = options.logprobs and options.samples == 1
    requests = []
    for question in questions:
        messages = prompt.messages(question)
        first = wire.ChatRequest(question.question_id, messages, prompt.form, read_labels, logprobs=logprobs)
        requests += [replace(first, sample=sample) for sample in range(options.samples)]
    return requests


def _verdicts(answers: Sequence[wire.Answer]) -> dict[str, Verdict]:
    """Return the label that the answers to one prompt give most often; of several, the one given first.

    With several samples, confidence is the share that agrees (self-consistency: Wang et al. 2023); with one, the
    probability of its tokens, where the endpoint gave it.
    """
    answered = [read_labels(answer.text) for answer in answers]
    verdicts = {}
    for dimension in dimensions().values():
        label, count = Counter(labels[dimension.name] for labels in answered).most_common(1)[0]
        alone = value_probability(answers[0], _keys(dimension)) if len(answers) == 1 else count / len(answers)
        rounded = None if alone is None else round(alone, 4)
        guessed = dimension.name == DIFFICULTY  # the text does not tell it
        verdicts[dimension.name] = Verdict(label, rounded, estimate=guessed)
    return verdicts


def read_labels(text: str) -> dict[str, LabelName]:
    """Return the labels in a model's answer, by name of the dimension.

    Raises ``BadAnswerError`` where it is no JSON object, lacks a dimension, or has a label outside the set.
    """
    values = wire.json_object(wire.final_part(text)).items()
    answered = {str(name).strip().casefold(): value for name, value in values}
    labels = {}
    for dimension in dimensions().values():
        value = next((answered[key.casefold()] for key in _keys(dimension) if key.casefold() in answered), None)
        if value is None:
            raise wire.BadAnswerError(wire.Reason.MALFORMED_JSON, f"the answer lacks {dimension.name}")
        spelling = str(value).strip()
        label = dimension.codes.get(spelling) or dimension.find(spelling)
        if label is None:
            raise wire.BadAnswerError(wire.Reason.INVALID_LABEL, f"the label for {dimension.name} is not in the set")
        labels[dimension.name] = label
    return labels


def _keys(dimension: Dimension) -> tuple[str, ...]:
    return (dimension.zh, dimension.name, dimension.en)


def value_probability(answer: wire.Answer, keys: Sequence[str]) -> float | None:
    """The probability that the model gave the value of a key in its JSON answer; None without logprobs or key.

    The product over the tokens that the value touches: with closed sets of short codes that is the one token
    that decides, so it can be read as the model's belief (Kadavath et al. 2022, section 2, find such
    probabilities of lettered choices well calibrated in large models). The value may stand under any of the keys; the
    last mention of the first that is there counts.
    """
    names = (re.escape(json.dumps(key, ensure_ascii=False)) for key in keys)
    mentions = ([*re.finditer(name + r'\s*:\s*"?([^",}\s]+)', answer.text)] for name in names)
    found = next(filter(None, mentions), None)
    if not answer.logprobs or found is None:
        return None
    start, end = (len(answer.text[:place].encode()) for place in found[-1].span(1))  # in bytes of UTF-8
    total, at = 0.0, 0
    for length, logprob in answer.logprobs:
        if at < end and at + length > start:
            total += min(logprob, 0.0)
        at += length
    return math.exp(total)


_ABOUT_A_TOKEN = re.compile(r"[A-Za-z]{1,6}|\d{1,3}|[^\sA-Za-z0-9]")
"""About a token: an ideograph, a mark, up to six letters, three digits; ``penici|llin``."""
_MESSAGE_TOKENS = 4  # tokens that frame each message, as OpenAI counts them


def about_tokens(text: str) -> int:
    """Return about how many tokens a text has: within a fifth of ``o200k_base`` on exam questions."""
    return len(_ABOUT_A_TOKEN.findall(text))


def estimate_requests(
    options: LlmOptions,
    asked: Iterable[wire.ChatRequest],
    store: wire.AnswerStore,
    what: str,
    answer_tokens: int,
    *,
    batched: bool = False,
) -> str:
    """Return tokens and cost of the requests that are not stored, in one line; asks nobody and needs no key."""
    requests = {request.key(options): request for request in asked}
    stored = store.get_many(requests)
    missing = [request for key, request in requests.items() if key not in stored]
    forms = (json.dumps(each.response_format, ensure_ascii=False) for each in missing if each.response_format)
    texts = [message["content"] for each in missing for message in each.messages]
    tokens = sum(map(about_tokens, (*forms, *texts))) + _MESSAGE_TOKENS * len(texts)
    number = f"{len(missing):,} {what} ({len(stored):,} answered before)" if stored else f"{len(missing):,} {what}"
    return options.told(number, tokens, len(missing) * answer_tokens, digits=4, batched=batched)


def estimate(
    questions: Sequence[Question], params: AnnotateParams, store: wire.AnswerStore, reviewed: Sequence[Reviewed] = ()
) -> str:
    """Return what annotating takes, in one line; asks nobody and needs no key."""
    options, chosen = params.llm, params.chosen(len(reviewed))
    if chosen != "llm":
        return f"{wording.counted(len(questions), 'question')} by {chosen}: no requests, no cost"
    requests = requests_for(questions, options, label_prompt(options, choose_shots(reviewed, options.shots)))
    answer = about_tokens(example("10"))
    return estimate_requests(options, requests, store, "requests to make", answer, batched=params.batch)
