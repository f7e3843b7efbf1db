"""The audit stage: which keys are probably wrong, by explanations, copies, models, people and the options; its page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

import polars as pl

from build_dataset.annotation.label_studio.editable import ANSWER, VERDICT
from build_dataset.pipeline.audit import weighing
from build_dataset.pipeline.audit.answers import Answers, Letters, comparable, gather_answers
from build_dataset.pipeline.audit.params import AuditParams
from build_dataset.pipeline.audit.weighing import AuditCase
from build_dataset.pipeline.claims.explanations import Stated, read_explanation
from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.dedup.keys import with_keys
from build_dataset.pipeline.evaluate.extraction import extract
from build_dataset.pipeline.rendering import markup
from build_dataset.pipeline.stage import Context, Counts, Failure, Result, Tables
from build_dataset.schemas.evaluation import AuditItem, AuditRespondent
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import SEVERAL_ANSWERS, Question, ReviewItem

STAGE, REASON = "audit", "suspicious_key"
_BATCH = 500  # explanations that a worker reads at a time
_SHOWN = 60  # characters of an explanation that are told as evidence


def run(tables: Tables, params: AuditParams, context: Context) -> Result:
    """Rate how suspicious each question's key is; none is removed. A ``UserError`` where answers cannot be read."""
    conflicts = _conflicts(tables["review"], tables.get("clean/questions"))  # copies that wait in dedup
    kept = questions = tables["questions"]
    if conflicts:  # those copies are audited too
        waiting = tables["clean/questions"].filter(pl.col("question_id").is_in(list(conflicts)))
        questions = pl.concat([kept, waiting.select(kept.columns)]).unique("question_id", maintain_order=True)
    others = gather_answers(params.files(), questions, tables.get("evaluate/predictions"))
    answers = others.answers
    # The people who verified a question, or corrected its key: their word was applied to it as it is now.
    mine = tables["corrections"].filter(pl.col("field").is_in([ANSWER, VERDICT]))
    people = mine.group_by("question_id", maintain_order=True).agg(pl.col("by").unique(maintain_order=True))
    verified = dict(people.iter_rows())
    audited = audit(questions, answers, params, context, conflicts=conflicts, verified=verified)
    suspicious = _review_items(audited.cases, params, conflicts)
    facts = {
        "respondents": len(audited.respondents),
        "answers_of_unknown_questions": others.unknown,
        "answers_not_read": others.unread,
        "explanations_not_read": audited.lost,
        "suspicious": len(suspicious),
        "evidence": dict(sorted(Counter(e.kind for row in audited.items for e in row.evidence).items())),
    }
    models = sum(row.kind == "model" for row in audited.respondents)
    respondents = AuditRespondent.to_frame(audited.respondents)
    return Result(
        tables={"items": AuditItem.to_frame(audited.items), "respondents": respondents},
        counts=Counts(questions.height, questions.height - len(suspicious), waiting=len(suspicious)),
        review=suspicious,
        files=_page(audited, answers, params, context),
        facts=facts,
        notes=markup.notes("build_dataset.pipeline.audit", models=models, **facts),
    )


class Audited(NamedTuple):
    """The outcome of an audit; the most suspicious questions first."""

    cases: list[AuditCase]
    items: list[AuditItem]
    respondents: list[AuditRespondent]
    lost: list[str]  # questions whose explanation could not be read


def audit(
    questions: pl.DataFrame,
    answers: Answers,
    params: AuditParams,
    context: Context | None = None,
    *,
    conflicts: Mapping[str, Mapping[str, Letters]] | None = None,
    verified: Mapping[str, Sequence[str]] | None = None,
) -> Audited:
    """Weigh all evidence on questions with a key; without ``context`` no worker processes are used."""
    cases = [AuditCase(row, frozenset(row.answer)) for row in Question.from_frame(questions) if row.answer]
    keyed = questions.filter(pl.col("answer").list.len() > 0)
    argued, lost = _read(cases, context)
    explained = weighing.weigh_explanations(cases, argued, params.wrong)
    for case, keys in zip(cases, with_keys(keyed)["option_keys"].to_list(), strict=True):
        name = case.question.question_id
        weighing.weigh_options(case, keys[: len(case.question.options)])
        weighing.weigh_people(case)
        weighing.weigh_copies(case, (conflicts or {}).get(name, {}))
        weighing.weigh_experts(case, (verified or {}).get(name, ()))
    reliability = weighing.weigh_answers(cases, answers, params.wrong)
    respondents = [
        _respondent(f"explanation: {rule}", "explanation", total, same, (same + 1) / (total + 2))
        for rule, (total, same) in sorted(explained.items())
    ]
    for name, right in reliability.items():
        responses = [(case.key, answers.get(case.question.question_id, {}).get(name)) for case in cases]
        same = [key == letters for key, letters in responses if letters is not None]
        respondents.append(_respondent(name, "model", len(same), sum(same), right))
    cases.sort(key=lambda case: (-case.odds, case.question.question_id))
    items = [_item(case, answers.get(case.question.question_id, {})) for case in cases]
    return Audited(cases, items, respondents, lost)


def _respondent(name: str, kind: str, total: int, same: int, reliability: float) -> AuditRespondent:
    shares = {"agrees": round(same / max(total, 1), 4), "reliability": round(reliability, 4)}
    return AuditRespondent(respondent=name, kind=kind, answers=total, **shares)


def read_explanations(questions: Sequence[Question]) -> dict[str, Stated]:
    """Return the answers that explanations argue for, by question; runs in worker processes."""
    stated = {}
    for row in questions:
        options = {option.label: option.text for option in row.options}
        several = row.question_type in SEVERAL_ANSWERS or len(row.answer or ()) > 1
        answer = read_explanation(row.explanation, row.stem, options, several=several)
        answer = answer or _quoted(row.explanation or "", row.stem, options, several)  # weak: 50 of 59 are right
        if answer is not None:
            stated[row.question_id] = answer
    return stated


def _quoted(explanation: str, stem: str, options: Mapping[str, str], several: bool) -> Stated | None:
    """Return weak evidence where nothing is stated: the option that these words would name as an answer."""
    read = extract(explanation, options, several, answer_first=False, stem=stem)
    if read.letters is None or read.span is None:
        return None
    words = explanation[slice(*read.span)][:_SHOWN].strip()
    return None if words in options else Stated(frozenset(read.letters), "quoted", words)


def _read(cases: Sequence[AuditCase], context: Context | None) -> tuple[dict[str, Stated], list[str]]:
    """Return the evidence of all explanations, and the ids of questions where it could not be read."""
    todo = [case.question for case in cases if case.question.explanation]
    order = [each.question_id for each in todo]
    if context is None or len(todo) <= _BATCH:  # starting workers takes longer
        return read_explanations(todo), []
    stated: dict[str, Stated] = {}
    with context.progress(len(todo), "explanations") as advance:
        for size in (_BATCH, 1):  # a batch that failed is read again one by one
            batches = [todo[at : at + size] for at in range(0, len(todo), size)]
            todo = []
            for batch, batch_stated in context.map(read_explanations, batches):
                if isinstance(batch_stated, Failure):
                    todo += batch  # its worker died or took too long
                else:
                    stated |= batch_stated
                    advance(len(batch))
    return {name: stated[name] for name in order if name in stated}, sorted(each.question_id for each in todo)


def _item(case: AuditCase, answers: Mapping[str, Letters]) -> AuditItem:
    return AuditItem(
        question_id=case.question.question_id,
        content_hash=case.question.content_hash,
        suspicion=case.suspicion,
        key=sorted(case.key),
        suggested=sorted(case.suggested) if case.suggested else None,
        respondents=len(answers),
        right=round(sum(letters == case.key for letters in answers.values()) / len(answers), 4) if answers else None,
        evidence=case.evidence,
    )


def _conflicts(review: pl.DataFrame, cleaned: pl.DataFrame | None) -> dict[str, dict[str, Letters]]:
    """The keys of other copies in each copy's letters, by options that say the same."""
    groups = review.filter(pl.col("reason") == "conflicting_answers")["question_ids"].to_list()
    if not groups or cleaned is None:
        return {}
    known = comparable(cleaned.filter(pl.col("question_id").is_in([name for names in groups for name in names])))
    keys: dict[str, dict[str, Letters]] = {}
    for names in groups:
        for one, other in permutations([name for name in names if name in known], 2):
            key = known[other].answer
            letters = known[other].translated(key, known[one]) if key else None
            keys.setdefault(one, {}).update({other: letters} if letters else {})
    return keys


def _review_items(cases: Sequence[AuditCase], params: AuditParams, conflicts: Mapping[str, object]) -> list[ReviewItem]:
    """Return the questions to look at; copies that contradict each other wait in dedup already."""
    doubted = (case for case in cases if case.suspicion >= params.verify)
    new = (case for case in doubted if case.question.question_id not in conflicts)
    return [ReviewItem.of(case.question, STAGE, REASON, "; ".join(_told(case))) for case in new]


def _told(case: AuditCase) -> Iterator[str]:
    suggested = f", perhaps {''.join(sorted(case.suggested))}" if case.suggested else ""
    yield f"{REASON}: the key {''.join(sorted(case.key))} is wrong with probability {case.suspicion:.2f}{suggested}"
    for each in case.evidence:
        yield f"{each.kind} ({each.source}): {each.detail}"


PAGE = "index.html"
_TEXT = 2000  # characters of an explanation that are shown
_PICTURES = 12_000_000  # characters of all cut-outs together, as data addresses
_PICTURE = 260_000  # bytes of one cut-out, as on the page of a paper


def _page(audited: Audited, answers: Answers, params: AuditParams, context: Context) -> dict[str, bytes]:
    """Return ``index.html``, the most suspicious questions first."""
    rows = audited.items
    doubted = [pair for pair in zip(audited.cases, rows, strict=True) if pair[1].suspicion > params.wrong]
    shown = doubted[: params.shown]  # the most suspicious ones
    wanted = [case.question for case, row in shown if row.suspicion >= params.verify]
    left, pictures = _PICTURES, crops(wanted, context, _PICTURE) if wanted else {}
    for name in [row.question_id for _, row in shown if row.question_id in pictures]:
        left -= len(pictures[name])
        if left < 0:  # the page stays small enough for a browser
            del pictures[name]
    values = {
        "name": context.dataset.name,
        "items": [
            {
                "row": row,
                "question": case.question,
                "explanation": (case.question.explanation or "")[:_TEXT],
                "votes": _votes(answers.get(row.question_id, {})),
                "crop": pictures.get(row.question_id),
            }
            for case, row in shown
        ],
        "total": len(rows),
        "suspicious": sum(row.suspicion >= params.verify for row in rows),
        "verify": params.verify,
        "respondents": audited.respondents,
    }
    return {PAGE: markup.html_page("build_dataset.pipeline.audit:audit.html", **values)}


def _votes(responses: Mapping[str, frozenset[str]]) -> list[tuple[str, list[str]]]:
    """Answers, and who gave each, the commonest first."""
    voters = group_values(("".join(sorted(letters)), name) for name, letters in sorted(responses.items()))
    return sorted(voters.items(), key=lambda pair: (-len(pair[1]), pair[0]))
