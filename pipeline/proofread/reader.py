"""Asks a language model what is doubtful in questions, one request a question.

The model points: at a kind, a field and a quotation. What is no quotation is dropped, and no text is changed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from build_dataset.annotation.estimate import estimate_requests
from build_dataset.annotation.llm import messages as wire
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.limits import waste_cost
from build_dataset.annotation.llm_annotator import as_data
from build_dataset.pipeline.clean.corrections import question_fields
from build_dataset.pipeline.proofread.params import KINDS, PROMPT, ProofreadParams
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import DoubtedPlace, Question

_PARTS = ("kind", "field", "quote", "proposal")  # of a doubt, as the model gives it
_ANSWER_TOKENS = 40  # of a question, for the estimate


class Proofreader:
    """Readings of questions, each paid for once."""

    def __init__(self, params: ProofreadParams, context: Context) -> None:
        self._params, self._context = params, context
        self.outcomes: dict[str, wire.Outcome] = {}  # by id of the question

    def read(self, questions: Sequence[Question]) -> None:
        """Ask about every question that is not read yet; copies of one text are asked once."""
        client = LlmClient(self._params, batch=self._params.batch)
        with self._context.progress(len(questions), "questions") as advance:
            for outcome in client.complete_many(self._requests(questions), self._context.store, advance):
                self.outcomes[outcome.request.id] = outcome

    def estimate(self, questions: Sequence[Question]) -> str:
        """Return what reading takes, in one line; asks nobody and needs no key."""
        requests, batched = self._requests(questions), self._params.batch
        what, store = "questions to read", self._context.store
        return estimate_requests(self._params, requests, store, what, _ANSWER_TOKENS, batched=batched)

    def doubts(self, question: Question) -> tuple[list[DoubtedPlace], int] | wire.Failed:
        """Return the doubts about a question and the number of those that quote nothing in it; or why it is unread."""
        outcome = self.outcomes[question.question_id]
        if isinstance(outcome, wire.Failed):
            return outcome
        said = read_reply(outcome.text)
        found = [doubt for each in said if (doubt := _located(question, each)) is not None]
        return list(dict.fromkeys(found)), len(said) - len(found)

    def bill(self) -> dict[str, Any]:
        """Return what was read and paid, the same however many runs it took; a sum is None where a part is unknown."""
        options = self._params
        answers = [outcome for outcome in self.outcomes.values() if isinstance(outcome, wire.Answer)]
        waste = sum((outcome.waste for outcome in self.outcomes.values()), wire.Waste())
        unusable, unseen = waste_cost(waste, options)
        wasted = {"unusable_calls": waste.calls, "unusable_cost": round(unusable, 6)}
        wasted |= {"unseen_calls": waste.unseen, "unseen_cost_at_most": round(unseen, 6)}
        told = {"model": options.model, "prompt_hash": sha256(_system())[:16], "readings": len(answers)}
        tokens = {name: _sum(getattr(each.usage, name) for each in answers) for name in wire.Usage._fields}
        cost: dict[str, Any] = {"cost": _sum(each.cost for each in answers), "currency": options.currency}
        others = wire.other_models(options.model, (each.model for each in answers))
        cost |= {"other_models": others} if others else {}
        return told | tokens | cost | {name: value for name, value in wasted.items() if value}

    def _requests(self, questions: Iterable[Question]) -> list[wire.ChatRequest]:
        """Return a request for each question, as JSON between marks that its text cannot close."""
        form = wire.answer_form(self._params.response_format, "doubts", _properties())
        found = []
        for question in questions:
            told = {name: text for name, text in question_fields(question).items() if text}
            asked = f"<题目>\n{as_data(json.dumps(told, ensure_ascii=False))}\n</题目>"
            messages = [{"role": "system", "content": _system()}, {"role": "user", "content": asked}]
            found.append(wire.ChatRequest(question.question_id, messages, form, check=read_reply))
        return found


def read_reply(text: str) -> list[dict[str, str]]:
    """Return the doubts of a reply, in order; raise ``BadAnswerError`` where it has no list of them."""
    doubts = wire.json_object(wire.final_part(text)).get("doubts")
    if not isinstance(doubts, list) or not all(isinstance(doubt, dict) for doubt in doubts):
        hint = "请重新回答：JSON 对象须有 doubts 数组，没有存疑之处则为空数组。"
        raise wire.BadAnswerError(wire.Reason.MALFORMED_JSON, "the answer has no list of doubts", hint)
    return [{part: str(doubt.get(part) or "") for part in _PARTS} for doubt in doubts]


def _located(question: Question, said: Mapping[str, str]) -> DoubtedPlace | None:
    """Return a doubt whose quotation stands in the question; None where it does not, or the kind is unknown."""
    texts = {name: text for name, text in question_fields(question).items() if text}
    quote, proposal = said["quote"], said["proposal"]
    place = next((name for name in (said["field"], *texts) if quote and quote in texts.get(name, "")), None)
    if place is None or said["kind"] not in KINDS:
        return None
    offered = proposal if said["kind"] == "misread" and proposal not in ("", quote) else None
    return DoubtedPlace(question_id=question.question_id, kind=said["kind"], field=place, quote=quote, proposal=offered)


@cache
def _system() -> str:
    kinds = "\n".join(f"- {name}：{told}" for name, told in KINDS.items())
    return str(PROMPT["system"]).strip().replace("{{kinds}}", kinds)


def _properties() -> dict[str, Any]:
    text = {"type": "string"}
    doubt = {"kind": {**text, "enum": [*KINDS]}, "field": text, "quote": text, "proposal": text}
    return {"doubts": {"type": "array", "items": wire.strict_object(doubt)}}


def _sum(values: Iterable[Any]) -> Any:
    known = list(values)
    return None if None in known else round(sum(known), 6)
