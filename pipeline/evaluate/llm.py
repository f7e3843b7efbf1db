"""Language models that read outputs: the answer that a text gives, how good a text is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from build_dataset.annotation.estimate import estimate_requests
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.messages import (
    AnswerStore,
    BadAnswerError,
    ChatRequest,
    Failed,
    Reason,
    json_object,
    strict_form,
)
from build_dataset.annotation.llm.options import LlmOptions
from build_dataset.annotation.rubric import LEAST, MOST, aspects
from build_dataset.pipeline.claims import visible_output
from build_dataset.pipeline.evaluate.params import JudgeOptions, ReaderOptions
from build_dataset.pipeline.evaluate.prompting import Prompt, chat, failed_item, fill
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.evaluation import Judgement, Task
from build_dataset.schemas.questions import ReviewItem


@dataclass
class Consultation:
    """Number and cost of requests to models, and the items without a usable reply."""

    requests: int = 0
    cost: float | None = 0.0
    waiting: list[ReviewItem] = field(default_factory=list)  # the next run asks it again

    def ask(
        self,
        options: LlmOptions,
        requests: Sequence[ChatRequest],
        store: AnswerStore,
        left: Callable[[Failed], ReviewItem],
        advance: Callable[[int], None] = lambda _: None,
    ) -> dict[str, str]:
        """Return the usable replies by the names of their requests; ``left`` makes the item of any other."""
        replies: dict[str, str] = {}
        unusable = []
        self.requests += len(requests)
        for outcome in LlmClient(options).complete_many(requests, store, advance):
            if isinstance(outcome, Failed):
                unusable.append(left(outcome))
                continue
            replies[outcome.request.id] = outcome.text
            # one reply without a price: the sum is not known
            known = self.cost is not None and outcome.cost is not None
            self.cost = (self.cost or 0.0) + (outcome.cost or 0.0) if known else None
        self.waiting += sorted(unusable, key=lambda item: item.item_id)
        return replies


def _toml(name: str) -> dict[str, Any]:
    return shipped_toml("build_dataset.pipeline.evaluate", name)


LLM = "llm"  # the rule of answers that the reader read
_LONGEST = 6_000  # characters of an output that the reader sees: the last, as models end with what they mean
_REPLY = 16  # tokens of a reply such as {"answer": ["A", "C"]}, for the estimate of its cost


class UnreadOutput(NamedTuple):
    """An output that no rule read, and its prompt."""

    prompt: Prompt
    text: str


@dataclass(kw_only=True)
class OutputReader(Consultation):
    """Asks a model which option an output gives as its answer; replies are stored, so that none is paid twice."""

    options: ReaderOptions
    store: AnswerStore

    def read(self, run: str, unread: Sequence[UnreadOutput]) -> dict[str, tuple[str, ...]]:
        """Return the letters that outputs give as their answers, by prompt; those that give none are absent."""

        def left(failed: Failed) -> ReviewItem:
            detail = f"{run}: the output was not read: {failed.detail}"
            return failed_item(failed.request.id, f"reader_{failed.reason}", detail)

        labels = {prompt.id: _labels(prompt) for prompt, _ in unread}
        replies = self.ask(self.options, [_request(each) for each in unread], self.store, left)
        self.waiting.sort(key=lambda item: (item.detail, item.item_id))
        found = {name: _letters(labels[name], reply) for name, reply in replies.items()}
        return {name: letters for name, letters in found.items() if letters}


def estimate(options: ReaderOptions, unread: Iterable[UnreadOutput], store: AnswerStore) -> str:
    """Return what reading takes, in one line."""
    longest = min(options.max_tokens, _REPLY)
    return estimate_requests(options, map(_request, unread), store, "outputs to read", longest)


_WORDS = _toml("reader.toml")


def _request(each: UnreadOutput) -> ChatRequest:
    labels = _labels(each.prompt)
    said = visible_output(each.text)[-_LONGEST:]
    asked = fill(_WORDS["question"].strip(), each.prompt.asked(), output=said)
    messages = chat(_WORDS["system"].strip(), (), asked)
    form = strict_form("answer", {"answer": {"type": "array", "items": {"type": "string", "enum": labels}}})
    check: Callable[[str], object] = partial(_letters, labels)
    return ChatRequest(each.prompt.id, messages, form, check=check)


def _labels(prompt: Prompt) -> list[str]:
    return [option.label for option in prompt.asked().options]


def _letters(labels: Sequence[str], reply: str) -> tuple[str, ...]:
    """Return the letters of a reply, none for an output without an answer."""
    said = json_object(reply).get("answer")
    if not isinstance(said, list) or not all(letter in labels for letter in said):
        hint = f"answer 只能含 {'、'.join(labels)}。"
        raise BadAnswerError(Reason.INVALID_LABEL, "answer is no list of the options' letters", hint)
    return tuple(sorted(set(said)))


@dataclass(frozen=True)
class WrittenText:
    """A text that a run wrote, and what it is to be compared with."""

    run: str
    task: Task
    item_id: str
    prompt: Prompt
    said: str  # the part that a reader is meant to see
    reference: str


RUBRIC = _toml("rubric.toml")  # everything a judge is told, and its version
_SPEAKERS = {"user": "问", "assistant": "答"}


def _scoring(text: WrittenText) -> ChatRequest:
    """Ask for the four scores of one answer."""
    scales = "\n".join(
        f"{aspect.zh}（{aspect.name}）："
        + "；".join(f"{score} {meaning}" for score, meaning in enumerate(aspect.scale, start=LEAST))
        for aspect in aspects()
    )
    system = f"{RUBRIC['system'].strip()}\n{scales}"
    score = {"type": "integer", "enum": list(range(LEAST, MOST + 1))}
    form = strict_form("scores", {aspect.name: score for aspect in aspects()})
    turns = (turn for turn in text.prompt.messages if turn["role"] in _SPEAKERS)
    conversation = "\n".join(f"{_SPEAKERS[turn['role']]}：{turn['content']}" for turn in turns)
    question = RUBRIC["question"].strip("\n")
    asked = question.format(conversation=conversation, reference=text.reference, answer=text.said)
    return ChatRequest(f"{text.run}|{text.prompt.id}", chat(system, (), asked), form, check=read_scores)


def read_scores(text: str) -> dict[str, int]:
    """Return the scores of a reply, by aspect; raise ``BadAnswerError`` where one is missing or off the scale."""
    said = json_object(text)
    found = {}
    for aspect in aspects():
        score = said.get(aspect.name)
        # true is an int too
        if not isinstance(score, int) or isinstance(score, bool) or not LEAST <= score <= MOST:
            detail = f"{aspect.name} is no whole number from {LEAST} to {MOST}"
            hint = f"{aspect.name}必须是{LEAST}到{MOST}的整数。"
            raise BadAnswerError(Reason.INVALID_LABEL, detail, hint)
        found[aspect.name] = score
    return found


@dataclass
class Verdicts(Consultation):
    """Verdicts of judges."""

    judgements: list[Judgement] = field(default_factory=list)

    def judge(
        self, texts: Sequence[WrittenText], options: JudgeOptions, store: AnswerStore, advance: Callable[[int], None]
    ) -> None:
        """Score every text."""
        requests = [_scoring(text) for text in texts]
        scored = dict(zip((request.id for request in requests), texts, strict=True))

        def left(failed: Failed) -> ReviewItem:
            text = scored[failed.request.id]
            told = f"no verdict on {text.run}: {failed.detail}"
            item = failed_item(failed.request.id, f"judge_{failed.reason}", told)
            return item.model_copy(update={"question_ids": [text.item_id]})

        replies = self.ask(options, requests, store, left, advance)
        for name, text in scored.items():
            if name in replies:
                about = {"run": text.run, "task": text.task, "question_id": text.item_id, "repeat": text.prompt.repeat}
                scores = read_scores(replies[name]).items()
                judge = options.judge_name()
                self.judgements += [Judgement(judge=judge, aspect=aspect, score=n, **about) for aspect, n in scores]
