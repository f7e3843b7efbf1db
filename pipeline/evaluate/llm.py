"""A language model that judges texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
from build_dataset.annotation.rubric import LEAST, MOST, aspects
from build_dataset.pipeline.evaluate.params import JudgeOptions
from build_dataset.pipeline.evaluate.prompting import Prompt, chat, failed_item
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.evaluation import Judgement, Task
from build_dataset.schemas.questions import ReviewItem


@dataclass(frozen=True)
class WrittenText:
    """A text that a run wrote, and what it is to be compared with."""

    run: str
    task: Task
    item_id: str
    prompt: Prompt
    said: str  # the part that a reader is meant to see
    reference: str


RUBRIC = shipped_toml("build_dataset.pipeline.evaluate", "rubric.toml")  # everything a judge is told, and its version
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
class Verdicts:
    """Scores that a judge and experts gave, and what the judge took."""

    judgements: list[Judgement] = field(default_factory=list)
    requests: int = 0
    cost: float | None = 0.0  # None where a reply has no price
    waiting: list[ReviewItem] = field(default_factory=list)  # texts without a usable reply: the next run asks again


def judge(
    texts: Sequence[WrittenText], options: JudgeOptions, store: AnswerStore, advance: Callable[[int], None]
) -> Verdicts:
    """Return a model's scores of every text, in every aspect."""
    requests = [_scoring(text) for text in texts]
    asked = dict(zip((request.id for request in requests), texts, strict=True))
    made = Verdicts(requests=len(asked))
    replies: dict[str, str] = {}
    costs: list[float | None] = []
    for outcome in LlmClient(options).complete_many(requests, store, advance):
        name = outcome.request.id
        if isinstance(outcome, Failed):
            told = f"no verdict on {asked[name].run}: {outcome.detail}"
            item = failed_item(name, f"judge_{outcome.reason}", told)
            made.waiting.append(item.model_copy(update={"question_ids": [asked[name].item_id]}))
        else:
            replies[name] = outcome.text
            costs.append(outcome.cost)
    known = [cost for cost in costs if cost is not None]
    made.cost = sum(known) if len(known) == len(costs) else None
    made.waiting.sort(key=lambda item: item.item_id)
    for name in filter(replies.__contains__, asked):
        text = asked[name]
        about = {"run": text.run, "task": text.task, "question_id": text.item_id, "repeat": text.prompt.repeat}
        scores = read_scores(replies[name]).items()
        made.judgements += [Judgement(judge=options.judge_name(), aspect=a, score=n, **about) for a, n in scores]
    return made
