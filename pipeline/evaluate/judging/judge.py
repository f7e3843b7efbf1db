"""A model as judge: four scores an answer, and, where two runs answered the same, which is better."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import combinations
from typing import Any

from annotation.llm.client import LlmClient
from annotation.llm.messages import (
    BadAnswerError,
    ChatRequest,
    Failed,
    Reason,
    json_object,
    strict_form,
)
from annotation.rubric import LEAST, MOST, aspects
from pipeline.evaluate.params import JudgeOptions
from pipeline.evaluate.prompting import Message, added, chat, waiting
from pipeline.evaluate.tasks import Written
from pipeline.stage import Store
from schemas.evaluation import Judgement, Preference, Winner
from schemas.questions import ReviewItem

RUBRIC: dict[str, Any] = tomllib.loads(
    (files("pipeline.evaluate.judging") / "rubric.toml").read_text(encoding="utf-8")
)
"""Everything a judge is told, and its version."""
_SPEAKERS = {"user": "问", "assistant": "答"}


def _scoring(text: Written) -> ChatRequest:
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


def _preferring(first: Written, second: Written) -> ChatRequest:
    """Ask which of two answers is better."""
    system = RUBRIC["pair_system"].strip()
    messages = _messages(system, "pair_question", first, first=first.said, second=second.said)
    form = strict_form("preference", {"better": {"type": "string", "enum": list(Winner)}})
    name = f"{first.run}|{second.run}|{first.prompt.id}"
    return ChatRequest(name, messages, form, check=read_preference)


def _messages(system: str, question: str, about: Written, **answers: str) -> tuple[Message, ...]:
    turns = (turn for turn in about.prompt.messages if turn["role"] in _SPEAKERS)
    conversation = "\n".join(f"{_SPEAKERS[turn['role']]}：{turn['content']}" for turn in turns)
    asked = RUBRIC[question].strip("\n")
    return chat(system, (), asked.format(conversation=conversation, reference=about.reference, **answers))


def read_scores(text: str) -> dict[str, int]:
    """The scores of a reply, by aspect.

    Raises:
        BadAnswerError: it is no JSON, or a score is missing or off the scale.
    """
    said = json_object(text)
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
    better = json_object(text).get("better")
    if better not in list(Winner):
        raise BadAnswerError(Reason.INVALID_LABEL, "better is none of first, second, tie", None)
    return Winner(better)


@dataclass
class Verdicts:
    """Verdicts of a judge."""

    judgements: list[Judgement] = field(default_factory=list)
    preferences: list[Preference] = field(default_factory=list)
    waiting: list[ReviewItem] = field(default_factory=list)
    """Answers that the judge gave no verdict on; it is asked again on the next run."""
    requests: int = 0
    cost: float | None = 0.0

    def add(self, other: Verdicts) -> None:
        """Add the verdicts of another judge."""
        self.judgements += other.judgements
        self.preferences += other.preferences
        self.waiting += other.waiting
        self.requests += other.requests
        self.cost = added(self.cost, other.cost)


@dataclass(frozen=True)
class _Ask:
    """A request and what its reply is about."""

    request: ChatRequest
    answers: tuple[Written, ...]
    """One to be scored, or two in the order shown."""


def judge(
    texts: Mapping[str, Sequence[Written]],
    options: JudgeOptions,
    store: Store,
    advance: Callable[[int], None],
) -> Verdicts:
    """Score every text of every run and, if asked, compare runs pair by pair in both orders."""
    asks = list(plan(texts, compare=options.compare))
    by_id = {ask.request.id: ask for ask in asks}
    found = Verdicts(requests=len(asks))
    replies: dict[str, str] = {}
    client = LlmClient(options)
    for outcome in client.complete_many([ask.request for ask in asks], store, advance):
        if isinstance(outcome, Failed):
            found.waiting.append(_waiting(by_id[outcome.request.id], outcome))
        else:
            replies[outcome.request.id] = outcome.text
            found.cost = added(found.cost, outcome.cost)
    name = options.judge_name()
    for ask in asks:
        if len(ask.answers) == 1 and ask.request.id in replies:
            text, scores = ask.answers[0], read_scores(replies[ask.request.id])
            found.judgements += [
                Judgement(run=text.run, aspect=aspect, score=score, **_about(text, name))
                for aspect, score in scores.items()
            ]
    found.preferences = list(_preferred(asks, name, replies))
    found.waiting.sort(key=lambda item: item.item_id)
    return found


def plan(texts: Mapping[str, Sequence[Written]], *, compare: bool) -> Iterator[_Ask]:
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


def _preferred(asks: Sequence[_Ask], judge_name: str, replies: Mapping[str, str]) -> Iterator[Preference]:
    """One row a pair of answers; a preference counts only where it is the same in both orders."""
    pairs = [ask for ask in asks if len(ask.answers) == 2]
    for there, back in zip(pairs[::2], pairs[1::2], strict=True):
        said = (replies.get(there.request.id), replies.get(back.request.id))
        if said[0] is None or said[1] is None:
            continue
        one, other = read_preference(said[0]), _turned(read_preference(said[1]))
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


def _about(text: Written, judge_name: str) -> dict[str, Any]:
    """Return the columns that identify the answer of a verdict."""
    return {
        "task": text.task,
        "question_id": text.item_id,
        "repeat": text.prompt.repeat,
        "judge": judge_name,
    }


def _turned(winner: Winner) -> Winner:
    return {Winner.FIRST: Winner.SECOND, Winner.SECOND: Winner.FIRST}.get(winner, winner)


def _waiting(ask: _Ask, failed: Failed) -> ReviewItem:
    runs = " and ".join(text.run for text in ask.answers)
    item = waiting(ask.request.id, f"judge_{failed.reason}", f"no verdict on {runs}: {failed.detail}")
    return item.model_copy(update={"question_ids": [ask.answers[0].item_id]})
