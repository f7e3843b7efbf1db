"""A language model points at lines where gates failed: it names the role of lines and writes no text of a question.

Its proposal is read by the same code and goes through the same gates; it counts only if none of them objects.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple

from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.llm.messages import Answer, BadAnswerError, ChatRequest, Reason
from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.lines import REGIONS, place_of
from build_dataset.pipeline.parse.outline import PointedItem, Pointing, Role
from build_dataset.pipeline.parse.paper import ParsedPaper
from build_dataset.pipeline.parse.params import PointParams
from build_dataset.pipeline.parse.question_checks import FOOT
from build_dataset.pipeline.parse.running import is_title
from build_dataset.pipeline.stage import Store

_ASKED = json.loads((files("build_dataset.pipeline.parse") / "pointing.json").read_text(encoding="utf-8"))
"""The task, the form of its answer, and the reasons that another cut can mend; a lost line it cannot."""
_MENDABLE = frozenset(_ASKED["mendable"])
_PARTS = ("stem", "options", "answer", "explanation")


class AskedLines(NamedTuple):
    """Lines of a paper that are asked for together: items whose gates failed, and the item after each."""

    document: str
    first: int
    last: int


@dataclass(slots=True)
class Pointed:
    """The model's answers."""

    pointings: dict[str, list[Pointing]] = field(default_factory=dict)  # by document
    asked: int = 0
    failed: int = 0
    cost: float | None = 0.0

    def facts(self) -> dict[str, object]:
        """Return the counts and the cost for the manifest, after all was judged."""
        accepted = sum(map(len, self.pointings.values()))
        return {"asked": self.asked, "failed": self.failed, "accepted": accepted, "cost": self.cost}


def requests_of(papers: Iterable[ParsedPaper], params: PointParams) -> list[tuple[AskedLines, ChatRequest]]:
    """Return a request for every region of judged papers that waits for a reason which another cut can mend."""
    asked = (paper for paper in papers if not paper.is_key)
    return [(region, _request(paper, region)) for paper in asked for region in _regions(paper, params.lines)]


def ask(asked: Sequence[tuple[AskedLines, ChatRequest]], params: PointParams, store: Store) -> Pointed:
    """Ask for every region; answers are kept in the store before they are used."""
    regions = {request.id: region for region, request in asked}
    found = Pointed(asked=len(asked))
    for outcome in LlmClient(params).complete_many([request for _, request in asked], store):
        if not isinstance(outcome, Answer):
            found.failed += 1
            continue
        region = regions[outcome.request.id]
        pointing = _pointing(json.loads(outcome.text), region, str(params.model))
        found.pointings.setdefault(region.document, []).append(pointing)
        found.cost = None if found.cost is None or outcome.cost is None else found.cost + outcome.cost
    return found


def accept(before: ParsedPaper, after: ParsedPaper, pointings: Sequence[Pointing]) -> list[Pointing]:
    """Return the pointings whose questions pass all gates; none where a question that was sound is no longer.

    A line that is to be left out must come again in the paper, or be known for a title or a foot.
    """
    sound = {(draft.section, draft.number, draft.suffix) for draft in after.questions if _is_sound(draft)}
    if any((one.section, one.number, one.suffix) not in sound for one in before.questions if _is_sound(one)):
        return []
    seen = Counter(piece.text for piece in after.pieces)
    good = []
    for pointing in pointings:
        dropped = [after.pieces[line].text for line in pointing.dropped]
        if not all(seen[text] > 1 or is_title(text) or FOOT.search(text) for text in dropped):
            continue
        places = {place_of(piece) for piece in after.pieces[pointing.first : pointing.last + 1]}
        inside = [draft for draft in after.items if places & {place_of(piece) for piece in draft.pieces}]
        if len(inside) == len(pointing.items) and all(map(_is_sound, inside)):
            good.append(pointing)
    return good


def _is_sound(draft: Draft) -> bool:
    return bool(draft.options) and not draft.flags and not draft.set_aside


def _regions(paper: ParsedPaper, most: int) -> Iterator[AskedLines]:
    """Regions of at most so many lines, without heads, figures and tables."""
    failing = {
        place_of(piece)
        for draft in paper.items
        if any(reason in _MENDABLE for reason, _ in draft.flags)
        or any((gap.section, gap.number - 1) == (draft.section, draft.number) for gap in paper.gaps)
        for piece in draft.pieces
    }
    open_region: tuple[int, int] | None = None
    for first, last in _items(paper):
        fails = any(place_of(piece) in failing for piece in paper.pieces[first : last + 1])
        if open_region and (open_region[1] + 1 != first or last - open_region[0] >= most):
            yield AskedLines(paper.document, *open_region)
            open_region = None
        begin = open_region[0] if open_region else first
        if open_region and not fails:
            yield AskedLines(paper.document, begin, last)
        open_region = (begin, last) if fails else None  # one sound item closes a region
    if open_region:
        yield AskedLines(paper.document, *open_region)


def _items(paper: ParsedPaper) -> Iterator[tuple[int, int]]:
    """Return the first and the last line of every item, up to the next head."""
    roles = paper.outline.roles
    starts = [index for index, role in enumerate(roles) if role is Role.NUMBER]
    for first, following in pairwise([*starts, len(roles)]):
        end = next((i for i in range(first + 1, following) if roles[i] is not Role.TEXT), following)
        if not any(piece.kind in REGIONS for piece in paper.pieces[first:end]):
            yield first, end - 1


def _request(paper: ParsedPaper, region: AskedLines) -> ChatRequest:
    lines = [piece.text for piece in paper.pieces[region.first : region.last + 1]]
    shown = "\n".join(f"{number}| {text}" for number, text in enumerate(lines, 1))
    messages = [{"role": "system", "content": _ASKED["task"]}, {"role": "user", "content": shown}]
    name, check = f"{paper.document}#{region.first}", partial(_check, count=len(lines))
    return ChatRequest(name, messages, response_format=_ASKED["form"], check=check)


def _check(text: str, count: int) -> None:
    """Raise an error where a line stands in several ranges, out of order, or nowhere."""
    try:
        said = json.loads(text)
        parts = [question[name] for question in said["questions"] for name in _PARTS]
        ranges = [part for part in parts if part is not None]
        told = [line for first, last in ranges for line in range(first, last + 1)]
        sound = all(isinstance(question["number"], int) for question in said["questions"])
        whole = sorted([*told, *said["none"]]) == list(range(1, count + 1)) and told == sorted(told)
    except (ValueError, KeyError, TypeError) as error:
        raise BadAnswerError(Reason.MALFORMED_JSON, "no ranges of lines") from error
    if not (sound and whole):
        hint = f"Every line from 1 to {count} belongs to exactly one range, in order, or to none."
        raise BadAnswerError(Reason.MALFORMED_JSON, "lines are left out or stand twice", hint)


def _pointing(said: Mapping[str, Any], region: AskedLines, model: str) -> Pointing:
    """Return the model's ranges as places in the paper's lines."""

    def places(part: list[int] | None) -> Any:
        return (region.first + part[0] - 1, region.first + part[1] - 1) if part else None

    dropped = frozenset(region.first + line - 1 for line in said["none"])
    told = [(one["number"], {name: places(one[name]) for name in _PARTS}) for one in said["questions"]]
    items = (PointedItem(number=number, **parts, dropped=dropped, model=model) for number, parts in told)
    return Pointing(region.first, region.last, tuple(items), dropped)
