"""The LLM reader: a model reads the answer of outputs that no rule read; off unless it is configured."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files

from annotation.estimate import MESSAGE_TOKENS, counter, with_list_prices
from annotation.llm.client import LlmClient
from annotation.llm.messages import (
    AnswerStore,
    BadAnswerError,
    ChatRequest,
    Failed,
    Reason,
    json_object,
    strict_form,
)
from pipeline.claims import shown
from pipeline.evaluate.params import ReaderOptions
from pipeline.evaluate.prompting import added, chat, filled, waiting
from schemas.questions import ReviewItem
from schemas.release import ReleaseRow

LLM = "llm"
"""The rule of answers that the reader read."""
_LONGEST = 6_000
"""Characters of an output that are shown to the reader: the last ones, as models end with what they mean."""


@dataclass(frozen=True)
class UnreadOutput:
    """An output that no rule read, and the question as the model saw it."""

    prompt_id: str
    question: ReleaseRow
    text: str


@dataclass
class OutputReader:
    """Asks a model which option an output gives as its answer; replies are stored, so that none is paid twice."""

    options: ReaderOptions
    store: AnswerStore
    requests: int = 0
    cost: float | None = 0.0
    waiting: list[ReviewItem] = field(default_factory=list)
    """Outputs that the model gave no usable reply on; it is asked again on the next run."""

    def read(self, run: str, unread: Sequence[UnreadOutput]) -> dict[str, tuple[str, ...]]:
        """Return the letters that outputs give as their answers, by prompt; those that give none are absent."""
        found: dict[str, tuple[str, ...]] = {}
        labels = {each.prompt_id: _labels(each.question) for each in unread}
        self.requests += len(unread)
        for outcome in LlmClient(self.options).complete_many([_request(each) for each in unread], self.store):
            name = outcome.request.id
            if isinstance(outcome, Failed):
                detail = f"{run}: the output was not read: {outcome.detail}"
                self.waiting.append(waiting(name, f"reader_{outcome.reason}", detail))
                continue
            self.cost = added(self.cost, outcome.cost)
            if letters := _letters(labels[name], outcome.text):
                found[name] = letters
        self.waiting.sort(key=lambda item: (item.detail, item.item_id))
        return found


def estimate(options: ReaderOptions, unread: Iterable[UnreadOutput], store: AnswerStore) -> str:
    """Return what reading takes, in one line; asks nobody and needs no key."""
    requests = {request.key(options): request for request in map(_request, unread)}
    stored = store.get_many(requests)
    missing = [request for key, request in requests.items() if key not in stored]
    count, _ = counter(options.model)
    contents = (message["content"] for request in missing for message in request.messages)
    tokens_in = sum(count(text) + MESSAGE_TOKENS for text in contents)
    tokens_out = len(missing) * min(options.max_tokens, 16)
    priced, listed = with_list_prices(options)
    cost = priced.cost(tokens_in, tokens_out)
    price = "cost unknown (set price_in and price_out)" if cost is None else f"{cost:.4f} {priced.currency}"
    return (
        f"{len(missing):,} outputs to read, about {tokens_in:,} tokens in and {tokens_out:,} out: {price}"
        + (f" by {listed}" if listed else "")
    )


_WORDS = tomllib.loads((files("pipeline.evaluate.extraction") / "reader.toml").read_text(encoding="utf-8"))


def _request(each: UnreadOutput) -> ChatRequest:
    row, labels = each.question, _labels(each.question)
    asked = filled(_WORDS["question"].strip(), row, output=shown(each.text)[-_LONGEST:])
    messages = chat(_WORDS["system"].strip(), (), asked)
    form = strict_form("answer", {"answer": {"type": "array", "items": {"type": "string", "enum": labels}}})
    check: Callable[[str], object] = partial(_letters, labels)
    return ChatRequest(each.prompt_id, messages, form, check=check)


def _labels(question: ReleaseRow) -> list[str]:
    return [option.label for option in question.options]


def _letters(labels: Sequence[str], reply: str) -> tuple[str, ...]:
    """The letters of a reply, none for an output without an answer.

    Raises:
        BadAnswerError: it is no list of the question's letters.
    """
    said = json_object(reply).get("answer")
    if not isinstance(said, list) or not all(letter in labels for letter in said):
        raise BadAnswerError(
            Reason.INVALID_LABEL,
            "answer is no list of the options' letters",
            f"answer 只能含 {'、'.join(labels)}。",
        )
    return tuple(sorted(set(said)))
