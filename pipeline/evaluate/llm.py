"""Language models that read outputs: the answer that a text gives, how good a text is, which of two is better."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from itertools import combinations
from typing import Any

from annotation.estimate import MESSAGE_TOKENS, token_counter, with_list_prices
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
from annotation.llm.options import LlmOptions
from annotation.rubric import LEAST, MOST, aspects
from pipeline.claims import visible_output
from pipeline.evaluate.params import JudgeOptions, ReaderOptions
from pipeline.evaluate.prompting import Message, Prompt, chat, failed_item, fill
from schemas.evaluation import Judgement, Preference, Task, Winner
from schemas.questions import ReviewItem
from schemas.release import ReleaseRow


@dataclass
class Consultation:
    """Number and cost of requests to models, and the items without a usable reply."""

    requests: int = 0
    cost: float | None = 0.0
    waiting: list[ReviewItem] = field(default_factory=list)
    """The next run asks it again."""

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
            known = self.cost is not None and outcome.cost is not None
            self.cost = (self.cost or 0.0) + (outcome.cost or 0.0) if known else None
        self.waiting += sorted(unusable, key=lambda item: item.item_id)
        return replies


def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((files("pipeline.evaluate") / name).read_text(encoding="utf-8"))


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
    told: Consultation = field(default_factory=Consultation)

    def read(self, run: str, unread: Sequence[UnreadOutput]) -> dict[str, tuple[str, ...]]:
        """Return the letters that outputs give as their answers, by prompt; those that give none are absent."""

        def left(failed: Failed) -> ReviewItem:
            detail = f"{run}: the output was not read: {failed.detail}"
            return failed_item(failed.request.id, f"reader_{failed.reason}", detail)

        labels = {each.prompt_id: _labels(each.question) for each in unread}
        replies = self.told.ask(self.options, [_request(each) for each in unread], self.store, left)
        self.told.waiting.sort(key=lambda item: (item.detail, item.item_id))
        found = {name: _letters(labels[name], reply) for name, reply in replies.items()}
        return {name: letters for name, letters in found.items() if letters}


def estimate(options: ReaderOptions, unread: Iterable[UnreadOutput], store: AnswerStore) -> str:
    """Return what reading takes, in one line; asks nobody and needs no key."""
    requests = {request.key(options): request for request in map(_request, unread)}
    stored = store.get_many(requests)
    missing = [request for key, request in requests.items() if key not in stored]
    count, _ = token_counter(options.model)
    contents = (message["content"] for request in missing for message in request.messages)
    tokens_in = sum(count(text) + MESSAGE_TOKENS for text in contents)
    tokens_out = len(missing) * min(options.max_tokens, 16)
    priced, listed = with_list_prices(options)
    cost = priced.cost(tokens_in, tokens_out)
    price = "cost unknown (set price_in and price_out)" if cost is None else f"{cost:.4f} {priced.currency}"
    told = f"{len(missing):,} outputs to read, about {tokens_in:,} tokens in and {tokens_out:,} out: {price}"
    return f"{told} by {listed}" if listed else told


_WORDS = _toml("reader.toml")


def _request(each: UnreadOutput) -> ChatRequest:
    row, labels = each.question, _labels(each.question)
    asked = fill(_WORDS["question"].strip(), row, output=visible_output(each.text)[-_LONGEST:])
    messages = chat(_WORDS["system"].strip(), (), asked)
    form = strict_form("answer", {"answer": {"type": "array", "items": {"type": "string", "enum": labels}}})
    check: Callable[[str], object] = partial(_letters, labels)
    return ChatRequest(each.prompt_id, messages, form, check=check)


def _labels(question: ReleaseRow) -> list[str]:
    return [option.label for option in question.options]


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
    said: str
    """The part that a reader is meant to see."""
    reference: str


RUBRIC = _toml("rubric.toml")
"""Everything a judge is told, and its version."""
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
    messages = _messages(system, "question", text, answer=text.said)
    return ChatRequest(f"{text.run}|{text.prompt.id}", messages, form, check=read_scores)


def _preferring(first: WrittenText, second: WrittenText) -> ChatRequest:
    """Ask which of two answers is better."""
    system = RUBRIC["pair_system"].strip()
    messages = _messages(system, "pair_question", first, first=first.said, second=second.said)
    form = strict_form("preference", {"better": {"type": "string", "enum": list(Winner)}})
    name = f"{first.run}|{second.run}|{first.prompt.id}"
    return ChatRequest(name, messages, form, check=read_preference)


def _messages(system: str, question: str, about: WrittenText, **answers: str) -> tuple[Message, ...]:
    turns = (turn for turn in about.prompt.messages if turn["role"] in _SPEAKERS)
    conversation = "\n".join(f"{_SPEAKERS[turn['role']]}：{turn['content']}" for turn in turns)
    asked = RUBRIC[question].strip("\n")
    return chat(system, (), asked.format(conversation=conversation, reference=about.reference, **answers))


def read_scores(text: str) -> dict[str, int]:
    """Return the scores of a reply, by aspect; raise ``BadAnswerError`` where one is missing or off the scale."""
    said = json_object(text)
    found = {}
    for aspect in aspects():
        score = said.get(aspect.name)
        if not isinstance(score, int) or isinstance(score, bool) or not LEAST <= score <= MOST:
            detail = f"{aspect.name} is no whole number from {LEAST} to {MOST}"
            hint = f"{aspect.name}必须是{LEAST}到{MOST}的整数。"
            raise BadAnswerError(Reason.INVALID_LABEL, detail, hint)
        found[aspect.name] = score
    return found


def read_preference(text: str) -> Winner:
    """Return the preference of a reply; raise ``BadAnswerError`` where it states none."""
    better = json_object(text).get("better")
    if better not in list(Winner):
        raise BadAnswerError(Reason.INVALID_LABEL, "better is none of first, second, tie")
    return Winner(better)


@dataclass(frozen=True)
class _Ask:
    """A request and what its reply is about."""

    request: ChatRequest
    answers: tuple[WrittenText, ...]
    """One to be scored, or two in the order shown."""


@dataclass
class Verdicts(Consultation):
    """Verdicts of judges."""

    judgements: list[Judgement] = field(default_factory=list)
    preferences: list[Preference] = field(default_factory=list)

    def judge(
        self,
        texts: Mapping[str, Sequence[WrittenText]],
        options: JudgeOptions,
        store: AnswerStore,
        advance: Callable[[int], None],
    ) -> None:
        """Score every text of every run and, if asked, compare runs pair by pair in both orders."""
        asks = {ask.request.id: ask for ask in plan(texts, compare=options.compare)}

        def left(failed: Failed) -> ReviewItem:
            about = asks[failed.request.id].answers
            told = f"no verdict on {' and '.join(text.run for text in about)}: {failed.detail}"
            item = failed_item(failed.request.id, f"judge_{failed.reason}", told)
            return item.model_copy(update={"question_ids": [about[0].item_id]})

        name, requests = options.judge_name(), [ask.request for ask in asks.values()]
        replies = self.ask(options, requests, store, left, advance)
        for ask in asks.values():
            if len(ask.answers) == 1 and ask.request.id in replies:
                text, scores = ask.answers[0], read_scores(replies[ask.request.id])
                self.judgements += [
                    Judgement(run=text.run, aspect=aspect, score=score, **_about(text, name))
                    for aspect, score in scores.items()
                ]
        self.preferences += _preferred(list(asks.values()), name, replies)


def plan(texts: Mapping[str, Sequence[WrittenText]], *, compare: bool) -> Iterator[_Ask]:
    """Every request to a judge, in a fixed order."""
    for written in texts.values():
        for text in written:
            yield _Ask(_scoring(text), (text,))
    if not compare:
        return
    for one, other in combinations(texts, 2):
        by_prompt = {text.prompt.id: text for text in texts[other]}
        for text in texts[one]:
            if (rival := by_prompt.get(text.prompt.id)) is not None:
                yield from (_Ask(_preferring(*pair), pair) for pair in ((text, rival), (rival, text)))


_TURNED = {Winner.FIRST: Winner.SECOND, Winner.SECOND: Winner.FIRST, Winner.TIE: Winner.TIE}
"""Verdicts on two answers that were shown the other way round."""


def _preferred(asks: Sequence[_Ask], judge_name: str, replies: Mapping[str, str]) -> Iterator[Preference]:
    """One row a pair of answers; a preference counts only where it is the same in both orders."""
    pairs = [ask for ask in asks if len(ask.answers) == 2]
    for there, back in zip(pairs[::2], pairs[1::2], strict=True):
        said = (replies.get(there.request.id), replies.get(back.request.id))
        if said[0] is None or said[1] is None:
            continue
        one, other = read_preference(said[0]), _TURNED[read_preference(said[1])]
        first, second = there.answers
        yield Preference(
            run_a=first.run,
            run_b=second.run,
            shown_first_a=one,
            shown_first_b=other,
            better=one if one == other else Winner.TIE,
            consistent=one == other,
            **_about(first, judge_name),
        )


def _about(text: WrittenText, judge_name: str) -> dict[str, Any]:
    """Return the columns that identify the answer of a verdict."""
    return {
        "task": text.task,
        "question_id": text.item_id,
        "repeat": text.prompt.repeat,
        "judge": judge_name,
    }
