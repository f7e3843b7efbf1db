"""The proofread stage: questions that a second reader doubts wait for a person; all others go on as they are.

The reader is a language model, asked what is doubtful in several questions at a time. It points: at a kind, a field and
a quotation. What is no quotation is dropped, and no text is changed. A reading is kept by question, not by request, so
that a question that changes is asked alone.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import polars as pl

from build_dataset.annotation.label_studio.editable import VERDICT
from build_dataset.annotation.llm import messages as wire
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.limits import waste_cost
from build_dataset.annotation.llm_annotator import about_tokens, as_data
from build_dataset.pipeline.clean.corrections import question_fields
from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.proofread.params import KINDS, PROMPT, ProofreadParams
from build_dataset.pipeline.rendering.markup import request_notes
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import DoubtedPlace, Question, ReviewItem

_PARTS = ("kind", "field", "quote", "proposal")  # of a doubt, as the model gives it
_SPLIT = {*map(wire.Reason, ("refused", "truncated", "empty", "malformed_json", "too_long", "bad_request"))}
"""Failures that one question of a request may cause: the others are asked without it."""
_CROP_BYTES = 150_000  # of a cut-out
_PICTURES = 50  # requests with pictures that are drawn before they are asked: pictures take memory
_PLAN = "groups"  # key in the store of the requests under way, with which a killed run or a batch goes on
_SPLIT_COST = "split:"  # begins keys in the store: the cost of a request that was split, by its first question's key
_ANSWER_TOKENS, _PICTURE_TOKENS = 40, 1_500  # of a question, for the estimate
Group = tuple[str, ...]  # keys of questions that are asked about in one request
Questions = Mapping[str, Question]  # by their keys
Reading = Mapping[str, Any]  # of one question as it is stored: doubts as they were given, tokens, waste, model


@dataclass
class Proofreader:
    """Readings of questions, each paid for once."""

    params: ProofreadParams
    context: Context
    readings: dict[str, Reading] = field(default_factory=dict)  # by the question's key
    failed: dict[str, wire.Failed] = field(default_factory=dict)  # by the question's key
    splits: dict[str, wire.Waste] = field(default_factory=dict)  # by the first question's key

    def read(self, questions: Sequence[Question]) -> None:
        """Ask about every question that is not read yet; copies of one text are asked once."""
        asked, pending = self._pending(questions)
        groups = self._planned(asked, pending)
        self.context.store.put(_PLAN, groups)
        with self.context.progress(len(pending), "questions") as advance:
            self._ask_all(groups, asked, advance)
            spoilt = {key for key, failed in self.failed.items() if failed.reason in _SPLIT}
            if split := [group for group in groups if len(group) > 1 and group[0] in spoilt]:
                for group in split:
                    self.splits[group[0]] = self.failed[group[0]].waste
                    self.context.store.put(_SPLIT_COST + group[0], astuple(self.splits[group[0]]))
                alone = [(key,) for group in split for key in group]
                self.failed = {key: failed for key, failed in self.failed.items() if (key,) not in alone}
                self.context.store.put(_PLAN, [*(group for group in groups if group not in split), *alone])
                self._ask_all(alone, asked, advance)

    def estimate(self, questions: Sequence[Question]) -> str:
        """Return what reading takes, in one line; asks nobody and needs no key."""
        asked, pending = self._pending(questions)
        groups = self._planned(asked, pending)
        requests = [self._request([asked[key] for key in group]) for group in groups]
        texts = [message["content"] for request in requests for message in request.messages]
        tokens = sum(map(about_tokens, texts))
        tokens += _PICTURE_TOKENS * sum(self._has_picture(asked[key]) for key in pending)
        what = f"{len(pending):,} questions to read in {len(groups):,} requests ({len(asked) - len(pending):,} read)"
        return self.params.told(what, tokens, _ANSWER_TOKENS * len(pending), digits=4)

    def doubts(self, question: Question) -> tuple[list[DoubtedPlace], int] | wire.Failed:
        """Return the doubts about a question and the number of those that quote nothing in it; or why it is unread."""
        key = self.key(question)
        if key not in self.readings:
            return self.failed[key]
        given, located = self.readings[key]["doubts"], []
        texts = {name: text for name, text in question_fields(question).items() if text}
        for said in given:
            kind, quote, proposal = said["kind"], said["quote"], said["proposal"]
            place = next((name for name in (said["field"], *texts) if quote and quote in texts.get(name, "")), None)
            if place is not None and kind in KINDS:
                offered = proposal if kind == "misread" and proposal not in ("", quote) else None
                named = {"question_id": question.question_id, "kind": kind, "field": place}
                located.append(DoubtedPlace(**named, quote=quote, proposal=offered))
        return list(dict.fromkeys(located)), len(given) - len(located)

    def bill(self) -> dict[str, Any]:
        """Return what was read and paid, the same however many runs it took; a sum is None where a part is unknown."""
        options, values = self.params, self.readings.values()
        costs = [wire.stored_cost(value, options) for value in values]
        wastes = [wire.Waste(*value["waste"]) for value in values] + [failed.waste for failed in self.failed.values()]
        waste = sum([*wastes, *self.splits.values()], wire.Waste())
        unusable, unseen = waste_cost(waste, options)
        wasted = {"unusable_calls": waste.calls, "unusable_cost": round(unusable, 6)}
        wasted |= {"unseen_calls": waste.unseen, "unseen_cost_at_most": round(unseen, 6)}
        tokens = {name: _sum(value[name] for value in values) for name in wire.Usage._fields}
        facts = {"model": options.model, "prompt_hash": sha256(_system())[:16], "readings": len(self.readings)}
        cost = {"cost": _sum(costs), "currency": options.currency}
        others = wire.other_models(options.model, (value.get("model") for value in values))
        cost |= {"other_models": others} if others else {}
        return facts | tokens | cost | {name: value for name, value in wasted.items() if value}

    def key(self, question: Question) -> str:
        """Return the hash of everything that can change a reading, but for the questions beside it."""
        seen = [region.model_dump() for region in question.regions or ()] if self._has_picture(question) else None
        request = self._request([question]).key(self.params)
        return sha256(request, json.dumps([question.document, seen] if seen else None))

    def _pending(self, questions: Sequence[Question]) -> tuple[dict[str, Question], list[str]]:
        """Return the questions by their keys, and the keys of those that are not read."""
        asked: dict[str, Question] = {}
        for question in questions:
            asked.setdefault(self.key(question), question)
        self.readings = self.context.store.get_many(asked)
        costs = self.context.store.get_many(_SPLIT_COST + key for key in asked)
        self.splits = {key.removeprefix(_SPLIT_COST): wire.Waste(*cost) for key, cost in costs.items()}
        return asked, [key for key in asked if key not in self.readings]

    def _planned(self, asked: Questions, pending: Sequence[str]) -> list[Group]:
        """Return the keys of each request: those under way as they were asked, then the rest in order."""
        groups = map(tuple, self.context.store.get_many([_PLAN]).get(_PLAN, ()))
        going = [group for group in groups if asked.keys() >= {*group} and not {*pending}.isdisjoint(group)]
        taken = {key for group in going for key in group}
        rest = [key for key in pending if key not in taken]
        size = self.params.together
        return [*going, *(tuple(rest[at : at + size]) for at in range(0, len(rest), size))]

    def _ask_all(self, groups: Sequence[Group], asked: Questions, advance: Callable[[int], object]) -> None:
        """Ask about groups; those with pictures a few at a time, but a batch at once."""
        size = _PICTURES if self.params.image and not self.params.batch else len(groups)
        for at in range(0, len(groups), max(size, 1)):
            self._ask(groups[at : at + size], asked, advance)

    def _ask(self, groups: Sequence[Group], asked: Questions, advance: Callable[[int], object]) -> None:
        """Ask about groups; keep what is read."""
        shown = [asked[key] for group in groups for key in group]
        pictures = crops(filter(self._has_picture, shown), self.context, _CROP_BYTES) if self.params.image else {}
        requests = [self._request([asked[key] for key in group], pictures, str(n)) for n, group in enumerate(groups)]
        options = self.params
        if options.max_cost is not None:  # what is left of it: readings of earlier requests count
            bill = self.bill()
            spent = [bill["cost"] or 0.0, bill.get("unusable_cost", 0.0), bill.get("unseen_cost_at_most", 0.0)]
            options = options.model_copy(update={"max_cost": max(0.0, options.max_cost - sum(spent))})
        client, store = LlmClient(options, batch=options.batch), self.context.store
        for outcome in client.complete_many(requests, store):
            group = groups[int(outcome.request.id)]
            if isinstance(outcome, wire.Failed):
                self.failed |= dict.fromkeys(group, replace(outcome, waste=wire.Waste())) | {group[0]: outcome}
                continue
            name = outcome.request.key(self.params)
            facts: dict[str, Any] = {"batched": bool(store.get_many([name])[name].get("batched"))}
            usage, waste, model = outcome.usage, outcome.waste, outcome.model
            for key, doubts in zip(group, read_reply(outcome.text, len(group)), strict=True):
                cost = usage._asdict() | facts | {"model": model, "waste": astuple(waste)}
                self.readings[key] = {"doubts": doubts, **cost}
                store.put(key, self.readings[key])
                self.failed.pop(key, None)
                usage, waste, model = wire.Usage(), wire.Waste(), None  # the first question bears the cost of a reply
            advance(len(group))

    def _has_picture(self, question: Question) -> bool:
        return self.params.image and question.confidence is not None and bool(question.regions)

    def _request(
        self, group: Sequence[Question], pictures: Mapping[str, str] | None = None, name: str = ""
    ) -> wire.ChatRequest:
        """Ask about a group, each question as JSON between marks that its text cannot close."""
        parts: list[dict[str, Any]] = []
        for number, question in enumerate(group, start=1):
            shown = {"no": number} | {name: text for name, text in question_fields(question).items() if text}
            text = as_data(json.dumps(shown, ensure_ascii=False))
            parts.append({"type": "text", "text": f"<题目>\n{text}\n</题目>"})
            if (picture := (pictures or {}).get(question.question_id)) is not None:
                parts.append({"type": "image_url", "image_url": {"url": picture}})
        plain = "\n".join(part["text"] for part in parts if "text" in part)
        asked = {"role": "user", "content": parts if pictures else plain}
        messages: list[dict[str, Any]] = [{"role": "system", "content": _system()}, asked]
        return wire.ChatRequest(name, messages, self._form, check=partial(read_reply, count=len(group)))

    @cached_property
    def _form(self) -> Mapping[str, Any] | None:
        text = {"type": "string"}
        doubt = wire.strict_object({"kind": {**text, "enum": [*KINDS]}, "field": text, "quote": text, "proposal": text})
        row = wire.strict_object({"no": {"type": "integer"}, "doubts": {"type": "array", "items": doubt}})
        return wire.answer_form(self.params.response_format, "doubts", {"questions": {"type": "array", "items": row}})


def read_reply(text: str, count: int) -> list[list[dict[str, str]]]:
    """Return the doubts of each question of a reply, in order; raise ``BadAnswerError`` where one has no result."""
    results = wire.json_object(wire.final_part(text)).get("questions")
    known: dict[object, list[dict[str, str]]] = {}
    for row in results if isinstance(results, list) else ():
        doubts = row.get("doubts") if isinstance(row, dict) else None
        if isinstance(doubts, list) and all(isinstance(doubt, dict) for doubt in doubts):
            known.setdefault(row.get("no"), [{part: str(doubt.get(part) or "") for part in _PARTS} for doubt in doubts])
    if missing := [number for number in range(1, count + 1) if number not in known]:
        raise wire.BadAnswerError(wire.Reason.MALFORMED_JSON, f"the answer lacks {len(missing)} of {count} questions")
    return [known[number] for number in range(1, count + 1)]


def _system() -> str:
    kinds = "\n".join(f"- {name}：{meaning}" for name, meaning in KINDS.items())
    return str(PROMPT["system"]).strip().replace("{{kinds}}", kinds)


def _sum(values: Iterator[Any] | Sequence[Any]) -> Any:
    known = list(values)
    return None if None in known else round(sum(known), 6)


_STAGE = "proofread"  # of what waits
_UNREAD = "not_proofread"  # reason of questions about which no answer came; they are asked again
_LEAST = 4  # characters of a place that people can find


def run(tables: Tables, params: ProofreadParams, context: Context) -> Result:
    """Ask about every question, but for those that a person has read and kept."""
    questions = list(Question.from_frame(tables["questions"]))
    asked = to_read(tables)
    reader = Proofreader(params, context)
    reader.read(asked)
    doubted, waiting = list[DoubtedPlace](), list[ReviewItem]()
    failures, dropped = list[tuple[str, str]](), 0
    for question in asked:
        outcome = reader.doubts(question)
        if isinstance(outcome, wire.Failed):
            failures.append((outcome.reason, outcome.detail))
            waiting.append(ReviewItem.of(question, _STAGE, _UNREAD, f"{outcome.reason}: {outcome.detail}"))
            continue
        dropped += outcome[1]
        if doubts := [doubt for doubt in outcome[0] if doubt.kind not in params.ignore]:
            doubted += doubts
            # The first doubt's reason, and all doubts as evidence: stem: '乙状结场' → 乙状结肠; proofread_…: …
            (reason, first), *more = [(f"proofread_{doubt.kind}", _evidence(question, doubt)) for doubt in doubts]
            detail = "; ".join([first, *(f"{code}: {evidence}" for code, evidence in more)])
            waiting.append(ReviewItem.of(question, _STAGE, reason, detail))
    kept = tables["questions"].filter(~pl.col("question_id").is_in([item.item_id for item in waiting]))
    bill = reader.bill()
    return Result(
        tables={"questions": kept, "doubts": DoubtedPlace.to_frame(doubted)},
        counts=Counts(len(questions), kept.height, waiting=len(waiting)),
        review=waiting,
        complete=not failures,
        facts={
            **bill,
            "kept_by_people": len(questions) - len(asked),
            "doubts": dict(sorted(Counter(doubt.kind for doubt in doubted).items())),
            "quotes_not_found": dropped,
        },
        notes=request_notes(failures, bill, params, stage="proofread", lack="not proofread"),
    )


def to_read(tables: Tables) -> list[Question]:
    """Return the questions to ask about: what a person verified needs no second reader."""
    decided = pl.col("field").eq(VERDICT) & pl.col("after").eq("keep")
    verified = tables["corrections"].filter(decided)["question_id"].implode()
    return list(Question.from_frame(tables["questions"].filter(~pl.col("question_id").is_in(verified))))


def estimate(tables: Tables, params: ProofreadParams, context: Context) -> list[str]:
    """Return what a run would cost."""
    return [Proofreader(params, context).estimate(to_read(tables))]


def problems(params: ProofreadParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return what the model lacks; nothing while the stage is off."""
    missing = None if params.off() else params.missing()
    return [f"[proofread] {missing}"] if missing else []


def _evidence(question: Question, doubt: DoubtedPlace) -> str:
    offered = f" {doubt.quote} → {doubt.proposal}" if doubt.proposal else ""
    text, place = question_fields(question)[doubt.field] or "", doubt.quote
    if len(place) < _LEAST:  # with what stands around it, or nobody finds it
        begin = text.find(place)
        place = text[max(0, begin - _LEAST) : begin + len(place) + _LEAST]
    shown = place.replace("\n", "\\n")
    return f"{doubt.field}: '{shown}'{offered}"
